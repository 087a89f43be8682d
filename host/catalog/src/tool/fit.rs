//! Arguments of a call, checked and taken as they are meant.

use std::cell::Cell;

use serde_json::Value;

use super::Tool;
use crate::arguments::places::SchemaPlaces;
use crate::arguments::{self, TOO_COSTLY, Violation, coerce, rounded};
use crate::cost::{CHECK_UNITS_DIRECT, CHECK_UNITS_MAX};
use toolgate_core::exact::ExactNumbers;

/// How much a check may compute, since it cannot be interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckBudget {
    /// So little that it may run where a request is served.
    Direct,
    /// As much as any check may, in the fair shares.
    Shared,
}

impl CheckBudget {
    fn units(self) -> u64 {
        match self {
            Self::Direct => CHECK_UNITS_DIRECT,
            Self::Shared => CHECK_UNITS_MAX,
        }
    }
}

/// Why arguments are not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    Violations(Vec<Violation>),
    /// The check would compute more than its budget.
    TooCostly,
}

impl Misfit {
    /// The same for a caller, who can only send less.
    pub fn into_violations(self) -> Vec<Violation> {
        match self {
            Self::Violations(violations) => violations,
            Self::TooCostly => vec![Violation {
                path: String::new(),
                message: TOO_COSTLY.to_owned(),
            }],
        }
    }
}

impl Tool {
    /// Checks arguments and takes them as they are meant ([`coerce`]). `exact`: the numbers as they were written, `None`
    /// where only their rounded values came. Answers the places of texts that were taken as something else.
    ///
    /// # Errors
    /// Every violation, or that the check would be too costly; the arguments are then as they were.
    pub fn fit(
        &self,
        arguments: &mut Value,
        exact: Option<&mut ExactNumbers>,
        budget: CheckBudget,
    ) -> Result<Vec<String>, Misfit> {
        let mut unknown = ExactNumbers::default();
        let exact = exact.unwrap_or(&mut unknown);
        let violations = self.validate_within(arguments, budget)?;
        let Some(schema) = self.validator().map(|check| &check.schema) else {
            return Err(Misfit::Violations(violations));
        };
        let left = Cell::new(budget.units());
        let places = SchemaPlaces::new(schema, &left);
        let unless_spent = |found: Vec<Violation>| match left.get() {
            0 => Err(Misfit::TooCostly),
            _ => none(found),
        };
        if violations.is_empty() {
            unless_spent(rounded::rounded(places, arguments, exact))?;
            return Ok(Vec::new());
        }
        if !arguments::is_readable(arguments) {
            return Err(Misfit::Violations(violations));
        }
        let (mut meant, mut digits) = (arguments.clone(), exact.clone());
        let coerced = coerce::coerce(places, &mut meant, &mut digits);
        if left.get() == 0 {
            return Err(match budget {
                CheckBudget::Direct => Misfit::TooCostly,
                // What was meant is not known; what does not fit is.
                CheckBudget::Shared => Misfit::Violations(violations),
            });
        }
        none(self.validate_within(&meant, budget)?)?;
        unless_spent(rounded::rounded(places, &meant, &digits))?;
        (*arguments, *exact) = (meant, digits);
        Ok(coerced)
    }

    fn validate_within(
        &self,
        arguments: &Value,
        budget: CheckBudget,
    ) -> Result<Vec<Violation>, Misfit> {
        match self.costs_at_most(arguments, budget.units()) {
            true => Ok(self.validate(arguments)),
            false => Err(Misfit::TooCostly),
        }
    }
}

