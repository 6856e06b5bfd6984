//! Reads documents again to hash the windows of runs that must be compared window by window.

use crate::place::Place;
use crate::reading::DocumentNumbers;
use crate::run_groups::MixedGroups;
use crate::word_hashes::WordHashes;
use crate::word_source::WordSource;
use simtool_base::error::Result;
use simtool_compute::context::Context;

/// A run that is read in place of all runs with equal words. A run is a sequence of consecutive windows. Its live
/// windows are the windows that must be compared with windows of other runs.
#[derive(Clone, Copy, Debug)]
struct Representative {
    /// Place of the first live window of the run.
    place: Place,
    /// Number of live windows of the run.
    windows: u32,
    /// Number of the bucket that holds the runs with these words.
    bucket: u32,
    /// Number of the group of equal runs in its bucket.
    content: u32,
}

/// Reads documents again and hashes the live windows of all contents in `buckets`. A content is a group of runs with
/// equal words, so only one of its runs is read. A run is a sequence of consecutive windows of a document. Its live
/// windows are the windows that must be compared with windows of other contents.
///
/// `hashes` makes the hashes, and `words` is the number of words of a window. Returns one list of hashes for each
/// shard. Stores the place of the first hash of each content in
/// [`Content::hashes`](crate::run_groups::Content::hashes).
///
/// # Errors
/// The source fails, or the work is cancelled.
pub(crate) fn hash_live_windows(
    source: &dyn WordSource,
    context: &Context<'_>,
    numbers: &DocumentNumbers,
    (hashes, words): (&WordHashes, usize),
    buckets: &mut [MixedGroups],
) -> Result<Vec<Vec<u64>>> {
    let mut representatives = representatives(buckets);
    // Documents are read in order, so their windows are needed in order.
    context.threads().sort_by_key(&mut representatives, |one| one.place);
    let parts: Vec<&[Representative]> = (0..source.shard_count())
        .map(|shard| {
            let documents = numbers.of_shard(shard);
            let before =
                |document| representatives.partition_point(|one| one.place.document < document);
            &representatives[before(documents.start)..before(documents.end)]
        })
        .collect();
    for (part, representatives) in (0..).zip(&parts) {
        // The hashes of a shard are written in the order of its representatives.
        let mut next = 0;
        for one in *representatives {
            buckets[one.bucket as usize].contents[one.content as usize].hashes = (part, next);
            next += one.windows;
        }
    }
    let read = |hashes: &mut WordHashes, shard: usize| {
        context.check_cancelled()?;
        let start = numbers.of_shard(shard).start;
        hash_part(source, (shard, start), parts[shard], words, hashes)
    };
    context.threads().try_map(parts.len(), || Ok(hashes.clone()), read)
}

/// Returns one run of each content that has live windows. The runs of a content have equal words.
fn representatives(buckets: &[MixedGroups]) -> Vec<Representative> {
    let mut found = Vec::new();
    for (bucket, mixed) in (0..).zip(buckets) {
        let contents = (0..).zip(&mixed.contents).filter(|(_, content)| content.is_live());
        found.extend(contents.map(|(number, content)| {
            let run = &mixed.runs[content.first_run as usize];
            let (from, to) = content.live;
            let place = run.place().plus(u32::from(from));
            Representative { place, windows: u32::from(to - from), bucket, content: number }
        }));
    }
    found
}

/// Returns the hashes of the live windows of `representatives`, which are runs in one shard. The tuple has the index of
/// the shard and the number of its first document. A window has `words` words.
fn hash_part(
    source: &dyn WordSource,
    (shard, first_document): (usize, u32),
    representatives: &[Representative],
    words: usize,
    hashes: &mut WordHashes,
) -> Result<Vec<u64>> {
    let count = representatives.iter().map(|one| one.windows as usize).sum();
    let mut found = Vec::with_capacity(count);
    // A shard without such windows is not read.
    if representatives.is_empty() {
        return Ok(found);
    }
    let has = |index: u32| {
        let document = first_document + index;
        representatives.binary_search_by_key(&document, |one| one.place.document).is_ok()
    };
    let mut rest = representatives;
    source.visit_words(shard, &has, &mut |index, text| {
        let document = first_document + index;
        while let Some((one, behind)) = rest.split_first()
            && one.place.document <= document
        {
            let start = one.place.word as usize;
            let span = text.get(start..start + one.windows as usize + words - 1);
            hashes.fill(span.unwrap_or_default());
            let expected = found.len() + one.windows as usize;
            found.extend(hashes.sums_of(words).map(|sum| hashes.hash(sum)));
            // Only a text that changed between two readings has fewer windows.
            found.resize(expected, 0);
            rest = behind;
        }
        Ok(())
    })?;
    found.resize(count, 0);
    Ok(found)
}
