//! Rules of the inbox.

use toolgate_sdk::plugin::NoArgs;
use toolgate_sdk::prelude::*;

use crate::api::{folder_id, graph};
use crate::mail::recipients;

const RULES: &str = "/mailFolders/inbox/messageRules";
const RULE: [&str; 5] = [
    "id",
    "name=displayName",
    "enabled=isEnabled",
    "conditions",
    "actions",
];

/// Lists the rules of the inbox, with what they look for and what they do.
#[tool(effect = "read", scopes = ["MailboxSettings.Read"], keywords = ["filters", "automation", "sorting"], example = {})]
pub fn list_rules(_: NoArgs, cx: &Context) -> Result<Value, ToolError> {
    let answer = graph(cx).get(RULES).fetch()?;
    Ok(pick_each(&answer["value"], &RULE))
}

#[derive(Args)]
pub struct CreateRule {
    /// Name of the rule.
    #[arg(min_length = 1, max_length = 255)]
    name: String,
    /// Mail addresses of senders, any of which fits.
    #[arg(max_items = 50)]
    from: Option<Vec<String>>,
    /// Words of which one stands in the subject.
    #[arg(max_items = 50)]
    subject_contains: Option<Vec<String>>,
    /// Words of which one stands in subject or text.
    #[arg(max_items = 50)]
    text_contains: Option<Vec<String>>,
    /// Only messages with attachments.
    has_attachments: Option<bool>,
    /// Folder to move them to: `archive`, `deleted`, the name of one at the top, or an id.
    move_to: Option<String>,
    /// Mark them as read.
    mark_as_read: Option<bool>,
    /// Names of categories to give them.
    #[arg(max_items = 25)]
    categories: Option<Vec<String>>,
    /// Mail addresses to forward them to.
    #[arg(max_items = 20)]
    forward_to: Option<Vec<String>>,
    /// Let no further rule see them.
    #[arg(default = false)]
    stop: bool,
}

/// Adds a rule to the inbox: which messages, and what happens to them when they arrive.
#[tool(effect = "write", scopes = ["MailboxSettings.ReadWrite", "Mail.ReadWrite"], keywords = ["filter", "sort automatically", "auto-file"],
       example = { "name": "Invoices", "subject_contains": ["invoice"], "move_to": "archive", "mark_as_read": false })]
pub fn create_rule(args: CreateRule, cx: &Context) -> Result<Value, ToolError> {
    let mut conditions = json!({});
    if let Some(from) = &args.from {
        conditions["fromAddresses"] = json!(recipients(from, "from")?);
    }
    if let Some(words) = &args.subject_contains {
        conditions["subjectContains"] = json!(words);
    }
    if let Some(words) = &args.text_contains {
        conditions["bodyOrSubjectContains"] = json!(words);
    }
    if let Some(has) = args.has_attachments {
        conditions["hasAttachments"] = json!(has);
    }
    if conditions == json!({}) {
        let text = "say which messages: from, subject_contains, text_contains or has_attachments";
        return Err(ToolError::invalid("", text));
    }
    let mut actions = json!({});
    if let Some(folder) = &args.move_to {
        actions["moveToFolder"] = json!(folder_id(cx, folder, "move_to")?);
    }
    if let Some(read) = args.mark_as_read {
        actions["markAsRead"] = json!(read);
    }
    if let Some(categories) = &args.categories {
        actions["assignCategories"] = json!(categories);
    }
    if let Some(to) = &args.forward_to {
        actions["forwardTo"] = json!(recipients(to, "forward_to")?);
    }
    if actions == json!({}) {
        let text = "say what happens: move_to, mark_as_read, categories or forward_to";
        return Err(ToolError::invalid("", text));
    }
    actions["stopProcessingRules"] = json!(args.stop);
    let body = json!({ "displayName": args.name, "sequence": 1, "isEnabled": true,
                       "conditions": conditions, "actions": actions });
    let made = graph(cx).post(RULES).json(&body).fetch()?;
    Ok(pick(&made, &RULE))
}

#[derive(Args)]
pub struct OneRule {
    /// Id of the rule; ids come from microsoft_outlook_list_rules.
    #[arg(min_length = 1)]
    rule: String,
}

/// Deletes a rule of the inbox.
#[tool(effect = "destructive", idempotent, scopes = ["MailboxSettings.ReadWrite"], keywords = ["remove filter"],
       example = { "rule": "AQAAAJ5dZp8=" })]
pub fn delete_rule(args: OneRule, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/mailFolders/inbox/messageRules/{}", args.rule);
    graph(cx).delete(address).send()?;
    Ok(json!({ "deleted": args.rule }))
}
