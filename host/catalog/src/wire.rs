//! Which headers and media types pass between a plugin and a provider.
//!
//! Pure. A plugin with a credential slot sends and reads what is on the short lists here, and what its
//! manifest declares beyond them (`request_headers`, `response_headers`, `response_types`), which is a
//! right like its hosts. Some names may not even be declared: headers that cut an answer into pieces,
//! encode it anew, change the method, or belong to the gateway.

use super::manifest::Manifest;

/// What every plugin may set on a request.
const REQUEST_HEADERS: &[&str] = &[
    "accept",
    "accept-language",
    "content-language",
    "content-type",
    "idempotency-key",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-unmodified-since",
    "user-agent",
    "x-request-id",
];

/// What every plugin may read of an answer to a request with a credential.
const RESPONSE_HEADERS: &[&str] = &[
    "allow",
    "cache-control",
    "content-disposition",
    "content-language",
    "content-length",
    "content-type",
    "date",
    "deprecation",
    "etag",
    "expires",
    "last-modified",
    "link",
    "location",
    "request-id",
    "retry-after",
    "sunset",
    "www-authenticate",
    "x-next-page",
    "x-page",
    "x-per-page",
    "x-prev-page",
    "x-request-id",
    "x-total",
    "x-total-count",
    "x-total-pages",
    "x-wp-total",
    "x-wp-totalpages",
];
/// The same by how the name begins.
const RESPONSE_PREFIXES: &[&str] = &["ratelimit", "x-ratelimit-", "x-rate-limit-"];

/// What every plugin may read of an answer's bodies, beside `text/*`, `*+json` and `*+xml`.
const RESPONSE_TYPES: &[&str] = &[
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/json-seq",
    "application/jsonl",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
];

/// Requests never carry these for a plugin, declared or not.
const NEVER_SENT: &[&str] = &[
    "authorization",
    "cf-connecting-ip",
    "connection",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "set-cookie",
    "set-cookie2",
    "te",
    "trailer",
    "trailers",
    "true-client-ip",
    "upgrade",
    "via",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-http-method",
    "x-method",
    "x-original-url",
    "x-real-ip",
    "x-rewrite-url",
];
/// Nor anything whose name speaks of these: parts of an answer, its encoding, another method or client.
const NEVER_SENT_WORDS: &[&str] = &[
    "charset",
    "encoding",
    "forwarded",
    "override",
    "proxy-",
    "range",
];
/// Describes what is sent, where a file goes out in parts.
const CONTENT_RANGE: &str = "content-range";

/// Plugins never read these, declared or not.
const NEVER_READ: &[&str] = &[
    "alt-svc",
    "authentication-info",
    "authorization",
    "connection",
    "content-encoding",
    "content-range",
    "cookie",
    "http2-settings",
    "keep-alive",
    "public-key-pins",
    "set-cookie",
    "set-cookie2",
    "strict-transport-security",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
    "x-amz-security-token",
];
const NEVER_READ_WORDS: &[&str] = &["proxy-", "x-forwarded-"];

/// Longest declared name, and how much of it a `*` at its end leaves written out.
const NAME_BYTES_MAX: usize = 100;
const BEFORE_STAR_BYTES_MIN: usize = 4;

/// Whether requests of plugins carry the header at all. `name` is in lower case.
pub fn is_ever_sent(name: &str) -> bool {
    !NEVER_SENT.contains(&name)
        && (name == CONTENT_RANGE || !NEVER_SENT_WORDS.iter().any(|word| name.contains(word)))
}

/// Whether plugins read the header of an answer at all.
pub fn is_ever_read(name: &str) -> bool {
    !NEVER_READ.contains(&name) && !NEVER_READ_WORDS.iter().any(|word| name.starts_with(word))
}

/// Whether requests of this plugin may carry the header.
pub fn may_send(manifest: Option<&Manifest>, name: &str) -> bool {
    let declared = manifest.map_or(&[][..], |manifest| &manifest.request_headers);
    is_ever_sent(name) && (REQUEST_HEADERS.contains(&name) || names(declared, name))
}

/// Whether this plugin may read the header of an answer to a request with a credential.
pub fn may_read(manifest: Option<&Manifest>, name: &str) -> bool {
    let declared = manifest.map_or(&[][..], |manifest| &manifest.response_headers);
    is_ever_read(name)
        && (RESPONSE_HEADERS.contains(&name)
            || RESPONSE_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
            || names(declared, name))
}

/// Whether this plugin may read a body of that media type in an answer to a request with a credential.
/// `media` is `type/subtype` in lower case, without parameters.
pub fn may_read_type(manifest: Option<&Manifest>, media: &str) -> bool {
    is_text(media)
        || manifest.is_some_and(|manifest| {
            manifest.response_types.iter().any(|declared| {
                declared == "*/*"
                    || declared == media
                    || declared.strip_suffix('*').is_some_and(|kind| {
                        kind.len() > 1 && kind.ends_with('/') && media.starts_with(kind)
                    })
            })
        })
}

