//! The commands as functions, one file for each, which both the program and Python call.
//!
//! A request is plain data that is parsed from named text [`Options`](simtool_base::options::Options). A
//! function of this module does the work and returns an outcome. From the outcome, the caller prints its
//! table and chooses its exit code. Anything that only the caller can do, such as printing a note during the
//! work, is a method of [`Face`].
//!
//! ```
//! use simtool::options::Options;
//! use simtool::run::{Paths, Request, Silent, dedup};
//!
//! let folder = tempfile::tempdir()?;
//! for (name, text) in [("a.txt", "one two three four"), ("b.txt", "One, two, three four!")] {
//!     std::fs::write(folder.path().join(name), text)?;
//! }
//! let mut options = Options::parse("similarity=0.9")?;
//! options.set("output", folder.path().join("out"));
//! let paths = Paths { corpus: vec![folder.path().to_owned()], queries: Vec::new() };
//! let request = Request::parse(paths, options)?;
//! let outcome = dedup(&request, &Silent)?;
//! assert_eq!((outcome.summary.kept, outcome.summary.removed), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod audit;
mod combine;
mod compare;
mod compared_fields;
mod contamination;
mod dedup;
mod dedup_request;
#[cfg(test)]
mod disturbed_inputs;
mod dry_run;
mod eval;
mod eval_request;
mod face;
mod fail_if;
mod fetching;
mod files;
mod fingerprint;
mod finish_mark;
mod guessed_settings;
mod index;
mod input;
mod input_change;
mod input_settings;
mod job;
mod join;
pub mod join_fingerprints;
mod line_cache;
mod one_document;
mod output_target;
mod pages;
mod parts_folder;
mod passages;
mod preview;
mod reading_faults;
mod receipt;
mod recorded_inputs;
mod recorded_request;
mod recorded_run;
mod reference;
mod review;
mod standard_streams;
mod store_shard;
mod text;
mod texts;
mod why;
mod why_object;
mod why_parts;
mod word_features;

pub use crate::setting::OnError;
pub use audit::{Audit, AuditRequest, AuditedRow, FileCounts, ReceiptCheck, Verdict, audit};
pub use combine::{Combined, combine};
pub use compare::{CompareRequest, Compared, compare};
pub use contamination::{
    ContaminationFound, ContaminationRequest, FreedDocuments, ItemRemoval, contamination,
};
pub use dedup::{Outcome, dedup};
pub use dedup_request::{Paths, Request};
pub use dry_run::{DryRun, dry_run};
pub use eval::{EvalOutcome, SampleOutcome, SuggestOutcome, eval, eval_by_sample, suggest_method};
pub use eval_request::{EvalRequest, EvaluatedDocuments, Truth};
pub use face::{Face, HeldInterruptions, Notice, OutputState, Silent, give_name, spell_settings};
pub use files::refuse_existing;
pub use fingerprint::{FingerprintRequest, Fingerprinted, fingerprint, parse_fingerprint_method};
pub use guessed_settings::{guessed_names, guessed_setting};
pub use index::{
    AddOutcome, AddRequest, ExportRequest, FilterEnd, FilterOutcome, FilterRequest,
    IndexedDocuments, MergeOutcome, OpenRequest, QueryOutcome, QueryRequest, Removal,
    RemoveOutcome, RemoveRequest, StatOutcome, add_to_index, compact_index, create_index,
    export_index, filter_lines, merge_index, query_index, remove_from_index, salvage_index,
    stat_index, verify_index,
};
pub use input::{Input, Places};
pub use input_change::InputChange;
pub use input_settings::InputSettings;
pub use job::JobRequest;
pub use join::{JoinRequest, Joined, join};
pub use one_document::{NamedBy, NamedDocument};
pub use parts_folder::StoredParts;
pub use passages::{
    CutCounts, CutRules, PassagesFound, PassagesRequest, passages, store_passage_shard,
};
pub use preview::{Previewed, preview};
pub use reading_faults::has_losses;
pub use recorded_request::RecordedRequest;
pub use recorded_run::LocatedDocument;
pub use reference::{MatchedSamples, ReferenceRequest, reference};
pub use review::{
    Label, PairNumber, Review, ReviewRequest, RowDecision, RowFilter, RowOrder, review,
};
pub use standard_streams::{STANDARD_INPUT, STANDARD_OUTPUT};
pub use store_shard::store_shard;
pub use text::{TextRequest, WrittenTexts, text};
pub use texts::{FoundInTexts, TextsRequest, find_in_texts};
pub use why::{ClusteredDocument, ComparedTexts, DocumentStatus, Why, WhyRequest, why};
pub use why_object::with_cause;
pub use why_parts::DocumentParts;
pub use word_features::{FolderFiles, WordFeatures, WordsRequest};
