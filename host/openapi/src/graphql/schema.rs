//! A GraphQL schema as its two sources give it: the answer to an introspection query, and the schema language.

use std::collections::BTreeMap;
use std::fmt;

/// Most types of one schema.
pub const TYPES_MAX: usize = 50_000;
/// Most wrappers (lists and "not null") around the name of a type.
pub const WRAPPERS_MAX: usize = 16;

/// The scalars that every schema has.
pub const BUILT_IN: [&str; 5] = ["Int", "Float", "String", "Boolean", "ID"];

/// A schema, with what is needed to ask it.
#[derive(Clone, Debug, Default)]
pub struct GraphqlSchema {
    /// Name of the type whose fields are queries.
    pub query: Option<String>,
    /// Name of the type whose fields are mutations.
    pub mutation: Option<String>,
    pub subscription: Option<String>,
    pub types: BTreeMap<String, NamedType>,
}

/// A type that has a name.
#[derive(Clone, Debug)]
pub struct NamedType {
    pub description: String,
    pub form: NamedForm,
}

#[derive(Clone, Debug)]
pub enum NamedForm {
    Scalar,
    Object {
        fields: Vec<OutputField>,
    },
    /// `possible`: the object types that implement it.
    Interface {
        fields: Vec<OutputField>,
        possible: Vec<String>,
    },
    Union {
        possible: Vec<String>,
    },
    Enum {
        values: Vec<EnumMember>,
    },
    /// `one_of`: exactly one of the fields is given.
    Input {
        fields: Vec<InputField>,
        one_of: bool,
    },
}

/// A field that can be selected.
#[derive(Clone, Debug)]
pub struct OutputField {
    pub name: String,
    pub description: String,
    pub arguments: Vec<InputField>,
    pub of: TypeReference,
    pub deprecated: bool,
}

/// An argument, or a field of an input object.
#[derive(Clone, Debug)]
pub struct InputField {
    pub name: String,
    pub description: String,
    pub of: TypeReference,
    /// As the schema language writes it.
    pub default: Option<String>,
    pub deprecated: bool,
}

#[derive(Clone, Debug)]
pub struct EnumMember {
    pub name: String,
    pub deprecated: bool,
}

/// How a field or an argument refers to a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeReference {
    Named(String),
    List(Box<Self>),
    NonNull(Box<Self>),
}

impl TypeReference {
    /// The type inside all lists.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::List(inner) | Self::NonNull(inner) => inner.name(),
        }
    }

    pub fn is_non_null(&self) -> bool {
        matches!(self, Self::NonNull(_))
    }

    /// The same type where null is allowed.
    pub fn nullable(&self) -> &Self {
        match self {
            Self::NonNull(inner) => inner,
            Self::Named(_) | Self::List(_) => self,
        }
    }

    pub fn is_list(&self) -> bool {
        matches!(self.nullable(), Self::List(_))
    }
}

impl fmt::Display for TypeReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::List(inner) => write!(f, "[{inner}]"),
            Self::NonNull(inner) => write!(f, "{inner}!"),
        }
    }
}

impl InputField {
    /// Whether a request without it is refused.
    pub fn is_required(&self) -> bool {
        self.of.is_non_null() && self.default.is_none()
    }
}

impl OutputField {
    /// Whether it can be selected without arguments.
    pub fn is_plain(&self) -> bool {
        !self.arguments.iter().any(InputField::is_required)
    }
}

impl GraphqlSchema {
    /// Fields of an object or interface; empty for any other type.
    pub fn fields(&self, name: &str) -> &[OutputField] {
        match self.types.get(name).map(|found| &found.form) {
            Some(NamedForm::Object { fields } | NamedForm::Interface { fields, .. }) => fields,
            _ => &[],
        }
    }

    pub fn field(&self, of: &str, name: &str) -> Option<&OutputField> {
        self.fields(of).iter().find(|field| field.name == name)
    }

    /// Whether the name is that of a type. A text in the schema language does not define the built-in ones.
    pub fn knows(&self, name: &str) -> bool {
        self.types.contains_key(name) || BUILT_IN.contains(&name)
    }

    /// Whether a value of this type has fields, and therefore needs a selection.
    pub fn is_composite(&self, name: &str) -> bool {
        matches!(
            self.types.get(name).map(|found| &found.form),
            Some(NamedForm::Object { .. } | NamedForm::Interface { .. } | NamedForm::Union { .. })
        )
    }

    /// The object types that a value of an interface or union may have; empty for any other type.
    pub fn possible(&self, name: &str) -> &[String] {
        match self.types.get(name).map(|found| &found.form) {
            Some(NamedForm::Interface { possible, .. } | NamedForm::Union { possible }) => possible,
            _ => &[],
        }
    }
}

/// Whether a text is a name (GraphQL, section 2.1.9): it may be written into a document.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && text.len() <= 200
}
