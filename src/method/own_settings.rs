//! Settings that users write behind the name of a method, as in `simhash:bits=128`.

use simtool_base::error::{Error, ErrorKind};
use simtool_fingerprint::SKETCHES;

/// Settings that many kinds of methods have.
const OF_MANY: &[&str] = &["weight", "recall", "verify_weight", "top", "idf_band"];

/// Returns an error about a setting that users write behind the name of the method as an error about the method.
pub(super) fn of_method(name: &str, error: Error) -> Error {
    match error.kind() {
        ErrorKind::Config { field, value, rule } if is_of_method(field) => {
            Error::config("method", format!("{name}:{field}={value}"), rule)
        }
        _ => error,
    }
}

/// Returns whether a setting is only written behind the name of a method.
fn is_of_method(field: &str) -> bool {
    OF_MANY.contains(&field)
        || SKETCHES.iter().any(|kind| kind.options.iter().any(|own| own.name == field))
}
