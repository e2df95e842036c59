"""Settings of common clients, ready to paste: how each starts `embermem mcp` over stdio."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from embermem.cli.session import Session
from embermem.core.errors import InputError

__all__ = ["CLIENTS", "Client", "Started", "settings", "started"]

NAME = "ember"


@dataclass(frozen=True, kw_only=True, slots=True)
class Started:
    """How the server is started: a command with an absolute path, and its arguments."""

    command: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Client:
    """One client: where its settings stand, and what is to be put there."""

    name: str
    where: str
    made: Callable[[Started], str]


def settings(name: str) -> Client:
    """The client of that name. Raises InputError."""
    for client in CLIENTS:
        if client.name == name:
            return client
    raise InputError(f"no client {name!r} is known; one of: {', '.join(client.name for client in CLIENTS)}")


def started(session: Session) -> Started:
    """How a client starts the server on this store, for this user and agent, from whatever folder it runs in."""
    command, *before = _executable()
    store = session.store if session.path is None else str(session.path.absolute())
    preset = ["--preset", session.preset] if session.preset is not None else []
    owner = ["--user", session.user, "--agent", session.agent]
    return Started(command=command, arguments=(*before, "--store", store, *owner, *preset, "mcp"))


def _executable() -> Sequence[str]:
    """The script beside this interpreter, which knows its environment; the module, where there is none."""
    for name in ("embermem", "embermem.exe"):
        script = Path(sys.executable).absolute().with_name(name)
        if script.is_file():
            return (str(script),)
    return (str(Path(sys.executable).absolute()), "-m", "embermem.cli.main")


def _json(root: str, more: Mapping[str, object] | None = None) -> Callable[[Started], str]:
    def made(started: Started) -> str:
        entry = {**(more or {}), "command": started.command, "args": list(started.arguments)}
        return json.dumps({root: {NAME: entry}}, indent=2, ensure_ascii=False)

    return made


def _toml(started: Started) -> str:
    # A JSON text or list of texts is also one of TOML.
    lines = (
        f"[mcp_servers.{NAME}]",
        f"command = {json.dumps(started.command, ensure_ascii=False)}",
        f"args = {json.dumps(list(started.arguments), ensure_ascii=False)}",
    )
    return "\n".join(lines)


def _shell(*start: str) -> Callable[[Started], str]:
    return lambda started: shlex.join((*start, started.command, *started.arguments))


CLIENTS: Sequence[Client] = (
    Client(
        name="claude-desktop",
        where="claude_desktop_config.json (Settings, Developer, Edit Config)",
        made=_json("mcpServers"),
    ),
    Client(name="claude-code", where="a shell, once", made=_shell("claude", "mcp", "add", NAME, "--")),
    Client(name="cursor", where="~/.cursor/mcp.json, or .cursor/mcp.json of a project", made=_json("mcpServers")),
    Client(name="vscode", where=".vscode/mcp.json of a project", made=_json("servers", {"type": "stdio"})),
    Client(name="zed", where="settings.json", made=_json("context_servers", {"source": "custom"})),
    Client(name="windsurf", where="~/.codeium/windsurf/mcp_config.json", made=_json("mcpServers")),
    Client(name="cline", where="cline_mcp_settings.json (MCP Servers, Configure)", made=_json("mcpServers")),
    Client(name="gemini-cli", where="~/.gemini/settings.json", made=_json("mcpServers")),
    Client(name="codex", where="~/.codex/config.toml", made=_toml),
    Client(name="lm-studio", where="mcp.json (Program, Install, Edit mcp.json)", made=_json("mcpServers")),
)
"""Each is what the client's own documentation asks for."""
