"""One reader of standing instructions for the languages of Europe but English, driven by each language's `Orders`.

An order is one only if it says that it lasts ("always", "never", "from now on") or is of a kind that does ("speak
French with me", "do not call me Bob"), if it is for the agent, and if it can be understood alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from embermem.core.attributes import INSTRUCTION_PREFIX
from embermem.languages.dates.engine import date_spans
from embermem.languages.facts.finding import USER, Finding, When
from embermem.languages.facts.orders import told
from embermem.languages.words import sentences

__all__ = ["Orders", "instruction", "instructions"]

_LONGEST_TEXT: Final = 1200
_LONGEST: Final = 140
"""Characters of a message, and of an instruction, that is read."""
_HIDDEN: Final = "\ue000"
_MOST_WORDS: Final = 16


@dataclass(frozen=True, kw_only=True)
class Orders:
    """How a language gives standing orders. Patterns without regard to case."""

    not_own: re.Pattern[str]
    """A message that holds this may hold words that are not the speaker's own wish."""
    once: re.Pattern[str]
    """What makes an order one of the moment, of a thing at hand, or not to be understood alone."""
    cut: re.Pattern[str]
    """What stands between two clauses."""
    filler: re.Pattern[str]
    """What may stand before an order, and says nothing."""
    asks: re.Pattern[str]
    """How somebody asks for something, before the order itself: "I would like you to"."""
    lasting: re.Pattern[str]
    """Words by which an order lasts; they are left out of what is kept, but for `kept`."""
    kept: re.Pattern[str]
    """Those of them that stay: "always", "never"."""
    verbs: re.Pattern[str]
    """The verbs, at the beginning of an order, that an agent can be told to do."""
    never: re.Pattern[str]
    """How an order forbids: at the beginning, or around the verb."""
    standing: tuple[tuple[str, re.Pattern[str], str], ...]
    """Orders that last by their kind, each with its matter ("" for none), and how it is kept ("" for as it is said)."""
    back: tuple[tuple[str, re.Pattern[str]], ...]
    """What takes an order of a matter back; "" for the one whose value is in the group `v`."""
    no_name: str
    """How an order against a name begins: who gives it has that nickname no longer."""
    until: re.Pattern[str]
    """Up to when an order holds, with the group `t` for the date."""
    until_label: str
    spare: re.Pattern[str]
    """What adds nothing at the end of an order."""


def instructions(orders: Orders, text: str, said_at: datetime) -> Iterator[Finding]:
    """The standing instructions of a screened text, and what it takes back of earlier ones, in order."""
    if len(text) > _LONGEST_TEXT or orders.not_own.search(text):
        return
    found = [
        one
        for start, end in sentences(text)
        if _HIDDEN not in text[start:end]
        for one in _sentence(orders, text[start:end], start, said_at)
    ]
    yield from told(found, orders.no_name)


def instruction(orders: Orders, phrase: str) -> tuple[str, str]:
    """The attribute and value of an order that is known to last."""
    return _of_matter(orders, _stripped(orders, phrase)) or ("instruction", phrase.strip().rstrip(".!"))


def _sentence(orders: Orders, sentence: str, offset: int, said_at: datetime) -> Iterator[Finding]:
    start, lead = 0, False
    spans = [(match.start(), match.end()) for match in orders.cut.finditer(sentence)]
    for cut, after in [*spans, (len(sentence), len(sentence))]:
        clause = sentence[start:cut]
        bare = _stripped(orders, clause)
        if not bare:
            lead = lead or orders.lasting.search(clause) is not None
        elif (one := _clause(orders, clause, bare, said_at, lead=lead)) is not None:
            attribute, value, until, retracts = one
            last = None if until is None else orders.until_label.format(until.date() - timedelta(days=1))
            yield Finding(
                subject=USER, attribute=attribute, value=value, start=offset + start, end=offset + cut,
                when=None if until is None or last is None else When(until, last, 0), until=until, retracts=retracts,
            )  # fmt: skip
        start = after


def _clause(
    orders: Orders, clause: str, bare: str, said_at: datetime, *, lead: bool
) -> tuple[str, str, datetime | None, bool] | None:
    """Attribute, value, when it ends, and whether it is taken back; None for any other clause."""
    for matter, pattern in orders.back:
        match = pattern.fullmatch(bare)
        if match is not None:
            value = f"{orders.no_name}{match['v']}" if "v" in match.groupdict() and match["v"] else ""
            return (f"{INSTRUCTION_PREFIX}{matter}" if matter else "instruction"), value, None, True
    until = _until(orders, clause, said_at)
    known = _of_matter(orders, bare)
    if known is not None:
        return None if until is None and orders.once.search(bare) else (*known, until, False)
    lasts = lead or until is not None or orders.lasting.search(clause) is not None
    if not lasts or orders.once.search(bare) or not orders.verbs.match(orders.never.sub("", bare)):
        return None
    return ("instruction", bare, until, False) if 1 < len(bare.split()) <= _MOST_WORDS else None


def _of_matter(orders: Orders, bare: str) -> tuple[str, str] | None:
    for matter, pattern, kept in orders.standing:
        if pattern.fullmatch(bare):
            return (f"{INSTRUCTION_PREFIX}{matter}" if matter else "instruction"), kept or bare
    return None


def _stripped(orders: Orders, clause: str) -> str:
    """An order without what says only that it is one, or that it lasts."""
    words = " ".join(clause.split()).strip(" ,;:.!…–—-")
    before = None
    while before != words:
        before = words
        words = orders.spare.sub("", orders.asks.sub("", orders.filler.sub("", words, count=1), count=1)).strip(
            " ,;:.!…"
        )
        words = orders.lasting.sub(lambda m: m.group() if orders.kept.search(m.group()) else " ", words)
        words = " ".join(orders.until.sub(" ", words).split()).strip(" ,")
    words = words[:_LONGEST]
    return words if words[:1].isupper() and words[1:2].isupper() else words[:1].lower() + words[1:]


def _until(orders: Orders, clause: str, said_at: datetime) -> datetime | None:
    """The first moment after the time up to which an order holds."""
    match = orders.until.search(clause)
    span = None if match is None else next(iter(date_spans(match.group(), said_at)), None)
    if span is None or span.last < said_at.date():
        return None
    return span.is_over(said_at)
