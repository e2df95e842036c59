"""The face of mem0: what a program that was written for it gives and gets. No mem0 is installed for these tests."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embermem import Memory as Ember
from embermem.compat.mem0 import AsyncMemory, Memory
from embermem.compat.mem0.exceptions import MemoryNotFoundError, ValidationError
from embermem.compat.mem0.reading import Vectors
from embermem.core.errors import ConfigError, InputError

ALICE = {"user_id": "alice"}
SAID = [
    {"role": "user", "content": "I live in Lyon and my bike is green. I work as a nurse."},
    {"role": "assistant", "content": "The tram C3 takes you home."},
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.from_config({"ember": {"place": tmp_path / "m.db", "embedder": "hashed", "background": False}}) as made:
        yield made


def texts(results: Mapping[str, Any]) -> list[str]:
    return [one["memory"] for one in results["results"]]


def all_of(memory: Memory, **ids: str) -> list[str]:
    return sorted(texts(memory.get_all(filters=ids or ALICE)))


# ------------------------------------------------------------------------------------------------------- add


def test_add_returns_facts_and_words_that_no_fact_holds(memory: Memory) -> None:
    made = memory.add(SAID, user_id="alice")
    assert list(made) == ["results"]
    assert [(one["memory"], one["event"]) for one in made["results"]] == [
        ("alice lives in Lyon", "ADD"),
        ("alice works as a nurse", "ADD"),
        ("user: I live in Lyon and my bike is green.\nassistant: The tram C3 takes you home.", "ADD"),
    ]
    assert all(list(one) == ["id", "memory", "event"] for one in made["results"])


def test_what_a_fact_holds_is_not_a_memory_twice(memory: Memory) -> None:
    memory.add("I live in Lyon.", user_id="alice")
    assert all_of(memory) == ["alice lives in Lyon"]
    assert texts(memory.search("Lyon", filters=ALICE)) == ["alice lives in Lyon"]


def test_a_newer_value_deletes_the_older_one(memory: Memory) -> None:
    memory.add("I live in Lyon.", user_id="alice")
    made = memory.add("I moved to Nantes.", user_id="alice")
    assert [(one["memory"], one["event"]) for one in made["results"]] == [
        ("alice lives in Nantes", "ADD"),
        ("alice lives in Lyon", "DELETE"),
    ]
    assert all_of(memory) == ["alice lives in Nantes"]
    gone = memory.history(made["results"][1]["id"])
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in gone] == [
        ("ADD", None, "alice lives in Lyon"),
        ("DELETE", "alice lives in Lyon", None),
    ]


def test_what_is_known_already_makes_no_event(memory: Memory) -> None:
    memory.add("I have a cat named Tom.", user_id="alice", run_id="r1")
    assert memory.add("I have a cat named Tom.", user_id="alice", run_id="r2") == {"results": []}
    for run in ("r1", "r2"):
        (found,) = memory.get_all(filters={**ALICE, "run_id": run})["results"]
        assert found["run_id"] == "r2"


def test_without_infer_each_message_is_a_memory_and_nothing_is_learnt(memory: Memory) -> None:
    said = [{"role": "user", "content": "I live in Lyon.", "name": "Al"}, {"role": "assistant", "content": "Noted."}]
    made = memory.add(said, user_id="alice", infer=False)["results"]
    assert [{**one, "id": ""} for one in made] == [
        {"id": "", "memory": "I live in Lyon.", "event": "ADD", "actor_id": "Al", "role": "user"},
        {"id": "", "memory": "Noted.", "event": "ADD", "actor_id": None, "role": "assistant"},
    ]
    memory.ember.of("alice").settle()
    assert all_of(memory) == ["I live in Lyon.", "Noted."]
    assert [one["memory"] for one in memory.get_all(filters={**ALICE, "actor_id": "Al"})["results"]] == [
        "I live in Lyon."
    ]


def test_wrong_arguments_are_value_errors_in_the_words_of_mem0_and_nothing_said_is_nothing_added(
    memory: Memory,
) -> None:
    for messages in ("", [], [{"role": "system", "content": "Be brief."}], [{"content": "?"}]):
        assert memory.add(messages, user_id="alice") == {"results": []}, messages
        assert memory.add(messages, user_id="alice", infer=False) == {"results": []}, messages

    for call, said in WRONG:
        with pytest.raises(ValueError, match=re.escape(said)) as raised:
            call(memory)
        assert isinstance(raised.value, InputError)

    with pytest.raises(ValidationError) as missing:
        memory.add("x")
    assert (missing.value.error_code, missing.value.details["provided_ids"]["user_id"]) == ("VALIDATION_001", None)
    assert missing.value.suggestion

    forms: list[Any] = [3, {"ember": 3}, {"llm": "gpt"}, {"llm": {"provider": "openai", "config": 3}}]
    for wrong in forms:
        with pytest.raises(ConfigError, match="give a dict"):
            Memory.from_config(wrong)


def test_a_procedural_memory_is_the_talk_as_it_was(memory: Memory) -> None:
    said = [{"role": "user", "content": "Plan a trip."}, {"role": "assistant", "content": "Book the train."}]
    made = memory.add(said, agent_id="bot", memory_type="procedural_memory")
    assert texts(made) == ["user: Plan a trip.\nassistant: Book the train."]
    (found,) = memory.get_all(filters={"agent_id": "bot"})["results"]
    assert found["metadata"] == {"memory_type": "procedural_memory"}


def test_an_expiration_date_ends_a_memory_with_that_day_and_is_set_and_taken_away(memory: Memory) -> None:
    made = memory.add("The tickets are in the drawer.", user_id="alice", expiration_date="2999-01-01")
    found = memory.get(made["results"][0]["id"])
    assert found is not None
    assert found["expiration_date"] == "2999-01-01"
    (page,) = memory.ember.of("alice").pages()
    assert page.expires_at is not None
    assert page.expires_at.date().isoformat() == "2999-01-02"

    one = memory.add("I live in Lyon.", user_id="alice")["results"][0]["id"]
    memory.update(one, expiration_date="2999-01-01")
    (fact,) = memory.ember.of("alice").facts()
    assert fact.expires_at is not None
    assert (memory.get(one) or {})["expiration_date"] == "2999-01-01"
    memory.update(one, expiration_date=None)
    (fact,) = memory.ember.of("alice").facts()
    assert fact.expires_at is None
    assert "expiration_date" not in (memory.get(one) or {})


def test_a_text_as_it_is_keeps_its_form_its_changes_and_its_end(memory: Memory) -> None:
    text = "# Plan\n\n| a | b |\n\n" + "The pump is in the cellar.\n\n" * 200 + "end"
    one = memory.add(text, user_id="alice", infer=False, expiration_date="2999-01-01")["results"][0]["id"]
    memory.update(one, text="The pump is in the attic.")
    memory.update(one, metadata={"checked": True}, expiration_date=None)
    found = memory.get(one)
    assert found is not None
    assert (found["memory"], found["metadata"]) == ("The pump is in the attic.", {"checked": True})
    assert "expiration_date" not in found
    assert [(step["event"], step["old_memory"], step["new_memory"], step["role"]) for step in memory.history(one)] == [
        ("ADD", None, text, "user"),
        ("UPDATE", text, "The pump is in the attic.", "user"),
    ]
    assert texts(memory.search("pump", filters=ALICE)) == ["The pump is in the attic."]


# --------------------------------------------------------------------------------------------- results and ids


def test_a_result_has_the_entries_of_mem0(memory: Memory) -> None:
    memory.add("I live in Lyon.", user_id="alice", agent_id="bot", run_id="r1", metadata={"category": "home"})
    (listed,) = memory.get_all(filters=ALICE)["results"]
    (found,) = memory.search("Lyon", filters=ALICE)["results"]
    first = ["id", "memory", "hash", "metadata"]
    last = ["created_at", "updated_at", "user_id", "agent_id", "run_id", "attributed_to"]
    assert list(listed) == [*first, *last]
    assert list(found) == [*first, "score", *last]
    assert listed["metadata"] == {"category": "home"}
    assert listed["hash"] == hashlib.md5(b"alice lives in Lyon", usedforsecurity=False).hexdigest()
    assert 0 < found["score"] <= 1
    got = memory.get(listed["id"])
    assert got is not None
    assert got == {**listed, "score": None}
    assert list(got) == list(found)


def test_every_id_that_is_given_works_in_every_call(memory: Memory) -> None:
    added = (
        memory.add(SAID, user_id="alice")["results"] + memory.add("Buy milk.", user_id="alice", infer=False)["results"]
    )
    ids = [one["id"] for one in added]
    assert sorted(one["id"] for one in memory.get_all(filters=ALICE)["results"]) == sorted(ids)
    found = memory.search("bike tram nurse Lyon milk", filters=ALICE, threshold=0.0)["results"]
    assert sorted(one["id"] for one in found) == sorted(ids)
    for number, one in enumerate(ids):
        assert memory.history(one)[0]["event"] == "ADD"
        assert memory.update(one, text=f"Text {number}") == {"message": "Memory updated successfully!"}
        changed = memory.get(one)
        assert changed is not None
        assert (changed["id"], changed["memory"]) == (one, f"Text {number}")
    assert all_of(memory) == [f"Text {number}" for number in range(len(ids))]
    for number, one in enumerate(ids):
        assert memory.delete(one) == {"message": "Memory deleted successfully!"}
        assert memory.get(one) is None
        assert len(all_of(memory)) == len(ids) - number - 1


def test_an_unknown_id_is_nothing_to_get_and_a_value_error_to_change(memory: Memory) -> None:
    for wrong in ("nope", "f1-000.nope", "", "p1", "u1.x", "d1.y"):
        memory.add("I live in Lyon.", user_id="alice")
        owner = memory.ember.of("alice").owner.id
        for one in (wrong, f"{wrong or 'f9-999'}.{owner}"):
            assert memory.get(one) is None, wrong
            assert memory.history(one) == [], wrong
            with pytest.raises(ValueError, match="not found"):
                memory.update(one, text="x")
            with pytest.raises(MemoryNotFoundError):
                memory.delete(one)


# ---------------------------------------------------------------------------------------------- update, history


def test_an_update_keeps_id_and_creation_and_one_that_changes_nothing_leaves_no_step(memory: Memory) -> None:
    made = memory.add("I live in Lyon.", user_id="alice", metadata={"category": "home"})["results"][0]
    before = memory.get(made["id"])
    memory.update(made["id"], text="alice lives in Paris", metadata={"checked": True, "user_id": "bob"})
    memory.update(made["id"], data="alice lives in Rome")
    after = memory.get(made["id"])
    assert before is not None
    assert after is not None
    assert (after["memory"], after["user_id"]) == ("alice lives in Rome", "alice")
    assert after["metadata"] == {"category": "home", "checked": True}
    assert after["created_at"] == before["created_at"] < after["updated_at"]
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in memory.history(made["id"])] == [
        ("ADD", None, "alice lives in Lyon"),
        ("UPDATE", "alice lives in Lyon", "alice lives in Paris"),
        ("UPDATE", "alice lives in Paris", "alice lives in Rome"),
    ]
    assert texts(memory.search("alice lives in Rome", filters={**ALICE, "checked": True})) == ["alice lives in Rome"]

    made = memory.add("I live in Lyon.", user_id="bob")["results"][0]
    memory.update(made["id"], text="bob lives in Rome")
    memory.update(made["id"], text="bob lives in Rome")
    assert len(memory.history(made["id"])) == 2


# --------------------------------------------------------------------------------------------------- deleting


def test_a_deleted_fact_takes_its_words_with_it_and_leaves_the_others(memory: Memory, tmp_path: Path) -> None:
    first, second, rest = memory.add(SAID, user_id="alice", metadata={"category": "home"})["results"]
    memory.delete(first["id"])
    memory.ember.scrub()
    assert not [one for one in tmp_path.glob("m.db*") if b"Lyon" in one.read_bytes()]
    kept = {one["id"]: one for one in memory.get_all(filters=ALICE)["results"]}
    assert sorted(kept) == sorted([second["id"], rest["id"]])
    assert kept[second["id"]]["memory"] == "The user works as a nurse"
    assert kept[rest["id"]]["memory"] == "user: and my bike is green.\nassistant: The tram C3 takes you home."
    assert all(one["metadata"] == {"category": "home"} for one in kept.values())
    assert [fact.value for fact in memory.ember.of("alice").facts()] == ["nurse"]


def test_memories_of_one_exchange_that_are_deleted_at_once_are_all_gone(memory: Memory) -> None:
    said = "I live in Lyon and my bike is green. I work as a nurse. I have a cat named Tom."
    ids = [one["id"] for one in memory.add(said, user_id="alice")["results"]]
    with ThreadPoolExecutor(len(ids)) as pool:
        deleted = [pool.submit(memory.delete, one) for one in ids]
    assert [one.exception() for one in deleted] == [None] * 4
    assert all_of(memory) == []


def test_delete_all_forgets_what_was_added_with_these_ids(memory: Memory) -> None:
    memory.add("I live in Lyon.", user_id="alice", run_id="r1")
    memory.add("I work as a nurse.", user_id="alice", run_id="r2")
    memory.add("Buy milk.", user_id="alice", run_id="r1", infer=False)
    memory.add("I live in Oslo.", user_id="bob")
    assert memory.delete_all(user_id="alice", run_id="r1") == {"message": "Memories deleted successfully!"}
    assert all_of(memory) == ["alice works as a nurse"]
    memory.delete_all(user_id="alice")
    memory.delete_all(user_id="nobody")
    assert all_of(memory) == []
    assert all_of(memory, user_id="bob") == ["bob lives in Oslo"]
    memory.reset()
    assert all_of(memory, user_id="bob") == []
    assert texts(memory.add("I live in Lyon.", user_id="alice")) == ["alice lives in Lyon"]


# ------------------------------------------------------------------------------------------- whose, and filters


def test_users_agents_and_runs_are_told_apart_and_ids_may_be_given_as_in_mem0_1(memory: Memory) -> None:
    memory.add("I like figs.", user_id="alice", agent_id="cook")
    memory.add("I like trains.", user_id="alice", agent_id="guide")
    memory.add("The oven is broken.", agent_id="cook")
    memory.add("The budget is 300 euros.", run_id="trip")
    assert all_of(memory) == ["alice likes figs", "alice likes trains"]
    assert all_of(memory, user_id="alice", agent_id="cook") == ["alice likes figs"]
    assert all_of(memory, agent_id="cook") == ["The oven is broken."]
    assert all_of(memory, run_id="trip") == ["The budget is 300 euros."]
    assert all_of(memory, user_id="bob") == []

    memory.add("I like figs.", user_id="dora")
    assert texts(memory.search("figs", user_id="dora", limit=5)) == ["dora likes figs"]
    assert texts(memory.get_all(user_id="dora", limit=5)) == ["dora likes figs"]
    assert texts(memory.get_all(filters={"AND": [{"user_id": "dora"}]})) == ["dora likes figs"]

    memory.add("I like figs.", user_id=7)  # type: ignore[arg-type]
    assert all_of(memory, user_id="7") == ["7 likes figs"]

    memory.add("I like coffee.", run_id="r1")
    assert all_of(memory, run_id="r1") == ["the user likes coffee"]


NUMBERED = [
    {"kind": "note", "n": 1},
    {"kind": "note", "n": 5, "tags": ["red", "Blue"]},
    {"kind": "task", "n": 9, "role": "owner"},
]


FILTERS: list[tuple[Mapping[str, Any], list[int]]] = [
    ({"kind": "note"}, [0, 1]),
    ({"kind": {"eq": "task"}}, [2]),
    ({"kind": {"ne": "task"}}, [0, 1]),
    ({"tags": {"ne": "red"}}, []),
    ({"tags": {"ne": "green"}}, [1]),
    ({"n": {"gt": 1}}, [1, 2]),
    ({"n": {"gte": 5, "lt": 9}}, [1]),
    ({"n": {"lte": 1}}, [0]),
    ({"n": {"in": [1, 9]}}, [0, 2]),
    ({"n": [1, 9]}, [0, 2]),
    ({"n": {"nin": [1]}}, [1, 2]),
    ({"tags": "red"}, [1]),
    ({"tags": "*"}, [1]),
    ({"kind": {"contains": "ot"}}, [0, 1]),
    ({"tags": {"contains": "blue"}}, []),
    ({"tags": {"icontains": "blue"}}, [1]),
    ({"OR": [{"n": 1}, {"kind": "task"}]}, [0, 2]),
    ({"AND": [{"kind": "note"}, {"n": {"gt": 1}}]}, [1]),
    ({"NOT": [{"kind": "note"}]}, [2]),
    ({"NOT": [{"n": 1}, {"n": 9}]}, [1]),
    ({"data": {"contains": "number 2"}}, [2]),
    ({"role": "user"}, [0, 1, 2]),
    ({"missing": 1}, []),
    ({"created_at": {"gte": "2000-01-01T00:00:00+00:00"}}, [0, 1, 2]),
    ({"NOT": {"kind": "note"}}, [2]),
    ({"OR": [{"NOT": {"n": {"gt": 1}}}, {"n": 9}]}, [0, 2]),
    ({"metadata": {"kind": "note"}}, [0, 1]),
    ({"metadata": {"n": {"gte": 5}, "tags": "*"}}, [1]),
    ({"metadata": {"OR": [{"n": 1}, {"kind": "task"}]}}, [0, 2]),
    ({"role": "owner"}, []),
    ({"metadata": {"role": "owner"}}, [2]),
]


def test_filters_find_what_they_say(memory: Memory) -> None:
    for place, one in enumerate(NUMBERED):
        memory.add(f"Memo number {place}", user_id="alice", metadata=one, infer=False)
    for wanted, found in FILTERS:
        expected = [f"Memo number {place}" for place in found]
        filters = {**ALICE, **wanted}
        assert sorted(texts(memory.search("memo number", filters=filters, threshold=0.0))) == expected, wanted
        assert sorted(texts(memory.get_all(filters=filters))) == expected, wanted


WHOSE: list[tuple[Mapping[str, Any], list[str]]] = [
    ({"OR": [{"user_id": "alice"}, {"user_id": "bob"}]}, ["Bob cooks", "Figs", "Trains"]),
    ({"user_id": {"in": ["alice", "bob", "nobody"]}}, ["Bob cooks", "Figs", "Trains"]),
    ({"user_id": ["alice", 7]}, ["Figs", "Seven", "Trains"]),
    ({"user_id": {"eq": 7}}, ["Seven"]),
    ({"user_id": "*"}, ["Bob cooks", "Figs", "Seven", "Trains"]),
    ({"user_id": {"ne": "bob"}}, ["Figs", "Seven", "Trains"]),
    ({"user_id": {"icontains": "B"}}, ["Bob cooks"]),
    ({"user_id": "*", "NOT": {"user_id": {"in": ["bob", "7"]}}}, ["Figs", "Trains"]),
    ({"user_id": "alice", "agent_id": "*"}, ["Figs"]),
    ({"user_id": "alice", "agent_id": {"in": ["cook", "guide"]}}, ["Figs"]),
    ({"user_id": "alice", "run_id": "*"}, ["Trains"]),
    ({"AND": [{"user_id": "alice"}, {"OR": [{"run_id": "r1"}, {"agent_id": "cook"}]}]}, ["Figs", "Trains"]),
    ({"AND": [{"user_id": "alice"}, {"user_id": "bob"}]}, []),
    ({"OR": [{"user_id": "bob"}, {"agent_id": {"in": ["cook", "guide"]}}]}, ["Bob cooks", "Oven"]),
    ({"agent_id": "*"}, ["Oven"]),
    ({"run_id": "*"}, ["Budget"]),
    ({"OR": [{"run_id": "trip"}, {"user_id": 7}]}, ["Budget", "Seven"]),
]


def test_a_filter_names_ids_as_it_names_anything_else(memory: Memory) -> None:
    for text, ids in [
        ("Figs", {"user_id": "alice", "agent_id": "cook"}),
        ("Trains", {"user_id": "alice", "run_id": "r1"}),
        ("Bob cooks", {"user_id": "bob"}),
        ("Seven", {"user_id": "7"}),
        ("Oven", {"agent_id": "cook"}),
        ("Budget", {"run_id": "trip"}),
    ]:
        memory.add(text, infer=False, **ids)  # type: ignore[arg-type]
    for wanted, found in WHOSE:
        assert sorted(texts(memory.get_all(filters=wanted))) == found, wanted
        assert sorted(texts(memory.search("figs trains", filters=wanted, threshold=0.0))) == found, wanted
    assert texts(memory.get_all(filters={"user_id": "*"}, top_k=2)) == ["Seven", "Bob cooks"]
    assert texts(memory.search("trains", filters={"user_id": "*"}, top_k=1)) == ["Trains"]
    assert texts(memory.get_all(filters={"user_id": "*"}, user_id="bob")) == ["Bob cooks"]


def test_metadata_of_any_name_are_kept_beside_what_mem0_says_itself(memory: Memory) -> None:
    given = {"role": "owner", "attributed_to": "Al", "expiration_date": "soon", "data": "x", "hash": "y"}
    made = memory.add(SAID, user_id="alice", metadata=given)["results"]
    made += memory.add("Buy milk.", user_id="alice", metadata=given, infer=False)["results"]
    memory.update(made[-1]["id"], text="Buy cream.")
    memory.update(made[0]["id"], text="alice lives in Rome")
    memory.delete(made[1]["id"])
    listed = memory.get_all(filters=ALICE)["results"]
    assert {(one["memory"].partition("\n")[0], one.get("role")) for one in listed} == {
        ("Buy cream.", "user"),
        ("user: I live in Lyon and my bike is green.", None),
        ("alice lives in Rome", None),
    }
    for one in listed:
        assert one["metadata"] == given
        assert "expiration_date" not in one
        assert one["hash"] != "y"


def test_only_as_many_and_as_good_are_given_as_were_asked_for(memory: Memory) -> None:
    for place in range(5):
        memory.add(f"Memo number {place}", user_id="alice", infer=False)
    assert len(memory.search("memo", filters=ALICE, top_k=2)["results"]) == 2
    assert texts(memory.get_all(filters=ALICE, top_k=2)) == ["Memo number 4", "Memo number 3"]
    assert memory.get_all(filters=ALICE, top_k=0) == {"results": []}
    assert memory.search("memo", filters=ALICE, threshold=1.0) == {"results": []}
    scores = [one["score"] for one in memory.search("memo number 3", filters=ALICE)["results"]]
    assert scores == sorted(scores, reverse=True)
    (best, *_) = memory.search("memo number 3", filters=ALICE, explain=True)["results"]
    assert best["score_details"]["final_score"] == best["score"]


# ------------------------------------------------------------------------------------------------------ errors


WRONG: list[tuple[Callable[[Any], object], str]] = [
    (lambda m: m.search("x", filters={}), "filters must contain at least one of: user_id, agent_id, run_id"),
    (lambda m: m.get_all(), "filters must contain at least one of: user_id, agent_id, run_id"),
    (lambda m: m.search("", filters=ALICE), "Invalid query: cannot be empty or whitespace-only"),
    (lambda m: m.search(3, filters=ALICE), "Invalid query: must be a non-empty string"),
    (lambda m: m.search("x", filters=ALICE, top_k=-1), "Invalid top_k: -1"),
    (lambda m: m.search("x", filters=ALICE, top_k=True), "top_k must be a valid integer"),
    (lambda m: m.search("x", filters=ALICE, threshold=2), "Invalid threshold: 2"),
    (lambda m: m.search("x", filters=ALICE, threshold="a"), "threshold must be a valid number"),
    (lambda m: m.search("x", filters={**ALICE, "n": {"$gt": 1}}), "Unsupported metadata filter operator"),
    (lambda m: m.search("x", filters={**ALICE, "OR": []}), "OR operator requires a non-empty list"),
    (lambda m: m.search("x", filters={**ALICE, "AND": {}}), "AND operator requires a list of conditions"),
    (lambda m: m.search("x", filters={"user_id": "a b"}), "Invalid user_id: cannot contain whitespace"),
    (lambda m: m.search("x", filters={"user_id": {"in": "ab"}}), "filters['user_id']['in'] is str; give a list"),
    (lambda m: m.search("x", filters={"user_id": {"has": 1}}), "Unsupported metadata filter operator: has"),
    (lambda m: m.search("x", filters={"user_id": {"eq": "*"}}), "Invalid user_id: '*' stands for any"),
    (lambda m: m.search("x", filters={"user_id": ["*"]}), "Invalid user_id: '*' stands for any"),
    (lambda m: m.search("x", filters={"OR": [ALICE, {"n": 1}]}), "in every part of an OR"),
    (lambda m: m.search("x", filters={"NOT": ALICE}), "filters must contain at least one of"),
    (lambda m: m.search("x", filters={**ALICE, "NOT": {}}), "NOT operator requires a non-empty list"),
    (lambda m: m.search("x", filters={**ALICE, "n": None}), "filters['n'] is None; give a value"),
    (lambda m: m.search("x", filters={**ALICE, "metadata": "x"}), "filters['metadata'] is str; give a dict"),
    (lambda m: m.search("x", filters={"metadata": ALICE}), "filters['metadata'] names user_id"),
    (
        lambda m: m.search(
            "x",
            filters={"AND": [{"OR": [{"user_id": f"{n}{k}"} for k in range(9)]} for n in range(9)]}
            | {"OR": [{"agent_id": str(n)} for n in range(2000)]},
        ),
        "in more than 1,000 ways",
    ),
    (lambda m: m.search("x", filters=[ALICE]), "filters is list; give a dict"),
    (lambda m: m.add("x", user_id={"in": ["a"]}), "is dict; give one identifier"),
    (lambda m: m.delete_all(user_id="*"), "Invalid user_id: '*' stands for any"),
    (lambda m: m.add("x", user_id="a", metadata={"mem0.id": 1}), "metadata['mem0.id'] begins with 'mem0.'"),
    (lambda m: m.search("x", filters=ALICE, reference_date="2026-01-01"), "reference_date"),
    (lambda m: m.add("x", user_id=" "), "Invalid user_id: cannot be empty"),
    (lambda m: m.add("x"), "At least one of 'user_id', 'agent_id', or 'run_id' must be provided"),
    (lambda m: m.add(3, user_id="a"), "messages must be str, dict, or list"),
    (lambda m: m.add("x", user_id="a", memory_type="episodic"), "Invalid 'memory_type'"),
    (lambda m: m.add("x", user_id="a", expiration_date="soon"), "expiration_date must be a valid date"),
    (lambda m: m.add("x", user_id="a", metadata={"a": {"b": 1}}), "metadata.a is dict"),
    (lambda m: m.add("x", user_id="a", metadata={"a": "b" * 600}), "600 characters, more than the 512 allowed"),
    (lambda m: m.delete_all(), "At least one filter is required to delete all memories"),
    (lambda m: m.update("x"), "At least one of text, metadata, or expiration_date must be provided"),
]


# ------------------------------------------------------------------------------------------ opening, and awaiting


def test_a_configuration_of_mem0_says_where_the_store_lies_and_which_models_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBERMEM_EMBEDDER", "hashed")
    places: dict[str, dict[str, Any]] = {
        "q": {"vector_store": {"provider": "qdrant", "config": {"path": str(tmp_path / "q")}}},
        "h": {"history_db_path": str(tmp_path / "h" / "history.db"), "llm": {"provider": "aws_bedrock", "config": {}}},
    }
    for name, config in places.items():
        with Memory.from_config(config) as memory:
            memory.add("I like figs.", user_id="alice")
        assert (tmp_path / name / "ember.db").is_file()
    monkeypatch.setenv("MEM0_DIR", str(tmp_path / "home"))
    with Memory() as memory:
        assert (tmp_path / "home" / "ember.db").is_file()

    local = {"openai_base_url": "http://127.0.0.1:9/v1", "api_key": "k", "model": "tiny"}
    whole = {
        "llm": {"provider": "openai", "config": local},
        "embedder": {"provider": "huggingface", "config": {"model": "x"}},
        "ember": {"place": ":memory:", "background": False, "embedder": "hashed"},
    }
    with Memory.from_config(whole) as memory:
        settings = memory.ember.settings
        assert (settings.model, settings.model_url, settings.embedder) == ("tiny", local["openai_base_url"], "hashed")
        made = memory.add("I like figs.", user_id="alice")
        assert texts(made) == ["I like figs."]  # the model is asked in the background
        assert texts(memory.search("figs", filters=ALICE)) == ["I like figs."]


def test_the_vectors_that_are_kept_are_those_asked_for_last() -> None:
    asked: list[str] = []

    def embed(given: Sequence[str]) -> list[Any]:
        asked.extend(given)
        return [np.ones(1, np.float32) for _ in given]

    vectors = Vectors(embed)
    vectors.cosines("first", ["asked again"])
    vectors.cosines("asked again", [str(number) for number in range(20_000 - 2)])
    vectors.cosines("asked again", ["one more", "and one more"])
    asked.clear()
    vectors.cosines("asked again", ["first"])
    assert asked == ["first"]


def test_an_open_memory_of_ember_is_taken_and_left_open() -> None:
    with Ember(":memory:", embedder="hashed", background=False) as ember:
        ember.of("alice").add("I like figs.", None)
        ember.of("alice").settle()
        with Memory(ember) as memory:
            assert all_of(memory) == ["alice likes figs"]
        assert ember.of("alice").facts()


def test_every_call_can_be_awaited(tmp_path: Path) -> None:
    async def used() -> None:
        config = {"ember": {"place": tmp_path / "m.db", "embedder": "hashed", "background": False}}
        async with AsyncMemory.from_config(config) as memory:
            made = await memory.add("I live in Lyon.", user_id="alice")
            one = made["results"][0]["id"]
            assert texts(await memory.search("Lyon", filters=ALICE)) == texts(await memory.get_all(filters=ALICE))
            await memory.update(one, text="alice lives in Rome")
            assert (await memory.get(one) or {})["memory"] == "alice lives in Rome"
            assert len(await memory.history(one)) == 2
            await memory.delete(one)
            await memory.delete_all(user_id="alice")
            await memory.reset()
            with pytest.raises(ValueError, match="at least one of"):
                await memory.search("x", filters={})

    asyncio.run(used())


# ------------------------------------------------------------------------------------- beside Ember's own calls


def test_a_text_of_which_a_part_was_forgotten_shows_what_is_left(memory: Memory) -> None:
    long = "\n\n".join(f"Heron {number} lives near lake {number}. " * 12 for number in range(20))
    memory.add(long, user_id="alice", infer=False)
    alice = memory.ember.of("alice")
    gone = alice.passages(alice.documents()[0].id)[3]
    alice.forget(page=gone.page_id)
    (left,) = memory.get_all(filters=ALICE)["results"]
    assert gone.text[:40] not in left["memory"]
    assert "Heron 19" in left["memory"]
    assert [one["id"] for one in memory.search("Heron 7", filters=ALICE, threshold=0.0)["results"]] == [left["id"]]
    assert [one["new_memory"] for one in memory.history(left["id"])] == [left["memory"]]
    memory.delete(left["id"])
    assert memory.get_all(filters=ALICE)["results"] == []
    assert alice.documents() == ()
