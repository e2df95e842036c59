"""Retrieval (paper §3.4): what of a memory matters to a query. Pure functions over one immutable snapshot.

`rank` orders utterances and facts; `recall` packs them into a Context. Preset `paper` takes the paper's steps;
preset `default` scores every utterance by all that index/fusion.py knows. docs/research/recall.md has the figures.
In both, a tier that the setting `without` names is out of reach: docs/research/studies.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from embermem.core import equations, paging
from embermem.core.config import Settings
from embermem.core.types import (
    Chain,
    ChannelScore,
    Context,
    Fact,
    Hit,
    Owner,
    OwnerId,
    PageId,
    Persona,
    Segment,
    Source,
    Tier,
)
from embermem.core.vectors import page_vector
from embermem.index.coverage import widened
from embermem.index.fusion import fuse
from embermem.index.linking import Followed
from embermem.index.query_context import Query, View
from embermem.index.snapshot import Snapshot
from embermem.memoryos.people import People, shown
from embermem.memoryos.recall.active_goals import standing
from embermem.memoryos.recall.bearing import bearing
from embermem.memoryos.recall.character import bearing_traits
from embermem.memoryos.recall.confidence import confidence, share_of_budget
from embermem.memoryos.recall.exchanges import completing, open_page
from embermem.memoryos.recall.instructions import instructions
from embermem.memoryos.recall.overview import Overview, Subject, asked_overview, overview, topics
from embermem.memoryos.recall.packing import Packing, pack, pack_all
from embermem.memoryos.recall.summaries import SummariesOf, told
from embermem.prompts.rendering import fact_line, one_line, profile_lines
from embermem.protocols import TokenCounter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Query", "Ranking", "rank", "recall", "tier_of"]


_COMPLETED = 80
"""The best rows, of which exchanges are completed by what is not among the candidates."""
_NOBODY = Owner(id=OwnerId(""), user="", agent="")


def _no_summaries(_: Sequence[PageId]) -> tuple[Sequence[Segment], Sequence[Chain]]:
    return (), ()


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Utterances and facts by what they are worth to a query, best first; what is not asked for is not worked out.

    `rows` (in the snapshot) and `scores` run in parallel, as far down as packing looks.
    """

    view: View
    rows: tuple[int, ...]
    scores: tuple[float, ...]
    find_facts: Callable[[People], tuple[tuple[Fact, float], ...]]
    followed: tuple[Followed, ...] = ()
    shares: Callable[[Sequence[int]], Sequence[Mapping[str, ChannelScore]]]
    """Each channel's share in the scores of these rows."""

    def hits_at(self, places: Sequence[int]) -> tuple[Hit, ...]:
        """The hits at these places of `rows`, from 0: each utterance once, at its best passage."""
        page_of, ranks = self.view.snapshot.page_of(self.view.n), self._ranks
        best = {self._seqs[place]: place for place in sorted(places, reverse=True)}
        chosen = [place for place in places if best[self._seqs[place]] == place]
        at = [self.rows[place] for place in chosen]
        return tuple(
            _hit(self.view, row, int(page_of[row]), self.scores[place], ranks[self._seqs[place]], share)
            for row, place, share in zip(at, chosen, self.shares(at), strict=True)
        )

    def first_hits(self, k: int) -> tuple[Hit, ...]:
        """The hits of the first k utterances."""
        return self.hits_at([place for place, seq in enumerate(self._seqs) if self._ranks[seq] <= k])

    @cached_property
    def hits(self) -> tuple[Hit, ...]:
        """The first hits, as many as the settings say."""
        return self.first_hits(self.view.settings.hits)

    @cached_property
    def _seqs(self) -> list[int]:
        """The seq of each place's utterance: a long one has several places."""
        seqs: list[int] = self.view.snapshot.seqs[list(self.rows)].tolist()
        return seqs

    @cached_property
    def _ranks(self) -> Mapping[int, int]:
        """By seq, how far up its utterance stands, from 1."""
        return {seq: rank for rank, seq in enumerate(dict.fromkeys(self._seqs), 1)}

    def facts(self, people: People) -> tuple[tuple[Fact, float], ...]:
        """The facts to be told, each with its score, and with whom it is about by name."""
        found = () if self.view.settings.without == "long_term" else self.find_facts(people)
        found = tuple(one for one in found if one[0].id not in self.view.query.outdated)
        return tuple(zip(shown((fact for fact, _ in found), people), (score for _, score in found), strict=True))

    @cached_property
    def persona(self) -> Persona:
        """Who the owner is, likewise narrowed by the scope."""
        return _seen(self.view)

    @cached_property
    def confidence(self) -> float:
        """How likely the rows hold what was asked, in [0, 1]."""
        return confidence(self.view, self.rows)

    @cached_property
    def without_vector(self) -> int:
        """How many candidates were ranked by words alone."""
        return int(np.count_nonzero(self.view.candidates & ~self.view.snapshot.has_vector[: self.view.n]))

    @property
    def partial(self) -> bool:
        """Whether any was."""
        return self.without_vector > 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the context should know."""
        bare = self.without_vector
        return (f"{bare} utterances have no vector yet and were ranked by words",) if bare else ()


def recall(
    snapshot: Snapshot,
    query: Query,
    settings: Settings,
    counter: TokenCounter,
    people: People | None = None,
    summaries_of: SummariesOf = _no_summaries,
) -> Context:
    """Rank and pack: the text for a prompt, within the budget (which preset `paper` ignores), and its sources. Facts
    name whom they are about as `people` knows them, by default as the snapshot's facts alone say. Preset `paper` tells
    what `summaries_of` gives for the pages, too."""
    view = View(snapshot, query, _ablated(settings))
    ranking = _ranked(view)
    packing = _packed(view, ranking, counter, people or People(_NOBODY, snapshot.persona), summaries_of)
    packed = ranking.hits_at(packing.places)
    sources = (*(source for fact in packing.facts for source in fact.sources), *packing.rests_on)
    told = (source.utterance_id for source in sources)
    return Context(
        text=packing.text,
        hits=ranking.hits,
        packed=packed,
        facts=packing.facts,
        persona=ranking.persona,
        tokens=packing.tokens,
        counter=counter.name,
        confidence=ranking.confidence,
        partial=ranking.partial,
        query=query.text,
        preset=settings.preset,
        left_out=packing.left_out,
        notes=(
            *ranking.notes,
            *(f"stands at every recall: {fact_line(fact)[2:]}" for fact in packing.standing),
            *_links_told(ranking, packing),
        ),
        rests_on=tuple(dict.fromkeys((*(hit.utterance.id for hit in packed), *told))),
    )


def overview_of(
    snapshot: Snapshot,
    subject: Subject,
    query: Query,
    settings: Settings,
    counter: TokenCounter,
    people: People,
    segments: Sequence[Segment] = (),
) -> Context:
    """What is known of a subject, by time, within the query's budget, with what was talked about in these segments; no
    question is needed."""
    view = View(snapshot, query, _ablated(settings))
    of_user = not subject.people or people.user in subject.people
    persona = _seen(view)
    head = profile_lines(replace(told_profile(persona, view), agent_profile=())) if of_user and not subject.days else []
    budget = settings.budget if query.budget is None else query.budget
    cost = sum(counter.count(f"{line}\n") for line in head)
    if 2 * cost > budget:
        head, cost = [], 0
    known = () if settings.without == "mid_term" else segments
    told = Overview()
    if settings.without != "long_term":
        told = overview(view, people, subject, counter, budget - cost, known)
    lines = (*head, *told.lines)
    talked, about = topics(known, subject, counter, budget - counter.count("\n".join((*lines, ""))))
    text = "\n".join((*lines, talked) if talked else lines)
    rests_on = [source for fact in told.facts for source in fact.sources]
    rests_on += [*told.sources, *(source for segment in about for source in segment.sources)]
    return Context(
        text=text,
        hits=(),
        packed=(),
        facts=told.facts,
        persona=persona,
        tokens=counter.count(text),
        counter=counter.name,
        confidence=1.0 if text else 0.0,
        partial=False,
        query=query.text,
        preset=settings.preset,
        rests_on=tuple(dict.fromkeys(source.utterance_id for source in rests_on)),
    )


def _links_told(ranking: Ranking, packing: Packing) -> list[str]:
    """A note for each link that led to something in the text."""
    packed = [ranking.rows[place] for place in packing.places]
    return [
        f"followed link {one.link.id}, {one.link.from_id} to {one.link.to_id}: {one_line(one.link.reason)}"
        for one in ranking.followed
        if np.isin(packed, one.rows).any()
    ]


def rank(snapshot: Snapshot, query: Query, settings: Settings, first: int | None = None) -> Ranking:
    """What of the snapshot matters to the query, by the settings' preset; `first` hits are wanted (None: as many as
    the settings say). Reads only."""
    return _ranked(View(snapshot, query, _ablated(settings)), first)


def tier_of(snapshot: Snapshot, page: int, short_term_pages: int) -> Tier | None:
    """Where a page is: in a segment, mid or archive; else among the newest, short; else pending. None for that of a
    passage of a document."""
    segment = snapshot.segment(page)
    return paging.tier_of(
        placed=segment is not None,
        archived=segment is not None and segment[1],
        no=snapshot.page_no(page),
        pages=snapshot.talk_pages,
        short=short_term_pages,
    )


def _ranked(view: View, first: int | None = None) -> Ranking:
    return _rank_as_the_paper(view) if view.settings.preset == "paper" else _rank(view, first or view.settings.hits)


def _ablated(settings: Settings) -> Settings:
    """The settings with every channel silent by which a tier that is left out would still speak."""
    if settings.without == "mid_term":
        return replace(settings, recall_segment=0.0)
    if settings.without == "long_term":
        return replace(settings, recall_noted=0.0, standing_facts=0, instruction_share=0.0)
    return settings


def _short_term(view: View) -> NDArray[np.int32]:
    """The pages of short-term memory: the newest of talk that the scope lets be seen."""
    said = view.candidates & ~view.snapshot.is_passage(view.n)
    pages = np.unique(view.snapshot.page_of(view.n)[said])
    return pages[-view.settings.short_term_pages :]


def _packed(view: View, ranking: Ranking, counter: TokenCounter, people: People, summaries_of: SummariesOf) -> Packing:
    facts = ranking.facts(people)
    if view.settings.preset == "paper":
        pages = tuple(dict.fromkeys(view.snapshot.utterances[row].page_id for row in ranking.rows))
        summaries = told(view, pages, summaries_of)
        persona = told_profile(ranking.persona, view)
        return pack_all(view.snapshot, ranking.rows, facts, persona, summaries, counter)
    stands = shown((fact for fact in standing(view, people) if fact.id not in view.query.outdated), people)
    wishes = shown(instructions(view, people), people)
    subject = None if view.settings.without == "long_term" else asked_overview(view, people)
    tell = None if subject is None else partial(overview, view, people, subject, counter)
    sure = share_of_budget(view, ranking.confidence, people)
    persona = replace(told_profile(ranking.persona, view), traits=bearing_traits(view, ranking.persona.traits, people))
    return pack(view, ranking.rows, ranking.scores, facts, persona, counter, stands, wishes, tell=tell, sure=sure)


# ------------------------------------------------------------------------------------------------ preset `default`


def _rank(view: View, first: int) -> Ranking:
    settings = view.settings
    fused = fuse(view)
    best = _best(_within_reach(view, fused.scores), max(first, settings.pack_candidates))
    places, told = widened(
        fused.scores[best],
        view.snapshot.thread_of(view.n)[best],
        np.expm1(view.snapshot.text_length(view.n)[best].astype(np.float64)),
        weight=settings.recall_told,
        unit=settings.told_unit,
        first=first,
    )
    rows = best[places].tolist()
    scores = (fused.scores[rows] - told).tolist()
    penalties = dict(zip(rows, told.tolist(), strict=True))  # the rows that come last pay nothing
    known = set(rows)
    for row in (*open_page(view), *completing(view, rows[:_COMPLETED])):
        if row not in known and np.isfinite(fused.scores[row]):
            rows.append(row)
            scores.append(float(fused.scores[row]))
            known.add(row)
    return Ranking(
        view=view,
        rows=tuple(rows),
        scores=tuple(scores),
        find_facts=lambda people: bearing(view, fused.scores, people),
        followed=fused.followed,
        shares=lambda at: fused.shares(at, [penalties.get(row, 0.0) for row in at]),
    )


def _within_reach(view: View, scores: Floats) -> Floats:
    """The scores, −∞ for what stands in no tier that is recalled: without mid-term memory all but the newest pages.

    Facts keep the scores of their sources, wherever these stand.
    """
    if view.settings.without != "mid_term":
        return scores
    return np.where(np.isin(view.snapshot.page_of(view.n), _short_term(view)), scores, -np.inf)


def _best(scores: Floats, k: int) -> NDArray[np.int64]:
    """The k rows of the highest finite scores, best first; of equals the earlier."""
    k = min(k, len(scores))
    if k == 0:
        return np.zeros(0, dtype=np.int64)
    # Equals of the k-th are all kept until they are sorted: which of them stay must not be left to chance.
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    rows = np.flatnonzero(scores >= max(least, np.finfo(np.float64).min))
    order = np.argsort(-scores[rows], kind="stable")[:k]
    return rows[order]


# -------------------------------------------------------------------------------------------------- preset `paper`


def _rank_as_the_paper(view: View) -> Ranking:
    """§3.4: all of short-term memory; the top-k pages of the top-m segments; the top facts of each kind.

    A page's score is the cosine of its vector to the query's. Pages of short-term memory are scored in the same
    way, only so that hits have one order.
    """
    settings, snapshot = view.settings, view.snapshot
    page_of = snapshot.page_of(view.n)
    seen = np.unique(page_of[view.candidates])
    short = _short_term(view)
    places = snapshot.segment_of_page()[seen]
    segments = _top_segments(view, np.unique(places[places >= 0]))
    inside = seen[np.isin(places, segments) & ~np.isin(seen, short)]
    scores = {int(page): _page_score(view, int(page)) for page in np.concatenate([short, inside])}
    top = sorted((int(page) for page in inside), key=lambda page: (-scores[page], page))[: settings.top_k]
    pages = sorted({*top, *(int(page) for page in short)}, key=lambda page: (-scores[page], page))
    rows = tuple(row for page in pages for row in snapshot.page_begins(page) if row < view.n)

    def shares(at: Sequence[int]) -> list[dict[str, ChannelScore]]:
        return [_paper_shares(view, int(page_of[row]), scores, segments) for row in at]

    return Ranking(
        view=view,
        rows=rows,
        scores=tuple(scores[int(page_of[row])] for row in rows),
        find_facts=lambda people: _top_facts(view),
        shares=shares,
    )


def _paper_shares(
    view: View, page: int, scores: Mapping[int, float], segments: Sequence[int]
) -> dict[str, ChannelScore]:
    shares = {"page": _as_it_is(scores[page], 1.0)}
    place = int(view.snapshot.segment_of_page()[page])
    if place in segments:
        shares["segment"] = _as_it_is(float(view.segment_scores[place]), 0.0)
    return shares


def _top_segments(view: View, places: NDArray[np.int32]) -> list[int]:
    """The m segments of the highest F_score; one that was evicted to the archive is out of reach."""
    if view.settings.without == "mid_term":
        return []
    reachable = [int(place) for place in places if not view.snapshot.segments.archived[place]]
    return sorted(reachable, key=lambda place: (-view.segment_scores[place], place))[: view.settings.top_m]


def _page_score(view: View, page: int) -> float:
    if view.query.vector is None:
        return 0.0
    begins = [row for row in view.snapshot.page_begins(page) if row < view.n]
    return equations.cosine(page_vector(view.snapshot.vectors_of(begins)), view.query.vector)


def _top_facts(view: View) -> tuple[tuple[Fact, float], ...]:
    """The top facts of the user knowledge base, then those of the agent traits: by the cosine of their own vectors to
    the query's; where there are none, by the share of the query's words that their texts hold."""
    table, persona, near = view.snapshot.facts, view.snapshot.persona, view.query.facts
    scores = table.coverage(view.idf)
    if near is not None:
        scores = np.array([near.get(fact.id, 0.0) for fact in table.rows], dtype=np.float64)
    seen, _ = table.best(view.snapshot.seqs[: view.n], np.where(view.candidates, 0.0, -np.inf))
    scores = np.where(table.own, 0.0, seen) + scores  # −∞ for what rests only on what may not be seen
    kinds = np.array([0] * len(persona.facts) + [1] * len(persona.agent_facts), dtype=np.int64)
    chosen: list[tuple[Fact, float]] = []
    for kind in (0, 1):
        places = [int(place) for place in np.flatnonzero(kinds == kind) if np.isfinite(scores[place])]
        best = sorted(places, key=lambda place: (-scores[place], place))[: view.settings.top_facts]
        chosen.extend((table.rows[place], float(scores[place])) for place in best)
    return tuple(chosen)


def _as_it_is(score: float, weight: float) -> ChannelScore:
    return ChannelScore(raw=score, normalised=score, weight=weight)


# ---------------------------------------------------------------------------------------------------- both presets


def _hit(view: View, row: int, page: int, score: float, place: int, shares: Mapping[str, ChannelScore]) -> Hit:
    segment = view.snapshot.segment(page)
    return Hit(
        utterance=view.snapshot.utterances[row],
        score=score,
        rank=place,
        tier=tier_of(view.snapshot, page, view.settings.short_term_pages),
        segment_id=None if segment is None else segment[0],
        channels=shares,
    )


def told_profile(persona: Persona, view: View) -> Persona:
    """The persona without the lines of the user's profile that are outdated."""
    lines = (line for line in persona.profile if f"user.{line.name}" not in view.query.outdated)
    return replace(persona, profile=tuple(lines))


def _seen(view: View) -> Persona:
    """The persona without what rests only on utterances outside the scope; none without long-term memory."""
    if view.settings.without == "long_term":
        return Persona()
    persona = view.snapshot.persona
    if view.query.scope is None:
        return persona

    def within(sources: Sequence[Source]) -> bool:
        rows = (view.snapshot.row(source.seq) for source in sources)
        return not sources or any(row is not None and row < view.n and view.candidates[row] for row in rows)

    return replace(
        persona,
        profile=tuple(line for line in persona.profile if within(line.sources)),
        agent_profile=tuple(line for line in persona.agent_profile if within(line.sources)),
        traits=tuple(trait for trait in persona.traits if within(trait.sources)),
        facts=tuple(fact for fact in persona.facts if within(fact.sources)),
        agent_facts=tuple(fact for fact in persona.agent_facts if within(fact.sources)),
    )
