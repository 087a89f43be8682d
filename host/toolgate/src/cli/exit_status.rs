//! What the exit status of a command says to a script.

use std::process::ExitCode;

use toolgate_gateway::Error;
use toolgate_mcp_upstream::client::ServerProblem;
use toolgate_store::StoreError;

/// What failed has no status of its own.
const FAILED: u8 = 1;
/// As clap ends where it refuses the command line itself.
const WRONG_USE: u8 = 2;
/// The gateway refused: the key, the arguments, a permission, an approval or connection that is missing.
const REFUSED: u8 = 3;
/// A service or another server failed or refused.
const PROVIDER_FAILED: u8 = 4;
/// No gateway, database or other server answers at the address.
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
    if cause.is::<WrongUse>() {
        return WRONG_USE;
    }
    if let Some(execution) = cause.downcast_ref::<Unsuccessful>() {
        return match execution.is_of_provider {
            true => PROVIDER_FAILED,
            false => REFUSED,
        };
    }
    if let Some(refusal) = cause.downcast_ref::<Error>() {
        return of_operation(refusal);
    }
    if let Some(problem) = cause.downcast_ref::<ServerProblem>() {
        return of_server(problem);
    }
    if let Some(sent) = cause.downcast_ref::<reqwest::Error>() {
        return of_request(sent);
    }
    match cause.downcast_ref::<StoreError>() {
        Some(failure) if failure.is_unavailable() => UNREACHABLE,
        _ => FAILED,
    }
}

fn of_operation(refusal: &Error) -> u8 {
    match refusal {
        Error::Internal(_) => FAILED,
        Error::ProviderUnavailable => PROVIDER_FAILED,
        Error::DatabaseUnavailable(_) => UNREACHABLE,
        _ => REFUSED,
    }
}

fn of_server(problem: &ServerProblem) -> u8 {
    match problem {
        ServerProblem::Unreachable(_) => UNREACHABLE,
        ServerProblem::SignIn { .. }
        | ServerProblem::Answer(_)
        | ServerProblem::TooLarge
        | ServerProblem::TooLong => PROVIDER_FAILED,
    }
}

fn of_request(sent: &reqwest::Error) -> u8 {
    if sent.is_connect() || sent.is_timeout() {
        UNREACHABLE
    } else if sent.is_status() {
        PROVIDER_FAILED
    } else {
        FAILED
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
        assert_eq!(status(&anyhow!("a file is missing")), FAILED);
        let internal = Error::Internal(anyhow!("a row is gone"));
        assert_eq!(status(&internal.into()), FAILED);
        assert_eq!(status(&Error::ProviderUnavailable.into()), PROVIDER_FAILED);
        assert_eq!(
            status(&Error::DatabaseUnavailable(None).into()),
            UNREACHABLE
        );
        assert_eq!(status(&StoreError::NoAnswer.into()), UNREACHABLE);
        assert_eq!(status(&StoreError::UnknownUrl.into()), FAILED);
        for (problem, expected) in [
            (ServerProblem::Unreachable(String::new()), UNREACHABLE),
            (ServerProblem::Answer(String::new()), PROVIDER_FAILED),
            (ServerProblem::TooLarge, PROVIDER_FAILED),
        ] {
            let cause = anyhow::Error::new(problem).context("the server does not describe itself");
            assert_eq!(status(&cause), expected, "{cause:#}");
        }
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
