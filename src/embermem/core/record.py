"""What every record that callers get can do: be JSON and come back, be printed on one line, be shown in a notebook."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from typing import Any, ClassVar, TypeVar

from embermem.core.errors import InputError

__all__ = ["Record", "plain_values"]

_Kind = TypeVar("_Kind", bound="Record")

_COMPARED = frozenset({"embedding", "counted", "own_metadata"})
"""Fields that are not read: those of segments that are there to be compared, and what a fact's metadata hold too."""
_WORDS = ("text", "title", "summary", "what", "query", "value", "name")
"""Fields that say what a record is about, the most telling first."""
_FIRST = ("id", "item_id", "user", "no", "rank", "dimension", *_WORDS)
"""Fields that a record is told by; the others follow as they are declared."""
_LINE = 120
"""Characters of a record on one line."""
_TEXT = 48
"""Characters of a text in it."""
_MOST = 20
"""Items of a list."""
_TELLS = 'style="text-align:left;vertical-align:top;white-space:pre-wrap;overflow-wrap:anywhere"'


class Record:
    """A frozen dataclass that callers get. Pickled, copied or made JSON, it comes back equal."""

    __slots__ = ()
    _derived: ClassVar[tuple[str, ...]] = ()
    """Properties that stand in its JSON beside the fields."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__repr__" not in vars(cls):
            cls.__repr__ = Record.__repr__  # type: ignore[method-assign]  # else a dataclass makes one of its own

    def to_dict(self) -> dict[str, Any]:
        """The record as a JSON object, as `--json` prints it: all fields but vectors, times in ISO form."""
        found: dict[str, Any] = plain_values(self)
        return found

    @classmethod
    def from_dict(cls: type[_Kind], value: Mapping[str, Any]) -> _Kind:
        """The record of a JSON object, as `to_dict` gives it. Raises InputError that says where it is wrong."""
        import msgspec

        try:
            return msgspec.convert(value, type=cls)
        except ValueError as error:  # msgspec.ValidationError; half of a surrogate pair
            raise InputError(f"this is not a {cls.__name__}: {error}") from error
        except TypeError as error:  # of its fields' types
            raise InputError(f"a {cls.__name__} is not read from JSON: {error}") from error

    def __repr__(self) -> str:
        """Its kind, its id and its first words, on one line."""
        line = f"{type(self).__name__}("
        for name, value in _shown(self):
            told = f"{name}={_short(value)}"
            if len(line) + len(told) > _LINE - len(", …)"):
                line += "…"
                break
            line += f"{told}, "
        return f"{line.removesuffix(', ')})"

    def _repr_html_(self) -> str:
        """A table for notebooks: text of users only as text, no colours and no scripts."""
        return _html_of(self)


def plain_values(value: object) -> Any:
    """A record as a JSON value, field by field: times in ISO form, enums by value, without vectors. A kind that has a
    tag, because it is one of several, says it as `kind`."""
    if is_dataclass(value) and not isinstance(value, type):
        named = {f.name: plain_values(getattr(value, f.name)) for f in fields(value) if f.name not in _COMPARED}
        if isinstance(value, Record):
            named |= {name: plain_values(getattr(value, name)) for name in value._derived}
        tag = getattr(type(value), "tag", None)
        return {"kind": tag, **named} if isinstance(tag, str) else named
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date):  # a datetime is one
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain_values(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain_values(item) for item in value)
    if isinstance(value, Iterable):
        return [plain_values(item) for item in value]
    return str(value)


def _shown(record: object) -> Iterator[tuple[str, Any]]:
    """The fields that say something and are printed, and their values: those that the record is told by first."""
    names = [field.name for field in fields(record) if field.repr and field.name not in _COMPARED]  # type: ignore[arg-type]
    for name in sorted(names, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST)):
        value = getattr(record, name)
        if value is not None and value is not False and not (hasattr(value, "__len__") and not len(value)):
            yield name, value


def _short(value: Any) -> str:
    """A value in a few characters; of several, how many there are."""
    if isinstance(value, Record):
        words = {name: one for name, one in _shown(value) if isinstance(one, str)}
        return _short(next((words[name] for name in (*_WORDS, "id") if name in words), "…"))
    if isinstance(value, Enum):
        return _short(value.value)
    if isinstance(value, str):
        seen = " ".join("".join(one if one.isprintable() else " " for one in value[: 4 * _TEXT]).split())
        return repr(seen if len(seen) <= _TEXT else f"{seen[: _TEXT - 1]}…")
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="minutes")
    return f"<{len(value)}>" if hasattr(value, "__len__") else str(value)


# ------------------------------------------------------------------------------------------------------- notebooks


def _html_of(record: Record) -> str:
    """A table of the fields that say something; of what has a text of many lines of its own, that text."""
    if type(record).__str__ is not object.__str__:
        return f"<pre {_TELLS}>{_text(str(record))}</pre>"
    rows = "".join(
        f'<tr><th {_TELLS} scope="row">{_escaped(name)}</th><td {_TELLS} dir="auto">{_cell(value)}</td></tr>'
        for name, value in _shown(record)
    )
    return f"<table><caption {_TELLS}><b>{_escaped(type(record).__name__)}</b></caption><tbody>{rows}</tbody></table>"


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
    return _escaped("".join(one if one.isprintable() or one in "\n\t" else "\N{REPLACEMENT CHARACTER}" for one in text))


def _escaped(text: str) -> str:
    from html import escape  # which costs more to import than the rest of this module

    return escape(text)
