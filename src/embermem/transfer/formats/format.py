"""What a format of files is, and what the caller says of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from embermem.transfer.files import Files
from embermem.transfer.items import Found


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What the caller says of a file.

    `me` is the name of the user in a talk of several people; `columns` says which column or key is what
    ({"text": "body"}); `dates` is the order of day, month and year (`dmy`, `mdy`, `ymd`); with `branches`, answers that
    were replaced come in as threads of their own; `longest` are the characters that a text may have.
    """

    me: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    dates: str | None = None
    branches: bool = False
    longest: int = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """One format of files: its name for `--format`, what it is, whether files are of it, and how they are read.

    `people`: a talk between people, in which the user has to be named. `ordered`: the messages of a thread come in the
    order in which they were said; otherwise their times give the order. `read` raises InputError for files that cannot
    be read any further, with the place.
    """

    name: str
    title: str
    sniff: Callable[[Files], bool]
    read: Callable[[Files, Options], Iterator[Found]]
    people: bool = False
    ordered: bool = True
