"""Recall of the past: as a copy of the store taken then would answer, and by what was true at a time."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from embermem import Context, OwnerMemory
from embermem.core.config import Preset
from embermem.core.errors import InputError
from lives import live
from scripted import NOW, Clock, Opener

BOTH: tuple[Preset, ...] = ("default", "paper")

# ------------------------------------------------------------------------------------------------- known at a time


def test_moments_of_one_owner_do_not_mix_and_each_tells_what_was_true_and_known_then(
    opened: Opener, clock: Clock
) -> None:
    mine = opened(facts_when="read").of("alice")
    moved(mine, clock)
    before, after = NOW + timedelta(minutes=30), clock.now
    for _ in range(2):
        for preset in BOTH:
            assert told(mine.recall("Where do I live?", as_of=before, preset=preset)) == ["alice lives in Lyon"]
            assert told(mine.recall("Where do I live?", as_of=after, preset=preset)) == ["alice lives in Nantes"]
    assert {hit.utterance.seq for hit in mine.search("live", as_of=before)} == {1, 2, 3, 4}

    assert told(mine.recall("Where do I live?")) == ["alice lives in Nantes"]
    assert "alice lives in Lyon" in told(mine.recall("Where did I live in January?"))
    assert "alice lives in Lyon" in told(mine.recall("Where did I live on 9 February 2026?"))
    assert told(mine.recall("Where did I live on 9 April 2026?")) == ["alice lives in Nantes"]
    assert "(until 3 March 2026)" in mine.recall("Where did I live in January?").text

    for preset in BOTH:
        context = mine.recall("Where do I live?", valid_at="2026-02-20", preset=preset)
        assert told(context) == ["alice lives in Lyon"]
        assert "alice lives in Lyon (said 2026-01-10) (until 3 March 2026) [#1]" in context.text
        assert "Nantes" not in context.text
        assert context.persona == mine.persona(valid_at="2026-02-20")
    assert told(mine.recall("Where do I live?", valid_at="2026-04-01")) == ["alice lives in Nantes"]
    assert told(mine.recall("Where do I live?", valid_at="2025-04-01")) == []

    context = mine.recall("Where do I live?", valid_at="2026-04-01", as_of=NOW + timedelta(minutes=30))
    assert told(context) == ["alice lives in Lyon"]
    assert "until" not in context.text

    at, query = clock.now, "What did we see?"
    then = mine.recall(query)
    clock.go(60)
    mine.add("We saw an otter.", "Nice.")
    mine.correct(mine.facts()[0].id, "lives in Brest", value="Brest")
    mine.settle()
    assert mine.recall(query, as_of=at).text == then.text != mine.recall(query).text


def test_a_time_before_the_first_word_knows_nothing_and_one_to_come_knows_all(opened: Opener, clock: Clock) -> None:
    mine = opened().of("alice")
    assert mine.recall("heron", as_of=NOW).hits == ()
    moved(mine, clock)
    assert mine.recall("heron", as_of=NOW - timedelta(days=1)).text == ""
    ahead = clock.now + timedelta(days=1)
    assert mine.recall("heron", as_of=ahead).text == mine.recall("heron", at=ahead).text


def test_a_look_back_knows_what_is_learnt_and_forgotten_after_it(opened: Opener, clock: Clock) -> None:
    mine = opened(facts_when="read").of("alice")
    moved(mine, clock)
    then = "2026-05-01"
    assert told(mine.recall("Where do I live?", valid_at=then)) == ["alice lives in Nantes"]
    mine.add("We saw an otter.", "Nice.")
    mine.settle()
    assert told(mine.recall("Where do I live?", valid_at=then)) == ["alice lives in Nantes"]
    mine.add("I live in Brest now.", "Oh.", at="2026-04-03T10:00:00+02:00")
    mine.settle()
    assert told(mine.recall("Where do I live?", valid_at=then)) == ["alice lives in Brest"]

    mine = opened(facts_when="read").of("alice", "2")
    first = moved(mine, clock)
    at = clock.now
    mine.recall("Where do I live?", as_of=at - timedelta(minutes=45))
    mine.forget(page=first)
    for asked in ({"as_of": at - timedelta(minutes=45)}, {"as_of": at}, {"valid_at": "2026-02-01"}):
        assert "Lyon" not in mine.recall("Where do I live?", **asked).text


def test_the_persona_of_a_recall_is_the_one_that_is_read(opened: Opener, clock: Clock) -> None:
    memory = opened(facts_when="read", user_facts=3)
    mine = memory.of("alice")
    live(mine, clock)
    clock.go(60)
    born = {"attribute": "born_in", "valid_from": "1994-05-03"}
    mine.learn([{"text": f"was born in {city}", "value": city, **born} for city in ("Rome", "Oslo")])
    clock.go(60)
    mine.retire(mine.facts()[0].id)
    spent = (clock.now - NOW).total_seconds()
    moments = [NOW + timedelta(seconds=spent * share / 6) for share in range(1, 7)]
    assert any(fact.conflicts for at in moments for fact in mine.persona(as_of=at).facts)
    said = [datetime(2026, 5, day, 12, tzinfo=NOW.tzinfo) for day in (1, 2, 3)]
    for at in moments:
        assert mine.recall("Where?", as_of=at).persona == mine.persona(as_of=at)
        for then in said:
            context = mine.recall("Where?", as_of=at, valid_at=then)
            assert context.persona == mine.persona(as_of=at, valid_at=then)
    for then in said:
        assert mine.recall("Where?", valid_at=then).persona == mine.persona(valid_at=then)


def test_what_is_no_time_or_before_memory_was_begun_anew_is_refused(opened: Opener, clock: Clock) -> None:
    mine = opened().of("alice")
    with pytest.raises(InputError, match="as_of = 'soon'"):
        mine.recall("Where do I live?", as_of="soon")
    with pytest.raises(InputError, match="valid_at = 'soon'"):
        mine.search("Where do I live?", valid_at="soon")

    memory = opened()
    mine = memory.of("alice", "2")
    moved(mine, clock)
    clock.go(60)
    mine.understand_anew()
    with pytest.raises(InputError, match="anew"):
        mine.recall("Where do I live?", as_of=NOW + timedelta(minutes=30))


# -------------------------------------------------------------------------------------------------- true at a time


def moved(mine: OwnerMemory, clock: Clock) -> str:
    """Lyon in January, a heron in February, Nantes since March: told within an hour. The first page."""
    first = mine.add("I live in Lyon.", "Nice.", at="2026-01-10T10:00:00+02:00", thread="one")
    mine.add("We saw a heron.", "Nice.", at="2026-02-10T10:00:00+02:00", thread="one")
    mine.settle()
    clock.go(3600)
    mine.add("I live in Nantes now.", "Oh.", at="2026-03-03T10:00:00+02:00", thread="two")
    mine.settle()
    return first


def told(context: Context) -> list[str]:
    return [fact.text for fact in context.facts if fact.attribute == "lives_in"]


def test_what_was_told_later_of_a_time_is_found_at_that_time_in_chinese_too_and_goals_stand_then(
    opened: Opener, clock: Clock
) -> None:
    mine = opened(facts_when="read").of("alice")
    mine.add("I have lived in Brest since February 2026.", "Oh.", at="2026-03-03T10:00:00+02:00")
    mine.add("We saw a heron.", "Nice.", at="2026-03-04T10:00:00+02:00")
    mine.settle()
    fact = next(fact for fact in mine.facts() if fact.attribute == "lives_in")
    assert fact.valid_from is not None
    at = fact.valid_from + timedelta(days=1)
    assert {hit.utterance.seq for hit in mine.search("Where do I live?", valid_at=at)} == {1}
    assert mine.search("Where do I live?", valid_at=fact.valid_from - timedelta(days=1)) == ()

    mine = opened(facts_when="read").of("alice", "2")
    home = {"subject": "user", "attribute": "lives_in"}
    mine.learn([{**home, "text": "住在北京", "value": "北京", "valid_from": "2026-01-10T10:00:00+08:00"}])
    mine.learn([{**home, "text": "住在上海", "value": "上海", "valid_from": "2026-03-03T10:00:00+08:00"}])
    assert "（至2026年3月3日）" in mine.recall("我住在哪里？", valid_at="2026-02-01").text

    mine = opened(facts_when="read").of("alice", "3")
    mine.add("I want to run a marathon.", "Good luck.", at="2026-04-10T10:00:00+02:00")
    mine.settle()
    goal = next(fact for fact in mine.facts() if fact.attribute in ("goal", "wants", "wants_to"))
    clock.go(3600)
    mine.retire(goal.id)
    stands = [
        note for note in mine.recall("Shall I go to the gym?", valid_at="2026-04-20").notes if "by its theme" in note
    ]
    assert len(stands) == 1
    assert not [note for note in mine.recall("Shall I go to the gym?").notes if "by its theme" in note]


# ---------------------------------------------------------------------------------------------------------- memory


def test_moments_are_weighed_with_what_is_held(opened: Opener, clock: Clock) -> None:
    memory = opened(facts_when="read")
    mine = memory.of("alice")
    moved(mine, clock)
    mine.recall("heron")
    before = memory._parts.system.resident_bytes
    for minutes in range(1, 20):
        mine.recall("heron", as_of=NOW + timedelta(minutes=minutes))
    once = memory._parts.system.resident_bytes
    for minutes in range(1, 20):
        mine.recall("heron", as_of=NOW + timedelta(minutes=minutes), valid_at=NOW)
    assert before < once == pytest.approx(memory._parts.system.resident_bytes, rel=0.2)
