//! Google's discovery documents (`discovery#restDescription`) as OpenAPI: methods of nested resources become operations,
//! scopes become a sign-in with Google, and schemas keep their names.

use serde_json::{Map, Value, json};

use crate::problem::{Notes, below};
use crate::words;

/// Deepest nesting of resources, and of values in a schema.
const DEPTH_MAX: usize = 64;
/// Scopes of one method that are named.
const SCOPES_MAX: usize = 20;
/// Longest name of a resource or method, in bytes, and longest id of a method, in characters: each method repeats the
/// names of the resources around it.
const NAME_BYTES_MAX: usize = 200;
const ID_CHARS_MAX: usize = 400;

/// Whether a document is a discovery document.
pub fn is_discovery(document: &Value) -> bool {
    document.get("kind").and_then(Value::as_str) == Some("discovery#restDescription")
}

/// Rewrites a discovery document.
pub fn convert(document: &Value, notes: &mut Notes) -> Value {
    let text = |key: &str| document.get(key).and_then(Value::as_str);
    let title = text("title").or(text("name")).unwrap_or("Service");
    let root = text("rootUrl").unwrap_or_default().trim_end_matches('/');
    let service = text("servicePath").unwrap_or_default().trim_matches('/');
    let mut made = json!({
        "openapi": "3.1.0",
        "info": {
            "title": words::clean(title, 100),
            "version": text("version").unwrap_or("1.0.0"),
            "description": text("description").unwrap_or_default(),
        },
        "servers": [{"url": format!("{root}/{service}").trim_end_matches('/')}],
        "components": {"schemas": schemas(document)},
    });
    if let Some(link) = text("documentationLink") {
        made["externalDocs"] = json!({"url": link});
    }
    let (scheme, name) = security_scheme(document);
    made["components"]["securitySchemes"] = json!({name: scheme});
    made["security"] = json!([{name: []}]);
    let mut methods = MethodReader {
        paths: Map::new(),
        security: name,
        notes,
    };
    methods.resources(document, &[], DEPTH_MAX);
    made["paths"] = methods.paths.into();
    made
}

/// A sign-in with Google where the document lists scopes; an API key where it lists none.
fn security_scheme(document: &Value) -> (Value, &'static str) {
    let listed = document.pointer("/auth/oauth2/scopes");
    let Some(listed) = listed.and_then(Value::as_object) else {
        return (
            json!({"type": "apiKey", "in": "query", "name": "key", "description": "Google API key"}),
            "key",
        );
    };
    let scopes = listed.iter().map(|(scope, about)| {
        let text = about.get("description").and_then(Value::as_str);
        (scope.clone(), json!(text.unwrap_or_default()))
    });
    let scopes: Map<String, Value> = scopes.collect();
    let scheme = json!({
        "type": "oauth2",
        "description": "Google account",
        "flows": {"authorizationCode": {
            "authorizationUrl": "https://accounts.google.com/o/oauth2/v2/auth",
            "tokenUrl": "https://oauth2.googleapis.com/token",
            "scopes": scopes,
        }},
        "x-toolgate": {
            "token_auth": "post",
            "revoke_url": "https://oauth2.googleapis.com/revoke",
            // Without it there is no refresh token.
            "authorize_params": {"access_type": "offline", "prompt": "consent"},
        },
    });
    (scheme, "google")
}

struct MethodReader<'n> {
    paths: Map<String, Value>,
    /// Name of the security scheme.
    security: &'static str,
    notes: &'n mut Notes,
}

