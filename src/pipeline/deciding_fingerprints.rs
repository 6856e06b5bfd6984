//! Finds only the pairs of fingerprints that decide which documents are kept, for collections with too many
//! pairs.

use super::close_fingerprints::RowJoin;
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::LargeBuffer;
use simtool_hamming::door::equal_rows;
use simtool_hamming::group_pairs::GroupPairs;
use simtool_model::closeness::Closeness;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;
use simtool_set_join::close::{Close, ClosePairs};
use simtool_set_join::kept_pairs::{
    DecidingRule, FoundPairs, PairLists, PairSearch, RowFilter, Turns, deciding_pairs,
};
use std::borrow::Cow;

/// Divisor of the free memory. The pairs that one join finds may take 1/`MEMORY_SHARE` of the free memory. The rest is
/// for two copies of these pairs while they are sorted.
const MEMORY_SHARE: u64 = 3;
/// Bytes of memory for a pair while all pairs are sorted.
const BYTES_A_PAIR: u64 = 2 * size_of::<ValuePair>() as u64;
/// Number of pairs that may always be in memory, even if less memory is free.
const FEW_PAIRS: u64 = 1 << 16;
/// Description of the memory for pairs. Out-of-memory messages contain it.
const PAIRS: &str = "the pairs of fingerprints";

/// Finds some of the pairs of close documents of one collection. With them, two decisions are the same as with all
/// pairs: the documents that `rule` keeps, and the kept document that replaces each removed document. `order` has all
/// row numbers, with the preferred documents first.
///
/// # Errors
///
/// A join fails, or even these pairs do not fit in memory.
pub(super) fn find_deciding(
    join: RowJoin<'_>,
    rows: &FingerprintRows<'_>,
    order: Vec<u32>,
    rule: DecidingRule,
) -> Result<Close> {
    let context = join.context;
    let equal = context.threads().run(|| equal_rows(rows, context))??;
    // Only equal rows that are compared with the same rows may represent each other.
    let equal = join.scope.map_or_else(|| equal.clone(), |scope| scope.divide_groups(&equal));
    let documents: Vec<u32> = equal.iter().map(|group| group[0]).collect();
    let equal = equal.several();
    let memory = (context.memory().free() / MEMORY_SHARE).max(FEW_PAIRS * BYTES_A_PAIR);
    let part = context.with_memory(memory);
    let join = RowJoin { most: u64::MAX, context: &part, ..join };
    let mut search = FingerprintPairs { rows, documents, join };
    let turns = Turns::new(order, &equal);
    let pairs = deciding_pairs(&mut search, turns, rule, memory / BYTES_A_PAIR, context)?;
    let pairs = ClosePairs::of_distances(pairs.to_vec());
    let close = Close::new(Sides::One(equal), pairs, Closeness::Distance(0));
    Ok(Close { is_complete: false, ..close })
}

/// Search for pairs of near fingerprints. Each group of equal fingerprints is searched only once.
struct FingerprintPairs<'r> {
    rows: &'r FingerprintRows<'r>,
    /// First document of each group of equal fingerprints.
    documents: Vec<u32>,
    /// Settings of each join. Its memory limit is the memory for the pairs that one join finds.
    join: RowJoin<'r>,
}

/// Documents whose fingerprints are joined, and copies of these fingerprints.
struct ChosenRows {
    documents: Vec<u32>,
    rows: FingerprintRows<'static>,
}

impl FingerprintPairs<'_> {
    fn chosen(&self, documents: Vec<u32>) -> ChosenRows {
        let words =
            documents.iter().flat_map(|&row| self.rows.row(row as usize).unwrap_or_default());
        let words = Cow::Owned(words.copied().collect());
        let rows = FingerprintRows { shape: self.rows.shape, words, validity: None, recipe: None };
        ChosenRows { documents, rows }
    }

    fn only(&self, is_one: &RowFilter<'_>) -> ChosenRows {
        self.chosen(self.documents.iter().copied().filter(|&row| is_one(row)).collect())
    }

    /// Finds the pairs of a document of `first` and a document of `second` whose fingerprints are close. Calls `found`
    /// with a list of pairs, once or several times. If the pairs do not fit in memory, divides `first` into halves that
    /// are searched one after the other.
    fn across_parts(
        &self,
        first: &ChosenRows,
        second: &ChosenRows,
        found: &mut FoundPairs<'_, ValuePair>,
    ) -> Result<()> {
        if first.documents.is_empty() || second.documents.is_empty() {
            return Ok(());
        }
        let sides = Sides::Two(&first.rows, &second.rows);
        let scope = self.join.scope;
        let scope =
            scope.map(|scope| scope.of_rows(Sides::Two(&first.documents, &second.documents)));
        let join = RowJoin { scope: scope.as_ref(), ..self.join };
        if let Some(joined) = join.group_pairs(sides)? {
            let pairs = listed(joined, [first, second]);
            return found(&pairs, &|pair| Closeness::Distance(pair.distance)).map(drop);
        }
        if first.documents.len() == 1 {
            return Err(self.join.too_many_pairs());
        }
        let (left, right) = first.documents.split_at(first.documents.len() / 2);
        for half in [left, right] {
            self.across_parts(&self.chosen(half.to_vec()), second, found)?;
        }
        Ok(())
    }
}

