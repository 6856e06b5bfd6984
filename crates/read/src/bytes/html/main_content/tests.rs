use crate::bytes::html::tests::{PIECES, soup_of};
use crate::bytes::{HtmlText, PageContent};
use proptest::prelude::*;
use simtool_model::page_text::PageText;
use std::time::{Duration, Instant};

/// A paragraph that is long enough for a main content.
pub(super) const TEXT: &str = "The harbour master counts the boats every evening, and writes their names and their \
                    numbers into a large book that lies open in the lighthouse.";
pub(super) const OTHER: &str = "In winter the boats stay in the harbour, so that the book has one page for all of \
                     the months from November to the first days of March.";

/// Returns the main content of a page, or `None` if the page has none.
pub(super) fn main_of(html: &str) -> Option<String> {
    let (part, text) = part_of(html);
    if part == PageText::Whole {
        assert_eq!(text, all_of(html), "{html}");
    }
    (part != PageText::Whole).then_some(text)
}

/// Returns the text of a page that is compared with [`PageContent::Main`], and the kind of this text.
pub(super) fn part_of(html: &str) -> (PageText, String) {
    let mut text = b"from before".to_vec();
    let part = HtmlText::new(PageContent::Main).extract(html, &mut text).part;
    (part, String::from_utf8(text).unwrap())
}

pub(super) fn all_of(html: &str) -> String {
    let mut text = Vec::new();
    HtmlText::new(PageContent::All).extract(html, &mut text);
    String::from_utf8(text).unwrap()
}

/// Checks that the main content of the page `body` is `expected`, also if other parts are around it.
fn check(body: &str, expected: &str) {
    let menu = "<nav><ul><li><a href=1>Home</a><li><a href=2>Products</a></ul></nav>";
    let footer = "<footer>Copyright by the owner of the page</footer>";
    for (before, behind) in [("", ""), (menu, footer), ("<header>A site</header>", menu)] {
        let html = format!("<title>T</title><body>{before}{body}{behind}</body>");
        assert_eq!(main_of(&html).as_deref(), Some(expected), "{html}");
    }
}

#[test]
fn containers_of_known_kinds_are_the_main_content() {
    for container in [
        "main",
        "main id=main-content class=bd-main",
        "div role=main",
        "div role=MAIN class='body has-sidebar'",
        "article",
        "div itemprop=articleBody",
        "div itemprop=mainContentOfPage",
        "section id=main-content",
        "div class=docs-body",
        "div id=mw-content-text class='mw-body-content'",
        "div id=DisplayArea",
        "div class='entry-content clear'",
        "div class=markdown-body",
        "div class=theme-doc-markdown",
        "td id=content",
        "div id=Content",
        "div class=contents",
        "div class='document'",
        "div class='post hentry'",
    ] {
        let name = container.split(' ').next().unwrap();
        let page =
            format!("<p>An advertisement.</p><{container}><p>{TEXT}</p></{name}><p>More.</p>");
        check(&page, TEXT);
    }
}

#[test]
fn a_container_with_little_of_the_text_of_a_page_is_not_its_main_content() {
    let page = |inside: &str, outside: usize| {
        format!("<main><h1>{inside}</h1></main>{}", format!("<p>{OTHER}</p>").repeat(outside))
    };
    // A paragraph has about 110 letters.
    assert_eq!(main_of(&page(TEXT, 2)).as_deref(), Some(TEXT));
    for (inside, outside) in [("The title of this page", 1), (TEXT, 3)] {
        assert!(main_of(&page(inside, outside)).is_some_and(|text| text.ends_with(OTHER)));
    }
    // A container that only has a usual name needs half of the text.
    let named = |outside: usize| {
        format!("<div class=content>{TEXT}</div>{}", format!("<p>{OTHER}</p>").repeat(outside))
    };
    assert_eq!(main_of(&named(1)).as_deref(), Some(TEXT));
    assert!(main_of(&named(3)).is_some_and(|text| text.ends_with(OTHER)));
}

#[test]
fn parts_around_the_main_content_are_left_out() {
    for part in [
        "nav",
        "aside",
        "footer",
        "button",
        "select",
        "dialog",
        "template",
        "div role=navigation",
        "div role=search",
        "div role=complementary",
        "div role=banner",
        "div role=contentinfo",
        "div role=doc-toc",
        "div itemscope itemtype=https://schema.org/WPFooter",
        "ul class=breadcrumb",
        "div class='site-nav left'",
        "div class=leftSidebar",
        "div class='cookie-banner'",
        "div class=toc",
        "table class=navheader",
        "div class='inherited-list'",
        "p hidden",
        "div aria-hidden=true",
        "div style='color: red; Display : none'",
        "span class=sr-only",
    ] {
        let name = part.split(' ').next().unwrap();
        let aside = format!("<{part}>Left <b>out</b><div>as well</div></{name}>");
        if name != "p" && name != "span" {
            check(&format!("<main>{aside}<p>{TEXT}</main>"), TEXT);
            check(
                &format!("<main><p>{TEXT}</p>{aside}{OTHER}</main>"),
                &format!("{TEXT}\n{OTHER}"),
            );
        }
        let aside = format!("<{part}>Left <b>out</b></{name}>");
        check(&format!("{aside}<p>{TEXT}</p>{aside}{aside}"), &format!("T\n{TEXT}"));
    }
}

