//! MCP clients that know nothing but the gateway's address: they find the sign-in, register, are let in
//! by a member, call tools, renew and give back their tokens. And all that is refused on the way.

mod authorize;
mod documents;
mod official;
mod people;
mod tokens;
mod way;
mod whole;
