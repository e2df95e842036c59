"""Small exports of other programs, in their true forms, invented."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any


def write_json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def node(name: str, parent: str | None, message: dict[str, Any] | None) -> dict[str, Any]:
    return {"id": name, "parent": parent, "children": [], "message": message}


def said(role: str, at: float, content: dict[str, Any] | str, **more: Any) -> dict[str, Any]:
    told = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    return {"author": author, "create_time": at, "content": told, "recipient": "all", "metadata": {}, **more}


def chatgpt() -> list[dict[str, Any]]:
    """Two talks, the newer one first, with a picture, a tool, what was hidden, and an answer that was replaced."""
    instructions = {
        "content_type": "user_editable_context",
        "user_profile": "The user told this: ```I live in Aalst. I am a baker.```",
        "user_instructions": "The user told this: ```Always answer in metric units.```",
    }
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://1"}
    drawn = {**image, "metadata": {"dalle": {"prompt": "a wheel of brie"}}}
    nodes = [
        node("root", None, None),
        node("hidden", "root", said("system", 0, "", metadata={"is_visually_hidden_from_conversation": True})),
        node("about", "hidden", said("user", 0, instructions)),
        node(
            "asked",
            "about",
            said("user", 1715500001.5, {"content_type": "multimodal_text", "parts": [image, "Which cheese is this?"]}),
        ),
        node("replaced", "asked", said("assistant", 1715500003, "It is a gouda.")),
        node("thought", "asked", said("assistant", 1715500004, {"content_type": "thoughts", "thoughts": []})),
        node("drew", "thought", said("assistant", 1715500005, '{"prompt": "brie"}', recipient="dalle.text2im")),
        node(
            "drawn",
            "drew",
            said("tool", 1715500006, {"content_type": "multimodal_text", "parts": [drawn]}, name="dalle.text2im"),
        ),
        node("noted", "drawn", said("assistant", 1715500007, "User prefers brie to gouda.", recipient="bio")),
        node("told", "noted", said("assistant", 1715500008, "It looks like brie.")),
    ]
    older = [
        node("a", None, said("user", 1714500000, "I bought a bicycle last week.")),
        node("b", "a", said("assistant", 1714500002, {"content_type": "hologram"})),
    ]
    return [
        {
            "title": "Cheese",
            "create_time": 1715500000.0,
            "conversation_id": "c1",
            "current_node": "told",
            "mapping": {one["id"]: one for one in nodes},
        },
        {
            "title": "Bicycle",
            "create_time": 1714500000.0,
            "conversation_id": "c0",
            "current_node": "b",
            "mapping": {one["id"]: one for one in older},
        },
    ]


def claude_talks() -> list[dict[str, Any]]:
    parts = [
        {"type": "thinking", "thinking": "dahlias"},
        {"type": "tool_use", "name": "search", "input": {"q": "dahlias"}},
        {"type": "tool_result", "name": "search", "content": [{"type": "text", "text": "Plant in May."}]},
        {"type": "text", "text": "Plant them in May."},
    ]
    asked = {
        "uuid": "m1",
        "sender": "human",
        "created_at": "2024-06-01T10:00:01Z",
        "text": "When do I plant dahlias?",
        "content": [{"type": "text", "text": "When do I plant dahlias?"}],
        "attachments": [{"file_name": "plan.txt", "extracted_content": "Beds: beans, dahlias."}],
        "files": [{"file_name": "bed.png"}],
    }
    told = {"uuid": "m2", "sender": "assistant", "created_at": "2024-06-01T10:00:09Z", "text": "", "content": parts}
    return [{"uuid": "k1", "name": "Garden", "created_at": "2024-06-01T10:00:00Z", "chat_messages": [asked, told]}]


def claude(folder: Path) -> Path:
    write_json(folder / "conversations.json", claude_talks())
    docs = [
        {"uuid": "d1", "filename": "flour.md", "content": "# Flour\n\nUse rye.", "created_at": "2024-01-02T00:00:00Z"}
    ]
    project = {"uuid": "p1", "name": "Bakery", "prompt_template": "Be brief.", "docs": docs}
    write_json(folder / "projects.json", [project])
    write_json(folder / "memories.json", [{"conversations_memory": "The user bakes.", "project_memories": {}}])
    return folder


def memoryos(folder: Path) -> Path:
    """A user's folder and an assistant's: a page of two topics, an error that was stored, an unclosed thought."""
    page = {"page_id": "page_1", "user_input": "I keep bees.", "agent_response": "How many hives?"}
    dated = {**page, "timestamp": "2024-03-01 10:00:00", "page_embedding": [0.1] * 8, "page_keywords": []}
    failed = {
        "user_input": "Do bees sleep?",
        "agent_response": "Error: Could not get response from LLM.",
        "timestamp": "2024-03-02 10:00:00",
    }
    sessions = {
        name: {"id": name, "summary": "Bees", "details": [dated, failed] if name == "session_a" else [dated]}
        for name in ("session_a", "session_b")
    }
    write_json(folder / "users/ana/mid_term.json", {"sessions": sessions, "access_frequency": {"session_a": 1}})
    newest = {
        "user_input": "Honey is ready.",
        "agent_response": "<think>sweet</think>Well done.",
        "timestamp": "2024-03-03 10:00:00",
    }
    write_json(folder / "users/ana/short_term.json", [newest])
    known = [{"knowledge": "- Keeps three hives", "timestamp": "2024-03-01 10:00:00", "knowledge_embedding": [0.5]}]
    profile = {
        "data": "# Profile\n- Patient with bees\n--- Updated on 2024-03-03 ---",
        "last_updated": "2024-03-03 10:00:00",
    }
    long_term = {"user_profiles": {"ana": profile}, "knowledge_base": known, "assistant_knowledge": []}
    write_json(folder / "users/ana/long_term_user.json", long_term)
    helper = [{"knowledge": "Recommended a bee suit", "timestamp": "2024-03-01 10:00:00", "knowledge_embedding": []}]
    long_term = {"user_profiles": {}, "knowledge_base": [], "assistant_knowledge": helper}
    write_json(folder / "assistants/helper/long_term_assistant.json", long_term)
    return folder


def memoryos_chroma(folder: Path) -> Path:
    """The tables of Chroma that hold what is beside its vectors, and the variant's own JSON, which lost its pages."""
    session = {"id": "session_a", "summary": "Bees", "summary_embedding": [0.1], "access_count_lfu": 0}
    recent = {"user_id": "ana", "user_input": "Honey is ready.", "agent_response": "Well done."}
    told = {
        "mid_term_sessions": {"session_a": session},
        "access_frequency": {},
        "heap_state": [],
        "short_term_memory": [{**recent, "timestamp": "2024-03-03 10:00:00"}],
        "user_profiles": {"ana": {"raw_text_profile": "Patient with bees"}},
        "update_times": {},
    }
    write_json(folder / "metadata_ana_helper.json", told)
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as db:
        db.executescript(
            """create table collections(id text primary key, name text);
            create table segments(id text primary key, type text, scope text, collection text);
            create table embeddings(id integer primary key, segment_id text, embedding_id text, seq_id blob);
            create table embedding_metadata(id integer, key text, string_value text, int_value integer,
              float_value real, bool_value integer, primary key(id, key));
            insert into collections values ('c1', 'mid_term_memory_user_ana'), ('c2', 'user_knowledge_ana');
            insert into segments values ('s1', 'x', 'METADATA', 'c1'), ('s2', 'x', 'METADATA', 'c2');
            insert into embeddings(id, segment_id, embedding_id) values
              (1, 's1', 'page_1'), (2, 's1', 'session_a'), (3, 's2', 'hives_1');
            insert into embedding_metadata(id, key, string_value) values
              (1, 'type', 'page'), (1, 'user_input', 'I keep bees.'), (1, 'agent_response', 'How many hives?'),
              (1, 'timestamp', '2024-03-01 10:00:00'), (2, 'type', 'session'),
              (3, 'type', 'knowledge'), (3, 'text', 'Keeps three hives'), (3, 'timestamp', '2024-03-01 10:00:00');"""
        )
        db.commit()
    return folder


