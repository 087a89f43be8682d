//! What of a token answer may be kept in clear: nothing that is a credential, holds one or is part of one.
//!
//! Pure. The answer itself is read in [`super::answer`].

use serde_json::Value;
use zeroize::Zeroizing;

use toolgate_egress::Scrubber;

/// A shorter text may be part of a token by chance.
const PART_BYTES_MIN: usize = 8;
/// What the names of credentials hold, in lower case.
const CREDENTIAL_WORDS: &[&str] = &[
    "assertion",
    "code",
    "cookie",
    "credential",
    "jwt",
    "key",
    "pass",
    "secret",
    "session",
    "sig",
    "ticket",
    "token",
];

/// What of a token answer, or of the request for it, is a credential: the tokens, every text under a
/// name that credentials have, and what was sent.
pub(super) struct CredentialTexts {
    texts: Vec<Zeroizing<String>>,
    scrubber: Scrubber,
}

impl CredentialTexts {
    pub(crate) fn collect(answer: &Value, sent: &[&str]) -> Self {
        let mut texts = Vec::new();
        collect(false, answer, &mut texts);
        texts.extend(sent.iter().map(|text| Zeroizing::new((*text).to_owned())));
        let mut scrubber = Scrubber::default();
        scrubber.learn(texts.iter().map(|text| text.as_bytes()));
        Self { texts, scrubber }
    }

    /// Whether one of them, or a part of one, stands in `text`, or `text` in one of them.
    pub(crate) fn stand_in(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        self.scrubber.finds(text.as_bytes())
            || self.texts.iter().any(|credential| {
                let credential = Zeroizing::new(credential.to_ascii_lowercase());
                (!credential.is_empty() && text == **credential)
                    || (credential.len() >= PART_BYTES_MIN && text.contains(credential.as_str()))
                    || (text.len() >= PART_BYTES_MIN && credential.contains(&text))
            })
    }
}

fn is_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name != "token_type" && CREDENTIAL_WORDS.iter().any(|word| name.contains(word))
}

fn collect(inside: bool, value: &Value, texts: &mut Vec<Zeroizing<String>>) {
    match value {
        Value::String(text) if inside => texts.push(Zeroizing::new(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| collect(inside, item, texts)),
        Value::Object(members) => {
            for (key, member) in members {
                collect(inside || is_credential(key), member, texts);
            }
        }
        _ => {}
    }
}
