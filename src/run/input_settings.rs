//! Settings for reading documents, shared by all commands that read documents.

use crate::index::SelectionDigests;
use crate::setting::OnError;
use crate::write::summary::Setting;
use simtool_base::byte_text::path_text;
use simtool_base::error::{Error, Result};
use simtool_base::mapped_file::FileAccess;
use simtool_base::memory_turns::MemoryTurns;
use simtool_base::options::{Choice, Options};
use simtool_base::quantity::{BYTES_EXPECTED, parse_bytes};
use simtool_base::stable_hash::hash;
use simtool_base::utc_time::UtcTime;
use simtool_compute::resources::Resources;
use simtool_read::remote::without_credentials;
use simtool_read::selection::Selection;
use simtool_read::{
    Format, NamedDialect, PageContent, Quote, ReadOptions, Selector, TextEncoding, TextSplit,
};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Settings for reading documents, and for selecting the documents that are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSettings {
    /// File that lists more paths; `-` is standard input.
    pub files_from: Option<PathBuf>,
    /// Patterns that choose the files to read in folders. A pattern after `!` excludes files.
    pub glob: Vec<String>,
    /// Whether hidden files and folders inside folders are read.
    pub hidden: bool,
    /// Format of every file. If `None`, each format is recognized by content and name.
    pub format: Option<Format>,
    /// Division of plain-text files into documents.
    pub split: TextSplit,
    /// Encoding of texts that do not declare theirs.
    pub encoding: TextEncoding,
    /// Part of an HTML page whose text is the document.
    pub content: PageContent,
    /// Characters with a meaning in CSV and TSV files, such as the delimiter. Characters that the user did not choose
    /// are recognized from the first rows.
    pub dialect: NamedDialect,
    /// Fields of the text, if the user named any.
    pub text_field: Option<String>,
    /// Name of the option that names the fields of the text, for error messages. It is `text_field` in most commands.
    pub text_setting: &'static str,
    /// Field of the ID, if the user named one.
    pub id_field: Option<String>,
    /// Minimum number of tokens of a document. Shorter documents are kept but not compared.
    pub min_tokens: usize,
    /// Maximum number of bytes of text of a document. Longer documents are kept but not compared.
    pub max_bytes: Option<u64>,
    /// Fraction of the documents that is compared, from 0 to 1. `None` means all.
    pub sample: Option<f64>,
    /// Number of compared documents after which reading stops. `None` means no limit.
    pub limit: Option<u64>,
    /// Treatment of records and files that cannot be read.
    pub on_error: OnError,
    /// Maximum number of bytes of a record. A larger record is bad.
    pub max_record: u64,
    /// Maximum ratio of unpacked to compressed bytes of a file, after its first GiB. Beyond it, reading the
    /// file stops.
    pub max_expansion: u64,
    /// Maximum size of the window of a Zstandard file, as the logarithm to base 2: 27 means 128 MiB.
    pub zstd_window_log: u32,
    /// Whether objects in stores are fetched without credentials.
    pub anonymous: bool,
    /// Maximum number of bytes of the temporary file for data that is fetched from remote stores. `None` means no
    /// limit.
    pub spool_size: Option<u64>,
}

impl Default for InputSettings {
    fn default() -> Self {
        let usual = ReadOptions::default();
        Self {
            files_from: None,
            glob: Vec::new(),
            hidden: false,
            format: None,
            split: usual.split,
            encoding: usual.encoding,
            content: usual.content,
            dialect: NamedDialect::default(),
            text_field: None,
            text_setting: "text_field",
            id_field: None,
            min_tokens: 0,
            max_bytes: None,
            sample: None,
            limit: None,
            on_error: OnError::Skip,
            max_record: usual.max_record_bytes as u64,
            max_expansion: usual.max_expansion,
            zstd_window_log: usual.zstd_window_log,
            anonymous: false,
            spool_size: None,
        }
    }
}

