//! A claimed key is marked, answered or freed.

use super::ClaimedKey;
use crate::{Caller, Error, Gateway};
use toolgate_store::RequestAnswer;

impl Gateway {
    /// Notes that from now on something may leave. `false`: the key was taken over meanwhile.
    pub(crate) async fn mark_sent(
        &self,
        caller: &Caller,
        claim: &ClaimedKey,
    ) -> Result<bool, Error> {
        let marked =
            self.store
                .mark_request_sent(&caller.workspace_id, &claim.key, &claim.execution_id);
        Ok(marked.await?)
    }

    pub(super) async fn keep_answer(
        &self,
        caller: &Caller,
        claim: &ClaimedKey,
        answer: &str,
    ) -> Result<(), Error> {
        let answer = RequestAnswer {
            workspace_id: caller.workspace_id.clone(),
            key: claim.key.clone(),
            execution_id: claim.execution_id.clone(),
            answer: self.sealed_answer(caller, &claim.key, answer)?,
        };
        if !self.store.answer_request(&answer).await? {
            tracing::warn!(
                execution_id = claim.execution_id,
                "idempotency.answer_not_kept"
            );
        }
        self.kept_answer(caller, answer.answer.len()).await;
        Ok(())
    }

    /// Frees the key of a request that had no effect. One that was marked stays claimed unless
    /// `even_if_marked`: its outcome is unknown.
    pub(crate) async fn free(
        &self,
        caller: &Caller,
        claim: &ClaimedKey,
        even_if_marked: bool,
    ) -> Result<bool, Error> {
        let freed = self.store.forget_request(
            &caller.workspace_id,
            &claim.key,
            &claim.execution_id,
            even_if_marked,
        );
        let freed = freed.await?;
        if !freed && !even_if_marked {
            self.store
                .give_up_request(&caller.workspace_id, &claim.key, &claim.execution_id)
                .await?;
        }
        Ok(freed)
    }
}
