//! The values of documents that decide which of them are compared, and which are kept.

use super::keep_order::{FieldRule, KeepOrder};
use super::scope::{NO_VALUE, Relation, Scope, ScopeValue};
use super::stored_bytes::{BytesReader, BytesWriter};
use super::unread_values::UnreadValues;
use simtool_base::stable_hash::mix;
use simtool_model::document::Document;
use simtool_model::field_value::FieldValue;
use simtool_model::title_words::{PageName, TitleWords};
use std::cmp::Ordering;
use std::path::Path;

/// Settings that select the values of documents to collect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedTraits<'w> {
    /// Rules that choose which of several near-duplicates is kept. The values that they compare are collected. `None`
    /// if no document is chosen.
    pub(crate) keep: Option<&'w KeepOrder>,
    /// Selects the documents that are compared with each other. `None` if all documents are compared.
    pub(crate) scope: Option<Scope>,
    /// Value that names the source of a document. Removals are counted for each source. It is collected only if it is a
    /// field, because files, folders and hosts are found from the names of documents.
    pub(crate) source: Option<ScopeValue>,
    /// Whether two rules apply to pages. Pages with few own words are compared only with pages that have the same own
    /// words. Two pages of a site whose titles both have own words are compared only if they have one in common. Own
    /// words are those that few pages of the site have.
    pub(crate) own_words: bool,
    /// Whether the [facts about texts](super::text_facts::TextFacts) are collected.
    pub(crate) text_facts: bool,
    /// Whether the bytes of the records are not hashed, because [no copies](super::config::Config::has_no_copies) of the
    /// input are written.
    pub(crate) has_no_copies: bool,
}

/// Values of documents that settings use, such as `keep` and `within`.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentTraits {
    /// For each rule that chooses kept documents, the value of each document. A rule that compares no field has
    /// no values.
    preferences: Vec<Vec<FieldValue>>,
    /// For each rule that chooses kept documents, the values that it cannot use, such as texts that are no dates. The
    /// list may be shorter than the list of rules. Then the last rules have no such values.
    unread: Vec<UnreadValues>,
    /// For each document, the hash of the value that decides which other documents it is compared with. Empty if all
    /// documents are compared with each other.
    scope_values: Vec<u64>,
    /// For each document, the own words of its title, which few titles of the same site have. Empty unless own words
    /// are compared.
    names: Vec<PageName>,
    /// For each document, the value of the field that is its source. Empty if the source is not a field.
    sources: Vec<FieldValue>,
}

impl WantedTraits<'_> {
    /// Settings that collect no values.
    pub(crate) const NONE: Self = Self {
        keep: None,
        scope: None,
        source: None,
        own_words: false,
        text_facts: false,
        has_no_copies: false,
    };

    /// Returns the hash of the value, for example the language, that decides which other documents `document` is
    /// compared with. Returns `None` if it is compared with all documents. The document is in `file`.
    fn scope_value(self, document: &Document<'_>, file: &Path) -> Option<u64> {
        let value = self.scope.map(|scope| scope.hash_of(document, file));
        match self.scope {
            // Documents with different values are compared, so different own words would say nothing.
            Some(Scope { relation: Relation::Across, .. }) => value,
            _ if !self.own_words || value == Some(NO_VALUE) => value,
            _ => {
                // All documents with enough own words are compared with each other.
                let own = document.few_own.unwrap_or_default();
                Some(mix(value.unwrap_or_default() ^ own) | 1)
            }
        }
    }
}

impl DocumentTraits {
    /// Appends the values of `document` that `wanted` selects. The document is in `file`.
    pub(super) fn push(&mut self, wanted: WantedTraits<'_>, document: &Document<'_>, file: &Path) {
        for (number, value) in
            wanted.keep.iter().flat_map(|keep| keep.values(&document.fields)).enumerate()
        {
            // The first document of a shard creates the lists.
            if number == self.preferences.len() {
                self.preferences.push(Vec::new());
            }
            self.preferences[number].extend(value);
        }
        for FieldRule { key, rule, field } in wanted.keep.iter().flat_map(|keep| keep.field_rules())
        {
            if let (Some(bytes), Some((value, before))) =
                (document.fields[field], self.preferences[key].split_last())
                && rule.is_unread(value)
            {
                let rules = self.unread.len().max(key + 1);
                self.unread.resize_with(rules, UnreadValues::default);
                self.unread[key].push(before.len() as u32, bytes);
            }
        }
        self.scope_values.extend(wanted.scope_value(document, file));
        if wanted.own_words {
            self.names.push(document.name.copied().unwrap_or_default());
        }
        // Files, folders and hosts are found from the names of documents when they are needed.
        if let Some(ScopeValue::Field(number)) = wanted.source {
            let source = document.fields[number];
            self.sources.push(source.map_or(FieldValue::Missing, |s| FieldValue::Text(s.into())));
        }
    }

    /// Appends the values to `out`.
    pub(super) fn store(&self, out: &mut BytesWriter) {
        out.number(self.preferences.len() as u64);
        for values in &self.preferences {
            store_values(values, out);
        }
        out.number(self.unread.len() as u64);
        for unread in &self.unread {
            unread.store(out);
        }
        out.numbers(self.scope_values.iter().copied());
        out.number(self.names.len() as u64);
        for name in &self.names {
            out.number(name.site);
            let words: Vec<u64> = name.words.numbers().map(u64::from).collect();
            out.numbers(words.into_iter());
        }
        store_values(&self.sources, out);
    }

