use super::*;

fn subscriber(workspace: &str, id: &str, events: &[&str], filters: EventFilters) -> Subscriber {
    Subscriber {
        workspace_id: workspace.to_owned(),
        id: Some(id.to_owned()),
        events: events.iter().map(|text| (*text).to_owned()).collect(),
        filters,
    }
}

#[test]
fn a_pattern_names_a_type_a_group_or_all() {
    for (pattern, kind, expected) in [
        ("*", "tool.executed", true),
        ("*", "trigger.github.push", true),
        ("tool.executed", "tool.executed", true),
        ("tool.executed", "tool.failed", false),
        ("tool.*", "tool.failed", true),
        ("tool.*", "toolbox.opened", false),
        ("trigger.*", "trigger.github.push", true),
        ("trigger.github.*", "trigger.github.push", true),
        ("trigger.github.*", "trigger.gitlab.push", false),
    ] {
        assert_eq!(pattern_matches(pattern, kind), expected, "{pattern} {kind}");
    }
}

#[test]
fn an_event_goes_to_who_wants_it_in_its_own_workspace() {
    let only = |services: &[&str]| EventFilters {
        services: Some(services.iter().map(|text| (*text).to_owned()).collect()),
        ..EventFilters::default()
    };
    let subscribers = [
        subscriber("ws_1", "all", &["*"], EventFilters::default()),
        subscriber("ws_1", "github", &["tool.*"], only(&["github"])),
        subscriber("ws_1", "slack", &["tool.*"], only(&["slack"])),
        subscriber(
            "ws_1",
            "skills",
            &["skill.created"],
            EventFilters::default(),
        ),
        subscriber("ws_2", "other", &["*"], EventFilters::default()),
    ];
    let data = json!({ "service": "github" });
    let executed = Event::new(EventType::ToolExecuted, "ws_1", 1, data.clone());
    let out = FanOut::new(std::slice::from_ref(&executed), &subscribers);
    assert_eq!(out.rows.len(), 1);
    let to: Vec<&str> = out
        .deliveries
        .iter()
        .map(|d| d.webhook_id.as_str())
        .collect();
    assert_eq!(to, ["all", "github"]);
    assert!(out.deliveries.iter().all(|d| d.event_id == out.rows[0].id));
    assert!(out.logged.is_empty(), "no log is on");

    let activated = Event::for_all(EventType::PluginActivated, 1, data);
    assert_eq!(workspaces(&[executed, activated.clone()]), [None]);
    let out = FanOut::new(&[activated], &subscribers);
    assert_eq!(out.rows.len(), 2);
    assert_ne!(out.rows[0].id, out.rows[1].id);
    assert_eq!(out.deliveries.len(), 2);
}

#[test]
fn a_log_has_the_event_that_webhooks_get_and_those_that_no_webhook_wants() {
    let mut log = subscriber("ws_1", "", &["*"], EventFilters::default());
    log.id = None;
    let webhook = subscriber("ws_1", "tools", &["tool.*"], EventFilters::default());
    let executed = Event::new(
        EventType::ToolExecuted,
        "ws_1",
        1,
        json!({ "user_id": "ada" }),
    );
    let created = Event::new(EventType::SkillCreated, "ws_1", 1, json!({}));
    let elsewhere = Event::new(EventType::SkillCreated, "ws_2", 1, json!({}));
    let out = FanOut::new(&[executed, created, elsewhere], &[webhook, log]);
    let kinds =
        |rows: &[EventRow]| -> Vec<String> { rows.iter().map(|row| row.kind.clone()).collect() };
    assert_eq!(kinds(&out.rows), ["tool.executed"]);
    assert_eq!(kinds(&out.logged), ["tool.executed", "skill.created"]);
    assert_eq!(out.logged[0], out.rows[0]);
    assert_eq!(out.logged[0].user_id.as_deref(), Some("ada"));
    assert_eq!(out.logged[1].user_id, None);
    assert_eq!(out.deliveries.len(), 1);
}

#[test]
fn an_event_with_an_id_of_its_own_is_written_under_it() {
    let subscribers = [subscriber("ws_1", "all", &["*"], EventFilters::default())];
    let event = Event::trigger("github", "new_issue", "ws_1", 1, json!({}));
    let out = FanOut::new(&[event.with_id("evt_own".to_owned())], &subscribers);
    assert_eq!(out.rows[0].id, "evt_own");
    assert_eq!(out.deliveries[0].event_id, "evt_own");
}

#[test]
fn an_event_without_the_filtered_field_does_not_pass() {
    let filters = EventFilters {
        user_ids: Some(vec!["ada".to_owned()]),
        ..EventFilters::default()
    };
    assert!(filters.pass(&json!({ "user_id": "ada" })));
    assert!(!filters.pass(&json!({ "user_id": "eve" })));
    assert!(!filters.pass(&json!({ "name": "ada" })));
    assert!(EventFilters::default().pass(&json!({})));
}

#[test]
fn a_payload_has_the_shape_of_standard_webhooks() {
    let event = Event::trigger("github", "push", "ws_1", 0, json!({ "ref": "main" }));
    assert_eq!(
        event.payload(),
        r#"{"type":"trigger.github.push","timestamp":"1970-01-01T00:00:00.000Z","data":{"ref":"main"}}"#
    );
}
