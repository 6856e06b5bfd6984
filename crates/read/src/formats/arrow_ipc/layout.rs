//! Finds the positions of the messages of an Arrow file or stream.
//!
//! The footer of a file lists its record batches. A stream has no footer, so its messages are visited one after the
//! other: their metadata is read and their bodies are skipped. A file without an intact footer is read like a stream,
//! since the bytes before the footer are a stream. So the intact part of a truncated file is still read.
//!
//! Every size that a file declares is compared with the length of the file before memory is
//! allocated for it.

use crate::formats::arrow_ipc::framing::{CONTINUATION, LONGEST_METADATA, MAGIC};
use crate::source::OpenSource;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{
    Block, CompressionType, Message, MessageHeader, MetadataVersion, RecordBatch, root_as_footer,
    root_as_message,
};
use arrow_schema::SchemaRef;
use simtool_base::error::caught;
use simtool_base::fault::quoted;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Byte offset of the first message of an Arrow file. The magic bytes and padding come before it.
const FIRST_MESSAGE: u64 = 8;
/// Number of bytes after the footer of an Arrow file: 4 bytes with the length of the footer, and 6 magic bytes.
const TAIL_BYTES: u64 = 10;
/// Largest allowed length of a decompressed buffer, in bytes. Offsets of 32 bits cannot reach beyond it. A longer
/// buffer is treated as damage.
const LONGEST_BUFFER: i64 = i32::MAX as i64;
/// Largest number of rows that a batch or an array in it may declare. More rows are treated as
/// damage.
const MOST_ROWS: i64 = 1 << 40;

/// Schema of an Arrow file or stream, and the positions of its record batches.
pub(super) struct ArrowLayout {
    pub(super) schema: SchemaRef,
    version: MetadataVersion,
    /// Whether the input has the file format; `false` for the stream format.
    pub(super) is_file: bool,
    pub(super) batches: Vec<BatchPlace>,
    /// Custom metadata in the footer, as pairs of a name and a value.
    pub(super) metadata: Vec<(String, String)>,
    /// Description of the damage after the last record batch that can be read. `None` if everything is intact.
    pub(super) damage: Option<String>,
    /// Length of the file, in bytes.
    length: u64,
}

/// Position of a record batch and of the dictionaries that it needs.
pub(super) struct BatchPlace {
    block: Block,
    /// Positions of the dictionaries that the columns of the batch refer to.
    pub(super) dictionaries: Arc<Vec<Block>>,
}

impl BatchPlace {
    /// Returns the number of bytes of the batch in the file.
    pub(super) fn bytes(&self) -> u64 {
        block_bytes(&self.block)
    }
}

/// Positions of the dictionaries that were found in a stream so far. The key is the ID of a dictionary. The first block
/// in its list is the latest complete version of the dictionary. The other blocks have values that the stream appends
/// to that version.
type Dictionaries = BTreeMap<i64, Vec<Block>>;

impl ArrowLayout {
    /// Finds the record batches of `file`. In a stream, the search ends after `most` batches.
    ///
    /// # Errors
    ///
    /// The reason why no row can be read.
    pub(super) fn load(file: &dyn OpenSource, most: usize) -> Result<Self, String> {
        let length = file.state().map_err(|error| error.to_string())?.bytes;
        let mut start = [0; MAGIC.len()];
        read_at(file, 0, &mut start)?;
        if start != MAGIC {
            return Self::walk(file, length, 0, most);
        }
        // The flatbuffers library checks the footer, but may panic on damaged bytes.
        let reason = match caught(|| Self::from_footer(file, length)).flatten() {
            Ok(layout) => return Ok(layout),
            Err(reason) => reason,
        };
        // The messages before a damaged footer may be intact, and then their rows can be read.
        let walked = Self::walk(file, length, FIRST_MESSAGE, usize::MAX);
        let Ok(mut layout) = walked else { return Err(reason) };
        layout.is_file = true;
        layout.damage = Some(reason);
        Ok(layout)
    }

