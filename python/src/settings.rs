//! Keywords of Python as options of the library. The names of keywords are those of the command line, with underscores,
//! and the library parses the values.

use crate::errors::exception;
use crate::texts::is_none;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};
use simtool::options::{Options, as_member};
use simtool::pipeline::config::KeepCount;
use simtool::run::guessed_setting;
use simtool::setting::{Kind, find};
use simtool::stages::text_rules::TextRules;
use simtool::stages::tokenize::stop_words::StopWords;
use simtool::{Config, Resources};
use std::ffi::OsString;
use std::path::Path;

/// Name that stands for all functions on texts in memory when [`guessed_setting`] looks up a wrong name of a setting.
const ON_TEXTS: &str = "texts";
/// Name that stands for all functions on engines, such as Spark, when [`guessed_setting`] looks up a wrong name of a
/// setting.
const ON_ENGINES: &str = "engine";

/// Converts keywords of a function on texts in memory to options. A keyword counts as not given if its value is `None`
/// or `NA` of pandas.
pub(crate) fn options(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    plain_options(keywords, Some(ON_TEXTS))
}

/// Converts keywords of a function on engines, such as Spark, to options. A keyword counts as not given if its value is
/// `None` or `NA` of pandas.
pub(crate) fn engine_options(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    plain_options(keywords, Some(ON_ENGINES))
}

/// Converts keywords to options. If `command` is given, returns an error for a keyword that users guess but that does
/// not exist.
fn plain_options(keywords: Option<&Bound<'_, PyDict>>, command: Option<&str>) -> PyResult<Options> {
    let mut options = Options::new();
    let Some(keywords) = keywords else { return Ok(options) };
    for (name, value) in keywords {
        let name: String = name.extract()?;
        command.map_or(Ok(()), |command| refuse_guess(command, &name))?;
        if is_several(&name, &value) {
            for value in value.try_iter()? {
                options.set(&name, text(&name, &value?)?);
            }
        } else if !is_none(&value) {
            let value = word_list(&name, &value)?.map_or_else(|| text(&name, &value), Ok)?;
            options.set(&name, value);
        }
    }
    Ok(options)
}

/// Returns whether `value` is a list of values for a setting that may be given several times.
fn is_several(name: &str, value: &Bound<'_, PyAny>) -> bool {
    let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    is_list && find(name).is_some_and(|row| matches!(row.kind, Kind::Values(_)))
}

/// Converts keywords of a function that does the work of a command to options, as [`options`] does. For a list, the
/// option is added once for each value.
pub(crate) fn repeated_options(keywords: &Bound<'_, PyDict>, command: &str) -> PyResult<Options> {
    let mut options = Options::new();
    for (name, value) in keywords {
        let name: String = name.extract()?;
        refuse_guess(command, &name)?;
        if let Some(words) = word_list(&name, &value)? {
            options.set(&name, words);
        } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            for value in value.try_iter()? {
                options.set(&name, text(&name, &value?)?);
            }
        } else if !is_none(&value) {
            options.set(&name, text(&name, &value)?);
        }
    }
    Ok(options)
}

/// Returns an error if `name` is a keyword that users guess because similar packages have it. The error names the right
/// keyword.
fn refuse_guess(command: &str, name: &str) -> PyResult<()> {
    guessed_setting(command, name).map_or(Ok(()), |advice| {
        let advice = in_python(advice);
        Err(PyTypeError::new_err(format!("unexpected keyword '{name}': {advice}")))
    })
}

/// Returns advice in which settings have the form of Python. For example, `shingle=words:5` becomes
/// `shingle="words:5"`.
fn in_python(advice: &str) -> String {
    let mut shown = String::new();
    for (number, part) in advice.split('`').enumerate() {
        // Every second part is in backquotes.
        let setting = part.split_once('=').filter(|_| number % 2 == 1);
        let part = match setting {
            Some((name, value)) => format!("`{name}=\"{value}\"`"),
            None if number % 2 == 1 => format!("`{part}`"),
            None => part.to_owned(),
        };
        shown.push_str(&part);
    }
    shown
}

