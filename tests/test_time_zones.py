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
