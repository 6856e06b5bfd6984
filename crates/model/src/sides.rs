//! One collection or two: what is compared with itself, or with another.

/// Something of one collection, or of two that are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides<T> {
    /// Of a collection that is compared with itself.
    One(T),
    /// Of the documents of which some may go, and of those that they are compared with.
    Two(T, T),
}

impl<T: Default> Default for Sides<T> {
    /// One side.
    fn default() -> Self {
        Self::One(T::default())
    }
}

impl<T> Sides<T> {
    /// That of the documents of which some may go.
    pub fn first(&self) -> &T {
        match self {
            Self::One(first) | Self::Two(first, _) => first,
        }
    }

    /// That of the documents that they are compared with: the same, where there is one side.
    pub fn second(&self) -> &T {
        match self {
            Self::One(second) | Self::Two(_, second) => second,
        }
    }

    /// The first, to be changed.
    pub fn first_mut(&mut self) -> &mut T {
        match self {
            Self::One(first) | Self::Two(first, _) => first,
        }
    }

    /// The second, to be changed: the same, where there is one side.
    pub fn second_mut(&mut self) -> &mut T {
        match self {
            Self::One(second) | Self::Two(_, second) => second,
        }
    }

    /// Whether there are two.
    pub fn is_two(&self) -> bool {
        matches!(self, Self::Two(..))
    }

    /// Each side's own.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let second = match self {
            Self::One(_) => None,
            Self::Two(_, second) => Some(second),
        };
        std::iter::once(self.first()).chain(second)
    }

    /// Each side's own, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (first, second) = match self {
            Self::One(first) => (first, None),
            Self::Two(first, second) => (first, Some(second)),
        };
        std::iter::once(first).chain(second)
    }

    /// The same of references.
    pub fn as_ref(&self) -> Sides<&T> {
        match self {
            Self::One(first) => Sides::One(first),
            Self::Two(first, second) => Sides::Two(first, second),
        }
    }

    /// What `make` makes of each, first side first.
    pub fn map<R>(self, mut make: impl FnMut(T) -> R) -> Sides<R> {
        match self {
            Self::One(first) => Sides::One(make(first)),
            Self::Two(first, second) => {
                let first = make(first);
                Sides::Two(first, make(second))
            }
        }
    }

    /// The same of what may fail.
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

    /// Both sides' own together, where the other has as many sides.
    ///
    /// # Panics
    ///
    /// One has two sides and the other one.
    pub fn zip<U>(self, other: Sides<U>) -> Sides<(T, U)> {
        match (self, other) {
            (Self::One(a), Sides::One(b)) => Sides::One((a, b)),
            (Self::Two(a, b), Sides::Two(c, d)) => Sides::Two((a, c), (b, d)),
            _ => panic!("as many sides"),
        }
    }
}