#[test]
fn names_that_only_look_like_parts_around_it_count_for_nothing() {
    for part in [
        "div class=has-sidebar",
        "div class='layout-nav'",
        "div class=navy",
        "h2 class=menu id=footer",
        "section id=navigation",
        "div class=section id=menu",
        "b class=nav",
        "pre class=header",
        "pre><span class=nav",
    ] {
        let html =
            format!("<main><{part}>Kept</div></h2></section></b></pre></span> {TEXT}</main>");
        let text = main_of(&html).unwrap();
        assert!(text.starts_with("Kept"), "{html}: {text}");
    }
    // The header of an article has its title, but the header of a page does not.
    check(&format!("<article><header>Title</header>{TEXT}</article>"), &format!("Title\n{TEXT}"));
    check(&format!("<div class=header>Site</div>{TEXT}"), &format!("T\n{TEXT}"));
    check(&format!("<main><div class=header>Title</div>{TEXT}</main>"), &format!("Title\n{TEXT}"));
}

#[test]
fn the_most_exact_container_is_chosen() {
    // A known container within `<main>`.
    let inner = format!("<main>Around<div class=docs-body>{TEXT}</div></main>");
    check(&inner, TEXT);
    // A small container is only a part of the main content.
    let small = format!("<main>{TEXT}<div class=markdown-body>Note</div>{OTHER}</main>");
    check(&small, &format!("{TEXT}\nNote\n{OTHER}"));
    // An article, and comments that are articles.
    let comments = "<article>I agree.</article><article>I do not.</article>";
    check(
        &format!("<main><article>{TEXT}{OTHER}</article>{comments}</main>"),
        &format!("{TEXT}{OTHER}"),
    );
    // A list of articles.
    let list = format!(
        "<article>{TEXT}</article>Next<article>{OTHER}</article><article>{TEXT} {OTHER}x</article>"
    );
    assert!(main_of(&list).unwrap().len() > TEXT.len() + OTHER.len());
    let list = format!("<article>{TEXT}</article>Next<article>{OTHER}</article>").repeat(2);
    check(&list, &[TEXT, OTHER, TEXT, OTHER].join("\n"));
    // The innermost container of those whose names only suggest the main content.
    let nested =
        format!("<div id=main>Hello<div class=content>{TEXT}<div class=post>x</div></div></div>");
    check(&nested, &format!("{TEXT}\nx"));
    // A container in a part that is left out, and a part that is left out in a container.
    check(&format!("<aside><article>{OTHER}</article></aside><p>{TEXT}"), &format!("T\n{TEXT}"));
    check(&format!("<div class=nav-page><main>{TEXT}</main></div>"), TEXT);
    // The title of a page of Doxygen is outside of its contents.
    let titled = format!(
        "<div class=header><div class=summary>Files</div><div class=headertitle>Title</div></div>\
         <div class=contents>{TEXT}</div>"
    );
    check(&titled, &format!("Title\n{TEXT}"));
}

#[test]
fn pages_without_a_main_content_are_taken_as_a_whole() {
    for html in [
        "<nav>Menu</nav><p>Short.",
        "<nav>Only a menu</nav>",
        "<body hidden><main>The main content of this page is hidden, although it has many letters.",
    ] {
        assert_eq!(main_of(html), None, "{html}");
    }
    let half = TEXT[..90].trim_end();
    assert_eq!(main_of(&format!("<main>{half}</main>")).as_deref(), Some(half));
    // If nothing is left out, the whole text is the main content.
    for html in [
        "",
        "<p>Short.",
        "<main>x</main>",
        "<main></main>x",
        "<main>a</main><p>More text outside of it",
        "<!-- x -->",
    ] {
        assert_eq!(main_of(html), Some(all_of(html)), "{html}");
    }
    // Ideographs count like several letters.
    let chinese = "\u{6e2f}\u{957f}\u{6bcf}\u{5929}\u{665a}\u{4e0a}\u{6570}\u{8239}".repeat(3);
    assert_eq!(main_of(&format!("x<main>{chinese}</main>")), Some(chinese));
    let cyrillic = "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442} \u{43f}\u{440}\u{438}";
    assert_eq!(main_of(&format!("<nav>x</nav><main>{}</main>", &cyrillic[..17])), None);
    let long = cyrillic.repeat(2);
    assert_eq!(main_of(&format!("x<main>{long}</main>")), Some(long));
    // Without a container, more letters are needed.
    assert_eq!(main_of(&format!("<nav>x</nav>{}", &TEXT[..60])), None);
    assert_eq!(main_of(&format!("<nav>x</nav>{half}")).as_deref(), Some(half));
}

