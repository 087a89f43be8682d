use super::*;

/// Every type of parameter.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EveryKind {
    query: Phrase<3>,
    service: Id,
    limit: PageLimit<100>,
    schema_limit: Number<0, 5, 3>,
    user_id: ForUser,
    status: Option<Weather>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Weather {
    Sunny,
    LightRain,
}

fn read(text: &str) -> EveryKind {
    parse(text).unwrap()
}

fn refused(text: &str) -> (Option<String>, String, Option<String>) {
    refusal(parse::<EveryKind>(text).unwrap_err())
}

fn refusal(failure: ApiFailure) -> (Option<String>, String, Option<String>) {
    match failure {
        ApiFailure::Request {
            field,
            message,
            hint,
        } => (field, message, hint),
        other => panic!("{other:?}"),
    }
}

/// The parameter `field` is at fault, and why.
fn faulty(text: &str, field: &str, why: &str) {
    let (at, message, hint) = refused(text);
    assert_eq!((at.as_deref(), &*message, hint), (Some(field), why, None));
}

#[test]
fn parameters_are_decoded() {
    let query = read("query=%C3%A4+%2B&service=&limit=007&status=light_rain&&");
    assert_eq!(query.query.0.as_deref(), Some("ä +"));
    assert_eq!(query.service.0, None);
    assert_eq!(query.limit.0, 7);
    assert_eq!(query.schema_limit.0, 3);
    assert_eq!(query.status, Some(Weather::LightRain));
}

#[test]
fn what_is_absent_has_its_default() {
    let query = read("");
    assert_eq!(query.query.0, None);
    assert_eq!(query.limit.0, values::PAGE_LIMIT_DEFAULT);
    assert_eq!(query.user_id.0, None);
    assert_eq!(query.status, None);
}

#[test]
fn unreadable_queries_are_refused() {
    for (text, field) in [
        ("a=1&a=2", "a"),
        ("a=%", "a"),
        ("a=%4", "a"),
        ("a=%zz", "a"),
        ("a=%ff", "a"),
        ("%c3=1", "a parameter's name"),
    ] {
        assert_eq!(refused(text).0.as_deref(), Some(field), "{text}");
    }
    let many: String = (0..=PARAMETERS_MAX).map(|n| format!("p{n}=&")).collect();
    assert_eq!(refused(&many).1, "more than 32 parameters");
}

#[test]
fn numbers_hold_their_range() {
    for (text, number) in [("1", 1), ("100", 100), ("020", 20)] {
        assert_eq!(read(&format!("limit={text}")).limit.0, number);
    }
    for text in [
        "0",
        "101",
        "",
        "-1",
        "%2B5",
        "1.0",
        "x",
        "99999999999999999999999",
    ] {
        let why = "must be a whole number from 1 to 100";
        faulty(&format!("limit={text}"), "limit", why);
    }
}

#[test]
fn control_characters_are_refused() {
    let why = "control characters are not allowed";
    for (text, field) in [
        ("service=x%00", "service"),
        ("service=x%0A", "service"),
        ("query=x%00", "query"),
    ] {
        faulty(text, field, why);
    }
    assert_eq!(read("query=x%0A").query.0.as_deref(), Some("x\n"));
}

#[test]
fn texts_hold_their_length_in_characters() {
    assert_eq!(read("query=äöü").query.0.as_deref(), Some("äöü"));
    faulty("query=abcd", "query", "is longer than 3 characters");
    assert_eq!(read("query=+%20").query.0, None);
    let long = format!("service={}", "x".repeat(257));
    faulty(&long, "service", "is longer than 256 characters");
}

#[test]
fn an_empty_user_is_refused_and_not_taken_for_the_default() {
    for bad in ["user_id=", "user_id=a%2Fb"] {
        assert_eq!(refused(bad).0.as_deref(), Some("user_id"), "{bad}");
    }
    let ada = read("user_id=ada@example.com").user_id.0.unwrap();
    assert_eq!(ada.as_str(), "ada@example.com");
}

#[test]
fn words_of_a_list_are_matched_exactly() {
    for other in ["status=Sunny", "status=", "status=sunny+"] {
        faulty(other, "status", "must be one of sunny, light_rain");
    }
    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Table {
        #[serde(deserialize_with = "number")]
        number: usize,
    }
    fn number<'de, D: serde::Deserializer<'de>>(input: D) -> Result<usize, D::Error> {
        values::word(input, &[("one", 1), ("two", 2)])
    }
    assert_eq!(parse::<Table>("number=two").unwrap().number, 2);
    let (at, why, _) = refusal(parse::<Table>("number=2").unwrap_err());
    assert_eq!(at.as_deref(), Some("number"));
    assert_eq!(why, "must be one of one, two");
}

#[test]
fn parameters_are_checked_in_the_order_of_the_fields() {
    let both = refused("limit=x&service=%00");
    assert_eq!(both.0.as_deref(), Some("service"));
    let unknown_too = refused("limitt=1&limit=x");
    assert_eq!(unknown_too.0.as_deref(), Some("limit"));
}

#[test]
fn an_unknown_parameter_is_named_with_the_nearest_known_one() {
    let all = "This route takes query, service, limit, schema_limit, user_id, status.";
    for (text, field, hint) in [
        ("schemaLimit=1", "schemaLimit", "Did you mean schema_limit?"),
        ("q=1", "q", all),
        ("que%00ry=1", "query", "Did you mean query?"),
    ] {
        let (at, message, said) = refused(text);
        assert_eq!(at.as_deref(), Some(field));
        assert_eq!(message, "unknown query parameter");
        assert_eq!(said.as_deref(), Some(hint));
    }
    let (.., hint) = refusal(parse::<NoQuery>("x=1").unwrap_err());
    assert_eq!(
        hint.as_deref(),
        Some("This route takes no query parameters.")
    );
}
