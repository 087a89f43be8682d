//! The REST edge, walked by its own document: what is true of every route is asked of every route,
//! so that a new one cannot be forgotten.

mod bad_input;
mod edge;
mod walk;
