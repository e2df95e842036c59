"""`embermem bench cost`: what a live conversation asks of a model, counted by its server."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from running import run

from embermem.core.errors import InputError
from embermem.core.types import Role
from embermem_bench import cost
from embermem_bench.cost import DUE, EACH, Row, Said, chosen, costs, pages_of, ways_of
from embermem_bench.datasets import Conversation, Thread, Turn, load
from embermem_bench.results import Spent
from embermem_bench.systems import SYSTEMS
from proofs import bounded

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
HERE = [name for name, (module, _, _) in SYSTEMS.items() if importlib.util.find_spec(module)]
TOPICS = ("kayak", "sourdough", "trombone", "greenhouse", "lighthouse", "marathon", "beehive", "pottery")


def talk(pages: int) -> Conversation:
    """One thread a page, a day apart: whoever works when something is due has much to do."""
    threads = []
    for n in range(pages):
        topic, at = TOPICS[n % len(TOPICS)], START + timedelta(days=n)
        turns = (
            Turn(id=f"{n}:0", speaker="Mara", role=Role.USER, text=f"I like my {topic} and paint it.", at=at),
            Turn(id=f"{n}:1", speaker="Jon", role=Role.ASSISTANT, text=f"How is the {topic} today?", at=at),
        )
        threads.append(Thread(id=f"t{n}", turns=turns))
    return Conversation(id="mara", threads=tuple(threads), questions=())


def row(name: str, pages: int = 6, way: cost.Way = EACH) -> Row:
    return costs(pages_of(talk(pages)), name, {}, way, embedder="hashed", short_term_pages=2)


def test_pages_are_cut_as_the_store_cuts_them_of_a_conversation_that_is_named_or_the_first() -> None:
    (first, *_), at = pages_of(talk(1)), START
    one = Turn(id="a", speaker="Mara", role=Role.USER, text="One.", at=at)
    silent, two = replace(one, id="b", text="  "), replace(one, id="c", text="Two.")
    alone = replace(one, id="d", role=Role.ASSISTANT, text="Hello?")
    cut = pages_of(Conversation(id="x", threads=(Thread(id="t", turns=(alone, one, silent, two)),), questions=()))
    assert [[turn.id for turn in page.turns] for page in cut] == [["d"], ["a", "c"]]
    assert [page.query for page in cut] == ["", "One.\nTwo."]
    assert (first.no, first.query) == (1, "I like my kayak and paint it.")

    assert chosen([talk(1)], None).id == chosen([talk(1)], "mara").id == "mara"
    with pytest.raises(InputError, match="no conversation 'nobody'; there are: mara"):
        chosen([talk(1)], "nobody")
    with pytest.raises(InputError, match="no pages"):
        row("full_context", 0)


@pytest.mark.parametrize("name", bounded(["memgpt"], proofs=HERE))
def test_every_system_is_asked_for_each_reply_once_and_its_parts_add_up(name: str) -> None:
    found = row(name)
    assert (found.pages, found.responses) == (6, 6)
    assert found.answer.calls == 6
    assert vars_of(found.all) == tuple(
        map(sum, zip(*map(vars_of, (found.remember, found.recall, found.answer)), strict=True))
    )
    shown = found.as_json()
    assert shown["calls"] == pytest.approx(
        sum(shown[part]["calls"] for part in ("remember", "recall", "answer")), abs=0.02
    )
    assert shown["context_tokens"] * found.responses <= found.answer.prompt_tokens
    assert min(*vars_of(found.remember), *vars_of(found.recall)) >= 0


def vars_of(spent: Spent) -> tuple[int, int, int]:
    return spent.calls, spent.prompt_tokens, spent.completion_tokens


def test_full_context_costs_the_reply_alone_and_its_context_is_what_was_said_before() -> None:
    found = row("full_context", 2)
    assert vars_of(found.remember) == vars_of(found.recall) == (0, 0, 0)
    first = row("full_context", 1)
    assert first.context_tokens == 0 < found.context_tokens
    assert found.answer.prompt_tokens > 2 * first.answer.prompt_tokens

    with pytest.raises(InputError, match="it is settled"):
        row("full_context", 1, DUE)

    at = START
    turns = (Turn(id="a", speaker="Jon", role=Role.ASSISTANT, text="Hello?", at=at),)
    silent = costs([Said(no=1, thread="t", turns=turns)], "full_context", {}, EACH, embedder="hashed")
    assert (silent.responses, silent.all, silent.as_json()["calls"]) == (0, Spent(), None)


def test_memoryos_recalls_without_a_call_and_asks_less_when_it_waits_for_what_is_due() -> None:
    assert ways_of("memoryos") == (DUE, EACH)
    assert ways_of("full_context") == (EACH,)
    each, due = (row("memoryos", bounded(4, proofs=10), way) for way in (EACH, DUE))
    assert each.recall.calls == due.recall.calls == 0
    assert 0 < due.remember.calls <= each.remember.calls
    assert each.as_json()["published"] == {"calls": 4.9, "tokens": 3874}


def test_the_command_shows_a_row_for_each_way_beside_the_papers_figures(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"conversations": [as_neutral(talk(3))]}), encoding="utf-8")
    assert load(path).conversations[0].id == "mara"
    arguments = ("bench", "cost", str(path), "--system", "memoryos", "--system", "full_context:window_tokens=50")
    done = run(tmp_path / "m.db", *arguments, "--pages", "2", "--json")
    assert [(one["system"], one["way"]) for one in done.json["rows"]] == [
        ("memoryos", DUE.name),
        ("memoryos", EACH.name),
        ("full_context:window_tokens=50", EACH.name),
    ]
    assert {one["pages"] for one in done.json["rows"]} == {2}
    shown = run(tmp_path / "m.db", *arguments)
    assert shown.code == 0
    assert "3,874" in shown.out
    assert str(tmp_path) not in shown.out


def as_neutral(conversation: Conversation) -> dict[str, object]:
    threads = [
        {
            "id": thread.id,
            "at": thread.turns[0].at.isoformat(),
            "turns": [{"id": t.id, "speaker": t.speaker, "role": str(t.role), "text": t.text} for t in thread.turns],
        }
        for thread in conversation.threads
    ]
    return {"id": conversation.id, "threads": threads, "questions": []}
