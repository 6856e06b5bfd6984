//! Commands in the names and forms that people guess have the same effect. No option is ignored,
//! and no existing file is overwritten.

use crate::program::Folder;
use std::fs;
use std::path::Path;

const TEXTS: &str = "the quick brown fox jumps over the lazy dog\n\
                     some other words that nobody else has written\n\
                     the quick brown fox jumps over the lazy dog!\n";
const ROWS: &str = "00000000000000ff\n00000000000000fe\nffffffffffffffff\n";

/// Whether this build generates every kind of collection.
const GENERATES_ALL: bool = cfg!(feature = "parquet");

fn folder() -> Folder {
    Folder::empty().with("a.txt", TEXTS).with("new.txt", TEXTS).with("rows.txt", ROWS)
}

/// Returns the standard output of a run that must succeed.
fn done(folder: &Folder, arguments: &str) -> String {
    let run = folder.run_words(arguments);
    assert_eq!(run.code, 0, "{arguments}: {}", run.err);
    run.out
}

/// Returns the message of a run that must reject its command line.
fn refused(folder: &Folder, arguments: &str) -> String {
    let run = folder.run_words(arguments);
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments}: {}", run.err);
    run.err
}

/// Returns the files below a folder with their bytes, without those that hold times and the
/// command.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            files.extend(
                self::files(&path).into_iter().map(|(file, bytes)| (name.clone() + &file, bytes)),
            );
        } else if !["summary.json", "request.json", "report.html"].contains(&name.as_str()) {
            files.push((name, fs::read(path).unwrap()));
        }
    }
    files.sort();
    files
}

#[test]
fn dedup_and_match_do_what_corpus_and_queries_do() {
    let folder = folder();
    let found = |arguments: &str| {
        done(&folder, &format!("{arguments} -q --force --split lines --output out"));
        files(&folder.path("out"))
    };
    let by_option = found("--corpus a.txt --pairs --write-kept");
    assert!(by_option.len() >= 5, "{by_option:?}");
    assert_eq!(found("dedup a.txt --pairs --write-kept"), by_option);
    assert_eq!(found("deduplicate a.txt --pairs --write-kept"), by_option);
    let simhash = "--method simhash:bits=128 -k 20 --verify 0.9 --shingle words:2 --keep last";
    assert_eq!(
        found(&format!("dedup a.txt {simhash}")),
        found(&format!("--corpus a.txt {simhash}"))
    );
    let matched = found("--corpus a.txt --queries new.txt --write-kept");
    assert_eq!(found("match new.txt --against a.txt --write-kept"), matched);
    fs::write(folder.path("list"), "a.txt\n").unwrap();
    assert_eq!(found("match new.txt --files-from list --write-kept"), matched);
    assert_eq!(found("dedup --files-from list --pairs --write-kept"), by_option);
    assert_eq!(found("--files-from list --pairs --write-kept"), by_option);
    assert!(refused(&folder, "dedup").contains("<PATH>"));
    assert!(refused(&folder, "match new.txt").contains("--against <PATH>"));
    assert!(refused(&folder, "match --against a.txt new.txt").contains("<QUERIES>"));
    assert!(refused(&folder, "match - --against -").contains("standard input can be read once"));
}

#[test]
fn n_and_m_have_a_name_too() {
    let folder = Folder::of("A1\nw w\n\x0cA2\nv\n", "S1\nw\n\x0cS2\nv\n");
    let short = folder.run_words("1 4");
    let result = folder.result();
    let long = folder.run_words("reference 1 4");
    assert_eq!((long.code, &long.out, &long.err), (0, &short.out, &short.err));
    assert_eq!(folder.result(), result);
    let run = folder.run_words("1 4 --verbose");
    assert_eq!(run.err, "simtool: note: articles 2, samples 2, features 1, matches 2\n");
    assert_eq!(folder.run_words("1 4 --quiet --progress always").err, "");
}

