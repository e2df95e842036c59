"""Made-up talk for speed measurements: our own words, the same for the same seed, no line twice."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_TOPICS = (
    ("the allotment", "tomatoes compost slugs beans rhubarb greenhouse seedlings mulch frost courgettes"),
    ("the choir", "rehearsal alto harmony concert conductor score tenor solo programme church"),
    ("the old van", "clutch mechanic brakes rust gearbox insurance tyres battery garage exhaust"),
    ("evening classes", "pottery kiln glaze clay wheel teacher bowl handle studio firing"),
    ("the half marathon", "training knees intervals shoes pace hill stretching medal injury tempo"),
    ("my sister's wedding", "venue flowers invitations speech dress caterer cake guests band photographer"),
    ("the new flat", "landlord boiler curtains deposit neighbours balcony paint kitchen lease shelves"),
    ("bird watching", "heron binoculars marsh warbler kestrel hide migration nest feathers dawn"),
    ("the bakery job", "sourdough oven shift flour croissants customers starter rye counter apron"),
    ("learning Portuguese", "verbs accent grammar subtitles tutor vocabulary podcast exam pronunciation nasal"),
    ("the night train", "sleeper ticket platform delay suitcase border conductor couchette station window"),
    ("board games", "dice tiles strategy rulebook league opponent auction meeples draft score"),
)
_PLACES = "Oban Lund Graz Porto Ghent Turku Brno Cork Split Bergen Leiden Arles Tartu Siena Bath Trier".split()
_PEOPLE = "Ines Tom Mirela Jonas Aoife Stefan Lucia Piotr Hanna Rafael Edith Omar Greta Milan Nora Felix".split()
_ASKED = (
    "I spent {n} hours on {topic} with {who} in {place}, and the {a} is better than the {b} now.",
    "{who} told me that the {a} needs work before {month} {n}. It is about {topic} again, in {place}.",
    "About {topic}: should I sort out the {a} first or the {b}? {who} from {place} said {n} days are enough.",
    "We lost the {a} near {place} on {month} {n}, so {who} lent me a {b}. That's {topic} for you.",
)
_ANSWERED = (
    "The {b} can wait. Look after the {a}, and ask {who} about {place} once more; {n} is a good number to start from.",
    "That sounds like progress with {topic}. Write down what you did to the {a}, and see how it stands in {month}.",
    "If {who} is right about the {a}, then {place} in {month} is soon enough. How is the {b} coming along?",
)
_MONTHS = "January February March April May June July August September October November December".split()


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """One page of made-up talk."""

    query: str
    response: str


def exchanges(seed: int) -> Iterator[Exchange]:
    """An endless talk about a dozen topics, some pages on each in turn."""
    rng = random.Random(seed)
    number = 0
    while True:
        topic, words = rng.choice(_TOPICS)
        for _ in range(rng.randint(2, 6)):
            number += 1
            a, b = rng.sample(words.split(), 2)
            filled = {
                "topic": topic,
                "a": a,
                "b": b,
                "who": rng.choice(_PEOPLE),
                "place": rng.choice(_PLACES),
                "month": rng.choice(_MONTHS),
                "n": rng.randint(2, 28),
            }
            asked, answered = rng.choice(_ASKED).format(**filled), rng.choice(_ANSWERED).format(**filled)
            yield Exchange(query=f"{asked} Note {number}.", response=f"{answered} Re {number}.")


def queries(seed: int, count: int) -> list[str]:
    """Questions on the same topics."""
    rng = random.Random(seed + 1)
    made: list[str] = []
    for _ in range(count):
        topic, words = rng.choice(_TOPICS)
        a, b = rng.sample(words.split(), 2)
        made.append(f"What did {rng.choice(_PEOPLE)} say about the {a} and the {b} in {rng.choice(_PLACES)}, {topic}?")
    return made


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One page of a longer talk: its texts, the conversation it stands in, and when it was said."""

    query: str
    response: str
    thread: str
    at: datetime


