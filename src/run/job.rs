//! The frame that commands on files share: the part of the request that all of them have, what a run opens and in
//! which order, and how it ends.

use super::face::Face;
use super::files::working_folder;
use super::input::{Input, Places};
use super::input_settings::InputSettings;
use super::output_target::{OutputPlace, OutputTarget, refuse_stream_as_folder};
use super::parts_folder::{PartsFolder, PartsPlan, PartsRequest, StoredParts};
use super::recorded_request::RecordedRequest;
use super::standard_streams::is_standard_output;
use crate::output::{StoredCopies, write_file};
use crate::pipeline::excerpts::Excerpts;
use crate::pipeline::parts::{Parts, ShardShare};
use crate::pipeline::timings::Timings;
use crate::write::output_folder::{Existing, OutputFolder};
use crate::write::summary::{Setting, ShortSummary, Summary};
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_base::quantity::counted;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_read::remote::is_address;
use simtool_read::{Collection, Selector};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The part of a request that is the same in all commands which write results to files.
#[derive(Clone, Debug)]
pub struct JobRequest {
    /// The request as the user wrote it, which the output folder records.
    pub recorded: RecordedRequest,
    /// Path of the output file or folder; `-` is standard output.
    pub output: PathBuf,
    /// Whether an existing output is replaced.
    pub existing: Existing,
    /// Whether the run stores what it reads for a later run.
    pub(super) parts: PartsRequest,
}

impl JobRequest {
    /// Takes `output`, `force`, `resume` and `shard` out of `options`. `output` is the path of the output if the user
    /// names none.
    ///
    /// # Errors
    ///
    /// A value is outside its range.
    pub(super) fn parse(
        mut recorded: RecordedRequest,
        output: &str,
        options: &mut Options,
    ) -> Result<Self> {
        // The record has the options as they were before any of them is taken.
        recorded.options = options.clone();
        // It remembers all other options, so it comes first.
        let parts = PartsRequest::parse(options)?;
        let output = options.take_path("output").unwrap_or_else(|| output.into());
        if is_address(&output) {
            // Each part would be an object of its own that is read back, so parts are stored on this machine.
            parts.refuse(
                "stores what it reads next to the output, which must then be on this machine",
            )?;
        }
        Ok(Self {
            recorded,
            parts,
            output,
            existing: Existing::by_force(options.take_flag("force")?),
        })
    }

    /// Requires that earlier runs with the option `shard` have stored everything that the run reads. Otherwise the run
    /// fails.
    pub fn combine(&mut self) {
        self.parts.combine();
    }

    /// Returns whether the run only stores a share of its input and writes no results.
    #[must_use]
    pub fn is_shard(&self) -> bool {
        self.parts.share().is_some()
    }

    /// Returns the share of the input that the run stores. `None` if the run reads all of its input.
    pub(super) fn share(&self) -> Option<ShardShare> {
        self.parts.share()
    }

    /// Returns an error if the run only stores a share of its input. Such a run has no results.
    pub(super) fn refuse_share(&self) -> Result<()> {
        self.parts.refuse_share(
            "stores a share of the input and has no results: it is an option of the program",
        )
    }

    /// Returns an error if the output is standard output although the run writes a folder, or stores parts next to its
    /// output.
    pub(super) fn refuse_unnamed(&self, is_folder: bool) -> Result<()> {
        if is_standard_output(&self.output) {
            self.parts.refuse("needs `output`, next to which it stores what it reads")?;
        }
        if is_folder { refuse_stream_as_folder(&self.output) } else { Ok(()) }
    }

    /// Returns the place of the output, without the file that marks the output as complete.
    fn place(&self) -> OutputPlace<'_> {
        OutputPlace { path: &self.output, existing: self.existing, mark: None }
    }
}

/// A run on files that has begun.
pub(super) struct Job<'j> {
    request: &'j JobRequest,
    resources: &'j Resources,
    face: &'j dyn Face,
    pub(super) context: Context<'j>,
    /// Time of each stage since the job was opened.
    pub(super) timings: Timings,
}