#[test]
fn end_tags_are_implied() {
    check(&format!("<main><ul><li class=nav>a<li>{TEXT}</ul></main>"), TEXT);
    check(&format!("<main><dl><dt>t<dd class=menu>a<dt>{TEXT}</dl></main>"), &format!("t\n{TEXT}"));
    check(&format!("<main><p class=nav>a<p>{TEXT}</main>"), TEXT);
    check(&format!("<main><p class=nav><i>a<div>{TEXT}</div></main>"), TEXT);
    check(&format!("<main><table><tr><td class=nav>a<td>{TEXT}<tr class=nav><td>c</table>"), TEXT);
    // A list within an item, and a table within a cell.
    check(&format!("<main><ul><li class=nav>a<ul><li>b</ul>c<li>{TEXT}</ul>"), TEXT);
    check(
        &format!("<main><table><tr><td class=nav>a<table><tr><td>b</table>c<td>{TEXT}</table>"),
        TEXT,
    );
    // An element that is not closed ends with the element around it.
    check(&format!("<main><div><div class=menu>a<span>b</div></div>{TEXT}</main>"), TEXT);
    // An end tag without its start tag closes nothing.
    check(&format!("<main></nav></span><div></p></div></section>{TEXT}</main>"), TEXT);
    check(&format!("<main><table><tr><td></div></main>{TEXT}</table></main>"), TEXT);
    check(
        &format!("<div class=nav/><main>{TEXT}<br class=nav><input class=nav>b"),
        &format!("{TEXT}\nb"),
    );
}

#[test]
fn foreign_elements_do_not_matter() {
    check(&format!("<main><svg><nav></svg>{TEXT}</main>"), TEXT);
    check(&format!("<main><svg><g></main></g></svg>{TEXT}</main>"), TEXT);
    check(&format!("<main><svg><div class=nav>a</div>{TEXT}</main>"), TEXT);
    check(&format!("<main><svg aria-hidden=true><text>{TEXT}</text></svg></main>"), TEXT);
}

#[test]
fn lists_of_links_are_left_out_of_pages_with_text() {
    let link = |n| format!("<p><a href={n}>Page number {n}</a></p>|");
    let menu = (0..9).map(link).collect::<Vec<_>>().concat();
    let text = format!("<p>{TEXT} <a href=x>More</a></p><p>{OTHER}</p>");
    check(&format!("{menu}{text}{menu}"), &format!("T\n{TEXT} More\n{OTHER}"));
    // Without text, the links may be the content.
    let index = main_of(&format!("<body>{menu}{menu}")).unwrap();
    assert_eq!(index, all_of(&format!("{menu}{menu}")));
    // A single link is no menu.
    let single = format!("{text}<p><a href=1>A link</a></p>{text}");
    assert!(main_of(&single).unwrap().contains("\nA link\n"));
    // A target of links is no link.
    let named = menu.replace("href=", "name=");
    assert!(main_of(&format!("{named}{text}")).unwrap().starts_with("Page number 0"));
}

#[test]
fn words_around_a_part_left_out_stay_apart() {
    check(&format!("<main>{TEXT}<nav>a</nav>b</main>"), &format!("{TEXT}\nb"));
    check(&format!("<main>{TEXT}<button>a </button>b</main>"), &format!("{TEXT}\nb"));
    check(&format!("<main>{TEXT} <span hidden>a</span> b</main>"), &format!("{TEXT} b"));
    check(&format!("<main>{TEXT}<span hidden> a </span>b</main>"), &format!("{TEXT} b"));
    check(&format!("<main>{TEXT}<span hidden>a</span>b</main>"), &format!("{TEXT}b"));
    check(&format!("<main>{TEXT}<span hidden>a </span><p>b</main>"), &format!("{TEXT}\nb"));
}

