//! What is inside the boxes of connections and connect flows. None of it can be serialised but into
//! a [`Secret`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::callback::CallbackAddress;
use toolgate_store::RefreshTokenEnd;
use toolgate_vault::Secret;

/// A refresh token is renewed this long before its end, or in the last quarter of a longer life, or in the second half
/// of a shorter one. Before subscribers are informed of an end a week ahead, so that a renewal may move it first.
const REFRESH_AHEAD_MS: i64 = 8 * 24 * 60 * 60 * 1_000;
/// Access and refresh tokens of the last two refreshes.
const SPENT_MAX: usize = 4;

/// A credential: the values that are injected, and what renews them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OpenCredential {
    /// By field name; `secret` is the single field and the access token of an OAuth slot.
    pub values: BTreeMap<String, Secret>,
    pub refresh: Option<Secret>,
    /// Tokens of before the last refreshes, newest first: a provider may still know them.
    pub spent: Vec<Secret>,
    /// How long the access token lives from its making.
    pub lifetime_ms: Option<i64>,
    /// When the request that renewed the access token was sent; `None` for the first token of a connection.
    pub renewed_at_ms: Option<i64>,
    /// How long the refresh token lives from its making, where the provider says it.
    pub refresh_life_ms: Option<i64>,
    pub refresh_expires_at_ms: Option<i64>,
}

/// A browser that was sent to the provider.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StartedFlow {
    pub verifier: Secret,
    /// The link's token, for a second try after the user did not agree.
    pub token: Option<Secret>,
    pub parameters: BTreeMap<String, String>,
    /// The redirect address that the provider was sent.
    pub callback: CallbackAddress,
}

/// A connection that is complete but for the application's word.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnconfirmedConnection {
    pub credential: OpenCredential,
    pub details: ConnectionDetails,
}

/// What a connection is made of beside its credential.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ConnectionDetails {
    pub account: Option<String>,
    pub scopes: Vec<String>,
    pub parameters: BTreeMap<String, String>,
    pub token_expires_at_ms: Option<i64>,
    pub refreshable: bool,
}

/// A box whose content this build cannot read.
#[derive(Debug, thiserror::Error)]
#[error("the content of an encrypted value is not readable")]
pub(super) struct BadContent;

#[derive(Serialize)]
struct WrittenCredential<'a> {
    values: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spent: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lifetime_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    renewed_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_life_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_expires_at_ms: Option<i64>,
}

#[derive(Deserialize)]
struct ReadCredential {
    values: BTreeMap<String, String>,
    refresh: Option<String>,
    #[serde(default)]
    spent: Vec<String>,
    lifetime_ms: Option<i64>,
    renewed_at_ms: Option<i64>,
    refresh_life_ms: Option<i64>,
    refresh_expires_at_ms: Option<i64>,
}

#[derive(Serialize)]
struct WrittenStart<'a> {
    verifier: &'a str,
    token: Option<&'a str>,
    parameters: &'a BTreeMap<String, String>,
    callback: CallbackAddress,
}

#[derive(Deserialize)]
struct ReadStart {
    verifier: String,
    token: Option<String>,
    parameters: BTreeMap<String, String>,
    /// Absent where a build sent the browser off for which there was one address.
    callback: Option<CallbackAddress>,
}

#[derive(Serialize)]
struct WrittenWait<'a> {
    credential: WrittenCredential<'a>,
    details: &'a ConnectionDetails,
}

#[derive(Deserialize)]
struct ReadWait {
    credential: ReadCredential,
    details: ConnectionDetails,
}

impl OpenCredential {
    /// Keeps `token` among the spent ones, the newest [`SPENT_MAX`] of them.
    pub(super) fn spend(&mut self, token: Secret) {
        if !self.spent.contains(&token) {
            self.spent.insert(0, token);
            self.spent.truncate(SPENT_MAX);
        }
    }

    /// Notes what a token answer says of the refresh token's life. One that is replaced lives as long as the one
    /// before, unless the provider says otherwise; one that stays ends when it did.
    pub(super) fn note_refresh_life(
        &mut self,
        said_ms: Option<i64>,
        replaced: bool,
        asked_ms: i64,
    ) {
        match said_ms {
            Some(life_ms) => self.refresh_life_ms = Some(life_ms),
            None if !replaced => return,
            None => {}
        }
        self.refresh_expires_at_ms = self.refresh_life_ms.map(|life_ms| asked_ms + life_ms);
    }

    /// When the refresh token ends, and when it is renewed for its own sake. A renewal that is due at `now_ms` has been
    /// tried by what is stored now.
    pub(super) fn refresh_end(&self, now_ms: i64) -> Option<RefreshTokenEnd> {
        let (expires_at_ms, life_ms) = (self.refresh_expires_at_ms?, self.refresh_life_ms?);
        let ahead_ms = (life_ms / 4).max(REFRESH_AHEAD_MS).min(life_ms / 2);
        let due_at_ms = expires_at_ms - ahead_ms;
        Some(RefreshTokenEnd {
            expires_at_ms,
            due_at_ms: (due_at_ms > now_ms).then_some(due_at_ms),
        })
    }

    pub(super) fn to_secret(&self) -> Secret {
        text(&self.written())
    }

    pub(super) fn parse(opened: &Secret) -> Result<Self, BadContent> {
        Ok(Self::from_parts(read(opened)?))
    }

