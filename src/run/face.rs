//! Defines what a run needs from the program or package that called it.

use crate::method::Method;
use simtool_base::fault::Fault;
use simtool_base::mapped_file::FileAccess;
use simtool_base::progress::{NoProgress, Progress};
use std::path::{Path, PathBuf};

/// The program or package that calls a run, for example the command line program or Python.
///
/// The run decides which steps happen and in which order. A face decides which messages its user sees, and
/// which names settings have in them. By default, every method shows nothing and changes nothing.
pub trait Face: Sync {
    /// Returns the receiver of progress reports, which can also request that the work stops.
    fn progress(&self) -> &dyn Progress {
        &NoProgress
    }

    /// Returns how input files are opened: mapped into memory, or read.
    fn access(&self) -> FileAccess {
        FileAccess::READ
    }

    /// Returns whether the user sees notes. If not, the run does not estimate its costs, for which it would
    /// read a sample.
    fn reads_notes(&self) -> bool {
        false
    }

    /// Receives a notice for the user, and shows or ignores it.
    fn notice(&self, _notice: Notice<'_>) {}

    /// Returns the setting `name` as users of this face write it, for example `--text-field`. Returns `None`
    /// if they write the name itself.
    fn spelled(&self, _name: &str) -> Option<String> {
        None
    }

    /// Chooses whether an interruption only makes [`is_interrupted`](Self::is_interrupted) return true, or ends
    /// the program at once. A second interruption always ends it. Runs that must complete what they began defer
    /// interruptions.
    fn defer_interruptions(&self, _is_deferred: bool) {}

    /// Returns whether there was an interruption while interruptions were deferred.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Delays interruptions until the returned value is dropped. So no interruption comes between creating an
    /// output and [recording](HeldInterruptions::set) its state.
    fn hold_interruptions(&self) -> Box<dyn HeldInterruptions + '_> {
        Box::new(NoInterruptions)
    }

    /// Returns a message of the library for users. Each name of a setting in backquotes is replaced by the name that
    /// users write, for example `text_field` by `--text-field`.
    fn message(&self, message: &str) -> String {
        spell_settings(message, &|name| self.spelled(name))
    }
}

/// Message to the user of a face while a run works.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'n> {
    /// A note about the run.
    Note(&'n str),
    /// A note that is only for users who asked for more notes.
    Detail(&'n str),
    /// A warning about something that may go wrong, with advice.
    Warning(&'n str),
    /// The method that was chosen for the collection, and one sentence for each reason.
    Chosen(&'n Method, &'n [String]),
    /// The plan of the search for near-duplicates, for users who asked for explanations.
    Explanation(&'n str),
    /// Faults of the input that explain why the run is about to fail.
    Faults(&'n [Fault]),
}

/// State of an output, for a face that removes unfinished outputs after an interruption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputState {
    /// No output exists that an interruption must remove.
    Nothing,
    /// A file or folder with a temporary name. It must be removed after an interruption.
    Unfinished(PathBuf),
    /// The output is complete and has this name, although the program may still be running.
    Finished(PathBuf),
}

/// Guard that [`Face::hold_interruptions`] returns. Interruptions wait until the guard is dropped.
pub trait HeldInterruptions {
    /// Records the state of the output, so that the next interruption knows whether it must remove a file or
    /// folder.
    fn set(&mut self, state: OutputState);
}

/// Value that [`Face::hold_interruptions`] returns by default. It does nothing. It is for faces that are
/// never interrupted, or that stop a run only through [`Progress`].
struct NoInterruptions;

impl HeldInterruptions for NoInterruptions {
    fn set(&mut self, _state: OutputState) {}
}

/// A face that shows nothing and is never interrupted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Face for Silent {}

/// Returns the message with each setting in backquotes replaced by its name for users, which `spelled`
/// returns. A setting may have a value behind `=`. Other text in backquotes stays as it is.
///
/// ```
/// use simtool::run::spell_settings;
///
/// let spelled = |name: &str| (name == "text_field").then(|| "--text-field".to_owned());
/// let message = spell_settings("use `text_field` or `text_field=body`, not `x y`", &spelled);
/// assert_eq!(message, "use --text-field or --text-field body, not `x y`");
/// ```
#[must_use]
pub fn spell_settings(message: &str, spelled: &dyn Fn(&str) -> Option<String>) -> String {
    let mut shown = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, behind)) = rest.split_once('`') {
        shown.push_str(before);
        let quoted = behind.split_once('`');
        let setting = quoted.and_then(|(quoted, after)| {
            let Some((name, value)) = quoted.split_once('=') else {
                return Some((spelled(quoted)?, after));
            };
            let name = spelled(name)?;
            // A variable of the environment has no space before its value.
            let between = if name.starts_with("--") { ' ' } else { '=' };
            Some((format!("{name}{between}{value}"), after))
        });
        if let Some((option, after)) = setting {
            shown.push_str(&option);
            rest = after;
        } else {
            // This backquote does not start a setting, but the next one may.
            shown.push('`');
            rest = behind;
        }
    }
    shown + rest
}

/// Calls `rename`, which gives a complete output its final name, and records that the output is finished.
/// `results` is the final name. Interruptions wait until both are done.
///
/// # Errors
///
/// `rename` fails. Then the owner of the output must remove it.
pub fn give_name<E>(
    face: &dyn Face,
    results: &Path,
    rename: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    let mut held = face.hold_interruptions();
    // If `rename` fails, the owner removes the output, so an interruption must not remove it as well.
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
