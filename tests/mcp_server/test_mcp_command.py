"""`embermem mcp` as a command: settings for clients, wrong usage, and the server over HTTP as a process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from mcp_talk import environment, over_http, told
from typer.testing import CliRunner

from embermem.cli.main import app
from embermem.cli.mcp_clients import CLIENTS, Started
from forked import ember


def run(*arguments: str) -> tuple[int, str, str]:
    """One command, in this process."""
    done = CliRunner().invoke(app, list(arguments), env={key: environment().get(key) for key in ("EMBERMEM_EMBEDDER",)})
    return done.exit_code, done.stdout, done.stderr


def test_each_client_is_given_settings_that_start_this_embermem_on_this_store_and_without_a_name_all_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run("--store", str(tmp_path / "m.db"), "mcp", "--print-config")
    assert code == 0
    assert re.findall(r"^# ([a-z-]+):", out, re.MULTILINE) == [one.name for one in CLIENTS]
    assert list(tmp_path.iterdir()) == []

    monkeypatch.chdir(tmp_path)
    _, out, _ = run("--store", "m.db", "mcp", "--print-config", "cursor")
    assert str(tmp_path / "m.db") in json.loads(out)["mcpServers"]["ember"]["args"]

    for client in [one.name for one in CLIENTS]:
        store, user = tmp_path / "a folder" / "m.db", 'Zoë "the first"'
        code, out, err = run("--store", str(store), "--user", user, "mcp", "--print-config", client)
        assert code == 0, client
        assert "for " in err, client
        if client == "claude-code":
            started = shlex.split(out)[shlex.split(out).index("--") + 1 :]
        else:
            made = tomllib.loads(out) if client == "codex" else json.loads(out)
            (servers,) = made.values()
            started = [servers["ember"]["command"], *servers["ember"]["args"]]
        assert os.access(started[0], os.X_OK), client
        assert Path(started[0]).is_absolute(), client
        assert started[-1] == "mcp", client
        assert started[started.index("--store") + 1] == str(store), client
        assert started[started.index("--user") + 1] == user, client


def test_the_settings_on_the_docs_page_are_those_that_are_printed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guides" / "mcp.md").read_text(encoding="utf-8")
    store = ("--store", "/home/alice/.embermem/memory.db")
    how = Started(
        command="/home/alice/.venv/bin/embermem", arguments=(*store, "--user", "alice", "--agent", "default", "mcp")
    )
    shown = {found[1]: found[2].strip() for found in re.finditer(r"^```\w+ ([a-z-]+)\n(.*?)^```$", page, re.M | re.S)}
    made = {one.name: one.made(how) for one in CLIENTS}
    written = {name: text for name, text in shown.items() if name in made}
    assert written == {name: made[name] for name in written}
    assert set(written.values()) == set(made.values())


def test_wrong_usage_is_told(tmp_path: Path) -> None:
    store = str(tmp_path / "m.db")
    code, _, err = run("--store", store, "mcp", "--print-config", "abacus")
    assert code == 1
    assert "cursor" in err
    assert run("--store", store, "mcp", "cursor")[0] == 2
    assert run("--store", store, "mcp", "--transport", "pigeon")[0] == 2
    code, _, err = run("--store", store, "mcp", "--transport", "http", "--path", "mcp", "--port", "0")
    assert code == 1
    assert "--path" in err
    code, _, err = run("--store", store, "mcp", "--transport", "http", "--host", "0.0.0.0", "--port", "0")
    assert code == 1
    assert "embermem keys add" in err


def test_without_the_package_it_says_how_to_install_it() -> None:
    code = "import sys; sys.modules['mcp'] = None; from embermem.cli.main import main; main(['mcp'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "pip install 'embermem[server]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_over_http_the_address_is_told_and_sigterm_ends_it(tmp_path: Path) -> None:
    options = ["--user", "alice", "mcp", "--transport", "http", "--port", "0"]
    server = ember(tmp_path / "m.db", *options)
    address = re.compile(r"http://127\.0\.0\.1:\d+/mcp")
    try:
        while not (found := address.search(server.errors())):
            assert server.poll() is None, server.errors()
            time.sleep(0.02)

        async def script() -> str:
            async with over_http(found[0]) as client:
                await told(client, "add_memory", user_input="I row.")
                return str((await told(client, "memory_stats"))["user"])

        assert asyncio.run(script()) == "alice"
    finally:
        server.send_signal(signal.SIGTERM)
        out, err = server.communicate()
    assert server.returncode == 0
    assert out == ""
    assert "Traceback" not in err
