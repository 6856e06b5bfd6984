//! The program writes the same bytes with any number of threads and any instruction set.

use crate::program::{self, Folder};

#[test]
fn neither_threads_nor_instruction_sets_nor_maps_change_a_byte() {
    let folder = Folder::empty();
    let generated = "generate --bytes 3M --samples 90 --seed 5 --with-tables --output .";
    assert_eq!(folder.run(&generated.split(' ').collect::<Vec<_>>()).code, 0);
    for bits in ["7", "64"] {
        let run = |isa: &str, threads: &str, more: &[&str]| {
            let arguments = [&["500", bits, "--threads", threads], more].concat();
            let finished = program::run(&folder.path(""), &arguments, &[("SIMTOOL_ISA", isa)]);
            assert_eq!((finished.code, finished.err.as_str()), (0, ""));
            (finished.out, folder.result().unwrap())
        };
        let expected = run("portable", "1", &[]);
        let (first, all) = &expected;
        assert!(all.starts_with(first.as_str()) && all.lines().count() > 90);
        for isa in ["portable", "avx2", "avx512", "unheard-of"] {
            for threads in ["1", "2", "3", "7", "16"] {
                assert!(
                    run(isa, threads, &[]) == expected,
                    "{isa}, {threads} threads, {bits} bits"
                );
            }
        }
        assert!(run("avx512", "0", &["--no-mmap"]) == expected, "{bits} bits");
    }
}
