"""A page of the inspector, as a test looks at it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import httpx2

OWNER = {"user": "alice", "agent": "default"}


class Read(HTMLParser):
    """A page as a browser takes it in: its elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._editing = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._editing = self._editing or tag == "textarea"

    def handle_endtag(self, tag: str) -> None:
        self._editing = self._editing and tag != "textarea"

    def handle_data(self, data: str) -> None:
        if not self._editing:  # what may be edited stands there as it is
            self.text += data

    def hooks(self, name: str) -> list[dict[str, str | None]]:
        """The elements with this `data-test`."""
        return [attrs for _, attrs in self.elements if attrs.get("data-test") == name]


def get(browser: httpx2.Client, path: str, **query: Any) -> httpx2.Response:
    """A page of alice's."""
    return browser.get(path, params={**OWNER, **dict(httpx2.QueryParams(path.partition("?")[2])), **query})


def post(browser: httpx2.Client, path: str, **fields: str) -> httpx2.Response:
    """An action on alice's memory."""
    return browser.post(path, params=OWNER, data=fields)