impl InputSettings {
    /// Returns the names and values of all settings, for a summary.
    pub(super) fn parameters(&self) -> Vec<(&'static str, Setting)> {
        let dialect = self.dialect_settings();
        let files_from = self.files_from.as_deref().map(without_credentials);
        let of_dialect = |wanted: &str| {
            let found = dialect.iter().find(|(name, _)| *name == wanted);
            Setting::text(found.map(|(_, value)| value.as_str()))
        };
        vec![
            ("files_from", Setting::text(files_from.as_deref().map(path_text))),
            ("glob", Setting::List(self.glob.clone())),
            ("hidden", Setting::Flag(self.hidden)),
            ("format", Setting::text(self.format.map(Format::name))),
            ("split", Setting::Text(self.split.name().to_owned())),
            ("encoding", Setting::Text(self.encoding.name().to_owned())),
            ("content", Setting::Text(self.content.name().to_owned())),
            ("delimiter", of_dialect("delimiter")),
            ("csv", of_dialect("csv")),
            ("no_header", Setting::Flag(self.dialect.no_header)),
            ("text_field", Setting::Text(self.text_field().to_owned())),
            ("id_field", Setting::Text(self.id_field().to_owned())),
            ("min_tokens", Setting::Count(self.min_tokens as u64)),
            ("max_bytes", Setting::count(self.max_bytes)),
            ("sample", self.sample.map_or(Setting::None, Setting::Number)),
            ("limit", Setting::count(self.limit)),
            ("on_error", Setting::Text(self.on_error.name().to_owned())),
            ("max_record", Setting::Count(self.max_record)),
            ("max_expansion", Setting::Count(self.max_expansion)),
            ("zstd_window_log", Setting::Count(self.zstd_window_log.into())),
        ]
    }