#[test]
fn no_option_is_ignored() {
    let folder = folder().with("a.jsonl", "{\"text\":\"some words\"}\n");
    for (arguments, part) in [
        ("500 64 --corpus a.txt --shingle words:2", "so that it goes with --verify only"),
        ("500 64 --corpus a.txt --method exact", "N and M in front are of simhash"),
        ("500 64 --corpus a.txt --similarity 0.5", "works only with --method exact"),
        (
            "500 64 --corpus a.txt --method simhash:bits=64",
            "cannot be used with 500 most frequent words",
        ),
        ("--corpus a.txt --hash-table rows.txt", "goes with N and M"),
        ("500 64 --corpus a.txt --shingle chars", "so that it goes with --verify only"),
        (
            "500 64 --corpus a.txt --method simhash:weight=idf",
            "cannot be used with 500 most frequent words",
        ),
        ("dedup a.txt --method exact:weight=tf", "--method exact:weight=tf: must be binary or idf"),
        ("dedup a.txt --method simhash:verify_weight=idf", "needs --verify"),
        (
            "dedup a.txt --method exact:top=9",
            "--method exact:top=9: works only with --method simhash",
        ),
        (
            "dedup a.txt --method exact:idf_band=0-1",
            "--method exact:idf_band=0-1: works only with --method simhash",
        ),
        ("dedup a.txt --method exact:shingle=chars --shingle words:2", "is given twice"),
        ("dedup a.txt --stop-words nowhere", "english, chinese, an existing file"),
        (
            "compare a.txt a.txt --method simhash:weight=binary,top=5",
            "top 5: is learned from a collection",
        ),
        (
            "dedup a.txt --method exact:bits=128",
            "--method exact:bits=128: works only with --method simhash",
        ),
        ("dedup a.txt -k 4", "--max-distance 4: works only with --method simhash"),
        ("dedup a.txt --verify 0.5", "--verify 0.5: works only with --method simhash"),
        ("dedup a.txt --method simhash --similarity 0.5", "works only with --method exact"),
        ("dedup a.txt --keep-field date", "--keep max:score or --keep newest:updated"),
        ("dedup a.txt --quarantined drop", "--write-kept readable"),
        ("dedup a.txt --max-record 2K", "set SIMTOOL_MAX_RECORD in the environment"),
        ("dedup a.txt --dry-run --json", "cannot be used with"),
        ("dedup a.txt --null", "is recognized: --files-from list"),
        ("dedup a.txt --split lines --format jsonl", "has no plain text, which --split divides"),
        ("match new.txt --against a.txt --keep last", "'--keep': it goes with `simtool dedup`"),
        ("match new.txt --against a.txt --pairs", "'--pairs': it goes with `simtool dedup`"),
        ("--corpus a.txt --queries new.txt --keep last", "does not go with --queries"),
        ("join rows.txt --count --groups", "cannot be used with"),
        ("join rows.txt --force", "--output <FILE>"),
        ("generate --kind crawl --documents 3 --samples 3 --output x", "cannot be used with"),
        (
            "dedup a.txt --text-field b",
            "is of parquet, arrow, csv, tsv, json, jsonl, xml; the input is text",
        ),
        ("dedup a.txt --id-field b", "--id-field b: is of warc, parquet"),
        ("dedup a.txt --keep max:b", "--keep b: is of warc, parquet"),
        ("dedup a.txt --delimiter ;", "--delimiter ;: is of csv, tsv; the input is text"),
        (
            "dedup a.txt --split lines --delimiter tab",
            "--delimiter \\t: is of csv, tsv; the input is lines",
        ),
        (
            "dedup a.jsonl --split lines",
            "--split lines: is of text, lines, blank-lines; the input is jsonl",
        ),
        ("match new.txt --against a.txt --text-field b", "--text-field b: is of parquet"),
        ("--corpus a.txt --queries new.txt --id-field b", "--id-field b: is of warc, parquet"),
        ("fingerprint a.txt --output - --text-field b", "--text-field b: is of parquet"),
        ("compare a.txt new.txt --text-field b", "neither document is in one"),
        ("compare a.txt new.txt --id-field b", "--id-field b: needs a document FILE#ID"),
        ("compare a.txt a.jsonl:0 --id-field b", "--id-field b: needs a document FILE#ID"),
        ("dedup a.txt -q -v", "cannot be used with"),
        ("match new.txt --against a.txt -q -v", "cannot be used with"),
        ("--corpus a.txt -q -v", "cannot be used with"),
        ("fingerprint a.txt --output - -q -v", "cannot be used with"),
        ("join rows.txt -q -v", "cannot be used with"),
        ("search rows.txt --queries rows.txt -q -v", "cannot be used with"),
        ("compare a.txt new.txt -q -v", "cannot be used with"),
        ("1 4 -q -v", "cannot be used with"),
        ("1 4 --force", "--result <FILE>"),
        ("man join --output x", "cannot be used with"),
    ] {
        if arguments.starts_with("generate") && !GENERATES_ALL {
            continue;
        }
        let error = refused(&folder, arguments);
        assert!(error.contains(part), "{arguments}: {error}");
    }
    assert!(!folder.path("simtool-out").exists() && !folder.path("x").exists());
    let verified = "5 64 --corpus a.txt --split lines -q --verify 0.5 --shingle words:2";
    assert_eq!(folder.run_words(verified).code, 0);
}

