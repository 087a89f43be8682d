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

/// One file by its path below the site.
pub(crate) fn file(path: &str) -> Option<Cow<'static, [u8]>> {
    BuiltPage::get(path).map(|file| file.data)
}

/// The logo of a shipped service: the text of an SVG image that the build has checked.
pub(crate) fn logo(service: &str) -> Option<&'static str> {
    static LOGOS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
        let paths = BuiltPage::iter().filter(|path| path.starts_with("assets/logos-"));
        paths
            .filter_map(|path| {
                let (_, name) = path.rsplit_once('/')?;
                let text = String::from_utf8(file(&path)?.into_owned()).ok()?;
                Some((name.strip_suffix(".svg")?.to_owned(), text))
            })
            .collect()
    });
    LOGOS.get(service).map(String::as_str)
}
