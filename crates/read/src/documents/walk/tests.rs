//! Tests of walks through folders, links and lists.

use super::*;
use std::io::Write;
use std::slice;

fn walk(paths: &[PathBuf], wanted: &FileFilter<'_>) -> (Vec<String>, Vec<String>) {
    let walked = walked(paths, InFolders { wanted, hidden: true, ..InFolders::default() });
    let mut found = Vec::new();
    for file in &walked.files {
        found.push(file.copy_name.to_str().unwrap().to_owned());
    }
    (found, walked.faults.iter().map(|fault| fault.code.to_owned()).collect())
}

fn walked(paths: &[PathBuf], in_folders: InFolders<'_>) -> Walked {
    let folder = tempfile::tempdir().unwrap();
    let mut walker = Walker::default();
    for path in paths {
        if path.as_os_str() == "-" {
            walker.add_input_stream(&mut &b"piped"[..], folder.path()).unwrap();
        } else {
            walker.add(path, in_folders);
        }
    }
    let walked = walker.finish();
    // The files are checked here, because the copy of standard input is deleted with the folder.
    assert!(walked.files.iter().all(|file| file.source.open().is_ok()));
    walked
}

/// Returns the copy names of the files, and the warnings about entries that were left out.
fn left_out(paths: &[PathBuf], in_folders: InFolders<'_>) -> (Vec<PathBuf>, Vec<String>) {
    let walked = walked(paths, in_folders);
    let notes = walked.left_out.iter().map(|f| format!("{} {}", f.code, f.detail)).collect();
    (walked.files.into_iter().map(|file| file.copy_name).collect(), notes)
}

fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["t/b", "t/a/z", "t/a/.hidden", "t/a.x", "t/a-b", "t/.git/c", "u/b"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    fs::write(folder.path().join("t/.gitignore"), "*\n").unwrap();
    folder
}

#[test]
fn hidden_files_are_left_out_of_folders_and_counted() {
    let folder = tree();
    let t = folder.path().join("t");
    let found = walked(slice::from_ref(&t), InFolders::default());
    assert_eq!((found.files.len(), found.hidden), (4, 3));
    let (found, notes) = left_out(slice::from_ref(&t), InFolders::default());
    assert_eq!(found, ["t/a-b", "t/a.x", "t/a/z", "t/b"].map(PathBuf::from));
    let first = format!("such as \"{}\"; `hidden` reads them", t.join(".git").display());
    assert_eq!(notes, [format!("hidden 3 hidden files and folders were left out, {first}")]);
    // A hidden file that the filter refuses causes no warning, and files that the user names are
    // read.
    let wanted: &FileFilter<'_> = &|below| !below.ends_with(".hidden");
    let in_a = InFolders { wanted, ..InFolders::default() };
    assert_eq!(left_out(&[t.join("a")], in_a).1, [""; 0]);
    let (found, notes) = left_out(&[t.join(".git"), t.join("a/.hidden")], InFolders::default());
    assert_eq!((found.len(), notes.len()), (2, 0));
}

#[test]
fn results_are_left_out_of_folders() {
    let folder = tree();
    let t = folder.path().join("t");
    let real = t.canonicalize().unwrap();
    let output = real.join("a");
    let in_t = InFolders { output: Some(&output), hidden: true, ..InFolders::default() };
    let (found, notes) = left_out(slice::from_ref(&t), in_t);
    assert_eq!(found.len(), 5, "{found:?}");
    let a = t.join("a");
    let expected =
        format!("results \"{}\" is where results of simtool are and was left out", a.display());
    assert_eq!(notes, slice::from_ref(&expected));
    // One folder was written by another run, and one was written by another program.
    fs::write(t.join("a/summary.json"), "{\n  \"program\": \"simtool 1.0\",\n").unwrap();
    let (found, notes) = left_out(slice::from_ref(&t), InFolders::default());
    assert_eq!((found.len(), notes.last()), (3, Some(&expected)));
    assert_eq!(left_out(&[t.join("a")], InFolders::default()).0.len(), 2);
    fs::write(t.join("a/summary.json"), "{\"program\": \"other\"}").unwrap();
    assert_eq!(left_out(&[t], InFolders::default()).0.len(), 5);
}

#[test]
fn files_with_results_are_left_out_of_folders_and_read_if_they_are_named() {
    let folder = tree();
    let t = folder.path().join("t");
    let is_result: &FileFilter<'_> = &|path| path.ends_with("a/z");
    let in_t = InFolders { is_result, ..InFolders::default() };
    let z = t.join("a/z");
    let (found, notes) = left_out(slice::from_ref(&t), in_t);
    let note = format!(
        "results \"{}\" has results of simtool and was left out; name it to read it",
        z.display()
    );
    assert_eq!((found.len(), notes.last()), (3, Some(&note)), "{found:?}");
    assert_eq!(left_out(&[z], in_t).0.len(), 1);
}

