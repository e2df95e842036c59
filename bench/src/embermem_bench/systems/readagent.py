"""ReadAgent (arXiv 2402.09727): a long talk is read in episodes, remembered by their gists, and looked up again.

Learning: each thread is cut into episodes, at pauses that the model chooses, and each episode is put into a gist.
Recall: the model sees all gists and the question, and names the episodes to look up. What is recalled are the gists in
order, with the whole talk of those looked up in their place.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from embermem.core.equations import jaccard
from embermem.core.types import Context, Owner, Page, Scope, ThreadId, Utterance
from embermem.languages.words import runs, terms, unspaced
from embermem.prompts.data import one_line
from embermem.prompts.rendering import day, header, utterance_line
from embermem.protocols import Purpose
from embermem_bench.systems.numbers import ReadAgentNumbers
from embermem_bench.systems.recorded import Kit, Piece, RecordedSystem, only_shown, similarities
from embermem_bench.systems.records import Record, RecordId, Written

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors

_SPEAKER_CHARS, _UTTERANCE_CHARS, _QUESTION_CHARS = 40, 4_000, 2_000
"""Of a name, an utterance and a question as the model is shown them; of a longer one the beginning and the end."""
_TINY = 1e-12
_BESIDE, _KEYWORDS = 3, 20
"""Without a model: utterances on each side of a break point, and their keywords, by which it is judged."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Episode(Record):
    """What was said in a thread between two pauses; `text` is its gist, `vector` the middle of its utterances'.

    The last one of a thread is unfinished.
    """

    kind: ClassVar[str] = "readagent.episode"

    thread: ThreadId


@dataclass(frozen=True, kw_only=True, slots=True)
class Pause:
    """Where to pause: the number of a break point."""

    schema_name: ClassVar[str] = "Pause"
    point: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Gist:
    """An episode, shortened."""

    schema_name: ClassVar[str] = "Gist"
    gist: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LookUp:
    """Which episodes to read again, the most telling first."""

    schema_name: ClassVar[str] = "LookUp"
    episodes: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class NextEpisode:
    """Which episode to read next; 0 if none."""

    schema_name: ClassVar[str] = "NextEpisode"
    episode: int