impl<'j> Job<'j> {
    /// Starts the clock, and prepares the memory and threads of the run.
    ///
    /// # Errors
    ///
    /// The threads or other resources are not available.
    pub(super) fn open(
        request: &'j JobRequest,
        resources: &'j Resources,
        face: &'j dyn Face,
    ) -> Result<Self> {
        // The clock starts first, so that the stages have all of the time of the run.
        let timings = Timings::start();
        let context = Context::new(resources, face.progress())?;
        Ok(Self { request, resources, face, context, timings })
    }

    /// Finds the files in `paths` and opens them. `fields` are read in addition to the text.
    ///
    /// # Errors
    ///
    /// There is no file to read, or a path has a fault and `on_error` is `fail`.
    pub(super) fn input<'s>(
        &self,
        paths: &[PathBuf],
        settings: &'s InputSettings,
        fields: Vec<Selector>,
    ) -> Result<Input<'s>> {
        let mut options = settings.read_options(self.face.access(), self.resources);
        options.fields = fields;
        let temporary = &self.resources.temporary_folder;
        let places = Places { output: &self.request.output, temporary };
        Input::open(paths, settings, options, places, self.face)
    }

    /// Opens an output folder, or else an output file or `standard_output`. `paths` are the paths of all inputs. An
    /// output that cannot be written ends the run before its long search.
    ///
    /// # Errors
    ///
    /// The output is complete already, is an input, or has content that may not be replaced.
    pub(super) fn target<'t>(
        &self,
        is_folder: bool,
        inputs: &[&Input<'_>],
        paths: &[PathBuf],
        standard_output: &'t mut (dyn Write + Send),
    ) -> Result<OutputTarget<'t>> {
        let (request, place) = (self.request, self.request.place());
        // A run that was killed at its end may have completed this output.
        request.parts.refuse_finished(&request.output, &collections(inputs))?;
        if is_folder {
            OutputTarget::folder(place, paths, self.face)
        } else {
            OutputTarget::file(place, inputs, standard_output)
        }
    }

    /// Opens the data that earlier runs with this request have stored. If the request does not ask for stored data,
    /// returns an empty value and does not call `plan`.
    ///
    /// # Errors
    ///
    /// The folder of the parts cannot be created or read, or belongs to runs with other settings. Or parts are missing
    /// although the run demands all.
    pub(super) fn stored<'c>(
        &self,
        plan: impl FnOnce() -> Result<PartsPlan<'c>>,
    ) -> Result<Stored<'j, 'c>> {
        let JobRequest { recorded, output, parts, .. } = self.request;
        let folder = parts.open(output, &recorded.paths, recorded, self.face)?;
        let open =
            |folder: &PartsFolder<'j>| folder.parts(&plan()?, self.context.memory(), self.face);
        let parts = folder.as_ref().map(open).transpose()?;
        Ok(Stored { folder, parts, copies: None })
    }

    /// Writes the output and gives it its name. `write_rows` writes the rows of a file or stream, and `write_folder` the
    /// files of a folder.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn write(
        &self,
        target: OutputTarget<'_>,
        end: End<'_>,
        write_rows: &dyn Fn(&mut (dyn Write + Send)) -> io::Result<()>,
        write_folder: &mut dyn FnMut(&OutputFolder) -> Result<()>,
    ) -> Result<()> {
        let request = self.request;
        let mark = request.parts.mark(&request.output, &collections(end.inputs), end.has_losses);
        let place = OutputPlace { mark: mark.as_ref(), ..request.place() };
        let write_rows = |path: &Path, out: &mut (dyn Write + Send)| {
            // Rows are short, and each write to a file is a call of the system.
            let mut out = io::BufWriter::with_capacity(1 << 20, out);
            write_rows(&mut out).map_err(|error| Error::io(path, "write", error))
        };
        target.write(place, &write_rows, write_folder, self.face)
    }

    /// Returns the command, the settings and the times of the run. The page with the results shows them.
    pub(super) fn page_summary(
        &self,
        parameters: &[(&'static str, Setting)],
        timings: &Timings,
    ) -> Summary {
        Summary {
            command: self.request.recorded.command_line.clone(),
            parameters: parameters.to_vec(),
            stages: timings.stages().to_vec(),
            ..Summary::default()
        }
    }

    /// Writes the request and the summary to the output folder. They come last, because the summary has the times of
    /// all stages.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub(super) fn write_summary(
        &self,
        folder: &OutputFolder,
        figures: Figures<'_>,
        timings: &Timings,
    ) -> Result<()> {
        self.request.recorded.write(folder)?;
        let files = folder.written_files()?;
        let working_folder = working_folder();
        let summary = ShortSummary {
            command: &self.request.recorded.command_line,
            output: &self.request.output,
            working_folder: working_folder.as_deref(),
            parameters: figures.parameters,
            counts: figures.counts,
            written_files: Some(&files),
            more: figures.more,
            stages: timings.stages(),
        };
        write_file(folder, "summary.json", |out| summary.write(out))
    }
}

