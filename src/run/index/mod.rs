//! `index …`: the commands on a growing index of documents.
//!
//! Each command has a file here. [`Index`] and [`IndexAdder`] do the work. The functions here decide which
//! requests are refused, when the index is committed, and which faults count as losses.

mod add;
mod batches;
mod export;
mod filter;
mod maintain;
mod query;
mod remove;

pub use add::{AddOutcome, AddRequest, add_to_index};
pub use export::{ExportRequest, export_index};
pub use filter::{FilterEnd, FilterOutcome, FilterRequest, filter_lines};
pub use maintain::{
    MergeOutcome, StatOutcome, compact_index, merge_index, salvage_index, stat_index, verify_index,
};
pub use query::{QueryOutcome, QueryRequest, query_index};
pub use remove::{Removal, RemoveOutcome, RemoveRequest, remove_from_index};

use super::face::Face;
use super::fingerprint::parse_fingerprint_method;
use super::input::{Input, Places};
use super::input_settings::InputSettings;
use crate::index::{Index, IndexAdder};
use crate::method::Method;
use simtool_base::durable::{Disk, Durability};
use simtool_base::error::{Error, Result};
use simtool_base::mapped_file::FileAccess;
use simtool_base::options::Options;
use simtool_base::utc_time::UtcTime;
use simtool_compute::resources::Resources;
use std::path::{Path, PathBuf};

/// Source of documents if the option `source` is not given.
const SOURCE: &str = "default";

/// Folder of an index, and the resources for working on it.
#[derive(Clone, Debug)]
pub struct OpenRequest {
    /// Folder of the index.
    pub index: PathBuf,
    /// Memory and threads that the run may use.
    pub resources: Resources,
    /// Description of this process, for example `process 17 (simtool index add)`. Other processes show it if
    /// they cannot write to the index meanwhile.
    pub holder: String,
}

impl OpenRequest {
    /// Creates the request to open `index`. `holder` describes this process. Takes the settings of [`Resources`] out
    /// of `options`.
    ///
    /// # Errors
    ///
    /// A value is wrong.
    pub fn parse(index: PathBuf, holder: String, options: &mut Options) -> Result<Self> {
        Ok(Self { index, resources: Resources::parse(options)?, holder })
    }

    /// Opens the index for reading.
    ///
    /// # Errors
    ///
    /// There is no index in the folder, or it is damaged.
    pub fn open(&self, access: FileAccess) -> Result<Index> {
        Index::open(&self.index, access, &self.resources)
    }

    /// Opens the index for adding and removing documents.
    ///
    /// # Errors
    ///
    /// The same as for [`Self::open`]. It is also an error if another process writes to the index.
    fn open_adder(&self, access: FileAccess) -> Result<IndexAdder> {
        IndexAdder::open(&self.index, access, synced_disk(), &self.holder, &self.resources)
    }
}

/// Documents that are added to an index or looked up in it, and the settings for reading them.
#[derive(Clone, Debug)]
pub struct IndexedDocuments {
    /// Files and folders with the documents.
    pub paths: Vec<PathBuf>,
    /// Settings for reading documents.
    pub input: InputSettings,
}

impl IndexedDocuments {
    /// Creates the request to read `paths`. Takes the settings for reading out of `options`.
    fn parse(paths: Vec<PathBuf>, options: &mut Options) -> Result<Self> {
        Ok(Self { paths, input: InputSettings::parse(options)? })
    }

    /// Opens the files with the documents. If the index is inside an input folder, its files are left out.
    fn open(&self, index: &OpenRequest, face: &dyn Face) -> Result<Input<'_>> {
        let options = self.input.read_options(face.access(), &index.resources);
        let paths = self.input.with_listed(&self.paths)?;
        let temporary = &index.resources.temporary_folder;
        // The files of the index are not documents, even if the index is in an input folder.
        let places = Places { output: &index.index, temporary };
        let input = Input::open(&paths, &self.input, options, places, face)?;
        Input::refuse_idle(&[&input], &[])?;
        Ok(input)
    }
}

