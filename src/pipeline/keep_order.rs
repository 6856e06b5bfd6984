//! The options `keep` and `prefer`: rules that choose the kept document of several near-duplicates. Each rule decides
//! only between documents that are equal by the rules before it.

use super::document_fields::DocumentFields;
use super::keep_rule::Keep;
use simtool_base::error::{Error, Result};
use simtool_base::options::{Choice, Options};
use simtool_model::document::FieldValues;
use simtool_model::field_value::FieldValue;
use std::cmp::Ordering;

/// Rules that choose the kept document, in the order in which they are applied. The first of the documents that
/// are equal by all rules is kept.
///
/// ```
/// use simtool::options::Options;
/// use simtool::{Config, Keep};
///
/// let mut options = Options::new();
/// options.set("keep", "max:score,longest");
/// let config = Config::parse(&mut options)?;
/// assert_eq!(config.keep.written(&config.fields), "max:score,longest");
/// assert_eq!(Config::default().keep, Keep::First.into());
/// # Ok::<(), simtool::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeepOrder {
    keys: Vec<KeepKey>,
}

/// A rule of a [`KeepOrder`].
#[derive(Clone, Debug, PartialEq, Eq)]
enum KeepKey {
    /// A rule of the option `keep`. `field` is the index of the field that the rule compares. It has no meaning if the
    /// rule compares no field.
    Rule { rule: Keep, field: usize },
    /// A rule of the option `prefer`. Documents are ordered by the index of their field's value in `values`. Documents
    /// with other values, or without one, come last.
    Listed { field: usize, values: Vec<String> },
}

/// A rule of a [`KeepOrder`] that compares the dates or the numbers of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldRule {
    /// Index of the rule among all rules of the [`KeepOrder`].
    pub(crate) key: usize,
    pub(crate) rule: Keep,
    /// Index of the field among the fields that the run reads of each document.
    pub(crate) field: usize,
}

impl From<Keep> for KeepOrder {
    /// Creates the order with one rule. If the rule compares a field, it compares the field with index 0.
    fn from(rule: Keep) -> Self {
        let is_first = rule == Keep::First;
        Self { keys: if is_first { Vec::new() } else { vec![KeepKey::Rule { rule, field: 0 }] } }
    }
}

impl KeepOrder {
    /// Takes the options `keep` and `prefer` out of `options`. Adds the fields that they compare to `fields`.
    ///
    /// # Errors
    ///
    /// A rule does not exist or has no effect, or there are too many fields.
    pub(super) fn parse(options: &mut Options, fields: &mut DocumentFields) -> Result<Self> {
        let mut keys = Vec::new();
        // The option `prefer` is applied before all rules of `keep`, wherever it is in the command line.
        if let Some(given) = options.take("prefer") {
            keys.push(listed(&given, fields)?);
        }
        let given = options.take("keep").unwrap_or_else(|| Keep::First.name().to_owned());
        let mut is_decided = false;
        for written in given.split(',') {
            if is_decided {
                let rule = "follows `keep` first or last, which decide every tie: leave it out";
                return Err(Error::config("keep", written, rule));
            }
            let (rule, field) = parse_rule(written, fields)?;
            is_decided = matches!(rule, Keep::First | Keep::Last);
            // Reading order decides last in any case, so the rule `first` needs no key.
            if rule != Keep::First {
                keys.push(KeepKey::Rule { rule, field });
            }
        }
        Ok(Self { keys })
    }

    /// Returns the only rule of this order. `None` if it has several rules or lists values.
    #[must_use]
    pub fn only_rule(&self) -> Option<Keep> {
        match self.keys[..] {
            [] => Some(Keep::First),
            [KeepKey::Rule { rule, .. }] => Some(rule),
            _ => None,
        }
    }

    /// Returns the rules as text for the option `keep`, for example `max:score,longest`. `fields` has the names of the
    /// fields.
    #[must_use]
    pub fn written(&self, fields: &DocumentFields) -> String {
        let rules = self.keys.iter().filter_map(|key| match key {
            KeepKey::Rule { rule, field } => {
                let name = fields.name(*field).filter(|_| rule.is_by_field());
                let of_field = |name: &str| format!("{}:{}", rule.name(), name.replace(',', "|"));
                Some(name.map_or(rule.name().to_owned(), of_field))
            }
            KeepKey::Listed { .. } => None,
        });
        let rules: Vec<String> = rules.collect();
        if rules.is_empty() { Keep::First.name().to_owned() } else { rules.join(",") }
    }