    /// Reads schema, batches and dictionaries from the footer of a file of `length` bytes.
    fn from_footer(file: &dyn OpenSource, length: u64) -> Result<Self, String> {
        let missing = "the file does not end with a footer";
        let tail_at = length.checked_sub(TAIL_BYTES).ok_or(missing)?;
        let mut tail = [0; TAIL_BYTES as usize];
        read_at(file, tail_at, &mut tail)?;
        let [a, b, c, d, magic @ ..] = tail;
        if magic != MAGIC {
            return Err(missing.to_owned());
        }
        let footer_bytes = u32::from_le_bytes([a, b, c, d]);
        let footer_at = tail_at.checked_sub(u64::from(footer_bytes));
        let Some(footer_at) = footer_at.filter(|_| footer_bytes <= LONGEST_METADATA) else {
            return Err(format!("the footer cannot be {footer_bytes} bytes long"));
        };
        let mut bytes = vec![0; footer_bytes as usize];
        read_at(file, footer_at, &mut bytes)?;
        let footer = root_as_footer(&bytes).map_err(|error| format!("bad footer: {error}"))?;
        let schema = schema_of(footer.schema())?;
        let dictionaries: Vec<Block> = footer.dictionaries().iter().flatten().copied().collect();
        let dictionaries = Arc::new(dictionaries);
        let blocks = footer.recordBatches().ok_or("the footer lists no record batches")?;
        let batch = |&block| BatchPlace { block, dictionaries: Arc::clone(&dictionaries) };
        let batches: Vec<BatchPlace> = blocks.iter().map(batch).collect();
        let all = batches.iter().map(|batch| &batch.block).chain(dictionaries.iter());
        // A position outside of the file shows that the footer is damaged. The caller then reads
        // the messages one by one from the start.
        if !all.into_iter().all(|block| is_inside(block, length)) {
            return Err("the footer lists a message outside of the file".to_owned());
        }
        let pair = |pair: arrow_ipc::KeyValue<'_>| Some((pair.key()?.into(), pair.value()?.into()));
        let pairs = footer.custom_metadata();
        let metadata = pairs.iter().flatten().filter_map(pair).collect();
        let version = footer.version();
        Ok(Self { schema, version, is_file: true, batches, metadata, damage: None, length })
    }

    /// Finds the record batches and dictionaries of a stream by reading its messages one after the
    /// other. The stream begins at byte `start` of a file of `length` bytes. Stops after `most`
    /// record batches.
    fn walk(file: &dyn OpenSource, length: u64, start: u64, most: usize) -> Result<Self, String> {
        let first = MessageBytes::read(file, start, length)?;
        let first = first.ok_or("there is no schema")?;
        let message = first.message()?;
        let schema = schema_of(message.header_as_schema())?;
        let version = message.version();
        let mut layout = Self {
            schema,
            version,
            is_file: false,
            batches: Vec::new(),
            metadata: Vec::new(),
            damage: None,
            length,
        };
        let mut at = first.end();
        let mut dictionaries = Dictionaries::new();
        // All batches up to the next change of a dictionary share one list.
        let mut current = Arc::new(Vec::new());
        while layout.batches.len() < most {
            let added = MessageBytes::read(file, at, length).and_then(|bytes| {
                let Some(bytes) = bytes else { return Ok(None) };
                layout.add(&bytes, &mut dictionaries, &mut current)?;
                Ok(Some(bytes.end()))
            });
            match added {
                Ok(Some(end)) => at = end,
                Ok(None) => break,
                Err(reason) => {
                    layout.damage = Some(reason);
                    break;
                }
            }
        }
        Ok(layout)
    }

    /// Adds a message of a stream to the layout. If the message is a record batch, it is added to
    /// `self.batches` with `current`, the list of the present dictionaries. If it is a dictionary,
    /// it is added to `dictionaries`, and `current` becomes a new list for the record batches that
    /// follow.
    fn add(
        &mut self,
        bytes: &MessageBytes,
        dictionaries: &mut Dictionaries,
        current: &mut Arc<Vec<Block>>,
    ) -> Result<(), String> {
        let message = bytes.message()?;
        match message.header_type() {
            MessageHeader::RecordBatch => {
                let dictionaries = Arc::clone(current);
                self.batches.push(BatchPlace { block: bytes.block, dictionaries });
                Ok(())
            }
            MessageHeader::DictionaryBatch => {
                let batch =
                    message.header_as_dictionary_batch().ok_or("a message has no dictionary")?;
                let blocks = dictionaries.entry(batch.id()).or_default();
                // A delta appends values to the dictionary with its number. Any other batch
                // replaces that dictionary for the record batches that follow.
                if !batch.isDelta() {
                    blocks.clear();
                }
                blocks.push(bytes.block);
                *current = Arc::new(dictionaries.values().flatten().copied().collect());
                Ok(())
            }
            other => {
                let name = other.variant_name().unwrap_or("unknown");
                Err(format!("byte {} holds a message of kind {name}", bytes.block.offset()))
            }
        }
    }

