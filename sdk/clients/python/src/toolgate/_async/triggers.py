"""Tools that the server calls from time to time; each new item in their results becomes an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..types import DeletedTrigger, Trigger, TriggerTest
from .pager import AsyncPager
from .resource import AsyncResource


class AsyncTriggers(AsyncResource):
    """What is new at a service, as events."""

    async def create(
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
        return await self._call(
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
    ) -> AsyncPager[Trigger]:
        return self._pager("list_triggers", "triggers", user_id=user_id, limit=limit, cursor=cursor)

    async def get(self, trigger_id: str) -> Trigger:
        return await self._call("get_trigger", trigger_id=trigger_id)

    async def update(
        self,
        trigger_id: str,
        *,
        config: Mapping[str, Any] | None = None,
        interval_s: int | None = None,
        paused: bool | None = None,
    ) -> Trigger:
        """Changes the given fields."""
        return await self._call(
            "update_trigger", trigger_id=trigger_id, config=config, interval_s=interval_s, paused=paused
        )

    async def delete(self, trigger_id: str) -> DeletedTrigger:
        return await self._call("delete_trigger", trigger_id=trigger_id)

    async def test(
        self, trigger_id: str, *, since: str | None = None, idempotency_key: str | None = None
    ) -> TriggerTest:
        """Calls the tool and answers the items of the last day, or from `since` on; no event is sent."""
        return await self._call(
            "test_trigger", trigger_id=trigger_id, since=since, idempotency_key=idempotency_key
        )