    /// Returns the preferred values as text for the option `prefer`, for example `source=wiki,news`. `None` if no rule
    /// prefers listed values.
    #[must_use]
    pub(crate) fn written_values(&self, fields: &DocumentFields) -> Option<String> {
        self.keys.iter().find_map(|key| match key {
            KeepKey::Listed { field, values } => {
                Some(format!("{}={}", fields.name(*field)?, values.join(",")))
            }
            KeepKey::Rule { .. } => None,
        })
    }

    /// Checks that each rule that compares a field can find its values. A rule can name its field itself. If `is_given`
    /// is true, the caller gives the values of one field together with the texts. Then one rule must name no field, and
    /// it compares these values. Rules that compare dates need no field if `finds_dates` is true.
    ///
    /// # Errors
    ///
    /// The given values are not needed, or a rule that needs a field names none.
    pub fn check_field(
        &self,
        is_given: bool,
        finds_dates: bool,
        fields: &DocumentFields,
    ) -> Result<()> {
        // Rules that name their field themselves do not need the option.
        let by_field = self.keys.iter().find_map(|key| match key {
            KeepKey::Rule { rule, field }
                if rule.is_by_field() && fields.name(*field).is_none() =>
            {
                Some(*rule)
            }
            _ => None,
        });
        match by_field {
            Some(rule) if rule.is_by_date() && finds_dates => Ok(()),
            Some(rule) if !is_given && rule.is_by_date() => {
                let needed = "needs the field of the dates here, as in newest:date";
                Err(Error::config("keep", rule.name(), needed))
            }
            Some(rule) if !is_given => {
                let needed = format!("needs a field, as in {}:score", rule.name());
                Err(Error::config("keep", self.written(fields), needed))
            }
            None if is_given => {
                let rule = "compares no values that are given together with the texts";
                Err(Error::config("keep", self.written(fields), rule))
            }
            _ => Ok(()),
        }
    }

    /// Returns the rules that compare the dates or the numbers of a field.
    pub(crate) fn field_rules(&self) -> impl Iterator<Item = FieldRule> {
        self.keys.iter().enumerate().filter_map(|(key, rule)| match *rule {
            KeepKey::Rule { rule, field } if rule.is_by_field() => {
                Some(FieldRule { key, rule, field })
            }
            _ => None,
        })
    }

    /// Returns the first rule that compares dates.
    pub(crate) fn date_rule(&self) -> Option<FieldRule> {
        self.field_rules().find(|compared| compared.rule.is_by_date())
    }

    /// Returns for each rule the index of the field that it compares, and whether it is a rule of the option `prefer`,
    /// which lists values. The entry is `None` for a rule that compares no field.
    pub(crate) fn key_fields(&self) -> impl Iterator<Item = Option<(usize, bool)>> {
        self.keys.iter().map(|key| Some((key.field()?, matches!(key, KeepKey::Listed { .. }))))
    }

    /// Returns for each rule the value of a document that the rule compares. `None` for a rule that compares no field.
    /// `fields` are the values of the fields of the document.
    pub(super) fn values<'v>(
        &'v self,
        fields: &'v FieldValues<'v>,
    ) -> impl Iterator<Item = Option<FieldValue>> + 'v {
        self.keys.iter().map(|key| Some(key.value(fields[key.field()?])))
    }

    /// Compares two documents. `Less` means that the first one is preferred. `lengths` are the lengths of their texts,
    /// and `rows` are their numbers in reading order. `values` gets the index of a rule, and returns the value of each
    /// document that the rule compares.
    pub(super) fn compare<'v>(
        &self,
        lengths: [u32; 2],
        rows: [u32; 2],
        values: impl Fn(usize) -> [&'v FieldValue; 2],
    ) -> Ordering {
        let [a, b] = rows;
        let mut by_keys = self.keys.iter().enumerate().map(|(index, key)| match key {
            KeepKey::Rule { rule: Keep::First, .. } => a.cmp(&b),
            KeepKey::Rule { rule: Keep::Last, .. } => b.cmp(&a),
            KeepKey::Rule { rule: Keep::Longest, .. } => lengths[1].cmp(&lengths[0]),
            KeepKey::Rule { rule, .. } => {
                let [a, b] = values(index);
                rule.compare(a, b)
            }
            KeepKey::Listed { .. } => {
                let [a, b] = values(index);
                a.compare(b)
            }
        });
        // If documents are equal by all rules, the earlier one comes first. So the order is total, and the result
        // does not depend on threads.
        by_keys.find(|order| order.is_ne()).unwrap_or_else(|| a.cmp(&b))
    }
}

