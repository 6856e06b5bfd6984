//! `simtool plan`: estimates the costs of an index for a number of fingerprints.
#![expect(clippy::cast_sign_loss, reason = "bytes and documents are never less than none")]

use crate::args::Call;
use crate::console;
use crate::exit_status::ExitStatus;
use simtool::Error;
use simtool::options::Options;
use simtool::stages::hamming::capacity::Capacity;
use simtool::stages::quantity::{BYTES_EXPECTED, bytes, parse_bytes};
use simtool::stages::resources::default_memory;
use std::fmt::Write;

/// Size of a planned index, and memory of a machine for it.
#[derive(Debug)]
pub(crate) struct PlannedIndex {
    documents: f64,
    bits: u32,
    max_distance: u32,
    /// Memory of a machine in bytes.
    memory: u64,
}

impl PlannedIndex {
    pub(crate) fn parse(options: &mut Options) -> Result<Self, Error> {
        let rule = "must be a whole number";
        let memory = options.take("max_memory").map(|given| {
            parse_bytes(&given).ok_or_else(|| Error::config("max_memory", given, BYTES_EXPECTED))
        });
        let documents =
            options.take_parsed("documents", "must be a number such as 5000000 or 1e11")?;
        let planned = Self {
            // The parser of the arguments requires the number.
            documents: documents.unwrap_or_default(),
            bits: options.take_parsed("bits", rule)?.unwrap_or(64),
            max_distance: options.take_parsed("max_distance", rule)?.unwrap_or(3),
            memory: memory.transpose()?.unwrap_or_else(default_memory),
        };
        options.refuse_rest("plan has no such option")?;
        Ok(planned)
    }
}

/// Prints a table of possible designs of an index, with their costs.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let planned = PlannedIndex::parse(&mut call.options())?;
    let designs = Capacity::of(planned.documents, planned.bits, planned.max_distance)?;
    let memory = planned.memory as f64;
    let mut out = String::new();
    if call.has("json") {
        for design in &designs {
            let Capacity { blocks, tables, prefix_bits, disk, memory: needed, candidates, seconds } =
                design;
            writeln!(
                out,
                "{{\"blocks\":{blocks},\"tables\":{tables},\"prefix_bits\":{prefix_bits},\
                 \"disk_bytes\":{disk:.0},\"memory_bytes\":{needed:.0},\"candidates\":{candidates:.3},\
                 \"query_seconds\":{seconds:.9},\"machines\":{:.0}}}",
                design.machines(memory)
            )?;
        }
        console::out(out.as_bytes())?;
        return Ok(ExitStatus::Done);
    }
    let (bits, distance) = (planned.bits, planned.max_distance);
    writeln!(
        out,
        "{} fingerprints of {bits} bits, of which near-duplicates differ in at most {distance}; machines \
         with {} of memory",
        number(planned.documents),
        bytes(memory as u64)
    )?;
    let head =
        ["blocks", "tables", "prefix", "on disk", "in memory", "candidates", "query", "machines"];
    let mut rows = vec![head.map(str::to_owned)];
    for design in &designs {
        rows.push([
            design.blocks.to_string(),
            design.tables.to_string(),
            format!("{} bits", design.prefix_bits),
            bytes(design.disk as u64),
            bytes(design.memory as u64),
            number(design.candidates),
            time(design.seconds),
            number(design.machines(memory)),
        ]);
    }
    for (at, row) in rows.iter().enumerate() {
        for (column, cell) in row.iter().enumerate() {
            // Each column is as wide as its widest cell, including the header.
            let width = rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
            write!(out, "{}{cell:>width$}", if column == 0 { "" } else { "  " })?;
        }
        // The first design has the fewest tables. It is the design of `simtool index`.
        out.push_str(if at == 1 { "  <- simtool index\n" } else { "\n" });
    }
    console::out(out.as_bytes())?;
    Ok(ExitStatus::Done)
}

/// Formats a number with about three significant digits.
fn number(number: f64) -> String {
    match number {
        small if small < 9.5 && small.fract() != 0.0 => format!("{small:.2}"),
        whole if whole < 1e6 => simtool::stages::quantity::grouped(whole as u64),
        large => format!("{large:.2e}"),
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        long if long >= 1.0 => format!("{long:.1} s"),
        milli if milli >= 1e-3 => format!("{:.1} ms", milli * 1e3),
        micro => format!("{:.2} us", micro * 1e6),
    }
}
