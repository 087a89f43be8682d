//! Approvals: files that reviewers accept or decline.

use toolgate_sdk::http::google::next_page;
use toolgate_sdk::prelude::*;

use crate::api::{api, id_of};

fn shown(approval: &Value) -> Value {
    let fields = [
        "id=approvalId",
        "status",
        "started_by=initiator/emailAddress",
        "created=createTime",
        "due=dueTime",
        "completed=completeTime",
    ];
    let mut out = pick(approval, &fields);
    let fields = ["who=reviewer/emailAddress", "response"];
    out["reviewers"] = pick_each(&approval["reviewerResponses"], &fields);
    out
}

#[derive(Args)]
pub struct ListApprovals {
    /// Id or address of the file.
    file: String,
    /// Approvals on a page.
    #[arg(min = 1, max = 100, default = 30)]
    limit: u32,
}

/// Lists the approvals of a file: their state, reviewers and what each of them answered.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["sign off", "review status"], example = { "file": "1a2B3cD4eF" })]
pub fn list_approvals(args: ListApprovals, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.file, "file")?;
    let request = api(cx).get(path!("/drive/v3/files/{}/approvals", id));
    let request = request.query("pageSize", args.limit);
    let answer = request.query("pageToken", cx.cursor()).fetch()?;
    let all = answer["items"].as_array().into_iter().flatten();
    let all: Vec<Value> = all.map(shown).collect();
    Output::page(all, next_page(&answer))
}

#[derive(Args)]
pub struct StartApproval {
    /// Id or address of the file.
    file: String,
    /// Mail addresses of the reviewers.
    #[arg(min_items = 1, max_items = 50)]
    reviewers: Vec<String>,
    /// What the reviewers shall know.
    #[arg(max_length = 1000)]
    message: Option<String>,
    /// Until when, for example `2026-12-31T18:00:00Z`.
    #[arg(format = "date-time")]
    due: Option<String>,
    /// Lock the file against changes while it is reviewed.
    #[arg(default = false)]
    lock: bool,
}

/// Asks people to approve a file.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["request sign off", "ask for review"],
       example = { "file": "1a2B3cD4eF", "reviewers": ["anna@example.com"], "message": "Please check section 3." })]
pub fn start_approval(args: StartApproval, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let mut body = json!({ "reviewerEmails": args.reviewers, "lockFile": args.lock });
    for (key, value) in [("message", args.message), ("dueTime", args.due)] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    let request = api(cx).post(path!("/drive/v3/files/{}/approvals:start", id));
    Ok(shown(&request.json(&body).fetch()?))
}

#[derive(Args)]
pub enum Decision {
    Approve,
    Decline,
    Cancel,
}

#[derive(Args)]
pub struct DecideApproval {
    /// Id or address of the file.
    file: String,
    /// Id of the approval, as google_drive_list_approvals shows it.
    approval: String,
    /// Approve or decline as a reviewer, or cancel it as the one who started it.
    decision: Decision,
    /// What to say with it.
    #[arg(max_length = 1000)]
    message: Option<String>,
}

/// Approves or declines a file as a reviewer, or cancels the approval.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["sign off", "reject", "accept document"],
       example = { "file": "1a2B3cD4eF", "approval": "a1", "decision": "approve" })]
pub fn decide_approval(args: DecideApproval, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let address = match args.decision {
        Decision::Approve => path!("/drive/v3/files/{}/approvals/{}:approve", id, args.approval),
        Decision::Decline => path!("/drive/v3/files/{}/approvals/{}:decline", id, args.approval),
        Decision::Cancel => path!("/drive/v3/files/{}/approvals/{}:cancel", id, args.approval),
    };
    let body = args
        .message
        .map_or_else(|| json!({}), |text| json!({ "message": text }));
    Ok(shown(&api(cx).post(address).json(&body).fetch()?))
}
