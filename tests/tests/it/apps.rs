//! MCP clients that start with only the gateway's URL: they discover the authorization server, register,
//! get a member's consent, call tools, refresh and revoke their tokens; and every refusal on the way.

mod authorize;
mod documents;
mod official;
mod people;
mod tokens;
mod way;
mod whole;
