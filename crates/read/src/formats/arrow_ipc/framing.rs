//! The bytes by which a file or stream of Arrow IPC is recognized and divided into messages.

/// Magic bytes at the start and at the end of an Arrow file. A stream does not have them.
pub(super) const MAGIC: &[u8] = b"ARROW1";
/// Bytes at the start of each message, before the length of its metadata.
pub(super) const CONTINUATION: [u8; 4] = [0xFF; 4];
/// Largest length in bytes of the metadata of a message, and of the footer. A file with longer metadata counts as
/// damaged.
pub(super) const LONGEST_METADATA: u32 = 64 << 20;
