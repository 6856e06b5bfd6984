//! `--config` and `--print-config`: options in a file.

use crate::program::{Finished, Folder, run};
use std::fs;

const DOCUMENTS: &str = "{\"id\":\"a\",\"body\":\"one two three four five six seven\"}\n\
                         {\"id\":\"b\",\"body\":\"one two three four five six eight\"}\n";

fn folder(settings: &str) -> Folder {
    Folder::empty().with("in.jsonl", DOCUMENTS).with("simtool.toml", settings)
}

/// Returns the IDs of the removed documents of the run in `out`.
fn removed(folder: &Folder) -> Vec<String> {
    let removed = fs::read_to_string(folder.path("out/removed.jsonl")).unwrap();
    let id =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].to_string();
    removed.lines().map(id).collect()
}

fn succeeds(run: &Finished) {
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn options_of_a_file_count_unless_the_command_line_has_them() {
    let folder = folder(
        "[dedup]\ntext_field = \"body\"\nsimilarity = 0.6\noutput = \"out\"\nforce = true\n",
    );
    succeeds(&folder.run_words("dedup in.jsonl --config simtool.toml"));
    assert_eq!(removed(&folder), ["\"b\""]);
    succeeds(&folder.run_words("dedup in.jsonl --config simtool.toml --similarity 0.9"));
    assert!(removed(&folder).is_empty());
    succeeds(&folder.run_words("--threads 2 --corpus in.jsonl --config simtool.toml"));
    assert_eq!(removed(&folder), ["\"b\""]);
    // The run is explained without the file.
    fs::remove_file(folder.path("simtool.toml")).unwrap();
    let why = folder.run_words("why out b");
    succeeds(&why);
    assert!(why.out.contains("in.jsonl"), "{}", why.out);
    let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
    assert!(
        summary.contains("--similarity=0.6") && summary.contains("--text-field=body"),
        "{summary}"
    );
    // The recorded command repeats the run without the file, too.
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let command = summary["command"].as_str().unwrap();
    succeeds(&folder.run_words(command.split_once(' ').unwrap().1));
    assert_eq!(removed(&folder), ["\"b\""]);
}

#[test]
fn options_of_the_environment_go_before_those_of_the_file() {
    let folder = folder("[dedup]\ntext_field = \"body\"\nsimilarity = 0.9\noutput = \"out\"\n");
    let dedup = |arguments: &str, variables: &[(&str, &str)]| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        run(&folder.path(""), &[&["dedup", "in.jsonl"][..], &arguments].concat(), variables)
    };
    let [config, similarity] = [("SIMTOOL_CONFIG", "simtool.toml"), ("SIMTOOL_SIMILARITY", "0.6")];
    succeeds(&dedup("--force", &[config]));
    assert!(removed(&folder).is_empty());
    succeeds(&dedup("--config simtool.toml", &[similarity, ("SIMTOOL_FORCE", "true")]));
    assert_eq!(removed(&folder), ["\"b\""]);
    let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
    assert!(summary.contains("--similarity=0.6") && summary.contains("--force"), "{summary}");
    // The run is explained by its recorded options, whatever the environment is now.
    let why = run(&folder.path(""), &["why", "out", "b"], &[("SIMTOOL_TEXT_FIELD", "none")]);
    succeeds(&why);
    assert!(why.out.contains("in.jsonl"), "{}", why.out);
    succeeds(&dedup("--force --similarity 0.9", &[config, similarity]));
    assert!(removed(&folder).is_empty());
    for (variable, value, message) in [
        ("SIMTOOL_FORCE", "yes", "environment SIMTOOL_FORCE=yes: must be true or false, not yes"),
        ("SIMTOOL_THREADS", "many", "SIMTOOL_THREADS is set in the environment"),
        ("SIMTOOL_METHOD", "none", "SIMTOOL_METHOD is set in the environment"),
    ] {
        let failed = dedup("--text-field body", &[(variable, value)]);
        assert_eq!(failed.code, 2, "{variable}: {}", failed.err);
        assert!(failed.err.contains(message), "{variable}: {}", failed.err);
    }
}

#[test]
fn wrong_files_are_refused_with_the_reason() {
    for (settings, message) in [
        ("[dedup]\nsimilarty = 0.9", "[dedup] has no option `similarty`"),
        ("[dedpu]\nsimilarity = 0.9", "[dedpu] is no command; there are "),
        ("[dedup]\nsimilarity = ", "line 2: must be TOML: "),
        ("[dedup]\nforce = \"no\"", "--force must be true or false, not no"),
        ("[dedup]\nsimilarity = 2", "simtool.toml sets --similarity=2"),
        ("[dedup]\nmethod = \"none\"", "simtool.toml sets --method=none"),
    ] {
        let run =
            folder(settings).run_words("dedup in.jsonl --text-field body --config simtool.toml");
        assert_eq!(run.code, 2, "{settings}: {}", run.err);
        assert!(run.err.contains(message), "{settings}: {}", run.err);
    }
    let run = folder("").run_words("dedup in.jsonl --config missing.toml");
    assert!(run.code != 0 && run.err.contains("missing.toml"), "{}", run.err);
}

#[test]
fn printed_settings_are_a_file_that_changes_nothing() {
    let folder = folder("");
    for command in ["dedup", "match", "eval", "fingerprint", "join", "index add", "why"] {
        let printed = folder.run_words(&format!("config {command}"));
        succeeds(&printed);
        assert!(printed.out.contains("\n# threads = 0\n"), "{command}: {}", printed.out);
    }
    let settings = folder.run_words("config dedup").out;
    fs::write(folder.path("all.toml"), settings).unwrap();
    succeeds(&folder.run_words("dedup in.jsonl --text-field body --output out --config all.toml"));
}
