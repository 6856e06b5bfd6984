use super::*;
use proptest::prelude::*;
use simtool_model::page_text::PageText;
use std::time::{Duration, Instant};

fn extract(html: &str) -> String {
    let mut text = b"from before".to_vec();
    assert_eq!(HtmlText::new(PageContent::All).extract(html, &mut text).part, PageText::All);
    String::from_utf8(text).unwrap()
}

fn check(html: &str, expected: &str) {
    assert_eq!(extract(html), expected, "{html}");
    assert_eq!(twin::text(html), expected, "the twin: {html}");
}

#[test]
fn blocks_are_lines_and_white_space_is_one_space() {
    check("<p>one  <b>t</b>wo\n three</p><p>four", "one two three\nfour");
    check("a<br>b<div>c</div>d", "a\nb\nc\nd");
    check("<title>T</title><body><table><tr><td>1<td>2</table>", "T\n1\n2");
    check("a </p> <b> b", "a\nb");
    check("", "");
}

#[test]
fn scripts_styles_and_comments_are_no_text() {
    check("a<script>if (a < b) x()</script><style>p {}</style><!-- c -->b", "ab");
    check("a<STYLE></Styl></p></style >b<iframe><p></iframe><xmp>&</xmp>", "ab");
    check("a<noscript>b</noscript><noembed>c</noembed><noframes>d</noframes>e", "ae");
    check("a<script><!--<script></script>b--></script>c", "ac");
    check("a<style>b", "a");
    check("a</style>b", "ab");
}

#[test]
fn references_are_resolved() {
    check(
        "caf&eacute;&nbsp;&amp;&lt;&#65;&#x42;&mdash;&unknown; & &#0;",
        "caf\u{e9} &<AB\u{2014}&unknown; & \u{FFFD}",
    );
}

#[test]
fn references_are_those_of_the_standard() {
    // References by name. The last one names two characters.
    check(
        "&rarr;&CounterClockwiseContourIntegral;&NotEqualTilde;",
        "\u{2192}\u{2233}\u{2242}\u{338}",
    );
    // The longest name that matches is taken. Only old names are valid without a semicolon.
    check("&notin; &notit; &copy 2020 &ampx &hearts", "\u{2209} \u{AC}it; \u{A9} 2020 &x &hearts");
    // References by number. Some numbers mean characters of windows-1252. A number without a
    // character becomes U+FFFD.
    check("&#150;&#x80;&#65 &#xD800;&#1114112;&#x;", "\u{2013}\u{20AC}A \u{FFFD}\u{FFFD}&#x;");
    check("<a href='?a=1&copy=2'>x</a>", "x");
}

#[test]
fn references_are_not_put_together_of_pieces() {
    check("&am<b>p;</b>", "&amp;");
    check("&lt<!-- -->;&am</>p; &amp;lt; &&lt;", "<;&amp; &lt; &<");
    check("&", "&");
    check("&#", "&#");
    check("a&l", "a&l");
}

