//! `simtool N M` at the edges of its format, through the real binary: one test a rule.

use crate::naive::Task;
use crate::program::Folder;

/// Returns the result of `simtool N M` on a folder, which must succeed.
fn result(folder: &Folder, n: usize, m: usize) -> String {
    let finished = folder.run(&[&n.to_string(), &m.to_string()]);
    assert_eq!((finished.code, finished.err.as_str()), (0, ""));
    folder.result().unwrap()
}

/// Returns the result of `simtool 1 4`. Documents with the most frequent word of the articles have
/// all four bits set, the others none, so a query matches the documents of its own kind.
fn result_for(articles: impl AsRef<[u8]>, samples: impl AsRef<[u8]>) -> String {
    result(&Folder::of(articles, samples), 1, 4)
}

#[test]
fn white_space_and_a_byte_order_mark_before_the_id_are_skipped() {
    let articles = b"\xef\xbb\xbf \t\r\n\x0bA1\nw w\n\x0c\r\n\r\n\tA2\nw\n";
    let samples = b"\xef\xbb\xbf\r\nS1\nw\n\x0c\x0b\n S2\n";
    assert_eq!(result_for(articles, samples), "S1\n0:A1 A2 \nS2\n");
    // In other places the mark is part of the ID or word.
    let marked = "\u{feff}A1\nw\n\x0c\u{feff}A2\nw\n";
    assert_eq!(result_for(marked, "S\nw"), "S\n0:A1 \u{feff}A2 \n");
}

#[test]
fn white_space_between_form_feeds_is_no_document() {
    let articles = "\x0c\x0c \r\n\x0cA1\nw\n\x0c\t\x0b\r\n\x0cA2\nw\n\x0c\r\n";
    assert_eq!(result_for(articles, "\r\n\x0c\r\nS1\nw\n\x0c\r\n"), "S1\n0:A1 A2 \n");
}

#[test]
fn the_id_is_the_first_token_and_its_line_is_no_content() {
    // `w` is the most frequent word of the contents; with IDs and their lines it would be `id`.
    let articles = "id-1 id id id\r\nw\r\n\x0c\r\nid-2\r\nw w\r\n\x0c\r\nid-3 w\r\nother\r\n";
    assert_eq!(result_for(articles, "S w w\nw"), "S\n0:id-1 id-2 \n");
    // A carriage return alone ends no line.
    assert_eq!(result_for("A1\rw\nw w\x0cA2\rw\nv", "S\rv\nw"), "S\n0:A1 \n");
}

#[test]
fn a_document_with_only_an_id_has_a_fingerprint_of_zeros() {
    let articles = "A1\nw w\n\x0cA2\x0c A3\r\n\x0cA4\nunlisted";
    assert_eq!(result_for(articles, "S1\x0cS2\nw"), "S1\n0:A2 A3 A4 \nS2\n0:A1 \n");
}

#[test]
fn a_form_feed_separates_at_any_place() {
    let articles = "A1\nw w\x0cA2\nw\x0cA3 line\x0cA4\x0cA5\nw";
    assert_eq!(result_for(articles, "S1\nw\x0cS2"), "S1\n0:A1 A2 A5 \nS2\n0:A3 A4 \n");
}

#[test]
fn bytes_that_are_no_letters_separate_words() {
    for separator in [&b"\x80"[..], b"\xff", b"\xc3\xa9", b"\0", b"7", b"_", b"'", b"-", b"\x0b"] {
        let articles =
            [b"A1\nw", separator, b"w", separator, b"w\n\x0cA2\n", separator, b"W\n\x0cA3\nww"];
        assert_eq!(result_for(articles.concat(), "S\nw"), "S\n0:A1 A2 \n", "{separator:?}");
    }
}

#[test]
fn a_word_of_any_length_counts() {
    for length in [15, 16, 17, 31, 64, 5_000, 300_000] {
        let long = "Word".repeat(length)[..length].to_owned();
        let other = format!("{}x", &long[1..]);
        let articles = format!("A1\n{long} {long}\x0cA2\n{other} {long}\x0cA3\n{other}");
        let samples = format!("S1\n{}\x0cS2\n{long}s", long.to_uppercase());
        assert_eq!(result_for(articles, samples), "S1\n0:A1 A2 \nS2\n0:A3 \n", "{length}");
    }
}

#[test]
fn stop_words_are_compared_in_lower_case() {
    let folder = Folder::of("A1\nThe the tHe w\x0cA2\nthe\x0cA3\nof OF of", "S\nw")
        .with("stopwords.txt", "THE\r\n\tOf and\x0bUNUSED");
    assert_eq!(result(&folder, 1, 4), "S\n0:A1 \n");
}

