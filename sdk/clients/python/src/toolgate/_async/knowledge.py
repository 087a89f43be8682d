"""The knowledge base.

Arguments have the names of the API's document. An argument that is `None` is not sent.
"""

from __future__ import annotations

from ..types import DeletedDocument, Document, FoundPassages, ListedDocument, MediaType
from .pager import AsyncPager
from .resource import AsyncResource


class AsyncKnowledge(AsyncResource):
    """Documents, and the passages of them that answer a query."""

    async def add(
        self,
        media_type: MediaType,
        *,
        content: str | None = None,
        content_base64: str | None = None,
        title: str | None = None,
        idempotency_key: str | None = None,
    ) -> ListedDocument:
        """Adds a document: its text, or its bytes in base64."""
        return await self._call(
            "add_document",
            media_type=media_type,
            content=content,
            content_base64=content_base64,
            title=title,
            idempotency_key=idempotency_key,
        )

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncPager[ListedDocument]:
        return self._pager("list_documents", "documents", limit=limit, cursor=cursor)

    async def get(self, document_id: str) -> Document:
        return await self._call("get_document", document_id=document_id)

    async def delete(self, document_id: str) -> DeletedDocument:
        return await self._call("delete_document", document_id=document_id)

    async def search(self, query: str, *, limit: int | None = None) -> FoundPassages:
        """The passages that answer the query best."""
        return await self._call("search_knowledge", query=query, limit=limit)
