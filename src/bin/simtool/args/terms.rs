//! What of documents is compared, for every command that compares some.

use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use simtool::extract::weighting::Weight;
use simtool::options::Options;
use simtool::tokenize::Tokens;

/// What of documents is compared.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct TermArgs {
    /// What is compared: so many consecutive words (words:N) or characters (chars:N), or N alone of what
    /// --tokenizer names, 3 if it is not given and 5 characters [default: words:3].
    #[arg(long, value_name = "UNIT:N")]
    pub(crate) shingle: Option<String>,

    /// What texts are cut into [default: words].
    ///
    /// words are those of Unicode, chars characters, ascii runs of ASCII letters, chinese words by the
    /// dictionary of jieba; auto cuts each run of text as its script needs: Chinese into words of the
    /// dictionary, Japanese and Thai into pairs of characters, the rest into words. lecture is chinese
    /// with a poor hash, for comparisons with programs that have it.
    #[arg(long, value_name = "TOKENIZER", value_parser = tokenizers())]
    pub(crate) tokenizer: Option<String>,

    /// Words that are left out before, so that their neighbours become adjacent: none, english,
    /// chinese, english+chinese, or a file with white space between them [default: none; with N and M
    /// in front stopwords.txt in the folder, else english].
    #[arg(long, value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub(crate) stop_words: Option<String>,

    /// How much each distinct shingle counts [default: tf in fingerprints, binary with exact].
    ///
    /// tf is as often as it occurs, binary once, log-tf by the logarithm of that; idf is more for what
    /// is in few documents of the collection, which is read once more for it; tf-idf and log-tf-idf
    /// are products; levels are 5 to 1 for the fifths of a document's shingles by tf-idf. With exact it
    /// is binary or idf: then similarities are of sums of weights.
    #[arg(long, value_name = "WEIGHT", value_parser = weights())]
    pub(crate) weight: Option<String>,

    /// Of fingerprints: take only the K shingles of each document with the greatest tf-idf; with
    /// --shingle 1 its keywords, of which 200 are usual [default: all].
    #[arg(long, value_name = "K")]
    pub(crate) top: Option<String>,

    /// Of fingerprints: let only those count whose idf lies there, 0 being that of what is in all
    /// documents and 1 of what is in one; for example 0.2-0.8 [default: all count].
    #[arg(long, value_name = "LOW-HIGH")]
    pub(crate) idf_band: Option<String>,
}

impl TermArgs {
    /// Adds what was given.
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
    Tokens::NAMES.into()
}

fn weights() -> PossibleValuesParser {
    Weight::names().collect::<Vec<_>>().into()
}
