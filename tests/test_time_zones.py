"""In whose zone a message is said that names no time."""

from __future__ import annotations

from datetime import UTC, datetime

from scripted import Clock, Opener


def test_tomorrow_is_that_of_the_owners_zone_where_a_message_has_no_time(opened: Opener) -> None:
    clock = Clock(datetime(2026, 11, 24, 3, tzinfo=UTC))
    alice = opened(clock=clock, facts_when="read").of("alice", timezone="America/New_York")
    alice.add("I plan to visit Oslo tomorrow.", "Have a good trip.")
    alice.settle()
    (said, _) = alice.utterances()
    assert f"{said.said_at:%Y-%m-%d %H:%M}" == "2026-11-23 22:00"
    (plan,) = [fact for fact in alice.facts() if "Oslo" in fact.text]
    assert "24 November 2026" in plan.text


def test_yesterday_in_a_query_is_counted_from_the_time_of_the_query_in_the_owners_zone(opened: Opener) -> None:
    alice = opened(clock=Clock(datetime(2026, 11, 24, 3, tzinfo=UTC))).of("alice", timezone="America/New_York")
    for day in (20, 21, 22, 23):
        alice.add(f"I ran {day} laps.", at=datetime(2026, 11, day, 12), thread=f"t{day}")
    assert alice.search("What did I do yesterday?", 1)[0].utterance.text == "I ran 22 laps."
    assert alice.recall("What did I do yesterday?").hits[0].utterance.text == "I ran 22 laps."
    assert alice.search("What did I do yesterday?", 1, at="2026-11-22T03:00:00Z")[0].utterance.text == "I ran 21 laps."
    assert alice.search("What did I do yesterday?", 1, at="2026-11-22")[0].utterance.text == "I ran 21 laps."
