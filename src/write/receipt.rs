//! The receipt of a run: one file by which others check the results, without the program that wrote them.
//!
//! `receipt.json` has the hash of every input, the request, the recipe, the counts, and a Merkle root of each output.
//! It has no time and no number of threads, so equal inputs and equal requests make equal receipts.

use super::merkle::{FileHash, Hash, MerkleTree, hex};
use serde_json::{Value, json};
use simtool_base::error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Name of the receipt in the output folder of a run.
pub(crate) const RECEIPT: &str = "receipt.json";
/// Name and version of the format, which is the first field of the file.
const FORMAT: &str = "simtool receipt 1";
/// Endings of the names of files that are hashed by their lines. Other files are hashed as a whole.
const ENDINGS_OF_LINES: [&str; 2] = [".jsonl", ".tsv"];

/// Names and values of settings, as a user gives them.
pub(crate) type NamedValues = Vec<(String, String)>;

/// Content of a receipt, which records the inputs and settings of a run and the hashes of its results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Receipt {
    /// Version of the program that wrote the results.
    pub(crate) version: String,
    /// Request of the user.
    pub(crate) request: ReceiptRequest,
    /// Name of the method that was used. The method may have been chosen from a sample.
    pub(crate) method: String,
    /// Settings of the method, including the settings that the user did not give.
    pub(crate) settings: NamedValues,
    /// Rule for lines that were left out of the comparison. `None` if whole texts were compared.
    pub(crate) boilerplate: Option<String>,
    /// Text that identifies how sets or fingerprints are made.
    pub(crate) recipe: String,
    /// Names and values of the counts of the run, for example the number of documents.
    pub(crate) counts: BTreeMap<String, u64>,
    /// Input files in reading order.
    pub(crate) inputs: Vec<HashedInput>,
    /// Files of the output folder that do not depend on time and threads, in the order of their names.
    pub(crate) outputs: Vec<HashedOutput>,
}

/// The part of a request that affects the results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReceiptRequest {
    /// Name of the command, for example `dedup`.
    pub(crate) command: String,
    /// Paths of the collection, as the user wrote them.
    pub(crate) paths: Vec<String>,
    /// Paths of the queries of a match.
    pub(crate) queries: Vec<String>,
    /// Settings that affect the results.
    pub(crate) options: NamedValues,
}

/// An input file with the hash of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HashedInput {
    /// Name of the file, as the run wrote it.
    pub(crate) file: String,
    /// Whether the file has queries of a match.
    pub(crate) is_query: bool,
    /// Number of bytes of the file, and their SHA-256 in hexadecimal digits. `None` if the run could not read the file.
    pub(crate) hash: Option<(u64, String)>,
}

/// A file of the output folder with its Merkle root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HashedOutput {
    /// Path of the file in the output folder, with `/` between folders.
    pub(crate) file: String,
    pub(crate) bytes: u64,
    /// Number of leaves of the hash tree of the file: its lines, or 1 if the whole file is one leaf.
    pub(crate) rows: u64,
    /// Root of the hash tree of the file, in hexadecimal digits.
    pub(crate) root: String,
}

impl HashedOutput {
    pub(crate) fn new(file: String, found: &FileHash) -> Self {
        let FileHash { bytes, rows, hash } = found;
        Self { file, bytes: *bytes, rows: *rows, root: hex(hash) }
    }
}

/// Returns whether the file with this name is hashed by its lines.
pub(crate) fn is_of_lines(file: &str) -> bool {
    ENDINGS_OF_LINES.iter().any(|ending| file.ends_with(ending))
}

impl Receipt {
    /// Returns the root of the hash tree of all outputs. Each leaf is the name of an output, a line break, and the root
    /// of the output.
    pub(crate) fn root(&self) -> Hash {
        // The name is part of the leaf, so two files cannot be exchanged.
        let mut tree = MerkleTree::default();
        for HashedOutput { file, root, .. } in &self.outputs {
            tree.push(format!("{file}\n{root}").as_bytes());
        }
        tree.root()
    }

