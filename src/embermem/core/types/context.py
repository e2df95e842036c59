"""What is recalled, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from embermem.core.errors import InputError
from embermem.core.record import Record
from embermem.core.types.ids import SegmentId, Tier, UtteranceId
from embermem.core.types.memories import Fact
from embermem.core.types.people import Persona
from embermem.core.types.utterances import Passage, Utterance


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelScore(Record):
    """One channel's contribution to a hit: the raw value, the value normalised over the candidates, and the
    `weight`. `rank_without` is the hit's rank by score, from 1, without this channel (None: not known)."""

    raw: float
    normalised: float
    weight: float
    rank_without: int | None = None


class _AnyMapping:
    """Says to pydantic, where it is there, that a mapping is written as a dict, whatever class it is of."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        written = core_schema.wrap_serializer_function_ser_schema(lambda told, write: write(dict(told)))
        return {**handler(source), "serialization": written}


_NOTHING = 1e-9
"""What a channel gives to a score that has nothing to say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit(Record):
    """A recalled utterance. `score` orders the hits of one recall and is comparable within it only. `relevance` is the
    estimated probability, in [0, 1], that the utterance is evidence for the query, comparable between queries and
    owners; None from a system for which it was not fitted. `space` is the shared space that the hit is from, None for
    the owner's own memory. A passage of a document is in no tier."""

    utterance: Utterance
    score: float
    rank: int
    tier: Tier | None
    segment_id: SegmentId | None = None
    relevance: float | None = None
    channels: Annotated[Mapping[str, ChannelScore], _AnyMapping()] = field(default_factory=dict, compare=False)
    space: str | None = None

    @property
    def passage(self) -> Passage | None:
        """Where it stands in a document; None for what was said."""
        return self.utterance.passage

    @property
    def spoke(self) -> Mapping[str, ChannelScore]:
        """The channels that gave something to the score."""
        return {name: score for name, score in self.channels.items() if abs(score.normalised * score.weight) > _NOTHING}


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut(Record):
    """Something that was found but not packed, with the reason."""

    what: str
    score: float
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation(Record):
    """Why a hit was recalled, or (without a hit) what the whole recall did and left out."""

    query: str
    preset: str
    hit: Hit | None
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"query: {self.query}", f"preset: {self.preset}"]
        if self.hit is not None:
            u = self.hit.utterance
            lines.append(f"hit {self.hit.rank}: #{u.seq} {u.speaker}: {u.text}")
            relevance = "" if self.hit.relevance is None else f"relevance {self.hit.relevance:.4f}, "
            where = f"tier {self.hit.tier or '-'}, segment {self.hit.segment_id or '-'}"
            lines.append(f"  {relevance}score {self.hit.score:.4f}, {where}")
            lines += [] if self.hit.space is None else [f"  from the space {self.hit.space}"]
            lines.extend(
                f"  {name:<10} raw {s.raw:8.4f}  normalised {s.normalised:7.3f}  × {s.weight:6.3f}"
                + ("" if s.rank_without is None else f"  rank without it {s.rank_without}")
                for name, s in self.hit.spoke.items()
            )
        else:
            lines.extend(f"left out ({o.reason}, score {o.score:.4f}): {o.what}" for o in self.left_out)
        lines.extend(self.notes)
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True, slots=True)
class Context(Record):
    """The result of `recall`: text for a prompt, within the budget, and its parts. `tokens` is the length of `text` by
    the counter named in `counter`. `packed` are the hits whose text is in `text`; `hits` are all ranked hits, best
    first; `facts` are those that it tells, with a line of their own or in the words of their source. `partial`: some
    utterances had no vector yet and were ranked by words alone. `confidence` is the estimated probability, in [0, 1],
    that `text` holds the answer. `rests_on` are the utterances that `text` rests on: those in `packed`, and the sources
    of facts in it.

    Of a handle that is bound with shared spaces, `hits` and `packed` are of all of them (`Hit.space`); `facts`,
    `persona` and `rests_on` are the owner's own, and `shared` has what is told of each space, by its name, with its
    own; under `agent:NAME` what another agent knows of the user."""

    text: str
    hits: tuple[Hit, ...]
    packed: tuple[Hit, ...]
    facts: tuple[Fact, ...]
    persona: Persona
    tokens: int
    counter: str
    confidence: float
    partial: bool
    query: str
    preset: str
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    rests_on: tuple[UtteranceId, ...] = ()
    shared: Mapping[str, Context] = field(default_factory=dict, hash=False)

    def explain(self, hit: Hit | None = None) -> Explanation:
        """Each channel's share in a hit's score; without a hit, what was left out and why. Raises InputError for
        anything else."""
        if hit is not None and not isinstance(hit, Hit):
            raise InputError(f"hit = {type(hit).__name__} is not allowed; expected one of context.hits, or None")
        return Explanation(query=self.query, preset=self.preset, hit=hit, left_out=self.left_out, notes=self.notes)
