"""Runs the server of `embermem mcp`: over stdio for the client that started it, or over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, TextIO

import anyio
from mcp.server.stdio import stdio_server

from embermem.cli import logs
from embermem.core.errors import ConfigError
from embermem.mcp.server import make_server

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from embermem.cli.session import Session


def over_stdio(session: Session, wire: int, shares: Sequence[str] = (), person_from: str | None = None) -> None:
    """Serve the owner of the session to whoever started this process, until they close stdin.

    `wire` is where the protocol is written; see `take_stdout`.
    """
    _log()
    with session.for_writing(background=True) as memory:
        memory.wake()
        server = make_server(memory, session.user, session.agent, shares=shares, person_from=person_from)
        with open(wire, "w", encoding="utf-8", newline="", closefd=False) as out:
            anyio.run(_speak, server, out)


async def _speak(server: MCPServer[Any], out: TextIO) -> None:
    # The SDK's own way would put the real stdout back for a moment, before it begins and after it has ended.
    speaking = server._lowlevel_server
    async with stdio_server(stdout=anyio.wrap_file(out)) as (incoming, outgoing):
        await speaking.run(incoming, outgoing, speaking.create_initialization_options())


def over_http(
    session: Session, *, host: str, port: int, path: str, require_keys: bool, told: Callable[[str], None]
) -> None:
    """Serve at a path of a host and port until SIGINT or SIGTERM; `told` is told the address, with the port it got.

    Without a key only this machine is served, and whoever names no owner is the session's. Raises ConfigError where
    that host and port cannot be had, and where keys are required and the store has none.
    """
    from embermem.cli import serve

    serve.check_packages()
    from embermem.http.mcp import create_app

    if not path.startswith("/") or path != path.strip() or "{" in path:
        raise ConfigError(f"--path {path!r} is not a path; give one such as /mcp")
    _log()
    require_keys = require_keys or serve.must_have_keys(host)
    with closing(serve.bound(host, port)) as listening, session.for_writing(background=True) as memory:
        if require_keys:
            serve.check_keys(memory, host)
        app = create_app(
            memory, path=path, require_keys=require_keys, hosts=(host,), user=session.user, agent=session.agent
        )
        told(f"Ember serves {serve.url_of(host, listening)}{path}")
        serve.until_stopped(app, memory, listening)


def _log() -> None:
    # Before the SDK sets up its own, which draws frames for a terminal.
    logs.configure(logs.Format.TEXT, logs.Level.WARNING)
