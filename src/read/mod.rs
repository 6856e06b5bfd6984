//! Bytes → documents. One file per format.

pub mod form_feed;
pub mod hexadecimal;
pub mod numpy;
