//! Edits the text of a WARC record whose block is the text, as in WET files.

use super::records::header_length;
use crate::formats::RecordEdit;

/// Header fields that are left out, because they are digests of the block before it was edited.
const DIGESTS: [&str; 2] = ["WARC-Block-Digest", "WARC-Payload-Digest"];

/// Returns the record with the edited text and its new length. Returns `None` if the text is not the block of the
/// record, for example because it was extracted from HTML.
pub(super) fn edited(job: &RecordEdit<'_>) -> Option<Vec<u8>> {
    let header = header_length(job.record)?;
    let place = job.place().filter(|place| place.start == header)?;
    // The block ends where the text ends, so the line ends after it stay.
    let text = job.edit.edited_part(job.text, 0, b'\n');
    let mut edited = Vec::with_capacity(job.record.len());
    let mut is_left_out = false;
    for line in job.record[..header].split_inclusive(|&byte| byte == b'\n') {
        // A line that begins with white space continues the field before it.
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
            let is = |name: &str| line[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes());
            let is_length = is("Content-Length");
            is_left_out = is_length || DIGESTS.into_iter().any(is);
            if is_length {
                // The name of the field stays as it was written.
                edited.extend_from_slice(&line[..colon]);
                edited.extend_from_slice(format!(": {}\r\n", text.len()).as_bytes());
            }
        }
        if !is_left_out {
            edited.extend_from_slice(line);
        }
    }
    edited.extend_from_slice(&text);
    edited.extend_from_slice(&job.record[place.end..]);
    Some(edited)
}
