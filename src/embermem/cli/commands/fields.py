"""`fields`: the fields of one's own that a store is worked with, or those of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import JsonOption, session_of

if TYPE_CHECKING:
    from embermem.core.fields import Field


def fields(
    ctx: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="A TOML file of fields to check; default: those in use.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the fields of your own that are in use, or check a file of fields. Changes nothing."""
    from embermem.core import config
    from embermem.reports import render

    session = session_of(ctx)
    if file is not None:
        own = config.load(session.preset, fields=file).attributes.own
    elif session.exists:
        with session.for_reading(read_only=True) as memory:
            own = memory.fields
    else:
        own = config.load(session.preset).attributes.own
    lines = "\n".join(_told(field) for field in own) or "no fields"
    render.answer(as_json, {"fields": own}, lines)


def _told(field: Field) -> str:
    several = "many values" if field.many else "one value"
    more = f": {field.description}" if field.description else ""
    return f"{field.name}: {field.type}, {several}, set by {field.set_by}; {field.allowed}{more}"
