//! Presets: methods with the settings that publications use for them.

use super::Method;
use super::own_settings::COVERED;
use simtool_base::error::{Error, Result};
use simtool_base::options::members;

/// A named method with the settings of a publication, such as `minhash-64`. Users can give this name on the command
/// line.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name of the preset on the command line, for example `minhash-64`.
    pub name: &'static str,
    /// Description of the preset for help texts.
    pub help: &'static str,
    /// Settings of the method in the form that [`Method`] parses, for example `simhash:bits=64`.
    pub method: &'static str,
}

/// All presets. [`NamedMethod::presets`] leaves out presets whose kind of fingerprint this build lacks.
const PRESETS: &[Preset] = &[
    Preset {
        name: "word-simhash",
        help: "SimHash of 64 bits over single words, each as often as it occurs",
        method: "simhash:bits=64,max_distance=2,shingle=words:1",
    },
    Preset {
        name: "shingle-simhash",
        help: "SimHash of 64 bits over two consecutive words",
        method: "simhash:bits=64,max_distance=13,shingle=words:2,weight=binary",
    },
    Preset {
        name: "multi-lexicon",
        help: "Eight SimHashes of 64 bits over random lexicons of two consecutive words, four of \
               which must agree",
        method: "multi-lexicon:lexicons=8,votes=4,lexicon_bits=shared,max_distance=20,\
                 shingle=words:2,weight=binary",
    },
    Preset {
        name: "minhash",
        help: "MinHash of 128 values of 32 bits over three consecutive words",
        method: "minhash:lanes=128,bits=32,hashing=classical,measure=jaccard,max_distance=100,\
                 shingle=words:3",
    },
    Preset {
        name: "minhash-64",
        help: "MinHash of 64 bytes over seven consecutive characters: a cosine by 124 lanes of 4 bits \
               and the size",
        method: "minhash:lanes=124,bits=4,measure=cosine,max_distance=576,shingle=letters:7",
    },
    Preset {
        name: "minhash-16",
        help: "MinHash of 16 bytes over those seven consecutive characters that are in several \
               documents, but not in most: 32 lanes of 4 bits",
        method: "minhash:lanes=32,bits=4,measure=jaccard,max_distance=17,shingle=letters:7,\
                 idf_band=0.15-1",
    },
    Preset {
        name: "minhash-8",
        help: "MinHash of 8 bytes over the same: 16 lanes of 4 bits",
        method: "minhash:lanes=16,bits=4,measure=jaccard,max_distance=7,shingle=letters:7,\
                 idf_band=0.15-1",
    },
    Preset {
        name: "i-match",
        help: "I-Match: one hash of the words in the middle of the range of frequencies",
        method: "i-match:lexicons=0,max_distance=0,shingle=words:1,idf_band=0.1-0.9",
    },
    Preset {
        name: "random-i-match",
        help: "I-Match over the lexicon and 30 random parts of it",
        method: "i-match:lexicons=30,lexicon_share=0.1,max_distance=30,shingle=words:1,idf_band=0.1-0.6",
    },
    Preset {
        name: "exact",
        help: "Jaccard similarity of the sets of three consecutive words themselves",
        method: "exact:similarity=0.8,shingle=words:3",
    },
];

/// A method and the name by which it was selected.
#[derive(Clone, Debug)]
pub struct NamedMethod {
    /// Name of a preset, or the settings of the method as the user wrote them.
    pub name: String,
    /// The selected method, with all its settings.
    pub method: Method,
}

