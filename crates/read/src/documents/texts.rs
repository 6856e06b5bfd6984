//! Texts in memory as a corpus: slices of strings or byte vectors, and columns of Arrow. Nothing is
//! copied.

use crate::documents::Corpus;
use crate::formats::{Event, Price, Visit};
use simtool_base::error::{Error, Result};
use simtool_model::document::{Content, Document, MOST_FIELDS, Record};
use simtool_model::document_id::DocumentId;
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// Number of bytes of text in a shard. It is large enough that the cost of each shard does not matter, and small enough
/// that all threads finish at about the same time.
const SHARD_BYTES: usize = 1 << 20;
/// Number of bytes that each text counts in addition to its length when texts are divided into shards. This limits the
/// number of empty texts in a shard.
const TEXT_COST: usize = 16;

/// A [`Corpus`] that borrows texts in memory. Each text is a document.
///
/// The number of a document is the index of its text. All documents count as one file without a
/// name, so a document without an ID is identified by its number.
///
/// # Example
///
/// ```
/// use simtool_model::document::Content;
/// use simtool_model::document_id::DocumentId;
/// use simtool_read::{Corpus, Event, Texts};
/// use std::ops::ControlFlow;
///
/// let texts = Texts::of(&["a rose is a rose", "die Rose"]).with_ids(&["en", "de"])?;
/// let mut lengths = Vec::new();
/// for shard in 0..texts.shard_count() {
///     texts.read_shard(shard, &mut |event| {
///         if let Event::Record(record) = event
///             && let Content::Document(document) = record.content
///         {
///             lengths.push(document.text.len());
///             if document.id == Some(DocumentId::Text(b"en")) {
///                 // Nothing after it is visited.
///                 return Ok(ControlFlow::Break(()));
///             }
///         }
///         Ok(ControlFlow::Continue(()))
///     })?;
/// }
/// assert_eq!(lengths, [16]);
/// # Ok::<(), simtool_base::error::Error>(())
/// ```
pub struct Texts<'t> {
    column: Box<dyn TextColumn + 't>,
    ids: Option<Box<dyn TextColumn + 't>>,
    /// Columns with the values of fields other than the text and the ID. Index 0 is the field of the option
    /// `keep_field`.
    fields: [Option<Box<dyn TextColumn + 't>>; MOST_FIELDS],
    shards: Vec<TextRange>,
}

/// Range of texts that make up one shard.
#[derive(Clone, Debug)]
struct TextRange {
    rows: Range<usize>,
    bytes: u64,
}

/// Offsets at which the texts of an Arrow column begin and end. There is one offset for the start
/// of each text, and one for the end of the last text. An empty column may have no offsets.
#[derive(Clone, Copy, Debug)]
pub enum ArrowOffsets<'a> {
    /// Offsets of a column of Arrow's type `Utf8` or `Binary`.
    Bits32(&'a [i32]),
    /// Offsets of a column of Arrow's type `LargeUtf8` or `LargeBinary`.
    Bits64(&'a [i64]),
}

impl<'a> From<&'a [i32]> for ArrowOffsets<'a> {
    fn from(offsets: &'a [i32]) -> Self {
        Self::Bits32(offsets)
    }
}

impl<'a> From<&'a [i64]> for ArrowOffsets<'a> {
    fn from(offsets: &'a [i64]) -> Self {
        Self::Bits64(offsets)
    }
}

impl<'t> Texts<'t> {
    /// Creates a corpus of the texts in a slice, for example of `String`, `&str` or `Vec<u8>`.
    #[must_use]
    pub fn of<T: AsRef<[u8]> + Sync>(texts: &'t [T]) -> Self {
        Self::of_column(Box::new(TextSlice(texts)))
    }

