"""Retrieval (paper §3.4): what of a memory matters to a query. Pure functions over one immutable snapshot.

`rank` orders utterances and facts; `recall` packs them into a Context. Preset `paper` takes the paper's steps;
preset `default` scores every utterance by all that index/fusion.py knows. docs/research/recall.md has the figures.
In both, a tier that the setting `without` names is out of reach: docs/research/studies.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from embermem.core import paging
from embermem.core.attributes import is_instruction
from embermem.core.config import Settings
from embermem.core.types import (
    Chain,
    ChannelScore,
    Context,
    Fact,
    Hit,
    Kind,
    LeftOut,
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
from embermem.index.products import cosines, highest
from embermem.index.query_context import Query, View
from embermem.index.snapshot import Snapshot
from embermem.memoryos.people import People, shown
from embermem.memoryos.recall.active_goals import standing
from embermem.memoryos.recall.advice import needs_advice, of_wishes
from embermem.memoryos.recall.bearing import bearing
from embermem.memoryos.recall.character import bearing_traits
from embermem.memoryos.recall.confidence import (
    answerable,
    fitted_for,
    holds,
    relevances,
    relevances_of_pages,
    share_of_budget,
)
from embermem.memoryos.recall.exchanges import completing, open_page
from embermem.memoryos.recall.instructions import instructions
from embermem.memoryos.recall.merging import telling_nothing
from embermem.memoryos.recall.newest import asks_for_now, newer_of
from embermem.memoryos.recall.other_passages import with_other_passages
from embermem.memoryos.recall.overview import Overview, Subject, asked_overview, overview, topics
from embermem.memoryos.recall.packing import Packing, named, pack, pack_all
from embermem.memoryos.recall.recency import is_long_request, thread_recency
from embermem.memoryos.recall.scoping import in_scope, of_kinds, tells, wholly_in
from embermem.memoryos.recall.silence import why_silent
from embermem.memoryos.recall.summaries import Summaries, SummariesOf, told
from embermem.prompts.rendering import fact_line, one_line, profile_lines
from embermem.protocols import TokenCounter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Query", "Ranking", "rank", "recall", "tier_of"]


_COMPLETED = 80
"""The best rows, of which exchanges are completed by what is not among the candidates."""
_BEFORE = 1e-6
"""By how much the newer of two of one matter comes first."""
_NOBODY = Owner(id=OwnerId(""), user="", agent="")


NOT_FITTED = "relevance and confidence were fitted for the embedder that `embermem model install` installs"
"""The note of a recall by an embedder without token vectors: the probabilities are rough there."""


def _no_summaries(_: Sequence[PageId]) -> tuple[Sequence[Segment], Sequence[Chain]]:
    return (), ()


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Utterances and facts by what they are worth to a query, best first; what is not asked for is not worked out.

    `rows` (in the snapshot), `scores` and `relevances` run in parallel, as far down as packing looks. `answerable` is
    the probability that what was asked was said at all.
    """

    view: View
    rows: tuple[int, ...]
    scores: tuple[float, ...]
    relevances: tuple[float, ...]
    answerable: float
    newer: Mapping[int, int] = field(default_factory=dict)
    """By row the newest one that is surely of the same matter, for a query that asks for it as it is now."""
    find_facts: Callable[[People], tuple[tuple[Fact, float], ...]]
    shares: Callable[[Sequence[int]], Sequence[Mapping[str, ChannelScore]]]
    """Each channel's share in the scores of these rows."""
    below: tuple[Hit, ...] = ()
    """The first hits that are less relevant than the query asks for: they are in nothing else here."""

    def narrowed(self) -> Ranking:
        """The same without what is less relevant than the query asks for."""
        least = self.view.query.min_score
        if least <= 0.0:
            return self
        kept = [place for place, relevance in enumerate(self.relevances) if relevance >= least]
        if len(kept) == len(self.rows):
            return self
        return replace(
            self,
            rows=tuple(self.rows[place] for place in kept),
            scores=tuple(self.scores[place] for place in kept),
            relevances=tuple(self.relevances[place] for place in kept),
            below=tuple(hit for hit in self.hits if (hit.relevance or 0.0) < least),
        )

    def hits_at(self, places: Sequence[int]) -> tuple[Hit, ...]:
        """The hits at these places of `rows`, from 0: each utterance once, at its best passage."""
        page_of, ranks, made = self.view.snapshot.page_of(self.view.n), self._ranks, self._hits_made
        best = {self._seqs[place]: place for place in sorted(places, reverse=True)}
        chosen = [place for place in places if best[self._seqs[place]] == place]
        fresh = [place for place in chosen if place not in made]
        at = [self.rows[place] for place in fresh]
        for row, place, share in zip(at, fresh, self.shares(at), strict=True):
            made[place] = _hit(self, place, int(page_of[row]), ranks[self._seqs[place]], share)
        return tuple(made[place] for place in chosen)

    def first_hits(self, k: int) -> tuple[Hit, ...]:
        """The hits of the first k utterances."""
        return self.hits_at([place for place, seq in enumerate(self._seqs) if self._ranks[seq] <= k])

    @cached_property
    def hits(self) -> tuple[Hit, ...]:
        """The first hits, as many as the settings say."""
        return self.first_hits(self.view.settings.hits)

    @cached_property
    def _hits_made(self) -> dict[int, Hit]:
        """By place. Most of what is packed is among the first hits."""
        return {}

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
        silent = self.view.settings.without == "long_term" or not tells(self.view.query.scope, Kind.FACT)
        found = () if silent else self.find_facts(people)
        found = tuple(one for one in found if one[0].id not in self.view.query.outdated)
        return tuple(zip(shown((fact for fact, _ in found), people), (score for _, score in found), strict=True))

    @cached_property
    def persona(self) -> Persona:
        """Who the owner is, as far as it may be told."""
        return _seen(self.view)

    @cached_property
    def without_vector(self) -> int:
        """How many candidates were ranked by words alone."""
        if not self.view.snapshot.partial:
            return 0
        return int(np.count_nonzero(self.view.candidates & ~self.view.snapshot.has_vector[: self.view.n]))

    @property
    def partial(self) -> bool:
        """Whether any was."""
        return self.without_vector > 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the context should know."""
        bare = self.without_vector
        found = [f"{bare} utterances have no vector yet and were ranked by words"] if bare else []
        if self.view.query.before:
            found.append(
                f"read with what was said before in its thread: {one_line(' / '.join(self.view.query.before))}"
            )
        if self.view.settings.preset != "paper":
            found += [f"no message has {term!r}; read as {held!r}" for term, held in self.view.corrections.items()]
            if is_long_request(self.view):
                found.append("a long request: what was said lately counts more")
        return (*found, *(() if fitted_for(self.view) else (NOT_FITTED,)))


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
    people = people or People(_NOBODY, snapshot.persona)
    snapshot, settings = in_scope(snapshot, query.scope, settings, lambda: people), _ablated(settings)
    known = view = View(snapshot, query, settings)
    if (tellable := of_kinds(snapshot, query.scope)) is not snapshot:
        view = View(tellable, query, settings)
    ranking = _ranked(view).narrowed()
    silent = why_silent(view, ranking.answerable, people) if query.mode == "inject" else None
    if silent is not None:
        nothing = telling_nothing(query.text, settings.preset, counter.name)
        return replace(nothing, partial=ranking.partial, notes=(*ranking.notes, silent))
    packing = _packed(known, view, ranking, counter, people, summaries_of)
    packed = ranking.hits_at(packing.places)
    sources = (*(source for fact in packing.facts for source in fact.sources), *packing.rests_on)
    told = (source.utterance_id for source in sources)
    return Context(
        text=packing.text,
        hits=ranking.hits,
        packed=packed,
        facts=packing.facts,
        persona=_seen(known),
        tokens=packing.tokens,
        counter=counter.name,
        confidence=_confidence(ranking, packing),
        partial=ranking.partial,
        query=query.text,
        preset=settings.preset,
        left_out=(*packing.left_out, *(_too_low(view, hit) for hit in ranking.below)),
        notes=(
            *ranking.notes,
            *(f"{_why_standing(fact)}: {fact_line(fact)[2:]}" for fact in packing.standing),
        ),
        rests_on=tuple(dict.fromkeys((*(hit.utterance.id for hit in packed), *told))),
    )


def _why_standing(fact: Fact) -> str:
    return "stands at every recall" if is_instruction(fact.attribute) else "bears on the query by its theme"


def _confidence(ranking: Ranking, packing: Packing) -> float:
    """How likely the text holds the answer; an overview that was asked for holds what is known."""
    if packing.overview:
        return 1.0
    return holds(ranking.answerable, ranking.view.settings) if packing.text else 0.0


def _too_low(view: View, hit: Hit) -> LeftOut:
    reason = f"relevance {hit.relevance:.2f}, below min_score {view.query.min_score:g}"
    return LeftOut(what=named(hit.utterance, hit.utterance.text), score=hit.score, reason=reason)


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
    view = View(in_scope(snapshot, query.scope, settings, lambda: people), query, _ablated(settings))
    of_user = not subject.people or people.user in subject.people
    persona = _seen(view)
    head = profile_lines(replace(told_profile(persona, view), agent_profile=())) if of_user and not subject.days else []
    budget = settings.budget if query.budget is None else query.budget
    cost = sum(counter.count(f"{line}\n") for line in head)
    if 2 * cost > budget:
        head, cost = [], 0
    known: Sequence[Segment] = ()
    if settings.without != "mid_term" and tells(query.scope, Kind.SEGMENT):
        known = segments if query.scope is None else wholly_in(segments, view.snapshot)
    told = Overview()
    if settings.without != "long_term" and tells(query.scope, Kind.FACT):
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


def rank(snapshot: Snapshot, query: Query, settings: Settings, first: int | None = None) -> Ranking:
    """What of the snapshot matters to the query, by the settings' preset; `first` hits are wanted (None: as many as
    the settings say). Reads only."""
    known = in_scope(snapshot, query.scope, settings, lambda: People(_NOBODY, snapshot.persona))
    return _ranked(View(of_kinds(known, query.scope), query, _ablated(settings)), first).narrowed()


def tier_of(snapshot: Snapshot, page: int, short_term_pages: int) -> Tier | None:
    """Where a page of the memory is: in a segment, mid or archive; else among the newest, short; else pending. None for
    that of a passage of a document."""
    segment, newer = snapshot.segment(page), int(snapshot.newer_pages()[page])
    return paging.tier_of(
        placed=segment is not None,
        archived=segment is not None and segment[1],
        no=int(newer >= 0),
        pages=newer + 1,
        short=short_term_pages,
    )


def _ranked(view: View, first: int | None = None) -> Ranking:
    return _rank_as_the_paper(view) if view.settings.preset == "paper" else _rank(view, first)


def _ablated(settings: Settings) -> Settings:
    """The settings with everything silent by which long-term memory that is left out would still speak."""
    if settings.without == "long_term":
        return replace(settings, standing_facts=0)
    return settings


def _short_term(view: View) -> NDArray[np.int32]:
    """The pages of short-term memory: the newest of talk that the scope lets be seen."""
    said = view.candidates & ~view.snapshot.is_passage(view.n)
    pages = np.unique(view.snapshot.page_of(view.n)[said])
    return pages[-view.settings.short_term_pages :]


def _packed(
    known: View, view: View, ranking: Ranking, counter: TokenCounter, people: People, summaries_of: SummariesOf
) -> Packing:
    """What is told of the rows of `view`, and of the facts that rest on those of `known`: the same, unless the scope's
    kinds leave out messages or documents."""
    scope, persona = view.query.scope, _seen(known)
    knowing = ranking if known is view or not tells(scope, Kind.FACT) else _ranked(known)
    facts = knowing.facts(people)
    if view.settings.preset == "paper":
        pages = tuple(dict.fromkeys(view.snapshot.utterances[row].page_id for row in ranking.rows))
        summaries = told(view, pages, summaries_of) if tells(scope, Kind.SEGMENT) else Summaries()
        return pack_all(view.snapshot, ranking.rows, facts, told_profile(persona, view), summaries, counter)
    stands: tuple[Fact, ...] = ()
    wishes: tuple[Fact, ...] = ()
    tell = None
    if tells(scope, Kind.FACT):
        stands = shown((fact for fact in standing(known, people) if fact.id not in view.query.outdated), people)
        wishes = () if view.settings.without == "long_term" else shown(instructions(known, people), people)
        subject = None if view.settings.without == "long_term" else asked_overview(known, people)
        tell = None if subject is None else partial(overview, known, people, subject, counter)
    sure = max(share_of_budget(view, ranking.answerable, people), needs_advice(view))
    persona = replace(told_profile(persona, view), traits=bearing_traits(known, persona.traits, people))
    return pack(
        view,
        ranking.rows,
        ranking.scores,
        facts,
        persona,
        counter,
        stands,
        wishes,
        tell=tell,
        sure=sure,
        newer=ranking.newer,
    )


# ------------------------------------------------------------------------------------------------ preset `default`


def _rank(view: View, wanted: int | None) -> Ranking:
    settings, texts = view.settings, view.texts
    first = wanted or settings.hits
    fused = fuse(view)
    if is_long_request(view):
        fused = fused.plus("lately", settings.recall_lately, thread_recency(view))
    if (advice := needs_advice(view)) > 0.0:
        fused = fused.plus("wishes", advice, of_wishes(view))
    reach = _within_reach(view, fused.scores)
    best = _best(texts.leading(reach), max(first, settings.pack_candidates))
    places, told = widened(
        fused.scores[best],
        view.snapshot.thread_of(view.n)[best],
        _chars(view, best),
        weight=0.0 if view.asks_days_alone else settings.recall_told,
        unit=settings.told_unit,
        first=first,
    )
    likely = float(np.logaddexp.reduce(fused.scores[best[: settings.pack_candidates]])) if len(best) else 0.0
    best = best[places]
    if not texts.are_rows:
        best, told = with_other_passages(view, reach, best, told, first=_COMPLETED)
    rows = best.tolist()
    scores = (fused.scores[best] - told).tolist()
    penalties = dict(zip(rows, told.tolist(), strict=True))  # the rows that come last pay nothing
    known = set(rows)
    # Of hits alone, what completes exchanges says no more than whose words they are (confidence.py).
    is_packed = wanted is None or view.said_by_named is not view.nothing
    for row in (*open_page(view), *completing(view, rows[:_COMPLETED])) if is_packed else ():
        if row not in known and np.isfinite(fused.scores[row]):
            rows.append(row)
            scores.append(float(fused.scores[row]))
            known.add(row)
    sure = answerable(view, rows)
    first_of, newer = newer_of(view, rows, scores) if asks_for_now(view) else ({}, {})
    rows, scores = _newest_first(rows, scores, first_of)
    return Ranking(
        view=view,
        rows=tuple(rows),
        scores=tuple(scores),
        newer=newer,
        relevances=relevances(scores, likely, sure, settings),
        answerable=sure,
        find_facts=lambda people: bearing(view, texts.at_begins(fused.scores), people),
        shares=lambda at: fused.shares(at, [penalties.get(row, 0.0) for row in at]),
    )


def _newest_first(
    rows: Sequence[int], scores: Sequence[float], newer: Mapping[int, int]
) -> tuple[list[int], list[float]]:
    """The rows by score, where each that is newer than another of its matter has that one's at least."""
    if not newer:
        return list(rows), list(scores)
    worth = dict(zip(rows, scores, strict=True))
    for row, other in sorted(newer.items(), key=lambda one: worth[one[0]]):
        worth[other] = max(worth[other], worth[row] + _BEFORE)
    ordered = sorted(worth, key=lambda row: -worth[row])
    return ordered, [worth[row] for row in ordered]


