//! Records of web archives and wikis that are not documents, and their counts by kind.

use std::ops::AddAssign;

/// A kind of record of a web archive or a wiki that has no text to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonDocument {
    /// A description of the archive.
    Warcinfo,
    /// A request of the crawler.
    Request,
    /// A description of another record.
    Metadata,
    /// A note that a page was the same as at an earlier visit. The record does not contain the page.
    Revisit,
    /// The text that the crawler extracted from a page. The page itself is in another record.
    ExtractedText,
    /// A conversion of a page to another format. The page itself is in the same file.
    ConvertedPage,
    /// A record of another type, such as `continuation`.
    OtherRecord,
    /// A response that is not an HTTP response.
    NotHttp,
    /// A page or text with a redirection (HTTP status 3xx), or a page of a wiki that leads to another page.
    Redirect,
    /// A page or text with a client error (HTTP status 4xx).
    ClientError,
    /// A page or text with a server error (HTTP status 5xx).
    ServerError,
    /// An image.
    Image,
    /// A sound.
    Audio,
    /// A video.
    Video,
    /// A font.
    Font,
    /// Content of another application, such as PDF or JSON.
    Application,
    /// A style sheet, a script or another type of text.
    OtherText,
    /// Content of another media type, for example `model/mesh`.
    OtherType,
    /// A response that should be text by its media type, or has no media type, and whose body is not text.
    NoText,
}

impl NonDocument {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [Self; 19] = [
        Self::Warcinfo,
        Self::Request,
        Self::Metadata,
        Self::Revisit,
        Self::ExtractedText,
        Self::ConvertedPage,
        Self::OtherRecord,
        Self::NotHttp,
        Self::Redirect,
        Self::ClientError,
        Self::ServerError,
        Self::Image,
        Self::Audio,
        Self::Video,
        Self::Font,
        Self::Application,
        Self::OtherText,
        Self::OtherType,
        Self::NoText,
    ];

    /// Returns the name of the count of this kind in files for programs, for example `records_request`.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.names().0
    }

    /// Returns the name of the count of this kind in messages and reports, for example `request records`.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.names().1
    }

    /// Returns whether records of this kind are usual in web archives and never contain a page, for example requests.
    #[must_use]
    pub fn is_routine(self) -> bool {
        matches!(self, Self::Warcinfo | Self::Request | Self::Metadata)
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Warcinfo => ("records_warcinfo", "warcinfo records"),
            Self::Request => ("records_request", "request records"),
            Self::Metadata => ("records_metadata", "metadata records"),
            Self::Revisit => ("records_revisit", "revisit records"),
            Self::ExtractedText => ("records_extracted_text", "extracted texts of pages"),
            Self::ConvertedPage => ("records_converted_page", "conversions of pages"),
            Self::OtherRecord => ("records_other", "other web records"),
            Self::NotHttp => ("responses_not_http", "not HTTP"),
            Self::Redirect => ("responses_redirect", "redirects"),
            Self::ClientError => ("responses_client_error", "pages with status 4xx"),
            Self::ServerError => ("responses_server_error", "pages with status 5xx"),
            Self::Image => ("responses_image", "images"),
            Self::Audio => ("responses_audio", "sounds"),
            Self::Video => ("responses_video", "videos"),
            Self::Font => ("responses_font", "fonts"),
            Self::Application => ("responses_application", "applications"),
            Self::OtherText => ("responses_other_text", "scripts and styles"),
            Self::OtherType => ("responses_other_type", "other web types"),
            Self::NoText => ("responses_no_text", "no text inside"),
        }
    }
}

/// Number of records without a document, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NonDocumentCounts([u64; NonDocument::ALL.len()]);

impl NonDocumentCounts {
    /// Creates the value from the number of records of each kind, in the order of [`NonDocument::ALL`].
    #[must_use]
    pub fn from_counts(counts: [u64; NonDocument::ALL.len()]) -> Self {
        Self(counts)
    }

    /// Counts a record of this kind.
    ///
    /// ```
    /// use simtool_model::non_document::{NonDocument, NonDocumentCounts};
    ///
    /// let mut counts = NonDocumentCounts::default();
    /// counts.count(NonDocument::Image);
    /// assert_eq!((counts.of(NonDocument::Image), counts.of(NonDocument::Font)), (1, 0));
    /// ```
    pub fn count(&mut self, kind: NonDocument) {
        self.0[kind as usize] += 1;
    }

    /// Returns the number of records of this kind.
    #[must_use]
    pub fn of(&self, kind: NonDocument) -> u64 {
        self.0[kind as usize]
    }

    /// Returns each kind that occurs, with the number of its records.
    pub fn kinds(&self) -> impl Iterator<Item = (NonDocument, u64)> {
        NonDocument::ALL
            .into_iter()
            .map(|kind| (kind, self.of(kind)))
            .filter(|(_, count)| *count > 0)
    }
}

impl AddAssign for NonDocumentCounts {
    fn add_assign(&mut self, more: Self) {
        for (count, more) in self.0.iter_mut().zip(more.0) {
            *count += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_place_and_its_names() {
        for (at, kind) in NonDocument::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
            let others = NonDocument::ALL.into_iter().filter(|other| other.key() == kind.key());
            assert_eq!(others.count(), 1, "{kind:?}");
        }
    }
}