    /// Creates a corpus of the texts of an Arrow column, given as Arrow's buffers. `values` holds the bytes of all
    /// texts, and `offsets` has the position of each text in `values`.
    ///
    /// `validity` is Arrow's bitmap of the rows that are not null, and the index in this bitmap of the bit of the first
    /// row. Bits are counted from the lowest bit of each byte, and a 0 bit means null. If `validity` is `None`, no row
    /// is null. A null row is read as an empty document, so that the other rows keep their numbers.
    ///
    /// # Errors
    ///
    /// The offsets do not ascend, an offset lies beyond the end of `values`, or the bitmap has too
    /// few bits.
    ///
    /// # Example
    ///
    /// ```
    /// use simtool_read::{Corpus, Texts};
    ///
    /// // "a rose", null, "is a rose"
    /// let (values, offsets) = (b"a roseis a rose", [0_i32, 6, 6, 15]);
    /// let texts = Texts::arrow(values, offsets[..].into(), Some((&[0b101], 0)))?;
    /// assert_eq!(texts.len(), 3);
    /// assert_eq!(texts.bytes(), 15);
    /// # Ok::<(), simtool_base::error::Error>(())
    /// ```
    pub fn arrow(
        values: &'t [u8],
        offsets: ArrowOffsets<'t>,
        validity: Option<(&'t [u8], usize)>,
    ) -> Result<Self> {
        arrow_column(values, offsets, validity).map(Self::of_column)
    }

    /// Sets the IDs of the documents. An empty ID means that the document has no ID.
    ///
    /// # Errors
    ///
    /// The number of IDs differs from the number of texts.
    pub fn with_ids<T: AsRef<[u8]> + Sync>(self, ids: &'t [T]) -> Result<Self> {
        self.with_id_column(Box::new(TextSlice(ids)))
    }

    /// Sets the values for the option `keep_field`, one for each document. These values decide which of several similar
    /// documents is kept. A value is a text or a decimal number, written as in a file. An empty value counts as
    /// missing.
    ///
    /// ```
    /// use simtool_read::Texts;
    ///
    /// let texts = Texts::of(&["a b c", "A b c", "a, b, c"]).with_fields(&["9", "10", ""])?;
    /// assert_eq!(texts.len(), 3);
    /// assert!(Texts::of(&["a b c"]).with_fields(&["9", "10"]).is_err());
    /// # Ok::<(), simtool_base::error::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The number of values differs from the number of texts.
    pub fn with_fields<T: AsRef<[u8]> + Sync>(self, fields: &'t [T]) -> Result<Self> {
        self.with_field(0, fields)
    }

    /// Sets the values of one field, one value for each document. `number` is the index of the field in
    /// [`Document::fields`]. An empty value counts as missing.
    ///
    /// # Errors
    ///
    /// The number of values differs from the number of texts.
    ///
    /// # Panics
    ///
    /// `number` is not below [`MOST_FIELDS`].
    pub fn with_field<T: AsRef<[u8]> + Sync>(
        mut self,
        number: usize,
        values: &'t [T],
    ) -> Result<Self> {
        let values: Box<dyn TextColumn + 't> = Box::new(TextSlice(values));
        self.check_length("keep_field", &*values)?;
        self.fields[number] = Some(values);
        Ok(self)
    }

    /// Returns the number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.column.rows()
    }

    /// Returns whether there are no texts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn of_column(column: Box<dyn TextColumn + 't>) -> Self {
        let mut shards = Vec::new();
        let (mut first, mut bytes) = (0, 0);
        for row in 0..column.rows() {
            bytes += column.value(row).map_or(0, <[u8]>::len);
            let next = row + 1;
            // Empty texts take time, too, so a shard of them must end at some time.
            if bytes + (next - first) * TEXT_COST >= SHARD_BYTES || next == column.rows() {
                shards.push(TextRange { rows: first..next, bytes: bytes as u64 });
                (first, bytes) = (next, 0);
            }
        }
        Self { column, ids: None, fields: [const { None }; MOST_FIELDS], shards }
    }

    fn with_id_column(self, ids: Box<dyn TextColumn + 't>) -> Result<Self> {
        self.check_length("ids", &*ids)?;
        Ok(Self { ids: Some(ids), ..self })
    }

    /// Returns an error if the number of rows of `column` differs from the number of texts. `name`
    /// is the setting that the error message names.
    fn check_length(&self, name: &'static str, column: &dyn TextColumn) -> Result<()> {
        if column.rows() != self.len() {
            let rule = format!("must be as many as the texts, of which there are {}", self.len());
            return Err(Error::config(name, column.rows(), rule));
        }
        Ok(())
    }
}

impl fmt::Debug for Texts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Texts")
            .field("len", &self.len())
            .field("has_ids", &self.ids.is_some())
            .finish_non_exhaustive()
    }
}

impl Corpus for Texts<'_> {
    fn file_count(&self) -> usize {
        1
    }

    fn file_name(&self, _: usize) -> &Path {
        Path::new("")
    }

    fn shard_count(&self) -> usize {
        self.shards.len()
    }

    fn shard_file(&self, _: usize) -> usize {
        0
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        self.shards[shard].bytes
    }

    fn price(&self, _: usize) -> Price {
        Price::Cheap
    }

    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64> {
        let rows = self.shards[shard].rows.clone();
        let count = rows.len() as u64;
        for (number, row) in (0..).zip(rows) {
            let fields = self.fields.each_ref().map(|column| value_of(column.as_deref(), row));
            let document = Document {
                id: value_of(self.ids.as_deref(), row).map(DocumentId::Text),
                fields,
                ..Document::new(self.column.value(row).unwrap_or_default())
            };
            let content = Content::Document(document);
            let record = Record { number, byte: 0, bytes: &[], known_hash: None, content };
            if visit(Event::Record(record))?.is_break() {
                return Ok(number + 1);
            }
        }
        Ok(count)
    }
}

