"""Runs the command, here or in a process of its own, with the embedder that needs no weights."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from embermem.cli.main import app


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its stdout as JSON, whole."""
        return json.loads(self.out)


def environment(store: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours, with the store and a quick embedder."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EMBERMEM_")}
    return {**kept, "EMBERMEM_STORE": str(store), "EMBERMEM_EMBEDDER": "hashed", "PYTHONUTF8": "1", **(more or {})}


def heeds_ctrl_c() -> None:
    """Called in a child before it becomes the command: SIGINT ends it, also where the tests run as a background job,
    to which shells give children that ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def command(*arguments: str) -> list[str]:
    """The command line of `embermem` with this interpreter."""
    return [sys.executable, "-m", "embermem.cli.main", *arguments]


def run(store: Path, *arguments: str, stdin: bytes = b"", more: Mapping[str, str] | None = None) -> Ended:
    """One command to its end, in this process."""
    wanted: dict[str, str | None] = dict.fromkeys((key for key in os.environ if key.startswith("EMBERMEM_")), None)
    done = CliRunner().invoke(app, list(arguments), input=stdin, env={**wanted, **environment(store, more)})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Ended(code=done.exit_code, out=done.stdout_bytes.decode(), err=done.stderr_bytes.decode())


def run_process(store: Path, *arguments: str, stdin: bytes = b"") -> Ended:
    """One command to its end, in a process of its own."""
    done = subprocess.run(
        command(*arguments), input=stdin, capture_output=True, env=environment(store), timeout=120, check=False
    )
    return Ended(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


def write(path: Path, *lines: object) -> Path:
    """A file of JSON lines; texts are written as they are."""
    texts = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def said(store: Path, user: str = "default") -> list[str]:
    """Every text that the store holds of one user, in order, by `show`."""
    pages: list[dict[str, Any]] = []
    for tier in ("short", "pending", "mid", "archive"):
        if tier == "mid":
            for segment in run(store, "--user", user, "show", "mid", "--json").json:
                pages += run(store, "--user", user, "show", "segment", segment["id"], "--json").json["pages"]
        else:
            pages += run(store, "--user", user, "show", tier, "--json").json
    unique = {u["id"]: u for page in pages for u in page["utterances"]}
    return [u["text"] for u in sorted(unique.values(), key=lambda u: int(u["seq"]))]