impl MethodReader<'_> {
    /// The methods of a resource and of those below it. `names`: of the resources around it.
    fn resources(&mut self, owner: &Value, names: &[&str], depth: usize) {
        if depth == 0 {
            return;
        }
        let members = |key: &str| owner.get(key).and_then(Value::as_object);
        let is_short = |(name, _): &(&String, &Value)| name.len() <= NAME_BYTES_MAX;
        for (name, method) in members("methods").into_iter().flatten().filter(is_short) {
            self.method(method, names, name);
        }
        for (name, resource) in members("resources").into_iter().flatten().filter(is_short) {
            let mut names = names.to_vec();
            names.push(name);
            self.resources(resource, &names, depth - 1);
        }
    }

    fn method(&mut self, method: &Value, names: &[&str], name: &str) {
        let text = |key: &str| method.get(key).and_then(Value::as_str);
        let id = words::clean(&[names, &[name]].concat().join("."), ID_CHARS_MAX);
        let (Some(path), Some(verb)) = (text("path"), text("httpMethod")) else {
            let message = format!("`{}` has no path or no method", words::clean(&id, 100));
            return self.notes.left_out("", message);
        };
        let verb = verb.to_ascii_lowercase();
        // Two methods of one address are told apart behind `#`, which is not sent.
        let mut path = format!("/{}", path.trim_start_matches('/'));
        if self.taken(&path, &verb) {
            path.push_str(&format!("#{id}"));
        }
        let at = below(&below("/paths", &path), &verb);
        let flag = |key: &str| method.get(key) == Some(&Value::Bool(true));
        if flag("supportsMediaUpload") {
            let note = "a file is not uploaded; the method is called with its fields alone";
            self.notes.changed(&at, note);
        }
        let mut operation = json!({
            "operationId": id,
            "description": text("description").unwrap_or_default(),
            "parameters": parameters(method),
            "responses": {"200": {"description": "The answer", "content": {"application/json": {}}}},
            "security": self.requirements(method, &verb),
        });
        if let Some(reference) = method.get("request").map(rewritten) {
            let content = json!({"application/json": {"schema": reference}});
            operation["requestBody"] = json!({"content": content});
        }
        if flag("deprecated") {
            operation["deprecated"] = json!(true);
        }
        let item = self.paths.entry(path).or_insert_with(|| json!({}));
        item[verb] = operation;
    }

    fn taken(&self, path: &str, verb: &str) -> bool {
        let item = self.paths.get(path);
        item.is_some_and(|item| item.get(verb).is_some())
    }

    /// Each scope of the method is enough. The first one is asked for: one that only reads, for what reads.
    fn requirements(&self, method: &Value, verb: &str) -> Value {
        let listed = method.get("scopes").and_then(Value::as_array);
        let mut scopes: Vec<&str> = listed
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .take(SCOPES_MAX)
            .collect();
        if scopes.is_empty() {
            return json!([{self.security: []}]);
        }
        let reads = |scope: &&str| !scope.ends_with(".readonly");
        if verb == "get" {
            scopes.sort_by_key(reads);
        }
        let entries = scopes.iter().map(|scope| json!({self.security: [scope]}));
        entries.collect()
    }
}

fn parameters(method: &Value) -> Vec<Value> {
    let declared = method.get("parameters").and_then(Value::as_object);
    let path = method.get("path").and_then(Value::as_str);
    let path = path.unwrap_or_default();
    let declared = declared.into_iter().flatten().filter_map(|(name, about)| {
        let place = about.get("location").and_then(Value::as_str)?;
        let mut schema = rewritten(about);
        if let Some(map) = schema.as_object_mut() {
            for key in ["location", "required", "repeated", "description"] {
                map.shift_remove(key);
            }
        }
        let is = |key: &str| about.get(key) == Some(&Value::Bool(true));
        if is("repeated") {
            schema = json!({"type": "array", "items": schema});
        }
        let mut made = json!({"name": name, "in": place, "schema": schema});
        made["required"] = json!(is("required"));
        // `{+name}` is more than one segment (RFC 6570).
        made["allowReserved"] = json!(path.contains(&format!("{{+{name}}}")));
        if let Some(text) = about.get("description") {
            made["description"] = text.clone();
        }
        Some(made)
    });
    declared.collect()
}

fn schemas(document: &Value) -> Map<String, Value> {
    let declared = document.get("schemas").and_then(Value::as_object);
    let declared = declared.into_iter().flatten();
    declared
        .map(|(name, schema)| (name.clone(), rewritten(schema)))
        .collect()
}

/// A schema in the form of JSON Schema.
fn rewritten(schema: &Value) -> Value {
    at_depth(schema, DEPTH_MAX)
}

