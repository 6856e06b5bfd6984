//! `join` and `search`: finds pairs of near fingerprints in files of fingerprints.

use super::face::{Face, Notice};
use super::files::{open_file, refuse_existing, write_whole_file};
use super::join_fingerprints::{plan_join, write_pairs};
use super::standard_streams::{STANDARD_INPUT, is_standard_output, standard_input};
use crate::output::emit_pairs::{PairForm, PairOutput, Sink};
use crate::pipeline::timings::Timings;
use crate::write::output_folder::Existing;
use simtool_base::error::{Error, Result};
use simtool_base::mapped_file::MappedFile;
use simtool_base::options::Options;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_fingerprint::file::{self, RowIds};
use simtool_hamming::join::Join;
use simtool_hamming::joins;
use simtool_model::sides::Sides;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Maximum distance of pairs if the option `max_distance` is not given.
const MAX_DISTANCE: u32 = 3;

/// Files of fingerprints that are joined, and the form of the written pairs.
#[derive(Clone, Debug)]
pub struct JoinRequest {
    /// One file that is joined with itself, or the files of the queries and of the corpus. One of them may be
    /// `-`, which is standard input.
    pub files: Sides<PathBuf>,
    /// Maximum number of positions in which the fingerprints of a pair differ.
    pub max_distance: u32,
    /// Join method to use. If `None`, the planner chooses one.
    pub index: Option<&'static dyn Join>,
    /// Whether fingerprints are named by row numbers even if the files have IDs.
    pub row_numbers: bool,
    /// Form in which pairs are written.
    pub form: PairOutput,
    /// Path of the output file. `None` means standard output.
    pub output: Option<PathBuf>,
    /// Whether an existing output file is replaced.
    pub existing: Existing,
    /// Memory and threads that the run may use.
    pub resources: Resources,
}

/// Result of [`join`]: times and counts. The pairs are in the output.
#[derive(Debug)]
pub struct Joined {
    /// Time and counts of each stage, for example the number of pairs.
    pub timings: Timings,
}

impl JoinRequest {
    /// Creates the request for `files`. `options` may have the options of [`Resources`], and `max_distance`,
    /// `index`, `rows`, `count`, `groups`, `output` and `force`.
    ///
    /// # Errors
    ///
    /// A value is outside its range, settings contradict each other, an option is unknown, or both files are
    /// standard input.
    pub fn parse(files: Sides<PathBuf>, mut options: Options) -> Result<Self> {
        if let Sides::Two(queries, corpus) = &files
            && queries == Path::new(STANDARD_INPUT)
            && queries == corpus
        {
            let rule = "standard input can be read once";
            return Err(Error::config("queries", STANDARD_INPUT, rule));
        }
        let rule = "must be a whole number";
        let max_distance = options.take_parsed("max_distance", rule)?.unwrap_or(MAX_DISTANCE);
        let index = options.take("index").map(|name| joins::find(&name)).transpose()?;
        let output = options.take_path("output").filter(|path| !is_standard_output(path));
        let request = Self {
            files,
            max_distance,
            index,
            row_numbers: options.take_flag("rows")?,
            form: form(&mut options, output.as_deref())?,
            output,
            existing: Existing::by_force(options.take_flag("force")?),
            resources: Resources::parse(&mut options)?,
        };
        options.refuse_rest("a join has no such option")?;
        Ok(request)
    }
}

/// Returns the form of the written pairs, from the options `count` and `groups` and the extension of the
/// output file.
fn form(options: &mut Options, output: Option<&Path>) -> Result<PairOutput> {
    let lines = match (options.take_flag("count")?, options.take_flag("groups")?) {
        (true, true) => {
            return Err(Error::config("count", "", "cannot be used with `groups`"));
        }
        (true, false) => Some(PairOutput::Count),
        (false, true) => Some(PairOutput::Groups),
        (false, false) => None,
    };
    // All three forms of lines are text, so they have the same file extension.
    let text = lines.unwrap_or(PairOutput::Tsv);
    let Some(path) = output else { return Ok(text) };
    let extension = path.extension().map(OsStr::as_encoded_bytes);
    let form = match extension.map(<[u8]>::to_ascii_lowercase).as_deref() {
        None | Some(b"tsv") => text,
        Some(b"npy") => PairOutput::Numpy,
        Some(b"parquet") if cfg!(feature = "parquet") => PairOutput::Parquet,
        Some(_) => {
            let rule = if cfg!(feature = "parquet") {
                "must end in .tsv, .npy or .parquet"
            } else {
                "must end in .tsv or .npy"
            };
            return Err(Error::config("output", path.display(), rule));
        }
    };
    if lines.is_some() && form != text {
        let rule = "takes no `count` and no `groups`, which are lines; name a .tsv file";
        return Err(Error::config("output", path.display(), rule));
    }
    Ok(form)
}

