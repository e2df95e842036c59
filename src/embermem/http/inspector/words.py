"""How text that others wrote is shown: escaped, isolated, with its invisible marks made visible, and cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from unicodedata import east_asian_width

from markupsafe import Markup, escape

from embermem.core.attributes import is_instruction
from embermem.core.text import bare, fold

LONGEST = 4000
"""Characters of one text on a page; the rest is a link away."""

# Controls but line break and tab; marks that turn the direction of text; what takes no room; lone surrogates.
_MARKS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)
_SPACE = re.compile(r"\s+")
_WORD = 24
"""A longer word may be cut."""
_ATTRIBUTES = {
    "did": "event",
    "does": "habit",
    "feels": "feeling",
    "plans": "plan",
    "says": "statement",
    "would_like_to": "wish",
}
_PICTURES = 0x2400
"""Unicode draws the first 32 controls from here on."""


def said(text: object, longest: int = LONGEST) -> Markup:
    """The text as it was said, at most so many characters, isolated from the direction of what stands around it."""
    whole = str(text)
    cut = whole[:longest]
    more = "…" if len(whole) > longest else ""
    return Markup("<bdi>{}{}</bdi>").format(_visible(cut), more)


def line(text: object, longest: int = 140) -> Markup:
    """The same as one line, at most so many columns."""
    return said(_shortened(_SPACE.sub(" ", str(text)[: longest * 8]).strip(), longest))


def spans(text: str, marked: list[tuple[int, int]], longest: int = LONGEST) -> Markup:
    """The text with the characters [start, end) of each pair highlighted."""
    pieces: list[Markup] = []
    at = 0
    for start, end in sorted(marked):
        start, end = max(at, start), min(len(text), end, longest)
        if start >= end:
            continue
        pieces += [_visible(text[at:start]), Markup("<mark>{}</mark>").format(_visible(text[start:end]))]
        at = end
    pieces.append(_visible(text[at : max(at, longest)]))
    if len(text) > max(at, longest):
        pieces.append(Markup("…"))
    return Markup("<bdi>{}</bdi>").format(Markup("").join(pieces))


def plain(text: object, longest: int = 140) -> str:
    """One line without any of those marks: for titles and labels, which hold no markup."""
    clean = _SPACE.sub(" ", _MARKS.sub("", str(text)[: longest * 8])).strip()
    return _shortened(clean, longest)


def heat(value: float) -> str:
    """A heat as every page writes it, so that the same heat looks the same everywhere."""
    return f"{value:.2f}"


def attribute(name: str) -> str:
    """What a fact is about, in the words of a page: a verb alone says little there."""
    return "standing instruction" if is_instruction(name) else _ATTRIBUTES.get(name, name.replace("_", " "))


def attribute_named(told: str) -> str:
    """The attribute that is shown in these words, or has this name."""
    return next((name for name, shown in _ATTRIBUTES.items() if shown == told), told.replace(" ", "_"))


def folded_in(q: str, text: str) -> bool:
    """Whether each word asked for stands in a text, whatever the case and accents."""
    whole = bare(fold(text))
    return all(word in whole for word in bare(fold(q)).split())


def own_address(address: str) -> str:
    """An address of this server, whatever was asked for."""
    bad = not address.startswith("/") or address.startswith(("//", "/\\")) or not address.isprintable()
    return "/" if bad else address


def columns(text: str) -> int:
    """How wide a text is, in letters: a Chinese character takes the room of two."""
    return len(text) if text.isascii() else sum(_width(letter) for letter in text)


def _shortened(whole: str, longest: int) -> str:
    """At most so many columns, cut between words where one ends near."""
    if columns(whole) <= longest:
        return whole
    ends = accumulate(_width(letter) for letter in whole)
    end = next(at for at, column in enumerate(ends) if column >= longest)
    word = end if whole[end] == " " else whole.rfind(" ", max(0, end - _WORD), end)
    return whole[: word if word > 0 else end].rstrip(" ,;:.") + "…"


def _width(letter: str) -> int:
    return 2 if east_asian_width(letter) in "WF" else 1


def _visible(text: str) -> Markup:
    return Markup("").join(_pieces(text))


def _pieces(text: str) -> Iterator[Markup]:
    at = 0
    for found in _MARKS.finditer(text):
        yield escape(text[at : found.start()])
        code = ord(found.group())
        shown = chr(_PICTURES + code) if code < 0x20 else f"U+{code:04X}"
        yield Markup('<span class="ctl" title="U+{:04X}">{}</span>').format(code, shown)
        at = found.end()
    yield escape(text[at:])
