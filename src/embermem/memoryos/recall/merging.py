"""Results of several memories as one: a user's own, and those of the spaces that were shared with the user.

Each was asked by itself; here only what was answered is put together. The own memory stands first, as it would alone;
then what another agent knows of the user; then each space under a line with its name, in the order of the names. Hits
and packed lines are merged and say from which space they are; persona, facts and sources stay apart: those of a space
are in `Context.shared`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from embermem.core.types import Context, Hit, Persona, UtteranceId
from embermem.prompts.rendering import OF_AGENT, shared_heading
from embermem.protocols import TokenCounter

__all__ = ["divided", "merged_contexts", "merged_hits", "packed_together", "telling_nothing"]

_LEAST_WORTH = 1e-6
"""Of a memory that found something, beside one that found all."""
_OF_PERSON = 0.2
"""Of what is known of the user elsewhere, which has no hits (ours)."""
_TRIES = 3
"""How often the parts are asked for less, if together they are too long."""

Ask = Callable[[int], Context]
"""What a memory tells within so many tokens."""
_Place = tuple[str | None, UtteranceId]


class _Part(NamedTuple):
    """What one memory has to tell without being limited: in how many tokens, and how much that is worth."""

    needs: int
    worth: float


def packed_together(
    asks: Mapping[str | None, Ask], budget: int, counter: TokenCounter, *, hits: int, limited: bool
) -> Context:
    """One context of several memories (None: the own one; else a space's name, or `agent:` and an agent's) within
    `budget` tokens, which is divided by what each has to tell. Where it is not `limited` (preset `paper`), each tells
    all. At most `hits` hits are named."""
    whole = {name: asks[name](budget) for name in sorted(asks, key=_order)}
    found, left = whole, budget
    for _ in range(_TRIES if limited else 0):
        found = _within(whole, asks, left, counter)
        over = counter.count(_text(found)) - budget
        if over <= 0:
            break
        left -= over
    else:
        if limited:  # no line of a space fits
            found = {name: one if name is None else _silent(one) for name, one in found.items()}
    return merged_contexts(found, counter, hits)


def _within(
    whole: Mapping[str | None, Context], asks: Mapping[str | None, Ask], budget: int, counter: TokenCounter
) -> dict[str | None, Context]:
    """Each memory's part within its share; what one leaves of its share goes on to those that are worth more."""
    heads = {name: 0 if name is None else counter.count(f"\n\n{shared_heading(name)}\n") for name in whole}
    parts = [_Part(_needs(one, heads[name]), _worth(one)) for name, one in whole.items()]
    found, spare = dict(whole), 0
    shares = zip(whole, divided(budget, parts), parts, strict=True)
    for name, share, part in sorted(shares, key=lambda one: (one[2].worth, one[0] is None)):
        if share >= part.needs:
            continue
        room = share + spare - heads[name]
        found[name] = asks[name](room) if room > 0 else _silent(whole[name])
        spare = share + spare - _needs(found[name], heads[name])
    return found


def divided(budget: int, parts: Sequence[tuple[int, float]]) -> list[int]:
    """How many tokens each part gets that needs so many and is worth so much: by what it is worth, and none more than
    it needs. What is left over by rounding is the first one's."""
    given, left, open_ = [0] * len(parts), float(budget), list(range(len(parts)))
    while open_:
        whole = math.fsum(parts[i][1] for i in open_)
        share = {i: left * (parts[i][1] / whole if whole else 1 / len(open_)) for i in open_}
        full = [i for i in open_ if parts[i][0] <= share[i]]
        if not full:
            for i in open_:
                given[i] = int(share[i])
            given[open_[0]] += max(0, int(left) - sum(given[i] for i in open_))
            break
        for i in full:
            given[i] = parts[i][0]
            left -= parts[i][0]
            open_.remove(i)
    return given


def merged_contexts(found: Mapping[str | None, Context], counter: TokenCounter, hits: int) -> Context:
    """The contexts of the own memory and of spaces as one; the first is the own one."""
    own = found[None]
    ranked = merged_hits({name: (*one.hits, *one.packed) for name, one in found.items()})
    ranks = {_place(hit): hit.rank for hit in ranked}
    shared = {
        name: replace(one, hits=_of(name, one.hits, ranks), packed=_of(name, one.packed, ranks))
        for name, one in found.items()
        if name is not None
    }
    text = _text(found)
    return replace(
        own,
        text=text,
        tokens=counter.count(text),
        hits=ranked[:hits],
        packed=(*_of(None, own.packed, ranks), *(hit for one in shared.values() for hit in one.packed)),
        confidence=max(one.confidence for one in found.values()),
        partial=any(one.partial for one in found.values()),
        left_out=tuple(
            replace(left, what=_told_of(name, left.what)) for name, one in found.items() for left in one.left_out
        ),
        notes=tuple(_told_of(name, note) for name, one in found.items() for note in one.notes),
        shared=shared,
    )


def merged_hits(found: Mapping[str | None, Sequence[Hit]], k: int | None = None) -> tuple[Hit, ...]:
    """The hits of several memories, best first, each once; of equals the own memory's, which is the first."""
    once = {_place(hit): hit for name, hits in found.items() for hit in _of(name, hits, {})}
    best = sorted(once.values(), key=_relevance, reverse=True)[:k]
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(best, 1))


def _order(name: str | None) -> tuple[bool, bool, str]:
    """The own memory, what another agent knows of the user, spaces by their names."""
    return name is not None, name is not None and not name.startswith(OF_AGENT), name or ""


def _of(name: str | None, hits: Sequence[Hit], ranks: Mapping[_Place, int]) -> tuple[Hit, ...]:
    named = (replace(hit, space=name) for hit in hits)
    return tuple(replace(hit, rank=ranks.get(_place(hit), hit.rank)) for hit in named)


def _place(hit: Hit) -> _Place:
    return hit.space, hit.utterance.id


def _relevance(hit: Hit) -> float:
    """By what hits of several memories are compared: a score is comparable within one alone."""
    return hit.score if hit.relevance is None else hit.relevance


def _needs(context: Context, head: int) -> int:
    return context.tokens + head if context.text else 0


def _worth(context: Context) -> float:
    """What the packed lines are worth together: their relevance, else how sure the memory is."""
    if not context.text:
        return 0.0
    relevant = [hit.relevance for hit in context.packed if hit.relevance is not None]
    if relevant:
        return max(math.fsum(relevant), _LEAST_WORTH)
    return max(context.confidence, _LEAST_WORTH if context.hits else _OF_PERSON)


def telling_nothing(query: str, preset: str, counter: str) -> Context:
    """A context in which nothing is told."""
    return Context(
        text="",
        hits=(),
        packed=(),
        facts=(),
        persona=Persona(),
        tokens=0,
        counter=counter,
        confidence=0.0,
        partial=False,
        query=query,
        preset=preset,
    )


def _silent(context: Context) -> Context:
    """A part for which there is no room."""
    return replace(context, text="", tokens=0, packed=(), facts=(), rests_on=())


def _text(found: Mapping[str | None, Context]) -> str:
    told = ((name, one.text) for name, one in found.items() if one.text)
    return "\n\n".join(text if name is None else f"{shared_heading(name)}\n{text}" for name, text in told)


def _told_of(name: str | None, text: str) -> str:
    return text if name is None else f"{name}: {text}"
