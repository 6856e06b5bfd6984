//! The steps that all commands on files share: parsing the common part of their requests, opening inputs and outputs,
//! and ending a run.

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
    /// Whether and how the run stores the data that it has read, so that a later run need not read it again.
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
        // `PartsRequest` remembers all options that are left, so it comes before the other ones are taken.
        let parts = PartsRequest::parse(options)?;
        let output = options.take_path("output").unwrap_or_else(|| output.into());
        if is_address(&output) {
            // In a remote store, each stored part would be an object of its own that is read back. So parts are stored
            // on this machine.
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

    /// Makes the run take all of its data from shards that earlier runs with the option `shard` have stored. If a part
    /// of the input is not stored, the run will fail.
    pub fn combine(&mut self) {
        self.parts.combine();
    }

    /// Returns whether the run only stores the data of one shard, which is a share of its input, and writes no results.
    #[must_use]
    pub fn is_shard(&self) -> bool {
        self.parts.share().is_some()
    }

    /// Returns the shard, which is a share of the input, whose data the run stores. `None` if the run reads all of its
    /// input.
    pub(super) fn share(&self) -> Option<ShardShare> {
        self.parts.share()
    }

    /// Returns an error if the run only stores the data of a shard. Such a run has no results.
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

    /// Returns the path of the output, and whether an existing output may be replaced. It has no mark yet, the file
    /// which says that the output is complete.
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

    /// Opens an output folder if `is_folder` is true, and otherwise an output file or `standard_output`. `paths` are
    /// the paths of all inputs. An output that cannot be written ends the run here, before its long search.
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

    /// Opens the data that earlier runs with this request have stored. `plan` returns the collection and the settings
    /// that the data belongs to. If the request does not ask for stored data, returns an empty value and does not call
    /// `plan`.
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

    /// Writes the output to `target` and gives it its final name. If it is a file or standard output, `write_rows`
    /// writes its rows. If it is a folder, `write_folder` writes its files. `end` has the inputs, for the mark that the
    /// output is complete.
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

    /// Returns a summary for the page with the results. It has only the command, the settings and the times of the run.
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
    /// Writes more fields of the JSON object, each followed by a comma.
    pub(super) more: &'f dyn Fn(&mut dyn Write) -> io::Result<()>,
}

/// Inputs and losses of a run whose results are about to be written. They are recorded in the mark that the output is
/// complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'e> {
    /// All inputs. A later run with the same inputs recognizes that the output is complete.
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
    /// Returns the store for the data of each part of the input, for example its fingerprints. A part is a file or a
    /// part of a large file. A later run need not read stored parts again. `None` if the run stores nothing.
    pub(super) fn parts(&self) -> Option<&Parts<'c>> {
        self.parts.as_ref()
    }

    /// Opens the store of finished copies of input files, if they `are_wanted`. A later run need not write these copies
    /// again.
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

    /// Returns the store of finished copies of input files. `None` if it is not open.
    pub(super) fn copies(&self) -> Option<&StoredCopies> {
        self.copies.as_ref()
    }

    /// Returns this value, which then also stores `excerpts` with the parts of the input, and restores them. Excerpts
    /// are the beginnings of texts.
    pub(super) fn with_excerpts(mut self, excerpts: Option<&'c Excerpts>) -> Self {
        self.parts = self.parts.map(|parts| parts.with_excerpts(excerpts));
        self
    }

    /// Calls `work` with the store of parts and with `share`, the share of the input that `work` must store. Returns
    /// how much of the input is stored now.
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

    /// Removes all stored data. It is called when the results have their final names. Returns a note about stored parts
    /// that could not be used because of damage, if there were any.
    pub(super) fn remove(self) -> Option<String> {
        // Copies are in the folder of the parts.
        if let Some(copies) = self.copies {
            copies.remove();
        }
        // The folder is removed last, because it marks its content as stored data.
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
