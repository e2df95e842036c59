"""`embermem bench past`: what a look back costs against the same read of now, and what forgetting and undoing cost.

A store of made-up talk with facts is filled by a clock that goes an hour a page. Each read is asked in turn: now, at
a moment of its own, at one moment that all of them share. So all three see the same load of the machine.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, exc, text

from embermem_bench import ProgressFn
from embermem_bench.metrics import percentile
from embermem_bench.synthetic import Exchange, exchanges, queries

if TYPE_CHECKING:
    from embermem.core.types import FactId
    from embermem.memory import Memory, OwnerMemory

EMBEDDER = "hashed"
"""What is measured is no embedder's work."""
SETTLED_AT_ONCE = 50
"""Pages told between two looks of the analyst: the clock goes on as far."""
SHARES = {"recall": 1.0, "facts": 0.5, "persona": 0.5, "segments": 0.25, "pages": 0.125}
"""How often each read is timed, in shares of the samples: a list of thousands of pages takes long."""
LOGS = {"utterances": "utterance", "changes": "change"}
"""Tables whose bytes a page are told."""
FORGOTTEN = 12
"""Pages forgotten, changes undone, and items explained, one after another."""

_BEGUN = datetime(2024, 1, 1, 9, tzinfo=UTC)
_HOUR = timedelta(hours=1)
_FACT_EVERY = 3
"""Of so many pages one tells a fact."""
_TOLD = (
    "I live in {place}.",
    "I like {kind} {thing}.",
    "I work as a {job}.",
    "My sister Ana works in {place}.",
    "I am learning {kind} {thing}.",
)
_FILLED = {
    "place": "Oban Lund Graz Porto Ghent Turku Brno Cork Split Bergen Leiden Arles Tartu Siena Bath Trier".split(),
    "kind": "red small northern quiet old early Dutch winter paper heavy silver open slow tall".split(),
    "thing": "figs chess rowing jazz maps cheese tennis plums tango oysters falconry quilts".split(),
    "job": "baker nurse welder surveyor florist tailor porter roofer".split(),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """Medians in milliseconds of one read: of now, at random moments, at one moment asked again; and of what was true
    at a random time. The ratios are those to the read of now."""

    name: str
    samples: int
    now_ms: float
    as_of_ms: float
    again_ms: float
    valid_at_ms: float
    as_of_ratio: float
    again_ratio: float
    valid_at_ratio: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PastReport:
    """Medians in milliseconds, and sizes in bytes. `first_as_of_ms` is the first look back of a process, which reads
    the state and where pages were; `resident_bytes` what is held in memory without and with that. `forget_ms` is one
    page, until the change is stored; `scrub_ms` is the file after it. `table_bytes_a_page` is empty where SQLite cannot
    tell."""

    pages: int
    utterances: int
    changes: int
    facts: int
    past_facts: int
    segments: int
    preset: str
    seed: int
    fill_s: float
    reads: tuple[Read, ...]
    first_as_of_ms: float
    why_ms: float
    undo_ms: float
    forget_ms: float
    scrub_ms: float
    file_bytes: int
    bytes_a_page: float
    table_bytes_a_page: dict[str, float]
    resident_bytes: tuple[int, int]


def run(
    folder: Path,
    *,
    pages: int = 5000,
    samples: int = 40,
    seed: int = 0,
    preset: str | None = None,
    told: ProgressFn = lambda what, done, total: None,
    **settings: Any,
) -> PastReport:
    """Fills a store in `folder` and measures."""
    from embermem.memory import Memory

    place, clock = folder / "past.db", _Clock()
    own = {"embedder": EMBEDDER, "background": False, **settings}
    began = time.monotonic()
    with Memory(place, preset=preset, clock=clock, **own) as memory:
        _fill(memory.of("past", agent="bench"), clock, pages, seed, told)
    fill_s = time.monotonic() - began
    sizes = _sizes(place)
    with Memory(place, preset=preset, clock=clock, **own) as memory:
        owner = memory.of("past", agent="bench")
        stats, rng = owner.stats(), random.Random(seed)
        asked = queries(seed, samples + 1)
        owner.recall(asked[0])
        plain_bytes = memory.resident_bytes
        first = _timed(lambda: owner.recall(asked[0], as_of=clock.at(0.5)))
        told("looking back", 0, len(SHARES))
        reads = _reads(owner, clock, asked[1:], samples, rng, lambda done: told("looking back", done, len(SHARES)))
        both_bytes = memory.resident_bytes
        told("undoing and forgetting", 0, 1)
        past_facts = len(owner.past_facts())
        why_ms = _why(owner)
        undo_ms = _undo(owner, clock)
        forget_ms, scrub_ms = _forget(memory, owner, rng)
        return PastReport(
            pages=stats.pages,
            utterances=stats.utterances,
            changes=stats.changes,
            facts=stats.facts + stats.agent_facts + stats.archived_facts,
            past_facts=past_facts,
            segments=stats.segments + stats.archived_segments,
            preset=memory.settings.preset,
            seed=seed,
            fill_s=round(fill_s, 1),
            reads=reads,
            first_as_of_ms=round(first, 1),
            why_ms=why_ms,
            undo_ms=undo_ms,
            forget_ms=forget_ms,
            scrub_ms=scrub_ms,
            file_bytes=place.stat().st_size,
            bytes_a_page=round(place.stat().st_size / pages, 1),
            table_bytes_a_page={name: round(sizes[of] / pages, 1) for name, of in LOGS.items() if of in sizes},
            resident_bytes=(plain_bytes, both_bytes),
        )


def talk(seed: int) -> Iterator[Exchange]:
    """An endless made-up talk in which every third page tells something of the user that a later one may change."""
    rng = random.Random(seed)
    for number, one in enumerate(exchanges(seed)):
        if number % _FACT_EVERY:
            yield one
        else:
            filled = {name: rng.choice(words) for name, words in _FILLED.items()}
            yield Exchange(query=f"{one.query} {rng.choice(_TOLD).format(**filled)}", response=one.response)


class _Clock:
    """Goes an hour for each page that is told; then it stands."""

    def __init__(self) -> None:
        self.now = _BEGUN

    def __call__(self) -> datetime:
        return self.now

    def at(self, share: float) -> datetime:
        """A moment between the beginning and now."""
        return _BEGUN + (self.now - _BEGUN) * share


def _fill(owner: OwnerMemory, clock: _Clock, pages: int, seed: int, told: ProgressFn) -> None:
    said = talk(seed)
    for done in range(0, pages, SETTLED_AT_ONCE):
        for number, one in enumerate(islice(said, min(SETTLED_AT_ONCE, pages - done)), done):
            clock.now += _HOUR
            owner.add(one.query, one.response, thread=f"talk-{number // 20}")
        owner.settle()
        told("filling", done, pages)


def _reads(
    owner: OwnerMemory,
    clock: _Clock,
    asked: Sequence[str],
    samples: int,
    rng: random.Random,
    told: Callable[[int], None],
) -> tuple[Read, ...]:
    calls: dict[str, Callable[..., object]] = {
        "recall": lambda i, **then: owner.recall(asked[i % len(asked)], **then),
        "facts": lambda _, **then: owner.facts(**then),
        "persona": lambda _, **then: owner.persona(**then),
        "segments": lambda _, **then: owner.segments(**then),
        "pages": lambda _, **then: owner.pages(**then),
    }
    made = []
    for done, (name, call) in enumerate(calls.items()):
        made.append(_read(name, call, clock, max(3, int(samples * SHARES[name])), rng))
        told(done + 1)
    return tuple(made)


def _read(name: str, call: Callable[..., object], clock: _Clock, samples: int, rng: random.Random) -> Read:
    """Moments lie in the last tenth, so that what is read is about as much as now."""
    spent: dict[str, list[float]] = {"now": [], "as_of": [], "again": [], "valid_at": []}
    call(0, as_of=clock.at(0.95))
    for i in range(samples):
        then = {
            "now": {},
            "as_of": {"as_of": clock.at(rng.uniform(0.9, 1.0))},
            "again": {"as_of": clock.at(0.95)},
            "valid_at": {"valid_at": clock.at(rng.uniform(0.9, 1.0))},
        }
        for way, moment in then.items():
            spent[way].append(_timed(lambda i=i, moment=moment: call(i, **moment)))  # type: ignore[misc]
    ms = {way: percentile(times, 0.5) or 0.0 for way, times in spent.items()}
    return Read(
        name=name,
        samples=samples,
        **{f"{way}_ms": round(value, 2) for way, value in ms.items()},
        **{f"{way}_ratio": round(value / ms["now"], 2) for way, value in ms.items() if way != "now"},
    )


def _why(owner: OwnerMemory) -> float:
    ids: list[FactId] = [fact.id for fact in owner.facts()[-FORGOTTEN:]]
    return _median([_timed(lambda fact_id=fact_id: owner.why(fact_id)) for fact_id in ids])  # type: ignore[misc]


def _undo(owner: OwnerMemory, clock: _Clock) -> float:
    """Corrections, each taken back at once."""
    spent = []
    for number in range(FORGOTTEN):
        clock.now += _HOUR
        facts = owner.facts()
        fact = facts[number % len(facts)]
        owner.correct(fact.id, f"{fact.text}, as it were", value=f"{fact.value}, as it were")
        corrected = owner.changes()[-1].no
        spent.append(_timed(lambda no=corrected: owner.undo(no)))  # type: ignore[misc]
    return _median(spent)


def _forget(memory: Memory, owner: OwnerMemory, rng: random.Random) -> tuple[float, float]:
    """Pages one by one: until the change is stored, and the scrub after it.

    A forgetting scrubs by itself. What a scrub takes is asked of one more, which finds nothing left to overwrite.
    """
    spent, scrubs = [], []
    for page in rng.sample(owner.pages(), FORGOTTEN):
        whole = _timed(lambda page_id=page.id: owner.forget(page=page_id))  # type: ignore[misc]
        scrubs.append(_timed(memory.scrub))
        spent.append(whole - scrubs[-1])
    return _median(spent), _median(scrubs)


def _sizes(file: Path) -> dict[str, int]:
    """Bytes of each table's rows, without its indexes; none where this SQLite was built without `dbstat`."""
    engine = create_engine(f"sqlite:///{file}")
    try:
        with engine.connect() as c:
            rows = c.execute(text("SELECT name, sum(pgsize) AS size FROM dbstat GROUP BY name"))
            return {row.name: row.size for row in rows}
    except exc.OperationalError:
        return {}
    finally:
        engine.dispose()


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


def _median(values: Sequence[float]) -> float:
    return round(percentile(values, 0.5) or 0.0, 2)
