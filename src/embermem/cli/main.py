"""`embermem`: parse, call, show. Data go to stdout, diagnostics to stderr.

Exit codes: 0 well; 1 an error, told in one line; 2 wrong usage; 130 Ctrl-C; 141 whoever read the output left.
Heavy modules are imported by the command that needs them, so that `--help` is quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from embermem.cli.commands import (
    adding,
    backups,
    cases,
    correcting,
    documents,
    fields,
    importing,
    instructions,
    items,
    keys,
    moving,
    past,
    people,
    serving,
    showing,
    spaces,
    upkeep,
    webhooks,
)
from embermem.cli.commands.common import say
from embermem.cli.session import Session
from embermem.core.errors import EmberError

INTERRUPTED, BROKEN_PIPE = 130, 141


class _Commands(TyperGroup):
    """Our commands and those of plug-ins. Turns our errors into one red line and an exit code; no traceback reaches
    the user."""

    def list_commands(self, ctx: Any) -> list[str]:
        from embermem.cli import plugins

        ours = super().list_commands(ctx)
        return [*ours, *(name for name in sorted(plugins.added()) if name not in ours)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        ours = super().get_command(ctx, cmd_name)
        if ours is not None:
            return ours
        from embermem.cli import plugins

        return plugins.command(cmd_name)

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            _drop_stdout()
            raise typer.Exit(BROKEN_PIPE) from error
        except KeyboardInterrupt as error:
            say("stopped")
            raise typer.Exit(INTERRUPTED) from error
        except (EmberError, OSError) as error:
            from embermem.reports import render

            render.error(str(error))
            raise typer.Exit(1) from error
        return result


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Memory for AI agents: three tiers, one file, no model needed.",
)
for command in (
    showing.demo,
    adding.add,
    adding.ingest,
    showing.chat,
    showing.recall,
    showing.overview,
    showing.show,
    showing.stats,
    adding.settle,
    upkeep.worker,
    upkeep.reindex,
    upkeep.rebuild,
    correcting.undo,
    correcting.correct,
    correcting.pin,
    correcting.retire,
    correcting.forget,
    items.get,
    items.items,
    items.edits,
    items.update,
    past.why,
    past.diff,
    past.conflicts,
    past.links,
    past.learn,
    instructions.instructions,
    fields.fields,
    past.fade,
    past.expire,
    past.verify,
    showing.cost,
    upkeep.doctor,
    upkeep.model,
    serving.serve,
    serving.mcp,
    backups.backup,
    backups.restore,
    moving.copy,
    moving.export,
    moving.migrate,
    moving.schema,
):
    app.command()(command)
app.command("import")(importing.import_files)
app.add_typer(people.app, name="people")
app.add_typer(documents.app, name="document")
app.add_typer(cases.app, name="cases")
app.add_typer(keys.app, name="keys")
app.add_typer(webhooks.app, name="webhooks")
app.add_typer(spaces.app, name="space")


def main(argv: Sequence[str] | None = None) -> None:
    """The console entry point. Ends the process with an exit code."""
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
