//! The reference of the command line as a page of the documentation, from the commands themselves.

use std::fmt::Write as _;

use clap::{Arg, Command};
use toolgate_guide::GuideSource;

const HEAD: &str = "# Command line

Every command with its options. With `--json` each command prints one JSON document on standard output; messages go to
standard error.

| exit status | |
|---|---|
| 0 | done |
| 1 | failed |
| 2 | wrong usage |
| 3 | the gateway, or a rule of the installation, refused the key, the arguments or the call |
| 4 | a service or another server failed or refused |
| 5 | no gateway, database or other server answers at the address |

`serve`, `mcp` and `healthcheck` end with 0 or 1.

Settings are flags, variables of the environment or keys of `toolgate.toml`; flags win, then the environment.

";

/// The pages that this crate adds to the documentation.
pub(super) fn pages() -> Vec<GuideSource> {
    vec![GuideSource {
        section: "Reference",
        name: "cli".into(),
        path: "",
        markdown: markdown().into(),
    }]
}

fn markdown() -> String {
    let mut command = super::help::command();
    command.build();
    let mut text = HEAD.to_owned();
    let settings: Vec<&Arg> = command
        .get_arguments()
        .filter(|one| one.get_help_heading() == Some("Settings"))
        .collect();
    for one in command.get_subcommands() {
        add(&mut text, one);
    }
    text.push_str("## Settings\n\n| flag | variable | what it sets |\n|---|---|---|\n");
    for setting in settings {
        let variable = setting.get_env().and_then(|name| name.to_str());
        let _ = writeln!(
            text,
            "| `{}` | `{}` | {} |",
            usage(setting),
            variable.unwrap_or_default(),
            help(setting)
        );
    }
    text
}

fn add(text: &mut String, command: &Command) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(text, "## {name}\n\n{}\n", escaped(&about));
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|one| !one.is_global_set() && !one.is_hide_set() && one.get_id() != "help")
        .collect();
    if !own.is_empty() {
        text.push_str("| option | what it does |\n|---|---|\n");
        for argument in own {
            let _ = writeln!(text, "| `{}` | {} |", usage(argument), help(argument));
        }
        text.push('\n');
    }
    for one in command.get_subcommands() {
        add(text, one);
    }
}

/// `--name <VALUE>`, or the value alone of an argument without a flag.
fn usage(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let values = values.iter().map(|name| format!("<{name}>"));
    let takes_value = argument.get_action().takes_values();
    let values = match takes_value {
        true => values.collect::<Vec<_>>().join(" "),
        false => String::new(),
    };
    let usage = match argument.get_long() {
        Some(long) if argument.is_require_equals_set() => format!("--{long}[={values}]"),
        Some(long) => format!("--{long} {values}"),
        None => values,
    };
    usage.trim_end().replace('|', "\\|")
}

fn help(argument: &Arg) -> String {
    let said = argument.get_help().map(ToString::to_string);
    let mut text = escaped(&said.unwrap_or_default()).replace('\n', " ");
    let defaults = argument.get_default_values();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        let defaults: Vec<_> = defaults.iter().map(|one| one.to_string_lossy()).collect();
        let _ = write!(text, " [default: {}]", defaults.join(", "));
    }
    text
}

/// Help is plain text: what Markdown would read in it is written out.
fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '<' | '>' | '|' | '*' | '_' | '[' | ']') {
            written.push('\\');
        }
        written.push(c);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_and_setting_is_in_the_reference() {
        let text = markdown();
        for part in [
            "## toolgate serve\n",
            "## toolgate key create\n",
            "## toolgate member reset\n",
            "## toolgate exec\n",
            "| `--users-any` |",
            "| `<NAME=VALUE>` |",
            "| `--data-dir <DIR>` | `TOOLGATE_DATA_DIR` |",
            "| `--no-model[=<BOOL>]` | `TOOLGATE_NO_MODEL` |",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert_eq!(text.matches("TOOLGATE_TLS_CERT").count(), 1);
        assert!(!text.contains("compile-plugin") && !text.contains("toolgate man"));
    }
}
