//! The border to the host: one small set of functions with two bodies.
//!
//! In a component they are the contract's imports (`component`); in a native build they go to the
//! thread's [`MockHost`](crate::testing::MockHost). Nothing else in this crate knows the
//! difference. Each function is called only where a plugin uses it, so that an import nobody needs
//! is dropped by the linker.

#[cfg(target_family = "wasm")]
mod component;
#[cfg(target_family = "wasm")]
pub(crate) use component::*;

#[cfg(not(target_family = "wasm"))]
pub(crate) use crate::testing::host::*;
