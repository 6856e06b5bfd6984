//! The options `within` and `across`, which select the documents that are compared with each other. Also the option
//! `by`, which selects the source by which removals are counted, and has the same values.

use super::boilerplate_rule::Site;
use super::document_fields::DocumentFields;
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_base::stable_hash::hash;
use simtool_model::document::Document;
use simtool_model::document_id::DocumentId;
use std::borrow::Cow;
use std::path::Path;

/// Hash for a document that has no value, for example no language. No value has this hash.
pub(super) const NO_VALUE: u64 = 0;

/// Rule for the pairs of documents that are compared: documents with the same value, or documents with different
/// values. A document without a value is compared with no other document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Relation that the values of two documents must have.
    pub relation: Relation,
    /// Value of a document that is compared with that of another document, for example its folder or a field.
    pub value: ScopeValue,
}

/// Relation that the values of two documents must have, so that the documents are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Only documents with the same value are compared.
    Within,
    /// Only documents with different values are compared.
    Across,
}

/// Value of a document that decides which other documents it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeValue {
    /// The value of a field. The number is its index in [`Document::fields`].
    Field(usize),
    /// The file of the document.
    File,
    /// The folder of the document's ID if the ID is a URI, or else of its file.
    Folder,
    /// The host of the document's ID. A document whose ID is not a URI has no host.
    Host,
}

impl Relation {
    const ALL: [Self; 2] = [Self::Within, Self::Across];

    /// Returns the name of the option that selects this relation.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Across => "across",
        }
    }
}

impl Scope {
    /// Takes the options `within` and `across` out of `options`. If their value is a field, adds it to `fields`.
    ///
    /// # Errors
    ///
    /// Both options are given, or there are too many fields.
    pub(super) fn parse(
        options: &mut Options,
        fields: &mut DocumentFields,
    ) -> Result<Option<Self>> {
        let given = Relation::ALL.map(|relation| Some((relation, options.take(relation.name())?)));
        let (relation, name) = match given {
            [Some(_), Some((_, across))] => {
                let rule = "does not go with `within`: leave one of the two out";
                return Err(Error::config("across", across, rule));
            }
            [one, other] => match one.or(other) {
                Some(given) => given,
                None => return Ok(None),
            },
        };
        let value = ScopeValue::parse(relation.name(), &name, fields)?;
        Ok(Some(Self { relation, value }))
    }

    /// Returns the hash of the value of `document`, which is in `file`, or [`NO_VALUE`] if it has no value.
    pub(super) fn hash_of(self, document: &Document<'_>, file: &Path) -> u64 {
        let value = self.value.of(document.id, file, |number| document.fields[number]);
        // The lowest bit is set, so that no value has the hash of a missing value.
        value.map_or(NO_VALUE, |value| hash(&value) | 1)
    }
}

impl ScopeValue {
    /// Parses `name`, the value of the option `setting`. If it is a field, adds it to `fields`.
    ///
    /// # Errors
    ///
    /// There are too many fields.
    pub(super) fn parse(
        setting: &'static str,
        name: &str,
        fields: &mut DocumentFields,
    ) -> Result<Self> {
        // A field with one of these names can still be selected, for example as `host,host`.
        Ok(match name {
            "file" => Self::File,
            "folder" => Self::Folder,
            "host" => Self::Host,
            field => Self::Field(fields.number_of(setting, Some(field))?),
        })
    }

    /// Returns the value of the document with the ID `id` in `file`. `field` returns the value of the field with a
    /// given index.
    pub(super) fn of<'d>(
        self,
        id: Option<DocumentId<'_>>,
        file: &'d Path,
        field: impl FnOnce(usize) -> Option<&'d [u8]>,
    ) -> Option<Cow<'d, [u8]>> {
        match self {
            Self::Field(number) => field(number).map(Cow::Borrowed),
            Self::File => Some(Cow::Borrowed(file.as_os_str().as_encoded_bytes())),
            Self::Folder => Some(Site::Folder.name(id, file)),
            Self::Host => Some(Site::Host.name(id, file)).filter(|host| !host.is_empty()),
        }
    }

    /// Returns the name of the value in the options, for example `host`. `fields` has the names of the fields.
    #[must_use]
    pub fn written(self, fields: &DocumentFields) -> &str {
        match self {
            Self::Field(number) => fields.name(number).unwrap_or_default(),
            Self::File => "file",
            Self::Folder => "folder",
            Self::Host => "host",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::document::FieldValues;

    #[test]
    fn no_value_has_the_hash_of_a_missing_value() {
        let scope = Scope { relation: Relation::Within, value: ScopeValue::File };
        let document = Document {
            id: None,
            text: b"",
            fields: FieldValues::default(),
            repaired: None,
            page_text: None,
            left_out: 0,
            words_of_lines: 0,
            skipped_elements: 0,
            few_own: None,
            name: None,
        };
        for name in ('a'..='z').map(String::from) {
            let hash = scope.hash_of(&document, Path::new(&name));
            assert_eq!((hash & 1, hash == NO_VALUE), (1, false), "{name}");
        }
    }
}
