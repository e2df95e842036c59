"""Commands that other distributions add to `embermem`, by an entry point in the group `embermem.commands`.

    [project.entry-points."embermem.commands"]
    bench = "embermem_bench.commands.main:app"

The entry point names a `typer.Typer`. It is imported when its command is called; `--help` shows the distribution's
summary. A command of Ember's own comes before one of the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_group

from embermem.core.errors import ConfigError

GROUP = "embermem.commands"
NOT_HERE = {
    "bench": "`embermem bench` is in the distribution embermem-bench, which is not installed; "
    "`make install` in a clone installs it"
}
"""What is said of a command that is known and not installed."""


class PlugIn(TyperCommand):
    """A command of another distribution. What it raises at import becomes a ConfigError that names it."""

    def __init__(self, entry: EntryPoint) -> None:
        summary = None if entry.dist is None else entry.dist.metadata["Summary"]
        super().__init__(entry.name, help=summary)
        self._entry = entry

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself. Raises ConfigError."""
        return self._loaded().make_context(info_name, args, parent=parent, **extra)

    def _loaded(self) -> Any:
        name = self._entry.name
        of = "another distribution" if self._entry.dist is None else self._entry.dist.name
        try:
            app = self._entry.load()
        except Exception as error:
            raise ConfigError(
                f"`embermem {name}` of {of} cannot be loaded: {type(error).__name__}: {error}; "
                "install it anew in the version of embermem, or uninstall it"
            ) from error
        if not isinstance(app, typer.Typer):
            raise ConfigError(f"`embermem {name}` of {of} is no typer.Typer: {self._entry.value}")
        host = typer.Typer(add_completion=False)
        host.add_typer(app, name=name)
        return get_group(host).commands[name]


class Missing(TyperCommand):
    """A command that is known and not installed."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Raises ConfigError."""
        raise ConfigError(NOT_HERE[str(self.name)])


def names() -> Sequence[str]:
    """The commands that installed distributions add."""
    return sorted(entry_points(group=GROUP).names)


def command(name: str) -> TyperCommand | None:
    """The command of that name, not yet imported; None where nothing is known of it."""
    for entry in entry_points(group=GROUP, name=name):
        return PlugIn(entry)
    return Missing(name) if name in NOT_HERE else None
