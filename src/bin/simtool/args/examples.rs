//! Examples for the help of each command, each with an explanation.

pub(super) const PROGRAM: &str = "\
Examples:
  simtool dedup big/
      finds near-duplicates in all files under big/, and writes the results to simtool-out/
  simtool dedup dump.jsonl.gz --text-field body --similarity 0.7 --write-kept --output clean
      also writes the documents without near-duplicates, in the same format, to clean/kept/
  simtool match new/ --against big/
      finds the documents of new/ that are near-duplicates of a document of big/
  simtool 1000 16
      lists for each sample of the current folder the articles within 3 of 16 bits, in result.txt

`simtool dedup -h` lists the options of a command, and `simtool dedup --help` explains them.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done except for bad records, 130 interrupted.";

pub(super) const DEDUP: &str = "\
Examples:
  simtool dedup big/ --threads 16
      reads every file under big/ (WARC, WET, HTML, JSON Lines, Parquet, Arrow, CSV, text;
      plain or compressed), finds all near-duplicates and writes the results to simtool-out/
  simtool dedup big/ --dry-run
      reads a sample and estimates the time and memory of this run
  simtool dedup big/ --preview
      shows what would be removed: by similarity, by size of cluster, the largest clusters, and the
      pairs closest to the limit
  simtool dedup dump.jsonl.gz --text-field body --similarity 0.7 --write-kept --output clean
      also writes the documents without near-duplicates, in the same format, to clean/kept/
  simtool dedup chats.jsonl notes.parquet --text-field messages[].content,title+body
      compares the messages of each chat, and title and body of each note
  simtool dedup crawl/*.warc.gz --content all
      compares the whole text of pages, with navigation, headers, footers and sidebars
  simtool dedup big/ --method simhash --max-distance 6 --verify 0.9
      uses fingerprints, which take 16 bytes a document, then compares the texts of each pair
  simtool dedup big/ --method auto
      chooses the method from a sample of the documents, and prints the choice with its reasons
  simtool dedup big/ --annotate=weight=sqrt
      lists all documents with their clusters, and kept ones with a weight for training
  simtool dedup big/ --config simtool.toml
      reads options from a file; simtool config dedup prints one with all options
  simtool dedup big/ --resume
      stores what was read, and goes on from there when the same command runs again after a stop
  simtool dedup big/ --keep newest
      keeps the document of each cluster with the latest date
  simtool dedup big/ --keep max:score,longest
      keeps the document of each cluster with the highest score, and the longest of several
  simtool dedup pages/ --within lang --prefer source=wiki,news
      compares only documents of the same language, and keeps those of source wiki first
  simtool 1000 64 --corpus big/
      uses the fingerprints of `simtool 1000 64`, over the 1000 most frequent words

`simtool --corpus PATH` does the same as `simtool dedup PATH`.";

pub(super) const COMBINE: &str = "\
Examples:
  simtool dedup big/ --output out --shard 1/2
  simtool dedup big/ --output out --shard 2/2
  simtool combine out
      reads each half of big/ by a run of its own, also on two machines, and writes the results of
      `simtool dedup big/ --output out` to out/";

pub(super) const MATCH: &str = "\
Examples:
  simtool match new/ --against big/
      writes the documents of new/ that match a document of big/ to simtool-out/removed.jsonl, and
      all matches to simtool-out/pairs.jsonl
  simtool match new/ --against big/ --write-kept --output fresh
      also writes the documents of new/ without a match in big/ to fresh/kept/
  simtool match new.jsonl --files-from big.paths --method simhash --max-distance 6
      matches by fingerprints against the files that big.paths lists

`simtool --corpus PATH --queries QUERIES` does the same.";

pub(super) const EVAL: &str = "\
Examples:
  simtool eval datasets/labelled
      measures how well each preset finds the near-duplicates in the folder's docs.jsonl that its
      truth.tsv lists
  simtool eval set-a/ set-b/ --method shingle-simhash,simhash:bits=512,shingle=chars:5,exact
      compares three methods on two collections, with the mean at the best threshold of each
      collection and at one threshold for both
  simtool eval --corpus docs.jsonl --truth pairs.tsv --format tsv
      prints a line for every threshold of every preset
  simtool eval set-a/ --report eval.html --plot plots/
      also writes a page with plots and the pairs that the best method gets wrong
  simtool eval --sample 1000 big/ --method simhash:max_distance=6
      estimates recall and precision of the method in a collection without labels
  simtool eval --suggest big/
      suggests method, shingle and threshold for the collection, with reasons and with pairs just
      above and just below the threshold";

pub(super) const WHY: &str = "\
Examples:
  simtool why simtool-out page-17
      prints whether this document was kept or removed, and for which other document
  simtool why simtool-out big/part-3.jsonl:120
      the same for record 120 of a file
  simtool why simtool-out big/part-3.jsonl#page-17
      the same for an ID that occurs in several files
  simtool why simtool-out page-17 --json
      the same as one JSON object, for a program";

pub(super) const REFERENCE: &str = "\
Examples:
  simtool 1000 16
      reads stopwords.txt, hashvalue.txt, article.txt and sample.txt in the current folder,
      fingerprints every document with 16 bits over the 1000 most frequent words, writes for
      each sample the articles within 3 bits to result.txt, and prints the first sample's
  simtool 5000 64 --directory DIR --max-distance 5
      the same for the files in DIR, with matches up to 5 of 64 bits away
  simtool 1000 64 --articles corpus.txt --samples new.txt --result -
      matches any two files and prints the result of all samples on standard output

`simtool N M` does the same as `simtool reference N M`.";

pub(super) const FINGERPRINT: &str = "\
Examples:
  simtool fingerprint big/ --output big.f
      writes a packed file for `simtool join big.f`
  simtool fingerprint big/ --method simhash:bits=128 --output big.parquet
      also writes the ID of each document
  simtool fingerprint new.jsonl --output -
      prints JSON Lines on standard output";

pub(super) const JOIN: &str = "\
Examples:
  simtool join big.f
      prints all pairs of rows within 3 bits
  simtool join big.npy --max-distance 6 --output pairs.parquet
      writes all pairs within 6 bits to a file
  simtool join big.f --count
      prints the number of pairs
  simtool fingerprint big/ --output - | simtool join -
      prints the pairs without writing a file";

pub(super) const SEARCH: &str = "\
Examples:
  simtool search big.f --queries new.f
      prints, for each row of new.f, the rows of big.f within 3 bits
  simtool search big.f --queries new.f --max-distance 10 --output matches.tsv --stats
      writes the rows within 10 bits to a file, and prints the time of each stage";

pub(super) const PASSAGES: &str = "\
Examples:
  simtool passages big/ > passages.jsonl
      lists all passages of at least 50 words that occur in several documents of big/
  simtool passages dump.parquet --words 20 --min-documents 10 --output repeated.jsonl
      writes passages of at least 20 words that occur in at least ten documents to a file
  simtool passages book.txt --min-documents 1 --words 10 --verify-words
      also lists what repeats itself in one document, and compares the words of equal passages
  simtool passages crawl/ --unit line --min-documents 10:host
      lists whole lines of at least 8 words that pages of at least ten hosts have
  simtool passages big/ --write-kept --output cut/ --min-left 50
      cuts all copies but the first out of copies of the files, and drops texts with little left";

pub(super) const CONTAMINATION: &str = "\
Examples:
  simtool contamination questions.jsonl --fields question,answer --in corpus/ > found.jsonl
      lists the items of which a document of corpus/ has 0.8 of the words, in shingles of 5 words
  simtool contamination questions.jsonl --in corpus/ --measure weighted --output found.jsonl
      also finds items with several changed words: words of common shingles count less
  simtool contamination lines.txt --in big/ --words 13 --measure shingles --share 0.5
      counts shingles of 13 words of each line of a text file
  simtool contamination items.jsonl --in corpus/ --write-kept drop --output clean/
      writes copies of the files of corpus/ without the documents that contain an item";

pub(super) const COMPARE: &str = "\
Examples:
  simtool compare a.txt b.txt
      prints the similarity of two documents and where they differ
  simtool compare dump.jsonl:7 dump.jsonl:12 --text-field body
      compares two records of a file, named as in removed.jsonl";

pub(super) const GENERATE: &str = "\
Examples:
  simtool generate --documents 1000 --with-tables --output made
      writes all files that `simtool 500 64 --directory made` reads, and the true pairs in truth.tsv
  simtool generate --bytes 700M --output large
      writes 700 MB of articles";

pub(super) const COMPLETIONS: &str = "\
Examples:
  simtool completions bash > ~/.local/share/bash-completion/completions/simtool
  simtool completions zsh > ~/.zfunc/_simtool
  simtool completions fish > ~/.config/fish/completions/simtool.fish

The folder must exist: create it with `mkdir -p`. For zsh, add ~/.zfunc to fpath.";

pub(super) const CONFIG: &str = "\
Examples:
  simtool config dedup > simtool.toml
      writes a settings file, whose options hold once the # before them is removed
  simtool dedup big/ --config simtool.toml
      reads options from the file
  SIMTOOL_MAX_RECORD=1G simtool dedup big/
      sets an option in the environment";

pub(super) const CITE: &str = "\
Examples:
  simtool cite > simtool.bib
      writes simtool itself and all papers
  simtool cite minhash
      prints the papers behind --method minhash";

pub(super) const MAN: &str = "\
Examples:
  simtool man
      prints the main page
  simtool man dedup
      prints the page of a command
  simtool man --output ~/.local/share/man/man1
      writes all pages to a folder, where `man simtool-dedup` finds them";

pub(super) const INDEX: &str = "\
Examples:
  simtool index create seen.idx
      creates an index of 64-bit fingerprints; near-duplicates differ in at most 3 bits
  simtool index add seen.idx big/ --source 2026-11
      adds new documents, and prints each repeat with the document that it repeats
  simtool index filter seen.idx < pages.jsonl > new.jsonl
      passes through lines that were never seen, as they arrive";

pub(super) const PLAN: &str = "\
Examples:
  simtool plan --documents 1e11 --bits 64 --max-distance 3 --max-memory 64G
      plans for a hundred billion pages on machines with 64 GB";

pub(super) const INDEX_CREATE: &str = "\
Examples:
  simtool index create seen.idx
      uses SimHash of three-word shingles with 64 bits; near-duplicates differ in at most 3
  simtool index create seen.idx --method simhash:bits=128 -k 6 --shingle chars:7
      uses 128 bits over shingles of seven characters, with distances up to 6";

pub(super) const INDEX_ADD: &str = "\
Examples:
  simtool index add seen.idx dump.jsonl --source 2026-11 > repeats.tsv
      adds a dump, and lists its documents that were seen before
  simtool index add seen.idx dump/ --only-new new/
      writes the dump without the documents that were seen before";

pub(super) const INDEX_FILTER: &str = "\
Examples:
  crawl | simtool index filter seen.idx --duplicates seen.jsonl | store
      filters the pages between a crawler and its store
  simtool index filter seen.idx --wait 5 < pages.jsonl > new.jsonl
      answers within about 5 ms";

pub(super) const INDEX_QUERY: &str = "\
Examples:
  simtool index query seen.idx page.txt
      prints the document of the index that is nearest to the page
  simtool index query seen.idx pages.jsonl --all --json
      prints all near documents with their counts, sources and times";

pub(super) const INDEX_STAT: &str = "\
Examples:
  simtool index stat seen.idx
      prints the method and the numbers of documents, repeats and bytes";

pub(super) const INDEX_VERIFY: &str = "\
Examples:
  simtool index verify seen.idx && echo intact
      reads and checks every byte";

pub(super) const INDEX_COMPACT: &str = "\
Examples:
  simtool index compact seen.idx
      merges many segments into one";

pub(super) const INDEX_MERGE: &str = "\
Examples:
  simtool index merge all.idx seen.idx
      adds the documents of seen.idx to all.idx";

pub(super) const INDEX_EXPORT: &str = "\
Examples:
  simtool index export seen.idx > documents.jsonl
      writes a line for each document, with its repeats, sources, first and last time
  simtool index export seen.idx --output documents.parquet
      writes the same as a Parquet table";

pub(super) const INDEX_REMOVE: &str = "\
Examples:
  simtool index remove seen.idx --ids gone.txt
      removes the documents that gone.txt lists
  simtool index export seen.idx | grep spam.example | simtool index remove seen.idx --ids - --json
      removes the documents with spam.example in their line, for example in the ID";

pub(super) const INDEX_SALVAGE: &str = "\
Examples:
  simtool index salvage seen.idx saved.idx
      copies the intact documents of a damaged index, and reports the damage";