#[test]
fn folders_are_walked_in_byte_order_and_may_hide_nothing() {
    let folder = tree();
    let (found, faults) = walk(&[folder.path().join("t")], &|_| true);
    let expected = ["t/.git/c", "t/.gitignore", "t/a-b", "t/a.x", "t/a/.hidden", "t/a/z", "t/b"];
    assert_eq!((found, faults), (expected.map(str::to_owned).to_vec(), vec![]));
    let (found, _) = walk(&[folder.path().join("t")], &|below| below.starts_with("a"));
    assert_eq!(found, ["t/a/.hidden", "t/a/z"]);
}

#[test]
fn files_come_in_the_order_of_the_paths_and_once() {
    let folder = tree();
    let [t, u] = ["t", "u"].map(|name| folder.path().join(name));
    let paths =
        [u.join("b"), t.join("b"), "-".into(), u, t.join("a/../b"), "-".into(), t.join("a")];
    let (found, faults) = walk(&paths, &|_| true);
    assert_eq!(
        (found, faults),
        (
            vec!["b", "b", "stdin", "a/.hidden", "a/z"].into_iter().map(str::to_owned).collect(),
            vec![]
        )
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_to_files_and_where_they_are_named() {
    use std::os::unix::fs::symlink;
    let folder = tree();
    let at = |name: &str| folder.path().join(name);
    symlink(at("t"), at("to-t")).unwrap();
    symlink(at("t/b"), at("u/to-b")).unwrap();
    symlink("loop", at("loop")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    assert_eq!(walk(&[at("u")], &|_| true).0, ["u/b", "u/to-b"]);
    assert_eq!(walk(&[at("u"), at("t/b")], &|_| true).0, ["u/b", "u/to-b"]);
    symlink("..", at("u/up")).unwrap();
    symlink("loop", at("u/loop")).unwrap();
    let (found, notes) = left_out(&[at("u")], InFolders::default());
    assert_eq!(found, ["u/b", "u/to-b"].map(PathBuf::from));
    let expected = "is a link to a folder and was left out; name it to read it";
    assert_eq!(notes, [format!("link \"{}\" {expected}", at("u/up").display())]);
    let of_links = walked(&[at("u")], InFolders::default()).faults;
    assert_eq!((of_links[0].code, of_links[0].severity), ("input-loop", Severity::Warning));
    fs::remove_file(at("u/loop")).unwrap();
    assert_eq!(walk(&[at("u/to-b"), at("t/b")], &|_| true).0, ["to-b"]);
    assert_eq!(walk(&[at("to-t")], &|_| true).0.len(), 7);
    let (_, faults) = walk(&[at("loop"), at("dangling"), "/dev/null".into()], &|_| true);
    assert_eq!(faults, ["input-loop", "input-open", "input-type"]);
}

#[cfg(unix)]
#[test]
fn the_layout_of_a_cache_is_read_once_and_under_names_that_tell() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join("cache").join(name);
    for name in ["blobs", "snapshots/1/data", "snapshots/2"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    for blob in ["b1", "b2", "b3"] {
        fs::write(at("blobs").join(blob), "text\nx\n").unwrap();
    }
    symlink("../../../blobs/b1", at("snapshots/1/data/z.csv")).unwrap();
    symlink("../../blobs/b2", at("snapshots/1/LICENSE")).unwrap();
    symlink("../../blobs/b1", at("snapshots/2/a.csv")).unwrap();
    let cache = folder.path().join("cache");
    let (found, notes) = left_out(slice::from_ref(&cache), InFolders::default());
    let names = ["blobs/b2", "blobs/b3", "snapshots/1/data/z.csv"];
    assert_eq!(found, names.map(|name| Path::new("cache").join(name)));
    assert_eq!(notes, [""; 0]);
    assert_eq!(left_out(&[at("snapshots/2")], InFolders::default()).0, [Path::new("2/a.csv")]);
    // A link must not add a file of the output to the input.
    let output = cache.canonicalize().unwrap().join("blobs");
    let in_cache = InFolders { output: Some(&output), ..InFolders::default() };
    assert_eq!(left_out(&[cache], in_cache).0.len(), 0);
}

#[test]
fn lists_may_be_compressed_and_separated_by_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    let check = |bytes: &[u8], expected: &[&str]| {
        fs::File::create(&list).unwrap().write_all(bytes).unwrap();
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(listed_paths(&list, &mut io::empty()).unwrap(), expected);
        let piped = listed_paths(Path::new("-"), &mut &bytes[..]);
        assert_eq!(piped.unwrap(), expected);
    };
    check(b"a\r\nb c\n\nd", &["a", "b c", "d"]);
    check(b"a\nb\0c\0", &["a\nb", "c"]);
    {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"a\nb\n").unwrap();
        let packed = gzip.finish().unwrap();
        check(&packed, &["a", "b"]);
        fs::write(&list, &packed[..packed.len() - 4]).unwrap();
        assert!(listed_paths(&list, &mut io::empty()).is_err());
    }
}
