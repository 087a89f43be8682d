//! GraphQL's schema language (GraphQL, section 3) as a schema: definitions and extensions of types. Directives are read
//! over, except those that say something of a request: `@deprecated` and `@oneOf`.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::lexer::{SchemaToken, tokens};
use super::schema::{
    EnumMember, GraphqlSchema, InputField, NamedForm, NamedType, OutputField, TYPES_MAX,
    TypeReference, WRAPPERS_MAX,
};

/// Deepest nesting of a value.
const VALUE_DEPTH_MAX: usize = 64;
/// The words with which a definition begins.
const DEFINING: [&str; 9] = [
    "schema",
    "scalar",
    "type",
    "interface",
    "union",
    "enum",
    "input",
    "directive",
    "extend",
];

/// Whether a text is written in the schema language: its first word defines something, and it is no key of YAML.
pub fn is_schema_text(text: &str) -> bool {
    let start: String = text.chars().take(20_000).collect();
    let mut rest = start.trim_start_matches('\u{feff}').trim_start();
    loop {
        if let Some(comment) = rest.strip_prefix('#') {
            rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(block) = rest.strip_prefix("\"\"\"") {
            rest = block.split_once("\"\"\"").map_or("", |(_, rest)| rest);
        } else if let Some(text) = rest.strip_prefix('"') {
            rest = text.split_once('"').map_or("", |(_, rest)| rest);
        } else {
            break;
        }
        rest = rest.trim_start();
    }
    let word_end = rest.find(|c: char| !c.is_ascii_alphabetic());
    let (word, behind) = rest.split_at(word_end.unwrap_or(rest.len()));
    let behind = behind.trim_start();
    let named = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '{' | '@');
    DEFINING.contains(&word) && behind.starts_with(named)
}

/// Reads a text. The error is a sentence with the line.
pub fn read(text: &str) -> Result<GraphqlSchema, String> {
    let mut parser = SchemaParser {
        tokens: tokens(text)?,
        at: 0,
        schema: GraphqlSchema::default(),
        implemented: Vec::new(),
    };
    while parser.at < parser.tokens.len() {
        parser.definition()?;
    }
    Ok(parser.finish())
}

/// Which directives that matter a definition has.
#[derive(Clone, Copy, Default)]
struct DirectiveMarks {
    deprecated: bool,
    one_of: bool,
}

struct SchemaParser<'t> {
    tokens: Vec<(SchemaToken<'t>, u64)>,
    at: usize,
    schema: GraphqlSchema,
    /// An interface and an object type that implements it.
    implemented: Vec<(String, String)>,
}

impl<'t> SchemaParser<'t> {
    /// Adds the standard names of the roots where no `schema` names them, and who implements which interface.
    fn finish(mut self) -> GraphqlSchema {
        let named = |name: &str, types: &BTreeMap<String, NamedType>| {
            types.contains_key(name).then(|| name.to_owned())
        };
        let schema = &mut self.schema;
        if schema.query.is_none() && schema.mutation.is_none() {
            schema.query = named("Query", &schema.types);
            schema.mutation = named("Mutation", &schema.types);
            schema.subscription = named("Subscription", &schema.types);
        }
        for (interface, object) in self.implemented {
            let found = schema.types.get_mut(&interface);
            if let Some(NamedForm::Interface { possible, .. }) = found.map(|found| &mut found.form)
                && !possible.contains(&object)
            {
                possible.push(object);
            }
        }
        self.schema
    }

