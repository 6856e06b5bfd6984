//! `simtool why OUT ID`: what became of a document of a finished run.

use crate::args::{TermArgs, WhyArgs};
use crate::compare::{Marks, difference, shown};
use crate::console;
use crate::fingerprint::simhash;
use crate::progress_line::ProgressLine;
use crate::recorded::{Located, Recorded};
use crate::terminal::{Verbosity, show};
use serde_json::{Value, json};
use simtool::document::Bad;
use simtool::kernels::Isa;
use simtool::method::Method;
use simtool::output::finished_run::{Fate, Member, MemberCluster, Sought};
use simtool::pipeline::compare::{ReadDocument, compare_texts};
use simtool::pipeline::timings::Timings;
use simtool::quantity::bytes;
use simtool::shell_word::shell_word;
use simtool::similarity::Similarity;
use std::fmt::Write;

/// Documents of a cluster that are listed, unless all are asked for.
const LISTED: usize = 10;
/// Shingles, where neither the run nor the user says.
const SHINGLE: &str = "words:3";

/// Finds the document and prints what became of it.
pub(crate) fn run(args: &WhyArgs) -> anyhow::Result<()> {
    let (mut timings, common) = (Timings::start(), &args.common);
    let progress = ProgressLine::new(common.running.quiet, common.running.progress);
    let run = Recorded::open(&args.output, &common.running, common.thread_count()?, &progress)?;
    let sought = Sought::new(&args.document);
    let fates = run.run.find(sought)?;
    timings.end("read outputs");
    let why = Why { args, run: &run };
    let mut told = match &fates[..] {
        [] => why.alone(run.look_for(sought)?),
        [Fate::Clustered { cluster, at }, ..] => why.clustered(cluster, *at)?,
        [Fate::Quarantined { file, record, code, expected }, ..] => {
            why.bad(file, *record, code, expected)
        }
    };
    progress.end();
    timings.end("read inputs");
    let others: Vec<String> = fates.iter().skip(1).map(place).collect();
    if !args.json && !others.is_empty() && !common.running.quiet {
        let (count, listed) = (others.len(), why.listed());
        console::note(&format!(
            "{count} more of this ID: {}{}; FILE:RECORD names one",
            others[..count.min(listed)].join(", "),
            if count > listed { ", …" } else { "" }
        ));
    }
    if args.json {
        told.object["others_of_this_id"] = others.into();
        told.text = format!("{}\n", told.object);
    }
    if common.running.stats {
        console::stats(&console::stage_times(timings.stages(), timings.counts()));
    }
    Ok(console::out(told.text.as_bytes())?)
}

/// What became of a document, for people and as a JSON object.
struct Told {
    text: String,
    object: Value,
}

/// Where the document of a fate is.
fn place(fate: &Fate) -> String {
    match fate {
        Fate::Clustered { cluster, at } => {
            place_of(at.map_or(&cluster.kept, |at| &cluster.removed[at]))
        }
        Fate::Quarantined { file, record, .. } => format!("{file}:{record}"),
    }
}

fn place_of(member: &Member) -> String {
    format!("{}:{}", member.file, member.record)
}

/// What is asked, and of which run.
struct Why<'w> {
    args: &'w WhyArgs,
    run: &'w Recorded<'w>,
}

/// The texts of two documents, and what they share.
struct Texts {
    kept: ReadDocument,
    removed: ReadDocument,
    method: Method,
    similarity: Option<Similarity>,
}

