"""LoCoMo without loss: each turn in exactly one page, of its own session, with its session's date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embermem.core.errors import InputError
from embermem.memory import Memory, OwnerMemory
from embermem_bench.datasets import Conversation, parse
from embermem_bench.load_conversation import add_conversation
from proofs import bounded

DATES = {2: "9:05 am on 3 March, 2024", 10: "6:00 pm on 20 Apr, 2024", 11: "6:00 pm on 21 April, 2024"}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path = tmp_path_factory.mktemp("locomo") / "bench.db"
    with Memory(path, embedder="hashed", background=False) as memory:
        yield memory


def said(speaker: str, place: str, text: str, **more: object) -> dict[str, object]:
    return {"speaker": speaker, "dia_id": place, "text": text, **more}


def difficult() -> dict[str, Any]:
    """One sample with all that has gone wrong in code that reads this format."""
    return {
        "sample_id": "hard-1",
        "conversation": {
            "speaker_a": "Ines",
            "speaker_b": "Odd",
            "session_10": [
                said("Odd", "D10:1", "I begin this time."),
                said("Odd", "D10:2", "And I go on."),
                said("Ines", "D10:3", "The ferry was late."),
            ],
            "session_10_date_time": DATES[10],
            "session_2": [
                said("Ines", "D2:1", "My lighthouse model is done."),
                said("Ines", "D2:2", "", img_url=["there"], blip_caption="a small white lighthouse"),
                said("Odd", "D2:3", "Lovely.", img_url=["there"]),
                said("Odd", "D2:4", "What comes next?"),
                said("Ines", "D2:5", ""),
            ],
            "session_2_date_time": DATES[2],
            "session_3": [said("Odd", "D3:1", "No date here."), said("Ines", "D3:2", "Nor here.")],
            "session_4": [],
            "session_4_date_time": "7:00 am on 4 March, 2024",
            "session_11": [said("Odd", "D11:1", "Good night.")],
            "session_11_date_time": DATES[11],
            "session_12_date_time": "7:00 am on 5 May, 2024",
        },
        "qa": [
            {"question": "How many lights?", "answer": 12, "evidence": ["D2:1;D2:3", "(D10:2)"], "category": 1},
            {"question": "Which boat?", "answer": "the ferry", "evidence": ["D"], "category": 4},
            {"question": "Why?", "answer": "wind", "category": 3},
            {"question": "What did Odd build?", "evidence": ["D2:1"], "category": 5, "adversarial_answer": "a model"},
            {"question": "Is it Odd's?", "answer": "No", "evidence": [], "category": 5, "adversarial_answer": "Yes"},
            {"question": "When did Odd sail?", "evidence": ["D10:3"], "category": 2, "adversarial_answer": 2024},
        ],
    }


def one(sample: object) -> Conversation:
    (conversation,) = parse([sample], "name", "here").conversations
    return conversation


def check_pages(owner: OwnerMemory, conversation: Conversation) -> None:
    """Each turn that says something is in exactly one page, as it was said; no page crosses sessions."""
    turn_of = add_conversation(owner, conversation)
    turns = {turn.id: turn for _, turn in conversation.turns()}
    session_of = {turn.id: thread.id for thread, turn in conversation.turns()}
    in_pages: Counter[str] = Counter()
    for page in owner.pages():
        for utterance in page.utterances:
            turn = turns[turn_of[utterance.id]]
            in_pages[turn.id] += 1
            assert session_of[turn.id] == page.thread
            assert (utterance.speaker, utterance.text, utterance.said_at) == (turn.speaker, turn.text, turn.at)
    assert in_pages == {turn.id: 1 for turn in turns.values() if turn.text.strip()}


def test_every_turn_of_a_difficult_file_is_in_exactly_one_page_of_its_session(memory: Memory) -> None:
    conversation = one(difficult())
    assert [turn.id for _, turn in conversation.turns()] == [
        *(f"D2:{n}" for n in range(1, 6)),
        *("D3:1", "D3:2"),
        *(f"D10:{n}" for n in range(1, 4)),
        "D11:1",
    ]
    check_pages(memory.of("hard"), conversation)


def test_sessions_stand_in_their_order_with_their_dates_or_those_of_a_neighbour() -> None:
    sizes = {thread.id: len(thread.turns) for thread in one(difficult()).threads}
    assert list(sizes.items()) == [
        ("session_2", 5),
        ("session_3", 2),
        ("session_4", 0),
        ("session_10", 3),
        ("session_11", 1),
    ]

    at = {thread.id: {turn.at for turn in thread.turns} for thread in one(difficult()).threads}
    assert at["session_2"] == {datetime(2024, 3, 3, 9, 5, tzinfo=UTC)}
    assert at["session_10"] == {datetime(2024, 4, 20, 18, 0, tzinfo=UTC)}
    assert at["session_11"] == {datetime(2024, 4, 21, 18, 0, tzinfo=UTC)}

    sample = difficult()
    after = datetime(2024, 3, 3, 9, 5, tzinfo=UTC)
    assert {turn.at for turn in one(sample).threads[1].turns} == {after}
    sample["conversation"]["session_1"] = [said("Odd", "D1:1", "The very first.")]
    assert one(sample).threads[0].turns[0].at == after

    dateless = difficult()
    dateless["conversation"] = {k: v for k, v in dateless["conversation"].items() if not k.endswith("_date_time")}
    with pytest.raises(InputError, match=r"here, sample 1 \(hard-1\): no session has a date"):
        one(dateless)

    long, last = difficult(), "session_" + "9" * 5000
    long["conversation"] |= {"session_02": [said("Odd", "D02:1", "Two.")], last: [said("Odd", "D9:1", "Bye.")]}
    found = [thread.id for thread in one(long).threads]
    assert (found[:3], found[-1]) == (["session_02", "session_2", "session_3"], last)


def test_pictures_answers_traps_and_malformed_evidence_are_read() -> None:
    texts = {turn.id: turn.text for _, turn in one(difficult()).turns()}
    assert texts["D2:2"] == "[photo: a small white lighthouse]"
    assert texts["D2:3"] == "Lovely."

    assert [(q.category, q.answer, q.trap, q.answerable) for q in one(difficult()).questions] == [
        ("1", "12", None, True),
        ("4", "the ferry", None, True),
        ("3", "wind", None, True),
        ("5", None, "a model", False),
        ("5", None, "Yes", False),
        ("2", None, "2024", False),
    ]

    asked = one(difficult()).questions
    assert [sorted(q.evidence) for q in asked] == [["D10:2", "D2:1", "D2:3"], [], [], ["D2:1"], [], ["D10:3"]]

    assert [c.id for c in parse(difficult(), "name", "here").conversations] == ["hard-1"]


TALKERS = st.sampled_from(["Ines", "Odd", "Third"])
SESSIONS = st.dictionaries(
    st.integers(1, 30), st.lists(st.tuples(TALKERS, st.text("ab \n", max_size=4)), max_size=6), min_size=1, max_size=5
)


@settings(max_examples=bounded(15, proofs=400), deadline=None)
@given(sessions=SESSIONS, dated=st.sets(st.integers(1, 30)))
def test_no_turn_is_lost_doubled_or_moved_whatever_the_order_of_speakers(
    memory: Memory, sessions: dict[int, list[tuple[str, str]]], dated: set[int]
) -> None:
    document: dict[str, Any] = {"session_99": [said("Odd", "D99:1", "x")], "session_99_date_time": DATES[2]}
    for number, turns in sessions.items():
        document[f"session_{number}"] = [said(who, f"D{number}:{n}", text) for n, (who, text) in enumerate(turns, 1)]
        if number in dated:
            document[f"session_{number}_date_time"] = f"1:00 pm on {number} May, 2024"
    conversation = one({"conversation": document})
    assert sum(1 for _ in conversation.turns()) == 1 + sum(map(len, sessions.values()))
    for thread, turn in conversation.turns():
        if (number := int(thread.id.removeprefix("session_"))) in dated:
            assert turn.at == datetime(2024, 5, number, 13, 0, tzinfo=UTC)
    owner = memory.of(f"one of {len(memory.owners())}")
    check_pages(owner, conversation)
