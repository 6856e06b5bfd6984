//! Recognizes the compression, format and delimiter of files.

use crate::collection::Collection;
use crate::decompress;
use crate::foreign_file::ForeignKind;
use crate::format::Reader;
use crate::opened::{Opened, Recognized};
use crate::sniff::{self, SNIFFED_BYTES};
use crate::stream::{Filled, Stream, Then};
use simtool_base::fault::{Fault, Severity};
use simtool_model::compression::Compression;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

impl Collection {
    /// Returns the compression, format and delimiter of file number `file`. If the file was not
    /// recognized before, reads its first bytes.
    ///
    /// # Errors
    ///
    /// The file cannot be read or recognized.
    pub fn recognize(&self, file: usize) -> Result<Recognized, Fault> {
        let opened = &self.files[file];
        if let Some(&recognized) = opened.recognized.get() {
            return Ok(recognized);
        }
        let mut head = Vec::new();
        let result = File::open(opened.input.path())
            .and_then(|file| file.take(SNIFFED_BYTES as u64).read_to_end(&mut head));
        match result {
            Ok(_) => self.recognize_head(opened, &head),
            Err(error) => Err(opened.unreadable("input-open", &error)),
        }
    }

    /// Recognizes compression, format and delimiter from `head`, the first bytes of the file.
    pub(super) fn recognize_head(&self, opened: &Opened, head: &[u8]) -> Result<Recognized, Fault> {
        let compression = sniff::compression(head);
        let unpacked;
        let (content, whole) = if compression == Compression::None {
            (head, head.len() as u64 >= opened.bytes)
        } else {
            let mut space = vec![0; SNIFFED_BYTES];
            // The first block of some compressions is longer than `head`.
            let rest = decompress::has_large_blocks(compression).then(|| rest_of(opened, head));
            let is_all = rest.is_some() || head.len() as u64 >= opened.bytes;
            let reader = head.chain(rest.unwrap_or_else(|| Box::new(io::empty())));
            let (filled, ended) = match decompress::open(compression, reader, &self.options) {
                Ok(mut stream) => fill_up(&mut *stream, &mut space),
                Err(_) => (0, false),
            };
            space.truncate(filled);
            unpacked = space;
            // The first bytes of a compressed file may end between two gzip members, so that the
            // stream seems to end there. So the content is whole only if the file has no more
            // bytes.
            (&unpacked[..], ended && is_all)
        };
        let format = sniff::chosen(&self.options, content, whole, &opened.input.name)
            .map_err(|kind| opened.unreadable_kind(kind, content))?;
        let Reader::Bytes(bytes) = format.reader() else {
            return Ok(Recognized { compression, format, delimiter: None });
        };
        if let Some(detail) = bytes.refusal(content, compression, &opened.input.name) {
            return Err(opened.fault(Severity::Loss, "format", None, detail));
        }
        let guessed = || bytes.delimiter(content, &self.options.text_field);
        let chosen = self.options.delimiter.filter(|_| format.has_delimiter());
        let delimiter = chosen.or_else(guessed);
        Ok(Recognized { compression, format, delimiter })
    }
}

/// Returns a reader of the bytes of a file after `head`, its first bytes. The reader is empty if the
/// file cannot be opened again.
fn rest_of(opened: &Opened, head: &[u8]) -> Box<dyn Read> {
    let file = File::open(opened.input.path()).and_then(|mut file| {
        file.seek(SeekFrom::Start(head.len() as u64))?;
        Ok(file)
    });
    match file {
        Ok(file) => Box::new(file),
        Err(_) => Box::new(io::empty()),
    }
}

/// Reads from the stream until `space` is full or the stream ends. Returns the number of bytes that
/// were written to `space`, and whether the stream ended without damage.
fn fill_up(stream: &mut dyn Stream, space: &mut [u8]) -> (usize, bool) {
    let mut filled = 0;
    while filled < space.len() {
        let Filled { bytes, then } = stream.fill(&mut space[filled..]);
        filled += bytes;
        match then {
            Then::More | Then::Warning(_) => {}
            Then::End => return (filled, true),
            Then::Loss { .. } => return (filled, false),
        }
    }
    (filled, false)
}

impl Opened {
    /// Returns the fault of a file of a kind that cannot be read. `content` is the start of its
    /// content.
    fn unreadable_kind(&self, kind: ForeignKind, content: &[u8]) -> Fault {
        let detail = format!(
            "is {} (first bytes {}). {}",
            kind.description,
            hexadecimal(&content[..content.len().min(4)]),
            kind.advice
        );
        self.fault(Severity::Loss, "format", None, detail)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
