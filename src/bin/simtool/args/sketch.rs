//! Arguments that say how fingerprints are made, of all methods.

use clap::builder::{PossibleValue, PossibleValuesParser};
use simtool::fingerprint::SKETCHES;
use simtool::options::Options;
use simtool::pipeline::method::Method;

/// How terms become a fingerprint.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Fingerprints")]
pub(crate) struct SketchArgs {
    /// With simhash: bits of a fingerprint, 64, 128, 256 or 512 [default: 64]; with minhash: bits of a
    /// lane, 1, 2, 4, 8, 16 or 32 [default: 4].
    #[arg(long = "bits", value_name = "BITS")]
    simhash_bits: Option<String>,

    /// With minhash: lanes of a fingerprint [default: as many as 64 bytes have room for].
    #[arg(long, value_name = "COUNT")]
    lanes: Option<String>,

    /// With minhash: one-permutation takes one hash of each shingle, classical one for each lane
    /// [default: one-permutation].
    #[arg(long, value_name = "HOW")]
    hashing: Option<String>,

    /// With minhash: what distances measure, jaccard (lanes that differ) or cosine (thousandths below
    /// 1, by the lanes and the sizes of the sets) [default: cosine].
    #[arg(long, value_name = "MEASURE")]
    measure: Option<String>,

    /// With multi-lexicon: how many fingerprints of 64 bits [default: 8]; with i-match: how many random
    /// lexicons beside the whole [default: 0].
    #[arg(long, value_name = "COUNT")]
    lexicons: Option<String>,

    /// With multi-lexicon and i-match: the part of the shingles that a random lexicon keeps [default:
    /// 0.5 and 0.7].
    #[arg(long, value_name = "PART")]
    lexicon_share: Option<String>,

    /// With multi-lexicon: whether each lexicon has bits of its own, own or shared [default: own].
    #[arg(long, value_name = "WHOSE")]
    lexicon_bits: Option<String>,

    /// With multi-lexicon: how many of the fingerprints must be near, or sum for the bits of all
    /// together [default: half of them].
    #[arg(long, value_name = "VOTES")]
    votes: Option<String>,

    /// With i-match: the fewest words of the lexicon that a document must have [default: 5].
    #[arg(long, value_name = "COUNT")]
    least_terms: Option<String>,

    /// With i-match: the least part of a document's words that must be in the lexicon [default: 0.1].
    #[arg(long, value_name = "PART")]
    least_share: Option<String>,
}

impl SketchArgs {
    /// Adds what was given.
    pub(crate) fn set(&self, options: &mut Options) {
        let Self { simhash_bits, lanes, hashing, measure, .. } = self;
        let Self { lexicons, lexicon_share, lexicon_bits, votes, .. } = self;
        let Self { least_terms, least_share, .. } = self;
        options.set_given([
            ("bits", simhash_bits),
            ("lanes", lanes),
            ("hashing", hashing),
            ("measure", measure),
            ("lexicons", lexicons),
            ("lexicon_share", lexicon_share),
            ("lexicon_bits", lexicon_bits),
            ("votes", votes),
            ("least_terms", least_terms),
            ("least_share", least_share),
        ]);
    }
}

/// The method that means that one is chosen.
pub(crate) const AUTO: &str = "auto";

/// A method that the library knows, with what it says of it.
fn value((name, help): (&'static str, &'static str)) -> PossibleValue {
    // What stands in backquotes is an option here.
    let option = |(at, part): (usize, &str)| match at % 2 {
        0 => part.to_owned(),
        _ => format!("--{}", part.replace('_', "-")),
    };
    PossibleValue::new(name).help(help.split('`').enumerate().map(option).collect::<String>())
}

/// The methods that the library knows, or that one is chosen.
pub(crate) fn methods_or_auto() -> PossibleValuesParser {
    let help = "One of these, with shingle and threshold, as a sample of the documents says, which is \
                told with the reasons; what is given beside it stays";
    let auto = PossibleValue::new(AUTO).help(help);
    Method::kinds().map(value).chain([auto]).collect::<Vec<_>>().into()
}

/// The methods that make fingerprints.
pub(crate) fn methods_of_fingerprints() -> PossibleValuesParser {
    SKETCHES.iter().map(|kind| kind.name).collect::<Vec<_>>().into()
}
