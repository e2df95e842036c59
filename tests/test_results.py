"""What the memory answers can be kept, sent to another process and served: every public type of a result."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import json
import pickle
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import embermem
from embermem import Memory
from embermem.core import errors
from scripted import NOW, SMALL, Clock

Results = Mapping[str, Any]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """One of each, out of a small life."""
    clock = Clock()
    settings = {**SMALL, "short_term_pages": 1, "clock": clock}
    with Memory(tmp_path_factory.mktemp("results") / "memory.db", **settings) as memory:
        yield lived(memory, clock)


def lived(memory: Memory, clock: Clock) -> Results:
    alice = memory.of("alice")
    for day in range(1, 6):
        alice.add(f"I live in Lyon. I like figs, said {day} times.", "Since when?", at=f"2026-05-0{day}T10:00:00+02:00")
    alice.settle()
    first = clock.now
    clock.go(60)
    facts = alice.facts()
    alice.set_profile(name="Alice")
    corrected = alice.correct(facts[-1].id, "likes dates", value="dates")
    correction = alice.changes()[-1].no
    context = alice.recall("Where do I live?")
    segment = next(one for one in alice.segments() if one.embedding is not None)
    return {
        "Added": alice.add_messages([{"role": "user", "content": "Hello"}]), "Call": memory.calls(NOW),
        "Chain": alice.chains()[0], "Change": alice.changes()[0], "Conflict": alice.conflicts(), "Context": context,
        "Diff": alice.diff(first), "Explanation": context.explain(context.hits[0]), "Fact": corrected,
        "Faded": alice.fade(dry_run=True), "Finding": memory.check()[0],
        "Forgotten": alice.forget(page=alice.pages()[0].id), "Heat": alice.heat(segment), "Hit": context.hits[0],
        "Owner": alice.owner, "OwnerState": alice.state(), "OwnerStats": alice.stats(),
        "Page": alice.pages()[0], "Persona": alice.persona(), "ProfileField": alice.profile()[0],
        "Retention": alice.retention()[0], "Scope": embermem.Scope(before_seq=3), "Segment": segment,
        "Stats": memory.stats(), "Trait": alice.traits(), "UndoPlan": alice.undo_plan(correction),
        "Utterance": alice.utterances()[0], "Verified": alice.verify(alice.forget(page=alice.pages()[0].id)),
        "Why": alice.why(facts[0].id),
    }  # fmt: skip


def same(one: Any, other: Any) -> bool:
    """Also where vectors stand in them, which have no truth of their own."""
    return bool(plain(one) == plain(other))


def plain(one: Any) -> Any:
    """Dictionaries and lists, with all other values as they are printed."""
    if isinstance(one, np.ndarray):
        return one.tolist()
    if dataclasses.is_dataclass(one):
        return {field.name: plain(getattr(one, field.name)) for field in dataclasses.fields(one)}
    if isinstance(one, Mapping):
        return {str(key): plain(value) for key, value in one.items()}
    if isinstance(one, (tuple, list, frozenset)):
        return [plain(value) for value in one]
    return str(one)


def test_every_dataclass_that_the_package_exports_is_tried_here(results: Results) -> None:
    exported = {name for name in embermem.__all__ if dataclasses.is_dataclass(getattr(embermem, name))}
    assert exported - {"Field"} <= set(results)  # which is a part of the settings


def test_a_result_can_be_pickled_copied_and_made_a_dictionary(results: Results) -> None:
    for name, one in results.items():
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
            assert same(again, one), name
        if dataclasses.is_dataclass(one) and not isinstance(one, type):
            assert same(dataclasses.asdict(one), one), name


@pytest.mark.proof
def test_fastapi_returns_results_from_routes_that_name_their_types_and_from_those_that_do_not(results: Results) -> None:
    fastapi, httpx2 = pytest.importorskip("fastapi"), pytest.importorskip("httpx2")
    app = fastapi.FastAPI()
    for name, one in results.items():
        kind: Any = tuple.__class_getitem__((type(one[0]), ...)) if isinstance(one, tuple) and one else type(one)
        app.get(f"/{name}", response_model=kind)(lambda name=name: results[name])
        if name != "Segment":  # whose vector is served as numbers where its type is named
            app.get(f"/untyped/{name}", response_model=None)(lambda name=name: results[name])

    async def answers() -> dict[str, Any]:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://test") as client:
            assert (await client.get("/openapi.json")).status_code == 200
            made = {name: await client.get(f"/{name}") for name in results}
            plainly = [await client.get(f"/untyped/{name}") for name in results if name != "Segment"]
            assert {one.status_code for one in (*made.values(), *plainly)} == {200}
            return {name: one.json() for name, one in made.items()}

    served = asyncio.run(answers())
    for name, one in results.items():
        if dataclasses.is_dataclass(one):
            assert set(served[name]) == {field.name for field in dataclasses.fields(one)}
    assert served["Segment"]["embedding"] == pytest.approx(results["Segment"].embedding.tolist())


def test_a_copy_of_a_hit_still_says_what_each_channel_said(results: Results) -> None:
    hit = results["Hit"]
    for kept in (pickle.loads(pickle.dumps(hit)), copy.deepcopy(hit)):
        assert dict(kept.channels) == dict(hit.channels)
        assert str(kept.channels) == str(hit.channels)
    assert len(pickle.dumps(hit)) < 5_000  # the working set does not travel with it


def test_a_lived_result_is_kept_as_json_and_is_equal_when_it_is_read(results: Results) -> None:
    for name in ("Context", "Hit", "Fact", "Segment", "Page", "Utterance", "Forgotten", "Diff", "Why", "Persona"):
        one = results[name]
        assert type(one).from_dict(json.loads(json.dumps(one.to_dict()))) == one


def _made(kind: type[errors.EmberError]) -> errors.EmberError:
    """One of a class, as its own `__init__` wants it."""
    if issubclass(kind, errors.ModelWait):
        return kind("it waits", NOW + timedelta(hours=1))
    return kind("it failed", "raw") if issubclass(kind, errors.ModelReplyError) else kind("it failed")


def _kinds(kind: type[errors.EmberError] = errors.EmberError) -> list[type[errors.EmberError]]:
    """Those that a program may catch, whichever parts of Ember were imported before."""
    children = (child for child in kind.__subclasses__() if child.__module__ == errors.__name__)
    return [kind, *(one for child in children for one in _kinds(child))]


def test_an_error_crosses_from_one_process_to_another() -> None:
    for kind in list(dict.fromkeys(_kinds())):
        error = _made(kind)
        error.__dict__["told"] = 3
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is kind
        assert (str(again), again.__dict__) == (str(error), error.__dict__)
        assert copy.copy(error).args == copy.deepcopy(error).args == error.args