impl PairSearch for FingerprintPairs<'_> {
    type Pair = ValuePair;

    fn documents(&self) -> Vec<u32> {
        self.documents.clone()
    }

    fn within(
        &mut self,
        is_one: &RowFilter<'_>,
        most: u64,
        _held: u64,
    ) -> Result<Option<PairLists<ValuePair>>> {
        let chosen = self.only(is_one);
        if chosen.documents.len() < 2 {
            return Ok(Some(Vec::new()));
        }
        let scope = self.join.scope.map(|scope| scope.of_rows(Sides::One(&chosen.documents)));
        let join = RowJoin { scope: scope.as_ref(), most, ..self.join };
        let Some(joined) = join.group_pairs(Sides::One(&chosen.rows))? else {
            return Ok(None);
        };
        if joined.pairs.len() as u64 > most {
            return Ok(None);
        }
        let pairs = listed(joined, [&chosen, &chosen]);
        let mut list = LargeBuffer::try_zeroed(pairs.len(), PAIRS)?;
        list.copy_from_slice(&pairs);
        Ok(Some(vec![list]))
    }

    fn across(
        &mut self,
        [is_first, is_second]: [&RowFilter<'_>; 2],
        found: &mut FoundPairs<'_, ValuePair>,
    ) -> Result<()> {
        self.across_parts(&self.only(is_first), &self.only(is_second), found)
    }

    fn closeness(&self, pair: &ValuePair) -> Closeness {
        Closeness::Distance(pair.distance)
    }

    fn too_many_pairs(&self, _pairs: u64) -> Error {
        self.join.too_many_pairs()
    }
}

/// Converts the pairs of group numbers that a join has found into pairs of document numbers. The join compared `first`
/// with `second`. Each of them must have different fingerprints only, so that each group is one document.
fn listed(joined: GroupPairs, [first, second]: [&ChosenRows; 2]) -> Vec<ValuePair> {
    let GroupPairs { groups, mut pairs } = joined;
    for pair in &mut pairs {
        pair.a = first.documents[groups.first().rows(pair.a)[0] as usize];
        pair.b = second.documents[groups.second().rows(pair.b)[0] as usize];
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::components::keep_one_each;
    use crate::cluster::keep::keep_preferred;
    use crate::pipeline::row_scope::RowScope;
    use crate::pipeline::scope::Relation;
    use simtool_base::stable_hash::mix;
    use simtool_compute::context::Context;
    use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
    use simtool_model::similarity::Threshold;
    use simtool_set_join::close::Neighbourhood;

    /// Returns fingerprints that differ in few units from one of three centres. Some are equal, and each
    /// hundredth row has no fingerprint.
    fn rows(shape: Shape) -> FingerprintRows<'static> {
        let mut rows = RowsBuilder::new(shape);
        for row in 0..3000_u64 {
            let word = |word: u64| {
                let random = mix(row << 8 | word);
                let flips =
                    if word == 0 { 1 + random % 3 } else { u64::from(random.is_multiple_of(4)) };
                let centre = mix((row % 3) << 8 | word);
                (0..flips).fold(centre, |bits, flip| bits ^ 1 << (mix(random ^ flip) % 64))
            };
            let words: Vec<u64> = (0..shape.words() as u64).map(word).collect();
            rows.push((!row.is_multiple_of(100)).then_some(&words));
        }
        rows.finish()
    }

    /// Checks that the pairs that are found with little memory remove the same documents as all pairs.
    fn check(shape: Shape, distance: u32, recall: Option<Threshold>, scope: Option<&RowScope>) {
        let rows = rows(shape);
        let context = Context::default();
        let join = RowJoin { distance, recall, scope, most: u64::MAX, context: &context };
        let all = join.find(Sides::One(&rows)).unwrap().unwrap();
        assert!(all.pairs.len() > FEW_PAIRS as usize, "{}", all.pairs.len());
        let little = Context::default().with_memory(BYTES_A_PAIR * FEW_PAIRS);
        let join = RowJoin { context: &little, ..join };
        assert!(join.find(Sides::One(&rows)).unwrap().is_none());
        for seed in 0..3 {
            let mut order: Vec<u32> = (0..rows.len() as u32).collect();
            order.sort_by_key(|&row| mix(seed << 32 | u64::from(row)));
            let mut turns = vec![0; rows.len()];
            for (turn, &row) in order.iter().enumerate() {
                turns[row as usize] = turn;
            }
            let removals = |close: &Close| {
                let turn = |row: u32| turns[row as usize];
                keep_preferred(&Neighbourhood::new(close), |a, b| turn(a).cmp(&turn(b)))
            };
            let rule = DecidingRule::ClosestKept;
            let deciding = find_deciding(join, &rows, order.clone(), rule).unwrap();
            assert!(!deciding.is_complete && deciding.pairs.len() < all.pairs.len() / 4);
            assert_eq!(removals(&deciding), removals(&all), "{shape}");
            // Any pair can link two components, so the rule of components has its own pairs.
            let removals = |close: &Close| {
                let turn = |row: u32| turns[row as usize];
                keep_one_each(&Neighbourhood::new(close), |a, b| turn(a).cmp(&turn(b)))
            };
            let linking =
                find_deciding(join, &rows, order.clone(), DecidingRule::Component).unwrap();
            assert!(!linking.is_complete && linking.pairs.len() < all.pairs.len() / 4);
            assert_eq!(removals(&linking), removals(&all), "{shape}");
        }
    }

    #[test]
    fn pairs_that_decide_remove_what_all_pairs_remove() {
        check(Shape::bits(64), 4, None, None);
        check(Shape::bits(128), 4, None, None);
        check(Shape::lanes(16, 32), 6, None, None);
        check(Shape::lanes(16, 32), 6, Threshold::new(9, 10).ok(), None);
    }

    #[test]
    fn pairs_of_the_scope_decide() {
        let values: Vec<u64> = (0..3000).map(|row| mix(row ^ 7) % 3).collect();
        for relation in [Relation::Within, Relation::Across] {
            let scope = RowScope::new(relation, Sides::One(values.clone()));
            check(Shape::bits(64), 6, None, Some(&scope));
            check(Shape::lanes(16, 32), 6, None, Some(&scope));
        }
    }
}
