//! Targets that run both under libFuzzer and as a plain program (`mutate`), with seeds that code makes.

mod folder;
pub mod mutation;
mod readers;
mod recorded_run;
mod seeds;
mod settings;

/// A part of simtool that gets any bytes, and the inputs that mutations begin with.
#[derive(Debug)]
pub struct Target {
    /// Name of the target, as `mutate` takes it.
    pub name: &'static str,
    /// Returns valid inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Processes an input. Panics if the result is wrong.
    pub run: fn(&[u8]),
}

/// All targets of this package that have seeds made by code.
pub const TARGETS: &[Target] = &[
    Target { name: "read_jsonl", seeds: seeds::jsonl, run: |data| readers::read("a.jsonl", data) },
    Target { name: "read_json", seeds: seeds::json, run: |data| readers::read("a.json", data) },
    Target { name: "read_csv", seeds: seeds::csv, run: |data| readers::read("a.csv", data) },
    Target { name: "read_warc", seeds: seeds::warc, run: |data| readers::read("a.warc", data) },
    Target { name: "read_html", seeds: seeds::html, run: |data| readers::read("a.html", data) },
    Target { name: "read_mail", seeds: seeds::mail, run: |data| readers::read("a.mbox", data) },
    Target { name: "read_xml", seeds: seeds::xml, run: |data| readers::read("a.xml", data) },
    Target { name: "read_gzip", seeds: seeds::gzip, run: |data| readers::read("a.jsonl.gz", data) },
    Target {
        name: "read_zstd",
        seeds: seeds::zstd,
        run: |data| readers::read("a.jsonl.zst", data),
    },
    Target {
        name: "read_parquet",
        seeds: seeds::parquet,
        run: |data| readers::read("a.parquet", data),
    },
    Target { name: "read_arrow", seeds: seeds::arrow, run: |data| readers::read("a.arrow", data) },
    Target { name: "recorded_run", seeds: recorded_run::seeds, run: recorded_run::ask },
    Target { name: "settings", seeds: seeds::settings, run: settings::parse },
];

/// Runs the target `name` on an input.
///
/// # Panics
///
/// There is no such target, or the result of the target is wrong.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a target of the table").run)(data);
}
