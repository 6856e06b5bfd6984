//! The answer of `why` as a JSON object, for programs.

use super::recorded_run::LocatedDocument;
use super::standard_streams::STANDARD_INPUT;
use super::why::{ClusteredDocument, ComparedTexts, DocumentStatus, Why};
use super::why_parts::DocumentParts;
use crate::output::finished_run::Member;
use crate::output::found_parts::{FoundPart, PartSource};
use serde_json::{Value, json};
use simtool_base::byte_text::path_text;
use simtool_base::error::{Error, Result};
use simtool_base::shell_word::shell_word;
use std::error::Error as _;
use std::fmt::Write;
use std::path::Path;

impl Why {
    /// Returns the status of the document, the reason, and the documents that it was compared with. `output` is the
    /// folder of the run.
    #[must_use]
    pub fn object(&self, output: &Path) -> Value {
        let is_changed = !self.changes.is_empty();
        let mut object = match &self.status {
            DocumentStatus::Alone(located) => {
                let status = match (located.is_passed_over, is_changed) {
                    (true, _) => "passed over",
                    (false, true) => "unknown",
                    (false, false) => "kept",
                };
                json!({ "status": status, "file": located.file, "record": located.record })
            }
            DocumentStatus::Bad { file, record, code, expected } => json!({
                "status": "quarantined", "file": file, "record": record, "code": code, "expected": expected
            }),
            DocumentStatus::Clustered(document) => clustered(document, output),
            DocumentStatus::Parts(document) => parts(document),
        };
        // A program can choose among the documents, and learns which answers are about changed files.
        let changed = self.changes.iter().map(|change| change.file.as_str());
        object["others_of_this_id"] = self.others.as_slice().into();
        object["changed_inputs"] = changed.collect::<Vec<_>>().into();
        object
    }
}

impl ClusteredDocument {
    /// Returns the command line that compares the kept document with `other` as the run with the folder `output` did.
    /// `None` if one of them came from standard input, which cannot be read again.
    #[must_use]
    pub fn compare_command(&self, other: &Member, output: &Path) -> Option<String> {
        let members = [&self.cluster.kept, other];
        if members.iter().any(|member| member.file == STANDARD_INPUT) {
            return None;
        }
        // A place is `FILE:RECORD`, so no ID is needed.
        let name =
            |member: &Member| shell_word(&format!("{}#{}", path_text(output), member.place()));
        let mut command = format!("simtool compare {}", members.map(name).join(" "));
        for (setting, value) in &self.compare_settings {
            let option = setting.replace('_', "-");
            // Writing to a string cannot fail.
            let _ = write!(command, " --{option} {}", shell_word(value));
        }
        Some(command)
    }
}

fn clustered(document: &ClusteredDocument, output: &Path) -> Value {
    let kept = &document.cluster.kept;
    // A kept document without a removed one was compared with nothing.
    let (Some(other), Some(texts)) = (document.compared(), &document.texts) else {
        return json!({ "status": "kept", "kept": member(kept) });
    };
    let itself = document.itself();
    json!({
        "status": if document.at.is_some() { "removed" } else { "kept" },
        "id": itself.id, "file": itself.file, "record": itself.record,
        "similarity": itself.similarity, "distance": itself.distance,
        "kept": member(kept), "kept_is_of_corpus": document.is_match,
        "removed": document.cluster.removed.iter().map(member).collect::<Vec<_>>(),
        "compared_with_kept": member(other), "texts": compared(texts),
        "compare": document.compare_command(other, output),
    })
}

fn parts(document: &DocumentParts) -> Value {
    let texts = document.shown_parts();
    let part = |(part, text): (&FoundPart, Option<String>)| {
        let spans: Vec<[usize; 2]> = part.spans.iter().map(|span| [span.start, span.end]).collect();
        let mut object = match &part.source {
            PartSource::Passage { partner, documents, is_first } => {
                json!({ "partner": partner, "documents": documents, "first": is_first })
            }
            PartSource::Item { id, share } => json!({ "item_id": id, "share": share }),
        };
        object["words"] = part.words.into();
        object["spans"] = json!(spans);
        object["text"] = text.into();
        object
    };
    let LocatedDocument { file, record, .. } = &document.located;
    let parts: Vec<Value> = document.parts.iter().zip(texts).map(part).collect();
    json!({ "status": "searched", "file": file, "record": record, "parts": parts })
}

/// Returns the numbers of shared shingles and of all shingles of the two texts. If the texts cannot be read, the object
/// has the reason.
fn compared(texts: &Result<ComparedTexts>) -> Value {
    match texts {
        Ok(ComparedTexts { method, comparison, lost, .. }) => json!({
            "shingle": method.compared().to_string(),
            "shared": comparison.similarity.map(|_| comparison.shared),
            "union": comparison.similarity.map(|_| comparison.union()),
            "lost_words": lost.counts.lost,
            "first_lost": lost.examples,
        }),
        Err(reason) => json!({ "not_read": with_cause(reason) }),
    }
}

/// Returns the message of an error, with its cause.
#[must_use]
pub fn with_cause(error: &Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Returns the name of a document, and its similarity or distance to the kept document, as JSON.
fn member(member: &Member) -> Value {
    let Member { id, file, record, similarity, distance } = member;
    json!({
        "id": id, "file": file, "record": record,
        "similarity": similarity, "distance": distance,
    })
}
