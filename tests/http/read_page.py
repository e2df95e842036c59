"""A page of the inspector, as a test looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

import httpx2
from serving import NO_TLS, key_for, running

from embermem import Memory

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


@contextmanager
def visiting(url: str) -> Iterator[httpx2.Client]:
    """A client of a server that is sent after each form's redirect."""
    with httpx2.Client(base_url=url, follow_redirects=True, timeout=30, trust_env=False, verify=NO_TLS) as browser:
        yield browser


@contextmanager
def holding(memory: Memory, *owners: str, read_only: bool = False) -> Iterator[httpx2.Client]:
    """A client with a new key's cookie, on a server of this memory that requires keys."""
    _, text = key_for(memory, *owners, read_only=read_only)
    with running(memory, require_keys=True) as url, visiting(url) as browser:
        browser.cookies.set("ember_key", text)
        yield browser
