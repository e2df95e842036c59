"""A life of three years: what is known of somebody follows it, whatever else is said meanwhile.

Moves, jobs, a marriage, births, a dog's death, diets begun and ended, plans with dates, and likes by the hundred. At
twelve dates the profile and the facts say what is so then, and no context tells as current what is over.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from embermem import Memory, OwnerMemory
from proofs import bounded

BEGIN = datetime(2023, 1, 9, 8, tzinfo=UTC)
DAYS = 3 * 365


class Told(NamedTuple):
    """A day of the life, what is said on it, and what holds from then on: values by attribute, "" for none."""

    day: int
    text: str
    now: dict[str, str]


LIFE = (
    Told(0, "Hi, I'm Nora Vance.", {"name": "Nora Vance"}),
    Told(1, "I live in Ghent and I work as a baker.", {"lives_in": "Ghent", "works_as": "baker"}),
    Told(12, "My sister Elin lives in Oslo. I'm allergic to walnuts.", {"allergic_to": "walnuts"}),
    Told(40, "We have a dog named Biscuit.", {"has_pet": "Biscuit"}),
    Told(95, "I'm vegetarian now.", {"diet": "vegetarian"}),
    Told(150, "I plan to run the Berlin marathon in September 2023.", {"wants_to": "Berlin marathon"}),
    Told(200, "I moved to Leipzig last week.", {"lives_in": "Leipzig"}),
    Told(230, "I quit my job at the bakery. I started a new job as a teacher.", {"works_as": "teacher"}),
    Told(290, "September is over, and so is the race.", {"wants_to": ""}),
    Told(330, "I got engaged to Jonas yesterday!", {}),
    Told(480, "Jonas and I got married last Saturday.", {"marital_status": "married"}),
    Told(560, "I'm no longer vegetarian.", {"diet": ""}),
    Told(610, "My dog Biscuit died last night.", {"has_pet": ""}),
    Told(700, "Our daughter Mila was born on Sunday.", {"has_relative": "Mila"}),
    Told(760, "We moved to Turin last month.", {"lives_in": "Turin"}),
    Told(820, "I work as a translator now.", {"works_as": "translator"}),
    Told(900, "I want to visit Elin in Oslo in July 2025.", {}),
    Told(960, "I live in Porto now.", {"lives_in": "Porto"}),
    Told(1050, "My sister moved to Bergen.", {}),
)  # fmt: skip
CHECKED = (20, 60, 120, 180, 240, 320, 500, 590, 650, 720, 850, 1000)
"""The days on which it is asked what is so."""
ASKED = {
    "lives_in": "Where do I live?",
    "works_as": "What do I work as?",
    "diet": "What should we cook tonight?",
    "has_pet": "Do I have a pet?",
    "wants_to": "Which race do I want to run?",
}
_THINGS = (
    "{} jazz|{} soups|{} crime novels|old {} films|{} chess problems|{} rock songs|{} tiles|{} bread|{} gardens|{} maps"
)
_KINDS = (
    "French Polish modern baroque Sunday coastal urban Nordic alpine smoky quiet silent early late Georgian Cuban "
    "Breton Welsh Danish Bavarian Tuscan Catalan Flemish Irish Persian Turkish Moroccan Chilean Peruvian Korean"
).split()
_TALK = (
    "What a day, the tram was late again.", "Can you explain how sourdough works?", "Haha, that is funny.",
    "How do I get red wine out of a carpet?", "It rained all morning.", "Thanks, that helped a lot!",
    "Which film would you watch with a cold?", "If I lived in Rome, I would eat ice cream every day.",
    'My neighbour said: "I live in Paris and I am a pilot."', "Imagine I'm a surgeon called Tim. Greet me.",
)  # fmt: skip


def pages(rng: random.Random, count: int) -> Iterator[tuple[datetime, str]]:
    """The life's pages among `count` others, in the order in which they are said."""
    likes = [f"I like {thing.format(kind)}." for kind in _KINDS for thing in _THINGS.split("|")]
    rng.shuffle(likes)
    said = [(told.day * 24.0, told.text) for told in LIFE]
    said += [(rng.uniform(1, DAYS * 24), rng.choice(_TALK)) for _ in range(count)]
    said += [(rng.uniform(1, DAYS * 24), likes.pop()) for _ in range(bounded(120, proofs=len(likes)))]
    return ((BEGIN + timedelta(hours=hours), text) for hours, text in sorted(said))