def _within_reach(view: View, scores: Floats) -> Floats:
    """The scores, −∞ for what stands in no tier that is recalled: without mid-term memory all but the newest pages.

    Facts keep the scores of their sources, wherever these stand.
    """
    if view.settings.without != "mid_term":
        return scores
    return np.where(np.isin(view.snapshot.page_of(view.n), _short_term(view)), scores, -np.inf)


def _chars(view: View, rows: NDArray[np.int64]) -> Floats:
    """The characters of the text that each of these rows is of, each text's once."""
    texts, lengths = view.texts, view.snapshot.text_length(view.n)
    if texts.are_rows:
        return np.expm1(lengths[rows].astype(np.float64))
    of = texts.of(rows)
    counts = texts.ends[of] + 1 - texts.begins[of]
    passages = np.expm1(lengths[texts.rows_of(of)].astype(np.float64))
    return np.add.reduceat(passages, np.cumsum(counts) - counts) if len(rows) else passages


def _best(scores: Floats, k: int) -> NDArray[np.int64]:
    """The k rows of the highest finite scores, best first; of equals the earlier."""
    if k == 0:
        return np.zeros(0, dtype=np.int64)
    rows = highest(scores, k)
    rows = rows[scores[rows] > -np.inf]
    return rows[np.argsort(-scores[rows], kind="stable")[:k]]


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
    rows = tuple(row for page in pages for row in snapshot.page_begins(page))

    def shares(at: Sequence[int]) -> list[dict[str, ChannelScore]]:
        return [_paper_shares(view, int(page_of[row]), scores, segments) for row in at]

    of_rows = tuple(scores[int(page_of[row])] for row in rows)
    return Ranking(
        view=view,
        rows=rows,
        scores=of_rows,
        relevances=relevances_of_pages(of_rows, settings),
        answerable=answerable(view, rows),
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
    begins = view.snapshot.page_begins(page)
    vector = page_vector(view.snapshot.vectors_of(begins))
    return float(cosines(vector[None], view.query.vector[None])[0, 0])


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


def _hit(ranking: Ranking, place: int, page: int, rank: int, shares: Mapping[str, ChannelScore]) -> Hit:
    view = ranking.view
    segment = view.snapshot.segment(page)
    return Hit(
        utterance=view.snapshot.utterances[ranking.rows[place]],
        score=ranking.scores[place],
        rank=rank,
        tier=tier_of(view.snapshot, page, view.settings.short_term_pages),
        segment_id=None if segment is None else segment[0],
        relevance=ranking.relevances[place],
        channels=shares,
    )


def told_profile(persona: Persona, view: View) -> Persona:
    """The persona without the lines of the user's profile that are outdated."""
    lines = (line for line in persona.profile if f"user.{line.name}" not in view.query.outdated)
    return replace(persona, profile=tuple(lines))


def _seen(view: View) -> Persona:
    """The persona without what rests only on lines that are not told; none without long-term memory, or where the
    scope's kinds leave out facts."""
    if view.settings.without == "long_term" or not tells(view.query.scope, Kind.FACT):
        return Persona()
    persona = view.snapshot.persona
    if not view.query.shown:
        return persona

    def within(sources: Sequence[Source]) -> bool:
        rows = (view.snapshot.row(source.seq) for source in sources)
        return not sources or any(row is not None and view.candidates[row] for row in rows)

    return replace(
        persona,
        profile=tuple(line for line in persona.profile if within(line.sources)),
        agent_profile=tuple(line for line in persona.agent_profile if within(line.sources)),
        traits=tuple(trait for trait in persona.traits if within(trait.sources)),
        facts=tuple(fact for fact in persona.facts if within(fact.sources)),
        agent_facts=tuple(fact for fact in persona.agent_facts if within(fact.sources)),
    )
