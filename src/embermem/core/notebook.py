"""Records as HTML, for notebooks: text of users only as text, no colours and no scripts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape
from typing import Any

from embermem.core.record import Record, shown_fields

__all__ = ["html_of"]

_MOST = 20
"""Items of a list."""
_TELLS = 'style="text-align:left;vertical-align:top;white-space:pre-wrap;overflow-wrap:anywhere"'


def html_of(record: Record) -> str:
    """A table of the fields that say something; of what has a text of many lines of its own, that text."""
    if type(record).__str__ is not object.__str__:
        return f"<pre {_TELLS}>{_text(str(record))}</pre>"
    rows = "".join(
        f'<tr><th {_TELLS} scope="row">{escape(name)}</th><td {_TELLS} dir="auto">{_cell(value)}</td></tr>'
        for name, value in shown_fields(record)
    )
    return f"<table><caption {_TELLS}><b>{escape(type(record).__name__)}</b></caption><tbody>{rows}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "<br>".join(f"{_text(str(name))}: {_text(_line(one))}" for name, one in [*value.items()][:_MOST])
    if not isinstance(value, Collection):
        return _text(_line(value))
    items = [_text(_line(one)) for one in [*value][:_MOST]]
    more = len(value) - len(items)
    return "<br>".join([*items, f"… and {more} more"] if more else items)


def _line(value: Any) -> str:
    return repr(value) if isinstance(value, Record) else str(value)


def _text(text: str) -> str:
    """Escaped, without the characters that cannot be seen."""
    return escape("".join(one if one.isprintable() or one in "\n\t" else "\N{REPLACEMENT CHARACTER}" for one in text))
