use super::*;
use serde_json::json;
use toolgate_gateway::connections::flow::PopupMessage;

fn page() -> ConnectPage {
    ConnectPage {
        workspace: "<w>".into(),
        user: "ada\"><script>".into(),
        service: "Desk & Co".into(),
        service_name: "desk".into(),
        slot: "Account".into(),
        leaves_for_provider: false,
        asks_who: true,
        scopes: vec!["read".into()],
        tools: vec![Unlocked {
            title: "List <b>".into(),
            effect: Effect::Read,
        }],
        inputs: vec![Input {
            key: "f_secret".into(),
            title: "Key".into(),
            help: Some("<u>".into()),
            secret: true,
            required: true,
            pattern: None,
            options: Vec::new(),
            value: String::new(),
        }],
        renews: Some("old <account>".into()),
        asked_by: Some("List desks".into()),
        homepage: None,
        sent_to: vec!["api.desk.test".into()],
        may_skip_check: false,
        problem: Some("<i>".into()),
        page_field: "f0".into(),
    }
}

fn way_back(popup: bool) -> WayBack {
    WayBack {
        return_url: Some("https://app.test/done?a=1&b=\"><script>".into()),
        popup: popup.then(|| PopupMessage {
            origin: "https://app.test".into(),
            message: json!({"type": "toolgate.connect", "service": "\"></div><script>"}),
        }),
    }
}

#[test]
fn nothing_a_stranger_chose_is_markup() {
    let text = connect(&page(), "n1").into_string();
    for raw in ["<w>", "<script>", "<b>", "<i>", "<account>", "<u>"] {
        assert!(!text.contains(raw), "{raw}");
    }
    assert!(text.contains("Desk &amp; Co") && text.contains("ada&quot;&gt;"));
    let leave = leave("https://id.test/?a=1&b=\"><script>", "n1").into_string();
    assert!(!leave.contains("<script>"), "{leave}");
    let refusal = refusal("<x>", Some(&way_back(true)), "n").into_string();
    assert!(refusal.contains("&lt;x&gt;") && !refusal.contains("<script>"));
}

#[test]
fn the_page_says_whose_connection_it_is_and_what_it_allows() {
    let text = connect(&page(), "n1").into_string();
    for said in [
        "workspace",
        "This renews the connection with",
        "Needed for: List desks",
        "<code>read</code>",
        "What you allow",
        "<h2>Read</h2>",
        "sent to api.desk.test alone",
        "type=\"password\"",
        "method=\"post\"",
        "Are you <strong>ada",
        "Yes, that is me",
        "name=\"cancel\"",
        "nonce=\"n1\"",
    ] {
        assert!(text.contains(said), "{said}");
    }
    assert!(!text.contains("<script") && !text.contains("http://") && !text.contains("https://"));
}

#[test]
fn the_field_and_the_buttons_come_before_the_list() {
    let text = connect(&page(), "n1").into_string();
    let at = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("{part} is missing"))
    };
    assert!(at("Are you") < at("<input") && at("<input") < at("name=\"cancel\""));
    assert!(at("name=\"cancel\"") < at("What you allow"));
}

#[test]
fn a_page_of_the_service_is_named_where_it_is_https() {
    let mut page = page();
    for (homepage, shown) in [
        ("https://desk.test/help", true),
        ("http://desk.test/help", false),
        ("javascript:alert(1)", false),
    ] {
        page.homepage = Some(homepage.into());
        let text = connect(&page, "n").into_string();
        assert_eq!(text.contains("Where do I find this?"), shown, "{homepage}");
        assert_eq!(text.contains(homepage), shown, "{homepage}");
    }
    page.homepage = Some("https://desk.test/help".into());
    page.inputs.clear();
    let text = connect(&page, "n").into_string();
    assert!(!text.contains("Where do I find this?"), "nothing to find");
}

#[test]
fn only_a_popup_holds_a_script_and_its_message_is_data() {
    let plain = cancelled(&way_back(false), "n").into_string();
    assert!(!plain.contains("<script"), "{plain}");
    let popup = cancelled(&way_back(true), "n").into_string();
    assert!(
        popup.contains("<script nonce=\"n\">")
            && popup.contains("data-origin=\"https://app.test\"")
    );
    assert_eq!(popup.matches("<script").count(), 1, "{popup}");
}

#[test]
fn what_was_not_checked_is_not_called_connected() {
    let ended = |checked| {
        let connected = Connected {
            service: "Desk".into(),
            user: "ada".into(),
            account: None,
            checked,
            not_granted: vec!["mail.send".into()],
            way_back: way_back(false),
        };
        done(&connected, "n").into_string()
    };
    assert!(ended(true).contains("is connected"));
    assert!(ended(true).contains("not granted") && ended(true).contains("<code>mail.send</code>"));
    let unchecked = ended(false);
    assert!(unchecked.contains("is saved") && !unchecked.to_lowercase().contains("connected for"));
    assert!(unchecked.contains("could not be checked"), "{unchecked}");
}

#[test]
fn a_check_is_skipped_only_where_the_gateway_offers_it() {
    let mut page = page();
    let button = "name=\"unchecked\"";
    assert!(!connect(&page, "n").into_string().contains(button));
    page.may_skip_check = true;
    assert!(connect(&page, "n").into_string().contains(button));
}

#[test]
fn long_lists_of_tools_are_cut() {
    let mut page = page();
    page.tools = (0..=TOOLS_SHOWN_MAX)
        .map(|n| Unlocked {
            title: format!("tool {n}"),
            effect: Effect::Write,
        })
        .collect();
    let text = connect(&page, "n").into_string();
    assert!(text.contains("and 36 more") && text.contains("<li>1 others</li>"));
    assert!(!text.contains(&format!("tool {TOOLS_SHOWN_MAX}")));
}
