//! Bytes → documents. One file per format.

pub mod form_feed;
