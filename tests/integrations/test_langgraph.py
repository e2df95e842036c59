"""The store of LangGraph on a memory, and the hooks of an agent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from sqlalchemy import Engine, event

from embermem import Memory, OwnerMemory
from embermem.core.errors import InputError
from embermem.integrations.langchain import MemoryHooks, memory_tools
from embermem.integrations.langgraph import EmberStore
from forgotten import SECRET, kept
from forked import script
from proofs import bounded
from scripted import Clock, Opener, Place

NOTES = ("users", "1")


@pytest.fixture
def store(alice: OwnerMemory) -> EmberStore:
    return EmberStore(alice)


def keys(items: Sequence[Any]) -> list[str]:
    return [item.key for item in items]


# -------------------------------------------------------------------------------------------------- values and batches


def test_a_value_is_given_back_as_it_was(store: EmberStore) -> None:
    value = {"text": " a\r\nb\t", "n": 1, "x": 0.1, "yes": True, "none": None, "list": [1, {"a": []}], "": {}}
    store.put(NOTES, "k", value)
    item = store.get(NOTES, "k")
    assert item is not None
    assert (item.value, item.key, item.namespace) == (value, "k", NOTES)
    assert [type(one) for one in item.value.values()] == [type(one) for one in value.values()]


def test_a_value_that_is_not_json_is_refused_and_nothing_is_stored(store: EmberStore) -> None:
    values: list[dict[Any, Any]] = [{"x": float("nan")}, {"x": b"bytes"}, {1: "x"}, {"x": object()}]
    for value in values:
        with pytest.raises(InputError, match="original"):
            store.put(NOTES, "k", value)
    assert store.get(NOTES, "k") is None


def test_any_key_and_label_tells_items_apart(store: EmberStore) -> None:
    for key in ("", " ", "a/b", "a%2Fb", "notes.md", "page.html", "日本語", "a\nb", "x" * 200, ".txt"):
        label = key.replace(".", "·") or "·"
        store.put((label, "b"), key, {"text": "# only a heading"})
        store.put((label,), "b", {"text": "another"})
        item = store.get((label, "b"), key)
        assert item is not None
        assert (item.namespace, item.key) == ((label, "b"), key)
        assert store.list_namespaces(prefix=(label,)) == [(label,), (label, "b")]
        assert keys(store.search((label, "b"))) == [key]


def test_a_put_again_keeps_when_it_was_created_and_comes_first(store: EmberStore, clock: Clock) -> None:
    for key in "abc":
        clock.go(1)
        store.put(NOTES, key, {"text": key})
    clock.go(1)
    first = store.get(NOTES, "a")
    store.put(NOTES, "a", {"text": "a"})
    again = store.get(NOTES, "a")
    assert first is not None
    assert again is not None
    assert again.created_at == first.created_at
    assert again.updated_at > first.updated_at
    assert keys(store.search(NOTES)) == ["a", "c", "b"]


def test_reads_of_a_batch_see_what_was_before_it_and_the_last_put_counts(store: EmberStore) -> None:
    store.put(NOTES, "k", {"n": 0})
    results = store.batch(
        [
            PutOp(NOTES, "k", {"n": 1}),
            GetOp(NOTES, "k"),
            PutOp(NOTES, "k", {"n": 2}),
            SearchOp(NOTES),
            PutOp(("other",), "gone", {"n": 3}),
            PutOp(("other",), "gone", None),
            ListNamespacesOp(),
        ]
    )
    assert results[1].value == {"n": 0}  # type: ignore[union-attr]
    assert [item.value for item in results[3]] == [{"n": 0}]  # type: ignore[union-attr]
    assert results[6] == [NOTES]
    assert [results[place] for place in (0, 2, 4, 5)] == [None] * 4
    item = store.get(NOTES, "k")
    assert item is not None
    assert item.value == {"n": 2}
    assert store.get(("other",), "gone") is None


def test_a_deleted_item_is_gone_from_the_memory_and_may_be_put_again(store: EmberStore, alice: OwnerMemory) -> None:
    store.put(NOTES, "k", {"text": "The code is Zephyrine."})
    store.delete(NOTES, "k")
    store.delete(NOTES, "k")
    assert store.get(NOTES, "k") is None
    assert store.list_namespaces() == []
    assert "Zephyrine" not in alice.recall("What is the code?").text
    assert list(alice.originals()) == []
    store.put(NOTES, "k", {"text": "The code is Zephyrine."})
    assert store.get(NOTES, "k") is not None


def test_the_bytes_of_a_deleted_item_are_scrubbed_at_once_or_by_the_background_thread(
    opened: Opener, place: Place
) -> None:
    for background in (False, True):
        file = f"{background}/memory.db"
        memory = opened(file, background=background, pause_s=60.0, poll_s=3600.0)
        store = EmberStore(memory.of("alice"))
        store.put(NOTES, "k", {"text": f"I live in {SECRET}."})
        store.delete(NOTES, "k")
        assert memory.scrub_due() is background
        memory.close()
        assert SECRET.encode() not in kept(place(file))


def test_namespaces_that_cannot_be_are_refused_also_in_a_batch(store: EmberStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put((), "k", {})
    for op in (GetOp(("a.b",), "k"), PutOp(("",), "k", {}), SearchOp(("a\x00",))):
        with pytest.raises(InvalidNamespaceError):
            store.batch([PutOp(NOTES, "k", {"n": 1}), op])
    assert store.get(NOTES, "k") is None


def test_put_and_get_do_not_read_the_other_items(store: EmberStore) -> None:
    store.put(NOTES, "7", {"n": 7})
    asked: list[str] = []

    def ask(c: Any, cursor: Any, statement: str, *more: Any) -> None:
        asked.append(statement)

    event.listen(Engine, "before_cursor_execute", ask)
    try:
        store.put(NOTES, "7", {"n": 70})
        store.get(NOTES, "7")
    finally:
        event.remove(Engine, "before_cursor_execute", ask)
    of_documents = [one for one in asked if "FROM document" in one]
    assert len(of_documents) == 3
    assert all("document.source = " in one for one in of_documents)


# ------------------------------------------------------------------------------------------------------------- searches


def test_a_query_finds_by_meaning_with_a_score_and_within_the_prefix(store: EmberStore, alice: OwnerMemory) -> None:
    store.put(NOTES, "tea", {"text": "I drink green tea."})
    store.put(NOTES, "dog", {"text": "My dog is called Rex."})
    store.put(("users", "12"), "dog", {"text": "My dog is called Max."})
    alice.add("My dog Rex likes the park.")
    alice.settle()
    found = store.search(NOTES, query="How is my dog called?")
    assert keys(found)[0] == "dog"
    assert {item.namespace for item in found} == {NOTES}
    assert found[0].score is not None
    assert 0 <= found[0].score <= 1


def test_what_is_not_indexed_is_found_by_no_query_and_told_in_no_recall(store: EmberStore, alice: OwnerMemory) -> None:
    store.put(NOTES, "a", {"text": "Zephyrine is a heron."}, index=False)
    store.put(NOTES, "b", {"text": "A heron stood there.", "secret": "Zephyrine"}, index=["text"])
    store.put(NOTES, "c", {"text": None}, index=["text", "missing"])
    alice.settle()
    assert keys(store.search(NOTES, query="Who is Zephyrine the heron?")) == ["b"]
    assert "Zephyrine" not in alice.recall("Who is Zephyrine the heron?").text
    assert sorted(keys(store.search(NOTES))) == ["a", "b", "c"]
    store.put(NOTES, "a", {"text": "Zephyrine is a heron."})
    alice.settle()
    assert sorted(keys(store.search(NOTES, query="Who is Zephyrine the heron?"))) == ["a", "b"]


def test_the_fields_of_the_store_are_indexed_where_a_put_names_none(alice: OwnerMemory) -> None:
    store = EmberStore(alice, fields=["facts[*].text", "name"])
    store.put(NOTES, "k", {"name": "Rex", "facts": [{"text": "barks", "n": 1}, {"text": "runs"}], "other": "Zephyrine"})
    (document,) = alice.documents()
    assert [one.text for one in alice.passages(document.id)] == ["barks\nruns\nRex"]


def test_a_long_item_is_one_result_with_its_best_passage(store: EmberStore, alice: OwnerMemory) -> None:
    store.put(NOTES, "long", {"text": "\n\n".join(f"The heron number {n} stood in the water. " * 12 for n in range(9))})
    store.put(NOTES, "short", {"text": "A dog."})
    alice.settle()
    assert alice.documents(source="langgraph:users/1/long.txt")[0].passages > 1
    assert keys(store.search(NOTES, query="Where did the heron stand?", limit=2)) == ["long", "short"]


FILTERS: list[tuple[dict[str, Any], str]] = [
    ({"n": 1}, "a"),
    ({"n": {"$ne": 1}}, "bcd"),
    ({"n": {"$gt": 1, "$lte": 3}}, "bc"),
    ({"n": {"$gte": "2"}, "kind": {"$eq": "x"}}, "c"),
    ({"kind": {"$gt": "x"}}, "bd"),
    ({"deep": {"a": {"b": 2}}}, "b"),
    ({"deep": {"a": {"b": {"$lt": 2}}}}, "a"),
    ({"tags": ["p", "q"]}, "a"),
    ({"tags": ["p"]}, ""),
    ({"missing": None}, "abcd"),
    ({}, "abcd"),
]


def test_a_filter_compares_nested_values(store: EmberStore, alice: OwnerMemory) -> None:
    store.put(NOTES, "a", {"n": 1, "kind": "x", "deep": {"a": {"b": 1}}, "tags": ["p", "q"]})
    store.put(NOTES, "b", {"n": 2, "kind": "y", "deep": {"a": {"b": 2}}})
    store.put(NOTES, "c", {"n": 3, "kind": "x"})
    store.put(NOTES, "d", {"n": None, "kind": "y"})
    for query in (None, "which of them?"):
        for wanted, found in FILTERS:
            got = sorted(keys(store.search(NOTES, query=query, filter=wanted)))
            assert got == list(found), (query, wanted)


def test_a_filter_with_a_query_looks_as_far_as_it_must(store: EmberStore, alice: OwnerMemory) -> None:
    for number in range(40):
        store.put(NOTES, f"{number:02}", {"text": "The heron stands.", "last": number >= 37})
    alice.settle()
    assert sorted(keys(store.search(NOTES, query="heron", filter={"last": True}, limit=2, offset=1)))[0] >= "37"
    assert len(store.search(NOTES, query="heron", filter={"last": True})) == 3


def test_an_unknown_operator_is_refused(store: EmberStore) -> None:
    store.put(NOTES, "k", {"n": 1})
    with pytest.raises(InputError, match=r"\$regex"):
        store.search(NOTES, filter={"n": {"$regex": "x"}})


# ------------------------------------------------------------------------------------------------------------ expiry


def test_an_item_ends_and_is_forgotten_and_a_read_lets_its_time_begin_anew(alice: OwnerMemory, clock: Clock) -> None:
    store = EmberStore(alice, ttl={"default_ttl": 10, "refresh_on_read": False})
    for key in ("get", "search", "left", "stays"):
        store.put(NOTES, key, {"text": key}, **({"ttl": None} if key == "stays" else {}))
    clock.go(9 * 60)
    store.get(NOTES, "left")
    store.get(NOTES, "get", refresh_ttl=True)
    store.search(NOTES, filter={"text": "search"}, refresh_ttl=True)
    clock.go(2 * 60)
    assert sorted(keys(store.search(NOTES))) == ["get", "search", "stays"]
    assert store.get(NOTES, "left") is None
    alice.settle()
    assert len(alice.originals()) == 3
    clock.go(9 * 60)
    assert keys(store.search(NOTES)) == ["stays"]
    assert store.list_namespaces() == [NOTES]


def test_a_put_lets_the_time_of_an_item_begin_anew_or_end(alice: OwnerMemory, clock: Clock) -> None:
    store = EmberStore(alice)
    for key in ("again", "ever"):
        store.put(NOTES, key, {"n": 1}, ttl=10)
    clock.go(9 * 60)
    store.put(NOTES, "again", {"n": 2}, ttl=10)
    store.put(NOTES, "ever", {"n": 2}, ttl=None)
    clock.go(9 * 60)
    assert sorted(keys(store.search(NOTES, refresh_ttl=False))) == ["again", "ever"]
    clock.go(2 * 60)
    assert keys(store.search(NOTES)) == ["ever"]


def test_an_expired_item_that_is_put_again_is_a_new_one(alice: OwnerMemory, clock: Clock) -> None:
    store = EmberStore(alice)
    store.put(NOTES, "k", {"n": 1}, ttl=1)
    first = store.get(NOTES, "k", refresh_ttl=False)
    clock.go(120)
    store.put(NOTES, "k", {"n": 2})
    again = store.get(NOTES, "k")
    assert first is not None
    assert again is not None
    assert (again.value, again.created_at > first.created_at) == ({"n": 2}, True)


# -------------------------------------------------------------------------------------------------- owners and threads


def test_items_are_of_the_owner_that_the_namespace_names(memory: Memory) -> None:
    store = EmberStore(lambda namespace: memory.of(namespace[1], agent="notes"))
    store.put(("users", "ana"), "k", {"text": "I keep a heron."})
    store.put(("users", "bo"), "k", {"text": "I keep a dog."})
    assert [item.value["text"] for item in store.search(("users", "ana"), query="What do I keep?")] == [
        "I keep a heron."
    ]
    assert store.list_namespaces(prefix=("users", "bo")) == [("users", "bo")]
    assert [str(one.user) for one in memory.owners()] == ["ana", "bo"]
    for crossing in (lambda: store.search(("users",)), store.list_namespaces):
        with pytest.raises(IndexError):
            crossing()
    memory.forget_user("ana")
    assert store.get(("users", "ana"), "k") is None
    assert store.get(("users", "bo"), "k") is not None


def test_many_threads_and_handles_put_and_read_at_once(opened: Opener) -> None:
    stores = [EmberStore(opened().of("alice")) for _ in range(2)]
    number = bounded(6, proofs=30)

    def work(worker: int) -> None:
        store = stores[worker % 2]
        for one in range(number):
            store.put(("shared",), "k", {"by": worker, "n": one})
            store.put(("own", str(worker)), str(one), {"n": one})
            found = store.get(("own", str(worker)), str(one))
            assert found is not None
            assert found.value == {"n": one}
            assert store.get(("shared",), "k") is not None

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    for store in stores:
        assert len(store.search(("own",), limit=1000)) == 4 * number
        (last,) = store.search(("shared",))
        assert last.value["n"] == number - 1


PUTTING = """
import sys
from embermem import Memory
from embermem.integrations.langgraph import EmberStore