    /// Reads the values that [`store`](Self::store) has appended. Returns `None` if the bytes do not begin with such
    /// values.
    pub(super) fn restore(from: &mut BytesReader<'_>) -> Option<Self> {
        let preferences = from.list(|from| from.list(restore_value))?;
        let unread = from.list(UnreadValues::restore)?;
        let scope_values = from.list(BytesReader::number)?;
        let names = from.list(|from| {
            let site = from.number()?;
            let words = TitleWords::from_numbers(&from.list(BytesReader::short_number)?);
            Some(PageName { site, words })
        })?;
        let sources = from.list(restore_value)?;
        Some(Self { preferences, unread, scope_values, names, sources })
    }

    /// Appends the values of the documents that follow these documents.
    pub(super) fn append(&mut self, mut more: Self) {
        // The values of a rule that compares a field are in a list that has a value of each document.
        let rows = self.preferences.iter().map(Vec::len).max().unwrap_or(0);
        let rules = self.unread.len().max(more.unread.len());
        self.unread.resize_with(rules, UnreadValues::default);
        for (unread, more) in self.unread.iter_mut().zip(more.unread.drain(..)) {
            unread.append(rows as u32, more);
        }
        // A shard without documents has no lists.
        let missing = more.preferences.len().saturating_sub(self.preferences.len());
        self.preferences.extend(std::iter::repeat_with(Vec::new).take(missing));
        for (values, more) in self.preferences.iter_mut().zip(&mut more.preferences) {
            values.append(more);
        }
        self.scope_values.append(&mut more.scope_values);
        self.names.append(&mut more.names);
        self.sources.append(&mut more.sources);
    }

    /// Returns the number of bytes of memory that the values take.
    pub(super) fn bytes(&self) -> u64 {
        let of_value = |value: &FieldValue| match value {
            FieldValue::Text(text) => size_of_val(value) + text.len(),
            _ => size_of_val(value),
        };
        let values = self.preferences.iter().flatten().chain(&self.sources);
        let of_rows = size_of_val(&self.scope_values[..]) + size_of_val(&self.names[..]);
        (values.map(of_value).sum::<usize>() + of_rows) as u64
    }

    /// Compares documents number `a` and `b`. `Less` means that `a` is preferred. `lengths` has the length of
    /// each text.
    pub(super) fn prefer(&self, keep: &KeepOrder, lengths: &[u32], a: u32, b: u32) -> Ordering {
        let value = |row: u32, index: usize| &self.preferences[index][row as usize];
        let lengths = [a, b].map(|row| lengths[row as usize]);
        keep.compare(lengths, [a, b], |index| [value(a, index), value(b, index)])
    }

    /// Returns the number of documents without a value for the rule with index `index`.
    pub(super) fn without_preference(&self, index: usize) -> u64 {
        self.preferences(index).iter().filter(|value| **value == FieldValue::Missing).count() as u64
    }

    /// Returns the value of each document for the rule with index `index`. Empty if there are no documents.
    pub(super) fn preferences(&self, index: usize) -> &[FieldValue] {
        self.preferences.get(index).map_or(&[], Vec::as_slice)
    }

    /// Returns the values that the rule with index `index` cannot use. `None` if there are none.
    pub(super) fn unread(&self, index: usize) -> Option<&UnreadValues> {
        self.unread.get(index).filter(|unread| unread.count > 0)
    }

    /// Returns the number of documents that are compared with no other document, because they lack the value that the
    /// option `within` or `across` needs.
    pub(super) fn without_scope(&self) -> u64 {
        self.scope_values.iter().filter(|&&value| value == NO_VALUE).count() as u64
    }

    /// Returns the value of the field that is the source of document number `row`. `None` if the document lacks the
    /// field.
    pub(super) fn source(&self, row: u32) -> Option<&[u8]> {
        match self.sources.get(row as usize)? {
            FieldValue::Text(source) => Some(source),
            _ => None,
        }
    }

    /// Returns for each document the hash of the value, for example the language, that decides which other documents it
    /// is compared with.
    pub(crate) fn scope_values(&self) -> &[u64] {
        &self.scope_values
    }

    /// Returns the own words of the title of each document, which few titles of the same site have. Empty if own words
    /// are not compared.
    pub(crate) fn names(&self) -> &[PageName] {
        &self.names
    }
}

/// Appends a list of values of fields to `out`.
fn store_values(values: &[FieldValue], out: &mut BytesWriter) {
    out.number(values.len() as u64);
    for value in values {
        store_value(value, out);
    }
}

/// Appends the value of a field to `out`.
fn store_value(value: &FieldValue, out: &mut BytesWriter) {
    match value {
        FieldValue::Missing => out.number(0),
        // The conversion keeps all bits.
        FieldValue::Integer(number) => {
            out.number(1);
            out.number(number.cast_unsigned());
        }
        FieldValue::Decimal(number) => {
            out.number(2);
            out.number(number.to_bits());
        }
        FieldValue::Text(text) => {
            out.number(3);
            out.bytes(text);
        }
    }
}

/// Reads the value of a field that [`store_value`] has appended.
fn restore_value(from: &mut BytesReader<'_>) -> Option<FieldValue> {
    Some(match from.number()? {
        0 => FieldValue::Missing,
        1 => FieldValue::Integer(from.number()?.cast_signed()),
        2 => FieldValue::Decimal(f64::from_bits(from.number()?)),
        3 => FieldValue::Text(from.bytes()?.into()),
        _ => return None,
    })
}
