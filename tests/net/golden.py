"""The golden outputs: what each is told from, where it is kept, and how two of them are compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from embermem import Memory
from net import outputs, stores
from net.life import BEGIN, SETTINGS, Clock, Opening, begin
from net.plain import assert_same

GOLDEN = Path(__file__).parent / "golden"
ADVICE = "if it is meant so: `python -m net.write_golden`, in a commit of its own that says why"


def golden(name: str) -> Any:
    """What is kept under a name."""
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def written(found: Any) -> str:
    """As it is kept: a line for each value, so that a difference of two versions can be read."""
    return json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def compare(name: str, found: Any) -> None:
    """Raises AssertionError that tells what differs from what is kept under a name."""
    assert_same(golden(name), json.loads(written(found)), advice=ADVICE)


def lived(file: Path, lives: Callable[[Opening, Clock], None], settings: Mapping[str, Any]) -> Path:
    """A store in which lives were lived by the code of now."""
    clock = Clock(BEGIN)

    @contextmanager
    def opening(**more: Any) -> Iterator[Memory]:
        with Memory(file, clock=clock, **{**SETTINGS, **settings, **more}) as memory:
            yield memory

    lives(opening, clock)
    return file


PAPER: Mapping[str, Any] = {"preset": "paper", "batch_pages": 1, "min_new": 1}


def _read(name: str, ask: Callable[[Memory], Any], **settings: Any) -> Callable[[Path, str], Any]:
    """An answer of a frozen store."""

    def told(folder: Path, model_url: str) -> Any:
        with stores.opened(stores.thaw(name, folder), **settings) as memory:
            return ask(memory)

    return told


def _lived(settings: Mapping[str, Any]) -> Callable[[Path, str], Any]:
    """What a store says in which the first half of the lives was lived by the code of now."""

    def told(folder: Path, model_url: str) -> Any:
        file = lived(folder / "lived.db", begin, settings)
        with stores.opened(file, **settings) as memory:
            return outputs.lived(memory)

    return told


OUTPUTS: dict[str, Callable[[Path, str], Any]] = {
    "recalled-default": _read(stores.TODAY, outputs.recalled),
    "recalled-paper": _read(stores.TODAY, lambda memory: outputs.recalled(memory, "paper")),
    "lived-default": _lived({}),
    "lived-paper": _lived(PAPER),
    **{f"store-{name}": _read(name, outputs.brief) for name in (*stores.SCHEMAS[:-1], stores.MIGRATED)},
}
"""By name: how it is told, in an empty folder, with the URL of a scripted model."""
