"""Made-up talk for speed measurements: our own words, the same for the same seed, no line twice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

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
