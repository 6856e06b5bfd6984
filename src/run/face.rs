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
/// The run decides what happens and in which order. A face decides what its user sees of it, and how
/// settings are spelled. Each method has a default, which says nothing and changes nothing.
pub trait Face: Sync {
    /// Shows progress, and says whether the work is to stop.
    fn progress(&self) -> &dyn Progress {
        &NoProgress
    }

    /// Whether input files are mapped or read.
    fn access(&self) -> FileAccess {
        FileAccess::READ
    }

    /// Whether anybody reads notes. An estimate of the run reads a sample first, so it is made only
    /// if somebody does.
    fn reads_notes(&self) -> bool {
        false
    }

    /// Takes something that the user may want to know.
    fn notice(&self, _notice: Notice<'_>) {}

    /// The setting `name` as the user of this face writes it, such as `--text-field`; none if it is
    /// written as it is.
    fn spelled(&self, _name: &str) -> Option<String> {
        None
    }

    /// The text that says what a record without the field of the text should have. There may be as many of these
    /// as there are records, so the text is shared, not made for each.
    fn missing_text(&self) -> &'static str {
        "a text in the field that `text_field` names"
    }

    /// Returns the inputs that the command line of a finished run names; none if this face does not
    /// understand it.
    ///
    /// # Errors
    ///
    /// The command line is understood, and a setting in it is out of its range.
    fn recorded_inputs(&self, _command: &str) -> Result<Option<RecordedInputs>> {
        Ok(None)
    }

    /// Holds interruptions back until the value is dropped, so that none comes between creating an
    /// output and [noting](HeldInterruptions::set) that it is there.
    fn hold_interruptions(&self) -> Box<dyn HeldInterruptions + '_> {
        Box::new(NoInterruptions)
    }

    /// A message of the library, with the settings in backquotes spelled as the user writes them.
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
    /// How near-duplicates are found, for a user who wants explanations.
    Explanation(&'n str),
    /// Faults of the input of a run that is about to fail.
    Faults(&'n [Fault]),
}

/// How far an output is, for a face that cleans up when it is interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputState {
    /// Nothing is written, or it was given up.
    Nothing,
    /// A file or folder under a temporary name, to be removed after an interruption.
    Unfinished(PathBuf),
    /// The output is complete under this name, whatever the program still does.
    Finished(PathBuf),
}

/// Interruptions that wait until this is dropped.
pub trait HeldInterruptions {
    /// Notes how far the output is.
    fn set(&mut self, state: OutputState);
}

/// For a face that is not interrupted, or whose [`Progress`] says when to stop.
struct NoInterruptions;

impl HeldInterruptions for NoInterruptions {
    fn set(&mut self, _state: OutputState) {}
}

/// A face that shows nothing and is never interrupted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Face for Silent {}

/// The message with each setting that it names in backquotes replaced by its spelling. Other text in
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

/// Notes that an output is given up, so that an interruption removes nothing, lets `rename` give it
/// its name, and notes that it is there. An interruption waits until this is done.
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