#[test]
fn join_and_search_take_files_by_position_and_report_their_work() {
    let folder = folder();
    let pairs = "0\t1\t1\n";
    assert_eq!(done(&folder, "join rows.txt"), pairs);
    assert_eq!(done(&folder, "join rows.txt"), pairs);
    assert_eq!(done(&folder, "join rows.txt --output -"), pairs);
    let found = done(&folder, "search rows.txt --queries rows.txt -k 0");
    assert_eq!(found, "0\t0\t0\n1\t1\t0\n2\t2\t0\n");
    assert_eq!(done(&folder, "search rows.txt --queries rows.txt -k 0"), found);
    assert!(refused(&folder, "join").contains("<FILE>"));
    assert!(refused(&folder, "search rows.txt").contains("--queries <FILE>"));
    for command in ["join rows.txt", "search rows.txt --queries rows.txt"] {
        let pairs = if command.starts_with("join") { "1 pairs" } else { "5 pairs" };
        for more in ["", "--count", "--output f.tsv --force", "--output f.npy --force"] {
            let run = folder.run_words(format!("{command} --verbose {more}").trim_end());
            assert_eq!(run.code, 0, "{}", run.err);
            for part in ["note: rows.txt: 3 rows of 64 bits", "note: the method is ", pairs] {
                assert!(run.err.contains(part), "{command} {more}: {}", run.err);
            }
            let run = folder.run_words(format!("{command} --stats {more}").trim_end());
            for part in ["read ", "plan ", "listing pairs", pairs, "peak memory"] {
                let is_counted = part == "listing pairs" && more == "--count";
                assert!(is_counted || run.err.contains(part), "{command} {more}: {}", run.err);
            }
            assert_eq!(folder.run_words(format!("{command} -q {more}").trim_end()).err, "");
        }
        let run = folder.run_words(&format!("{command} --groups --stats"));
        assert!(run.err.contains("listing groups"), "{}", run.err);
        assert_eq!(folder.run_words(&format!("{command} --progress always")).code, 0);
    }
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let folder = folder();
    let generate = "generate --documents 5 --samples 2 --with-tables --quiet --output made";
    done(&folder, generate);
    for (command, file) in [
        ("join rows.txt --output old.tsv", "old.tsv"),
        ("search rows.txt --queries rows.txt --output old.npy", "old.npy"),
        ("fingerprint a.txt --output old.txt -q", "old.txt"),
        ("5 4 -q --directory made --result old", "old"),
        ("reference 5 4 -q --directory made --result old", "old"),
        (generate, "made/article.txt"),
        (generate, "made/truth.tsv"),
        (generate, "made/hashvalue.txt"),
        ("generate --kind crawl --documents 3 -q --output made", "made/pages.jsonl"),
        ("man --output made", "made/simtool-join.1"),
    ] {
        if command.contains("--crawl") && !GENERATES_ALL {
            continue;
        }
        fs::write(folder.path(file), "old").unwrap();
        let error = refused(&folder, command);
        let rule = "is there already: name another file, or replace it with --force";
        assert!(error.contains(rule), "{command}: {error}");
        assert_eq!(fs::read(folder.path(file)).unwrap(), b"old", "{command}");
        if command != generate {
            done(&folder, &format!("{command} --force"));
            assert_ne!(fs::read(folder.path(file)).unwrap(), b"old", "{command}");
        }
    }
    done(&folder, &format!("{generate} --force"));
    // The result of the task is replaced, with either name of the file.
    for command in ["5 4 -q --directory made", "5 4 -q --directory made --result made/result.txt"] {
        fs::write(folder.path("made/result.txt"), "old").unwrap();
        done(&folder, command);
        assert_ne!(fs::read(folder.path("made/result.txt")).unwrap(), b"old");
    }
}

