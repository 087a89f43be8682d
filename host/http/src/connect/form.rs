//! What a browser sends to a page: a form, and where it comes from.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Body;
use futures_util::StreamExt as _;
use http::{HeaderMap, StatusCode, header};
use url::form_urlencoded;
use zeroize::Zeroizing;

/// Largest form: a few credentials.
pub(super) const FORM_BYTES_MAX: usize = 128 * 1024;
const FORM_TIMEOUT: Duration = Duration::from_secs(30);
const INPUTS_MAX: usize = 64;

/// Why a form is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadForm {
    #[error("The form is not of the kind that a browser sends.")]
    Kind,
    #[error("The form is too large.")]
    TooLarge,
    #[error("The form did not arrive whole.")]
    Incomplete,
}

impl BadForm {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Kind => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Incomplete => StatusCode::BAD_REQUEST,
        }
    }
}

/// The inputs by name.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
) -> Result<BTreeMap<String, String>, BadForm> {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(BadForm::Kind);
    }
    let collect = async {
        let mut whole = Zeroizing::new(Vec::new());
        let mut chunks = body.into_data_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| BadForm::Incomplete)?;
            if whole.len() + chunk.len() > FORM_BYTES_MAX {
                return Err(BadForm::TooLarge);
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole)
    };
    let whole = tokio::time::timeout(FORM_TIMEOUT, collect)
        .await
        .map_err(|_| BadForm::Incomplete)??;
    Ok(form_urlencoded::parse(&whole)
        .take(INPUTS_MAX)
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect())
}

/// Whether a form was sent from one of our own pages. A browser that says so is believed (Fetch
/// Metadata); one that says nothing proves itself by the link's token alone.
pub(super) fn comes_from_here(headers: &HeaderMap) -> bool {
    headers
        .get("sec-fetch-site")
        .is_none_or(|site| site == "same-origin" || site == "none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[tokio::test]
    async fn a_form_is_read_up_to_its_limit() {
        let mut headers = HeaderMap::new();
        let text = format!("a={}", "x".repeat(FORM_BYTES_MAX - 2));
        assert_eq!(
            read(&headers, Body::from(text.clone())).await,
            Err(BadForm::Kind)
        );
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded; charset=UTF-8"),
        );
        assert!(read(&headers, Body::from(text.clone())).await.is_ok());
        let more = Body::from(format!("{text}x"));
        assert_eq!(read(&headers, more).await, Err(BadForm::TooLarge));
        let form = read(&headers, Body::from("f_a=b%20c&p_d=")).await.unwrap();
        assert_eq!((form["f_a"].as_str(), form["p_d"].as_str()), ("b c", ""));
    }

    #[test]
    fn a_form_of_another_site_is_refused() {
        for (site, here) in [
            (None, true),
            (Some("same-origin"), true),
            (Some("none"), true),
            (Some("same-site"), false),
            (Some("cross-site"), false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(site) = site {
                headers.insert("sec-fetch-site", HeaderValue::from_static(site));
            }
            assert_eq!(comes_from_here(&headers), here, "{site:?}");
        }
    }
}