    /// Writes the receipt as a JSON object, with a line for each input and output.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        // A line for each file lets people compare two receipts line by line.
        let ReceiptRequest { command, paths, queries, options } = &self.request;
        let (root, boilerplate) = (hex(&self.root()), &self.boilerplate);
        let lines = [
            ("format", json!(FORMAT).to_string()),
            ("version", json!(self.version).to_string()),
            ("command", json!(command).to_string()),
            ("paths", json!(paths).to_string()),
            ("queries", json!(queries).to_string()),
            ("options", named(options).to_string()),
            ("method", json!(self.method).to_string()),
            ("settings", named(&self.settings).to_string()),
            ("boilerplate", json!(boilerplate).to_string()),
            ("recipe", json!(self.recipe).to_string()),
            ("counts", json!(self.counts).to_string()),
            ("inputs", list(self.inputs.iter().map(HashedInput::json))),
            ("outputs", list(self.outputs.iter().map(HashedOutput::json))),
            ("root", json!(root).to_string()),
        ];
        let lines = lines.map(|(name, value)| format!("  \"{name}\": {value}"));
        write!(out, "{{\n{}\n}}\n", lines.join(",\n"))
    }

    /// Reads the receipt of an output folder. Also returns the root hash that the file contains, so that callers can
    /// compare it with [`root`](Self::root). Returns `None` if the folder has no receipt.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no receipt.
    pub(crate) fn read(folder: &Path) -> Result<Option<(Self, String)>> {
        let path = folder.join(RECEIPT);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&path, "read", error)),
        };
        // A file that is not JSON becomes `null`, which is no receipt either.
        let json: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let found = Self::of(&json).zip(text(&json["root"]));
        found.map(Some).ok_or_else(|| {
            let expected = format!("a receipt of simtool, with the format \"{FORMAT}\"");
            ErrorKind::Format { path, byte: 0, expected }.into()
        })
    }

    /// Parses a receipt from a JSON object. Returns `None` if a part is missing or has another type.
    fn of(json: &Value) -> Option<Self> {
        // Another format may mean other things by the same names.
        if json["format"] != FORMAT {
            return None;
        }
        let counts = json["counts"].as_object()?.iter();
        let counts = counts.map(|(name, count)| Some((name.clone(), count.as_u64()?)));
        let input = |input: &Value| {
            let hash = match &input["sha256"] {
                Value::Null => None,
                hash => Some((input["bytes"].as_u64()?, text(hash)?)),
            };
            let is_query = input["is_query"].as_bool()?;
            Some(HashedInput { file: text(&input["file"])?, is_query, hash })
        };
        let output = |output: &Value| {
            Some(HashedOutput {
                file: text(&output["file"])?,
                bytes: output["bytes"].as_u64()?,
                rows: output["rows"].as_u64()?,
                root: text(&output["root"])?,
            })
        };
        Some(Self {
            version: text(&json["version"])?,
            request: ReceiptRequest {
                command: text(&json["command"])?,
                paths: texts(&json["paths"])?,
                queries: texts(&json["queries"])?,
                options: values(&json["options"])?,
            },
            method: text(&json["method"])?,
            settings: values(&json["settings"])?,
            boilerplate: text(&json["boilerplate"]),
            recipe: text(&json["recipe"])?,
            counts: counts.collect::<Option<_>>()?,
            inputs: json["inputs"].as_array()?.iter().map(input).collect::<Option<_>>()?,
            outputs: json["outputs"].as_array()?.iter().map(output).collect::<Option<_>>()?,
        })
    }
}

impl HashedInput {
    fn json(&self) -> Value {
        let (bytes, hash) = self.hash.as_ref().map(|(bytes, hash)| (bytes, hash)).unzip();
        json!({ "file": self.file, "is_query": self.is_query, "bytes": bytes, "sha256": hash })
    }
}

impl HashedOutput {
    fn json(&self) -> Value {
        let Self { file, bytes, rows, root } = self;
        json!({ "file": file, "bytes": bytes, "rows": rows, "root": root })
    }
}

/// Returns names and values as a JSON list of pairs. A JSON object is not possible, because a name can occur several
/// times.
fn named(values: &NamedValues) -> Value {
    values.iter().map(|(name, value)| json!([name, value])).collect()
}

/// Parses JSON that [`named`] has made. Returns `None` for other JSON.
fn values(json: &Value) -> Option<NamedValues> {
    let pair = |pair: &Value| Some((text(&pair[0])?, text(&pair[1])?));
    json.as_array()?.iter().map(pair).collect()
}

fn list(values: impl Iterator<Item = Value>) -> String {
    let lines: Vec<String> = values.map(|value| format!("    {value}")).collect();
    if lines.is_empty() { "[]".to_owned() } else { format!("[\n{}\n  ]", lines.join(",\n")) }
}

fn text(json: &Value) -> Option<String> {
    json.as_str().map(str::to_owned)
}

fn texts(json: &Value) -> Option<Vec<String>> {
    json.as_array()?.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_receipt_is_read_back() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let receipt = Receipt {
            version: "1.2.3".to_owned(),
            request: ReceiptRequest {
                command: "match".to_owned(),
                paths: vec!["old \"1\"".to_owned()],
                queries: vec!["new".to_owned()],
                options: vec![pair("glob", "*.txt"), pair("glob", "!b")],
            },
            method: "exact".to_owned(),
            settings: vec![pair("similarity", "4/5")],
            boilerplate: Some("pages".to_owned()),
            recipe: "jaccard/words".to_owned(),
            counts: BTreeMap::from([("kept".to_owned(), 3)]),
            inputs: vec![
                HashedInput {
                    file: "a".to_owned(),
                    is_query: true,
                    hash: Some((3, "00ff".to_owned())),
                },
                HashedInput { file: "gone".to_owned(), is_query: false, hash: None },
            ],
            outputs: vec![HashedOutput {
                file: "removed.jsonl".to_owned(),
                bytes: 9,
                rows: 2,
                root: "ab".to_owned(),
            }],
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RECEIPT);
        assert_eq!(Receipt::read(folder.path()).unwrap(), None);
        for receipt in [receipt, Receipt::default()] {
            let mut written = Vec::new();
            receipt.write(&mut written).unwrap();
            fs::write(&path, written).unwrap();
            let root = hex(&receipt.root());
            assert_eq!(Receipt::read(folder.path()).unwrap(), Some((receipt, root)));
        }
        fs::write(&path, "{\"format\": \"simtool receipt 9\"}").unwrap();
        let error = Receipt::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("a receipt of simtool"), "{error}");
    }
}
