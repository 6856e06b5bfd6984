//! Writes the preview of a run as one JSON object.

use super::{Band, NearPair, RunPreview};
use crate::write::excerpt::excerpts;
use crate::write::name::Name;
use crate::write::report::ReportCluster;
use crate::write::summary::{Setting, Summary, write_list};
use simtool_base::json_text::write_string;
use simtool_model::closeness::Closeness;
use std::io::{self, Write};

/// Writes the preview as a JSON object. Its first fields are the counts of `summary.json`.
///
/// # Errors
///
/// `out` fails.
pub fn write_preview(
    out: &mut dyn Write,
    summary: &Summary,
    preview: &RunPreview,
) -> io::Result<()> {
    out.write_all(b"{\n")?;
    for figure in summary.figures() {
        write!(out, "  \"{}\": ", figure.key)?;
        Setting::count(figure.count).write_json(out)?;
        out.write_all(b",\n")?;
    }
    write_list(out, "removed_by_closeness", &preview.by_closeness, write_band)?;
    write_list(out, "removed_by_cluster_size", &preview.by_size, write_band)?;
    write_list(out, "largest_clusters", &preview.report.clusters, write_cluster)?;
    write_list(out, "above_limit", &preview.above, write_pair)?;
    let below = preview.below.as_deref();
    write_list(out, "below_limit", below.unwrap_or_default(), write_pair)?;
    writeln!(out, "  \"is_below_searched\": {}\n}}", below.is_some())
}

fn write_band(out: &mut dyn Write, Band { name, removed, clusters }: &Band) -> io::Result<()> {
    write!(out, "{{\"band\": \"{name}\", \"removed\": {removed}")?;
    if let Some(clusters) = clusters {
        write!(out, ", \"clusters\": {clusters}")?;
    }
    out.write_all(b"}")
}

fn write_cluster(out: &mut dyn Write, cluster: &ReportCluster) -> io::Result<()> {
    out.write_all(b"{\"kept\": ")?;
    write_name(out, &cluster.kept)?;
    write!(out, ", \"removed\": {}", cluster.removed)?;
    if let Some(shared) = &cluster.shared {
        write!(
            out,
            ", \"compared\": {}, \"shared_words\": {}, \"own_words\": {}, \"is_template\": {}",
            shared.documents, shared.shared, shared.own, shared.is_template
        )?;
    }
    if let Some(preview) = &cluster.preview {
        out.write_all(b", \"text\": ")?;
        write_string(out, &preview.text)?;
    }
    out.write_all(b"}")
}

fn write_pair(out: &mut dyn Write, pair: &NearPair) -> io::Result<()> {
    let NearPair { closeness, documents, lost_words, first_lost } = pair;
    let similarity = closeness.and_then(Closeness::similarity);
    out.write_all(b"{\"similarity\": ")?;
    similarity.map_or(Setting::None, Setting::Number).write_json(out)?;
    out.write_all(b", \"distance\": ")?;
    Setting::count(closeness.and_then(Closeness::distance).map(u64::from)).write_json(out)?;
    out.write_all(b", \"lost_words\": ")?;
    Setting::count(lost_words.map(u64::from)).write_json(out)?;
    out.write_all(b", \"first_lost\": ")?;
    Setting::List(first_lost.clone()).write_json(out)?;
    let [kept, other] = excerpts([&documents.kept_text, &documents.removed_text]);
    for (key, name, text) in [("kept", &documents.kept, kept), ("other", &documents.removed, other)]
    {
        write!(out, ", \"{key}\": ")?;
        write_name(out, name)?;
        write!(out, ", \"{key}_text\": ")?;
        write_string(out, text.as_bytes())?;
    }
    out.write_all(b"}")
}

fn write_name(out: &mut dyn Write, Name { id, file, record }: &Name) -> io::Result<()> {
    out.write_all(b"{\"id\": ")?;
    write_string(out, id)?;
    out.write_all(b", \"file\": ")?;
    write_string(out, file)?;
    write!(out, ", \"record\": {record}}}")
}
