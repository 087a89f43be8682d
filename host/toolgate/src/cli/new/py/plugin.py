import urllib.parse
from typing import Annotated

from toolgate_plugin import Arg, Context, Plugin, page, pick_each

BASE = "https://api.example.com/v1"

plugin = Plugin(
    service="__SERVICE__",
    title="__TITLE__",
    version="0.1.0",
    description="Read and write notes kept at example.com.",
    homepage="https://example.com",
    categories=["notes"],
    hosts=["api.example.com"],
    auth=[
        {
            "slot": "user",
            "title": "API key",
            "type": "api_key",
            "placement": {"header": "x-api-key"},
            "audience": ["https://api.example.com"],
        }
    ],
)


@plugin.tool(effect="read", paginated=True, examples=[{"folder": "work"}])
def list_notes(cx: Context, folder: str | None = None, limit: Annotated[int, Arg(min=1, max=100)] = 20):
    """Lists notes, newest first.

    Args:
        folder: Only notes of this folder.
        limit: Notes on a page.
    """
    query = {"limit": limit, "page": cx.page_number(1)}
    if folder:
        query["folder"] = folder
    notes = cx.json(f"{BASE}/notes?{urllib.parse.urlencode(query)}")
    return page(pick_each(notes, ["id", "text", "author=user/name"]), query["page"] + 1 if len(notes) == limit else None)


@plugin.tool(effect="write", examples=[{"text": "Buy milk"}])
def create_note(cx: Context, text: Annotated[str, Arg(min_length=1)]):
    """Writes a note and answers its number.

    Args:
        text: The text, in Markdown.
    """
    return cx.json(f"{BASE}/notes", method="POST", body={"text": text})
