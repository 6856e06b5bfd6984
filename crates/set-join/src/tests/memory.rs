//! Tests how joins use the memory that they are given.

use super::*;
use crate::block_join::blocks;
use crate::cells::Cells;
use crate::prune::Stored;
use crate::sketching::{SketchScratch, Sketching};
use crate::window_scan::near_pairs;

/// Returns the default rule for kept documents, with `order` as the order of preference.
fn to_keep(order: &dyn Fn() -> Vec<u32>) -> KeptChoice<'_> {
    KeptChoice { rule: DecidingRule::ClosestKept, order }
}

#[test]
fn too_little_memory_is_reported_as_soon_as_it_shows() {
    // Documents that share 20 of 21 terms.
    fn document(number: u64) -> Vec<u64> {
        (0..20).map(mix).chain([mix(1000 + number)]).collect()
    }
    let readings = |documents: u64, memory_bytes: u64, term_count_hint: u64| {
        let documents = (0..documents).map(document).collect();
        let documents = ListedDocuments { documents, shard_documents: 10_000 };
        let counted = CountedReadings::new(documents, term_count_hint);
        let join = SetJoin {
            threshold: threshold(4, 5),
            memory_bytes,
            filter: None,
            context: &Context::default(),
        };
        let error = join.self_join(&counted).map(drop).unwrap_err();
        assert!(matches!(error.kind(), simtool_base::error::ErrorKind::Limit { .. }), "{error}");
        (counted.readings.into_inner(), error.to_string())
    };
    // If there are far too many terms for a table in this memory, nothing is read at all.
    let (read, message) = readings(10, 1 << 20, 1 << 32);
    assert_eq!(read, 0);
    assert!(
        message.starts_with("about 4294967296 shingles: `max_memory` leaves 1048576 bytes for")
    );
    assert!(
        message.ends_with(" 113M more is enough for that; the method simhash needs less"),
        "{message}"
    );
    // If only the first reading shows this, the error is the same.
    let (read, message) = readings(5000, 2, 1 << 10);
    assert_eq!(read, 1);
    assert!(
        message.starts_with("about 105000 shingles: `max_memory` leaves 2 bytes for them"),
        "{message}"
    );
    // The first round counts and prunes fifteen times. It shows that no further round can help.
    let (read, message) = readings(5000, 3000, 105_000);
    assert_eq!(read, 30);
    assert!(message.starts_with("105000 shingles that may match: `max_memory` leaves 3000 bytes"));
    // If further rounds may help, they are run.
    let (read, message) = readings(500, 1, 1 << 10);
    assert!(read > 2 && message.contains("more than 64 parts, each with each. 1M more is enough"));
}

#[test]
fn pairs_that_are_too_many_for_the_memory_are_refused() {
    // All documents are similar, but no two are equal. There are nearly a million pairs, which take
    // 23 MB while they are sorted.
    let document = |number: u64| (0..20).map(mix).chain([mix(1000 + number)]).collect();
    let documents: Vec<Vec<u64>> = (0..1400).map(document).collect();
    let pairs = |memory_bytes, held_bytes| {
        let source =
            CountedReadings { held_bytes, ..CountedReadings::new(source_of(&documents), 1 << 10) };
        let threshold = threshold(4, 5);
        let join = SetJoin { threshold, memory_bytes, filter: None, context: &Context::default() };
        let close = join.self_join(&source).map_err(|error| error.to_string())?;
        Ok::<_, String>(close.pairs.len())
    };
    assert_eq!(pairs(64 << 20, 0), Ok(1400 * 1399 / 2));
    let message = pairs(20 << 20, 0).unwrap_err();
    let expected = " pairs of near-duplicates: `max_memory` leaves 20971520 bytes for them";
    assert!(message.contains(expected), "{message}");
    // Only few of these pairs decide which documents are kept, and they fit in memory.
    let source = CountedReadings::new(source_of(&documents), 1 << 10);
    let memory_bytes = 20 << 20;
    let threshold = threshold(4, 5);
    let join = SetJoin { threshold, memory_bytes, filter: None, context: &Context::default() };
    let order = &|| (0..1400).rev().collect();
    for rule in RULES {
        let choice = &KeptChoice { rule, order };
        let close = join.self_join_to_keep(&source, choice).unwrap();
        assert!(!close.is_complete && close.pairs.len() == 1399, "{rule:?}");
        assert!(close.pairs.iter().all(|pair| pair.b == 1399), "{rule:?}");
        let join = SetJoin { memory_bytes: 64 << 20, ..join };
        let close = join.self_join_to_keep(&source, choice).unwrap();
        assert!(close.is_complete && close.pairs.len() == 1400 * 1399 / 2, "{rule:?}");
    }
    // The data that the source keeps about the documents takes a part of the memory.
    let message = pairs(64 << 20, 44 << 20).unwrap_err();
    assert!(message.contains("`max_memory` leaves 20971520 bytes"), "{message}");
}

