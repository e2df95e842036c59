"""Runs the command, here or in a process of its own, with the embedder that needs no weights."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer.main
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


@cache
def built() -> Any:
    """All commands of `embermem`, made once: making them takes longer than most of them take."""
    return typer.main.get_command(app)


def run(store: Path, *arguments: str, stdin: bytes = b"", more: Mapping[str, str] | None = None) -> Ended:
    """One command to its end, in this process."""
    wanted: dict[str, str | None] = dict.fromkeys((key for key in os.environ if key.startswith("EMBERMEM_")), None)
    with CliRunner().isolation(stdin, env={**wanted, **environment(store, more)}) as (out, err, _):
        try:
            built().main(args=list(arguments), prog_name="embermem")
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
        return Ended(code=code, out=out.getvalue().decode(), err=err.getvalue().decode())


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
