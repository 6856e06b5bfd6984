"""Meanings of options and parameters, generated from the program."""

PROGRESS = r"""    progress: Show a bar, if tqdm is installed."""

OPTIONS = {
    "deduplicate_files": r"""

Options:
    keep: Document to keep of several near-duplicates: rules, separated by commas [default: first].
    prefer: Keep documents whose field has the first of these values, or else the next, before
        `keep` decides.
    keep_count: Keep up to this number of documents of each cluster [default: 1].
    cluster: Documents to remove: only documents near a kept document (proven), or also documents
        that a chain of near-duplicates links to it (components) [default: proven]. Values: proven,
        components.
    decisions: Apply the decisions of a review: keep a document, a cluster or a source, or swap the
        kept document.
    pairs: Also write every pair; more than 100 million only with `force`. All pairs must fit in
        memory: with exact, 24 bytes for each pair of unequal documents.
    annotate: Also write documents.jsonl: every document, kept or removed, with its cluster, in
        reading order [default: false].
    lose: Keep a document whose removal would lose more than N words, or more than N% of its words,
        as in 3 or 1% [default: 3 with covered, otherwise any number].
    method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
        [default: exact]. Values: exact, covered, simhash, multi-lexicon, minhash, i-match, auto.
    similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
        0.8, or 0.65 if all inputs are web pages, or 0.9 with minhash by cosine].
    max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
        [default: 3 with simhash].
    verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
        similarity of at least S. S can name the same measures as `similarity`. The terms of the
        texts need memory.
    within: Compare only documents with the same value of this field.
    across: Compare only documents with different values of this field, written as for `within`.
    boilerplate: Leave lines that many documents have, such as menus, out of the comparison: at
        least this number of documents, pages or none [default: pages if all inputs are web pages,
        otherwise none].
    shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or
        words:8 with covered].
    stop_words: Leave these words out before shingles are made, so that their neighbours become
        adjacent: none, english, chinese, or a file of words separated by white space [default:
        none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
        expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
    fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
        hyphens; commas separate several.
    by: Also write sources.jsonl: for each source, how many of its documents were removed, and for
        which sources.
    fail_if: End with exit code 4, and write nothing, if too many documents would be removed.
    force: Replace the output folder if an earlier run of simtool wrote it.
    output_format: Format of the files removed and pairs [default: jsonl]. Values: jsonl, tsv,
        parquet, ids.
    write_kept: Also write copies of the input files without the removed documents to kept/, in the
        same format [default: false]. Values: true, false, readable.
    write_removed: Also write copies of the input files to removed/, in the same format, with
        nothing but the removed documents.
    receipt: Also write receipt.json, by which others check the results: the SHA-256 of every input,
        the request, the recipe, the counts, and a Merkle root over the rows of each output.
    files_from: File that lists more paths to read, one a line or with a zero byte after each,
        optionally compressed with gzip; - is standard input.
    glob: When reading folders, include only files matching this glob, or leave them out if it
        begins with ! (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, xml, html, mbox, mail, form-feed, srt, vtt, text, lines,
        blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
        recognized by the first rows].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
        id].
    min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
        passed over are compared with nothing, and kept [default: 0].
    max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
        or 1MiB (powers of 1024).
    sample: Process only this share of the documents, selected by the hash of the text.
    limit: Stop after the first N documents that are not passed over. Copies end there, too.
    on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
    max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
        1024. By default 128MiB, whatever the memory is.
    max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
        first GiB [default: 2000].
    zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
        is 128 MiB [default: 27].
    anonymous: Read public buckets and data sets without credentials.
    spool_size: Maximum size of the temporary file with what was fetched from stores [default: the
        free space].
    max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
        memory].
    tmp_dir: Folder for temporary files [default: the system's temporary folder].
    threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
    config: File with options of this command in TOML; options of the command line go before them.
    no_mmap: Read files into memory instead of mapping them.
    resume: Store what was read, and go on from there if this run was stopped before.
    shard: Read shard I of N, such as 2/4, store it in OUTPUT.parts, and end.
""",
    "match_files": r"""

Options:
    against_text_field: Fields of the text in the collection to match against [default: those of
        `text_field`].
    against_id_field: Field of the ID in the collection to match against [default: that of
        `id_field`].
    lose: Keep a document whose removal would lose more than N words, or more than N% of its words,
        as in 3 or 1% [default: 3 with covered, otherwise any number].
    method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
        [default: exact]. Values: exact, covered, simhash, multi-lexicon, minhash, i-match, auto.
    similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
        0.8, or 0.65 if all inputs are web pages, or 0.9 with minhash by cosine].
    max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
        [default: 3 with simhash].
    verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
        similarity of at least S. S can name the same measures as `similarity`. The terms of the
        texts need memory.
    within: Compare only documents with the same value of this field.
    across: Compare only documents with different values of this field, written as for `within`.
    boilerplate: Leave lines that many documents have, such as menus, out of the comparison: at
        least this number of documents, pages or none [default: pages if all inputs are web pages,
        otherwise none].
    shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or
        words:8 with covered].
    stop_words: Leave these words out before shingles are made, so that their neighbours become
        adjacent: none, english, chinese, or a file of words separated by white space [default:
        none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
        expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
    fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
        hyphens; commas separate several.
    by: Also write sources.jsonl: for each source, how many of its documents were removed, and for
        which sources.
    fail_if: End with exit code 4, and write nothing, if too many documents would be removed.
    force: Replace the output folder if an earlier run of simtool wrote it.
    output_format: Format of the files removed and pairs [default: jsonl]. Values: jsonl, tsv,
        parquet, ids.
    write_kept: Also write copies of the input files without the removed documents to kept/, in the
        same format [default: false]. Values: true, false, readable.
    write_removed: Also write copies of the input files to removed/, in the same format, with
        nothing but the removed documents.
    receipt: Also write receipt.json, by which others check the results: the SHA-256 of every input,
        the request, the recipe, the counts, and a Merkle root over the rows of each output.
    files_from: File that lists more paths to read, one a line or with a zero byte after each,
        optionally compressed with gzip; - is standard input.
    glob: When reading folders, include only files matching this glob, or leave them out if it
        begins with ! (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, xml, html, mbox, mail, form-feed, srt, vtt, text, lines,
        blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
        recognized by the first rows].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
        id].
    min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
        passed over are compared with nothing, and kept [default: 0].
    max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
        or 1MiB (powers of 1024).
    sample: Process only this share of the documents, selected by the hash of the text.
    limit: Stop after the first N documents that are not passed over. Copies end there, too.
    on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
    max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
        1024. By default 128MiB, whatever the memory is.
    max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
        first GiB [default: 2000].
    zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
        is 128 MiB [default: 27].
    anonymous: Read public buckets and data sets without credentials.
    spool_size: Maximum size of the temporary file with what was fetched from stores [default: the
        free space].
    max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
        memory].
    tmp_dir: Folder for temporary files [default: the system's temporary folder].
    threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
    config: File with options of this command in TOML; options of the command line go before them.
    no_mmap: Read files into memory instead of mapping them.
""",
    "preview_files": r"""

Options:
    keep: Document to keep of several near-duplicates: rules, separated by commas [default: first].
    prefer: Keep documents whose field has the first of these values, or else the next, before
        `keep` decides.
    keep_count: Keep up to this number of documents of each cluster [default: 1].
    cluster: Documents to remove: only documents near a kept document (proven), or also documents
        that a chain of near-duplicates links to it (components) [default: proven]. Values: proven,
        components.
    decisions: Apply the decisions of a review: keep a document, a cluster or a source, or swap the
        kept document.
    lose: Keep a document whose removal would lose more than N words, or more than N% of its words,
        as in 3 or 1% [default: 3 with covered, otherwise any number].
    method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
        [default: exact]. Values: exact, covered, simhash, multi-lexicon, minhash, i-match, auto.
    similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
        0.8, or 0.65 if all inputs are web pages, or 0.9 with minhash by cosine].
    max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
        [default: 3 with simhash].
    verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
        similarity of at least S. S can name the same measures as `similarity`. The terms of the
        texts need memory.
    within: Compare only documents with the same value of this field.
    across: Compare only documents with different values of this field, written as for `within`.
    boilerplate: Leave lines that many documents have, such as menus, out of the comparison: at
        least this number of documents, pages or none [default: pages if all inputs are web pages,
        otherwise none].
    shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or
        words:8 with covered].
    stop_words: Leave these words out before shingles are made, so that their neighbours become
        adjacent: none, english, chinese, or a file of words separated by white space [default:
        none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
        expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
    fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
        hyphens; commas separate several.
    files_from: File that lists more paths to read, one a line or with a zero byte after each,
        optionally compressed with gzip; - is standard input.
    glob: When reading folders, include only files matching this glob, or leave them out if it
        begins with ! (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, xml, html, mbox, mail, form-feed, srt, vtt, text, lines,
        blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
        recognized by the first rows].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
        id].
    min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
        passed over are compared with nothing, and kept [default: 0].
    max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
        or 1MiB (powers of 1024).
    sample: Process only this share of the documents, selected by the hash of the text.
    limit: Stop after the first N documents that are not passed over. Copies end there, too.
    on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
    max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
        1024. By default 128MiB, whatever the memory is.
    max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
        first GiB [default: 2000].
    zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
        is 128 MiB [default: 27].
    anonymous: Read public buckets and data sets without credentials.
    spool_size: Maximum size of the temporary file with what was fetched from stores [default: the
        free space].
    max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
        memory].
    tmp_dir: Folder for temporary files [default: the system's temporary folder].
    threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
    config: File with options of this command in TOML; options of the command line go before them.
    no_mmap: Read files into memory instead of mapping them.
    against_text_field: Fields of the text in the collection to match against [default: those of
        `text_field`].
    against_id_field: Field of the ID in the collection to match against [default: that of
        `id_field`].
""",
    "combine_files": r"""

Options:
    force: Replace the output if an earlier run of simtool wrote it.
    max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
        memory].
    tmp_dir: Folder for temporary files [default: the system's temporary folder].
    threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
    config: File with options of this command in TOML; options of the command line go before them.
    no_mmap: Read files into memory instead of mapping them.
""",
    "why": r"""

Options:
    threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
    config: File with options of this command in TOML; options of the command line go before them.
    no_mmap: Read files into memory instead of mapping them.
""",
    "audit": r"""

Options:
    sample: Number of removals to check: random ones, or all if there are fewer [default: 1000].
    seed: Seed by which the removals are chosen. Choose one that nobody knew when the results were
        written [default: 1].
    max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
        memory].
    tmp_dir: Folder for temporary files [default: the system's temporary folder].
    threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
    config: File with options of this command in TOML; options of the command line go before them.
    no_mmap: Read files into memory instead of mapping them.
""",
    "contamination_files": r"""

Options:
    fields: Fields of the items, joined by newlines, such as question,answer [default: text].
    words: Number of words of a shingle, from 1 to 1000 [default: 5].
    measure: Measure of how much of an item a document has [default: words]. Values: words,
        shingles, weighted.
    share: List an item for a document that has at least this share of it, as 0.8 or 4/5 [default:
        0.8, and 0.6 with `measure` weighted].
    ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
        expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
    write_kept: Write copies of the documents' files without the items to the folder `output`.
        Values: drop, cut, mask.
    write_removed: Also write copies of the documents' files to removed/, in the same format, with
        nothing but the documents that contain an item.
    mask: Text in place of the words of items, with `write_kept` mask [default: [...]].
    force: Replace an existing output.
    output_format: Format of the rows [default: jsonl]. Values: jsonl, tsv, parquet.
    files_from: File that lists more paths to read, one a line or with a zero byte after each,
        optionally compressed with gzip; - is standard input.
    glob: When reading folders, include only files matching this glob, or leave them out if it
        begins with ! (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, xml, html, mbox, mail, form-feed, srt, vtt, text, lines,
        blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
        recognized by the first rows].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
        id].
    min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
        passed over are compared with nothing, and kept [default: 0].
    max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
        or 1MiB (powers of 1024).
    sample: Process only this share of the documents, selected by the hash of the text.
    limit: Stop after the first N documents that are not passed over. Copies end there, too.
    on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
    max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
        1024. By default 128MiB, whatever the memory is.
    max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
        first GiB [default: 2000].
    zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
        is 128 MiB [default: 27].
    anonymous: Read public buckets and data sets without credentials.
    spool_size: Maximum size of the temporary file with what was fetched from stores [default: the
        free space].
    resume: Store what was found, and go on from there if this run was stopped before.
    max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
        memory].
    tmp_dir: Folder for temporary files [default: the system's temporary folder].
    threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
    config: File with options of this command in TOML; options of the command line go before them.
    no_mmap: Read files into memory instead of mapping them.
""",
    "passages_files": r"""

Options:
    unit: Unit of text that must be repeated [default: words]. Values: words, paragraph, line,
        sentence.
    words: Minimum number of words of a passage, from 1 to 1000 [default: 50, or 8 for a `unit`].
    min_documents: Minimum number of documents with the words of a passage, or 1 to list also
        passages that are repeated only within one document [default: 2].
    ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
        expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
    verify_words: Compare the words of all passages whose hashes are equal.
    output: File to write, or the folder to write with `write_kept`; - is standard output [default:
        -].
    force: Replace an existing output.
    output_format: Format of the rows [default: jsonl]. Values: jsonl, tsv, parquet.
    files_from: File that lists more paths to read, one a line or with a zero byte after each,
        optionally compressed with gzip; - is standard input.
    glob: When reading folders, include only files matching this glob, or leave them out if it
        begins with ! (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, xml, html, mbox, mail, form-feed, srt, vtt, text, lines,
        blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
        recognized by the first rows].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
        id].
    min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
        passed over are compared with nothing, and kept [default: 0].
    max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
        or 1MiB (powers of 1024).
    sample: Process only this share of the documents, selected by the hash of the text.
    limit: Stop after the first N documents that are not passed over. Copies end there, too.
    on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
    max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
        1024. By default 128MiB, whatever the memory is.
    max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
        first GiB [default: 2000].
    zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
        is 128 MiB [default: 27].
    anonymous: Read public buckets and data sets without credentials.
    spool_size: Maximum size of the temporary file with what was fetched from stores [default: the
        free space].
    resume: Store what was read, and go on from there if this run was stopped before.
    shard: Read shard I of N, such as 2/4, store it in OUTPUT.parts, and end.
    max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
        memory].
    tmp_dir: Folder for temporary files [default: the system's temporary folder].
    threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
    config: File with options of this command in TOML; options of the command line go before them.
    no_mmap: Read files into memory instead of mapping them.
""",
    "cut_passages_files": r"""

Options:
    unit: Unit of text that must be repeated [default: words]. Values: words, paragraph, line,
        sentence.
    words: Minimum number of words of a passage, from 1 to 1000 [default: 50, or 8 for a `unit`].
    min_documents: Minimum number of documents with the words of a passage, or 1 to list also
        passages that are repeated only within one document [default: 2].
    ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
        expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
    verify_words: Compare the words of all passages whose hashes are equal.
    cut: Copies of a passage that `write_kept` cuts. Values: first, all.
    mask: Text that replaces each cut. Without it, a line feed does.
    min_left: Remove a cut document with fewer words left [default: 1].
    write_removed: Also list the texts that the copies lack (removed_texts): a row for each cut, or
        for a removed document. They are read once more, by one thread.
    force: Replace an existing output.
    output_format: Format of the rows [default: jsonl]. Values: jsonl, tsv, parquet.
    files_from: File that lists more paths to read, one a line or with a zero byte after each,
        optionally compressed with gzip; - is standard input.
    glob: When reading folders, include only files matching this glob, or leave them out if it
        begins with ! (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, xml, html, mbox, mail, form-feed, srt, vtt, text, lines,
        blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
        recognized by the first rows].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
        id].
    min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
        passed over are compared with nothing, and kept [default: 0].
    max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
        or 1MiB (powers of 1024).
    sample: Process only this share of the documents, selected by the hash of the text.
    limit: Stop after the first N documents that are not passed over. Copies end there, too.
    on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
    max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
        1024. By default 128MiB, whatever the memory is.
    max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
        first GiB [default: 2000].
    zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
        is 128 MiB [default: 27].
    anonymous: Read public buckets and data sets without credentials.
    spool_size: Maximum size of the temporary file with what was fetched from stores [default: the
        free space].
    resume: Store what was read, and go on from there if this run was stopped before.
    shard: Read shard I of N, such as 2/4, store it in OUTPUT.parts, and end.
    max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
        memory].
    tmp_dir: Folder for temporary files [default: the system's temporary folder].
    threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
    config: File with options of this command in TOML; options of the command line go before them.
    no_mmap: Read files into memory instead of mapping them.
""",
}
