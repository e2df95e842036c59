"""What the languages' readers of standing instructions share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from embermem.languages.facts.finding import Finding

__all__ = ["told"]

_MOST = 4
"""A message with more instructions is a text of somebody's: a prompt, rules, a manual."""


def told(found: Sequence[Finding], no_name: str) -> Iterator[Finding]:
    """The instructions of one text, unless there are too many; one against a name (its value begins with `no_name`)
    takes the nickname back, too."""
    if len(found) > _MOST:
        return
    for one in found:
        yield one
        if one.value.startswith(no_name) and not one.retracts:
            name = one.value.removeprefix(no_name)
            yield replace(one, attribute="nickname", value=name, when=None, until=None, retracts=True)
