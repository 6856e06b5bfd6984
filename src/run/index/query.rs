//! `index query`: finds the documents of an index that are near the documents of a collection.

use super::{IndexedDocuments, OpenRequest, refuse_rest};
use crate::run::face::Face;
use crate::run::reading_faults::{has_losses, note_whole_pages};
use simtool_base::error::{Error, Result};
use simtool_base::fault::Fault;
use simtool_base::options::Options;
use simtool_read::Strict;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Documents that are looked up in an index, and the form of the output.
#[derive(Clone, Debug)]
pub struct QueryRequest {
    /// Index that is searched.
    pub index: OpenRequest,
    /// Documents that are looked up, and the settings for reading them.
    pub documents: IndexedDocuments,
    /// Whether only the nearest document of the index is written for each document, and not all near ones.
    pub only_nearest: bool,
    /// Whether each row is written as a JSON object instead of tab-separated text.
    pub is_json: bool,
}

impl QueryRequest {
    /// Creates the request to look up the documents of `paths` in `index`. `holder` describes this process. `options`
    /// may have the settings of the command `index query`, except those of printing.
    ///
    /// # Errors
    ///
    /// A value is wrong, or a setting is unknown.
    pub fn parse(
        index: PathBuf,
        holder: String,
        paths: Vec<PathBuf>,
        mut options: Options,
    ) -> Result<Self> {
        let request = Self {
            documents: IndexedDocuments::parse(paths, &mut options)?,
            index: OpenRequest::parse(index, holder, &mut options)?,
            only_nearest: !options.take_flag("all")?,
            is_json: false,
        };
        refuse_rest(&options)?;
        Ok(request)
    }
}

/// Result of [`query_index`]: number of looked-up documents that are near a document of the index, and faults of the
/// input.
#[derive(Debug)]
pub struct QueryOutcome {
    /// Number of documents that were looked up.
    pub documents: u64,
    /// Number of looked-up documents that are near a document of the index.
    pub seen_before: u64,
    /// Faults of the input: bad records, and damaged or unreadable files.
    pub faults: Vec<Fault>,
    /// Whether some records or files could not be read.
    pub has_losses: bool,
}

/// Looks up the documents of `request` in the index. Writes a line to `standard_output` for each near
/// document of the index. The index is not changed.
///
/// # Errors
///
/// The index is damaged, parts of the input are lost and `on_error` is `fail`, or the output cannot be
/// written.
pub fn query_index(
    request: &QueryRequest,
    standard_output: &mut dyn Write,
    face: &dyn Face,
) -> Result<QueryOutcome> {
    let index = request.index.open(face.access())?;
    let input = request.documents.open(&request.index, face)?;
    let strict = Strict(&input.collection);
    let corpus = input.corpus(&strict);
    let mut out = BufWriter::new(standard_output);
    let (mut documents, mut seen_before) = (0, 0);
    let only_nearest = request.only_nearest;
    let mut read =
        index.near_corpus(corpus, only_nearest, face.progress(), &mut |name, near| {
            documents += 1;
            // A document counts once, even if several documents of the index are near it.
            seen_before += u64::from(!near.is_empty());
            near.iter()
                .try_for_each(|&near| index.write_near(&mut out, request.is_json, name, near))
        })?;
    input.add_faults(&mut read, face);
    let faults = input.faults(&read);
    request.documents.input.refuse_losses(&faults)?;
    out.flush().map_err(|error| Error::io("standard output", "write", error))?;
    note_whole_pages(std::iter::once(&read), face);
    let has_losses = has_losses(std::iter::once(&read));
    Ok(QueryOutcome { documents, seen_before, faults, has_losses })
}
