//! Names to ids, all that a mutation needs in one request.

use toolgate_sdk::prelude::*;

use crate::api::ask;
use crate::filter::{named_filter, team_filter, user_filter};

const DOCUMENT: &str = "query Resolve($issue: String!, $withIssue: Boolean!, $team: TeamFilter, \
    $withTeam: Boolean!, $user: UserFilter, $withUser: Boolean!, $project: ProjectFilter, \
    $withProject: Boolean!, $labels: IssueLabelFilter, $withLabels: Boolean!) { \
    issue(id: $issue) @include(if: $withIssue) { id team { id key states(first: 100) { nodes { id name type } } } } \
    teams(filter: $team, first: 2) @include(if: $withTeam) { nodes { id key states(first: 100) { nodes { id name type } } } } \
    users(filter: $user, first: 2) @include(if: $withUser) { nodes { id name email } } \
    projects(filter: $project, first: 2) @include(if: $withProject) { nodes { id name } } \
    issueLabels(filter: $labels, first: 100) @include(if: $withLabels) { nodes { id name isGroup team { id } } } }";

/// What is to be found. Names that are absent are not asked for.
#[derive(Default)]
pub struct Wanted<'a> {
    /// Identifier of an issue that is there already; its team is the team.
    pub issue: Option<&'a str>,
    pub team: Option<&'a str>,
    pub person: Option<&'a str>,
    pub project: Option<&'a str>,
    pub state: Option<&'a str>,
    /// Names of labels, each with the argument it came from.
    pub labels: Vec<(&'a str, String)>,
}

/// The ids of what was wanted.
#[derive(Debug, Default)]
pub struct Found {
    pub issue: Option<String>,
    pub team: Option<String>,
    pub person: Option<String>,
    pub project: Option<String>,
    pub state: Option<String>,
    /// In the order of [`Wanted::labels`].
    pub labels: Vec<String>,
}

pub fn resolve(cx: &Context, wanted: &Wanted<'_>) -> Result<Found, ToolError> {
    let mut names: Vec<Value> = Vec::new();
    for (name, _) in &wanted.labels {
        names.push(named_filter(name));
    }
    let with_issue = wanted.issue.is_some();
    let answer = ask(
        cx,
        DOCUMENT,
        json!({
            "issue": wanted.issue.unwrap_or_default(), "withIssue": with_issue,
            "team": wanted.team.map(team_filter), "withTeam": wanted.team.is_some(),
            "user": wanted.person.map(user_filter), "withUser": wanted.person.is_some(),
            "project": wanted.project.map(named_filter), "withProject": wanted.project.is_some(),
            "labels": { "or": names }, "withLabels": !wanted.labels.is_empty(),
        }),
    )?;
    let mut found = Found {
        issue: id_of(&answer["issue"]),
        ..Found::default()
    };
    let mut team = &answer["issue"]["team"];
    if let Some(name) = wanted.team {
        team = only(&answer["teams"], name, "team", "linear_list_teams")?;
    }
    found.team = id_of(team);
    if let Some(name) = wanted.person {
        found.person = id_of(only(
            &answer["users"],
            name,
            "assignee",
            "linear_list_users",
        )?);
    }
    if let Some(name) = wanted.project {
        let tool = "linear_list_projects";
        found.project = id_of(only(&answer["projects"], name, "project", tool)?);
    }
    if let Some(name) = wanted.state {
        found.state = Some(state_of(team, name)?);
    }
    for (name, field) in &wanted.labels {
        found
            .labels
            .push(label_of(&answer["issueLabels"], name, team, field)?);
    }
    Ok(found)
}

fn id_of(object: &Value) -> Option<String> {
    object["id"].as_str().map(str::to_owned)
}

/// The only node; none or several is the caller's to settle.
fn only<'a>(
    connection: &'a Value,
    name: &str,
    field: &str,
    tool: &str,
) -> Result<&'a Value, ToolError> {
    match connection["nodes"].as_array().map(Vec::as_slice) {
        Some([one]) => Ok(one),
        Some([_, _, ..]) => Err(ToolError::invalid(
            format!("/{field}"),
            format!("`{name}` fits more than one; give the id that {tool} shows"),
        )),
        _ => Err(ToolError::invalid(
            format!("/{field}"),
            format!("there is no {field} `{name}`; {tool} shows them"),
        )),
    }
}

fn nodes(connection: &Value) -> impl Iterator<Item = &Value> {
    connection["nodes"].as_array().into_iter().flatten()
}

fn is_called(node: &Value, name: &str) -> bool {
    let is = |key: &str| {
        node[key]
            .as_str()
            .is_some_and(|known| known.to_lowercase() == name.to_lowercase())
    };
    is("name") || node["id"] == name
}

/// A state of the team by name, or else the first of that kind: `completed`, `started` ...
fn state_of(team: &Value, name: &str) -> Result<String, ToolError> {
    let states = &team["states"];
    let found = nodes(states)
        .find(|state| is_called(state, name))
        .or_else(|| nodes(states).find(|state| state["type"] == name));
    found.and_then(id_of).ok_or_else(|| {
        let known: Vec<&str> = nodes(states)
            .filter_map(|one| one["name"].as_str())
            .collect();
        ToolError::invalid(
            "/state",
            format!(
                "team {} has no state `{name}`; it has {}",
                team["key"].as_str().unwrap_or_default(),
                known.join(", ")
            ),
        )
    })
}

/// A label of the team, else of the workspace; other teams' labels do not fit.
fn label_of(labels: &Value, name: &str, team: &Value, field: &str) -> Result<String, ToolError> {
    let called =
        || nodes(labels).filter(|label| is_called(label, name) && label["isGroup"] != true);
    let found = called()
        .find(|label| !team["id"].is_null() && label["team"]["id"] == team["id"])
        .or_else(|| called().find(|label| label["team"].is_null()));
    found.and_then(id_of).ok_or_else(|| {
        ToolError::invalid(
            field,
            format!("there is no label `{name}` for this team; linear_list_labels shows them"),
        )
    })
}
