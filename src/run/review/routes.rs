//! The paths from which the pages get their data, and the functions that answer requests for it.

use super::{Label, PairNumber, Review, RowDecision, RowFilter, RowOrder};
use serde_json::Value;
use simtool_base::error::{ErrorKind, Result};
use simtool_serve::{Request, Response, Route, Status};

/// Size of the sample if the page names none.
const SAMPLE: usize = 200;

type Function = fn(&Review<'_>, &Request) -> Response;

fn route<'r>(method: &'static str, path: &'static str, function: Function) -> Route<Review<'r>> {
    Route { method, path, function }
}

/// Returns the paths from which the pages get their data, each with the function that answers requests for it.
pub(super) fn routes<'r>() -> Vec<Route<Review<'r>>> {
    vec![
        route("GET", "api/run", |review, _| answer(Ok(review.kind()))),
        route("GET", "api/overview", |review, _| answer(review.overview())),
        route("GET", "api/rows", |review, request| {
            let order = RowOrder::of_name(request.value("order").unwrap_or_default());
            let (from, most) = page(request);
            answer(review.rows(&filter(request), order, from, most))
        }),
        route("GET", "api/progress", |review, _| answer(Ok(review.progress()))),
        route("POST", "api/cancel", |review, _| {
            review.cancel();
            answer(Ok(Value::Null))
        }),
        route("GET", "api/clusters", |review, request| {
            let (from, most) = page(request);
            answer(review.clusters(is_template(request), from, most))
        }),
        route("GET", "api/pair", |review, request| match pair(request) {
            Some(pair) => answer(review.pair(pair, request.number("words"))),
            None => no_pair(),
        }),
        route("GET", "api/fields", |review, request| match pair(request) {
            Some(pair) => answer(review.fields(pair)),
            None => no_pair(),
        }),
        route("GET", "api/page", |review, request| match pair(request) {
            Some(pair) => answer(review.whole_page(pair, request.value("side") == Some("kept"))),
            None => no_pair(),
        }),
        route("GET", "api/sample", |review, request| {
            let seed = request.number("seed").unwrap_or(1);
            answer(review.sample(seed, request.number("size").unwrap_or(SAMPLE)))
        }),
        route("GET", "api/estimate", |review, _| answer(review.estimate())),
        route("GET", "api/decisions", |review, _| answer(review.decisions())),
        route("POST", "api/below", |review, _| answer(review.search_below())),
        route("POST", "api/judge", |review, request| {
            let Some(pair) = pair(request) else { return no_pair() };
            // Without a label, the judgement is removed.
            let label = Label::of_name(request.value("label").unwrap_or_default());
            let note = String::from_utf8_lossy(&request.body);
            let is_picked = request.value("picked").is_some();
            answer(review.judge(pair, label, is_picked, &note).map(|()| Value::Null))
        }),
        route("POST", "api/merge", |review, _| answer(review.merge_labels().map(Value::from))),
        route("POST", "api/decide", |review, request| {
            let decision = match request.value("decision") {
                Some("keep") => RowDecision::Keep,
                Some("swap") => RowDecision::Swap,
                Some("keep_cluster") => RowDecision::KeepCluster,
                Some("keep_sources") => RowDecision::KeepSources,
                _ => return Response::error(Status::Bad, "there is no such decision"),
            };
            match pair(request) {
                Some(PairNumber::Row(row)) => {
                    answer(review.decide(row, decision).map(|()| Value::Null))
                }
                _ => no_pair(),
            }
        }),
        route("POST", "api/undo", |review, request| {
            let line = String::from_utf8_lossy(&request.body);
            answer(review.undo(&line).map(|()| Value::Null))
        }),
    ]
}

fn answer(found: Result<Value>) -> Response {
    match found {
        Ok(value) => Response::json(value.to_string()),
        Err(error) => {
            // The page shows the message whatever the code is.
            let status = match error.kind() {
                ErrorKind::Missing { .. } => Status::Missing,
                ErrorKind::Config { .. } => Status::Bad,
                _ => Status::Failed,
            };
            Response::error(status, &crate::run::with_cause(&error))
        }
    }
}

fn no_pair() -> Response {
    Response::error(Status::Bad, "pair must be r or b and a number, such as r17")
}

/// Returns the pair that a request names: `r17` is row 17, and `b3` is pair 3 below the limit.
fn pair(request: &Request) -> Option<PairNumber> {
    let name = request.value("pair")?;
    if let Some(row) = name.strip_prefix('r') {
        return row.parse().ok().map(PairNumber::Row);
    }
    name.strip_prefix('b')?.parse().ok().map(PairNumber::Below)
}

/// Returns the part of a list that a request asks for: the number of its first row, and the maximum number of rows.
fn page(request: &Request) -> (u64, u64) {
    (request.number("from").unwrap_or(0), request.number("most").unwrap_or(100))
}

/// Returns whether a request is only for clusters that may be pages of one template.
fn is_template(request: &Request) -> bool {
    request.value("template").is_some()
}

fn text(request: &Request, name: &str) -> String {
    request.value(name).unwrap_or_default().to_owned()
}

fn filter(request: &Request) -> RowFilter {
    RowFilter {
        from: request.number("closeness_from"),
        below: request.number("closeness_below"),
        is_chain: request.value("chain").is_some(),
        is_template: is_template(request),
        lost_from: request.number("lost_from"),
        lost_to: request.number("lost_to"),
        source: text(request, "source"),
        kept_source: text(request, "kept_source"),
        size_from: request.number("size_from"),
        size_to: request.number("size_to"),
        text: text(request, "text"),
        words: text(request, "words"),
        field: text(request, "field"),
        value: text(request, "value"),
    }
}
