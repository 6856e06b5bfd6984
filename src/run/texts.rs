//! A search for near-duplicates among texts in memory.

use super::dedup_request::AUTO;
use crate::Config;
use crate::method::Method;
use crate::output::Annotation;
use crate::pipeline::near_duplicates::find_in_context;
use crate::pipeline::scope::ScopeValue;
use crate::pipeline::{NearDuplicates, Plan, RepeatedWords, Task, repeated_words};
use crate::suggest::suggest;
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_base::progress::Progress;
use simtool_compute::context::Context;
use simtool_model::sides::Sides;
use simtool_passages::PassageSearch;
use simtool_read::Corpus;

/// Request of a search among texts in memory.
#[derive(Clone, Debug)]
pub struct TextsRequest {
    /// All settings. The method in it has no meaning if a sample chooses the method.
    config: Config,
    /// Settings for the method that the user gave, if the method is chosen from a sample. `None` if it is not.
    chosen_by: Option<Options>,
    task: Task,
    annotation: Annotation,
}

/// Result of a search among texts in memory.
#[derive(Clone, Debug)]
pub struct FoundInTexts {
    /// The near-duplicates, and the documents to remove.
    pub found: NearDuplicates,
    /// Method by which the documents were compared.
    pub method: Method,
    /// Number of words of each document, and number of them in repeated passages. `None` if the request does not ask
    /// for these numbers.
    pub repeated_words: Option<Vec<RepeatedWords>>,
}

impl TextsRequest {
    /// Creates the request from `options`. `has_values` says whether the caller gives a value with each text that
    /// decides which document is kept. Then a rule of the option `keep` compares these values and names no field.
    ///
    /// # Errors
    ///
    /// An option is unknown, has a wrong value or is only for files.
    pub fn parse(task: Task, mut options: Options, has_values: bool) -> Result<Self> {
        let is_one = task == Task::Deduplicate;
        // A match has no clusters, so it leaves this option in `options`, and options that are left are refused.
        let annotation =
            if is_one { take_annotation(&mut options)? } else { Annotation::default() };
        let is_auto = options.get("method").as_deref() == Some(AUTO);
        let config = if is_auto {
            Config::parse_without_method(&mut options)?
        } else {
            Config::parse(&mut options)?
        };
        config.keep.check_field(has_values, false, &config.fields)?;
        if let Some(scope) = config.scope
            && !matches!(scope.value, ScopeValue::Field(_))
        {
            let name = scope.value.written(&config.fields);
            let rule = "is of files: name a column of the table of the texts";
            return Err(Error::config(scope.relation.name(), name, rule));
        }
        // The options that are left are for choosing the method, and `auto` is not a method.
        options.take("method");
        let chosen_by = is_auto.then_some(options);
        Ok(Self {
            config: Config { has_text_facts: is_one, ..config },
            chosen_by,
            task,
            annotation,
        })
    }

    /// Returns the settings. The method in them has no meaning if a sample chooses the method.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the columns of the list of all documents, which the option `annotate` chooses.
    #[must_use]
    pub fn annotation(&self) -> &Annotation {
        &self.annotation
    }
}

/// Takes the option `annotate` out of `options`.
fn take_annotation(options: &mut Options) -> Result<Annotation> {
    let Some(parts) = options.take("annotate") else { return Ok(Annotation::default()) };
    let annotation = Annotation::parse(&parts)?.unwrap_or_default();
    if annotation.is_in_place {
        let rule = "writes copies of files: texts in memory have none";
        return Err(Error::config("annotate", parts, rule));
    }
    Ok(annotation)
}

/// Finds the near-duplicates in one collection of texts in memory, or the texts of the first collection that are
/// similar to a text of the second.
///
/// # Errors
///
/// Fails in the same cases as [`find_near_duplicates`](crate::pipeline::find_near_duplicates).
pub fn find_in_texts(
    corpora: Sides<&dyn Corpus>,
    request: &TextsRequest,
    progress: &dyn Progress,
) -> Result<FoundInTexts> {
    let resources = &request.config.resources;
    let method = match &request.chosen_by {
        Some(given) => suggest(corpora, given, resources, progress)?.method,
        None => request.config.method.clone(),
    };
    let plan = Plan::new(Config { method, ..request.config.clone() }, request.task)?;
    let context = &Context::new(resources, progress)?;
    let found = find_in_context(corpora, &plan, None, context)?;
    let search = request.annotation.repeated_share.map(|words| PassageSearch::new(words, context));
    let rules = plan.method().compared().rules();
    let repeated =
        search.transpose()?.map(|search| repeated_words(*corpora.first(), &search, rules));
    Ok(FoundInTexts { found, method: plan.method().clone(), repeated_words: repeated.transpose()? })
}
