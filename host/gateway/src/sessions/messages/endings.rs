//! How a turn ends that does not end with an answer.

use super::turn::Turn;
use super::{
    Message, Pending, StepDetails, TURN_STEPS_MAX, TURN_TOKENS_MAX, TurnReason, TurnStatus,
};
use crate::{Error, RateLimited};
use toolgate_store::Speaker;

impl Turn<'_> {
    /// Ends the turn until a person has done something. The link is in the answer alone.
    pub(super) async fn pause(
        &mut self,
        pending: Pending,
        reason: TurnReason,
    ) -> Result<Message, Error> {
        let link = pending.connect_url.clone();
        let details = StepDetails {
            status: Some(TurnStatus::Paused),
            reason: Some(reason),
            model_configured: Some(true),
            pending: Some(Pending {
                connect_url: None,
                ..pending.clone()
            }),
            tokens: Some(self.tokens),
            ..StepDetails::default()
        };
        let text = format!("{} Then resume the session.", pending.message);
        let mut paused = self.add(Speaker::Assistant, text, details).await?;
        if let Some(pending) = &mut paused.details.pending {
            pending.connect_url = link;
        }
        Ok(paused)
    }

    pub(super) async fn stop(&mut self, reason: TurnReason) -> Result<Message, Error> {
        let why = match reason {
            TurnReason::StepsExhausted => {
                format!("the turn has used all of its {TURN_STEPS_MAX} steps")
            }
            TurnReason::TokensExhausted => {
                format!("the turn has used its {TURN_TOKENS_MAX} tokens")
            }
            TurnReason::TimeExhausted => format!(
                "the turn has used its {} s",
                self.gateway.turn_settings.turn.as_secs()
            ),
            TurnReason::KeyRevoked => "the rights of the caller have changed".to_owned(),
            _ => "the gateway is stopping".to_owned(),
        };
        self.end(
            reason,
            format!("Stopped: {why}. Resume the session to go on."),
        )
        .await
    }

    pub(super) async fn limited(&mut self, limited: &RateLimited) -> Result<Message, Error> {
        let text = format!(
            "Stopped: the limit of {} requests a {} is used up. Resume the session in {} s to go on.",
            limited.limit, limited.window, limited.retry_after_s
        );
        self.end(TurnReason::RateLimited, text).await
    }

    pub(super) async fn failed(&mut self, why: &str) -> Result<Message, Error> {
        let text = format!("Stopped: {why}. Resume the session to try again.");
        self.end(TurnReason::ModelFailed, text).await
    }

    async fn end(&mut self, reason: TurnReason, text: String) -> Result<Message, Error> {
        let details = StepDetails {
            status: Some(TurnStatus::Stopped),
            reason: Some(reason),
            model_configured: Some(true),
            tokens: Some(self.tokens),
            ..StepDetails::default()
        };
        self.add(Speaker::Assistant, text, details).await
    }
}
