//! The one map for data in memory, and the one set.
//!
//! It is the standard map under the fast hasher of ahash, which gives other values on other
//! computers: nothing stored or printed may depend on its order. The alias is of the standard
//! type so that clippy's `iter_over_hash_type` sees a walk over it.

/// A hash map whose order means nothing.
#[expect(clippy::disallowed_types, reason = "the alias that everything else is told to use")]
pub type UnorderedMap<K, V> = std::collections::HashMap<K, V, ahash::RandomState>;

/// A hash set of the same kind.
#[expect(clippy::disallowed_types, reason = "the alias that everything else is told to use")]
pub type UnorderedSet<T> = std::collections::HashSet<T, ahash::RandomState>;