impl NamedMethod {
    /// Returns the presets that this build supports.
    pub fn presets() -> impl Iterator<Item = &'static Preset> {
        let kind = |preset: &Preset| preset.method.split(':').next().unwrap_or_default();
        PRESETS.iter().filter(move |preset| Method::kinds().any(|(name, _)| name == kind(preset)))
    }

    /// Returns the methods of all presets that this build supports.
    ///
    /// # Errors
    ///
    /// The text of a preset cannot be parsed, which is a bug.
    pub fn all() -> Result<Vec<Self>> {
        Self::presets().map(|preset| Self::parse(preset.name)).collect()
    }

    /// Parses a list of methods that are separated by commas. Each item is the name of a preset or the
    /// settings of a method. Options can follow a name after a colon, and replace options of the preset. An
    /// item of the form `NAME=VALUE` is a further option of the method before it in the list.
    ///
    /// ```
    /// use simtool::method::presets::NamedMethod;
    ///
    /// let methods = NamedMethod::parse_list("minhash-64,simhash:bits=128,max_distance=6")?;
    /// assert_eq!(methods.len(), 2);
    /// # Ok::<(), simtool::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The list begins with an option, or an item is neither a preset nor a method.
    pub fn parse_list(list: &str) -> Result<Vec<Self>> {
        let mut texts: Vec<String> = Vec::new();
        for piece in members(list).map(str::trim).filter(|piece| !piece.is_empty()) {
            // A comma separates methods, but also the options of a method: `a:x=1,y=2,b` are two
            // methods.
            let is_option = piece.split_once('=').is_some_and(|(name, _)| !name.contains(':'));
            match (texts.last_mut(), is_option) {
                (Some(method), true) => {
                    method.push(if method.contains(':') { ',' } else { ':' });
                    method.push_str(piece);
                }
                (None, true) => {
                    let rule = "is an option without a method; put a method before it, for example simhash:bits=128";
                    return Err(Error::config("method", piece, rule));
                }
                (_, false) => texts.push(piece.to_owned()),
            }
        }
        texts.iter().map(|text| Self::parse(text)).collect()
    }

    /// Parses one method: the name of a preset, possibly with options, or the settings of a method.
    fn parse(text: &str) -> Result<Self> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let preset = Self::presets().find(|preset| preset.name == name);
        // If a preset and a kind of method share a name, options after the name are options of the kind.
        let is_kind = Method::kinds().any(|(kind, _)| kind == name);
        let whole = match preset {
            Some(preset) if options.is_empty() => preset.method.to_owned(),
            Some(preset) if !is_kind => with_options(preset.method, options),
            None if !is_kind => {
                let presets = Self::presets().map(|preset| preset.name);
                let kinds = Method::kinds().map(|(name, _)| name);
                let is_other = |kind: &&str| {
                    *kind != COVERED && Self::presets().all(|preset| preset.name != *kind)
                };
                let kinds = kinds.filter(is_other);
                let known: Vec<_> = presets.chain(kinds).collect();
                let rule = format!("must be one of {}", known.join(", "));
                return Err(Error::config("method", name, rule));
            }
            _ => text.to_owned(),
        };
        let method: Method = whole.parse()?;
        method.check_pairs("a measurement")?;
        Ok(Self { name: text.to_owned(), method })
    }
}

/// Adds `options` to `method`, which is the text of a method. Each added option replaces the option of the
/// same name in the text.
fn with_options(method: &str, options: &str) -> String {
    let (kind, own) = method.split_once(':').unwrap_or((method, ""));
    // Options may be written with hyphens, as on the command line, or with underscores.
    let name = |option: &str| option.split('=').next().map(|name| name.trim().replace('-', "_"));
    // The same option twice would be an error, so the new value takes the place of the old one.
    let is_replaced = |own: &&str| members(options).any(|option| name(option) == name(own));
    let kept = members(own).filter(|own| !is_replaced(own));
    let all: Vec<&str> = kept.chain(members(options)).collect();
    format!("{kind}:{}", all.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: &str) -> Vec<(String, String)> {
        let methods = NamedMethod::parse_list(list).unwrap();
        methods.into_iter().map(|named| (named.name, named.method.to_string())).collect()
    }

    #[test]
    fn presets_of_this_build_are_methods() {
        let all = NamedMethod::all().unwrap();
        let names: Vec<_> = all.iter().map(|named| named.name.as_str()).collect();
        for name in ["word-simhash", "shingle-simhash", "exact"] {
            assert!(names.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_list_has_presets_and_methods_with_their_options() {
        let found =
            read("word-simhash, simhash:bits=128,shingle=words:2,exact:shingle=chars:5,exact");
        let shown = [
            ("word-simhash", "simhash:bits=64,max_distance=2,shingle=words:1"),
            ("simhash:bits=128,shingle=words:2", "simhash:bits=128,max_distance=3,shingle=words:2"),
            ("exact:shingle=chars:5", "exact:similarity=0.8,shingle=chars:5"),
            ("exact", "exact:similarity=0.8,shingle=words:3"),
        ];
        let shown = shown.map(|(name, method)| (name.to_owned(), method.to_owned()));
        assert_eq!(found, shown);
        let found = read("word-simhash:bits=512,shingle-simhash,max-distance=9");
        assert_eq!(found[0].1, "simhash:bits=512,max_distance=2,shingle=words:1");
        assert_eq!(found[1].1, "simhash:bits=64,max_distance=9,shingle=words:2,weight=binary");
    }

    #[test]
    fn what_is_no_method_is_refused() {
        let refused = |list: &str| NamedMethod::parse_list(list).unwrap_err().to_string();
        assert!(refused("magic").starts_with("method magic: must be one of word-simhash, "));
        assert!(refused("bits=128").starts_with("method bits=128: is an option"));
        assert!(refused("word-simhash:colour=red").contains("colour=red"));
    }
}
