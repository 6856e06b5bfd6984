use super::*;
use crate::tokenize::normalize::{KNOWN, fold};
use crate::tokenize::pieces::PIECE_BYTES;
use proptest::prelude::*;
use std::fmt::Write as _;
use unicode_normalization::UnicodeNormalization as _;

/// Tokenizers for words, for words without signs, and for words and symbols.
fn tokenizers(isa: Isa) -> [UnicodeWords; 3] {
    let words = UnicodeWords::without_signs(isa);
    [UnicodeWords::new(isa), words, UnicodeWords { has_symbols: true, ..words }]
}

fn slow_hashes(text: &[u8]) -> Vec<u64> {
    slow_hashes_with(UnicodeWords::new(Isa::PORTABLE), text)
}

fn slow_hashes_with(words: UnicodeWords, text: &[u8]) -> Vec<u64> {
    let mut hashes = Vec::new();
    let mut folded = String::new();
    for chunk in text.utf8_chunks() {
        fold(chunk.valid(), &mut folded);
        words.push_words(folded.as_bytes(), 0..folded.len(), &mut hashes);
    }
    hashes
}

#[track_caller]
fn check(text: &[u8], expected: &[&str]) {
    let expected: Vec<u64> = expected.iter().map(|word| hash(word.as_bytes())).collect();
    assert_eq!(slow_hashes(text), expected);
    check_fast(text);
}

#[track_caller]
fn check_fast(text: &[u8]) {
    for &isa in Isa::available() {
        for words in tokenizers(isa) {
            let mut tokens = HashedTokens::default();
            words.tokenize(text, &mut tokens);
            let slowly = slow_hashes_with(words, text);
            assert_eq!(tokens.hashes, slowly, "{words:?} {}", text.escape_ascii());
        }
    }
}

#[test]
fn words_of_many_scripts() {
    check(b"Can't E-Mail 3.14, foo_bar! __", &["can't", "e", "mail", "3.14", "foo_bar"]);
    check("Straße, ΣΑΣ".as_bytes(), &["strasse", "σασ"]);
    check("51区コーヒー".as_bytes(), &["51", "区", "コ", "ー", "ヒ", "ー"]);
    check("กัน".as_bytes(), &["ก", "ั", "น"]);
    check("한국어 말".as_bytes(), &["한국어", "말"]);
    check("e\u{301}te\u{301}".as_bytes(), &["été"]);
    check("ﬁn２".as_bytes(), &["fin2"]);
    check("  \u{11c92} \u{200d}\u{1f170}".as_bytes(), &["\u{11c92}", "\u{1f170}"]);
    check(b"", &[]);
    check(b" \n\t--- ", &[]);
    // Marks on a single character that an underscore joins.
    for marks in ["", "\u{300}", "\u{300}\u{300}", "\u{300}\u{308}\u{301}"] {
        check_fast(format!("ァ{marks}_0ก a{marks}_0 中{marks}_b {marks}_c").as_bytes());
        // Marks on an underscore.
        for behind in
            ["", "a", "1", "ァ", "ー", "ก", "中", "_", ".b", "\"א", "\u{93e}", "\u{e48}", "々"]
        {
            for before in ["", "a", "1", "ァ", "ー", "中", "א", "a.", "_"] {
                check_fast(format!("{before}_{marks}{behind} -").as_bytes());
            }
        }
    }
}

#[test]
fn a_minus_sign_is_part_of_a_number() {
    check("-5 −5 ﹣5 －５ ₋5".as_bytes(), &["-5"; 5]);
    check("+5 (-5) 1,-5.2e3 $-5 \"-5\"".as_bytes(), &["5", "-5", "1", "-5.2e3", "-5", "-5"]);
    check(
        "COVID-19 10-20 --5 (0)-5 5%-6 - 5".as_bytes(),
        &["covid", "19", "10", "20", "5", "0", "5", "5", "6", "5"],
    );
    check("-٣ -३a 中-5 -5中 -๒".as_bytes(), &["-٣", "-३a", "中", "5", "-5", "中", "๒"]);
    check("-\u{ad}5 é-\u{301}5 -5_\u{301}a".as_bytes(), &["-5", "é", "5", "-5_\u{301}a"]);
    // At every place of a block, after characters of all lengths, and next to text that takes the slow path.
    for before in
        ["", "a", "é ", "(", "€", "🙂", "中", "1", "-", "ァ_", "א\"", "x\u{93e}", "\u{200d}"]
    {
        for number in ["-5", "−5", "−٣", "-5_ァ", "-5\u{301}", "-1,\u{301}2", "-_5", "-5-6", "-½"]
        {
            for shift in 0..68 {
                let space = " ".repeat(shift);
                check_fast(format!("{space}{before}{number}").as_bytes());
                check_fast(format!("{space}{before}{number} é\u{93e}").as_bytes());
            }
        }
    }
}

