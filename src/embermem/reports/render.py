"""What goes to the terminal: clean text, tables, JSON.

Text that came from outside never styles the terminal: escape sequences and control characters are taken out,
and it enters tables as `rich.text.Text`, which reads no markup. JSON is never cut. Rich is imported where it draws: a
context is printed without it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from embermem.core.record import plain_values

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text

PIPE_WIDTH = 160
"""Columns of a table that no terminal shows."""

_ESCAPE_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?"  # OSC, DCS: titles, links
    "|\x1b[ -/]*[0-~]?"  # any other
)
# Controls but line break and tab; the marks that turn the direction of text around; lone surrogates.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_JSON_CONTROL = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SPACE = re.compile(r"\s+")


def plain(text: str) -> str:
    """The text without anything that could steer a terminal; line breaks and tabs stay."""
    return _CONTROL.sub("", _ESCAPE_SEQUENCE.sub("", text))


def cut(text: str, length: int = 100) -> str:
    """One clean line of at most `length` characters."""
    line = _SPACE.sub(" ", plain(text)).strip()
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def print_json(value: object) -> None:
    """One JSON document on stdout, whole, with nothing around it and no character that steers a terminal."""
    sys.stdout.write(_json(value, indent=2))


def print_json_line(value: object) -> None:
    """The same on one line, at once: one of several."""
    sys.stdout.write(_json(value, indent=None))
    sys.stdout.flush()


def print_text(text: str) -> None:
    """Text on stdout as it is, but for what could steer a terminal."""
    _write(plain(text) + "\n")


def answer(as_json: bool, value: object, text: str, beside: str = "") -> None:
    """Print the result of a command: the value as JSON, or the text, with a note on stderr."""
    if as_json:
        print_json(value)
        return
    print_text(text)
    if beside:
        note(beside)


def listed(as_json: bool, value: object, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print what a command lists: the value as JSON, or a table of the rows."""
    if as_json:
        print_json(value)
    else:
        table(title, columns, rows)


def note(text: str, style: str = "") -> None:
    """One line on stderr: a diagnostic, never data."""
    from rich.text import Text

    stderr().print(Text(plain(text), style=style), soft_wrap=True)


def error(text: str) -> None:
    """One clear red line on stderr."""
    note("error: " + _SPACE.sub(" ", plain(text)).strip(), style="bold red")


def stdout() -> Console:
    """The console for tables; made when needed, so that a redirected stdout is honoured."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, width=width)


def stderr() -> Console:
    """The console for diagnostics and progress."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table on stdout; long texts are to be cut by the caller."""
    import rich.box
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(title), title_justify="left", title_style="bold", box=rich.box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        made.add_column(Text(column), overflow="fold")
    count = 0
    for row in rows:
        made.add_row(*(_cell(value) for value in row))
        count += 1
    if count:
        stdout().print(made)
    else:
        stdout().print(Text(f"{title}: nothing yet"))


def records(title: str, pairs: Iterable[tuple[str, object]]) -> None:
    """Names and values on stdout, one a line."""
    from rich.text import Text

    if title:
        stdout().print(Text(title, style="bold"))
    for name, value in pairs:
        stdout().print(Text.assemble((f"  {name:<18} ", "dim"), _cell(value)), soft_wrap=True)


def when(at: datetime | None) -> str:
    """A time as a person reads it: to the minute, with its zone."""
    return "" if at is None else at.strftime("%Y-%m-%d %H:%M %Z").strip()


def size(count: float) -> str:
    """Bytes as a person reads them."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("unreachable")


def progress(unit: str = "") -> Progress:
    """A bar with the time left, on stderr; silent where stderr is no terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = stderr()
    amount = (MofNCompleteColumn(), TextColumn(unit)) if unit else (TaskProgressColumn(),)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *amount,
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


def _json(value: object, indent: int | None) -> str:
    text = json.dumps(plain_values(value), ensure_ascii=not _stdout_is_unicode(), indent=indent)
    return _JSON_CONTROL.sub(lambda m: f"\\u{ord(m.group()):04x}", text) + "\n"


def _cell(value: object) -> Text:
    from rich.text import Text

    if isinstance(value, Text):
        return value
    if value is None:
        return Text("")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, float):
        return Text(f"{value:.3f}")
    if isinstance(value, datetime):
        return Text(when(value))
    return Text(plain(str(value)))


def _stdout_is_unicode() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "").startswith("utf")


def _write(text: str) -> None:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
