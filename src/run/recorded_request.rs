//! The request of a run as data: the file `request.json` next to the summary. A later command reads the request back,
//! so that no command line is parsed again.

use super::word_features::WordsRequest;
use crate::output::{REQUEST, write_file};
use crate::write::output_folder::OutputFolder;
use serde_json::{Value, json};
use simtool_base::byte_text::os_string;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::options::Options;
use simtool_read::remote::without_credentials;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// Request of a user: a command, its paths and its settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedRequest {
    /// Name of the command, for example `dedup`.
    pub command: String,
    /// Paths of the collection, without the paths that a list of `files_from` has.
    pub paths: Vec<PathBuf>,
    /// Paths of the queries of `match`, or of the items of `contamination`.
    pub queries: Vec<PathBuf>,
    /// N and M of `simtool N M --corpus`, and the files that they need.
    pub words: WordsRequest,
    /// Settings by their names.
    pub options: Options,
    /// Names of settings that do not come from the command line, each with its origin, for example `environment`.
    pub origins: Vec<(String, String)>,
    /// Command line for people. It is shown and never parsed.
    pub command_line: String,
}

/// Origin of settings that come from the command line, or whose origin is not known.
const ARGUMENT: &str = "argument";

impl RecordedRequest {
    /// Returns the text of the file `request.json`, which [`read`](Self::read) reads back.
    ///
    /// ```
    /// use simtool::options::Options;
    /// use simtool::run::RecordedRequest;
    ///
    /// let mut request = RecordedRequest { command: "dedup".into(), ..Default::default() };
    /// request.options = Options::parse("similarity=0.9,threads=2")?;
    /// let folder = tempfile::tempdir().unwrap();
    /// std::fs::write(folder.path().join("request.json"), request.json()).unwrap();
    /// assert_eq!(RecordedRequest::read(folder.path())?, Some(request));
    /// # Ok::<(), simtool::Error>(())
    /// ```
    #[must_use]
    pub fn json(&self) -> String {
        // Most settings are of the command line, so only the others are stored with their place.
        let options = self.options.iter().map(|(name, value)| {
            let found = self.origins.iter().find(|(of, _)| of == name);
            let origin = found.map_or(ARGUMENT, |(_, origin)| origin.as_str());
            // A list of files may have a web address.
            let value = without_credentials(Path::new(value));
            json!({ "name": name, "value": written(value.as_os_str()), "origin": origin })
        });
        let WordsRequest { features, bits, directory, hash_table } = &self.words;
        let words = json!({
            "features": features,
            "bits": bits,
            "directory": written(directory.as_os_str()),
            "hash_table": hash_table.as_ref().map(|path| written(path.as_os_str())),
        });
        // A setting is a line, so that two requests can be compared line by line.
        let options: Vec<String> = options.map(|option| format!("    {option}")).collect();
        let fields = [
            ("version", json!(env!("CARGO_PKG_VERSION")).to_string()),
            ("command", json!(self.command).to_string()),
            ("command_line", json!(self.command_line).to_string()),
            ("paths", Value::from(written_paths(&self.paths)).to_string()),
            ("queries", Value::from(written_paths(&self.queries)).to_string()),
            ("words", words.to_string()),
            ("options", format!("[\n{}\n  ]", options.join(",\n"))),
        ];
        let fields = fields.map(|(name, value)| format!("  \"{name}\": {value}"));
        format!("{{\n{}\n}}\n", fields.join(",\n"))
    }

