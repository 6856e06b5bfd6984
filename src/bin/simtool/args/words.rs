//! Arguments of `simtool N M`.

use super::values::folder;
use clap::ValueHint;
use simtool::run::WordsRequest;
use std::path::PathBuf;

/// N and M of `simtool N M` and of `simtool N M --corpus`, and the files that they need.
#[derive(Debug, clap::Args)]
pub(crate) struct WordsArgs {
    /// Number of features: the N most frequent words of the articles. With --corpus, N and M come
    /// first, and the features are the most frequent words of the corpus.
    #[arg(value_name = "N", allow_negative_numbers = true)]
    pub(crate) features: Option<String>,

    /// Number of bits of a fingerprint, up to 128.
    #[arg(value_name = "M", allow_negative_numbers = true)]
    pub(crate) bits: Option<String>,

    /// Folder of stopwords.txt and hashvalue.txt; with `simtool N M`, also of article.txt, sample.txt
    /// and result.txt.
    #[arg(long, value_name = "DIR", default_value = ".", value_parser = folder(),
        value_hint = ValueHint::DirPath)]
    pub(crate) directory: PathBuf,

    /// File with a line of 0s and 1s for each feature [default: hashvalue.txt in the folder if it
    /// exists, otherwise a built-in table of 10,000 lines of 128 digits].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) hash_table: Option<PathBuf>,
}

impl WordsArgs {
    /// Returns N and M as the user wrote them, and the paths of the files that they need.
    pub(crate) fn request(&self) -> WordsRequest {
        WordsRequest {
            features: self.features.clone(),
            bits: self.bits.clone(),
            directory: self.directory.clone(),
            hash_table: self.hash_table.clone(),
        }
    }
}
