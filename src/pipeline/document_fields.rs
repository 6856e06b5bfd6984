//! The fields of documents that the settings of a run compare.

use simtool_base::error::{Error, Result};
use simtool_model::document::MOST_FIELDS;

/// Fields of documents that the settings of a run compare, in the order of
/// [`Document::fields`](simtool_model::document::Document::fields).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentFields(Vec<DocumentField>);

/// A field of documents that a setting compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentField {
    /// Name of the setting, for error messages.
    pub setting: &'static str,
    /// Name of the field, in the same form as in the option `text_field`. `None` if the setting names no field. Then it
    /// uses the field that usually holds a date, or the values that the caller gives together with the texts.
    pub name: Option<String>,
}

impl DocumentFields {
    /// Returns the index of the field `name` in the list. Adds the field if no setting has named it before. `setting`
    /// is the name of the setting that uses the field, for error messages.
    ///
    /// # Errors
    ///
    /// There would be more than [`MOST_FIELDS`] fields.
    pub(super) fn number_of(&mut self, setting: &'static str, name: Option<&str>) -> Result<usize> {
        if let Some(number) = self.0.iter().position(|field| field.name.as_deref() == name) {
            return Ok(number);
        }
        // Readers store the values of a document in an array of this length, without allocating memory.
        if self.0.len() == MOST_FIELDS {
            let rule = format!("is one field too many: a run can use {MOST_FIELDS} fields");
            return Err(Error::config(setting, name.unwrap_or_default(), rule));
        }
        self.0.push(DocumentField { setting, name: name.map(str::to_owned) });
        Ok(self.0.len() - 1)
    }

    /// Returns the name of the field with index `number`. `None` if there is no such field or if it has no name.
    #[must_use]
    pub fn name(&self, number: usize) -> Option<&str> {
        self.0.get(number)?.name.as_deref()
    }

    /// Returns all fields in order.
    pub fn iter(&self) -> impl Iterator<Item = &DocumentField> {
        self.0.iter()
    }
}