/// Finds the pairs that `request` asks for, and writes them to its output file or to `standard_output`.
///
/// # Errors
///
/// The output already exists, a file has no fingerprints, fingerprints of queries and corpus have different
/// shapes, the join method cannot do this task, or the output cannot be written.
pub fn join(
    request: &JoinRequest,
    standard_output: &mut (dyn Write + Send),
    face: &dyn Face,
) -> Result<Joined> {
    // An existing file must be reported before the join, which may take long.
    if let Some(path) = &request.output {
        refuse_existing("output", path, request.existing)?;
    }
    let mut timings = Timings::start();
    let opened = open_sides(request, face)?;
    let rows = opened.as_ref().zip(request.files.as_ref());
    let rows = rows.try_map(|(bytes, path)| file::read(bytes, path))?;
    let ids = opened.as_ref().zip(request.files.as_ref());
    let ids = ids.try_map(|(bytes, path)| row_ids(request, bytes, path))?;
    for (rows, path) in rows.iter().zip(request.files.iter()) {
        let (count, shape) = (rows.len(), rows.shape);
        face.notice(Notice::Detail(&format!("{}: {count} rows of {shape}", path.display())));
    }
    timings.end("read");

    let memory = request.resources.memory;
    let plan = plan_join(rows.as_ref(), request.max_distance, request.index, memory)?;
    face.notice(Notice::Explanation(&plan.to_string()));
    face.notice(Notice::Detail(&format!("the method is {}", plan.join)));
    timings.end("plan");

    let form =
        PairForm { output: request.form, ids: [ids.first().as_ref(), ids.second().as_ref()] };
    let context = Context::with_pool(&request.resources, face.progress())?;
    let written = write_output(request, standard_output, face, |sink| {
        write_pairs(rows.as_ref(), &plan, form, &context, sink)
    })?;
    timings.extend(&written);
    Ok(Joined { timings })
}

/// Opens the files of fingerprints. If standard input is a pipe, it is copied to a file, because fingerprints
/// are read in any order.
fn open_sides(request: &JoinRequest, face: &dyn Face) -> Result<Sides<MappedFile>> {
    request.files.as_ref().try_map(|path| {
        if path == Path::new(STANDARD_INPUT) {
            let input = standard_input(&request.resources.temporary_folder)?;
            return input.content(face.access());
        }
        open_file(path, face.access())
    })
}

/// Returns the IDs that a file stores with its fingerprints. `None` if it has none or row numbers are wanted.
fn row_ids<'f>(request: &JoinRequest, bytes: &'f [u8], path: &Path) -> Result<Option<RowIds<'f>>> {
    if request.row_numbers { Ok(None) } else { RowIds::from_bytes(bytes, path) }
}

/// Calls `work` with a function that writes bytes to the output file of the request or to standard output.
fn write_output(
    request: &JoinRequest,
    standard_output: &mut (dyn Write + Send),
    face: &dyn Face,
    work: impl FnOnce(&mut Sink<'_>) -> Result<Timings>,
) -> Result<Timings> {
    if let Some(path) = &request.output {
        return write_whole_file(path, request.existing, face, |file| {
            work(&mut |bytes| file.write(bytes))
        });
    }
    let failed = |error| Error::io("standard output", "write", error);
    let timings = work(&mut |bytes| standard_output.write_all(bytes).map_err(failed))?;
    // The error of the last write must not be lost.
    standard_output.flush().map_err(failed)?;
    Ok(timings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Silent;
    use std::fs;

    /// A file of four rows: the first two are equal, and the third differs from them in one bit.
    fn rows(folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, "00ff\n00ff\n00fe\n7000\n").unwrap();
        path
    }

    fn joined(files: Sides<PathBuf>, options: &str) -> Result<String> {
        let request = JoinRequest::parse(files, Options::parse(options)?)?;
        let mut out = Vec::new();
        join(&request, &mut out, &Silent)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn pairs_are_written_in_every_form() {
        let folder = tempfile::tempdir().unwrap();
        let one = Sides::One(rows(folder.path(), "a.txt"));
        for (options, expected) in [
            ("", "0\t1\t0\n0\t2\t1\n1\t2\t1\n"),
            ("max_distance=0", "0\t1\t0\n"),
            ("count=true", "3\n"),
            ("groups=true,index=linear-scan", "group\t0 1\npair\t0\t2\t1\n"),
        ] {
            assert_eq!(joined(one.clone(), options).unwrap(), expected, "{options}");
        }
        let two = Sides::Two(rows(folder.path(), "q.txt"), rows(folder.path(), "c.txt"));
        assert_eq!(joined(two, "max_distance=0,count=true").unwrap(), "6\n");
    }

    #[test]
    fn contradictions_are_refused_before_a_file_is_opened() {
        let nowhere = || PathBuf::from("no-such-file");
        for (options, message) in [
            ("count=true,groups=true", "count : cannot be used with `groups`"),
            ("count=true,output=x.npy", "output x.npy: takes no `count` and no `groups`"),
            ("output=x.pdf", "output x.pdf: must end in .tsv"),
            ("max_distance=few", "max_distance few: must be a whole number"),
            ("index=magic", "index magic: "),
            ("colour=red", "options colour=red: "),
        ] {
            let error = joined(Sides::One(nowhere()), options).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        let standard = || PathBuf::from(STANDARD_INPUT);
        let error = joined(Sides::Two(standard(), standard()), "").unwrap_err().to_string();
        assert_eq!(error, "queries -: standard input can be read once");
    }

    #[test]
    fn an_output_that_exists_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (files, output) = (rows(folder.path(), "a.txt"), folder.path().join("out.tsv"));
        fs::write(&output, "mine").unwrap();
        let mut options = Options::new();
        options.set("output", &output);
        let request = JoinRequest::parse(Sides::One(files), options).unwrap();
        let error = join(&request, &mut Vec::new(), &Silent).unwrap_err().to_string();
        assert!(error.contains("is there already"), "{error}");
        assert_eq!(fs::read_to_string(&output).unwrap(), "mine");
    }
}
