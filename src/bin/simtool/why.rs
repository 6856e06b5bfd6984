//! `simtool why OUT ID`: explains what became of a document in a finished run.

use crate::args::Call;
use crate::compare::{
    Marks, difference, four_digits, other_sequence, others_of_id, shared_shingles, shown,
};
use crate::console;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use crate::why_parts::parts_page;
use simtool::Error;
use simtool::output::finished_run::Member;
use simtool::pipeline::{Boilerplate, PairLoss, Site};
use simtool::run::{
    self, ClusteredDocument, ComparedTexts, DocumentStatus, LocatedDocument, STANDARD_INPUT,
    WhyRequest,
};
use simtool::stages::byte_text::{byte_text, path_text};
use simtool::stages::shell_word::{shell_argument, shell_word};
use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Maximum number of documents of a cluster that are listed, unless `--verbose` is given.
const LISTED: usize = 10;

/// Runs `simtool why`: finds a document of a finished run and prints its status, for example that it was removed.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let output = call.path("output");
    let request = WhyRequest::parse(output.clone(), document(call).into_owned(), call.options())?;
    let terminal = Terminal::new(call);
    let found = run::why(&request, &terminal)?;
    terminal.end(&found.faults);

    let is_changed = !found.changes.is_empty();
    let page = StatusPage { call, output: &output, keeps_similar: found.keeps_similar, is_changed };
    let shown = match &found.status {
        _ if call.has("json") => format!("{}\n", found.object(&output)),
        DocumentStatus::Alone(located) => page.alone(located),
        DocumentStatus::Clustered(document) => page.clustered(document),
        DocumentStatus::Bad { file, record, code, expected } => bad(file, *record, code, expected),
        DocumentStatus::Parts(document) => parts_page(document, page.listed(), call.has("verbose")),
    };
    if let DocumentStatus::Clustered(document) = &found.status
        && let Some(Ok(texts)) = &document.texts
    {
        // A difference in words that are left out does not decide.
        let left_out = [("kept", &texts.kept), ("removed", &texts.removed)];
        for (name, left_out) in left_out.map(|(name, document)| (name, document.left_out())) {
            if let Some(words) = left_out {
                terminal.note(&format!("{name}: {words}"));
            }
        }
    }
    for change in &found.changes {
        terminal.note(&format!("{change}; run again for results about the input as it is now"));
    }
    if !call.has("json") && !found.others.is_empty() {
        terminal.note(&others_of_id(&found.others, page.listed()));
    }
    if call.has("stats") {
        let timings = found.timings;
        console::stats(&console::stage_times(timings.stages(), timings.counts()));
    }
    if call.has("json") {
        console::out(shown.as_bytes())?;
    } else {
        console::out_wrapped(&shown)?;
    }
    Ok(ExitStatus::Done)
}

/// Returns the name of the document that the user gave, in the form that the outputs of a run have.
fn document(call: &Call) -> Cow<'_, str> {
    byte_text(call.value("document").unwrap_or_default().as_encoded_bytes())
}

/// Builder of the text about the document that the arguments name.
struct StatusPage<'w> {
    call: &'w Call,
    /// Output folder of the run.
    output: &'w Path,
    /// Whether kept documents of the run may be similar.
    keeps_similar: bool,
    /// Whether the file of the document has changed since the run.
    is_changed: bool,
}

/// Returns the text about a bad record, which was not compared with any document. `code` is the name of its fault, and
/// `expected` describes a good record.
fn bad(file: &str, record: u64, code: &str, expected: &str) -> String {
    format!(
        "{} was compared with nothing: it is a bad record [{code}]\nexpected    {}\n",
        shown(&format!("{file}:{record}")),
        shown(expected)
    )
}

