//! The settings of a registration: what an operator says of an application beyond its client id and secret.

use serde_json::{Map, Value, json};
use url::Url;

use crate::Error;
use crate::connections::callback::{CALLBACK_SETTING, CallbackAddress};
use toolgate_catalog::manifest::{Manifest, is_tenant};
use toolgate_egress::Grant;
use toolgate_store::OAuthApp;

const REDIRECT_NAME_BYTES_MAX: usize = 200;
/// Name of the redirect name in the settings of a registration.
const REDIRECT_NAME_SETTING: &str = "redirect_name";
/// Name of the tenant in the settings of a registration.
const TENANT_SETTING: &str = "tenant";
/// Name of the largest scopes in the settings of a registration.
pub(super) const SCOPES_MAX_SETTING: &str = "scopes_max";
const BASE_URL_SETTING: &str = "base_url";
/// Of a registration that the gateway has asked for: an object with [`AGAIN_FROM_MS`] and [`REGISTERED_MS`].
const BY_ITSELF_SETTING: &str = "by_itself";
/// From when on it may ask again, in milliseconds since the Unix epoch; at any time where absent.
const AGAIN_FROM_MS: &str = "again_from_ms";
/// When it was made, in milliseconds since the Unix epoch; absent in those of before this was kept.
const REGISTERED_MS: &str = "registered_ms";

/// The settings of a new registration.
#[derive(Debug, Default)]
pub(super) struct NewSettings {
    pub(super) values: Map<String, Value>,
    /// What the audit log says of them.
    pub(super) details: Map<String, Value>,
    /// Those that stay as they are. They are no part of the change: another one may write them at the same time.
    pub(super) kept: Vec<&'static str>,
}

impl NewSettings {
    /// A setting that stays as it is where it is not given.
    fn set(&mut self, name: &'static str, value: Option<Value>) {
        match value {
            Some(value) => {
                self.details.insert(name.to_owned(), value.clone());
                self.values.insert(name.to_owned(), value);
            }
            None => self.kept.push(name),
        }
    }

    /// A new registration has the address of its service.
    pub(super) fn callback(&mut self, callback: Option<CallbackAddress>) {
        self.set(CALLBACK_SETTING, callback.map(|callback| json!(callback)));
        let own = json!(CallbackAddress::Service);
        self.values.entry(CALLBACK_SETTING).or_insert(own);
    }

    pub(super) fn scopes_max(&mut self, scopes: Option<&[String]>) {
        self.set(SCOPES_MAX_SETTING, scopes.map(|scopes| json!(scopes)));
        if scopes.is_some_and(<[String]>::is_empty) {
            self.values.remove(SCOPES_MAX_SETTING);
        }
    }

    /// The address in front of the manifest's paths; none where it is not given.
    pub(super) fn base_url(&mut self, base: Option<&str>) -> Result<(), Error> {
        self.details
            .insert(BASE_URL_SETTING.to_owned(), json!(base));
        let Some(base) = base else {
            return Ok(());
        };
        let refused = || {
            Error::InvalidRequest(
                "the base URL is an http or https address without a query".to_owned(),
            )
        };
        let url = Url::parse(base).map_err(|_| refused())?;
        Grant::new(&[], &[base.to_owned()]).map_err(|_| refused())?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused());
        }
        let base = Value::from(base.trim_end_matches('/'));
        self.values.insert(BASE_URL_SETTING.to_owned(), base);
        Ok(())
    }

    pub(super) fn redirect_name(
        &mut self,
        manifest: &Manifest,
        name: Option<&str>,
    ) -> Result<(), Error> {
        if let Some(name) = name {
            check_redirect_name(manifest, name)?;
        }
        self.set(REDIRECT_NAME_SETTING, name.map(Value::from));
        Ok(())
    }

    pub(super) fn tenant(
        &mut self,
        manifest: &Manifest,
        tenant: Option<&str>,
    ) -> Result<(), Error> {
        if let Some(tenant) = tenant {
            check_tenant(manifest, tenant)?;
        }
        self.set(TENANT_SETTING, tenant.map(Value::from));
        Ok(())
    }

    /// Not kept: what somebody else registers instead is no registration of the gateway's own.
    pub(super) fn by_itself(&mut self, registered_ms: Option<i64>) {
        if let Some(registered_ms) = registered_ms {
            self.details
                .insert(BY_ITSELF_SETTING.to_owned(), true.into());
            let own = json!({ REGISTERED_MS: registered_ms });
            self.values.insert(BY_ITSELF_SETTING.to_owned(), own);
        }
    }
}

