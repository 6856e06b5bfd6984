//! Writes a summary as one JSON object.

use super::{Closest, FaultPlace, InputState, LimitLevel, Setting, Summary};
use crate::write::name::Name;
use crate::write::output_inventory::write_written_files;
use simtool_base::fault::Severity;
use simtool_base::json_text::write_string;
use std::io::{self, Write};
use std::time::Duration;

/// Writes a summary as a JSON object. The fields `begin`, `end`, `peak_memory_bytes` and `seconds` differ
/// from run to run. All other fields are the same if the input and the settings are the same, and if the run is
/// started in the same folder.
///
/// # Errors
///
/// `out` fails.
pub fn write_summary(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    let setting = |out: &mut dyn Write, name: &str, value: &Setting| {
        write!(out, "  \"{name}\": ")?;
        value.write_json(out)?;
        out.write_all(b",\n")
    };
    let string = |out: &mut dyn Write, name: &str, value: &str| {
        setting(out, name, &Setting::Text(value.to_owned()))
    };
    out.write_all(b"{\n")?;
    string(out, "program", concat!("simtool ", env!("CARGO_PKG_VERSION")))?;
    string(out, "command", &summary.command)?;
    string(out, "output", &summary.output)?;
    setting(out, "working_folder", &Setting::text(summary.working_folder.clone()))?;
    setting(out, "begin", &Setting::text(summary.begin.map(|time| time.to_string())))?;
    setting(out, "end", &Setting::text(summary.end.map(|time| time.to_string())))?;
    setting(out, "peak_memory_bytes", &Setting::count(summary.peak_memory))?;
    string(out, "recipe", &summary.recipe)?;
    if let Some(meaning) = &summary.distance_means {
        string(out, "distance_means", meaning)?;
    }
    if let Some(share) = summary.found_share {
        writeln!(out, "  \"found_share\": {share:.6},")?;
    }
    write_parameters(out, &summary.parameters)?;
    for figure in summary.figures() {
        setting(out, figure.key, &Setting::count(figure.count))?;
    }
    if let Some(dates) = &summary.dates {
        setting(out, "date_fields", &Setting::List(dates.fields.clone()))?;
    }
    writeln!(out, "  \"conserved\": {},", summary.is_conserved())?;
    write_list(out, "removed_at", &summary.levels, write_level)?;
    // Few runs find such clusters.
    if !summary.template_kept.is_empty() {
        write_list(out, "template_kept", &summary.template_kept, write_name)?;
    }
    out.write_all(b"  \"fault_counts\": {")?;
    for (number, (kind, count)) in summary.faults.counts().iter().enumerate() {
        out.write_all(if number == 0 { b"" } else { b"," })?;
        write!(out, "\n    \"{kind}\": {count}")?;
    }
    out.write_all(b"\n  },\n")?;
    write_list(out, "faults", summary.faults.places(), write_place)?;
    write_list(out, "inputs", &summary.inputs, write_input)?;
    write_written_files(out, &summary.written_files)?;
    // Times differ from run to run, so they come after all fields that can be compared.
    write_seconds(out, &summary.stages)?;
    out.write_all(b"}\n")
}

/// Writes the field `parameters` of a summary, which has the settings of a run.
pub(in crate::write) fn write_parameters(
    out: &mut dyn Write,
    parameters: &[(&str, Setting)],
) -> io::Result<()> {
    out.write_all(b"  \"parameters\": {")?;
    for (number, (name, value)) in parameters.iter().enumerate() {
        out.write_all(if number == 0 { b"" } else { b"," })?;
        write!(out, "\n    \"{name}\": ")?;
        value.write_json(out)?;
    }
    out.write_all(b"\n  },\n")
}

/// Writes the last field of a summary, `seconds`, which has the wall-clock time of each stage.
pub(in crate::write) fn write_seconds(
    out: &mut dyn Write,
    stages: &[(&str, Duration)],
) -> io::Result<()> {
    out.write_all(b"  \"seconds\": {")?;
    for (number, (stage, time)) in stages.iter().enumerate() {
        out.write_all(if number == 0 { b"" } else { b"," })?;
        write!(out, "\n    \"{stage}\": {:.6}", time.as_secs_f64())?;
    }
    out.write_all(b"\n  }\n")
}

/// Writes a field whose value is a list, with one entry on each line.
pub(in crate::write) fn write_list<T>(
    out: &mut dyn Write,
    name: &str,
    entries: &[T],
    write_entry: fn(&mut dyn Write, &T) -> io::Result<()>,
) -> io::Result<()> {
    write!(out, "  \"{name}\": [")?;
    for (number, entry) in entries.iter().enumerate() {
        out.write_all(if number == 0 { b"\n    " } else { b",\n    " })?;
        write_entry(out, entry)?;
    }
    out.write_all(b"\n  ],\n")
}

fn write_level(out: &mut dyn Write, level: &LimitLevel) -> io::Result<()> {
    match level.least {
        Closest::Similarity(least) => write!(out, "{{\"similarity\": {least}")?,
        Closest::Distance(most) => write!(out, "{{\"max_distance\": {most}")?,
    }
    write!(out, ", \"removed\": {}}}", level.removed)
}

fn write_name(out: &mut dyn Write, Name { id, file, record }: &Name) -> io::Result<()> {
    for (begin, text) in [("{\"id\": ", id), (", \"file\": ", file)] {
        out.write_all(begin.as_bytes())?;
        write_string(out, text)?;
    }
    write!(out, ", \"record\": {record}}}")
}

fn write_input(out: &mut dyn Write, input: &InputState) -> io::Result<()> {
    let InputState { file, bytes, modified } = input;
    out.write_all(b"{\"file\": ")?;
    write_string(out, file)?;
    write!(out, ", \"bytes\": {bytes}, \"modified\": \"{modified}\"}}")
}

fn write_place(out: &mut dyn Write, place: &FaultPlace) -> io::Result<()> {
    let FaultPlace { severity, kind, file, record, byte, what } = place;
    let severity = match severity {
        Severity::Warning => "warning",
        Severity::Loss => "loss",
    };
    write!(out, "{{\"kind\": \"{kind}\", \"severity\": \"{severity}\", \"file\": ")?;
    write_string(out, file)?;
    for (name, number) in [("record", record), ("byte", byte)] {
        write!(out, ", \"{name}\": ")?;
        Setting::count(*number).write_json(out)?;
    }
    out.write_all(b", \"what\": ")?;
    write_string(out, what.as_bytes())?;
    out.write_all(b"}")
}
