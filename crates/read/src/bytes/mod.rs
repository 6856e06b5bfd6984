//! Turns bytes of any format into text: decompression, encodings, HTTP, and pages of HTML.

pub(crate) mod blank_lines;
pub(crate) mod byte_order_mark;
mod compressed_input;
pub(crate) mod decoded_stream;
pub(crate) mod decompress;
mod gzip;
pub(crate) mod html;
pub(crate) mod http;
pub(crate) mod magic_bytes;
mod page_content;
mod plain_stream;
mod stream;
pub(crate) mod text_encoding;
pub(crate) mod undecodable;
pub mod uri;
mod zstd;
pub(crate) mod zstd_dictionary;
mod zstd_headers;

pub use byte_order_mark::without_byte_order_mark;
pub(crate) use compressed_input::{DecodingLimits, Expansion};
pub(crate) use html::{HtmlText, begins_page};
pub(crate) use magic_bytes::SNIFFED_BYTES;
pub use page_content::PageContent;
pub(crate) use stream::{Damage, Filled, Stream, Then};
pub use text_encoding::TextEncoding;
pub(crate) use text_encoding::{is_utf8_so_far, is_utf16};
