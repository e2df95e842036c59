"""The pages of the inspector on the memory of the demo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from embermem import Memory, OwnerMemory, demo
from embermem.core.types import Fact

if TYPE_CHECKING:
    from playwright.sync_api import Page

QUERY = "Where+do+I+live,+and+where+did+I+live+before%3F"
STANDARDS = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
CONTRAST = {"type": "rule", "values": ["color-contrast"]}
PAGES: dict[str, Callable[[OwnerMemory], str]] = {
    "owners": lambda mei: "/",
    "overview": lambda mei: "/overview",
    "pages": lambda mei: "/pages",
    "page": lambda mei: f"/pages/{mei.pages()[3].id}",
    "segments": lambda mei: "/segments",
    "segment": lambda mei: f"/segments/{_largest(mei)}",
    "segment's sources": lambda mei: f"/segments/{_largest(mei)}/sources",
    "persona": lambda mei: "/persona",
    "person": lambda mei: "/persona?person=Lian",
    "past": lambda mei: "/persona?state=past",
    "facts": lambda mei: "/facts",
    "facts found": lambda mei: "/facts?q=a&state=any&held_since=2020-01-01&person=mei",
    "facts to merge": lambda mei: f"/facts/merge?fact={mei.facts()[0].id}&fact={mei.facts()[1].id}",
    "facts to forget": lambda mei: f"/facts/forget?fact={mei.facts()[0].id}&fact={mei.facts()[1].id}",
    "people": lambda mei: "/persona?everybody=1",
    "persona then": lambda mei: "/persona?as_of=2026-05-02",
    "pages of a speaker": lambda mei: "/pages?speaker=mei&since=2026-03-01",
    "segments with words": lambda mei: "/segments?q=cello",
    "fact": lambda mei: f"/facts/{mei.facts()[0].id}",
    "past fact": lambda mei: f"/facts/{mei.past_facts()[0].id}",
    "sources": lambda mei: f"/facts/{mei.facts()[0].id}/sources",
    "documents": lambda mei: "/documents",
    "spaces": lambda mei: "/spaces",
    "map": lambda mei: "/map",
    "timeline": lambda mei: "/timeline",
    "timeline of a month": lambda mei: "/timeline?from=2026-03-01&to=2026-03-31&person=Mei",
    "recall lab": lambda mei: "/playground",
    "recall": lambda mei: f"/playground?q={QUERY}&budget=300",
    "two recalls": lambda mei: f"/playground?q={QUERY}&budget=300&q2={QUERY}&budget2=600",
    "chat": lambda mei: f"/chat?thread={mei.pages()[-1].thread}",
    "chat before a message": lambda mei: f"/chat?text={QUERY}",
    "recalled again": lambda mei: f"/chat/again?answer={mei.pages()[-1].id}",
    "changes": lambda mei: "/audit",
    "change": lambda mei: "/audit/2",
    "undo": lambda mei: "/audit/2/plan",
    "what was learnt": lambda mei: "/audit?what=learnt&q=cello",
    "bookkeeping": lambda mei: "/audit?what=bookkeeping",
    "steps": lambda mei: "/audit/steps?first=1&last=9",
    "search": lambda mei: "/search?q=cello",
    "import": lambda mei: "/import",
    "forget": lambda mei: f"/forget?kind=page&id={mei.pages()[3].id}",
    "not there": lambda mei: "/pages/none",
    "lost": lambda mei: "/nowhere/at/all",
    "login": lambda mei: "/login",
    "operations": lambda mei: "/operations",
    "keys of the server": lambda mei: "/operations/keys",
    "settings of the server": lambda mei: "/operations/settings",
    "requests of the server": lambda mei: "/operations/requests",
    "workers of the server": lambda mei: "/operations/workers",
    "models of the server": lambda mei: "/operations/models",
    "retention of the server": lambda mei: "/operations/retention",
    "backups of the server": lambda mei: "/operations/backups",
    "nobody": lambda mei: "/overview?user=nobody",
}
"""The address of every page, and of each of its larger variants, by its name in a report."""


def mei_of(memory: Memory) -> OwnerMemory:
    """The memory of the demo's user."""
    return memory.of(demo.USER, demo.AGENT)


def fact_of(mei: OwnerMemory, words: str) -> Fact:
    """A fact that has these words."""
    return next(one for one in mei.facts() if words in one.text)


def violations(page: Page) -> list[str]:
    """What is against the standards in the light theme, and what has too little contrast in the dark one."""
    found = []
    for theme, rules in (("light", STANDARDS), ("dark", CONTRAST)):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        found += [f"{theme}: {one}" for one in against(page, rules)]
    return found


def against(page: Page, rules: dict[str, Any]) -> list[str]:
    """What is against these rules of axe."""
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    options = {"runOnly": rules, "resultTypes": ["violations"]}
    told = Axe().run(page, options=options).response["violations"]
    return [f"{one['id']}: {' '.join(node['html'].split())[:160]}" for one in told for node in one["nodes"]][:4]


def _largest(mei: OwnerMemory) -> str:
    return max(mei.segments(), key=lambda one: len(one.page_ids)).id
