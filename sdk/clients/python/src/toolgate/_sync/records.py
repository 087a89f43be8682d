"""Events, receipts, approvals, stored results and files. Made from `_async` by make_sync.py; do not edit."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any, Literal

from .. import webhooks
from ..types import (
    Approval,
    ApprovalStatus,
    DeletedFile,
    DeletedWebhook,
    DeliveryStatus,
    EventPage,
    ExecutionPayloads,
    ExecutionReceipt,
    ExecutionStatus,
    FailureReason,
    FileText,
    ReceiptKind,
    ResultPiece,
    StoredFile,
    Webhook,
    WebhookDelivery,
    WebhookFilters,
    WebhookWithSecret,
)
from .pager import Pager
from .resource import Resource


class Webhooks(Resource):
    """Events that the server sends."""

    def create(
        self,
        url: str,
        events: builtins.list[str],
        *,
        description: str | None = None,
        filters: WebhookFilters | None = None,
        idempotency_key: str | None = None,
    ) -> WebhookWithSecret:
        """Sends these events to `url`. Only this answer has the secret."""
        return self._call(
            "create_webhook",
            url=url,
            events=events,
            description=description,
            filters=filters,
            idempotency_key=idempotency_key,
        )

    def list(self) -> builtins.list[Webhook]:
        return (self._call("list_webhooks"))["webhooks"]

    def get(self, webhook_id: str) -> Webhook:
        return self._call("get_webhook", webhook_id=webhook_id)

    def update(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: builtins.list[str] | None = None,
        description: str | None = None,
        filters: WebhookFilters | None = None,
        enabled: bool | None = None,
    ) -> Webhook:
        """Changes the given fields. Enabling it clears earlier failures and sends the waiting deliveries."""
        return self._call(
            "update_webhook",
            webhook_id=webhook_id,
            url=url,
            events=events,
            description=description,
            filters=filters,
            enabled=enabled,
        )

    def delete(self, webhook_id: str) -> DeletedWebhook:
        return self._call("delete_webhook", webhook_id=webhook_id)

    def rotate(
        self, webhook_id: str, *, overlap_hours: int | None = None, idempotency_key: str | None = None
    ) -> WebhookWithSecret:
        """Makes a new secret; the previous one also signs for another 24 hours, or for `overlap_hours`."""
        return self._call(
            "rotate_webhook_secret",
            webhook_id=webhook_id,
            overlap_hours=overlap_hours,
            idempotency_key=idempotency_key,
        )

    def test(self, webhook_id: str, *, idempotency_key: str | None = None) -> WebhookDelivery:
        """Sends an event `webhook.test`, whichever events the webhook subscribes to."""
        return self._call("test_webhook", webhook_id=webhook_id, idempotency_key=idempotency_key)

    def deliveries(
        self,
        webhook_id: str,
        *,
        status: DeliveryStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pager[WebhookDelivery]:
        return self._pager(
            "list_webhook_deliveries",
            "deliveries",
            webhook_id=webhook_id,
            status=status,
            limit=limit,
            cursor=cursor,
        )

    def resend(
        self, webhook_id: str, delivery_id: str, *, idempotency_key: str | None = None
    ) -> WebhookDelivery:
        """Sends the event of a delivery once more, under the same event id."""
        return self._call(
            "resend_webhook_delivery",
            webhook_id=webhook_id,
            delivery_id=delivery_id,
            idempotency_key=idempotency_key,
        )

    @staticmethod
    def verify(
        payload: bytes | str,
        headers: Mapping[str, str],
        secret: str,
        *,
        tolerance_s: float = webhooks.TOLERANCE_S,
        now: float | None = None,
    ) -> dict[str, Any]:
        """The event of a delivery, if it is genuine; see `toolgate.webhooks.verify`."""
        return webhooks.verify(payload, headers, secret, tolerance_s=tolerance_s, now=now)


class Executions(Resource):
    """Receipts: what ran, and every request that was sent."""

    def list(
        self,
        *,
        kind: ReceiptKind | None = None,
        user_id: str | None = None,
        tool_name: str | None = None,
        tool_name_part: str | None = None,
        service: str | None = None,
        key_prefix: str | None = None,
        status: ExecutionStatus | None = None,
        reason: FailureReason | None = None,
        parent: str | None = None,
        started_after: str | None = None,
        started_before: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pager[ExecutionReceipt]:
        return self._pager(
            "list_executions",
            "executions",
            kind=kind,
            user_id=user_id,
            tool_name=tool_name,
            tool_name_part=tool_name_part,
            service=service,
            key_prefix=key_prefix,
            status=status,
            reason=reason,
            parent=parent,
            started_after=started_after,
            started_before=started_before,
            limit=limit,
            cursor=cursor,
        )

    def get(self, execution_id: str) -> ExecutionReceipt:
        return self._call("get_execution", execution_id=execution_id)

    def payloads(self, execution_id: str) -> ExecutionPayloads:
        """The bodies that the workspace stores; needs the scope `admin`, and is recorded in the audit log."""
        return self._call("get_execution_payloads", execution_id=execution_id)


class Approvals(Resource):
    """Calls that a person has to allow first."""

    def list(
        self, *, status: ApprovalStatus | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pager[Approval]:
        return self._pager("list_approvals", "approvals", status=status, limit=limit, cursor=cursor)

    def get(self, approval_id: str, *, wait: int | None = None) -> Approval:
        """With `wait` as soon as it is decided, and at the latest after so many seconds."""
        return self._call("get_approval", approval_id=approval_id, wait=wait)

    def decide(
        self, approval_id: str, decision: Literal["approve", "deny"], *, idempotency_key: str | None = None
    ) -> Approval:
        return self._call(
            "decide_approval", approval_id=approval_id, decision=decision, idempotency_key=idempotency_key
        )


class Events(Resource):
    """What happened in the workspace, in its order."""

    def list(
        self,
        *,
        types: builtins.list[str] | None = None,
        user_id: str | None = None,
        service: str | None = None,
        tool_name: str | None = None,
        cursor: str | None = None,
        start: Literal["now", "oldest"] | None = None,
        limit: int | None = None,
        wait: int | None = None,
    ) -> EventPage:
        """What happened since the cursor. With `wait` an answer without events comes only after so many seconds."""
        return self._call(
            "list_events",
            types=None if types is None else ",".join(types),
            user_id=user_id,
            service=service,
            tool_name=tool_name,
            cursor=cursor,
            start=start,
            limit=limit,
            wait=wait,
        )


class Results(Resource):
    """Results that were too large for their answer, stored for an hour."""

    def get(self, result_id: str, *, offset: int | None = None, limit: int | None = None) -> ResultPiece:
        """One piece of the result's JSON text."""
        return self._call("get_result", result_id=result_id, offset=offset, limit=limit)

    def text(self, result_id: str) -> str:
        """The whole JSON text, piece by piece."""
        pieces: builtins.list[str] = []
        offset: int | None = 0
        while offset is not None:
            piece = self.get(result_id, offset=offset)
            pieces.append(piece["content"])
            offset = piece.get("next_offset")
        return "".join(pieces)


class Files(Resource):
    """What users uploaded for tools, and what tools returned, each named by a handle."""

    def list(
        self, *, user_id: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pager[StoredFile]:
        return self._pager("list_files", "files", user_id=user_id, limit=limit, cursor=cursor)

    def get(self, file_id: str) -> StoredFile:
        """Its name, type, size and hash."""
        return self._call("get_file", file_id=file_id)

    def text(self, file_id: str, *, offset: int | None = None, limit: int | None = None) -> FileText:
        """A piece of its text: of text, JSON, XML, HTML and PDF."""
        return self._call("read_file_text", file_id=file_id, offset=offset, limit=limit)

    def delete(self, file_id: str) -> DeletedFile:
        return self._call("delete_file", file_id=file_id)
