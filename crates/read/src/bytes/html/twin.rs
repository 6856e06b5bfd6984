//! Slow twin of [`HtmlText`](crate::bytes::html::HtmlText), with which tests compare it. The twin uses the
//! tokenizer of another library. Its names are strings, and it handles white space character by
//! character.

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Emitter, ForwardingEmitter, Span, State, Tokenizer};
use std::convert::Infallible;

/// Returns the text of a page, as [`HtmlText::extract`](crate::bytes::html::HtmlText::extract) must return it. Tests
/// compare the two. This way is slower, and uses the tokenizer of another library.
pub(crate) fn text(html: &str) -> String {
    let mut page = Page::default();
    let emitter = PageEmitter(CallbackEmitter::new(&mut page));
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
    /// White space to write before the next character, if there is any.
    gap: Option<char>,
    /// Name of the start tag that is being read. `attributes` has the names and values of the
    /// attributes of this tag.
    tag: String,
    attributes: Vec<(String, String)>,
    /// State that the tokenizer must enter after the start tag that was read last, if this is not
    /// the usual state.
    state: Option<State>,
    /// Whether the text up to the next end tag is left out, for example inside `<script>`.
    is_left_out: bool,
    /// Open elements that changed the language of the content, innermost last. They are `svg`,
    /// `math`, and elements inside `svg` or `math` whose content is HTML.
    foreign: Vec<String>,
}

impl Page {
    fn is_foreign(&self) -> bool {
        self.foreign.last().is_some_and(|name| name == "svg" || name == "math")
    }

    fn append(&mut self, text: &str) {
        for c in text.chars() {
            if matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{C}' | '\u{A0}') {
                self.gap = self.gap.or(Some(' '));
            } else {
                if let Some(gap) = self.gap.take().filter(|_| !self.text.is_empty()) {
                    self.text.push(gap);
                }
                self.text.push(c);
            }
        }
    }

    fn start_tag(&mut self, is_self_closing: bool) {
        let name = std::mem::take(&mut self.tag);
        if is_block(&name) {
            self.gap = Some('\n');
        }
        if self.is_foreign() || name == "svg" || name == "math" {
            self.foreign_start_tag(name, is_self_closing);
            return;
        }
        self.state = match name.as_str() {
            "title" | "textarea" => Some(State::RcData),
            "plaintext" => Some(State::PlainText),
            "script" => Some(State::ScriptData),
            "style" | "iframe" | "xmp" | "noembed" | "noframes" | "noscript" => {
                Some(State::RawText)
            }
            _ => None,
        };
        self.is_left_out = matches!(self.state, Some(State::ScriptData | State::RawText));
    }

    fn foreign_start_tag(&mut self, name: String, is_self_closing: bool) {
        let parent = self.foreign.last().map(String::as_str).unwrap_or_default();
        let encoding = self.attributes.iter().find(|(name, _)| name == "encoding");
        let encoding = encoding.map(|(_, value)| value.to_ascii_lowercase());
        let is_html = matches!(encoding.as_deref(), Some("text/html" | "application/xhtml+xml"));
        let opens = match (parent, name.as_str()) {
            ("svg", "svg" | "desc" | "foreignobject" | "title")
            | ("math", "math" | "mi" | "mn" | "mo" | "ms" | "mtext") => true,
            ("math", "annotation-xml") => is_html,
            ("svg" | "math", _) => false,
            (_, _) => true,
        };
        let is_of_font =
            |(name, _): &(String, String)| matches!(name.as_str(), "color" | "face" | "size");
        if opens {
            if !is_self_closing {
                self.foreign.push(name);
            }
        } else if breaks_out(&name) || (name == "font" && self.attributes.iter().any(is_of_font)) {
            self.break_out();
        }
    }

    fn break_out(&mut self) {
        while self.is_foreign() {
            self.foreign.pop();
        }
    }

    fn end_tag(&mut self, name: &str) {
        self.is_left_out = false;
        if is_block(name) {
            self.gap = Some('\n');
        }
        if self.foreign.last().is_some_and(|open| open == name) {
            self.foreign.pop();
        } else if name == "p" || name == "br" {
            self.break_out();
        }
    }
}

impl Callback<Infallible, ()> for &mut Page {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Infallible> {
        let string = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = string(name);
                self.attributes.clear();
            }
            CallbackEvent::AttributeName { name } => {
                self.attributes.push((string(name), String::new()));
            }
            CallbackEvent::AttributeValue { value } => {
                if let Some((_, of_last)) = self.attributes.last_mut() {
                    of_last.push_str(&string(value));
                }
            }
            CallbackEvent::CloseStartTag { self_closing } => self.start_tag(self_closing),
            CallbackEvent::EndTag { name } => self.end_tag(&string(name)),
            CallbackEvent::String { value } if !self.is_left_out => self.append(&string(value)),
            _ => {}
        }
        None
    }
}

/// Passes the output of the tokenizer to [`Page`], and answers two questions of the tokenizer: the
/// state after a tag, and whether the position is in SVG or MathML, where `<![CDATA[` is allowed.
struct PageEmitter<'p>(CallbackEmitter<&'p mut Page, Infallible>);

impl ForwardingEmitter for PageEmitter<'_> {
    type Token = Infallible;

    fn inner(&mut self) -> &mut impl Emitter<Token = Infallible> {
        &mut self.0
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let none = self.0.emit_current_tag();
        assert!(none.is_none(), "states are not switched naively");
        self.0.callback_mut().state.take()
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.0.callback_mut().is_foreign()
    }
}

fn is_block(name: &str) -> bool {
    "address article aside blockquote body br button caption dd details dialog div dl dt fieldset \
     figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr li main nav ol option p pre \
     section table td th title tr ul"
        .split_whitespace()
        .any(|block| block == name)
}

fn breaks_out(name: &str) -> bool {
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li \
     listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
        .split_whitespace()
        .any(|breakout| breakout == name)
}
