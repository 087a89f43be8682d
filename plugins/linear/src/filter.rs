//! What a list of issues takes, written as Linear's filter; and the filters by name that others share.

use toolgate_sdk::prelude::*;

/// Where an issue stands, whatever the team calls it.
#[derive(Args)]
pub enum StateType {
    Triage,
    Backlog,
    Unstarted,
    Started,
    Completed,
    Canceled,
}

impl StateType {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Triage => "triage",
            Self::Backlog => "backlog",
            Self::Unstarted => "unstarted",
            Self::Started => "started",
            Self::Completed => "completed",
            Self::Canceled => "canceled",
        }
    }
}

#[derive(Args)]
pub enum Priority {
    None,
    Urgent,
    High,
    Medium,
    Low,
}

impl Priority {
    /// As Linear counts: 0 none, 1 urgent to 4 low.
    pub fn number(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Urgent => 1,
            Self::High => 2,
            Self::Medium => 3,
            Self::Low => 4,
        }
    }
}

#[derive(Args)]
pub enum Order {
    UpdatedAt,
    CreatedAt,
}

#[derive(Args)]
pub struct ListIssues {
    /// Team by key or name, for example `ENG`.
    pub team: Option<String>,
    /// Who works on it: `me`, `none`, a mail address or a name.
    pub assignee: Option<String>,
    /// State by the team's own name, for example `In Progress`.
    pub state: Option<String>,
    /// Only issues that stand in one of these kinds of state; `unstarted` and `started` are the open ones.
    #[arg(max_items = 6)]
    pub state_types: Option<Vec<StateType>>,
    /// Names of labels that it must all have.
    #[arg(max_items = 10)]
    pub labels: Option<Vec<String>>,
    /// Project by name.
    pub project: Option<String>,
    /// Only issues of this priority.
    pub priority: Option<Priority>,
    /// Only issues due on this day or before.
    #[arg(format = "date")]
    pub due_before: Option<String>,
    /// Only issues changed since: a moment, or a duration back from now such as `-P7D`.
    #[arg(examples = ["2026-03-01T00:00:00Z"])]
    pub updated_after: Option<String>,
    /// By which time they are sorted, newest first.
    #[arg(default = "updated_at")]
    pub order: Order,
    /// Also archived issues.
    #[arg(default = false)]
    pub include_archived: bool,
    /// Issues on a page.
    #[arg(min = 1, max = 100, default = 25)]
    pub limit: u32,
}

/// Linear's `IssueFilter`: every member given must hold.
pub fn from_arguments(args: &ListIssues) -> Value {
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
