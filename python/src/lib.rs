//! The Python package `simtool`: takes texts from Python objects and Arrow, and returns results as
//! columns.
//!
//! Nothing is computed here. The library parses keywords as its options. The package borrows texts from Python strings
//! and from Arrow buffers, and lends its columns to Arrow and NumPy.

mod bucket_keys;
mod bucket_search;
mod capsules;
mod closeness_columns;
mod columns;
mod command;
mod compare;
mod document_columns;
mod engine;
mod errors;
mod evaluate;
mod fields;
mod files;
mod fingerprints;
mod given_pairs;
mod index;
mod learner;
mod near_duplicates;
mod numbers;
mod pickled;
mod plain_rows;
mod plain_values;
mod rows;
mod run;
mod selected_columns;
mod set_keys;
mod settings;
mod tables;
mod texts;
mod verifier;

use pyo3::prelude::*;

/// Registers the classes and functions of the package.
#[pymodule(gil_used = false)]
fn _simtool(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("IndexLockedError", module.py().get_type::<errors::IndexLockedError>())?;
    module.add_class::<tables::Table>()?;
    module.add_class::<tables::Column>()?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<near_duplicates::NearDuplicates>()?;
    module.add_class::<fingerprints::Fingerprints>()?;
    module.add_class::<compare::Comparison>()?;
    module.add_class::<evaluate::Evaluation>()?;
    module.add_class::<index::Index>()?;
    module.add_function(wrap_pyfunction!(evaluate::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(document_columns::cluster_weights, module)?)?;
    module.add_class::<engine::Engine>()?;
    module.add_class::<learner::Learner>()?;
    module.add_class::<set_keys::SetKeys>()?;
    module.add_class::<verifier::Verifier>()?;
    module.add_function(wrap_pyfunction!(near_duplicates::deduplicate, module)?)?;
    module.add_function(wrap_pyfunction!(near_duplicates::match_, module)?)?;
    module.add_function(wrap_pyfunction!(near_duplicates::cluster, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprints::fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprints::pairs, module)?)?;
    module.add_function(wrap_pyfunction!(compare::compare, module)?)?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    module.add_function(wrap_pyfunction!(settings::method_text, module)?)?;
    module.add_function(wrap_pyfunction!(pickled::_table, module)?)?;
    module.add_function(wrap_pyfunction!(pickled::_column, module)?)?;
    module.add_function(wrap_pyfunction!(pickled::_comparison, module)?)?;
    module.add_function(wrap_pyfunction!(pickled::_evaluation, module)?)?;
    module.add_function(wrap_pyfunction!(pickled::_fingerprints, module)?)?;
    module.add_function(wrap_pyfunction!(pickled::_near_duplicates, module)?)?;
    module.add_function(wrap_pyfunction!(selected_columns::selected_columns, module)?)?;
    module.add_function(wrap_pyfunction!(files::run_files, module)?)?;
    module.add_function(wrap_pyfunction!(files::combined_files, module)?)?;
    module.add_function(wrap_pyfunction!(files::why_in_files, module)?)?;
    module.add_function(wrap_pyfunction!(files::audit_of_files, module)?)?;
    module.add_function(wrap_pyfunction!(files::preview_of_files, module)?)?;
    module.add_function(wrap_pyfunction!(files::contamination_of_files, module)?)?;
    module.add_function(wrap_pyfunction!(files::passages_of_files, module)?)?;
    Ok(())
}
