//! The programs in `examples/` compile and run: each has its own test.

#[cfg(feature = "parquet")]
#[path = "../../examples/folder_of_files.rs"]
mod folder_of_files;
#[path = "../../examples/index_that_grows.rs"]
mod index_that_grows;
#[path = "../../examples/own_method.rs"]
mod own_method;
#[path = "../../examples/texts_in_memory.rs"]
mod texts_in_memory;

#[test]
fn every_example_is_tested() {
    let source = include_str!("examples.rs");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(source.contains(&format!("examples/{name}")), "examples/{name} has no test here");
    }
}
