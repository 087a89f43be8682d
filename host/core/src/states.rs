//! States that the database stores and the API returns, with their rules.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

/// A connection's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = HealthState)]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ConnectionHealth {
    Active,
    /// A refresh is running. Never stored.
    Refreshing,
    /// A refresh failed for a reason that may pass; it is tried again at `next_retry_at`.
    CoolingDown,
    /// The user has to connect again.
    ReauthNeeded,
    Revoked,
}

impl ConnectionHealth {
    /// Whether only the user can repair it, by connecting again.
    pub fn is_broken(self) -> bool {
        match self {
            Self::Active | Self::Refreshing | Self::CoolingDown => false,
            Self::ReauthNeeded | Self::Revoked => true,
        }
    }
}

/// The status of an approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ApprovalStatus {
    #[default]
    Pending,
    Approved,
    Denied,
    /// The approved call has run.
    Used,
    Expired,
}

impl ApprovalStatus {
    /// The status at `now_ms` of an approval that was stored with this one: a pending or approved one expires at
    /// `expires_at_ms`.
    pub fn at(self, now_ms: i64, expires_at_ms: i64) -> Self {
        match self {
            Self::Pending | Self::Approved if expires_at_ms <= now_ms => Self::Expired,
            Self::Pending | Self::Approved | Self::Denied | Self::Used | Self::Expired => self,
        }
    }
}

/// The status of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum DeliveryStatus {
    /// Not sent yet, or to be tried again.
    Pending,
    Delivered,
    /// Given up after three days, or because the webhook is gone.
    Failed,
}

/// How a trigger fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum TriggerState {
    Active,
    /// The last poll failed; it is tried again at `next_poll_at`.
    Failing,
    /// The user has to connect the service, or connect it again; then the trigger goes on by itself.
    WaitingForConnection,
    /// A caller has paused it.
    Paused,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_and_the_api_have_the_same_words() {
        for (state, word) in [
            (ConnectionHealth::Active, "active"),
            (ConnectionHealth::Refreshing, "refreshing"),
            (ConnectionHealth::CoolingDown, "cooling_down"),
            (ConnectionHealth::ReauthNeeded, "reauth_needed"),
            (ConnectionHealth::Revoked, "revoked"),
        ] {
            assert_eq!(state.into_str(), word);
            assert_eq!(word.parse::<ConnectionHealth>(), Ok(state));
            assert_eq!(serde_json::json!(state), word);
        }
        for (status, word) in [
            (ApprovalStatus::Pending, "pending"),
            (ApprovalStatus::Approved, "approved"),
            (ApprovalStatus::Denied, "denied"),
            (ApprovalStatus::Used, "used"),
            (ApprovalStatus::Expired, "expired"),
        ] {
            assert_eq!(status.into_str(), word);
            assert_eq!(word.parse::<ApprovalStatus>(), Ok(status));
            assert_eq!(serde_json::json!(status), word);
        }
        for (status, word) in [
            (DeliveryStatus::Pending, "pending"),
            (DeliveryStatus::Delivered, "delivered"),
            (DeliveryStatus::Failed, "failed"),
        ] {
            assert_eq!(status.into_str(), word);
            assert_eq!(word.parse::<DeliveryStatus>(), Ok(status));
            assert_eq!(serde_json::json!(status), word);
        }
        assert!("Pending".parse::<DeliveryStatus>().is_err());
        for (state, word) in [
            (TriggerState::Active, "active"),
            (TriggerState::Failing, "failing"),
            (TriggerState::WaitingForConnection, "waiting_for_connection"),
            (TriggerState::Paused, "paused"),
        ] {
            assert_eq!(state.into_str(), word);
            assert_eq!(word.parse::<TriggerState>(), Ok(state));
            assert_eq!(serde_json::json!(state), word);
        }
    }

    #[test]
    fn a_pending_or_approved_approval_expires_and_a_denied_or_used_one_does_not() {
        for (stored, before, after) in [
            (
                ApprovalStatus::Pending,
                ApprovalStatus::Pending,
                ApprovalStatus::Expired,
            ),
            (
                ApprovalStatus::Approved,
                ApprovalStatus::Approved,
                ApprovalStatus::Expired,
            ),
            (
                ApprovalStatus::Denied,
                ApprovalStatus::Denied,
                ApprovalStatus::Denied,
            ),
            (
                ApprovalStatus::Used,
                ApprovalStatus::Used,
                ApprovalStatus::Used,
            ),
        ] {
            assert_eq!(stored.at(999, 1_000), before);
            assert_eq!(stored.at(1_000, 1_000), after);
        }
    }
}
