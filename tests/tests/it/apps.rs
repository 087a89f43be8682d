//! MCP clients that start with only the gateway's URL: they discover the authorization server, register,
//! get a member's consent, call tools, refresh and revoke their tokens; and every refusal on the way. Groups of
//! a provider that decide who is a member, assertions of an issuer, and machines with a secret.

mod addresses;
mod assertions;
mod authorize;
mod company;
mod conformance;
mod documents;
mod groups;
mod issuers;
mod key_proofs;
mod machines;
mod official;
mod people;
mod recorded;
mod repeats;
mod tokens;
mod toolsets;
pub(crate) mod way;
mod whole;