#[test]
fn large_buffers_are_entered_in_the_ledger_and_released() {
    let document = |number: u64| (0..200).map(mix).chain([mix(1000 + number)]).collect();
    let documents: Vec<Vec<u64>> = (0..600).map(document).collect();
    let source = source_of(&documents);
    let limit = 64 << 20;
    let context = Context::default().with_memory(limit);
    let join = SetJoin::new(threshold(4, 5), &context);
    let close = join.self_join(&source).unwrap();
    let pairs = close.pairs.len() as u64;
    assert_eq!(pairs, 600 * 599 / 2);
    // The pairs exist twice while they are sorted.
    let of_pairs = 2 * pairs * size_of::<SetPair>() as u64;
    let peak = context.memory().peak();
    assert!((of_pairs / 2..limit).contains(&peak), "{peak}");
    drop(close);
    assert_eq!(context.memory().used(), 0);
}

#[test]
fn terms_tables_and_sketches_are_entered_in_the_ledger() {
    let context = Context::default().with_memory(u64::MAX);
    let ledger = context.memory();
    let terms: Vec<u64> = (0..300_000).map(mix).collect();
    let table = Cells::new(1 << 20, 0, ledger).unwrap();
    assert_eq!(ledger.used(), (1 << 20) / Cells::A_BYTE);
    drop(table);
    // Room for terms costs nothing before it is used.
    let mut stored = Stored::with_capacity(1 << 20, ledger);
    assert_eq!(ledger.used(), 0);
    stored.push(0, &terms).unwrap();
    let bytes = size_of_val(&terms[..]) as u64;
    assert!((bytes..=bytes / 4 * 5).contains(&ledger.used()), "{}", ledger.used());
    drop(stored);
    let mut sketches = Sketching::new(Threshold::DEFAULT, true, ledger);
    sketches.push(0, &terms, &mut SketchScratch::default()).unwrap();
    // Sketches have at least one bit for each term.
    assert!((300_000 / 8..300_000).contains(&ledger.used()), "{}", ledger.used());
    drop(sketches);
    assert_eq!(ledger.used(), 0);
}

#[test]
fn terms_that_are_joined_at_once_fit_into_32_bits() {
    let fitting = |memory_bytes| {
        SetJoin {
            threshold: threshold(4, 5),
            memory_bytes,
            filter: None,
            context: &Context::default(),
        }
        .fitting()
    };
    assert_eq!(fitting(u64::MAX), u64::from(u32::MAX));
    assert_eq!(fitting(48_000), 1000);
    // Two blocks are joined at a time. Each has one of the longest documents.
    let longest = prune::document_size((1 << 31) - 1).unwrap();
    let shard = JoinShard::new(5, vec![longest, 1, longest, longest]);
    assert_eq!(shard.living_terms(), 3 * u64::from(longest) + 1);
    let blocks = blocks(&[shard], fitting(u64::MAX) / 2);
    assert_eq!(blocks, [0..6, 6..7, 7..8, 8..u32::MAX]);
}

