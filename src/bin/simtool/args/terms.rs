//! Options that choose the terms to compare, for every command that compares documents.

use clap::ValueHint;
use clap::builder::{PossibleValue, PossibleValuesParser};
use simtool::extract::weights::WEIGHTS;
use simtool::options::Options;
use simtool::tokenize::{MISSING_TOKENIZERS, TOKENIZERS};

/// Options that choose the terms to compare.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct TermArgs {
    /// Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].
    ///
    /// UNIT is words, chars or another tokenizer of --tokenizer. N alone uses the one that --tokenizer names.
    /// For chars alone, N is 5.
    #[arg(long, value_name = "UNIT:N")]
    pub(crate) shingle: Option<String>,

    /// Tokenizer that cuts texts into tokens [default: words].
    #[arg(long, value_name = "TOKENIZER", value_parser = tokenizers())]
    pub(crate) tokenizer: Option<String>,

    /// Leave these words out before shingles are made, so that their neighbours become adjacent: none,
    /// english, chinese, or a file of words separated by white space [default: none; with N and M in front,
    /// stopwords.txt in the folder if it exists, otherwise english].
    ///
    /// Commas and semicolons separate the words of a file, too, or the file is an array of JSON. The rest of a line
    /// behind | or # is a comment. Several lists are joined by +, as in english+german.txt. The words themselves come behind words: and are
    /// separated by spaces, as in "words:der die das".
    #[arg(long, value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub(crate) stop_words: Option<String>,

    /// Weight of each distinct shingle [default: tf for fingerprints, binary with --method exact].
    ///
    /// With --method exact, only binary and idf are possible; with idf, similarities compare sums of
    /// weights instead of numbers of shingles.
    #[arg(long, value_name = "WEIGHT", value_parser = weights())]
    pub(crate) weight: Option<String>,

    /// For fingerprints: use only the K shingles of each document with the greatest tf-idf; with
    /// --shingle 1 these are its keywords, and 200 is a usual number [default: all].
    #[arg(long, value_name = "K")]
    pub(crate) top: Option<String>,

    /// For fingerprints: use only shingles whose normalized idf is in this band, for example 0.2-0.8.
    /// The value is 0 for a shingle that all documents contain and 1 for a shingle that only one
    /// contains. With --top, it applies to the K chosen shingles [default: use all].
    #[arg(long, value_name = "LOW-HIGH")]
    pub(crate) idf_band: Option<String>,
}

impl TermArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        let Self { shingle, tokenizer, stop_words, weight, top, idf_band } = self;
        options.set_given([
            ("shingle", shingle),
            ("tokenizer", tokenizer),
            ("stop_words", stop_words),
            ("weight", weight),
            ("top", top),
            ("idf_band", idf_band),
        ]);
    }
}

fn tokenizers() -> PossibleValuesParser {
    let known = TOKENIZERS.iter().map(|kind| PossibleValue::new(kind.name).help(kind.help));
    // A build without a dictionary accepts these names as well, so that its error can say how to get the
    // dictionary.
    let missing = MISSING_TOKENIZERS.iter().map(PossibleValue::new);
    known.chain(missing).collect::<Vec<_>>().into()
}

fn weights() -> PossibleValuesParser {
    let values = WEIGHTS.iter().map(|kind| PossibleValue::new(kind.name).help(kind.help));
    values.collect::<Vec<_>>().into()
}
