//! Removes documents from an index, by their IDs or because they were not seen for long.

use super::adder::IndexAdder;
use super::stored::{StoredDocument, visit_stored};
use simtool_base::error::{Error, Result};

impl IndexAdder {
    /// Removes each document for whose ID `has_id` returns true. Documents that were added after the last
    /// commit may not be found. The removal is stored at the next commit. Returns the number of removed
    /// documents. The document numbers of removed documents are not used again.
    ///
    /// # Errors
    ///
    /// The index is damaged.
    pub fn remove(&mut self, has_id: &mut dyn FnMut(&[u8]) -> bool) -> Result<u64> {
        let mut found = Vec::new();
        for segment in self.writer.folder().segments() {
            segment.visit_ids(&mut |row, id| {
                let number = segment.number(row);
                // A removed document stays in its segment until a merge, but must not be removed twice.
                if has_id(id) && self.removed.binary_search(&number).is_err() {
                    found.push(number);
                }
                Ok(())
            })?;
            // If a part is damaged, `number` returns a wrong number instead of an error, so the segment is
            // checked.
            segment.check()?;
        }
        self.remove_found(&found)?;
        Ok(found.len() as u64)
    }

    /// Removes the documents whose last sighting is before `oldest`, in seconds since 1970. Sightings are the addition
    /// of a document and its repeats from any source. With `source`, removes only documents with a sighting from this
    /// source. Returns the number of removed documents. The removal is stored at the next commit.
    ///
    /// # Errors
    ///
    /// The index is damaged, or no document came from `source`.
    pub fn remove_not_seen_since(&mut self, oldest: u64, source: Option<&str>) -> Result<u64> {
        let folder = self.writer.folder();
        let sources = &folder.manifest().sources;
        let wanted = match source {
            None => None,
            Some(name) => {
                let number = sources.iter().position(|known| known == name);
                // A mistyped name would remove nothing, which looks like an index without old documents.
                let number = number.ok_or_else(|| {
                    let rule =
                        format!("is no source of the index; there are: {}", sources.join(", "));
                    Error::config("source", name, rule)
                })?;
                Some(number as u32)
            }
        };
        let mut found = Vec::new();
        visit_stored(folder, &self.recipe, &self.removed, &mut |document| {
            let StoredDocument { number, source, time, repeats, .. } = document;
            // The sources of a document are those of its repeats as well.
            let is_wanted = wanted.is_none_or(|wanted| {
                source == wanted || repeats.iter().any(|repeats| repeats.source == wanted)
            });
            let last = repeats.iter().map(|repeats| repeats.last).fold(time, u64::max);
            if last < oldest && is_wanted {
                found.push(number);
            }
            Ok(())
        })?;
        self.remove_found(&found)?;
        Ok(found.len() as u64)
    }

    /// Removes the documents with the numbers `found`.
    fn remove_found(&mut self, found: &[u64]) -> Result<()> {
        for &number in found {
            self.pending.push_removed(number);
        }
        if !found.is_empty() {
            // A removed document may be in any of these files, and must be new if its file is added again.
            for mut input in self.known_inputs()?.into_entries() {
                input.forget_documents();
                self.pending.push_input(&input);
            }
        }
        self.removed.extend(found);
        self.removed.sort_unstable();
        Ok(())
    }
}