#[test]
fn visible_characters_between_words_are_words() {
    let check = |text: &str, expected: &str| {
        let expected: Vec<u64> = expected.split(' ').map(|word| hash(word.as_bytes())).collect();
        let [.., with_symbols] = tokenizers(Isa::PORTABLE);
        assert_eq!(slow_hashes_with(with_symbols, text.as_bytes()), expected, "{text}");
        check_fast(text.as_bytes());
    };
    check("a<b, a>b: C++/C#.", "a < b , a > b : c + + / c # .");
    check("+5 $3.50 (50%) x_y", "+ 5 $ 3.50 ( 50 % ) x_y");
    check("-5 −5 1:5 1/5 1,200.50", "- 5 − 5 1 : 5 1 / 5 1,200.50");
    check("can't 'q' __ 中_ a._ “é”…", "can't ' q ' _ _ 中 _ a . _ \" é \" . . .");
    check("❤\u{fe0f}👍🏽 1️⃣ 🇩🇪", "❤ 👍 🏽 1\u{20e3} 🇩 🇪");
    check("→中€ 한국 ≠ =\u{338} ±é", "→ 中 € 한국 ≠ ≠ ± é");
    for text in ["+++===", "a+\u{301}b →\u{93e}c", "+\u{93e}", "🏽a🏽 ˂ a˂b", "🇩🇪🇩"]
    {
        for shift in 0..70 {
            check_fast(format!("{}{text}{}é", " ".repeat(shift), "~".repeat(shift)).as_bytes());
        }
    }
}

#[test]
fn invisible_characters_and_typographic_quotes_change_no_word() {
    check(
        "inter\u{ad}natio\u{200b}nal \u{202d}e\u{200d}\u{301}".as_bytes(),
        &["international", "é"],
    );
    check("It’s l‘été п’ять пʼять".as_bytes(), &["it's", "l'été", "п'ять", "п'ять"]);
    check("می\u{200c}خواهم ❤\u{fe0f}\u{feff}x".as_bytes(), &["میخواهم", "x"]);
    check("צה״ל צה”ל ג׳ ‘q’ “r”".as_bytes(), &["צה\"ל", "צה\"ל", "ג'", "q", "r"]);
    // A mark does not separate a quotation mark from the Hebrew letter behind it.
    check("א\"\u{301}ב".as_bytes(), &["א\"\u{301}ב"]);
    // At every place of a block, between characters of all sorts.
    for ignorable in ["\u{ad}", "\u{34f}", "\u{200c}", "\u{fe0f}\u{200d}", "\u{e0061}"] {
        for (before, behind) in [
            ("a", "b"),
            ("é", "b"),
            ("e", "\u{301}c"),
            ("x\u{323}", "\u{301}"),
            ("中", "a"),
            ("“", "„"),
        ] {
            for shift in (0..80).chain([PIECE_BYTES - 2]) {
                let space = " ".repeat(shift);
                let text = format!("{space}{before}{ignorable}{behind}’{ignorable}d");
                check_fast(text.as_bytes());
                let plain = format!("{space}{before}{behind}'d");
                assert_eq!(slow_hashes(text.as_bytes()), slow_hashes(plain.as_bytes()));
            }
        }
    }
}

