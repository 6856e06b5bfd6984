//! The integration tests, in one binary.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod agreement;
mod allocation;
mod annotated;
mod architecture;
#[cfg(feature = "parquet")]
mod audit;
#[cfg(feature = "parquet")]
mod bad_inputs;
mod boilerplate;
mod book;
mod book_reference;
#[cfg(feature = "chinese")]
mod chinese_words;
mod cli;
mod commands;
mod contamination;
mod contamination_command;
mod corpus;
mod corpus_simhash;
#[cfg(unix)]
mod corpus_trouble;
mod covered;
mod determinism;
mod document_columns;
#[cfg(unix)]
mod durability;
#[cfg(feature = "parquet")]
mod estimates;
mod eval;
mod examples;
mod fingerprint;
#[cfg(feature = "parquet")]
mod golden;
mod groups;
mod html5lib;
mod identity;
mod index;
mod index_faults;
#[cfg(all(feature = "parquet", unix))]
mod input_formats;
mod input_memory;
#[cfg(all(feature = "parquet", unix))]
mod inputs;
mod join;
mod join_memory;
mod kept_copies;
mod kinds;
mod labelled_crawl;
mod main_content;
mod manual;
mod metamorphic;
mod naive;
mod official;
#[cfg(feature = "parquet")]
mod outputs;
#[cfg(unix)]
mod packages;
mod page_texts;
mod pages;
mod pages_to_crawl;
mod parts;
mod passages;
mod passages_command;
mod passages_cut;
#[cfg(unix)]
mod picture;
mod preview;
mod program;
mod random_corpora;
mod random_texts;
mod readme;
mod reference;
#[cfg(feature = "remote")]
mod remote;
mod report;
#[cfg(feature = "serve")]
mod review;
mod scripts;
mod selectors;
mod settings_file;
mod sources;
mod subtitles;
mod suggest;
mod symbols;
mod template_memory;
mod terms;
mod text_rules;
mod texts;
#[cfg(all(feature = "parquet", unix))]
mod undecodable_names;
// The vectors have words of Chinese.
#[cfg(feature = "chinese")]
mod vectors;
mod why;
mod widths;
#[cfg(all(feature = "parquet", unix))]
mod xml;