/// Content of `summary.json` that differs between commands.
#[derive(Clone, Copy)]
pub(super) struct Figures<'f> {
    /// Names and values of the settings.
    pub(super) parameters: &'f [(&'static str, Setting)],
    /// Names and values of the counts.
    pub(super) counts: &'f [(&'static str, u64)],
    /// Writes more fields, each followed by a comma.
    pub(super) more: &'f dyn Fn(&mut dyn Write) -> io::Result<()>,
}

/// State of a run whose results are about to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'e> {
    /// All inputs, from which a later run recognizes the output.
    pub(super) inputs: &'e [&'e Input<'e>],
    /// Whether some records or files could not be read.
    pub(super) has_losses: bool,
}

/// Data that this run and earlier runs have stored next to the output, so that an interrupted run can be continued.
/// Empty if the run stores nothing.
#[derive(Debug, Default)]
pub(super) struct Stored<'j, 'c> {
    folder: Option<PartsFolder<'j>>,
    parts: Option<Parts<'c>>,
    copies: Option<StoredCopies>,
}

impl<'c> Stored<'_, 'c> {
    /// Returns the store for the data of each part of the input, such as fingerprints. A later run need not read the
    /// stored parts again. `None` if the run stores nothing.
    pub(super) fn parts(&self) -> Option<&Parts<'c>> {
        self.parts.as_ref()
    }

    /// Opens the store of finished copies of input files, if they `are_wanted`.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub(super) fn open_copies(&mut self, are_wanted: bool) -> Result<()> {
        if let (Some(folder), Some(parts), true) = (&self.folder, &self.parts, are_wanted) {
            self.copies = Some(folder.copies(parts)?);
        }
        Ok(())
    }

    /// Returns the store of finished copies. `None` if it is not open.
    pub(super) fn copies(&self) -> Option<&StoredCopies> {
        self.copies.as_ref()
    }

    /// Returns this value with `excerpts`, if they are given. The excerpts are then stored and restored with the parts
    /// of the input.
    pub(super) fn with_excerpts(mut self, excerpts: Option<&'c Excerpts>) -> Self {
        self.parts = self.parts.map(|parts| parts.with_excerpts(excerpts));
        self
    }

    /// Stores a `share` of the input by `work`. Returns how much is stored now.
    ///
    /// # Errors
    ///
    /// There is no share, the run stores nothing, or `work` fails.
    pub(super) fn fill(
        &self,
        share: Option<ShardShare>,
        work: impl FnOnce(&Parts<'c>, ShardShare) -> Result<()>,
    ) -> Result<StoredParts> {
        let (Some(folder), Some(parts), Some(share)) = (&self.folder, &self.parts, share) else {
            return Err(Error::config("shard", "", "is needed"));
        };
        work(parts, share)?;
        Ok(folder.stored(parts))
    }

    /// Removes all stored data. It is called when the results have their final names. Returns a note about parts that
    /// were damaged, if there were any.
    pub(super) fn remove(self) -> Option<String> {
        // Copies are in the folder of the parts.
        if let Some(copies) = self.copies {
            copies.remove();
        }
        // The folder goes last, because it marks what is in it.
        if let Some(folder) = self.folder {
            folder.remove();
        }
        let damaged =
            self.parts.as_ref().map(Parts::damaged_count).filter(|&damaged| damaged > 0)?;
        let pieces = counted(damaged, "piece");
        Some(format!("{pieces} in the folder of parts could not be used because of damage"))
    }
}

fn collections<'i>(inputs: &[&'i Input<'_>]) -> Vec<&'i Collection> {
    inputs.iter().map(|input| &input.collection).collect()
}
