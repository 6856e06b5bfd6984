//! The only types of maps and sets that are used for data in memory.
//!
//! Both are standard collections with the fast hasher of ahash. Its hashes differ between
//! computers, so nothing that is stored or printed may depend on the order of a map. These are
//! aliases of the standard types, so clippy's `iter_over_hash_type` finds every loop over one.

/// Hash map. The order of its entries differs between computers.
#[expect(clippy::disallowed_types, reason = "the alias that everything else must use")]
pub type UnorderedMap<K, V> = std::collections::HashMap<K, V, ahash::RandomState>;

/// Hash set. The order of its elements differs between computers.
#[expect(clippy::disallowed_types, reason = "the alias that everything else must use")]
pub type UnorderedSet<T> = std::collections::HashSet<T, ahash::RandomState>;
