//! The fields of a request body as arguments.

use serde_json::Value;
use toolgate_openapi_table::{Encoding, Field, Source};

use super::{constant, is_json, is_text};
use crate::arguments::{Argument, ArgumentForm, ArgumentList};
use crate::document::{Documents, Node};
use crate::keys::{self, InputKeys};
use crate::problem::{Notes, Problem, below};
use crate::schema::{self, Shape};
use crate::words;

/// Reads the fields of one body.
pub(super) struct FieldReader<'a, 'd> {
    pub(super) docs: &'d Documents,
    /// The Media Type Object of the body.
    pub(super) media: Node<'d>,
    pub(super) encoding: &'a Encoding,
    /// See [`super::BodyOptions`].
    pub(super) page_field: Option<&'a [String]>,
    /// Of `media`, for messages.
    pub(super) pointer: &'a str,
    pub(super) arguments: &'a mut ArgumentList<'d>,
    pub(super) notes: &'a mut Notes,
    /// The fields found so far.
    pub(super) fields: Vec<Field>,
    /// Paths of the objects that are sent even where none of their fields is given.
    pub(super) objects: Vec<Vec<String>>,
}

impl<'d> FieldReader<'_, 'd> {
    /// Reads the properties of `shape`, an object at `path` in the body. `flatten` is the rest of the path to the object
    /// whose fields become arguments of their own; `needed` says whether the object is required.
    pub(super) fn fields(
        &mut self,
        shape: &Shape<'d>,
        path: &[String],
        flatten: &[&str],
        needed: bool,
    ) -> Result<(), Problem> {
        if let Some(first) = flatten.first()
            && !shape.properties.iter().any(|(name, _)| name == first)
        {
            let names = shape.properties.iter().map(|(name, _)| *name);
            let names: Vec<&str> = names.take(12).collect();
            return Err(Problem::new(
                self.docs.name(),
                self.pointer,
                format!(
                    "`flatten` names `{first}`, which the body does not have; it has {}",
                    names.join(", ")
                ),
            ));
        }
        for (name, node) in &shape.properties {
            let mut inner = path.to_vec();
            inner.push((*name).to_owned());
            if self.page_field == Some(inner.as_slice()) {
                continue;
            }
            let required = needed && shape.required.iter().any(|known| known == name);
            if flatten.first() == Some(name) {
                let inside = schema::shape(self.docs, *node);
                if required {
                    self.objects.push(inner.clone());
                }
                self.fields(&inside, &inner, &flatten[1..], required)?;
                continue;
            }
            self.field(*node, inner, required)?;
        }
        Ok(())
    }

    fn field(&mut self, node: Node<'d>, path: Vec<String>, required: bool) -> Result<(), Problem> {
        let resolved = self.docs.resolve(node).unwrap_or(node);
        if resolved.flag("readOnly") || node.flag("readOnly") {
            return Ok(());
        }
        let name = path.last().cloned().unwrap_or_default();
        let encoding = self.media.get("encoding").and_then(|all| all.get(&name));
        let mut field = Field {
            source: Source::Constant(Value::Null),
            file: false,
            joined: encoding.and_then(separator),
            media_type: encoding
                .and_then(|e| e.text("contentType"))
                .filter(|media| !media.contains(['*', ',', '\r', '\n', '"']))
                .map(str::to_owned),
            path,
        };
        if let Some(value) = constant(resolved).filter(|_| required) {
            field.source = Source::Constant(value.clone());
            self.fields.push(field);
            return Ok(());
        }
        let at = below(&below(self.pointer, "properties"), &name);
        let keys: InputKeys = keys::read(self.docs.name(), &at, node)?;
        let mut wanted = keys.name.unwrap_or_else(|| words::argument(&name));
        if self.arguments.has(&wanted) {
            wanted = format!("body_{wanted}");
        }
        let form = self.form(node, resolved, &at);
        field.file = matches!(form, ArgumentForm::File { .. });
        let argument = Argument {
            name: String::new(),
            required,
            description: node.text("description"),
            form,
        };
        field.source = Source::Argument(self.arguments.add(&wanted, argument));
        self.fields.push(field);
        Ok(())
    }

    /// In a multipart body a file, a list of files or the schema; elsewhere the schema.
    fn form(&mut self, node: Node<'d>, resolved: Node<'d>, pointer: &str) -> ArgumentForm<'d> {
        if *self.encoding == Encoding::Multipart {
            let items = resolved.get("items");
            let items = items.map(|items| self.docs.resolve(items).unwrap_or(items));
            let many = !is_file(resolved);
            if !many || items.is_some_and(is_file) {
                return ArgumentForm::File {
                    schema: resolved,
                    many,
                };
            }
        } else if is_file(resolved) && resolved.text("type") == Some("file") {
            self.notes.changed(
                pointer,
                "a file can only be sent in a multipart body; it is sent as text",
            );
        }
        ArgumentForm::Schema(node)
    }
}

/// The separator of the items of a list that a form sends as one value (OpenAPI 3.1, section 4.8.15.1.2); `None` where
/// each item is sent by itself.
fn separator(encoding: Node<'_>) -> Option<char> {
    let (between, apart) = match encoding.text("style") {
        None | Some("form") => (',', true),
        Some("spaceDelimited") => (' ', false),
        Some("pipeDelimited") => ('|', false),
        // Only in Swagger 2.0.
        Some("tabDelimited") => ('\t', false),
        Some(_) => return None,
    };
    let explode = encoding.value.get("explode").and_then(Value::as_bool);
    (!explode.unwrap_or(apart)).then_some(between)
}

fn is_file(schema: Node<'_>) -> bool {
    let text = schema
        .text("contentMediaType")
        .is_some_and(|media| is_text(media) || is_json(media));
    schema.text("type") == Some("file")
        || schema.text("format") == Some("binary")
        || (schema.text("contentMediaType").is_some()
            && schema.text("contentEncoding").is_none()
            && !text)
}
