//! The option `boilerplate`: which lines are left out of the comparison.

use simtool_base::error::Result;
use simtool_base::options::Options;
use simtool_base::stable_hash::hash;
use simtool_model::document::Document;
use simtool_model::document_id::DocumentId;
use simtool_read::uri;
use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use std::path::Path;
use std::str::FromStr;

/// Description of the valid values of the option `boilerplate`, for error messages.
const EXPECTED: &str = "must be a number of documents of at least 2, alone or with :host or :folder behind it, or \
                        pages or none";

/// Rule for the lines that are left out of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boilerplate {
    /// No lines are left out.
    Nothing,
    /// Lines that are on at least one in fifty of the web pages of a host, and on pages with at least four different
    /// titles. Copies of a page have one title, so they do not make its lines boilerplate.
    Pages,
    /// Lines that many documents of a site have. A site is, for example, all documents of a web host.
    Lines {
        /// Minimum number of documents of a site with the line. At least 2.
        least: NonZeroU32,
        /// Rule for the sites. In each site, the documents with the line are counted separately.
        site: Site,
    },
}

/// Rule that divides the documents into sites. Lines of documents of different sites are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// All documents are one site.
    All,
    /// Documents whose IDs are URIs of the same host are one site. All documents with other IDs, or without an ID, are
    /// another site.
    Host,
    /// Documents whose IDs are URIs with the same path up to the last slash are one site. Documents with other IDs, or
    /// without an ID, are one site if their files are in the same folder.
    Folder,
}

impl Site {
    /// All rules for sites, each with the text that selects it in the option `boilerplate`, for example `:host` in
    /// `20:host`.
    const NAMES: [(Self, &str); 3] =
        [(Self::All, ""), (Self::Host, ":host"), (Self::Folder, ":folder")];

    /// Returns the hash of the site of a document. The hash is 0 if all documents are one site.
    pub(crate) fn of(self, document: &Document<'_>, file: &Path) -> u64 {
        if self == Self::All { 0 } else { hash(&self.name(document.id, file)) | 1 }
    }

    /// Returns the name of the site of the document `id` in `file`, for example its host. The name is empty for
    /// [`Self::All`], and for [`Self::Host`] if the ID is no URI. The case of the letters of a host makes no
    /// difference.
    pub(crate) fn name<'d>(self, id: Option<DocumentId<'_>>, file: &'d Path) -> Cow<'d, [u8]> {
        let id_as_uri = || id.map(DocumentId::bytes).filter(|id| !uri::host(id).is_empty());
        let of_file =
            || file.parent().map_or(&[][..], |folder| folder.as_os_str().as_encoded_bytes());
        match (self, id_as_uri()) {
            (Self::All, _) | (Self::Host, None) => Cow::Borrowed(&[]),
            (Self::Host, Some(uri)) => Cow::Owned(uri::canonical_host(uri)),
            (Self::Folder, None) => Cow::Borrowed(of_file()),
            (Self::Folder, Some(uri)) => Cow::Owned(uri::canonical_folder(uri)),
        }
    }
}

impl Boilerplate {
    /// Rules that have no number, each with its name in the option `boilerplate`.
    const NAMES: [(Self, &str); 2] = [(Self::Nothing, "none"), (Self::Pages, "pages")];
    /// Minimum number of different titles among the pages of a host that have a line, so that the line is boilerplate.
    pub(super) const TITLES: u32 = 4;
    /// Divisor of the number of pages of a host. A line must be in at least the resulting number of pages to be
    /// boilerplate.
    pub(super) const PAGES_A_COPY: u32 = 50;

    /// Returns the rule that divides the documents into sites.
    pub(super) fn site(self) -> Site {
        match self {
            Self::Nothing | Self::Pages => Site::Host,
            Self::Lines { site, .. } => site,
        }
    }

    /// Returns whether pages with few own words are compared only with pages that have the same own words. Own words
    /// are the words of a page that are not in common lines.
    pub(crate) fn compares_own_words(self) -> bool {
        self == Self::Pages
    }

    /// Takes the option `boilerplate` out of `options`.
    ///
    /// # Errors
    ///
    /// The value is wrong.
    pub fn parse(options: &mut Options) -> Result<Option<Self>> {
        options.take_parsed("boilerplate", EXPECTED)
    }
}

impl FromStr for Boilerplate {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some((rule, _)) = Self::NAMES.into_iter().find(|(_, name)| *name == text) {
            return Ok(rule);
        }
        let colon = text.find(':').unwrap_or(text.len());
        let least: NonZeroU32 = text[..colon].parse().map_err(drop)?;
        let site = Site::NAMES.into_iter().find(|(_, name)| *name == &text[colon..]);
        let (site, _) = site.filter(|_| least > NonZeroU32::MIN).ok_or(())?;
        Ok(Self::Lines { least, site })
    }
}

impl fmt::Display for Boilerplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, name)) = Self::NAMES.into_iter().find(|(rule, _)| rule == self) {
            return f.write_str(name);
        }
        let Self::Lines { least, site: of } = self else { return Ok(()) };
        let name = Site::NAMES.into_iter().find(|(site, _)| site == of);
        write!(f, "{least}{}", name.map_or("", |(_, name)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_parsed_and_printed() {
        for rule in ["20", "2:host", "10:folder", "pages", "none"] {
            assert_eq!(rule.parse::<Boilerplate>().unwrap().to_string(), rule);
        }
        for wrong in [
            "",
            "1",
            "0",
            "many",
            "20:",
            "20:site",
            ":host",
            "pages:host",
            "1:host",
            "20:host:folder",
        ] {
            assert!(wrong.parse::<Boilerplate>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sites_are_those_of_the_uri_or_of_the_file() {
        let site = |site: Site, id: Option<&'static str>, file: &str| {
            let id = id.map(|id| DocumentId::Text(id.as_bytes()));
            site.of(&Document { id, ..Document::new(b"text") }, Path::new(file))
        };
        let a = Some("http://a.example/x/1.html");
        for (of, other, file, is_same) in [
            (Site::All, Some("http://b.example/"), "z/f", true),
            (Site::Host, Some("https://a.example/y"), "z/f", true),
            (Site::Host, Some("HTTP://A.Example./y"), "z/f", true),
            (Site::Host, Some("http://b.example/x/1.html"), "f", false),
            (Site::Host, None, "f", false),
            (Site::Folder, Some("http://a.example/x/2.html?q"), "z/f", true),
            (Site::Folder, Some("Http://A.example/x/3.html"), "z/f", true),
            (Site::Folder, Some("http://a.example/X/1.html"), "f", false),
            (Site::Folder, Some("http://a.example/y/1.html"), "f", false),
            (Site::Folder, Some("17"), "f", false),
        ] {
            assert_eq!(site(of, a, "f") == site(of, other, file), is_same, "{of:?} {other:?}");
        }
        assert_eq!(site(Site::Folder, None, "z/f"), site(Site::Folder, Some("17"), "z/g"));
        assert_ne!(site(Site::Folder, None, "z/f"), site(Site::Folder, None, "y/f"));
        assert_eq!(site(Site::Host, None, "z/f"), site(Site::Host, Some("17"), "y/g"));
    }
}
