//! Subtitles: files are compared by the text of their cues.

use crate::program::Folder;
use std::fs;

const SUBRIP: &str = "1\r\n00:00:01,000 --> 00:00:02,500\r\n{\\an8}<i>Where have</i> you been\r\n\r\n2\r\n00:00:03,000 --> \
                      00:00:04,000\r\nall these years?\r\n";
const WEB_VTT: &str = "WEBVTT\n\nNOTE by nobody\n\nSTYLE\n::cue { color: red }\n\nfirst\n00:11.000 --> 00:12.500 align:start\n\
                       <v Ann>Where have you\n\n00:13.000 --> 00:14.000\nbeen all these years?\n";

#[test]
fn subtitles_with_other_times_and_tags_are_repeats() {
    // The third file is no WebVTT by its name, and plain text keeps everything.
    let folder = Folder::empty()
        .with("a.srt", SUBRIP)
        .with("b.vtt", WEB_VTT)
        .with("c.txt", WEB_VTT)
        .with("d.sub", WEB_VTT);
    let removed = |options: &str| {
        let run = folder.run_words(&format!("dedup {options} --similarity 1 --force --output out"));
        assert_eq!(run.code, 0, "{}", run.err);
        let removed = fs::read_to_string(folder.path("out/removed.jsonl")).unwrap();
        let name = |line: &str| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            row["file"].as_str().unwrap().to_owned()
        };
        removed.lines().map(name).collect::<Vec<_>>()
    };
    assert_eq!(removed("a.srt b.vtt c.txt"), ["b.vtt"]);
    assert_eq!(removed("b.vtt c.txt d.sub --format vtt"), ["c.txt", "d.sub"]);
    let text = folder.run_words("text a.srt").out;
    assert!(text.contains(r#""text":"Where have you been\nall these years?\n""#), "{text}");
}
