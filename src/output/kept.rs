//! The output `kept`: copies of the input files without the removed documents, and the list of the copies. And the
//! output `removed_copies`: the removed documents alone.

use super::copy_check::CopyCheck;
use super::document_status::DocumentStatus;
use super::kept_copies::{BadRecords, CopyRules, CopyStatus, NoCopy, write_kept_copies};
use super::output_kind::{KEEP_STAGE, Output};
use super::results::{Results, write_file};
use crate::write::columns::{
    Column, IdType, OutputDescription, RowFormat, RowTable, RowsFile, Value, describe_columns,
};
use crate::write::output_folder::OutputFolder;
use simtool_base::error::{Error, Result};
use simtool_compute::context::Context;
use simtool_model::document::{DocOrdinal, DocumentIds};
use simtool_read::{Collection, Corpus};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::Ordering;

pub(super) const OUTPUT: Output = Output {
    description: OutputDescription {
        name: "kept",
        files: &[FOLDER],
        command: "dedup, match, passages, contamination",
        description: "A folder with copies of the inputs, in the same formats, without the removed \
                      documents or passages. A file that cannot be read has no copy: the output files lists \
                      it. Written with --write-kept.",
        columns: Vec::new,
    },
    stage: KEEP_STAGE,
    is_wanted: |results| results.outputs.kept,
    write: write_kept,
};

pub(super) const REMOVED: Output = Output {
    description: OutputDescription {
        name: "removed_copies",
        files: &[REMOVED_FOLDER],
        command: "dedup, match, contamination",
        description: "A folder with copies of the inputs, in the same formats, with nothing but the removed documents. A \
                      file without any has no copy. Written with --write-removed.",
        columns: Vec::new,
    },
    stage: KEEP_STAGE,
    is_wanted: |results| results.outputs.removed,
    write: write_removed,
};

/// Description of the list of all copies. The list is written together with the copies.
pub(super) const LIST: OutputDescription = OutputDescription {
    name: "files",
    files: &["files.jsonl", "files.tsv", "files.parquet"],
    command: "dedup, match, passages, contamination",
    description: "Each input file with its copy in kept, or the reason why it has none. Written with \
                  --write-kept.",
    columns: || describe_columns(FileRows::COLUMNS),
};

/// Name of the folder with the copies.
const FOLDER: &str = "kept";
/// Name of the folder with the copies of removed documents.
const REMOVED_FOLDER: &str = "removed";

/// Columns of the output `files`, for example `file` and `copy`.
#[derive(Debug)]
struct FileRows;

struct FileRow<'r> {
    file: &'r Path,
    /// Path of the copy in the output folder. Empty if there is none.
    copy: &'r Path,
    documents: u64,
    removed: u64,
    reason: &'static str,
}

impl RowTable for FileRows {
    type Row<'r> = FileRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(
            "file",
            "Input file.",
            Value::Text(|row| row.file.as_os_str().as_encoded_bytes()),
        ),
        Column::new(
            "copy",
            "Its copy, as a path in the output folder. Empty if there is none.",
            Value::Text(|row| row.copy.as_os_str().as_encoded_bytes()),
        ),
        Column::new(
            "documents",
            "Number of documents of the file that were compared.",
            Value::Number(|row| row.documents),
        ),
        Column::new(
            "removed",
            "Number of its documents that were removed.",
            Value::Number(|row| row.removed),
        ),
        Column::new(
            "reason",
            "Reason why there is no copy: `removed` if the whole file is one removed document, or \
             `unreadable` if no record of it can be read. Empty if there is a copy.",
            Value::Text(|row| row.reason.as_bytes()),
        ),
    ];
}

/// Returns the collection of files that the documents are in. `setting` is the option that needs files, for the error
/// message.
fn files_of<'r>(results: &Results<'r>, setting: &'static str) -> Result<&'r Collection> {
    let rule = "needs documents that are in files";
    let files = results.findings.documents().collection.as_files();
    files.ok_or_else(|| Error::config(setting, "these documents", rule))
}

