//! The fields of documents that `dedup` and `match` compare: their selectors, and what to say if no document has them.

use super::dedup_request::Request;
use super::input::Input;
use super::input_settings::refuse_joined;
use crate::pipeline::CollectionSummary;
use crate::pipeline::document_fields::DocumentField;
use crate::pipeline::scope::{Scope, ScopeValue};
use crate::write::summary::{Dates, InputState, Summary};
use simtool_base::error::{Error, Result};
use simtool_base::fault::quoted;
use simtool_base::quantity::counted;
use simtool_model::document::DocOrdinal;
use simtool_model::sides::Sides;
use simtool_read::{Corpus, Selector};
use std::path::Path;
use std::time::SystemTime;

impl Request {
    /// Checks the options that name fields.
    ///
    /// # Errors
    ///
    /// The option `keep_field` is missing or has no effect, or a selector joins several fields.
    pub(super) fn check_fields(&self) -> Result<()> {
        let fields = &self.config.fields;
        self.config.keep.check_field(self.keep_field.is_some(), true, fields)?;
        for field in fields.iter() {
            if let Some(name) = self.name_of(field) {
                refuse_joined(field.setting, name)?;
            }
        }
        Ok(())
    }

    /// Returns the name of a field. `None` if it is one of the usual fields of dates.
    fn name_of<'r>(&'r self, field: &'r DocumentField) -> Option<&'r str> {
        field.name.as_deref().or(self.keep_field.as_deref())
    }

    /// Returns the names of the fields that the user named, each with the option that names it.
    pub(super) fn named_fields(&self) -> Vec<(&'static str, &str)> {
        let named = self.config.fields.iter();
        named.filter_map(|field| Some((field.setting, self.name_of(field)?))).collect()
    }

    /// Returns the selectors of all fields that readers must read, in order.
    pub(super) fn field_selectors(&self) -> Vec<Selector> {
        let selector =
            |field| self.name_of(field).map_or_else(Selector::usual_dates, Selector::from);
        self.config.fields.iter().map(selector).collect()
    }

    /// Adds what is known about the inputs to the summary: the state of the files, and the dates of the documents.
    pub(super) fn describe_inputs(
        &self,
        inputs: &Sides<Input<'_>>,
        read: &Sides<CollectionSummary>,
        summary: &mut Summary,
    ) {
        summary.dates = self.dates(inputs.first(), read.first());
        let states = inputs.iter().flat_map(|input| input.collection.file_states());
        let state = |(file, bytes, modified): (&Path, u64, SystemTime)| InputState {
            file: file.as_os_str().as_encoded_bytes().to_vec(),
            bytes,
            modified: modified.into(),
        };
        summary.inputs = states.take(Summary::INPUTS).map(state).collect();
    }

    /// Returns the fields of the dates and the number of documents without a date, if the date decides which
    /// documents are kept.
    fn dates(&self, input: &Input<'_>, read: &CollectionSummary) -> Option<Dates> {
        let (key, field) = self.config.keep.date_key()?;
        let selectors = self.field_selectors();
        // A field is not a source of dates if no date in its file is understood.
        let dated = read.files_with_preference(key, input.collection.file_count());
        let fields = input.collection.selected_names(&selectors[field], |file| dated[file]);
        let unread = read.unread_dates().count;
        Some(Dates { fields, without: read.without_preference(key), unread })
    }

    /// Returns a note about the dates that are not understood, with the first one. `consequence` says what
    /// follows if no date is understood.
    fn note_unread_dates(
        &self,
        input: &Input<'_>,
        read: &CollectionSummary,
        consequence: &str,
    ) -> Option<String> {
        let (key, _) = self.config.keep.date_key()?;
        let unread = read.unread_dates();
        let (row, date) = unread.first.as_ref()?;
        let place = read.ids.place(DocOrdinal(*row));
        let file = input.collection.file_name(place.file as usize).display();
        let count = counted(unread.count, "date");
        let is = if unread.count == 1 { "is" } else { "are" };
        let all = read.without_preference(key) == read.ids.len() as u64;
        let rest = if all {
            format!("no document has a date that is understood; {consequence}")
        } else {
            "documents with a date that is understood were preferred".to_owned()
        };
        Some(format!(
            "{count} {is} not understood, for example \"{}\" in record {} of {file}; {rest}. Write dates \
             as 2026-01-31",
            quoted(date),
            place.record,
        ))
    }