#[test]
fn equal_ids_are_kept_each_in_its_place() {
    let articles = "A\nw\x0cB\nw\x0cA\nw\x0cA\nv";
    assert_eq!(result_for(articles, "S\nw\x0cS\nv"), "S\n0:A B A \nS\n0:A \n");
}

#[test]
fn all_words_are_features_where_n_is_larger_than_the_vocabulary() {
    // `v` comes before `w`: rows 1111 and 0000.
    let folder = Folder::of("A1\nw\x0cA2\nv\x0cA3\nv w", "S1\nv\x0cS2\nw");
    assert_eq!(result(&folder, 4, 4), "S1\n0:A2 \nS2\n0:A1 A3 \n");
    let no_words = Folder::of("A1\n1 2 3\x0cA2", "S");
    assert_eq!(result(&no_words, 4, 4), "S\n0:A1 A2 \n");
    assert_eq!(result(&Folder::of("", "S1\nw\x0cS2"), 4, 4), "S1\nS2\n");
}

#[test]
fn equal_counts_rank_in_byte_order_and_a_sum_of_zero_gives_zero() {
    // Features in order: b (twice), a, c: rows 1111, 0000, 1010.
    let folder = Folder::of("A1\nc a b\x0cA2\nb\x0cA3\nb a", "S1\nB\x0cS2\na\x0cS3\nc b a")
        .with("stopwords.txt", "none");
    let expected = "S1\n0:A2 \n2:A1 \nS2\n0:A3 \n2:A1 \nS3\n0:A1 \n2:A2 A3 \n";
    assert_eq!(result(&folder, 3, 4), expected);
}

#[test]
fn a_wrong_n_or_m_is_a_usage_error_that_says_what_the_table_offers() {
    let offer = "the hash table has 4 rows and 4 columns, so N must be a whole number from 1 to 4 \
                 and M from 1 to 4";
    let huge = "99999999999999999999999";
    for (n, m, named) in [
        ("0", "4", "N 0"),
        ("5", "4", "N 5"),
        ("-1", "4", "N -1"),
        ("four", "4", "N four"),
        ("2.5", "4", "N 2.5"),
        (huge, "4", "N 99999999999999999999999"),
        ("4", "0", "M 0"),
        ("4", "5", "M 5"),
        ("4", "129", "M 129"),
        ("4", "-16", "M -16"),
        ("4", "sixteen", "M sixteen"),
        ("4", "", "M"),
    ] {
        let folder = Folder::of("A\nw", "S\nw").with("result.txt", "old");
        let folder = folder.with("hashvalue.txt", "1111\r\n0000\r\n1010\r\n0101\r\n\r\n\n");
        let finished = folder.run(&[n, m]);
        assert_eq!(finished.code, 2, "{n} {m}: {finished:?}");
        assert_eq!(finished.err, format!("simtool: error: {named}: {offer}\n"));
        assert_eq!((finished.out.as_str(), folder.result().as_deref()), ("", Some("old")));
    }
    // The first row counts, up to 128 columns.
    let wide = Folder::of("A\nw", "S\nw").with("hashvalue.txt", "1".repeat(300));
    assert_eq!(result(&wide, 1, 128), "S\n0:A \n");
    assert!(wide.run(&["1", "129"]).err.contains("1 rows and 128 columns"));
    let built_in = Folder::empty().with("article.txt", "A\nw").with("sample.txt", "S\nw");
    let finished = built_in.run(&["10001", "128", "--quiet"]);
    assert_eq!(finished.code, 2);
    assert!(finished.err.contains("10000 rows and 128 columns"), "{}", finished.err);
    let empty = Folder::of("A\nw", "S\nw").with("hashvalue.txt", "\r\n\n");
    let finished = empty.run(&["1", "1"]);
    assert_eq!(finished.code, 2);
    assert!(finished.err.contains("0 rows"), "{}", finished.err);
}

