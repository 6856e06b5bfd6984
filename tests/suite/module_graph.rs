//! Graph of the files of a crate, in which an edge leads from a file to another that it uses, read from the sources.
//!
//! A path leads to the file that defines its item. So `use super::Reader` in `read/gzip.rs` is an
//! edge to `read/reader.rs` where `read/mod.rs` only has `pub use reader::Reader`. A module that
//! only declares and re-exports is a door: nothing leads to it, and it leads to nothing. The call of
//! a method names no path, so it is no use. Tests and files that only tests declare are left out,
//! since a test may use anything as its oracle.

use std::collections::{BTreeMap, BTreeSet};

/// For each module, the modules that it uses, each with the paths by which it uses them.
pub(crate) type Edges = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Words before the name of an item.
const DEFINING: [&str; 10] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod", "macro_rules"];

/// One file of a crate, as other files see it.
#[derive(Debug, Default)]
struct Module {
    children: BTreeSet<String>,
    defined: BTreeSet<String>,
    /// Names that `use` brings into the module, with their paths.
    imported: BTreeMap<String, Vec<String>>,
    /// Paths of imports of all names, such as `use a::*`.
    globs: Vec<Vec<String>>,
    /// Paths that the code of the module uses, and names that it imports for itself.
    used: BTreeSet<Vec<String>>,
}

/// The modules of a crate by their paths: `read/gzip.rs` is `read::gzip`, and the root is empty.
#[derive(Debug)]
pub(crate) struct Crate {
    modules: BTreeMap<String, Module>,
}

/// The place that a path leads to.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    Module(String),
    /// An item, with the module that defines it.
    ItemOf(String),
}

impl Crate {
    /// Reads the modules that `root` declares, directly or through others. The names of `files`
    /// begin behind the folder of the crate's sources.
    pub(crate) fn of_files(files: &BTreeMap<String, String>, root: &str) -> Self {
        let mut modules = BTreeMap::new();
        let mut open = vec![(String::new(), root.to_owned())];
        while let Some((name, file)) = open.pop() {
            let module = Module::of_text(&files[&file]);
            for child in &module.children {
                let child = joined(&name, child);
                let path = child.replace("::", "/");
                let candidates = [format!("{path}.rs"), format!("{path}/mod.rs")];
                let file = candidates.into_iter().find(|file| files.contains_key(file));
                open.extend(file.map(|file| (child, file)));
            }
            modules.insert(name, module);
        }
        Self { modules }
    }

    /// Returns the uses of other modules by each module.
    pub(crate) fn edges(&self) -> Edges {
        let edges_of = |(name, module): (&String, &Module)| {
            let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for path in &module.used {
                let target = match self.resolve(name, path, 0) {
                    Some(Place::ItemOf(target)) => target,
                    // For `use a::*`, it is unknown which names are used, so the module itself is used.
                    Some(Place::Module(target)) if module.globs.contains(path) => target,
                    _ => continue,
                };
                if target != *name {
                    edges.entry(target).or_default().insert(path.join("::"));
                }
            }
            (name.clone(), edges)
        };
        self.modules.iter().map(edges_of).collect()
    }

    /// Returns the place of a path in a module, or `None` if it is in another crate.
    fn resolve(&self, module: &str, path: &[String], depth: usize) -> Option<Place> {
        let first = match path.first()?.as_str() {
            "crate" => Place::Module(String::new()),
            "self" => Place::Module(module.to_owned()),
            "super" => Place::Module(parent(module).to_owned()),
            name => self.find(module, name, path.len() == 1, depth)?,
        };
        path.iter().enumerate().skip(1).try_fold(first, |place, (at, name)| match place {
            Place::Module(module) if name == "super" => {
                Some(Place::Module(parent(&module).to_owned()))
            }
            Place::Module(module) if name == "self" => Some(Place::Module(module)),
            Place::Module(module) => {
                let found = self.find(&module, name, at + 1 == path.len(), depth);
                Some(found.unwrap_or(Place::ItemOf(module)))
            }
            item @ Place::ItemOf(_) => Some(item),
        })
    }

    /// Returns the place of a name in a module. A module and a function may share a name: the last
    /// name of a path is then the function.
    fn find(&self, module: &str, name: &str, is_last: bool, depth: usize) -> Option<Place> {
        // Names that import each other lead nowhere.
        if depth > 20 {
            return None;
        }
        let content = self.modules.get(module)?;
        let child = content.children.contains(name);
        let imported = || {
            let path = content.imported.get(name)?;
            self.resolve(module, path, depth + 1)
        };
        if child && !is_last {
            Some(Place::Module(joined(module, name)))
        } else if content.defined.contains(name) {
            Some(Place::ItemOf(module.to_owned()))
        } else if let Some(place) = imported() {
            Some(place)
        } else if child {
            Some(Place::Module(joined(module, name)))
        } else {
            content.globs.iter().find_map(|glob| match self.resolve(module, glob, depth + 1)? {
                Place::Module(inner) if inner != module => {
                    self.find(&inner, name, is_last, depth + 1)
                }
                _ => None,
            })
        }
    }
}

