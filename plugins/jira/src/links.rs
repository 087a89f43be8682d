//! Links between issues, links to the web, and watchers.

use toolgate_sdk::prelude::*;

use crate::api::jira;
use crate::issues::OneIssue;
use crate::names::person;

/// Lists the types of links with what they say in either direction, for example `blocks` and `is blocked by`.
#[tool(effect = "read", keywords = ["relations", "dependency types"], example = {})]
pub fn list_link_types(cx: &Context) -> Result<Value, ToolError> {
    let answer = jira(cx).get("/issueLinkType").fetch()?;
    Ok(pick_each(
        &answer["issueLinkTypes"],
        &["name", "outward", "inward"],
    ))
}

/// Lists the links of an issue to other issues, each with its id, and the links to the web.
#[tool(effect = "read", keywords = ["blocked by", "dependencies", "related issues"],
       example = { "issue": "ED-1" })]
pub fn list_issue_links(args: OneIssue, cx: &Context) -> Result<Value, ToolError> {
    let request = jira(cx).get(path!("/issue/{}", args.issue));
    let issue = request.query("fields", "issuelinks").fetch()?;
    let links = issue["fields"]["issuelinks"]
        .as_array()
        .into_iter()
        .flatten();
    let links = links.map(|link| {
        let (says, other) = match link["outwardIssue"].is_object() {
            true => (&link["type"]["outward"], &link["outwardIssue"]),
            false => (&link["type"]["inward"], &link["inwardIssue"]),
        };
        let mut out = pick(
            other,
            &[
                "issue=key",
                "summary=fields/summary",
                "status=fields/status/name",
            ],
        );
        out["id"] = link["id"].clone();
        out["relation"] = says.clone();
        out
    });
    let links: Vec<Value> = links.collect();
    let web = jira(cx)
        .get(path!("/issue/{}/remotelink", args.issue))
        .fetch()?;
    let web = pick_each(&web, &["id", "title=object/title", "url=object/url"]);
    Ok(json!({ "issues": links, "web": web }))
}

#[derive(Args)]
pub struct LinkIssues {
    /// Key of the issue, for example `ABC-1`.
    issue: String,
    /// How it is related, as jira_list_link_types shows it in either direction: `blocks`, `is blocked by`, `relates to`.
    #[arg(default = "relates to", min_length = 1, max_length = 100)]
    relation: String,
    /// Key of the other issue: of `ABC-1 blocks ABC-2`, this is `ABC-2`.
    other: String,
}

/// Links two issues: one blocks, duplicates or relates to the other.
#[tool(effect = "write", idempotent, keywords = ["dependency", "blocked by", "duplicate of", "relate"],
       example = { "issue": "ABC-1", "relation": "blocks", "other": "ABC-2" })]
pub fn link_issues(args: LinkIssues, cx: &Context) -> Result<Value, ToolError> {
    let answer = jira(cx).get("/issueLinkType").fetch()?;
    let types = answer["issueLinkTypes"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let is = |value: &Value| {
        value
            .as_str()
            .is_some_and(|known| known.eq_ignore_ascii_case(&args.relation))
    };
    let found = types.iter().find_map(|one| {
        // Jira says `inwardIssue` of the one that blocks and `outwardIssue` of the one that is blocked.
        if is(&one["outward"]) || is(&one["name"]) {
            Some((one, &args.issue, &args.other))
        } else if is(&one["inward"]) {
            Some((one, &args.other, &args.issue))
        } else {
            None
        }
    });
    let (kind, from, to) = found.ok_or_else(|| {
        let known: Vec<&str> = types
            .iter()
            .filter_map(|one| one["outward"].as_str())
            .collect();
        let text = format!(
            "there is no relation `{}`; there are {}",
            args.relation,
            known.join(", ")
        );
        ToolError::invalid("/relation", text)
    })?;
    let body = json!({
        "type": { "name": kind["name"] }, "inwardIssue": { "key": from }, "outwardIssue": { "key": to },
    });
    jira(cx).post("/issueLink").json(&body).send()?;
    Ok(json!({ "issue": args.issue, "relation": args.relation, "other": args.other }))
}

#[derive(Args)]
pub struct DeleteIssueLink {
    /// Id of the link, as jira_list_issue_links shows it.
    #[arg(pattern = "^[0-9]+$")]
    link: String,
}

/// Deletes a link between two issues.
#[tool(effect = "destructive", idempotent, keywords = ["unlink", "remove dependency"], example = { "link": "10001" })]
pub fn delete_issue_link(args: DeleteIssueLink, cx: &Context) -> Result<Value, ToolError> {
    jira(cx).delete(path!("/issueLink/{}", args.link)).send()?;
    Ok(json!({ "deleted": args.link }))
}

#[derive(Args)]
pub struct AddWebLink {
    /// Key of the issue.
    issue: String,
    /// The address.
    #[arg(format = "uri", pattern = "^https?://")]
    url: String,
    /// What the link says.
    #[arg(min_length = 1, max_length = 255)]
    title: String,
}

/// Adds a link to a web page, for example a pull request or document, to an issue. The same address is entered once.
#[tool(effect = "write", idempotent, keywords = ["remote link", "attach url", "reference"],
       example = { "issue": "ED-1", "url": "https://example.com/design", "title": "Design" })]
