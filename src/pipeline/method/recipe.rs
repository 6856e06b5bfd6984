//! What makes rows of documents: their terms, and the sketch of these.

use super::document_terms::{DocumentTerms, TermScratch};
use super::fitted::Fitted;
use super::terms::Terms;
use crate::extract::weighting::{Weigher, Weights};
use crate::features::Features;
use crate::fingerprint::{Scratch, Sketch, Sketcher};
use crate::fingerprint_rows::{Shape, recipe_difference};
use crate::kernels::Isa;
use std::fmt;
use std::sync::Arc;

/// How documents become what is compared. Two recipes with the same text make rows that compare.
#[derive(Clone, Debug)]
pub struct Recipe {
    terms: Terms,
    sketch: Option<Arc<dyn Sketch>>,
}

impl Recipe {
    /// The sets of terms themselves.
    #[must_use]
    pub fn sets(terms: Terms) -> Self {
        Self { terms, sketch: None }
    }

    /// A row for the terms of each document.
    #[must_use]
    pub fn rows(terms: Terms, sketch: Arc<dyn Sketch>) -> Self {
        Self { terms, sketch: Some(sketch) }
    }

    /// What the terms are.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// What becomes of them, if it is not the sets that are compared.
    #[must_use]
    pub fn sketch(&self) -> Option<&dyn Sketch> {
        self.sketch.as_deref()
    }

    /// All that rows depend on that were made with what was learned: only with the same do they
    /// compare.
    #[must_use]
    pub fn of_rows(&self, fitted: &Fitted) -> String {
        let learned = fitted.recipe().map_or(String::new(), |learned| format!("/{learned}"));
        format!("{self}{learned}")
    }

    /// Bytes of the row of a document; 0 for sets.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        self.sketch().map_or(0, |sketch| 8 * sketch.shape().words() as u64)
    }

    /// In which parts this recipe differs from another; none if their rows compare.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        recipe_difference(&self.to_string(), &other.to_string())
    }
}

impl fmt::Display for Recipe {
    /// All that rows depend on, in parts with slashes between.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (terms, weighting) = (self.terms.recipe(), self.terms.weighting_recipe());
        match self.sketch() {
            None if self.terms.are_weighed_in_sets() => {
                write!(f, "jaccard/{}/weight=idf", self.terms.sets_recipe())
            }
            None => write!(f, "jaccard/{}", self.terms.sets_recipe()),
            Some(sketch) => write!(f, "{}/{terms}/{weighting}", sketch.recipe()),
        }
    }
}

/// Makes rows of texts; shared by all threads.
pub(in crate::pipeline) struct RowMaker {
    terms: DocumentTerms,
    /// What weighs the terms, unless each counts as often as it occurs.
    weigher: Option<Weigher>,
    sketcher: Box<dyn Sketcher>,
    shape: Shape,
}

/// What a maker of rows reuses from document to document.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct RowScratch {
    terms: TermScratch,
    weights: Weights,
    sketch: Scratch,
}

impl RowMaker {
    /// The maker of `sketch` over `terms`; `fitted` is what was learned for them.
    pub(in crate::pipeline) fn new(
        terms: &Terms,
        sketch: &dyn Sketch,
        fitted: &Fitted,
        isa: Isa,
    ) -> Self {
        let weighting = Some(terms.weighting()).filter(|weighting| !weighting.is_plain());
        let weigher = weighting.map(|weighting| Weigher::new(weighting, fitted.frequencies()));
        let terms = DocumentTerms::new(terms, fitted, isa);
        Self { terms, weigher, sketcher: sketch.sketcher(isa), shape: sketch.shape() }
    }

    /// What its rows look like.
    pub(in crate::pipeline) fn shape(&self) -> Shape {
        self.shape
    }

    /// Appends the row of a text; whether it has one, else the words appended mean nothing. Also
    /// the number of the text's terms.
    pub(in crate::pipeline) fn push(
        &self,
        text: &[u8],
        rows: &mut Vec<u64>,
        scratch: &mut RowScratch,
    ) -> (bool, usize) {
        let terms = self.terms.of(text, &mut scratch.terms);
        let (start, count) = (rows.len(), terms.len());
        rows.resize(start + self.shape.words(), 0);
        let features = match &self.weigher {
            None => Features::occurrences(terms),
            Some(weigher) => {
                weigher.weigh(terms, &mut scratch.weights);
                Features { terms, weights: Some(&scratch.weights.weights) }
            }
        };
        let has_row = self.sketcher.make(&features, &mut rows[start..], &mut scratch.sketch);
        (has_row, count)
    }
}