def mem0_memories() -> dict[str, Any]:
    rye = {
        "id": "m-1",
        "memory": "Likes rye bread",
        "metadata": {"category": "food"},
        "created_at": "2024-02-01T10:00:00-08:00",
        "updated_at": "2024-03-01T10:00:00-08:00",
        "user_id": "ana",
    }
    works = {"id": "m-2", "memory": "Works as a baker", "created_at": "2024-02-05T10:00:00-08:00", "user_id": "ana"}
    return {"results": [rye, works]}


def mem0_events() -> list[dict[str, Any]]:
    first = {"id": "h1", "memory_id": "m-1", "old_memory": None, "new_memory": "Likes white bread", "event": "ADD"}
    second = {
        **first,
        "id": "h2",
        "old_memory": "Likes white bread",
        "new_memory": "Likes rye bread",
        "event": "UPDATE",
    }
    third = {"id": "h3", "memory_id": "m-3", "old_memory": None, "new_memory": "Owns a moped", "event": "ADD"}
    fourth = {**third, "id": "h4", "old_memory": "Owns a moped", "new_memory": None, "event": "DELETE"}
    times = ("2024-02-01T10:00:00-08:00", "2024-03-01T10:00:00-08:00")
    return [
        {**first, "created_at": times[0], "updated_at": None, "is_deleted": 0},
        {**second, "created_at": times[0], "updated_at": times[1], "is_deleted": 0},
        {**third, "created_at": times[0], "updated_at": None, "is_deleted": 0},
        {**fourth, "created_at": times[0], "updated_at": times[1], "is_deleted": 1},
    ]


