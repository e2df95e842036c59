"""`embermem.compat.mem0` beside mem0 itself: the same program, call by call, with the same model and embedder.

Both are given a model and an embedder on loopback: the model answers mem0 with one memory for each sentence
of the user's, the embedder counts words. Each call's outcome (keys and types of what it returns, or type and text of
the error) is printed where the two differ, and how many calls were alike. Needs an environment with both:

    make peers && PYTHONPATH=src .venv-peers/bin/python bench/scripts/peers/mem0_drop_in.py [--all]
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

os.environ["MEM0_TELEMETRY"] = "False"
DIMENSIONS = 64
ALICE = {"user_id": "alice"}
SAID = [
    {"role": "user", "content": "I live in Lyon. My bike is green."},
    {"role": "assistant", "content": "The tram C3 takes you home."},
]


class Fake(BaseHTTPRequestHandler):
    """A model and an embedder of OpenAI's protocol."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = embedded(asked["input"]) if self.path.endswith("/embeddings") else replied(asked["messages"])
        body = json.dumps({"object": "list", "model": "fake", **answer}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def embedded(given: str | list[str]) -> dict[str, Any]:
    rows = []
    for place, text in enumerate([given] if isinstance(given, str) else given):
        vector = [0.01] * DIMENSIONS
        for word in re.findall(r"\w+", text.lower()):
            vector[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
        rows.append({"object": "embedding", "index": place, "embedding": vector})
    return {"data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def replied(messages: list[Mapping[str, Any]]) -> dict[str, Any]:
    """For each sentence of the user's new messages one memory; for what is no extraction of mem0's, a sentence."""
    told = str(messages[-1]["content"])
    new = re.search(r"## New Messages\n(.*?)\n## ", told, re.DOTALL)
    said = re.findall(r"user: (.*?)(?:\\n|\n|\"|$)", new.group(1)) if new else []
    found = [one.strip() for text in said for one in re.findall(r"[^.?!]+[.?!]", text)]
    content = json.dumps({"memory": [{"text": one, "attributed_to": "user"} for one in found]}) if new else "A summary."
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return {"id": "x", "created": 0, "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}


def config_of(folder: Path, url: str) -> dict[str, Any]:
    """One configuration for both; `ember` is Ember's own part, which mem0 is not given."""
    local = {"api_key": "x", "openai_base_url": url, "model": "fake"}
    store = {"path": str(folder / "qdrant"), "embedding_model_dims": DIMENSIONS, "on_disk": True}
    return {
        "llm": {"provider": "openai", "config": local},
        "embedder": {"provider": "openai", "config": {**local, "embedding_dims": DIMENSIONS}},
        "vector_store": {"provider": "qdrant", "config": store},
        "history_db_path": str(folder / "history.db"),
    }


# ------------------------------------------------------------------------------------------------------ the program

Step = tuple[str, Callable[[Any, dict[str, str]], Any]]


def _first(ids: dict[str, str], name: str, made: Any) -> Any:
    if made["results"]:
        ids[name] = made["results"][0]["id"]
    return made


def _filtered(filters: Mapping[str, Any], memory: Any, ids: dict[str, str]) -> Any:
    return memory.search("green bike", filters={**ALICE, **filters})


FILTERS: tuple[dict[str, Any], ...] = (
    {"category": "home"},
    {"category": {"eq": "home"}},
    {"category": {"ne": "home"}},
    {"n": {"gt": 2}},
    {"n": {"gte": 3, "lte": 3}},
    {"n": {"lt": 3}},
    {"n": {"in": [3, 4]}},
    {"n": {"nin": [3, 4]}},
    {"category": ["home", "work"]},
    {"category": "*"},
    {"category": {"contains": "om"}},
    {"category": {"icontains": "HOME"}},
    {"AND": [{"category": "home"}, {"n": 3}]},
    {"OR": [{"category": "work"}, {"n": 3}]},
    {"NOT": [{"category": "home"}]},
    {"role": "assistant"},
    {"category": {"$eq": "home"}},
    {"category": {"like": "home", "eq": "home"}},
    {"OR": []},
    {"NOT": {}},
)

STEPS: list[Step] = [
    ("add(list)", lambda m, i: _first(i, "fact", m.add(SAID, **ALICE, metadata={"category": "home", "n": 3}))),
    ("add(str)", lambda m, i: m.add("I work as a nurse.", **ALICE, agent_id="cook", run_id="r1")),
    ("add(dict)", lambda m, i: m.add({"role": "user", "content": "I like figs."}, **ALICE, run_id="r1")),
    ("add(the same again)", lambda m, i: m.add("I like figs.", **ALICE, run_id="r1")),
    ("add(infer=False)", lambda m, i: _first(i, "raw", m.add(SAID, **ALICE, infer=False))),
    ("add(infer=False, name)", lambda m, i: m.add([{**SAID[0], "name": "Al"}], **ALICE, infer=False)),
    ("add(agent_id)", lambda m, i: m.add("My oven is broken.", agent_id="cook")),
    ("add(run_id)", lambda m, i: m.add("My budget is small.", run_id="trip")),
    ("add(system only)", lambda m, i: m.add([{"role": "system", "content": "x"}], **ALICE, infer=False)),
    ("add(procedural)", lambda m, i: m.add(SAID, agent_id="cook", memory_type="procedural_memory")),
    ("add(expiration_date)", lambda m, i: m.add("I rent a car.", **ALICE, expiration_date="2999-01-01")),
    ("add(no id)", lambda m, i: m.add("x")),
    ("add(user_id=' ')", lambda m, i: m.add("x", user_id=" ")),
    ("add(user_id='a b')", lambda m, i: m.add("x", user_id="a b")),
    ("add(messages=3)", lambda m, i: m.add(3, **ALICE)),
    ("add(memory_type)", lambda m, i: m.add("x", **ALICE, memory_type="episodic")),
    ("add(expiration_date='soon')", lambda m, i: m.add("x", **ALICE, expiration_date="soon")),
    ("add(timestamp)", lambda m, i: m.add("I have a dog.", **ALICE, timestamp=1_700_000_000)),
    ("add(nested metadata)", lambda m, i: m.add("I own a boat.", **ALICE, metadata={"a": {"b": 1}})),
    ("add(metadata.user_id)", lambda m, i: m.add("I own a kite.", **ALICE, metadata={"user_id": "bob"})),
    ("get_all(user)", lambda m, i: m.get_all(filters=ALICE)),
    ("get_all(top_k=1)", lambda m, i: m.get_all(filters=ALICE, top_k=1)),
    ("get_all(top_k=0)", lambda m, i: m.get_all(filters=ALICE, top_k=0)),
    ("get_all(run)", lambda m, i: m.get_all(filters={**ALICE, "run_id": "r1"})),
    ("get_all(agent alone)", lambda m, i: m.get_all(filters={"agent_id": "cook"})),
    ("get_all(run alone)", lambda m, i: m.get_all(filters={"run_id": "trip"})),
    ("get_all(nobody)", lambda m, i: m.get_all(filters={"user_id": "nobody"})),
    ("get_all()", lambda m, i: m.get_all()),
    ("get_all(user_id=)", lambda m, i: m.get_all(user_id="alice")),
    ("get_all(top_k=-1)", lambda m, i: m.get_all(filters=ALICE, top_k=-1)),
    ("search", lambda m, i: m.search("green bike", filters=ALICE)),
    ("search(top_k=1)", lambda m, i: m.search("green bike", filters=ALICE, top_k=1)),
    ("search(threshold=1)", lambda m, i: m.search("green bike", filters=ALICE, threshold=1.0)),
    ("search(rerank)", lambda m, i: m.search("green bike", filters=ALICE, top_k=1, rerank=True)),
    ("search(explain)", lambda m, i: m.search("green bike", filters=ALICE, top_k=1, explain=True)),
    ("search('')", lambda m, i: m.search("", filters=ALICE)),
    ("search(3)", lambda m, i: m.search(3, filters=ALICE)),
    ("search(no id)", lambda m, i: m.search("x", filters={"category": "home"})),
    ("search(user_id=)", lambda m, i: m.search("x", user_id="alice")),
    ("search(threshold=2)", lambda m, i: m.search("x", filters=ALICE, threshold=2)),
    ("search(top_k='a')", lambda m, i: m.search("x", filters=ALICE, top_k="a")),
    ("search(reference_date)", lambda m, i: m.search("x", filters=ALICE, reference_date="2026-01-01")),
    *[(f"search({json.dumps(one)})", partial(_filtered, one)) for one in FILTERS],
    ("get", lambda m, i: m.get(i["fact"])),
    ("get(infer=False)", lambda m, i: m.get(i["raw"])),
    ("get(unknown)", lambda m, i: m.get("00000000-0000-0000-0000-000000000000")),
    ("history", lambda m, i: m.history(i["fact"])),
    ("update(text)", lambda m, i: m.update(i["fact"], text="Lives in Rome.")),
    ("update(data)", lambda m, i: m.update(i["fact"], data="Lives in Oslo.")),
    ("update(metadata)", lambda m, i: m.update(i["fact"], metadata={"checked": True})),
    ("update(nothing)", lambda m, i: m.update(i["fact"])),
    ("update(unknown)", lambda m, i: m.update("00000000-0000-0000-0000-000000000000", text="x")),
    ("update(infer=False)", lambda m, i: m.update(i["raw"], text="My bike is red.")),
    ("get(updated)", lambda m, i: m.get(i["fact"])),
    ("history(updated)", lambda m, i: m.history(i["fact"])),
    ("history(infer=False, updated)", lambda m, i: m.history(i["raw"])),
    ("delete", lambda m, i: m.delete(i["fact"])),
    ("delete(again)", lambda m, i: m.delete(i["fact"])),
    ("get(deleted)", lambda m, i: m.get(i["fact"])),
    ("history(deleted)", lambda m, i: m.history(i["fact"])),
    ("history(unknown)", lambda m, i: m.history("00000000-0000-0000-0000-000000000000")),
    ("delete_all()", lambda m, i: m.delete_all()),
    ("delete_all(run)", lambda m, i: m.delete_all(user_id="alice", run_id="r1")),
    ("get_all(after it)", lambda m, i: m.get_all(filters={**ALICE, "run_id": "r1"})),
    ("delete_all(nobody)", lambda m, i: m.delete_all(user_id="nobody")),
    ("delete_all(user)", lambda m, i: m.delete_all(user_id="alice")),
    ("get_all(after that)", lambda m, i: m.get_all(filters=ALICE)),
    ("reset", lambda m, i: m.reset()),
    ("get_all(after reset)", lambda m, i: m.get_all(filters={"agent_id": "cook"})),
    ("chat", lambda m, i: m.chat("x")),
]


# ---------------------------------------------------------------------------------------------------- the outcomes


def shape(value: Any) -> Any:
    """What a program can rely on of a value: keys and types; of a list, those of its entries."""
    if isinstance(value, Mapping):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [f"{len(value)} times", *map(json.loads, sorted({json.dumps(shape(one)) for one in value}))]
    return type(value).__name__


def outcome(step: Callable[[Any, dict[str, str]], Any], memory: Any, ids: dict[str, str]) -> Any:
    try:
        return shape(step(memory, ids))
    except Exception as error:  # noqa: BLE001  each error is an outcome
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return {"raises": kinds[: kinds.index("Exception")], "says": re.sub(r"(id )\S+", r"\1…", str(error))}


def outcomes(memory: Any) -> dict[str, Any]:
    ids: dict[str, str] = {}
    return {name: outcome(step, memory, ids) for name, step in STEPS}


def verdict(theirs: Any, ours: Any) -> str:
    """One of "=", the same; "~", an error of the same type in other words, or a list of other memories with mem0's
    entries; and "!", different."""
    if theirs == ours:
        return "="
    if "raises" in theirs or "raises" in ours:
        if "raises" in theirs and "raises" in ours and theirs["raises"][0] in ours["raises"]:
            return "=" if theirs["says"] == ours["says"] else "~"
        return "!"
    listed = [one["results"] if isinstance(one, Mapping) and "results" in one else one for one in (theirs, ours)]
    if all(isinstance(one, list) and len(one) > 1 for one in listed):
        known = ENTRIES | {key for one in listed[0][1:] for key in one}
        needed = set.intersection(*(set(one) for one in listed[0][1:])) - ENTRIES
        return "~" if all(needed <= set(one) <= known for one in listed[1][1:]) else "!"
    return "!"


ENTRIES = {"user_id", "agent_id", "run_id", "actor_id", "role", "attributed_to", "expiration_date"}
"""Entries that a memory has where they were given."""


def main() -> None:
    from mem0 import Memory as Theirs

    from embermem.compat.mem0 import Memory as Ours

    server = ThreadingHTTPServer(("127.0.0.1", 0), Fake)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    with tempfile.TemporaryDirectory() as folder:
        for name in ("theirs", "ours"):
            (Path(folder) / name).mkdir()
        theirs = outcomes(Theirs.from_config(config_of(Path(folder) / "theirs", url)))
        # Ember asks no model here, as it does by default; its embedder is the same.
        own = {"model": "", "background": False}
        ours = outcomes(Ours.from_config({**config_of(Path(folder) / "ours", url), "ember": own}))
    server.shutdown()
    counted = dict.fromkeys("=~!", 0)
    for name, _ in STEPS:
        found = verdict(theirs[name], ours[name])
        counted[found] += 1
        if found == "!" or "--all" in sys.argv:
            print(f"{found} {name}\n    mem0   {json.dumps(theirs[name])}\n    Ember  {json.dumps(ours[name])}")
    print(f"{len(STEPS)} calls: {counted['=']} the same, {counted['~']} alike, {counted['!']} different")


if __name__ == "__main__":
    main()
