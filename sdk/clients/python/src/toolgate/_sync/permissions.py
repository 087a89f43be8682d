"""Permissions of users. Made from `_async` by make_sync.py; do not edit.

Arguments have the names of the API's document. An argument that is `None` is not sent.
"""

from __future__ import annotations

import builtins

from ..types import (
    Approvers,
    DefaultRule,
    PermissionExplanation,
    PermissionService,
    PermissionSummary,
    Setting,
    UserPermissions,
)
from .resource import Resource


class Permissions(Resource):
    """Which tools a user may use."""

    def services(self) -> builtins.list[PermissionService]:
        return (self._call("list_permission_services"))["services"]

    def get(self, user_id: str) -> UserPermissions:
        return self._call("get_user_permissions", user_id=user_id)

    def set_tool(
        self,
        user_id: str,
        tool_name: str,
        permission: Setting,
        *,
        expires_at: str | None = None,
        max_calls: int | None = None,
        approvers: Approvers | None = None,
    ) -> UserPermissions:
        """Sets the rule for one tool; `inherit` removes it."""
        return self._call(
            "change_tool_permission",
            user_id=user_id,
            tool_name=tool_name,
            permission=permission,
            expires_at=expires_at,
            max_calls=max_calls,
            approvers=approvers,
        )

    def set_service(
        self,
        user_id: str,
        service_name: str,
        permission: Setting,
        *,
        expires_at: str | None = None,
        max_calls: int | None = None,
        approvers: Approvers | None = None,
    ) -> UserPermissions:
        """Sets the rule for all tools of a service that have none; `inherit` removes it."""
        return self._call(
            "change_service_permission",
            user_id=user_id,
            service_name=service_name,
            permission=permission,
            expires_at=expires_at,
            max_calls=max_calls,
            approvers=approvers,
        )

    def batch(
        self,
        user_id: str,
        *,
        services: dict[str, Setting] | None = None,
        tools: dict[str, Setting] | None = None,
        approvers: Approvers | None = None,
    ) -> UserPermissions:
        """Sets many rules, all or none. `approvers`: who decides, for those that are set to `ask`."""
        return self._call(
            "change_permissions", user_id=user_id, services=services, tools=tools, approvers=approvers
        )

    def summary(self, user_id: str) -> PermissionSummary:
        return self._call("summarise_user_permissions", user_id=user_id)

    def default(self) -> DefaultRule:
        """The permission of a tool that no rule is about."""
        rule: DefaultRule = (self._call("get_default_permission"))["default"]
        return rule

    def set_default(self, default: DefaultRule, *, approvers: Approvers | None = None) -> DefaultRule:
        """Allows the tools that no rule is about, or allows reads and asks about the others (`by_effect`)."""
        answer = self._call("change_default_permission", default=default, approvers=approvers)
        rule: DefaultRule = answer["default"]
        return rule

    def explain(self, user_id: str, tool_name: str) -> PermissionExplanation:
        """The permission that applies to one tool, and the rule that it comes from."""
        return self._call("explain_permission", user_id=user_id, tool_name=tool_name)
