"""Meanings of options and parameters of the functions on files and on Spark, generated from the program."""

PROGRESS = r"""    progress: Show a bar, if tqdm is installed."""

OPTIONS = {
    "deduplicate_files": r"""

Options:
    keep: Document to keep of several near-duplicates: rules, separated by commas [default: first].
    keep_field: Field whose values `keep` compares if a rule names none, written like `text_field`.
        In WARC files, it may be a field of the header, `http:NAME` for a field of the HTTP header,
        or `host` or `path` of the URI.
    prefer: Keep documents whose field has the first of these values, or else the next, before
        `keep` decides.
    keep_count: Keep up to this number of documents of each cluster [default: 1].
    cluster: Documents to remove: only documents near a kept document (proven), or also documents
        that a chain of near-duplicates links to it (components) [default: proven]. Values: proven,
        components.
    pairs: Also write every pair; more than 100 million only with `force`. All pairs must fit in
        memory: with exact, 24 bytes for each pair of unequal documents.
    annotate: Also write documents.jsonl: every document, kept or removed, with its cluster, in
        reading order. With in-place, also write the folder annotated: copies of the inputs whose
        records have these columns [default: false]. Values: true, false, in-place.
    cluster_weight: Weight of a kept document by the size n of its cluster: 1, sqrt, log (1 + ln n),
        or sizes from which a weight holds, such as 1:1,2:2,10:3 [default: 1].
    repeated_share: Also compute, for each document, the share of its words that are in passages of
        at least N words which another document has, too. Searches the passages as `simtool
        passages` does.
    method: Method that finds near-duplicates [default: exact]. Values: exact, simhash,
        multi-lexicon, minhash, i-match, auto.
    similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
        0.8, or 0.9 with minhash by cosine].
    max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
        [default: 3 with simhash].
    verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
        similarity of at least S. S can name the same measures as `similarity`. The terms of the
        texts need memory.
    verify_weight: With `verify`: weight of each shingle, as in `weight` with exact [default:
        binary]. Values: binary, idf.
    recall: With fingerprints: use LSH bands that find at least this fraction of the pairs at the
        maximum distance [default: find all].
    within: Compare only documents with the same value of this field.
    across: Compare only documents with different values of this field, written as for `within`.
    boilerplate: Leave lines that at least this number of documents have, such as menus, out of the
        comparison.
    bits: With simhash, bits of a fingerprint, 64, 128, 256 or 512 [default: 64]; with minhash, bits
        of a lane, 1, 2, 4, 8, 16 or 32 [default: 4].
    lexicons: With multi-lexicon, number of fingerprints of 64 bits, one per random lexicon
        [default: 8]; with i-match, number of random lexicons in addition to the whole one [default:
        0].
    lexicon_share: With multi-lexicon, fraction of the shingles in each random lexicon [default:
        0.5]; with i-match, fraction of the shingles in each random lexicon [default: 0.7].
    votes: With multi-lexicon, number of fingerprints that must be near, or sum to count the
        differing bits of all together [default: half of them].
    lexicon_bits: With multi-lexicon, whether the random bits of shingles differ between lexicons
        (own) or not (shared) [default: own]. Values: own, shared.
    lanes: With minhash, number of lanes, which hold one minimum each [default: as many as fit into
        64 bytes].
    hashing: With minhash, one-permutation computes one hash per shingle, classical one per shingle
        and lane [default: one-permutation]. Values: one-permutation, classical.
    measure: With minhash, what distances measure, jaccard (lanes that differ) or cosine
        (thousandths below 1, estimated from the lanes and the sizes of the sets) [default: cosine].
        Values: jaccard, cosine.
    least_terms: With i-match, minimum number of words of a document that must be in the lexicon;
        with fewer, a document is near only documents whose compared words are the same [default:
        5].
    least_share: With i-match, minimum fraction of a document's words that must be in the lexicon
        [default: 0.1].
    shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].
    tokenizer: Tokenizer that cuts texts into tokens [default: words]. Values: words, words+symbols,
        chars, ascii, chinese, auto, lecture.
    stop_words: Leave these words out before shingles are made, so that their neighbours become
        adjacent: none, english, chinese, or a file of words separated by white space [default:
        none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    weight: Weight of each distinct shingle [default: tf for fingerprints, binary with `method`
        exact]. Values: tf, binary, log-tf, idf, tf-idf, log-tf-idf, levels.
    top: For fingerprints: use only the K shingles of each document with the greatest tf-idf; with
        `shingle` 1 these are its keywords, and 200 is a usual number [default: all].
    idf_band: For fingerprints: use only shingles whose normalized idf is in this band, for example
        0.2-0.8. The value is 0 for a shingle that all documents contain and 1 for a shingle that
        only one contains. With `top`, it applies to the K chosen shingles [default: use all].
    force: Replace the output folder if an earlier run of simtool wrote it.
    output_format: Format of the files removed and pairs [default: jsonl]. Values: jsonl, tsv,
        parquet.
    ids_only: Write only the IDs of removed documents.
    write_kept: Also write copies of the input files without the removed documents to kept/, in the
        same format.
    quarantined: Whether kept/ includes bad records, at their places [default: keep]. Values: keep,
        drop.
    files_from: File that lists more paths to read, one a line, optionally compressed with gzip; -
        is standard input.
    null: Paths in the list are separated by zero bytes.
    glob: When reading folders, include only files matching this glob (repeatable).
    exclude: When reading folders, leave out files matching this glob (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    per_line: Treat each line of a plain-text file as a document (the same as `split` lines).
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    quote: Character that encloses fields of CSV and TSV, or the word none if quotes are letters
        [default: recognized by the first rows; in TSV they are letters unless fields begin and end
        with them].
    escape: Character before a quote inside a quoted field of CSV and TSV [default: a backslash if
        the first rows need it; quotes may also be doubled].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    all_strings: Compare all texts of a record, joined by newlines: every string of JSON, every text
        column.
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
    method: Method that finds near-duplicates [default: exact]. Values: exact, simhash,
        multi-lexicon, minhash, i-match, auto.
    similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
        0.8, or 0.9 with minhash by cosine].
    max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
        [default: 3 with simhash].
    verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
        similarity of at least S. S can name the same measures as `similarity`. The terms of the
        texts need memory.
    verify_weight: With `verify`: weight of each shingle, as in `weight` with exact [default:
        binary]. Values: binary, idf.
    recall: With fingerprints: use LSH bands that find at least this fraction of the pairs at the
        maximum distance [default: find all].
    within: Compare only documents with the same value of this field.
    across: Compare only documents with different values of this field, written as for `within`.
    boilerplate: Leave lines that at least this number of documents have, such as menus, out of the
        comparison.
    bits: With simhash, bits of a fingerprint, 64, 128, 256 or 512 [default: 64]; with minhash, bits
        of a lane, 1, 2, 4, 8, 16 or 32 [default: 4].
    lexicons: With multi-lexicon, number of fingerprints of 64 bits, one per random lexicon
        [default: 8]; with i-match, number of random lexicons in addition to the whole one [default:
        0].
    lexicon_share: With multi-lexicon, fraction of the shingles in each random lexicon [default:
        0.5]; with i-match, fraction of the shingles in each random lexicon [default: 0.7].
    votes: With multi-lexicon, number of fingerprints that must be near, or sum to count the
        differing bits of all together [default: half of them].
    lexicon_bits: With multi-lexicon, whether the random bits of shingles differ between lexicons
        (own) or not (shared) [default: own]. Values: own, shared.
    lanes: With minhash, number of lanes, which hold one minimum each [default: as many as fit into
        64 bytes].
    hashing: With minhash, one-permutation computes one hash per shingle, classical one per shingle
        and lane [default: one-permutation]. Values: one-permutation, classical.
    measure: With minhash, what distances measure, jaccard (lanes that differ) or cosine
        (thousandths below 1, estimated from the lanes and the sizes of the sets) [default: cosine].
        Values: jaccard, cosine.
    least_terms: With i-match, minimum number of words of a document that must be in the lexicon;
        with fewer, a document is near only documents whose compared words are the same [default:
        5].
    least_share: With i-match, minimum fraction of a document's words that must be in the lexicon
        [default: 0.1].
    shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].
    tokenizer: Tokenizer that cuts texts into tokens [default: words]. Values: words, words+symbols,
        chars, ascii, chinese, auto, lecture.
    stop_words: Leave these words out before shingles are made, so that their neighbours become
        adjacent: none, english, chinese, or a file of words separated by white space [default:
        none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    weight: Weight of each distinct shingle [default: tf for fingerprints, binary with `method`
        exact]. Values: tf, binary, log-tf, idf, tf-idf, log-tf-idf, levels.
    top: For fingerprints: use only the K shingles of each document with the greatest tf-idf; with
        `shingle` 1 these are its keywords, and 200 is a usual number [default: all].
    idf_band: For fingerprints: use only shingles whose normalized idf is in this band, for example
        0.2-0.8. The value is 0 for a shingle that all documents contain and 1 for a shingle that
        only one contains. With `top`, it applies to the K chosen shingles [default: use all].
    force: Replace the output folder if an earlier run of simtool wrote it.
    output_format: Format of the files removed and pairs [default: jsonl]. Values: jsonl, tsv,
        parquet.
    ids_only: Write only the IDs of removed documents.
    write_kept: Also write copies of the input files without the removed documents to kept/, in the
        same format.
    quarantined: Whether kept/ includes bad records, at their places [default: keep]. Values: keep,
        drop.
    files_from: File that lists more paths to read, one a line, optionally compressed with gzip; -
        is standard input.
    null: Paths in the list are separated by zero bytes.
    glob: When reading folders, include only files matching this glob (repeatable).
    exclude: When reading folders, leave out files matching this glob (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    per_line: Treat each line of a plain-text file as a document (the same as `split` lines).
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    quote: Character that encloses fields of CSV and TSV, or the word none if quotes are letters
        [default: recognized by the first rows; in TSV they are letters unless fields begin and end
        with them].
    escape: Character before a quote inside a quoted field of CSV and TSV [default: a backslash if
        the first rows need it; quotes may also be doubled].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    all_strings: Compare all texts of a record, joined by newlines: every string of JSON, every text
        column.
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
    keep_field: Field whose values `keep` compares if a rule names none, written like `text_field`.
        In WARC files, it may be a field of the header, `http:NAME` for a field of the HTTP header,
        or `host` or `path` of the URI.
    prefer: Keep documents whose field has the first of these values, or else the next, before
        `keep` decides.
    keep_count: Keep up to this number of documents of each cluster [default: 1].
    cluster: Documents to remove: only documents near a kept document (proven), or also documents
        that a chain of near-duplicates links to it (components) [default: proven]. Values: proven,
        components.
    method: Method that finds near-duplicates [default: exact]. Values: exact, simhash,
        multi-lexicon, minhash, i-match, auto.
    similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
        0.8, or 0.9 with minhash by cosine].
    max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
        [default: 3 with simhash].
    verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
        similarity of at least S. S can name the same measures as `similarity`. The terms of the
        texts need memory.
    verify_weight: With `verify`: weight of each shingle, as in `weight` with exact [default:
        binary]. Values: binary, idf.
    recall: With fingerprints: use LSH bands that find at least this fraction of the pairs at the
        maximum distance [default: find all].
    within: Compare only documents with the same value of this field.
    across: Compare only documents with different values of this field, written as for `within`.
    boilerplate: Leave lines that at least this number of documents have, such as menus, out of the
        comparison.
    bits: With simhash, bits of a fingerprint, 64, 128, 256 or 512 [default: 64]; with minhash, bits
        of a lane, 1, 2, 4, 8, 16 or 32 [default: 4].
    lexicons: With multi-lexicon, number of fingerprints of 64 bits, one per random lexicon
        [default: 8]; with i-match, number of random lexicons in addition to the whole one [default:
        0].
    lexicon_share: With multi-lexicon, fraction of the shingles in each random lexicon [default:
        0.5]; with i-match, fraction of the shingles in each random lexicon [default: 0.7].
    votes: With multi-lexicon, number of fingerprints that must be near, or sum to count the
        differing bits of all together [default: half of them].
    lexicon_bits: With multi-lexicon, whether the random bits of shingles differ between lexicons
        (own) or not (shared) [default: own]. Values: own, shared.
    lanes: With minhash, number of lanes, which hold one minimum each [default: as many as fit into
        64 bytes].
    hashing: With minhash, one-permutation computes one hash per shingle, classical one per shingle
        and lane [default: one-permutation]. Values: one-permutation, classical.
    measure: With minhash, what distances measure, jaccard (lanes that differ) or cosine
        (thousandths below 1, estimated from the lanes and the sizes of the sets) [default: cosine].
        Values: jaccard, cosine.
    least_terms: With i-match, minimum number of words of a document that must be in the lexicon;
        with fewer, a document is near only documents whose compared words are the same [default:
        5].
    least_share: With i-match, minimum fraction of a document's words that must be in the lexicon
        [default: 0.1].
    shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].
    tokenizer: Tokenizer that cuts texts into tokens [default: words]. Values: words, words+symbols,
        chars, ascii, chinese, auto, lecture.
    stop_words: Leave these words out before shingles are made, so that their neighbours become
        adjacent: none, english, chinese, or a file of words separated by white space [default:
        none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    weight: Weight of each distinct shingle [default: tf for fingerprints, binary with `method`
        exact]. Values: tf, binary, log-tf, idf, tf-idf, log-tf-idf, levels.
    top: For fingerprints: use only the K shingles of each document with the greatest tf-idf; with
        `shingle` 1 these are its keywords, and 200 is a usual number [default: all].
    idf_band: For fingerprints: use only shingles whose normalized idf is in this band, for example
        0.2-0.8. The value is 0 for a shingle that all documents contain and 1 for a shingle that
        only one contains. With `top`, it applies to the K chosen shingles [default: use all].
    files_from: File that lists more paths to read, one a line, optionally compressed with gzip; -
        is standard input.
    null: Paths in the list are separated by zero bytes.
    glob: When reading folders, include only files matching this glob (repeatable).
    exclude: When reading folders, leave out files matching this glob (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    per_line: Treat each line of a plain-text file as a document (the same as `split` lines).
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    quote: Character that encloses fields of CSV and TSV, or the word none if quotes are letters
        [default: recognized by the first rows; in TSV they are letters unless fields begin and end
        with them].
    escape: Character before a quote inside a quoted field of CSV and TSV [default: a backslash if
        the first rows need it; quotes may also be doubled].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    all_strings: Compare all texts of a record, joined by newlines: every string of JSON, every text
        column.
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
    "contamination_files": r"""

Options:
    fields: Fields of the items, joined by newlines, such as question,answer [default: text].
    words: Number of words of a shingle, from 1 to 1000 [default: 5].
    measure: Measure of how much of an item a document has [default: words]. Values: words,
        shingles, weighted.
    share: Minimum share of an item that a document has, as 0.8 or 4/5 [default: 0.8, and 0.6 with
        `measure` weighted].
    write_kept: Write copies of the documents' files without the items to the folder `output`.
        Values: drop, cut, mask.
    mask: Text in place of the words of items, with `write_kept` mask [default: [...]].
    force: Replace an existing output.
    output_format: Format of the rows [default: jsonl]. Values: jsonl, tsv, parquet.
    files_from: File that lists more paths to read, one a line, optionally compressed with gzip; -
        is standard input.
    null: Paths in the list are separated by zero bytes.
    glob: When reading folders, include only files matching this glob (repeatable).
    exclude: When reading folders, leave out files matching this glob (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    per_line: Treat each line of a plain-text file as a document (the same as `split` lines).
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    quote: Character that encloses fields of CSV and TSV, or the word none if quotes are letters
        [default: recognized by the first rows; in TSV they are letters unless fields begin and end
        with them].
    escape: Character before a quote inside a quoted field of CSV and TSV [default: a backslash if
        the first rows need it; quotes may also be doubled].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    all_strings: Compare all texts of a record, joined by newlines: every string of JSON, every text
        column.
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
    min_documents: Minimum number of documents with the words of a passage [default: 2].
    of: Documents that count as different ones for `min_documents` [default: document]. Values:
        document, file, folder, host.
    anywhere: Also list passages that are repeated only within one document.
    verify_words: Compare the words of all passages whose hashes are equal.
    output: File to write, or the folder to write with `write_kept`; - is standard output [default:
        -].
    force: Replace an existing output.
    output_format: Format of the rows [default: jsonl]. Values: jsonl, tsv, parquet.
    files_from: File that lists more paths to read, one a line, optionally compressed with gzip; -
        is standard input.
    null: Paths in the list are separated by zero bytes.
    glob: When reading folders, include only files matching this glob (repeatable).
    exclude: When reading folders, leave out files matching this glob (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    per_line: Treat each line of a plain-text file as a document (the same as `split` lines).
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    quote: Character that encloses fields of CSV and TSV, or the word none if quotes are letters
        [default: recognized by the first rows; in TSV they are letters unless fields begin and end
        with them].
    escape: Character before a quote inside a quoted field of CSV and TSV [default: a backslash if
        the first rows need it; quotes may also be doubled].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    all_strings: Compare all texts of a record, joined by newlines: every string of JSON, every text
        column.
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
    min_documents: Minimum number of documents with the words of a passage [default: 2].
    of: Documents that count as different ones for `min_documents` [default: document]. Values:
        document, file, folder, host.
    anywhere: Also list passages that are repeated only within one document.
    verify_words: Compare the words of all passages whose hashes are equal.
    cut: Copies of a passage that `write_kept` cuts. Values: first, all.
    mask: Text that replaces each cut. Without it, a line feed does.
    min_left: Remove a cut document with fewer words left [default: 1].
    force: Replace an existing output.
    output_format: Format of the rows [default: jsonl]. Values: jsonl, tsv, parquet.
    files_from: File that lists more paths to read, one a line, optionally compressed with gzip; -
        is standard input.
    null: Paths in the list are separated by zero bytes.
    glob: When reading folders, include only files matching this glob (repeatable).
    exclude: When reading folders, leave out files matching this glob (repeatable).
    hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
    format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
        arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
    split: Division of plain-text files into documents [default: file]. Values: file, lines,
        blank-lines.
    per_line: Treat each line of a plain-text file as a document (the same as `split` lines).
    encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
        such as windows-1251 or gbk, or detect [default: UTF-8].
    content: Text of an HTML page that is compared [default: main]. Values: all, main.
    delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
        in CSV the comma, semicolon, tab or bar, recognized by the first rows].
    quote: Character that encloses fields of CSV and TSV, or the word none if quotes are letters
        [default: recognized by the first rows; in TSV they are letters unless fields begin and end
        with them].
    escape: Character before a quote inside a quoted field of CSV and TSV [default: a backslash if
        the first rows need it; quotes may also be doubled].
    no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
        on.
    text_field: Fields or columns of the text [default: text].
    all_strings: Compare all texts of a record, joined by newlines: every string of JSON, every text
        column.
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
    resume: Store what was read, and go on from there if this run was stopped before.
    shard: Read shard I of N, such as 2/4, store it in OUTPUT.parts, and end.
    max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
        memory].
    tmp_dir: Folder for temporary files [default: the system's temporary folder].
    threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
    config: File with options of this command in TOML; options of the command line go before them.
    no_mmap: Read files into memory instead of mapping them.
""",
    "spark.deduplicate": r"""

Options:
    keep: Document to keep of several near-duplicates: rules, separated by commas [default: first].
    cluster: Documents to remove: only documents near a kept document (proven), or also documents
        that a chain of near-duplicates links to it (components) [default: proven]. Values: proven,
        components.
    method: Method that finds near-duplicates [default: simhash]. Values: exact, simhash,
        multi-lexicon, minhash, i-match, auto.
    similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
        0.8, or 0.9 with minhash by cosine].
    max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
        [default: 3 with simhash].
    verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
        similarity of at least S. S can name the same measures as `similarity`. The terms of the
        texts need memory.
    verify_weight: With `verify`: weight of each shingle, as in `weight` with exact [default:
        binary]. Values: binary, idf.
    bits: With simhash, bits of a fingerprint, 64, 128, 256 or 512 [default: 64]; with minhash, bits
        of a lane, 1, 2, 4, 8, 16 or 32 [default: 4].
    lexicons: With multi-lexicon, number of fingerprints of 64 bits, one per random lexicon
        [default: 8]; with i-match, number of random lexicons in addition to the whole one [default:
        0].
    lexicon_share: With multi-lexicon, fraction of the shingles in each random lexicon [default:
        0.5]; with i-match, fraction of the shingles in each random lexicon [default: 0.7].
    votes: With multi-lexicon, number of fingerprints that must be near, or sum to count the
        differing bits of all together [default: half of them].
    lexicon_bits: With multi-lexicon, whether the random bits of shingles differ between lexicons
        (own) or not (shared) [default: own]. Values: own, shared.
    lanes: With minhash, number of lanes, which hold one minimum each [default: as many as fit into
        64 bytes].
    hashing: With minhash, one-permutation computes one hash per shingle, classical one per shingle
        and lane [default: one-permutation]. Values: one-permutation, classical.
    measure: With minhash, what distances measure, jaccard (lanes that differ) or cosine
        (thousandths below 1, estimated from the lanes and the sizes of the sets) [default: cosine].
        Values: jaccard, cosine.
    least_terms: With i-match, minimum number of words of a document that must be in the lexicon;
        with fewer, a document is near only documents whose compared words are the same [default:
        5].
    least_share: With i-match, minimum fraction of a document's words that must be in the lexicon
        [default: 0.1].
    shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].
    tokenizer: Tokenizer that cuts texts into tokens [default: words]. Values: words, words+symbols,
        chars, ascii, chinese, auto, lecture.
    stop_words: Leave these words out before shingles are made, so that their neighbours become
        adjacent: none, english, chinese, or a file of words separated by white space [default:
        none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    weight: Weight of each distinct shingle [default: tf for fingerprints, binary with `method`
        exact]. Values: tf, binary, log-tf, idf, tf-idf, log-tf-idf, levels.
    top: For fingerprints: use only the K shingles of each document with the greatest tf-idf; with
        `shingle` 1 these are its keywords, and 200 is a usual number [default: all].
    idf_band: For fingerprints: use only shingles whose normalized idf is in this band, for example
        0.2-0.8. The value is 0 for a shingle that all documents contain and 1 for a shingle that
        only one contains. With `top`, it applies to the K chosen shingles [default: use all].
""",
    "spark.match": r"""

Options:
    method: Method that finds near-duplicates [default: simhash]. Values: exact, simhash,
        multi-lexicon, minhash, i-match, auto.
    similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
        0.8, or 0.9 with minhash by cosine].
    max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
        [default: 3 with simhash].
    verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
        similarity of at least S. S can name the same measures as `similarity`. The terms of the
        texts need memory.
    verify_weight: With `verify`: weight of each shingle, as in `weight` with exact [default:
        binary]. Values: binary, idf.
    bits: With simhash, bits of a fingerprint, 64, 128, 256 or 512 [default: 64]; with minhash, bits
        of a lane, 1, 2, 4, 8, 16 or 32 [default: 4].
    lexicons: With multi-lexicon, number of fingerprints of 64 bits, one per random lexicon
        [default: 8]; with i-match, number of random lexicons in addition to the whole one [default:
        0].
    lexicon_share: With multi-lexicon, fraction of the shingles in each random lexicon [default:
        0.5]; with i-match, fraction of the shingles in each random lexicon [default: 0.7].
    votes: With multi-lexicon, number of fingerprints that must be near, or sum to count the
        differing bits of all together [default: half of them].
    lexicon_bits: With multi-lexicon, whether the random bits of shingles differ between lexicons
        (own) or not (shared) [default: own]. Values: own, shared.
    lanes: With minhash, number of lanes, which hold one minimum each [default: as many as fit into
        64 bytes].
    hashing: With minhash, one-permutation computes one hash per shingle, classical one per shingle
        and lane [default: one-permutation]. Values: one-permutation, classical.
    measure: With minhash, what distances measure, jaccard (lanes that differ) or cosine
        (thousandths below 1, estimated from the lanes and the sizes of the sets) [default: cosine].
        Values: jaccard, cosine.
    least_terms: With i-match, minimum number of words of a document that must be in the lexicon;
        with fewer, a document is near only documents whose compared words are the same [default:
        5].
    least_share: With i-match, minimum fraction of a document's words that must be in the lexicon
        [default: 0.1].
    shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].
    tokenizer: Tokenizer that cuts texts into tokens [default: words]. Values: words, words+symbols,
        chars, ascii, chinese, auto, lecture.
    stop_words: Leave these words out before shingles are made, so that their neighbours become
        adjacent: none, english, chinese, or a file of words separated by white space [default:
        none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    weight: Weight of each distinct shingle [default: tf for fingerprints, binary with `method`
        exact]. Values: tf, binary, log-tf, idf, tf-idf, log-tf-idf, levels.
    top: For fingerprints: use only the K shingles of each document with the greatest tf-idf; with
        `shingle` 1 these are its keywords, and 200 is a usual number [default: all].
    idf_band: For fingerprints: use only shingles whose normalized idf is in this band, for example
        0.2-0.8. The value is 0 for a shingle that all documents contain and 1 for a shingle that
        only one contains. With `top`, it applies to the K chosen shingles [default: use all].
""",
}
