"""Scopes: what they exclude has no influence, and what was derived is told only if all it rests on is in scope."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as some

from embermem import Context, Memory, OwnerMemory, Scope
from embermem.core.types import Hit
from scripted import NOW, SMALL, Clock

QUERIES = ("Where did Ann see the heron by the lake last week?", "Which tea?", "What do you know about Ann?", "otter")
SHARED = ["heron", "lake", "tea", "museum", "Ann", "figs", "green", "yesterday", "on 3 May", "why?"]
HIDDEN = [*SHARED, "otter", "volcano", "Bo"]
IN_TIME, TOO_EARLY, TOO_LATE = NOW, NOW - timedelta(days=30), NOW + timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Said:
    """A message of a test."""

    text: str
    thread: str = "a"
    speaker: str = "Ann"
    role: str = "user"
    at: datetime = IN_TIME
    metadata: tuple[tuple[str, Any], ...] = (("ticket", "T-1"),)


SCOPES: Mapping[str, tuple[Scope, Sequence[dict[str, Any]]]] = {
    "threads": (Scope(threads=["a", "never"]), [{"thread": "b"}, {"thread": "c", "role": "assistant"}]),
    "not threads": (Scope(not_threads=["b", "c"]), [{"thread": "b"}, {"thread": "c", "role": "assistant"}]),
    "metadata": (
        Scope(metadata={"ticket": {"$in": ["T-1", "T-9"]}}),
        [{"metadata": ()}, {"metadata": (("ticket", "T-2"),)}, {"metadata": (("tags", ("T-1",)),)}],
    ),
    "not metadata": (Scope(metadata={"$not": {"secret": True}}), [{"metadata": (("secret", True),)}]),
    "speakers": (Scope(speakers=["Ann", "Cy"]), [{"speaker": "Bo"}, {"speaker": "Dan", "thread": "b"}]),
    "times": (
        Scope(since="2026-05-01", until="2026-05-03"),
        [{"at": TOO_EARLY}, {"at": TOO_LATE, "thread": "b"}],
    ),
    "several": (
        Scope(threads=["a"], metadata={"ticket": "T-1"}),
        [{"thread": "b"}, {"metadata": ()}],
    ),
}


@pytest.fixture(scope="module")
def owners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], OwnerMemory]]:
    """Gives a new owner of the same name for each memory of a test."""
    agents = itertools.count()
    with Memory(tmp_path_factory.mktemp("scopes") / "memory.db", clock=Clock(), **SMALL) as memory:
        yield lambda: memory.of("cy", agent=f"agent {next(agents)}")


def lines(words: Sequence[str], **of: Any) -> some.SearchStrategy[Said]:
    texts = some.lists(some.sampled_from(words), min_size=1, max_size=6).map(" ".join)
    minutes = some.integers(0, 300)
    at = of.pop("at", IN_TIME)
    return some.builds(
        lambda text, minute, **own: Said(text=text, at=at + timedelta(minutes=minute), **own),
        texts,
        minutes,
        **{name: some.just(one) for name, one in of.items()},
    )


@some.composite
def memories(draw: some.DrawFn) -> tuple[Scope, list[Said], list[Said], list[Said]]:
    """A scope, what is in it, and two memories that differ in all else."""
    scope, others = SCOPES[draw(some.sampled_from(sorted(SCOPES)))]
    inside = draw(some.lists(lines(SHARED), max_size=6))
    outside = some.lists(some.one_of([lines(HIDDEN, **of) for of in others]), max_size=6)

    def mixed(with_these: list[Said]) -> list[Said]:
        places = draw(some.permutations([True] * len(inside) + [False] * len(with_these)))
        ours, theirs = iter(inside), iter(with_these)
        return [next(ours if mine else theirs) for mine in places]

    return scope, inside, mixed(draw(outside)), mixed(draw(outside))


def filled(owner: OwnerMemory, said: Sequence[Said]) -> OwnerMemory:
    for one in said:
        message = {"role": one.role, "content": one.text, "name": one.speaker, "metadata": dict(one.metadata)}
        owner.add_messages([message], thread=one.thread, at=one.at, fresh=True)
    return owner


def without_seqs(text: str) -> str:
    return re.sub(r"#\d+", "#", text)


def hits(found: Sequence[Hit]) -> list[Any]:
    """Hits without what is of the whole memory: ids, seqs, and the tier of their page."""
    return [
        (
            hit.utterance.text,
            hit.utterance.thread,
            hit.score,
            hit.rank,
            {name: (one.raw, one.normalised, one.weight, one.rank_without) for name, one in hit.channels.items()},
        )
        for hit in found
    ]


def shown(context: Context) -> dict[str, Any]:
    return {
        "text": without_seqs(context.text),
        "hits": hits(context.hits),
        "packed": hits(context.packed),
        "tokens": context.tokens,
        "confidence": context.confidence,
        "facts": [fact.text for fact in context.facts],
        "persona": context.persona,
        "left out": [(without_seqs(one.what), one.score, without_seqs(one.reason)) for one in context.left_out],
        "notes": context.notes,
        "partial": context.partial,
        "rests on": len(context.rests_on),
    }


@settings(phases=(Phase.explicit, Phase.generate), max_examples=30)
@given(memories())
def test_what_a_scope_excludes_has_no_influence(
    owners: Callable[[], OwnerMemory], drawn: tuple[Scope, list[Said], list[Said], list[Said]]
) -> None:
    scope, inside, one, other = drawn
    only, first, second = filled(owners(), inside), filled(owners(), one), filled(owners(), other)
    for query in QUERIES:
        expected = shown(only.recall(query))
        assert shown(first.recall(query, scope=scope)) == expected
        assert shown(second.recall(query, scope=scope)) == expected
        found = hits(only.search(query, k=3))
        assert hits(first.search(query, k=3, scope=scope)) == found == hits(second.search(query, k=3, scope=scope))
    assert shown(first.overview(scope=scope)) == shown(only.overview())


@settings(phases=(Phase.explicit, Phase.generate), max_examples=30)
@given(memories())
def test_nor_has_it_in_preset_paper(
    owners: Callable[[], OwnerMemory], drawn: tuple[Scope, list[Said], list[Said], list[Said]]
) -> None:
    scope, inside, one, other = drawn
    only, first, second = filled(owners(), inside), filled(owners(), one), filled(owners(), other)
    for query in QUERIES:
        expected = shown(only.recall(query, preset="paper"))
        assert shown(first.recall(query, preset="paper", scope=scope)) == expected
        assert shown(second.recall(query, preset="paper", scope=scope)) == expected