fn none(violations: Vec<Violation>) -> Result<(), Misfit> {
    match violations.is_empty() {
        true => Ok(()),
        false => Err(Misfit::Violations(violations)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::Manifest;

    fn tool(input: &Value) -> Tool {
        let manifest = json!({
            "manifest": 1, "service": "demo", "title": "Demo", "version": "1.0.0", "description": "d",
            "tools": [{"name": "run", "description": "Runs.", "effect": "write", "input": input}]
        });
        let manifest = Manifest::parse(&manifest.to_string()).expect("it has its shape");
        let tools = Tool::from_manifest(&Arc::new(manifest), &Arc::from("sha"));
        tools.into_iter().next().expect("it has one")
    }

    /// What the plugin is given, and what was taken as something else.
    fn sent(tool: &Tool, text: &str) -> Result<(String, Vec<String>), Misfit> {
        let mut arguments: Value = serde_json::from_str(text).expect("JSON");
        let mut exact = ExactNumbers::read(text);
        let coerced = tool.fit(&mut arguments, Some(&mut exact), CheckBudget::Direct)?;
        Ok((exact.write(&arguments), coerced))
    }

    fn places(misfit: Misfit) -> Vec<String> {
        let violations = misfit.into_violations().into_iter();
        violations.map(|violation| violation.path).collect()
    }

    #[test]
    fn every_digit_of_an_id_is_kept_where_its_text_is_known() {
        let tool = tool(&json!({"type": "object", "properties": {
            "id": {"type": "integer"}, "amount": {"type": "number"}
        }}));
        for (text, expected) in [
            (
                r#"{"id":36893488147419103232}"#,
                r#"{"id":36893488147419103232}"#,
            ),
            (
                r#"{"id":"36893488147419103232"}"#,
                r#"{"id":36893488147419103232}"#,
            ),
            // A Discord snowflake, an id of X, one of Meta.
            (
                r#"{"id":1098765432109876543}"#,
                r#"{"id":1098765432109876543}"#,
            ),
            (
                r#"{"id":1212092628029698048}"#,
                r#"{"id":1212092628029698048}"#,
            ),
            (
                r#"{"id":"120330000123456789"}"#,
                r#"{"id":120330000123456789}"#,
            ),
            (
                r#"{"amount":1234567890.123456789}"#,
                r#"{"amount":1234567890.123456789}"#,
            ),
            (r#"{"amount":"19.90"}"#, r#"{"amount":19.90}"#),
        ] {
            assert_eq!(sent(&tool, text).expect(text).0, expected);
        }
        for rounded in [
            r#"{"id":3.6893488147419103e+19}"#,
            r#"{"id":"3.6893488147419103e+19"}"#,
            r#"{"id":9007199254740992.0}"#,
        ] {
            assert_eq!(places(sent(&tool, rounded).unwrap_err()), ["/id"]);
        }
    }

    #[test]
    fn a_rounded_integer_is_refused_where_its_text_is_not_known() {
        let tool = tool(&json!({"type": "object", "properties": {"id": {"type": "integer"}}}));
        let mut given = json!({"id": 3.689_348_814_741_910_3e19});
        let refused = tool.fit(&mut given, None, CheckBudget::Direct).unwrap_err();
        assert_eq!(places(refused), ["/id"]);
        let mut text = json!({"id": "36893488147419103232"});
        let mut exact = ExactNumbers::default();
        let taken = tool.fit(&mut text, Some(&mut exact), CheckBudget::Direct);
        assert_eq!(taken, Ok(vec!["/id".to_owned()]));
        assert_eq!(exact.write(&text), r#"{"id":36893488147419103232}"#);
    }

    #[test]
    fn arguments_that_do_not_fit_stay_as_they_were() {
        let tool = tool(&json!({"type": "object", "properties": {
            "limit": {"type": "integer"}, "draft": {"type": "boolean"}, "cursor": {"type": "string"}
        }, "required": ["limit"]}));
        let given = json!({"limit": "5", "draft": "perhaps", "cursor": null});
        let mut arguments = given.clone();
        let mut exact = ExactNumbers::default();
        let refused = tool.fit(&mut arguments, Some(&mut exact), CheckBudget::Direct);
        assert_eq!(places(refused.unwrap_err()), ["/draft"]);
        assert_eq!(arguments, given);
        let (taken, coerced) = sent(&tool, r#"{"limit":"5","cursor":null}"#).expect("it fits");
        assert_eq!(
            (taken.as_str(), coerced),
            (r#"{"limit":5}"#, vec!["/limit".to_owned()])
        );
    }

    #[test]
    fn a_check_is_measured_before_it_is_done_and_again_once_a_text_became_a_list() {
        let tool = tool(&json!({"type": "object", "properties": {"all": {
            "type": "array", "items": {"type": "string", "pattern": "^(?:[a-z]{1,30}-){1,30}$"}
        }}}));
        let many = |count: usize| Value::from(vec!["word-".repeat(count.min(30)); count]);
        let costly = many(500);
        for given in [json!({"all": costly}), json!({"all": costly.to_string()})] {
            let mut arguments = given.clone();
            let refused = tool.fit(&mut arguments, None, CheckBudget::Direct);
            assert_eq!(refused, Err(Misfit::TooCostly));
            assert_eq!(arguments, given);
            let taken = tool.fit(&mut arguments, None, CheckBudget::Shared);
            assert!(taken.is_ok(), "{taken:?}");
            assert_eq!(arguments["all"], costly);
        }
        let mut few = json!({"all": many(2).to_string()});
        let taken = tool.fit(&mut few, None, CheckBudget::Direct);
        assert_eq!(taken, Ok(vec!["/all".to_owned()]));
        assert_eq!(few["all"], many(2));
    }
}
