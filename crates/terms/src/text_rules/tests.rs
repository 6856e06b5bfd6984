use super::*;
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};
use unicode_script::{Script, UnicodeScript as _};

fn rules(ignore: &[&str]) -> Result<TextRules> {
    let mut options = Options::new();
    for list in ignore {
        options.set("ignore", *list);
    }
    TextRules::parse(&mut options)
}

fn folded(fold: &str, text: &[u8]) -> String {
    let mut options = Options::new();
    options.set("fold", fold);
    let rules = TextRules::parse(&mut options).unwrap();
    String::from_utf8_lossy(rules.apply(text, &mut RuledText::default())).into_owned()
}

/// Returns the text with `_` in the place of each ignored piece. A space in a piece stays.
fn without(ignore: &str, text: &str) -> String {
    let rules = rules(&[ignore]).unwrap();
    let mut room = RuledText::default();
    let ruled = rules.apply(text.as_bytes(), &mut room);
    assert_eq!(ruled.len(), text.len());
    let mut left = String::new();
    for (at, c) in text.char_indices() {
        match std::str::from_utf8(&ruled[at..at + c.len_utf8()]) {
            Ok(same) if same.starts_with(c) => left.push(c),
            blank => {
                assert!(blank.is_ok_and(|blank| blank.trim().is_empty()), "{text}");
                if !left.ends_with('_') {
                    left.push('_');
                }
            }
        }
    }
    left
}

#[test]
fn numbers_have_signs_points_and_groups() {
    for (text, left) in [
        ("Page 12 of 1,234.56", "Page _ of _"),
        ("-5 +5 −5 (-5) €-5", "_ _ _ (_) €_"),
        ("10-5 COVID-19 2024-01-02", "_-_ COVID-_ _-_-_"),
        ("12ms mp3 3rd v1.2.3 8'000 1_000", "_ms mp_ _rd v_ _ _"),
        ("١٢٣ १२३ １２．５ 𝟙", "_ _ _ _"),
        ("3. 4, x.5", "_. _, x._"),
        ("½ ² Ⅳ 三 one", "½ ² Ⅳ 三 one"),
    ] {
        assert_eq!(without("numbers", text), left, "{text}");
    }
}

#[test]
fn links_and_mail_addresses_end_before_punctuation() {
    for (text, left) in [
        ("See https://a.b/c?d=1&e=(f), or HTTP://x.", "See _), or _."),
        ("[text](https://a.b/c) <www.a.b>", "[text](_) <_>"),
        ("请看https://a.b/你好。谢谢", "请看_。谢谢"),
        ("mailto:me@a.b me.too+x@a-b.org.", "_ _."),
        ("www. awww.b https:// a.b ftp://a.b", "www. awww.b https:// a.b ftp://a.b"),
        ("@user @user@a.org", "@user @user@a.org"),
    ] {
        assert_eq!(without("links", text), left, "{text}");
    }
}

#[test]
fn mentions_are_no_mail_addresses() {
    for (text, left) in [
        ("@ann, @b.c_d. (@éva)", "_, _. (_)"),
        ("me@a.b x@y https://a.b/@ann", "me@a.b x@y https://a.b/@ann"),
        ("@user@a.org: hi @ you", "_: hi @ you"),
    ] {
        assert_eq!(without("mentions", text), left, "{text}");
    }
}

