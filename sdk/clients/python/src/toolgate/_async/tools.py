"""Tools: search, describe and execute.

Arguments have the names of the API's document. An argument that is `None` is not sent.
"""

from __future__ import annotations

import builtins
from typing import Any

from .. import _core
from ..outcomes import ExecuteCall, Outcome, outcome
from ..types import FoundTools, ListedTool, ToolSchema
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