impl StatusPage<'_> {
    /// Describes a document that no output names. It was kept, because it is similar to no other document or
    /// was not compared.
    fn alone(&self, located: &LocatedDocument) -> String {
        let LocatedDocument { file, record, is_passed_over, .. } = located;
        let name = shown(&document(self.call));
        let place = shown(&format!("{file}:{record}"));
        let reason = if *is_passed_over {
            "the options of the run skip it, so it was compared with nothing"
        } else if self.keeps_similar {
            "no document was removed for it; --within, --across, --lose, --keep-count or other titles of web pages may \
             keep similar ones"
        } else {
            "nothing in the run is like it"
        };
        let mut text = if self.is_changed {
            // The document may be in the file only since the run.
            format!("{name} is in no output of the run: it was kept, or the run has not read it\n")
        } else {
            format!("{name} was kept: {reason}\n")
        };
        let title = if self.is_changed { "found now" } else { "kept" };
        let _ = writeln!(text, "{title:<11} {place}");
        // Standard input cannot be read again.
        if file != STANDARD_INPUT {
            let this = self.compare_name(&place);
            let _ = writeln!(text, "\nmore: simtool compare {this} FILE:RECORD");
        }
        text
    }

    /// Describes a document that is similar to others, with the texts if they can be read again.
    fn clustered(&self, document: &ClusteredDocument) -> String {
        let mut text = sentence(document);
        let kept = &document.cluster.kept;
        let (Some(other), Some(texts)) = (document.compared(), &document.texts) else {
            return text;
        };
        self.list_members(document, other, &mut text);
        // The words that this kept document lacks may be in others.
        let lost = if document.is_coverage { "not in it" } else { "lost" };
        text += &shown_texts(texts, lost);
        let compare = document.compare_command(other, self.output);
        let removed = &document.cluster.removed;
        let is_removed = document.at.is_some();
        // If the document was removed, the command for the kept document is printed, which lists the other
        // members.
        let explain = (is_removed && removed.len() > 1).then(|| {
            let output = shell_argument(self.output.as_os_str());
            let kept = shell_word(&kept.place());
            let separator = if kept.starts_with('-') { "-- " } else { "" };
            format!("simtool why {output} {separator}{kept}")
        });
        for (at, command) in compare.iter().chain(&explain).enumerate() {
            let title = if at == 0 { "\nmore:" } else { "     " };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{title} {command}");
        }
        text
    }

    /// Appends lines about the cluster of `document` to `text`. If the document was removed, the lines are about the
    /// kept document and `other`, which is the document itself. If it was kept, they list the removed documents.
    fn list_members(&self, document: &ClusteredDocument, other: &Member, text: &mut String) {
        let removed = &document.cluster.removed;
        add_line(text, "kept", &named(&document.cluster.kept));
        if document.at.is_some() {
            let count = removed.len();
            add_line(text, "removed", &named(other));
            add_line(text, "closeness", &weighted_closeness(document, other));
            add_line(text, "cluster", &format!("{} documents: 1 kept, {count} removed", count + 1));
            return;
        }
        for member in removed.iter().take(self.listed()) {
            let closeness = weighted_closeness(document, member);
            add_line(text, "removed", &format!("{}  {closeness}", named(member)));
        }
        if removed.len() > self.listed() {
            let more = removed.len() - self.listed();
            add_line(text, "", &format!("and {more} more; --verbose lists all"));
        }
    }

    /// Returns the maximum number of entries of a list that are printed.
    fn listed(&self) -> usize {
        if self.call.has("verbose") { usize::MAX } else { LISTED }
    }

    /// Returns the name of a document for `simtool compare`, in the form `OUT#FILE:RECORD`. `place` is
    /// `FILE:RECORD`, so no ID is needed.
    fn compare_name(&self, place: &str) -> String {
        shell_word(&format!("{}#{place}", path_text(self.output)))
    }
}

/// Returns the sentence that says whether the document was kept. If it was removed, the sentence names the
/// kept document.
fn sentence(document: &ClusteredDocument) -> String {
    let removed = &document.cluster.removed;
    let kept = shown(&document.cluster.kept.id);
    let of_corpus = if document.is_match { " of the corpus" } else { "" };
    let Some(at) = document.at else {
        let count = removed.len();
        let documents = if count == 1 { "document" } else { "documents" };
        return format!("{kept}{of_corpus} was kept, in place of {count} {documents}\n");
    };
    let id = shown(&removed[at].id);
    if document.is_coverage {
        return format!(
            "{id} was removed: kept documents have its words, and {kept} has most of them; covered_by in the output \
             removed counts them\n"
        );
    }
    // The two documents were not compared, so the sentence must not claim that they are similar.
    if is_chained(&removed[at]) {
        format!("{id} was removed: other similar documents link it to {kept}, which was kept\n")
    } else {
        format!("{id} was removed: it is like {kept}{of_corpus}, which was kept\n")
    }
}