    /// Writes the file `request.json` to a folder of results.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(super) fn write(&self, folder: &OutputFolder) -> Result<()> {
        write_file(folder, REQUEST, |out| out.write_all(self.json().as_bytes()))
    }

    /// Reads the request of the run whose results or stored parts are in `folder`. Returns `None` if the folder has no
    /// file with a request.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no request.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(REQUEST);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&path, "read", error)),
        };
        // A text that is no JSON is no request either.
        let json: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        Self::of(&json).map(Some).ok_or_else(|| {
            let expected = "the request of a run of simtool".to_owned();
            ErrorKind::Format { path, byte: 0, expected }.into()
        })
    }

    /// Parses the request from the JSON object in the file. `None` if a part is missing or has another type.
    fn of(json: &Value) -> Option<Self> {
        let (mut options, mut origins) = (Options::new(), Vec::new());
        for option in json["options"].as_array()? {
            let (name, origin) = (text(&option["name"])?, text(&option["origin"])?);
            // A name may come several times, because some options may be repeated.
            options.set(&name, read(&option["value"])?);
            if origin != ARGUMENT {
                origins.push((name, origin));
            }
        }
        let words = &json["words"];
        Some(Self {
            command: text(&json["command"])?,
            paths: paths(&json["paths"])?,
            queries: paths(&json["queries"])?,
            // N and M are optional, and so is the path of their table.
            words: WordsRequest {
                features: text(&words["features"]),
                bits: text(&words["bits"]),
                directory: read(&words["directory"])?.into(),
                hash_table: read(&words["hash_table"]).map(PathBuf::from),
            },
            options,
            origins,
            command_line: text(&json["command_line"])?,
        })
    }

    /// Returns the path of the output, as the user named it. `None` if the user named none.
    pub(super) fn output(&self) -> Option<PathBuf> {
        self.path_of("output")
    }

    /// Returns the paths of all documents, and of the list of more paths if there is one.
    pub(super) fn all_paths(&self) -> Vec<PathBuf> {
        let list = self.path_of("files_from");
        self.paths.iter().chain(&self.queries).cloned().chain(list).collect()
    }

    /// Returns the value of the setting with the name `setting` as a path. `None` if the request does not have the
    /// setting.
    fn path_of(&self, setting: &str) -> Option<PathBuf> {
        let (_, value) = self.options.iter().find(|(name, _)| *name == setting)?;
        Some(value.into())
    }

    /// Takes the command line and the origins of settings from `earlier`, the request of earlier runs. Both are only
    /// for people to read.
    pub(super) fn take_notes(&mut self, earlier: &Self) {
        self.command_line.clone_from(&earlier.command_line);
        self.origins.clone_from(&earlier.origins);
    }
}

/// Returns a string of the operating system as JSON: a text, or the list of its bytes if it is not UTF-8.
fn written(text: &OsStr) -> Value {
    text.to_str().map_or_else(|| json!(text.as_encoded_bytes()), Value::from)
}

fn written_paths(paths: &[PathBuf]) -> Vec<Value> {
    paths.iter().map(|path| written(without_credentials(path).as_os_str())).collect()
}

/// Parses JSON that [`written`] has made. Returns `None` for other JSON.
fn read(value: &Value) -> Option<OsString> {
    if let Some(text) = value.as_str() {
        return Some(text.into());
    }
    // A list of other numbers than bytes is no string.
    let bytes = value.as_array()?.iter().map(|byte| u8::try_from(byte.as_u64()?).ok());
    os_string(bytes.collect::<Option<_>>()?)
}

/// Parses a list that [`written_paths`] has made. Returns `None` for other JSON.
fn paths(value: &Value) -> Option<Vec<PathBuf>> {
    value.as_array()?.iter().map(|path| read(path).map(PathBuf::from)).collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_read_back() {
        let mut options = Options::parse("glob=*.txt,output=out").unwrap();
        options.set("glob", "!b, \"c\"\n*");
        let odd = os_string(b"a\xffb".to_vec()).unwrap();
        options.set("tmp_dir", &odd);
        let request = RecordedRequest {
            command: "match".into(),
            paths: vec!["old".into(), PathBuf::from(&odd)],
            queries: vec!["-".into()],
            words: WordsRequest {
                features: Some("500".into()),
                bits: Some("64".into()),
                directory: ".".into(),
                hash_table: Some(odd.into()),
            },
            options,
            origins: vec![("output".into(), "environment".into())],
            command_line: "simtool match".into(),
        };
        let json = serde_json::from_str(&request.json()).unwrap();
        assert_eq!(RecordedRequest::of(&json), Some(request.clone()));
        assert_eq!(request.output(), Some("out".into()));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(RecordedRequest::read(folder.path()).unwrap(), None);
        fs::write(folder.path().join(REQUEST), "{\"command\": 3}").unwrap();
        let error = RecordedRequest::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("the request of a run of simtool"), "{error}");
    }
}