#[test]
fn tags_end_behind_their_quotes() {
    check(r#"a<b c="d>e" f='"/>'>g</b h=">">i"#, "agi");
    check(r#"a<b"c>d">e<b =">f<b c=d"e>g"#, "ad\">efg");
    check("a<b c=\"d>e", "a");
    check("a<b", "a");
    check("a<p/>b<br/>c", "a\nb\nc");
}

#[test]
fn what_only_looks_like_a_tag_is_text() {
    check("a < b <3 <\u{e9}> << <", "a < b <3 <\u{e9}> << <");
    check("a</", "a</");
    check("a</>b</ c>d</3>e", "abde");
}

#[test]
fn comments_end_as_in_browsers() {
    check("a<!-->b<!--->c<!---->d", "abcd");
    check("a<!-- --!>b<!-- -- > --->c<!--!>-->d", "abcd");
    check("a<!x>b<?y?>c<!doctype html \">\">d<!->e", "abc\">de");
    check("a<!-- <!-- b --> c -->", "a c -->");
    check("a<!-- b", "a");
}

#[test]
fn titles_and_text_areas_have_references_and_no_tags() {
    check("<title>a<b>&amp;<!-- c --></titles></TITLE >d", "a<b>&<!-- c --></titles>\nd");
    check("<textarea>\n<p>a</textarea>b", "<p>ab");
    check("<title>a</title", "a</title");
    check("<plaintext>a<b>&amp;</plaintext>", "a<b>&amp;</plaintext>");
}

#[test]
fn zeros_are_kept_where_there_are_tags() {
    check("a\0b<p\0>c&#0;", "a\0bc\u{FFFD}");
    check("<title>a\0&am\0p;</title>b<plaintext>\0", "a\u{FFFD}&am\u{FFFD}p;\nb\u{FFFD}");
}

#[test]
fn svg_and_mathml_have_sections_and_elements_like_others() {
    check("a<![CDATA[b]]>c", "ac");
    check("a<svg><![CDATA[<b>&amp;]]]>c</svg><![CDATA[d]]>", "a<b>&amp;]c");
    check(
        "<svg><title>a<b>c</b></title><style>d<i>e</i></style></svg><title><b></title>",
        "ac\nde\n<b>",
    );
    check("<svg><p><title><i></title>", "<i>");
    check("<math><mi><title><i></title><![CDATA[x]]></mi><![CDATA[y]]>", "<i>\ny");
    check("<svg><![CDATA[a", "a");
}

#[test]
fn every_block_ends_a_line() {
    for block in element::BLOCKS {
        let behind = if block == "title" { "b" } else { "b<i>" };
        check(&format!("a<{block}>{behind}</{block}>c"), "a\nb\nc");
    }
}

/// Fragments from which random pages are made. With these fragments, every state of an HTML
/// tokenizer is reached.
pub(super) const PIECES: &[&str] = &[
    "<",
    ">",
    "/",
    "!",
    "?",
    "-",
    "--",
    "=",
    "\"",
    "'",
    " ",
    "  ",
    "\n",
    "\t",
    "\u{A0}",
    "\u{C2}",
    "&",
    ";",
    "#",
    "a",
    "x",
    "b",
    "\0",
    "</",
    "/>",
    "<!",
    "<!--",
    "-->",
    "--!>",
    "<!-",
    "->",
    "<?",
    "<a ",
    "<b>",
    "</b>",
    "<p>",
    "</p>",
    "<DIV",
    "</div>",
    "<br/>",
    "<li",
    "<h1>",
    "</H1 ",
    "<script",
    "<script>",
    "</script",
    "</script>",
    "<style>",
    "</style>",
    "</STYLE",
    "<title>",
    "</title>",
    "</title",
    "<textarea>",
    "</textarea>",
    "<xmp>",
    "</xmp>",
    "<noscript>",
    "</noscript>",
    "<iframe>",
    "</iframe>",
    "<svg>",
    "<svg/>",
    "</svg>",
    "<math>",
    "</math>",
    "<mi>",
    "</mi>",
    "<desc>",
    "</desc>",
    "<foreignObject>",
    "</foreignObject>",
    "<font>",
    "<font size=1>",
    "<annotation-xml encoding=text/html>",
    "</annotation-xml>",
    "<![CDATA[",
    "<![CDATA[",
    "]]>",
    "]",
    "<!doctype html>",
    "class=",
    "=\"",
    "\">",
    "'>",
    "&amp;",
    "&lt;",
    "&gt",
    "&quot;",
    "&nbsp;",
    "&copy",
    "&notit;",
    "&rarr;",
    "&#65;",
    "&#x",
    "&#10;",
    "&am",
    "p;",
    "word ",
    "two words",
    "\u{e9}\u{4e00}",
    "a longer piece of text, of more than eight bytes",
];

/// Strategy for pages that consist of `pieces` in any order.
pub(super) fn soup_of(pieces: &[&'static str]) -> impl Strategy<Value = String> + use<> {
    let pieces = pieces.to_vec();
    let piece = prop_oneof![
        20 => prop::sample::select(pieces.clone()).prop_map(str::to_owned),
        1 => ".",
    ];
    // `<plaintext>` ends all markup, so it must be rare.
    let rare = prop_oneof![60 => Just(""), 1 => Just("<plaintext>")];
    (
        prop::collection::vec(piece, 0..40),
        rare,
        prop::collection::vec(prop::sample::select(pieces), 0..20),
    )
        .prop_map(|(before, rare, behind)| before.concat() + rare + &behind.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn tag_soup_has_the_text_of_the_twin(html in soup_of(PIECES)) {
        prop_assert_eq!(extract(&html), twin::text(&html));
    }

    #[test]
    fn any_bytes_have_the_text_of_the_twin(bytes in prop::collection::vec(0_u8..0x80, 0..60)) {
        let html = String::from_utf8(bytes).unwrap();
        prop_assert_eq!(extract(&html), twin::text(&html));
    }
}

#[test]
fn time_grows_no_faster_than_pages() {
    // If the time grew with the square of the length, each of these pages would take hours.
    let started = Instant::now();
    for piece in [
        "<",
        "</",
        "<a ",
        "<a \"",
        "<a b=\"",
        "<a b='\"",
        "<!--",
        "<!",
        "<!-- -",
        "<!-->",
        "->",
        "<?",
        "&",
        "&#",
        "&#1",
        "&amp",
        "&a",
        "<script>",
        "<script><!--",
        "<script><!--<script>",
        "<!--<script>",
        "</script",
        "<style></styl",
        "<title></titl",
        "<title>&",
        "<textarea><",
        "<svg>",
        "<svg><desc>",
        "<svg><![CDATA[",
        "<math>",
        "<svg><font x=1",
        "<plaintext>",
        " ",
        "\u{A0}",
        "\0",
        "<p>",
        "</p>",
        "<a/",
    ] {
        let page = piece.repeat(4_000_000 / piece.len());
        let text = extract(&page);
        assert!(text.len() <= page.len() * 3, "{piece}");
    }
    assert!(started.elapsed() < Duration::from_mins(2), "{:?}", started.elapsed());
}
