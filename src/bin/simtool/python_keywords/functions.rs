//! Functions of the Python package, and the options that each of them takes.

/// Function of the Python package that takes options of commands as keyword arguments.
pub(super) struct Function {
    pub(super) name: &'static str,
    /// Words of the command whose options the function takes.
    pub(super) command: &'static str,
    /// Headings of the help that group these options. Only options under these headings are taken. Empty for all
    /// headings.
    pub(super) headings: &'static [&'static str],
    /// Names of settings that the function does not take.
    pub(super) without: &'static [&'static str],
    /// Whether the function takes the settings that limit threads, memory and temporary files.
    pub(super) has_resources: bool,
    /// Further options: the words of a command, and the name of one of its options.
    pub(super) also: &'static [(&'static str, &'static str)],
    pub(super) place: Place,
}

/// Part of the Python package that has a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The compiled part. Its sources include a text file with the options of each function, for the docstring.
    Compiled,
    /// The functions on files. A generated Python module has their options, for their docstrings.
    Files,
    /// The functions on Spark, which are a package of their own. It has a similar module with their options.
    Spark,
}

impl Place {
    pub(super) fn functions(self) -> impl Iterator<Item = &'static Function> {
        FUNCTIONS.iter().filter(move |function| function.place == self)
    }
}

/// Heading of the options that have no heading in the help.
pub(super) const PLAIN: &str = "";
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "deduplicate",
        command: "dedup",
        headings: &["Near-duplicates", "Keeping"],
        without: &["pairs"],
        has_resources: true,
        also: &[],
        place: Place::Compiled,
    },
    Function {
        name: "match",
        command: "match",
        headings: &["Near-duplicates", "Keeping"],
        without: &["against", "against_text_field", "against_id_field"],
        has_resources: true,
        also: &[],
        place: Place::Compiled,
    },
    Function {
        name: "fingerprint",
        command: "fingerprint",
        headings: &[PLAIN],
        without: &[],
        has_resources: true,
        also: &[],
        place: Place::Compiled,
    },
    Function {
        name: "compare",
        command: "dedup",
        headings: &["Near-duplicates"],
        without: &["within", "across", "boilerplate"],
        has_resources: false,
        also: &[],
        place: Place::Compiled,
    },
    Function {
        name: "Index",
        command: "index create",
        headings: &[PLAIN],
        without: &[],
        has_resources: true,
        also: &[],
        place: Place::Compiled,
    },
    Function {
        name: "deduplicate_files",
        command: "dedup",
        headings: &[],
        without: &["output"],
        has_resources: false,
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "match_files",
        command: "match",
        headings: &[],
        without: &["against", "output"],
        has_resources: false,
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "preview_files",
        command: "dedup",
        headings: &["Near-duplicates", "Keeping", "Reading", "Running"],
        // A preview stores nothing.
        without: &["pairs", "annotate", "resume", "shard"],
        has_resources: false,
        also: &[("match", "against_text_field"), ("match", "against_id_field")],
        place: Place::Files,
    },
    Function {
        name: "combine_files",
        command: "combine",
        headings: &[],
        without: &[],
        has_resources: false,
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "why",
        command: "why",
        headings: &[],
        without: &[],
        has_resources: false,
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "audit",
        command: "audit",
        headings: &[],
        without: &[],
        has_resources: false,
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "contamination_files",
        command: "contamination",
        headings: &[],
        without: &["in", "output"],
        has_resources: false,
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "passages_files",
        command: "passages",
        headings: &[PLAIN, "Writing", "Reading", "Running"],
        without: &[],
        has_resources: false,
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "cut_passages_files",
        command: "passages",
        headings: &[],
        without: &["output", "write_kept"],
        has_resources: false,
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "deduplicate",
        command: "dedup",
        headings: &["Near-duplicates", "Keeping"],
        without: &[],
        has_resources: false,
        also: &[],
        place: Place::Spark,
    },
    Function {
        name: "match",
        command: "match",
        headings: &["Near-duplicates", "Keeping"],
        without: &[],
        has_resources: false,
        also: &[],
        place: Place::Spark,
    },
];