#[test]
fn a_bad_row_of_the_table_is_named_with_line_and_column() {
    for (table, place) in [
        ("1111\r\n010\r\n1111\r\n", "line 2, column 4: the row ends after 3 characters"),
        ("1111\n\n1111\n", "line 2, column 1: the row ends after 0 characters"),
        ("1111\n0101\n10x1\n", "line 3, column 3: found 'x'"),
        ("11 1\n0101\n1001\n", "line 1, column 3: found ' '"),
        ("1111\n01\u{e9}1\n1001\n", "line 2, column 3: found '\\xc3'"),
        ("1111\n0101\n1\r01\n", "line 3, column 2: found '\\r'"),
    ] {
        let folder = Folder::of("A\nw", "S\nw").with("result.txt", "old");
        let folder = folder.with("hashvalue.txt", table);
        let finished = folder.run(&["3", "4"]);
        assert_eq!(finished.code, 1, "{table:?}: {finished:?}");
        let wanted =
            format!("hashvalue.txt, {place}; expected at least 4 characters, each 0 or 1\n");
        assert!(finished.err.starts_with("simtool: error: "), "{}", finished.err);
        assert!(finished.err.ends_with(&wanted), "{}", finished.err);
        assert_eq!((finished.out.as_str(), folder.result().as_deref()), ("", Some("old")));
    }
    // Rows and columns that are not used may hold anything.
    let folder = Folder::of("A\nw", "S\nw").with("hashvalue.txt", "1111\n101x\n01\nzz");
    assert_eq!(result(&folder, 2, 3), "S\n0:A \n");
}

#[test]
fn the_line_ends_of_the_table_make_no_difference() {
    let documents = ("A1\nw w v\x0cA2\nv\x0cA3\nu", "S1\nw v u\x0cS2\nv");
    let expected = result(&Folder::of(documents.0, documents.1), 4, 4);
    for table in [
        "1111\n0000\n1010\n0101\n",
        "1111\n0000\n1010\n0101",
        "1111\r\n0000\r\n1010\r\n0101",
        "1111\r\n0000\n1010\r\n0101\n\n\r\n",
    ] {
        let folder = Folder::of(documents.0, documents.1).with("hashvalue.txt", table);
        assert_eq!(result(&folder, 4, 4), expected, "{table:?}");
    }
}

#[test]
fn the_line_ends_of_documents_make_no_difference() {
    let (articles, samples) =
        ("A1\nw w\nv\n\x0c\nA2\nv\n\x0c\nA3\nu", "\nS1\nw\n\x0c\nS2\nv\n\x0c");
    let expected = result(&Folder::of(articles, samples), 4, 4);
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let folder = Folder::of(crlf(articles), crlf(samples)).with("stopwords.txt", "\r\n");
    assert_eq!(result(&folder, 4, 4), expected);
}

#[test]
fn every_number_of_bits_works() {
    let mut state = 9u32;
    let mut bit = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 31 == 0 { '0' } else { '1' }
    };
    let rows: Vec<String> = (0..9).map(|_| (0..128).map(|_| bit()).collect()).collect();
    let table = rows.join("\r\n");
    let articles =
        "A1\na b c d e\x0cA2\na b c d f\x0cA3\na a g h\x0cA4\nb c i i i\x0cA5\n\x0cA6\na";
    let samples = "S1\na b c d e f\x0cS2\ni\x0cS3\n";
    for bits in 1..=128 {
        let folder = Folder::of(articles, samples).with("hashvalue.txt", &table);
        let task = Task {
            articles: articles.as_bytes(),
            samples: samples.as_bytes(),
            stop_words: b"",
            hash_table: &table,
            features: 9,
            bits,
            max_distance: 3,
        };
        let (expected, first) = task.solve();
        let finished = folder.run(&["9", &bits.to_string()]);
        assert_eq!((finished.code, finished.out.as_bytes()), (0, &first[..]), "{bits}");
        assert_eq!(folder.result().unwrap().as_bytes(), expected, "{bits}");
    }
}

#[test]
fn samples_without_documents_give_an_empty_result() {
    for samples in ["", "\r\n", "\r\n\x0c\r\n", "\u{feff}"] {
        let folder = Folder::of("A\nw", samples).with("result.txt", "old");
        let finished = folder.run(&["1", "4"]);
        assert_eq!((finished.code, finished.out.as_str()), (0, ""), "{finished:?}");
        assert_eq!(folder.result().as_deref(), Some(""));
    }
}

