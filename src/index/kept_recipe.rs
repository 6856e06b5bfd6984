//! The settings of an index that never change: how fingerprints are made, up to which distance documents are
//! near, and by which bits the tables of a segment find fingerprints.

use crate::index::store::{MOST_TABLES, Manifest};
use crate::method::{Criterion, Fitted, Method};
use simtool_base::error::{Error, Result};
use simtool_fingerprint::SKETCHES;
use simtool_hamming::bucket_table::TableKeys;
use simtool_hamming::layout::Layout;
use simtool_model::fingerprint_rows::{FingerprintRows, Metric, recipe_difference};
use simtool_model::fingerprint_table::Reach;

/// Minimum number of bits in a key. A key is the part of a fingerprint by which a table finds the
/// fingerprint. With fewer bits, each lookup would find too many fingerprints.
const LEAST_BITS: u32 = 8;
/// Maximum length of fingerprints that are looked up in tables, in 64-bit words. If fingerprints are longer,
/// a search compares the query with all of them.
const MOST_WORDS: usize = 8;

/// Tokenizers whose rules changed. Each entry has the part of a recipe by which the old rules are recognized, the old
/// name of these rules, and their present name. Version 0.1 left punctuation out of `chars`, and signs out of the
/// numbers of `words`.
const RENAMED_TOKENIZERS: [(&str, &str, &str); 2] =
    [("/chars+symbols/", "chars", "letters"), ("/words:uax29@", "words", "words-unsigned")];

/// Settings by which an index makes fingerprints and decides which of them are near.
#[derive(Clone, Debug)]
pub(super) struct KeptRecipe {
    method: Method,
    /// Recipe of the stored fingerprints. It names everything that they depend on. The method of an index
    /// from another version of simtool may make fingerprints by another recipe.
    recipe: String,
    /// Shape of the fingerprints, and the maximum distance at which documents are near.
    pub(super) reach: Reach,
    /// Bits of a fingerprint that are its key in each lookup table. `None` if there are no tables and
    /// searches compare every fingerprint.
    pub(super) tables: Option<TableKeys>,
}

/// Returns the names of the methods that an index can use, each with its help text. Their order is the order of the
/// list of all kinds of fingerprints.
#[must_use]
pub fn methods_of_indexes() -> Vec<(&'static str, &'static str)> {
    let is_possible =
        |name: &str| name.parse::<Method>().is_ok_and(|method| KeptRecipe::new(method).is_ok());
    let possible = SKETCHES.iter().filter(|kind| is_possible(kind.name));
    possible.map(|kind| (kind.name, kind.help)).collect()
}

impl KeptRecipe {
    /// Creates the recipe of a new index. It says how `method` makes fingerprints, and which fingerprints are near.
    ///
    /// # Errors
    ///
    /// The method makes no fingerprints, or has settings that an index does not support.
    pub(super) fn new(method: Method) -> Result<Self> {
        let refused = |rule: &str| Err(Error::config("method", method.name(), rule));
        let (Some(sketch), Criterion::Distance(max_distance)) =
            (method.recipe().sketch(), method.close())
        else {
            return refused("makes no fingerprints, and an index keeps no texts: choose another");
        };
        if Fitted::Nothing.check(method.recipe().terms()).is_err() {
            let rule = "learns from a whole collection first, which an index that grows never has: choose \
                        terms and weights that need nothing learned";
            return refused(rule);
        }
        if let Some(threshold) = method.verify() {
            let rule = "compares texts, and an index keeps none";
            return Err(Error::config("verify", threshold, rule));
        }
        if let Some(recall) = method.recall() {
            return Err(Error::config(
                "recall",
                recall,
                "does not go with an index, which misses nothing",
            ));
        }
        let reach = Reach { shape: sketch.shape(), max_distance };
        let recipe = recipe_of(&method);
        Ok(Self { method, recipe, reach, tables: tables(reach) })
    }

    /// Creates the recipe of an existing index from its manifest, which is the file that describes the index. If
    /// another version of simtool created the index, its stored fingerprints can be read, but [`Self::check_made_here`]
    /// may fail.
    ///
    /// # Errors
    ///
    /// The manifest has no method that an index can use.
    pub(super) fn of(manifest: &Manifest) -> Result<Self> {
        let renamed = RENAMED_TOKENIZERS.iter().find(|(part, ..)| manifest.recipe.contains(part));
        let method = renamed.map_or(manifest.method.clone(), |(_, before, now)| {
            manifest.method.replace(&format!("shingle={before}:"), &format!("shingle={now}:"))
        });
        Ok(Self { recipe: manifest.recipe.clone(), ..Self::new(method.parse()?)? })
    }

