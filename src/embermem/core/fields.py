"""Fields of an application's own: what a profile or a fact may hold beside what is built in.

A field is checked when it is made. Its values have one written form each: a number without separators, a date in
ISO 8601, "yes" or "no", a choice as it is spelled in the list.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from dataclasses import fields as parts_of
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from embermem.core.errors import ConfigError
from embermem.core.text import fold

__all__ = [
    "Field",
    "FieldType",
    "FieldValue",
    "SetBy",
    "fields_as_json",
    "fields_from_file",
    "fields_from_json",
    "fields_from_table",
    "line_finder",
    "listed",
]

FieldType = Literal["text", "number", "date", "boolean", "choice"]
SetBy = Literal["model", "user", "caller"]
FieldValue: TypeAlias = str | int | float | bool | date
"""What a line of a profile may be given as: a text or a whole number; the others where a field has that type."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_LONGEST_NAME = 40
_LONGEST_VALUE = 100
_LONGEST_DESCRIPTION = 300
_MOST = 100
"""Fields of a schema, entries of a list, choices of a field."""
_NUMBER = re.compile(r"(?P<number>[+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,9})?)")
_MOST_NUMBER = 1e15
_YES, _NO = "yes", "no"
_TRUTH = {_YES: _YES, "true": _YES, _NO: _NO, "false": _NO}
_TEXTS = ("examples", "choices", "aliases", "units")


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its name, and the type that its values have.

    `many`: it holds any number of values at a time, else one, which stands in the profile. `aliases` are other words
    for it in talk, in any language ("CEFR level"); `units` words or signs that belong to a number ("kg", "€").
    `set_by` says who may set it: "caller", the application alone; "user", also what the user states in plain words;
    "model", also what a language model reads in them. `was` is its former name.

    Raises ConfigError, which says what is wrong and what is allowed.
    """

    name: str
    _: KW_ONLY
    type: FieldType = "text"
    many: bool = False
    description: str = ""
    examples: Sequence[str] = ()
    choices: Sequence[str] = ()
    aliases: Sequence[str] = ()
    units: Sequence[str] = ()
    set_by: SetBy = "model"
    was: str = ""

    def __post_init__(self) -> None:
        where = f"field {self.name!r}"
        for name in ("name", "was"):
            value = getattr(self, name)
            if not isinstance(value, str) or not (_is_name(value) or (name == "was" and value == "")):
                raise ConfigError(
                    f"{where}: {name} = {value!r} is no name; give at most {_LONGEST_NAME} small letters, digits and "
                    "_, such as exam_date"
                )
        for name, allowed in (("type", FieldType), ("set_by", SetBy)):
            if getattr(self, name) not in get_args(allowed):
                raise ConfigError(
                    f"{where}: {name} = {getattr(self, name)!r} is not allowed; one of: {', '.join(get_args(allowed))}"
                )
        if not isinstance(self.many, bool):
            raise ConfigError(f"{where}: many = {self.many!r} is not allowed; true or false")
        if not isinstance(self.description, str) or len(self.description) > _LONGEST_DESCRIPTION:
            raise ConfigError(f"{where}: description must be a text of at most {_LONGEST_DESCRIPTION} characters")
        for name in _TEXTS:
            object.__setattr__(self, name, listed(getattr(self, name), f"{where}: {name}"))
        self._check_lists(where)

    def _check_lists(self, where: str) -> None:
        if bool(self.choices) != (self.type == "choice"):
            advice = "give the list of choices" if self.type == "choice" else "type = 'choice' alone has choices"
            raise ConfigError(f"{where}: type = {self.type!r}, choices = {list(self.choices)}; {advice}")
        for name in _TEXTS:
            folded = [fold(one) for one in getattr(self, name)]
            if twice := [one for one in folded if folded.count(one) > 1]:
                raise ConfigError(f"{where}: {name} has {twice[0]!r} twice; leave one out")
        if self.units and self.type != "number":
            raise ConfigError(f"{where}: units belong to type = 'number', not {self.type!r}")
        if self.was == self.name:
            raise ConfigError(f"{where}: was = {self.was!r} is its name; give the former one, or leave it out")
        for place, example in enumerate(self.examples):
            try:
                self.value(example)
            except ValueError as error:
                raise ConfigError(f"{where}: examples[{place}] = {example!r} {error}") from error

    @property
    def label(self) -> str:
        """Its name in words: "exam date"."""
        return self.name.replace("_", " ")

    @property
    def single(self) -> bool:
        """Whether it holds one value at a time, which stands in the profile."""
        return not self.many

    @property
    def allowed(self) -> str:
        """What values it takes, in words."""
        match self.type:
            case "number":
                return f"a number, alone or with one of: {', '.join(self.units)}" if self.units else "a number"
            case "date":
                return "a date such as 2026-03-12"
            case "boolean":
                return f"{_YES} or {_NO}"
            case "choice":
                return f"one of: {', '.join(self.choices)}"
            case "text":
                return f"a text of at most {_LONGEST_VALUE} characters"

    def value(self, given: object) -> str:
        """A value in its written form. Raises ValueError, which says what is allowed."""
        read = self._read(given)
        if read is None:
            raise ValueError(f"is not allowed; {self.allowed}")
        return read

    def fits(self, text: str) -> str | None:
        """The written form of a text; None if it is no value of this field."""
        return self._read(text)

    def _read(self, given: object) -> str | None:
        if isinstance(given, bool):
            return (_YES if given else _NO) if self.type == "boolean" else None
        if self.type == "date":
            return _date(given)
        if self.type == "number":
            return self._number(given)
        if not isinstance(given, str):
            return None
        text = " ".join(given.split())
        if self.type == "boolean":
            return _TRUTH.get(fold(text))
        if self.type == "choice":
            return next((one for one in self.choices if fold(one) == fold(text)), None)
        known = next((one for one in self.examples if fold(one) == fold(text)), text)
        return known if 0 < len(known) <= _LONGEST_VALUE and known.isprintable() else None

    def _number(self, given: object) -> str | None:
        if isinstance(given, (int, float)):
            return _plain_number(f"{given:.9f}") if abs(given) < _MOST_NUMBER else None
        text = " ".join(given.split()) if isinstance(given, str) else ""
        found = _NUMBER.search(text)
        if found is None:
            return None
        before, after = fold(text[: found.start()].strip()), fold(text[found.end() :].strip())
        unit = next((one for one in self.units if (before, after) in ((fold(one), ""), ("", fold(one)))), None)
        if (before or after) and unit is None:
            return None
        number = _plain_number(found["number"].replace(",", ""))
        return number if unit is None else f"{number} {unit}"


def fields_from_table(table: object, origin: str, line_of: Callable[[str], str] = lambda name: "") -> tuple[Field, ...]:
    """The fields of a table of tables by name. `line_of` says where the table of a name begins. Raises ConfigError."""
    if not isinstance(table, Mapping):
        raise ConfigError(f"fields (from {origin}) must be a table of fields, such as [level] with type = 'text'")
    known = [part.name for part in parts_of(Field) if part.name != "name"]
    made = []
    for name, entries in table.items():
        where = f"{origin}{line_of(str(name))}"
        if not isinstance(entries, Mapping):
            raise ConfigError(f"{where}: {name} = {entries!r} is no table; write [{name}] and its entries below")
        for key in entries:
            if key not in known:
                near = get_close_matches(str(key), known, 1)
                meant = f"; did you mean {near[0]}?" if near else ""
                raise ConfigError(f"{where}: field {name!r} has no entry {key!r}{meant} allowed: {', '.join(known)}")
        try:
            made.append(Field(name=name, **entries))
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from error
    return tuple(made)


def fields_from_file(path: Path) -> tuple[Field, ...]:
    """The fields of a TOML file with a table for each, `[level]`. Raises ConfigError with the file and the line."""
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"cannot read the file of fields {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the file of fields {path} is not valid TOML: {error}") from error
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise ConfigError(f"{str(path)!r} is not the name of a file: {error}") from error
    return fields_from_table(table, f"file {path}", line_finder(text))


def line_finder(text: str, within: str = "") -> Callable[[str], str]:
    """Where in a TOML text the table of a field begins: ", line 12"; "" where it is written in another way."""
    heads = {line.replace(" ", ""): place for place, line in enumerate(text.splitlines(), 1) if line.startswith("[")}

    def line_of(name: str) -> str:
        place = next((at for head, at in heads.items() if head.startswith(f"[{within}{name}]")), None)
        return "" if place is None else f", line {place}"

    return line_of


def fields_as_json(own: Sequence[Field]) -> str:
    """Fields as a store remembers them, without their former names: by then their values have moved."""
    import json

    told = [{part.name: getattr(one, part.name) for part in parts_of(Field) if part.name != "was"} for one in own]
    return json.dumps(told, ensure_ascii=False, sort_keys=True)


def fields_from_json(text: str) -> tuple[Field, ...]:
    """The fields that `fields_as_json` wrote. Raises ConfigError for what this version cannot use."""
    import json

    try:
        return tuple(Field(**one) for one in json.loads(text))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"the fields that the store remembers cannot be used: {error}") from error


def listed(given: Any, where: str) -> tuple[str, ...]:
    """A list of texts, none empty. Raises ConfigError."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ConfigError(f"{where} = {given!r} must be a list of texts")
    if len(given) > _MOST:
        raise ConfigError(f"{where} has {len(given)} entries; at most {_MOST}")
    for place, one in enumerate(given):
        if not isinstance(one, str) or not one.strip() or len(one) > _LONGEST_DESCRIPTION:
            raise ConfigError(f"{where}[{place}] = {one!r} must be a text of 1 to {_LONGEST_DESCRIPTION} characters")
    return tuple(" ".join(one.split()) for one in given)


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None


def _date(given: object) -> str | None:
    if isinstance(given, datetime):
        return given.date().isoformat()
    if isinstance(given, date):
        return given.isoformat()
    try:
        return date.fromisoformat(given.strip()).isoformat() if isinstance(given, str) else None
    except ValueError:
        return None


def _plain_number(text: str) -> str:
    """Without zeros that say nothing."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text.removeprefix("+"))
    whole, _, part = digits.partition(".")
    whole, part = whole.lstrip("0") or "0", part.rstrip("0")
    return (sign if (whole, part) != ("0", "") else "") + (f"{whole}.{part}" if part else whole)
