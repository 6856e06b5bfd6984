//! Recognizes the compression, format and dialect of files.

use crate::collection::Collection;
use crate::decompress;
use crate::foreign_file::ForeignKind;
use crate::format::Reader;
use crate::magic_bytes;
use crate::magic_bytes::SNIFFED_BYTES;
use crate::opened::{Opened, Recognized};
use crate::options::ReadOptions;
use crate::sniff;
use crate::stream::{Damage, Filled, Stream, Then};
use crate::text_encoding::TextEncoding;
use crate::zstd_dictionary::has_dictionary;
use simtool_base::fault::{Fault, Severity};
use simtool_model::compression::Compression;
use std::io::{self, Read};

impl Collection {
    /// Returns the compression, format and dialect of file number `file`. If the file was not
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
        match opened.open().and_then(|source| source.bytes_at(0, SNIFFED_BYTES)) {
            Ok(head) => self.recognize_head(opened, &head),
            Err(error) => Err(opened.unreadable("input-open", &error)),
        }
    }

    /// Recognizes compression, format and dialect from `head`, the first bytes of the file.
    pub(super) fn recognize_head(&self, opened: &Opened, head: &[u8]) -> Result<Recognized, Fault> {
        let compression = magic_bytes::compression(head);
        let unpacked;
        let (content, whole) = if compression == Compression::None {
            (head, head.len() as u64 >= opened.bytes())
        } else {
            let mut space = vec![0; SNIFFED_BYTES];
            // The first block of some compressions is longer than `head`.
            let needs_rest = decompress::has_large_blocks(compression) || has_dictionary(head);
            let rest = needs_rest.then(|| rest_of(opened, head));
            let is_all = rest.is_some() || head.len() as u64 >= opened.bytes();
            let reader = head.chain(rest.unwrap_or_else(|| Box::new(io::empty())));
            let (filled, ended) =
                match decompress::open(compression, reader, self.options.decoding()) {
                    Ok(mut stream) => fill_up(&mut *stream, &mut space),
                    Err(_) => (0, Ended::Damaged),
                };
            // The file would be recognized by its name alone, and then every option that does not
            // suit that format would seem to be the fault.
            if let (0, Ended::Refused(Damage { code, byte, detail })) = (filled, &ended) {
                let detail = detail.clone();
                return Err(opened.fault(Severity::Loss, code, Some(*byte), detail));
            }
            space.truncate(filled);
            unpacked = space;
            // The first bytes of a compressed file may end between two gzip members, so that the
            // stream seems to end there. So the content is whole only if the file has no more
            // bytes.
            (&unpacked[..], matches!(ended, Ended::Whole) && is_all)
        };
        opened.recognized_as(&self.options, compression, content, whole)
    }
}

/// Returns a reader of the bytes of a file after `head`, its first bytes. The reader is empty if the
/// file cannot be opened again.
fn rest_of(opened: &Opened, head: &[u8]) -> Box<dyn Read> {
    match opened.open() {
        Ok(source) => source.stream(head.len() as u64),
        Err(_) => Box::new(io::empty()),
    }
}

/// State of a stream after its first bytes were read.
enum Ended {
    /// There may be more bytes.
    NotYet,
    /// The stream ended without damage.
    Whole,
    /// The stream is damaged.
    Damaged,
    /// The stream cannot be read with the options of this run.
    Refused(Damage),
}

/// Reads from the stream until `space` is full or the stream ends. Returns the number of bytes that
/// were written to `space`, and the state of the stream.
fn fill_up(stream: &mut dyn Stream, space: &mut [u8]) -> (usize, Ended) {
    let mut filled = 0;
    while filled < space.len() {
        let Filled { bytes, then } = stream.fill(&mut space[filled..]);
        filled += bytes;
        match then {
            Then::More | Then::NeedsMemory { .. } | Then::Warning(_) => {}
            Then::End => return (filled, Ended::Whole),
            Then::Loss { damage, .. } if damage.is_refusal() => {
                return (filled, Ended::Refused(damage));
            }
            Then::Loss { .. } => return (filled, Ended::Damaged),
        }
    }
    (filled, Ended::NotYet)
}

impl Opened {
    /// Recognizes format, dialect and encoding from `content`, the start of the decompressed
    /// content. `whole` means that the file has no more content.
    pub(super) fn recognized_as(
        &self,
        options: &ReadOptions,
        compression: Compression,
        content: &[u8],
        whole: bool,
    ) -> Result<Recognized, Fault> {
        let format = sniff::chosen(options, content, whole, self.name())
            .map_err(|kind| self.unreadable_kind(kind, content))?;
        let Reader::Bytes(bytes) = format.reader() else {
            return Ok(Recognized { compression, format, dialect: None, encoding: None });
        };
        let refused = |detail| Err(self.fault(Severity::Loss, "format", None, detail));
        if let Some(detail) = bytes.refusal(content) {
            return refused(detail);
        }
        let dialect = bytes.dialect(content, options.dialect, &options.text_field);
        let encoding = match options.encoding {
            TextEncoding::Detected if bytes.declares_encoding() => None,
            encoding => encoding.of_file(content),
        };
        if let Some(name) = encoding.filter(|&e| !bytes.is_readable_in(e, dialect)) {
            let (name, title) = (name.name(), format.title());
            return refused(format!(
                "is {title} in {name}, in which parts of characters can look like its separators. \
                 Convert it to UTF-8, for example with `iconv -f {name} -t UTF-8`"
            ));
        }
        Ok(Recognized { compression, format, dialect, encoding })
    }

    /// Returns a note about the encoding that was detected in the file, otherwise `None`.
    pub(super) fn detected(&self, options: &ReadOptions) -> Option<Fault> {
        let encoding = self.recognized.get()?.encoding?;
        let detail = format!(
            "is not UTF-8; read as {}, by its first {} KiB. If that is wrong, name the encoding \
             with `encoding`",
            encoding.name(),
            SNIFFED_BYTES >> 10,
        );
        let is_detected = options.encoding == TextEncoding::Detected;
        is_detected.then(|| self.fault(Severity::Warning, "encoding", None, detail))
    }

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
