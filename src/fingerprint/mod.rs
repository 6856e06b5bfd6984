//! Features → one fingerprint. One file per method.

pub mod hash_table;
pub mod hashed_simhash;
pub mod table_simhash;
