//! What all requests share: the one address, pages, and how an issue is shown.

use toolgate_sdk::prelude::*;

/// What is read of an issue wherever one comes back.
macro_rules! issue_fields {
    () => {
        "id identifier title url priority priorityLabel dueDate estimate createdAt updatedAt \
         state { name type } team { key name } assignee { name email } project { name } \
         cycle { number } parent { identifier } labels { nodes { name } }"
    };
}
pub(crate) use issue_fields;

const SHOWN: [&str; 18] = [
    "id",
    "identifier",
    "title",
    "url",
    "priority=priorityLabel",
    "due_date=dueDate",
    "estimate",
    "created_at=createdAt",
    "updated_at=updatedAt",
    "state=state/name",
    "state_type=state/type",
    "team=team/key",
    "assignee=assignee/name",
    "assignee_email=assignee/email",
    "project=project/name",
    "cycle=cycle/number",
    "parent=parent/identifier",
    "labels=labels/nodes/*/name",
];

/// Sends a document and answers its data.
pub fn ask(cx: &Context, document: &str, variables: Value) -> Result<Value, ToolError> {
    let client = cx.client("https://api.linear.app");
    let answer = client.graphql("/graphql", document, variables);
    answer.map_err(|mut error| {
        // Linear calls an id that is not there a fault of the input.
        if error.message.starts_with("Could not find") {
            error.kind = ErrorKind::NotFound;
        }
        error
    })
}

/// An issue as tools answer it.
pub fn shown(issue: &Value) -> Value {
    pick(issue, &SHOWN)
}

/// A page of a connection, each node through `show`.
pub fn page(connection: &Value, show: impl Fn(&Value) -> Value) -> Result<Output, ToolError> {
    let nodes = connection["nodes"].as_array().into_iter().flatten();
    let nodes: Vec<Value> = nodes.map(show).collect();
    let info = &connection["pageInfo"];
    let next = info["endCursor"]
        .as_str()
        .filter(|_| info["hasNextPage"] == true);
    Output::page(nodes, next.map(str::to_owned))
}

/// An issue's identifier or id, from either or from its address in a browser.
pub fn issue_key(text: &str, field: &str) -> Result<String, ToolError> {
    let text = text.trim();
    let mut segments = text.split(['/', '?', '#']);
    let key = if text.contains("://") {
        segments.find(|one| *one == "issue").and(segments.next())
    } else {
        Some(text)
    };
    let known = |key: &&str| {
        let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        plain && key.contains('-')
    };
    key.filter(known).map(str::to_owned).ok_or_else(|| {
        ToolError::invalid(
            format!("/{field}"),
            "expected an identifier such as ENG-123, an issue's id or its address",
        )
    })
}

/// The object that a mutation made or changed, or that it did not work.
pub fn made<'a>(answer: &'a Value, mutation: &str, member: &str) -> Result<&'a Value, ToolError> {
    let payload = &answer[mutation];
    if payload["success"] != true {
        return Err(ToolError::upstream(format!(
            "Linear did not carry out {mutation}"
        )));
    }
    Ok(&payload[member])
}

#[cfg(test)]
mod tests {
    use super::issue_key;

    #[test]
    fn an_issue_is_named_in_several_ways() {
        for (text, key) in [
            ("ENG-123", "ENG-123"),
            (" eng-1 ", "eng-1"),
            (
                "b6ee6ffc-9b5c-4a3d-9f5c-1f2c3d4e5f60",
                "b6ee6ffc-9b5c-4a3d-9f5c-1f2c3d4e5f60",
            ),
            (
                "https://linear.app/acme/issue/ENG-123/fix-the-door",
                "ENG-123",
            ),
        ] {
            assert_eq!(issue_key(text, "issue").as_deref(), Ok(key), "{text}");
        }
        for text in [
            "",
            "the door",
            "123",
            "https://linear.app/acme/project/x-1",
            "a/b-1",
        ] {
            let error = issue_key(text, "issue").expect_err(text);
            assert_eq!(error.field.as_deref(), Some("/issue"), "{text}");
        }
    }
}
