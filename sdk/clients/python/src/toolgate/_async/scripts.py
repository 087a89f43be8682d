"""Scripts that call tools and run at the server, where the workspace has code mode on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..types import CodeMode, ScriptRun, ScriptRunSummary
from .pager import AsyncPager
from .resource import AsyncResource


class AsyncScripts(AsyncResource):
    """One script in place of many calls."""

    async def run(
        self,
        script: str,
        arguments: Any = None,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> ScriptRun:
        """Runs a module in JavaScript or TypeScript, which finds `arguments` in `args`.

        A run takes up to two minutes: make the client with a `timeout` of more than that. Where `status` is `paused`,
        show `pause` to the user, and resume the run afterwards.
        """
        return await self._call(
            "run_script",
            script=script,
            arguments=arguments,
            user_id=user_id,
            session_id=session_id,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )

    async def resume(self, run_id: str, *, idempotency_key: str | None = None) -> ScriptRun:
        """Goes on with a run that was paused; calls that were made are not made again."""
        return await self._call("resume_script", run_id=run_id, idempotency_key=idempotency_key)

    async def cancel(self, run_id: str, *, idempotency_key: str | None = None) -> ScriptRun:
        """Ends a run: no further call is made."""
        return await self._call("cancel_script", run_id=run_id, idempotency_key=idempotency_key)

    async def get(self, run_id: str) -> ScriptRun:
        return await self._call("get_script_run", run_id=run_id)

    def list(
        self, *, user_id: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> AsyncPager[ScriptRunSummary]:
        """The runs, newest first."""
        return self._pager("list_script_runs", "items", user_id=user_id, limit=limit, cursor=cursor)

    async def types(
        self,
        *,
        names: Sequence[str] | None = None,
        services: Sequence[str] | None = None,
        user_id: str | None = None,
    ) -> str:
        """Declarations in TypeScript of what a script sees: of these tools, and of all tools of these services."""
        return await self._call(
            "get_tool_types",
            names=",".join(names) if names else None,
            services=",".join(services) if services else None,
            user_id=user_id,
        )

    async def code_mode(self) -> CodeMode:
        """Whether scripts run in the workspace."""
        return await self._call("get_code_mode")

    async def set_code_mode(self, enabled: bool) -> CodeMode:
        """Switches code mode; the key needs the scope `admin`."""
        return await self._call("set_code_mode", enabled=enabled)
