"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from embermem.apps.session import Session

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]


def session_of(ctx: typer.Context) -> Session:
    """The global options, as the callback of the application left them."""
    session = ctx.find_object(Session)
    if session is None:
        raise RuntimeError("no session: the application's callback has not run")
    return session