    fn written(&self) -> WrittenCredential<'_> {
        WrittenCredential {
            values: self
                .values
                .iter()
                .map(|(key, value)| (key.as_str(), value.expose()))
                .collect(),
            refresh: self.refresh.as_ref().map(Secret::expose),
            spent: self.spent.iter().map(Secret::expose).collect(),
            lifetime_ms: self.lifetime_ms,
            renewed_at_ms: self.renewed_at_ms,
            refresh_life_ms: self.refresh_life_ms,
            refresh_expires_at_ms: self.refresh_expires_at_ms,
        }
    }

    fn from_parts(read: ReadCredential) -> Self {
        Self {
            values: read
                .values
                .into_iter()
                .map(|(key, value)| (key, Secret::new(value)))
                .collect(),
            refresh: read.refresh.map(Secret::new),
            spent: read.spent.into_iter().map(Secret::new).collect(),
            lifetime_ms: read.lifetime_ms,
            renewed_at_ms: read.renewed_at_ms,
            refresh_life_ms: read.refresh_life_ms,
            refresh_expires_at_ms: read.refresh_expires_at_ms,
        }
    }
}

impl StartedFlow {
    pub(super) fn to_secret(&self) -> Secret {
        text(&WrittenStart {
            verifier: self.verifier.expose(),
            token: self.token.as_ref().map(Secret::expose),
            parameters: &self.parameters,
            callback: self.callback,
        })
    }

    pub(super) fn parse(opened: &Secret) -> Result<Self, BadContent> {
        let read: ReadStart = read(opened)?;
        Ok(Self {
            verifier: Secret::new(read.verifier),
            token: read.token.map(Secret::new),
            parameters: read.parameters,
            callback: read.callback.unwrap_or(CallbackAddress::SharedUnproven),
        })
    }
}

impl UnconfirmedConnection {
    pub(super) fn to_secret(&self) -> Secret {
        text(&WrittenWait {
            credential: self.credential.written(),
            details: &self.details,
        })
    }

    pub(super) fn parse(opened: &Secret) -> Result<Self, BadContent> {
        let read: ReadWait = read(opened)?;
        Ok(Self {
            credential: OpenCredential::from_parts(read.credential),
            details: read.details,
        })
    }
}

fn text(value: &impl Serialize) -> Secret {
    Secret::new(serde_json::to_string(value).expect("maps of texts have a JSON text"))
}

fn read<'de, T: Deserialize<'de>>(opened: &'de Secret) -> Result<T, BadContent> {
    serde_json::from_str(opened.expose()).map_err(|_| BadContent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_read_back_as_they_were_written_and_print_nothing() {
        let credential = OpenCredential {
            values: BTreeMap::from([("secret".to_owned(), Secret::new("hunter2"))]),
            refresh: Some(Secret::new("hunter3")),
            spent: vec![Secret::new("hunter5")],
            lifetime_ms: Some(5),
            renewed_at_ms: Some(7),
            refresh_life_ms: Some(8),
            refresh_expires_at_ms: Some(9),
        };
        let written = credential.to_secret();
        assert_eq!(OpenCredential::parse(&written).unwrap(), credential);
        let started = StartedFlow {
            verifier: Secret::new("hunter4"),
            token: Some(Secret::new("hunter5")),
            parameters: BTreeMap::from([("subdomain".to_owned(), "acme".to_owned())]),
            callback: CallbackAddress::Service,
        };
        assert_eq!(StartedFlow::parse(&started.to_secret()).unwrap(), started);
        let waiting = UnconfirmedConnection {
            credential,
            details: ConnectionDetails::default(),
        };
        assert_eq!(
            UnconfirmedConnection::parse(&waiting.to_secret()).unwrap(),
            waiting
        );
        let shown = format!("{waiting:?} {started:?} {written:?}");
        assert!(!shown.contains("hunter"), "{shown}");
        assert!(OpenCredential::parse(&Secret::new("{}")).is_err());
    }

    #[test]
    fn a_refresh_token_is_renewed_before_its_end_while_that_moves_it() {
        let day_ms = 24 * 60 * 60 * 1_000;
        let ends = |credential: &OpenCredential, now_ms| {
            let end = credential.refresh_end(now_ms)?;
            Some((
                end.expires_at_ms / day_ms,
                end.due_at_ms.map(|due_ms| due_ms / day_ms),
            ))
        };
        let mut credential = OpenCredential::default();
        credential.note_refresh_life(None, true, 0);
        assert_eq!(ends(&credential, 0), None, "nothing is known");
        for (life_days, due_day) in [(90, 67), (14, 7), (20, 12)] {
            credential.note_refresh_life(Some(life_days * day_ms), true, 0);
            assert_eq!(ends(&credential, 0), Some((life_days, Some(due_day))));
        }
        credential.note_refresh_life(None, false, 5 * day_ms);
        assert_eq!(
            ends(&credential, 5 * day_ms),
            Some((20, Some(12))),
            "it stays"
        );
        assert_eq!(
            ends(&credential, 13 * day_ms),
            Some((20, None)),
            "and was tried"
        );
        credential.note_refresh_life(None, true, 5 * day_ms);
        assert_eq!(
            ends(&credential, 5 * day_ms),
            Some((25, Some(17))),
            "a new one"
        );
        credential.note_refresh_life(Some(15 * day_ms), false, 10 * day_ms);
        assert_eq!(
            ends(&credential, 10 * day_ms),
            Some((25, Some(17))),
            "what is left"
        );
    }
}
