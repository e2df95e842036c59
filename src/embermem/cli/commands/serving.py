"""`serve` and `mcp`: the memory for other programs."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import PersonFromOption, ShareOption, say, session_of
from embermem.core.errors import ConfigError

if TYPE_CHECKING:
    from embermem.cli.session import Session


def serve(
    ctx: typer.Context,
    host: Annotated[
        str, typer.Option(help="The address to listen on; beyond loopback, keys are required.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free port.")] = 8765,
    require_keys: Annotated[bool, typer.Option("--require-keys", help="Require keys on loopback too.")] = False,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="No background processing; other workers do it.")
    ] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Serve reads only, for example from a replica.")
    ] = False,
    log_format: Annotated[str, typer.Option(help="text or json.")] = "text",
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Serve the memory over HTTP: API, proxy for clients of models, inspector. Ends on Ctrl-C or SIGTERM."""
    from embermem.cli import logs
    from embermem.cli import serve as serving

    for name, given, kind in (("--log-format", log_format, logs.Format), ("--log-level", log_level, logs.Level)):
        if given not in tuple(kind):
            raise typer.BadParameter(f"{name} {given!r}; allowed: {', '.join(kind)}")
    serving.check_packages()
    session = session_of(ctx)
    require_keys = require_keys or serving.must_have_keys(host)
    with (
        closing(serving.bound(host, port)) as listening,
        session.for_reading(read_only=True) if read_only else session.for_writing(background=not no_worker) as memory,
    ):
        if require_keys:
            serving.check_keys(memory, host)
        logs.configure(logs.Format(log_format), logs.Level(log_level))
        told = say if log_format == logs.Format.TEXT else serving.logger.info
        serving.run(memory, listening, host=host, require_keys=require_keys, told=told)


def mcp(
    ctx: typer.Context,
    client: Annotated[
        str | None, typer.Argument(metavar="[CLIENT]", help="With --print-config: cursor, zed, …; default: all.")
    ] = None,
    print_config: Annotated[bool, typer.Option("--print-config", help="Print a client's settings and exit.")] = False,
    transport: Annotated[str, typer.Option(help="stdio, or http.")] = "stdio",
    host: Annotated[str, typer.Option(help="With http. Other machines need a key.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="With http; 0 takes a free port.")] = 8766,
    path: Annotated[str, typer.Option(help="With http.")] = "/mcp",
    require_keys: Annotated[
        bool, typer.Option("--require-keys", help="With http: require a key on this machine too.")
    ] = False,
    share: ShareOption = None,
    person_from: PersonFromOption = None,
) -> None:
    """Serve this user's memory to an agent over the Model Context Protocol."""
    if client is not None and not print_config:
        raise typer.BadParameter("a CLIENT requires --print-config")
    if transport not in ("stdio", "http"):
        raise typer.BadParameter(f"--transport {transport!r}; allowed: stdio, http")
    session = session_of(ctx)
    if print_config:
        _print_config(session, client)
        return
    if transport == "http" and (share or person_from is not None):
        raise typer.BadParameter("with http, requests name them: X-Ember-Shares and X-Ember-Person-From")
    from embermem.mcp.wire import take_stdout

    wire = take_stdout() if transport == "stdio" else None
    try:
        from embermem.cli import mcp_server
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"`embermem mcp` needs the package {error.name}: pip install 'embermem[server]' (in a clone: make server)"
        ) from error
    if wire is not None:
        mcp_server.over_stdio(session, wire, share or (), person_from)
    else:
        mcp_server.over_http(session, host=host, port=port, path=path, require_keys=require_keys, told=say)


def _print_config(session: Session, client: str | None) -> None:
    from embermem.cli import mcp_clients
    from embermem.reports import render

    how = mcp_clients.started(session)
    if client is not None:
        named = mcp_clients.settings(client)
        render.note(f"for {named.where}")
        render.print_text(named.made(how))
        return
    render.print_text("\n\n".join(f"# {one.name}: {one.where}\n{one.made(how)}" for one in mcp_clients.CLIENTS))
