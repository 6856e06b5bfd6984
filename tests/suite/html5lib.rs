//! The tokenizer tests of html5lib, in the folder that the environment variable `SIMTOOL_HTML5LIB`
//! names (`scripts/html5lib` fetches them).
//!
//! The text of every input equals the text of the slow twin. If html5lib expects only characters
//! and tags without meaning, it also equals the text of these tokens.

#![expect(clippy::print_stdout, reason = "a skipped test reports it")]

use crate::pages;
use serde_json::Value;
use std::{env, fs};

/// Returns inputs that bring a tokenizer to a state, in addition to the beginning of a page.
fn openings(state: &str) -> &'static [&'static str] {
    match state {
        "Data state" => &[""],
        "PLAINTEXT state" => &["<plaintext>"],
        "RCDATA state" => &["<title>", "<textarea>"],
        "RAWTEXT state" => &["<style>", "<xmp>", "<iframe>"],
        "Script data state" => &["<script>"],
        "CDATA section state" => &["<svg><![CDATA[", "<math><![CDATA["],
        _ => panic!("a state that is not known: {state}"),
    }
}

/// Returns a string, in which `\uXXXX` means a character if it is `escaped`. Returns `None` if such
/// a number is half of a character.
fn string(value: &Value, escaped: bool) -> Option<String> {
    let text = value.as_str().unwrap();
    if escaped {
        serde_json::from_str(&format!("\"{}\"", text.replace('"', "\\\""))).ok()
    } else {
        Some(text.to_owned())
    }
}

/// Returns the text of the tokens of a page, if they are only characters, comments, and tags of one
/// letter. Of these tags only `p` has a meaning.
fn text(tokens: &Value, escaped: bool) -> Option<String> {
    let mut characters = String::new();
    for token in tokens.as_array().unwrap() {
        match token[0].as_str().unwrap() {
            "Character" => characters += &string(&token[1], escaped)?,
            "Comment" | "DOCTYPE" => {}
            "StartTag" | "EndTag"
                if token[1].as_str().is_some_and(|n| n.len() == 1 && n != "p") => {}
            _ => return None,
        }
    }
    let is_space = |c| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{C}' | '\u{A0}');
    let words = characters.split(is_space).filter(|word| !word.is_empty());
    Some(words.collect::<Vec<_>>().join(" "))
}

#[test]
fn pages_have_the_texts_that_html5lib_expects() {
    let Some(folder) = env::var_os("SIMTOOL_HTML5LIB") else {
        println!("skipped: SIMTOOL_HTML5LIB is not set");
        return;
    };
    let (mut inputs, mut expected) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "test") {
            continue;
        }
        let tests: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        // Tests of the other name are about characters that XML does not have.
        let Some(tests) = tests.get("tests") else { continue };
        for test in tests.as_array().unwrap() {
            let escaped = test["doubleEscaped"] == true;
            let Some(input) = string(&test["input"], escaped) else { continue };
            let states = match test.get("initialStates") {
                Some(states) => states.as_array().unwrap().clone(),
                None => vec!["Data state".into()],
            };
            for state in states {
                let state = state.as_str().unwrap();
                for opening in openings(state) {
                    inputs.push(format!("{opening}{input}"));
                    let is_data = state == "Data state";
                    expected.push(if is_data { text(&test["output"], escaped) } else { None });
                }
            }
        }
    }
    let texts = pages::check(&inputs);
    let mut compared = 0;
    for ((input, text), expected) in inputs.iter().zip(&texts).zip(&expected) {
        if let Some(expected) = expected {
            // Before the tokenizer, a byte order mark is taken off.
            let expected = expected.trim_start_matches('\u{FEFF}');
            assert_eq!(text, expected, "{input:?}");
            compared += 1;
        }
    }
    println!("{} inputs, {compared} with tokens that tell the text", inputs.len());
    assert!(inputs.len() > 6_000 && compared > 5_000);
}
