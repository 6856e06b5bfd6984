//! What was done, as one JSON object.

use crate::json_text::write_string;
use std::io::{self, Write};
use std::time::Duration;

/// What a summary tells.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The command line.
    pub command: String,
    /// What shaped the result, by name.
    pub parameters: Vec<(&'static str, String)>,
    /// What makes fingerprints and terms comparable with those of other runs.
    pub recipe: String,
    /// What a distance means, if the method has distances.
    pub distance_means: Option<String>,
    /// Input files.
    pub files: u64,
    /// Documents that were read.
    pub documents: u64,
    /// Documents that are kept.
    pub kept: u64,
    /// Documents that are removed.
    pub removed: u64,
    /// Records that should have been documents.
    pub quarantined: u64,
    /// Records that damaged stretches of files are known to have held, and that are lost.
    pub lost: u64,
    /// Documents that have no term, which are kept.
    pub without_terms: u64,
    /// Documents of which something was mended.
    pub mended: u64,
    /// Documents that were not chosen, which are kept and not counted as documents.
    pub passed_over: u64,
    /// Clusters of two and more.
    pub clusters: u64,
    /// Pairs of close documents.
    pub pairs: u64,
    /// Bytes of text of all documents.
    pub text_bytes: u64,
    /// The collection that the documents were matched against, if it is another.
    pub matched_against: Option<MatchedAgainst>,
    /// What is wrong with files, one line each.
    pub faults: Vec<String>,
    /// Wall time by stage.
    pub stages: Vec<(&'static str, Duration)>,
}

/// A collection that documents were matched against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchedAgainst {
    /// Its files.
    pub files: u64,
    /// Its documents.
    pub documents: u64,
    /// Records that should have been documents.
    pub quarantined: u64,
}

impl Summary {
    /// Adds to the time of a stage.
    pub fn add_time(&mut self, stage: &'static str, time: Duration) {
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, total)) => *total += time,
            None => self.stages.push((stage, time)),
        }
    }

    /// Whether everything that was read is accounted for.
    #[must_use]
    pub fn is_conserved(&self) -> bool {
        self.documents == self.kept + self.removed
    }
}

/// Writes a summary.
///
/// # Errors
///
/// Those of `out`.
pub fn write_summary(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    let string = |out: &mut dyn Write, name: &str, value: &str| {
        write!(out, "  \"{name}\": ")?;
        write_string(out, value.as_bytes())?;
        out.write_all(b",\n")
    };
    out.write_all(b"{\n")?;
    string(out, "program", concat!("simtool ", env!("CARGO_PKG_VERSION")))?;
    string(out, "command", &summary.command)?;
    string(out, "recipe", &summary.recipe)?;
    if let Some(meaning) = &summary.distance_means {
        string(out, "distance_means", meaning)?;
    }
    out.write_all(b"  \"parameters\": {")?;
    for (number, (name, value)) in summary.parameters.iter().enumerate() {
        out.write_all(if number == 0 { b"" } else { b"," })?;
        write!(out, "\n    \"{name}\": ")?;
        write_string(out, value.as_bytes())?;
    }
    out.write_all(b"\n  },\n")?;
    for (name, count) in [
        ("files", summary.files),
        ("records_in", (summary.documents + summary.quarantined).saturating_add(summary.lost)),
        ("documents", summary.documents),
        ("kept", summary.kept),
        ("removed", summary.removed),
        ("quarantined", summary.quarantined),
        ("lost", summary.lost),
        ("without_terms", summary.without_terms),
        ("mended", summary.mended),
        ("passed_over", summary.passed_over),
        ("clusters", summary.clusters),
        ("pairs", summary.pairs),
        ("text_bytes", summary.text_bytes),
    ] {
        writeln!(out, "  \"{name}\": {count},")?;
    }
    writeln!(out, "  \"conserved\": {},", summary.is_conserved())?;
    if let Some(MatchedAgainst { files, documents, quarantined }) = summary.matched_against {
        writeln!(out, "  \"corpus_files\": {files},")?;
        writeln!(out, "  \"corpus_documents\": {documents},")?;
        writeln!(out, "  \"corpus_quarantined\": {quarantined},")?;
    }
    out.write_all(b"  \"faults\": [")?;
    for (number, fault) in summary.faults.iter().enumerate() {
        out.write_all(if number == 0 { b"\n    " } else { b",\n    " })?;
        write_string(out, fault.as_bytes())?;
    }
    out.write_all(b"\n  ],\n  \"seconds\": {")?;
    for (number, (stage, time)) in summary.stages.iter().enumerate() {
        out.write_all(if number == 0 { b"" } else { b"," })?;
        write!(out, "\n    \"{stage}\": {:.6}", time.as_secs_f64())?;
    }
    out.write_all(b"\n  }\n}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_and_conserves() {
        let summary = Summary {
            command: "simtool --corpus \"a b\"".to_owned(),
            documents: 10,
            kept: 7,
            removed: 3,
            quarantined: 2,
            lost: 5,
            parameters: vec![("method", "exact".to_owned())],
            distance_means: Some("3 bits are alike".to_owned()),
            faults: vec!["[truncated] \"x\"".to_owned()],
            stages: vec![("read", Duration::from_millis(1500))],
            ..Summary::default()
        };
        let mut out = Vec::new();
        write_summary(&mut out, &summary).unwrap();
        let text = String::from_utf8(out).unwrap();
        for line in [
            "  \"records_in\": 17,",
            "  \"lost\": 5,",
            "  \"conserved\": true,",
            "    \"method\": \"exact\"",
            "  \"distance_means\": \"3 bits are alike\",",
            "  \"command\": \"simtool --corpus \\\"a b\\\"\",",
            "    \"read\": 1.500000",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} in {text}");
        }
        assert!(!Summary { kept: 8, ..summary }.is_conserved());
    }
}