/// A column of texts, IDs or fields. Each value is a string of bytes, or null.
trait TextColumn: Send + Sync {
    fn rows(&self) -> usize;

    /// Returns the value in row `row`, or `None` if it is null.
    fn value(&self, row: usize) -> Option<&[u8]>;
}

/// Returns the value in row `row` of a column of IDs or fields. Returns `None` if there is no such
/// column, or if the value is null or empty.
fn value_of<'c>(column: Option<&'c (dyn TextColumn + 'c)>, row: usize) -> Option<&'c [u8]> {
    // An empty ID or field counts as missing, as it does in files.
    column?.value(row).filter(|value| !value.is_empty())
}

struct TextSlice<'t, T>(&'t [T]);

impl<T: AsRef<[u8]> + Sync> TextColumn for TextSlice<'_, T> {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn value(&self, row: usize) -> Option<&[u8]> {
        Some(self.0[row].as_ref())
    }
}

/// A column of texts, IDs or fields in the Arrow format. [`arrow_column`] checks the offsets before
/// it creates this value.
struct Arrow<'t, O> {
    values: &'t [u8],
    /// Offset in `values` of the start of each row, and of the end of the last row. An empty column
    /// may have no offsets.
    offsets: &'t [O],
    validity: Option<(&'t [u8], usize)>,
}

impl<O: Copy + TryInto<usize> + Send + Sync> TextColumn for Arrow<'_, O> {
    fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn value(&self, row: usize) -> Option<&[u8]> {
        let is_null = |(bits, first): (&[u8], usize)| {
            let bit = first + row;
            // Arrow numbers the bits of a byte from the lowest on.
            bits[bit / 8] >> (bit % 8) & 1 == 0
        };
        if self.validity.is_some_and(is_null) {
            return None;
        }
        self.values.get(self.offsets[row].try_into().ok()?..self.offsets[row + 1].try_into().ok()?)
    }
}

fn arrow_column<'t>(
    values: &'t [u8],
    offsets: ArrowOffsets<'t>,
    validity: Option<(&'t [u8], usize)>,
) -> Result<Box<dyn TextColumn + 't>> {
    let rows = match offsets {
        ArrowOffsets::Bits32(offsets) => checked_rows(values, offsets)?,
        ArrowOffsets::Bits64(offsets) => checked_rows(values, offsets)?,
    };
    if let Some((bits, first)) = validity
        && first.checked_add(rows).is_none_or(|end| end.div_ceil(8) > bits.len())
    {
        let rule =
            format!("is too short: it must have {rows} bits for the rows, from bit {first} on");
        return Err(Error::config("validity", format!("of {} bytes", bits.len()), rule));
    }
    Ok(match offsets {
        ArrowOffsets::Bits32(offsets) => Box::new(Arrow { values, offsets, validity }),
        ArrowOffsets::Bits64(offsets) => Box::new(Arrow { values, offsets, validity }),
    })
}

