//! The fields of documents that `dedup` and `match` compare: their selectors, and the error if no document has them.

use super::dedup_request::Request;
use super::input::Input;
use super::input_settings::refuse_joined;
use crate::pipeline::CollectionSummary;
use crate::pipeline::document_fields::DocumentField;
use crate::pipeline::keep_order::FieldRule;
use crate::pipeline::scope::{Scope, ScopeValue};
use crate::write::summary::{Dates, InputState, Summary};
use simtool_base::byte_text::path_text;
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
    /// A rule of the option `keep` lacks its field, or a selector joins several fields.
    pub(super) fn check_fields(&self) -> Result<()> {
        let fields = &self.config.fields;
        self.config.keep.check_field(false, true, fields)?;
        for field in fields.iter() {
            if let Some(name) = &field.name {
                refuse_joined(field.setting, name)?;
            }
        }
        Ok(())
    }

    /// Returns the names of the fields that the user named, each with the option that names it.
    pub(super) fn named_fields(&self) -> Vec<(&'static str, &str)> {
        let named = self.config.fields.iter();
        named.filter_map(|field| Some((field.setting, field.name.as_deref()?))).collect()
    }

    /// Returns the selectors of all fields that readers must read in addition to text and ID, in order.
    pub(super) fn field_selectors(&self) -> Vec<Selector> {
        // A rule by date may name no field. Then the usual fields of dates are read.
        let selector = |field: &DocumentField| {
            field.name.as_deref().map_or_else(Selector::usual_dates, Selector::from)
        };
        self.config.fields.iter().map(selector).collect()
    }

    /// Adds facts about the inputs to `summary`: size and time of input files, and the dates of the documents. Also
    /// adds the number of values that should be numbers, because a rule compares numbers, but are none.
    pub(super) fn describe_inputs(
        &self,
        inputs: &Sides<Input<'_>>,
        read: &Sides<CollectionSummary>,
        summary: &mut Summary,
    ) {
        summary.dates = self.dates(inputs.first(), read.first());
        let by_number =
            self.config.keep.field_rules().filter(|compared| !compared.rule.is_by_date());
        summary.unread_numbers =
            by_number.map(|compared| unread_count(read.first(), compared)).sum();
        let states = inputs.iter().flat_map(|input| input.collection.file_states());
        let state = |(file, bytes, modified): (&Path, u64, SystemTime)| InputState {
            file: file.as_os_str().as_encoded_bytes().to_vec(),
            bytes,
            modified: modified.into(),
        };
        summary.inputs = states.take(Summary::INPUTS).map(state).collect();
    }

    /// Returns the names of the fields with dates, the number of documents without a date, and the number of dates that
    /// were not understood. `None` unless dates decide which documents are kept.
    fn dates(&self, input: &Input<'_>, read: &CollectionSummary) -> Option<Dates> {
        let compared = self.config.keep.date_rule()?;
        let FieldRule { key, field, .. } = compared;
        let selectors = self.field_selectors();
        // A field is not a source of dates if no date in its file is understood.
        let dated = read.files_with_preference(key, input.collection.file_count());
        let fields = input.collection.selected_names(&selectors[field], |file| dated[file]);
        Some(Dates {
            fields,
            without: read.without_preference(key),
            unread: unread_count(read, compared),
        })
    }

    /// Returns whether dates decide which documents are kept, and some dates were not understood. Then an older
    /// document may have been preferred.
    pub(super) fn has_unread_dates(&self, read: &CollectionSummary) -> bool {
        let dated = self.config.keep.field_rules().filter(|compared| compared.rule.is_by_date());
        dated.map(|compared| unread_count(read, compared)).any(|unread| unread > 0)
    }

    /// Returns a note about the values that the rule `compared` cannot use as dates or numbers, with the first of these
    /// values. `None` if there are no such values. `consequence` is the end of the sentence for the case that no
    /// document has a usable date.
    fn note_unread(
        &self,
        compared: FieldRule,
        input: &Input<'_>,
        read: &CollectionSummary,
        consequence: &str,
    ) -> Option<String> {
        let unread = read.unread_values(compared.key)?;
        let (row, value) = unread.first.as_ref()?;
        let place = read.ids.place(DocOrdinal(*row));
        let file = path_text(input.collection.file_name(place.file as usize));
        let example =
            format!("for example \"{}\" in record {} of {file}", quoted(value), place.record);
        let documents = read.ids.len() as u64;
        let missing = read.without_preference(compared.key);
        if compared.rule.is_by_date() {
            let count = counted(unread.count, "date");
            let is = if unread.count == 1 { "is" } else { "are" };
            let rest = if missing == documents {
                format!("no document has a date that is understood; {consequence}")
            } else {
                "documents with a date that is understood were preferred".to_owned()
            };
            return Some(format!(
                "{count} {is} not understood, {example}; {rest}. Write dates as 2026-01-31"
            ));
        }
        let fields: Vec<&DocumentField> = self.config.fields.iter().collect();
        let name = fields[compared.field].name.as_deref().unwrap_or_default();
        let count = counted(unread.count, "value");
        let are = if unread.count == 1 { "is no number" } else { "are no numbers" };
        let rest = if unread.count + missing == documents {
            "texts were compared by their bytes"
        } else {
            "documents with a number were preferred"
        };
        Some(format!("{count} of {name} {are}, {example}; {rest}"))
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
            if let Some(name) = numbered[number].name.as_deref() {
                Input::refuse_missing_field(numbered[number].setting, name, &[inputs.first()])?;
            }
        }
        if let Some(by) =
            self.config.by.filter(|by| lacks_source(inputs.first(), read.first(), *by))
        {
            self.refuse_missing_value("by", by, inputs.first())?;
        }
        let Some(Scope { relation, value }) = self.config.scope else { return Ok(()) };
        // Both collections of a match need the value, since documents without it are never compared.
        let mut lacking = inputs.iter().zip(read.iter()).filter(|(_, read)| lacks_scope(read));
        lacking.try_for_each(|(input, _)| self.refuse_missing_value(relation.name(), value, input))
    }

    /// Reports why no document of `input` has the value `value`, for example a field or a host, that the option
    /// `setting` names. Returns an error, or `Ok` if records have the field but it is empty in all of them.
    fn refuse_missing_value(
        &self,
        setting: &'static str,
        value: ScopeValue,
        input: &Input<'_>,
    ) -> Result<()> {
        let name = value.written(&self.config.fields);
        match value {
            ScopeValue::Field(_) => Input::refuse_missing_field(setting, name, &[input]),
            ScopeValue::Host => {
                let rule =
                    "no document has a URI as its ID: name the field of the URI with `id_field`";
                Err(Error::config(setting, name, rule))
            }
            ScopeValue::File | ScopeValue::Folder => Ok(()),
        }
    }

    /// Returns sentences about fields that are empty in all documents, so that the rules on them decided nothing. Also
    /// returns sentences about values that a rule cannot use.
    pub(super) fn notes_about_fields(
        &self,
        inputs: &Sides<Input<'_>>,
        read: &Sides<CollectionSummary>,
    ) -> Vec<String> {
        let numbered: Vec<&DocumentField> = self.config.fields.iter().collect();
        let only = self.config.keep.only_rule().is_some();
        let consequence = if only { "the first ones were kept" } else { "the other rules decided" };
        let rules: Vec<FieldRule> = self.config.keep.field_rules().collect();
        let unread = rules.iter().filter_map(|&compared| {
            self.note_unread(compared, inputs.first(), read.first(), consequence)
        });
        // A field with values that a rule cannot use is not empty.
        let is_unread = |number: usize| {
            let mut rules = rules.iter().filter(|compared| compared.field == number);
            rules.any(|&compared| unread_count(read.first(), compared) > 0)
        };
        let empty = self.empty_preferences(read.first()).into_iter();
        let empty = empty.filter(|(number, is_listed)| *is_listed || !is_unread(*number));
        let notes = empty.map(|(number, is_listed)| match numbered[number].name.as_deref() {
            Some(name) if is_listed => {
                format!("no document has a preferred value of {name}; {consequence}")
            }
            Some(name) => format!("the field {name} is empty everywhere; {consequence}"),
            None => format!(
                "no document has a date that is understood, such as 2026-01-31; {consequence}"
            ),
        });
        let mut notes: Vec<String> = unread.chain(notes).collect();
        if let Some(scope) = self.config.scope.filter(|_| read.iter().any(lacks_scope)) {
            let name = scope.value.written(&self.config.fields);
            notes.push(format!("the field {name} is empty everywhere; no documents were compared"));
        }
        notes
    }

    /// Returns the indexes of fields that were to decide which documents are kept, but that have no usable value in any
    /// document. For each of these fields, also returns whether it belongs to the option `prefer`, which lists
    /// preferred values.
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

/// Returns the number of documents whose value the rule `compared` cannot use as a date or a number.
fn unread_count(read: &CollectionSummary, compared: FieldRule) -> u64 {
    read.unread_values(compared.key).map_or(0, |unread| unread.count)
}

/// Returns whether all documents of a collection lack the value `by`, such as a field or the host, that names the
/// source of a document. Returns false if there are no documents.
fn lacks_source(input: &Input<'_>, read: &CollectionSummary, by: ScopeValue) -> bool {
    let lacks = |row: u32| {
        let file = read.ids.place(DocOrdinal(row)).file as usize;
        read.source(row, input.collection.file_name(file), by).is_none()
    };
    !read.ids.is_empty() && (0..read.ids.len() as u32).all(lacks)
}

/// Returns whether no document of a collection has the value that decides which other documents it is compared with.
fn lacks_scope(read: &CollectionSummary) -> bool {
    let documents = read.ids.len() as u64;
    documents > 0 && read.without_scope() == documents
}
