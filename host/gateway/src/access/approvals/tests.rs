use std::collections::BTreeMap;
use std::sync::Arc;

use super::question::{ApprovalBinding, BoundConnection, PlanSeed, Question, QuestionOutcome};
use super::*;
use crate::testing::TestWorld;
use toolgate_catalog::Tool;
use toolgate_core::ids::UserId;
use toolgate_egress::{CallLimits, CallScope, Grant, Mode, NoCredentials};

/// A dry run that planned nothing.
fn planned() -> CallScope {
    let grant = Arc::new(Grant::new(&[], &[]).unwrap());
    let nothing = Arc::new(NoCredentials);
    CallScope::new(
        grant,
        BTreeMap::new(),
        nothing,
        CallLimits::default(),
        Mode::DryRun,
    )
}

struct Asking {
    user: UserId,
    tool: Arc<Tool>,
    arguments: String,
    sha256: String,
    bound: ApprovalBinding,
}

impl Asking {
    fn new(world: &TestWorld, caller: &Caller, arguments: &str) -> Self {
        Self {
            user: caller.default_user.clone(),
            tool: world
                .snapshot()
                .catalog
                .get("github_create_issue")
                .unwrap()
                .clone(),
            arguments: arguments.to_owned(),
            sha256: "aa".repeat(32),
            bound: ApprovalBinding {
                approvers: Approvers::Admins,
                connection: None,
            },
        }
    }

    fn question(&self) -> Question<'_> {
        Question {
            user: &self.user,
            tool: &self.tool,
            arguments: &self.arguments,
            cursor: None,
            session_id: "tool_1",
            state_of: None,
            plugin_sha256: &self.sha256,
            bound: &self.bound,
        }
    }

    async fn ask(&self, world: &TestWorld, caller: &Caller) -> String {
        let (question, rehearsal) = (self.question(), PlanSeed::new(1));
        let planned = planned();
        let asked = world.ask_approval(caller, &question, rehearsal, &planned, true);
        match asked.await.unwrap() {
            QuestionOutcome::Needed(needed) => needed.approval_id,
            other => panic!("{other:?}"),
        }
    }

    /// The approval that a run of this would use up.
    async fn take(&self, world: &TestWorld, caller: &Caller) -> Option<String> {
        let question = self.question();
        let taken = world.take_approval(caller, &question, "exe_1");
        taken.await.unwrap().map(|approved| approved.id)
    }
}

