//! Secrets: the type that holds one in memory and the box that holds one at rest.
//!
//! A [`Secret`] prints `[sealed]`, is zeroed when dropped and has no `Serialize`. Only this module
//! sees key material. Read next: [`sealed`] (what a box is), then [`master`] (which key wraps it, and
//! how the key is changed while the gateway serves).

#![forbid(unsafe_code)]

pub mod jwt;
pub mod keyfile;
pub mod master;
pub mod opaque;
pub mod passphrase;
pub mod pieces;
pub mod sealed;
mod texts;
mod tokens;

use std::fmt;

use zeroize::Zeroizing;

pub use master::{Vault, VaultError};
pub use pieces::SealedPieces;
pub use sealed::SealContext;
pub use texts::TEXT_BYTES_MAX;
pub use tokens::{BadToken, Purpose};

/// A secret text in memory.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself. A review should look at every caller.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[sealed]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[sealed]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_prints() {
        let secret = Secret::new("hunter2");
        assert_eq!(
            format!("{secret} {secret:?} {:?}", Some(&secret)),
            "[sealed] [sealed] Some([sealed])"
        );
    }

    #[test]
    fn a_panic_over_a_secret_says_nothing_of_it() {
        let refused: Result<(), Secret> = Err(Secret::new("hunter2"));
        let panicked =
            std::thread::spawn(move || std::hint::black_box(refused).expect("a secret")).join();
        let payload = panicked.expect_err("it panics");
        let text = payload.downcast_ref::<String>().expect("a text");
        assert_eq!(text, "a secret: [sealed]");
    }
}