def talk(
    seed: int, vocabulary: Sequence[str], *, words: tuple[int, int], answer_words: tuple[int, int]
) -> Iterator[Said]:
    """An endless talk over years: words by Zipf's law, so that new ones keep coming; sessions of 5 to 20 pages, each
    with some words of its own; now and then a number, a date, a question. It means nothing, but costs what talk costs.

    `vocabulary` in the order of frequency; rarer words are joined of two. `words` and `answer_words` are the shortest
    and the longest text of the user and of the assistant.
    """
    rng = random.Random(seed)
    word = _Words(rng, vocabulary)
    at, session = datetime(2020, 1, 6, 9, tzinfo=UTC), 0
    while True:
        session += 1
        at += timedelta(hours=rng.uniform(2, 20))
        word.topic = [word.any() for _ in range(_TOPIC_WORDS)]
        for _ in range(rng.randint(5, 20)):
            at += timedelta(minutes=rng.uniform(1, 10))
            yield Said(
                query=_text(rng, word, rng.randint(*words)),
                response=_text(rng, word, rng.randint(*answer_words)),
                thread=f"talk-{session}",
                at=at,
            )


def questions(seed: int, vocabulary: Sequence[str], count: int) -> list[str]:
    """Questions of one sentence about such a talk, no two alike; some name a day, some ask for one, or for a number."""
    rng = random.Random(seed)
    word = _Words(rng, vocabulary)
    made: dict[str, None] = {}
    while len(made) < count:
        a, b = word.any(), word.any()
        made[
            rng.choice(_QUESTIONS).format(a=a, b=b, c=word.any(), day=rng.choice(_DAYS), place=rng.choice(_PLACES))
        ] = None
    return list(made)


class _Words:
    """Words drawn by Zipf's and Mandelbrot's law: frequency ∝ 1 / (rank + _SHIFT)."""

    def __init__(self, rng: random.Random, vocabulary: Sequence[str]) -> None:
        self._rng, self._vocabulary = rng, vocabulary
        self.topic: list[str] = []

    def any(self) -> str:
        rank = int(_SHIFT * math.exp(self._rng.random() * _SPREAD) - _SHIFT)
        known = self._vocabulary
        return known[rank] if rank < len(known) else known[rank % len(known)] + known[rank // len(known)]

    def content(self) -> str:
        return self._rng.choice(self.topic) if self.topic and self._rng.random() < _OF_TOPIC else self.any()


_TOPIC_WORDS = 24
_OF_TOPIC = 0.3
"""Share of the content words that are the session's own."""
_SHIFT = 15.0
_SPREAD = math.log(100_000 / _SHIFT)
"""100,000 different words at most."""
_GRAMMAR = 0.5
"""Share of function words: what the index leaves out."""
_GRAMMAR_WORDS = "the and of to in that it is was for on with as at by this but from or have had not are be".split()
_DAYS = ("last Tuesday", "on 9 May", "in March 2021", "two weeks ago", "yesterday", "next month", "last summer")
_QUESTIONS = (
    "What did I say about the {a} and the {b}?",
    "When did we talk about the {a} of the {b}?",
    "How many {a} were there {day}, next to the {b}?",
    "Who told me that the {a} should not be near the {b} in {place}?",
    "What happened to the {a} {day}?",
    "Which {a} did you recommend for the {b}, and why was the {c} not good enough?",
)


def _text(rng: random.Random, word: _Words, length: int) -> str:
    """Sentences of 6 to 16 words."""
    sentences: list[str] = []
    while length > 0:
        count = min(length, rng.randint(6, 16))
        length -= count
        said = [rng.choice(_GRAMMAR_WORDS) if rng.random() < _GRAMMAR else word.content() for _ in range(count)]
        if rng.random() < 0.12:
            said.append(rng.choice(_DAYS))
        if rng.random() < 0.1:
            said.append(str(rng.randint(2, 400)))
        sentences.append(" ".join(said).capitalize() + ("?" if rng.random() < 0.15 else "."))
    return " ".join(sentences)
