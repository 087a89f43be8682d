//! The files that `make dashboard` has built, embedded in the binary (a debug build reads them from the
//! source tree, so that the page can be worked on without compiling).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../dashboard/dist/"]
#[allow_missing = true]
struct BuiltPage;

/// The script of the API reference.
pub(crate) struct BuiltScript {
    pub(crate) gzip: Cow<'static, [u8]>,
    pub(crate) etag: String,
}

/// Absent in a build without dashboard.
pub(crate) fn reference_script() -> Option<BuiltScript> {
    let file = BuiltPage::get("reference/scalar.js.gz")?;
    Some(BuiltScript {
        etag: format!("\"{}\"", hex::encode(file.metadata.sha256_hash())),
        gzip: file.data,
    })
}

/// One file by its path below the site.
pub(crate) fn file(path: &str) -> Option<Cow<'static, [u8]>> {
    BuiltPage::get(path).map(|file| file.data)
}

/// A logo as it is built in.
struct BuiltLogo {
    /// Below the site.
    path: String,
    text: String,
}

fn built_logo(service: &str) -> Option<&'static BuiltLogo> {
    static LOGOS: LazyLock<BTreeMap<String, BuiltLogo>> = LazyLock::new(|| {
        let paths = BuiltPage::iter().filter(|path| path.starts_with("assets/logos-"));
        paths
            .filter_map(|path| {
                let (_, name) = path.rsplit_once('/')?;
                let text = String::from_utf8(file(&path)?.into_owned()).ok()?;
                let path = format!("/{path}");
                let service = name.strip_suffix(".svg")?.to_owned();
                Some((service, BuiltLogo { path, text }))
            })
            .collect()
    });
    LOGOS.get(service)
}

/// The logo of a shipped service: the text of an SVG image that the build has checked.
pub(crate) fn logo(service: &str) -> Option<&'static str> {
    built_logo(service).map(|logo| &*logo.text)
}

/// Where the dashboard's edge serves it.
pub(crate) fn logo_path(service: &str) -> Option<String> {
    built_logo(service).map(|logo| logo.path.clone())
}