impl KeepKey {
    fn field(&self) -> Option<usize> {
        match self {
            Self::Rule { rule, field } => rule.is_by_field().then_some(*field),
            Self::Listed { field, .. } => Some(*field),
        }
    }

    /// Converts the bytes of a field to the value that this rule compares. `None` means that the document lacks the
    /// field.
    fn value(&self, bytes: Option<&[u8]>) -> FieldValue {
        match self {
            Self::Rule { rule, .. } => rule.value(bytes),
            Self::Listed { values, .. } => {
                let mut listed = (0..).zip(values);
                let place = listed.find(|(_, value)| Some(value.as_bytes()) == bytes);
                place.map_or(FieldValue::Missing, |(place, _)| FieldValue::Integer(place))
            }
        }
    }
}

/// Parses a rule of the option `keep`, such as `longest` or `max:score`. Returns the rule and the index of its field in
/// `fields`, which is extended if needed.
fn parse_rule(written: &str, fields: &mut DocumentFields) -> Result<(Keep, usize)> {
    let (name, field) = match written.split_once(':') {
        Some((name, field)) => (name, Some(field)),
        None => (written, None),
    };
    let Some(&rule) = Keep::ALL.iter().find(|rule| rule.name() == name) else {
        let known: Vec<&str> = Keep::ALL.iter().map(|rule| rule.name()).collect();
        let expected = format!("must be one of {}", known.join(", "));
        return Err(Error::config("keep", written, expected));
    };
    match (field, rule.is_by_field()) {
        (None, false) => Ok((rule, 0)),
        (None, true) => Ok((rule, fields.number_of("keep_field", None)?)),
        (Some(""), true) => Err(Error::config("keep", written, "names no field behind the colon")),
        // A comma already separates rules. So a bar separates fields. The first field that a record has is compared.
        (Some(field), true) => {
            Ok((rule, fields.number_of("keep", Some(&field.replace('|', ",")))?))
        }
        (Some(_), false) => {
            let rule = "has a field, but only newest, oldest, max and min compare one";
            Err(Error::config("keep", written, rule))
        }
    }
}

