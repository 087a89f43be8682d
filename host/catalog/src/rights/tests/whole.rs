//! The manifest that the facts are about.

use serde_json::{Value, json};

/// A manifest in which every key that this build knows has a value.
pub(super) fn whole() -> Value {
    let mut whole = standard();
    let slot = whole["auth"][0].as_object_mut().expect("a slot");
    slot.extend(dialect().as_object().expect("keys").clone());
    whole
}

/// What an OAuth slot may say of its authorization server.
fn dialect() -> Value {
    json!({
            "refresh_url": "https://desk.example.com/renew", "token_params": {"expiring": "1"},
            "refresh_params": {"type": "refresh"}, "client_id_param": "client_key",
            "client_secret_param": "secret", "redirect_uri_param": "redirect_url", "redirect_name": "Name", "tenant": "common",
            "scope_param": "user_scope",
            "scope_with": ["refresh"], "token_body": "json", "token_lifetime_s": 3600,
            "token_answer": {"access_token": ["/authed_user/access_token", "/access_token"],
                             "refresh_token": "/data/refresh_token", "expires_in": "/data/life",
                             "refresh_token_expires_in": "/data/end", "scope": "/data/scopes", "error": "/msg"},
            "revoke_param": "access_token"
    })
}

fn triggers() -> Value {
    json!([{"name": "new_ticket", "title": "New ticket", "description": "A ticket was opened.",
            "arguments": {"q": "is:new"}, "items": "/tickets", "id": ["/id", "/changed"],
            "time": "/opened_at", "order": "newest_first", "interval_s": 120}])
}

fn standard() -> Value {
    json!({
        "manifest": 1, "service": "desk", "title": "Desk", "version": "1.0.0",
        "description": "Tickets of a help desk.", "homepage": "https://desk.example.com",
        "categories": ["support"], "hosts": ["api.desk.example.com", "*.files.example.com"],
        "capabilities": ["egress", "kv"],
        "request_headers": ["x-desk-version"], "response_headers": ["x-desk-cost"],
        "response_types": ["application/pdf"],
        "auth": [{
            "slot": "user", "title": "Desk account", "type": "oauth2",
            "authorize_url": "https://desk.example.com/authorize",
            "token_url": "https://desk.example.com/token",
            "revoke_url": "https://desk.example.com/revoke",
            "issuer": "https://desk.example.com", "pkce": false, "scopes": ["read", "write"],
            "scope_separator": ",", "authorize_params": {"access_type": "offline"}, "token_auth": "post",
            "fields": [{"key": "name", "title": "Name", "secret": false, "help": "Your name there."},
                       {"key": "password", "title": "Password", "help": "An app password."}],
            "placement": [{"header": "x-token", "template": "Token {secret}"},
                          {"query": "k", "template": "{secret}"}, {"path": "/bot{secret}"},
                          {"body": "key", "template": "{secret}"},
                          {"basic": {"username": "{secret}", "password": "x"}},
                          {"aws_sigv4": {"service": "s3", "region": "eu"}}],
            "audience": ["https://api.desk.example.com"],
            "account": {"request": "GET https://api.desk.example.com/me", "label": "/name"},
            "token_parameters": {"region": "/region"},
            "expired": ["token_expired"]
        }, {
            "slot": "key", "title": "Desk key", "type": "api_key",
            "placement": [{"header": "x-key", "template": "{secret}"}],
            "audience": ["https://api.desk.example.com"]
        }],
        "parameters": [
            {"key": "region", "title": "Region", "pattern": "^[a-z]+$", "enum": ["eu", "us"],
             "default": "eu", "required": false, "help": "Where the account lives."},
            {"key": "team", "title": "Team"}
        ],
        "config": [{"key": "api_base", "title": "Address", "schema": {"type": "string", "maxLength": 200},
                    "adds_host": true},
                   {"key": "note", "title": "Note", "schema": {"type": "string"}}],
        "limits": {"timeout_ms": 5000, "memory_mib": 32, "response_mib": 4},
        "webhook": {
            "signature": {"header": "x-signature", "element": "v1", "prefix": "sha256=",
                          "signed": "{timestamp}.{body}", "timestamp": {"element": "t"}},
            "delivery": "/id", "challenge": {"at": "/type", "is": "url", "answer": "/challenge"},
            "event": {"name": [{"body": "/type"}, {"header": "x-kind"}], "data": "/data"}
        },
        "tools": [{
            "name": "search", "title": "Search", "description": "Finds tickets by their words.",
            "input": {"type": "object", "title": "Arguments", "required": ["q"], "properties": {
                "q": {"type": "string", "description": "Words.", "maxLength": 50},
                "site": {"enum": ["eu.example.com", "us.example.com"]},
                "filter": {"type": "object", "properties": {"state": {"type": "string"}}}}},
            "output": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "effect": "read", "queries": ["POST https://api.desk.example.com/search"],
            "request": {"send": "POST https://api.desk.example.com/search", "with": ["query api=2"]},
            "idempotent": true, "paginated": true, "auth": ["user", "key"], "auth_optional": true,
            "scopes": ["read"], "keywords": ["find"], "requests": ["find my ticket"],
            "triggers": triggers(),
            "examples": [{"q": "printer"}],
            "deprecated": "Use find."
        }, {
            "name": "close", "description": "Closes a ticket.", "input": {"type": "object"},
            "effect": "write", "auth": ["user"]
        }]
    })
}