/// A name of the callback address is a word and never an address: a code that is sent elsewhere would be lost.
fn check_redirect_name(manifest: &Manifest, name: &str) -> Result<(), Error> {
    if !manifest
        .auth
        .iter()
        .any(|slot| slot.redirect_name.is_some())
    {
        return Err(Error::InvalidRequest(format!(
            "{} takes the callback address itself, so it has no redirect name",
            manifest.service
        )));
    }
    let is_word = (1..=REDIRECT_NAME_BYTES_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    match is_word {
        true => Ok(()),
        false => Err(Error::InvalidRequest(format!(
            "a redirect name is 1 to {REDIRECT_NAME_BYTES_MAX} letters, digits, `-`, `_` and `.`: the provider shows it beside the callback address"
        ))),
    }
}

fn check_tenant(manifest: &Manifest, tenant: &str) -> Result<(), Error> {
    if !manifest.auth.iter().any(|slot| slot.tenant.is_some()) {
        return Err(Error::InvalidRequest(format!(
            "{} has no tenants in its addresses",
            manifest.service
        )));
    }
    match is_tenant(tenant) {
        true => Ok(()),
        false => Err(Error::InvalidRequest(
            "a tenant is an identifier or a domain: letters, digits, `-` and `.`".to_owned(),
        )),
    }
}

/// Address of an on-premise server in front of the manifest's paths.
pub fn base_url(app: &OAuthApp) -> Option<String> {
    let settings: Value = serde_json::from_str(&app.settings).ok()?;
    settings[BASE_URL_SETTING].as_str().map(str::to_owned)
}

/// The provider's name of the callback address.
pub fn redirect_name(app: &OAuthApp) -> Option<String> {
    let settings: Value = serde_json::from_str(&app.settings).ok()?;
    settings[REDIRECT_NAME_SETTING].as_str().map(str::to_owned)
}

/// The organization of the application.
pub fn tenant(app: &OAuthApp) -> Option<String> {
    let settings: Value = serde_json::from_str(&app.settings).ok()?;
    settings[TENANT_SETTING].as_str().map(str::to_owned)
}

/// From when on the gateway may ask for the registration again. `None`: it has not asked for it.
pub(crate) fn again_from_ms(app: &OAuthApp) -> Option<i64> {
    let settings: Value = serde_json::from_str(&app.settings).ok()?;
    let own = settings.get(BY_ITSELF_SETTING)?;
    Some(own[AGAIN_FROM_MS].as_i64().unwrap_or(i64::MIN))
}

/// When a registration that the gateway has asked for was made, where that is known.
pub(crate) fn registered_ms(app: &OAuthApp) -> Option<i64> {
    let settings: Value = serde_json::from_str(&app.settings).ok()?;
    settings[BY_ITSELF_SETTING][REGISTERED_MS].as_i64()
}

/// The settings of a registration that the gateway asks for again from `again_from_ms` on, and that was made at
/// `registered_ms`.
pub(crate) fn with_again_from(
    app: &OAuthApp,
    again_from_ms: i64,
    registered_ms: Option<i64>,
) -> String {
    let settings: Value = serde_json::from_str(&app.settings).unwrap_or_default();
    let mut settings = match settings {
        Value::Object(settings) => settings,
        _ => Map::new(),
    };
    let mut own = json!({ AGAIN_FROM_MS: again_from_ms });
    if let Some(registered_ms) = registered_ms {
        own[REGISTERED_MS] = registered_ms.into();
    }
    settings.insert(BY_ITSELF_SETTING.to_owned(), own);
    Value::Object(settings).to_string()
}

/// What the operator has named beside the manifest's scopes.
pub fn scopes_max(app: &OAuthApp) -> Vec<String> {
    let settings: Value = serde_json::from_str(&app.settings).unwrap_or_default();
    let named = &settings[SCOPES_MAX_SETTING];
    let named = named.as_array().into_iter().flatten();
    named.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(slot: Value) -> Manifest {
        let mut manifest = json!({
            "manifest": 1, "service": "desk", "title": "Desk", "version": "1.0.0", "description": "d",
            "auth": [{
                "slot": "user", "title": "User", "type": "oauth2",
                "authorize_url": "https://desk.test/authorize", "token_url": "https://desk.test/token",
                "placement": {"header": "authorization"}, "audience": ["https://desk.test"]
            }],
            "tools": []
        });
        let own = manifest["auth"][0].as_object_mut().expect("a slot");
        own.extend(slot.as_object().expect("keys").clone());
        serde_json::from_value(manifest).unwrap()
    }

    #[test]
    fn a_redirect_name_is_a_word_of_a_provider_that_has_such_names() {
        let named = manifest(json!({"redirect_name": "RuName"}));
        assert!(check_redirect_name(&named, "Acme_Inc-AcmeApp-PRD-abc.1").is_ok());
        for refused in [
            "",
            "https://evil.test/cb",
            "a b",
            "a/b",
            "evil.test?x",
            &"a".repeat(201),
        ] {
            assert!(check_redirect_name(&named, refused).is_err(), "{refused}");
        }
        assert!(check_redirect_name(&manifest(json!({})), "Acme").is_err());
    }

    #[test]
    fn only_a_registration_of_the_gateways_own_is_asked_for_again() {
        let app = |settings: NewSettings| OAuthApp {
            workspace_id: String::new(),
            service: "desk".to_owned(),
            client_id: "c".to_owned(),
            sealed: None,
            scopes: None,
            settings: Value::Object(settings.values).to_string(),
            updated_at_ms: 0,
        };
        let mut own = NewSettings::default();
        own.callback(None);
        own.by_itself(Some(5));
        let mut by_hand = NewSettings::default();
        by_hand.by_itself(None);
        assert!(by_hand.kept.is_empty(), "nothing of before stays");
        let by_hand = app(by_hand);
        assert_eq!(
            (again_from_ms(&by_hand), registered_ms(&by_hand)),
            (None, None)
        );
        let mut own = app(own);
        assert_eq!(again_from_ms(&own), Some(i64::MIN));
        assert_eq!(registered_ms(&own), Some(5));
        for registered in [None, Some(6)] {
            own.settings = with_again_from(&own, 7, registered);
            assert_eq!(
                (again_from_ms(&own), registered_ms(&own)),
                (Some(7), registered)
            );
        }
        assert!(own.settings.contains(CALLBACK_SETTING), "{}", own.settings);
    }

    #[test]
    fn a_tenant_is_one_segment_of_a_provider_that_has_tenants() {
        let tenants = manifest(json!({"tenant": "common"}));
        assert!(check_tenant(&tenants, "9188040d-6c67-4c5b-b112-36a304b66dad").is_ok());
        for refused in ["", "a/b", "..", "a b", "%2e", "{secret}", &"a".repeat(201)] {
            assert!(check_tenant(&tenants, refused).is_err(), "{refused}");
        }
        assert!(check_tenant(&manifest(json!({})), "acme").is_err());
    }
}
