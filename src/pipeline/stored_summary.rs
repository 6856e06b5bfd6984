//! Stores the IDs and the faults of a shard as bytes, and restores them.

use super::stored_bytes::{BytesReader, BytesWriter};
use simtool_base::byte_text::os_string;
use simtool_base::fault::{Fault, Severity};
use simtool_model::document::ShardIds;
use simtool_model::document_id::DocumentId;
use simtool_model::record_digest::RecordDigest;

/// Appends the record numbers and IDs of the documents of a shard to `out`.
pub(super) fn store_ids(ids: &ShardIds, out: &mut BytesWriter) {
    out.number(ids.record_count());
    let digest = ids.digest().number();
    out.number(digest.is_some().into());
    out.number(digest.unwrap_or_default());
    out.number(ids.len().into());
    for (record, id) in ids.documents() {
        out.number(record);
        // A text and a number may have the same bytes, but outputs write them differently.
        out.number(id.map_or(0, |id| 1 + u64::from(id.is_number())));
        if let Some(id) = id {
            out.bytes(id.bytes());
        }
    }
}

/// Reads the record numbers and IDs that [`store_ids`] has appended. `file` is the index of the file of the shard.
/// Returns `None` if the bytes do not begin with them.
pub(super) fn restore_ids(from: &mut BytesReader<'_>, file: u32) -> Option<ShardIds> {
    let records = from.number()?;
    let is_digest_known = from.number()? != 0;
    let digest = Some(from.number()?).filter(|_| is_digest_known);
    let mut ids = ShardIds::new(file);
    ids.set_digest(RecordDigest::from_number(digest));
    for _ in 0..from.number()? {
        let record = from.number()?;
        let id = match from.number()? {
            0 => None,
            1 => Some(DocumentId::Text(from.bytes()?)),
            _ => Some(DocumentId::Number(from.bytes()?)),
        };
        ids.push(record, id).ok()?;
    }
    ids.close(records);
    Some(ids)
}

/// Appends a fault to `out`.
pub(super) fn store_fault(fault: &Fault, out: &mut BytesWriter) {
    let Fault { severity, code, file, byte, detail, lost_records } = fault;
    out.number((*severity == Severity::Loss).into());
    out.bytes(code.as_bytes());
    out.bytes(file.as_os_str().as_encoded_bytes());
    out.number(byte.map_or(0, |byte| byte.saturating_add(1)));
    out.bytes(detail.as_bytes());
    out.number(*lost_records);
}

/// Reads the fault that [`store_fault`] has appended. Returns `None` if the bytes do not begin with a fault.
pub(super) fn restore_fault(from: &mut BytesReader<'_>) -> Option<Fault> {
    Some(Fault {
        severity: if from.number()? == 0 { Severity::Warning } else { Severity::Loss },
        code: from.code()?,
        file: os_string(from.bytes()?.to_vec())?.into(),
        byte: from.number()?.checked_sub(1),
        detail: from.text()?.to_owned(),
        lost_records: from.number()?,
    })
}
