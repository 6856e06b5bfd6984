//! The command line face.
#![expect(
    unsafe_code,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "scaffold"
)]
use simtool::fingerprint::hash_table::HashTable;
use simtool::kernels::Isa;
use simtool::mapped_file::MappedFile;
use simtool::pipeline::{config::MatchConfig, match_queries};
use std::io::Write;
use std::path::Path;
fn main() {
    let t0 = std::time::Instant::now();
    let args: Vec<String> = std::env::args().collect();
    let n: usize = args[1].parse().unwrap();
    let m: usize = args[2].parse().unwrap();
    let threads: usize = args.get(3).map_or(2, |t| t.parse().unwrap());
    let open = |p: &str| unsafe { MappedFile::open(Path::new(p)).unwrap() };
    let isa = Isa::detected();
    let sw = open("stopwords.txt");
    let table = open("hashvalue.txt");
    let config = MatchConfig {
        stop_words: simtool::tokenize::stop_words::parse(&sw).collect(),
        hash_table: HashTable::parse(isa, &table, Path::new("hashvalue.txt"), n, m).unwrap(),
        max_distance: 3,
        threads,
        isa,
    };
    let a = open("article.txt");
    let q = open("sample.txt");
    let t1 = t0.elapsed();
    let r = match_queries(&a, &q, &config).unwrap();
    std::io::stdout().write_all(&r.text[..r.first_block]).unwrap();
    let mut f = simtool::write::whole_file::WholeFile::create(Path::new("result.txt")).unwrap();
    f.write(&r.text).unwrap();
    f.finish().unwrap();
    if std::env::var("T").is_ok() {
        eprintln!(
            "open {t1:?} {:?} total {:?} docs {} matches {}",
            r.timings.stages(),
            t0.elapsed(),
            r.documents,
            r.matches
        );
    }
}
