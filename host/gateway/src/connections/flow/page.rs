//! What the page behind a link says.

use std::collections::BTreeMap;

use super::binding::PageBinding;
use super::inputs::{Input, inputs};
use super::{ConnectProblem, Cookie, OpenFlow, Step};
use crate::Gateway;
use crate::connections::link::leaves_for_provider;
use toolgate_catalog::manifest::{Effect, Manifest, Slot};

/// Everything the page says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectPage {
    pub workspace: String,
    pub user: String,
    /// The title of the service, and its name.
    pub service: String,
    pub service_name: String,
    pub slot: String,
    pub leaves_for_provider: bool,
    /// No application confirms who sits before the browser: the page asks.
    pub asks_who: bool,
    pub scopes: Vec<String>,
    pub tools: Vec<Unlocked>,
    pub inputs: Vec<Input>,
    /// The account whose connection is renewed.
    pub renews: Option<String>,
    /// The title of the tool whose call asked for the link.
    pub asked_by: Option<String>,
    /// The service's own pages, which say where a key is found.
    pub homepage: Option<String>,
    /// Hosts that may receive the credential.
    pub sent_to: Vec<String>,
    /// The provider may have refused the key for another reason: it can be kept without a check.
    pub may_skip_check: bool,
    /// Why the form is shown again.
    pub problem: Option<String>,
    /// The value of the form's field [`super::PAGE_FIELD`].
    pub page_field: String,
}

/// A page, and the cookie that binds its button to the browser.
#[derive(Debug)]
pub struct ShownPage {
    pub page: ConnectPage,
    pub cookie: Cookie,
    /// The form was not on a page that this browser was shown.
    pub unbound: bool,
}

/// One tool that the connection unlocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlocked {
    pub title: String,
    pub effect: Effect,
}

/// What a browser has sent, and what it was given with the page.
pub(super) struct FilledForm {
    pub inputs: BTreeMap<String, String>,
    pub binding: PageBinding,
}

impl Gateway {
    /// The page behind a link. Changes nothing. `cookie`: looks one up by name.
    pub async fn connect_page(
        &self,
        token: &str,
        cookie: impl Fn(&str) -> Option<String>,
    ) -> Result<ShownPage, ConnectProblem> {
        let open = self.open_link(token).await?;
        let binding = self.binding(&open, cookie);
        let page = self.page(&open, &binding, &BTreeMap::new(), None).await?;
        Ok(self.shown_page(&open, &binding, page))
    }

    pub(super) fn binding(
        &self,
        open: &OpenFlow,
        cookie: impl Fn(&str) -> Option<String>,
    ) -> PageBinding {
        let secure = self.connections.public_url.starts_with("https://");
        PageBinding::new(&open.flow, secure, cookie)
    }

    fn shown_page(&self, open: &OpenFlow, binding: &PageBinding, page: ConnectPage) -> ShownPage {
        ShownPage {
            page,
            cookie: binding.cookie(&open.flow, self.clock.now_ms()),
            unbound: false,
        }
    }

    async fn page(
        &self,
        open: &OpenFlow,
        binding: &PageBinding,
        form: &BTreeMap<String, String>,
        problem: Option<String>,
    ) -> Result<ConnectPage, ConnectProblem> {
        let (flow, manifest) = (&open.flow, open.manifest());
        let workspace = self.store.find_workspace(&flow.workspace_id).await?;
        let renewed = self
            .store
            .find_connection(&flow.workspace_id, &flow.connection_id)
            .await?;
        let unlocked = manifest
            .tools
            .iter()
            .filter(|tool| tool.auth.contains(&open.slot.slot))
            .map(|tool| Unlocked {
                title: tool.title.clone().unwrap_or_else(|| tool.name.clone()),
                effect: tool.effect,
            });
        Ok(ConnectPage {
            workspace: workspace.map(|found| found.name).unwrap_or_default(),
            user: flow.user_id.clone(),
            service: manifest.title.clone(),
            service_name: manifest.service.clone(),
            slot: open.slot.title.clone(),
            leaves_for_provider: leaves_for_provider(&open.slot),
            asks_who: flow.confirm_url.is_none(),
            scopes: flow.scopes.clone(),
            tools: unlocked.collect(),
            inputs: inputs(manifest, &open.slot, form),
            renews: renewed.map(|row| row.account.unwrap_or_else(|| row.id.clone())),
            asked_by: flow
                .tool_name
                .as_deref()
                .map(|name| tool_title(manifest, name)),
            homepage: manifest.homepage.clone(),
            sent_to: hosts_of(&open.slot),
            may_skip_check: false,
            problem: problem.or_else(|| flow.last_error.clone()),
            page_field: binding.field().to_owned(),
        })
    }

    pub(super) async fn again(
        &self,
        open: &OpenFlow,
        filled: &FilledForm,
        problem: String,
        may_skip_check: bool,
    ) -> Result<Step, ConnectProblem> {
        let FilledForm { inputs, binding } = filled;
        let page = ConnectPage {
            may_skip_check,
            ..self.page(open, binding, inputs, Some(problem)).await?
        };
        Ok(Step::Again(Box::new(self.shown_page(open, binding, page))))
    }

    /// The page once more, for a browser that was not shown it.
    pub(super) async fn unbound(
        &self,
        open: &OpenFlow,
        filled: &FilledForm,
    ) -> Result<Step, ConnectProblem> {
        let FilledForm { inputs, binding } = filled;
        let problem = "This form was not sent from a page that this browser was shown, or the browser keeps no cookies. Read the page and try again.";
        let page = self
            .page(open, binding, inputs, Some(problem.to_owned()))
            .await?;
        let shown = self.shown_page(open, binding, page);
        Ok(Step::Again(Box::new(ShownPage {
            unbound: true,
            ..shown
        })))
    }
}

/// The title that people know a tool by; `name` is whole, with the service in front.
fn tool_title(manifest: &Manifest, name: &str) -> String {
    let action = name
        .strip_prefix(manifest.service.as_str())
        .and_then(|rest| rest.strip_prefix('_'));
    let tool = manifest
        .tools
        .iter()
        .find(|tool| Some(tool.name.as_str()) == action);
    tool.and_then(|tool| tool.title.clone())
        .unwrap_or_else(|| name.to_owned())
}

/// The hosts of an audience, in words where it is the operator's own address.
fn hosts_of(slot: &Slot) -> Vec<String> {
    let named = slot.audience.iter();
    named
        .map(|origin| match origin.strip_prefix("https://") {
            Some(host) => host.to_owned(),
            None => "the server of your organisation".to_owned(),
        })
        .collect()
}