/// A few ordinary sentences in each of 26 languages.
const LANGUAGES: [&str; 26] = [
    "The ferry to the islands leaves at 7:45, if the wind isn't too strong; ask at O'Brien's.",
    "L'été, on déjeunait près du cœur de l'île ; aujourd'hui, c'est fermé jusqu'à Noël.",
    "Größere Straßen führen über den Fluß, kleinere durch die Wälder – jedoch nicht im März.",
    "¿Cuándo llegó la cigüeña? El año pasado, según los niños, volvió con la lluvia de abril.",
    "A canção não é difícil: três vozes, um violão e o coração; amanhã às 18h30 há ensaio.",
    "Perché no? Così la città è più quieta, e l'acqua dell'Adige scende limpida già a metà maggio.",
    "Zażółć gęślą jaźń – mówią drukarze, gdy chcą zobaczyć, czy każda litera jest na miejscu.",
    "Příliš žluťoučký kůň úpěl ďábelské ódy, a přece ho nikdo z vesnice neslyšel.",
    "Az őszi erdőben hűvös volt, a tűz mégis jó meleget adott a fáradt vándoroknak.",
    "Kırmızı ışıkta duran İstanbul otobüsü, ılık rüzgârda iki dakika geç kalktı.",
    "Buổi sáng trời mưa nhỏ, nhưng đến trưa thì nắng; chị tôi đi chợ mua cá và rau muống.",
    "Vår båt låg kvar vid bryggan, fast ön på andra sidan hade ström redan före jul.",
    "Syysyö oli hiljainen, eikä järven yllä näkynyt kuin yksi lyhty ja pöllön varjo.",
    "Τα καΐκια γύρισαν νωρίς· ο άνεμος, όπως είπε ο γέρος ναύτης, άλλαξε πριν τα μεσάνυχτα.",
    "Поезд опоздал на 20 минут, и всё-таки мы успели: ёлка ещё стояла, чай был горячий.",
    "Їхній об'їзд зайняв дві години, бо міст через річку п’ятий рік чекає на ремонт.",
    "הרכבת לתל־אביב יוצאת ב־8:15; צה\"ל, ארה\"ב וד'ר כהן כתובים כאן עם גרשיים.",
    "وصلَ القطارُ متأخّراً ٢٠ دقيقة، ثمّ شربنا الشاي بالنعناع في بيتِ جارِنا.",
    "کتاب‌های تازه را روی میز گذاشتم؛ می‌خواهم پیش از شب همه را بخوانم.",
    "बारिश के बाद सड़क पर पानी था, फिर भी बच्चे क्षण भर में स्कूल पहुँच गए।",
    "নদীর ধারে ছোট গ্রামটিতে সন্ধ্যায় আলো জ্বলে, তখন সবাই গল্প শোনে।",
    "மழை நின்றதும் கிராமத்து வீதியில் குழந்தைகள் விளையாடத் தொடங்கினர்.",
    "วันนี้ฝนตกหนัก แต่ร้านน้ำชาริมคลองยังเปิดอยู่ เราจึงนั่งคุยกันจนค่ำ",
    "图书馆八点开门，周三下午还有讲座；他带来了3本旧书，说是1998年买的。",
    "駅前のパン屋さんは朝６時に開きます。コーヒーも１杯２００円で飲めますよ。",
    "기차가 10분 늦게 도착했지만, 우리는 걱정하지 않고 역 앞에서 따뜻한 국수를 먹었다.",
];

#[test]
fn texts_of_many_languages() {
    for text in LANGUAGES {
        // At different places of a block, in lower and upper case, composed and decomposed.
        let decomposed: String = text.nfd().collect();
        for text in [text, &text.to_uppercase(), &decomposed] {
            for shift in [0, 1, 7, 31, 62, 63] {
                let text = format!("{}{text}\n{text}", " ".repeat(shift));
                check_fast(text.as_bytes());
            }
        }
    }
    check_fast(LANGUAGES.concat().as_bytes());
}

#[test]
fn invalid_sequences_separate() {
    check(b"ab\xffcd \xe4\xb8 x\xc3", &["ab", "cd", "x"]);
    check(b"a'\xf0\x9f\x98b", &["a", "b"]);
}

#[test]
fn pieces_join_without_a_seam() {
    for length in [PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES] {
        let word_at_the_seam: Vec<u8> = b"abc, d'e ".iter().copied().cycle().take(length).collect();
        check_fast(&word_at_the_seam);
        check_fast(&vec![b'x'; length]);
    }
}

/// Checks that the fast method, which uses bit masks, finds the same tokens of `text` as the slow method. Uses the best
/// instruction set only.
#[track_caller]
fn check_best(text: &str) {
    let words = tokenizers(Isa::detected());
    let slow_hashes = |text: &[u8]| words.map(|words| slow_hashes_with(words, text));
    let fast_hashes = |text: &[u8]| {
        words.map(|words| {
            let mut tokens = HashedTokens::default();
            words.tokenize(text, &mut tokens);
            tokens.hashes
        })
    };
    if fast_hashes(text.as_bytes()) != slow_hashes(text.as_bytes()) {
        // Find the shortest part that shows the difference.
        let characters: Vec<char> = text.chars().collect();
        for length in 1..10 {
            for part in characters.windows(length) {
                let part: String = part.iter().collect();
                let agree = fast_hashes(part.as_bytes()) == slow_hashes(part.as_bytes());
                assert!(agree, "{}", part.escape_unicode());
            }
        }
        panic!("no short part of a text of {} bytes", text.len());
    }
}

