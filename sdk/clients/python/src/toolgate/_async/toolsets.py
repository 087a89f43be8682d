"""Toolsets.

Arguments have the names of the API's document. An argument that is `None` is not sent.
"""

from __future__ import annotations

import builtins

from ..types import DeletedToolset, Skill, ToolsetInfo, ToolsetTools
from .resource import AsyncResource


class AsyncToolsets(AsyncResource):
    """Named choices of tools that MCP clients list under the tools' own names."""

    async def list(self) -> builtins.list[ToolsetInfo]:
        """All toolsets of the workspace, by name."""
        return (await self._call("list_toolsets"))["toolsets"]

    async def get(self, toolset_name: str) -> ToolsetInfo:
        return await self._call("get_toolset", toolset_name=toolset_name)

    async def create(
        self,
        name: str,
        *,
        title: str | None = None,
        description: str | None = None,
        tools: builtins.list[str] | None = None,
        services: builtins.list[str] | None = None,
        skills: builtins.list[str] | None = None,
        generic_tools: bool | None = None,
        skill_versions: dict[str, int] | None = None,
        idempotency_key: str | None = None,
    ) -> ToolsetInfo:
        """A toolset of at least one tool, service or Skill (by id)."""
        return await self._call(
            "create_toolset",
            name=name,
            title=title,
            description=description,
            tools=tools,
            services=services,
            skills=skills,
            generic_tools=generic_tools,
            skill_versions=skill_versions,
            idempotency_key=idempotency_key,
        )

    async def update(
        self,
        toolset_name: str,
        *,
        title: str | None = None,
        description: str | None = None,
        tools: builtins.list[str] | None = None,
        services: builtins.list[str] | None = None,
        skills: builtins.list[str] | None = None,
        generic_tools: bool | None = None,
        skill_versions: dict[str, int] | None = None,
    ) -> ToolsetInfo:
        """Changes the given fields."""
        return await self._call(
            "update_toolset",
            toolset_name=toolset_name,
            title=title,
            description=description,
            tools=tools,
            services=services,
            skills=skills,
            generic_tools=generic_tools,
            skill_versions=skill_versions,
        )

    async def replace(
        self,
        toolset_name: str,
        *,
        title: str | None = None,
        description: str | None = None,
        tools: builtins.list[str] | None = None,
        services: builtins.list[str] | None = None,
        skills: builtins.list[str] | None = None,
        generic_tools: bool | None = None,
        skill_versions: dict[str, int] | None = None,
    ) -> ToolsetInfo:
        """Makes the toolset what is given; what is absent is empty."""
        return await self._call(
            "replace_toolset",
            toolset_name=toolset_name,
            title=title,
            description=description,
            tools=tools,
            services=services,
            skills=skills,
            generic_tools=generic_tools,
            skill_versions=skill_versions,
        )

    async def delete(self, toolset_name: str) -> DeletedToolset:
        return await self._call("delete_toolset", toolset_name=toolset_name)

    async def tools(self, toolset_name: str) -> ToolsetTools:
        """What an MCP client with this key lists at the toolset's address."""
        return await self._call("list_toolset_tools", toolset_name=toolset_name)
