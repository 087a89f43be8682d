"""Tools that the server calls from time to time; each new item in their results becomes an event. Made from `_async` by make_sync.py; do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..types import DeletedTrigger, Trigger, TriggerTest
from .pager import Pager
from .resource import Resource


class Triggers(Resource):
    """What is new at a service, as events."""

    def create(
        self,
        service: str,
        trigger: str,
        *,
        config: Mapping[str, Any] | None = None,
        user_id: str | None = None,
        connection_id: str | None = None,
        interval_s: int | None = None,
        since: str | None = None,
        idempotency_key: str | None = None,
    ) -> Trigger:
        """Watches with `trigger`, as the service's plugin names it. `config`: the arguments that are to be chosen."""
        return self._call(
            "create_trigger",
            service=service,
            trigger=trigger,
            config=config,
            user_id=user_id,
            connection_id=connection_id,
            interval_s=interval_s,
            since=since,
            idempotency_key=idempotency_key,
        )

    def list(
        self, *, user_id: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pager[Trigger]:
        return self._pager("list_triggers", "triggers", user_id=user_id, limit=limit, cursor=cursor)

    def get(self, trigger_id: str) -> Trigger:
        return self._call("get_trigger", trigger_id=trigger_id)

    def update(
        self,
        trigger_id: str,
        *,
        config: Mapping[str, Any] | None = None,
        interval_s: int | None = None,
        paused: bool | None = None,
    ) -> Trigger:
        """Changes the given fields."""
        return self._call(
            "update_trigger", trigger_id=trigger_id, config=config, interval_s=interval_s, paused=paused
        )

    def delete(self, trigger_id: str) -> DeletedTrigger:
        return self._call("delete_trigger", trigger_id=trigger_id)

    def test(
        self, trigger_id: str, *, since: str | None = None, idempotency_key: str | None = None
    ) -> TriggerTest:
        """Calls the tool and answers the items of the last day, or from `since` on; no event is sent."""
        return self._call(
            "test_trigger", trigger_id=trigger_id, since=since, idempotency_key=idempotency_key
        )
