"""The way of a newcomer, as the README prints it: a server, a first memory, a look at it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from embermem_bench.load import free_port

ROOT = Path(__file__).parents[2]


def printed() -> list[tuple[str, str]]:
    """(command, what it prints) of the README's section on the service; … stands for anything."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## As a service")[1]
    block = re.search(r"^```console[^\n]*\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert block is not None
    return [(command, answer) for command, answer in re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", block[1], re.MULTILINE)]


def assert_printed(expected: str, got: str) -> None:
    pattern = ".+".join(re.escape(piece) for piece in expected.strip().split("…"))
    assert re.fullmatch(pattern, got.strip(), re.DOTALL), got


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_newcomer_s_commands_do_what_is_printed(tmp_path: Path) -> None:
    steps = printed()
    assert len(steps) <= 5
    (make, _), (serve, said), *curls, (look, _) = steps
    assert subprocess.run([*make.split(), "-n"], cwd=ROOT, capture_output=True, timeout=60).returncode == 0
    port = str(free_port())
    command = serve.removesuffix(" &").split()
    assert command[0] == ".venv/bin/embermem"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EMBERMEM_")}
    server = subprocess.Popen(
        [sys.executable, "-m", "embermem.cli.main", *command[1:], "--port", port],
        cwd=tmp_path,
        env=kept,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        assert_printed(said.replace("8765", port), server.stderr.readline())
        for line, answer in curls:
            done = subprocess.run(
                [
                    "bash",
                    "-ec",
                    line.replace("8765", port).replace("curl -s", "curl -s --retry 20 --retry-connrefused"),
                ],
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
            assert_printed(answer, done.stdout)
        address = re.search(r"'(http[^']+)'", look)
        assert address is not None
        with urllib.request.urlopen(address[1].replace("8765", port), timeout=30) as page:
            assert "alice" in page.read().decode()
    finally:
        server.terminate()
        server.communicate(timeout=30)
