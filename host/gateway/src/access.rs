//! Who may run what: rules, defaults, and the approvals that a person gives.

pub mod approvals;
pub mod permission_default;
pub mod permission_rules;
pub(crate) mod permissions;
