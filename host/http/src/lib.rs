//! The HTTP edges: REST, the pages behind connect links, the authorization server of the MCP endpoint,
//! and the dashboard with its routes.
//!
//! An edge authenticates, decodes, calls one operation of [`toolgate_gateway`] and encodes what comes
//! back. It knows no business rules.

#![forbid(unsafe_code)]

pub mod authorization;
mod built_page;
pub mod connect;
pub mod guide;
pub mod internal;
pub mod rest;

/// The path of a service's logo, an SVG image, where one is built in.
pub fn logo_path(service: &str) -> Option<String> {
    built_page::logo_path(service)
}