#[test]
fn dates_have_digits_or_english_months() {
    for (text, left) in [
        ("2024-12-31T10:00:00Z 2024-12-31 10:00:00,123 +0100", "_ _ _ _"),
        ("12/31/2024 12/31/24 31.12.2024 31. 12. 2024 31-12-2024 2024/1/2", "_ _ _ _ _ _ _ _"),
        ("10:00 10:00:00.5 9:30am 9:30 PM", "_ _ _ _ _"),
        ("Tue, 31 Dec 2024 10:00:00 +0000; December 31st, 2024", "_ _ _ _ _ _; _ _ _"),
        ("[31/Dec/2024:10:00:00 +0000] Dec  3 10:00:00 host", "[_ _] _  _ _ host"),
        ("2024年12月31日 2024년 12월 31일 20241231T100000Z", "_ _ _ _ _"),
        ("10:00 ampere, log2024-12-31.txt", "_ ampere, log_.txt"),
        ("192.168.1.12 1.2.3 10:75 99/99/2024", "192.168.1.12 1.2.3 10:75 99/99/2024"),
        ("12024-12-31 31.12.20245 may 5 2024 5", "12024-12-31 31.12.20245 _ _ _ 5"),
    ] {
        assert_eq!(without("dates", text), left, "{text}");
    }
}

#[test]
fn expressions_have_commas_and_match_lines() {
    assert_eq!(without(r"re:ORDER-\d{1,3}", "ORDER-12 ORDER-1234"), "_ _4");
    assert_eq!(without(r"re:^Page \d+$,re:[xy],re:,", "Page 1\nx, Page 2"), "_ _\n_ Page 2");
    assert_eq!(without("numbers, links,re:a*", "baa 1 www.a.b"), "b_ _ _");
    // A line end inside a piece stays, so that lines are the same.
    assert_eq!(without("re:(?s)a.b", "a\nb"), "_\n_");
    let mut room = RuledText::default();
    let bytes = rules(&["numbers,re:b"]).unwrap();
    assert_eq!(bytes.apply(b"\xff1\xc3b", &mut room), b"\xff \xc3 ");
}

#[test]
fn equal_rules_have_one_recipe_and_are_written_as_they_are_read() {
    let one = rules(&["numbers,links,re:b{1,2},re:a"]).unwrap();
    let other = rules(&["links", "re:a", "re:b{1,2}", "numbers,links"]).unwrap();
    assert_eq!((&one, one.recipe()), (&other, other.recipe()));
    let written: Vec<_> = one.parameters().collect();
    assert_eq!(written, [("ignore", "links,numbers,re:a,re:b{1,2}".to_owned())]);
    assert_eq!(rules(&[&written[0].1]).unwrap(), one);
    let recipe = one.recipe();
    assert!(recipe.starts_with(",ignore@1=links+numbers+re=") && !recipe.contains('/'));
    assert_ne!(rules(&["re:a"]).unwrap().recipe(), rules(&["re:b"]).unwrap().recipe());
    let none = rules(&[""]).unwrap();
    assert!(none.is_empty() && none.recipe().is_empty() && none == TextRules::default());
}

