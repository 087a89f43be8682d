//! Calls that a script should not be able to make, and more of them than it may.

use serde_json::json;

use super::{Case, Ends, case};

/// Evaluates to the code of the failure of a call.
fn code_of(call: &str) -> String {
    format!(
        "let code = 'none';\ntry {{\n  await {call};\n}} catch (error) {{\n  code = error.code ?? error.name;\n}}\nexport default code;"
    )
}

pub(super) fn cases() -> Vec<Case> {
    let refused = |name, call: &str, code: &str| case(name, code_of(call), Ends::With(json!(code)));
    vec![
        case(
            "a denied tool",
            "1;\n\nawait shop.deleteItem({ id: 'a' });",
            Ends::Bounded(&["permission_denied", "tool_not_found"]),
        ),
        case(
            "a denied tool by its whole name",
            "1;\n\nawait tools.shop.shop_delete_item({ id: 'a' });",
            Ends::Bounded(&["permission_denied", "tool_not_found"]),
        ),
        refused(
            "another user",
            "shop.getItem({ id: 'a', user_id: 'bob' })",
            "invalid_arguments",
        ),
        refused(
            "another connection",
            "shop.getItem({ id: 'a', connection_id: 'con_1' })",
            "invalid_arguments",
        ),
        refused(
            "an operation of the gateway as a tool",
            "shop.svc_execute_tool({ tool_name: 'shop_delete_item', arguments: '{}' })",
            "tool_not_found",
        ),
        refused(
            "a tool of another service",
            "shop.ledger_add_entry({ text: 'a' })",
            "tool_not_found",
        ),
        refused(
            "a skill that is not there",
            "skills.get('none')",
            "skill_not_found",
        ),
        refused(
            "a tool that is not there",
            "describe('none_at_all')",
            "tool_not_found",
        ),
        refused(
            "a sleep that is too long",
            "sleep(60001)",
            "invalid_request",
        ),
        refused("a sleep back in time", "sleep(-1)", "TypeError"),
        refused(
            "arguments that are no object",
            "shop.getItem('a')",
            "TypeError",
        ),
        refused(
            "arguments in a circle",
            "(() => { const a = { id: 'a' }; a.self = a; return shop.getItem(a); })()",
            "TypeError",
        ),
        refused(
            "arguments whose getter throws",
            "shop.getItem({ get id() { throw new RangeError('no'); } })",
            "RangeError",
        ),
        case(
            "calls from within arguments",
            "let depth = 0;\nconst nested = () => ({ get id() { if (depth++ < 3) shop.getItem(nested()); return 'bb'; } });\n\
             export default (await shop.getItem(nested())).price;",
            Ends::With(json!(2)),
        ),
        case(
            "201 calls one after the other",
            "for (let n = 0; n < 201; n++)\n  await shop.getItem({ id: `${n}` });",
            Ends::Failing("RangeError", "200", 2),
        ),
        case(
            "201 calls at one time",
            "await Promise.all(Array.from({ length: 201 }, () => 1).map(() =>\n  describe('shop_get_item')));",
            Ends::Failing("RangeError", "200", 2),
        ),
        case(
            "endless calls without waiting",
            "for (;;)\n  shop.getItem({ id: 'a' });",
            Ends::Failing("RangeError", "200", 2),
        ),
    ]
}