impl Why<'_> {
    /// Of a document that no output names.
    fn alone(&self, located: Located) -> Told {
        let Located { file, record, is_passed_over } = located;
        let fate = if is_passed_over { "passed over" } else { "kept" };
        let name = shown(&self.args.document);
        let place = shown(&format!("{file}:{record}"));
        let reason = if is_passed_over {
            "the run was told to pass it over, and compared it with nothing"
        } else {
            "nothing in the run is like it"
        };
        let mut text = format!("{name} was kept: {reason}\n");
        let _ = writeln!(text, "kept        {place}");
        let this = self.compare_name(&place);
        let _ = writeln!(text, "\nmore: simtool compare {this} FILE:RECORD");
        Told { text, object: json!({ "fate": fate, "file": file, "record": record }) }
    }

    /// Of a record that was compared with nothing.
    fn bad(&self, file: &str, record: u64, code: &str, expected: &str) -> Told {
        let expected = match (code, self.run.run.parameter("text_field")) {
            (Bad::NO_TEXT, Some(field)) => format!("a text in the field \"{field}\""),
            _ => expected.to_owned(),
        };
        let text = format!(
            "{} was compared with nothing: it is a bad record [{code}]\nexpected    {}\n",
            shown(&format!("{file}:{record}")),
            shown(&expected)
        );
        let object = json!({
            "fate": "quarantined", "file": file, "record": record, "code": code, "expected": expected
        });
        Told { text, object }
    }

    /// Of a document that is like others.
    fn clustered(&self, cluster: &MemberCluster, at: Option<usize>) -> anyhow::Result<Told> {
        let MemberCluster { kept, removed } = cluster;
        let of_corpus = if self.run.run.is_match() { " of the corpus" } else { "" };
        let mut text = if let Some(at) = at {
            let (id, kept) = (shown(&removed[at].id), shown(&kept.id));
            if is_chained(&removed[at]) {
                format!(
                    "{id} was removed: others that are alike link it to {kept}, which was kept\n"
                )
            } else {
                format!("{id} was removed: it is like {kept}{of_corpus}, which was kept\n")
            }
        } else {
            let (id, count) = (shown(&kept.id), removed.len());
            let documents = if count == 1 { "document" } else { "documents" };
            format!("{id}{of_corpus} was kept, in place of {count} {documents}\n")
        };
        // Of a kept document, what the first removed one shares with it.
        let Some(other) = removed.get(at.unwrap_or(0)) else {
            return Ok(Told { text, object: json!({ "fate": "kept", "kept": object(kept) }) });
        };
        // Writing to a string cannot fail.
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name:<11} {value}");
        };
        line("kept", &named(kept));
        if at.is_some() {
            line("removed", &named(other));
            line("closeness", &self.closeness(other));
            let count = removed.len();
            line("cluster", &format!("{} documents: 1 kept, {count} removed", count + 1));
        } else {
            for member in removed.iter().take(self.listed()) {
                line("removed", &format!("{}  {}", named(member), self.closeness(member)));
            }
            if removed.len() > self.listed() {
                let more = removed.len() - self.listed();
                line("", &format!("and {more} more; --verbose lists all"));
            }
        }
        let texts = self.texts(kept, other)?;
        text += &told_texts(&texts);
        let names = [kept, other].map(|member| self.compare_name(&place_of(member)));
        let shingle = self.shingle();
        let mut options =
            if shingle == SHINGLE { String::new() } else { format!(" --shingle {shingle}") };
        if let Some(stop_words) = self.run.run.parameter("stop_words") {
            let _ = write!(options, " --stop-words {}", shell_word(stop_words));
        }
        let compare = format!("simtool compare {}{options}", names.join(" "));
        let _ = writeln!(text, "\nmore: {compare}");
        if at.is_some() && removed.len() > 1 {
            let output = shell_word(&self.args.output.to_string_lossy());
            let _ = writeln!(text, "      simtool why {output} {}", shell_word(&place_of(kept)));
        }
        let itself = at.map_or(kept, |at| &removed[at]);
        let object = json!({
            "fate": if at.is_some() { "removed" } else { "kept" },
            "id": itself.id, "file": itself.file, "record": itself.record,
            "similarity": itself.similarity, "distance": itself.distance,
            "kept": object(kept), "kept_is_of_corpus": self.run.run.is_match(),
            "removed": removed.iter().map(object).collect::<Vec<_>>(),
            "compared_with_kept": object(other), "texts": texts_object(&texts), "compare": compare,
        });
        Ok(Told { text, object })
    }

    /// The most that is listed of what may be long.
    fn listed(&self) -> usize {
        if self.args.common.running.verbose { usize::MAX } else { LISTED }
    }

    fn closeness(&self, member: &Member) -> String {
        let weight = self.run.run.parameter("verify_weight").or_else(|| {
            self.run.run.parameter("similarity").and_then(|_| self.run.run.parameter("weight"))
        });
        let weighed = match (weight, member.similarity) {
            (Some(weight), Some(_)) => {
                format!(", of shingles weighed by {}", weight.to_uppercase())
            }
            _ => String::new(),
        };
        closeness(member) + &weighed
    }

    fn shingle(&self) -> &str {
        self.run.run.parameter("shingle").unwrap_or(SHINGLE)
    }

    /// A document as `simtool compare` takes it, whatever its ID is.
    fn compare_name(&self, place: &str) -> String {
        shell_word(&format!("{}#{place}", self.args.output.to_string_lossy()))
    }

    /// The texts of both documents, as far as they are still there; or why not.
    fn texts(&self, kept: &Member, removed: &Member) -> anyhow::Result<Result<Texts, String>> {
        let (kept, removed) = match (self.read(kept), self.read(removed)) {
            (Ok(kept), Ok(removed)) => (kept, removed),
            (Err(reason), _) | (_, Err(reason)) => return Ok(Err(reason)),
        };
        let terms = TermArgs {
            shingle: Some(self.shingle().to_owned()),
            stop_words: self.run.run.parameter("stop_words").map(str::to_owned),
            ..TermArgs::default()
        };
        let method = simhash(&terms, None)?;
        let similarity =
            compare_texts([&kept.text, &removed.text], &method, Isa::detected()).similarity;
        Ok(Ok(Texts { kept, removed, method, similarity }))
    }

    /// A document, read again; or why not.
    fn read(&self, member: &Member) -> Result<ReadDocument, String> {
        let read = self.run.read(&member.file, member.record);
        let found = read.map_err(|error| console::explained(&error.into()))?;
        if self.args.common.running.verbose {
            let (place, size) = (place_of(member), bytes(found.text.len() as u64));
            console::note(&format!("{place}, {}, {size} of text", found.format));
        }
        show(&found.faults, Verbosity::of(&self.args.common.running));
        match found.id.as_deref().and_then(|id| str::from_utf8(id).ok()) {
            Some(id) if id != member.id => Err(format!(
                "record {} of {} now has the ID \"{id}\", not \"{}\": the file was changed since",
                member.record, member.file, member.id
            )),
            _ => Ok(found),
        }
    }
}

