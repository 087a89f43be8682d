"""What can go wrong, as types a program can act on. No error holds the API key."""

from __future__ import annotations

from typing import Any


# How many violations a message lists; `details` has all of them.
_VIOLATIONS_MAX = 5


def _violations(details: dict[str, Any]) -> str:
    """What is wrong with the arguments, by JSON Pointer."""
    found = details.get("violations")
    if not isinstance(found, list):
        return ""
    texts = [f"{one.get('path') or '/'}: {one.get('message')}" for one in found if isinstance(one, dict)]
    more = [f"and {len(texts) - _VIOLATIONS_MAX} more"] if len(texts) > _VIOLATIONS_MAX else []
    return "; ".join(texts[:_VIOLATIONS_MAX] + more)


class ToolgateError(Exception):
    """Every failure of a call.

    `code` is stable. `can_retry` says whether the same call may succeed later, `retry_after` in how many
    seconds, where the server named them. `request_id` finds the request in the server's log.
    """

    code = "error"
    can_retry = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        can_retry: bool | None = None,
        retry_after: float | None = None,
        hint: str | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.status = status
        self.request_id = request_id
        self.can_retry = type(self).can_retry if can_retry is None else can_retry
        self.retry_after = retry_after
        self.hint = hint
        self.details = details or {}

    def __str__(self) -> str:
        text = f"{self.code}: {self.message}"
        if wrong := _violations(self.details):
            text += f" ({wrong})"
        if self.hint:
            text += f" {self.hint}"
        return f"{text} ({self.request_id})" if self.request_id else text


class APIError(ToolgateError):
    """The server refused or failed; `code` is one of the codes of its document."""


class InvalidRequest(APIError):
    """400, 405, 413 or 415: the request has to change. `details` names what is wrong."""


class AuthenticationError(APIError):
    """401: no key, or one that is unknown, expired or revoked."""


class PermissionDenied(APIError):
    """403: the key or the user may not do this."""


class NotFound(APIError):
    """404: no such tool, Skill, session, or whatever was named."""


class Conflict(APIError):
    """409: a stale version, or an idempotency key that is in use."""


class RateLimited(APIError):
    """429: too many requests; `retry_after` says when there is room again."""

    can_retry = True


class ServerError(APIError):
    """500 or 503: the server failed, or is starting, stopping or busy."""

    can_retry = True


class ConnectionFailed(ToolgateError):
    """No answer: the server is down, or the connection broke."""

    code = "connection_failed"
    can_retry = True


class Timeout(ToolgateError):
    """No answer within the client's `timeout`."""

    code = "timeout"
    can_retry = True


class InvalidResponse(ToolgateError):
    """The answer is not what the API answers: broken JSON, a proxy's page, too large."""

    code = "invalid_response"


class RedirectRefused(ToolgateError):
    """The server answered with a redirect. The client does not follow it: the key is for one origin only."""

    code = "redirect_refused"


class WaitTimeout(ToolgateError):
    """The user did not connect, or nobody decided, in the time that was given."""

    code = "wait_timeout"
    can_retry = True


class WebhookVerificationError(ToolgateError):
    """The delivery does not come from the server, was changed, or is too old. Answer it with 400."""

    code = "invalid_signature"


BY_STATUS: dict[int, type[APIError]] = {
    400: InvalidRequest,
    401: AuthenticationError,
    403: PermissionDenied,
    404: NotFound,
    405: InvalidRequest,
    409: Conflict,
    413: InvalidRequest,
    415: InvalidRequest,
    429: RateLimited,
}
