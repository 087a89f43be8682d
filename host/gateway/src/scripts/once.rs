//! Scripts as the edges ask for them: run at most once for an idempotency key, and tools as declarations by name and by
//! service.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::{RunScript, ScriptRun};
use crate::tools::ListTools;
use crate::tools::idempotency::{IdempotentAnswer, KeyedRequest};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::ids::UserId;

/// The longest that a run or its resumption takes: its wall clock, and the calls under way at its end.
const RUN_ANSWERED_WITHIN: Duration = Duration::from_secs(180);
/// Tools that one answer declares.
pub const TYPED_NAMES_MAX: usize = 100;
/// Services that one request names.
pub const TYPED_SERVICES_MAX: usize = 10;
/// Tools of the services of one request.
const TYPED_TOOLS_MAX: usize = 500;

/// Which tools to declare. `GET /v1/tools/types`.
#[derive(Clone, Debug, Default)]
pub struct ScriptTypes {
    /// Names of tools.
    pub names: Vec<String>,
    /// Names of services: all their tools that the user may use.
    pub services: Vec<String>,
    pub user_id: Option<UserId>,
}

impl Gateway {
    /// Runs a script at most once for the attempt's key. See [`Gateway::run_script`]. It goes on when the caller hangs
    /// up.
    ///
    /// # Errors
    /// `idempotency_conflict` when the key was used for another request; `in_progress` while the first one runs;
    /// `outcome_unknown` when the gateway stopped in the middle of it.
    pub async fn run_script_once(
        self: &Arc<Self>,
        caller: &Caller,
        attempt: Option<KeyedRequest>,
        request: RunScript,
    ) -> Result<IdempotentAnswer<ScriptRun>, Error> {
        // Before an answer that was kept, too.
        caller.need(Scope::ToolsExecute)?;
        let (gateway, owned) = (self.clone(), caller.clone());
        let work = Box::pin(async move { gateway.run_script(&owned, request).await });
        self.once_within(caller, attempt, RUN_ANSWERED_WITHIN, work, without_links)
            .await
    }

    /// Resumes a run at most once for the attempt's key. See [`Gateway::resume_script`].
    ///
    /// # Errors
    /// Those of [`Gateway::run_script_once`].
    pub async fn resume_script_once(
        self: &Arc<Self>,
        caller: &Caller,
        attempt: Option<KeyedRequest>,
        run_id: String,
    ) -> Result<IdempotentAnswer<ScriptRun>, Error> {
        caller.need(Scope::ToolsExecute)?;
        let (gateway, owned) = (self.clone(), caller.clone());
        let work = Box::pin(async move { gateway.resume_script(&owned, &run_id).await });
        self.once_within(caller, attempt, RUN_ANSWERED_WITHIN, work, without_links)
            .await
    }

    /// Declarations of tools in TypeScript, each tool once.
    ///
    /// # Errors
    /// `invalid_request` beyond [`TYPED_NAMES_MAX`] names, [`TYPED_SERVICES_MAX`] services or 500 tools of them;
    /// `tool_not_found` for a name that the user may not use.
    pub async fn script_types(
        &self,
        caller: &Caller,
        request: ScriptTypes,
    ) -> Result<String, Error> {
        caller.need(Scope::ToolsRead)?;
        check_count("names", request.names.len(), TYPED_NAMES_MAX)?;
        check_count("services", request.services.len(), TYPED_SERVICES_MAX)?;
        let user_id = request.user_id;
        let mut names: BTreeSet<String> = request.names.into_iter().collect();
        let mut of_services = 0;
        for service in request.services {
            let of_service = ListTools {
                service: Some(service),
                limit: TYPED_TOOLS_MAX,
                cursor: None,
                user_id: user_id.clone(),
            };
            let page = self.list_tools(caller, of_service).await?;
            of_services += page.tools.len();
            if page.next_cursor.is_some() || of_services > TYPED_TOOLS_MAX {
                return Err(Error::InvalidRequest(format!(
                    "the services have more than {TYPED_TOOLS_MAX} tools: name fewer services, or tools by `names`"
                )));
            }
            names.extend(page.tools.into_iter().map(|tool| tool.name));
        }
        let names: Vec<String> = names.into_iter().collect();
        self.typescript_of(caller, user_id.as_ref(), &names).await
    }
}

fn check_count(field: &str, count: usize, most: usize) -> Result<(), Error> {
    match count <= most {
        true => Ok(()),
        false => Err(Error::InvalidRequest(format!(
            "{field} names more than {most}"
        ))),
    }
}

/// A run as it may be kept: links for people are secrets. Resuming the run answers the link anew.
fn without_links(run: &ScriptRun) -> ScriptRun {
    let mut kept = run.clone();
    if let Some(pause) = &mut kept.pause {
        pause.connect_url = None;
        pause.approval_url = None;
    }
    kept
}
