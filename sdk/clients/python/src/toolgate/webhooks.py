"""Deliveries of events, verified as Standard Webhooks describes (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from .errors import WebhookVerificationError

TOLERANCE_S = 300
_PREFIX = "whsec_"


def verify(
    payload: bytes | str,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance_s: float = TOLERANCE_S,
    now: float | None = None,
) -> dict[str, Any]:
    """The event of a delivery, if its signature is right and it is not older than `tolerance_s`.

    `payload` is the body as it arrived, not parsed and written again. `headers` may be of any case.
    `now` is in seconds since the Unix epoch; the machine's clock if absent. Refuse what raises
    `WebhookVerificationError` with status 400.
    """
    body = payload.encode() if isinstance(payload, str) else bytes(payload)
    given = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, sent_at, signatures = (
            given[f"webhook-{name}"] for name in ("id", "timestamp", "signature")
        )
    except KeyError as missing:
        raise WebhookVerificationError(f"the header {missing} is missing") from None
    if not (sent_at.isascii() and sent_at.isdigit() and len(sent_at) <= 12):
        raise WebhookVerificationError("webhook-timestamp is not a number of seconds")
    if abs((time.time() if now is None else now) - int(sent_at)) > tolerance_s:
        raise WebhookVerificationError("webhook-timestamp is too far from now")
    signed = f"{message_id}.{sent_at}.".encode() + body
    expected = hmac.new(_key(secret), signed, hashlib.sha256).digest()
    # Several signatures are sent while a secret is being replaced.
    for part in signatures.split(" "):
        version, _, text = part.partition(",")
        try:
            offered = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            continue
        if version == "v1" and hmac.compare_digest(offered, expected):
            return _event(body)
    raise WebhookVerificationError("no signature matches")


def _key(secret: str) -> bytes:
    text = secret.removeprefix(_PREFIX)
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise WebhookVerificationError("the secret is not whsec_ and base64") from None
    if not key:
        raise WebhookVerificationError("the secret is empty")
    return key


def _event(body: bytes) -> dict[str, Any]:
    try:
        event = json.loads(body)
    except ValueError:
        raise WebhookVerificationError("the body is not JSON") from None
    if not isinstance(event, dict):
        raise WebhookVerificationError("the body is not an event")
    return event
