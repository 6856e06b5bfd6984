//! Judging pairs of a sample, the estimates that the judgements give, and decisions about rows.

use super::below::{BelowPair, find_below};
use super::labels::{Agreement, Chosen, Judgement, Label, Labels, agreement};
use super::merging::{disagreements, merge, mergeable};
use super::row_value::similarity_value;
use super::sample::{Estimator, ShareEstimate, estimate_below, random, sample};
use super::{PairNumber, Review, RowDecision, lock};
use crate::output::finished_rows::RemovedRow;
use crate::pipeline::{Decision, source_name};
use crate::run::recorded_inputs::recorded;
use crate::run::recorded_run::RecordedRun;
use serde_json::{Value, json};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::shell_word::shell_argument;
use std::iter;

/// Maximum number of rows of a sample. Nobody judges more.
const MOST_PAIRS: usize = 10_000;
/// Number of rows of a sample after which one pair below the limit follows, if there are such pairs.
const ROWS_FOR_BELOW: usize = 4;

impl Review<'_> {
    pub(super) fn below_pair(&self, at: usize) -> Result<BelowPair> {
        let below = lock(&self.below);
        let pair = below.as_ref().and_then(|pairs| pairs.get(at)).cloned();
        pair.ok_or_else(|| {
            let what = format!("there is no pair {at} below the limit");
            let reason = "search for these pairs first".to_owned();
            ErrorKind::Missing { what, reason }.into()
        })
    }

    /// Returns a pair below the limit as a JSON object for a list. `at` is the number of the pair, from 0.
    pub(super) fn below_row(&self, at: usize, pair: &BelowPair) -> Value {
        let mut value = self.names(&pair.first, &pair.second);
        value["pair"] = format!("b{at}").into();
        value["similarity"] = pair.similarity.into();
        value
    }

    /// Searches for pairs just below the similarity limit of the run, unless this was done before. Reads the inputs
    /// again. Returns the number of these pairs and their lowest similarity.
    ///
    /// # Errors
    ///
    /// The limit of the run is no similarity, or the inputs cannot be read.
    pub fn search_below(&self) -> Result<Value> {
        let mut below = lock(&self.below);
        // The search may take as long as the run, so it is made once.
        if below.is_none() {
            self.work.reset();
            let quiet = self.searching();
            let run = RecordedRun::open(&self.request.output, &self.request.resources, &quiet)?;
            let recorded = recorded(&self.request.output)?;
            *below = Some(find_below(&recorded, run.place(), &quiet)?);
        }
        let count = below.as_ref().map_or(0, Vec::len);
        let least = below.iter().flatten().map(|pair| similarity_value(pair.similarity)).min();
        Ok(json!({ "count": count, "from": least.and_then(|least| self.index.scale.shown(least)) }))
    }

    /// Returns the pairs of a random sample: at most `size` rows from all bands of similarities, and pairs below the
    /// limit if they were searched.
    ///
    /// # Errors
    ///
    /// The rows cannot be read.
    pub fn sample(&self, seed: u64, size: usize) -> Result<Value> {
        let rows = sample(&self.index, seed, size.min(MOST_PAIRS))?;
        let below_count = lock(&self.below).as_ref().map_or(0, Vec::len);
        let mut numbers: Vec<u64> = (0..below_count as u64).collect();
        numbers.sort_unstable_by_key(|&number| random(seed, number));
        let mut below = numbers.into_iter().take(size / ROWS_FOR_BELOW);
        let mut pairs = Vec::new();
        for (at, row) in rows.into_iter().enumerate() {
            pairs.push(self.row(row)?);
            if at % ROWS_FOR_BELOW == ROWS_FOR_BELOW - 1
                && let Some(number) = below.next()
            {
                let number = number as usize;
                pairs.push(self.below_row(number, &self.below_pair(number)?));
            }
        }
        Ok(json!({ "seed": seed, "pairs": pairs }))
    }

    /// Writes a judgement about a pair to the file of labels. A `label` of `None` removes the judgement. `is_picked`
    /// says whether the person picked the pair from a list. Such a pair is not random, so estimates leave it out.
    ///
    /// # Errors
    ///
    /// There is no such pair, or the file cannot be written.
    pub fn judge(
        &self,
        number: PairNumber,
        label: Option<Label>,
        is_picked: bool,
        note: &str,
    ) -> Result<()> {
        let RemovedRow { removed, kept, similarity, distance, .. } = self.found(number)?;
        let closeness = similarity.or(distance.map(|distance| distance as f64));
        // The lock is held until the file has the judgement, so that two pages cannot mix their lines.
        let mut labels = lock(&self.labels);
        let Some(label) = label else { return labels.remove(&removed.id, &kept.id) };
        let chosen = match number {
            _ if is_picked => Chosen::Picked,
            PairNumber::Row(_) => Chosen::Sample,
            PairNumber::Below(_) => Chosen::Below,
        };
        let (removed, kept, note) = (removed.id, kept.id, note.to_owned());
        labels.set(Judgement { removed, kept, label, chosen, closeness, note })
    }

    /// Returns the estimates that follow from the judgements: precision of each band of similarities and of the run,
    /// limits for a higher precision, pairs that the run misses just below its limit, and the agreement with other
    /// people.
    ///
    /// # Errors
    ///
    /// The rows cannot be read.
    pub fn estimate(&self) -> Result<Value> {
        let labels = lock(&self.labels);
        let judgements = labels.judgements();
        let scale = self.index.scale;
        let estimator = Estimator::new(scale, self.overview_of_rows()?, judgements);
        let bands = estimator.bands().into_iter().map(|(band, estimate)| {
            let mut value = estimated(&estimate);
            value["from"] = scale.shown(band).into();
            value["below"] = scale.shown(scale.band_end(band)).into();
            value
        });
        let limits = estimator.limits().into_iter().map(|proposed| {
            let mut value = estimated(&proposed.estimate);
            value["target"] = proposed.target.into();
            value["limit"] = proposed.limit.into();
            value
        });
        let below = lock(&self.below).as_ref().map(|pairs| {
            let estimate = estimate_below(pairs.len() as u64, judgements);
            let mut value = estimated(&estimate);
            value["recall"] = recall(&estimator.whole(), &estimate);
            value
        });
        Ok(json!({
            "yes": labels.count(Label::Yes), "no": labels.count(Label::No), "unsure": labels.count(Label::Unsure),
            "whole": estimated(&estimator.whole()),
            "bands": bands.collect::<Value>(),
            "limits": limits.collect::<Value>(),
            "below": below, "people": self.people(&labels),
        }))
    }

    /// Returns how much each two people agree in their judgements, and the pairs on which people disagree. `own` has
    /// the judgements of the user of the pages. Returns null if there are no files of other people.
    fn people(&self, own: &Labels) -> Value {
        if self.other_labels.is_empty() {
            return Value::Null;
        }
        let people: Vec<&Labels> = iter::once(own).chain(&self.other_labels).collect();
        let mut agreements = Vec::new();
        // Each two people are compared, also those whose files are only read.
        for (at, one) in people.iter().enumerate() {
            for other in &people[at + 1..] {
                let Agreement { common, agreed, kappa } = agreement(one, other);
                let files = [one.name(), other.name()];
                agreements.push(
                    json!({ "files": files, "common": common, "agreed": agreed, "kappa": kappa }),
                );
            }
        }
        let disagreements = disagreements(&people).into_iter().map(|pair| {
            let judged = pair.judgements.iter();
            let judged = judged.map(|found| found.map(|found| [found.label.name(), &found.note]));
            let judged: Value = judged.map(|found| json!(found)).collect();
            json!({ "removed": pair.removed, "kept": pair.kept, "judgements": judged })
        });
        json!({
            "files": people.iter().map(|labels| labels.name()).collect::<Value>(),
            "agreements": agreements,
            "disagreements": disagreements.collect::<Value>(),
            "mergeable": mergeable(own, &self.other_labels).len(),
        })
    }

    /// Adds judgements of other people to the first file of labels. They are about pairs that this file does not have,
    /// and on which all other people agree. Returns the number of added judgements.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn merge_labels(&self) -> Result<usize> {
        merge(&mut lock(&self.labels), &self.other_labels)
    }

    /// Writes a decision about a row to the file of decisions.
    ///
    /// # Errors
    ///
    /// There is no such row, or the file cannot be written.
    pub fn decide(&self, row: u32, decision: RowDecision) -> Result<()> {
        let RemovedRow { removed, kept, .. } = self.index.read(self.index.row(row)?.offset)?;
        let decision = match decision {
            RowDecision::Keep => Decision::Keep(removed),
            RowDecision::Swap => Decision::Swap { removed, kept },
            RowDecision::KeepCluster => Decision::KeepCluster(kept),
            RowDecision::KeepSources => Decision::KeepSources {
                source: source_name(&removed.id, &removed.file),
                kept_source: source_name(&kept.id, &kept.file),
            },
        };
        lock(&self.choices).add(decision)
    }

    /// Removes a decision, which is given as its line in the file.
    ///
    /// # Errors
    ///
    /// The line is no decision, or the file cannot be written.
    pub fn undo(&self, line: &str) -> Result<()> {
        let decision = Decision::parse(line)
            .map_err(|expected| Error::config("decisions", line, format!("must be {expected}")))?;
        lock(&self.choices).remove(&decision)
    }

    /// Returns all decisions, and the `dedup` command that applies them. The command is null if the run was no `dedup`.
    ///
    /// # Errors
    ///
    /// The run cannot be read.
    pub fn decisions(&self) -> Result<Value> {
        let recorded = recorded(&self.request.output)?;
        let choices = lock(&self.choices);
        let decisions: Value = choices.decisions().iter().map(Decision::object).collect();
        let path = shell_argument(self.request.decisions.as_os_str());
        let command = (recorded.command == "dedup")
            .then(|| format!("{} --decisions {path} --force", recorded.command_line));
        Ok(json!({ "decisions": decisions, "command": command }))
    }
}

/// Returns the estimated recall: the share of the near-duplicates that the run found, if those far below its limit do
/// not count. `whole` is the estimate for the rows, and `below` for the pairs just below the limit.
fn recall(whole: &ShareEstimate, below: &ShareEstimate) -> Value {
    let (Some(precision), Some(missed)) = (whole.share, below.share) else {
        return Value::Null;
    };
    // A removed document counts as one found pair, and a pair below the limit as one missed pair.
    let right = precision * whole.rows as f64;
    let recall = |missed: f64| right / (right + missed * below.rows as f64).max(f64::MIN_POSITIVE);
    json!({
        "share": recall(missed), "low": recall(below.interval.high), "high": recall(below.interval.low)
    })
}

fn estimated(estimate: &ShareEstimate) -> Value {
    let ShareEstimate { rows, judged, yes, share, interval } = estimate;
    json!({
        "rows": rows, "judged": judged, "yes": yes, "share": share,
        "low": interval.low, "high": interval.high,
    })
}
