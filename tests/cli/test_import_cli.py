"""`embermem import` of what other programs keep: looked at first, stored once and in the order of time, and nothing
left out unsaid."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from running import run, said, write

import exports_made as exports
from embermem.core.errors import InputError
from embermem.memory import Memory
from embermem.transfer.formats import Options
from embermem.transfer.imports import bring_in, look
from forked import ember
from proofs import bounded

CHAT = (
    "13/05/2024, 21:45 - Ana: I live in Aalst.",
    "13/05/2024, 21:46 - Ben: My dog is called Rex.",
    "14/05/2024, 08:00 - Ana: The bakery opens at six.",
)


def chat(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines or CHAT) + "\n", encoding="utf-8")
    return path


def stored(at: Path, user: str = "default") -> list[tuple[str, str]]:
    with Memory(at, background=False, embedder="hashed") as memory:
        return [(one.speaker, one.text) for one in memory.of(user).utterances()]


def test_a_dry_run_tells_what_would_come_in_and_makes_no_store(tmp_path: Path) -> None:
    at, file = tmp_path / "m.db", exports.write_json(tmp_path / "f.json", exports.chatgpt())
    done = run(at, "import", str(file), "--dry-run", "--json")
    assert (done.code, at.exists()) == (5, False)
    told = done.json
    assert (told["format"], told["users"][0]["messages"], told["users"][0]["facts"]) == ("chatgpt", 6, 2)
    assert [(one["thread"], one["title"]) for one in told["users"][0]["threads"]] == [
        ("chatgpt:c0", "Bicycle"),
        ("chatgpt:about-me", None),
        ("chatgpt:c1", "Cheese"),
    ]
    assert told["problems"][0]["place"] == "$[1].mapping.b"
    assert told["left_out"]["hidden messages"] == 1
    shown = run(at, "import", str(file), "--dry-run")
    assert "6 messages, 2 facts, 0 documents would come in" in shown.out
    assert "$[1].mapping.b: content of the kind 'hologram' is not known" in shown.err


def test_every_format_comes_in_once_however_often_it_is_given(tmp_path: Path) -> None:
    at = tmp_path / "m.db"
    files: dict[str, Any] = {"chatgpt": exports.chatgpt, "letta": exports.letta, "zep": exports.zep}
    files["langgraph"] = exports.langgraph
    folders = {"claude": exports.claude, "memoryos": exports.memoryos, "memoryos-chroma": exports.memoryos_chroma}
    for name in (*files, *folders):
        folder = tmp_path / name
        folder.mkdir()
        path = folders[name](folder) if name in folders else exports.write_json(folder / "f.json", files[name]())
        counts = []
        for _ in range(2):
            done = run(at, "--user", name, "import", str(path), "--json")
            assert done.code in (0, 5), (name, done.err)
            with Memory(at, background=False, embedder="hashed") as memory:
                mine = memory.of(name)
                facts = sorted(one.text for one in (*mine.facts(), *mine.past_facts()))
                counts.append((len(mine.utterances()), facts, len(mine.documents())))
        assert counts[0] == counts[1], name
        assert counts[0] > (0, [], 0), name
        assert done.json["owners"][0]["new"] == 0, name


def test_messages_are_stored_in_the_order_of_time_whatever_that_of_the_file(tmp_path: Path) -> None:
    at = tmp_path / "m.db"
    assert run(at, "import", str(exports.write_json(tmp_path / "f", exports.chatgpt())), "--no-settle").code == 5
    assert said(at)[:2] == ["I bought a bicycle last week.", "I live in Aalst. I am a baker."]


def test_in_a_talk_of_several_people_the_user_has_to_be_named(tmp_path: Path) -> None:
    at, file = tmp_path / "m.db", chat(tmp_path / "c.txt")
    done = run(at, "import", str(file))
    assert (done.code, at.exists()) == (1, False)
    assert "name the user with --me: Ana, Ben" in done.err
    done = run(at, "import", str(file), "--me", "Zoe")
    assert (done.code, "nobody is called 'Zoe' in it; who speaks: Ana, Ben" in done.err) == (1, True)
    assert run(at, "import", str(file), "--me", "ana").code == 0
    with Memory(at, background=False, embedder="hashed") as memory:
        mine = memory.of("default")
        assert [one.text for one in mine.facts(person="Ben")] == ["Ben has dog Rex"]
        assert ("home", "Aalst") in [(one.name, one.value) for one in mine.profile()]
        assert "Ana" in next(one for one in mine.people() if one.id == "user").names


def test_the_user_is_known_by_the_name_of_the_memory_or_by_the_file(tmp_path: Path) -> None:
    at = tmp_path / "m.db"
    assert run(at, "--user", "ana", "import", str(chat(tmp_path / "c.txt"))).code == 0
    assert {speaker for speaker, _ in stored(at, "ana")} == {"ana", "Ben"}
    telegram = exports.write_json(tmp_path / "result.json", exports.telegram())
    assert run(at, "--user", "zoe", "import", str(telegram)).code == 0
    assert {speaker for speaker, _ in stored(at, "zoe")} == {"zoe", "Ben"}


def test_a_chat_that_has_grown_adds_only_what_is_new(tmp_path: Path) -> None:
    at, file = tmp_path / "m.db", chat(tmp_path / "c.txt")
    run(at, "import", str(file), "--me", "Ana", "--no-settle")
    chat(file, *CHAT, "15/05/2024, 08:00 - Ben: Good morning.")
    done = run(at, "import", str(file), "--me", "Ana", "--no-settle", "--json")
    assert done.json["owners"][0]["new"] == 1
    assert [text for _, text in stored(at)][-1] == "Good morning."


def test_a_new_conversation_in_a_later_export_moves_nothing(tmp_path: Path) -> None:
    at, talks = tmp_path / "m.db", exports.chatgpt()
    run(at, "import", str(exports.write_json(tmp_path / "f", talks)), "--no-settle")
    message = exports.node("x", None, exports.said("user", 1714500001, "I sold my bicycle."))
    between = {"title": "Sold", "conversation_id": "c9", "current_node": "x", "mapping": {"x": message}}
    done = run(at, "import", str(exports.write_json(tmp_path / "f", [between, *talks])), "--no-settle", "--json")
    assert done.json["owners"][0]["new"] == 1


def test_facts_of_mem0_have_their_past(tmp_path: Path) -> None:
    at, folder = tmp_path / "m.db", tmp_path / "mem0"
    exports.write_json(folder / "all.json", exports.mem0_memories())
    exports.write_json(folder / "history.json", exports.mem0_events())
    for _ in range(2):
        assert run(at, "import", str(folder)).code == 0
    with Memory(at, background=False, embedder="hashed") as memory:
        mine = memory.of("default")
        now = sorted((one.text, one.metadata["source"]) for one in mine.facts())
        past = sorted((one.text, one.valid_to.date().isoformat()) for one in mine.past_facts() if one.valid_to)
        then = [one.text for one in mine.facts(valid_at="2024-02-15")]
    assert now == [("The user: Likes rye bread", "mem0"), ("The user: Works as a baker", "mem0")]
    assert past == [("The user: Likes white bread", "2024-03-01"), ("The user: Owns a moped", "2024-03-01")]
    assert sorted(then) == ["The user: Likes white bread", "The user: Owns a moped", "The user: Works as a baker"]


def test_a_document_that_was_forgotten_does_not_come_back_with_its_file(tmp_path: Path) -> None:
    at, file = tmp_path / "m.db", exports.write_json(tmp_path / "f", exports.langgraph())
    run(at, "import", str(file))
    with Memory(at, background=False, embedder="hashed") as memory:
        mine = memory.of("default")
        kept = len(mine.documents())
        mine.forget_document(mine.documents()[0].id)
    assert run(at, "import", str(file)).code == 0
    with Memory(at, background=False, embedder="hashed") as memory:
        assert len(memory.of("default").documents()) == kept - 1


def test_a_user_of_whom_a_file_holds_nothing_is_refused_with_those_that_it_has(tmp_path: Path) -> None:
    file = exports.write_json(tmp_path / "f", exports.mem0_memories())
    with Memory(":memory:", background=False, embedder="hashed") as memory, look(file, Options()) as found:
        with pytest.raises(InputError, match="holds nothing of the user ''; its users are: ana"):
            bring_in(memory.of("ana"), found)
        assert bring_in(memory.of("ana"), found, "ana").facts > 0


def test_several_users_of_a_file_get_memories_of_their_own(tmp_path: Path) -> None:
    memories = exports.mem0_memories()
    memories["results"][1]["user_id"] = "ben"
    at, file = tmp_path / "m.db", exports.write_json(tmp_path / "f", memories)
    done = run(at, "import", str(file), "--json")
    assert [(one["user"], one["facts"]) for one in done.json["owners"]] == [("ana", 1), ("ben", 1)]
    done = run(at, "--user", "zoe", "import", str(file), "--sample", "ben", "--json")
    assert [(one["user"], one["facts"]) for one in done.json["owners"]] == [("zoe", 1)]
    assert "found: ana, ben" in run(at, "import", str(file), "--sample", "eva").err


def test_a_file_that_cannot_be_read_to_its_end_leaves_nothing(tmp_path: Path) -> None:
    for content, what in (
        (json.dumps(exports.chatgpt())[:900].encode(), "it was cut off"),
        (b'[{"mapping": {"a": {"message": }}}]', "line 1, column 32: not JSON"),
        (json.dumps(exports.chatgpt()).encode().replace(b"gouda", b"go\xffuda"), "not UTF-8 at byte"),
        (b"a\x00b", "--format"),
    ):
        (tmp_path / "f").write_bytes(content)
        done = run(tmp_path / "m.db", "import", str(tmp_path / "f"))
        assert (done.code, (tmp_path / "m.db").exists()) == (1, False), what
        assert what in done.err


def test_what_no_store_can_hold_is_told_with_its_place(tmp_path: Path) -> None:
    lines = [json.dumps({"role": "user", "content": text}) for text in ("a\x00b", "\ud800", "c")]
    done = run(tmp_path / "m.db", "import", str(write(tmp_path / "f", *lines)), "--json", "--no-settle")
    assert (done.code, [one["place"] for one in done.json["problems"]]) == (5, ["line 1", "line 2"])
    assert said(tmp_path / "m.db") == ["c"]


def test_other_encodings_with_a_mark_are_read(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes(("\n".join(CHAT) + "\n").encode("utf-16"))
    done = run(tmp_path / "m.db", "import", str(tmp_path / "c.txt"), "--me", "Ana", "--no-settle", "--json")
    assert done.json["owners"][0]["messages"] == 3


def test_stdin_is_read_and_options_are_checked(tmp_path: Path) -> None:
    at = tmp_path / "m.db"
    done = run(at, "import", "-", "--me", "Ana", "--no-settle", "--json", stdin="\n".join(CHAT).encode())
    assert done.json["owners"][0]["new"] == 3
    assert run(at, "import", "-", "--map", "text", stdin=b"x").code == 2
    assert run(at, "import", "-", "--dates", "dym", stdin=b"x").code == 2
    assert run(at, "import", str(tmp_path / "none")).code == 1


def count_of(at: Path) -> int:
    """The messages of a store, which may have no table yet."""
    with closing(sqlite3.connect(at)) as store:
        try:
            return int(store.execute("SELECT count(*) FROM utterance").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def test_killed_in_the_middle_and_given_again_it_ends_with_each_once(tmp_path: Path) -> None:
    count = bounded(600, proofs=20_000)
    lines = [
        f"{1 + n // 1400:02}/05/2024, {n // 60 % 24:02}:{n % 60:02} - {('Ana', 'Ben')[n % 3 == 0]}: line {n}"
        for n in range(count)
    ]
    lines.append("30/05/2024, 10:00 - Ana: the end")
    file, at = chat(tmp_path / "c.txt", *lines), tmp_path / "m.db"
    arguments = ("import", str(file), "--me", "Ana", "--no-settle")
    seen = 0
    for _ in range(3):
        process, deadline = ember(at, *arguments), time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if at.exists() and (now := count_of(at)) > seen:
                seen = now
                break
            time.sleep(0.02)
        process.kill()
        process.wait()
    assert run(at, *arguments).code == 0
    assert [text for _, text in stored(at)] == [line.partition(": ")[2] for line in lines]
    assert run(at, "doctor").code == 0
