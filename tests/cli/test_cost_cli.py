"""`embermem cost` and `embermem ingest --estimate`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import run, write

from embermem.core import config
from embermem.core.types import OwnerId
from embermem.protocols import Call, Purpose
from embermem.reports import cost
from embermem.reports.estimate import pages_a_promotion
from embermem.testing import answers
from embermem.testing.model_server import ModelServer

NOON = datetime(2026, 5, 2, 12, tzinfo=UTC)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that answers each of our prompts."""
    with ModelServer() as one:
        yield one


def model(server: ModelServer, **more: str) -> dict[str, str]:
    """The settings that name it."""
    named = {"EMBERMEM_MODEL": "scripted", "EMBERMEM_MODEL_URL": server.url, "EMBERMEM_MODEL_RETRIES": "0"}
    return named | {f"EMBERMEM_{name.upper()}": value for name, value in more.items()}


def call(owner: str = "o", outcome: str = "ok", purpose: Purpose = Purpose.CHAT, ms: int = 10, days: int = 0) -> Call:
    return Call(
        id="k",
        owner_id=OwnerId(owner),
        at=NOON + timedelta(days=days),
        purpose=purpose,
        model="m",
        prompt_tokens=100,
        completion_tokens=20,
        cached_tokens=5,
        ms=ms,
        outcome=outcome,
    )


calls = st.lists(
    st.builds(
        call,
        owner=st.sampled_from("ab"),
        outcome=st.sampled_from(["ok", "started", "timeout"]),
        purpose=st.sampled_from(list(Purpose)),
        ms=st.integers(0, 9000),
    )
)


@given(calls)
def test_however_it_is_summed_up_nothing_is_lost(made: list[Call]) -> None:
    for name in (lambda c: c.purpose.value, lambda c: c.owner_id, lambda c: "all"):
        rows = cost.spent(made, name)
        assert sum(row.calls for row in rows) == len(made)
        assert sum(row.prompt_tokens + row.completion_tokens for row in rows) == 120 * len(made)
        assert sum(sum(row.outcomes.values()) for row in rows) == len(made)


def test_the_mean_is_of_calls_that_ended() -> None:
    (row,) = cost.spent([call(ms=10), call(ms=30), call(ms=0, outcome="started")], lambda _: "all")
    assert (row.mean_ms, row.outcomes) == (20.0, {"ok": 2, "started": 1})
    (none,) = cost.spent([call(ms=0, outcome="started")], lambda _: "all")
    assert none.mean_ms is None


def test_what_is_left_is_never_below_nothing_and_one_users_limit_is_his_own() -> None:
    settings = config.load(calls_per_day=1, tokens_per_day=1000, owner_calls_per_day=5)
    left = {one.what: (one.used, one.left) for one in cost.allowances([call("a"), call("b")], settings, OwnerId("a"))}
    assert left == {
        "calls": (2, 0),
        "tokens": (240, 760),
        "calls of this user": (1, 4),
        "tokens of this user": (120, None),
    }


def test_the_ledger_of_a_talk_is_shown_by_day_purpose_and_owner(tmp_path: Path, server: ModelServer) -> None:
    store, env = tmp_path / "m.db", model(server, calls_per_day="10")
    server.fail_next("http_500")
    run(store, "--user", "alice", "chat", stdin=b"One.\nTwo.\n", more=env)
    run(store, "--user", "bob", "chat", stdin=b"Three.\n", more=env)
    shown = run(store, "--user", "alice", "cost", "--by", "owner", "--json", more=env).json
    assert [(row["name"], row["calls"], row["outcomes"]) for row in shown["rows"]] == [
        ("alice / default", 2, {"HTTP 500": 1, "ok": 1}),
        ("bob / default", 1, {"ok": 1}),
    ]
    assert [(one["used"], one["left"]) for one in shown["today"] if "calls" in one["what"]] == [(3, 7), (2, None)]
    assert shown["total"][0]["prompt_tokens"] > 0
    for by in ("day", "purpose"):
        done = run(store, "cost", "--by", by, more=env)
        assert (done.code, "HTTP 500 1, ok 2" in done.out, "no limit" in done.out) == (0, True, True)
    later = run(store, "cost", "--since", f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}", "--json", more=env).json
    assert (later["rows"], later["today"][0]["used"]) == ([], 3)


