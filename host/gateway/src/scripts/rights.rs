//! Whose steps a run makes: the caller as it is at the moment, looked at before every step.

use crate::{Caller, Error, Gateway};
use toolgate_store::Topic;

impl Gateway {
    /// The caller of a run as its key, or what the member has granted the app, is now; with what other processes have
    /// changed meanwhile, so that permissions are those of the moment.
    ///
    /// # Errors
    /// `invalid_api_key` or `sign_in_required`: the caller may not call any more, or it is not known whether it may.
    pub(super) async fn caller_of_step(&self, caller: &Caller) -> Result<Caller, Error> {
        let changes = self.store.changes().await?;
        if changes == caller.changes {
            return Ok(caller.clone());
        }
        self.services.refresh(&self.store, changes).await?;
        let stale = |topic| changes.get(topic) != caller.changes.get(topic);
        let mut now = match stale(Topic::Keys) || stale(Topic::Members) {
            true => self.caller_after_wait(caller).await?,
            false => caller.clone(),
        };
        // What a member may do now is looked at when it resumes.
        if caller.role.is_some() && stale(Topic::Members) {
            return Err(Error::SignInRequired);
        }
        now.changes = changes;
        Ok(now)
    }
}
