"""The MemoryOS paper's mechanisms, worked out by hand, through the running system in preset `paper`.

A scripted embedder and a scripted model give every text the vector, the keywords and the summary that the example
names, so that each number below can be followed with a pencil. X, Y, Z and W are the unit vectors of four axes and H is
(½, ½, ½, ½): cos(H, X) = ½, cos(X, Y) = 0. All of them are exact in half precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from bench_of import ALICE, Bench
from embermem import Tier
from embermem.core.changes import Cause, Evicted, FactAdded, Placed
from embermem.core.config import load
from embermem.core.types import (
    About,
    Annotation,
    ChainTail,
    FactId,
    FactProposal,
    Owner,
    PageView,
    PersonaChange,
    Segment,
    Source,
    ThreadId,
)
from embermem.core.vectors import of_summaries
from embermem.memoryos.ingest.mid_term import heat_of
from embermem.memoryos.system import MemoryOS
from embermem.protocols import ProfileRequest
from embermem.store import schema
from scripted import Clock, Place

X, Y, Z, W = (tuple(float(place == axis) for place in range(4)) for axis in range(4))
H = (0.5, 0.5, 0.5, 0.5)
NOTHING = (0.0, 0.0, 0.0, 0.0)

PAPER: dict[str, Any] = {
    "preset": "paper",
    "short_term_pages": 1,
    "mid_term_segments": 200,
    "batch_pages": 1,
    "user_facts": 100,
    "agent_facts": 100,
    "token_counter": "words",
}
"""The preset itself, but for a short-term memory of one page, and for what `scripted.SMALL` would make smaller."""

MU = 1e7
E = 2.718281828459045


@dataclass(frozen=True)
class Said:
    """What the example says of one query: its page's vector and keywords, its chain's summary and that one's vector."""

    vector: tuple[float, ...]
    keywords: str = ""
    summary: str = ""
    summary_vector: tuple[float, ...] = NOTHING
    continues: bool = False
    fact: str = ""
    agent_fact: str = ""


class ByHand:
    """An embedder and an analyst that know the texts of one example."""

    name = "by-hand"
    dim = 4

    def __init__(self, says: Mapping[str, Said], vectors: Mapping[str, tuple[float, ...]]) -> None:
        self.says = says
        self.vectors = {
            "I see.": NOTHING,
            **{text: said.vector for text, said in says.items()},
            **{said.summary: said.summary_vector for said in says.values()},
            **vectors,
        }
        self.profiled: list[int] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.array([self.vectors.get(text, W) for text in texts], dtype=np.float32).reshape(len(texts), 4)

    def annotate(
        self, owner: Owner, tails: Mapping[ThreadId, ChainTail], batch: Sequence[PageView]
    ) -> tuple[Annotation, ...]:
        return tuple(
            Annotation(
                page_id=view.page.id,
                continues=said.continues,
                chain_summary=said.summary,
                keywords=tuple(said.keywords.split()),
                summary_sources=_sources(view),
            )
            for view in batch
            for said in (self.says[view.page.query],)
        )

    def profile(self, request: ProfileRequest) -> PersonaChange:
        self.profiled.append(len(request.pages))
        return PersonaChange(facts=tuple(fact for view in request.pages for fact in self._facts(view)))

    def _facts(self, view: PageView) -> Iterator[FactProposal]:
        said = self.says[view.page.query]
        for about, text in ((About.USER, said.fact), (About.AGENT, said.agent_fact)):
            if text:
                subject = "user" if about is About.USER else "agent"
                yield FactProposal(
                    about=about,
                    subject=subject,
                    attribute="noted",
                    value=text,
                    text=text,
                    sources=_sources(view)[:1],
                    single=False,
                )


def _sources(view: PageView) -> tuple[Source, ...]:
    return tuple(Source(utterance_id=u.id, seq=u.seq, start=0, end=len(u.text)) for u in view.page.utterances)


