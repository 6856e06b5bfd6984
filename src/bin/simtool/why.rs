//! `simtool why OUT ID`: what became of a document of a finished run.

use crate::args::WhyArgs;
use crate::compare::{Marks, difference, shown};
use crate::console;
use crate::fingerprint::simhash;
use crate::recorded::{Located, Recorded};
use simtool::document::Bad;
use simtool::kernels::Isa;
use simtool::pipeline::compare::compare_texts;
use simtool::pipeline::finished_run::{Fate, Member, MemberCluster, Sought};
use simtool::shell_word::shell_word;
use std::fmt::Write;

/// Documents of a cluster that are listed.
const LISTED: usize = 10;
/// Shingles, where neither the run nor the user says.
const SHINGLE: &str = "words:3";

/// Finds the document and prints what became of it.
pub(crate) fn run(args: &WhyArgs) -> anyhow::Result<()> {
    let run = Recorded::open(&args.output)?;
    let sought = Sought::new(&args.document);
    let fates = run.run.find(sought)?;
    let why = Why { args, run: &run };
    let text = match &fates[..] {
        [] => why.alone(run.look_for(sought)?),
        [Fate::Clustered { cluster, at }, ..] => why.clustered(cluster, *at)?,
        [Fate::Quarantined { file, record, code, expected }, ..] => {
            let expected = match (code.as_str(), run.run.parameter("text_field")) {
                (Bad::NO_TEXT, Some(field)) => format!("a text in the field \"{field}\""),
                _ => expected.clone(),
            };
            let place = shown(&format!("{file}:{record}"));
            format!(
                "{place} was compared with nothing: it is a bad record [{code}]\nexpected    {}\n",
                shown(&expected)
            )
        }
    };
    console::out(text.as_bytes())?;
    if let [_, others @ ..] = &fates[..]
        && !others.is_empty()
    {
        let places: Vec<String> = others.iter().take(LISTED).map(place).collect();
        let count = others.len();
        console::note(&format!(
            "{count} more of this ID: {}{}; FILE:RECORD names one",
            places.join(", "),
            if count > LISTED { ", …" } else { "" }
        ));
    }
    Ok(())
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
    run: &'w Recorded,
}

impl Why<'_> {
    /// Of a document that no output names.
    fn alone(&self, located: Located) -> String {
        let Located { file, record, is_passed_over } = located;
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
        text
    }

    /// Of a document that is like others.
    fn clustered(&self, cluster: &MemberCluster, at: Option<usize>) -> anyhow::Result<String> {
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
        let Some(other) = removed.get(at.unwrap_or(0)) else { return Ok(text) };
        // Writing to a string cannot fail.
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name:<11} {value}");
        };
        line("kept", &named(kept));
        if at.is_some() {
            line("removed", &named(other));
            line("closeness", &closeness(other));
            let count = removed.len();
            line("cluster", &format!("{} documents: 1 kept, {count} removed", count + 1));
        } else {
            for member in removed.iter().take(LISTED) {
                line("removed", &format!("{}  {}", named(member), closeness(member)));
            }
            if removed.len() > LISTED {
                line("", &format!("and {} more", removed.len() - LISTED));
            }
        }
        self.texts(kept, other, &mut text)?;
        let names = [kept, other].map(|member| self.compare_name(&place_of(member)));
        let shingle = self.shingle();
        let shingle =
            if shingle == SHINGLE { String::new() } else { format!(" --shingle {shingle}") };
        let _ = writeln!(text, "\nmore: simtool compare {}{shingle}", names.join(" "));
        if at.is_some() && removed.len() > 1 {
            let output = shell_word(&self.args.output.to_string_lossy());
            let _ = writeln!(text, "      simtool why {output} {}", shell_word(&place_of(kept)));
        }
        Ok(text)
    }

    fn shingle(&self) -> &str {
        self.run.run.parameter("shingle").unwrap_or(SHINGLE)
    }

    /// A document as `simtool compare` takes it, whatever its ID is.
    fn compare_name(&self, place: &str) -> String {
        shell_word(&format!("{}#{place}", self.args.output.to_string_lossy()))
    }

    /// What the texts share and where they differ, as far as they are still there.
    fn texts(&self, kept: &Member, removed: &Member, text: &mut String) -> anyhow::Result<()> {
        let (kept, removed) = match (self.read(kept), self.read(removed)) {
            (Ok(kept), Ok(removed)) => (kept, removed),
            (Err(reason), _) | (_, Err(reason)) => {
                let _ = writeln!(text, "texts       not shown: {}", shown(&reason));
                return Ok(());
            }
        };
        let method = simhash(self.shingle(), None)?;
        let comparison = compare_texts([&kept, &removed], &method, Isa::detected());
        if let Some(similarity) = comparison.similarity {
            let (both, union) = (similarity.shared, similarity.union);
            let _ =
                writeln!(text, "shared      {both} of {union} shingles ({})", method.compared());
        }
        let names = ["the kept one", "the removed one"];
        *text += &difference([&kept, &removed], names, &Marks::for_terminal());
        Ok(())
    }

    /// The text of a document, read again; or why not.
    fn read(&self, member: &Member) -> Result<Vec<u8>, String> {
        let read = self.run.read(&member.file, member.record);
        let found = read.map_err(|error| console::explained(&error.into()))?;
        match found.id.as_deref().and_then(|id| str::from_utf8(id).ok()) {
            Some(id) if id != member.id => Err(format!(
                "record {} of {} now has the ID \"{id}\", not \"{}\": the file was changed since",
                member.record, member.file, member.id
            )),
            _ => Ok(found.text),
        }
    }
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
