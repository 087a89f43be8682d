//! Which of several settings wins, and what is refused.

use clap::Parser;
use toolgate_catalog::rights::Upgrades;

use url::Url;

use super::*;

#[test]
fn flags_win_over_the_file_and_the_file_over_defaults() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("t.toml");
    std::fs::write(
        &file,
        "listen = \"127.0.0.1:1\"\ndata-dir = \"/d\"\npublic-url = \"https://x.test/\"\n",
    )
    .expect("written");
    let flags = Settings {
        listen: Some("127.0.0.1:2".parse().expect("an address")),
        ..Settings::default()
    };
    let config = flags.resolve(Some(&file)).expect("good settings");
    assert_eq!(config.listen.port(), 2);
    assert_eq!(config.gateway.database_url, "sqlite:///d/toolgate.db");
    assert_eq!(config.gateway.public_url, "https://x.test");
    assert_eq!(config.gateway.plugins_dir, Path::new("./plugins/dist"));
}

/// The settings that are on or off, as they hold.
fn switches(config: &Config) -> [bool; 6] {
    let clients = &config.gateway.app_clients;
    [
        config.gateway.allow_large_plugins,
        config.inbound.proxy_protocol,
        !clients.registration,
        !clients.documents,
        !config.gateway.search_by_embedding,
        !config.gateway.learn_from_use,
    ]
}

#[test]
fn a_switch_that_is_off_wins_over_a_file_in_which_it_is_on() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("t.toml");
    let names = [
        "allow-large-plugins",
        "proxy-protocol",
        "no-client-registration",
        "no-client-documents",
        "no-model",
        "no-search-learning",
    ];
    for (in_file, set, holds) in [
        (None, None, false),
        (None, Some(true), true),
        (Some(true), None, true),
        (Some(true), Some(false), false),
        (Some(false), None, false),
        (Some(false), Some(true), true),
    ] {
        let mut text = "trusted-proxy = [\"10.0.0.0/8\"]\n".to_owned();
        if let Some(in_file) = in_file {
            text.extend(names.map(|name| format!("{name} = {in_file}\n")));
        }
        std::fs::write(&file, text).expect("written");
        let flags = Settings {
            allow_large_plugins: set,
            proxy_protocol: set,
            no_client_registration: set,
            no_client_documents: set,
            no_model: set,
            no_search_learning: set,
            no_repeat_guard: set,
            ..Settings::default()
        };
        let config = flags.resolve(Some(&file)).expect("good settings");
        assert_eq!(switches(&config), [holds; 6], "{in_file:?} {set:?}");
    }
}

#[derive(Debug, Parser)]
struct SettingsLine {
    #[command(flatten)]
    settings: Settings,
}

#[test]
fn a_switch_is_on_by_itself_and_takes_a_value_after_an_equals_sign() {
    let read = |arguments: &[&str]| {
        let line = std::iter::once(&"toolgate").chain(arguments);
        let line = SettingsLine::try_parse_from(line).ok()?;
        Some(line.settings.no_model)
    };
    assert_eq!(read(&[]), Some(None));
    assert_eq!(read(&["--no-model"]), Some(Some(true)));
    assert_eq!(read(&["--no-model=true"]), Some(Some(true)));
    assert_eq!(read(&["--no-model=false"]), Some(Some(false)));
    assert_eq!(read(&["--no-model", "false"]), None, "the next word");
}

#[test]
fn hosts_and_origins_of_mcp_clients_are_checked() {
    let with = |hosts: &[&str], origins: &[&str]| {
        let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Settings {
            mcp_allow_host: all(hosts),
            mcp_allow_origin: all(origins),
            ..Settings::default()
        }
        .check()
    };
    let config = with(&["Tools.example:8443", "[::1]"], &["https://app.example"]);
    let config = config.expect("good settings");
    assert_eq!(config.mcp_hosts, ["tools.example:8443", "[::1]"]);
    assert_eq!(config.mcp_origins, ["https://app.example:443"]);
    for bad in ["", "a/b", "a/", "u@a", "a b", "http://a"] {
        assert!(with(&[bad], &[]).is_err(), "{bad}");
    }
    for bad in [
        "",
        "*",
        "null",
        "app.example",
        "ftp://a",
        "https://a/b",
        "https://u@a",
    ] {
        assert!(with(&[], &[bad]).is_err(), "{bad}");
    }
}

#[test]
fn receipts_and_the_audit_log_are_kept_for_ever_unless_days_are_given() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("t.toml");
    let day_ms = 86_400_000;
    for (text, flag, receipts_ms, audit_ms) in [
        ("", None, None, None),
        ("keep-receipts-days = 0\n", None, None, None),
        ("keep-receipts-days = 30\n", Some(0), None, None),
        ("keep-audit-days = 400\n", None, None, Some(400 * day_ms)),
        (
            "keep-audit-days = 9\n",
            Some(1),
            Some(day_ms),
            Some(9 * day_ms),
        ),
    ] {
        std::fs::write(&file, text).expect("written");
        let flags = Settings {
            keep_receipts_days: flag,
            ..Settings::default()
        };
        let keep = flags
            .resolve(Some(&file))
            .expect("good settings")
            .gateway
            .keep;
        let expected = Retention {
            receipts_ms,
            audit_ms,
        };
        assert_eq!(keep, expected, "{text}");
    }
    std::fs::write(&file, "keep-audit-days = -1\n").expect("written");
    assert!(Settings::default().resolve(Some(&file)).is_err());
}

