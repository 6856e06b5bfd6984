//! What a distributed run asks of one machine where something is learned from the whole collection: the
//! counts of a part of it, and what their sums teach.

use crate::columns::{ColumnData, Values};
use crate::engine::whole_numbers;
use crate::settings;
use crate::tables::Table;
use crate::texts::Input;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::Resources;
use simtool::method::{Criterion, PartCounter, PartCounts};

/// Terms that are known to be common where any order of them will do.
const MOST_COMMON: usize = 50_000;

/// Counts the terms of texts, where something is learned of them.
#[pyclass(module = "simtool._simtool")]
pub(crate) struct Learner(Option<PartCounter>);

impl Learner {
    /// What counts, where something is learned.
    fn counter(&mut self) -> PyResult<&mut PartCounter> {
        self.0.as_mut().ok_or_else(|| PyValueError::new_err("there is nothing to learn"))
    }
}

#[pymethods]
impl Learner {
    /// What learns for the options of `simtool dedup`: what the comparison of texts takes, or what
    /// fingerprints take; of sets the order of the terms, for which a sample will do.
    #[new]
    #[pyo3(signature = (of_texts=false, **options))]
    fn new(of_texts: bool, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut options = settings::options(options)?;
        options.complete(&[("method", "simhash")]);
        let method = settings::config(options)?.method;
        let terms = if of_texts { method.compared() } else { method.recipe().terms() };
        let isa = Resources::default().isa;
        let is_ordered = !of_texts && matches!(method.close(), Criterion::Similarity(_));
        Ok(Self(match PartCounter::new(terms, isa) {
            None if is_ordered => Some(PartCounter::for_documents(terms, Some(MOST_COMMON), isa)),
            counter => counter,
        }))
    }

    /// What it is that is learned; nothing, perhaps. Counts of the same go together.
    #[getter]
    fn recipe(&self) -> Option<String> {
        self.0.as_ref().map(PartCounter::recipe)
    }

    /// Whether any order of the terms will do, which a sample tells.
    #[getter]
    fn is_order(&self) -> bool {
        self.0.as_ref().is_some_and(|counter| counter.most().is_some() && !counter.counts_words())
    }

    /// Of how many terms the counts are needed, of the greatest ones and among equal ones of the first
    /// terms; none where all terms are needed whose count is above 1.
    #[getter]
    fn most(&self) -> Option<usize> {
        self.0.as_ref().and_then(PartCounter::most)
    }

    /// Counts texts. How many different terms it holds.
    fn add(&mut self, texts: &Bound<'_, PyAny>) -> PyResult<usize> {
        let (input, py) = (Input::of(texts, None)?, texts.py());
        let (rows, counter) = (input.rows()?, self.counter()?);
        py.detach(|| rows.iter().for_each(|text| counter.add(text)));
        Ok(counter.len())
    }

    /// What was counted since the last time: a table of `term`, which are texts or numbers, and `count`.
    /// Where counts are of documents, a term that is null has the number of these.
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
                terms.push(0);
                counts.push(documents);
                (Values::U64(terms), counts, Some(last))
            }
        };
        let terms = ColumnData::nullable("term", terms, |row| Some(row) != documents);
        Ok(Table::new(vec![terms, ColumnData::new("count", Values::U64(counts))]))
    }

    /// What the sums of counts over all parts teach, by their terms and the number of all documents.
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
            let input = Input::of(terms, None)?;
            let words = input.rows()?.into_iter().map(<[u8]>::to_vec);
            PartCounts::Words(words.zip(counts).collect())
        } else {
            let terms = whole_numbers(terms, "terms")?.into_iter().map(i64::cast_unsigned);
            PartCounts::Documents(documents, terms.zip(counts).collect())
        };
        Ok(counter.learned(sums).to_bytes())
    }
}
