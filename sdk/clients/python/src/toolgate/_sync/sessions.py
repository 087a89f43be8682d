"""Sessions and their messages. Made from `_async` by make_sync.py; do not edit.

Arguments have the names of the API's document. An argument that is `None` is not sent.
"""

from __future__ import annotations

from ..types import DeletedSession, Message, Session
from .pager import Pager
from .resource import Resource


class Sessions(Resource):
    """Conversations, and state that steps share."""

    def create(
        self, prompt: str, *, user_id: str | None = None, idempotency_key: str | None = None
    ) -> Session:
        return self._call(
            "create_session", prompt=prompt, user_id=user_id, idempotency_key=idempotency_key
        )

    def list(
        self, *, user_id: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pager[Session]:
        return self._pager("list_sessions", "sessions", user_id=user_id, limit=limit, cursor=cursor)

    def get(self, session_id: str) -> Session:
        return self._call("get_session", session_id=session_id)

    def delete(self, session_id: str) -> DeletedSession:
        return self._call("delete_session", session_id=session_id)

    def messages(
        self, session_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Pager[Message]:
        """Every step of the session, oldest first."""
        return self._pager("list_messages", "messages", session_id=session_id, limit=limit, cursor=cursor)

    def send(self, session_id: str, content: str, *, idempotency_key: str | None = None) -> Message:
        """The assistant's reply to a message."""
        return self._call(
            "send_message", session_id=session_id, content=content, idempotency_key=idempotency_key
        )

    def resume(self, session_id: str, *, idempotency_key: str | None = None) -> Message:
        """Continues where the last turn stopped for a connection, an approval or a limit."""
        return self._call("resume_session", session_id=session_id, idempotency_key=idempotency_key)
