//! The characters of a text table that the user names.

/// Characters that the user named. `None` means that a character is recognized from the first rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedDialect {
    /// Character between columns.
    pub delimiter: Option<u8>,
    /// Character that encloses fields, or that there is none.
    pub quote: Option<Quote>,
    /// Character before a quote that does not end its field.
    pub escape: Option<u8>,
    /// Whether the first row is a record, and columns are named by their numbers.
    pub no_header: bool,
}

/// Treatment of quotes in a text table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// No character encloses fields, so a quote is a letter.
    None,
    /// This character encloses fields.
    Char(u8),
}
