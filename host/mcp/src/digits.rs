//! Numbers of a message, digit by digit: the protocol's library reads arguments into values, which round some.

use http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::Value;

use toolgate_core::exact::ExactNumbers;
use toolgate_gateway::tools::Arguments;

/// Where a message has the arguments of a call, and where `svc_execute_tool` has those of its tool.
pub(crate) const ARGUMENTS: &str = "/params/arguments";
pub(crate) const TOOL_ARGUMENTS: &str = "/params/arguments/arguments";

/// The numbers of one message; none over standard input, where the message has no text of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenNumbers(ExactNumbers);

impl WrittenNumbers {
    pub(crate) fn read(body: &[u8]) -> Self {
        Self(ExactNumbers::read(
            std::str::from_utf8(body).unwrap_or_default(),
        ))
    }

    /// Of the message that is answered.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<Parts>();
        let written = parts.and_then(|parts| parts.extensions.get::<Self>());
        written.cloned().unwrap_or_default()
    }

    /// The object that the message has at `place`.
    pub(crate) fn arguments(&self, place: &str, object: Value) -> Arguments {
        Arguments::within(object, &self.0, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_arguments_are_passed_on_as_the_message_has_them() {
        let text = r#"{"id":1,"params":{"arguments":{"id":36893488147419103232,"arguments":{"p":1234567890.123456789}}}}"#;
        let message: Value = serde_json::from_str(text).unwrap();
        let written = WrittenNumbers::read(text.as_bytes());
        for (place, expected) in [
            (
                ARGUMENTS,
                r#"{"id":36893488147419103232,"arguments":{"p":1234567890.123456789}}"#,
            ),
            (TOOL_ARGUMENTS, r#"{"p":1234567890.123456789}"#),
        ] {
            let object = message.pointer(place).unwrap().clone();
            let Arguments::Text(passed) = written.arguments(place, object) else {
                panic!("{place} has numbers that a value rounds");
            };
            assert_eq!(passed, expected);
        }
        let plain = WrittenNumbers::default().arguments(ARGUMENTS, Value::Null);
        assert!(matches!(plain, Arguments::Object(Value::Null)));
    }
}
