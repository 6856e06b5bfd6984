//! Recognizes the compression, format and dialect of files.

use crate::bytes::zstd_dictionary::has_dictionary;
use crate::bytes::{Damage, SNIFFED_BYTES, TextEncoding, decompress, magic_bytes};
use crate::documents::foreign_file::ForeignKind;
use crate::documents::{Collection, Opened, ReadOptions, Recognized, sniff};
use crate::formats::Reader;
use encoding_rs::UTF_8;
use simtool_base::fault::{Fault, Severity};
use simtool_model::compression::Compression;
use std::io::{self, Read};

impl Collection {
    /// Returns the compression, format and dialect of the file with index `file`. If the file was not recognized
    /// before, reads its first bytes.
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
    pub(crate) fn recognize_head(&self, opened: &Opened, head: &[u8]) -> Result<Recognized, Fault> {
        let compression = magic_bytes::compression(head);
        let unpacked;
        let (content, whole) = if compression == Compression::None {
            (head, head.len() as u64 >= opened.bytes())
        } else {
            let mut space = vec![0; SNIFFED_BYTES];
            // The first block of some compressions is longer than `head`.
            let needs_rest = decompress::has_large_blocks(compression) || has_dictionary(head);
            let source = needs_rest.then(|| opened.open().ok()).flatten();
            let rest = source.map(|source| source.stream(head.len() as u64));
            let is_all = rest.is_some() || head.len() as u64 >= opened.bytes();
            let reader = head.chain(rest.unwrap_or_else(|| Box::new(io::empty())));
            let stream = decompress::open(compression, reader, self.options.decoding());
            let (filled, end) = stream.map_or((0, None), |mut stream| stream.fill_up(&mut space));
            // The file would be recognized by its name alone, and then every option that does not
            // suit that format would seem to be the fault.
            if let (0, Some(Err(damage))) = (filled, &end)
                && damage.is_refusal()
            {
                let Damage { code, byte, detail } = damage;
                return Err(opened.fault(Severity::Loss, code, Some(*byte), detail.clone()));
            }
            space.truncate(filled);
            unpacked = space;
            // The first bytes of a compressed file may end between two gzip members, so that the
            // stream seems to end there. So the content is whole only if the file has no more
            // bytes.
            (&unpacked[..], matches!(end, Some(Ok(()))) && is_all)
        };
        opened.recognized_as(&self.options, compression, content, whole)
    }
}

impl Opened {
    /// Recognizes format, dialect and encoding from `content`, the start of the decompressed
    /// content. `whole` means that the file has no more content.
    pub(crate) fn recognized_as(
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
        if let Some(detail) = bytes.refusal(content, &options.text_field) {
            return refused(detail);
        }
        let dialect = bytes.dialect(content, options.dialect, &options.text_field);
        let is_named = matches!(options.encoding, TextEncoding::Named(_));
        let declared = bytes.declared_encoding(content).filter(|_| !is_named);
        let encoding = match options.encoding {
            _ if declared.is_some() => declared.filter(|&encoding| encoding != UTF_8),
            TextEncoding::Detected if bytes.declares_encoding() => None,
            // Only a page may be UTF-8 although it declares another encoding.
            TextEncoding::Named(named) if named == UTF_8 && !bytes.declares_encoding() => None,
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

    /// Returns a warning that names the encoding, if it was detected from the content of the file. Returns `None`
    /// otherwise.
    pub(crate) fn detected(&self, options: &ReadOptions) -> Option<Fault> {
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

    /// Returns the fault of a file of a kind that simtool cannot read. `content` is the start of its content.
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