    /// Returns the names and values of the settings for CSV and TSV that the user gave.
    pub(super) fn dialect_settings(&self) -> Vec<(&'static str, String)> {
        let NamedDialect { delimiter, quote, escape, no_header } = self.dialect;
        let quote = quote.map(|quote| match quote {
            Quote::None => "quote=none".to_owned(),
            Quote::Char(byte) => format!("quote={}", shown(byte)),
        });
        let escape = escape.map(|byte| match byte {
            b'\\' => "escape=backslash".to_owned(),
            _ => format!("escape={}", shown(byte)),
        });
        let csv: Vec<String> = quote.into_iter().chain(escape).collect();
        let settings = [
            ("delimiter", delimiter.map(shown)),
            ("csv", (!csv.is_empty()).then(|| csv.join(","))),
            ("no_header", no_header.then(String::new)),
        ];
        settings.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Returns hashes of the settings that decide which documents of a file are added to an index, and how. The setting
    /// `limit` is left out, because the documents that are read before the limit are the same. `source` and `time` are
    /// those of the documents, if the user gave them.
    pub(crate) fn selection_digests(
        &self,
        source: Option<&str>,
        time: Option<UtcTime>,
    ) -> SelectionDigests {
        // Indexes store no digest for these settings. So they must stay the same even if a default changes.
        let usual = Self { content: PageContent::Main, ..Self::default() };
        let digest = |of: fn(&Self) -> String| {
            let text = of(self);
            (text != of(&usual)).then(|| hash(text.as_bytes()))
        };
        let id_field = self.id_field.as_deref();
        let is_usual = source.is_none() && time.is_none() && id_field.is_none();
        let arrival =
            (!is_usual).then(|| hash(format!("{source:?} {time:?} {id_field:?}").as_bytes()));
        SelectionDigests {
            reading: digest(Self::reading_text),
            choice: digest(Self::choice_text),
            arrival,
        }
    }

    /// Returns the settings that decide how files become documents, as a text.
    fn reading_text(&self) -> String {
        let Self { format, split, encoding, content, dialect, text_field, .. } = self;
        format!("{format:?} {split:?} {encoding:?} {dialect:?} {text_field:?} {content:?}")
    }

    /// Returns the settings that leave out some documents, as a text.
    fn choice_text(&self) -> String {
        let Self { min_tokens, max_bytes, sample, max_record, .. } = self;
        format!("{min_tokens} {max_bytes:?} {sample:?} {max_record}")
    }

    /// Creates the settings from the options for reading documents, and takes these out of `options`.
    ///
    /// ```
    /// use simtool::options::Options;
    /// use simtool::run::InputSettings;
    ///
    /// let mut options = Options::parse("text-field=body,max-record=2K")?;
    /// let settings = InputSettings::parse(&mut options)?;
    /// assert_eq!((settings.text_field(), settings.max_record), ("body", 2000));
    /// # Ok::<(), simtool::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A value is outside its range, or two settings contradict each other.
    pub fn parse(options: &mut Options) -> Result<Self> {
        let usual = Self::default();
        let whole = "must be a whole number";
        let settings = Self {
            files_from: options.take_path("files_from"),
            glob: options.take_all("glob"),
            hidden: options.take_flag("hidden")?,
            format: Self::parse_format(options)?,
            split: options.take_choice("split")?.unwrap_or_default(),
            encoding: encoding(options)?,
            content: options.take_choice("content")?.unwrap_or_default(),
            dialect: dialect(options)?,
            text_field: options.take("text_field"),
            text_setting: "text_field",
            id_field: options.take("id_field"),
            min_tokens: options.take_parsed("min_tokens", whole)?.unwrap_or(usual.min_tokens),
            max_bytes: bytes("max_bytes", options)?,
            sample: sample(options)?,
            limit: within("limit", 1..=u64::MAX, "must be a whole number from 1 on", options)?,
            on_error: options.take_choice("on_error")?.unwrap_or_default(),
            max_record: bytes("max_record", options)?.unwrap_or(usual.max_record),
            max_expansion: options
                .take_parsed("max_expansion", whole)?
                .unwrap_or(usual.max_expansion),
            zstd_window_log: window_log(options)?.unwrap_or(usual.zstd_window_log),
            anonymous: options.take_flag("anonymous")?,
            spool_size: bytes("spool_size", options)?,
        };
        // Each setting on its own is valid now, but some combinations are not.
        settings.check()?;
        Ok(settings)
    }

    /// Takes the option `format`, the name of a file format, out of `options`.
    ///
    /// # Errors
    ///
    /// No format has that name.
    pub(crate) fn parse_format(options: &mut Options) -> Result<Option<Format>> {
        options.take_named("format", &Format::named())
    }

    /// Returns an error if two settings contradict each other.
    fn check(&self) -> Result<()> {
        if self.split != TextSplit::File
            && let Some(format) = self.format.filter(|f| !f.is_plain())
        {
            let rule = "has no plain text, which `split` divides";
            return Err(Error::config("format", format, rule));
        }
        if let Some(field) = &self.id_field {
            refuse_joined("id_field", field)?;
        }
        Ok(())
    }

    /// Returns the fields or columns of the text, as the user wrote them.
    #[must_use]
    pub fn text_field(&self) -> &str {
        self.text_field.as_deref().unwrap_or("text")
    }

    /// Returns the field or column of the ID, as the user wrote it.
    #[must_use]
    pub fn id_field(&self) -> &str {
        self.id_field.as_deref().unwrap_or("id")
    }

    /// Returns the options for readers of files, which keep to the memory limit of `resources`. `access` says
    /// how files are opened.
    #[must_use]
    pub(crate) fn read_options(&self, access: FileAccess, resources: &Resources) -> ReadOptions {
        // A limit beyond the address space is the same as no limit.
        let address = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
        ReadOptions {
            format: self.format,
            split: self.split,
            encoding: self.encoding,
            content: self.content,
            dialect: self.dialect,
            text_field: self.text_field().into(),
            text_setting: self.text_setting,
            id_field: self.id_field().into(),
            max_record_bytes: address(self.max_record),
            max_expansion: self.max_expansion,
            zstd_window_log: self.zstd_window_log,
            selection: Selection {
                min_tokens: self.min_tokens,
                max_bytes: self.max_bytes.map_or(usize::MAX, address),
                sample: self.sample.unwrap_or(1.0),
                limit: self.limit.unwrap_or(u64::MAX),
            },
            access,
            turns: MemoryTurns::new(resources.memory, resources.threads),
            ..ReadOptions::default()
        }
    }
}

/// Returns an error if the selector `field` joins several fields, such as `a+b`. `setting` is an option for
/// a single value.
///
/// # Errors
///
/// The selector joins fields.
pub(super) fn refuse_joined(setting: &'static str, field: &str) -> Result<()> {
    if Selector::from(field).joins_fields() {
        let rule =
            "joins fields, which only `text_field` does; a plus sign in a name is written \\+";
        return Err(Error::config(setting, field, rule));
    }
    Ok(())
}

/// Takes the option `field`, a number of bytes such as `20K`, out of `options`.
fn bytes(field: &'static str, options: &mut Options) -> Result<Option<u64>> {
    let Some(given) = options.take(field) else { return Ok(None) };
    let bytes = parse_bytes(&given);
    bytes.map(Some).ok_or_else(|| Error::config(field, given, BYTES_EXPECTED))
}

/// Takes the option `field`, a whole number within `range`, out of `options`. If the value is wrong, the
/// error has the text `rule`.
fn within(
    field: &'static str,
    range: RangeInclusive<u64>,
    rule: &str,
    options: &mut Options,
) -> Result<Option<u64>> {
    match options.take_parsed(field, rule)? {
        Some(number) if !range.contains(&number) => Err(Error::config(field, number, rule)),
        number => Ok(number),
    }
}

fn window_log(options: &mut Options) -> Result<Option<u32>> {
    let rule = "must be from 10 to 31";
    let log = within("zstd_window_log", 10..=31, rule, options)?;
    // The range ends far below the greatest 32-bit number.
    Ok(log.map(|log| log as u32))
}

fn sample(options: &mut Options) -> Result<Option<f64>> {
    let rule = "must be a number from 0 to 1, such as 0.01";
    match options.take_parsed::<f64>("sample", rule)? {
        Some(share) if !(0.0..=1.0).contains(&share) => Err(Error::config("sample", share, rule)),
        share => Ok(share),
    }
}

fn encoding(options: &mut Options) -> Result<TextEncoding> {
    let Some(given) = options.take("encoding") else { return Ok(TextEncoding::Utf8) };
    let rule = "must be the name of an encoding, such as windows-1251, or detect";
    TextEncoding::from_label(&given).ok_or_else(|| Error::config("encoding", given, rule))
}

/// Takes the options `delimiter`, `csv` and `no_header` out of `options`.
fn dialect(options: &mut Options) -> Result<NamedDialect> {
    let delimiter = match options.take("delimiter").as_deref() {
        // A tab is hard to type in a shell, so it can be written as a word.
        Some("tab" | "\\t") => Some(b'\t'),
        given => character("delimiter", given, "or the word tab")?,
    };
    let no_header = options.take_flag("no_header")?;
    let csv = options.take("csv").unwrap_or_default();
    let mut dialect = NamedDialect { delimiter, no_header, ..NamedDialect::default() };
    for part in csv.split(',').filter(|part| !part.is_empty()) {
        // The words name characters that are hard to type, or that there is none.
        match part.split_once('=') {
            Some(("quote", "none")) => dialect.quote = Some(Quote::None),
            Some(("quote", given)) => {
                let quote = character("csv", Some(given), "or the word none, behind quote=")?;
                dialect.quote = quote.map(Quote::Char);
            }
            Some(("escape", "backslash")) => dialect.escape = Some(b'\\'),
            Some(("escape", given)) => {
                let rule = "or the word backslash, behind escape=";
                dialect.escape = character("csv", Some(given), rule)?;
            }
            _ => return Err(Error::config("csv", part, "must be quote=CHAR or escape=CHAR")),
        }
    }
    if dialect.escape.is_some() && dialect.quote == Some(Quote::None) {
        return Err(Error::config("csv", csv, "leaves nothing to escape"));
    }
    let used = dialect.quote.unwrap_or(Quote::Char(b'"'));
    let rule = "must be one ASCII character other than the quote";
    for (setting, byte) in [("delimiter", delimiter), ("csv", dialect.escape)] {
        if let Some(byte) = byte.filter(|byte| used == Quote::Char(*byte)) {
            return Err(Error::config(setting, shown(byte), rule));
        }
    }
    Ok(dialect)
}

/// Returns a character as text. A character that would not be visible becomes an escape, such as `\t`.
fn shown(byte: u8) -> String {
    char::from(byte).escape_debug().to_string()
}

/// Returns the ASCII character that the user gave as the value of `setting`. `None` if the user gave no value. If the
/// value is wrong, `also` is the end of the rule in the error message, for example "or the word tab".
fn character(setting: &'static str, given: Option<&str>, also: &str) -> Result<Option<u8>> {
    let Some(given) = given else { return Ok(None) };
    match given.as_bytes() {
        // A line end always ends a row.
        [byte] if byte.is_ascii() && !b"\r\n\0".contains(byte) => Ok(Some(*byte)),
        _ => {
            let rule = format!("must be one ASCII character, {also}");
            Err(Error::config(setting, given.escape_debug(), rule))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{Effect, READING};

    #[test]
    fn settings_are_parsed_by_their_names() {
        let list = "files_from=list,glob=*.txt,format=lines,split=lines,encoding=cp1251,sample=0.5,\
                    on_error=fail,zstd_window_log=30,delimiter=tab,csv=quote=none,keep=last";
        let mut options = Options::parse(list).unwrap();
        options.set("glob", "!b*");
        let settings = InputSettings::parse(&mut options).unwrap();
        assert_eq!(settings.glob, ["*.txt", "!b*"]);
        assert_eq!(
            (settings.format, settings.on_error),
            (Format::from_name("lines"), OnError::Fail)
        );
        assert_eq!((settings.split, settings.encoding.name()), (TextSplit::Lines, "windows-1251"));
        assert_eq!((settings.dialect.delimiter, settings.zstd_window_log), (Some(b'\t'), 30));
        assert_eq!(options.first(), Some(("keep", "last".into())));
        let usual = InputSettings::parse(&mut Options::new()).unwrap();
        assert_eq!(usual, InputSettings::default());
        assert_eq!(usual.max_record, 128 << 20);
        // Memory must not decide which records are documents.
        let little = InputSettings::parse(&mut Options::parse("max_memory=1M").unwrap()).unwrap();
        assert_eq!(little.max_record, usual.max_record);
    }

    #[test]
    fn indexes_know_the_settings_for_reading() {
        let digest = |options: &str| {
            let mut options = Options::parse(options).unwrap();
            InputSettings::parse(&mut options).unwrap().selection_digests(None, None).reading
        };
        assert_eq!(digest("content=main"), None);
        let all = digest("content=all");
        assert!(all.is_some() && all != digest("encoding=cp1251"));
        assert_ne!(digest("content=all,encoding=cp1251"), digest("encoding=cp1251"));
    }

    #[test]
    fn wrong_settings_are_named() {
        for (list, message) in [
            ("sample=2", "sample 2: must be a number from 0 to 1"),
            ("limit=0", "limit 0: must be a whole number from 1 on"),
            ("max_bytes=5X", "max_bytes 5X: expected a whole number of bytes"),
            ("format=docx", "format docx: must be one of warc, parquet, arrow, csv, "),
            ("format=jsonl,split=lines", "format jsonl: has no plain text"),
            ("split=pages", "split pages: must be one of file, lines, blank-lines"),
            ("encoding=morse", "encoding morse: must be the name of an encoding"),
            ("zstd_window_log=9", "zstd_window_log 9: must be from 10 to 31"),
            ("delimiter=\"", "delimiter \\\": must be one ASCII character"),
            ("csv=quote=ab", "csv ab: must be one ASCII character, or the word none"),
            ("csv=none", "csv none: must be quote=CHAR or escape=CHAR"),
            ("csv=escape=\"", "csv \\\": must be one ASCII character other than the quote"),
            ("id_field=a+b", "id_field a+b: joins fields, which only `text_field` does"),
            ("on_error=stop", "on_error stop: must be one of skip, fail"),
        ] {
            let error = InputSettings::parse(&mut Options::parse(list).unwrap()).unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
        }
    }

    #[test]
    fn rows_of_settings_have_the_defaults_of_their_parser_and_their_place_in_summaries() {
        let mut defaults = Options::new();
        for row in READING {
            if let Some(default) = row.default {
                defaults.set(row.name, default);
            }
        }
        let parsed = InputSettings::parse(&mut defaults).unwrap();
        assert_eq!((parsed.clone(), defaults.first()), (InputSettings::default(), None));
        let parameters = parsed.parameters();
        for row in READING.iter().filter(|row| row.effect == Effect::Result) {
            assert!(parameters.iter().any(|(known, _)| *known == row.name), "{}", row.name);
        }
    }
}
