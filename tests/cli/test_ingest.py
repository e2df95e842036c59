"""Ingest: everything once, from wherever it stopped."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from running import command, environment, run, said, write

from embermem.memory import Memory, OwnerMemory
from embermem.transfer.ingest import BATCH_MESSAGES, BadInput, ingest
from embermem.transfer.items import BadLine, Entry
from forked import Child, ember
from proofs import bounded
from soundness import rows


def entry(number: int, content: str, thread: str | None = None) -> Entry:
    role = "user" if number % 2 == 0 else "assistant"
    return Entry(place=f"line {number + 1}", role=role, content=content, thread=thread)


def entries(count: int, start: int = 0) -> list[Entry]:
    return [entry(n, f"message number {n}") for n in range(start, start + count)]


def store(owner: OwnerMemory, items: list[Any], *, skip_bad: bool = False) -> int:
    done = ingest(owner, items, thread="main", where="f", skip_bad=skip_bad, told=lambda messages, offset: None)
    return done.messages


def texts(owner: OwnerMemory) -> list[str]:
    found = [u for page in owner.pages() for u in page.utterances]
    return [u.text for u in sorted(found, key=lambda u: u.seq)]


@pytest.fixture
def owner(tmp_path: Path) -> Any:
    with Memory(tmp_path / "m.db", background=False, embedder="hashed") as memory:
        yield memory.of("ana")


@pytest.mark.parametrize("count", [1, 15, 16, 40, *(pytest.param(n, marks=pytest.mark.proof) for n in (300, 700))])
def test_the_same_messages_again_store_nothing(owner: OwnerMemory, count: int) -> None:
    for _ in range(3):
        assert store(owner, entries(count)) == count
    assert texts(owner) == [f"message number {n}" for n in range(count)]


def test_a_file_that_has_grown_adds_only_what_is_new(owner: OwnerMemory) -> None:
    for count in (3, 10, 11, *bounded((60,), proofs=(200, 201, 600))):
        store(owner, entries(count))
        assert len(texts(owner)) == count
    store(owner, entries(count))
    assert texts(owner) == [f"message number {n}" for n in range(count)]


def test_two_files_that_begin_alike_are_both_stored_once(owner: OwnerMemory) -> None:
    one = [entry(0, "Hi"), entry(1, "Hello"), entry(2, "about tea")]
    other = [entry(0, "Hi"), entry(1, "Hello"), entry(2, "about chess"), entry(3, "castle early")]
    for _ in range(2):
        store(owner, list(one))
        store(owner, list(other))
    assert texts(owner) == ["Hi", "Hello", "about tea", "Hi", "Hello", "about chess", "castle early"]
    store(owner, [*other, entry(4, "and then?")])
    assert texts(owner)[-2:] == ["castle early", "and then?"]
    assert len(texts(owner)) == 8


def test_a_file_that_repeats_itself_is_stored_as_it_stands(owner: OwnerMemory) -> None:
    repeated = [entry(n, "ping" if n % 2 == 0 else "pong") for n in range(3 * BATCH_MESSAGES)]
    for _ in range(2):
        store(owner, list(repeated))
    assert len(texts(owner)) == len(repeated)


def test_a_mended_bad_line_goes_on_where_it_stopped(owner: OwnerMemory) -> None:
    good = entries(100)
    bad = BadLine(place="line 41", what="not JSON", advice="mend it")
    with pytest.raises(BadInput, match=r"f, line 41: not JSON; mend it. The 40 messages before it are stored"):
        store(owner, [*good[:40], bad, *good[41:]])
    assert len(texts(owner)) == 40
    store(owner, good)
    assert texts(owner) == [f"message number {n}" for n in range(100)]


def test_skipped_bad_lines_store_the_rest_once(owner: OwnerMemory) -> None:
    good = entries(100)
    bad = BadLine(place="line 41", what="not JSON", advice="mend it")
    for _ in range(2):
        assert store(owner, [*good[:40], bad, *good[40:]], skip_bad=True) == 100
    assert len(texts(owner)) == 100


def test_threads_stay_apart(owner: OwnerMemory) -> None:
    mixed = [entry(n, f"text {n}", thread=f"t{n // 3}") for n in range(30)]
    for _ in range(2):
        store(owner, list(mixed))
    found = {u.text: u.thread for page in owner.pages() for u in page.utterances}
    assert found == {f"text {n}": f"t{n // 3}" for n in range(30)}


# ----------------------------------------------------------------------------------------------- the command


def lines(count: int) -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[n % 2], "content": f"line {n} of a long talk"} for n in range(count)]


@pytest.mark.proof
def test_ten_thousand_lines_are_quick_and_quicker_the_second_time(tmp_path: Path) -> None:
    file, at = write(tmp_path / "f.jsonl", *lines(10_000)), tmp_path / "m.db"
    took = []
    for new in (10_000, 0):
        began = time.monotonic()
        done = run(at, "ingest", str(file), "--no-settle", "--json").json["owners"][0]
        took.append(time.monotonic() - began)
        assert (done["messages"], done["new"]) == (10_000, new)
    assert took[0] < 20
    assert took[1] < 10


def utterances(at: Path) -> int:
    """How many a store holds, seen from outside; none while it is being made."""
    if not at.exists():
        return 0
    with suppress(sqlite3.Error):
        return int(rows(at, "SELECT count(*) AS n FROM utterance")[0]["n"])
    return 0


def wait_for_more(at: Path, count: int, process: subprocess.Popen[Any] | Child) -> None:
    """Until a store holds more than so many utterances, or the process that stores them has ended."""
    deadline = time.monotonic() + 60
    while utterances(at) <= count and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.proof
def test_killed_again_and_again_it_ends_with_every_line_once(tmp_path: Path) -> None:
    count, kills = 6_000, 5
    file, at = write(tmp_path / "f.jsonl", *lines(count)), tmp_path / "m.db"
    counts = [0]
    for _ in range(kills):
        with subprocess.Popen(
            command("ingest", str(file), "--no-settle"),
            env=environment(at),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            wait_for_more(at, counts[-1], process)
            process.kill()
        counts.append(run(at, "stats", "--json").json["store"]["utterances"])
    assert all(before < after for before, after in pairwise(counts))
    assert counts[-1] < count
    assert run(at, "ingest", str(file), "--no-settle").code == 0
    with Memory(at, background=False, embedder="hashed") as memory:
        assert texts(memory.of("default")) == [line["content"] for line in lines(count)]


def test_ctrl_c_leaves_a_sound_store_and_says_how_to_go_on(tmp_path: Path) -> None:
    file, at = write(tmp_path / "f.jsonl", *lines(5_000)), tmp_path / "m.db"
    process = ember(at, "ingest", str(file), "--no-settle")
    wait_for_more(at, 0, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "goes on there" in err
    assert run(at, "doctor").code == 0


def test_stdin_and_chinese_text_are_read(tmp_path: Path) -> None:
    at = tmp_path / "m.db"
    done = run(at, "ingest", "-", "--json", stdin="王芳：我喜欢喝绿茶。\n助手：绿茶很好。\n".encode())
    assert done.json["owners"][0]["new"] == 2
    assert said(at) == ["我喜欢喝绿茶。", "绿茶很好。"]
    assert "我喜欢喝绿茶" in run(at, "recall", "绿茶").out


def test_a_bad_line_is_named_with_its_file_and_exit_1(tmp_path: Path) -> None:
    file = write(tmp_path / "f.jsonl", *lines(3), "{broken", *lines(1))
    done = run(tmp_path / "m.db", "ingest", str(file), "--json")
    assert (done.code, done.out) == (1, "")
    assert f"{file}, line 4: not JSON" in done.err
    assert "--skip-bad" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_skip_bad_goes_on_and_counts(tmp_path: Path) -> None:
    file = write(tmp_path / "f.jsonl", *lines(3), "{broken", {"role": "ghost", "content": ""}, *lines(1))
    done = run(tmp_path / "m.db", "ingest", str(file), "--skip-bad", "--json")
    assert done.code == 0
    (one,) = done.json["owners"]
    assert (one["messages"], one["new"], [bad["place"] for bad in one["bad"]]) == (4, 4, ["line 4", "line 5"])
    assert done.err.count("left out") == 2


def test_a_file_of_several_conversations_gives_each_an_owner_or_one_to_the_user(tmp_path: Path) -> None:
    turn = {"id": "1", "speaker": "Ana", "role": "user", "at": "2026-01-01", "text": "hi"}
    one = {"id": "a", "threads": [{"id": "t", "at": "2026-01-01", "turns": [turn]}], "questions": []}
    file = write(tmp_path / "f.json", {"name": "n", "conversations": [one, {**one, "id": "b"}]})
    done = run(tmp_path / "m.db", "ingest", str(file), "--json")
    assert [owner["user"] for owner in done.json["owners"]] == ["a", "b"]
    done = run(tmp_path / "n.db", "--user", "zoe", "ingest", str(file), "--sample", "b", "--json")
    assert [owner["user"] for owner in done.json["owners"]] == ["zoe"]
    done = run(tmp_path / "n.db", "ingest", str(file), "--sample", "c")
    assert (done.code, "found: a, b" in done.err) == (1, True)


def test_last_years_chat_keeps_last_years_dates(tmp_path: Path) -> None:
    line = {"query": "I planted a pear tree.", "response": "Good.", "at": "2025-03-04T09:00:00+01:00"}
    file, at = write(tmp_path / "f.jsonl", line), tmp_path / "m.db"
    assert run(at, "ingest", str(file)).code == 0
    (page,) = run(at, "show", "short", "--json").json
    assert page["said_at"].startswith("2025-03-04T")


def test_lines_carry_metadata_and_wrong_ones_are_named(tmp_path: Path) -> None:
    lines: list[Any] = [
        "# ticket, metadata",
        {"role": "user", "content": "Hi", "metadata": {"ticket": "T-1"}, "mood": "glad"},
        {"query": "Is it late?", "response": "No.", "metadata": {"n": 2, "tags": ["a"]}},
        {"role": "user", "content": "Bye", "metadata": {"a": {}}},
    ]
    file, at = write(tmp_path / "said.jsonl", *lines), tmp_path / "m.db"
    done = run(at, "ingest", str(file), "--skip-bad", "--json").json
    assert ["metadata.a is dict" in str(one) for one in done["owners"][0]["bad"]] == [False, True]
    assert done["owners"][0]["unread"] == {"mood": [1, "line 2"]}
    assert "1 values of the key 'mood', the first at line 2" in run(at, "ingest", str(file), "--skip-bad").err
    look = run(at, "import", str(file), "--dry-run", "--json").json
    assert [one["place"] for one in look["problems"]] == ["line 1", "line 4"]
    assert ["'mood'" in what and "line 2" in what for what in look["left_out"]] == [True]
    with Memory(at, embedder="hashed", background=False) as memory:
        told = [dict(one.metadata) for one in memory.of("default").utterances()]
    assert told == [{"ticket": "T-1"}, {"n": 2, "tags": ("a",)}, {"n": 2, "tags": ("a",)}]
