//! What stands below the help of each command: examples, each with what it does.

pub(super) const PROGRAM: &str = "\
Examples:
  simtool dedup big/
      finds the near-duplicates of all files under big/, and writes who repeats whom to simtool-out/
  simtool dedup dump.jsonl.gz --text-field body --similarity 0.7 --write-kept --output clean
      also writes the documents without the repeats, in their own format, to clean/kept/
  simtool match new/ --against big/
      finds the documents of new/ that are like one of big/
  simtool compare big/a.txt big/b.txt
      prints how alike two documents are, and where they differ
  simtool fingerprint big/ --output big.f
      writes a fingerprint of each document, for `simtool join big.f` and `simtool search big.f`
  simtool 1000 16
      reads stopwords.txt, hashvalue.txt, article.txt and sample.txt in the current folder, writes
      for each sample the articles within 3 of 16 bits to result.txt, and prints the first sample's

Each command's own help has its options: `simtool dedup --help`.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but for bad records or files, 130 interrupted.";

pub(super) const DEDUP: &str = "\
Examples:
  simtool dedup big/ --threads 16
      reads every file under big/ (WARC, WET, JSON Lines, Parquet, Arrow, CSV, text; gzip or
      Zstandard), finds all near-duplicates and writes who repeats whom to simtool-out/
  simtool dedup big/ --dry-run
      reads a sample and tells what that would take
  simtool dedup dump.jsonl.gz --text-field body --similarity 0.7 --write-kept --output clean
      also writes the documents without the repeats, in their own format, to clean/kept/
  simtool dedup big/ --method simhash --max-distance 6 --verify 0.9
      by fingerprints instead, which take 16 bytes a document; then looks at the texts of each pair
  simtool dedup big/ --method auto
      by what a sample of the documents says is best for them; tells what that is, and why
  simtool dedup big/ --keep max --keep-field date
      keeps the newest of each
  simtool 1000 64 --corpus big/
      by the fingerprints of `simtool 1000 64`, over the most frequent words of the collection

`simtool --corpus PATH` does the same as `simtool dedup PATH`.";

pub(super) const MATCH: &str = "\
Examples:
  simtool match new/ --against big/
      writes which documents of new/ are like one of big/ to simtool-out/removed.jsonl, all matches
      to simtool-out/pairs.jsonl
  simtool match new/ --against big/ --write-kept --output fresh
      also writes the documents of new/ that are like none of big/ to fresh/kept/
  simtool match new.jsonl --files-from big.paths --method simhash --max-distance 6
      against the files that big.paths lists, by fingerprints

`simtool --corpus PATH --queries QUERIES` does the same.";

pub(super) const EVAL: &str = "\
Examples:
  simtool eval datasets/labelled
      tells for each preset how well it finds the near-duplicates of the folder's docs.jsonl, which
      its truth.tsv lists
  simtool eval set-a/ set-b/ --methods shingle-simhash,simhash:bits=512,shingle=chars:5,exact
      three methods on two collections, with the mean at each one's best threshold and at one
      threshold for both
  simtool eval --corpus docs.jsonl --truth pairs.tsv --all --format tsv
      a line for every threshold of every preset
  simtool eval set-a/ --report eval.html --svg plots/
      also writes a page with plots and with the pairs that the best method gets wrong
  simtool eval --sample 1000 big/ --methods simhash:max_distance=6
      estimates what that method would miss and wrongly find in a collection without labels
  simtool eval --suggest big/
      tells which method, shingle and threshold fit the collection, and why";

pub(super) const WHY: &str = "\
Examples:
  simtool why simtool-out page-17
      tells whether the document of this ID was kept or removed, for which, and what they share
  simtool why simtool-out big/part-3.jsonl:120
      the same for record 120 of a file
  simtool why simtool-out big/part-3.jsonl#page-17
      the same for an ID that documents of several files have
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
      any two files of documents, the result of all samples on standard output

`simtool N M` does the same as `simtool reference N M`.";

pub(super) const FINGERPRINT: &str = "\
Examples:
  simtool fingerprint big/ --output big.f
      a packed file, for `simtool join big.f`
  simtool fingerprint big/ --bits 128 --output big.parquet
      with the name of each document
  simtool fingerprint new.jsonl --output -
      JSON Lines on standard output";

