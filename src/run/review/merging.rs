//! Merges the judgements of several people into one file, and lists the pairs on which they disagree.

use super::labels::{Judgement, Label, Labels};
use simtool_base::error::Result;
use simtool_base::unordered_map::UnorderedSet;

/// A pair that one person judged with yes and another one with no.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Disagreement<'l> {
    pub(super) removed: &'l str,
    pub(super) kept: &'l str,
    /// Judgement of each person. `None` for a person who did not judge the pair.
    pub(super) judgements: Vec<Option<&'l Judgement>>,
}

/// Returns the pairs on which people disagree. `people` has the judgements of each person. Pairs have the order in
/// which they first occur there.
pub(super) fn disagreements<'l>(people: &[&'l Labels]) -> Vec<Disagreement<'l>> {
    let pairs = distinct_pairs(people).into_iter();
    let found = pairs.map(|Judgement { removed, kept, .. }| {
        let judgements = people.iter().map(|labels| labels.get(removed, kept)).collect();
        Disagreement { removed, kept, judgements }
    });
    found.filter(|pair| common_label(pair.judgements.iter().flatten().copied()).is_none()).collect()
}

/// Returns judgements about pairs that `own`, the judgements of one person, does not have. `others` has the judgements
/// of other people. Only pairs are returned on which all of them who judged the pair agree.
pub(super) fn mergeable(own: &Labels, others: &[Labels]) -> Vec<Judgement> {
    let others: Vec<&Labels> = others.iter().collect();
    let mut found = Vec::new();
    for pair in distinct_pairs(&others) {
        let (removed, kept) = (&*pair.removed, &*pair.kept);
        let judgements: Vec<&Judgement> =
            others.iter().filter_map(|labels| labels.get(removed, kept)).collect();
        let label = common_label(judgements.iter().copied());
        if let Some(label) = label.filter(|_| own.get(removed, kept).is_none()) {
            // The notes of all people are the reasons for the common judgement.
            let notes = judgements.iter().map(|judgement| &*judgement.note);
            let notes: Vec<&str> = notes.filter(|note| !note.is_empty()).collect();
            found.push(Judgement { label, note: notes.join("; "), ..pair.clone() });
        }
    }
    found
}

/// Adds judgements of other people to `own`, and writes them to the file of `own`. They are judgements on which all
/// `others` who judged the pair agree. Pairs that `own` has judged are not changed. Returns the number of added pairs.
pub(super) fn merge(own: &mut Labels, others: &[Labels]) -> Result<usize> {
    let found = mergeable(own, others);
    let count = found.len();
    found.into_iter().try_for_each(|judgement| own.set(judgement))?;
    Ok(count)
}

/// Returns one judgement about each pair. If several people judged the pair, it is that of the first of them.
fn distinct_pairs<'l>(people: &[&'l Labels]) -> Vec<&'l Judgement> {
    let mut seen = UnorderedSet::default();
    let all = people.iter().flat_map(|labels| labels.judgements());
    all.filter(|judgement| seen.insert((&*judgement.removed, &*judgement.kept))).collect()
}

/// Returns the label on which all judgements agree, or `None` if they disagree. A person who is not sure agrees with
/// everybody.
fn common_label<'j>(judgements: impl Iterator<Item = &'j Judgement>) -> Option<Label> {
    let mut common = None;
    for Judgement { label, .. } in judgements {
        // An unsure judgement is replaced by any other one.
        match common {
            None | Some(Label::Unsure) => common = Some(*label),
            Some(earlier) if earlier == *label || *label == Label::Unsure => {}
            Some(_) => return None,
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::review::labels::Chosen;

    const NAMES: [&str; 3] = ["own", "one", "two"];

    #[test]
    fn common_judgements_are_merged_and_the_others_are_listed() {
        use Label::{No, Unsure, Yes};
        // The labels of three people, and the label after the merge.
        let cases = [
            ([None, Some(Yes), Some(Yes)], Some(Yes), false),
            ([None, Some(Yes), None], Some(Yes), false),
            ([None, Some(Yes), Some(No)], None, true),
            ([None, Some(Unsure), Some(No)], Some(No), false),
            ([None, Some(Unsure), None], Some(Unsure), false),
            ([Some(No), Some(Yes), Some(Yes)], Some(No), true),
            ([Some(Unsure), Some(Yes), None], Some(Unsure), false),
            ([Some(Yes), Some(Yes), Some(No)], Some(Yes), true),
        ];
        let folder = tempfile::tempdir().unwrap();
        let mut people = NAMES.map(|name| Labels::open(&folder.path().join(name)).unwrap());
        for (pair, (labels, ..)) in cases.iter().enumerate() {
            for ((labels, name), label) in people.iter_mut().zip(NAMES).zip(labels) {
                let Some(label) = *label else { continue };
                let judgement = Judgement {
                    removed: format!("r{pair}"),
                    kept: "k".to_owned(),
                    label,
                    chosen: Chosen::Sample,
                    closeness: None,
                    note: format!("by {name}"),
                };
                labels.set(judgement).unwrap();
            }
        }
        let [mut own, one, two] = people;
        let others = [one, two];
        assert_eq!(merge(&mut own, &others).unwrap(), 4);
        assert_eq!(merge(&mut own, &others).unwrap(), 0);
        assert_eq!(own.get("r0", "k").unwrap().note, "by one; by two");
        let written = Labels::open(&folder.path().join("own")).unwrap();
        let listed = disagreements(&[&written, &others[0], &others[1]]);
        for (pair, (_, expected, disagrees)) in cases.iter().enumerate() {
            let removed = format!("r{pair}");
            let label = written.get(&removed, "k").map(|judgement| judgement.label);
            assert_eq!(label, *expected, "{removed}");
            assert_eq!(listed.iter().any(|d| d.removed == removed), *disagrees, "{removed}");
        }
    }
}