    /// Checks that this version of simtool makes fingerprints by the same recipe (rules) as the stored fingerprints.
    /// Distances between fingerprints of two recipes would mean nothing.
    ///
    /// # Errors
    ///
    /// This version of simtool makes other fingerprints for the method of the index.
    pub(super) fn check_made_here(&self) -> Result<()> {
        recipe_difference(&self.recipe, &recipe_of(&self.method)).map_or(Ok(()), |difference| {
            let rule = format!(
                "is made by other rules in this version of simtool; they differ in {difference}. The index \
                 can be read, exported and compacted. To add or query documents, create a new index and add \
                 all documents again"
            );
            Err(Error::config("method", self.method.name(), rule))
        })
    }

    fn check_recipe(&self, other: &str) -> Result<()> {
        recipe_difference(other, &self.recipe).map_or(Ok(()), |difference| {
            let rule =
                format!("makes other rows than those of the index; they differ in {difference}");
            Err(Error::config("method", self.method.name(), rule))
        })
    }

    /// Checks that another method makes the same fingerprints and has the same maximum distance.
    ///
    /// # Errors
    ///
    /// The method makes other fingerprints or has another maximum distance.
    pub(super) fn check(&self, other: &Method) -> Result<()> {
        self.check_kept(&Self::new(other.clone())?)
    }

    /// Checks that another index has fingerprints of the same recipe and the same maximum distance.
    ///
    /// # Errors
    ///
    /// The recipes or the maximum distances differ.
    pub(super) fn check_kept(&self, other: &Self) -> Result<()> {
        other.check_recipe(&self.recipe)?;
        if other.reach.max_distance != self.reach.max_distance {
            let rule = format!("must be that of the index, {}", self.reach.max_distance);
            return Err(Error::config("max_distance", other.reach.max_distance, rule));
        }
        Ok(())
    }

    /// Checks that the fingerprints in `rows` have the same shape as the stored fingerprints. If `rows` has a recipe,
    /// it must be the same, too.
    ///
    /// # Errors
    ///
    /// The shape or the recipe differs.
    pub(super) fn check_rows(&self, rows: &FingerprintRows<'_>) -> Result<()> {
        if rows.shape != self.reach.shape {
            let rule = format!("must be of {}, as the index's are", self.reach.shape);
            return Err(Error::config("rows", rows.shape, rule));
        }
        rows.recipe.as_deref().map_or(Ok(()), |recipe| self.check_recipe(recipe))
    }

    /// Returns the number of lookup tables that each segment (file of the index) has, or 0 if every fingerprint is
    /// compared.
    pub(super) fn table_count(&self) -> usize {
        self.tables.as_ref().map_or(0, TableKeys::tables)
    }

    /// Returns the method that makes the fingerprints.
    pub(super) fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the recipe of the stored fingerprints as text. It names everything that they depend on.
    pub(super) fn recipe(&self) -> &str {
        &self.recipe
    }

    /// Returns the manifest, which is the content of the file that describes an index, of an index without documents.
    pub(super) fn manifest(&self) -> Manifest {
        Manifest::new(self.method.to_string(), self.recipe.clone())
    }

    /// Returns the number of 64-bit words of a stored fingerprint. If there are lookup tables, the number is
    /// rounded up to a power of two, and the last words are zeros.
    pub(super) fn row_words(&self) -> usize {
        let words = self.reach.shape.words();
        if self.tables.is_some() { words.next_power_of_two() } else { words }
    }
}

/// Returns the recipe, a text that names all rules by which this version of simtool makes the fingerprints of `method`.
fn recipe_of(method: &Method) -> String {
    method.recipe().rows_recipe(&Fitted::Nothing)
}

