//! One collection that is compared with itself, or two that are compared with each other.

/// A value for one collection, or values for two.
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
    /// The value of the queries, then the value of the corpus. Only queries may be removed.
    Two(T, T),
}

impl<T: Default> Default for Sides<T> {
    /// Returns one side with the default value.
    fn default() -> Self {
        Self::One(T::default())
    }
}

impl<T> Sides<T> {
    /// Returns the value of the documents that may be removed.
    pub fn first(&self) -> &T {
        match self {
            Self::One(first) | Self::Two(first, _) => first,
        }
    }

    /// Returns the value of the documents that may be kept in their place. With one side, it is the
    /// same as the first.
    pub fn second(&self) -> &T {
        match self {
            Self::One(second) | Self::Two(_, second) => second,
        }
    }

    /// Returns the first value, mutable.
    pub fn first_mut(&mut self) -> &mut T {
        match self {
            Self::One(first) | Self::Two(first, _) => first,
        }
    }

    /// Returns the second value, mutable. With one side, it is the same as the first.
    pub fn second_mut(&mut self) -> &mut T {
        match self {
            Self::One(second) | Self::Two(_, second) => second,
        }
    }

    /// Whether there are two sides.
    pub fn is_two(&self) -> bool {
        matches!(self, Self::Two(..))
    }

    /// Returns the value of each side.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let second = match self {
            Self::One(_) => None,
            Self::Two(_, second) => Some(second),
        };
        std::iter::once(self.first()).chain(second)
    }

    /// Returns the value of each side, mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (first, second) = match self {
            Self::One(first) => (first, None),
            Self::Two(first, second) => (first, Some(second)),
        };
        std::iter::once(first).chain(second)
    }

    /// Returns references to the values.
    pub fn as_ref(&self) -> Sides<&T> {
        match self {
            Self::One(first) => Sides::One(first),
            Self::Two(first, second) => Sides::Two(first, second),
        }
    }

    /// Applies `make` to each value, to the first side first.
    pub fn map<R>(self, mut make: impl FnMut(T) -> R) -> Sides<R> {
        match self {
            Self::One(first) => Sides::One(make(first)),
            Self::Two(first, second) => {
                let first = make(first);
                Sides::Two(first, make(second))
            }
        }
    }

    /// Applies `make`, which may fail, to each value.
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

    /// Pairs the values of two, side by side.
    ///
    /// # Panics
    ///
    /// Panics if the numbers of sides differ.
    pub fn zip<U>(self, other: Sides<U>) -> Sides<(T, U)> {
        match (self, other) {
            (Self::One(a), Sides::One(b)) => Sides::One((a, b)),
            (Self::Two(a, b), Sides::Two(c, d)) => Sides::Two((a, c), (b, d)),
            _ => panic!("as many sides"),
        }
    }
}
