//! Inputs and results in stores: they are the same as files, whatever the network does.

mod server;

use crate::program::{Finished, Folder, run};
use server::{ACCESS_KEY, Faults, Server};
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// Secrets that no output may have.
const SECRETS: [&str; 3] = ["suite-secret", "hf_suite", "signature=secret"];

/// Runs the program with the credentials of a server, and checks that it shows none of them.
fn run_with(server: &Server, folder: &Path, arguments: &str) -> Finished {
    let endpoint = format!("http://127.0.0.1:{}", server.port);
    let arguments = arguments.replace("HOST", &endpoint);
    // Without this, Google's service for credentials would be asked.
    let google = format!(
        "{{\"gcs_base_url\":\"{endpoint}\",\"disable_oauth\":true,\"client_email\":\"\",\"private_key\":\"\",\
         \"private_key_id\":\"\"}}"
    );
    let variables = [
        ("GOOGLE_SERVICE_ACCOUNT_KEY", &*google),
        ("AWS_ENDPOINT_URL", &*endpoint),
        ("AWS_ACCESS_KEY_ID", ACCESS_KEY),
        ("AWS_SECRET_ACCESS_KEY", "suite-secret"),
        ("AWS_REGION", "us-east-1"),
        ("STORAGE_EMULATOR_HOST", &*endpoint),
        ("AZURE_STORAGE_USE_EMULATOR", "true"),
        ("AZURITE_BLOB_STORAGE_URL", &*endpoint),
        ("HF_ENDPOINT", &*endpoint),
        ("NO_PROXY", "127.0.0.1"),
        ("HF_TOKEN", "hf_suite"),
    ];
    let ended = run(folder, &arguments.split(' ').collect::<Vec<_>>(), &variables);
    for secret in SECRETS {
        assert!(!ended.err.contains(secret) && !ended.out.contains(secret), "{}", ended.err);
    }
    ended
}