#[cfg(unix)]
#[test]
fn links_are_overwritten_as_little_as_files_and_devices_always_written() {
    let folder = folder();
    std::os::unix::fs::symlink("nowhere", folder.path("link.tsv")).unwrap();
    let error = refused(&folder, "join rows.txt --output link.tsv");
    assert!(error.contains("--output link.tsv: is there already"), "{error}");
    assert_eq!(done(&folder, "join rows.txt --output /dev/stdout"), "0\t1\t1\n");
    done(&folder, "join rows.txt --output /dev/null");
}

#[test]
fn a_name_says_a_format_that_can_be_written_or_is_refused() {
    let folder = folder();
    for command in ["join rows.txt", "search rows.txt --queries rows.txt"] {
        for name in ["x.csv", "x.jsonl", "x.tsv.gz", "x.f"] {
            let error = refused(&folder, &format!("{command} --output {name}"));
            assert!(error.contains(&format!("--output {name}: must end in .tsv")), "{error}");
        }
        if !cfg!(feature = "parquet") {
            refused(&folder, &format!("{command} --output x.parquet"));
        }
    }
    for command in [
        "dedup a.txt --output x.jsonl",
        "match new.txt --against a.txt --output x.parquet",
        "--corpus a.txt --output x.csv",
        "generate --documents 3 --output x.txt",
        "man --output x.gz",
    ] {
        let error = refused(&folder, command);
        assert!(error.contains("results are several files in a folder"), "{command}: {error}");
    }
    let error = refused(&folder, "1 4 --result x.csv");
    assert!(error.contains("--result x.csv: is text of its own format"), "{error}");
    let error = refused(&folder, "fingerprint a.txt --output x.csv");
    assert!(
        error.contains("--output x.csv: must end in one of .f, .npy, .parquet, .jsonl"),
        "{error}"
    );
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 3);
}

#[test]
fn a_hyphen_is_never_a_folder() {
    let folder = folder();
    for command in [
        "dedup a.txt --output -",
        "match new.txt --against a.txt --output -",
        "--corpus a.txt --output -",
        "dedup a.txt --tmp-dir -",
        "1 4 --directory -",
        "generate --documents 1 --output -",
        "man --output -",
    ] {
        let error = refused(&folder, command);
        assert!(error.contains("not a folder"), "{command}: {error}");
    }
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 3);
}

#[test]
fn compare_reports_its_inputs_and_stages() {
    let folder = folder();
    let plain = folder.run_words("compare a.txt new.txt");
    assert_eq!((plain.code, &*plain.err), (0, ""));
    for more in ["-q", "--progress never", "--progress always", "SIMTOOL_NO_MMAP=true"] {
        let run = folder.run_words(&format!("compare a.txt new.txt {more}"));
        assert_eq!((run.code, &run.out), (0, &plain.out), "{more}: {}", run.err);
    }
    let size = TEXTS.len();
    let run = folder.run_words("compare a.txt new.txt -v");
    let note = |name, file| format!("simtool: note: {name}: {file}:0, text, {size} B of text\n");
    assert_eq!(run.err, note("A", "a.txt") + &note("B", "new.txt"));
    let run = folder.run_words("compare a.txt new.txt --stats -q");
    for stage in ["read ", "compare ", "find differences "] {
        assert!(
            run.err.contains(&format!("\n{stage}")) || run.err.starts_with(stage),
            "{}",
            run.err
        );
    }
    assert_eq!(run.out, plain.out);
}

#[test]
fn generate_reports_the_size_of_its_output() {
    let folder = Folder::empty();
    let run = folder.run_words("generate --documents 10 --samples 1 --output made");
    let written = fs::metadata(folder.path("made/article.txt")).unwrap().len();
    let size = format!("{:.1} kB", written as f64 / 1000.0);
    let note = format!("note: 10 articles of {size}, 1 sample, 1 true pair\n");
    assert!(run.err.contains(&note), "{}", run.err);
}
