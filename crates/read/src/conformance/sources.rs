//! Tests that collections are read from any source, with no file on the disk.

use crate::conformance::{documents, encodings, gzip, options, read_collection};
use crate::documents::walk::InputFile;
use crate::documents::{Collection, Corpus};
use crate::formats::{Event, Visit};
use crate::source::{MemorySource, OpenSource, Source, SourceState};
use simtool_model::document::Content;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

#[test]
fn a_collection_in_memory_needs_no_files() {
    let mut files = encodings();
    let packed: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, content)| (*name, gzip(content))).collect();
    files.extend(packed);
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let inputs = files.iter().map(|(name, content)| InputFile::in_memory(name, content.clone()));
    let collection = Collection::open(inputs.collect(), options(70_000));
    assert!(names.iter().all(|name| !Path::new(name).exists()));
    let seen = read_collection(&collection);
    assert_eq!(seen.lost, [""; 0]);
    let expected: Vec<_> = (0..names.len())
        .flat_map(|file| {
            documents().into_iter().zip(0..).map(move |(document, at)| (file, at, document))
        })
        .map(|(file, at, (id, text))| (file, at, id, text))
        .collect();
    assert!(seen.documents == expected);
    for (file, name) in names.iter().enumerate() {
        assert_eq!(collection.file_name(file), Path::new(name));
        assert_eq!(collection.copy_name(file), Path::new(name));
    }
    assert_eq!(collection.field_names()[..3], ["id", "n", "text"]);
    // A later run cannot know that the same bytes come again, and nobody can change them in this run.
    assert!((0..collection.shard_count()).all(|shard| collection.shard_identity(shard).is_none()));
    assert_eq!(collection.changed_files().count(), 0);
}

#[test]
fn reading_starts_inside_of_files_in_memory() {
    let line = |number: u32| format!("{{\"text\": \"line {number}\"}}\n");
    let members: Vec<u8> = (0..2000).flat_map(|number| gzip(line(number).as_bytes())).collect();
    let middle = members.len() as u64 / 2;
    let file = InputFile::in_memory("a.jsonl.gz", members);
    let collection = Collection::open(vec![file], options(1));
    let mut count = 0;
    let visit: &mut Visit<'_> = &mut |event| {
        if let Event::Record(record) = event {
            count += usize::from(matches!(record.content, Content::Document(_)));
        }
        Ok(ControlFlow::Continue(()))
    };
    assert!(collection.read_shard_behind(0, middle, visit).unwrap());
    assert!((970..1010).contains(&count), "{count} documents");
}

/// A source that gives few bytes at once, as a network may, and has the length and time of an
/// object of a store.
#[derive(Debug)]
struct FarSource(MemorySource);

struct OpenFarSource(Arc<dyn OpenSource>);

impl Source for FarSource {
    fn name(&self) -> &Path {
        self.0.name()
    }

    fn is_lasting(&self) -> bool {
        true
    }

    fn state(&self) -> io::Result<SourceState> {
        Ok(SourceState { modified: Some(UNIX_EPOCH), ..self.0.state()? })
    }

    fn open(&self) -> io::Result<Arc<dyn OpenSource>> {
        Ok(Arc::new(OpenFarSource(self.0.open()?)))
    }
}

impl OpenSource for OpenFarSource {
    fn state(&self) -> io::Result<SourceState> {
        Ok(SourceState { modified: Some(UNIX_EPOCH), ..self.0.state()? })
    }

    fn read_at(&self, at: u64, space: &mut [u8]) -> io::Result<usize> {
        let most = space.len().min(1000);
        self.0.read_at(at, &mut space[..most])
    }

    fn stream(self: Arc<Self>, from: u64) -> Box<dyn Read + Send> {
        Arc::clone(&self.0).stream(from)
    }
}

#[test]
fn a_source_may_give_few_bytes_at_once() {
    for (name, content) in encodings() {
        for (name, content) in
            [(name.to_owned(), content.clone()), (format!("{name}.gz"), gzip(&content))]
        {
            let near = InputFile::in_memory(&name, content.clone());
            let near = Collection::open(vec![near], options(70_000));
            let far = FarSource(MemorySource::new(name.clone().into(), content));
            let far = Collection::open(vec![InputFile::from_source(far)], options(70_000));
            assert!(read_collection(&far) == read_collection(&near), "{name}");
            let identity = far.shard_identity(0).unwrap();
            assert!(identity.starts_with(name.as_bytes()));
            assert_eq!(far.changed_files().count(), 0);
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn tables_in_memory_are_copied() {
    use super::parquet::parquet_documents;
    use crate::formats::{InParallel, RowsCopy};
    let in_parallel: &InParallel<'_> = &|count, work| (0..count).for_each(work);
    let source = FarSource(MemorySource::new("a.parquet".into(), parquet_documents()));
    let collection = Collection::open(vec![InputFile::from_source(source)], options(1));
    assert!(collection.edits_rows(0));
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy.parquet");
    let kept = [3, 50, 119];
    let copy = RowsCopy { to: &to, kept: &kept, edit: None, added: None, at_once: 2, in_parallel };
    collection.copy_rows(0, &copy).unwrap();
    let copied = read_collection(&Collection::open(vec![InputFile::new(&to)], options(1)));
    let expected = documents();
    let expected: Vec<(&str, &str)> =
        kept.iter().map(|&at| &expected[at as usize]).map(|(id, text)| (&**id, &**text)).collect();
    assert_eq!(copied.texts(), expected);
}
