"""Every setting of the server's memory: its value, where it was given, what it means."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.core.setting_list import SettingInUse
from embermem.http.inspector.place import OperatorContext, PageRoute

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/operations/settings")
def listed(here: OperatorContext, q: str = "") -> HTMLResponse:
    """Those that were given first; then all by group, or those that a search finds."""
    every = here.memory.settings_in_use()
    words = q.casefold().split()
    found = [one for one in every if all(word in _searched(one) for word in words)]
    groups: dict[str, list[SettingInUse]] = {}
    for one in found:
        groups.setdefault(one.group, []).append(one)
    return here.page(
        "operations_settings.html",
        title="Settings",
        changed=[one for one in found if one.changed],
        groups=groups,
        q=q.strip(),
        count=len(every),
    )


def _searched(one: SettingInUse) -> str:
    return " ".join((one.name, one.name.replace("_", " "), one.meaning, one.origin, one.value, one.group)).casefold()
