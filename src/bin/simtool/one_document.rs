//! A document that the user names: a file of one, `FILE:RECORD`, `FILE#ID`, or an ID of a finished
//! run behind its output folder, as `OUT#ID`.

use anyhow::Context;
use simtool::Error;
use simtool::pipeline::compare::{Wanted, read_document};
use simtool::read::ReadOptions;
use simtool::read::walk::{InFolders, InputFile, Walker};
use std::env;
use std::fs;
use std::io;
use std::path::Path;

/// The text of the document that `name` names.
pub(crate) fn read(name: &Path, options: &ReadOptions) -> anyhow::Result<Vec<u8>> {
    let read = |file: InputFile, wanted: Wanted<'_>| -> anyhow::Result<Vec<u8>> {
        Ok(read_document(file, wanted, options.clone())?.text)
    };
    if name == Path::new("-") {
        let folder = env::temp_dir();
        let mut walker = Walker::new(&folder);
        walker.add(name, InFolders::default(), &mut io::stdin().lock())?;
        let file = walker.finish().files.pop().context("standard input cannot be read")?;
        return read(file, Wanted::Only);
    }
    let missing = match fs::metadata(name) {
        Ok(_) => return read(InputFile::new(name), Wanted::Only),
        Err(error) => Error::io(name, "read", error),
    };
    let Some(text) = name.to_str() else { return Err(missing.into()) };
    if let Some((file, record)) = text.rsplit_once(':')
        && let Ok(record) = record.parse()
        && Path::new(file).is_file()
    {
        return read(InputFile::new(file), Wanted::Record(record));
    }
    // Names of files and IDs may hold the sign themselves: the longest name that is there counts.
    for (at, _) in text.rmatch_indices('#') {
        let (file, id) = (Path::new(&text[..at]), &text[at + 1..]);
        if file.is_file() {
            return read(InputFile::new(file), Wanted::Id(id.as_bytes()));
        }
        #[cfg(feature = "jsonl")]
        if simtool::pipeline::finished_run::FinishedRun::is_at(file) {
            let run = crate::recorded::Recorded::open(file)?;
            let sought = simtool::pipeline::finished_run::Sought::new(id);
            let crate::recorded::Located { file, record, .. } = run.locate(sought)?;
            return Ok(run.read(&file, record)?.text);
        }
    }
    Err(missing.into())
}
