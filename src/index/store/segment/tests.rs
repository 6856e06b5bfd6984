use super::*;
use crate::index::store::id_list::BLOCK;
use simtool_base::error::Result;
use simtool_base::mapped_file::FileAccess;
use std::fs::File;
use std::path::Path;

/// Writes a segment of `rows` fingerprints of one word each, and opens it. `push` adds the IDs.
fn written(
    folder: &Path,
    name: &str,
    rows: usize,
    push: impl FnOnce(&mut SegmentWriter<'_>) -> Result<()>,
) -> Segment {
    let path = folder.join(name);
    let mut file = File::create(&path).unwrap();
    let (numbers, words): (Vec<u32>, Vec<u64>) = (vec![0; rows], vec![7; rows]);
    let rows = SegmentRows::new(0, &numbers, 1, &words);
    let mut writer = SegmentWriter::new(&mut file, &path, &rows).unwrap();
    push(&mut writer).unwrap();
    writer.end_ids().unwrap();
    let seal = writer.finish(&SegmentRest::default(), "").unwrap();
    Segment::open(&path, FileAccess::READ, Some(seal)).unwrap()
}

#[test]
fn ids_of_segments_are_as_if_pushed_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let id =
        |row: usize| format!("page-{:x}", simtool_base::stable_hash::mix(row as u64) >> (row % 60));
    let rows = 5 * BLOCK + 3;
    let old = written(folder.path(), "old", rows, |writer| {
        (0..rows).try_for_each(|row| writer.push_id(id(row).as_bytes()))
    });
    for gone in
        [vec![], vec![0], vec![2 * BLOCK], vec![3, rows - 1], vec![rows - 1], (0..rows).collect()]
    {
        let stays: Vec<bool> = (0..rows).map(|row| !gone.contains(&row)).collect();
        // The IDs are copied twice, so that the second copy begins within a block.
        let expected: Vec<usize> =
            (0..2 * rows).map(|at| at % rows).filter(|&row| stays[row]).collect();
        let copied = written(folder.path(), "copied", expected.len(), |writer| {
            writer.push_ids_of(&old, &stays)?;
            writer.push_ids_of(&old, &stays)
        });
        let pushed = written(folder.path(), "pushed", expected.len(), |writer| {
            expected.iter().try_for_each(|&row| writer.push_id(id(row).as_bytes()))
        });
        assert!(std::fs::read(copied.path()).unwrap() == std::fs::read(pushed.path()).unwrap());
        let mut found = Vec::new();
        let visit = &mut |_, id: &[u8]| {
            found.push(String::from_utf8(id.to_vec()).unwrap());
            Ok(())
        };
        copied.visit_ids(visit).unwrap();
        assert_eq!(found, expected.into_iter().map(id).collect::<Vec<_>>());
    }
}
