//! JSON bodies: an object in the description's order, the variables of a GraphQL document.

use serde_json::Value;
use toolgate_openapi_table::Field;

/// A JSON object in the order in which it was filled.
#[derive(Default)]
pub(super) struct Tree {
    members: Vec<(String, Node)>,
}

enum Node {
    Value(Value),
    Object(Tree),
}

pub(super) fn tree(
    filled: &[(&Field, &Value)],
    objects: &[Vec<String>],
    page: Option<(&[String], Value)>,
) -> Tree {
    let mut tree = Tree::default();
    for path in objects {
        tree.object(path);
    }
    for (field, value) in filled {
        tree.put(&field.path, (*value).clone());
    }
    if let Some((path, value)) = page {
        tree.put(path, value);
    }
    tree
}

/// The request of a GraphQL document with these variables.
pub(super) fn graphql(document: &str, variables: Tree) -> Tree {
    let mut request = Tree::default();
    request.put(&["query".to_owned()], Value::from(document));
    request
        .members
        .push(("variables".to_owned(), Node::Object(variables)));
    request
}

impl Tree {
    /// The object at `path`, made where absent. A plain value in the way is replaced.
    fn object(&mut self, path: &[String]) -> &mut Self {
        let Some((first, rest)) = path.split_first() else {
            return self;
        };
        let index = match self.members.iter().position(|(name, _)| name == first) {
            Some(index) => index,
            None => {
                self.members
                    .push((first.clone(), Node::Object(Self::default())));
                self.members.len() - 1
            }
        };
        let node = &mut self.members[index].1;
        if !matches!(node, Node::Object(_)) {
            *node = Node::Object(Self::default());
        }
        match node {
            Node::Object(tree) => tree.object(rest),
            Node::Value(_) => unreachable!("made an object above"),
        }
    }

    fn put(&mut self, path: &[String], value: Value) {
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let parent = self.object(parents);
        match parent.members.iter_mut().find(|(name, _)| name == last) {
            Some((_, node)) => *node = Node::Value(value),
            None => parent.members.push((last.clone(), Node::Value(value))),
        }
    }
}

impl std::fmt::Display for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("{")?;
        for (index, (name, node)) in self.members.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            write!(f, "{}:", Value::from(name.as_str()))?;
            match node {
                Node::Value(value) => write!(f, "{value}")?,
                Node::Object(tree) => write!(f, "{tree}")?,
            }
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_openapi_table::{Content, Encoding, Field, Source};

    use crate::body::sample::{body, field, text};

    #[test]
    fn json_keeps_the_descriptions_order_and_wraps() {
        let mut wrapped = body(
            Encoding::Json,
            vec![
                field(&["ticket", "subject"], "subject"),
                Field {
                    source: Source::Constant(json!("task")),
                    ..field(&["ticket", "type"], "")
                },
                field(&["ticket", "comment", "body"], "text"),
                field(&["notify"], "notify"),
            ],
        );
        assert_eq!(
            text(
                &wrapped,
                json!({"notify": null, "text": "b", "subject": "a"})
            )
            .as_deref(),
            Some(
                r#"{"ticket":{"subject":"a","type":"task","comment":{"body":"b"}},"notify":null}"#
            )
        );
        assert_eq!(text(&wrapped, json!({})), None);
        wrapped.required = true;
        wrapped.content = Content::Fields {
            fields: vec![],
            objects: vec![vec!["ticket".into()]],
        };
        assert_eq!(
            text(&wrapped, json!({})).as_deref(),
            Some(r#"{"ticket":{}}"#)
        );
    }

    #[test]
    fn graphql_sends_the_document_with_the_arguments_as_variables() {
        let query = body(
            Encoding::Graphql("query($id: ID!) { issue(id: $id) { id } }".into()),
            vec![field(&["id"], "id")],
        );
        assert_eq!(
            text(&query, json!({"id": "A-1"})).as_deref(),
            Some(
                r#"{"query":"query($id: ID!) { issue(id: $id) { id } }","variables":{"id":"A-1"}}"#
            )
        );
    }
}
