//! What an index keeps to from its first day: how rows are made, how near is near, and by which masks
//! rows are looked up.

use crate::pipeline::method::{Criterion, Fitted, Method};
use crate::store::{MOST_TABLES, Manifest};
use simtool_base::error::{Error, Result};
use simtool_hamming::bucket_table::TableKeys;
use simtool_hamming::layout::Layout;
use simtool_model::fingerprint_rows::{Metric, recipe_difference};
use simtool_model::fingerprint_table::Reach;

/// Bits that a mask has at the least for a table to be worth its place.
const LEAST_BITS: u32 = 8;
/// Words of the widest rows that are looked up in tables.
const MOST_WORDS: usize = 8;

/// How the documents of an index become rows, and which rows are near-duplicates.
#[derive(Clone, Debug)]
pub(super) struct KeptRecipe {
    method: Method,
    /// What its rows look like, and how far apart they may be.
    pub(super) reach: Reach,
    /// By what its tables are looked up; nothing if all rows are compared.
    pub(super) tables: Option<TableKeys>,
}

impl KeptRecipe {
    /// That of a method.
    ///
    /// # Errors
    ///
    /// The method has no rows, or asks for what an index does not keep.
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
        let shape = sketch.shape();
        let reach = Reach { shape, max_distance };
        Ok(Self { method, reach, tables: tables(reach) })
    }

    /// That of an index.
    ///
    /// # Errors
    ///
    /// This simtool makes other rows of documents than the one that made the index.
    pub(super) fn of(manifest: &Manifest) -> Result<Self> {
        let kept = Self::new(manifest.method.parse()?)?;
        kept.check_recipe(&manifest.recipe)?;
        Ok(kept)
    }

    fn check_recipe(&self, other: &str) -> Result<()> {
        match recipe_difference(other, &self.recipe()) {
            None => Ok(()),
            Some(difference) => {
                let rule = format!(
                    "makes other rows than those of the index; they differ in {difference}"
                );
                Err(Error::config("method", self.method.name(), rule))
            }
        }
    }

    /// That another method is the same.
    ///
    /// # Errors
    ///
    /// It makes other rows, or counts others as near.
    pub(super) fn check(&self, other: &Method) -> Result<()> {
        let other = Self::new(other.clone())?;
        other.check_recipe(&self.recipe())?;
        if other.reach.max_distance != self.reach.max_distance {
            let rule = format!("must be that of the index, {}", self.reach.max_distance);
            return Err(Error::config("max_distance", other.reach.max_distance, rule));
        }
        Ok(())
    }

    /// Number of tables that a segment has.
    pub(super) fn table_count(&self) -> usize {
        self.tables.as_ref().map_or(0, TableKeys::tables)
    }

    /// How documents become rows.
    pub(super) fn method(&self) -> &Method {
        &self.method
    }

    /// All that rows depend on.
    pub(super) fn recipe(&self) -> String {
        self.method.recipe().rows_recipe(&Fitted::Nothing)
    }

    /// The manifest of an index without documents.
    pub(super) fn manifest(&self) -> Manifest {
        Manifest::new(self.method.to_string(), self.recipe())
    }

    /// Words of a row as it is stored: where there are tables, as many as a lane has.
    pub(super) fn row_words(&self) -> usize {
        let words = self.reach.shape.words();
        if self.tables.is_some() { words.next_power_of_two() } else { words }
    }
}

/// By what rows are looked up; nothing where that would find more than it leaves out.
fn tables(reach: Reach) -> Option<TableKeys> {
    let Reach { shape, max_distance } = reach;
    let is_looked_up = match shape.metric() {
        Metric::Bits => true,
        Metric::Lanes { null, .. } => !null,
        Metric::Cosine { .. } | Metric::Votes { .. } => false,
    };
    let masks = max_distance as usize + 1;
    let bits = shape.row_bits() / (max_distance + 1);
    let are_few = masks <= MOST_TABLES && bits >= LEAST_BITS && shape.words() <= MOST_WORDS;
    (is_looked_up && are_few).then(|| TableKeys::new(Layout::even(shape, max_distance), reach))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        KeptRecipe::of(&manifest).unwrap();
        manifest.recipe.push_str("/from-the-future");
        let error = KeptRecipe::of(&manifest).unwrap_err().to_string();
        assert!(error.contains("from-the-future"), "{error}");
    }
}
