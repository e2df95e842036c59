"""Commands that other distributions add to `embermem`, by an entry point in the group `embermem.commands`.

    [project.entry-points."embermem.commands"]
    bench = "embermem_bench.commands.main:app"

The entry point names a `typer.Typer`. It is imported when its command is called; `--help` shows the distribution's
summary. A command of Ember takes precedence over one of the same name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
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
"""The messages for known commands that are not installed."""


class PlugIn(TyperCommand):
    """A command of the distribution with this folder of metadata. An error at its import becomes a ConfigError."""

    def __init__(self, name: str, info: Path) -> None:
        about = (info / "METADATA").read_text(encoding="utf-8", errors="replace").splitlines()
        super().__init__(name, help=next((line[9:] for line in about if line.startswith("Summary: ")), ""))
        self._info = info

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself. Raises ConfigError."""
        return self._loaded().make_context(info_name, args, parent=parent, **extra)

    def _loaded(self) -> Any:
        from importlib.metadata import Distribution

        whose, name = Distribution.at(self._info), str(self.name)
        (entry,) = whose.entry_points.select(group=GROUP, name=name)
        try:
            app = entry.load()
        except Exception as error:
            raise ConfigError(
                f"`embermem {name}` of {whose.name} cannot be loaded: {type(error).__name__}: {error}; "
                "install the version that belongs to this embermem, or uninstall it"
            ) from error
        if not isinstance(app, typer.Typer):
            raise ConfigError(f"`embermem {name}` of {whose.name} is not a typer.Typer: {entry.value}")
        host = typer.Typer(add_completion=False)
        host.add_typer(app, name=name)
        return get_group(host).commands[name]


class Missing(TyperCommand):
    """A known command that is not installed."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Raises ConfigError."""
        raise ConfigError(NOT_HERE[str(self.name)])


def command(name: str) -> TyperCommand | None:
    """The command of that name, not yet imported; None if it is unknown."""
    if (info := added().get(name)) is not None:
        return PlugIn(name, info)
    return Missing(name) if name in NOT_HERE else None


def added() -> Mapping[str, Path]:
    """The commands that installed distributions add, each with the folder of its distribution's metadata.

    This function reads the folders itself, because importing importlib.metadata would make `--help` 5 % slower.
    """
    found: dict[str, Path] = {}
    for info in _infos():
        try:
            points = (info / "entry_points.txt").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if f"[{GROUP}]" in points and (info / "METADATA").is_file():  # else it is half uninstalled
            for name in _names(points):
                found.setdefault(name, info)
    return found


def _infos() -> Iterator[Path]:
    """The folders of metadata on the import path, in its order."""
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as there:
                infos = sorted(entry.path for entry in there if entry.name.endswith(".dist-info"))
        except OSError:
            continue
        yield from map(Path, infos)


def _names(points: str) -> Iterator[str]:
    """The names in our section of an `entry_points.txt`."""
    _, _, after = points.partition(f"[{GROUP}]")
    for line in after.partition("\n[")[0].splitlines():
        name, found, _ = line.partition("=")
        if found:
            yield name.strip()
