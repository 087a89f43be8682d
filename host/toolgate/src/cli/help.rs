//! The command line as it is parsed and shown: every command's help has its own options, and one line says where
//! the settings are.

use clap::{Arg, Command, CommandFactory as _, Id};

/// The command whose help lists the settings.
const SHOWS_SETTINGS: &str = "serve";

const WHERE_SETTINGS_ARE: &str =
    "Settings, such as --data-dir, are the same for all commands: toolgate serve --help";

pub(super) fn command() -> Command {
    let command = super::Cli::command();
    let settings: Vec<Arg> = command
        .get_arguments()
        .filter(|argument| argument.get_help_heading() == Some("Settings"))
        .map(|argument| argument.clone().hide(true))
        .collect();
    command.mut_subcommands(|one| match one.get_name() == SHOWS_SETTINGS {
        true => one,
        false => without_settings(one, &settings),
    })
}

/// A global argument is not given to a subcommand that has one of the same name, hidden here or of its own.
fn without_settings(command: Command, settings: &[Arg]) -> Command {
    let after = match command.get_after_help() {
        Some(own) => format!("{own}\n\n{WHERE_SETTINGS_ARE}"),
        None => WHERE_SETTINGS_ARE.to_owned(),
    };
    let own: Vec<Id> = command
        .get_arguments()
        .map(|one| one.get_id().clone())
        .collect();
    let hidden = settings.iter().filter(|one| !own.contains(one.get_id()));
    command
        .mut_subcommands(|one| without_settings(one, settings))
        .args(hidden.cloned())
        .after_help(after)
}
