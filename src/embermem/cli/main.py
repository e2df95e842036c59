"""`embermem`: parse, call, show. Data go to stdout, diagnostics to stderr.

Exit codes: 0 well; 1 an error, told in one line; 2 wrong usage; 130 Ctrl-C; 141 whoever read the output left.
Heavy modules are imported by the command that needs them, so that `--help` is quick.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from embermem.cli.session import Session
from embermem.core.errors import EmberError

INTERRUPTED, BROKEN_PIPE = 130, 141
_COLLECTED = (50_000, 20, 100)
"""When the garbage of cycles is collected (`gc.set_threshold`): modules and tables make many objects that stay, and
with Python's own numbers a command from cold looks through them again and again."""

_HOMES = {
    "demo": "showing.demo",
    "add": "adding.add",
    "ingest": "adding.ingest",
    "chat": "showing.chat",
    "recall": "showing.recall",
    "overview": "showing.overview",
    "show": "showing.show",
    "stats": "showing.stats",
    "settle": "adding.settle",
    "analyse": "adding.analyse",
    "worker": "upkeep.worker",
    "reindex": "upkeep.reindex",
    "rebuild": "upkeep.rebuild",
    "undo": "correcting.undo",
    "correct": "correcting.correct",
    "pin": "correcting.pin",
    "retire": "correcting.retire",
    "forget": "correcting.forget",
    "get": "items.get",
    "items": "items.items",
    "edits": "items.edits",
    "update": "items.update",
    "why": "past.why",
    "diff": "past.diff",
    "conflicts": "past.conflicts",
    "learn": "past.learn",
    "instructions": "instructions.instructions",
    "fields": "fields.fields",
    "fade": "past.fade",
    "expire": "past.expire",
    "verify": "past.verify",
    "cost": "showing.cost",
    "doctor": "upkeep.doctor",
    "model": "upkeep.model",
    "serve": "serving.serve",
    "mcp": "serving.mcp",
    "backup": "backups.backup",
    "restore": "backups.restore",
    "copy": "moving.copy",
    "export": "moving.export",
    "migrate": "moving.migrate",
    "schema": "moving.schema",
    "import": "importing.import_files",
    "people": "people.app",
    "document": "documents.app",
    "keys": "keys.app",
    "webhooks": "webhooks.app",
    "space": "spaces.app",
}
"""The commands in the order of `--help`, and where each is, below embermem.cli.commands."""


class _Commands(TyperGroup):
    """Our commands and those of plug-ins; the module of a command is imported when the command is asked for. Turns our
    errors into one red line and an exit code; no traceback reaches the user."""

    def list_commands(self, ctx: Any) -> list[str]:
        from embermem.cli import plugins

        return [*_HOMES, *(name for name in sorted(plugins.added()) if name not in _HOMES)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _HOMES:
            from embermem.cli import plugins

            found = plugins.command(cmd_name)
            if found is None:  # what is like it is suggested, of all that are here
                self.commands = {name: self.get_command(ctx, name) for name in _HOMES}
            return found
        if cmd_name not in self.commands:
            self.commands[cmd_name] = _made(cmd_name)
        return self.commands[cmd_name]

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            _drop_stdout()
            raise typer.Exit(BROKEN_PIPE) from error
        except KeyboardInterrupt as error:
            from embermem.cli.commands.common import say

            say("stopped")
            raise typer.Exit(INTERRUPTED) from error
        except (EmberError, OSError) as error:
            from embermem.reports import render

            render.error(str(error))
            raise typer.Exit(1) from error
        return result


_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
    help="Memory for AI agents: three tiers, one file, no model needed.",
)


def _made(name: str) -> Any:
    module, _, part = _HOMES[name].partition(".")
    found = getattr(import_module(f"embermem.cli.commands.{module}"), part)
    host = typer.Typer(add_completion=False, context_settings=_SETTINGS)
    if isinstance(found, typer.Typer):
        host.add_typer(found, name=name)
    else:
        host.command(name)(found)
    return get_group(host).commands[name]


def main(argv: Sequence[str] | None = None) -> None:
    """The console entry point. Ends the process with an exit code."""
    gc.set_threshold(*_COLLECTED)
    try:
        app(args=argv, prog_name="embermem")
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


@app.callback()
def _globals(
    ctx: typer.Context,
    store: Annotated[
        str, typer.Option(envvar="EMBERMEM_STORE", metavar="PATH", help="The store's file (or URL).")
    ] = "~/.embermem/memory.db",
    user: Annotated[str, typer.Option(envvar="EMBERMEM_USER", help="The user.")] = "default",
    agent: Annotated[str, typer.Option(envvar="EMBERMEM_AGENT", help="The agent.")] = "default",
    space: Annotated[
        str | None, typer.Option(metavar="NAME", help="A shared space's memory, in place of a user's.")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="`default`, or `paper` for the exact steps of the paper.")] = None,
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=lambda on: _version(on))] = False,
) -> None:
    ctx.obj = Session(store=store, user=user, agent=agent, space=space, preset=preset)


def _version(on: bool) -> None:
    if on:
        from embermem import __version__

        typer.echo(f"embermem {__version__}")
        raise typer.Exit


def _drop_stdout() -> None:
    """Nobody reads on: what is left to flush at the end goes nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


if __name__ == "__main__":
    main()