#[test]
fn mistakes_in_settings_are_named() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("t.toml");
    std::fs::write(&file, "listne = \"127.0.0.1:1\"\n").expect("written");
    let error = format!(
        "{:#}",
        Settings::default()
            .resolve(Some(&file))
            .expect_err("a typo")
    );
    assert!(error.contains("listne"), "{error}");
    let error = Settings::default()
        .resolve(Some(Path::new("/nowhere.toml")))
        .expect_err("no file");
    assert!(error.to_string().contains("/nowhere.toml"));
    let odd = Settings {
        public_url: Some(Url::parse("ftp://x").expect("a url")),
        ..Settings::default()
    };
    assert!(odd.resolve(Some(&file)).is_err());
}

#[test]
fn a_model_has_an_address_and_a_name() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("t.toml");
    let of = |text: &str| {
        std::fs::write(&file, text).expect("written");
        Settings::default().resolve(Some(&file))
    };
    let both = of("model-url = \"http://127.0.0.1:1/v1/\"\nmodel = \"m\"\n").expect("good");
    let model = both.gateway.model.expect("a model");
    assert_eq!((&*model.url, &*model.name), ("http://127.0.0.1:1/v1", "m"));
    assert_eq!(model.turn, Duration::from_secs(120));
    assert!(of("").expect("good").gateway.model.is_none());
    for bad in [
        "model = \"m\"",
        "model-url = \"http://x/v1\"",
        "model-url = \"http://x/v1\"\nmodel = \" \"",
        "model-url = \"ftp://x\"\nmodel = \"m\"",
        "model-url = \"http://x?a=b\"\nmodel = \"m\"",
    ] {
        assert!(of(bad).is_err(), "{bad}");
    }
}

#[test]
fn trusted_proxies_are_networks_or_addresses() {
    let with = |networks: &[&str], proxy_protocol| {
        let trusted_proxy = networks.iter().map(|text| (*text).to_owned()).collect();
        let settings = Settings {
            trusted_proxy,
            proxy_protocol: Some(proxy_protocol),
            ..Settings::default()
        };
        settings.check().map(|config| config.inbound)
    };
    let inbound = with(&["10.0.0.0/8", "::1", "192.0.2.7/24"], true).expect("good settings");
    for (address, trusted) in [
        ("10.9.9.9", true),
        ("::1", true),
        ("::2", false),
        ("192.0.2.200", true),
        ("192.0.3.1", false),
    ] {
        let address = address.parse().expect("an address");
        assert_eq!(
            inbound.trusted_proxies.contains(address),
            trusted,
            "{address}"
        );
    }
    for bad in ["", "proxy.example", "10.0.0.0/33", "10.0.0.0/", "*"] {
        assert!(with(&[bad], false).is_err(), "{bad}");
    }
    assert!(with(&[], true).is_err(), "a header that nobody may send");
    let none = Settings {
        connections_max: Some(0),
        ..Settings::default()
    };
    assert!(none.check().is_err());
}

#[test]
fn guests_have_at_least_the_memory_of_two_calls() {
    let with = |guest_memory| {
        let settings = Settings {
            guest_memory,
            ..Settings::default()
        };
        let config = settings.check();
        config.map(|config| config.gateway.guest_memory_bytes).ok()
    };
    assert_eq!(with(None), Some(None), "half of what there is");
    assert_eq!(with(Some(128)), Some(Some(128 << 20)));
    assert_eq!(with(Some(127)), None);
}

#[test]
fn a_gateway_has_at_least_two_connections_to_its_database() {
    let with = |database_connections| {
        let settings = Settings {
            database_connections,
            ..Settings::default()
        };
        let config = settings.check();
        config
            .map(|config| config.gateway.database_connections)
            .ok()
    };
    assert_eq!(with(None), Some(16));
    assert_eq!(with(Some(2)), Some(2));
    assert_eq!(with(Some(1)), None);
}

#[test]
fn upgrades_are_strict_unless_the_operator_says_otherwise() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("t.toml");
    let resolved = |text: &str| {
        std::fs::write(&file, text).expect("written");
        let config = Settings::default().resolve(Some(&file));
        config.map(|config| config.gateway.upgrades).ok()
    };
    assert_eq!(resolved(""), Some(Upgrades::Strict));
    assert_eq!(
        resolved("upgrades = \"schemas\"\n"),
        Some(Upgrades::Schemas)
    );
    assert_eq!(resolved("upgrades = \"all\"\n"), None);
}
