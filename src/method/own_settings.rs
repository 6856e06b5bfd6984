//! Settings that users write after the name of a method, as in `simhash:bits=128`.

use simtool_base::error::{Error, ErrorKind};
use simtool_fingerprint::{SKETCHES, SketchOption};

/// Name of the method that compares sets of terms directly.
pub(super) const EXACT: &str = "exact";
/// Name of the method that finds documents whose words are all in other documents.
pub(super) const COVERED: &str = "covered";
/// Name of the option for the weights of terms when candidate pairs are verified. Verifying compares the sets
/// of terms of two documents whose fingerprints are close.
pub(super) const VERIFY_WEIGHT: &str = "verify_weight";
/// Names of the settings of terms, which all methods have.
pub(crate) const OF_TERMS: &[&str] = &["shingle", "stop_words", "ignore", "fold"];

/// Settings of all methods, which users write after the name of the method.
pub(crate) const OF_METHODS: &[SketchOption] = &[SketchOption {
    name: "weight",
    value: "tf|binary|log-tf|idf|tf-idf|log-tf-idf|levels",
    help: "weight of each distinct shingle [default: tf for fingerprints, binary with exact]. With exact, only binary \
           and idf are possible; with idf, similarities compare sums of weights instead of numbers of shingles",
}];

/// Settings of all methods with fingerprints, which users write after the name of the method.
pub(crate) const OF_FINGERPRINTS: &[SketchOption] = &[
    SketchOption {
        name: "recall",
        value: "PART",
        help: "use LSH bands that find at least this fraction of the pairs at the maximum distance [default: find all]",
    },
    SketchOption {
        name: "verify_weight",
        value: "binary|idf",
        help: "weight of each shingle in the similarity of --verify, binary or idf [default: binary]",
    },
    SketchOption {
        name: "top",
        value: "K",
        help: "use only the K shingles with the greatest tf-idf of each document. With --shingle 1, these are the \
               keywords of the document, and 200 is a usual value of K [default: all]",
    },
    SketchOption {
        name: "idf_band",
        value: "LOW-HIGH",
        help: "use only shingles whose normalized idf is from LOW to HIGH, for example 0.2-0.8. The normalized idf is 0 \
               for a shingle that all documents contain, and 1 for a shingle that only one document contains. With \
               top, the band applies to the K chosen shingles [default: use all]",
    },
];

/// Returns the names of the settings that the method `exact` has, except those that all methods have.
pub(crate) fn settings_of_exact() -> impl Iterator<Item = &'static str> {
    OF_METHODS.iter().map(|own| own.name).chain(["similarity"])
}

/// Returns the names of the settings that all methods with fingerprints have. The setting `words` is the number of most
/// frequent words from which fingerprints are made, like N in `simtool N M`.
pub(super) fn settings_of_fingerprints() -> impl Iterator<Item = &'static str> {
    OF_FINGERPRINTS.iter().map(|own| own.name).chain(["max_distance", "verify", "words"])
}

/// Returns whether the method `method` has the setting `setting`, which users may write after its name.
///
/// ```
/// use simtool::method::has_setting;
///
/// assert!(has_setting("minhash", "lanes"));
/// assert!(!has_setting("exact", "max_distance"));
/// ```
#[must_use]
pub fn has_setting(method: &str, setting: &str) -> bool {
    let is_own = match SKETCHES.iter().find(|kind| kind.name == method) {
        Some(kind) => {
            kind.has_option(setting) || settings_of_fingerprints().any(|name| name == setting)
        }
        None => method == EXACT && settings_of_exact().any(|name| name == setting),
    };
    is_own || OF_TERMS.contains(&setting)
}

/// Returns the settings of the method `method` that users can write only after its name.
#[must_use]
pub fn own_settings(method: &str) -> Vec<&'static SketchOption> {
    let kind = SKETCHES.iter().find(|kind| kind.name == method);
    let of_kind = kind.map_or(&[][..], |kind| kind.options);
    let all = of_kind.iter().chain(OF_METHODS).chain(OF_FINGERPRINTS);
    all.filter(|own| has_setting(method, own.name)).collect()
}

/// Converts an error about a setting that users write after the name of the method `name` to an error about the option
/// `method`, for example with the value `simhash:bits=0`. Returns other errors unchanged.
pub(super) fn of_method(name: &str, error: Error) -> Error {
    match error.kind() {
        ErrorKind::Config { field, value, rule } if is_of_method(field) => {
            Error::config("method", format!("{name}:{field}={value}"), rule)
        }
        _ => error,
    }
}

/// Returns whether the setting `field` has no option of its own, so that users write it only after the name of a
/// method.
fn is_of_method(field: &str) -> bool {
    let of_kinds = SKETCHES.iter().flat_map(|kind| kind.options);
    OF_METHODS.iter().chain(OF_FINGERPRINTS).chain(of_kinds).any(|own| own.name == field)
}