/// Checks that the offsets ascend and lie within `values`, and returns the number of rows.
fn checked_rows<O: Copy + Into<i64>>(values: &[u8], offsets: &[O]) -> Result<usize> {
    // The offsets come from the caller. They are checked once here, so that later accesses need no
    // check.
    let mut before = 0;
    for (at, &offset) in offsets.iter().enumerate() {
        let offset = offset.into();
        if offset < before {
            let rule = format!("must be at least {before}, because offsets ascend from 0");
            return Err(Error::config("offsets", format!("{offset} at {at}"), rule));
        }
        before = offset;
    }
    if before > i64::try_from(values.len()).unwrap_or(i64::MAX) {
        let rule = format!("is beyond the end of the values, which have {} bytes", values.len());
        return Err(Error::config("offsets", before, rule));
    }
    Ok(offsets.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    /// Returns ID and text of every document, and the number of documents of each shard.
    fn read(texts: &Texts<'_>) -> (Vec<(Option<String>, String)>, Vec<u64>) {
        let mut documents = Vec::new();
        let shards = 0..texts.shard_count();
        let counts = shards.map(|shard| {
            let first = documents.len() as u64;
            let visit = &mut |event: Event<'_>| {
                let Event::Record(record) = event else { panic!("{event:?}") };
                assert_eq!(record.number, documents.len() as u64 - first);
                let Content::Document(document) = record.content else { panic!("{record:?}") };
                let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                documents.push((document.id.map(|id| text(id.bytes())), text(document.text)));
                Ok(ControlFlow::Continue(()))
            };
            texts.read_shard(shard, visit).unwrap()
        });
        let counts = counts.collect();
        (documents, counts)
    }

    #[test]
    fn everything_that_is_bytes_is_a_text() {
        let strs = ["a", "", "Straße"];
        let strings: Vec<String> = strs.iter().map(|&text| text.to_owned()).collect();
        let bytes: Vec<Vec<u8>> = strs.iter().map(|text| text.as_bytes().to_vec()).collect();
        let expected = strs.map(|text| (None, text.to_owned())).to_vec();
        for texts in [Texts::of(&strs), Texts::of(&strings), Texts::of(&bytes)] {
            assert_eq!(read(&texts), (expected.clone(), vec![3]));
            assert_eq!((texts.bytes(), texts.file_name(0)), (8, Path::new("")));
        }
        let nothing = Texts::of::<&str>(&[]);
        assert!(nothing.is_empty());
        assert_eq!(read(&nothing), (vec![], vec![]));
    }

    #[test]
    fn long_texts_and_many_are_cut_into_shards() {
        let long = vec!["x".repeat(SHARD_BYTES / 2); 5];
        assert_eq!(read(&Texts::of(&long)).1, [2, 2, 1]);
        let empty = vec![""; 2 * SHARD_BYTES / TEXT_COST + 1];
        let texts = Texts::of(&empty);
        let (documents, counts) = read(&texts);
        assert_eq!(documents.len(), empty.len());
        assert_eq!(counts, [65_536, 65_536, 1]);
        let mut visited = 0;
        let enough = texts.read_shard(1, &mut |_| {
            visited += 1;
            Ok(if visited < 7 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        });
        assert_eq!((enough.unwrap(), visited), (7, 7));
    }

    #[test]
    fn columns_of_arrow_are_read_where_they_are() {
        // The column is a slice of a larger column. Its first text begins after two bytes, and the
        // bit of that text is bit 3.
        let values = b"..a rosethornssix";
        let bits = [0b1110_1000, 0b0000_0000];
        let narrow = [2_i32, 8, 14, 14, 17];
        let wide = narrow.map(i64::from);
        let text = |text: &str| (None, text.to_owned());
        for (validity, second) in [(None, "thorns"), (Some((&bits[..], 3)), "")] {
            let expected = vec![text("a rose"), text(second), text(""), text("six")];
            for offsets in [narrow[..].into(), wide[..].into()] {
                let texts = Texts::arrow(values, offsets, validity).unwrap();
                assert_eq!(read(&texts), (expected.clone(), vec![4]));
            }
        }
        for nothing in [&[][..], &[5]] {
            assert!(Texts::arrow(values, ArrowOffsets::Bits32(nothing), None).unwrap().is_empty());
        }
    }

    #[test]
    fn what_is_no_column_is_refused() {
        let refused = |offsets: &[i64], validity| {
            let texts = Texts::arrow(b"abc", offsets.into(), validity);
            texts.unwrap_err().to_string()
        };
        for (offsets, message) in [
            (&[0, 2, 1][..], "offsets 1 at 2: must be at least 2, because offsets ascend from 0"),
            (&[-1, 2], "offsets -1 at 0: must be at least 0, because offsets ascend from 0"),
            (&[0, 4], "offsets 4: is beyond the end of the values, which have 3 bytes"),
            (&[0, i64::MAX], "beyond the end of the values"),
        ] {
            let error = refused(offsets, None);
            assert!(error.contains(message), "{error}");
        }
        for first in [6, usize::MAX] {
            let error = refused(&[0, 1, 2, 3], Some((&[0xFF], first)));
            assert!(error.contains("must have 3 bits for the rows"), "{error}");
        }
    }

    #[test]
    fn ids_are_as_many_as_texts_and_may_be_missing() {
        let expected = vec![(Some("a".to_owned()), "x".to_owned()), (None, "y".to_owned())];
        let texts = ["x", "y"];
        let of_slice = Texts::of(&texts).with_ids(&["a", ""]).unwrap();
        assert_eq!(read(&of_slice).0, expected);
        let error = Texts::of(&texts).with_ids(&["a"]).unwrap_err().to_string();
        assert_eq!(error, "ids 1: must be as many as the texts, of which there are 2");
    }

    #[test]
    fn values_that_decide_are_as_many_as_texts_and_may_be_missing() {
        let texts = Texts::of(&["x", "y"]).with_fields(&["7", ""]).unwrap();
        let mut fields = Vec::new();
        let visit = &mut |event: Event<'_>| {
            let Event::Record(record) = event else { panic!("{event:?}") };
            let Content::Document(document) = record.content else { panic!("{record:?}") };
            fields.push(document.fields[0].map(<[u8]>::to_vec));
            Ok(ControlFlow::Continue(()))
        };
        texts.read_shard(0, visit).unwrap();
        assert_eq!(fields, [Some(b"7".to_vec()), None]);
        let error = Texts::of(&["x", "y"]).with_fields(&["7"]).unwrap_err().to_string();
        assert_eq!(error, "keep_field 1: must be as many as the texts, of which there are 2");
    }
}
