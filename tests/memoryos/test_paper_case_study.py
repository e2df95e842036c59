"""The MemoryOS paper's case study (§4.5, Figure 4) in words of our own, replayed without a model: what was said of a
wetland park is there when it is asked for weeks later, and who wants to get fit is reminded when a burger comes up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from proofs import bounded
from scripted import Clock

BEGIN = datetime(2026, 4, 4, 18, tzinfo=UTC)
ASKED = BEGIN + timedelta(days=40)
LIFE = (
    (0, "I spent the whole morning at the wetland park on the edge of town.", "Nice! What did you do there?"),
    (0, "I looked at the scenery first, the reeds were golden in the sun.", "That sounds peaceful."),
    (0, "Then I went for a run on the boardwalk around the wetland.", "How far did you get?"),
    (0, "Five kilometres, and two squirrels of the wetland park chased each other up a willow.", "What a sight."),
    (3, "I want to lose weight, my trousers do not fit any more.", "Then let us make a plan together."),
    (3, "I would like to get fit by summer, so I signed up at a gym.", "Good step. How often will you go?"),
    (3, "Three times a week, and no fast food while I am losing weight.", "I will remind you of that."),
    (8, "My boss moved the budget meeting to Monday again.", "Do you have the slides ready?"),
    (8, "The slides for the budget meeting still lack the forecast.", "Shall we draft the forecast?"),
    (8, "Yes, the forecast needs the sales of March.", "March sales first, then."),
    (13, "My sister Nora adopted a grey kitten.", "What is the kitten called?"),
    (13, "The kitten is called Pebble and sleeps in a shoe box.", "A good place to sleep."),
    (17, "Which laptop would you buy for video editing?", "One with a good graphics card."),
    (17, "The laptop should also be light, I travel by train.", "Then a 14 inch model."),
    (21, "I booked a train to Vienna for the concert.", "Which concert is it?"),
    (21, "A string quartet plays Haydn in Vienna.", "Enjoy the quartet."),
    (26, "The tap in my kitchen drips all night.", "It may need a new washer."),
    (26, "I bought a washer, but the tap is too old.", "Then call a plumber."),
    (29, "The plumber came and the kitchen tap is new.", "At last a quiet night."),
    (31, "What should I read on the train?", "Perhaps a short novel."),
    (31, "A crime novel then.", "Good choice for a train."),
    (33, "I slept badly today.", "I am sorry to hear that."),
    (33, "It was the storm.", "It should calm down tonight."),
    (34, "The storm broke the umbrella of my neighbour.", "Strong wind indeed."),
    (34, "I lent my neighbour mine.", "That was kind."),
)
WETLAND = "Do you remember what I did at the wetland park a few weeks ago?"
BURGER = "I feel like having a big burger tonight."


@pytest.fixture(
    scope="module",
    params=bounded(
        [("paper", "hashed"), ("default", "hashed")],
        proofs=[("paper", "hashed"), ("default", "hashed"), ("paper", "e5")],
    ),
    ids="-".join,
)
def mia(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerMemory]:
    preset, embedder = request.param
    clock = Clock(BEGIN)
    settings: dict[str, Any] = {"preset": preset, "embedder": embedder, "background": False, "clock": clock}
    with Memory(Path(tmp_path_factory.mktemp("case") / "m.db"), **settings) as memory:
        mia = memory.of("mia")
        for n, (days, query, response) in enumerate(LIFE):
            clock.now = BEGIN + timedelta(days=days, minutes=n)
            mia.add(query, response, at=clock.now, thread=f"day {days}")
            if n % 2 == 0:
                mia.settle()
        clock.now = ASKED
        yield mia


def asked(mia: OwnerMemory, query: str) -> str:
    """The context, within a budget that a sixth of the life would fill; preset `paper` ignores it."""
    return mia.recall(query, at=ASKED, budget=250).text


def test_weeks_later_the_park_is_remembered_and_who_longs_for_a_burger_is_known_to_want_to_get_fit(
    mia: OwnerMemory,
) -> None:
    text = asked(mia, WETLAND)
    assert all(word in text for word in ("wetland park", "scenery", "run on the boardwalk", "squirrels", "2026-04-04"))
    assert "budget meeting" not in text
    fills = mia.recall(WETLAND, at=ASKED).preset == "paper"  # its k pages, whatever they are of
    assert fills or "Vienna" not in text

    text = asked(mia, BURGER)
    assert "lose weight" in text or "get fit" in text
    assert fills or "Vienna" not in text


def test_what_is_often_asked_for_becomes_part_of_who_the_user_is(tmp_path: Path) -> None:
    # The gym's segment has one page: with three visits its heat is 3 + 1 + R < 5, with a fourth it is above τ = 5, and
    # the wish enters the user knowledge base, from which it is told in whatever words the burger comes up.
    clock = Clock(BEGIN)
    with Memory(tmp_path / "m.db", preset="paper", embedder="hashed", background=False, clock=clock, top_m=1) as memory:
        mia = memory.of("mia")
        for _, query, response in LIFE:
            clock.go(60)
            mia.add(query, response)
        mia.settle()
        assert mia.facts() == ()
        for _ in range(4):
            assert mia.facts() == ()
            clock.go(60)
            mia.visit(mia.recall("When do I go to the gym to get fit by summer?"))
            mia.settle()
        assert any("get fit by summer" in fact.text for fact in mia.facts())
        context = mia.recall("Shall we order burgers?")
        assert "wants to get fit by summer" in context.text.split("\n\n")[0]