def known_on(day: int) -> dict[str, str]:
    """What is so on a day, by attribute."""
    return {attribute: value for told in LIFE if told.day <= day for attribute, value in told.now.items()}


class Clock:
    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OwnerMemory, dict[int, tuple[str, ...]]]]:
    """The memory after three years, and for each day that is checked what the contexts of that day told as current."""
    clock, told = Clock(), dict[int, tuple[str, ...]]()
    path = Path(tmp_path_factory.mktemp("three-years") / "life.db")
    with Memory(path, embedder="hashed", background=False, clock=clock) as memory:
        nora = memory.of("nora")
        waiting = sorted(CHECKED)
        for when, text in pages(random.Random(7), bounded(30, proofs=3800)):
            while waiting and BEGIN + timedelta(days=waiting[0]) < when:
                clock.now = BEGIN + timedelta(days=waiting[0])
                nora.settle()
                contexts = (nora.recall(query, budget=300) for query in ASKED.values())
                told[waiting.pop(0)] = tuple(f.text for c in contexts for f in c.facts if f.retired_at is None)
            clock.now = when
            nora.add(text, "Noted.", at=when)
        nora.settle()
        yield nora, told


def test_on_every_day_the_facts_and_the_profile_say_what_was_so_and_no_context_tells_as_current_what_is_over(
    lived: tuple[OwnerMemory, dict[int, tuple[str, ...]]],
) -> None:
    for day in bounded(CHECKED[::3], proofs=CHECKED):
        nora, _ = lived
        when = BEGIN + timedelta(days=day)
        known = [fact for archived in (False, True) for fact in nora.facts(None, archived, person="user", as_of=when)]
        true = [fact for archived in (False, True) for fact in nora.facts(None, archived, person="user", valid_at=when)]
        for asked, facts in (("as_of", known), ("valid_at", true)):
            for attribute, value in known_on(day).items():
                values = [fact.value for fact in facts if fact.attribute == attribute]
                if value:
                    assert any(value in one for one in values), (attribute, values, asked)
                elif attribute in ("diet", "has_pet"):
                    assert not values, (attribute, values, asked)

    for day in CHECKED:
        nora, _ = lived
        profile = {line.name: line.value for line in nora.profile(as_of=BEGIN + timedelta(days=day))}
        so = known_on(day)
        assert (profile["name"], profile["home"], profile["occupation"]) == (
            "Nora Vance",
            so["lives_in"],
            so["works_as"],
        )

    _, told = lived
    for day, current in told.items():
        over = {
            value
            for one in LIFE
            if one.day <= day
            for attribute, value in one.now.items()
            if value and attribute in ("lives_in", "works_as", "diet", "wants_to") and known_on(day)[attribute] != value
        }
        for value in over:
            assert not [text for text in current if value in text and "worked" not in text and "moved" not in text], day


def test_in_the_end_relatives_and_what_matters_are_known_and_nothing_that_was_said_for_fun_or_of_others(
    lived: tuple[OwnerMemory, dict[int, tuple[str, ...]]],
) -> None:
    nora, _ = lived
    assert {line.name: line.value for line in nora.profile("Elin")}["home"] == "Bergen"
    assert {"Elin", "Mila"} <= {person.name for person in nora.people()}

    nora, _ = lived
    held = {(fact.attribute, fact.value) for fact in nora.facts(person="user")}
    assert {("allergic_to", "walnuts"), ("lives_in", "Porto")} <= held
    assert any(attribute == "has_relative" and "Mila" in value for attribute, value in held)

    nora, _ = lived
    every = (*nora.facts(), *nora.facts(archived=True), *nora.past_facts())
    assert not [fact.text for fact in every if any(word in fact.text for word in ("Rome", "Paris", "pilot", "surgeon"))]