/// Writes the copies of the removed documents.
fn write_removed(results: &Results<'_>) -> Result<()> {
    let files = files_of(results, "write_removed")?;
    let ids = &results.findings.documents().read.ids;
    let kept = results.kept;
    write_copies_of(files, ids, &|row| !kept[row.index()], results.folder, results.context)
}

/// Writes copies of `files` with nothing but the documents for which `is_removed` returns true. A file without such a
/// document has no copy.
pub(super) fn write_copies_of(
    files: &Collection,
    ids: &DocumentIds,
    is_removed: &(dyn Fn(DocOrdinal) -> bool + Sync),
    folder: &OutputFolder,
    context: &Context<'_>,
) -> Result<()> {
    let mut wanted = vec![false; files.file_count()];
    for shard in 0..files.shard_count() {
        let mut rows = ids.first_of_shard(shard).0..ids.end_of_shard(shard).0;
        wanted[files.shard_file(shard)] |= rows.any(|row| is_removed(DocOrdinal(row)));
    }
    let status = |document| DocumentStatus::kept_if(is_removed(document));
    // Bad records were not compared, so they stay with the kept documents.
    let rules = CopyRules {
        bad_records: BadRecords::Drop,
        files: Some(&wanted),
        ..CopyRules::new(&status, None)
    };
    let target = folder.staging().join(REMOVED_FOLDER);
    context
        .threads()
        .run(|| write_kept_copies(files, ids, &rules, &target, context.progress()))?
        .map(drop)
}

/// Writes the copies of the inputs, and the list of the copies.
fn write_kept(results: &Results<'_>) -> Result<()> {
    let documents = results.findings.documents();
    let files = files_of(results, "write_kept")?;
    let status = |document: DocOrdinal| DocumentStatus::kept_if(results.kept[document.index()]);
    let rules = CopyRules {
        status: &status,
        mask: None,
        bad_records: results.outputs.bad_records,
        texts: results.texts,
        files: None,
        added: None,
        stored: results.findings.stored_copies(),
        is_checked: false,
    };
    let copies = ListedCopies { files, ids: &documents.read.ids, rules, recipe: results.recipe };
    let written = copies.write(results.folder, results.outputs.rows, results.context)?;
    results.uncopied_files.store(written.unreadable_files, Ordering::Relaxed);
    Ok(())
}

/// Result of writing the copies: the documents that could not be edited, and the number of files without a copy.
pub(super) struct WrittenCopies {
    /// Documents that were copied whole because their records cannot be edited, ascending.
    pub(super) unedited: Vec<DocOrdinal>,
    /// Number of files without a copy, because no record of them can be read.
    pub(super) unreadable_files: u64,
}

/// Copies of files that are written together with a list of the copies.
pub(super) struct ListedCopies<'c> {
    pub(super) files: &'c Collection,
    pub(super) ids: &'c DocumentIds,
    pub(super) rules: CopyRules<'c>,
    /// Recipe of the method, for the metadata of the list. Empty if there is no method.
    pub(super) recipe: &'c str,
}

impl ListedCopies<'_> {
    /// Writes the copies, and the list of the copies in this format. Checks the copies with cuts if the rules say so.
    ///
    /// # Errors
    ///
    /// A copy or the list cannot be written, a file has changed since its first reading, or a copy is wrong.
    pub(super) fn write(
        &self,
        folder: &OutputFolder,
        format: RowFormat,
        context: &Context<'_>,
    ) -> Result<WrittenCopies> {
        let Self { files, ids, rules, recipe } = self;
        let target = folder.staging().join(FOLDER);
        let copies = context
            .threads()
            .run(|| write_kept_copies(files, ids, rules, &target, context.progress()))??;
        complete_mail_folders(files, &copies.files, &target)?;
        if rules.is_checked {
            let check = CopyCheck { files, ids, rules, copies: &copies, folder: &target };
            context.threads().run(|| check.check_all(context.progress()))??;
        }
        // Statuses are computed again, because most documents are kept as they are.
        let is_kept = |row: u32| (rules.status)(DocOrdinal(row)) != DocumentStatus::Removed;
        let kept: Vec<bool> = (0..ids.len() as u32).map(is_kept).collect();
        let list = CopyList { files, ids, statuses: &copies.files, kept: &kept };
        write_file(folder, &format!("{}.{}", LIST.name, format.extension()), |out| {
            list.write(out, format, recipe)
        })?;
        let is_unreadable =
            |status: &&CopyStatus| matches!(status, CopyStatus::Missing(NoCopy::Unreadable));
        let unreadable_files = copies.files.iter().filter(is_unreadable).count() as u64;
        Ok(WrittenCopies { unedited: copies.unedited, unreadable_files })
    }
}

