"""MemoryBank: exchanges, a diary, a portrait, and the forgetting curve; the paper's steps by hand.

Its published code inverts the curve, forgets at random from the only copy, and for every user at once: not here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Scope
from embermem.core.equations import retention
from embermem.core.errors import ModelError
from embermem.testing.model_server import ModelServer
from embermem_bench.systems import OwnerSystem, SystemMemory, open_system
from embermem_bench.systems.memorybank import Day, Exchange, MemoryBank, Overview, Portrait, lot
from embermem_bench.systems.records import Record, RecordId
from memory_systems.answered import Answered
from memory_systems.conftest import SystemOpener, fresh
from scripted import NOW, Clock

HERON = ("I saw a grey heron in the wetland park.", "How lovely!")
TRAM = ("Half an hour by tram, with my sister Ana.", "Greetings to Ana.")
BREAD = ("Ana bakes rye bread every Sunday.", "That smells good already.")

AnyKind = TypeVar("AnyKind", bound=Record)


class Told:
    """Mia's memory in a store of the test's folder, with a model that answers what the test gives."""

    def __init__(self, folder: Path, server: ModelServer, clock: Clock, **options: object) -> None:
        self.model = Answered()
        server.reply_with(self.model)
        self.memory = open_system(
            "memorybank",
            folder / "memorybank.db",
            options=options,
            model="scripted",
            clock=clock,
            embedder="hashed",
            background=False,
            model_url=server.url,
            model_key="none",
            model_retries=0,
        )
        self.owner = self.memory.of("mia")


@pytest.fixture
def mia(tmp_path: Path, model_server: ModelServer, clock: Clock) -> Told:
    return Told(tmp_path, model_server, clock)


def tell(owner: OwnerSystem, *talk: tuple[str, str], day: int, thread: str = "s1") -> None:
    for query, response in talk:
        owner.add(query, response, at=datetime(2026, 4, day, 10, tzinfo=UTC), thread=thread)


def kept(memory: SystemMemory, kind: type[AnyKind], user: str = "mia") -> tuple[AnyKind, ...]:
    system = memory.system
    assert isinstance(system, MemoryBank)
    return system.kept(memory.of(user).owner, kind)


def texts(records: Sequence[Record]) -> list[tuple[tuple[int, ...], str]]:
    return [(record.sources, record.text) for record in records]


# ------------------------------------------------------------------------------------------------------- the paper


def test_a_day_is_noted_when_it_is_over_and_all_days_at_the_end_and_again_when_it_goes_on(
    tmp_path: Path, model_server: ModelServer, clock: Clock
) -> None:
    mia = Told(fresh(tmp_path), model_server, clock)
    tell(mia.owner, HERON, TRAM, day=2)
    tell(mia.owner, BREAD, day=5, thread="s2")
    mia.model.give("DayEvents", {"text": "To the park by tram."}, {"text": "Of rye bread."})
    mia.model.give("DayInsight", {"text": "Watches birds."}, {"text": "Close to her sister."})
    mia.model.give("AllEvents", {"text": "A trip, and bread."})
    mia.model.give("UserPortrait", {"text": "A quiet person."})
    assert mia.owner.settle() == 3
    assert mia.model.names() == [
        "DayEvents", "DayInsight", "DayEvents", "DayInsight", "AllEvents", "UserPortrait",
    ]  # fmt: skip
    assert mia.model.shown("DayEvents")[0] == (
        "2026-04-02\n"
        "user mia: I saw a grey heron in the wetland park.\n"
        "agent assistant: How lovely!\n"
        "user mia: Half an hour by tram, with my sister Ana.\n"
        "agent assistant: Greetings to Ana."
    )
    assert mia.model.shown("AllEvents") == ["2026-04-02: To the park by tram.\n2026-04-05: Of rye bread."]
    assert mia.model.shown("UserPortrait") == ["2026-04-02: Watches birds.\n2026-04-05: Close to her sister."]
    assert texts(kept(mia.memory, Exchange))[0] == (
        (1, 2),
        "mia: I saw a grey heron in the wetland park. / assistant: How lovely!",
    )
    assert texts(kept(mia.memory, Day)) == [((1, 2, 3, 4), "To the park by tram."), ((5, 6), "Of rye bread.")]
    assert [one.date for one in kept(mia.memory, Day)] == ["2026-04-02", "2026-04-05"]
    assert texts(kept(mia.memory, Overview)) == [((1, 2, 3, 4, 5, 6), "A trip, and bread.")]
    assert texts(kept(mia.memory, Portrait)) == [((1, 2, 3, 4, 5, 6), "A quiet person.")]

    mia = Told(fresh(tmp_path), model_server, clock)
    tell(mia.owner, HERON, day=2)
    mia.model.give("DayEvents", {"text": "A heron."}, {"text": "A heron, by tram."})
    mia.owner.settle()
    (before,) = kept(mia.memory, Day)
    tell(mia.owner, TRAM, day=2)
    mia.owner.settle()
    (after,) = kept(mia.memory, Day)
    assert (after.id, after.text, after.sources) == (before.id, "A heron, by tram.", (1, 2, 3, 4))
    assert mia.model.shown("DayEvents")[1] == (
        "So far: A heron.\n2026-04-02\n"
        "user mia: Half an hour by tram, with my sister Ana.\nagent assistant: Greetings to Ana."
    )
    assert mia.model.shown("AllEvents")[1].endswith("\n2026-04-02: A heron, by tram.")

    mia = Told(fresh(tmp_path), model_server, clock)
    for day in (2, 3, 4):
        tell(mia.owner, *[HERON] * 5, day=day)
    mia.owner.settle()
    assert len(mia.model.asked) == 2 * 3 + 2

    mia = Told(fresh(tmp_path), model_server, clock)
    tell(mia.owner, HERON, day=2)
    mia.owner.settle()
    mia.owner.visit(mia.owner.recall("Which bird?").hits)
    tell(mia.owner, TRAM, day=2)
    mia.owner.settle()
    assert [one.strength for one in kept(mia.memory, Day)] == [2.0]

    part = fresh(tmp_path)
    mia = Told(part, model_server, clock)
    tell(mia.owner, HERON, day=2)
    mia.owner.settle()
    mia.memory.close()
    again = Told(part, model_server, clock)
    tell(again.owner, TRAM, day=2)
    tell(again.owner, BREAD, day=3)
    again.owner.settle()
    assert [one.sources for one in kept(again.memory, Day)] == [(1, 2, 3, 4), (5, 6)]
    assert [one.sources for one in kept(again.memory, Overview)] == [(1, 2, 3, 4, 5, 6)]

    part = fresh(tmp_path)
    mia = Told(part, model_server, clock, day_chars=150)
    tell(mia.owner, HERON, TRAM, BREAD, day=2)
    mia.model.give("DayEvents", {"text": "A heron."}, {"text": "A heron, a tram."})
    mia.owner.settle()
    shown = mia.model.shown("DayEvents")
    assert len(shown) == 2
    assert shown[1].startswith("So far: A heron.\n2026-04-02\nagent assistant: Greetings")
    assert kept(mia.memory, Day)[0].text == "A heron, a tram."


def test_the_context_holds_portrait_summary_and_what_is_near_the_nearest_exchange_first(
    tmp_path: Path, model_server: ModelServer, clock: Clock
) -> None:
    mia = Told(fresh(tmp_path), model_server, clock)
    tell(mia.owner, HERON, TRAM, day=2)
    tell(mia.owner, BREAD, day=5)
    mia.model.give("DayEvents", {"text": "To the park by tram."}, {"text": "Rye bread every Sunday."})
    mia.model.give("AllEvents", {"text": "A trip, and bread."})
    mia.model.give("UserPortrait", {"text": "A quiet person."})
    mia.owner.settle()
    context = mia.owner.recall("Who bakes rye bread every Sunday?")
    assert context.text.splitlines()[:2] == ["About the user: A quiet person.", "So far: A trip, and bread."]
    assert set(context.text.splitlines()[2:4]) == {
        "2026-04-05 mia: Ana bakes rye bread every Sunday. / assistant: That smells good already.",
        "2026-04-05, the day: Rye bread every Sunday.",
    }
    assert [hit.utterance.seq for hit in context.hits][:2] == [5, 6]
    assert mia.model.names().count("AllEvents") == 1

    part = fresh(tmp_path)
    mia = Told(part, model_server, clock, top_k=1)
    tell(mia.owner, HERON, TRAM, BREAD, day=2)
    mia.model.give("DayEvents", {"text": "Who came along by tram to the heron, and the bread?"})
    mia.owner.settle()
    hits = mia.owner.recall("Who came along by tram to the heron, and the bread?").hits
    assert sorted(hit.utterance.seq for hit in hits) == [1, 2, 3, 4, 5, 6]
    assert hits[0].utterance.seq in (1, 3, 5)
    pairs = [hit.utterance.seq for hit in hits]
    assert all(second == first + 1 for first, second in zip(pairs[::2], pairs[1::2], strict=True))

    mia = Told(fresh(tmp_path), model_server, clock)
    tell(mia.owner, HERON, TRAM, day=2)
    tell(mia.owner, BREAD, day=5)
    mia.owner.settle()
    text = mia.owner.recall("What does Ana bake?", scope=Scope(before_seq=3)).text
    assert text == "2026-04-02 mia: I saw a grey heron in the wetland park. / assistant: How lovely!"


def test_a_recall_that_is_visited_makes_ones_own_memory_stronger_and_sets_its_time_back(
    tmp_path: Path, model_server: ModelServer, clock: Clock
) -> None:
    part = fresh(tmp_path)
    mia = Told(part, model_server, clock, forgetting=True)
    tell(mia.owner, HERON, TRAM, day=2)
    mia.owner.settle()
    clock.now = datetime(2026, 4, 2, 10, tzinfo=UTC) + timedelta(minutes=5)
    hits = [hit for hit in mia.owner.recall("Which bird?").hits if "heron" in hit.utterance.text]
    assert len(hits) == 1
    mia.owner.visit(hits)
    heron, tram = kept(mia.memory, Exchange)
    assert (heron.strength, heron.recalled_at) == (2.0, clock.now)
    assert (tram.strength, tram.recalled_at) == (1.0, None)
    (day,) = kept(mia.memory, Day)
    assert (day.strength, day.recalled_at) == (2.0, clock.now)
    system = mia.memory.system
    assert isinstance(system, MemoryBank)
    lasts = timedelta(days=-2.0 * math.log(lot(heron)))
    assert system.remembered(heron, clock.now + lasts - timedelta(minutes=1))
    assert not system.remembered(heron, clock.now + lasts + timedelta(minutes=1))

    part = fresh(tmp_path)
    mia = Told(part, model_server, clock)
    leo = mia.memory.of("leo")
    for owner in (mia.owner, leo):
        tell(owner, HERON, day=2)
        owner.settle()
    mia.owner.visit(mia.owner.recall("Which bird?").hits)
    mia.owner.visit([])
    assert [one.strength for one in kept(mia.memory, Exchange)] == [2.0]
    assert [one.strength for one in kept(mia.memory, Exchange, "leo")] == [1.0]

    part = fresh(tmp_path)
    one, other = (Told(part, model_server, clock) for _ in range(2))
    tell(one.owner, HERON, day=2)
    one.owner.settle()
    seen = one.owner.recall("Which bird?").hits
    tell(other.owner, TRAM, day=2)
    other.owner.settle()
    one.owner.visit(seen)
    other.owner.visit(seen)
    assert [record.strength for record in kept(one.memory, Exchange)] == [3.0, 1.0]
    assert other.owner.settle() == 0

    part = fresh(tmp_path)
    mia = Told(part, model_server, clock, top_k=1)
    tell(mia.owner, HERON, TRAM, day=2)
    mia.model.give("DayEvents", {"text": "An outing with a bird."})
    mia.model.give("AllEvents", {"text": "An outing."})
    mia.model.give("UserPortrait", {"text": "A quiet person."})
    mia.owner.settle()
    context = mia.owner.recall("An outing with a bird.")
    assert "An outing with a bird." in context.text
    assert context.packed == ()
    mia.owner.visit(context.packed)
    assert [one.strength for one in kept(mia.memory, Day)] == [1.0]
    mia.owner.visit(context.hits[:1])
    assert [one.strength for one in kept(mia.memory, Day)] == [2.0]
    assert sorted(one.strength for one in kept(mia.memory, Exchange)) == [1.0, 2.0]


# ------------------------------------------------------------------------------------------------- the curve, §2.3


def test_retention_by_hand_and_the_share_of_many_that_it_leaves() -> None:
    assert retention(0.0, 1.0) == 1.0
    assert retention(1.0, 1.0) == pytest.approx(0.367879, abs=1e-6)
    assert retention(1.0, 2.0) == pytest.approx(0.606531, abs=1e-6)
    assert retention(6.0, 3.0) == pytest.approx(0.135335, abs=1e-6)
    assert retention(-5.0, 1.0) == 1.0
    assert retention(0.0, 0.0) == 0.0

    many = [exchange(n) for n in range(2_000)]
    for t, S in ((0.5, 1.0), (1.0, 1.0), (1.0, 3.0)):
        left = sum(retention(t, S) >= lot(one) for one in many) / len(many)
        assert left == pytest.approx(math.exp(-t / S), abs=0.05)


@given(st.floats(0, 1e4), st.floats(0, 1e4), st.floats(0.01, 1e3), st.floats(0.01, 1e3))
def test_retention_falls_with_time_and_holds_longer_with_strength(
    t: float, more: float, S: float, added: float
) -> None:
    assert 0.0 <= retention(t + more, S) <= retention(t, S) <= retention(t, S + added) <= 1.0


def exchange(number: int) -> Exchange:
    return Exchange(id=RecordId(f"r{number}"), text=f"saying {number}", at=NOW, sources=(number,), strength=1.0)


def test_what_has_faded_is_left_out_at_its_own_time_the_same_in_every_process(
    tmp_path: Path, model_server: ModelServer, clock: Clock
) -> None:
    part = fresh(tmp_path)
    mia = Told(part, model_server, clock, forgetting=True)
    tell(mia.owner, HERON, TRAM, day=2)
    mia.owner.settle()
    soon, late = datetime(2026, 4, 2, 10, tzinfo=UTC), datetime(2026, 5, 2, 10, tzinfo=UTC)
    assert mia.owner.recall("Which bird?", at=soon).hits
    assert mia.owner.recall("Which bird?", at=late).hits == ()
    assert len(kept(mia.memory, Exchange)) == 2
    mia.memory.close()
    again = Told(part, model_server, clock)
    assert "heron" in again.owner.recall("Which bird?", at=late).text

    part = fresh(tmp_path)
    mia = Told(part, model_server, clock, forgetting=True, top_k=99)
    for number in range(20):
        tell(mia.owner, (f"I counted {number} herons.", "Fine."), day=2)
    mia.owner.settle()
    gone_at = {one.sources: one.at + timedelta(days=-math.log(lot(one))) for one in kept(mia.memory, Exchange)}
    again = Told(part, model_server, clock, forgetting=True, top_k=99)
    for hours in (1, 12, 24, 48, 200):
        at = datetime(2026, 4, 2, 10, tzinfo=UTC) + timedelta(hours=hours)
        seen = {hit.utterance.seq for hit in again.owner.recall("How many herons?", at=at).hits}
        assert seen == {seq for sources, gone in gone_at.items() if gone >= at for seq in sources}


# -------------------------------------------------------------------------------------------------- what goes wrong


def test_a_model_that_fails_in_mid_settle_costs_no_page_and_no_day_is_asked_for_twice(
    mia: Told, model_server: ModelServer
) -> None:
    for day in (2, 3, 4):
        tell(mia.owner, HERON, TRAM, day=day)
    model_server.fail_next("http_500", after=3)
    with pytest.raises(ModelError):
        mia.owner.settle()
    assert [one.date for one in kept(mia.memory, Day)] == ["2026-04-02"]
    assert mia.owner.settle() == 3
    assert [one.sources for one in kept(mia.memory, Day)] == [(1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12)]
    assert sum("2026-04-02\n" in shown for shown in mia.model.shown("DayEvents")) == 1


def test_notes_are_one_line_of_sane_length_and_an_empty_one_leaves_what_was_noted(
    tmp_path: Path, model_server: ModelServer, clock: Clock
) -> None:
    mia = Told(fresh(tmp_path), model_server, clock)
    tell(mia.owner, HERON, day=2)
    rubbish = {"text": "A\nheron\u202e \u0007" + "xxx" + "".join(map(str, range(2700)))}
    for name in ("DayEvents", "DayInsight", "AllEvents", "UserPortrait"):
        mia.model.give(name, rubbish)
    mia.owner.settle()
    (day,) = kept(mia.memory, Day)
    notes = [day.text, day.insight, kept(mia.memory, Overview)[0].text, kept(mia.memory, Portrait)[0].text]
    assert all(note.startswith("A heron x") for note in notes)
    assert [len(note) for note in notes] == [1_000, 600, 1_500, 1_200]

    mia = Told(fresh(tmp_path), model_server, clock)
    tell(mia.owner, HERON, day=2)
    mia.model.give("DayInsight", {"text": "Watches birds."}, {"text": " "})
    mia.owner.settle()
    tell(mia.owner, TRAM, day=2)
    mia.owner.settle()
    assert [one.insight for one in kept(mia.memory, Day)] == ["Watches birds."]


# --------------------------------------------------------------------------------------------------- how it is kept


def test_days_are_of_all_threads_in_any_order_and_pages_whole(
    tmp_path: Path, model_server: ModelServer, clock: Clock
) -> None:
    mia = Told(fresh(tmp_path), model_server, clock)
    tell(mia.owner, HERON, day=2, thread="s1")
    tell(mia.owner, BREAD, day=2, thread="s2")
    mia.owner.settle()
    assert [one.sources for one in kept(mia.memory, Day)] == [(1, 2, 3, 4)]

    mia = Told(fresh(tmp_path), model_server, clock)
    tell(mia.owner, BREAD, day=5)
    tell(mia.owner, HERON, day=2, thread="s2")
    tell(mia.owner, TRAM, day=5)
    mia.owner.settle()
    days = {one.date: one.sources for one in kept(mia.memory, Day)}
    assert days == {"2026-04-05": (1, 2, 5, 6), "2026-04-02": (3, 4)}
    assert mia.model.shown("AllEvents")[0].startswith("2026-04-02: ")

    mia = Told(fresh(tmp_path), model_server, clock)
    mia.owner.add("Shall I go to the park?", at=datetime(2026, 4, 2, 10, tzinfo=UTC))
    mia.owner.settle()
    mia.owner.add(None, "Yes, go and see the heron.", at=datetime(2026, 4, 2, 11, tzinfo=UTC))
    mia.owner.settle()
    assert [one.sources for one in kept(mia.memory, Exchange)] == [(1,), (2,)]
    assert [one.sources for one in kept(mia.memory, Day)] == [(1, 2)]


def test_without_a_model_the_diary_is_made_of_sentences_and_the_portrait_of_facts(system_opened: SystemOpener) -> None:
    memory = system_opened("memorybank")
    mia = memory.of("mia")
    tell(mia, ("I live in Lyon. I work as a nurse.", "A fine city."), HERON, day=2)
    tell(mia, ("I moved to Nantes. I love rye bread.", "Good."), day=9)
    tell(mia, ("我喜欢观鸟。", "真好！"), day=12)
    mia.settle()
    first, second, third = kept(memory, Day)
    assert "heron" in first.text
    assert "nurse" in first.insight
    assert "Nantes" in second.text
    assert "观鸟" in third.text
    (portrait,) = kept(memory, Portrait)
    assert "nurse" in portrait.text
    assert "rye bread" in portrait.text
    (overview,) = kept(memory, Overview)
    assert overview.sources == tuple(range(1, 9))
    assert "; " in portrait.text
