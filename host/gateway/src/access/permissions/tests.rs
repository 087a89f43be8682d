mod operations;

use super::*;
use crate::Scope;
use crate::access::permission_rules::{Change, ChangePermissions, DefaultRule, Setting};
use crate::testing::TestWorld;
use crate::tools::{Arguments, CallListener, Execute, ListTools, SearchTools};
use toolgate_store::SettingsChange;

const NOW_MS: i64 = 1_000;

fn rule(kind: RuleKind, name: &str, rule: Rule) -> PermissionRule {
    PermissionRule {
        workspace_id: "ws".to_owned(),
        user_id: "ada".to_owned(),
        kind,
        name: name.to_owned(),
        rule,
        approvers: Approvers::Admins,
        expires_at_ms: None,
        max_calls: None,
        used: 0,
        updated_at_ms: 0,
    }
}

#[test]
fn a_tool_rule_beats_its_service_and_that_the_default() {
    use DecidedBy::{EffectDefault, ServiceRule, ToolRule, WorkspaceDefault};
    use DefaultPermission::{Allow, ByEffect};
    let tool = |word| rule(RuleKind::Tool, "github_create_issue", word);
    let service = |word| rule(RuleKind::Service, "github", word);
    let expired = |mut rule: PermissionRule| {
        rule.expires_at_ms = Some(NOW_MS);
        rule
    };
    let used_up = |mut rule: PermissionRule| {
        (rule.max_calls, rule.used) = (Some(2), 2);
        rule
    };
    for (rows, default, effect, permission, by) in [
        (
            vec![],
            Allow,
            Effect::Destructive,
            Permission::Allow,
            WorkspaceDefault,
        ),
        (
            vec![],
            ByEffect,
            Effect::Read,
            Permission::Allow,
            EffectDefault,
        ),
        (
            vec![],
            ByEffect,
            Effect::Write,
            Permission::Ask,
            EffectDefault,
        ),
        (
            vec![],
            ByEffect,
            Effect::Destructive,
            Permission::Ask,
            EffectDefault,
        ),
        (
            vec![service(Rule::Deny)],
            Allow,
            Effect::Read,
            Permission::Deny,
            ServiceRule,
        ),
        (
            vec![service(Rule::Deny), tool(Rule::Allow)],
            Allow,
            Effect::Read,
            Permission::Allow,
            ToolRule,
        ),
        (
            vec![service(Rule::Allow), tool(Rule::Ask)],
            Allow,
            Effect::Read,
            Permission::Ask,
            ToolRule,
        ),
        (
            vec![service(Rule::Deny), expired(tool(Rule::Allow))],
            Allow,
            Effect::Read,
            Permission::Deny,
            ServiceRule,
        ),
        (
            vec![service(Rule::Ask), used_up(tool(Rule::Allow))],
            Allow,
            Effect::Read,
            Permission::Ask,
            ServiceRule,
        ),
        (
            vec![expired(service(Rule::Deny))],
            Allow,
            Effect::Read,
            Permission::Allow,
            WorkspaceDefault,
        ),
        (
            vec![rule(RuleKind::Tool, "github_other", Rule::Deny)],
            Allow,
            Effect::Read,
            Permission::Allow,
            WorkspaceDefault,
        ),
        (
            vec![rule(RuleKind::Service, "git", Rule::Deny)],
            Allow,
            Effect::Read,
            Permission::Allow,
            WorkspaceDefault,
        ),
    ] {
        let rules = Rules::from_rows(rows.clone());
        let subject = RuleSubject {
            tool: "github_create_issue",
            service: "github",
            effect,
        };
        let decided = decide(&rules, default, subject, NOW_MS);
        assert_eq!(
            (decided.permission, decided.by),
            (permission, by),
            "{rows:?} {default:?} {effect:?}"
        );
    }
}

/// Every combination of a tool's rule, its service's, rules for others, ends and the default.
#[test]
fn a_deny_that_holds_is_never_outweighed() {
    let words = [None, Some(Rule::Allow), Some(Rule::Deny), Some(Rule::Ask)];
    let ends: [fn(&mut PermissionRule); 4] = [
        |_| {},
        |rule| rule.expires_at_ms = Some(NOW_MS + 1),
        |rule| rule.expires_at_ms = Some(NOW_MS),
        |rule| (rule.max_calls, rule.used) = (Some(1), 1),
    ];
    let made = |kind, name: &str, word: Option<Rule>, end: fn(&mut PermissionRule)| {
        word.map(|word| {
            let mut rule = rule(kind, name, word);
            end(&mut rule);
            rule
        })
    };
    let mut seen = 0;
    for (of_tool, tool_end) in words
        .into_iter()
        .flat_map(|word| ends.map(|end| (word, end)))
    {
        for (of_service, service_end) in words
            .into_iter()
            .flat_map(|word| ends.map(|end| (word, end)))
        {
            for noise in words {
                for (default, effect) in [
                    (DefaultPermission::Allow, Effect::Read),
                    (DefaultPermission::Allow, Effect::Destructive),
                    (DefaultPermission::ByEffect, Effect::Read),
                    (DefaultPermission::ByEffect, Effect::Write),
                ] {
                    let tool = made(RuleKind::Tool, "github_create_issue", of_tool, tool_end);
                    let service = made(RuleKind::Service, "github", of_service, service_end);
                    let others = [
                        made(RuleKind::Tool, "github_other", noise, ends[0]),
                        made(RuleKind::Service, "slack", noise, ends[0]),
                        made(RuleKind::Tool, "github", noise, ends[0]),
                        made(RuleKind::Service, "github_create_issue", noise, ends[0]),
                    ];
                    let live_rule = |rule: &Option<PermissionRule>| {
                        let rule = rule.as_ref().filter(|rule| live(rule, NOW_MS));
                        rule.map(|rule| rule.rule)
                    };
                    let (by_tool, by_service) = (live_rule(&tool), live_rule(&service));
                    let rows = [tool, service].into_iter().chain(others).flatten();
                    let rules = Rules::from_rows(rows.collect());
                    let subject = RuleSubject {
                        tool: "github_create_issue",
                        service: "github",
                        effect,
                    };
                    let decided = decide(&rules, default, subject, NOW_MS).permission;
                    let denied = match by_tool {
                        Some(rule) => rule == Rule::Deny,
                        None => by_service == Some(Rule::Deny),
                    };
                    assert_eq!(
                        decided == Permission::Deny,
                        denied,
                        "{by_tool:?} {by_service:?} {noise:?} {default:?} {effect:?}"
                    );
                    let by_default = by_tool.or(by_service).is_none();
                    let asks = default == DefaultPermission::ByEffect && effect != Effect::Read;
                    if by_default {
                        assert_eq!(decided == Permission::Ask, asks);
                    }
                    seen += 1;
                }
            }
        }
    }
    assert_eq!(seen, 16 * 16 * 4 * 4);
}