/// Media types that every plugin may read.
pub fn is_text(media: &str) -> bool {
    media.starts_with("text/")
        || RESPONSE_TYPES.contains(&media)
        || (media.contains('/') && (media.ends_with("+json") || media.ends_with("+xml")))
}

fn names(declared: &[String], name: &str) -> bool {
    declared
        .iter()
        .any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix) && name.len() > prefix.len(),
            None => pattern.eq_ignore_ascii_case(name),
        })
}

/// What is wrong with a declared header; `sent` where it is one of requests.
pub fn check_header(name: &str, sent: bool) -> Result<(), String> {
    let plain = name.strip_suffix('*').unwrap_or(name);
    let token =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    if plain.is_empty() || name.len() > NAME_BYTES_MAX || !plain.bytes().all(token) {
        return Err(
            "write the header's name in lower case, such as `x-api-version`; a `*` may end it"
                .to_owned(),
        );
    }
    if name != plain && (plain.len() < BEFORE_STAR_BYTES_MIN || !plain.ends_with('-')) {
        return Err(format!(
            "a `*` may only follow a prefix of at least {BEFORE_STAR_BYTES_MIN} bytes that ends with `-`, such as `x-meta-*`"
        ));
    }
    if sent && !is_ever_sent(plain) {
        return Err(format!(
            "`{name}` cannot be declared: it is the gateway's own, or it cuts or encodes the answer"
        ));
    }
    if !sent && !is_ever_read(plain) {
        return Err(format!("`{name}` is never handed to a plugin"));
    }
    Ok(())
}

/// What is wrong with a declared media type.
pub fn check_type(media: &str) -> Result<(), String> {
    let token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".+-_".contains(&byte)
            })
    };
    let good = media.len() <= NAME_BYTES_MAX
        && media.split_once('/').is_some_and(|(kind, sub)| {
            (kind, sub) == ("*", "*") || (token(kind) && (sub == "*" || token(sub)))
        });
    match good {
        true => Ok(()),
        false => Err(
            "write a media type in lower case, such as `application/pdf`, `image/*` or `*/*`"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cuts_or_encodes_an_answer_can_be_neither_sent_nor_declared() {
        for name in [
            "range",
            "if-range",
            "x-ms-range",
            "x-amz-copy-source-range",
            "te",
            "accept-encoding",
            "accept-charset",
            "expect",
            "x-http-method-override",
            "x-method-override",
            "host",
            "authorization",
            "cookie",
            "x-forwarded-for",
            "proxy-authorization",
            "content-encoding",
            "transfer-encoding",
            "connection",
            "x-original-url",
            "x-http-method",
        ] {
            assert!(!may_send(None, name), "{name}");
            assert!(check_header(name, true).is_err(), "{name}");
        }
        for name in ["", "X-Api", "*", "x-*", "a b", "x-api*", "x-forwarded-*"] {
            assert!(check_header(name, true).is_err(), "{name}");
        }
        for name in ["x-api-version", "x-amz-meta-*", "prefer", "content-range"] {
            assert_eq!(check_header(name, true), Ok(()), "{name}");
            assert!(!may_send(None, name), "{name}");
        }
        assert!(may_send(None, "accept"));
    }

    #[test]
    fn what_is_read_is_listed_or_declared() {
        for (name, read) in [
            ("content-type", true),
            ("link", true),
            ("x-ratelimit-remaining", true),
            ("ratelimit", true),
            ("x-echo", false),
            ("set-cookie", false),
            ("server", false),
            ("content-range", false),
        ] {
            assert_eq!(may_read(None, name), read, "{name}");
        }
        for name in ["set-cookie", "proxy-x", "content-range"] {
            assert!(check_header(name, false).is_err(), "{name}");
        }
        for (media, read) in [
            ("application/json", true),
            ("application/hal+json", true),
            ("text/html", true),
            ("image/svg+xml", true),
            ("application/pdf", false),
            ("image/png", false),
            ("", false),
            ("multipart/byteranges", false),
            ("application/octet-stream", false),
        ] {
            assert_eq!(may_read_type(None, media), read, "{media}");
        }
        for (media, good) in [
            ("image/*", true),
            ("*/*", true),
            ("application/pdf", true),
            ("*/json", false),
            ("image", false),
            ("Image/png", false),
            ("image/png; q=1", false),
            ("/", false),
        ] {
            assert_eq!(check_type(media).is_ok(), good, "{media}");
        }
    }
}
