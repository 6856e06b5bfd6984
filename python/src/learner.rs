//! Learning from a whole collection in a distributed run: counting in a part of the collection, and creating the model
//! from the sums of the counts.

use crate::columns::{ColumnData, Values};
use crate::numbers::whole_numbers;
use crate::settings;
use crate::tables::Table;
use crate::texts::ImportedTexts;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::Resources;
use simtool::method::{Criterion, PartCounter, PartCounts};

/// Number of the most common terms whose counts are needed if the model is only an order of the terms. Any order gives
/// correct results.
const MOST_COMMON: usize = 50_000;

/// Counts the terms of texts if the method learns from them.
#[pyclass(module = "simtool._simtool")]
pub(crate) struct Learner(Option<PartCounter>);

impl Learner {
    /// Returns the counter, or an error if the method learns nothing from the collection.
    fn counter(&mut self) -> PyResult<&mut PartCounter> {
        self.0.as_mut().ok_or_else(|| PyValueError::new_err("there is nothing to learn"))
    }
}

#[pymethods]
impl Learner {
    /// Creates the learner for the options of `simtool dedup`. With `of_texts`, it learns the model for the comparison
    /// of texts, otherwise the model for the fingerprints. If the method compares sets, it learns the order of the
    /// terms, for which a sample is enough.
    #[new]
    #[pyo3(signature = (of_texts=false, **options))]
    fn new(of_texts: bool, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut options = settings::engine_options(options)?;
        options.complete(&[("method", "simhash")]);
        let method = settings::config(options)?.method;
        let terms = if of_texts { method.compared() } else { method.recipe().terms() };
        let isa = Resources::default().isa;
        let is_ordered = !of_texts && matches!(method.close(), Criterion::Similarity(_));
        Ok(Self(match PartCounter::new(terms, isa) {
            // Only sets need an order of terms. It speeds up the search and does not change its results.
            None if is_ordered => Some(PartCounter::for_documents(terms, Some(MOST_COMMON), isa)),
            counter => counter,
        }))
    }

    /// The recipe of the model, or `None` if nothing is learned. Only counts with the same recipe can be added.
    #[getter]
    fn recipe(&self) -> Option<String> {
        self.0.as_ref().map(PartCounter::recipe)
    }

    /// Whether the model is only an order of the terms. Any order gives correct results, so a sample of the texts is
    /// enough.
    #[getter]
    fn is_order(&self) -> bool {
        self.0.as_ref().is_some_and(|counter| counter.most().is_some() && !counter.counts_words())
    }

    /// Number of terms whose counts are needed. These are the terms with the greatest counts, and among equal counts
    /// the lowest terms. `None` if all terms with a count above 1 are needed.
    #[getter]
    fn most(&self) -> Option<usize> {
        self.0.as_ref().and_then(PartCounter::most)
    }

    /// Counts the terms of texts, and returns the number of different terms in memory.
    fn add(&mut self, texts: &Bound<'_, PyAny>) -> PyResult<usize> {
        let (input, py) = (ImportedTexts::of(texts, None)?, texts.py());
        let (rows, counter) = (input.rows()?, self.counter()?);
        py.detach(|| rows.iter().for_each(|text| counter.add(text)));
        Ok(counter.len())
    }

    /// Returns and removes the counts since the last call: a table of `term` (texts or numbers) and `count`. If
    /// documents are counted, a row with a null term has the number of documents.
    fn take(&mut self) -> PyResult<Table> {
        let (terms, counts, documents) = match self.counter()?.take() {
            PartCounts::Words(words) => {
                let (mut starts, mut letters, mut counts) = (vec![0], Vec::new(), Vec::new());
                for (word, count) in words {
                    letters.extend(word);
                    starts.push(letters.len() as i64);
                    counts.push(count);
                }
                (Values::Texts(starts, letters), counts, None)
            }
            PartCounts::Documents(documents, terms) => {
                let (mut terms, mut counts): (Vec<_>, Vec<_>) = terms.into_iter().unzip();
                let last = terms.len();
                // The number of documents travels as one more row, whose term is null.
                terms.push(0);
                counts.push(documents);
                (Values::U64(terms), counts, Some(last))
            }
        };
        let terms = ColumnData::nullable("term", terms, |row| Some(row) != documents);
        Ok(Table::new(vec![terms, ColumnData::new("count", Values::U64(counts))]))
    }

    /// Returns the model from the sums of the counts of all parts. `counts` has the sum for each of `terms`, and
    /// `documents` is the number of all documents.
    fn learned(
        &mut self,
        terms: &Bound<'_, PyAny>,
        counts: &Bound<'_, PyAny>,
        documents: u64,
    ) -> PyResult<Vec<u8>> {
        let counts: Vec<u64> =
            whole_numbers(counts, "counts")?.into_iter().map(i64::cast_unsigned).collect();
        let counter = self.counter()?;
        let sums = if counter.counts_words() {
            let input = ImportedTexts::of(terms, None)?;
            let words = input.rows()?.into_iter().map(<[u8]>::to_vec);
            PartCounts::Words(words.zip(counts).collect())
        } else {
            let terms = whole_numbers(terms, "terms")?.into_iter().map(i64::cast_unsigned);
            PartCounts::Documents(documents, terms.zip(counts).collect())
        };
        Ok(counter.learned(sums).to_bytes())
    }
}