#[test]
fn unknown_names_and_wrong_expressions_are_refused() {
    for (list, message) in [
        ("words", "ignore words: must be dates, links, mentions, numbers, or re: and"),
        ("re:(", "ignore re:(: is no regular expression that can be used: unclosed group"),
        ("re:a ", "ignore re:a : has an expression that is empty or ends with white space"),
        ("numbers,re:", "ignore numbers,re:: has an expression that is empty"),
        (r"re:\w{1000000}", "ignore re:\\w{1000000}: is no regular expression that can be used: "),
    ] {
        let error = rules(&[list]).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn diacritics_are_those_of_latin_greek_and_cyrillic() {
    for (text, equal) in [
        ("Café cafe\u{301} ẤƠ ﬁǆ İı", "Cafe cafe AO fidz Iı"),
        ("Ωμέγα ᾳ ὦ, ё й Й ґ̆ а҃", "Ωμεγα α ω, е и И ґ а"),
        ("øłđß ½ e 5\u{302}", "øłđß ½ e 5\u{302}"),
        ("नमस्ते กำ สวัสดี が が 한 שָׁלוֹם", "नमस्ते กำ สวัสดี が が 한 שָׁלוֹם"),
        ("مُحَمَّد آ", "مُحَمَّد آ"),
    ] {
        assert_eq!(folded("diacritics", text.as_bytes()), equal, "{text}");
    }
    assert_eq!(folded("diacritics", b"\xff\xc3\xa9\xc3e\xcc\x81"), "\u{fffd}e\u{fffd}e");
}

#[test]
fn arabic_and_persian_are_equal() {
    for (text, equal) in [
        ("كتاب كِتَابٌ کتاب كـتـاب", "كتاب كتاب كتاب كتاب"),
        ("علی على علي ﻋﻠﻰ", "علي علي علي علي"),
        ("أحمد إلى آب ٱلله مدرسة", "احمد الي اب الله مدرسه"),
        ("أ ا\u{654} ؤ و\u{654} ئ ۀ", "ا ا و و ي ه"),
        ("café ے ھ", "café ے ھ"),
    ] {
        assert_eq!(folded("arabic", text.as_bytes()), equal, "{text}");
    }
}

#[test]
fn serbian_is_latin_and_hyphens_join_lines() {
    let serbian = "Љубазни фењерџија чађавог лица хоће да ми покаже штос";
    let latin = "Ljubazni fenjerdžija čađavog lica hoće da mi pokaže štos";
    assert_eq!(folded("cyrillic-latin", serbian.as_bytes()), latin);
    assert_eq!(
        folded("diacritics, cyrillic-latin", serbian.as_bytes()),
        latin.replace('ž', "z").replace(['č', 'ć'], "c").replace('š', "s")
    );
    assert_eq!(folded("cyrillic-latin", "ыя Ё".as_bytes()), "ыя Ё");
    for (text, equal) in [
        ("an exam-\n  ple, wörter\u{2010} \r\n\tbuch so\u{ad}\nft", "an example, wörterbuch soft"),
        ("a-\nb-\nc", "abc"),
        ("COVID-\n19 - \nx a-\n\nb 1-\nc -\n", "COVID-\n19 - \nx a-\n\nb 1-\nc -\n"),
    ] {
        assert_eq!(folded("hyphens", text.as_bytes()), equal, "{text}");
    }
}

#[test]
fn simplified_and_traditional_chinese_are_equal() {
    let simplified = "汉语 中国 学习 图书馆 电脑 飞机 医院 火车站 经济 发展 头发 后来 皇后 干净 里面 台湾 云南 面条 历史 \
                      日历 钟表 战争 艺术 爱国 龙门 龟兔 体育 万岁 书写 让步 丰富 义务";
    let traditional = "漢語 中國 學習 圖書館 電腦 飛機 醫院 火車站 經濟 發展 頭髮 後來 皇后 乾淨 裡面 臺灣 雲南 麵條 歷史 \
                       日曆 鐘錶 戰爭 藝術 愛國 龍門 龜兔 體育 萬歲 書寫 讓步 豐富 義務";
    assert_eq!(folded("han", traditional.as_bytes()), simplified);
    for text in [simplified, "日本の歌を歌う 한국어 Ελλάς café، x-\ny"] {
        assert_eq!(folded("han", text.as_bytes()), text);
    }
    // Radicals, compatibility forms and characters of four bytes; Japanese forms and other words stay.
    assert_eq!(folded("han", "⾞ \u{f902} 𣾷 渦".as_bytes()), "车 车 㳢 涡");
    assert_eq!(folded("han", "駅 気 計程車 软体".as_bytes()), "駅 気 计程车 软体");
    assert_eq!(folded("han,diacritics", "漢é一\u{301}".as_bytes()), "汉e一\u{301}");
    // Each character is folded once and for all.
    for c in ('\u{2e80}'..='\u{3ffff}').filter(|c| !c.is_control()) {
        let text = c.to_string();
        let once = folded("han", text.as_bytes());
        assert_eq!(folded("han", once.as_bytes()), once, "{c}");
        assert_eq!(once.chars().count(), 1, "{c}");
    }
}

#[test]
fn folds_are_part_of_the_recipe_and_follow_ignored_pieces() {
    let mut options = Options::new();
    options.set("fold", "hyphens,arabic");
    options.set("ignore", "numbers");
    let rules = TextRules::parse(&mut options).unwrap();
    let written: Vec<_> = rules.parameters().collect();
    assert_eq!(written[1], ("fold", "arabic,hyphens".to_owned()));
    assert!(rules.recipe().contains(",ignore@1=numbers,fold@1."), "{}", rules.recipe());
    assert_eq!(rules.apply("a-\nb 12ك".as_bytes(), &mut RuledText::default()), "ab   ك".as_bytes());
    options.set("fold", "accents");
    let error = TextRules::parse(&mut options).unwrap_err().to_string();
    let known = "arabic, cyrillic-latin, diacritics, han, hyphens";
    assert_eq!(error, format!("fold accents: must be of {known}; commas separate several"));
}

/// Returns a text without diacritics, in a slow and simple way for comparison: decomposes each letter and drops its
/// marks. This is the definition of the fold `diacritics`.
fn without_diacritics_slowly(text: &str) -> String {
    let mut is_simple = false;
    let keep = |c: &char| {
        let is_mark = c.general_category() == GeneralCategory::NonspacingMark;
        if c.script() != Script::Inherited {
            is_simple = matches!(c.script(), Script::Latin | Script::Greek | Script::Cyrillic);
        }
        !(is_mark && is_simple)
    };
    // Each letter is decomposed alone, because the marks of a whole text would change their order.
    let decomposed = text.chars().flat_map(|c| std::iter::once(c).nfkd().collect::<Vec<_>>());
    decomposed.filter(keep).nfkc().collect()
}

/// Returns a text in which spaces replace the numbers, in a slow and simple way for comparison: examines one character
/// after the other. This is the definition of a number.
fn blank_numbers_slowly(text: &str) -> String {
    let all: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| all.get(at).is_some_and(|c| DIGITS.contains(*c));
    let mut is_piece: Vec<bool> = (0..all.len()).map(is_digit).collect();
    for at in 0..all.len() {
        let is_between = at > 0 && is_digit(at - 1) && is_digit(at + 1);
        let is_sign = "+-−".contains(all[at])
            && is_digit(at + 1)
            && !(at > 0 && (all[at - 1].is_alphanumeric() || all[at - 1] == '_'));
        is_piece[at] |= is_sign || is_between && ".,'’_\u{66b}\u{66c}．，".contains(all[at]);
    }
    let blank = |(c, is_piece): (&char, bool)| {
        if is_piece { " ".repeat(c.len_utf8()) } else { c.to_string() }
    };
    all.iter().zip(is_piece).map(blank).collect()
}

const DIGITS: &str = "0123456789٠٣９";

proptest! {
    #[test]
    fn numbers_are_found_as_they_are_defined(text in "[0-9a٠９.,_'+−é /:@-]{0,40}") {
        let rules = rules(&["numbers"]).unwrap();
        let mut room = RuledText::default();
        let ruled = rules.apply(text.as_bytes(), &mut room);
        prop_assert_eq!(std::str::from_utf8(ruled).unwrap(), blank_numbers_slowly(&text));
    }

    #[test]
    fn diacritics_are_dropped_as_they_are_defined(text in "[a-zé-ūάᾳὦйёẤが한नस्ก5 \u{300}-\u{345}\u{483}\u{5b8}\u{64e}\u{94d}\u{3099}]{0,20}") {
        let found: String = folded("diacritics", text.as_bytes()).nfkc().collect();
        prop_assert_eq!(found, without_diacritics_slowly(&text));
    }

    #[test]
    fn any_bytes_keep_their_length(text in prop::collection::vec(any::<u8>(), 0..60)) {
        let all = rules(&["numbers,links,mentions,dates,re:."]).unwrap();
        let mut room = RuledText::default();
        prop_assert_eq!(all.apply(&text, &mut room).len(), text.len());
        let once = folded("arabic,diacritics,han,hyphens", &text);
        prop_assert!(once.len() <= 40 * text.len());
    }
}
