//! Measures methods on labelled collections: the right and wrong pairs at every threshold.
//!
//! All pairs of a collection are compared. Fingerprints are compared by computing every distance, and sets by
//! lists of the documents that contain each term. Nothing is sampled and no index is used, so the counts are
//! exact. A collection of n documents takes O(n²) comparisons.

use super::compared::{Comparing, RowsOrSets};
use super::labelled::Labelled;
use super::truth::Pair;
use super::{Histogram, common_threshold};
use crate::method::presets::NamedMethod;
use crate::method::{Criterion, Method};
use crate::pipeline::compare::compare_texts;
use simtool_base::error::{Error, Result};
use simtool_base::progress::Progress;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_model::evaluation::{
    Curve, Evaluated, Evaluation, Measured, SIMILARITY_STEPS, SeededF1, WrongPair,
};
use simtool_model::similarity::{Similarity, Threshold};
use std::time::Instant;

/// Maximum number of false pairs that are reported for a collection. It is also the maximum number of missed
/// pairs.
const WRONG_PAIRS: usize = 10;

/// Measures how well each of `methods` finds the labelled near-duplicates of `collections`. Also lists the false pairs
/// and the missed pairs of the best method. Methods with fingerprints are measured once more for each of `hash_seeds`,
/// which selects other hash functions.
///
/// # Errors
///
/// The threads cannot be started, or `progress` is cancelled.
pub fn evaluate(
    collections: &[Labelled],
    methods: &[NamedMethod],
    hash_seeds: &[u64],
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Evaluation> {
    if methods.is_empty() {
        return Err(Error::config("method", "", "must name at least one method"));
    }
    let context = &Context::new(resources, progress)?;
    let comparing = &Comparing { context };
    let evaluated = |named: &NamedMethod| {
        let mut evaluated = evaluated(collections, named, comparing)?;
        for &seed in hash_seeds {
            let Some(method) = named.method.with_hash_seed(seed) else { break };
            let named = NamedMethod { method, ..named.clone() };
            let f1 = self::evaluated(collections, &named, comparing)?.headline_f1();
            evaluated.by_seed.push(SeededF1 { seed, f1 });
        }
        Ok(evaluated)
    };
    let mut evaluation = Evaluation {
        collections: collections.iter().map(Labelled::described).collect(),
        methods: methods.iter().map(evaluated).collect::<Result<_>>()?,
        wrong: Vec::new(),
    };
    // The pairs of the best method are computed again, because keeping those of all methods
    // could fill the memory.
    if let Some(best) = evaluation.best() {
        for (number, labelled) in collections.iter().enumerate() {
            let step = evaluation.methods[best].measured[number].curve.best();
            let wrong = wrong_pairs(labelled, number, &methods[best].method, step, comparing)?;
            evaluation.wrong.extend(wrong);
        }
    }
    Ok(evaluation)
}

/// Measures a method on each collection, and finds the threshold that is best for all collections together.
fn evaluated(
    collections: &[Labelled],
    named: &NamedMethod,
    comparing: &Comparing<'_>,
) -> Result<Evaluated> {
    let measured = collections.iter().map(|labelled| measured(labelled, &named.method, comparing));
    let measured: Vec<Measured> = measured.collect::<Result<_>>()?;
    let curves: Vec<&Curve> = measured.iter().map(|measured| &measured.curve).collect();
    let common = common_threshold(&curves);
    Ok(Evaluated {
        name: named.name.clone(),
        parameters: named.method.to_string(),
        measured,
        common,
        by_seed: Vec::new(),
    })
}

/// Measures a method on a collection. The result has the counts of pairs at every threshold, the bytes per
/// document, and the time.
fn measured(labelled: &Labelled, method: &Method, comparing: &Comparing<'_>) -> Result<Measured> {
    let start = Instant::now();
    let compared = RowsOrSets::new(method, &labelled.documents, comparing)?;
    let (scale, steps) = compared.scale();
    let histograms = compared.visit_pairs(
        comparing,
        || Histogram::new(steps),
        |histogram, pair, step| {
            if labelled.documents.compares(pair, compared.are_sets()) {
                histogram.add(step, 1);
            }
        },
    )?;
    let mut all = Histogram::new(steps);
    for part in &histograms {
        all.merge(part);
    }
    let of_pairs = |pairs: &[Pair]| {
        let mut histogram = Histogram::new(steps);
        let found = pairs.iter().filter_map(|&pair| step_of(pair, &compared, labelled));
        found.for_each(|step| histogram.add(step, 1));
        histogram
    };
    let truth = of_pairs(&labelled.truth);
    let set_aside = of_pairs(&labelled.set_aside);
    // Pairs that no threshold finds are missing from `truth`, so the number of all true pairs is passed as well.
    let curve = all.curve(&truth, &set_aside, labelled.truth.len() as u64, scale);
    let own = own_step(method, curve.counts.len());
    let best = curve.best();
    let labelled_false: u64 = of_pairs(&labelled.different).counts()[..=best].iter().sum();
    let unlisted = curve.counts[best].false_found.saturating_sub(labelled_false);
    let seconds = start.elapsed().as_secs_f64();
    let bytes_per_document = compared.bytes_per_document();
    Ok(Measured { curve, own, unlisted, bytes_per_document, seconds })
}

/// Returns the number of the strictest threshold (from 0) at which a run finds the pair. `None` if no threshold finds
/// it, or if the run does not compare its documents.
fn step_of(pair: Pair, compared: &RowsOrSets, labelled: &Labelled) -> Option<usize> {
    compared.step(pair).filter(|_| labelled.documents.compares(pair, compared.are_sets()))
}

/// Returns the number of the threshold that `method` itself uses. There are `steps` thresholds, numbered from
/// the strictest. If the similarity of the method lies between two thresholds, the stricter of the two is
/// returned.
fn own_step(method: &Method, steps: usize) -> usize {
    let step = match method.close() {
        Criterion::Distance(distance) => distance as usize,
        Criterion::Similarity(threshold) => similarity_step(threshold),
        // The methods that are measured find pairs.
        Criterion::Coverage => 0,
    };
    step.min(steps - 1)
}

fn similarity_step(threshold: Threshold) -> usize {
    let union = SIMILARITY_STEPS;
    let is_reached = |step: &u64| threshold.holds(Similarity { shared: union - step, union });
    (0..union).rev().find(is_reached).unwrap_or(0) as usize
}

/// Lists the wrong pairs of a method at the threshold with number `step`. First come false pairs that are found, the
/// closest pair first. Then come true pairs that are not found, the most distant pair first. `collection` is the number
/// of the collection.
fn wrong_pairs(
    labelled: &Labelled,
    collection: usize,
    method: &Method,
    step: usize,
    comparing: &Comparing<'_>,
) -> Result<Vec<WrongPair>> {
    let compared = RowsOrSets::new(method, &labelled.documents, comparing)?;
    let found = compared.visit_pairs(comparing, Vec::new, |found, pair, at| {
        if at <= step
            && !labelled.has_label(pair)
            && labelled.documents.compares(pair, compared.are_sets())
        {
            found.push((at, pair));
            // Only the strictest pairs are reported. The list is cut now and then so that it stays short.
            if found.len() > 64 * WRONG_PAIRS {
                found.sort_unstable();
                found.truncate(WRONG_PAIRS);
            }
        }
    })?;
    // Each thread kept its own strictest pairs, and the strictest pairs of all are among these.
    let mut found = found.concat();
    found.sort_unstable();
    found.truncate(WRONG_PAIRS);
    let at = |&pair: &Pair| (step_of(pair, &compared, labelled).unwrap_or(usize::MAX), pair);
    let mut missed: Vec<_> = labelled.truth.iter().map(at).filter(|(at, _)| *at > step).collect();
    missed.sort_unstable_by_key(|&(at, pair)| (usize::MAX - at, pair));
    missed.truncate(WRONG_PAIRS);

    let scale = compared.scale().0;
    let wrong = |is_true: bool, (at, [a, b]): (usize, Pair)| {
        let documents = &labelled.documents;
        let texts = [a, b].map(|row| documents.text(row));
        let similarity = compare_texts(texts, method, comparing.context.isa()).similarity;
        WrongPair {
            collection,
            is_true,
            closeness: match at {
                usize::MAX if !documents.compares([a, b], compared.are_sets()) => {
                    "other own words or titles".to_owned()
                }
                usize::MAX => format!("no {} at all", scale.name()),
                at => format!("{} {}", scale.name(), scale.shown(at)),
            },
            similarity: similarity
                .map_or(String::new(), |similarity| format!("{:.3}", similarity.ratio())),
            ids: [a, b].map(|row| documents.id(row).to_vec()),
            texts: texts.map(<[u8]>::to_vec),
        }
    };
    let found = found.into_iter().map(|pair| wrong(false, pair));
    Ok(found.chain(missed.into_iter().map(|pair| wrong(true, pair))).collect())
}

#[cfg(test)]
mod tests;