    /// Returns the number of rows that the record batch with index `group` declares. Returns 0 if the metadata of this
    /// batch cannot be read.
    pub(super) fn rows(&self, file: &dyn OpenSource, group: usize) -> u64 {
        let Some(batch) = self.batches.get(group) else { return 0 };
        let at = u64::try_from(batch.block.offset()).unwrap_or(u64::MAX);
        let bytes = MessageBytes::read(file, at, self.length).ok().flatten();
        let rows =
            bytes.and_then(|bytes| Some(bytes.message().ok()?.header_as_record_batch()?.length()));
        rows.filter(|rows| (0..=MOST_ROWS).contains(rows)).map_or(0, i64::cast_unsigned)
    }

    /// Returns a decoder that has read the dictionaries of the record batch with index `group`. `projection` has the
    /// indexes of the columns to decode. `None` means all columns.
    ///
    /// # Errors
    ///
    /// A dictionary cannot be decoded.
    pub(super) fn decoder(
        &self,
        file: &dyn OpenSource,
        group: usize,
        projection: Option<&[usize]>,
    ) -> Result<FileDecoder, String> {
        let mut decoder = FileDecoder::new(Arc::clone(&self.schema), self.version);
        if let Some(projection) = projection {
            decoder = decoder.with_projection(projection.to_vec());
        }
        for block in self.batches[group].dictionaries.iter() {
            let bytes = read_block(file, block, self.length)?;
            check(&bytes, block)?;
            caught(|| decoder.read_dictionary(block, &bytes))?
                .map_err(|error| format!("bad dictionary: {error}"))?;
        }
        Ok(decoder)
    }

    /// Decodes the record batch with index `group`. `decoder` must have read the dictionaries of this batch.
    ///
    /// # Errors
    ///
    /// The batch is damaged.
    pub(super) fn decode(
        &self,
        file: &dyn OpenSource,
        group: usize,
        decoder: &FileDecoder,
    ) -> Result<arrow_array::RecordBatch, String> {
        let block = &self.batches[group].block;
        let bytes = read_block(file, block, self.length)?;
        check(&bytes, block)?;
        let batch = caught(|| decoder.read_record_batch(block, &bytes))?;
        batch
            .map_err(|error| error.to_string())?
            .ok_or_else(|| "the message has no rows".to_owned())
    }

    /// Returns the compression of the first record batch, or `None` if that batch is not
    /// compressed.
    pub(super) fn compression(&self, file: &dyn OpenSource) -> Option<CompressionType> {
        let at = u64::try_from(self.batches.first()?.block.offset()).ok()?;
        let bytes = MessageBytes::read(file, at, self.length).ok()??;
        let batch = bytes.message().ok()?.header_as_record_batch()?;
        batch.compression().map(|compression| compression.codec())
    }
}

/// Converts a schema from the form in the file to the type of the Arrow library. Returns an error if the file stores
/// numbers in another byte order than this processor.
fn schema_of(schema: Option<arrow_ipc::Schema<'_>>) -> Result<SchemaRef, String> {
    let schema = schema.ok_or("there is no schema")?;
    // The library does not convert byte orders, and numbers in the wrong order would pass as other
    // values.
    if !schema.endianness().equals_to_target_endianness() {
        return Err("its numbers have the byte order of another processor".to_owned());
    }
    let schema = caught(|| try_fb_to_schema(schema))?;
    schema.map(Arc::new).map_err(|error| format!("bad schema: {error}"))
}

/// Bytes of the metadata of a message, and the position of the message in the file.
struct MessageBytes {
    bytes: Vec<u8>,
    block: Block,
}

impl MessageBytes {
    /// Reads the metadata of the message at byte `at` of a file of `length` bytes. Returns `None`
    /// if no more messages follow.
    fn read(file: &dyn OpenSource, at: u64, length: u64) -> Result<Option<Self>, String> {
        if at >= length {
            return Ok(None);
        }
        let mut prefix = [0; 4];
        read_at(file, at, &mut prefix)?;
        let mut prefix_bytes = 4;
        // Messages before Arrow 0.15 begin with the length of their metadata. Later ones have four
        // bytes 0xFF before that length.
        if prefix == CONTINUATION {
            read_at(file, at + 4, &mut prefix)?;
            prefix_bytes = 8;
        }
        let metadata_bytes = u32::from_le_bytes(prefix);
        // A length of 0 marks the end of a stream. Such a mark may also be missing.
        if metadata_bytes == 0 {
            return Ok(None);
        }
        let body_at = at + prefix_bytes + u64::from(metadata_bytes);
        if metadata_bytes > LONGEST_METADATA || body_at > length {
            return Err(format!("the message at byte {at} does not end within the file"));
        }
        let mut bytes = vec![0; metadata_bytes as usize];
        read_at(file, at + prefix_bytes, &mut bytes)?;
        let body_bytes = message(&bytes)?.bodyLength();
        // The casts lose nothing, since neither number is larger than a file.
        let block = Block::new(at.cast_signed(), (body_at - at) as i32, body_bytes);
        if !is_inside(&block, length) {
            return Err(format!("the message at byte {at} does not end within the file"));
        }
        Ok(Some(Self { bytes, block }))
    }