/// Returns lines of JSON. Every two have the same words.
fn lines(count: usize, seed: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..count {
        let words: Vec<String> = (0..20)
            .map(|word| format!("w{}", (number / 2 * 31 + seed * 7 + word * word) % 9973))
            .collect();
        let text = &mut text;
        writeln!(text, "{{\"id\":\"{seed}-{number}\",\"text\":\"{}\"}}", words.join(" ")).unwrap();
    }
    text
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Returns the objects of the tests. The first one is so large that it has several blocks and shards.
fn objects() -> Vec<(&'static str, Vec<u8>)> {
    let summary = b"{\n  \"program\": \"simtool 0.2.0\",\n".to_vec();
    vec![
        ("bucket/data/a.jsonl", lines(150_000, 1)),
        ("bucket/data/b/one.jsonl.gz", gzip(&lines(2000, 2))),
        ("bucket/data/b/two & three.jsonl", lines(500, 3)),
        ("bucket/data/c.jsonl", lines(10, 1)),
        ("bucket/data/.hidden/x.jsonl", lines(5, 9)),
        ("bucket/data/.hidden/y.jsonl", lines(5, 9)),
        ("bucket/data/out/summary.json", summary),
        ("bucket/data/out/kept/a.jsonl", lines(10, 1)),
        ("bucket/other.jsonl", lines(3, 4)),
    ]
}

/// Writes objects to a folder, as if it were the store.
fn written(objects: &[(&str, Vec<u8>)]) -> Folder {
    let folder = Folder::empty();
    for (name, content) in objects {
        let path = folder.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// Returns an output of a run in which files have the names that they have in the store.
fn output(folder: &Folder, name: &str) -> String {
    let text = fs::read_to_string(folder.path(name)).unwrap();
    text.replace("s3://bucket/", "bucket/")
}

#[test]
fn a_bucket_gives_the_same_results_as_a_folder_in_spite_of_faults() {
    let objects = objects();
    let folder = written(&objects);
    let ended = folder.run_words("dedup bucket/data --output local --threads 3");
    assert_eq!(ended.code, 0, "{}", ended.err);
    let total: usize =
        objects.iter().filter(|(name, _)| name.contains("/data/")).map(|(_, c)| c.len()).sum();
    for (failing, threads) in [(0, 3), (25, 1), (25, 4)] {
        let faults = Faults { failing, slow: 20, ..Faults::default() };
        let server = Server::start(&objects, faults);
        let arguments =
            format!("dedup s3://bucket/data --output out{failing}{threads} --threads {threads}");
        let ended = run_with(&server, &folder.path(""), &arguments);
        assert_eq!(ended.code, 0, "{}", ended.err);
        let out = format!("out{failing}{threads}");
        for name in ["removed.jsonl", "clusters.jsonl"] {
            assert!(
                output(&folder, &format!("{out}/{name}"))
                    == output(&folder, &format!("local/{name}")),
                "{name}"
            );
        }
        assert!(ended.err.contains("4 objects with "), "{}", ended.err);
        assert!(
            ended.err.contains("2 hidden")
                || ended.err.contains("\"s3://bucket/data/.hidden\" is hidden"),
            "{}",
            ended.err
        );
        assert!(
            ended.err.contains("\"s3://bucket/data/out\" is where results of simtool are"),
            "{}",
            ended.err
        );
        assert_eq!(ended.err.contains("succeeded when repeated"), failing > 0, "{}", ended.err);
        // The objects are read more than once, and fetched once. A few bytes are fetched to find the shards.
        if failing == 0 {
            assert!(server.sent() < total as u64 * 11 / 10, "{} of {total}", server.sent());
        }
        let request = fs::read_to_string(folder.path(&format!("{out}/request.json"))).unwrap();
        assert!(
            SECRETS.iter().all(|secret| !request.contains(secret))
                && request.contains("s3://bucket/data")
        );
    }
}

#[test]
fn documents_are_found_again_by_their_addresses() {
    let objects = objects();
    let folder = written(&objects);
    let server = Server::start(&objects, Faults::default());
    let place = folder.path("");
    let ended = run_with(
        &server,
        &place,
        "dedup s3://bucket/data/c.jsonl s3://bucket/other.jsonl --output out",
    );
    assert_eq!(ended.code, 0, "{}", ended.err);
    let removed = fs::read_to_string(folder.path("out/removed.jsonl")).unwrap();
    assert!(removed.contains("s3://bucket/data/c.jsonl"), "{removed}");
    let ended = run_with(&server, &place, "why out 1-1");
    assert!(
        ended.code == 0 && ended.out.contains("s3://bucket/data/c.jsonl"),
        "{}{}",
        ended.out,
        ended.err
    );
    let ended = run_with(
        &server,
        &place,
        "compare s3://bucket/data/c.jsonl:0 s3://bucket/data/c.jsonl#1-1",
    );
    assert_eq!(ended.code, 0, "{}", ended.err);
    let ended = run_with(&server, &place, "index create index");
    assert_eq!(ended.code, 0, "{}", ended.err);
    for added in [10, 0] {
        let ended = run_with(&server, &place, "index add index s3://bucket/data/c.jsonl");
        assert_eq!(ended.code, 0, "{}", ended.err);
        let _ = added;
    }
}

#[test]
fn results_in_a_bucket_are_those_on_the_disk_and_their_summary_comes_last() {
    let objects = objects();
    let folder = written(&objects);
    let options = "--write-kept --annotate --threads 3";
    let ended = folder.run_words(&format!("dedup bucket/data --output local {options}"));
    assert_eq!(ended.code, 0, "{}", ended.err);
    for failing in [0, 25] {
        let server = Server::start(&objects, Faults { failing, slow: 10, ..Faults::default() });
        let run = |arguments: &str| {
            let ended = run_with(&server, &folder.path(""), arguments);
            assert_eq!(ended.code, 0, "{}", ended.err);
            ended
        };
        let ended = run(&format!("dedup s3://bucket/data --output s3://bucket/clean/1 {options}"));
        assert!(ended.out.contains("s3://bucket/clean/1"), "{}", ended.out);
        let found = server.objects();
        let below = |name: &str| found.get(&format!("bucket/clean/1/{name}"));
        // The copy of the large object is sent in several parts.
        for name in ["removed.jsonl", "documents.jsonl", "clusters.jsonl", "kept/data/a.jsonl"] {
            let remote = String::from_utf8(below(name).unwrap().clone()).unwrap();
            let local = output(&folder, &format!("local/{name}"));
            assert!(remote.replace("s3://bucket/", "bucket/") == local, "{name}");
        }
        assert!(below("unfinished.json").is_none() && below("request.json").is_some());
        let changes = server.changes();
        let last: Vec<&str> = changes.iter().rev().take(2).map(String::as_str).collect();
        assert_eq!(last, ["-bucket/clean/1/unfinished.json", "bucket/clean/1/summary.json"]);
        assert_eq!(changes[0], "bucket/clean/1/unfinished.json");
        // If the answer with the name of an upload is lost, nobody can end it.
        assert!(server.unfinished_uploads() == 0 || failing > 0);

        // A later run reads neither the results nor what is left of an unfinished run.
        server.remove("bucket/clean/1/summary.json");
        let ended = run_with(&server, &folder.path(""), "dedup s3://bucket/clean --output none");
        assert!(ended.code != 0 || ended.err.contains("no document was read"), "{}", ended.out);
    }
}

#[test]
fn results_in_a_bucket_replace_only_those_of_simtool() {
    let objects = [
        ("bucket/a.jsonl", lines(20, 1)),
        ("public/a.jsonl", lines(20, 1)),
        ("bucket/mine/removed.jsonl", b"{}".to_vec()),
        ("bucket/text.jsonl", lines(2, 5)),
    ];
    let server = Server::start(&objects, Faults::default());
    let folder = Folder::empty();
    let run = |arguments: &str| run_with(&server, &folder.path(""), arguments);
    let fails = |arguments: &str, error: &str| {
        let ended = run(arguments);
        assert!(ended.code != 0 && ended.err.contains(error), "{arguments}: {}", ended.err);
    };
    let succeeds = |arguments: &str| {
        let ended = run(arguments);
        assert_eq!(ended.code, 0, "{arguments}: {}", ended.err);
    };
    let first = "dedup s3://bucket/a.jsonl --output s3://bucket/out";
    succeeds(&format!("{first}/ --write-kept"));
    fails(first, "is not empty: name another folder");
    fails(
        "dedup s3://bucket/a.jsonl --output s3://bucket/mine --force",
        "was not written by simtool",
    );
    succeeds(&format!("{first} --force"));
    let names = |server: &Server| -> Vec<String> {
        let names = server.objects().into_keys();
        names.filter_map(|name| Some(name.strip_prefix("bucket/out/")?.to_owned())).collect()
    };
    assert!(!names(&server).iter().any(|name| name.starts_with("kept/")), "{:?}", names(&server));
    // The old summary goes before the first object is replaced.
    let changes = server.changes();
    let at = |name: &str| changes.iter().rposition(|change| change == name).unwrap();
    assert!(at("-bucket/out/summary.json") < at("bucket/out/removed.jsonl"));

    fails("dedup s3://bucket --output s3://bucket --force", "overlaps the input");
    fails("dedup s3://bucket/a.jsonl --output https://host/out", "is no address of a bucket");
    fails(
        "dedup s3://bucket/a.jsonl --output hf://datasets/owner/name",
        "is no address of a bucket",
    );
    fails(&format!("{first}/2 --resume"), "must then be on this machine");
    fails(&format!("{first}/2 --anonymous"), "the server answered 403");
    fails("text s3://bucket/a.jsonl --output s3://bucket/a.jsonl --force", "is the input");
    fails("text s3://bucket/a.jsonl --output s3://bucket/text.jsonl", "is there already");
    succeeds("text s3://bucket/a.jsonl --output s3://bucket/text.jsonl --force");
    assert!(server.objects()["bucket/text.jsonl"].starts_with(b"{\"id\":\"1-0\""));
    succeeds("fingerprint s3://bucket/a.jsonl --output s3://bucket/prints.npy");
    assert!(server.objects()["bucket/prints.npy"].starts_with(b"\x93NUMPY"));
    succeeds("passages s3://bucket/a.jsonl --output s3://bucket/cut --write-kept --words 5");
    assert!(server.objects().contains_key("bucket/cut/summary.json"));
    succeeds("dedup s3://bucket/a.jsonl --output s3://bucket/out/2 --dry-run");
    // The other stores have other requests.
    succeeds("text s3://bucket/a.jsonl --output az://public/texts.jsonl");
    succeeds("dedup gs://public/a.jsonl --output gs://public/out --write-kept");
    let objects = server.objects();
    assert_eq!(objects["public/texts.jsonl"], objects["bucket/text.jsonl"]);
    assert!(
        objects.contains_key("public/out/summary.json")
            && objects.contains_key("public/out/kept/a.jsonl")
    );
}

#[test]
fn patterns_lists_and_other_stores_name_the_same_objects() {
    let content = lines(20, 1);
    let objects = [
        ("public/hub/train/a.jsonl", content.clone()),
        ("public/hub/train/b.jsonl", lines(10, 2)),
        ("public/hub/train/c.jsonl", lines(10, 3)),
        ("public/hub/train/d.jsonl", lines(10, 4)),
        ("public/hub/test/a.jsonl", content),
        ("public/list.gz", gzip(b"public/hub/train/a.jsonl\npublic/hub/train/b.jsonl\n")),
    ];
    let server = Server::start(&objects, Faults::default());
    let folder = Folder::empty();
    for (number, (arguments, documents)) in [
        ("s3://public/hub/train", 50),
        ("s3://public/hub/*/a.jsonl", 40),
        ("s3://public/hub/train/[bc].jsonl --anonymous", 20),
        ("s3://public --glob a.jsonl", 40),
        ("gs://public/hub/train/ --anonymous", 50),
        ("az://public/hub/train", 50),
        ("hf://datasets/owner/name", 70),
        ("hf://datasets/owner/name@main/train/*.jsonl", 50),
        ("hf://datasets/owner/name/test/a.jsonl", 20),
        ("HOST/public/hub/train/a.jsonl?signature=secret", 20),
        ("--files-from HOST/public/list.gz", 30),
        ("--files-from s3://public/hub/none", 0),
    ]
    .into_iter()
    .enumerate()
    {
        let ended =
            run_with(&server, &folder.path(""), &format!("dedup {arguments} --output {number}"));
        if documents == 0 {
            assert!(
                ended.code != 0 && ended.err.contains("there is no such object"),
                "{}",
                ended.err
            );
            continue;
        }
        assert_eq!(ended.code, 0, "{arguments}: {}", ended.err);
        let counts = format!("documents{documents:>18}\n");
        assert!(ended.out.contains(&counts), "{arguments}: {}", ended.out);
        for name in ["request.json", "summary.json", "report.html", "removed.jsonl"] {
            let written = fs::read_to_string(folder.path(&format!("{number}/{name}"))).unwrap();
            assert!(SECRETS.iter().all(|secret| !written.contains(secret)), "{arguments}: {name}");
        }
    }
}

#[test]
fn an_object_that_changes_ends_the_run_by_name() {
    let objects = [("bucket/a.jsonl", lines(200_000, 1))];
    let faults = Faults { replaced_after: 3, ..Faults::default() };
    let server = Server::start(&objects, faults);
    let folder = Folder::empty();
    let ended = run_with(&server, &folder.path(""), "dedup s3://bucket/a.jsonl --output out");
    assert!(ended.code != 0 && !folder.path("out").exists(), "{}", ended.err);
    assert!(ended.err.contains("s3://bucket/a.jsonl"), "{}", ended.err);
    assert!(ended.err.contains("the object was replaced after it was found"), "{}", ended.err);
}

#[test]
fn a_stalled_request_is_repeated() {
    let objects = [("bucket/a.jsonl", lines(100, 1))];
    let server = Server::start(&objects, Faults { stalled: 2, ..Faults::default() });
    let folder = Folder::empty();
    let ended = run_with(&server, &folder.path(""), "dedup s3://bucket/a.jsonl --output out");
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.err.contains("1 request to stores failed or stalled"), "{}", ended.err);
}

#[test]
fn a_bucket_in_another_region_is_found() {
    let objects = [("bucket/data/a.jsonl", lines(20, 1))];
    let server = Server::start(&objects, Faults { region: "eu-west-1", ..Faults::default() });
    let folder = Folder::empty();
    let ended =
        run_with(&server, &folder.path(""), "dedup s3://bucket/data --output s3://bucket/out");
    assert_eq!(ended.code, 0, "{}", ended.err);
}

#[test]
fn errors_say_what_to_do() {
    let objects = [("bucket/a.jsonl", lines(10, 1))];
    let server = Server::start(&objects, Faults::default());
    let folder = Folder::empty();
    for (path, error) in [
        ("s3://bucket/none.jsonl", "there is no such object or folder"),
        ("s3://bucket/a.jsonl --anonymous", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ("s3://bucket/a.jsonl --anonymous", "the server answered 403"),
        ("HOST/none.jsonl", "the server answered 403 AccessDenied"),
        ("HOST/public/none.jsonl", "there is no such object"),
        ("hf://models/owner/name", "only hf://datasets/OWNER/NAME"),
        ("ftp://host/a.jsonl", "files are read, and addresses with s3://"),
        (
            "http://127.0.0.1:1/a.jsonl?signature=secret",
            "127.0.0.1 refused the connection (5 attempts)",
        ),
    ] {
        let ended = run_with(&server, &folder.path(""), &format!("dedup {path} --output out"));
        assert!(ended.code != 0 && ended.err.contains(error), "{path}: {}", ended.err);
        assert!(!folder.path("out").exists());
    }
    assert!(server.requests() > 4);
}

#[test]
fn a_full_spool_costs_requests_and_not_results() {
    let objects = [("bucket/a.jsonl", lines(150_000, 1))];
    let folder = written(&objects);
    let ended = folder.run_words("dedup bucket/a.jsonl --output local");
    assert_eq!(ended.code, 0, "{}", ended.err);
    let server = Server::start(&objects, Faults::default());
    let ended = run_with(
        &server,
        &folder.path(""),
        "dedup s3://bucket/a.jsonl --output out --spool-size 100K",
    );
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.err.contains("which has space for 100.0 kB"), "{}", ended.err);
    assert!(output(&folder, "out/removed.jsonl") == output(&folder, "local/removed.jsonl"));
}
