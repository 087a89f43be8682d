//! Into what Google's own formats can be exported.

const GOOGLE: &str = "application/vnd.google-apps.";

/// Short name, media type and ending of a format.
pub type Format = (&'static str, &'static str);

const DOCUMENT: [Format; 8] = [
    ("md", "text/markdown"),
    (
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    ("pdf", "application/pdf"),
    ("txt", "text/plain"),
    ("html", "text/html"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("rtf", "application/rtf"),
    ("epub", "application/epub+zip"),
];
const SPREADSHEET: [Format; 5] = [
    ("csv", "text/csv"),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("pdf", "application/pdf"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("tsv", "text/tab-separated-values"),
];
const PRESENTATION: [Format; 4] = [
    ("txt", "text/plain"),
    (
        "pptx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    ("pdf", "application/pdf"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
];
const DRAWING: [Format; 4] = [
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("pdf", "application/pdf"),
    ("jpg", "image/jpeg"),
];

/// What a file of this media type can be exported to, the text form first; nothing for other files.
pub fn exports(media_type: &str) -> &'static [Format] {
    match media_type.strip_prefix(GOOGLE) {
        Some("document") => &DOCUMENT,
        Some("spreadsheet") => &SPREADSHEET,
        Some("presentation") => &PRESENTATION,
        Some("drawing") => &DRAWING,
        _ => &[],
    }
}

/// Whether a file is one of Google's own and has no bytes to download.
pub fn is_google(media_type: &str) -> bool {
    media_type.starts_with(GOOGLE)
}

/// In what a file is handed out when nobody says: the office format.
pub fn usual(media_type: &str) -> Option<Format> {
    let all = exports(media_type);
    all.get(1).or(all.first()).copied()
}

/// Whether bytes of this media type are text.
pub fn is_text(media_type: &str) -> bool {
    let main = media_type.split(';').next().unwrap_or_default();
    main.starts_with("text/")
        || main.ends_with("+json")
        || main.ends_with("+xml")
        || matches!(
            main,
            "application/json"
                | "application/xml"
                | "application/javascript"
                | "application/x-yaml"
                | "application/yaml"
                | "application/x-sh"
                | "application/sql"
                | "application/toml"
        )
}

/// Into which of Google's formats an uploaded file can be turned.
pub fn converted(media_type: &str, name: &str) -> Option<&'static str> {
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("md" | "txt" | "html" | "htm" | "doc" | "docx" | "odt" | "rtf") => {
            Some("application/vnd.google-apps.document")
        }
        Some("csv" | "tsv" | "xls" | "xlsx" | "ods") => {
            Some("application/vnd.google-apps.spreadsheet")
        }
        Some("ppt" | "pptx" | "odp") => Some("application/vnd.google-apps.presentation"),
        _ if media_type == "text/csv" => Some("application/vnd.google-apps.spreadsheet"),
        _ if media_type.starts_with("text/") => Some("application/vnd.google-apps.document"),
        _ => None,
    }
}