class Memory:
    """A memory of one example."""

    def __init__(
        self,
        place: Place,
        clock: Clock,
        says: Mapping[str, Said],
        vectors: Mapping[str, tuple[float, ...]] | None = None,
        keywords: str = "",
        **settings: Any,
    ) -> None:
        self.clock = clock
        self.by_hand = ByHand(says, vectors or {})
        self.bench = Bench(place(), clock, self.by_hand, self.by_hand, **{**PAPER, **settings})
        asked = tuple(keywords.split())
        self.bench.parts = replace(self.bench.parts, keywords=lambda text, most: asked)
        self.bench.system = MemoryOS(self.bench.parts)

    def add(self, *queries: str) -> None:
        """Say these, a second apart, each answered; then let all be understood."""
        for query in queries:
            self.clock.go(1)
            self.bench.add(query)
            self.bench.system.settle(ALICE)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Mid-term memory, oldest first."""
        return self.bench.store.segments(ALICE.id, archived=False)

    def sizes(self) -> list[int]:
        """The pages of each segment."""
        return [len(segment.page_ids) for segment in self.segments]

    def scores(self) -> list[float | None]:
        """The F_score with which each page joined; None: it opened a segment."""
        return [d.f_score for d in self._decided(Placed)]

    def heat(self, place: int) -> float:
        """Eq. 3 of a segment, now."""
        return heat_of(self.segments[place], self.clock(), self.bench.parts.settings)

    def recall(self, query: str) -> Any:
        return self.bench.system.recall(ALICE, query)

    def visit(self, query: str) -> None:
        """What chat does when it has answered."""
        context = self.recall(query)
        self.bench.system.visit(ALICE, context.packed, context.facts)

    def facts(self) -> tuple[list[str], list[str]]:
        """The user knowledge base and the agent traits."""
        persona = self.bench.store.persona(ALICE.id)
        return [fact.text for fact in persona.facts], [fact.text for fact in persona.agent_facts]

    def promotions(self) -> int:
        return sum(change.cause is Cause.PROMOTION for change in self.bench.store.changes(ALICE.id))

    def _decided(self, kind: type) -> list[Any]:
        changes = self.bench.store.changes(ALICE.id)
        return [d for change in changes for d in change.decisions if isinstance(d, kind)]


# ------------------------------------------------------------------------------------------- Eq. 1, 2: F_score, placing

WALK = Said(X, "park walk heron marsh", "S1", H)
"""Four keywords; its own vector is X, that of its summary H."""


def test_a_page_is_compared_with_the_segment_s_summary_whose_vector_follows_it(place: Place, clock: Clock) -> None:
    # Page 2 against s1: cos(H, X) = 1/2; one of 4 + 7 − 1 = 10 keywords in common, J = 1/10. F = 0.6 is not above θ: it
    # opens s2. (Compared with the mean of s1's pages, X, it would be 1 + 0.1.)
    # Page 3 against s1: 1/2 + 2/(4 + 7 − 2) = 1/2 + 2/9 = 13/18. Against s2: cos(Y, X) = 0, J = 1/(7 + 7 − 1) = 1/13.
    # 13/18 = 0.7222 > 0.6: it joins s1.
    memory = Memory(
        place,
        clock,
        {
            "one": WALK,
            "two": Said(X, "park k1 k2 k3 k4 k5 k6", "S2", Y),
            "three": Said(X, "park walk n1 n2 n3 n4 n5", "S3", Z),
            "last": Said(W),
        },
    )
    memory.add("one", "two", "three", "last")
    assert memory.sizes() == [2, 1]
    assert memory.scores() == [None, None, pytest.approx(13 / 18, abs=1e-6)]
    assert load("paper").theta == 0.6

    place = partial(place, file="2.db")
    # Page 2 joins s1: 1/2 + 2/(4 + 2 − 2) = 1. The segment then tells "S1\nS2", whose vector is Z. Page 3 is Z, with no
    # keyword: 1 + 0 against s1, which it joins; against what the segment told before it would have had 1/2 and opened.
    memory = Memory(
        place,
        clock,
        {"one": WALK, "two": Said(X, "park walk", "S2", Y), "three": Said(Z, "", "S3", Y), "last": Said(W)},
        {"S1\nS2": Z, "S1\nS2\nS3": Y},
    )
    memory.add("one", "two", "three")
    (segment,) = memory.segments
    assert segment.summary == "S1\nS2"
    assert segment.embedding is not None
    assert segment.embedding.tolist() == list(Z)
    memory.add("last")
    assert memory.scores() == [None, pytest.approx(1.0), pytest.approx(1.0)]
    assert memory.segments[0].embedding.tolist() == list(Y)  # type: ignore[union-attr]

    place = partial(place, file="3.db")
    # §3.2: the chain's pages are summarised again; S2 is of both pages, and stands alone.
    memory = Memory(
        place,
        clock,
        {"one": WALK, "two": Said(X, "park walk", "S2", Y, continues=True), "last": Said(W)},
    )
    memory.add("one", "two", "last")
    (segment,) = memory.segments
    assert segment.summary == "S2"
    assert [c.summary for c in memory.bench.store.chains(ALICE.id) if len(c.page_ids) == 2] == ["S2"]


# -------------------------------------------------------------------------------------------------------- Eq. 3: heat


def test_heat_is_visits_and_new_pages_and_recency_and_recall_alone_changes_none(place: Place, clock: Clock) -> None:
    memory = Memory(place, clock, {"one": WALK, "two": Said(X, "park walk", "S2", H), "last": Said(W)}, {"S1\nS2": H})
    memory.add("one", "two")
    # Page 1 has left the queue of one. N = 0, L = 1, and it arrived a second ago: R = exp(−1/10⁷).
    assert memory.heat(0) == pytest.approx(0 + 1 + E ** (-1 / MU), abs=1e-12)
    memory.add("last")
    assert memory.heat(0) == pytest.approx(0 + 2 + E ** (-1 / MU), abs=1e-12)
    # μ later R = 1/e.
    clock.go(MU - 1)
    assert memory.heat(0) == pytest.approx(2 + 1 / E, abs=1e-9)
    # The retrieval that answers a query counts once for the segment, and its recency is 1 again.
    memory.visit("one")
    assert memory.heat(0) == pytest.approx(1 + 2 + 1, abs=1e-12)
    clock.go(2 * MU)
    assert memory.heat(0) == pytest.approx(1 + 2 + E**-2, abs=1e-9)

    place = partial(place, file="2.db")
    memory = Memory(place, clock, {"one": WALK, "last": Said(W)})
    memory.add("one", "last")
    before = memory.heat(0)
    assert memory.recall("one").packed
    assert memory.heat(0) == before
    assert memory.segments[0].visits == 0


# ------------------------------------------------------------------------------------------------- promotion, eviction


def _alike(count: int) -> dict[str, Said]:
    """Pages of one topic: each has 1 + 1 with the segment of those before it."""
    return {
        f"p{n}": Said(X, "park", "S", X, continues=n > 1, fact=f"F{n}", agent_fact=f"A{n}") for n in range(1, count)
    }


def test_a_segment_is_promoted_by_its_fifth_page_and_begins_again_at_zero(place: Place, clock: Clock) -> None:
    memory = Memory(place, clock, _alike(14))
    memory.add("p1", "p2", "p3", "p4", "p5")
    # Four pages are placed: heat = 0 + 4 + R with R < 1, so below τ = 5.
    assert memory.sizes() == [4]
    assert memory.heat(0) == pytest.approx(5.0, abs=1e-6)
    assert memory.heat(0) < 5.0
    assert memory.promotions() == 0
    memory.add("p6")
    # Five: 5 + R > 5. What the pages say is learnt, then L = 0 and the heat is R alone.
    assert memory.promotions() == 1
    assert memory.by_hand.profiled == [5]
    assert memory.facts() == ([f"F{n}" for n in range(1, 6)], [f"A{n}" for n in range(1, 6)])
    assert memory.segments[0].unanalysed == 0
    assert memory.heat(0) == pytest.approx(E ** (-1 / MU), abs=1e-9)
    # Three visits stay: with the next page heat = 3 + 1 + R < 5, with the one after 3 + 2 + R > 5.
    for _ in range(3):
        memory.visit("p1")
    memory.add("p7")
    assert memory.promotions() == 1
    memory.add("p8")
    assert memory.promotions() == 2
    assert memory.by_hand.profiled == [5, 2]
    assert memory.segments[0].visits == 3


def test_the_coldest_segment_is_evicted_above_the_capacity(place: Place, clock: Clock) -> None:
    memory = Memory(
        place,
        clock,
        {
            "one": Said(X, "a", "S1", X, fact="F1"),
            "two": Said(Y, "b", "S2", Y),
            "three": Said(Z, "c", "S3", Z),
            "last": Said(W),
        },
        mid_term_segments=2,
        top_m=1,
    )
    memory.add("one", "two", "three")
    memory.visit("one")  # m = 1: of s1 alone
    assert [memory.heat(0), memory.heat(1)] == pytest.approx([1 + 1 + 1, 0 + 1 + 1], abs=1e-6)
    # A third segment: 0 + 1 + R. s2 arrived a second before it, so it is the coldest by 10⁻⁷, and leaves.
    memory.add("last")
    assert [segment.summary for segment in memory.segments] == ["S1", "S3"]
    evicted = [d.segment_id for d in memory._decided(Evicted)]
    archive = memory.bench.store.segments(ALICE.id, archived=True)
    assert [segment.id for segment in archive] == evicted
    assert [segment.summary for segment in archive] == ["S2"]
    # It is out of reach of this preset's recall, and kept in the store.
    assert "two" not in memory.recall("two").text
    assert [page.query for page in memory.bench.pages(Tier.ARCHIVE)] == ["two"]


def test_knowledge_bases_are_queues(place: Place, clock: Clock) -> None:
    # Of 13 facts of each kind the first ones leave when there are more than 3.
    memory = Memory(place, clock, _alike(14), user_facts=3, agent_facts=3, tau=0.0)
    memory.add(*(f"p{n}" for n in range(1, 14)))
    assert memory.facts() == (["F10", "F11", "F12"], ["A10", "A11", "A12"])
    assert (load("paper").user_facts, load("paper").agent_facts) == (100, 100)


# ----------------------------------------------------------------------------------------------- §3.4, §3.5: retrieval

TOLD = {
    "a1": Said(X, "tea", "SA", H),
    "a2": Said(H, "tea", "SA2", H, continues=True),
    "b1": Said(X, "heron rain", "SB", Y),
    "c1": Said(Z, "corn", "SC", X),
    "now": Said(W),
}
"""Segment A (a1, a2) tells SA2, vector H; B tells SB, vector Y; C tells SC, vector X. b1 and c1 have 1/2 with A, not
above θ, and open their own."""


def _recalled(place: Place, clock: Clock, **settings: Any) -> Any:
    memory = Memory(place, clock, TOLD, {"heron?": X}, keywords="heron", **settings)
    memory.add(*TOLD)
    assert memory.sizes() == [2, 1, 1]
    return memory.recall("heron?")


def _queries(context: Any) -> list[str]:
    return [hit.utterance.text for hit in context.hits if hit.utterance.text != "I see."]


def test_the_first_stage_takes_the_best_segments_and_the_second_their_nearest_pages(place: Place, clock: Clock) -> None:
    # The query is X with the keyword heron. A: cos(H, X) + 0 = 1/2. B: cos(Y, X) + 1/2 = 1/2. C: cos(X, X) + 0 = 1.
    # m = 2: C, and of the equals A, which is older. Though b1's own vector is the query's, it is not reached.
    assert _queries(_recalled(place, clock, top_m=2)) == ["a1", "a2", "c1", "now"]

    place = partial(place, file="2.db")
    # Of A and C: a1 has cosine 1, a2 1/2, c1 0; k = 2: a1 and a2. All of short-term memory (now: cosine 0) comes with
    # them.
    context = _recalled(place, clock, top_m=2, top_k=2)
    assert _queries(context) == ["a1", "a2", "now"]
    assert [hit.score for hit in context.hits if hit.utterance.text in TOLD] == pytest.approx([1.0, 0.5, 0.0])
    assert (load("paper").top_m, load("paper").top_k, load("paper").top_facts) == (5, 10, 10)


def test_the_prompt_holds_persona_pages_and_the_summaries_of_their_segments_and_chains(
    place: Place, clock: Clock
) -> None:
    memory = Memory(
        place,
        clock,
        {
            "one": Said(X, "park", "S1", X, fact="The user walks a lot", agent_fact="The assistant told of squirrels"),
            "two": Said(X, "park", "S2", X, continues=True),
            "far": Said(Y, "tax", "S3", Y),
            "now": Said(W),
        },
        {"asked": X},
        top_m=1,
        tau=0.0,
    )
    memory.add("one", "two", "far", "now")
    # m = 1: segment "S2" (cos 1), not "S3" (cos 0). "now" is in short-term memory; until the
    # model reads it, the extractive analyst says what its chain is about.
    text = memory.recall("asked").text.splitlines()
    assert text == [
        "known:",
        "- The user walks a lot (said 2026-05-02) [#1]",
        "- The assistant told of squirrels (said 2026-05-02) [#1]",
        "",
        "2026-05-02 Sat:",
        "#1 user: one",
        "#2 assistant: I see.",
        "#3 user: two",
        "#4 assistant: I see.",
        "#7 user: now",
        "#8 assistant: I see.",
        "",
        "topics of these pages:",
        "- S2 (2026-05-02): S2 [#3]",
        "conversations of these pages:",
        "- 2026-05-02, main: S2 [#3]",
        "- 2026-05-02, main: Assistant: I see. [#8]",
    ]


def test_the_ten_facts_of_each_kind_are_those_whose_own_vectors_are_nearest(place: Place, clock: Clock) -> None:
    # "F1" is learnt from the page "p1" (vector X, which is the query's), but its own vector is Y; "F5"'s is X. A fact
    # of the caller's own rests on nothing that was said, and is found by its vector all the same.
    vectors = {"F1": Y, "F2": Y, "F3": H, "F4": Y, "F5": X, "of the caller": X, "asked": X}
    memory = Memory(place, clock, _alike(8), vectors, top_facts=3)
    memory.add(*(f"p{n}" for n in range(1, 7)))
    learn(memory, "of the caller")
    told = [fact.value for fact in memory.recall("asked").facts if fact.about is About.USER]
    # cosines: F5 1, the caller's 1, F3 1/2; the others 0.
    assert sorted(told) == ["F3", "F5", "of the caller"]
    assert told[-1] == "F3"


def learn(memory: Memory, text: str) -> None:
    """A fact that a caller brings."""
    store, fact_id = memory.bench.store, FactId("f-caller")
    state = store.owner_state(ALICE.id)
    assert state is not None
    added = FactAdded(
        fact_id=fact_id,
        about=About.USER,
        subject="user",
        attribute="noted",
        value=text,
        text=text,
        sources=(),
        valid_from=None,
    )
    store.apply(ALICE, Cause.IMPORT, "caller", [added], now=memory.clock(), revision=state.revision, lease=None)


# ------------------------------------------------------------------------------------------- stores of another preset


def test_a_segment_stored_with_its_pages_mean_is_read_as_it_is_and_gets_its_summary_s_vector_with_the_next_work(
    place: Place, clock: Clock
) -> None:
    memory = Memory(place, clock, {"one": WALK, "two": Said(Y, "b", "S2", Y), "last": Said(W)})
    memory.add("one", "two")
    store = memory.bench.store
    with store._write() as c:  # as `default` writes it
        mean = np.array(X, dtype="<f4").tobytes()
        c.execute(schema.segment.update().values(embedder="by-hand", vector_sum=mean))
    assert memory.segments[0].embedding.tolist() == list(X)  # type: ignore[union-attr]
    assert memory.bench.parts.backlog(ALICE, clock()).stale_segments == (memory.segments[0].id,)
    memory.add("last")
    assert memory.segments[0].embedding.tolist() == list(H)  # type: ignore[union-attr]
    assert memory.bench.parts.backlog(ALICE, clock()).stale_segments == ()
    with store._read() as c:
        assert {row.embedder for row in c.execute(schema.segment.select())} == {of_summaries("by-hand")}
