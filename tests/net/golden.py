"""The golden outputs: what each is told from, where it is kept, and how two of them are compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from embermem import Memory
from net import outputs, stores
from net.life import BEGIN, SETTINGS, Clock, Opening, begin, live
from net.plain import EXACT, NEAR, assert_same, masked

GOLDEN = Path(__file__).parent / "golden"
ADVICE = "if it is meant so: `python -m net.write_golden`, in a commit of its own that says why"


def golden(name: str) -> Any:
    """What is kept under a name."""
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def written(found: Any) -> str:
    """As it is kept: a line for each value, so that a difference of two versions can be read."""
    return json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def compare(name: str, found: Any, **masks: Any) -> None:
    """Raises AssertionError that tells what differs from what is kept under a name, but for the masked keys."""
    tolerance = NEAR if "minilm" in name else EXACT
    kept, now = (masked(one, **masks) for one in (golden(name), json.loads(written(found))))
    assert_same(kept, now, tolerance, advice=ADVICE)


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
MINILM: Mapping[str, Any] = {"embedder": "minilm"}


def _read(name: str, ask: Callable[[Memory], Any], **settings: Any) -> Callable[[Path, str], Any]:
    """An answer of a frozen store."""

    def told(folder: Path, model_url: str) -> Any:
        with stores.opened(stores.thaw(name, folder), **settings) as memory:
            return ask(memory)

    return told


def _told_anew(file: Path, folder: Path, settings: Mapping[str, Any]) -> Any:
    lines = outputs.exported(file, folder)
    with stores.opened(file, **settings) as memory:
        return outputs.told_anew(memory, lines)


def _lived(folder: Path, model_url: str) -> Any:
    file = lived(folder / "lived.db", lambda opening, clock: live(opening, clock, model_url), {})
    return _told_anew(file, folder, {})


def _lived_by_the_paper(folder: Path, model_url: str) -> Any:
    return _told_anew(lived(folder / "lived.db", live, PAPER), folder, PAPER)


def _begun_by_minilm(folder: Path, model_url: str) -> Any:
    file = lived(folder / "lived.db", begin, MINILM)
    with stores.opened(file, **MINILM) as memory:
        return outputs.told_closely(memory)


def _exported(folder: Path, model_url: str) -> Any:
    return outputs.exported(stores.thaw(stores.TODAY, folder), folder)


def _cli(folder: Path, model_url: str) -> Any:
    return outputs.cli(stores.thaw(stores.TODAY, folder))


def _other_systems(folder: Path, model_url: str) -> Any:
    from embermem.testing import scripts
    from embermem.testing.model_server import ModelServer

    told = {}
    with ModelServer(scripts.answer) as server:
        for name in stores.SYSTEMS:
            system = name.removeprefix(f"{stores.TODAY}-")
            told[system] = outputs.recalled_by(system, stores.thaw(name, folder), server.url)
    return told


OUTPUTS: dict[str, Callable[[Path, str], Any]] = {
    "recalled-default": _read(stores.TODAY, outputs.recalled),
    "recalled-paper": _read(stores.TODAY, lambda memory: outputs.recalled(memory, "paper")),
    "lists": _read(stores.TODAY, outputs.read),
    "traced": _read(stores.TODAY, outputs.traced),
    "export": _exported,
    "http": _read(stores.TODAY, outputs.http),
    "mcp": _read(stores.TODAY, outputs.mcp),
    "cli": _cli,
    "systems": _other_systems,
    "lived-default": _lived,
    "lived-paper": _lived_by_the_paper,
    "minilm-default": _read(stores.MINILM, lambda memory: outputs.recalled(memory, close=True), **MINILM),
    "minilm-paper": _read(stores.MINILM, lambda memory: outputs.recalled(memory, "paper", close=True), **MINILM),
    "minilm-begun": _begun_by_minilm,
    **{f"store-{name}": _read(name, outputs.brief) for name in (*stores.SCHEMAS[:-1], stores.MIGRATED)},
}
"""By name: how it is told, in an empty folder, with the URL of a scripted model."""