pub fn add_web_link(args: AddWebLink, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({
        "globalId": args.url, "object": { "url": args.url, "title": args.title },
    });
    let request = jira(cx).post(path!("/issue/{}/remotelink", args.issue));
    Ok(pick(&request.json(&body).fetch()?, &["id"]))
}

#[derive(Args)]
pub struct DeleteWebLink {
    /// Key of the issue.
    issue: String,
    /// Id of the link, as jira_list_issue_links shows it.
    #[arg(pattern = "^[0-9]+$")]
    link: String,
}

/// Deletes a link from an issue to a web page.
#[tool(effect = "destructive", idempotent, keywords = ["remove url"], example = { "issue": "ED-1", "link": "10000" })]
pub fn delete_web_link(args: DeleteWebLink, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/issue/{}/remotelink/{}", args.issue, args.link);
    jira(cx).delete(address).send()?;
    Ok(json!({ "deleted": args.link }))
}

/// Lists who watches an issue and gets mail about changes.
#[tool(effect = "read", keywords = ["followers", "subscribers"], example = { "issue": "ED-1" })]
pub fn list_watchers(args: OneIssue, cx: &Context) -> Result<Value, ToolError> {
    let answer = jira(cx)
        .get(path!("/issue/{}/watchers", args.issue))
        .fetch()?;
    Ok(pick_each(
        &answer["watchers"],
        &["account_id=accountId", "name=displayName"],
    ))
}

#[derive(Args)]
pub struct Watch {
    /// Key of the issue.
    issue: String,
    /// Who: `me`, a mail address, a name or an account id.
    #[arg(default = "me", min_length = 1)]
    who: String,
}

/// Lets a person watch an issue, so that they get mail about changes.
#[tool(effect = "write", idempotent, keywords = ["follow", "subscribe", "notify me"], example = { "issue": "ED-1", "who": "5b10a2844c20165700ede21g" })]
pub fn add_watcher(args: Watch, cx: &Context) -> Result<Value, ToolError> {
    let id = person(cx, &args.who, "who")?;
    let request = jira(cx).post(path!("/issue/{}/watchers", args.issue));
    request.json(&id).send()?;
    Ok(json!({ "key": args.issue, "watcher": id }))
}

/// Lets a person no longer watch an issue.
#[tool(effect = "destructive", idempotent, keywords = ["unfollow", "unsubscribe"], example = { "issue": "ED-1", "who": "5b10a2844c20165700ede21g" })]
pub fn remove_watcher(args: Watch, cx: &Context) -> Result<Value, ToolError> {
    let id = person(cx, &args.who, "who")?;
    let request = jira(cx).delete(path!("/issue/{}/watchers", args.issue));
    request.query("accountId", &id).send()?;
    Ok(json!({ "key": args.issue, "removed": id }))
}
