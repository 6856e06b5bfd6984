//! Pieces of text that do not count in comparisons, such as numbers. Users select them by the name of a kind, or by a
//! regular expression.

use super::patterns::{DATES, LINKS, MAIL_ADDRESSES, MENTIONS, NUMBERS, Pattern, Piece};
use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::syntax;
use simtool_base::error::{Error, Result};
use simtool_base::stable_hash::hash;
use std::sync::Arc;

/// Start of a regular expression in a list of ignored pieces.
const EXPRESSION: &str = "re:";
/// Separator between two regular expressions in a list. A comma without it is part of an expression.
const NEXT_EXPRESSION: &str = ",re:";
/// Version of the definitions of all kinds in [`IGNORED`]. It is part of the recipe of fingerprints. Increase it if a
/// kind finds other pieces than before.
const VERSION: u32 = 1;
/// Largest number of bytes of memory of a compiled regular expression.
const COMPILED_BYTES: usize = 10 << 20;

/// A kind of pieces of text that users can ignore by its name, for example `numbers`.
#[derive(Debug)]
pub struct IgnoredKind {
    /// Name that options use, for example `numbers`.
    pub name: &'static str,
    /// Description of the pieces, for help texts.
    pub help: &'static str,
    patterns: &'static [Pattern],
}

/// All kinds of pieces with names, in alphabetical order.
pub const IGNORED: &[IgnoredKind] = &[
    IgnoredKind {
        name: "dates",
        help: "dates and times in digits, such as 2024-12-31T10:00:00Z, 12/31/2024, 31.12.2024 and 10:00, or with \
               an English month, such as 31 Dec 2024",
        patterns: &[DATES],
    },
    IgnoredKind {
        name: "links",
        help: "from http://, https://, www. or mailto: to white space, and mail addresses",
        patterns: &[LINKS, MAIL_ADDRESSES],
    },
    IgnoredKind {
        name: "mentions",
        help: "@name and @name@host, but not in mail addresses",
        patterns: &[MENTIONS],
    },
    IgnoredKind {
        name: "numbers",
        help: "digits of any script, also in words, with their sign and with points, commas, apostrophes and \
               underscores between them",
        patterns: &[NUMBERS],
    },
];

/// The pieces of text that the user wants to ignore.
#[derive(Clone, Debug, Default)]
pub(super) struct Ignored {
    /// Names of the ignored kinds, in the order of [`IGNORED`].
    names: Vec<&'static str>,
    /// Regular expressions of the user, in ascending order.
    expressions: Vec<String>,
    /// Compiled regular expressions of all ignored kinds and of the user.
    finders: Arc<[Finder]>,
}

#[derive(Debug)]
struct Finder {
    regex: Regex,
    /// Function that finds the ignored piece in a match of `regex`, which is only a candidate. `None` if every match is
    /// a piece.
    piece: Option<Piece>,
}

/// The finders are not compared, because they are made from the names and the expressions.
impl PartialEq for Ignored {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names && self.expressions == other.expressions
    }
}

impl Eq for Ignored {}

impl Ignored {
    /// Parses lists of names and regular expressions, such as `numbers,links` and `re:ORDER-\d+`, and compiles the
    /// expressions.
    pub(super) fn parse(lists: &[String]) -> Result<Self> {
        let mut names = Vec::new();
        let mut expressions = Vec::new();
        for list in lists {
            parse_list(list, &mut names, &mut expressions)?;
        }
        let kinds: Vec<_> = IGNORED.iter().filter(|kind| names.contains(&kind.name)).collect();
        // Pieces do not depend on the order, so that equal rules have one recipe.
        expressions.sort_unstable();
        expressions.dedup();
        // The expressions of kinds are built in, so that an error in one is found by every test.
        let of_kinds = kinds.iter().flat_map(|kind| kind.patterns).map(|pattern| {
            let finder = compiled(&(pattern.expression)(), Some(pattern.piece));
            finder.map_err(|error| wrong((pattern.expression)(), error.to_string()))
        });
        let of_user = expressions.iter().map(|expression| {
            compiled(expression, None)
                .map_err(|error| wrong(format!("{EXPRESSION}{expression}"), reason(&error)))
        });
        let finders = of_kinds.chain(of_user).collect::<Result<_>>()?;
        Ok(Self { names: kinds.iter().map(|kind| kind.name).collect(), expressions, finders })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.finders.is_empty()
    }