/// Returns the bits of a fingerprint that are its key in each lookup table. Returns `None` if tables would
/// not be faster than comparing all fingerprints.
fn tables(reach: Reach) -> Option<TableKeys> {
    let Reach { shape, max_distance } = reach;
    let is_looked_up = match shape.metric() {
        Metric::Bits => true,
        Metric::Lanes { null, .. } => !null,
        Metric::Cosine { .. } | Metric::Votes { .. } => false,
    };
    // There is one part of the bits more than bits in which near fingerprints may differ. So they agree
    // completely in at least one part, and a lookup by each part finds them all.
    let masks = max_distance as usize + 1;
    let bits = shape.row_bits() / (max_distance + 1);
    let are_few = masks <= MOST_TABLES && bits >= LEAST_BITS && shape.words() <= MOST_WORDS;
    (is_looked_up && are_few).then(|| TableKeys::new(Layout::even(shape, max_distance), reach))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_rows::Shape;

    fn kept(method: &str) -> Result<KeptRecipe> {
        KeptRecipe::new(method.parse().unwrap())
    }

    #[test]
    fn what_an_index_cannot_keep_is_refused() {
        for (method, expected) in [
            ("exact", "makes no fingerprints"),
            ("simhash:weight=idf", "learns from a whole collection"),
            ("simhash:words=100", "learns from a whole collection"),
            ("simhash:verify=0.8", "keeps none"),
            ("minhash:similarity=0.8,recall=0.9", "misses nothing"),
        ] {
            let error = kept(method).unwrap_err().to_string();
            assert!(error.contains(expected), "{method}: {error}");
        }
    }

    #[test]
    fn rows_are_looked_up_where_masks_are_long_enough() {
        let masks = |method| kept(method).unwrap().tables.map(|keys| keys.tables());
        assert_eq!(masks("simhash"), Some(4));
        assert_eq!(masks("simhash:bits=512,max_distance=20"), Some(21));
        assert_eq!(masks("simhash:max_distance=10"), None);
        assert_eq!(masks("minhash"), None);
        assert_eq!(masks("multi-lexicon"), None);
        assert_eq!(kept("simhash:bits=256").unwrap().row_words(), 4);
        assert_eq!(kept("multi-lexicon").unwrap().row_words(), 8);
    }

    #[test]
    fn another_method_is_refused_by_its_parts() {
        let index = kept("simhash").unwrap();
        index.check(&"simhash".parse().unwrap()).unwrap();
        let refused = |method: &str| index.check(&method.parse().unwrap()).unwrap_err().to_string();
        assert!(refused("simhash:bits=128").contains("they differ in simhash64 and simhash128"));
        assert!(refused("simhash:max_distance=2").contains("must be that of the index, 3"));
        let mut manifest = index.manifest();
        KeptRecipe::of(&manifest).unwrap().check_made_here().unwrap();
        manifest.recipe.push_str("/from-the-future");
        let other = KeptRecipe::of(&manifest).unwrap();
        assert_eq!(other.manifest().recipe, manifest.recipe);
        for error in
            [other.check_made_here(), index.check_kept(&other), other.check(index.method())]
        {
            let error = error.unwrap_err().to_string();
            assert!(error.contains("from-the-future"), "{error}");
        }
    }

    #[test]
    fn an_index_of_the_old_rules_of_a_tokenizer_is_still_used() {
        for (name, now, [old_recipe, new_recipe]) in [
            ("chars", "letters", ["/chars+symbols/", "/chars:visible/"]),
            ("words", "words-unsigned", ["/words:uax29@", "/words+minus:uax29@"]),
        ] {
            let mut manifest = kept(&format!("minhash:shingle={now}:7")).unwrap().manifest();
            manifest.method = manifest.method.replace(now, name);
            let old = KeptRecipe::of(&manifest).unwrap();
            old.check_made_here().unwrap();
            assert!(old.recipe().contains(old_recipe), "{}", old.recipe());
            let new = kept(&format!("minhash:shingle={name}:7")).unwrap().manifest();
            let new = KeptRecipe::of(&new).unwrap();
            new.check_made_here().unwrap();
            assert!(new.recipe().contains(new_recipe), "{}", new.recipe());
            assert!(old.check_kept(&new).unwrap_err().to_string().contains(name));
        }
    }

    #[test]
    fn there_is_one_table_more_than_bits_that_may_differ() {
        let has_tables = |max_distance| {
            let shape = Shape::bits(512);
            tables(Reach { shape, max_distance }).is_some()
        };
        let most = MOST_TABLES as u32;
        let distances = [0, most - 1, most, most + 1];
        assert_eq!(distances.map(has_tables), [true, true, false, false]);
    }
}
