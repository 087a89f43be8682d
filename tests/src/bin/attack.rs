//! `attack [--json]`: starts a gateway for whom wants to attack it, prints what each role is given, and runs until it is
//! interrupted. `make attack` builds what it needs.

use std::io::Write as _;

use toolgate_tests::range::{GUARDED, Range, Roles, USER};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let json = std::env::args().nth(1).as_deref() == Some("--json");
    let folder = tempfile::tempdir()?;
    let range = Range::start(folder.path()).await?;
    let text = match json {
        true => serde_json::to_string(&range.roles)?,
        false => for_people(&range.roles),
    };
    let mut out = std::io::stdout();
    writeln!(out, "{text}")?;
    out.flush()?;
    let mut terminated = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminated.recv() => {}
    }
    range.process.kill().await;
    Ok(())
}

fn for_people(roles: &Roles) -> String {
    let mut text = format!(
        "A gateway to attack. Ctrl-C stops it and deletes everything.\n\n\
         gateway   {}   its log: {}\n\
         operator  key {}; dashboard: {} with the password {}\n\
         agent     key {}, for the user {USER}, whose account at `hunter` is connected\n\
         tenant    key {}, in the workspace rival\n\
         provider  {}   repeats what it is sent: /echo /encoded /refuse /redirect /huge /slow\n\
         plugin    put files into {}; `toolgate plugin new --lang rust NAME` begins one\n\n\
         `{GUARDED}` waits for a person: no call of it for {USER} may run unapproved.\n\
         Secrets, and whom they are not for:\n",
        roles.gateway,
        roles.log.display(),
        roles.operator_key,
        roles.owner_email,
        roles.owner_password,
        roles.agent_key,
        roles.tenant_key,
        roles.provider,
        roles.plugins.display(),
    );
    for flag in &roles.flags {
        text.push_str(&format!(
            "- {}\n  not for {}\n  SHA-256 {}\n",
            flag.what, flag.not_for, flag.sha256
        ));
    }
    text.push_str("\nSECURITY.md says how to report what you find.\n");
    text
}