#[test]
fn documents_whose_sketches_do_not_fit_are_joined_in_parts() {
    // Counting drops no document, because all terms are frequent. Some documents have a copy with another
    // term.
    let term = |document: u64, term: u64| mix(mix(document << 32 | term) % 2000);
    let document = |number: u64| (0..60 + number % 50).map(|at| term(number, at)).collect();
    let mut documents: Vec<Vec<u64>> = (0..3000).map(document).collect();
    for copy in 0..20 {
        let mut terms = documents[copy * 100].clone();
        terms[7] = mix(1 << 40);
        documents.push(terms);
    }
    let pairs = |memory_bytes| {
        let source = CountedReadings::new(source_of(&documents), 1 << 18);
        let context = Context::default().with_memory(memory_bytes);
        let close = SetJoin::new(threshold(4, 5), &context).self_join(&source).unwrap();
        (close.pairs, source.readings.into_inner() / 336)
    };
    let (all, readings) = pairs(64 << 20);
    assert!(all.len() >= 20 && readings < 4, "{} {readings}", all.len());
    let (in_parts, readings) = pairs(200_000);
    assert!(in_parts == all && readings > 20, "{} {readings}", in_parts.len());
}

#[test]
fn candidates_are_handed_on_before_they_are_too_many() {
    // Two and two documents are equal, and no others are similar. There are enough documents for three
    // blocks.
    let document = |number: u64| (0..8).map(|term| mix((number / 2) << 8 | term)).collect();
    let documents: Vec<Vec<u64>> = (0..40_000).map(document).collect();
    let source = source_of(&documents);
    let sources = TermSources { first: &source, second: None };
    let threshold = threshold(7, 10);
    let join =
        SetJoin { threshold, memory_bytes: u64::MAX, filter: None, context: &Context::default() };
    let found = |most: u64| {
        let (shards, sketches) = all_sketched(&sources, threshold, &Context::default());
        let by_sketches = SketchJoin::new(&join, &sources, &shards, sketches, None);
        let mut pairs = Vec::new();
        let mut calls = 0;
        let scans = by_sketches.all().unwrap().scans;
        let visited = near_pairs(&scans, most, &mut |found| {
            let found = found.concat();
            assert!(found.len() as u64 <= most, "{}", found.len());
            pairs.extend(found);
            calls += 1;
            Ok(())
        });
        visited.unwrap();
        pairs.sort_unstable();
        (pairs, calls)
    };
    let (all, calls) = found(u64::MAX);
    assert_eq!(calls, 1);
    assert!((0..20_000).all(|pair| all.binary_search(&[pair * 2, pair * 2 + 1]).is_ok()));
    let (in_parts, calls) = found(5000);
    assert!(in_parts == all && calls > 3, "{calls}");
}

#[test]
fn candidates_of_a_template_never_take_more_than_their_part_of_the_memory() {
    // Every two of 4000 documents are candidates. All 8 million candidates take 64 MB.
    let document = |number: u64| (0..40).map(mix).chain([mix(1000 + number)]).collect();
    let documents: Vec<Vec<u64>> = (0..4000).map(document).collect();
    let source = source_of(&documents);
    let limit = 24 << 20;
    let context = Context::default().with_memory(limit);
    let join = SetJoin::new(threshold(4, 5), &context);
    let order = || (0..4000).collect();
    let close = join.self_join_to_keep(&source, &to_keep(&order)).unwrap();
    assert!(!close.is_complete && close.pairs.len() == 3999);
    assert!(close.pairs.iter().all(|pair| pair.a == 0));
    let peak = context.memory().peak();
    assert!(peak < limit, "{peak}");
}

#[test]
fn of_too_many_candidates_only_pairs_that_decide_are_found() {
    // Every two of 5000 documents are candidates, which is more than 8 million pairs.
    let document = |number: u64| (0..40).map(mix).chain([mix(1000 + number)]).collect();
    let documents: Vec<Vec<u64>> = (0..5000).map(document).collect();
    let source = CountedReadings::new(source_of(&documents), 1 << 10);
    let context = Context::default();
    let join = SetJoin::new(threshold(4, 5), &context);
    let order = || (0..5000).rev().collect();
    let close = join.self_join_to_keep(&source, &to_keep(&order)).unwrap();
    assert!(!close.is_complete && close.pairs.len() == 4999);
    assert!(close.pairs.iter().all(|pair| pair.b == 4999));
    // All pairs are found if the caller needs them.
    let close = join.self_join(&source).unwrap();
    assert!(close.is_complete && close.pairs.len() == 5000 * 4999 / 2);
}

