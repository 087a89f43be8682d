"""Sessions and their messages.

Arguments have the names of the API's document. An argument that is `None` is not sent.
"""

from __future__ import annotations

from ..types import DeletedSession, Message, Session
from .pager import AsyncPager
from .resource import AsyncResource


class AsyncSessions(AsyncResource):
    """Conversations, and state that steps share."""

    async def create(
        self, prompt: str, *, user_id: str | None = None, idempotency_key: str | None = None
    ) -> Session:
        return await self._call(
            "create_session", prompt=prompt, user_id=user_id, idempotency_key=idempotency_key
        )

    def list(
        self, *, user_id: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> AsyncPager[Session]:
        return self._pager("list_sessions", "sessions", user_id=user_id, limit=limit, cursor=cursor)

    async def get(self, session_id: str) -> Session:
        return await self._call("get_session", session_id=session_id)

    async def delete(self, session_id: str) -> DeletedSession:
        return await self._call("delete_session", session_id=session_id)

    def messages(
        self, session_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> AsyncPager[Message]:
        """Every step of the session, oldest first."""
        return self._pager("list_messages", "messages", session_id=session_id, limit=limit, cursor=cursor)

    async def send(self, session_id: str, content: str, *, idempotency_key: str | None = None) -> Message:
        """The assistant's reply to a message."""
        return await self._call(
            "send_message", session_id=session_id, content=content, idempotency_key=idempotency_key
        )

    async def resume(self, session_id: str, *, idempotency_key: str | None = None) -> Message:
        """Continues where the last turn stopped for a connection, an approval or a limit."""
        return await self._call("resume_session", session_id=session_id, idempotency_key=idempotency_key)
