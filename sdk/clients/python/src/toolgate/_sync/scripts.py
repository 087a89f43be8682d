"""Scripts that call tools and run at the server, where the workspace has code mode on. Made from `_async` by make_sync.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..types import CodeMode, ScriptRun, ScriptRunSummary
from .pager import Pager
from .resource import Resource


class Scripts(Resource):
    """One script in place of many calls."""

    def run(
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
        return self._call(
            "run_script",
            script=script,
            arguments=arguments,
            user_id=user_id,
            session_id=session_id,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )

    def resume(self, run_id: str, *, idempotency_key: str | None = None) -> ScriptRun:
        """Goes on with a run that was paused; calls that were made are not made again."""
        return self._call("resume_script", run_id=run_id, idempotency_key=idempotency_key)

    def cancel(self, run_id: str, *, idempotency_key: str | None = None) -> ScriptRun:
        """Ends a run: no further call is made."""
        return self._call("cancel_script", run_id=run_id, idempotency_key=idempotency_key)

    def get(self, run_id: str) -> ScriptRun:
        return self._call("get_script_run", run_id=run_id)

    def list(
        self, *, user_id: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pager[ScriptRunSummary]:
        """The runs, newest first."""
        return self._pager("list_script_runs", "items", user_id=user_id, limit=limit, cursor=cursor)

    def types(
        self,
        *,
        names: Sequence[str] | None = None,
        services: Sequence[str] | None = None,
        user_id: str | None = None,
    ) -> str:
        """Declarations in TypeScript of what a script sees: of these tools, and of all tools of these services."""
        return self._call(
            "get_tool_types",
            names=",".join(names) if names else None,
            services=",".join(services) if services else None,
            user_id=user_id,
        )

    def code_mode(self) -> CodeMode:
        """Whether scripts run in the workspace."""
        return self._call("get_code_mode")

    def set_code_mode(self, enabled: bool) -> CodeMode:
        """Switches code mode; the key needs the scope `admin`."""
        return self._call("set_code_mode", enabled=enabled)
