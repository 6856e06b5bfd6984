use super::*;
use simtool_base::mapped_file::FileAccess;
use simtool_compute::lent_array::LentArray;

fn name(_: Kind) -> &'static str {
    "a section"
}

const NUMBERS: Kind = Kind(1);
const TEXT: Kind = Kind(2);
const NOTHING: Kind = Kind(3);

fn written(file: &mut tempfile::NamedTempFile) -> Seal {
    let path = file.path().to_owned();
    let mut writer = SealedWriter::new(file.as_file_mut(), &path).unwrap();
    let numbers: Vec<u64> = (0..5000).collect();
    writer.begin::<u64>(NUMBERS).unwrap();
    writer.write(&numbers[..3]).unwrap();
    writer.write(&numbers[3..]).unwrap();
    writer.section::<u32>(NOTHING, &[]).unwrap();
    writer.section(TEXT, b"a rose").unwrap();
    writer.finish().unwrap()
}

#[test]
fn sections_come_back() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let seal = written(&mut file);
    assert_eq!(seal.bytes, file.path().metadata().unwrap().len());
    let sealed = SealedFile::open(file.path(), FileAccess::READ, Some(seal), name).unwrap();
    let numbers = sealed.array::<u64>(NUMBERS);
    assert_eq!((numbers.len(), numbers.at(4999), numbers.at(2)), (5000, Some(4999), Some(2)));
    assert_eq!(sealed.array::<u8>(TEXT).all().unwrap(), b"a rose");
    assert!(sealed.array::<u32>(NOTHING).all().unwrap().is_empty());
    assert!(sealed.array::<u32>(Kind(9)).all().unwrap().is_empty());
    sealed.verify().unwrap();
    // A range that ends outside of the section reads as empty, and counts as damage.
    assert!(numbers.get(4999..5001).is_empty());
    assert!(sealed.check().is_err());
}

#[test]
fn a_byte_that_changed_is_never_lent() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let seal = written(&mut file);
    let bytes = std::fs::read(file.path()).unwrap();
    let broken = tempfile::NamedTempFile::new().unwrap();
    for byte in (0..HEADER + 64).step_by(7).chain((HEADER..bytes.len()).step_by(1001)) {
        let mut changed = bytes.clone();
        changed[byte] ^= 0x10;
        std::fs::write(broken.path(), &changed).unwrap();
        let opened = SealedFile::open(broken.path(), FileAccess::READ, Some(seal), name);
        let read = opened.and_then(|sealed| {
            assert!(sealed.verify().is_err(), "byte {byte}");
            let numbers = sealed.array::<u64>(NUMBERS).get(0..5000).to_vec();
            sealed.check().map(|()| numbers)
        });
        let error = read.unwrap_err().to_string();
        assert!(error.contains("byte") && error.contains("expected"), "{byte}: {error}");
    }
}

#[test]
fn a_file_cut_short_or_another_is_refused() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let seal = written(&mut file);
    let bytes = std::fs::read(file.path()).unwrap();
    let broken = tempfile::NamedTempFile::new().unwrap();
    for end in (0..bytes.len()).step_by(509) {
        std::fs::write(broken.path(), &bytes[..end]).unwrap();
        assert!(SealedFile::open(broken.path(), FileAccess::READ, None, name).is_err(), "{end}");
    }
    let other = Some(Seal { checksum: seal.checksum ^ 1, ..seal });
    let error = SealedFile::open(file.path(), FileAccess::READ, other, name).unwrap_err();
    assert!(error.to_string().contains("that the manifest has of this segment"), "{error}");
    let mut newer = bytes;
    newer[8] = 2;
    std::fs::write(broken.path(), &newer).unwrap();
    let error = SealedFile::open(broken.path(), FileAccess::READ, None, name).unwrap_err();
    assert!(error.to_string().contains("version 3"), "{error}");
}
