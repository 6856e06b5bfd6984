//! Runs the real binary in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A folder of input files, deleted when the value is dropped.
pub(crate) struct Folder(TempDir);

/// A run of the program that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    /// Creates an empty folder.
    pub(crate) fn empty() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// Creates a folder with these documents, a table of four rows, and no stop words.
    pub(crate) fn of(articles: impl AsRef<[u8]>, samples: impl AsRef<[u8]>) -> Self {
        Self::empty()
            .with("article.txt", articles)
            .with("sample.txt", samples)
            .with("stopwords.txt", "")
            .with("hashvalue.txt", "1111\r\n0000\r\n1010\r\n0101\r\n")
    }

    /// Writes a file into the folder, and returns the folder.
    pub(crate) fn with(self, name: &str, contents: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the result file, if there is one.
    pub(crate) fn result(&self) -> Option<String> {
        fs::read(self.path("result.txt")).ok().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// Runs the program in the folder.
    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        run(self.0.path(), arguments, &[])
    }

    /// Runs the program in the folder. Arguments are separated by spaces and contain none.
    pub(crate) fn run_words(&self, arguments: &str) -> Finished {
        self.run(&arguments.split(' ').collect::<Vec<_>>())
    }
}

/// Runs the program in `folder`, with environment variables.
pub(crate) fn run(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Finished {
    run_with_input(folder, arguments, variables, Stdio::null())
}

/// Returns the program with its arguments. Those that begin with `SIMTOOL_` are settings in the environment.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simtool"));
    command.env_remove("SIMTOOL_ISA");
    for argument in arguments {
        match argument.split_once('=') {
            Some((name, value)) if name.starts_with("SIMTOOL_") => command.env(name, value),
            _ => command.arg(argument),
        };
    }
    command
}

/// Runs the program in `folder`, with environment variables and this standard input.
pub(crate) fn run_with_input(
    folder: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
    input: Stdio,
) -> Finished {
    let mut command = program(arguments);
    command.current_dir(folder).stdin(input);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().expect("no signal ends the program");
    Finished { code, out: text(output.stdout), err: text(output.stderr) }
}
