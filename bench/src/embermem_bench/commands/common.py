"""What the commands share."""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from embermem.cli.commands.common import say

if TYPE_CHECKING:
    from embermem.core.config import Settings
    from embermem.protocols import Embedder, LanguageModel
    from embermem_bench import ProgressFn
    from embermem_bench.running import Left

JUDGE_KEY: Final = "EMBERMEM_JUDGE_KEY"
"""The environment variable with the key of the judges' model."""
PresetOption = Annotated[str | None, typer.Option("--preset", help="`default` or `paper`.")]
JudgeModelOption = Annotated[
    str | None,
    typer.Option(
        "--judge-model",
        metavar="NAME[@URL]",
        help=f"The model of the judges; default: the model that answers. Its key: {JUDGE_KEY}.",
    ),
]
Report = TypeVar("Report")
_AT_URL = re.compile(r"(.+)@(https?://.+)")


def model_of(named: str | None) -> LanguageModel | None:
    """The model that is named, or set, without a recording: the run's folder is one."""
    from embermem import bootstrap
    from embermem.core import config

    return bootstrap.make_model(None, config.load(model=named, model_cache=""))


def judge_of(text: str) -> LanguageModel | None:
    """The judges' model. Without a URL it is where the model is, and has its key unless it has its own; with one, no
    other key than its own is sent there."""
    from embermem import bootstrap
    from embermem.core import config

    own, match = os.environ.get(JUDGE_KEY, ""), _AT_URL.fullmatch(text)
    if match is not None:
        loaded = config.load(model=match[1], model_url=match[2], model_key=own or "none", model_cache="")
    else:
        loaded = config.load(model=text, model_cache="", **({"model_key": own} if own else {}))
    return bootstrap.make_model(None, loaded)


def bare_embedder(settings: Settings) -> Embedder:
    """The embedder that a new store would have, on its own."""
    from embermem import bootstrap

    return bootstrap.make_embedder(bootstrap.embedder_setting(settings), settings)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A temporary folder for a benchmark's stores, deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="embermem-bench-") as folder:
        yield Path(folder)


@contextmanager
def progress_told() -> Iterator[Any]:
    """A progress bar on stderr, one task for each phase."""
    from embermem.reports import render

    with render.progress("steps") as bar:
        task = bar.add_task("starting", total=None)
        current = ""

        def told(what: str, done: int, total: int) -> None:
            nonlocal current
            if what != current:
                bar.reset(task, description=render.cut(what, 50), total=total)
                current = what
            bar.update(task, completed=done, total=total)

        yield told


@contextmanager
def run_told() -> Iterator[tuple[ProgressFn, Callable[[Left], None]]]:
    """A bar on stderr that also says what is left; without a terminal a line after each conversation."""
    from embermem.reports import render

    with render.progress("steps") as bar:
        task = bar.add_task("starting", total=None)
        current = ahead = ""

        def told(what: str, done: int, total: int) -> None:
            nonlocal current
            if what != current:
                bar.reset(task, description=render.cut(what, 60) + ahead, total=total)
                current = what
            bar.update(task, completed=done, total=total)

        def left(one: Left) -> None:
            nonlocal ahead
            ahead = f" · all of it: {_left_of(one)}"
            if bar.disable:
                say(f"{render.cut(current, 60)}: done; {_left_of(one)} left")

        yield told, left


def _left_of(left: Left) -> str:
    """Such as `12 min, 340 calls, 1,200,000 tokens`."""
    minutes = left.seconds / 60
    time = (
        f"{left.seconds:.0f} s" if minutes < 2 else f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
    )
    return f"about {time}, {left.calls:,} calls, {left.tokens:,} tokens"


def run_beside_progress(run: Callable[..., Report], plan: object, store: str | None, *, embedded: bool) -> Report:
    """What `run` reports of a plan, on a server that is named or started for it, with its steps beside a bar. What it
    made is taken away, also where the command is told to stop."""
    from embermem.reports import render

    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="embermem-bench-") as folder, render.progress() as bar:
        task = bar.add_task("starting", total=None)
        return run(
            Path(folder), plan, url=store, embedded=embedded, told=lambda what: bar.update(task, description=what)
        )