/// Settings of added documents that are not about reading: their source and their time.
#[derive(Debug)]
struct ArrivalSettings {
    source: String,
    /// Time at which the documents arrived. `None` if they arrive during the run.
    time: Option<UtcTime>,
}

impl ArrivalSettings {
    fn parse(options: &mut Options) -> Result<Self> {
        let time = take_time("time", options)?;
        let source = options.take("source").unwrap_or_else(|| SOURCE.to_owned());
        Ok(Self { source, time })
    }
}

/// Takes the setting `name`, which is a time, out of `options`.
fn take_time(name: &'static str, options: &mut Options) -> Result<Option<UtcTime>> {
    let Some(text) = options.take(name) else { return Ok(None) };
    let time = text.parse();
    time.map(Some).map_err(|expected| Error::config(name, text, format!("must be {expected}")))
}

/// Returns an error if `options` still has settings, which the command does not know.
fn refuse_rest(options: &Options) -> Result<()> {
    options.refuse_rest("this command on an index has no such option")
}

/// Creates an index without documents in the folder `path`. Returns the method that `options` describe, by
/// which the index will compare all its documents. `holder` describes this process.
///
/// # Errors
///
/// The method makes no fingerprints or does not have one of the options, or the folder is not empty.
pub fn create_index(path: &Path, mut options: Options, holder: &str) -> Result<Method> {
    let method = parse_fingerprint_method(&mut options)?;
    IndexAdder::create(path, method.clone(), synced_disk(), holder)?;
    Ok(method)
}

/// Returns the way in which files of an index are written. A commit returns only when its data will survive a power
/// cut.
#[must_use]
fn synced_disk() -> Disk {
    Disk::new(Durability::Synced)
}

