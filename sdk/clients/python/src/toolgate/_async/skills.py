"""Skills.

Arguments have the names of the API's document. An argument that is `None` is not sent.
"""

from __future__ import annotations

from ..types import DeletedSkill, ListedSkill, Skill, SkillCheck, SkillVersion
from .pager import AsyncPager
from .resource import AsyncResource


class AsyncSkills(AsyncResource):
    """Reusable instructions."""

    def list(
        self, *, query: str | None = None, limit: int | None = None, offset: int | None = None
    ) -> AsyncPager[ListedSkill]:
        """All Skills, newest first. `limit` is the size of a page."""
        return self._pager("list_skills", "skills", by_offset=True, query=query, limit=limit, offset=offset)

    async def get(self, skill_id: str) -> Skill:
        return await self._call("get_skill", skill_id=skill_id)

    async def create(
        self, name: str, *, summary: str, instructions: str, idempotency_key: str | None = None
    ) -> Skill:
        return await self._call(
            "create_skill",
            name=name,
            summary=summary,
            instructions=instructions,
            idempotency_key=idempotency_key,
        )

    async def update(
        self,
        skill_id: str,
        *,
        name: str | None = None,
        summary: str | None = None,
        instructions: str | None = None,
        version: int | None = None,
        if_match: str | None = None,
    ) -> Skill:
        """Changes the given fields. With `version`, only if that is the Skill's version."""
        return await self._call(
            "update_skill",
            skill_id=skill_id,
            name=name,
            summary=summary,
            instructions=instructions,
            version=version,
            if_match=if_match,
        )

    async def delete(self, skill_id: str) -> DeletedSkill:
        return await self._call("delete_skill", skill_id=skill_id)

    def versions(
        self, skill_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> AsyncPager[SkillVersion]:
        """The Skill's history, the current version first. `limit` is the size of a page."""
        return self._pager("list_skill_versions", "versions", skill_id=skill_id, limit=limit, cursor=cursor)

    async def check(self, skill_id: str, *, user_id: str | None = None) -> SkillCheck:
        """Whether the user could follow the Skill now."""
        return await self._call("check_skill", skill_id=skill_id, user_id=user_id)