/// What texts share and where they differ.
fn told_texts(texts: &Result<Texts, String>) -> String {
    let Texts { kept, removed, method, similarity } = match texts {
        Ok(texts) => texts,
        Err(reason) => return format!("texts       not shown: {}\n", shown(reason)),
    };
    let mut text = String::new();
    if let Some(Similarity { shared, union }) = similarity {
        let compared = method.compared();
        text = format!("shared      {shared} of {union} shingles ({compared})\n");
    }
    let names = ["the kept one", "the removed one"];
    text + &difference([&kept.text, &removed.text], names, &Marks::for_terminal())
}

/// What texts share, as a JSON object.
fn texts_object(texts: &Result<Texts, String>) -> Value {
    match texts {
        Ok(Texts { method, similarity, .. }) => json!({
            "shingle": method.compared().to_string(),
            "shared": similarity.map(|similarity| similarity.shared),
            "union": similarity.map(|similarity| similarity.union),
        }),
        Err(reason) => json!({ "not_read": reason }),
    }
}

/// A document as a JSON object.
fn object(member: &Member) -> Value {
    let Member { id, file, record, similarity, distance } = member;
    json!({
        "id": id, "file": file, "record": record,
        "similarity": similarity, "distance": distance,
    })
}

/// Whether a document is close to others of its cluster, but not known to be to the kept one.
fn is_chained(member: &Member) -> bool {
    member.similarity.is_none() && member.distance.is_none()
}

/// ID and place.
fn named(member: &Member) -> String {
    let (id, place) = (shown(&member.id), shown(&place_of(member)));
    if id == place { id } else { format!("{id}  ({place})") }
}

fn closeness(member: &Member) -> String {
    match (member.similarity, member.distance) {
        (Some(similarity), Some(distance)) => {
            format!("similarity {similarity:.4}, distance {distance}")
        }
        (Some(similarity), None) => format!("similarity {similarity:.4}"),
        (None, Some(distance)) => format!("distance {distance}"),
        (None, None) => "through others of the cluster".to_owned(),
    }
}
