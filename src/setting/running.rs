//! Settings of threads, memory, notes and stored parts.

use super::row::{Named, Setting};

/// Settings of threads, and of the settings file.
pub(super) const THREADS: &[Setting] = &[
    Setting::value(
        "threads",
        "N",
        "Number of worker threads, up to 512; 0 uses all cores.",
    ).usual()
    .short('j')
    .default("0")
    .of_resources(),
    Setting::settings_file(
        "config",
        "FILE",
        "File with options of this command in TOML; options of the command line go before them.\n\n`simtool config \
         COMMAND` prints such a file with all options, their meanings and defaults. Options can also be in the environment, with SIMTOOL_ before their names, as in `SIMTOOL_MAX_MEMORY=4G`. \
         `SIMTOOL_CONFIG` names the file. The environment goes before the file, and the command line before both.",
    )
    .of_resources(),
];

/// Settings of the notes and the progress that a run prints.
pub const NOTES: &[Setting] = &[
    Setting::flag(
        "no_mmap",
        "Read files into memory instead of mapping them.\n\nA mapped file must not change while it is read.",
    )
    .in_files()
    .of_resources(),
    Setting::flag(
        "quiet",
        "Print neither notes nor progress.",
    ).usual()
    .short('q')
    .printing(),
    Setting::flag(
        "verbose",
        "Print more notes, and every fault of an input.\n\nWithout it, the first 20 faults of each kind are \
         printed. The notes are counts of the documents that were read and found.",
    ).usual()
    .short('v')
    .excluding(&["quiet"])
    .printing(),
    Setting::choice(
        "progress",
        "WHEN",
        progress,
        "When to show progress: as a bar on a terminal, otherwise as a line every two seconds.",
    )
    .default("auto")
    .printing(),
    Setting::flag(
        "stats",
        "Print counts, and the time and share of each stage, on standard error.",
    )
    .printing(),
];

/// Settings of memory and temporary files.
pub const MEMORY: &[Setting] = &[
    Setting::value(
        "max_memory",
        "SIZE",
        "Memory to use, for example 512M or 8G [default: four fifths of the machine's memory].\n\nK, M and G \
         are powers of 1000, and KiB, MiB and GiB powers of 1024. Mapped files do not count. With less memory, \
         simtool reads more files twice and writes more temporary files. In a control group with a limit, the \
         default is four fifths of that limit.",
    ).usual()
    .of_resources(),
    Setting::folder(
        "tmp_dir",
        "DIR",
        "Folder for temporary files [default: the system's temporary folder].",
    )
    .of_resources(),
];

/// Settings for storing what a run reads.
pub(super) const PARTS: &[Setting] = &[
    Setting::flag(
        "resume",
        "Store what was read, and go on from there if this run was stopped before.\n\nThe folder OUTPUT.parts \
         has the fingerprints, terms or words of each file that was read. A run with the same options reads only \
         files without such data, and files that have changed. The results are the same. The folder is removed after \
         the run. Terms and words take about as much space as the texts.",
    )
    .of_resources(),
    Setting::value(
        "shard",
        "I/N",
        "Read shard I of N, such as 2/4, store it in OUTPUT.parts, and end.\n\nAfter runs for all shards, on \
         one or several machines with the same files, `simtool combine OUTPUT` writes the results of a run \
         without --shard.",
    )
    .of_resources(),
];

fn progress() -> Vec<Named> {
    vec![
        ("auto", "Show progress unless --quiet is given"),
        ("always", "Show progress even with --quiet"),
        ("never", "Never show progress"),
    ]
}