    /// Writes a copy of `text` to `blanked`, in which each byte of an ignored piece is replaced by a space. So the
    /// pieces separate the words around them, and all other bytes stay where they are. Line ends stay, too. If the text
    /// has no such piece, returns `false` and writes nothing.
    ///
    /// Each expression is matched against the original text, so pieces may overlap, and their order does not matter.
    pub(super) fn blank(&self, text: &[u8], blanked: &mut Vec<u8>) -> bool {
        blanked.clear();
        for finder in &*self.finders {
            for found in finder.regex.find_iter(text) {
                let range = found.range();
                let piece = match finder.piece {
                    Some(piece) => piece(text, range),
                    None => Some(range),
                };
                let Some(piece) = piece.filter(|piece| !piece.is_empty()) else { continue };
                // Most texts have no such piece and are not copied.
                if blanked.is_empty() {
                    blanked.extend_from_slice(text);
                }
                for byte in &mut blanked[piece] {
                    *byte = if *byte == b'\n' { b'\n' } else { b' ' };
                }
            }
        }
        !blanked.is_empty()
    }

    /// Returns the ignored names and expressions as a list that [`Self::parse`] reads, or `None` if nothing is ignored.
    pub(super) fn written(&self) -> Option<String> {
        let expressions =
            self.expressions.iter().map(|expression| format!("{EXPRESSION}{expression}"));
        let all: Vec<_> =
            self.names.iter().map(|name| (*name).to_owned()).chain(expressions).collect();
        (!all.is_empty()).then(|| all.join(","))
    }

    /// Returns the part of a recipe that identifies the ignored pieces. It is empty if nothing is ignored. Regular
    /// expressions may have slashes, which separate the parts of a recipe, so the recipe has hashes of the expressions.
    pub(super) fn recipe(&self) -> String {
        let hashes =
            self.expressions.iter().map(|text| format!("re={:016x}", hash(text.as_bytes())));
        let all: Vec<_> = self.names.iter().map(|name| (*name).to_owned()).chain(hashes).collect();
        if all.is_empty() { String::new() } else { format!(",ignore@{VERSION}={}", all.join("+")) }
    }
}

/// Adds the names and regular expressions in a list to `names` and `expressions`. In the list, names come before
/// expressions.
fn parse_list(
    list: &str,
    names: &mut Vec<&'static str>,
    expressions: &mut Vec<String>,
) -> Result<()> {
    let mut rest = list;
    while !rest.is_empty() {
        if let Some(all) = rest.strip_prefix(EXPRESSION) {
            for expression in all.split(NEXT_EXPRESSION) {
                if expression.trim_end() != expression || expression.is_empty() {
                    let rule = "has an expression that is empty or ends with white space: write [ ] for a space";
                    return Err(wrong(list.to_owned(), rule.to_owned()));
                }
                expressions.push(expression.to_owned());
            }
            return Ok(());
        }
        // Commas separate names. An expression can have commas itself, so only expressions can follow an expression.
        let (name, others) = rest.split_once(',').unwrap_or((rest, ""));
        let Some(kind) = IGNORED.iter().find(|kind| kind.name == name.trim()) else {
            let known: Vec<_> = IGNORED.iter().map(|kind| kind.name).collect();
            let rule = format!(
                "must be {}, or re: and a regular expression such as re:ORDER-[0-9]+; commas separate them, and \
                 expressions come last",
                known.join(", ")
            );
            return Err(wrong(list.to_owned(), rule));
        };
        names.push(kind.name);
        rest = others.trim_start();
    }
    Ok(())
}

/// Compiles a regular expression that is matched with bytes. Its classes are those of Unicode, and `^` and `$` match at
/// line ends.
fn compiled(
    expression: &str,
    piece: Option<Piece>,
) -> std::result::Result<Finder, Box<BuildError>> {
    let regex = Regex::builder()
        .configure(Regex::config().utf8_empty(false).nfa_size_limit(Some(COMPILED_BYTES)))
        .syntax(syntax::Config::new().utf8(false).multi_line(true))
        .build(expression)?;
    Ok(Finder { regex, piece })
}

/// Returns one line that says why a regular expression cannot be used.
fn reason(error: &BuildError) -> String {
    let text = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    // The lines before the last one show the place in the expression.
    let last = text.lines().last().unwrap_or_default();
    format!("is no regular expression that can be used: {}", last.trim_start_matches("error: "))
}

fn wrong(list: String, rule: String) -> Error {
    Error::config("ignore", list, rule)
}
