//! `toolgate completions` and `toolgate man`: what a package installs beside the program.

use std::io::Write as _;

use clap::{ArgAction, Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use super::output::document;

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Shell to complete for
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut with_plain_flags(super::help::command()),
            "toolgate",
            &mut script,
        );
        document(&String::from_utf8(script)?)
    }
}

/// Flags that may have a value after an equals sign, without it: the scripts would take the next word for the value.
fn with_plain_flags(command: Command) -> Command {
    command
        .mut_args(|argument| match argument.is_require_equals_set() {
            true => argument
                .require_equals(false)
                .hide_possible_values(false)
                .num_args(0)
                .action(ArgAction::SetTrue),
            false => argument,
        })
        .mut_subcommands(with_plain_flags)
}

/// Prints one page, in roff, for the program and every subcommand.
pub(super) fn man() -> anyhow::Result<()> {
    let mut page = Vec::new();
    let mut command = super::help::command();
    // Gives the subcommands their whole names and the options that all have.
    command.build();
    Man::new(command.clone()).render(&mut page)?;
    for one in command.get_subcommands() {
        add(&mut page, one)?;
    }
    document(&String::from_utf8(page)?)
}

/// Adds a subcommand and those within it. The settings, which all have, are in the page once.
fn add(page: &mut Vec<u8>, command: &Command) -> std::io::Result<()> {
    if command.is_hide_set() || command.get_name() == "help" {
        return Ok(());
    }
    let name = command.get_bin_name().unwrap_or(command.get_name());
    writeln!(page, ".SH \"{}\"", name.to_uppercase())?;
    let own = command.clone().mut_args(|argument| {
        let known = argument.is_global_set() || argument.get_id() == "help";
        let hidden = argument.is_hide_set() || known;
        argument.hide(hidden)
    });
    let has_own = own.get_arguments().any(|argument| !argument.is_hide_set());
    let man = Man::new(own);
    man.render_description_section(page)?;
    if has_own {
        man.render_options_section(page)?;
    }
    for one in command.get_subcommands() {
        add(page, one)?;
    }
    Ok(())
}