def letta() -> dict[str, Any]:
    packed = json.dumps({"type": "user_message", "message": "Do bees sleep?", "time": "2024-05-01"})
    beat = json.dumps({"type": "heartbeat", "reason": "timer"})
    call = {"id": "1", "function": {"name": "send_message", "arguments": json.dumps({"message": "They do."})}}
    other = {"id": "2", "function": {"name": "archival_memory_search", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "You are…"}], "created_at": "2024-05-01T10:00:00Z"},
        {"role": "user", "content": [{"type": "text", "text": packed}], "created_at": "2024-05-01T10:00:01Z"},
        {"role": "assistant", "content": [], "tool_calls": [other], "created_at": "2024-05-01T10:00:02Z"},
        {"role": "tool", "content": [{"type": "text", "text": "none"}], "created_at": "2024-05-01T10:00:03Z"},
        {"role": "assistant", "content": [], "tool_calls": [call], "created_at": "2024-05-01T10:00:04Z"},
        {"role": "user", "content": [{"type": "text", "text": beat}], "created_at": "2024-05-01T10:00:05Z"},
        {"role": "user", "content": "Thank you.", "created_at": "2024-05-01T10:00:06Z"},
    ]
    blocks = [
        {"id": "b1", "label": "human", "value": "Name: Ana\nKeeps bees"},
        {"id": "b2", "label": "persona", "value": "I am a patient helper."},
        {"id": "b3", "label": "hives", "value": "Three hives behind the shed."},
    ]
    agent = {"id": "agent-0", "name": "helper", "messages": messages, "block_ids": ["b1", "b2", "b3"]}
    return {"agents": [agent], "blocks": blocks, "tools": [], "groups": [], "files": [], "sources": []}


def zep() -> dict[str, Any]:
    edge = {"uuid": "e1", "name": "LIVES_IN", "fact": "Ana lives in Aalst", "created_at": "2024-02-01T10:00:00Z"}
    lived = {**edge, "uuid": "e2", "fact": "Ana lived in Ronse", "valid_at": "2019-01-01T00:00:00Z"}
    message = {"uuid": "p1", "content": "I moved.", "role": "Ana", "role_type": "user", "source": "message"}
    note = {"uuid": "p2", "content": '{"plan": "gold"}', "source": "json", "created_at": "2024-02-01T10:00:00Z"}
    return {
        "edges": [{**edge, "valid_at": "2024-01-15T00:00:00Z"}, {**lived, "invalid_at": "2024-01-15T00:00:00Z"}],
        "nodes": [{"uuid": "n1", "name": "Ana"}],
        "episodes": [{**message, "created_at": "2024-02-01T09:00:00Z", "thread_id": "t1"}, note],
    }


def langgraph() -> list[dict[str, Any]]:
    times = {"created_at": "2024-04-01T10:00:00+00:00", "updated_at": "2024-04-02T10:00:00+00:00"}
    return [
        {"namespace": ["memories", "ana"], "key": "1", "value": {"content": "Likes rye bread"}, **times},
        {"namespace": ["plans"], "key": "2", "value": {"steps": ["buy flour", "bake"]}, **times},
    ]


def telegram() -> dict[str, Any]:
    unix = {"date": "2024-05-01T10:00:00", "date_unixtime": "1714557600"}
    messages = [
        {"id": 1, "type": "service", **unix, "action": "create_group", "actor": "Ben"},
        {
            "id": 2,
            "type": "message",
            **unix,
            "from": "Ana Peeters",
            "from_id": "user7",
            "text": ["I live in ", {"type": "bold", "text": "Aalst"}, "."],
        },
        {
            "id": 3,
            "type": "message",
            **unix,
            "from": "Ben",
            "from_id": "user8",
            "text": "",
            "media_type": "sticker",
            "sticker_emoji": "👍",
            "reply_to_message_id": 2,
        },
        {
            "id": 4,
            "type": "message",
            **unix,
            "from": "Ben",
            "from_id": "user8",
            "forwarded_from": "News",
            "text": "I live in Rome.",
        },
        {"id": 5, "type": "message", **unix, "from": "Ben", "from_id": "user8", "photo": "p.jpg", "text": "My garden."},
    ]
    chat = {"name": "Ben", "type": "personal_chat", "id": 99, "messages": messages}
    me = {"user_id": 7, "first_name": "Ana", "last_name": "Peeters"}
    return {"about": "", "personal_information": me, "contacts": {"list": []}, "chats": {"about": "", "list": [chat]}}
