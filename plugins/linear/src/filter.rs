//! The filter of a list of issues, from plain arguments.

use toolgate_sdk::prelude::*;

use crate::issues::{ListIssues, StateType};

/// Linear's `IssueFilter`: every member given must hold.
pub fn of(args: &ListIssues) -> Value {
    let mut all: Vec<Value> = Vec::new();
    if let Some(team) = &args.team {
        all.push(json!({ "team": team_filter(team) }));
    }
    if let Some(person) = &args.assignee {
        all.push(match person.as_str() {
            "none" => json!({ "assignee": { "null": true } }),
            other => json!({ "assignee": user_filter(other) }),
        });
    }
    if let Some(state) = &args.state {
        all.push(json!({ "state": { "name": same(state) } }));
    }
    if let Some(kinds) = args.state_types.as_deref() {
        let kinds: Vec<&str> = kinds.iter().map(StateType::word).collect();
        all.push(json!({ "state": { "type": { "in": kinds } } }));
    }
    for label in args.labels.iter().flatten() {
        all.push(json!({ "labels": { "some": { "name": same(label) } } }));
    }
    if let Some(project) = &args.project {
        all.push(json!({ "project": { "name": same(project) } }));
    }
    if let Some(priority) = &args.priority {
        all.push(json!({ "priority": { "eq": priority.number() } }));
    }
    if let Some(day) = &args.due_before {
        all.push(json!({ "dueDate": { "lte": day } }));
    }
    if let Some(moment) = &args.updated_after {
        all.push(json!({ "updatedAt": { "gte": moment } }));
    }
    if all.is_empty() {
        json!({})
    } else {
        json!({ "and": all })
    }
}

/// A team by key, name or id.
pub fn team_filter(team: &str) -> Value {
    if is_uuid(team) {
        return json!({ "id": { "eq": team } });
    }
    json!({ "or": [{ "key": same(team) }, { "name": same(team) }] })
}

/// A person by `me`, mail address, name or id.
pub fn user_filter(person: &str) -> Value {
    if person == "me" {
        return json!({ "isMe": { "eq": true } });
    }
    if is_uuid(person) {
        return json!({ "id": { "eq": person } });
    }
    if person.contains('@') && !person.starts_with('@') {
        return json!({ "email": same(person) });
    }
    let name = person.trim_start_matches('@');
    json!({ "or": [{ "displayName": same(name) }, { "name": same(name) }] })
}

/// A project, or anything else that has a name, by name or id.
pub fn named_filter(name: &str) -> Value {
    if is_uuid(name) {
        json!({ "id": { "eq": name } })
    } else {
        json!({ "name": same(name) })
    }
}

fn same(text: &str) -> Value {
    json!({ "eqIgnoreCase": text })
}

pub fn is_uuid(text: &str) -> bool {
    let groups = text.split('-').map(str::len);
    groups.eq([8, 4, 4, 4, 12]) && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}
