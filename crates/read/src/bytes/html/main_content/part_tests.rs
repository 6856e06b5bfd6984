use super::tests::{OTHER, TEXT, all_of, main_of, part_of};
use crate::bytes::{HtmlText, PageContent};
use simtool_model::page_text::PageText;

/// Checks that only the text `expected` of the page `html` is compared, and that its kind is `part`.
fn check_part(html: &str, part: PageText, expected: &str) {
    assert_eq!(part_of(html), (part, expected.to_owned()), "{html}");
}

#[test]
fn pages_for_browsers_without_scripts_are_read_if_there_is_little_else() {
    let posts = format!("<p>{TEXT}</p><p>{OTHER}</p><p>{TEXT}</p>");
    let expected = [TEXT, OTHER, TEXT].join("\n");
    let page =
        format!("<title>Forum</title><div id=app></div><noscript><main>{posts}</main></noscript>");
    check_part(&page, PageText::NoScript, &expected);
    assert_eq!(all_with_part(&page), (PageText::NoScript, format!("Forum\n{expected}")));
    // A page with a script that repeats a part of the text, a message for browsers without scripts, and styles.
    let both = format!("<main>{posts}</main><noscript><p>{TEXT}</p></noscript>");
    check_part(&both, PageText::Main, &expected);
    for message in [TEXT.to_owned(), format!("<style>{posts}</style>"), "<img>".repeat(300)] {
        let page = format!("<p>Forum</p><noscript>{message}</noscript>");
        check_part(&page, PageText::Main, "Forum");
        assert_eq!(all_with_part(&page), (PageText::All, "Forum".to_owned()));
    }
    // Several elements count together.
    let parts = [TEXT, OTHER, TEXT].map(|text| format!("<noscript><p>{text}</p></noscript>"));
    check_part(&parts.concat(), PageText::NoScript, &expected);
}

/// Returns the text that is extracted from a page with [`PageContent::All`], and the kind of this text.
fn all_with_part(html: &str) -> (PageText, String) {
    let mut text = Vec::new();
    let part = HtmlText::new(PageContent::All).extract(html, &mut text).part;
    (part, String::from_utf8(text).unwrap())
}

#[test]
fn hidden_text_is_content_if_most_of_the_text_is_hidden() {
    let text = format!("<p>{TEXT}</p><p>{OTHER}</p><p>{TEXT}</p>");
    let expected = [TEXT, OTHER, TEXT].join("\n");
    // A page that is sent in portions, which a script shows.
    let streamed = format!(
        "<nav>Menu</nav><main><template id=B:0></template>Loading</main>\
         <div hidden id=S:0><article>{text}</article></div>"
    );
    check_part(&streamed, PageText::Hidden, &expected);
    let panels = format!("<main><h2>Terms</h2><div style='display:none'>{text}</div></main>");
    check_part(&panels, PageText::Hidden, &format!("Terms\n{expected}"));
    // A hidden dialog next to a long text, a hidden menu, and hidden parts with names.
    let long = format!("<main>{}</main>", text.repeat(4));
    for hidden in ["div hidden", "nav hidden", "div hidden class=cookie-consent"] {
        let name = hidden.split(' ').next().unwrap();
        let page = format!("{long}<{hidden}>{text}</{name}>");
        check_part(&page, PageText::Main, &[&*expected; 4].join("\n"));
    }
    check_part(&format!("<main>{TEXT}</main><nav hidden>{text}{text}</nav>"), PageText::Main, TEXT);
}

