"""Each format of `embermem import`: found from what is in the file, and read with times, speakers, threads and
places."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import exports_made as exports
from damaged import damaged_zip
from embermem.core.errors import InputError
from embermem.transfer.files import Files
from embermem.transfer.formats import FORMATS, Options, found
from embermem.transfer.imports import look
from embermem.transfer.items import BadLine, DocumentEntry, Entry, FactEntry, Found, LeftOut


def read(path: Path, form: str | None = None, **options: Any) -> list[Found]:
    files = Files(path)
    told = Options(**options)
    return list(found(files, form, told).read(files, told))


def name_of(path: Path) -> str:
    return found(Files(path), None, Options()).name


def entries(items: list[Found]) -> list[Entry]:
    return [one for one in items if isinstance(one, Entry)]


def facts(items: list[Found]) -> list[FactEntry]:
    return [one for one in items if isinstance(one, FactEntry)]


def documents(items: list[Found]) -> list[DocumentEntry]:
    return [one for one in items if isinstance(one, DocumentEntry)]


def bad(items: list[Found]) -> list[BadLine]:
    return [one for one in items if isinstance(one, BadLine)]


def left_out(items: list[Found]) -> list[str]:
    return [one.what for one in items if isinstance(one, LeftOut)]


def text_file(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def zipped(path: Path, **files: object) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in files.items():
            archive.writestr(name.replace("__", "/") + ".json", json.dumps(value))
    return path


# ----------------------------------------------------------------------------------------------------------- sniffing


def mem0_folder(folder: Path) -> Path:
    exports.write_json(folder / "all.json", exports.mem0_memories())
    exports.write_json(folder / "history.json", exports.mem0_events())
    return folder


MADE: dict[str, Callable[[Path], Path]] = {
    "chatgpt": lambda tmp: exports.write_json(tmp / "f.json", exports.chatgpt()), "claude": exports.claude,
    "memoryos": exports.memoryos, "mem0": mem0_folder,
    "letta": lambda tmp: exports.write_json(tmp / "agent.af", exports.letta()),
    "zep": lambda tmp: exports.write_json(tmp / "graph.json", exports.zep()),
    "langgraph": lambda tmp: exports.write_json(tmp / "items.json", exports.langgraph()),
    "telegram": lambda tmp: exports.write_json(tmp / "any.bin", exports.telegram()),
    "whatsapp": lambda tmp: text_file(tmp / "c.txt", "[13.05.24, 21:45:00] Ana: Hello"),
    "csv": lambda tmp: text_file(tmp / "t.txt", "time;author;body", "2024-01-01;Ana;Hello"),
    "json-lines": lambda tmp: text_file(tmp / "t", '{"body": "Hello", "author": {"name": "Ana"}}'),
    "jsonl": lambda tmp: text_file(tmp / "t", '{"role": "user", "content": "Hello"}'),
    "messages": lambda tmp: exports.write_json(tmp / "t", [{"role": "user", "content": "Hello"}]),
    "text": lambda tmp: text_file(tmp / "t", "Ana: Hello"),
}  # fmt: skip


def test_a_format_is_found_from_what_is_in_the_file(tmp_path: Path) -> None:
    for name in MADE:
        (tmp_path / name).mkdir()
        path = MADE[name](tmp_path / name)
        assert name_of(path) == name
        assert entries(read(path)) or facts(read(path))


def test_an_archive_is_read_as_its_files_are(tmp_path: Path) -> None:
    path = zipped(tmp_path / "export.zip", conversations=exports.chatgpt(), user={"id": "u"})
    assert name_of(path) == "chatgpt"
    assert entries(read(path))[0].place.startswith("conversations.json, $[0].mapping.")


def test_a_damaged_archive_is_refused_with_the_file_that_cannot_be_unpacked(tmp_path: Path) -> None:
    path, talk = tmp_path / "chat.zip", "[13/02/2026, 18:01:02] Mara: Good evening.\n"
    for damaged_at in (0, 300_000):  # where the format is looked for, and where it is read
        path.write_bytes(damaged_zip("chat.txt", "notes.md", text=talk * 20_000, at=damaged_at))
        with (
            pytest.raises(InputError, match=r"chat.txt, the archive is damaged"),
            look(path, Options(me="Mara")),
        ):
            pass


def test_files_of_another_format_beside_those_that_are_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "conversations.json").write_text(json.dumps(exports.chatgpt()), encoding="utf-8")
    (tmp_path / "chat.txt").write_text("[13/02/2026, 18:01:02] Mara: Good evening.\n", encoding="utf-8")
    with look(tmp_path, Options()) as found:
        assert found.left_out["files that are not of ChatGPT's export: chat.txt"] == 1


def test_a_file_of_no_known_format_is_refused_with_what_to_do(tmp_path: Path) -> None:
    for content in ["", "[]", '{"nothing": 1}', "no names here", "\x00\x01"]:
        (tmp_path / "f").write_text(content)
        with pytest.raises(InputError, match=r"--format|nothing in it"):
            name_of(tmp_path / "f")


def test_a_format_that_is_not_known_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one of: chatgpt"):
        read(text_file(tmp_path / "f", "Ana: hi"), form="diary")
    assert set(MADE) <= set(FORMATS)


# ------------------------------------------------------------------------------------------------------------ ChatGPT


def test_chatgpt_gives_the_branch_that_is_shown(tmp_path: Path) -> None:
    items = read(MADE["chatgpt"](tmp_path))
    of = [(one.role, one.content, one.more) for one in entries(items) if one.thread == "chatgpt:c1"]
    call = {"tool_calls": [{"function": {"name": "dalle.text2im", "arguments": '{"prompt": "brie"}'}}]}
    assert of == [
        ("user", "[image]\nWhich cheese is this?", {}), ("assistant", None, call),
        ("tool", "[image: a wheel of brie]", {}), ("assistant", "It looks like brie.", {}),
    ]  # fmt: skip
    assert entries(items)[1].at == datetime.fromtimestamp(1715500001.5, UTC)
    assert [one.what for one in bad(items)] == ["content of the kind 'hologram' is not known"]
    assert bad(items)[0].place == "$[1].mapping.b"
    assert "hidden messages" in left_out(items)
    assert "messages of other branches (--branches imports them)" in left_out(items)


def test_chatgpt_custom_instructions_and_memory_come_in_once(tmp_path: Path) -> None:
    items = read(exports.write_json(tmp_path / "f.json", [exports.chatgpt()[0], exports.chatgpt()[0]]))
    about = [one.content for one in entries(items) if one.thread == "chatgpt:about-me"]
    assert about == ["I live in Aalst. I am a baker."]
    told = [(one.text, one.standing) for one in facts(items)]
    assert told == [("Always answer in metric units.", True), ("User prefers brie to gouda.", False)]


def test_chatgpt_branches_come_in_as_threads_of_their_own(tmp_path: Path) -> None:
    items = read(MADE["chatgpt"](tmp_path), branches=True)
    of = [one.content for one in entries(items) if one.thread == "chatgpt:c1:branch:1"]
    assert of == ["It is a gouda."]


def test_chatgpt_trees_that_go_in_circles_end(tmp_path: Path) -> None:
    nodes = {"a": exports.node("a", "b", exports.said("user", 1, "One")), "b": exports.node("b", "a", None)}
    items = read(exports.write_json(tmp_path / "f", [{"mapping": nodes, "current_node": "a"}]))
    assert [one.content for one in entries(items)] == ["One"]


def test_chatgpt_gives_a_conversation_whose_current_node_is_unknown_or_that_stands_alone(tmp_path: Path) -> None:
    nodes = {
        "root": exports.node("root", None, None),
        "a": exports.node("a", "root", exports.said("user", 1, "One")),
        "b": exports.node("b", "a", exports.said("assistant", 1e308, "Two")),
        "c": exports.node("c", "b", exports.said("user", 3, "Three")),
        "d": exports.node("d", "b", exports.said("user", 2, "Other")),
    }
    talk = {"title": "Talk", "mapping": nodes, "current_node": "gone"}
    for value, at in (([talk], "$[0]"), (talk, "$")):
        items = read(exports.write_json(tmp_path / "f.json", value))
        assert [one.content for one in entries(items)] == ["One", "Two", "Three"]
        assert [(one.place, one.what) for one in bad(items)] == [
            (at, "current_node 'gone' is no message"),
            (f"{at}.mapping.b", "create_time is '1e+308', no time"),
        ]
        assert [one.at is None for one in entries(items)] == [False, True, False]


# ------------------------------------------------------------------------------------------------------------- Claude


def test_what_claude_wrote_in_another_form_is_told_and_not_counted_as_empty(tmp_path: Path) -> None:
    talk = exports.claude_talks()[0]
    asked, _ = talk["chat_messages"]
    talk["chat_messages"] = [{**asked, "content": [], "files": [], "attachments": [], "text": {"a": "Hello"}}]
    items = read(exports.write_json(tmp_path / "conversations.json", [talk]))
    assert [(one.place, one.what) for one in bad(items)] == [("$[0].chat_messages[0]", "text is of type dict")]


def test_claude_gives_messages_tools_files_projects_and_memories(tmp_path: Path) -> None:
    items = read(exports.claude(tmp_path))
    assert [(one.role, one.content) for one in entries(items)] == [
        ("user", "When do I plant dahlias?\n[file: plan.txt]\n[file: bed.png]"), ("assistant", None),
        ("tool", "Plant in May."), ("assistant", "Plant them in May."),
    ]  # fmt: skip
    titles = {one.title: one.text for one in documents(items)}
    assert titles == {
        "plan.txt": "Beds: beans, dahlias.", "Bakery: instructions": "Be brief.",
        "Bakery: flour.md": "# Flour\n\nUse rye.", "What Claude remembers": "The user bakes.",
    }  # fmt: skip
    assert left_out(items) == ["reasoning of the model"]


def test_claude_branches_are_told_apart_by_their_parents(tmp_path: Path) -> None:
    talk = exports.claude_talks()[0]
    asked, told = talk["chat_messages"]
    other = {**told, "uuid": "m0", "content": [{"type": "text", "text": "In June."}], "parent_message_uuid": "m1"}
    talk["chat_messages"] = [{**asked, "parent_message_uuid": None}, other, {**told, "parent_message_uuid": "m1"}]
    path = exports.write_json(tmp_path / "conversations.json", [talk])
    assert "In June." not in [one.content for one in entries(read(path))]
    branched = [one for one in entries(read(path, branches=True)) if one.content == "In June."]
    assert [one.thread for one in branched] == ["claude:k1:branch:1"]


# ----------------------------------------------------------------------------------------------------------- MemoryOS


def test_memoryos_gives_pages_once_in_time_and_knowledge_as_facts(tmp_path: Path) -> None:
    items = read(exports.memoryos(tmp_path))
    assert [one.content for one in entries(items)] == [
        "I keep bees.", "How many hives?", "Do bees sleep?", "Honey is ready.", "Well done.",
    ]  # fmt: skip
    assert entries(items)[0].at == datetime(2024, 3, 1, 10)
    told = sorted((one.about, one.text) for one in facts(items))
    assert told == [("agent", "Recommended a bee suit"), ("user", "Keeps three hives"), ("user", "Patient with bees")]
    assert ["error message" in one.what for one in bad(items)] == [True]
    assert left_out(items) == ["pages that stand twice"]


def test_memoryos_on_chroma_is_read_with_sqlite_alone(tmp_path: Path) -> None:
    items = read(exports.memoryos_chroma(tmp_path))
    assert [one.content for one in entries(items)] == [
        "I keep bees.", "How many hives?", "Honey is ready.", "Well done.",
    ]  # fmt: skip
    assert sorted(one.text for one in facts(items)) == ["Keeps three hives", "Patient with bees"]
    assert bad(items) == []


# --------------------------------------------------------------------------------------------------------------- mem0


def history_db(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "create table history(id text primary key, memory_id text, old_memory text, new_memory text, event text, "
            "created_at datetime, updated_at datetime, is_deleted integer, actor_id text, role text)"
        )
        for one in exports.mem0_events():
            names = ", ".join(one)
            db.execute(f"insert into history({names}) values ({', '.join('?' * len(one))})", tuple(one.values()))
        db.execute("create table messages(id text, session_scope text, role text, content text, name text, created_at)")
        row = ("1", "agent_id=a&user_id=ana", "user", "I bake rye bread.", None, "2024-02-01T10:00:00+00:00")
        db.execute("insert into messages values (?, ?, ?, ?, ?, ?)", row)
        db.commit()
    return path


def test_mem0_facts_come_with_their_history(tmp_path: Path) -> None:
    for as_database in [False, True]:
        exports.write_json(tmp_path / "all.json", exports.mem0_memories())
        if as_database:
            history_db(tmp_path / "history.db")
        else:
            exports.write_json(tmp_path / "history.json", exports.mem0_events())
        items = read(tmp_path)
        first, changed = (datetime.fromisoformat(f"2024-0{n}-01T10:00:00-08:00") for n in (2, 3))
        told = {one.text: (one.since, one.until) for one in facts(items)}
        assert told == {
            "Likes white bread": (first, changed),
            "Likes rye bread": (changed, None),
            "Works as a baker": (datetime.fromisoformat("2024-02-05T10:00:00-08:00"), None),
            "Owns a moped": (first, changed),
        }
        rye = next(one for one in facts(items) if one.text == "Likes rye bread")
        assert (rye.user, rye.metadata) == ("ana", {"category": "food", "source": "mem0", "mem0_id": "m-1"})
        assert bad(items) == []
        assert [(one.content, one.user) for one in entries(items)] == (
            [("I bake rye bread.", "ana")] if as_database else []
        )


def test_a_name_that_no_memory_can_have_leaves_out_only_its_item(tmp_path: Path) -> None:
    memories = [{"id": f"m-{n}", "memory": f"Owns {n} bees", "user_id": user} for n, user in enumerate(WRONG_USERS)]
    with look(exports.write_json(tmp_path / "all.json", {"results": memories}), Options()) as found:
        assert [one.user for one in found.users] == ["", "7", "ana"]
        assert [f"{one.place}: {one.what}" for one in found.problems] == [
            "$.results[0]: the user is blank: ' \\t'", "$.results[1]: its user_id is not a text: ['ana']",
            "$.results[2]: its user_id is not a text: True", "$.results[3]: the user has 600 characters, more than 512",
            "$.results[4]: the user has a NUL character",
        ]  # fmt: skip


WRONG_USERS = [" \t", ["ana"], True, "a" * 600, "a\x00b", 7, "ana", None, ""]


# ------------------------------------------------------------------------------------------------ Letta, Zep, LangGraph


def test_letta_gives_what_was_said_and_the_blocks(tmp_path: Path) -> None:
    items = read(MADE["letta"](tmp_path))
    said = [(one.role, one.content) for one in entries(items)]
    assert said == [("user", "Do bees sleep?"), ("assistant", "They do."), ("user", "Thank you.")]
    told = [(one.about, one.text) for one in facts(items)]
    assert told == [("user", "Name: Ana"), ("user", "Keeps bees"), ("agent", "I am a patient helper.")]
    assert [(one.title, one.text) for one in documents(items)] == [("hives", "Three hives behind the shed.")]


def test_letta_agent_files_of_the_older_form_are_read(tmp_path: Path) -> None:
    new = exports.letta()
    core = [{"label": one["label"], "value": one["value"]} for one in new["blocks"]]
    old = {
        "agent_type": "memgpt_agent", "core_memory": core, "messages": new["agents"][0]["messages"], "name": "helper",
    }  # fmt: skip
    items = read(exports.write_json(tmp_path / "agent.af", old))
    assert len(entries(items)) == len(facts(items)) == 3


def test_zep_gives_facts_with_the_times_in_which_they_held(tmp_path: Path) -> None:
    items = read(MADE["zep"](tmp_path))
    moved = datetime(2024, 1, 15, tzinfo=UTC)
    assert [(one.text, one.since, one.until) for one in facts(items)] == [
        ("Ana lives in Aalst", moved, None),
        ("Ana lived in Ronse", datetime(2019, 1, 1, tzinfo=UTC), moved),
    ]
    assert [(one.name, one.content, one.thread) for one in entries(items)] == [("Ana", "I moved.", "zep:t1")]
    assert [one.text for one in documents(items)] == ['{"plan": "gold"}']


def test_the_lines_of_a_graphiti_episode_have_their_speakers(tmp_path: Path) -> None:
    text = "Ana (user): I moved\nto Aalst.\nassistant: Well done.\nBen: So did I."
    episode = {"uuid": "p", "name": "e", "source": "message", "source_description": "chat", "content": text}
    plain = {**episode, "uuid": "q", "content": "A note on nobody's words."}
    times = {"valid_at": "2024-02-01T00:00:00Z", "created_at": "2024-02-01T00:00:00Z"}
    items = read(exports.write_json(tmp_path / "f", [{**episode, **times}, {**plain, **times}]))
    assert [(one.role, one.name, one.content) for one in entries(items)] == [
        ("user", "Ana", "I moved\nto Aalst."), ("assistant", None, "Well done."), ("user", "Ben", "So did I."),
    ]  # fmt: skip
    assert [one.text for one in documents(items)] == ["A note on nobody's words."]


def test_langgraph_items_are_facts_or_documents(tmp_path: Path) -> None:
    items = read(MADE["langgraph"](tmp_path))
    assert [(one.text, one.metadata["namespace"]) for one in facts(items)] == [("Likes rye bread", "memories/ana")]
    assert [one.source for one in documents(items)] == ["langgraph:plans/2"]


def test_the_file_of_a_langgraph_sqlite_store_is_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        db.execute("create table store(prefix text, key text, value text, created_at, updated_at)")
        row = ("memories.ana", "1", '{"content": "Likes rye bread"}', "2024-04-01 10:00:00", "2024-04-01 10:00:00")
        db.execute("insert into store values (?, ?, ?, ?, ?)", row)
        db.execute("insert into store values ('a', '2', 'no json', '2024-04-01 10:00:00', null)")
        db.commit()
    items = read(tmp_path / "s.db")
    assert [one.text for one in facts(items)] == ["Likes rye bread"]
    assert [one.place for one in bad(items)] == ["store, a/2"]


# ----------------------------------------------------------------------------------------------------------- Telegram


def test_telegram_gives_texts_of_parts_and_placeholders(tmp_path: Path) -> None:
    items = read(MADE["telegram"](tmp_path))
    assert [(one.name, one.content) for one in entries(items)] == [
        ("Ana Peeters", "I live in Aalst."), ("Ben", "[sticker 👍]"),
        ("Ben", "[forwarded from News]\n> I live in Rome."), ("Ben", "[photo]\nMy garden."),
    ]  # fmt: skip
    assert entries(items)[1].metadata["reply_to"] == 2
    assert {one.thread for one in entries(items)} == {"telegram:99"}
    assert left_out(items) == ["service messages (who joined, calls, pins)"]


def test_one_chat_of_telegram_is_read_alone(tmp_path: Path) -> None:
    chat = exports.telegram()["chats"]["list"][0]
    items = read(exports.write_json(tmp_path / "result.json", chat))
    assert (len(entries(items)), entries(items)[0].thread, entries(items)[0].title) == (4, "telegram:99", "Ben")


def test_an_episode_of_graphiti_whose_speaker_has_a_line_alone_is_a_document(tmp_path: Path) -> None:
    path = tmp_path / "episodes.json"
    content = "Ana (user):\nI live in Lyon."
    path.write_text(json.dumps([{"uuid": "e1", "content": content, "source_description": "chat"}]), encoding="utf-8")
    (document,) = read(path)
    assert isinstance(document, DocumentEntry)
    assert document.text == content


def test_a_tree_of_chatgpt_whose_links_are_no_texts_is_told_and_not_fatal(tmp_path: Path) -> None:
    for wrong in [[], {}, 5]:
        path = tmp_path / "conversations.json"
        linked = {
            "a": exports.node("a", None, exports.said("user", 1.0, "Hello")),
            "b": {"parent": wrong, "message": None},
        }
        path.write_text(json.dumps([{"mapping": linked, "current_node": "a"}]), encoding="utf-8")
        assert [one.content for one in entries(read(path))] == ["Hello"]
        path.write_text(json.dumps([{"mapping": linked, "current_node": wrong or ["a"]}]), encoding="utf-8")
        assert any(isinstance(one, BadLine) for one in read(path))
