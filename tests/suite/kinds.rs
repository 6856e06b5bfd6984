//! The tables of kinds are the only lists of kinds: help and manual show every entry of them.

use crate::program::Folder;
use simtool::method::Method;
use simtool::stages::extract::weights::WEIGHTS;
use simtool::stages::fingerprint::SKETCHES;
use simtool::stages::tokenize::TOKENIZERS;

/// Returns the names of all tokenizers, weights and methods, each with its help text.
fn all_kinds() -> Vec<(&'static str, &'static str)> {
    let mut kinds: Vec<_> = TOKENIZERS.iter().map(|kind| (kind.name, kind.help)).collect();
    kinds.extend(WEIGHTS.iter().map(|kind| (kind.name, kind.help)));
    kinds.extend(Method::kinds());
    kinds
}

/// Returns the words of `text` without punctuation: help wraps lines, and roff escapes hyphens.
fn words_of(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

#[test]
fn every_kind_is_in_help_and_manual_with_its_help_text() {
    for arguments in [["dedup", "--help"], ["man", "dedup"]] {
        let finished = Folder::empty().run(&arguments);
        assert_eq!((finished.code, finished.err.as_str()), (0, ""), "{arguments:?}");
        let shown = words_of(&finished.out.replace("\\-", "-").replace("\\*(Aq", "'"));
        for (name, help) in all_kinds() {
            let expected = words_of(&format!("{name}: {}", help.replace('_', "-")));
            assert!(shown.contains(&expected), "{arguments:?} lacks {name}: {help}");
        }
    }
}

#[test]
fn every_option_of_a_fingerprint_is_in_the_help_of_the_commands_that_make_them() {
    for command in [&["dedup"][..], &["match"], &["fingerprint"], &["index", "create"]] {
        let finished = Folder::empty().run(&[command, &["--help"]].concat());
        assert_eq!((finished.code, finished.err.as_str()), (0, ""), "{command:?}");
        let shown = words_of(&finished.out);
        for kind in SKETCHES {
            for option in kind.options {
                let help = words_of(&format!("{}={} {}", option.name, option.value, option.help));
                assert!(shown.contains(&help), "{command:?} lacks {help}");
            }
        }
    }
}

#[test]
fn names_of_kinds_are_different() {
    for names in [
        TOKENIZERS.iter().map(|kind| kind.name).collect::<Vec<_>>(),
        WEIGHTS.iter().map(|kind| kind.name).collect(),
        Method::kinds().map(|(name, _)| name).collect(),
    ] {
        let mut distinct = names.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
    }
}
