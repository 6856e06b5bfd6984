//! The command line face.
fn main() {}
