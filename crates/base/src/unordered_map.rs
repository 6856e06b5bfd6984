//! The hash map and the hash set that all code of the project uses.
//!
//! Both are the standard collections with the fast hasher of the crate ahash. This hasher gives different hashes on
//! different computers. So the order of the entries differs, and nothing that is stored or printed may depend on it.
//! Both types are aliases of the standard types, so that clippy's lint `iter_over_hash_type` reports every loop over a
//! map or set.

/// A standard hash map with the hasher of ahash. On another computer, a loop over the map visits the
/// entries in another order.
#[expect(clippy::disallowed_types, reason = "the alias that everything else must use")]
pub type UnorderedMap<K, V> = std::collections::HashMap<K, V, ahash::RandomState>;

/// A standard hash set with the hasher of ahash. On another computer, a loop over the set visits the
/// elements in another order.
#[expect(clippy::disallowed_types, reason = "the alias that everything else must use")]
pub type UnorderedSet<T> = std::collections::HashSet<T, ahash::RandomState>;
