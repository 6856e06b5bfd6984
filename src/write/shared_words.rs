//! Words that the documents of a cluster share, as a sentence for people.

use simtool_base::quantity::counted;
use std::fmt;

/// Words that nearly all documents of a cluster share, and the words that each document has in addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedWords {
    /// Number of documents of the cluster whose texts were compared.
    pub documents: u64,
    /// Number of words of a document that nearly all compared documents share, on average.
    pub shared: u64,
    /// Number of other words of a document, on average.
    pub own: u64,
    /// Whether the documents look like pages of one template: they are many, and the words that are not shared differ
    /// from document to document.
    pub is_template: bool,
}

impl fmt::Display for SharedWords {
    /// Writes for example `share 310 words; 12 words of their own on average`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "share {}; ", counted(self.shared, "word"))?;
        match self.own {
            0 => f.write_str("hardly any words of their own"),
            own => write!(f, "{} of their own on average", counted(own, "word")),
        }
    }
}

/// Clusters whose documents look like pages of one template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Templates {
    /// Number of clusters that look like pages of one template.
    pub clusters: u64,
    /// Number of removed documents in these clusters.
    pub removed: u64,
}

impl Templates {
    /// Returns the sentence that warns about these clusters. `None` if there are none.
    #[must_use]
    pub(crate) fn warning(&self) -> Option<String> {
        if self.clusters == 0 {
            return None;
        }
        Some(format!(
            "{} with {} may be pages of one template and no copies: they share most of their words, such as \
             a menu, and their other words differ",
            counted(self.clusters, "cluster"),
            counted(self.removed, "removed document")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_are_a_sentence() {
        let words = SharedWords { documents: 20, shared: 1310, own: 12, is_template: true };
        assert_eq!(words.to_string(), "share 1,310 words; 12 words of their own on average");
        let equal = SharedWords { own: 0, ..words };
        assert_eq!(equal.to_string(), "share 1,310 words; hardly any words of their own");
    }

    #[test]
    fn nothing_is_warned_about_without_templates() {
        assert_eq!(Templates::default().warning(), None);
        let warning = Templates { clusters: 1, removed: 1200 }.warning().unwrap();
        assert!(warning.starts_with("1 cluster with 1,200 removed documents may be"), "{warning}");
    }
}
