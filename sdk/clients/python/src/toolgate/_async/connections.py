"""Connected accounts, and links to connect.

Arguments have the names of the API's document. An argument that is `None` is not sent.
"""

from __future__ import annotations

import builtins

from ..types import ConnectLink, ConnectionInfo, DeletedConnection, DeletedHook, Hook, HookWithSecret
from .pager import AsyncPager
from .resource import AsyncResource


class AsyncConnections(AsyncResource):
    """What users have connected, and links to connect."""

    async def link(
        self,
        service: str,
        *,
        user_id: str | None = None,
        scopes: builtins.list[str] | None = None,
        connection_id: str | None = None,
        slot: str | None = None,
        confirm_url: str | None = None,
        return_url: str | None = None,
        popup_origin: str | None = None,
        idempotency_key: str | None = None,
    ) -> ConnectLink:
        """A link at which the user connects an account: one use, 15 minutes. With `confirm_url` nobody is connected
        before your application has confirmed its user; see `client.connect`, which waits for it. At the end the
        browser returns to `return_url`, and a popup sends a message to the page of `popup_origin` that opened it."""
        return await self._call(
            "link_connection",
            service=service,
            user_id=user_id,
            scopes=scopes,
            connection_id=connection_id,
            slot=slot,
            confirm_url=confirm_url,
            return_url=return_url,
            popup_origin=popup_origin,
            idempotency_key=idempotency_key,
        )

    async def confirm(self, code: str, *, user_id: str, idempotency_key: str | None = None) -> ConnectionInfo:
        """Confirms that the browser that came to `confirm_url` belongs to the user."""
        return await self._call("confirm_connection", code=code, user_id=user_id, idempotency_key=idempotency_key)

    def list(
        self,
        *,
        user_id: str | None = None,
        service: str | None = None,
        wait: int | None = None,
        active_after: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> AsyncPager[ConnectionInfo]:
        """With `wait` a page comes once one of its connections is active, and at the latest after so many seconds (30
        at most): ask for one `page()`."""
        return self._pager(
            "list_connections",
            "connections",
            user_id=user_id,
            service=service,
            wait=wait,
            active_after=active_after,
            limit=limit,
            cursor=cursor,
        )

    async def get(
        self, connection_id: str, *, wait: int | None = None, active_after: str | None = None
    ) -> ConnectionInfo:
        """With `wait` also a connection that a link names and that does not exist yet."""
        return await self._call("get_connection", connection_id=connection_id, wait=wait, active_after=active_after)

    async def delete(self, connection_id: str) -> DeletedConnection:
        """Forgets the credential and revokes it at the provider where that is possible."""
        return await self._call("delete_connection", connection_id=connection_id)

    async def hook(self, connection_id: str) -> Hook:
        """Where the provider sends the connection's events, and how many were accepted."""
        return await self._call("get_connection_hook", connection_id=connection_id)

    async def put_hook(self, connection_id: str, *, secret: str | None = None) -> HookWithSecret:
        """Opens the address for the provider's events. Without a `secret` the answer has a new one."""
        return await self._call("put_connection_hook", connection_id=connection_id, secret=secret)

    async def delete_hook(self, connection_id: str) -> DeletedHook:
        return await self._call("delete_connection_hook", connection_id=connection_id)
