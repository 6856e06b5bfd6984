//! Inputs that are fetched from stores: their settings, and notes about them.

use super::face::{Face, Notice};
use super::input_settings::InputSettings;
use simtool_base::durable::free_bytes;
use simtool_base::quantity::{bytes, counted};
use simtool_read::Collection;
use simtool_read::remote::Fetching;
use std::path::Path;

impl InputSettings {
    /// Applies these settings to all objects that are fetched from remote stores from now on. `temporary` is the folder
    /// for the fetched data.
    pub(crate) fn configure_stores(&self, temporary: &Path) {
        #[cfg(feature = "remote")]
        {
            use simtool_read::remote::{RemoteSettings, configure};
            let usual = RemoteSettings::default();
            configure(RemoteSettings {
                temporary_folder: temporary.to_owned(),
                spool_bytes: self.spool_size.unwrap_or(usual.spool_bytes),
                is_anonymous: self.anonymous,
            });
        }
        #[cfg(not(feature = "remote"))]
        let _ = (temporary, self.anonymous, self.spool_size);
    }
}

/// Sends the user a note about how many bytes will be fetched from remote stores. It is a warning if the temporary
/// folder has too little space for them.
pub(super) fn note_fetching(collection: &Collection, face: &dyn Face) {
    let Some(Fetching { spool_folder, spool_limit, .. }) = collection.fetching() else { return };
    let lengths: Vec<u64> = collection.fetched_lengths().collect();
    let total: u64 = lengths.iter().sum();
    // It is not known yet how much compression will save, so the plan is the most that can be needed.
    let free = free_bytes(&spool_folder);
    let folder = spool_folder.display();
    let objects = counted(lengths.len() as u64, "object");
    let plan = format!(
        "{objects} with {} will be fetched once and kept in a temporary file in {folder} until the run ends",
        bytes(total)
    );
    let space = free.min(spool_limit);
    if total > space {
        let advice = format!(
            "{plan}, which has space for {}. Unless compression makes them fit, the rest is fetched again at each \
             reading. `tmp_dir` names a larger folder, and `spool_size` is the limit",
            bytes(space)
        );
        face.notice(Notice::Warning(&face.message(&advice)));
    } else {
        face.notice(Notice::Note(&plan));
    }
}

/// Sends the user notes about repeated requests and about blocks that were fetched again. The run got all objects
/// nevertheless.
pub(super) fn note_fetched(collection: &Collection, face: &dyn Face) {
    let Some(fetching) = collection.fetching() else { return };
    let Fetching { spool_folder, repeated_requests, refetched_blocks, .. } = fetching;
    if repeated_requests > 0 {
        let requests = counted(repeated_requests, "request");
        let note = format!("{requests} to stores failed or stalled, and succeeded when repeated");
        face.notice(Notice::Note(&note));
    }
    if refetched_blocks > 0 {
        let blocks = counted(refetched_blocks, "block");
        let note = format!(
            "{blocks} of 8 MiB came from stores again, because the temporary file in {} was full; with a larger \
             `spool_size` or `tmp_dir`, each block comes once",
            spool_folder.display()
        );
        face.notice(Notice::Note(&face.message(&note)));
    }
}
