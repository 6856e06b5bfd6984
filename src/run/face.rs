//! The boundary between a run and the program or package that called it.

use super::recorded_inputs::RecordedInputs;
use crate::method::Method;
use simtool_base::error::Result;
use simtool_base::fault::Fault;
use simtool_base::mapped_file::FileAccess;
use simtool_base::progress::{NoProgress, Progress};
use std::path::{Path, PathBuf};

/// The program or package that a run works for.
///
/// The run decides which steps happen and in which order. A face decides which messages its user sees,
/// and how settings are spelled. The default of each method shows nothing and changes nothing.
pub trait Face: Sync {
    /// Returns the progress of the work, which also decides whether the work must stop.
    fn progress(&self) -> &dyn Progress {
        &NoProgress
    }

    /// Returns whether input files are mapped or read.
    fn access(&self) -> FileAccess {
        FileAccess::READ
    }

    /// Returns whether notes are shown. The estimate of a run reads a sample, so it is made only if
    /// it is shown.
    fn reads_notes(&self) -> bool {
        false
    }

    /// Receives a notice for the user.
    fn notice(&self, _notice: Notice<'_>) {}

    /// Returns the setting `name` as users of this face write it, for example `--text-field`; `None` if
    /// they write the name itself.
    fn spelled(&self, _name: &str) -> Option<String> {
        None
    }

    /// Returns the description of the field that a record without text lacks. All such records share
    /// this text, because there may be as many as there are records.
    fn missing_text(&self) -> &'static str {
        "a text in the field that `text_field` names"
    }

    /// Returns the inputs that the command line of a finished run names; `None` if this face cannot
    /// parse it.
    ///
    /// # Errors
    ///
    /// The command line is understood, and a setting in it is out of its range.
    fn recorded_inputs(&self, _command: &str) -> Result<Option<RecordedInputs>> {
        Ok(None)
    }

    /// Holds interruptions back until the returned value is dropped. So none comes between creating an
    /// output and [recording](HeldInterruptions::set) its state.
    fn hold_interruptions(&self) -> Box<dyn HeldInterruptions + '_> {
        Box::new(NoInterruptions)
    }

    /// Returns a message of the library, with settings in backquotes spelled as users write them.
    fn message(&self, message: &str) -> String {
        spell_settings(message, &|name| self.spelled(name))
    }
}

/// Something that the user of a face may want to know while a run works.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'n> {
    /// A fact about the run.
    Note(&'n str),
    /// A fact for a user who asked to see more of them.
    Detail(&'n str),
    /// Something that may go wrong, with advice.
    Warning(&'n str),
    /// The method that was chosen for the collection, with a sentence for each reason.
    Chosen(&'n Method, &'n [String]),
    /// The plan for finding near-duplicates, for a user who wants explanations.
    Explanation(&'n str),
    /// Faults of the input of a run that is about to fail.
    Faults(&'n [Fault]),
}

/// State of an output, for a face that cleans up after an interruption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputState {
    /// There is no output that an interruption must remove.
    Nothing,
    /// A file or folder under a temporary name, to be removed after an interruption.
    Unfinished(PathBuf),
    /// The output is complete under this name, whatever the program still does.
    Finished(PathBuf),
}

/// Lock that holds interruptions back until it is dropped.
pub trait HeldInterruptions {
    /// Records the state of the output.
    fn set(&mut self, state: OutputState);
}

/// Lock of a face without interruptions, or whose [`Progress`] decides when to stop.
struct NoInterruptions;

impl HeldInterruptions for NoInterruptions {
    fn set(&mut self, _state: OutputState) {}
}

/// A face that shows nothing and is never interrupted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Face for Silent {}

/// Returns the message with each setting in backquotes replaced by its spelling. Other text in
/// backquotes stays.
///
/// ```
/// use simtool::run::spell_settings;
///
/// let spelled = |name: &str| (name == "text_field").then(|| "--text-field".to_owned());
/// let message = spell_settings("name `text_field`, not `x y`", &spelled);
/// assert_eq!(message, "name --text-field, not `x y`");
/// ```
#[must_use]
pub fn spell_settings(message: &str, spelled: &dyn Fn(&str) -> Option<String>) -> String {
    let mut shown = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, behind)) = rest.split_once('`') {
        shown.push_str(before);
        let quoted = behind.split_once('`');
        let setting = quoted.and_then(|(name, after)| Some((spelled(name)?, after)));
        if let Some((option, after)) = setting {
            shown.push_str(&option);
            rest = after;
        } else {
            // This backquote opens no setting; the next one may.
            shown.push('`');
            rest = behind;
        }
    }
    shown + rest
}

/// Calls `rename` to give a complete output its name, and records that it is finished. Interruptions
/// wait until this is done.
///
/// # Errors
///
/// The first error of `rename`; the owner of the output removes it then.
pub fn give_name<E>(
    face: &dyn Face,
    results: &Path,
    rename: impl FnOnce() -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut held = face.hold_interruptions();
    // If `rename` fails, the owner removes the output, so an interruption must not do it.
    held.set(OutputState::Nothing);
    rename()?;
    held.set(OutputState::Finished(results.to_owned()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_spelled_and_other_text_stays() {
        let known = |name: &str| (name == "text_field").then(|| "--text-field".to_owned());
        let shown = spell_settings("`text_field`, not `x y`, or `nothing`; a ` alone", &known);
        assert_eq!(shown, "--text-field, not `x y`, or `nothing`; a ` alone");
        assert_eq!(Silent.message("needs `verify`"), "needs `verify`");
    }
}