#[test]
fn a_missing_or_unreadable_file_is_named_and_the_old_result_stays() {
    for name in ["article.txt", "sample.txt"] {
        let folder = Folder::of("A\nw", "S\nw").with("result.txt", "old");
        std::fs::remove_file(folder.path(name)).unwrap();
        let finished = folder.run(&["1", "4"]);
        assert_eq!((finished.code, finished.out.as_str()), (1, ""), "{finished:?}");
        let path = folder.path("").canonicalize().unwrap().join(name);
        let wanted = format!("simtool: error: cannot read {}: ", path.display());
        assert!(finished.err.starts_with(&wanted), "{}", finished.err);
        assert_eq!(folder.result().as_deref(), Some("old"));
    }
    // A folder is not accepted in place of any of the files.
    for name in ["article.txt", "sample.txt", "stopwords.txt", "hashvalue.txt"] {
        let folder = Folder::of("A\nw", "S\nw").with("result.txt", "old");
        std::fs::remove_file(folder.path(name)).unwrap();
        std::fs::create_dir(folder.path(name)).unwrap();
        let finished = folder.run(&["1", "4"]);
        assert_eq!((finished.code, finished.out.as_str()), (1, ""), "{finished:?}");
        assert!(finished.err.contains(name), "{}", finished.err);
        assert_eq!(folder.result().as_deref(), Some("old"));
    }
}

#[test]
fn built_in_stop_words_and_hash_table_take_the_place_of_missing_ones() {
    let folder = Folder::empty()
        .with("article.txt", "A1\nthe the apple\x0cA2\nthe pear")
        .with("sample.txt", "S\napple and the");
    let finished = folder.run(&["1", "128"]);
    assert_eq!((finished.code, finished.out.as_str()), (0, "S\n0:A1 \n"));
    let notes: Vec<&str> = finished.err.lines().collect();
    let [table, words] = notes[..] else { panic!("{notes:?}") };
    assert!(table.contains("hashvalue.txt; using the built-in hash table"), "{table}");
    assert!(words.contains("stopwords.txt; using the built-in English stop words"), "{words}");
    assert!(notes.iter().all(|note| note.starts_with("simtool: note: there is no ")));
    assert_eq!(folder.run(&["1", "128", "--quiet"]).err, "");
}

#[test]
fn a_file_that_an_option_names_must_be_there() {
    for option in ["--articles", "--samples", "--stop-words", "--hash-table"] {
        let folder = Folder::of("A\nw", "S\nw").with("result.txt", "old");
        let finished = folder.run(&["1", "4", option, "gone.txt"]);
        assert_eq!((finished.code, finished.out.as_str()), (1, ""), "{finished:?}");
        assert!(
            finished.err.starts_with("simtool: error: cannot read gone.txt: "),
            "{}",
            finished.err
        );
        assert_eq!(folder.result().as_deref(), Some("old"));
    }
}

#[test]
fn white_space_is_space_tab_cr_lf_and_vertical_tab() {
    for white in [" ", "\t", "\r", "\n", "\x0b"] {
        let articles = format!("{white}A{white}\nw");
        assert_eq!(result_for(articles, "S\nw"), "S\n0:A \n", "{white:?}");
    }
    // No-break space, NUL and the rest are part of an ID.
    for other in ["\u{a0}", "\0", "\u{85}", "\u{3000}"] {
        let articles = format!("{other}A{other}\nw");
        let expected = format!("S\n0:{other}A{other} \n");
        assert_eq!(result_for(articles, "S\nw"), expected, "{other:?}");
    }
}

#[test]
fn the_directory_holds_the_files_and_other_options_are_relative_to_the_current_folder() {
    let data = Folder::of("A\nw", "S\nw");
    let here = Folder::empty().with("mine.txt", "Mine\nw");
    let directory = data.path("");
    let directory = directory.to_str().unwrap();
    let finished = here.run(&["1", "4", "--directory", directory]);
    assert_eq!((finished.code, finished.out.as_str()), (0, "S\n0:A \n"), "{finished:?}");
    assert_eq!((data.result().as_deref(), here.result()), (Some("S\n0:A \n"), None));
    let arguments =
        ["1", "4", "--directory", directory, "--samples", "mine.txt", "--result", "result.txt"];
    let finished = here.run(&arguments);
    assert_eq!(finished.out, "Mine\n0:A \n");
    assert_eq!(here.result().as_deref(), Some("Mine\n0:A \n"));
    assert_eq!(data.result().as_deref(), Some("S\n0:A \n"));
}

#[test]
fn the_result_appears_whole_and_no_other_file_remains() {
    let folder = Folder::of("A\nw", "S1\nw\x0cS2\nv").with("result.txt", "an older, longer result");
    assert_eq!(result(&folder, 1, 4), "S1\n0:A \nS2\n");
    let mut names: Vec<_> = std::fs::read_dir(folder.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let all = ["article.txt", "hashvalue.txt", "result.txt", "sample.txt", "stopwords.txt"];
    assert_eq!(names, all);
}