/// Formats a list of words as the value of the option `stop_words`. Returns `None` for other options, and for a value
/// that is not a list.
fn word_list(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<OsString>> {
    let is_list = value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>();
    if name != "stop_words" || !is_list {
        return Ok(None);
    }
    let mut words = Vec::new();
    for word in value.try_iter()? {
        let word: String = word?
            .extract()
            .map_err(|_| PyTypeError::new_err("stop_words: the words of a list must be str"))?;
        // The name of a list or a file would silently be one more word. Lists of English words have the word none.
        let is_list = word != "none" && StopWords::built_in(&word).is_some();
        let is_file =
            Path::new(&word).extension().is_some_and(|end| end.eq_ignore_ascii_case("txt"));
        if is_list || is_file || word.contains(['/', '\\']) {
            return Err(PyTypeError::new_err(format!(
                "stop_words: a Python list holds the words themselves, and {word} is the name of a list or a file; + joins \
                 them, as in stop_words=\"english+german.txt\""
            )));
        }
        words.push(word);
    }
    // A set has its words in any order, and the order is shown in the name of the method.
    words.sort_unstable();
    Ok(Some(format!("words:{}", words.join(" ")).into()))
}

/// Formats a value in the form that the command line accepts.
fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<OsString> {
    // `bool` is tested first, because it is a subclass of `int`.
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string().into());
    }
    let is_plain = value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>();
    // Numbers of NumPy, decimals and fractions are of other classes, but they have these methods.
    if is_plain || value.hasattr("__index__")? || value.hasattr("__float__")? {
        return Ok(value.str()?.to_string().into());
    }
    if let Ok(path) = value.call_method0("__fspath__") {
        return path.extract();
    }
    let class = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("{name} must be text or a number, not {class}")))
}

/// Returns a method with its settings as text, in the form of the keyword `method`.
#[pyfunction]
pub(crate) fn method_text(name: &str, settings: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut options = plain_options(Some(settings), None)?;
    // Several lists become one, because a method has each setting once.
    let ignored = TextRules::parse_in_place(&mut options).map_err(exception)?;
    for (name, list) in ignored.parameters() {
        options.set(name, list);
    }
    let mut text = name.to_owned();
    for (setting, value) in options.iter() {
        text.push(if text.len() == name.len() { ':' } else { ',' });
        text.extend([setting, "=", &as_member(&value.to_string_lossy())]);
    }
    Ok(text)
}

/// Parses all settings of a run.
pub(crate) fn config(mut options: Options) -> PyResult<Config> {
    let config = Config::parse(&mut options).map_err(exception)?;
    if config.method.is_coverage() {
        let rule = "works only with simtool.deduplicate";
        return Err(exception(simtool::Error::config("method", config.method.name(), rule)));
    }
    refuse_groups(&config)?;
    match config.boilerplate {
        None => Ok(config),
        Some(_) => Err(PyValueError::new_err(
            "boilerplate: needs a whole collection; use it with deduplicate or match",
        )),
    }
}

/// Returns an error for settings that only functions with access to all documents support: comparing documents in
/// groups, keeping several documents of a cluster, or reading texts again.
fn refuse_groups(config: &Config) -> PyResult<()> {
    let rule = "works only with simtool.deduplicate and simtool.match";
    if let Some(scope) = config.scope {
        let name = scope.value.written(&config.fields);
        return Err(exception(simtool::Error::config(scope.relation.name(), name, rule)));
    }
    if let Some(lose) = config.lose {
        return Err(exception(simtool::Error::config("lose", lose, rule)));
    }
    if config.keep_count != KeepCount::ONE {
        return Err(exception(simtool::Error::config("keep_count", config.keep_count.0, rule)));
    }
    Ok(())
}

/// Parses the limits on resources of a call that has no other settings.
pub(crate) fn resources(mut options: Options) -> PyResult<Resources> {
    let resources = Resources::parse(&mut options).map_err(exception)?;
    refuse_rest(&options)?;
    Ok(resources)
}

/// Returns an error if `options` still has an option, which nothing has used.
pub(crate) fn refuse_rest(options: &Options) -> PyResult<()> {
    match options.first() {
        None => Ok(()),
        Some((name, value)) => {
            let rule = "there is no such option here";
            Err(exception(simtool::Error::config("options", format!("{name}={value}"), rule)))
        }
    }
}