/// Appends a line with a name and a value to `text`.
fn add_line(text: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{name:<11} {value}");
}

/// Returns the similarity or distance of a removed document to the kept one as text, with the weighting of the
/// shingles and the lines that the run left out.
fn weighted_closeness(document: &ClusteredDocument, member: &Member) -> String {
    let mut text = if document.is_coverage {
        "most words of any kept document".to_owned()
    } else {
        closeness(member)
    };
    // Only similarities have weights, distances do not.
    if let (Some(weight), Some(_)) = (&document.weight, member.similarity) {
        let _ = write!(text, ", of shingles weighed by {}", weight.to_uppercase());
    }
    // Writing to a string cannot fail.
    match document.boilerplate {
        Some(Boilerplate::Lines { least, site }) => {
            let of_site = match site {
                Site::All => "",
                Site::Host => " of a host",
                Site::Folder => " of a folder",
            };
            let _ = write!(text, ", without lines of {least} or more documents{of_site}");
        }
        Some(Boilerplate::Pages) => text += ", without lines that many pages of a host have",
        Some(Boilerplate::Nothing) | None => {}
    }
    text
}

/// Returns the number of shared shingles and the differences of the two texts as text. If the texts cannot be read,
/// returns the reason. `lost_title` is the title of the line about words that only the removed text has.
fn shown_texts(texts: &Result<ComparedTexts, Error>, lost_title: &str) -> String {
    let ComparedTexts { kept, removed, method, comparison, lost } = match texts {
        Ok(texts) => texts,
        // If files are gone, the result is still explained.
        Err(reason) => {
            return format!(
                "texts       not shown: {}\n",
                shown(&console::with_options(&run::with_cause(reason)))
            );
        }
    };
    let mut text = String::new();
    if comparison.similarity.is_some() {
        let compared = method.compared();
        let shared = shared_shingles(comparison);
        text = format!("shared      {shared} ({compared}){}\n", other_sequence(comparison));
    }
    add_line(&mut text, lost_title, &lost_words(lost));
    let names = ["the kept one", "the removed one"];
    let texts = [kept, removed].map(|document| method.compared().compared_text(&document.text));
    text + &difference(texts.each_ref().map(|text| &**text), names, &Marks::for_terminal())
}

/// Returns the number of words of the removed document that the kept one lacks, with the first of them.
fn lost_words(PairLoss { counts, examples, .. }: &PairLoss) -> String {
    let of = format!("{} of {} words of the removed one", counts.lost, counts.words);
    if examples.is_empty() {
        return of;
    }
    let more = if counts.lost as usize > examples.len() { ", …" } else { "" };
    format!("{of}: {}{more}", shown(&examples.join(", ")))
}

/// Returns whether a removed document was not compared with the kept one. Then only a chain of other documents links
/// the two.
fn is_chained(member: &Member) -> bool {
    member.similarity.is_none() && member.distance.is_none()
}

/// Returns the ID of a document with its place (`FILE:RECORD`) in parentheses.
fn named(member: &Member) -> String {
    let (id, place) = (shown(&member.id), shown(&member.place()));
    // A document without an ID has its place as its name, which is printed once only.
    if id == place { id } else { format!("{id}  ({place})") }
}

/// Returns the similarity or distance of a removed document to the kept one as text.
fn closeness(member: &Member) -> String {
    match (member.similarity, member.distance) {
        (Some(similarity), Some(distance)) => {
            format!("similarity {}, distance {distance}", four_digits(similarity))
        }
        (Some(similarity), None) => format!("similarity {}", four_digits(similarity)),
        (None, Some(distance)) => format!("distance {distance}"),
        (None, None) => "through others of the cluster".to_owned(),
    }
}
