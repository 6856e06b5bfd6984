//! Writes a picture in the format that the name of its file asks for: SVG, PNG or PDF.
//!
//! A picture is drawn as SVG. PNG and PDF are made from it with the fonts of the machine, so their bytes are equal only
//! on machines with the same fonts.

use simtool_base::error::{Error, Result};
use simtool_base::shell_word::shell_word;
use std::path::{Path, PathBuf};

/// Format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PictureFormat {
    Svg,
    Png,
    Pdf,
}

impl PictureFormat {
    /// Returns the format for the ending of a file name, for example [`Self::Png`] for `a.png`. Returns `None` for
    /// other endings.
    fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_string_lossy().to_ascii_lowercase();
        match &*ending {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            "pdf" => Some(Self::Pdf),
            _ => None,
        }
    }

    /// Returns the name of the format for `rsvg-convert`.
    #[cfg(not(feature = "pictures"))]
    fn name(self) -> &'static str {
        if self == Self::Png { "png" } else { "pdf" }
    }
}

/// Writer of one picture, which has everything that its format needs, such as fonts. It is created before the
/// evaluation begins, so that missing fonts are reported at once.
#[derive(Debug)]
pub struct PictureWriter {
    path: PathBuf,
    format: PictureFormat,
    fonts: Option<Fonts>,
}

impl PictureWriter {
    /// Prepares writing a picture to `path`, whose ending is the format.
    ///
    /// # Errors
    ///
    /// The ending is not `.svg`, `.png` or `.pdf`, this build writes only SVG, or the machine has no font.
    pub fn new(path: &Path) -> Result<Self> {
        let wrong = |rule: String| Error::config("plot", path.display(), rule);
        let format = PictureFormat::of(path);
        let format = format.ok_or_else(|| wrong("must end in .svg, .png or .pdf".to_owned()))?;
        let fonts = match format {
            PictureFormat::Svg => None,
            PictureFormat::Png | PictureFormat::Pdf => {
                Some(Fonts::of_system(format, path).map_err(wrong)?)
            }
        };
        Ok(Self { path: path.to_owned(), format, fonts })
    }

    /// Returns the bytes of the file for a picture that is drawn as SVG.
    ///
    /// # Errors
    ///
    /// The picture is too large for the memory.
    pub fn convert(&self, svg: String) -> Result<Vec<u8>> {
        let Some(fonts) = &self.fonts else { return Ok(svg.into_bytes()) };
        let drawn = match self.format {
            PictureFormat::Png => fonts.png(&svg),
            PictureFormat::Svg | PictureFormat::Pdf => fonts.pdf(&svg),
        };
        drawn.map_err(|problem| {
            let svg = shell_word(&self.path.with_extension("svg").to_string_lossy());
            let rule = format!("cannot be drawn ({problem}); write {svg} instead");
            Error::config("plot", self.path.display(), rule)
        })
    }
}

#[cfg(feature = "pictures")]
mod fonts {
    use super::PictureFormat;
    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::fontdb::{Database, Family, Query};
    use resvg::usvg::{Options, Tree};
    use std::path::Path;
    use std::sync::Arc;
    use svg2pdf::{ConversionOptions, PageOptions};

    /// Number of pixels of a PNG file for a unit of the SVG, so that text is sharp in print.
    const PIXELS: u8 = 2;
    /// Fonts without serifs that Linux systems often have. The picture asks for Helvetica and Arial, and these are
    /// similar.
    const USUAL: [&str; 6] =
        ["Helvetica", "Arial", "Liberation Sans", "Nimbus Sans", "DejaVu Sans", "Noto Sans"];

    /// Header of the library's PDF files, and the header that is written instead, of the same length.
    const NEWER: &[u8; 8] = b"%PDF-1.7";
    const DECLARED: &[u8; 8] = b"%PDF-1.5";

    /// Fonts for the text of pictures.
    #[derive(Debug)]
    pub(super) struct Fonts(Arc<Database>);

    impl Fonts {
        /// Finds the fonts of the system. `path` is the file of the picture, for the message.
        ///
        /// # Errors
        ///
        /// The system has no font. The error is a phrase with what to do.
        pub(super) fn of_system(_: PictureFormat, path: &Path) -> Result<Self, String> {
            let mut fonts = Database::new();
            fonts.load_system_fonts();
            Self::of(fonts).ok_or_else(|| {
                format!(
                    "needs a font for its text, and this machine has none: install one, for example the package \
                     fonts-dejavu-core, or write {}, which needs none",
                    path.with_extension("svg").display()
                )
            })
        }

        /// Chooses the font that is used where a picture asks for any font without serifs. Returns `None` if there is
        /// no font.
        pub(super) fn of(mut fonts: Database) -> Option<Self> {
            let has = |fonts: &Database, name: &str| {
                let families = &[Family::Name(name)];
                fonts.query(&Query { families, ..Query::default() }).is_some()
            };
            let usual = USUAL.into_iter().find(|name| has(&fonts, name)).map(str::to_owned);
            // Without a usual font, any font is better than no text.
            let any = || Some(fonts.faces().next()?.families.first()?.0.clone());
            let family = usual.or_else(any)?;
            fonts.set_sans_serif_family(family);
            Some(Self(Arc::new(fonts)))
        }

        fn tree(&self, svg: &str) -> Result<Tree, String> {
            let options = Options { fontdb: Arc::clone(&self.0), ..Options::default() };
            Tree::from_str(svg, &options).map_err(|error| error.to_string())
        }

