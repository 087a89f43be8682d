//! Which parts of a token response may be stored in clear: none that is a credential, contains one or is part of one.
//!
//! Pure. The response itself is read in [`super::answer`].

use serde_json::Value;
use zeroize::Zeroizing;

use toolgate_egress::Scrubber;

/// A shorter text may be part of a token by chance.
const PART_BYTES_MIN: usize = 8;
/// Words in the names of credentials, in lower case.
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

/// The credentials of a token response and of its request: the tokens, every string under the name of a credential, and
/// the secrets that were sent.
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

    /// Whether `text` contains one of them or a part of one, or is a part of one.
    pub(crate) fn overlap(&self, text: &str) -> bool {
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