    fn peek(&self) -> Option<&SchemaToken<'t>> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn refused<T>(&self, wanted: &str) -> Result<T, String> {
        let last = self.tokens.last().map_or(1, |(_, line)| *line);
        let (line, found) = match self.tokens.get(self.at) {
            None => (last, "the end".to_owned()),
            Some((SchemaToken::Text(_), line)) => (*line, "a string".to_owned()),
            Some((
                SchemaToken::Mark(text) | SchemaToken::Name(text) | SchemaToken::Number(text),
                line,
            )) => (*line, format!("`{text}`")),
        };
        Err(format!("line {line}: expected {wanted}, found {found}"))
    }

    fn mark(&mut self, mark: &str) -> bool {
        let is = matches!(self.peek(), Some(SchemaToken::Mark(found)) if *found == mark);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, mark: &str) -> Result<(), String> {
        match self.mark(mark) {
            true => Ok(()),
            false => self.refused(&format!("`{mark}`")),
        }
    }

    fn keyword(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Some(SchemaToken::Name(found)) if *found == word);
        self.at += usize::from(is);
        is
    }

    fn name(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(SchemaToken::Name(name)) => {
                let name = (*name).to_owned();
                self.at += 1;
                Ok(name)
            }
            _ => self.refused("a name"),
        }
    }

    fn description(&mut self) -> String {
        match self.peek() {
            Some(SchemaToken::Text(text)) => {
                let text = text.clone();
                self.at += 1;
                text
            }
            _ => String::new(),
        }
    }

    fn definition(&mut self) -> Result<(), String> {
        let description = self.description();
        let _extends = self.keyword("extend");
        if self.keyword("schema") {
            self.directives()?;
            return self.roots();
        }
        if self.keyword("directive") {
            return self.directive_definition();
        }
        let kinds = ["scalar", "type", "interface", "union", "enum", "input"];
        let Some(kind) = kinds.into_iter().find(|kind| self.keyword(kind)) else {
            return self.refused("a definition: type, input, enum, interface, union or scalar");
        };
        let name = self.name()?;
        let interfaces = self.interfaces()?;
        let marks = self.directives()?;
        let form = match kind {
            "scalar" => NamedForm::Scalar,
            "type" => {
                let pairs = interfaces.into_iter().map(|own| (own, name.clone()));
                self.implemented.extend(pairs);
                NamedForm::Object {
                    fields: self.listed("{", "}", Self::output)?,
                }
            }
            "interface" => NamedForm::Interface {
                fields: self.listed("{", "}", Self::output)?,
                possible: Vec::new(),
            },
            "union" => NamedForm::Union {
                possible: self.members()?,
            },
            "enum" => NamedForm::Enum {
                values: self.listed("{", "}", Self::member)?,
            },
            _ => NamedForm::Input {
                fields: self.listed("{", "}", Self::input)?,
                one_of: marks.one_of,
            },
        };
        self.add(name, NamedType { description, form })
    }

    /// Adds a definition, or what an extension brings to the type of its name.
    fn add(&mut self, name: String, found: NamedType) -> Result<(), String> {
        if let Some(known) = self.schema.types.get_mut(&name) {
            match (&mut known.form, found.form) {
                (NamedForm::Object { fields }, NamedForm::Object { fields: more })
                | (
                    NamedForm::Interface { fields, .. },
                    NamedForm::Interface { fields: more, .. },
                ) => fields.extend(more),
                (NamedForm::Union { possible }, NamedForm::Union { possible: more }) => {
                    possible.extend(more);
                }
                (NamedForm::Enum { values }, NamedForm::Enum { values: more }) => {
                    values.extend(more);
                }
                (
                    NamedForm::Input { fields, one_of },
                    NamedForm::Input {
                        fields: more,
                        one_of: also,
                    },
                ) => {
                    fields.extend(more);
                    *one_of |= also;
                }
                (NamedForm::Scalar, NamedForm::Scalar) => {}
                _ => return Err(format!("`{name}` is defined twice, as different kinds")),
            }
            if known.description.is_empty() {
                known.description = found.description;
            }
            return Ok(());
        }
        if self.schema.types.len() >= TYPES_MAX {
            return Err(format!("has more than {TYPES_MAX} types"));
        }
        self.schema.types.insert(name, found);
        Ok(())
    }

    /// `schema { query: Root }`.
    fn roots(&mut self) -> Result<(), String> {
        if !self.mark("{") {
            return Ok(());
        }
        while !self.mark("}") {
            let _text = self.description();
            let operation = self.name()?;
            self.expect(":")?;
            let name = self.name()?;
            match operation.as_str() {
                "query" => self.schema.query = Some(name),
                "mutation" => self.schema.mutation = Some(name),
                "subscription" => self.schema.subscription = Some(name),
                _ => return self.refused("query, mutation or subscription"),
            }
        }
        Ok(())
    }

    fn directive_definition(&mut self) -> Result<(), String> {
        self.expect("@")?;
        self.name()?;
        self.listed("(", ")", Self::input)?;
        self.keyword("repeatable");
        if !self.keyword("on") {
            return self.refused("`on`");
        }
        self.mark("|");
        self.name()?;
        while self.mark("|") {
            self.name()?;
        }
        Ok(())
    }

    /// `implements A & B`, and the older `implements A B`.
    fn interfaces(&mut self) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        if !self.keyword("implements") {
            return Ok(found);
        }
        self.mark("&");
        found.push(self.name()?);
        while self.mark("&") || matches!(self.peek(), Some(SchemaToken::Name(_))) {
            found.push(self.name()?);
        }
        Ok(found)
    }

    fn members(&mut self) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        if self.mark("=") {
            self.mark("|");
            found.push(self.name()?);
            while self.mark("|") {
                found.push(self.name()?);
            }
        }
        Ok(found)
    }

    /// What is between two marks, if the first one is there.
    fn listed<T>(
        &mut self,
        open: &str,
        close: &str,
        one: impl Fn(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut found = Vec::new();
        if self.mark(open) {
            while !self.mark(close) {
                found.push(one(self)?);
            }
        }
        Ok(found)
    }

    fn output(&mut self) -> Result<OutputField, String> {
        let description = self.description();
        let name = self.name()?;
        let arguments = self.listed("(", ")", Self::input)?;
        self.expect(":")?;
        Ok(OutputField {
            name,
            description,
            arguments,
            of: self.reference(0)?,
            deprecated: self.directives()?.deprecated,
        })
    }

    fn input(&mut self) -> Result<InputField, String> {
        let description = self.description();
        let name = self.name()?;
        self.expect(":")?;
        let of = self.reference(0)?;
        let default = match self.mark("=") {
            true => Some(self.value(0)?),
            false => None,
        };
        Ok(InputField {
            name,
            description,
            of,
            default,
            deprecated: self.directives()?.deprecated,
        })
    }

    fn member(&mut self) -> Result<EnumMember, String> {
        let _text = self.description();
        Ok(EnumMember {
            name: self.name()?,
            deprecated: self.directives()?.deprecated,
        })
    }

    fn reference(&mut self, depth: usize) -> Result<TypeReference, String> {
        if depth > WRAPPERS_MAX {
            return self.refused("fewer lists in one another");
        }
        let inner = match self.mark("[") {
            true => {
                let inner = self.reference(depth + 1)?;
                self.expect("]")?;
                TypeReference::List(Box::new(inner))
            }
            false => TypeReference::Named(self.name()?),
        };
        Ok(match self.mark("!") {
            true => TypeReference::NonNull(Box::new(inner)),
            false => inner,
        })
    }

    fn directives(&mut self) -> Result<DirectiveMarks, String> {
        let mut marks = DirectiveMarks::default();
        while self.mark("@") {
            match self.name()?.as_str() {
                "deprecated" => marks.deprecated = true,
                "oneOf" => marks.one_of = true,
                _ => {}
            }
            self.listed("(", ")", |parser| {
                parser.name()?;
                parser.expect(":")?;
                parser.value(0)
            })?;
        }
        Ok(marks)
    }

    /// A value as it is written, strings as JSON.
    fn value(&mut self, depth: usize) -> Result<String, String> {
        if depth > VALUE_DEPTH_MAX {
            return self.refused("a value that is less deep");
        }
        if self.mark("[") {
            let mut items = Vec::new();
            while !self.mark("]") {
                items.push(self.value(depth + 1)?);
            }
            return Ok(format!("[{}]", items.join(", ")));
        }
        if self.mark("{") {
            let mut members = Vec::new();
            while !self.mark("}") {
                let name = self.name()?;
                self.expect(":")?;
                members.push(format!("{name}: {}", self.value(depth + 1)?));
            }
            return Ok(format!("{{{}}}", members.join(", ")));
        }
        let written = match self.peek() {
            Some(SchemaToken::Name(text) | SchemaToken::Number(text)) => (*text).to_owned(),
            Some(SchemaToken::Text(text)) => serde_json::Value::from(text.as_str()).to_string(),
            _ => return self.refused("a value"),
        };
        self.at += 1;
        Ok(written)
    }
}
