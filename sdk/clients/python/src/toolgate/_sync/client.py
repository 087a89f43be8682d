"""The client. Made from `_async` by make_sync.py; do not edit."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, overload

import httpx

from .. import _core
from ..errors import ConnectionFailed, NotFound, PermissionDenied, Timeout, ToolgateError, WaitTimeout
from ..formats import Format
from ..outcomes import ApprovalRequired, AuthRequired, Outcome
from ..types import ConnectionInfo, Health, Status
from .connections import Connections
from .knowledge import Knowledge
from .permissions import Permissions
from .records import Approvals, Events, Executions, Files, Results, Webhooks
from .scripts import Scripts
from .sessions import Sessions
from .skills import Skills
from .tools import Tools
from .toolset import Toolset, OnOutcome
from .toolsets import Toolsets
from .triggers import Triggers

# A toolset is typed as the provider's own package types it, where that is installed.
if TYPE_CHECKING:
    from anthropic.types import ToolParam, ToolResultBlockParam
    from google.genai.types import PartDict, ToolDict
    from openai.types.chat import ChatCompletionToolMessageParam, ChatCompletionToolParam
    from openai.types.responses import FunctionToolParam
    from openai.types.responses.response_input_param import FunctionCallOutput

# The first and the longest pause between two polls, where the server cannot hold its answer back.
_PAUSE_FIRST_S = 1.0
_PAUSE_MAX_S = 5.0
# How long the server holds an answer back at most.
_POLL_MAX_S = 25.0


class Toolgate:
    """A connection to one toolgate server with one API key.

    `api_key` and `base_url` come from `TOOLGATE_API_KEY` and `TOOLGATE_URL` where absent. `timeout`
    bounds one try of one request, in seconds; after `max_retries` more tries, or when the server asks
    for a longer wait than `max_retry_wait` seconds, the error is raised. Use it as a context, or close it.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = 60.0,
        max_retries: int = 3,
        max_retry_wait: float = 60.0,
        http_client: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = _core.Settings.create(
            api_key or os.environ.get("TOOLGATE_API_KEY", ""),
            base_url or os.environ.get("TOOLGATE_URL", _core.DEFAULT_URL),
            timeout,
            max_retries,
            max_retry_wait,
        )
        self._sleep = sleep
        self._http = http_client or httpx.Client()
        self.tools = Tools(self)
        self.skills = Skills(self)
        self.toolsets = Toolsets(self)
        self.permissions = Permissions(self)
        self.connections = Connections(self)
        self.sessions = Sessions(self)
        self.knowledge = Knowledge(self)
        self.webhooks = Webhooks(self)
        self.triggers = Triggers(self)
        self.scripts = Scripts(self)
        self.executions = Executions(self)
        self.approvals = Approvals(self)
        self.results = Results(self)
        self.files = Files(self)
        self.events = Events(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings.base_url!r})"

    def __enter__(self) -> Toolgate:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def health(self) -> Health:
        """How the server is."""
        return self._call("health_check")

    def status(self) -> Status:
        """Whose key this is, and its limits."""
        return self._call("get_status")

    @overload
    def toolset(
        self,
        format: Literal["openai"],
        tools: list[str] | None = None,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        on_outcome: OnOutcome | None = None,
        confirm_url: str | None = None,
    ) -> Toolset[ChatCompletionToolParam, ChatCompletionToolMessageParam]: ...

    @overload
    def toolset(
        self,
        format: Literal["openai_responses"],
        tools: list[str] | None = None,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        on_outcome: OnOutcome | None = None,
        confirm_url: str | None = None,
    ) -> Toolset[FunctionToolParam, FunctionCallOutput]: ...

    @overload
    def toolset(
        self,
        format: Literal["anthropic"],
        tools: list[str] | None = None,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        on_outcome: OnOutcome | None = None,
        confirm_url: str | None = None,
    ) -> Toolset[ToolParam, ToolResultBlockParam]: ...

    @overload
    def toolset(
        self,
        format: Literal["gemini"],
        tools: list[str] | None = None,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        on_outcome: OnOutcome | None = None,
        confirm_url: str | None = None,
    ) -> Toolset[ToolDict, PartDict]: ...

    @overload
    def toolset(
        self,
        format: Format,
        tools: list[str] | None = None,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        on_outcome: OnOutcome | None = None,
        confirm_url: str | None = None,
    ) -> Toolset[Any, Any]: ...

    def toolset(
        self,
        format: Format,
        tools: list[str] | None = None,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        on_outcome: OnOutcome | None = None,
        confirm_url: str | None = None,
    ) -> Toolset[Any, Any]:
        """Tools for a model, in its provider's format: the chosen ones, or the three generic operations where
        `tools` is absent; an empty list allows none. `on_outcome` gets each call that ran and its outcome.
        `confirm_url` binds the connect links that the model passes to the user; see `wait_for_connection`.

        Raises:
            ValueError: There is no such format.
            TypeError: `tools` is one text instead of a list.
        """
        toolset: Toolset[Any, Any] = Toolset(self, format, user_id, session_id, on_outcome, confirm_url)
        return toolset._load(tools)

    def connect(
        self,
        service: str,
        *,
        confirm_url: str | None,
        user_id: str | None = None,
        scopes: list[str] | None = None,
        connection_id: str | None = None,
        slot: str | None = None,
        return_url: str | None = None,
        popup_origin: str | None = None,
        show: Callable[[str], object] = print,
        timeout: float = 900.0,
    ) -> ConnectionInfo:
        """Shows a connect link, waits until the user has connected the service, and answers the connection.

        See `wait_for_connection` for `confirm_url`, which you have to decide about. `connection_id` renews that
        connection. Raises `WaitTimeout` when `timeout` seconds pass.
        """
        before = (self.connections.get(connection_id))["state_since"] if connection_id else None
        link = self.connections.link(
            service,
            user_id=user_id,
            scopes=scopes,
            connection_id=connection_id,
            slot=slot,
            confirm_url=confirm_url,
            return_url=return_url,
            popup_origin=popup_origin,
        )
        show(link["connect_url"])
        ends_at = time.monotonic() + timeout
        while (left := ends_at - time.monotonic()) > 0:
            started_at = time.monotonic()
            try:
                found = self.connections.get(
                    link["connection_id"], wait=self._poll_s(left), active_after=before
                )
                if found["state"] == "active" and found["state_since"] != before:
                    return found
            except NotFound:
                # Nobody has connected yet.
                pass
            if time.monotonic() - started_at < _PAUSE_FIRST_S:
                # The server did not wait: it is about to stop.
                self._sleep(_PAUSE_FIRST_S)
        raise WaitTimeout(f"{service} was not connected within {timeout:.0f} s")

    def wait_for_connection(
        self,
        outcome: AuthRequired,
        *,
        confirm_url: str | None,
        show: Callable[[str], object] = print,
        timeout: float = 900.0,
    ) -> Outcome:
        """Shows the connect link, waits until the user has connected, and makes the same call again.

        `confirm_url` is a page of your application, and binds the link to the user who is signed in there: the
        browser ends at it with `connect_code`, and the connection is made once you have called
        `client.connections.confirm(connect_code, user_id=...)` for that user. Whoever gets the link from somebody
        else connects nothing. With `None` the gateway's page asks "Are you X?" and trusts the answer: that is for
        programs that run on the user's own machine.

        `show` gets the link. `timeout` is in seconds; a link itself is good for 15 minutes. Raises
        `WaitTimeout` when it passes.
        """
        if outcome.connect_url is None:
            raise ToolgateError(outcome.message, code="service_not_configured", request_id=outcome.request_id)
        before = self._active(outcome)
        show(outcome.connect_url if confirm_url is None else self._bound_link(outcome, confirm_url))
        if before is None:
            # A key that may not list connections finds out by making the call.
            for _ in self._pauses(timeout):
                again = self.tools.execute_call(outcome.call)
                if not isinstance(again, AuthRequired):
                    return again
        ends_at = time.monotonic() + timeout
        while before is not None and (left := ends_at - time.monotonic()) > 0:
            started_at = time.monotonic()
            now = self._active(outcome, wait=self._poll_s(left), after=before)
            if now is not None and now != before:
                before = now
                again = self.tools.execute_call(outcome.call)
                if not isinstance(again, AuthRequired):
                    return again
            elif time.monotonic() - started_at < _PAUSE_FIRST_S:
                # The server did not wait: it is about to stop.
                self._sleep(_PAUSE_FIRST_S)
        raise WaitTimeout(f"{outcome.service} was not connected within {timeout:.0f} s")

    def wait_for_approval(
        self, outcome: ApprovalRequired, *, show: Callable[[str], object] = print, timeout: float = 900.0
    ) -> Outcome:
        """Shows where to approve, waits for the decision, and makes the same call again.

        A call that was denied raises `PermissionDenied`. Raises `WaitTimeout` when `timeout` seconds pass.
        """
        show(outcome.approval_url)
        ends_at = time.monotonic() + timeout
        while (left := ends_at - time.monotonic()) > 0:
            started_at = time.monotonic()
            try:
                approval = self.approvals.get(outcome.approval_id, wait=self._poll_s(left))
                pending = approval["status"] == "pending"
            except PermissionDenied:
                pending = False
            if not pending:
                again = self.tools.execute_call(outcome.call)
                if not isinstance(again, ApprovalRequired):
                    return again
            if time.monotonic() - started_at < _PAUSE_FIRST_S:
                # The server did not wait: it is about to stop, or has another question.
                self._sleep(_PAUSE_FIRST_S)
        raise WaitTimeout(f"nobody decided within {timeout:.0f} s")

    def _pauses(self, timeout: float) -> Iterator[None]:
        """Pauses between two polls, each longer than the one before, until `timeout` seconds have passed."""
        waited, pause = 0.0, _PAUSE_FIRST_S
        while waited < timeout:
            pause = min(pause, timeout - waited)
            self._sleep(pause)
            yield
            waited += pause
            pause = min(pause * 1.5, _PAUSE_MAX_S)

    def _poll_s(self, left: float) -> int:
        """How long the server may hold one answer back, in whole seconds."""
        return max(1, math.ceil(min(left, _POLL_MAX_S, self._settings.timeout / 2)))

    def _bound_link(self, outcome: AuthRequired, confirm_url: str) -> str:
        """A link for the connection that the call lacks; at its end the application confirms its user."""
        call = outcome.call
        described = self.tools.schema(call.tool_name, user_id=call.user_id)
        user = call.user_id or (self.status())["key"]["user_id"]
        listed = self.connections.list(user_id=user, service=outcome.service).page()
        known = [found["connection_id"] for found in listed["connections"] if found["state"] != "revoked"]
        link = self.connections.link(
            outcome.service,
            user_id=user,
            scopes=described["auth"]["scopes"] if described else None,
            connection_id=call.connection_id or (known[0] if len(known) == 1 else None),
            confirm_url=confirm_url,
        )
        return link["connect_url"]

    def _active(
        self, outcome: AuthRequired, *, wait: int | None = None, after: list[tuple[str, str, list[str]]] | None = None
    ) -> list[tuple[str, str, list[str]]] | None:
        """The user's active connections of the service; `None` if the key may not see them.

        With `wait` the server answers once there is one that `after` does not have, or when the seconds have passed.
        """
        known = max((since for _, since, _ in after or []), default=None)
        try:
            user = outcome.call.user_id or (self.status())["key"]["user_id"]
            listed = self.connections.list(
                user_id=user, service=outcome.service, wait=wait, active_after=known
            ).page()
        except PermissionDenied:
            return None
        return [
            (found["connection_id"], found["state_since"], found["scopes"])
            for found in listed["connections"]
            if found["state"] == "active"
        ]

    def _call(self, operation: str, **values: Any) -> Any:
        return (self._answer(operation, values)).data

    def _answer(self, operation: str, values: dict[str, Any]) -> _core.Answer:
        sent = _core.request(self._settings, operation, values)
        tries = 0
        while True:
            try:
                return self._try(sent)
            except ToolgateError as error:
                wait = _core.wait_before_retry(self._settings, sent, error, tries)
                if wait is None:
                    raise
            self._sleep(wait)
            tries += 1

    def _try(self, sent: _core.Request) -> _core.Answer:
        ends_at = time.monotonic() + self._settings.timeout
        try:
            with self._http.stream(
                sent.method,
                sent.url,
                headers=sent.headers,
                content=sent.content,
                timeout=self._settings.timeout,
                follow_redirects=False,
            ) as response:
                body = bytearray()
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > _core.ANSWER_BYTES_MAX:
                        raise _core.too_large()
                    if time.monotonic() > ends_at:
                        raise Timeout(f"no whole answer within {self._settings.timeout:.0f} s")
                return _core.answer(response.status_code, response.headers, bytes(body), sent.operation in _core.TEXTS)
        except httpx.TimeoutException:
            raise Timeout(f"no answer within {self._settings.timeout:g} s") from None
        except (httpx.TransportError, httpx.StreamError, httpx.DecodingError) as cause:
            raise ConnectionFailed(f"{type(cause).__name__} at {self._settings.base_url}") from None
