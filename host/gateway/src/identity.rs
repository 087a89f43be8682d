//! Who asks: keys, members, users and the workspaces that they belong to.

pub(crate) mod authenticate;
pub(crate) mod caller;
pub mod key_ring;
pub mod keys;
pub mod members;
pub mod users;
pub mod workspaces;