impl Module {
    fn of_text(text: &str) -> Self {
        let tokens = without_tests(&tokens(text));
        let mut module = Self::default();
        // Names that `pub use` brings in: the module uses them itself if it also writes them.
        let mut offered = BTreeSet::new();
        let mut depth = 0;
        let mut at = 0;
        while at < tokens.len() {
            let token = tokens[at].as_str();
            match token {
                "{" => depth += 1,
                "}" => depth -= 1,
                "use" => {
                    let end = position(&tokens, at, ";");
                    let imports = use_tree(&tokens[at + 1..end]);
                    module.import(&imports);
                    if is_public(&tokens[..at]) {
                        offered.extend(imports.into_iter().map(|(_, name)| name));
                    } else {
                        module.used.extend(imports.into_iter().map(|(path, _)| path));
                    }
                    at = end;
                }
                "mod" if tokens.get(at + 2).is_some_and(|next| next == ";") => {
                    module.children.insert(tokens[at + 1].clone());
                    at += 2;
                }
                _ if depth == 0 && DEFINING.contains(&token) => {
                    let name = tokens[at + 1..].iter().find(|next| *next != "mut" && *next != "!");
                    module.defined.extend(name.cloned());
                }
                _ if is_name(token) && at.checked_sub(1).is_none_or(|b| tokens[b] != "::") => {
                    let path = path_at(&tokens[at..]);
                    at += 2 * (path.len() - 1);
                    module.used.insert(path);
                }
                _ => {}
            }
            at += 1;
        }
        // A name alone needs no edge: its `use` has one, except for names that `pub use` offers.
        let globs = &module.globs;
        let is_use = |path: &Vec<String>| {
            path.len() > 1 || globs.contains(path) || offered.contains(&path[0])
        };
        module.used.retain(is_use);
        module
    }

    fn import(&mut self, imports: &[(Vec<String>, String)]) {
        for (path, name) in imports {
            match name.as_str() {
                "*" => self.globs.push(path.clone()),
                "_" => {}
                _ => drop(self.imported.insert(name.clone(), path.clone())),
            }
        }
    }
}

fn joined(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the position of a token behind `from`, or the end.
fn position(tokens: &[String], from: usize, token: &str) -> usize {
    tokens[from..].iter().position(|other| other == token).map_or(tokens.len(), |at| from + at)
}

/// Returns whether the tokens before `use` end with `pub`, `pub(crate)` or `pub(super)`.
fn is_public(before: &[String]) -> bool {
    let statement = before.rsplit(|token| [";", "}", "{", "]"].contains(&token.as_str())).next();
    statement.is_some_and(|tokens| tokens.first().is_some_and(|token| token == "pub"))
}

/// Returns the path at the beginning of the tokens.
fn path_at(tokens: &[String]) -> Vec<String> {
    let mut path = vec![tokens[0].clone()];
    for pair in tokens[1..].chunks_exact(2) {
        if pair[0] != "::" || !is_name(&pair[1]) {
            break;
        }
        path.push(pair[1].clone());
    }
    path
}

/// Returns the paths of a use tree, each with the name that it brings in.
fn use_tree(tokens: &[String]) -> Vec<(Vec<String>, String)> {
    let mut prefix = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "::" => {}
            "{" => {
                let members = members(&tokens[at + 1..]);
                let trees = members.into_iter().flat_map(use_tree);
                let behind_prefix = |(path, name)| ([prefix.clone(), path].concat(), name);
                return trees.map(behind_prefix).collect();
            }
            "*" => return vec![(prefix, "*".to_owned())],
            "as" => return vec![(prefix, tokens[at + 1].clone())],
            "self" if !prefix.is_empty() => {}
            name => prefix.push(name.to_owned()),
        }
        at += 1;
    }
    // A name after `self` in braces is that of the module.
    let name = prefix.last().cloned().unwrap_or_default();
    vec![(prefix, name)]
}

/// Returns the members of a group, up to its closing brace.
fn members(tokens: &[String]) -> Vec<&[String]> {
    let mut depth = 0;
    let mut start = 0;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" | "," if depth == 0 => {
                if start < at {
                    found.push(&tokens[start..at]);
                }
                start = at + 1;
                if token == "}" {
                    break;
                }
            }
            "}" => depth -= 1,
            _ => {}
        }
    }
    found
}

