//! The integration tests, in one binary.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[cfg(feature = "jsonl")]
mod agreement;
mod allocation;
mod architecture;
#[cfg(all(feature = "gzip", feature = "parquet", feature = "warc", feature = "zstd"))]
mod bad_inputs;
#[cfg(all(feature = "chinese", feature = "jsonl", feature = "zstd"))]
mod chinese_words;
mod cli;
mod commands;
#[cfg(feature = "jsonl")]
mod corpus;
#[cfg(feature = "jsonl")]
mod corpus_simhash;
#[cfg(all(feature = "jsonl", unix))]
mod corpus_trouble;
mod determinism;
#[cfg(all(feature = "jsonl", unix))]
mod durability;
#[cfg(all(
    feature = "gzip",
    feature = "jsonl",
    feature = "parquet",
    feature = "warc",
    feature = "zstd"
))]
mod estimates;
#[cfg(feature = "jsonl")]
mod eval;
#[cfg(feature = "jsonl")]
mod fingerprint;
#[cfg(all(feature = "jsonl", feature = "parquet", feature = "warc", feature = "zstd"))]
mod generated_pages;
mod golden;
#[cfg(all(feature = "jsonl", feature = "warc"))]
mod html5lib;
#[cfg(feature = "jsonl")]
mod index;
#[cfg(all(feature = "csv", feature = "jsonl", feature = "parquet", unix))]
mod inputs;
mod join;
mod join_memory;
#[cfg(all(
    feature = "csv",
    feature = "gzip",
    feature = "jsonl",
    feature = "warc",
    feature = "zstd"
))]
mod kept_copies;
mod manual;
#[cfg(all(feature = "gzip", feature = "jsonl", feature = "zstd"))]
mod metamorphic;
mod naive;
mod official;
#[cfg(feature = "warc")]
mod pages;
mod program;
mod random_corpora;
#[cfg(feature = "jsonl")]
mod random_texts;
mod readme;
mod reference;
#[cfg(feature = "gzip")]
mod report;
mod scripts;
#[cfg(feature = "jsonl")]
#[cfg(feature = "jsonl")]
mod suggest;
mod terms;
#[cfg(feature = "jsonl")]
mod texts;
#[cfg(feature = "jsonl")]
mod why;
#[cfg(feature = "jsonl")]
mod widths;