#[cfg(test)]
mod delivery_tests;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Silent;
    use crate::write::output_folder::Existing;
    use simtool_base::options::Options;
    use std::time::Duration;
    use std::{fs, io};

    /// An index in a folder, next to a folder `in` for documents.
    pub(super) struct IndexPlace {
        pub(super) folder: tempfile::TempDir,
    }

    impl IndexPlace {
        pub(super) fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("in")).unwrap();
            let place = Self { folder };
            create_index(&place.index().index, Options::new(), "test").unwrap();
            place
        }

        pub(super) fn index(&self) -> OpenRequest {
            OpenRequest {
                index: self.folder.path().join("index"),
                resources: Resources { threads: 1, ..Resources::default() },
                holder: "test".to_owned(),
            }
        }

        pub(super) fn write(&self, name: &str, text: &str) {
            fs::write(self.folder.path().join("in").join(name), text).unwrap();
        }

        pub(super) fn documents(&self, options: &str) -> IndexedDocuments {
            let input = InputSettings::parse(&mut Options::parse(options).unwrap()).unwrap();
            IndexedDocuments { paths: vec![self.folder.path().join("in")], input }
        }

        fn add(&self, options: &str, only_new: Option<PathBuf>) -> Result<(AddOutcome, String)> {
            let arrival = ArrivalSettings::parse(&mut Options::parse(options).unwrap()).unwrap();
            let request = AddRequest {
                index: self.index(),
                documents: self.documents(options),
                source: arrival.source,
                time: arrival.time,
                only_new,
                is_json: false,
            };
            let mut out = Vec::new();
            let outcome = add_to_index(&request, &mut out, &Silent)?;
            Ok((outcome, String::from_utf8(out).unwrap()))
        }

        fn query(&self) -> (QueryOutcome, String) {
            let request = QueryRequest {
                index: self.index(),
                documents: self.documents(""),
                only_nearest: true,
                is_json: false,
            };
            let mut out = Vec::new();
            let outcome = query_index(&request, &mut out, &Silent).unwrap();
            (outcome, String::from_utf8(out).unwrap())
        }
    }

    const LINES: &str = "{\"id\":\"a\",\"text\":\"one two three four\"}\n\
                         {\"id\":\"b\",\"text\":\"one two three four\"}\nno object\n";

    #[test]
    fn documents_are_added_once_and_repeats_and_losses_are_reported() {
        let place = IndexPlace::new();
        place.write("x.jsonl", LINES);
        let (outcome, out) = place.add("", None).unwrap();
        assert_eq!((outcome.added.new, outcome.added.repeats), (1, 1));
        assert_eq!(out, "b\ta\t0\n");
        assert!(outcome.has_losses && outcome.known_files.is_empty());
        let (again, out) = place.add("", None).unwrap();
        assert_eq!((again.added.new, again.known_files.len(), out), (0, 1, String::new()));
        let (asked, out) = place.query();
        assert_eq!((asked.documents, asked.seen_before), (2, 2));
        assert_eq!(out, "a\ta\t0\nb\ta\t0\n");
    }

    #[test]
    fn copies_of_new_documents_and_the_index_appear_together_or_not_at_all() {
        let place = IndexPlace::new();
        place.write("x.jsonl", LINES);
        let copies = place.folder.path().join("new");
        let error = place.add("on_error=fail", Some(copies.clone())).unwrap_err();
        assert!(error.to_string().contains("x.jsonl"), "{error}");
        assert!(!copies.exists());
        assert_eq!(place.index().open(FileAccess::READ).unwrap().size().unwrap().documents, 0);
        place.add("", Some(copies.clone())).unwrap();
        let kept = fs::read_to_string(copies.join("in/x.jsonl")).unwrap();
        assert_eq!(kept, LINES.replace("{\"id\":\"b\",\"text\":\"one two three four\"}\n", ""));
        assert_eq!(place.index().open(FileAccess::READ).unwrap().size().unwrap().documents, 1);
    }

    #[test]
    fn a_file_that_is_added_with_other_options_repeats_nothing_and_lacks_nothing() {
        let line = |n: usize| {
            let text = format!("{n} {n}x {n}y {n}z ").repeat(n + 1);
            format!("{{\"id\":\"{n}\",\"text\":\"{text}\",\"body\":\"b{n} c{n} d{n} e{n}\"}}\n")
        };
        let repeat = line(4).replace("\"id\":\"4\"", "\"id\":\"6\"");
        let lines = (0..6).map(line).chain([repeat]).collect::<Vec<_>>().concat();
        let place = IndexPlace::new();
        place.write("x.jsonl", &lines);
        let add = |options| {
            let (AddOutcome { added, known_files, .. }, _) = place.add(options, None).unwrap();
            (added.new, added.repeats, added.done_before, known_files.len())
        };
        assert_eq!(add("limit=2"), (2, 0, 0, 0));
        assert_eq!(add("limit=2"), (0, 0, 2, 0));
        // The last document repeats one before it, and that counts once.
        assert_eq!(add("min_tokens=20"), (2, 1, 0, 0));
        assert_eq!(add("min_tokens=20"), (0, 0, 0, 1));
        assert_eq!(add("max_record=100"), (2, 0, 4, 0));
        assert_eq!(add(""), (0, 0, 7, 0));
        assert_eq!(add(""), (0, 0, 0, 1));
        assert_eq!(add("min_tokens=2"), (0, 0, 7, 0));
        // From another source, at another time or with other IDs, the same documents arrive once more.
        for arrival in ["source=b", "source=b,time=2026-11-29", "id_field=body"] {
            assert_eq!(add(arrival), (0, 7, 0, 0), "{arrival}");
            assert_eq!(add(arrival), (0, 0, 0, 1), "{arrival}");
        }
        assert_eq!(add("text_field=nothing"), (0, 0, 0, 0));
        assert_eq!(add("text_field=body"), (6, 1, 0, 0));
        assert_eq!(stat_index(&place.index(), FileAccess::READ).unwrap().size.repeats, 2 + 3 * 7);
    }

    #[test]
    fn a_file_that_was_not_read_is_added_when_it_can_be_read() {
        let place = IndexPlace::new();
        let line = |n| format!("{{\"text\":\"{n} {n}x {n}y {n}z\"}}\n");
        let lines: String = (0..50_000).map(line).collect();
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(18).unwrap();
        io::Write::write_all(&mut encoder, lines.as_bytes()).unwrap();
        let path = place.folder.path().join("in/x.jsonl.zst");
        fs::write(path, encoder.finish().unwrap()).unwrap();
        place.write("y.jsonl", LINES);
        let (outcome, _) = place.add("zstd_window_log=12", None).unwrap();
        assert_eq!((outcome.added.new, outcome.has_losses), (1, true));
        let (outcome, _) = place.add("", None).unwrap();
        assert_eq!(outcome.known_files.len(), 1);
        assert!(outcome.added.new > 40_000, "{}", outcome.added.new);
    }

    #[test]
    fn removed_documents_are_near_nothing_and_unknown_ids_are_reported() {
        let place = IndexPlace::new();
        place.write("x.jsonl", LINES);
        place.add("", None).unwrap();
        let ids = place.folder.path().join("ids");
        fs::write(&ids, "a\r\nnobody\n\na\n").unwrap();
        let request =
            RemoveRequest { index: place.index(), removal: Removal::Ids(ids), is_json: false };
        let outcome = remove_from_index(&request, &Silent).unwrap();
        assert_eq!((outcome.removed, outcome.unknown), (1, vec![b"nobody".to_vec()]));
        assert_eq!(place.query().0.seen_before, 0);
    }

    #[test]
    fn an_export_is_a_table_whose_extension_is_its_format() {
        let place = IndexPlace::new();
        place.write("x.jsonl", LINES);
        place.add("", None).unwrap();
        let request = |output: Option<&Path>| ExportRequest {
            index: place.index(),
            output: output.map(Path::to_owned),
            existing: Existing::Refuse,
        };
        let mut out = Vec::new();
        export_index(&request(None), &mut out, &Silent).unwrap();
        let file = place.folder.path().join("x.jsonl");
        export_index(&request(Some(&file)), &mut Vec::new(), &Silent).unwrap();
        assert_eq!(fs::read(&file).unwrap(), out);
        for wrong in [&file, &place.folder.path().join("x.csv")] {
            assert!(export_index(&request(Some(wrong)), &mut Vec::new(), &Silent).is_err());
        }
    }

    #[test]
    fn lines_of_new_documents_pass_and_repeats_are_set_aside() {
        let place = IndexPlace::new();
        let duplicates = place.folder.path().join("repeats");
        let request = FilterRequest {
            index: place.index(),
            input: InputSettings::default(),
            source: "pipe".to_owned(),
            time: None,
            batch_lines: 1,
            wait: Duration::ZERO,
            commit_after: Duration::from_secs(5),
            duplicates: Some(duplicates.clone()),
        };
        let (a, rest) = LINES.split_once('\n').unwrap();
        let (b, bad) = rest.split_once('\n').unwrap();
        let mut out = Vec::new();
        let outcome = filter_lines(&request, LINES.as_bytes(), &mut out, &Silent).unwrap();
        let end = FilterEnd::Input;
        assert_eq!(outcome, FilterOutcome { end, lines: 3, new: 1, repeats: 1, bad: 1 });
        // A line that cannot be read is never lost.
        assert_eq!(String::from_utf8(out).unwrap(), format!("{a}\n{bad}"));
        let repeat = |id, line| {
            let columns = r#""repeats":"a","number":0,"distance":0,"document":"#;
            format!("{{\"id\":\"{id}\",{columns}{line}}}\n")
        };
        assert_eq!(fs::read_to_string(&duplicates).unwrap(), repeat("b", b));
        // Answered lines are in the index, and the file of repeats grows.
        let again = filter_lines(&request, LINES.as_bytes(), &mut Vec::new(), &Silent).unwrap();
        assert_eq!((again.new, again.repeats), (0, 2));
        let expected = format!("{0}{1}{0}", repeat("b", b), repeat("a", a));
        assert_eq!(fs::read_to_string(&duplicates).unwrap(), expected);
    }

    #[test]
    fn an_index_is_committed_as_often_as_wanted() {
        let commits = |seconds: &str| {
            let place = IndexPlace::new();
            let mut options = Options::parse("batch=1,wait=0,threads=1").unwrap();
            options.set("commit_after", seconds);
            let index = place.index().index;
            let request = FilterRequest::parse(index, "test".to_owned(), options).unwrap();
            filter_lines(&request, LINES.as_bytes(), &mut Vec::new(), &Silent).unwrap();
            stat_index(&place.index(), FileAccess::READ).unwrap().size.generation
        };
        assert!(commits("0") > commits("1000"));
    }

    #[test]
    fn lines_that_are_too_long_pass_and_are_bad() {
        let long = format!("{{\"id\":\"l\",\"text\":\"{}\"}}\n", "five ".repeat(220_000));
        let lines = format!("{LINES}{long}{LINES}{}", long.trim_end());
        let filter = |options: &str| {
            let place = IndexPlace::new();
            let request = FilterRequest {
                index: place.index(),
                input: place.documents(options).input,
                source: "pipe".to_owned(),
                time: None,
                batch_lines: 1,
                wait: Duration::ZERO,
                commit_after: Duration::from_secs(5),
                duplicates: None,
            };
            let (mut out, input) = (Vec::new(), io::Cursor::new(lines.clone()));
            let FilterOutcome { lines, new, repeats, bad, .. } =
                filter_lines(&request, input, &mut out, &Silent).unwrap();
            (String::from_utf8(out).unwrap(), (lines, new, repeats, bad))
        };
        let short = LINES.lines().map(|line| format!("{line}\n")).collect::<Vec<_>>();
        let [a, _, bad] = &short[..] else { panic!("{short:?}") };
        let passed = format!("{a}{bad}{long}{bad}{}", long.trim_end());
        assert_eq!(filter("max_record=1100K"), (passed, (8, 1, 3, 4)));
        for options in ["", "max_memory=1M"] {
            assert_eq!(filter(options), (format!("{a}{bad}{long}{bad}"), (8, 2, 4, 2)));
        }
    }

    /// Input that fails after its first bytes.
    struct Failing<'a>(&'a [u8]);

    impl io::Read for Failing<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let length = self.0.len().min(room.len());
            if length == 0 {
                return Err(io::Error::other("broken cable"));
            }
            room[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn lines_that_were_answered_before_the_input_fails_stay_in_the_index() {
        let place = IndexPlace::new();
        let request = FilterRequest {
            index: place.index(),
            input: InputSettings::default(),
            source: "pipe".to_owned(),
            time: None,
            batch_lines: 2,
            wait: Duration::ZERO,
            commit_after: Duration::from_secs(5),
            duplicates: None,
        };
        let mut out = Vec::new();
        let error =
            filter_lines(&request, Failing(LINES.as_bytes()), &mut out, &Silent).unwrap_err();
        assert!(error.to_string().contains("standard input"), "{error}");
        assert!(out.starts_with(b"{\"id\":\"a\""));
        let stat = stat_index(&place.index(), FileAccess::READ).unwrap();
        assert_eq!((stat.size.documents, stat.size.repeats), (1, 1));
        assert_eq!(stat.sources, ["pipe"]);
    }

    #[test]
    fn an_index_that_takes_another_one_knows_its_documents() {
        let [one, other] = [IndexPlace::new(), IndexPlace::new()];
        one.write("x.jsonl", LINES);
        one.add("", None).unwrap();
        let merged = merge_index(&other.index(), &one.index().index, FileAccess::READ).unwrap();
        assert_eq!(merged, MergeOutcome { new: 1, repeats: 0, same: 0, documents: 1 });
        let again = merge_index(&other.index(), &one.index().index, FileAccess::READ).unwrap();
        assert_eq!(again, MergeOutcome { new: 0, repeats: 1, same: 1, documents: 1 });
        let compacted = compact_index(&other.index(), FileAccess::READ).unwrap();
        assert_eq!((compacted.documents, compacted.segments), (1, 1));
        assert_eq!(verify_index(&other.index(), FileAccess::READ).unwrap(), compacted);
        let mut json = Vec::new();
        stat_index(&other.index(), FileAccess::READ).unwrap().write_json(&mut json).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert!(json.starts_with("{\"method\":\"simhash:"), "{json}");
        assert!(json.contains("\"documents\":1,\"removed\":0,\"repeats\":"), "{json}");
    }
}
