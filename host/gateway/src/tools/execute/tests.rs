//! What a call in progress weighs: it is made for every request.

use crate::Scope;
use crate::testing::TestWorld;
use crate::tools::results::Budget;
use crate::tools::{Arguments, CallListener, Execute};
use toolgate_core::ids;

/// Bytes of a future that every call makes.
const FUTURE_BYTES_MAX: usize = 6 << 10;

#[tokio::test]
async fn a_call_in_progress_carries_no_statement_that_it_may_never_run() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::ToolsExecute]).await;
    let request = Execute {
        tool_name: "github_get_me".to_owned(),
        arguments: Arguments::Text("{}".to_owned()),
        session_id: None,
        user_id: None,
        connection_id: None,
        dry_run: false,
        budget: Budget::default(),
        claim: None,
        parent_execution_id: None,
        listener: CallListener::default(),
    };
    let executes = size_of_val(&world.gateway.execute(&caller, request));
    let enters = size_of_val(&world.authenticate(None, ids::ulid("req"), None));
    assert!(executes <= FUTURE_BYTES_MAX, "{executes} bytes to execute");
    assert!(enters <= FUTURE_BYTES_MAX, "{enters} bytes to authenticate");
}
