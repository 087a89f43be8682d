//! Who asks: keys, members, the apps that members let in, users and the workspaces that they belong to.

pub mod apps;
pub(crate) mod authenticate;
pub(crate) mod caller;
pub mod client_sessions;
pub mod key_ring;
pub mod keys;
pub mod members;
mod renew;
pub mod users;
pub mod workspaces;