with Memory(sys.argv[1], embedder="hashed", background=False) as memory:
    store = EmberStore(memory.of("alice"))
    for number in range(5):
        store.put(("shared",), "k", {"by": sys.argv[2], "n": number})
        store.put(("own", sys.argv[2]), str(number), {"n": number})
"""


def test_several_processes_put_into_one_store(place: Place) -> None:
    with Memory(place(), embedder="hashed", background=False) as memory:
        store = EmberStore(memory.of("alice"))
        store.put(("own", "first"), "0", {"n": 0})
        running = [script(PUTTING, str(place()), worker) for worker in ("a", "b")]
        assert [(*one.communicate(), one.returncode) for one in running] == [("", "", 0)] * 2
        assert store.list_namespaces(prefix=("own",)) == [("own", "a"), ("own", "b"), ("own", "first")]
        assert len(store.search(("own",), limit=100)) == 11
        (last,) = store.search(("shared",))
        assert last.value["n"] == 4


def test_async_calls_are_those_of_the_sync_face_and_leave_the_loop_free(alice: OwnerMemory) -> None:
    reached: list[int] = []

    def bound(_: tuple[str, ...]) -> OwnerMemory:
        reached.append(threading.get_ident())
        return alice

    store = EmberStore(bound)

    async def use() -> None:
        await asyncio.gather(*(store.aput(NOTES, str(n), {"n": n}) for n in range(5)))
        items = await asyncio.gather(*(store.aget(NOTES, str(n)) for n in range(5)))
        assert [item and item.value["n"] for item in items] == [0, 1, 2, 3, 4]
        assert len(await store.asearch(NOTES, filter={"n": {"$gte": 3}})) == 2
        await store.adelete(NOTES, "0")
        assert await store.alist_namespaces() == [NOTES]
        assert await store.aget(NOTES, "0") is None
        assert threading.get_ident() not in reached

    asyncio.run(use())


# -------------------------------------------------------------------------------------------------------------- agents


class Scripted(BaseChatModel):
    """A model that gives the replies of a function, and keeps what it was shown."""

    reply: Callable[[Sequence[BaseMessage]], AIMessage]
    shown: list[list[BaseMessage]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **given: Any) -> Scripted:
        return self

    def _generate(self, messages: list[BaseMessage], *given: Any, **named: Any) -> ChatResult:
        self.shown.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.reply(messages))])


def said(memory: OwnerMemory) -> list[tuple[str, str, str]]:
    return [(one.thread, one.role.value, one.text) for page in memory.pages() for one in page.utterances]


def run(thread: str, user: str = "alice") -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "user_id": user}}


def test_an_agent_is_told_what_is_remembered_and_its_exchanges_are_kept(memory: Memory) -> None:
    hooks = MemoryHooks(lambda config: memory.of(config["configurable"]["user_id"]))
    model = Scripted(reply=lambda messages: AIMessage("Noted."), shown=[])
    agent = create_react_agent(
        model, [], pre_model_hook=hooks.recall, post_model_hook=hooks.keep, checkpointer=InMemorySaver()
    )
    agent.invoke({"messages": [HumanMessage("My heron is called Zephyrine.")]}, run("one"))
    alice = memory.of("alice")
    assert said(alice) == [("one", "user", "My heron is called Zephyrine."), ("one", "assistant", "Noted.")]
    agent.invoke({"messages": [HumanMessage("How is my heron called?")]}, run("two"))
    system, asked = model.shown[-1]
    assert isinstance(system, SystemMessage)
    assert "Zephyrine" in str(system.text)
    assert asked.text == "How is my heron called?"
    state = agent.get_state(run("two"))
    assert [type(one) for one in state.values["messages"]] == [HumanMessage, AIMessage]
    agent.invoke({"messages": [HumanMessage("How is my heron called?")]}, run("one", user="bo"))
    assert not any(isinstance(one, SystemMessage) for one in model.shown[-1])


def test_what_a_run_shows_of_its_thread_is_not_told_again(memory: Memory, alice: OwnerMemory) -> None:
    hooks = MemoryHooks(alice)
    for word in ("Zephyrine", "Bartholomew"):
        shown = [HumanMessage(f"My heron is called {word}.", id=word), AIMessage("Fine.", id=f"{word}-reply")]
        hooks.keep({"messages": shown}, run(word))
    shown += [HumanMessage("How is my heron called?", id="asked")]
    system = hooks.recall({"messages": shown}, run("Bartholomew"))["llm_input_messages"][0]
    assert "Zephyrine" in system.text
    assert "called Bartholomew" not in system.text.replace("alice's heron", "")
    (first, *_) = hooks.recall({"messages": shown[-1:]}, run("Bartholomew"))["llm_input_messages"]
    assert "Bartholomew" in first.text


def test_tools_are_called_with_the_memory_of_the_run_s_user_and_their_traffic_is_not_kept(memory: Memory) -> None:
    def bound(config: RunnableConfig) -> OwnerMemory:
        return memory.of(config["configurable"]["user_id"])

    def reply(messages: Sequence[BaseMessage]) -> AIMessage:
        if isinstance(messages[-1], ToolMessage):
            return AIMessage(f"I see: {'Zephyrine' in str(messages[-1].text)}")
        call = {"name": "search_memory", "args": {"query": "How is the heron called?"}, "id": "c1"}
        return AIMessage("Let me look.", tool_calls=[call])

    memory.of("alice").add("My heron is called Zephyrine.")
    hooks = MemoryHooks(bound)
    agent = create_react_agent(
        Scripted(reply=reply, shown=[]),
        memory_tools(bound),
        pre_model_hook=hooks.recall,
        post_model_hook=hooks.keep,
    )
    for user, found in (("alice", True), ("bo", False)):
        answer = agent.invoke({"messages": [HumanMessage("Do you know it?")]}, run("t", user=user))
        assert answer["messages"][-1].text == f"I see: {found}"
        kept = [("t", "user", "Do you know it?"), ("t", "assistant", f"I see: {found}")]
        assert said(memory.of(user))[-2:] == kept


def test_a_node_that_is_run_again_keeps_nothing_twice(alice: OwnerMemory) -> None:
    hooks = MemoryHooks(alice)
    state = {
        "messages": [HumanMessage("Hello.", id="1"), HumanMessage("I live in Lyon.", id="2"), AIMessage("Oh.", id="3")]
    }
    for _ in range(2):
        hooks.keep(state, run("t"))
    assert said(alice) == [("t", "user", "Hello."), ("t", "user", "I live in Lyon."), ("t", "assistant", "Oh.")]
    state["messages"] += [HumanMessage("And you?", id="4"), AIMessage("Me too.", id="5")]
    hooks.keep(state, run("t"))
    assert [text for _, _, text in said(alice)][3:] == ["And you?", "Me too."]


def test_hooks_do_not_hold_up_an_event_loop(alice: OwnerMemory) -> None:
    threads: list[int] = []

    def bound(config: RunnableConfig) -> OwnerMemory:
        threads.append(threading.get_ident())
        return alice

    hooks = MemoryHooks(bound)
    model = Scripted(reply=lambda messages: AIMessage("Noted."), shown=[])
    agent = create_react_agent(model, [], pre_model_hook=hooks.recall, post_model_hook=hooks.keep)

    async def use() -> int:
        await agent.ainvoke({"messages": [HumanMessage("I live in Lyon.")]}, run("t"))
        return threading.get_ident()

    assert asyncio.run(use()) not in threads
    assert len(said(alice)) == 2