/// Parses the option `prefer`, such as `source=wiki,news`.
fn listed(written: &str, fields: &mut DocumentFields) -> Result<KeepKey> {
    let parts = written.split_once('=').map(|(field, values)| (field, values.split(',')));
    let Some((field, values)) = parts.filter(|(field, _)| !field.is_empty()) else {
        let rule = "must be a field and its preferred values, such as source=wiki,news";
        return Err(Error::config("prefer", written, rule));
    };
    let values: Vec<String> = values.map(str::to_owned).collect();
    let mut sorted: Vec<&str> = values.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    // A value that is listed twice would have two places in the order.
    if sorted[0].is_empty() || sorted.windows(2).any(|two| two[0] == two[1]) {
        let rule = "must list different values, none of them empty";
        return Err(Error::config("prefer", written, rule));
    }
    Ok(KeepKey::Listed { field: fields.number_of("prefer", Some(field))?, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(keep: &str, prefer: Option<&str>) -> Result<(KeepOrder, DocumentFields)> {
        let mut options = Options::new();
        options.set("keep", keep);
        if let Some(prefer) = prefer {
            options.set("prefer", prefer);
        }
        let mut fields = DocumentFields::default();
        Ok((KeepOrder::parse(&mut options, &mut fields)?, fields))
    }

    #[test]
    fn rules_are_parsed_and_written() {
        for written in
            ["first", "last", "max", "max:score,longest,last", "newest,min:a.b", "newest:a|b"]
        {
            let (order, fields) = parsed(written, None).unwrap();
            assert_eq!(order.written(&fields), written);
            assert_eq!(order.written_values(&fields), None);
        }
        let (order, fields) = parsed("longest,first", Some("lang=en,de")).unwrap();
        assert_eq!(order.written(&fields), "longest");
        assert_eq!(order.written_values(&fields).as_deref(), Some("lang=en,de"));
        assert_eq!(parsed("longest", None).unwrap().0, Keep::Longest.into());
        let (_, fields) = parsed("max:a,min:b,max:a,newest", Some("b=1")).unwrap();
        let names: Vec<_> = fields.iter().map(|field| field.name.as_deref()).collect();
        assert_eq!(names, [Some("b"), Some("a"), None]);
    }

    #[test]
    fn each_rule_decides_the_ties_of_the_rules_before_it() {
        let documents = [
            // Language, score and length.
            ("de", "2", 5),
            ("en", "1", 5),
            ("fr", "9", 9),
            ("en", "10", 5),
            ("", "10", 7),
            ("en", "10", 7),
            ("en", "", 9),
        ];
        let sorted = |keep: &str, prefer: Option<&str>| {
            let (order, fields) = parsed(keep, prefer).unwrap();
            let number = |name: &str| fields.iter().position(|f| f.name.as_deref() == Some(name));
            let values: Vec<Vec<FieldValue>> = documents
                .iter()
                .map(|(language, score, _)| {
                    let mut values = FieldValues::default();
                    for (name, value) in [("lang", *language), ("score", *score)] {
                        if let Some(number) = number(name).filter(|_| !value.is_empty()) {
                            values[number] = Some(value.as_bytes());
                        }
                    }
                    let values = order.values(&values);
                    values.map(|value| value.unwrap_or(FieldValue::Missing)).collect()
                })
                .collect();
            let mut rows: Vec<u32> = (0..documents.len() as u32).collect();
            rows.sort_by(|&a, &b| {
                let lengths = [a, b].map(|row| documents[row as usize].2);
                let of = |row: u32, index: usize| &values[row as usize][index];
                order.compare(lengths, [a, b], |index| [of(a, index), of(b, index)])
            });
            rows
        };
        assert_eq!(sorted("max:score,longest", None), [4, 5, 3, 2, 0, 1, 6]);
        assert_eq!(sorted("longest,last", None), [6, 2, 5, 4, 3, 1, 0]);
        assert_eq!(sorted("first", Some("lang=en,de")), [1, 3, 5, 6, 0, 2, 4]);
        assert_eq!(sorted("max:score,last", Some("lang=de,en")), [0, 5, 3, 1, 6, 4, 2]);
    }

    #[test]
    fn wrong_rules_are_refused() {
        for (keep, prefer, expected) in [
            ("max:a,b", None, "keep b: must be one of first, last"),
            ("", None, "keep : must be one of"),
            ("first,longest", None, "keep longest: follows `keep` first or last"),
            ("longest:a", None, "keep longest:a: has a field"),
            ("max:", None, "keep max:: names no field"),
            ("first", Some("lang"), "prefer lang: must be a field and its preferred values"),
            ("first", Some("=a"), "prefer =a: must be a field"),
            ("first", Some("a="), "prefer a=: must list different values"),
            ("first", Some("a=b,b"), "prefer a=b,b: must list different values"),
            ("max:a,max:b,max:c,max:d,max:e", None, "keep e: is one field too many"),
        ] {
            let error = parsed(keep, prefer).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn the_option_for_the_field_is_needed_by_rules_without_a_name() {
        for (keep, is_given, finds_dates, is_right) in [
            ("max", true, false, true),
            ("max", false, true, false),
            ("max:a", false, false, true),
            ("max:a", true, false, false),
            ("longest,max", true, false, true),
            ("newest", false, true, true),
            ("newest", true, true, true),
            ("newest", false, false, false),
            ("first", true, true, false),
        ] {
            let (order, fields) = parsed(keep, None).unwrap();
            let checked = order.check_field(is_given, finds_dates, &fields);
            assert_eq!(checked.is_ok(), is_right, "{keep}");
        }
    }
}
