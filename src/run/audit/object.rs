//! The result of an audit as a JSON object, for programs.

use super::{Audit, AuditedRow, FileCounts};
use serde_json::{Value, json};

impl Audit {
    /// Returns a JSON object with the numbers of compared and unchanged files, the numbers of removals that hold and
    /// that fail, and the failed removals.
    #[must_use]
    pub fn object(&self) -> Value {
        let counts = |FileCounts { all, equal }: FileCounts| json!({ "all": all, "equal": equal });
        let failure = |(AuditedRow { removed, kept, .. }, reasons): (&AuditedRow, &[String])| {
            json!({
                "id": removed.id, "file": removed.file, "record": removed.record,
                "kept_id": kept.id, "kept_file": kept.file, "kept_record": kept.record,
                "reasons": reasons,
            })
        };
        // Programs need the places of both documents, to look at them.
        let failures: Vec<Value> = self.failing().map(failure).collect();
        json!({
            "inputs": counts(self.receipt.inputs),
            "outputs": counts(self.receipt.outputs),
            "changed": self.receipt.changed,
            "not_compared": self.receipt.unchecked,
            "removals": self.removals,
            "sampled": self.rows.len(),
            "seed": self.seed,
            "hold": self.holding(),
            "fail": failures.len(),
            "share": self.share().map(|share| [share.low, share.high]),
            "not_checked": self.unchecked(),
            "failures": failures,
        })
    }
}
