//! Passwords: Argon2id (RFC 9106) with its bounds. Hashing takes 19 MiB and tens of milliseconds on
//! purpose, so only a few run at once and only a few wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use tokio::sync::Semaphore;

use crate::Error;
use toolgate_vault::Secret;

pub const PASSWORD_CHARS_MIN: usize = 12;
pub const PASSWORD_CHARS_MAX: usize = 200;
/// Hashes that are computed at one time, and that wait for their turn.
const RUNNING_MAX: usize = 2;
const WAITING_MAX: usize = 32;
/// Of no password: checking one takes as long for an address that nobody has.
const NOBODYS: &str = "$argon2id$v=19$m=19456,t=2,p=1$dG9vbGdhdGUtbm9ib2R5$7B0lXT2dVdF7DVZXQ7rYw0oUEVVkVQkMu7uPgHkBn1U";

/// Hashes and checks passwords, a few at a time.
#[derive(Clone)]
pub struct Passwords {
    strangers: PasswordQueue,
    /// Of members and of browsers that have signed in before: strangers do not fill it.
    known: PasswordQueue,
}

#[derive(Clone)]
struct PasswordQueue {
    turns: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

impl PasswordQueue {
    fn new(running_max: usize) -> Self {
        Self {
            turns: Arc::new(Semaphore::new(running_max)),
            waiting: Arc::default(),
        }
    }
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            strangers: PasswordQueue::new(RUNNING_MAX),
            known: PasswordQueue::new(1),
        }
    }
}

impl Passwords {
    /// The hash to keep of a new password.
    pub async fn hash(&self, password: Secret) -> Result<String, Error> {
        let chars = password.expose().chars().count();
        if !(PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&chars) {
            return Err(Error::InvalidRequest(format!(
                "password: must have {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters"
            )));
        }
        self.known
            .run(move || {
                Argon2::default()
                    .hash_password(password.expose().as_bytes())
                    .map(|hash| hash.to_string())
                    .map_err(|cause| Error::Internal(anyhow::anyhow!("argon2: {cause}")))
            })
            .await?
    }

    /// Whether a password is the one behind a hash. Without a hash it takes as long and is not.
    /// `known`: asked by somebody who was let in before.
    pub async fn fits(
        &self,
        password: Secret,
        hash: Option<String>,
        known: bool,
    ) -> Result<bool, Error> {
        if password.expose().chars().count() > PASSWORD_CHARS_MAX {
            return Ok(false);
        }
        let queue = if known { &self.known } else { &self.strangers };
        queue
            .run(move || {
                let known = hash.is_some();
                let hash = hash.unwrap_or_else(|| NOBODYS.to_owned());
                let parsed = PasswordHash::new(&hash).map_err(|cause| {
                    Error::Internal(anyhow::anyhow!("a stored password: {cause}"))
                })?;
                let fits = Argon2::default()
                    .verify_password(password.expose().as_bytes(), &parsed)
                    .is_ok();
                Ok(known && fits)
            })
            .await?
    }
}

impl PasswordQueue {
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let place = PasswordQueuePlace::enter(&self.waiting)
            .ok_or(Error::Overloaded { retry_after_s: 1 })?;
        let turn = self.turns.clone().acquire_owned().await;
        drop(place);
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        });
        done.await.map_err(|cause| Error::Internal(cause.into()))
    }
}

/// A place in the queue, given back when dropped.
struct PasswordQueuePlace(Arc<AtomicUsize>);

impl PasswordQueuePlace {
    fn enter(waiting: &Arc<AtomicUsize>) -> Option<Self> {
        let place = Self(waiting.clone());
        let before = waiting.fetch_add(1, Ordering::SeqCst);
        (before < WAITING_MAX).then_some(place)
    }
}

impl Drop for PasswordQueuePlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_fits_its_own_hash_alone() {
        let passwords = Passwords::default();
        let secret = |text: &str| Secret::new(text);
        let hash = passwords
            .hash(secret("correct horse battery"))
            .await
            .unwrap();
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        for (password, hash, fits) in [
            ("correct horse battery", Some(hash.clone()), true),
            ("correct horse batterY", Some(hash.clone()), false),
            ("", Some(hash), false),
            ("correct horse battery", None, false),
        ] {
            let told = passwords.fits(secret(password), hash, false).await.unwrap();
            assert_eq!(told, fits, "{password}");
        }
    }

    #[tokio::test]
    async fn short_and_endless_passwords_are_refused() {
        let passwords = Passwords::default();
        for bad in ["", "elevenchars", &"x".repeat(PASSWORD_CHARS_MAX + 1)] {
            let refused = passwords.hash(Secret::new(bad)).await.unwrap_err();
            assert_eq!(refused.code(), "invalid_request");
        }
    }
}
