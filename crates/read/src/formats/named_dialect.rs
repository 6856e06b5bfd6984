//! The characters of a text table that the user names.

/// Characters of text tables that the user chose. `None` means that a character is recognized from the first rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedDialect {
    /// Character between columns.
    pub delimiter: Option<u8>,
    /// Character that encloses fields, or the choice that no character does.
    pub quote: Option<Quote>,
    /// Character that marks the quote after it as part of the field, so that this quote does not end the field.
    pub escape: Option<u8>,
    /// Whether the first row is a record and not the names of the columns. The columns are then named by their numbers,
    /// from 1.
    pub no_header: bool,
}

/// Treatment of quotes in a text table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// No character encloses fields. A quote is an ordinary character.
    None,
    /// This character encloses fields.
    Char(u8),
}
