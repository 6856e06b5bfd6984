//! Parses any text as options. A method that is parsed must be described by a text that parses as the same
//! method.

use simtool::Config;
use simtool::method::presets::NamedMethod;
use simtool::options::Options;
use simtool::run::{CompareRequest, InputSettings, Paths, Request};
use simtool::stages::read::Selector;
use simtool::stages::similarity::Threshold;

/// Parses an input as every kind of setting.
pub(super) fn parse(data: &[u8]) {
    let text = &*String::from_utf8_lossy(data);
    let selector = Selector::from(text);
    assert_eq!(selector.as_str(), text);
    if let Ok(threshold) = Threshold::parse_measured("similarity", text) {
        let again = Threshold::parse_measured("similarity", &threshold.to_string());
        assert_eq!(again.expect("a threshold parses its own text"), threshold);
    }
    drop(NamedMethod::parse_list(text));
    let Ok(options) = Options::parse(text) else { return };
    drop(InputSettings::parse(&mut options.clone()));
    drop(CompareRequest::parse(["a".into(), "b".into()], options.clone()));
    let paths = Paths { corpus: vec!["a".into()], queries: vec!["b".into()] };
    drop(Request::parse(paths, options.clone()));
    let Ok(config) = Config::parse(&mut options.clone()) else { return };
    let mut again = Options::new();
    again.set("method", config.method.to_string());
    let again = Config::parse(&mut again).expect("a method parses its own text");
    assert_eq!(again.method.to_string(), config.method.to_string());
}
