//! Treatment of records and files that cannot be read.

use simtool_base::options::Choice;

/// Treatment of records and files that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Report and count unreadable records and files, and continue.
    #[default]
    Skip,
    /// End the run at the first unreadable record or file, and write nothing.
    Fail,
}

impl Choice for OnError {
    const ALL: &'static [Self] = &[Self::Skip, Self::Fail];

    fn name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Fail => "fail",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Skip => "Report and count them, and go on with the rest",
            Self::Fail => "End the run at the first such record or file, and write nothing",
        }
    }
}
