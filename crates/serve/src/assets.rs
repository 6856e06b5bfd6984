//! The files of the web pages, which are part of the program.

/// A file that the server sends to the browser, such as a style sheet.
struct Asset {
    /// Path in the address, after the token. The token is a random text that each address begins with.
    path: &'static str,
    media_type: &'static str,
    text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// All files of the web pages. A new file needs a line here.
const ASSETS: &[Asset] = &[
    Asset {
        path: "",
        media_type: "text/html; charset=utf-8",
        text: include_str!("../web/index.html"),
    },
    Asset {
        path: "style.css",
        media_type: "text/css; charset=utf-8",
        text: include_str!("../web/style.css"),
    },
    Asset { path: "app.js", media_type: SCRIPT, text: include_str!("../web/app.js") },
    Asset { path: "page.js", media_type: SCRIPT, text: include_str!("../web/page.js") },
    Asset { path: "overview.js", media_type: SCRIPT, text: include_str!("../web/overview.js") },
    Asset { path: "list.js", media_type: SCRIPT, text: include_str!("../web/list.js") },
    Asset { path: "pair.js", media_type: SCRIPT, text: include_str!("../web/pair.js") },
    Asset { path: "fields.js", media_type: SCRIPT, text: include_str!("../web/fields.js") },
    Asset { path: "found.js", media_type: SCRIPT, text: include_str!("../web/found.js") },
    Asset { path: "judge.js", media_type: SCRIPT, text: include_str!("../web/judge.js") },
    Asset { path: "decide.js", media_type: SCRIPT, text: include_str!("../web/decide.js") },
];

/// Returns the media type and the text of the file in [`ASSETS`] with the path `path`, or `None` if there is no such
/// file.
pub(crate) fn find(path: &str) -> Option<(&'static str, &'static str)> {
    let asset = ASSETS.iter().find(|asset| asset.path == path)?;
    Some((asset.media_type, asset.text))
}
