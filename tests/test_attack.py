"""A small part of `make attack`: short lives of fixed seeds, and proof that a broken promise would be seen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from attack import compared, shrink, words
from attack.engines import engine_of
from attack.expected import Expected
from attack.journal import Attempt
from attack.outcome import Outcome
from attack.plan import Plan, made, said_by
from attack.run import Lives, lives
from embermem import Memory
from embermem.bootstrap import on_a_server
from embermem.store.engines.packed_text import PLAIN
from proofs import bounded
from scripted import SMALL
from soundness import meddle

pytestmark = [pytest.mark.engines, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]

FAULTS = ("kill", "interrupt", "clock")
SEEDS = bounded((14,), proofs=tuple(range(11, 19)))


@pytest.fixture(scope="module")
def ready(engine: str, request: pytest.FixtureRequest) -> Iterator[Lives]:
    folder = Path("/")
    if engine == "postgresql":
        import postgres

        folder = request.getfixturevalue("server_folder")
        postgres.server(folder)
    with lives(engine_of(engine, folder)) as made_ready:
        yield made_ready


@pytest.mark.parametrize("seed", SEEDS)
def test_a_short_life_under_attack_keeps_every_promise(ready: Lives, seed: int) -> None:
    outcome = ready.live(made(seed, FAULTS, small=True))
    assert outcome.failures == []
    assert outcome.counts["acknowledged messages"] > 0
    assert outcome.counts["bytes looked at"] > 0


def test_words_are_said_once_and_found_in_bytes_with_their_owner(tmp_path: Path) -> None:
    one, other = made(7), made(7)
    assert one == other
    said = [core for action in one.actions if action.adds and action.of < 0 for core in cores(one, action.no)]
    assert len(said) > 100
    assert len(said) == len(set(said))

    for chinese in (False, True):
        word = words.rare("seed", 3, 1, chinese=chinese)
        (core,) = words.found_in_bytes(b"\x00\xff" + f"x{word.upper()}s".encode() + b"\x80")
        assert words.found_in(word) == {core}
        assert words.owner_of(core) == 3

    (tmp_path / "one").write_bytes(b"zqabacadafag")
    assert words.bytes_of(tmp_path / "one") == b"zqabacadafag"
    assert words.bytes_of(tmp_path / "pg_internal.init") == b""


def cores(plan: Plan, no: int) -> list[str]:
    return [core for said in said_by(plan, plan.action(no)) for core in said.cores]


def test_a_life_is_shrunk_to_the_actions_without_which_it_does_not_fail() -> None:
    plan = made(5, FAULTS)
    needed = {plan.actions[3].no, plan.actions[20].no}
    tried: list[Plan] = []

    def fails(part: Plan) -> bool:
        tried.append(part)
        return needed <= {one.no for one in part.actions}

    best = shrink.shrunk(plan, fails, tries=200, seconds=20)
    assert {*best.numbers} == needed
    assert (best.calm, best.serial) == (True, True)
    assert shrink.numbers_of(best.arguments.split()[1]) == best.numbers
    assert len(tried) < 200


def test_what_a_forgetting_may_not_change_is_told_by_its_table_and_row(ready: Lives, tmp_path: Path) -> None:
    with ready.engine.store(tmp_path) as place:
        own = {**SMALL, "forgotten_key_file": str(tmp_path / "key")}
        with closing(Memory(place, **own)) as memory:
            alice, bob = memory.of("alice"), memory.of("bob")
            for number in range(8):
                alice.add(f"I live in Zqa{number}. I saw a heron.", "I see.", thread=f"t{number}")
                bob.add(f"I work in Zqb{number}.", "I see.")
            alice.settle()
            before = compared.taken(place)
            done = alice.forget(page=alice.pages()[0].id)
            mine = [row for row in before["chain"] if row["owner_id"] == alice.owner.id]
            stays = next(row for row in mine if row["chain_id"] not in done.chains)
            plain = "decisions" if on_a_server(place) else f"{PLAIN}(decisions)"
            told = f"replace({plain}, '{stays['summary']}', 'Zqz')"
            meddle(place, f"UPDATE change SET decisions = {told} WHERE no = {stays['change_no']}")
            meddle(place, f"UPDATE page SET no = no + 100 WHERE owner_id = '{bob.owner.id}' AND no = 8")
            told = "\n".join(compared.differences(before, compared.taken(place), alice.owner.id, done))
    assert "page: 1 rows of others went or changed, 1 came" in told
    assert f"chain ('{stays['chain_id']}'" in told


def test_a_line_goes_with_the_fact_that_says_the_same_and_no_other_line_may(ready: Lives, tmp_path: Path) -> None:
    with ready.engine.store(tmp_path) as place:
        own = {**SMALL, "facts_when": "read", "forgotten_key_file": str(tmp_path / "key")}
        with closing(Memory(place, **own)) as memory:
            alice = memory.of("alice")
            for word in ("Zqaone", "Córdoba", "Zqathree"):
                alice.add(f"I live in {word}.", "I see.")
                alice.settle()
            (home,) = [fact for fact in alice.past_facts() if fact.value == "Córdoba"]
            before = compared.taken(place)
            done = alice.forget(fact=home.id)
            assert compared.differences(before, compared.taken(place), alice.owner.id, done) == []
            after = compared.taken(place)
            for row in after["profile"]:
                row["value"] = "elsewhere" if row["value"] == "Zqaone" else row["value"]
            (told,) = compared.differences(before, after, alice.owner.id, done)
    assert told.startswith("profile ('user', 'home'")


def test_what_is_lost_doubled_half_stored_or_not_forgotten_is_seen() -> None:
    plan = made(7)
    batch = next(one for one in plan.actions if one.kind == "batch" and one.count > 2)
    said = [one.text for one in said_by(plan, batch)]
    done = Attempt(no=batch.no, begun=1, ended=2, end="done", intent={}, result=stored_as(len(said)))
    cut_off = Attempt(no=batch.no, begun=1, intent={})
    took = {"pages": ["p"], "utterances": [f"u{n}" for n in range(len(said))], "facts": [], "scrubbed": True}
    forgets = next(one for one in plan.actions if one.kind == "forget" and one.owner == batch.owner)
    forgotten = Attempt(no=forgets.no, begun=3, ended=4, end="done", intent={}, result=took)
    whole = {(batch.owner, text): [(f"u{n}", "p")] for n, text in enumerate(said)}
    fewer = {key: ids for key, ids in whole.items() if key[1] != said[0]}
    twice = {key: ids * 2 for key, ids in whole.items()}
    assert judged(plan, [done], whole) == judged(plan, [cut_off], whole) == judged(plan, [cut_off], {}) == set()
    assert judged(plan, [done], fewer) == {"lost"}
    assert judged(plan, [done], twice) == {"doubled"}
    assert judged(plan, [cut_off], fewer) == {"half stored"}
    assert judged(plan, [done, forgotten], {}) == set()
    assert judged(plan, [done, forgotten], whole) == {"not forgotten"}


def stored_as(count: int) -> dict[str, list[str]]:
    return {"pages": ["p"], "utterances": [f"u{n}" for n in range(count)]}


def judged(plan: Plan, tried: list[Attempt], stored: dict[tuple[int, str], list[tuple[str, str]]]) -> set[str]:
    outcome = Outcome()
    Expected.of(plan, tried, [10]).judge(stored, outcome)
    return outcome.kinds
