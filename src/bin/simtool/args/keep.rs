//! Arguments that choose the kept documents.

use super::common::{choices, spelled};
use simtool::options::{Choice, Options};
use simtool::read::USUAL_DATES;
use simtool::{ClusterRule, Keep};
use std::fmt::Write as _;

/// Options that choose the kept document of each cluster.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Keeping")]
pub(crate) struct KeepArgs {
    /// Document to keep of several near-duplicates: rules, separated by commas.
    #[arg(long, value_name = "RULES", default_value = "first", long_help = keep_help())]
    pub(crate) keep: String,

    /// Field whose values --keep compares if a rule names none, written like --text-field. In WARC files, it may
    /// be a field of the header, `http:NAME` for a field of the HTTP header, or `host` or `path` of the URI.
    #[arg(long, value_name = "NAME")]
    pub(crate) keep_field: Option<String>,

    /// Keep documents whose field has the first of these values, or else the next, before --keep decides.
    ///
    /// For example, `--prefer source=wiki,news` keeps a document of source wiki, or else one of news, or else any
    /// other. A value must be exactly as in the file.
    #[arg(long, value_name = "FIELD=VALUES")]
    pub(crate) prefer: Option<String>,

    /// Keep up to this number of documents of each cluster.
    ///
    /// These are the document that is kept without this option, and those of the removed documents of its
    /// cluster that come first by --prefer and --keep.
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) keep_count: String,

    /// Documents to remove: only documents near a kept document (proven), or also documents that a
    /// chain of near-duplicates links to it (components).
    #[arg(long, value_name = "RULE", default_value = "proven",
        value_parser = choices::<ClusterRule>())]
    pub(crate) cluster: String,

    /// Also write every pair; more than 100 million only with --force. All pairs must fit in memory:
    /// with exact, 24 bytes for each pair of unequal documents.
    #[arg(long)]
    pub(crate) pairs: bool,

    /// Also write documents.jsonl: every document, kept or removed, with its cluster, in reading order. With
    /// in-place, also write the folder annotated: copies of the inputs whose records have these columns.
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", value_parser = ["true", "false", "in-place"])]
    pub(crate) annotate: String,

    /// Weight of a kept document by the size n of its cluster: 1, sqrt, log (1 + ln n), or sizes from
    /// which a weight holds, such as 1:1,2:2,10:3.
    #[arg(long, value_name = "RULE", default_value = "1", requires = "annotate")]
    pub(crate) cluster_weight: String,

    /// Also compute, for each document, the share of its words that are in passages of at least N words
    /// which another document has, too. Searches the passages as `simtool passages` does.
    #[arg(long, value_name = "N", requires = "annotate")]
    pub(crate) repeated_share: Option<String>,
}

impl KeepArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(super) fn set(&self, options: &mut Options) {
        options.set("keep", &self.keep);
        options.set("cluster", &self.cluster);
        options.set("keep_count", &self.keep_count);
        options.set_given([("keep_field", &self.keep_field), ("prefer", &self.prefer)]);
        options.set_flag("pairs", self.pairs);
        // The options have default values, which must not look like given ones.
        if self.annotate != "false" {
            options.set("annotate", &self.annotate);
            options.set("cluster_weight", &self.cluster_weight);
            options.set_given([("repeated_share", &self.repeated_share)]);
        }
    }
}

/// Returns the long help text of `--keep`, with a line for each rule.
fn keep_help() -> String {
    let mut help = "Document to keep of several near-duplicates: rules, separated by commas. Each rule decides \
        between documents that are equal by the rules before it. Of documents that are equal by all rules, the \
        first in reading order is kept.\n\n\
        For example, max:score,longest keeps the document with the highest score, and of several with this score \
        the longest.\n\n"
        .to_owned();
    for rule in Keep::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(help, "  {:<8} {}", rule.name(), spelled(rule.help()));
    }
    let _ = write!(
        help,
        "\nmax, min, newest and oldest may have their field behind a colon. Without a field, newest and oldest \
        read the date from --keep-field, or else from the first of these fields that a record has: `{}`. Documents \
        without a value come last.",
        USUAL_DATES.join("`, `")
    );
    help
}