#[test]
fn a_join_by_prefixes_with_too_many_pairs_finds_those_that_decide() {
    // There are so many short documents that comparing all sketches takes longer than a join by prefixes.
    // Every two of them are similar.
    let document = |number: u64| (0..12).map(mix).chain([mix(1000 + number)]).collect();
    let documents: Vec<Vec<u64>> = (0..20_000).map(document).collect();
    let source = source_of(&documents);
    let order = || (0..20_000).rev().collect();
    for context in [Context::default(), Context::default().with_memory(64 << 20)] {
        let join = SetJoin::new(threshold(4, 5), &context);
        let sources = TermSources { first: &source, second: None };
        assert!(!join.survivors(&sources).unwrap().is_scanned);
        let close = join.self_join_to_keep(&source, &to_keep(&order)).unwrap();
        assert!(!close.is_complete && close.pairs.len() == 19_999);
        assert!(close.pairs.iter().all(|pair| pair.b == 19_999));
    }
    // If all pairs are needed, they must fit in memory.
    let context = Context::default().with_memory(64 << 20);
    let message = SetJoin::new(threshold(4, 5), &context).self_join(&source).unwrap_err();
    assert!(
        message.to_string().contains(" pairs of near-duplicates: `max_memory` leaves "),
        "{message}"
    );
}

#[test]
fn many_terms_are_counted_before_documents_are_sketched() {
    let documents = ListedDocuments { documents: templates(90), shard_documents: 9 };
    let expected = brute_force(&documents.documents, &documents.documents, threshold(7, 10), false);
    // The source reports so many terms that the documents are pruned first: with cells that are kept in
    // memory, or with less memory by reading twice. The limit of the last ledger is exceeded while documents are sketched.
    for (memory_bytes, limit, readings) in
        [(u64::MAX, u64::MAX, 5), (100 << 20, u64::MAX, 3), (100 << 20, 1, 6)]
    {
        let context = &Context::default().with_memory(limit);
        let documents = ListedDocuments { documents: templates(90), shard_documents: 9 };
        let source = CountedReadings::new(documents, 1 << 27);
        let threshold = threshold(7, 10);
        let join = SetJoin { threshold, memory_bytes, filter: None, context };
        let close = join.self_join(&source).unwrap();
        assert_eq!(expanded(&close), expected);
        let per_shard = source.readings.into_inner() / 10;
        // The documents are templates. If the cells were kept, or the sketches were given up, terms are counted again and
        // sketched again before texts are compared. Otherwise the reading that drops documents has made such sketches.
        assert_eq!(per_shard, readings);

        let [few, many] = [40, 90].map(templates);
        let expected = brute_force(&few, &many, threshold, true);
        let [few, many] = [few, many].map(|pages| CountedReadings::new(source_of(&pages), 1 << 26));
        assert_eq!(join.query(&few, &many).unwrap().pairs, expected.into());
    }
}

#[test]
fn terms_are_counted_in_slices_where_memory_is_scarce() {
    let single = |number: u64| (0..30).map(|term| mix(number << 32 | term | 1 << 20)).collect();
    let all: Vec<Vec<u64>> = templates(2).into_iter().chain((0..1000).map(single)).collect();
    let threshold = threshold(7, 10);
    let expected = brute_force(&all[..2], &all[..2], threshold, false);
    assert_eq!(expected.len(), 1);
    // All terms are counted in one table or in two, one after the other. After each, documents are pruned. The rest is
    // sketched and compared. If the source reports few terms, they are counted again, and the two candidates are compared
    // one after the other.
    for (memory_bytes, term_count_hint, readings) in
        [(40_000, 50_000, 3), (10_000, 32_000, 5), (6000, 6001, 12)]
    {
        let documents = ListedDocuments { documents: all.clone(), shard_documents: 2000 };
        let source = CountedReadings::new(documents, term_count_hint);
        let join = SetJoin { threshold, memory_bytes, filter: None, context: &Context::default() };
        assert_eq!(join.self_join(&source).unwrap().pairs, expected.clone().into());
        assert_eq!(source.readings.into_inner(), readings);
    }
}