    /// Returns an error if no record has a field that the user named.
    pub(super) fn refuse_missing_fields(
        &self,
        inputs: &Sides<Input<'_>>,
        read: &Sides<CollectionSummary>,
    ) -> Result<()> {
        let numbered: Vec<&DocumentField> = self.config.fields.iter().collect();
        // A field that is empty in all documents may also be one that no document has.
        for number in self.empty_preferences(read.first()).into_iter().map(|(number, _)| number) {
            if let Some(name) = self.name_of(numbered[number]) {
                Input::refuse_missing_field(numbered[number].setting, name, &[inputs.first()])?;
            }
        }
        let Some(Scope { relation, value }) = self.config.scope else { return Ok(()) };
        // Both collections of a match need the value, since documents without it are never compared.
        for (input, _) in inputs.iter().zip(read.iter()).filter(|(_, read)| lacks_scope(read)) {
            let name = value.written(&self.config.fields);
            match value {
                ScopeValue::Field(_) => {
                    Input::refuse_missing_field(relation.name(), name, &[input])?;
                }
                ScopeValue::Host => {
                    let rule = "no document has a URI as its ID: name the field of the URI with `id_field`";
                    return Err(Error::config(relation.name(), name, rule));
                }
                ScopeValue::File | ScopeValue::Folder => {}
            }
        }
        Ok(())
    }

    /// Returns sentences about fields that are empty in all documents, so that they decided nothing.
    pub(super) fn notes_about_fields(
        &self,
        inputs: &Sides<Input<'_>>,
        read: &Sides<CollectionSummary>,
    ) -> Vec<String> {
        let numbered: Vec<&DocumentField> = self.config.fields.iter().collect();
        let only = self.config.keep.only_rule().is_some();
        let consequence = if only { "the first ones were kept" } else { "the other rules decided" };
        let unread = self.note_unread_dates(inputs.first(), read.first(), consequence);
        // A field with dates that are not understood is not empty.
        let dated = self.config.keep.date_key().filter(|_| unread.is_some());
        let empty = self.empty_preferences(read.first()).into_iter();
        let empty = empty.filter(|(number, _)| dated.is_none_or(|(_, dated)| dated != *number));
        let notes = empty.map(|(number, is_listed)| match self.name_of(numbered[number]) {
            Some(name) if is_listed => {
                format!("no document has a preferred value of {name}; {consequence}")
            }
            Some(name) => format!("the field {name} is empty everywhere; {consequence}"),
            None => format!(
                "no document has a date that is understood, such as 2026-01-31; {consequence}"
            ),
        });
        let mut notes: Vec<String> = unread.into_iter().chain(notes).collect();
        if let Some(scope) = self.config.scope.filter(|_| read.iter().any(lacks_scope)) {
            let name = scope.value.written(&self.config.fields);
            notes.push(format!("the field {name} is empty everywhere; no documents were compared"));
        }
        notes
    }

    /// Returns the numbers of the fields in which no document has a value by which it would be preferred, and
    /// whether preferred values are listed.
    fn empty_preferences(&self, read: &CollectionSummary) -> Vec<(usize, bool)> {
        let documents = read.ids.len() as u64;
        let keys = self.config.keep.key_fields().enumerate();
        let empty = keys.filter_map(|(key, field)| {
            let (number, is_listed) = field?;
            let is_empty = documents > 0 && read.without_preference(key) == documents;
            is_empty.then_some((number, is_listed))
        });
        empty.collect()
    }
}

/// Returns whether no document of a collection has the value that decides with which others it is compared.
fn lacks_scope(read: &CollectionSummary) -> bool {
    let documents = read.ids.len() as u64;
    documents > 0 && read.without_scope() == documents
}