def test_wrong_usage_and_a_missing_store_are_told(tmp_path: Path) -> None:
    assert run(tmp_path / "m.db", "cost").code == 1
    run(tmp_path / "m.db", "add", "Hello.")
    assert run(tmp_path / "m.db", "cost", "--by", "colour").code == 2
    assert run(tmp_path / "m.db", "cost", "--since", "yesterday").code == 2
    assert run(tmp_path / "m.db", "cost", "--json").json["rows"] == []


# ---------------------------------------------------------------------------------------------------- the estimate


def talk(path: Path, pages: int) -> Path:
    """A talk of so many pages about four matters in turn, ten pages each."""
    matters = (
        "My tomatoes in the garden need water, row {n}; the soil is dry and the plants hang their leaves.",
        "The train to Lyon was late again on trip {n}; I read a novel by Zola at the station until it came.",
        "Our choir sings Bach this winter, rehearsal {n}; my voice is tired but the altos carry the hall.",
        "I repair an old radio, tube {n} is broken; the transformer hums and smells of dust and solder.",
    )
    lines = [
        {"query": matters[n // 10 % 4].format(n=n), "response": f"That is the {n}th time you say so. How did it end?"}
        for n in range(pages)
    ]
    return write(path, *lines)


@pytest.mark.proof
def test_an_estimate_is_near_what_a_real_run_asks_for(tmp_path: Path, server: ModelServer) -> None:
    server.reply_with(answers.answer)
    store, env, file = tmp_path / "m.db", model(server), str(talk(tmp_path / "t.jsonl", 87))
    (expected,) = run(store, "ingest", file, "--estimate", "--json", more=env).json["owners"]
    assert not store.exists()
    assert (expected["pages"], expected["messages"]) == (87, 174)
    assert server.calls == 0

    assert run(store, "ingest", file, more=env).code == 0
    spent = run(store, "cost", "--json", more=env).json["total"][0]
    assert spent["calls"] == server.calls
    assert expected["calls"] / 1.5 <= spent["calls"] <= expected["calls_at_most"]
    for kind in ("prompt_tokens", "completion_tokens"):
        assert expected[kind] / 2 <= spent[kind] <= expected[kind] * 2, (kind, expected[kind], spent[kind])


def test_an_estimate_counts_pages_and_bad_lines_and_is_nothing_where_no_model_is_asked(
    tmp_path: Path, server: ModelServer
) -> None:
    file = str(talk(tmp_path / "t.jsonl", 7))
    (one,) = run(tmp_path / "m.db", "ingest", file, "--estimate", "--json", more=model(server)).json["owners"]
    assert (one["pages"], one["calls"]) == (7, 0)

    file = str(talk(tmp_path / "t.jsonl", 40))
    shown = run(tmp_path / "m.db", "ingest", file, "--estimate", "--json").json
    (one,) = shown["owners"]
    assert (one["pages"], one["calls"], one["prompt_tokens"], one["completion_tokens"]) == (40, 0, 0, 0)
    assert "no model is set" in shown["verdict"]

    file = str(write(tmp_path / "t.jsonl", {"query": "Hello.", "response": "Hi."}, "no json", {"role": "user"}))
    (one,) = run(tmp_path / "m.db", "ingest", file, "--estimate", "--json", more=model(server)).json["owners"]
    assert (one["pages"], one["bad"]) == (1, 2)


def test_an_estimate_says_whether_todays_limits_allow_it(tmp_path: Path, server: ModelServer) -> None:
    file = str(talk(tmp_path / "t.jsonl", 40))

    def verdict(**limits: str) -> str:
        return str(run(tmp_path / "m.db", "ingest", file, "--estimate", more=model(server, **limits)).out)

    assert "no limit is set" in verdict()
    assert "today's limits allow it" in verdict(calls_per_day="100")
    assert "calls: 7 needed, 5 left" in verdict(calls_per_day="5")
    run(tmp_path / "m.db", "chat", stdin=b"Hello.\n", more=model(server))
    assert "calls of this user: 7 needed, 4 left" in verdict(owner_calls_per_day="5")


def test_a_promotion_needs_heat_above_tau() -> None:
    assert pages_a_promotion(config.load()) == 5
    assert pages_a_promotion(config.load("paper")) == 5
    assert pages_a_promotion(config.load(min_new=9)) == 9
    assert pages_a_promotion(config.load(tau=0.0, min_new=1)) == 1
