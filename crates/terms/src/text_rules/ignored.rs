//! Pieces of text that do not count, by name or by regular expression.

use super::patterns::{DATES, LINKS, MAIL_ADDRESSES, MENTIONS, NUMBERS, Pattern, Piece};
use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::syntax;
use simtool_base::error::{Error, Result};
use simtool_base::stable_hash::hash;
use std::sync::Arc;

/// Beginning of an expression in a list of ignored pieces.
const EXPRESSION: &str = "re:";
/// Separator of two expressions in a list. The comma of an expression is part of it.
const NEXT_EXPRESSION: &str = ",re:";
/// Version of the definitions of all kinds, which is part of the recipe. Increase it if a kind finds other pieces.
const VERSION: u32 = 1;
/// Maximum number of bytes of a compiled expression.
const COMPILED_BYTES: usize = 10 << 20;

/// A kind of pieces that can be ignored by its name.
#[derive(Debug)]
pub struct IgnoredKind {
    /// Name that options use, for example `numbers`.
    pub name: &'static str,
    /// Definition of the pieces, which help texts show.
    pub help: &'static str,
    patterns: &'static [Pattern],
}

/// All kinds of pieces that can be ignored by their names, in alphabetical order.
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

/// Pieces of text that do not count.
#[derive(Clone, Debug, Default)]
pub(super) struct Ignored {
    /// Ignored kinds, in the order of the table.
    names: Vec<&'static str>,
    /// Expressions of the user in ascending order.
    expressions: Vec<String>,
    /// Compiled expressions of all kinds and of the user.
    finders: Arc<[Finder]>,
}

#[derive(Debug)]
struct Finder {
    regex: Regex,
    /// Makes a piece of a candidate. `None` if each candidate is a piece.
    piece: Option<Piece>,
}

/// The finders are made from the names and the expressions.
impl PartialEq for Ignored {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names && self.expressions == other.expressions
    }
}

impl Eq for Ignored {}

impl Ignored {
    /// Parses lists such as `numbers,links` and `re:ORDER-\d+`.
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

    /// Writes a copy of `text` to `blanked`, in which spaces replace each byte of the pieces. So the pieces separate the
    /// words around them, and all other bytes stay where they are. Line ends stay, too. Returns `false` and writes
    /// nothing if the text has no such piece.
    ///
    /// Each expression is matched with the whole text, so that pieces may overlap and their order has no meaning.
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

    /// Returns the list from which [`Self::parse`] creates this value. `None` if it is empty.
    pub(super) fn written(&self) -> Option<String> {
        let expressions =
            self.expressions.iter().map(|expression| format!("{EXPRESSION}{expression}"));
        let all: Vec<_> =
            self.names.iter().map(|name| (*name).to_owned()).chain(expressions).collect();
        (!all.is_empty()).then(|| all.join(","))
    }

    /// Returns the end of a recipe. Expressions may have slashes, which separate the parts of a recipe, so it has
    /// their hashes.
    pub(super) fn recipe(&self) -> String {
        let hashes =
            self.expressions.iter().map(|text| format!("re={:016x}", hash(text.as_bytes())));
        let all: Vec<_> = self.names.iter().map(|name| (*name).to_owned()).chain(hashes).collect();
        if all.is_empty() { String::new() } else { format!(",ignore@{VERSION}={}", all.join("+")) }
    }
}

/// Adds the names and expressions of a list to `names` and `expressions`. Names come first.
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
        // Commas separate names. An expression has commas of its own, so nothing but expressions follows one.
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

/// Compiles an expression over bytes. Its classes are those of Unicode, and `^` and `$` match at line ends.
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

/// Returns the reason why an expression cannot be used, as one line.
fn reason(error: &BuildError) -> String {
    let text = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    // The lines before the last one show the place in the expression.
    let last = text.lines().last().unwrap_or_default();
    format!("is no regular expression that can be used: {}", last.trim_start_matches("error: "))
}

fn wrong(list: String, rule: String) -> Error {
    Error::config("ignore", list, rule)
}
