//! Every kernel gives the result of its portable twin on every instruction set, at any alignment.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::stages::fingerprint_table::{Fingerprint, Reach, Wide};
use simtool::stages::kernels::Isa;
use simtool::stages::kernels::binary_digits::{MOST_DIGITS, binary_digits};
use simtool::stages::kernels::bit_majority::BitCounts;
use simtool::stages::kernels::hamming_scan::scan;
use simtool::stages::kernels::near_tags::{TagQuery, near_tags};
use simtool::stages::kernels::word_keys::{WordSpans, word_keys};
use simtool::stages::kernels::word_positions::word_positions;

fuzz_target!(|input: &[u8]| {
    let Some((&[first, second], bytes)) = input.split_first_chunk::<2>() else { return };
    // The start moves through a cache line, whatever the allocator gives.
    let mut padded = vec![b'a'; usize::from(first % 64)];
    padded.extend_from_slice(bytes);
    let bytes = &padded[usize::from(first % 64)..];

    same("words", |isa| {
        let (mut starts, mut ends) = (vec![7; 3], vec![9]);
        word_positions(isa, bytes, &mut starts, &mut ends);
        let (mut keys, mut hashes) = (vec![[1; 2]; 5], Vec::new());
        let spans = WordSpans { text: bytes, starts: &starts, ends: &ends };
        word_keys(isa, spans, &mut keys, &mut hashes);
        (starts, ends, keys, hashes)
    });
    same("digits", |isa| {
        let row = &bytes[..bytes.len().min(MOST_DIGITS)];
        // The bytes are tried unchanged, and changed mostly to digits.
        let digits: Vec<u8> =
            row.iter().map(|byte| if *byte < 250 { b'0' | byte & 1 } else { *byte }).collect();
        (binary_digits(isa, row), binary_digits(isa, &digits))
    });

    let lanes: Vec<u64> = bytes
        .windows(8)
        .map(|window| window.iter().fold(0, |lane, &byte| lane << 8 | u64::from(byte)))
        .collect();
    same("majority", |isa| {
        let mut counts = BitCounts::default();
        let (some, others) = lanes.split_at(lanes.len().min(usize::from(second)));
        counts.add(isa, some);
        counts.add(isa, others);
        counts.add(isa, some);
        (counts.take_majority(), counts)
    });
    let distance = u32::from(second % 72);
    compare(&lanes, distance);
    let mut tags = bytes.as_chunks::<2>().0.to_vec();
    if let Some(query) = tags.get(tags.len() / 2).map(|&tag| u16::from_le_bytes(tag)) {
        tags.sort_by_key(|&tag| u16::from_le_bytes(tag).count_ones());
        let expected = usize::from(second) % tags.len()..tags.len();
        same("near tags", |isa| {
            let mut places = Vec::new();
            let query = TagQuery { tag: query, most: distance, expected: expected.clone() };
            near_tags(&tags, query, isa, &mut places);
            places
        });
    }
    compare(&lanes.windows(2).map(Wide::<2>::from_words).collect::<Vec<_>>(), 2 * distance);
    compare(&lanes.windows(4).map(Wide::<4>::from_words).collect::<Vec<_>>(), 4 * distance);
    compare(&lanes.windows(8).map(Wide::<8>::from_words).collect::<Vec<_>>(), 8 * distance);
});

/// Compares the hits among the lanes, with one of them as the query.
fn compare<L: Fingerprint>(lanes: &[L], distance: u32) {
    let Some(&query) = lanes.get(lanes.len() / 2) else { return };
    same("hits", |isa| {
        let mut hits = Vec::new();
        scan(lanes, query, Reach::bits(L::BITS, distance), isa, &mut hits);
        hits
    });
}

/// Checks that all instruction sets give the answer of the portable one.
fn same<T: PartialEq>(what: &str, answer: impl Fn(Isa) -> T) {
    let expected = answer(Isa::PORTABLE);
    for &isa in Isa::available() {
        assert!(answer(isa) == expected, "{what}: {isa} differs from its portable twin");
    }
}
