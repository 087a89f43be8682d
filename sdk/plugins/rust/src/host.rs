//! The functions of the host: one small set with two implementations.
//!
//! In a component they are the contract's imports (`component`); in a native build they go to the
//! thread's [`MockHost`](crate::testing::MockHost). Nothing else in this crate knows the
//! difference. Each function is called only where a plugin uses it, so that the linker drops
//! the imports that are not needed.

#[cfg(target_family = "wasm")]
mod component;
#[cfg(target_family = "wasm")]
pub(crate) use component::*;

#[cfg(not(target_family = "wasm"))]
pub(crate) use crate::testing::host::*;
