//! Where the browser goes once a connect link has ended or was cancelled.
//!
//! Both addresses were checked when the link was made ([`crate::connections::link`]). Neither carries
//! anything secret: an application learns the connection itself by its key.

use serde_json::{Value, json};
use url::Url;

use super::Step;
use toolgate_store::ConnectFlow;
use toolgate_vault::Secret;

/// What a popup's message calls itself, so that a page can tell it from the messages of others.
const MESSAGE_TYPE: &str = "toolgate.connect";

/// How a link ended for the person before the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectEnd {
    Connected,
    Cancelled,
    Failed,
}

impl ConnectEnd {
    fn as_str(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

/// The way from the last page back to the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayBack {
    /// The application's page, with `connect_status` and `connection_id` in its query.
    pub return_url: Option<String>,
    pub popup: Option<PopupMessage>,
}

/// What the page that opened a popup is sent. A browser gives it to no page of another origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PopupMessage {
    pub origin: String,
    pub message: Value,
}

impl WayBack {
    pub(super) fn new(flow: &ConnectFlow, end: ConnectEnd) -> Self {
        let return_url = flow.return_url.as_deref().and_then(|text| {
            let mut url = Url::parse(text).ok()?;
            url.query_pairs_mut()
                .append_pair("connect_status", end.as_str())
                .append_pair("connection_id", &flow.connection_id);
            Some(String::from(url))
        });
        let popup = flow.popup_origin.clone().map(|origin| PopupMessage {
            origin,
            message: json!({
                "type": MESSAGE_TYPE,
                "status": end.as_str(),
                "connection_id": flow.connection_id,
                "service": flow.service,
            }),
        });
        Self { return_url, popup }
    }

    /// The browser leaves at once, except out of a popup, whose page closes itself.
    pub(super) fn leaves_at_once(&self) -> Option<Step> {
        let url = self.return_url.as_ref().filter(|_| self.popup.is_none())?;
        Some(Step::Leave {
            url: Secret::new(url.clone()),
            cookie: None,
        })
    }
}
