//! Names, closeness and texts of pairs of documents, as the page and the preview show them.

use super::affordable_texts::{Beginnings, Of, WantedText};
use super::findings::Findings;
use crate::cluster::Removal;
use crate::write::name::Name;
use crate::write::report::Example;
use simtool_model::closeness::Closeness;
use simtool_model::document_name::DocumentName;
use std::cmp::Ordering;

/// Returns the name of a document as the page shows it.
pub(super) fn shown_name(name: &DocumentName<'_>) -> Name {
    let file = name.file.as_os_str().as_encoded_bytes().to_vec();
    Name { id: name.id.to_vec(), file, record: name.record }
}

/// Compares two removals by closeness, the least similar first, and then in reading order. A document that was not
/// compared with the kept one counts as less similar than the others.
pub(super) fn by_closeness(a: &Removal, b: &Removal) -> Ordering {
    let by_closeness = match (a.closeness, b.closeness) {
        (Some(a), Some(b)) => a.compare(b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    by_closeness.then(a.row.cmp(&b.row))
}

/// Returns the two texts of a removal that are wanted: the text of the kept document, and then the text of the removed
/// one.
pub(super) fn both(removal: &Removal) -> [WantedText; 2] {
    let kept = WantedText { of: Of::Originals, row: removal.kept };
    [kept, WantedText { of: Of::Documents, row: removal.row }]
}

/// Returns the names and texts of a removed and a kept document. Returns `None` if one of the texts was not
/// read.
pub(super) fn example(
    findings: &Findings<'_>,
    removal: &Removal,
    texts: &Beginnings,
) -> Option<Example> {
    let [kept, removed] = both(removal);
    Some(Example {
        kept: shown_name(&findings.originals().name(removal.kept)),
        removed: shown_name(&findings.documents().name(removal.row)),
        closeness: removal.closeness.map(shown).unwrap_or_default(),
        kept_text: texts.get(kept)?.clone(),
        removed_text: texts.get(removed)?.clone(),
    })
}

/// Returns the similarity or the distance in words, for example `similarity 0.9`.
pub(super) fn shown(closeness: Closeness) -> String {
    let similarity = closeness.similarity().map(|similarity| match similarity {
        1.0 => "similarity 1".to_owned(),
        // Similarities just below 1 must not be rounded to 1, which means equal.
        s if s >= 0.9995 => "similarity > 0.999".to_owned(),
        s => format!("similarity {s:.3}"),
    });
    let distance = closeness.distance().map(|d| format!("distance {d}"));
    similarity.into_iter().chain(distance).collect::<Vec<_>>().join(", ")
}
