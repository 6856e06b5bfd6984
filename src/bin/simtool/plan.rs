//! `simtool plan`: estimates the costs of an index for a number of fingerprints.
#![expect(clippy::cast_sign_loss, reason = "bytes and documents are never less than none")]

use crate::args::PlanArgs;
use crate::console;
use simtool::hamming::capacity::Capacity;
use simtool::quantity::bytes;
use simtool::resources::default_memory;
use std::fmt::Write;

/// Prints a table of possible designs of an index, with their costs.
pub(crate) fn run(args: &PlanArgs) -> anyhow::Result<()> {
    let designs = Capacity::of(args.documents, args.bits, args.max_distance)?;
    let memory = args.max_memory.unwrap_or_else(default_memory) as f64;
    let mut out = String::new();
    if args.json {
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
        return Ok(console::out(out.as_bytes())?);
    }
    let (bits, distance) = (args.bits, args.max_distance);
    writeln!(
        out,
        "{} fingerprints of {bits} bits, of which near-duplicates differ in at most {distance}; machines \
         with {} of memory",
        number(args.documents),
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
    Ok(console::out(out.as_bytes())?)
}

/// Formats a number with about three significant digits.
fn number(number: f64) -> String {
    match number {
        small if small < 9.5 && small.fract() != 0.0 => format!("{small:.2}"),
        whole if whole < 1e6 => simtool::quantity::grouped(whole as u64),
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