pub(super) const JOIN: &str = "\
Examples:
  simtool join big.f
      prints all pairs of rows within 3 bits
  simtool join big.npy --max-distance 6 --output pairs.parquet
      writes those within 6 bits to a file
  simtool join big.f --count
      prints how many there are
  simtool fingerprint big/ --output - | simtool join -
      prints the pairs, and keeps no file";

pub(super) const SEARCH: &str = "\
Examples:
  simtool search big.f --queries new.f
      prints, for each row of new.f, the rows of big.f within 3 bits
  simtool search big.f --queries new.f --max-distance 10 --output matches.tsv --stats
      writes those within 10 bits to a file, and tells where the time went";

pub(super) const COMPARE: &str = "\
Examples:
  simtool compare a.txt b.txt
      prints the similarity of two documents and where they differ
  simtool compare dump.jsonl:7 dump.jsonl:12 --text-field body
      two records of a file, as removed.jsonl names them";

pub(super) const GENERATE: &str = "\
Examples:
  simtool generate --documents 1000 --with-tables --output made
      all that `simtool 500 64 --directory made` reads, and truth.tsv with the true pairs
  simtool generate --bytes 700M --output large
      700 MB of articles";

pub(super) const COMPLETIONS: &str = "\
Examples:
  simtool completions bash > ~/.local/share/bash-completion/completions/simtool
  simtool completions zsh > ~/.zfunc/_simtool
  simtool completions fish > ~/.config/fish/completions/simtool.fish

The folder must be there: `mkdir -p` makes it. zsh looks into ~/.zfunc if its fpath names it.";

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
      for fingerprints of 64 bits, of which near-duplicates differ in at most 3
  simtool index add seen.idx big/ --source 2026-11
      adds what is new, and prints what repeats what
  simtool index filter seen.idx < pages.jsonl > new.jsonl
      lets pass what was never seen, as it comes";

pub(super) const PLAN: &str = "\
Examples:
  simtool plan --documents 1e11 --bits 64 --max-distance 3 --memory 64G
      for a hundred billion pages, on machines of 64 GB";

pub(super) const INDEX_CREATE: &str = "\
Examples:
  simtool index create seen.idx
      for SimHash of three-word shingles, 64 bits, at most 3 of which differ
  simtool index create seen.idx --bits 128 -k 6 --shingle chars:7
      for other fingerprints";

pub(super) const INDEX_ADD: &str = "\
Examples:
  simtool index add seen.idx dump.jsonl --source 2026-11 > repeats.tsv
      adds a dump, and lists what of it was seen before
  simtool index add seen.idx dump/ --only-new new/
      writes the dump without what was seen before";

pub(super) const INDEX_FILTER: &str = "\
Examples:
  crawl | simtool index filter seen.idx --duplicates seen.jsonl | store
      stands between a crawler and its store
  simtool index filter seen.idx --wait 5 < pages.jsonl > new.jsonl
      answers within about 5 ms";

pub(super) const INDEX_QUERY: &str = "\
Examples:
  simtool index query seen.idx page.txt
      prints what was seen that is most like the page
  simtool index query seen.idx pages.jsonl --all --json
      prints all that is near, and how often, from where and when it came";

pub(super) const INDEX_STAT: &str = "\
Examples:
  simtool index stat seen.idx
      prints documents, repeats, bytes and the method";

pub(super) const INDEX_VERIFY: &str = "\
Examples:
  simtool index verify seen.idx && echo intact
      reads all of it";

pub(super) const INDEX_COMPACT: &str = "\
Examples:
  simtool index compact seen.idx
      makes one segment of many";

pub(super) const INDEX_MERGE: &str = "\
Examples:
  simtool index merge all.idx seen.idx
      adds what seen.idx holds to all.idx";

pub(super) const INDEX_EXPORT: &str = "\
Examples:
  simtool index export seen.idx > documents.jsonl
      a line for each document, with its repeats, sources, first and last time
  simtool index export seen.idx --output documents.parquet
      the same as a table";

pub(super) const INDEX_REMOVE: &str = "\
Examples:
  simtool index remove seen.idx --ids gone.txt
      forgets documents that are no longer wanted";

pub(super) const INDEX_SALVAGE: &str = "\
Examples:
  simtool index salvage seen.idx saved.idx
      saves what is intact of a damaged index, and tells what is not";
