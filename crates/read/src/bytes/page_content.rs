//! The part of an HTML page that is its document.

use simtool_base::options::Choice;

/// Part of an HTML page whose text is the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageContent {
    /// The whole text of the page.
    All,
    /// The main content: the text without navigation, header, footer and other parts that many
    /// pages of a site share. A page without a recognizable main content is taken as a whole.
    #[default]
    Main,
}

impl PageContent {
    /// Returns the content with this name, which is `all` or `main`. Returns `None` for another name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|content| content.name() == name)
    }
}

impl Choice for PageContent {
    const ALL: &'static [Self] = &[Self::All, Self::Main];

    fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Main => "main",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::All => "The whole text",
            Self::Main => {
                "The text without navigation, headers, footers and sidebars, or the whole text of a \
                 page without a recognizable main content"
            }
        }
    }
}