    fn message(&self) -> Result<Message<'_>, String> {
        message(&self.bytes)
    }

    /// Returns the byte offset of the next message.
    fn end(&self) -> u64 {
        // The block is inside of the file.
        self.block.offset().cast_unsigned() + block_bytes(&self.block)
    }
}

fn message(bytes: &[u8]) -> Result<Message<'_>, String> {
    caught(|| root_as_message(bytes))?
        .map_err(|error| format!("bad message: {}", quoted(error.to_string().as_bytes())))
}

/// Returns whether a block lies inside a file of `length` bytes. A block is a message and its body.
fn is_inside(block: &Block, length: u64) -> bool {
    let parts = [
        u64::try_from(block.offset()),
        u64::try_from(block.metaDataLength()),
        u64::try_from(block.bodyLength()),
    ];
    let end = parts.into_iter().try_fold(0_u64, |sum, part| sum.checked_add(part.ok()?));
    // `metaDataLength` includes the prefix of the message. The prefix has 8 bytes or, in old
    // streams, 4 bytes, which at least 4 bytes of metadata follow.
    end.is_some_and(|end| end <= length) && block.metaDataLength() >= 8
}

/// Returns the number of bytes of a message and its body. The block must lie inside its file.
fn block_bytes(block: &Block) -> u64 {
    let metadata = u64::try_from(block.metaDataLength()).unwrap_or_default();
    metadata.saturating_add(u64::try_from(block.bodyLength()).unwrap_or_default())
}

fn read_at(file: &dyn OpenSource, at: u64, space: &mut [u8]) -> Result<(), String> {
    file.read_exact_at(at, space).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => format!("the file ends after byte {at}"),
        _ => error.to_string(),
    })
}

/// Reads the bytes of a message with its body. `length` is the length of the file.
fn read_block(file: &dyn OpenSource, block: &Block, length: u64) -> Result<Buffer, String> {
    if !is_inside(block, length) {
        return Err("the batch lies outside of the file".to_owned());
    }
    let bytes = usize::try_from(block_bytes(block)).map_err(|error| error.to_string())?;
    let space = MutableBuffer::try_from_len_zeroed(bytes);
    let mut space = space.map_err(|_| format!("no memory for the {bytes} bytes of a batch"))?;
    read_at(file, block.offset().cast_unsigned(), &mut space)?;
    Ok(space.into())
}

/// Checks the sizes that the record batch or dictionary in `bytes` declares. The decoder would allocate memory of these
/// sizes before it notices that a size is wrong.
fn check(bytes: &Buffer, block: &Block) -> Result<(), String> {
    let (metadata, body) = bytes.split_at(block.metaDataLength().cast_unsigned() as usize);
    let prefix_bytes = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
    let message = message(metadata.get(prefix_bytes..).unwrap_or_default())?;
    let dictionary = message.header_as_dictionary_batch();
    let batch = message.header_as_record_batch().or_else(|| dictionary?.data());
    let batch = batch.ok_or("the message has neither a record batch nor a dictionary")?;
    check_batch(&batch, body)
}

fn check_batch(batch: &RecordBatch<'_>, body: &[u8]) -> Result<(), String> {
    let rows = 0..=MOST_ROWS;
    let has_good_nodes = batch
        .nodes()
        .iter()
        .flatten()
        .all(|node| rows.contains(&node.length()) && rows.contains(&node.null_count()));
    if !rows.contains(&batch.length()) || !has_good_nodes {
        return Err("the batch declares a negative or too large number of rows".to_owned());
    }
    for buffer in batch.buffers().iter().flatten() {
        let start = usize::try_from(buffer.offset()).ok();
        let length = usize::try_from(buffer.length()).ok();
        let range = start.zip(length).and_then(|(start, length)| body.get(start..)?.get(..length));
        let Some(content) = range else {
            return Err("a buffer lies outside of its message".to_owned());
        };
        if batch.compression().is_none() {
            continue;
        }
        // A compressed buffer begins with the length of its unpacked bytes, and −1 means that it is
        // not compressed. The decoder allocates this length, so a crafted file could take any
        // amount of memory.
        if let Some(&unpacked) = content.first_chunk::<8>()
            && i64::from_le_bytes(unpacked) > LONGEST_BUFFER
        {
            let unpacked = i64::from_le_bytes(unpacked);
            return Err(format!("a buffer declares {unpacked} bytes, more than {LONGEST_BUFFER}"));
        }
    }
    Ok(())
}
