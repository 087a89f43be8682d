//! AWS Signature Version 4 over a finished request.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::Injection;
use super::inject::{Draft, InjectRefusal};
use crate::catalog::manifest::Placement;

/// Signs `draft` where the slot says so. Returns the signature, for the scrubber.
pub fn sign(
    _draft: &mut Draft,
    injection: &Injection,
    _parameters: &BTreeMap<String, String>,
    _now: SystemTime,
) -> Result<Option<String>, InjectRefusal> {
    if injection
        .placements
        .iter()
        .any(|placement| matches!(placement, Placement::AwsSigv4 { .. }))
    {
        return Err(InjectRefusal::Signature);
    }
    Ok(None)
}
