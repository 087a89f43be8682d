//! Calls of tools by their own names.

use super::*;

#[test]
fn a_tool_called_by_its_name_is_repeated_by_it_and_names_no_other() {
    let alone = ToolNaming::Itself {
        generic_tools: false,
    };
    let connect = Connect {
        reason: "auth_required".to_owned(),
        auth_type: "oauth2".to_owned(),
        message: "Connect GitHub.".to_owned(),
        connect_url: Some("https://tools.example.com/connect/abc".to_owned()),
    };
    let needed = ApprovalNeeded {
        reason: "approval_required".to_owned(),
        message: "A person decides.".to_owned(),
        approval_id: "apr_1".to_owned(),
        approval_url: "https://tools.example.com/approvals/apr_1".to_owned(),
        expires_at: "2026-11-20T09:30:00Z".to_owned(),
        requests: Vec::new(),
    };
    for outcome in [
        Outcome::AuthRequired(connect),
        Outcome::ApprovalRequired(needed),
    ] {
        let execution = ran(outcome);
        let text = crate::render::execution(&execution, alone);
        let again = format!(
            "call `{}` again with the same arguments",
            execution.tool_name
        );
        let flat = text.replace('\n', " ");
        assert!(flat.contains(&again), "{text}");
        assert!(!text.contains("svc_"), "{text}");
    }
    for error in [
        Error::InvalidArguments {
            tool_name: "github_create_issue".to_owned(),
            violations: Vec::new(),
        },
        Error::ToolNotFound {
            tool_name: "github_create_issue".to_owned(),
            nearest: Vec::new(),
        },
    ] {
        let text = error_as(&error, alone);
        assert!(
            text.ends_with(&format!("Error Code: {}", error.code())),
            "{text}"
        );
        assert!(!text.contains("svc_"), "{text}");
        assert_eq!(
            error_as(&error, ToolNaming::Generic),
            crate::render::error(&error)
        );
    }
    let long = ran(success(json!("x".repeat(RESULT_CHARS_MAX + 1))));
    let text = crate::render::execution(&long, alone);
    assert!(
        text.contains("[Cut: ") && !text.contains("svc_"),
        "{}",
        &text[text.len() - 300..]
    );
}