#[test]
fn names_do_not_leave_out_most_of_a_page() {
    let text = format!("<p>{TEXT}</p><p>{OTHER}</p><p>{TEXT}</p>");
    let expected = [TEXT, OTHER, TEXT].join("\n");
    for name in [
        "newsletter",
        "under-menu",
        "text-inherit",
        "comments",
        "l-sidebar-fixed article-body",
        "article-body pagination-first",
        "cookie-policy",
    ] {
        let page = format!("<nav>Menu</nav><div class='{name}'>{text}</div><p>A line.</p>");
        let (part, found) = part_of(&page);
        assert!(found.starts_with(&expected), "{name}: {part:?} {found}");
        let page = format!("<main><h1>Title</h1><div class='{name}'>{text}</div></main>");
        assert!(part_of(&page).1.contains(&expected), "{name}");
    }
    // Most of the text in several parts, and a list without running text.
    let parts =
        format!("<h1>Title</h1><div class=menu-a>{text}</div><div class=share-b>{text}</div>");
    check_part(&parts, PageText::Main, &format!("Title\n{expected}\n{expected}"));
    let items = "<li>Fish and bread</li>".repeat(9);
    let card = format!("<h1>Title of it</h1><ul class=menu>{items}</ul>");
    assert!(part_of(&card).1.ends_with("bread"), "{:?}", part_of(&card));
    // Next to a longer text, the name counts.
    let page = format!("<main>{text}{text}<div class=newsletter>{text}</div></main>");
    check_part(&page, PageText::Main, &format!("{expected}\n{expected}"));
    // Doxygen lists inherited members in rows of a table.
    let row = format!("<main>{TEXT}<table><tr class='memitem inherit'><td>a</table></main>");
    check_part(&row, PageText::Main, TEXT);
}

#[test]
fn cards_that_are_articles_are_not_the_page() {
    let text = format!("<div class=text><p>{TEXT}</p><p>{OTHER}</p><p>{TEXT}</p></div>");
    let card = |at| format!("<article><h3>Another page, number {at}</h3><p>A line.</p></article>");
    let cards: String = (0..4).map(card).collect();
    let (part, found) = part_of(&format!("<nav>Menu</nav>{text}<section>{cards}</section>"));
    assert!(found.starts_with(&[TEXT, OTHER, TEXT].join("\n")), "{part:?} {found}");
}

#[test]
fn a_small_share_of_a_page_is_little_of_it() {
    let list = "<li>An item of the list</li>".repeat(100);
    let page = format!("<nav><ul>{list}</ul></nav><p>{}</p>", &TEXT[..90]);
    check_part(&page, PageText::Little, TEXT[..90].trim_end());
    check_part(&format!("<nav>Menu</nav><p>{TEXT}</p>"), PageText::Main, TEXT);
    check_part(
        &format!("<nav>{TEXT}</nav><p>Short.</p>"),
        PageText::Whole,
        &format!("{TEXT}\nShort."),
    );
}

#[test]
fn a_missing_end_tag_does_not_take_the_main_content_away() {
    // The pages of a generator forget an end tag of their header.
    let page = format!(
        "<title>T</title><div class=header><div class=main>Site</div>\
         <div class=content><p>{TEXT}<p>{OTHER}</div>"
    );
    assert_eq!(main_of(&page).unwrap(), format!("{TEXT}\n{OTHER}"));
    // If a menu has far more running text than the rest, it is no menu.
    for (count, main) in [(20, OTHER.to_owned()), (4, format!("<main>{OTHER}</main>"))] {
        let menu = format!("<div class=menu>{}</div>", format!("<p>{TEXT}").repeat(count));
        let page = format!("{menu}{main}");
        assert_eq!(main_of(&page).unwrap(), all_of(&page));
    }
    let menu = format!("<div class=menu><p>{TEXT}</div>");
    let two = main_of(&format!("{menu}{OTHER}<p>{OTHER}"));
    assert_eq!(two, Some(format!("{OTHER}\n{OTHER}")));
    let menu = format!("<nav>{}</nav>", format!("<p>{TEXT}").repeat(20));
    assert_eq!(main_of(&format!("{menu}{OTHER}")).as_deref(), Some(OTHER));
    let menu = format!("<div class=menu>{}</div>", format!("<p><a href=x>{TEXT}</a>").repeat(20));
    assert_eq!(main_of(&format!("{menu}{OTHER}")).as_deref(), Some(OTHER));
}

#[test]
fn words_of_other_parts_are_counted() {
    let page =
        format!("<nav>one two</nav><main><p>{TEXT}</p><p>{OTHER}</p></main><footer>three</footer>");
    let mut text = Vec::new();
    let mut html = HtmlText::new(PageContent::Main);
    let page = html.extract(&page, &mut text);
    assert_eq!((page.part, page.left_out_words), (PageText::Main, 3));
}
