//! Manual pages, as a viewer of roff shows them, and completions, as shells run them.

#![expect(clippy::print_stdout, reason = "a skipped test reports it")]

use crate::program::{Folder, run};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the output of the program, which must succeed.
fn printed(arguments: &[&str]) -> String {
    let finished = Folder::empty().run(arguments);
    assert_eq!((finished.code, finished.err.as_str()), (0, ""), "{arguments:?}");
    finished.out
}

/// Returns the commands in the order of the help.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let lines = list.lines().filter(|line| !line.starts_with("   "));
    let names = lines.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

/// Returns the lines of a command's help from "Examples:" on.
fn examples(command: &[&str]) -> Vec<String> {
    let help = printed(&[command, &["--help"]].concat());
    let (_, below) = help.split_once("\nExamples:\n").unwrap();
    below.lines().map(str::to_owned).collect()
}

/// Returns the page as text of this many columns, or `None` if no viewer is installed.
fn shown(page: &str, columns: u32) -> Option<String> {
    let mut groff = Command::new("groff")
        .args(["-man", "-Tutf8", "-P-cbou", "-ww", &format!("-rLL={columns}n")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    groff.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = groff.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn every_command_has_a_page_with_its_options_and_examples() {
    let main = printed(&["man"]);
    for wanted in
        [".TH simtool 1", ".SH NAME", ".SH SYNOPSIS", ".SH EXAMPLES", "simtool\\-dedup(1)"]
    {
        assert!(main.contains(wanted), "{wanted}: {main}");
    }
    let folder = Folder::empty();
    assert_eq!(folder.run_words("man --output pages").code, 0);
    assert_eq!(fs::read_to_string(folder.path("pages/simtool.1")).unwrap(), main);
    for command in commands() {
        let page = printed(&["man", &command]);
        let file = format!("pages/simtool-{command}.1");
        assert_eq!(fs::read_to_string(folder.path(&file)).unwrap(), page);
        let title = format!(".TH simtool-{command} 1");
        for wanted in [&title, ".SH NAME", ".SH SYNOPSIS", ".SH EXAMPLES"] {
            assert!(page.contains(wanted), "{command} {wanted}: {page}");
        }
        // Every option of the help is in the page.
        let help = printed(&[&command, "--help"]);
        let plain = page.replace('\\', "");
        let options = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let options =
            options.filter_map(|line| line.split(' ').find(|word| word.starts_with("--")));
        for option in options {
            // The page has a value that may be left out in italics.
            let option = option.split('[').next().unwrap_or(option);
            assert!(plain.contains(option), "{command} {option}");
        }
    }
    assert_eq!(fs::read_dir(folder.path("pages")).unwrap().count(), commands().len() + 1);
}

#[test]
fn pages_show_the_examples_unchanged() {
    let mut pages = vec![Vec::new()];
    pages.extend(commands().into_iter().map(|command| vec![command]));
    for command in pages {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let page = printed(&[&["man"], &command[..]].concat());
        // The window is narrower than the lines of examples, which are not filled.
        let Some(shown) = shown(&page, 60) else {
            println!("skipped: there is no groff");
            return;
        };
        let lines: Vec<&str> = shown.lines().map(str::trim).collect();
        for line in examples(&command) {
            assert!(lines.contains(&line.trim()), "{command:?} {line}: {shown}");
        }
    }
}

/// Runs the script `test` in a shell that can load the completions, and returns its output. Returns
/// `None` if the shell is not installed.
fn completed(shell: &str, test: &str) -> Option<String> {
    let folder = Folder::empty().with("completions", printed(&["completions", shell]));
    let output =
        Command::new(shell).args(["-c", test]).current_dir(folder.path("")).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{shell}: {output:?}");
    Some(text)
}

#[test]
fn bash_completes_commands_options_and_values() {
    let complete = |words: &str| {
        let test = format!(
            "source ./completions; COMP_WORDS=({words} ''); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _simtool simtool '' \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        completed("bash", &test)
    };
    let Some(commands) = complete("simtool") else {
        println!("skipped: there is no bash");
        return;
    };
    for command in self::commands() {
        assert!(commands.split_whitespace().any(|word| word == command), "{command}: {commands}");
    }
    for (words, wanted) in [
        ("simtool dedup", "--similarity"),
        ("simtool join", "--count"),
        ("simtool dedup --method", "simhash"),
        ("simtool join --index", "linear-scan"),
        ("simtool fingerprint --format", "jsonl"),
        ("simtool completions", "fish"),
    ] {
        let found = complete(words).unwrap();
        assert!(found.split_whitespace().any(|word| word == wanted), "{words}: {found}");
    }
    let of_join = complete("simtool join").unwrap();
    assert!(!of_join.contains("--similarity"), "{of_join}");
}

#[test]
fn fish_completes_commands_options_and_values() {
    for (line, wanted) in [
        ("simtool ", "dedup"),
        ("simtool dedup --sim", "--similarity"),
        ("simtool dedup --method ", "simhash"),
        ("simtool join --index ", "linear-scan"),
    ] {
        let test = format!("source ./completions; complete -C '{line}'");
        let Some(found) = completed("fish", &test) else {
            println!("skipped: there is no fish");
            return;
        };
        assert!(
            found.lines().any(|word| word.split('\t').next() == Some(wanted)),
            "{line}: {found}"
        );
    }
}

#[test]
fn zsh_takes_its_completions() {
    // A person sees the offers at a terminal. Here the completions are only parsed and registered.
    let test = "autoload -Uz compinit && compinit -u -d ./dump && source ./completions && \
                print -r -- ${_comps[simtool]} && whence -w _simtool";
    let Some(found) = completed("zsh", test) else {
        println!("skipped: there is no zsh");
        return;
    };
    assert!(found.contains("_simtool: function"), "{found}");
}

#[test]
fn every_shell_has_a_script_with_the_commands_and_their_options() {
    for (shell, wanted) in [
        ("bash", "complete -F _simtool"),
        ("zsh", "#compdef simtool"),
        ("fish", "complete -c simtool"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
    ] {
        let script = printed(&["completions", shell]);
        assert!(script.contains(wanted) && script.contains("max-distance"), "{shell}");
        for command in commands() {
            assert!(script.contains(&command), "{shell} {command}");
        }
    }
}

/// The lines of the page about installing, for completions and pages, work in an empty home folder.
#[cfg(unix)]
#[test]
fn the_install_lines_work_in_an_empty_home() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/start/install.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, install) = page.split_once("## Completions and manual pages").unwrap();
    let home = Folder::empty();
    let program = Path::new(env!("CARGO_BIN_EXE_simtool"));
    let mut run_lines = 0;
    for block in install.split("```sh\n").skip(1) {
        let (lines, _) = block.split_once("```").unwrap();
        let output = Command::new("sh")
            .args(["-ec", lines])
            .current_dir(home.path(""))
            .env("HOME", home.path(""))
            .env("PATH", format!("{}:/usr/bin:/bin", program.parent().unwrap().display()))
            .output()
            .unwrap();
        assert!(output.status.success(), "{lines}: {output:?}");
        run_lines += 1;
    }
    assert!(run_lines > 0);
    let share = home.path(".local/share");
    assert!(share.join("bash-completion/completions/simtool").is_file());
    assert!(share.join("man/man1/simtool.1").is_file());
    assert!(share.join("man/man1/simtool-dedup.1").is_file());
    // The lines work again, with existing files.
    let again = run(&share, &["man", "--output", "man/man1", "--force"], &[]);
    assert_eq!(again.code, 0, "{}", again.err);
}