class ReadAgent(RecordedSystem):
    """A MemorySystem that remembers gists and looks up what it needs."""

    name: ClassVar[str] = "readagent"
    kinds: ClassVar[tuple[type[Record], ...]] = (Episode,)
    batch: ClassVar[int] = 64
    """A thread's last episode is made again with each batch that goes on with it; a failure costs one batch."""

    def __init__(self, kit: Kit, numbers: ReadAgentNumbers | None = None) -> None:
        super().__init__(kit)
        self.numbers = numbers or ReadAgentNumbers()

    # ------------------------------------------------------------------------------------- reading, paper §3

    def learn(self, owner: Owner, pages: Sequence[Page]) -> Written:
        """The episodes of every thread that goes on, from its unfinished one on."""
        said = {utterance.seq: utterance for utterance in self.said(owner)}
        unfinished = {episode.thread: episode for episode in self.kept(owner, Episode)}
        keep: list[Episode] = []
        for thread, new in _by_thread(pages).items():
            last = unfinished.get(thread)
            talk = [*(said[seq] for seq in last.sources), *new] if last else new
            for number, part in enumerate(self._paginated(owner, talk)):
                sources = tuple(utterance.seq for utterance in part)
                if last and sources == last.sources:
                    continue
                gist = self._gist(owner, part)
                keep.append(
                    Episode(
                        id=last.id if last and number == 0 else self.new_id(),
                        text=gist,
                        at=part[0].said_at,
                        sources=sources,
                        vector=_middle(self.embed(*(_line(utterance) for utterance in part))),
                        thread=thread,
                    )
                )
        return Written(keep=keep)

    def _paginated(self, owner: Owner, talk: Sequence[Utterance]) -> Iterator[Sequence[Utterance]]:
        """The talk in parts, each read up to the next pause."""
        while talk:
            end = self._pause(owner, talk)
            yield talk[:end]
            talk = talk[end:]

    def _pause(self, owner: Owner, talk: Sequence[Utterance]) -> int:
        """How many utterances to read until the next pause: all, if they are no more than the most words."""
        numbers, read, ends = self.numbers, 0, list[int]()
        for utterance in talk:
            read += words(utterance.text)
            if ends and read > numbers.page_words_most:
                break
            ends.append(read)
        if len(ends) == len(talk):
            return len(talk)
        points = [n for n, end in enumerate(ends, 1) if end >= numbers.page_words_least] or [len(ends)]
        if len(points) == 1:
            return points[0]
        if self.kit.asker is None:
            seen = talk[: len(ends) + 1]
            return min(points, key=lambda n: (self._shared(seen[max(0, n - _BESIDE) : n], seen[n : n + _BESIDE]), -n))

        def check(answer: Pause) -> None:
            if not 1 <= answer.point <= len(points):
                raise ValueError(f"{answer.point} is no break point; they are 1 to {len(points)}.")

        shown = self._with_points(talk[: len(ends)], points)
        return points[self.ask(owner, Purpose.REMEMBER, "readagent_pause", Pause, shown, check).point - 1]

    def _shared(self, before: Sequence[Utterance], after: Sequence[Utterance]) -> float:
        """How much of what is talked of on both sides of a break point is the same."""
        K_s, K_p = (
            frozenset(self.kit.keywords("\n".join(u.text for u in side), _KEYWORDS)) for side in (before, after)
        )
        return jaccard(K_s, K_p)

    def _with_points(self, talk: Sequence[Utterance], points: Sequence[int]) -> str:
        number = {n: f"[{place}]" for place, n in enumerate(points, 1)}
        lines = [[_line(utterance), *([number[n]] if n in number else [])] for n, utterance in enumerate(talk, 1)]
        return "\n".join(line for some in lines for line in some)

    def _gist(self, owner: Owner, part: Sequence[Utterance]) -> str:
        """The gist of an episode; of a few words, the episode itself."""
        lines, limit = [_line(utterance) for utterance in part], self.numbers.gist_chars
        if sum(words(utterance.text) for utterance in part) <= self.numbers.gist_words:
            return one_line(" ".join(lines), limit)
        if self.kit.asker is None:
            return self.kit.condense(lines, limit) or one_line(" ".join(lines), limit)
        shown = "\n".join(_dated(part))
        return one_line(self.ask(owner, Purpose.REMEMBER, "readagent_gist", Gist, shown, _not_empty).gist, limit)

    # --------------------------------------------------------------------------------------- looking up, paper §3

    def recall(
        self,
        owner: Owner,
        query: str,
        *,
        at: datetime | None = None,
        budget: int | None = None,
        thread: ThreadId | None = None,
        scope: Scope | None = None,
    ) -> Context:
        """All gists in order, with the talk of the episodes looked up in their place. Asks the model, if there is one:
        raises ModelError, ModelWait.

        In a budget come first the episodes looked up, whole or else by their gist, then the other gists.
        """
        episodes = sorted(self.kept(owner, Episode, scope), key=lambda episode: episode.sources)
        said = {utterance.seq: utterance for utterance in self.said(owner, scope)}
        talks = {episode.id: [said[seq] for seq in episode.sources] for episode in episodes}
        gists = {episode.id: f"{header(talks[episode.id][0])} {episode.text}" for episode in episodes}
        question = _Question(owner=owner, text=query, at=at or self.kit.clock(), episodes=episodes, talks=talks)
        looked_up = self._looked_up(question) if episodes else {}
        pieces: list[Piece] = []
        asked, left = set(terms(query)), math.inf if budget is None else budget
        for episode, score in looked_up.items():
            talk = talks[episode.id]
            text = next((text for text in (_whole(talk), gists[episode.id]) if self.cost(text) <= left), None)
            left -= self.cost(text) if text else 0
            telling = sorted(talk, key=lambda utterance: -len(asked.intersection(terms(utterance.text))))
            seqs = tuple(utterance.seq for utterance in telling)
            pieces.append(Piece(text=text or gists[episode.id], score=score, seqs=seqs))
        pieces += [Piece(text=gists[e.id], score=0.0, seqs=e.sources) for e in episodes if e not in looked_up]
        return self.context(owner, query, pieces, budget=budget, order=lambda piece: min(piece.seqs))

    def _looked_up(self, question: _Question) -> dict[Episode, float]:
        """The episodes to read again, the most telling first, each with its score: 1, 1/2, 1/3 … where the model named
        them, their similarity to the question without a model."""
        near = similarities(self.embed(question.text)[0], question.episodes)
        order = sorted(range(len(near)), key=lambda n: -near[n])
        if self.kit.asker is None:
            return {question.episodes[n]: near[n] for n in order[: self.numbers.lookup]}
        shown = [question.episodes[n] for n in sorted(order[: self.numbers.shown_gists])]
        named = self._in_turn(question, shown) if self.numbers.sequential else self._at_once(question, shown)
        return {shown[n - 1]: 1.0 / place for place, n in enumerate(named, 1)}

    def _at_once(self, question: _Question, shown: Sequence[Episode]) -> Sequence[int]:
        """ReadAgent-P: one look at the gists names all."""
        most = self.numbers.lookup

        def check(answer: LookUp) -> None:
            only_shown(answer.episodes, len(shown), "{} is no episode shown; they are 1 to {}.")

        text = question.shown(shown, ())
        answer = self.ask(question.owner, Purpose.RECALL, "readagent_lookup", LookUp, text, check, most=str(most))
        return list(dict.fromkeys(answer.episodes))[:most]

    def _in_turn(self, question: _Question, shown: Sequence[Episode]) -> Sequence[int]:
        """ReadAgent-S: the model names one, reads it, and may name another."""
        named: list[int] = []

        def check(answer: NextEpisode) -> None:
            if answer.episode in named or not 0 <= answer.episode <= len(shown):
                raise ValueError(f"{answer.episode} is no episode that could be read next; 0 is none.")

        while len(named) < min(self.numbers.lookup, len(shown)):
            text = question.shown(shown, named)
            answer = self.ask(question.owner, Purpose.RECALL, "readagent_next", NextEpisode, text, check)
            if answer.episode == 0:
                break
            named.append(answer.episode)
        return named