#[tokio::test]
async fn an_approved_call_runs_once_whatever_the_order_of_its_arguments() {
    let world = TestWorld::open().await;
    let agent = world.caller(&[Scope::ToolsExecute]).await;
    let person = world.caller(&[Scope::Approvals]).await;
    let asked = Asking::new(&world, &agent, r#"{"a":1,"b":2}"#);
    assert_eq!(asked.take(&world, &agent).await, None);
    let id = asked.ask(&world, &agent).await;
    assert_eq!(asked.ask(&world, &agent).await, id, "one question");
    assert_eq!(asked.take(&world, &agent).await, None);
    let decided = world.decide_approval(&person, &id, ApprovalDecision::Approve);
    assert_eq!(decided.await.unwrap().status, ApprovalStatus::Approved);
    let other = Asking::new(&world, &agent, r#"{"a":1,"b":3}"#);
    assert_eq!(other.take(&world, &agent).await, None);
    let same = Asking::new(&world, &agent, r#"{"b":2,"a":1}"#);
    assert_eq!(same.take(&world, &agent).await.as_ref(), Some(&id));
    assert_eq!(same.take(&world, &agent).await, None);
    let back = world.return_approval(&agent, &id, "exe_another");
    back.await.unwrap();
    assert_eq!(same.take(&world, &agent).await, None, "another run's");
    world.return_approval(&agent, &id, "exe_1").await.unwrap();
    assert_eq!(same.take(&world, &agent).await.as_ref(), Some(&id));
}

#[tokio::test]
async fn an_approval_is_for_its_asker_connection_plugin_and_approvers_alone() {
    let world = TestWorld::open().await;
    let agent = world.caller(&[Scope::ToolsExecute]).await;
    let second = world.caller(&[Scope::ToolsExecute]).await;
    let person = world.caller(&[Scope::Approvals]).await;
    let connection = |id: &str, account: &str, connected_at_ms| {
        Some(BoundConnection {
            id: id.to_owned(),
            account: Some(account.to_owned()),
            connected_at_ms,
        })
    };
    let mut asked = Asking::new(&world, &agent, "{}");
    asked.bound.connection = connection("con_1", "ada", 1);
    let id = asked.ask(&world, &agent).await;
    let decided = world.decide_approval(&person, &id, ApprovalDecision::Approve);
    decided.await.unwrap();
    assert_eq!(asked.take(&world, &second).await, None, "another key");
    for other in [
        None,
        connection("con_2", "ada", 1),
        connection("con_1", "eve", 1),
        connection("con_1", "ada", 2),
    ] {
        let mut changed = Asking::new(&world, &agent, "{}");
        changed.bound.connection = other;
        assert_eq!(changed.take(&world, &agent).await, None);
    }
    let mut changed = Asking::new(&world, &agent, "{}");
    changed.bound = asked.bound.clone();
    changed.sha256 = "bb".repeat(32);
    assert_eq!(changed.take(&world, &agent).await, None, "another plugin");
    changed.sha256 = asked.sha256.clone();
    changed.bound.approvers = Approvers::Members;
    assert_eq!(changed.take(&world, &agent).await, None, "another rule");
    assert_eq!(asked.take(&world, &agent).await, Some(id));
}

#[tokio::test]
async fn a_denied_call_is_refused_until_the_question_expires() {
    let world = TestWorld::open().await;
    let agent = world.caller(&[Scope::ToolsExecute]).await;
    let person = world.caller(&[Scope::Approvals]).await;
    let asked = Asking::new(&world, &agent, "{}");
    let id = asked.ask(&world, &agent).await;
    let denied = world.decide_approval(&person, &id, ApprovalDecision::Deny);
    assert_eq!(denied.await.unwrap().status, ApprovalStatus::Denied);
    let question = asked.question();
    let refused = world.take_approval(&agent, &question, "exe_1");
    assert_eq!(refused.await.unwrap_err().code(), "permission_denied");
    let twice = world.decide_approval(&person, &id, ApprovalDecision::Approve);
    assert_eq!(twice.await.unwrap_err().code(), "conflict");
    world.clock.advance_ms(APPROVAL_LIFETIME_MS);
    assert_eq!(asked.take(&world, &agent).await, None);
}

#[tokio::test]
async fn who_waits_for_a_decision_is_answered_when_it_is_made() {
    let world = TestWorld::open().await;
    let agent = world.caller(&[Scope::ToolsExecute]).await;
    let person = world.caller(&[Scope::Approvals]).await;
    let id = Asking::new(&world, &agent, "{}").ask(&world, &agent).await;
    let began = std::time::Instant::now();
    let waits = world.approval(&agent, &id, 1);
    assert_eq!(waits.await.unwrap().status, ApprovalStatus::Pending);
    assert!(began.elapsed() >= std::time::Duration::from_secs(1));

    let decides = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let decided = world.decide_approval(&person, &id, ApprovalDecision::Approve);
        decided.await.unwrap();
    };
    let began = std::time::Instant::now();
    let (waited, ()) = tokio::join!(world.approval(&agent, &id, WAIT_S_MAX), decides);
    assert_eq!(waited.unwrap().status, ApprovalStatus::Approved);
    assert!(began.elapsed() < std::time::Duration::from_secs(10));
    // What is decided, or expired, is not waited for.
    let open = Asking::new(&world, &agent, r#"{"a":1}"#)
        .ask(&world, &agent)
        .await;
    world.clock.advance_ms(APPROVAL_LIFETIME_MS);
    let began = std::time::Instant::now();
    for id in [&id, &open] {
        let waited = world.approval(&agent, id, WAIT_S_MAX).await.unwrap();
        assert_eq!(waited.status, ApprovalStatus::Expired);
    }
    assert!(began.elapsed() < std::time::Duration::from_secs(5));
    // A key that is revoked meanwhile learns nothing.
    let other = Asking::new(&world, &agent, r#"{"a":2}"#)
        .ask(&world, &agent)
        .await;
    let workspace = world.store().find_workspace(&agent.workspace_id).await;
    let operator = Caller::operator(&workspace.unwrap().unwrap());
    let revokes = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let (store, now_ms) = (world.store(), world.clock.now_ms());
        let revoked = crate::identity::keys::revoke(store, &operator, &agent.key_id, now_ms);
        revoked.await.unwrap();
        let decided = world.decide_approval(&person, &other, ApprovalDecision::Approve);
        decided.await.unwrap();
    };
    let (waited, ()) = tokio::join!(world.approval(&agent, &other, WAIT_S_MAX), revokes);
    assert_eq!(waited.unwrap_err().code(), "invalid_api_key");
    // Nobody waits for a question that is not theirs to read.
    let stranger = world.caller(&[Scope::ToolsExecute]).await;
    let refused = world.approval(&stranger, &id, WAIT_S_MAX).await;
    assert_eq!(refused.unwrap_err().code(), "scope_denied");
}

#[tokio::test]
async fn an_approval_expires() {
    let world = TestWorld::open().await;
    let agent = world.caller(&[Scope::ToolsExecute]).await;
    let person = world.caller(&[Scope::Approvals]).await;
    let pending = Asking::new(&world, &agent, "{}").ask(&world, &agent).await;
    let other = Asking::new(&world, &agent, r#"{"a":1}"#);
    let approved = other.ask(&world, &agent).await;
    let decided = world.decide_approval(&person, &approved, ApprovalDecision::Approve);
    decided.await.unwrap();
    world.clock.advance_ms(APPROVAL_LIFETIME_MS);
    assert_eq!(other.take(&world, &agent).await, None);
    for id in [&pending, &approved] {
        let shown = world.approval(&person, id, 0).await.unwrap();
        assert_eq!(shown.status, ApprovalStatus::Expired);
        let late = world.decide_approval(&person, id, ApprovalDecision::Approve);
        assert_eq!(late.await.unwrap_err().code(), "conflict");
    }
    let list = |status| ListApprovals {
        status,
        limit: 20,
        cursor: None,
    };
    let expired = world.approvals(&person, list(Some(ApprovalStatus::Expired)));
    assert_eq!(expired.await.unwrap().approvals.len(), 2);
    let open = world.approvals(&person, list(Some(ApprovalStatus::Pending)));
    assert!(open.await.unwrap().approvals.is_empty());
}

#[tokio::test]
async fn who_asked_never_decides_unless_a_member_is_left_to() {
    let world = TestWorld::open().await;
    let agent = world.caller(&[Scope::Admin]).await;
    let bystander = world.caller(&[Scope::ToolsExecute]).await;
    let stranger = world.stranger(&[Scope::Admin]).await;
    let id = Asking::new(&world, &agent, "{}").ask(&world, &agent).await;
    for (who, code) in [
        (&agent, "permission_denied"),
        (&bystander, "scope_denied"),
        (&stranger, "not_found"),
    ] {
        let decided = world.decide_approval(who, &id, ApprovalDecision::Approve);
        assert_eq!(decided.await.unwrap_err().code(), code);
    }
    assert!(!world.approval(&agent, &id, 0).await.unwrap().can_decide);

    let admin = world.member_caller(Role::Admin).await;
    for (approvers, may) in [
        (Approvers::Admins, false),
        (Approvers::Members, false),
        (Approvers::Themselves, true),
    ] {
        let mut own = Asking::new(&world, &admin, "{}");
        own.bound.approvers = approvers;
        let id = own.ask(&world, &admin).await;
        let decided = world.decide_approval(&admin, &id, ApprovalDecision::Approve);
        assert_eq!(decided.await.is_ok(), may, "{approvers}");
        let mut own = Asking::new(&world, &agent, r#"{"b":1}"#);
        own.bound.approvers = approvers;
        let id = own.ask(&world, &agent).await;
        let decided = world.decide_approval(&agent, &id, ApprovalDecision::Approve);
        assert!(decided.await.is_err(), "a key, {approvers}");
    }
}

#[tokio::test]
async fn a_member_finds_what_concerns_their_user_where_the_rule_says_so() {
    let world = TestWorld::open().await;
    let member = world.member_caller(Role::Member).await;
    let agent = world.caller(&[Scope::Admin]).await;
    for (user, approvers, finds) in [
        (&member.default_user, Approvers::Admins, false),
        (&member.default_user, Approvers::Members, true),
        (&member.default_user, Approvers::Themselves, true),
        (&agent.default_user, Approvers::Members, false),
        (&agent.default_user, Approvers::Themselves, false),
    ] {
        let mut asked = Asking::new(&world, &agent, "{}");
        asked.user = user.clone();
        asked.bound.approvers = approvers;
        let id = asked.ask(&world, &agent).await;
        let list = ListApprovals {
            status: None,
            limit: 20,
            cursor: None,
        };
        let listed = world.approvals(&member, list).await.unwrap().approvals;
        let listed = listed.iter().any(|one| one.approval_id == id);
        let read = world.approval(&member, &id, 0).await.is_ok();
        let decided = world.decide_approval(&member, &id, ApprovalDecision::Deny);
        assert_eq!(
            [listed, read, decided.await.is_ok()],
            [finds; 3],
            "{user} {approvers}"
        );
    }
}

/// An agent that changes its arguments each time asks another question each time.
#[tokio::test]
async fn what_waits_in_one_workspace_is_bounded() {
    let world = TestWorld::open().await;
    let agent = world.caller(&[Scope::ToolsExecute]).await;
    let stranger = world.stranger(&[Scope::ToolsExecute]).await;
    let text = "x".repeat(500_000);
    let ask = async |caller: &Caller, n: usize| {
        let arguments = format!(r#"{{"n":{n},"text":"{text}"}}"#);
        let asking = Asking::new(&world, caller, &arguments);
        let (question, planned) = (asking.question(), planned());
        let asked = world.ask_approval(caller, &question, PlanSeed::new(1), &planned, true);
        matches!(asked.await.unwrap(), QuestionOutcome::Needed(_))
    };
    let mut asked = 0;
    while ask(&agent, asked).await {
        asked += 1;
        assert!(asked < 200, "there is no bound");
    }
    let bytes = i64::try_from(asked * text.len()).unwrap();
    assert!(bytes >= PENDING_BYTES_MAX / 2, "{asked}");
    assert!(ask(&stranger, 0).await, "of another workspace");
}

#[tokio::test]
async fn a_wait_is_answered_with_the_scopes_that_its_key_has_at_the_end() {
    let world = TestWorld::open().await;
    let agent = world.caller(&[Scope::ToolsExecute]).await;
    let reader = world.caller(&[Scope::Approvals]).await;
    let id = Asking::new(&world, &agent, "{}").ask(&world, &agent).await;
    let scopes = [Scope::ToolsRead.into_str().to_owned()];
    let fewer = store::KeyChange {
        scopes: Some(&scopes),
        ..store::KeyChange::default()
    };
    let (workspace_id, key_id) = (&reader.workspace_id, &reader.key_id);
    let (read, narrowed) = tokio::join!(
        world.approval(&reader, &id, 1),
        world.store().update_key(workspace_id, key_id, &fewer),
    );
    assert!(narrowed.unwrap().is_some());
    assert_eq!(read.unwrap_err().code(), "scope_denied");
    // Who asked it reads it without the scope.
    let own = world.approval(&agent, &id, 1).await.unwrap();
    assert_eq!(own.status, ApprovalStatus::Pending);
}
