"""How an execution ended. There is one type for each outcome, and only `Success` has a `result`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from .errors import InvalidResponse
from .types import FailureReason, PlannedRequest, ResultFile, ToolError, Truncated


@dataclass(frozen=True)
class ExecuteCall:
    """A call as it was made, so that it can be made again."""

    tool_name: str
    arguments: dict[str, Any] | str | None = None
    user_id: str | None = None
    session_id: str | None = None
    connection_id: str | None = None
    dry_run: bool | None = None
    max_result_bytes: int | None = None
    max_result_chars: int | None = None
    fields: list[str] | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class _ExecutionInfo:
    execution_id: str
    tool_name: str
    service: str
    session_id: str
    duration_ms: int
    request_id: str
    call: ExecuteCall = field(repr=False)
    coerced: list[str] = field(default_factory=list)
    """JSON Pointers of texts in the arguments that were taken as what the tool asks for."""


@dataclass(frozen=True, kw_only=True)
class Success(_ExecutionInfo):
    """The tool ran. `truncated` says where the rest of a large result is (`client.results`)."""

    result: Any
    truncated: Truncated | None = None
    files: list[ResultFile] = field(default_factory=list)
    summary: str | None = None
    next_cursor: str | None = None


@dataclass(frozen=True, kw_only=True)
class ProviderError(_ExecutionInfo):
    """The tool ran and has no result: the provider refused, or a limit of the sandbox was met."""

    reason: FailureReason
    error: ToolError

    @property
    def can_retry(self) -> bool:
        return self.error["can_retry"]

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait, where the provider named them."""
        wait_ms = self.error.get("retry_after_ms")
        return None if wait_ms is None else wait_ms / 1000


@dataclass(frozen=True, kw_only=True)
class AuthRequired(_ExecutionInfo):
    """The user has to connect an account: show `connect_url`, or use `client.wait_for_connection`.

    `expired`: there was a connection, and it has to be renewed. `connect_url` is absent where the
    operator has not set the service up; `message` then says so.
    """

    expired: bool
    auth_type: str
    message: str
    connect_url: str | None = None


@dataclass(frozen=True, kw_only=True)
class ApprovalRequired(_ExecutionInfo):
    """A person has to allow the call first: show `approval_url`, or use `client.wait_for_approval`."""

    message: str
    approval_id: str
    approval_url: str
    expires_at: str
    requests: list[PlannedRequest]


@dataclass(frozen=True, kw_only=True)
class DryRun(_ExecutionInfo):
    """Nothing was sent; these are the requests that would have been."""

    requests: list[PlannedRequest]


Outcome: TypeAlias = Success | ProviderError | AuthRequired | ApprovalRequired | DryRun


def outcome(data: dict[str, Any], request_id: str, call: ExecuteCall) -> Outcome:
    """Reads the answer of execute."""
    try:
        common: dict[str, Any] = {
            name: data[name] for name in ("execution_id", "tool_name", "service", "session_id", "duration_ms")
        }
        common |= {"request_id": request_id, "call": call, "coerced": data.get("coerced") or []}
        status = data["status"]
        if status == "success":
            return Success(
                result=data["result"],
                truncated=data.get("truncated"),
                files=data.get("files") or [],
                summary=data.get("summary"),
                next_cursor=data.get("next_cursor"),
                **common,
            )
        if status == "error":
            return ProviderError(reason=data["reason"], error=data["error"], **common)
        if status in ("auth_required", "auth_expired"):
            return AuthRequired(
                expired=status == "auth_expired",
                auth_type=data["auth_type"],
                message=data["message"],
                connect_url=data.get("connect_url"),
                **common,
            )
        if status == "approval_required":
            return ApprovalRequired(
                message=data["message"],
                approval_id=data["approval_id"],
                approval_url=data["approval_url"],
                expires_at=data["expires_at"],
                requests=data["requests"],
                **common,
            )
        if status == "dry_run":
            return DryRun(requests=cast("list[PlannedRequest]", data["requests"]), **common)
    except (KeyError, TypeError) as missing:
        raise InvalidResponse(f"the outcome lacks {missing}", request_id=request_id) from None
    raise InvalidResponse(f"the outcome {status!r} is unknown: update this package", request_id=request_id)