/// Element of a random page, or a text.
#[derive(Clone, Debug)]
enum Node {
    Text(&'static str),
    /// Tag with its attributes, and content.
    Element(&'static str, Vec<Node>),
}

/// Tags of blocks that are no part of the main content.
const BLOCKS_LEFT_OUT: [&str; 6] =
    ["nav", "aside", "div hidden", "ul class=menu", "div role=search", "table class='x toc'"];
/// Tag of an inline element that is no part of the main content.
const INLINE_LEFT_OUT: &str = "span class=sr-only";

impl Node {
    /// Returns the node as HTML. Without `has_all`, the elements that are no part of the main content
    /// are left out, and a line end takes the place of a block.
    fn html(&self, has_all: bool) -> String {
        match self {
            Self::Text(text) => (*text).to_owned(),
            Self::Element(tag, _) if !has_all && BLOCKS_LEFT_OUT.contains(tag) => "<br>".to_owned(),
            Self::Element(INLINE_LEFT_OUT, _) if !has_all => String::new(),
            Self::Element(tag, content) => {
                let content: String = content.iter().map(|node| node.html(has_all)).collect();
                format!("<{tag}>{content}</{}>", tag.split(' ').next().unwrap())
            }
        }
    }
}

fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let texts = vec!["a", "b &amp; c", " d ", "e\n", "&nbsp;f", TEXT];
    let text = prop::sample::select(texts).prop_map(Node::Text);
    let tags =
        [&BLOCKS_LEFT_OUT[..], &["div", "section", "b", "a name=x", "div class=box"]].concat();
    let inline = prop::sample::select(&["a", "b c"][..])
        .prop_map(|text| Node::Element(INLINE_LEFT_OUT, vec![Node::Text(text)]));
    let leaf = prop_oneof![3 => text, 1 => inline];
    let node = leaf.prop_recursive(5, 40, 5, move |inner| {
        let content = prop::collection::vec(inner, 0..5);
        (prop::sample::select(tags.clone()), content)
            .prop_map(|(tag, content)| Node::Element(tag, content))
    });
    prop::collection::vec(node, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    /// The slow way to the main content is to delete the other elements from the page. The page has a
    /// long text, so that no other element has much of its text.
    #[test]
    fn main_content_is_the_text_of_the_page_without_other_elements(nodes in nodes()) {
        let page = |has_all| {
            let content: String = nodes.iter().map(|node| node.html(has_all)).collect();
            format!("<main>{}{content}</main>", format!("<p>{TEXT}</p>").repeat(150))
        };
        let main = main_of(&format!("Before{}<p>behind", page(true)));
        prop_assert_eq!(main, Some(all_of(&page(false))), "{}", page(true));
    }
}

/// Fragments of pages that matter for their main content.
const PARTS: &[&str] = &[
    "<main>",
    "</main>",
    "<article>",
    "</article>",
    "<nav>",
    "</nav>",
    "<div class=content>",
    "<div class=nav>",
    "<div hidden>",
    "<table>",
    "</table>",
    "<tr>",
    "<td class=menu>",
    "<a href=x>",
    "</a>",
    "<span class=sr-only>",
    "</span>",
    "The harbour master counts the boats every evening and writes",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn main_content_is_a_part_of_the_text(html in soup_of(&[PIECES, PARTS, PARTS].concat())) {
        let all = all_of(&html);
        let main = main_of(&html).unwrap_or_else(|| all.clone());
        let letters = |text: &str| text.chars().filter(|c| !c.is_ascii_whitespace()).collect::<Vec<_>>();
        let mut rest = letters(&all).into_iter();
        for letter in letters(&main) {
            prop_assert!(rest.any(|other| other == letter), "{} is no part of {}", main, all);
        }
        prop_assert_eq!(main.trim_matches([' ', '\n']), &main);
        for gap in ["  ", " \n", "\n ", "\n\n"] {
            prop_assert!(!main.contains(gap), "{:?}", main);
        }
    }
}

#[test]
fn time_grows_no_faster_than_pages() {
    let started = Instant::now();
    let deep = "<i>".repeat(511);
    for (before, piece) in [
        ("", "<main>"),
        ("", "<main>a"),
        ("", "<div class=content>a"),
        ("", "<div class=headertitle>a</div>"),
        ("", "<article>a</article>"),
        ("", "<li>a"),
        ("", "<table><td>a"),
        ("", "<a href=x>a"),
        ("", "a<p>"),
        ("", "a</nav>"),
        (&*deep, "</b>"),
        (&*deep, "<p>"),
        ("<div>", "<i></b>"),
        ("", "<div class='a b c d e f g h nav-a-b-c-d-e-f'>"),
        ("", "<div class=a------------------------------------>"),
        ("<div class='", "a-b "),
        ("<div style='", ";"),
        ("", "<span hidden>a</span> b "),
    ] {
        let page = before.to_owned() + &piece.repeat(2_000_000 / piece.len());
        let mut text = Vec::new();
        HtmlText::new(PageContent::Main).extract(&page, &mut text);
        assert!(text.len() <= page.len(), "{piece}");
    }
    assert!(started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
}