/// Folders of a Maildir. Programs for mails read a folder only if it has all of them, empty ones too.
const MAIL_FOLDERS: [&str; 3] = ["cur", "new", "tmp"];

/// Creates the folders `cur`, `new` and `tmp` in the copy of each Maildir, even if no mail was copied to them.
fn complete_mail_folders(files: &Collection, copies: &[CopyStatus], folder: &Path) -> Result<()> {
    let mut completed = BTreeSet::new();
    for (file, status) in copies.iter().enumerate() {
        // Mails that were removed have no copy, so their folder may be missing, too.
        let CopyStatus::Written(copy) = status else { continue };
        let input = files
            .file_name(file)
            .parent()
            .filter(|input| MAIL_FOLDERS.iter().any(|name| input.ends_with(name)));
        let (Some(input), Some(copy)) =
            (input.and_then(Path::parent), copy.parent().and_then(Path::parent))
        else {
            continue;
        };
        if completed.insert(copy) && MAIL_FOLDERS.iter().all(|name| input.join(name).is_dir()) {
            for name in MAIL_FOLDERS {
                let path = folder.join(copy).join(name);
                fs::create_dir_all(&path).map_err(|error| Error::io(&path, "create", error))?;
            }
        }
    }
    Ok(())
}

/// List of the input files and their copies, which is the output `files`.
struct CopyList<'c> {
    files: &'c Collection,
    ids: &'c DocumentIds,
    statuses: &'c [CopyStatus],
    /// For each document of the input, whether the copies contain it.
    kept: &'c [bool],
}

impl CopyList<'_> {
    /// Writes a row for each input file.
    fn write(
        &self,
        out: &mut (dyn Write + Send),
        format: RowFormat,
        recipe: &str,
    ) -> io::Result<()> {
        let Self { files, ids, statuses, kept } = self;
        // The rows have no IDs, so their type does not matter.
        let mut rows = RowsFile::new(out, format, FileRows::COLUMNS, IdType::Text, recipe)?;
        // Number of documents and of removed documents of each file.
        let mut counts = vec![[0, 0]; files.file_count()];
        for shard in 0..files.shard_count() {
            let range = ids.first_of_shard(shard).index()..ids.end_of_shard(shard).index();
            let [documents, removed] = &mut counts[files.shard_file(shard)];
            *documents += range.len() as u64;
            *removed += kept[range].iter().filter(|is_kept| !**is_kept).count() as u64;
        }
        for (file, (status, [documents, removed])) in statuses.iter().zip(counts).enumerate() {
            let (copy, reason) = match status {
                CopyStatus::Written(name) => (Path::new(FOLDER).join(name), ""),
                CopyStatus::Missing(NoCopy::Removed) => (Path::new("").into(), "removed"),
                CopyStatus::Missing(NoCopy::Unreadable) => (Path::new("").into(), "unreadable"),
                CopyStatus::Missing(NoCopy::Unwanted) => continue,
            };
            let file = files.file_name(file);
            rows.write(&FileRow { file, copy: &copy, documents, removed, reason })?;
        }
        rows.finish().map(drop)
    }
}
