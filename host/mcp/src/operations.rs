//! What the tools ask for, wherever it is done: in this process ([`LocalOperations`]) or over REST
//! ([`super::remote`], for the proxy on standard input and output).

use std::sync::Arc;

use futures_util::future::BoxFuture;

use toolgate_gateway::knowledge::file_text::FileText;
use toolgate_gateway::scripts::once::ScriptTypes;
use toolgate_gateway::scripts::{RunScript, ScriptRun};
use toolgate_gateway::skills::{
    CreateSkill, DeletedSkill, ListSkills, Skill, SkillPage, UpdateSkill,
};
use toolgate_gateway::tools::results::StoredResult;
use toolgate_gateway::tools::{Execute, Execution, FoundTools, SearchTools, ToolSchema};
use toolgate_gateway::toolsets::listing::ToolsetTools;
use toolgate_gateway::{Caller, Error, Gateway, Health};

/// The future of one operation.
pub type OperationFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// The gateway as one caller sees it.
pub trait Operations: Send + Sync {
    /// Who calls, as a text that no other caller has: what clients carry is bound to it.
    fn identity(&self) -> String;
    /// Of the request, where there is one.
    fn request_id(&self) -> &str;
    /// Where the dashboard is, without a trailing slash.
    fn public_url(&self) -> &str;
    fn health(&self) -> OperationFuture<'_, Health>;
    fn search_tools(&self, request: SearchTools) -> OperationFuture<'_, FoundTools>;
    fn tool_schema<'a>(&'a self, tool_name: &'a str) -> OperationFuture<'a, ToolSchema>;
    fn execute(&self, request: Execute) -> OperationFuture<'_, Execution>;
    /// Whether scripts run in the workspace.
    fn code_mode(&self) -> OperationFuture<'_, bool>;
    fn run_script(&self, request: RunScript) -> OperationFuture<'_, ScriptRun>;
    fn resume_script<'a>(&'a self, run_id: &'a str) -> OperationFuture<'a, ScriptRun>;
    /// A tool as a script sees it, in TypeScript.
    fn tool_types<'a>(&'a self, tool_name: &'a str) -> OperationFuture<'a, String>;
    /// At most `limit` bytes of a kept result from `offset`.
    fn stored_result<'a>(
        &'a self,
        result_id: &'a str,
        offset: usize,
        limit: usize,
    ) -> OperationFuture<'a, StoredResult>;
    /// At most `limit` bytes of the text of a file from `offset`.
    fn file_text<'a>(
        &'a self,
        file_id: &'a str,
        offset: usize,
        limit: usize,
    ) -> OperationFuture<'a, FileText>;
    /// What the toolset lists that this server is for.
    fn toolset_tools(&self) -> OperationFuture<'_, ToolsetTools>;
    fn list_skills(&self, request: ListSkills) -> OperationFuture<'_, SkillPage>;
    fn skill<'a>(&'a self, skill_id: &'a str) -> OperationFuture<'a, Skill>;
    fn create_skill(&self, request: CreateSkill) -> OperationFuture<'_, Skill>;
    fn update_skill(&self, request: UpdateSkill) -> OperationFuture<'_, Skill>;
    fn delete_skill<'a>(&'a self, skill_id: &'a str) -> OperationFuture<'a, DeletedSkill>;
}

/// The gateway of this process, for the caller of one request.
pub struct LocalOperations {
    pub gateway: Arc<Gateway>,
    pub caller: Caller,
    /// The toolset at whose address the request came; empty at the main address.
    pub toolset: String,
}

impl Operations for LocalOperations {
    fn identity(&self) -> String {
        let caller = &self.caller;
        // No part can hold the line break that parts them.
        let parts = [
            &*caller.workspace_id,
            &*caller.key_id,
            caller.default_user.as_str(),
        ];
        parts.join("\n")
    }

    fn request_id(&self) -> &str {
        &self.caller.request_id
    }

    fn public_url(&self) -> &str {
        self.gateway.public_url()
    }

    fn health(&self) -> OperationFuture<'_, Health> {
        Box::pin(async { Ok(self.gateway.health().await) })
    }

    fn search_tools(&self, request: SearchTools) -> OperationFuture<'_, FoundTools> {
        Box::pin(self.gateway.search_tools(&self.caller, request))
    }

    fn tool_schema<'a>(&'a self, tool_name: &'a str) -> OperationFuture<'a, ToolSchema> {
        Box::pin(self.gateway.tool_schema(&self.caller, tool_name, None))
    }

    fn execute(&self, request: Execute) -> OperationFuture<'_, Execution> {
        Box::pin(self.gateway.execute(&self.caller, request))
    }

    fn code_mode(&self) -> OperationFuture<'_, bool> {
        Box::pin(self.gateway.code_mode(&self.caller))
    }

    fn run_script(&self, request: RunScript) -> OperationFuture<'_, ScriptRun> {
        Box::pin(self.gateway.run_script(&self.caller, request))
    }

    fn resume_script<'a>(&'a self, run_id: &'a str) -> OperationFuture<'a, ScriptRun> {
        Box::pin(self.gateway.resume_script(&self.caller, run_id))
    }

    fn tool_types<'a>(&'a self, tool_name: &'a str) -> OperationFuture<'a, String> {
        let types = ScriptTypes {
            names: vec![tool_name.to_owned()],
            ..ScriptTypes::default()
        };
        Box::pin(self.gateway.script_types(&self.caller, types))
    }

    fn stored_result<'a>(
        &'a self,
        result_id: &'a str,
        offset: usize,
        limit: usize,
    ) -> OperationFuture<'a, StoredResult> {
        let piece = self
            .gateway
            .stored_result(&self.caller, result_id, offset, limit);
        Box::pin(piece)
    }

    fn file_text<'a>(
        &'a self,
        file_id: &'a str,
        offset: usize,
        limit: usize,
    ) -> OperationFuture<'a, FileText> {
        let piece = self.gateway.file_text(&self.caller, file_id, offset, limit);
        Box::pin(piece)
    }

    fn toolset_tools(&self) -> OperationFuture<'_, ToolsetTools> {
        Box::pin(self.gateway.toolset_tools(&self.caller, &self.toolset))
    }

    fn list_skills(&self, request: ListSkills) -> OperationFuture<'_, SkillPage> {
        Box::pin(self.gateway.list_skills(&self.caller, request))
    }

    fn skill<'a>(&'a self, skill_id: &'a str) -> OperationFuture<'a, Skill> {
        Box::pin(self.gateway.skill(&self.caller, skill_id))
    }

    fn create_skill(&self, request: CreateSkill) -> OperationFuture<'_, Skill> {
        Box::pin(self.gateway.create_skill(&self.caller, request))
    }

    fn update_skill(&self, request: UpdateSkill) -> OperationFuture<'_, Skill> {
        Box::pin(self.gateway.update_skill(&self.caller, request))
    }

    fn delete_skill<'a>(&'a self, skill_id: &'a str) -> OperationFuture<'a, DeletedSkill> {
        Box::pin(self.gateway.delete_skill(&self.caller, skill_id))
    }
}
