//! What the exit status of a command that asks a running gateway says to a script.

use std::process::ExitCode;

use toolgate_gateway::Error;

/// As clap ends where it refuses the command line itself.
const WRONG_USE: u8 = 2;
/// The gateway refused: the key, the arguments, a permission, an approval or connection that is missing.
const REFUSED: u8 = 3;
/// The gateway ran the tool, and the service failed or refused.
const PROVIDER_FAILED: u8 = 4;
/// No gateway answers at the address.
const UNREACHABLE: u8 = 5;

/// The gateway answered a call, and there is no result. With `--json` its answer is the document of the command.
#[derive(Debug, thiserror::Error)]
#[error("{said}")]
pub(super) struct Unsuccessful {
    pub said: String,
    /// The service failed or refused, not the gateway.
    pub is_of_provider: bool,
}

/// Arguments of a tool that cannot be read from the command line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct WrongUse(String);

impl WrongUse {
    pub(super) fn new(cause: anyhow::Error) -> Self {
        Self(format!("{cause:#}"))
    }
}

pub(super) fn exit_status(cause: &anyhow::Error) -> ExitCode {
    ExitCode::from(status(cause))
}

fn status(cause: &anyhow::Error) -> u8 {
    let unreachable = cause
        .downcast_ref::<reqwest::Error>()
        .is_some_and(|sent| sent.is_connect() || sent.is_timeout());
    if cause.is::<WrongUse>() {
        return WRONG_USE;
    }
    match (
        cause.downcast_ref::<Unsuccessful>(),
        cause.downcast_ref::<Error>(),
    ) {
        (Some(execution), _) if execution.is_of_provider => PROVIDER_FAILED,
        (Some(_), _) | (_, Some(_)) => REFUSED,
        _ if unreachable => UNREACHABLE,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn each_kind_of_failure_has_its_status() {
        let execution = |is_of_provider| Unsuccessful {
            said: String::new(),
            is_of_provider,
        };
        assert_eq!(status(&execution(true).into()), PROVIDER_FAILED);
        assert_eq!(status(&execution(false).into()), REFUSED);
        assert_eq!(status(&Error::InvalidApiKey.into()), REFUSED);
        assert_eq!(status(&WrongUse::new(anyhow!("no `=`")).into()), WRONG_USE);
        assert_eq!(status(&anyhow!("a file is missing")), 1);
    }

    #[tokio::test]
    async fn a_gateway_that_does_not_answer_is_unreachable() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", closed.local_addr().unwrap());
        drop(closed);
        let cause = reqwest::get(&url).await.unwrap_err();
        let cause = toolgate_mcp::remote::explained(cause.into(), &url);
        assert_eq!(status(&cause), UNREACHABLE, "{cause:#}");
    }
}