#[test]
fn every_character_among_others() {
    // Of the planes beyond, only the plane of tags has characters. The others behave the same,
    // so a sample is enough.
    let beyond = (KNOWN as u32..=0x10_FFFF).filter(|code| code >> 12 == 0xE0 || code % 97 == 0);
    let codes = (0..KNOWN as u32).chain(beyond);
    let characters: Vec<char> = codes.filter_map(char::from_u32).collect();
    for page in characters.chunks(256) {
        let mut text = String::new();
        for c in page {
            write!(text, "{c} a{c}b {c}c 1{c}2 é{c}к 中{c}カ ー{c}_ א{c}ה ก{c}\u{e31} ").unwrap();
            write!(text, "a'{c} .{c}' _{c}_ {c}\u{301} ت{c}\u{64b} {c}{c} \u{ad}{c}\u{200d} ")
                .unwrap();
            write!(text, "{c}-5 -{c} (-{c} −{c}1 {c}−2 a-{c} ").unwrap();
            write!(text, "{c}. 3,{c} {c}’д \u{93e}{c}\u{93e} {c}ﾞ {c}\" א\"{c} é’{c} ").unwrap();
        }
        check_best(&text);
    }
}

#[test]
fn every_pair_of_characters_that_differ_to_words() {
    let characters: Vec<char> =
        "a1_'\".:,; -)\né−ßκЖтשא٣中かカーヽ々๒กั่ำ한힣’·،。，．：＇２Ａ²ﬁ™…ｶﾞ👍क\u{958}İſ\u{a0}\u{ad}\u{200d}\
         \u{200c}\u{301}\u{323}\u{64b}\u{651}\u{94d}\u{93c}\u{93e}\u{fe0f}\u{3099}\u{1100}\u{1161}\u{11a8}\
         \u{1f1e6}\u{1f3fb}\u{11c92}\u{1f170}\u{5b0}\u{2028}\u{85}"
            .chars()
            .collect();
    for a in &characters {
        let mut text = String::new();
        for b in &characters {
            for c in &characters {
                write!(text, "{a}{b}{c} ").unwrap();
            }
        }
        check_best(&text);
        let text = text.replace(' ', "d");
        check_best(&text);
    }
}

proptest! {
    #[test]
    fn fast_and_slow_agree(pieces in prop::collection::vec(prop_oneof![
        8 => "[a-zA-Z]{1,9}", 2 => "[0-9_.,';:−-]{1,3}", 6 => "[ \t\r\n]{1,2}",
        1 => "[àÉ\u{301}\u{308}ßſKﬁ中国カーกัๆ한\u{200d}\u{ad}’“ \u{e9}\u{2028}]{1,3}",
        2 => "[\u{ad}\u{34f}\u{200b}-\u{200f}\u{2060}\u{feff}\u{fe0f}\u{e0061}’‘ʼ“״\u{301}\u{323}]{1,3}",
        1 => " {20,40}", 1 => " +[\u{11c92}\u{200d}\u{1f170}]{1,3}", 1 => "\\PC{1,3}",
    ], 0..60)) {
        check_fast(pieces.concat().as_bytes());
    }

    #[test]
    fn scripts_agree(pieces in prop::collection::vec(prop_oneof![
        4 => "[a-z' .,:;_\"0-9]{1,4}", 2 => "[−(-]?[0-9٠-٩]{1,2}", 2 => "[+<=>$#^`|~→€±🙂🏽🇩˂\u{338}]{1,3}", 2 => "[à-ÿÀ-ß’ŒœşİŠ]{1,4}", 2 => "[а-яА-Я’]{1,6}",
        2 => "[א-ת'\"\u{5b0}-\u{5bc}]{1,5}", 2 => "[ء-ي\u{64b}-\u{652}،٠-٩\u{200c}]{1,5}",
        2 => "[ऀ-ॿ\u{200d}]{1,5}", 2 => "[ก-๛]{1,6}", 2 => "[一-丯々〇，。、：（）]{1,6}",
        2 => "[ぁ-ヿ\u{3099}]{1,5}", 1 => "[가-갿ᄀ-ᇿ]{1,3}", 1 => "[\u{ff00}-\u{ffef}]{1,4}",
        1 => "[\u{300}-\u{36f}]{1,2}", 1 => "[\u{1f1e6}-\u{1f1ff}\u{1f170}\u{200d}\u{fe0f}👍]{1,4}",
        2 => "[\u{ad}\u{34f}\u{61c}\u{180b}\u{200c}\u{202e}\u{3164}\u{fe0f}’ʻ׳״”]{1,2}",
        1 => "[α-ωΑ-Ωά-ώ]{1,5}", 1 => "[ạ-ỹẠ-Ỹđ]{1,4}", 3 => " ", 1 => "\\PC{1,2}",
    ], 0..60)) {
        check_fast(pieces.concat().as_bytes());
    }

    #[test]
    fn random_bytes_agree(text in prop::collection::vec(any::<u8>(), 0..300)) {
        check_fast(&text);
    }
}