        /// Draws a picture as PNG.
        pub(super) fn png(&self, svg: &str) -> Result<Vec<u8>, String> {
            let tree = self.tree(svg)?;
            let size = tree.size().to_int_size();
            let [width, height] =
                [size.width(), size.height()].map(|side| side * u32::from(PIXELS));
            let scale = f32::from(PIXELS);
            let mut pixels = Pixmap::new(width, height).ok_or("it is too large")?;
            resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
            pixels.encode_png().map_err(|error| error.to_string())
        }

        /// Draws a picture as PDF with text that can be selected.
        pub(super) fn pdf(&self, svg: &str) -> Result<Vec<u8>, String> {
            let (conversion, page) = (ConversionOptions::default(), PageOptions::default());
            let drawn = svg2pdf::to_pdf(&self.tree(svg)?, conversion, page);
            let mut pdf = drawn.map_err(|error| error.to_string())?;
            // LaTeX warns about a version above 1.5. Shapes, text and the transparency group of the page need 1.4.
            if pdf.starts_with(NEWER) {
                pdf[..NEWER.len()].copy_from_slice(DECLARED);
            }
            Ok(pdf)
        }
    }
}

/// Replacement for the module of this name in builds without the feature `pictures`, which cannot draw text.
#[cfg(not(feature = "pictures"))]
mod fonts {
    use super::{PictureFormat, shell_word};
    use std::path::Path;

    /// Empty type in place of fonts, because this build cannot draw pictures with text.
    #[derive(Debug)]
    pub(super) enum Fonts {}

    impl Fonts {
        /// Always returns an error: a phrase with a command that converts an SVG file.
        pub(super) fn of_system(format: PictureFormat, path: &Path) -> Result<Self, String> {
            let svg = path.with_extension("svg");
            let [to, from] = [path, &svg].map(|path| shell_word(&path.to_string_lossy()));
            let format = format.name();
            Err(format!(
                "this build writes only .svg; convert it: rsvg-convert --format {format} --output {to} {from}"
            ))
        }

        pub(super) fn png(&self, _: &str) -> Result<Vec<u8>, String> {
            match *self {}
        }

        pub(super) fn pdf(&self, _: &str) -> Result<Vec<u8>, String> {
            match *self {}
        }
    }
}

use fonts::Fonts;

#[cfg(all(test, feature = "pictures"))]
mod tests {
    use super::*;
    use resvg::tiny_skia::Pixmap;
    use resvg::usvg::fontdb::Database;

    /// Returns a picture with a blue bar, and with this text on white.
    fn picture(text: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"40\" viewBox=\"0 0 100 40\">\
             <rect width=\"100\" height=\"40\" fill=\"#ffffff\"/>\
             <rect width=\"10\" height=\"40\" fill=\"#0000ff\"/>\
             <text x=\"20\" y=\"30\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"20\" \
             fill=\"#000000\">{text}</text></svg>"
        )
    }

    /// Returns the writer of a picture. Returns `None` on a machine without fonts, and checks the message there.
    fn writer(name: &str) -> Option<PictureWriter> {
        match PictureWriter::new(Path::new(name)) {
            Ok(writer) => Some(writer),
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("fonts-dejavu-core"), "{error}");
                None
            }
        }
    }

    #[test]
    fn png_has_the_shapes_and_the_text_of_the_picture() {
        let Some(writer) = writer("a.png") else { return };
        let dark = |text: &str| {
            let png = writer.convert(picture(text)).unwrap();
            let pixels = Pixmap::decode_png(&png).unwrap();
            assert_eq!((pixels.width(), pixels.height()), (200, 80));
            let colour = |x, y| pixels.pixel(x, y).map(|pixel| (pixel.red(), pixel.blue()));
            assert_eq!((colour(5, 5), colour(199, 5)), (Some((0, 255)), Some((255, 255))));
            let is_dark = |x, y| colour(x, y).is_some_and(|(red, blue)| red < 99 && blue < 99);
            let places = (30..200).flat_map(|x| (0..80).map(move |y| (x, y)));
            places.filter(|&(x, y)| is_dark(x, y)).count()
        };
        assert_eq!(dark(""), 0);
        assert!(dark("F1") > 50 && dark("F1 F1") > dark("F1"));
    }

    #[test]
    fn pdf_has_a_page_with_an_embedded_font() {
        let Some(writer) = writer("a.PDF") else { return };
        let [with, without] = ["F1", ""].map(|text| writer.convert(picture(text)).unwrap());
        let has = |pdf: &[u8], part: &[u8]| pdf.windows(part.len()).any(|window| window == part);
        assert!(with.starts_with(b"%PDF-1.5\n") && has(&with, b"/MediaBox [0 0 100 40]"));
        assert!(has(&with, b"/FontFile") && !has(&without, b"/FontFile"));
    }

    #[test]
    fn svg_stays_and_other_endings_are_refused() {
        let writer = PictureWriter::new(Path::new("a.svg")).unwrap();
        assert_eq!(writer.convert("<svg/>".to_owned()).unwrap(), b"<svg/>");
        for name in ["a.jpg", "a"] {
            let error = PictureWriter::new(Path::new(name)).unwrap_err().to_string();
            assert_eq!(error, format!("plot {name}: must end in .svg, .png or .pdf"));
        }
        assert!(Fonts::of(Database::new()).is_none());
    }
}
