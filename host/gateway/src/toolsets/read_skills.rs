//! The versions of Skills that an admin has read before a toolset hands them to its readers.
//!
//! A toolset names a Skill by its id, and until it does, a key that may write Skills changes the text at once. So who
//! makes a toolset may say which versions it is about; of another one nothing is stored. Whether they still hold is
//! looked at in the transaction that stores the toolset ([`toolgate_store::OtherVersion`]).

use std::collections::BTreeMap;

use crate::Error;
use toolgate_core::visible::shown_name;
use toolgate_store::{OtherVersion, ToolsetRow};

/// A request about a toolset, and the versions of Skills that it is about.
#[derive(Clone, Debug)]
pub struct OverSkills<T> {
    pub request: T,
    /// By the Skill's id; a Skill that is not among them may be at any version.
    pub versions: BTreeMap<String, i64>,
}

/// Over any version of each Skill.
impl<T> From<T> for OverSkills<T> {
    fn from(request: T) -> Self {
        Self {
            request,
            versions: BTreeMap::new(),
        }
    }
}

/// The versions as the store compares them.
///
/// # Errors
/// `invalid_request` for a Skill that the toolset does not name.
pub(super) fn checked_versions(
    versions: BTreeMap<String, i64>,
    toolset: &ToolsetRow,
) -> Result<Vec<(String, i64)>, Error> {
    if let Some(id) = versions.keys().find(|id| !toolset.skills.contains(*id)) {
        return Err(Error::InvalidRequest(format!(
            "skill_versions has the Skill {}, which is not among the skills of the toolset; leave it out",
            shown_name(id)
        )));
    }
    Ok(versions.into_iter().collect())
}

/// What is answered where a Skill has changed since it was read.
pub(super) fn other_version(other: &OtherVersion) -> Error {
    let OtherVersion {
        skill_id,
        read,
        version,
    } = other;
    Error::Conflict(match version {
        Some(version) => {
            format!("the Skill {skill_id} is at version {version}, not {read}: read it again")
        }
        None => format!("the Skill {skill_id} is not there any more: leave it out"),
    })
}
