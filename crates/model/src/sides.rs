//! Values for the collections that are compared: one collection that is compared with itself, or two collections that
//! are compared with each other.

/// A value for each of the compared collections. There is one value if a collection is compared with itself. There are
/// two values if queries are compared with a corpus.
///
/// ```
/// use simtool_model::sides::Sides;
///
/// // `dedup` compares a collection with itself, `match` compares queries with a corpus.
/// let dedup = Sides::One(10);
/// let matched = Sides::Two(3, 10);
/// assert_eq!((dedup.first(), dedup.second()), (&10, &10));
/// assert_eq!(matched.map(|documents| documents * 2), Sides::Two(6, 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides<T> {
    /// The value of a collection that is compared with itself.
    One(T),
    /// The value of the queries, then the value of the corpus. Only documents of the queries may be
    /// removed.
    Two(T, T),
}

impl<T: Default> Default for Sides<T> {
    /// Returns [`Self::One`] with the default value of `T`.
    fn default() -> Self {
        Self::One(T::default())
    }
}

impl<T> Sides<T> {
    /// Returns the value of the collection whose documents may be removed: the only collection, or
    /// the queries.
    pub fn first(&self) -> &T {
        match self {
            Self::One(first) | Self::Two(first, _) => first,
        }
    }

    /// Returns the value of the collection in which similar documents are searched: the only
    /// collection, or the corpus.
    pub fn second(&self) -> &T {
        match self {
            Self::One(second) | Self::Two(_, second) => second,
        }
    }

    /// Returns a mutable reference to the value of the queries, or of the only collection.
    pub fn first_mut(&mut self) -> &mut T {
        match self {
            Self::One(first) | Self::Two(first, _) => first,
        }
    }

    /// Returns a mutable reference to the value of the corpus, or of the only collection.
    pub fn second_mut(&mut self) -> &mut T {
        match self {
            Self::One(second) | Self::Two(_, second) => second,
        }
    }

    /// Returns whether there are two collections.
    pub fn is_two(&self) -> bool {
        matches!(self, Self::Two(..))
    }

    /// Returns the value of each collection, the queries before the corpus.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let second = match self {
            Self::One(_) => None,
            Self::Two(_, second) => Some(second),
        };
        std::iter::once(self.first()).chain(second)
    }

    /// Returns a mutable reference to the value of each collection, the queries before the corpus.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (first, second) = match self {
            Self::One(first) => (first, None),
            Self::Two(first, second) => (first, Some(second)),
        };
        std::iter::once(first).chain(second)
    }

    /// Returns a reference to the value of each collection.
    pub fn as_ref(&self) -> Sides<&T> {
        match self {
            Self::One(first) => Sides::One(first),
            Self::Two(first, second) => Sides::Two(first, second),
        }
    }

    /// Returns a mutable reference to the value of each collection.
    pub fn as_mut(&mut self) -> Sides<&mut T> {
        match self {
            Self::One(first) => Sides::One(first),
            Self::Two(first, second) => Sides::Two(first, second),
        }
    }

    /// Applies `make` to the value of each collection, first to the queries and then to the corpus.
    pub fn map<R>(self, mut make: impl FnMut(T) -> R) -> Sides<R> {
        match self {
            Self::One(first) => Sides::One(make(first)),
            Self::Two(first, second) => {
                let first = make(first);
                Sides::Two(first, make(second))
            }
        }
    }

    /// Applies `make`, which may fail, to the value of each collection, first to the queries and then to the corpus.
    ///
    /// # Errors
    ///
    /// The first error of `make`.
    pub fn try_map<R, E>(self, mut make: impl FnMut(T) -> Result<R, E>) -> Result<Sides<R>, E> {
        Ok(match self {
            Self::One(first) => Sides::One(make(first)?),
            Self::Two(first, second) => {
                let first = make(first)?;
                Sides::Two(first, make(second)?)
            }
        })
    }

    /// Pairs the values of `self` and `other` that belong to the same collection: the queries of both, and the corpora
    /// of both.
    ///
    /// # Panics
    ///
    /// One of the two has a value for one collection, and the other has values for two collections.
    pub fn zip<U>(self, other: Sides<U>) -> Sides<(T, U)> {
        match (self, other) {
            (Self::One(a), Sides::One(b)) => Sides::One((a, b)),
            (Self::Two(a, b), Sides::Two(c, d)) => Sides::Two((a, c), (b, d)),
            _ => panic!("as many sides"),
        }
    }
}
