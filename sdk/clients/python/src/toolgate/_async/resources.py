"""The operations, grouped as the server groups them.

Arguments have the names of the API's document. An argument that is `None` is not sent. The operations on
events, receipts, approvals and stored results are in `records`.
"""

from __future__ import annotations

import builtins
from typing import Any

from .. import _core
from ..outcomes import ExecuteCall, Outcome, outcome
from ..types import (
    Approvers,
    ConnectLink,
    ConnectionInfo,
    DefaultRule,
    DeletedConnection,
    DeletedDocument,
    DeletedHook,
    DeletedSession,
    DeletedSkill,
    DeletedToolset,
    Document,
    FoundPassages,
    FoundTools,
    Hook,
    HookWithSecret,
    ListedDocument,
    ListedSkill,
    ListedTool,
    MediaType,
    Message,
    PermissionExplanation,
    PermissionService,
    PermissionSummary,
    Session,
    Setting,
    Skill,
    SkillCheck,
    SkillVersion,
    ToolSchema,
    ToolsetInfo,
    ToolsetTools,
    UserPermissions,
)
from .pager import AsyncPager
from .resource import AsyncResource


class AsyncTools(AsyncResource):
    """Find, describe and run tools."""

    async def search(
        self,
        query: str,
        *,
        service: str | None = None,
        limit: int | None = None,
        schema_limit: int | None = None,
        user_id: str | None = None,
    ) -> FoundTools:
        """Finds tools by keywords or by a sentence that says what is to be done, best match first."""
        return await self._call(
            "search_tools", query=query, service=service, limit=limit, schema_limit=schema_limit, user_id=user_id
        )

    def list(
        self,
        *,
        service: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        user_id: str | None = None,
    ) -> AsyncPager[ListedTool]:
        """All tools that the user may use, by name. `limit` is the size of a page."""
        return self._pager("list_tools", "tools", service=service, limit=limit, cursor=cursor, user_id=user_id)

    async def schema(
        self, tool_name: str, *, user_id: str | None = None, if_none_match: str | None = None
    ) -> ToolSchema | None:
        """The tool's schemas and what it needs; `None` if `if_none_match` is still current."""
        return await self._call(
            "get_tool_schema", tool_name=tool_name, user_id=user_id, if_none_match=if_none_match
        )

    async def execute(
        self,
        tool_name: str,
        arguments: dict[str, Any] | str | None = None,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        connection_id: str | None = None,
        dry_run: bool | None = None,
        max_result_bytes: int | None = None,
        max_result_chars: int | None = None,
        fields: builtins.list[str] | None = None,
        retry_unknown: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Runs a tool with the user's own connection. Look at the outcome's type before its result.

        The call carries an idempotency key, so that repeating it after a lost answer runs it once; pass
        your own to keep it across restarts of your program.
        """
        call = ExecuteCall(
            tool_name,
            arguments,
            user_id=user_id,
            session_id=session_id,
            connection_id=connection_id,
            dry_run=dry_run,
            max_result_bytes=max_result_bytes,
            max_result_chars=max_result_chars,
            fields=fields,
            idempotency_key=idempotency_key,
        )
        return await self.execute_call(call, retry_unknown=retry_unknown)

    async def execute_call(self, call: ExecuteCall, *, retry_unknown: bool | None = None) -> Outcome:
        """Makes a call again, as `outcome.call` holds it."""
        answer: _core.Answer = await self._client._answer(
            "execute_tool", {**vars(call), "retry_unknown": retry_unknown}
        )
        return outcome(answer.data, answer.request_id, call)


class AsyncSkills(AsyncResource):
    """Reusable instructions."""

    def list(
        self, *, query: str | None = None, limit: int | None = None, offset: int | None = None
    ) -> AsyncPager[ListedSkill]:
        """All Skills, newest first. `limit` is the size of a page."""
        return self._pager("list_skills", "skills", by_offset=True, query=query, limit=limit, offset=offset)

    async def get(self, skill_id: str) -> Skill:
        return await self._call("get_skill", skill_id=skill_id)

    async def create(
        self, name: str, *, summary: str, instructions: str, idempotency_key: str | None = None
    ) -> Skill:
        return await self._call(
            "create_skill",
            name=name,
            summary=summary,
            instructions=instructions,
            idempotency_key=idempotency_key,
        )

    async def update(
        self,
        skill_id: str,
        *,
        name: str | None = None,
        summary: str | None = None,
        instructions: str | None = None,
        version: int | None = None,
        if_match: str | None = None,
    ) -> Skill:
        """Changes the given fields. With `version`, only if that is the Skill's version."""
        return await self._call(
            "update_skill",
            skill_id=skill_id,
            name=name,
            summary=summary,
            instructions=instructions,
            version=version,
            if_match=if_match,
        )

    async def delete(self, skill_id: str) -> DeletedSkill:
        return await self._call("delete_skill", skill_id=skill_id)

    def versions(
        self, skill_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> AsyncPager[SkillVersion]:
        """The Skill's history, the current version first. `limit` is the size of a page."""
        return self._pager("list_skill_versions", "versions", skill_id=skill_id, limit=limit, cursor=cursor)

    async def check(self, skill_id: str, *, user_id: str | None = None) -> SkillCheck:
        """Whether the user could follow the Skill now."""
        return await self._call("check_skill", skill_id=skill_id, user_id=user_id)


class AsyncToolsets(AsyncResource):
    """Named choices of tools that MCP clients list under the tools' own names."""

    async def list(self) -> builtins.list[ToolsetInfo]:
        """All toolsets of the workspace, by name."""
        return (await self._call("list_toolsets"))["toolsets"]

    async def get(self, toolset_name: str) -> ToolsetInfo:
        return await self._call("get_toolset", toolset_name=toolset_name)

    async def create(
        self,
        name: str,
        *,
        title: str | None = None,
        description: str | None = None,
        tools: builtins.list[str] | None = None,
        services: builtins.list[str] | None = None,
        skills: builtins.list[str] | None = None,
        generic_tools: bool | None = None,
        skill_versions: dict[str, int] | None = None,
        idempotency_key: str | None = None,
    ) -> ToolsetInfo:
        """A toolset of at least one tool, service or Skill (by id)."""
        return await self._call(
            "create_toolset",
            name=name,
            title=title,
            description=description,
            tools=tools,
            services=services,
            skills=skills,
            generic_tools=generic_tools,
            skill_versions=skill_versions,
            idempotency_key=idempotency_key,
        )

    async def update(
        self,
        toolset_name: str,
        *,
        title: str | None = None,
        description: str | None = None,
        tools: builtins.list[str] | None = None,
        services: builtins.list[str] | None = None,
        skills: builtins.list[str] | None = None,
        generic_tools: bool | None = None,
        skill_versions: dict[str, int] | None = None,
    ) -> ToolsetInfo:
        """Changes the given fields."""
        return await self._call(
            "update_toolset",
            toolset_name=toolset_name,
            title=title,
            description=description,
            tools=tools,
            services=services,
            skills=skills,
            generic_tools=generic_tools,
            skill_versions=skill_versions,
        )

    async def replace(
        self,
        toolset_name: str,
        *,
        title: str | None = None,
        description: str | None = None,
        tools: builtins.list[str] | None = None,
        services: builtins.list[str] | None = None,
        skills: builtins.list[str] | None = None,
        generic_tools: bool | None = None,
        skill_versions: dict[str, int] | None = None,
    ) -> ToolsetInfo:
        """Makes the toolset what is given; what is absent is empty."""
        return await self._call(
            "replace_toolset",
            toolset_name=toolset_name,
            title=title,
            description=description,
            tools=tools,
            services=services,
            skills=skills,
            generic_tools=generic_tools,
            skill_versions=skill_versions,
        )

    async def delete(self, toolset_name: str) -> DeletedToolset:
        return await self._call("delete_toolset", toolset_name=toolset_name)

    async def tools(self, toolset_name: str) -> ToolsetTools:
        """What an MCP client with this key lists at the toolset's address."""
        return await self._call("list_toolset_tools", toolset_name=toolset_name)


class AsyncPermissions(AsyncResource):
    """Which tools a user may use."""

    async def services(self) -> builtins.list[PermissionService]:
        return (await self._call("list_permission_services"))["services"]

    async def get(self, user_id: str) -> UserPermissions:
        return await self._call("get_user_permissions", user_id=user_id)

    async def set_tool(
        self,
        user_id: str,
        tool_name: str,
        permission: Setting,
        *,
        expires_at: str | None = None,
        max_calls: int | None = None,
        approvers: Approvers | None = None,
    ) -> UserPermissions:
        """Sets the rule for one tool; `inherit` removes it."""
        return await self._call(
            "change_tool_permission",
            user_id=user_id,
            tool_name=tool_name,
            permission=permission,
            expires_at=expires_at,
            max_calls=max_calls,
            approvers=approvers,
        )

    async def set_service(
        self,
        user_id: str,
        service_name: str,
        permission: Setting,
        *,
        expires_at: str | None = None,
        max_calls: int | None = None,
        approvers: Approvers | None = None,
    ) -> UserPermissions:
        """Sets the rule for all tools of a service that have none; `inherit` removes it."""
        return await self._call(
            "change_service_permission",
            user_id=user_id,
            service_name=service_name,
            permission=permission,
            expires_at=expires_at,
            max_calls=max_calls,
            approvers=approvers,
        )

    async def batch(
        self,
        user_id: str,
        *,
        services: dict[str, Setting] | None = None,
        tools: dict[str, Setting] | None = None,
        approvers: Approvers | None = None,
    ) -> UserPermissions:
        """Sets many rules, all or none. `approvers`: who decides, for those that are set to `ask`."""
        return await self._call(
            "change_permissions", user_id=user_id, services=services, tools=tools, approvers=approvers
        )

    async def summary(self, user_id: str) -> PermissionSummary:
        return await self._call("summarise_user_permissions", user_id=user_id)

    async def default(self) -> DefaultRule:
        """The permission of a tool that no rule is about."""
        rule: DefaultRule = (await self._call("get_default_permission"))["default"]
        return rule

    async def set_default(self, default: DefaultRule, *, approvers: Approvers | None = None) -> DefaultRule:
        """Allows the tools that no rule is about, or allows reads and asks about the others (`by_effect`)."""
        answer = await self._call("change_default_permission", default=default, approvers=approvers)
        rule: DefaultRule = answer["default"]
        return rule

    async def explain(self, user_id: str, tool_name: str) -> PermissionExplanation:
        """The permission that applies to one tool, and the rule that it comes from."""
        return await self._call("explain_permission", user_id=user_id, tool_name=tool_name)


class AsyncConnections(AsyncResource):
    """What users have connected, and links to connect."""

    async def link(
        self,
        service: str,
        *,
        user_id: str | None = None,
        scopes: builtins.list[str] | None = None,
        connection_id: str | None = None,
        slot: str | None = None,
        confirm_url: str | None = None,
        return_url: str | None = None,
        popup_origin: str | None = None,
        idempotency_key: str | None = None,
    ) -> ConnectLink:
        """A link at which the user connects an account: one use, 15 minutes. With `confirm_url` nobody is connected
        before your application has confirmed its user; see `client.connect`, which waits for it. At the end the
        browser returns to `return_url`, and a popup sends a message to the page of `popup_origin` that opened it."""
        return await self._call(
            "link_connection",
            service=service,
            user_id=user_id,
            scopes=scopes,
            connection_id=connection_id,
            slot=slot,
            confirm_url=confirm_url,
            return_url=return_url,
            popup_origin=popup_origin,
            idempotency_key=idempotency_key,
        )

    async def confirm(self, code: str, *, user_id: str, idempotency_key: str | None = None) -> ConnectionInfo:
        """Confirms that the browser that came to `confirm_url` belongs to the user."""
        return await self._call("confirm_connection", code=code, user_id=user_id, idempotency_key=idempotency_key)

    def list(
        self,
        *,
        user_id: str | None = None,
        service: str | None = None,
        wait: int | None = None,
        active_after: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> AsyncPager[ConnectionInfo]:
        """With `wait` a page comes once one of its connections is active, and at the latest after so many seconds (30
        at most): ask for one `page()`."""
        return self._pager(
            "list_connections",
            "connections",
            user_id=user_id,
            service=service,
            wait=wait,
            active_after=active_after,
            limit=limit,
            cursor=cursor,
        )

    async def get(
        self, connection_id: str, *, wait: int | None = None, active_after: str | None = None
    ) -> ConnectionInfo:
        """With `wait` also a connection that a link names and that does not exist yet."""
        return await self._call("get_connection", connection_id=connection_id, wait=wait, active_after=active_after)

    async def delete(self, connection_id: str) -> DeletedConnection:
        """Forgets the credential and revokes it at the provider where that is possible."""
        return await self._call("delete_connection", connection_id=connection_id)

    async def hook(self, connection_id: str) -> Hook:
        """Where the provider sends the connection's events, and how many were accepted."""
        return await self._call("get_connection_hook", connection_id=connection_id)

    async def put_hook(self, connection_id: str, *, secret: str | None = None) -> HookWithSecret:
        """Opens the address for the provider's events. Without a `secret` the answer has a new one."""
        return await self._call("put_connection_hook", connection_id=connection_id, secret=secret)

    async def delete_hook(self, connection_id: str) -> DeletedHook:
        return await self._call("delete_connection_hook", connection_id=connection_id)


class AsyncSessions(AsyncResource):
    """Conversations, and state that steps share."""

    async def create(
        self, prompt: str, *, user_id: str | None = None, idempotency_key: str | None = None
    ) -> Session:
        return await self._call(
            "create_session", prompt=prompt, user_id=user_id, idempotency_key=idempotency_key
        )

    def list(
        self, *, user_id: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> AsyncPager[Session]:
        return self._pager("list_sessions", "sessions", user_id=user_id, limit=limit, cursor=cursor)

    async def get(self, session_id: str) -> Session:
        return await self._call("get_session", session_id=session_id)

    async def delete(self, session_id: str) -> DeletedSession:
        return await self._call("delete_session", session_id=session_id)

    def messages(
        self, session_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> AsyncPager[Message]:
        """Every step of the session, oldest first."""
        return self._pager("list_messages", "messages", session_id=session_id, limit=limit, cursor=cursor)

    async def send(self, session_id: str, content: str, *, idempotency_key: str | None = None) -> Message:
        """The assistant's reply to a message."""
        return await self._call(
            "send_message", session_id=session_id, content=content, idempotency_key=idempotency_key
        )

    async def resume(self, session_id: str, *, idempotency_key: str | None = None) -> Message:
        """Continues where the last turn stopped for a connection, an approval or a limit."""
        return await self._call("resume_session", session_id=session_id, idempotency_key=idempotency_key)


class AsyncKnowledge(AsyncResource):
    """Documents, and the passages of them that answer a query."""

    async def add(
        self,
        media_type: MediaType,
        *,
        content: str | None = None,
        content_base64: str | None = None,
        title: str | None = None,
        idempotency_key: str | None = None,
    ) -> ListedDocument:
        """Adds a document: its text, or its bytes in base64."""
        return await self._call(
            "add_document",
            media_type=media_type,
            content=content,
            content_base64=content_base64,
            title=title,
            idempotency_key=idempotency_key,
        )

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncPager[ListedDocument]:
        return self._pager("list_documents", "documents", limit=limit, cursor=cursor)

    async def get(self, document_id: str) -> Document:
        return await self._call("get_document", document_id=document_id)

    async def delete(self, document_id: str) -> DeletedDocument:
        return await self._call("delete_document", document_id=document_id)

    async def search(self, query: str, *, limit: int | None = None) -> FoundPassages:
        """The passages that answer the query best."""
        return await self._call("search_knowledge", query=query, limit=limit)
