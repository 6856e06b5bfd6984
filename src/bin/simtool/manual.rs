//! `simtool man`: manual pages of the program and of every command.

use crate::args::{Call, program};
use crate::console;
use crate::exit_status::ExitStatus;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use simtool::Error;
use simtool::run::refuse_existing;
use simtool::write::output_folder::Existing;
use std::fs;
use std::io;
use std::path::Path;

/// Prints one manual page, or writes all of them to a folder.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let pages = pages();
    let Some(folder) = call.value("output").map(Path::new) else {
        let name = call.value("command").map(|name| format!("simtool-{}", name.to_string_lossy()));
        let name = name.as_deref().unwrap_or("simtool");
        let Some((_, page)) = pages.iter().find(|(known, _)| known == name) else {
            // The error lists the valid names, so that users need not look them up.
            let names = pages.iter().filter_map(|(name, _)| name.strip_prefix("simtool-"));
            let rule = format!("is no command; there are {}", names.collect::<Vec<_>>().join(", "));
            return Err(Error::config("COMMAND", name.replacen("simtool-", "", 1), rule).into());
        };
        console::out(&text(page)?)?;
        return Ok(ExitStatus::Done);
    };
    let path = |name: &str| folder.join(format!("{name}.1"));
    // All pages are checked before the first one is written, so that an error changes no files.
    for (name, _) in &pages {
        refuse_existing("output", &path(name), Existing::by_force(call.has("force")))?;
    }
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    for (name, page) in &pages {
        let path = path(name);
        fs::write(&path, text(page)?).map_err(|e| Error::io(&path, "write", e))?;
    }
    Ok(ExitStatus::Done)
}

/// Returns the name of each page and the command that it describes. The page of the program comes first.
fn pages() -> Vec<(String, Command)> {
    let mut program = program().disable_help_subcommand(true);
    program.build();
    let of_commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let of_commands = of_commands.map(|command| {
        let name = format!("simtool-{}", command.get_name());
        (name.clone(), command.clone().display_name(name))
    });
    let of_commands: Vec<_> = of_commands.collect();
    [("simtool".to_owned(), program)].into_iter().chain(of_commands).collect()
}

/// Returns the source of a manual page in roff. Lines of examples are not joined, so that they can be copied.
fn text(command: &Command) -> io::Result<Vec<u8>> {
    let below = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let has_version = command.get_version().is_some();
    let source = concat!("simtool ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    // Hyphenation is switched off, so that commands and options can be copied.
    page.extend_from_slice(b".nh\n");
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    if !below.is_empty() {
        let below = below.strip_prefix("Examples:\n").unwrap_or(&below);
        let mut roff = Roff::new();
        // The request `nf` keeps the line breaks of the examples.
        roff.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in below.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []).to_writer(&mut page)?;
    }
    if has_version {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}