@dataclass(frozen=True, kw_only=True, slots=True)
class _Question:
    """What is asked, when, and what it is asked of."""

    owner: Owner
    text: str
    at: datetime
    episodes: Sequence[Episode]
    talks: Mapping[RecordId, Sequence[Utterance]]

    def shown(self, episodes: Sequence[Episode], whole: Collection[int]) -> str:
        """The question and the numbered gists; those of `whole` with their talk."""
        lines = [f"Question, asked on {day(self.at)}: {one_line(self.text, _QUESTION_CHARS)}"]
        for number, episode in enumerate(episodes, 1):
            lines.append(f"{number}. ({day(episode.at)}) {episode.text}")
            lines += [f"   {_line(utterance)}" for utterance in self.talks[episode.id] if number in whole]
        return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------------- the talk


def words(text: str) -> int:
    """Words of a text; two Chinese, Japanese or Korean characters count as one."""
    return sum((len(run) + 1) // 2 if unspaced(run) else 1 for run in runs(text))


def _by_thread(pages: Sequence[Page]) -> Mapping[ThreadId, list[Utterance]]:
    new: dict[ThreadId, list[Utterance]] = {}
    for page in pages:
        new.setdefault(page.thread, []).extend(page.utterances)
    return new


def _middle(vectors: Vectors) -> Vector:
    """The mean of the vectors, of length 1."""
    mean: Vector = vectors.mean(axis=0)
    mean /= max(float(mean @ mean) ** 0.5, _TINY)
    return mean


def _whole(talk: Sequence[Utterance]) -> str:
    """An episode as it is recalled: under each day's head what was said."""
    days = groupby(talk, key=lambda utterance: day(utterance.said_at))
    parts = [list(same) for _, same in days]
    return "\n".join(line for part in parts for line in (header(part[0]), *map(utterance_line, part)))


def _dated(talk: Sequence[Utterance]) -> Iterator[str]:
    """An episode as the model is shown it: under each day what was said."""
    for date, same in groupby(talk, key=lambda utterance: day(utterance.said_at)):
        yield date
        yield from map(_line, same)


def _line(utterance: Utterance) -> str:
    return f"{one_line(utterance.speaker, _SPEAKER_CHARS)}: {one_line(utterance.text, _UTTERANCE_CHARS)}"


def _not_empty(answer: Gist) -> None:
    if not answer.gist.strip():
        raise ValueError("The gist is empty.")
