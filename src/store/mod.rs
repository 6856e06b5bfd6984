//! Fingerprints on disk, in simtool's own format.

pub mod format;