fn at_depth(schema: &Value, depth: usize) -> Value {
    let Some(map) = schema.as_object().filter(|_| depth > 0) else {
        return json!({});
    };
    let kind = map.get("type").and_then(Value::as_str);
    let mut made = Map::new();
    for (key, value) in map {
        let value = match (key.as_str(), value) {
            ("id" | "annotations" | "enumDescriptions" | "enumDeprecated", _) => continue,
            // In a discovery document the name alone.
            ("$ref", Value::String(name)) => json!(format!("#/components/schemas/{name}")),
            ("type", Value::String(kind)) if kind == "any" => continue,
            ("required", Value::Bool(_)) => continue,
            ("properties", Value::Object(fields)) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, field)| (name.clone(), at_depth(field, depth - 1)));
                Value::Object(fields.collect())
            }
            ("items" | "additionalProperties", inner) if inner.is_object() => {
                at_depth(inner, depth - 1)
            }
            // Numbers and booleans are written as texts.
            ("default" | "minimum" | "maximum", Value::String(text)) if kind != Some("string") => {
                match serde_json::from_str(text) {
                    Ok(value) => value,
                    Err(_) => continue,
                }
            }
            // Of a number that is sent as a text.
            ("minimum" | "maximum", _) => continue,
            (_, value) => value.clone(),
        };
        made.insert(key.clone(), value);
    }
    made.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the form of <https://www.googleapis.com/discovery/v1/apis/drive/v3/rest>, shortened.
    fn drive() -> Value {
        let scope = |name: &str| format!("https://www.googleapis.com/auth/{name}");
        json!({
            "kind": "discovery#restDescription", "name": "drive", "version": "v3", "title": "Google Drive API",
            "description": "The Google Drive API allows clients to access resources from Google Drive.",
            "documentationLink": "https://developers.google.com/workspace/drive/",
            "rootUrl": "https://www.googleapis.com/", "servicePath": "drive/v3/",
            "auth": {"oauth2": {"scopes": {scope("drive"): {"description": "See and edit"}, scope("drive.readonly"): {"description": "See"}}}},
            "schemas": {"File": {"id": "File", "type": "object", "properties": {
                "name": {"type": "string", "description": "The name of the file."},
                "starred": {"type": "boolean", "default": "false"},
                "properties": {"type": "object", "additionalProperties": {"type": "string"}},
                "parents": {"type": "array", "items": {"type": "string"}},
                "extra": {"type": "any"},
                "shortcut": {"$ref": "File"}}}},
            "resources": {"files": {"methods": {
                "list": {"id": "drive.files.list", "path": "files", "httpMethod": "GET", "description": "Lists the user's files.",
                    "parameters": {
                        "pageSize": {"type": "integer", "format": "int32", "location": "query", "default": "100", "minimum": "1", "maximum": "1000"},
                        "spaces": {"type": "string", "location": "query", "repeated": true}},
                    "scopes": [scope("drive"), scope("drive.readonly")]},
                "update": {"id": "drive.files.update", "path": "files/{fileId}", "httpMethod": "PATCH",
                    "parameters": {"fileId": {"type": "string", "location": "path", "required": true}},
                    "request": {"$ref": "File"}, "scopes": [scope("drive")], "supportsMediaUpload": true},
                "move": {"id": "drive.files.move", "path": "{+name}:move", "httpMethod": "POST",
                    "parameters": {"name": {"type": "string", "location": "path", "required": true, "pattern": "^files/[^/]+$"}}},
            }}},
        })
    }

    #[test]
    fn methods_become_operations_with_their_parameters() {
        let mut notes = Notes::default();
        let made = convert(&drive(), &mut notes);
        assert_eq!(
            made["servers"][0]["url"],
            "https://www.googleapis.com/drive/v3"
        );
        let list = &made["paths"]["/files"]["get"];
        assert_eq!(list["operationId"], "files.list");
        assert_eq!(
            list["parameters"],
            json!([
                {"name": "pageSize", "in": "query", "required": false, "allowReserved": false,
                    "schema": {"type": "integer", "format": "int32", "default": 100, "minimum": 1, "maximum": 1000}},
                {"name": "spaces", "in": "query", "required": false, "allowReserved": false,
                    "schema": {"type": "array", "items": {"type": "string"}}},
            ])
        );
        let readonly = "https://www.googleapis.com/auth/drive.readonly";
        assert_eq!(list["security"][0], json!({"google": [readonly]}));
        let update = &made["paths"]["/files/{fileId}"]["patch"];
        assert_eq!(
            update["requestBody"]["content"]["application/json"]["schema"],
            json!({"$ref": "#/components/schemas/File"})
        );
        let moved = &made["paths"]["/{+name}:move"]["post"]["parameters"][0];
        assert_eq!(moved["allowReserved"], true);
        assert_eq!(notes.0.len(), 1, "{:?}", notes.0);
        assert!(notes.0[0].message.contains("a file is not uploaded"));
    }

    #[test]
    fn schemas_have_the_form_of_json_schema() {
        let made = convert(&drive(), &mut Notes::default());
        let fields = &made["components"]["schemas"]["File"]["properties"];
        assert_eq!(
            fields["starred"],
            json!({"type": "boolean", "default": false})
        );
        assert_eq!(
            fields["shortcut"],
            json!({"$ref": "#/components/schemas/File"})
        );
        assert_eq!(fields["extra"], json!({}));
        assert_eq!(
            fields["properties"]["additionalProperties"],
            json!({"type": "string"})
        );
    }

    #[test]
    fn without_scopes_there_is_a_key() {
        let mut document = drive();
        document.as_object_mut().unwrap().shift_remove("auth");
        let made = convert(&document, &mut Notes::default());
        assert_eq!(made["security"], json!([{"key": []}]));
    }
}
