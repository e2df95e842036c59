"""The commands on the page of the HTTP API run as printed, and answer what is printed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from serving import Server

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "http-api.md"


def printed() -> Iterator[tuple[str, str]]:
    """(command, answer) in order; … stands for anything."""
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        yield from re.findall(r"^\$ (curl .*)\n(.*)$", block, re.MULTILINE)


def pattern(answer: str) -> str:
    """What is printed as a pattern of what is answered, however it is spaced."""
    return ".+".join(re.escape(re.sub(r"\s", "", piece)) for piece in answer.split("…"))


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_every_curl_command_answers_what_is_printed(server: Server, http: httpx2.Client) -> None:
    commands = list(printed())
    assert len(commands) >= 8
    for command, answer in commands:
        line = command.replace("localhost:8765", server.url.removeprefix("http://"))
        done = subprocess.run(["bash", "-ec", line], capture_output=True, timeout=60, check=True)
        said = re.sub(r"\s", "", done.stdout.decode())
        assert re.fullmatch(pattern(answer), said), f"{command}\n{done.stdout.decode()}"
        if "/v1/settle" in command:
            server.memory.of("alice").settle()


def test_the_table_names_every_route_of_ours(http: httpx2.Client) -> None:
    told = PAGE.read_text(encoding="utf-8")
    paths = [path for path in http.get("/openapi.json").json()["paths"] if path.startswith("/v1/")]
    for path in paths:
        if re.match(r"/v1/(events|chat|models)", path):
            continue
        end = re.sub(r"\{item_id\}", "{id}", re.sub(r"\{change_no\}", "{no}", path))
        assert end in told or re.sub(r".*/", "/", end) in told, path