/// Splits code into names, `::`, and single characters. Comments and literals are left out.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = literal(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let token = &rest[..length];
        let is_code = length <= 2 && !token.starts_with(['/', '"', '\'']) || is_name(token);
        if is_code && !token.trim().is_empty() && literal(rest).is_none() {
            tokens.push(token.to_owned());
        }
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length of the string or character at the beginning of `text`, if there is one.
fn literal(text: &str) -> Option<usize> {
    let prefix = text.len() - text.trim_start_matches(['b', 'c', 'r']).len();
    let body = &text[prefix..];
    let is_raw = text[..prefix].contains('r');
    let hashes = body.len() - body.trim_start_matches('#').len();
    if prefix <= 2 && is_raw && body[hashes..].starts_with('"') {
        let closing = format!("\"{}", "#".repeat(hashes));
        let start = prefix + hashes + 1;
        return text[start..].find(&closing).map(|end| start + end + closing.len());
    }
    if prefix <= 1 && body.starts_with('"') {
        return closing(&body[1..], '"').map(|end| prefix + 1 + end);
    }
    if prefix <= 1 && body.starts_with('\'') {
        let inner = &body[1..];
        let first = inner.chars().next()?;
        // A lifetime has no quote behind its first character.
        if first == '\\' || inner[first.len_utf8()..].starts_with('\'') {
            return closing(inner, '\'').map(|end| prefix + 1 + end);
        }
    }
    None
}

/// Returns the position behind the first quote that no backslash escapes.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !is_escaped {
            return Some(at + 1);
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    None
}

/// Leaves out the items behind `#[cfg(test)]` and `#[cfg(doc)]`, which are in no build of a user.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let attribute: Vec<&str> = tokens[at..].iter().take(7).map(String::as_str).collect();
        if let ["#", "[", "cfg", "(", "test" | "doc", ")", "]"] = attribute[..] {
            at = end_of_item(tokens, at + attribute.len());
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Returns the position behind the item, field or statement at `from`.
fn end_of_item(tokens: &[String], from: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return at,
            "}" if depth == 1 => return at + 1,
            ")" | "]" | "}" => depth -= 1,
            ";" | "," if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Returns the cycles of uses in a crate. In each folder, its files and its folders use each other in one direction,
/// where a folder counts as one module. So no file uses a folder that uses the file.
pub(crate) fn circles(edges: &Edges) -> BTreeSet<BTreeSet<String>> {
    let folders: BTreeSet<&str> = edges.keys().map(|module| parent(module)).collect();
    folders.into_iter().flat_map(|folder| components(&members_of(folder, edges))).collect()
}

/// Returns the uses among the files and folders that are directly in a folder.
fn members_of(folder: &str, edges: &Edges) -> Edges {
    let member = |module: &str| -> Option<String> {
        let inside = match folder {
            "" => module,
            _ if module == folder => "",
            _ => module.strip_prefix(folder)?.strip_prefix("::")?,
        };
        let first = inside.split("::").next().unwrap_or_default();
        Some(if first.is_empty() { folder.to_owned() } else { joined(folder, first) })
    };
    let mut found = Edges::new();
    for (module, targets) in edges {
        let Some(from) = member(module) else { continue };
        for (target, paths) in targets {
            if let Some(to) = member(target).filter(|to| *to != from) {
                let uses = found.entry(from.clone()).or_default();
                uses.entry(to).or_default().extend(paths.iter().cloned());
            }
        }
    }
    found
}

/// Returns the groups of modules that use each other in cycles.
fn components(edges: &Edges) -> BTreeSet<BTreeSet<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|module| (module.as_str(), reach(module, edges))).collect();
    let circle_of = |module: &&str| -> BTreeSet<String> {
        let returns = |other: &&&str| reached.get(**other).is_some_and(|r| r.contains(module));
        reached[module].iter().filter(returns).map(|&other| other.to_owned()).collect()
    };
    reached.keys().map(circle_of).filter(|circle| !circle.is_empty()).collect()
}

/// Returns the modules to which uses lead from a module.
fn reach<'e>(module: &'e str, edges: &'e Edges) -> BTreeSet<&'e str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![module];
    while let Some(module) = open.pop() {
        for target in edges.get(module).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(target.as_str()) {
                open.push(target);
            }
        }
    }
    reached
}

/// Lists the uses that make a cycle, one on each line.
pub(crate) fn describe(circle: &BTreeSet<String>, edges: &Edges) -> String {
    let is_in = |module: &str, member: &String| {
        module == member || module.strip_prefix(member).is_some_and(|rest| rest.starts_with("::"))
    };
    let member = |module: &str| circle.iter().filter(|member| is_in(module, member)).max();
    let mut lines = Vec::new();
    for (module, targets) in edges {
        for (target, paths) in targets {
            let ends = member(module).zip(member(target));
            if ends.is_some_and(|(from, to)| from != to) {
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                lines.push(format!("  {module} uses {target}: {}", paths.join(", ")));
            }
        }
    }
    lines.join("\n")
}
