"""CrewAI's memory and a crew over a memory, with a scripted model; nothing reaches a network."""

from __future__ import annotations

import asyncio
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"
os.environ["CREWAI_TRACING_ENABLED"] = "false"

import pytest
from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.memory.storage.backend import StorageBackend
from crewai.memory.types import MemoryRecord

from embermem import Memory
from embermem.core.errors import InputError
from embermem.integrations.crewai import EmberStorage, crew_memory

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "integrations" / "crewai.md"


class Scripted(BaseLLM):
    """Answers always the same, and keeps what it was sent."""

    sent: list[str] = []  # noqa: RUF012

    def call(self, messages: Any, *arguments: Any, **named: Any) -> str:
        self.sent.append(str(messages))
        return "Thought: I now can give a great answer\nFinal Answer: The heron is called Zephyrine."


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CrewAI's own files are the test's."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path / "crewai"))


@pytest.fixture
def storage(memory: Memory) -> EmberStorage:
    return EmberStorage(memory.of("alice", agent="crew"), embed=memory.embed)


def record(number: int, content: str, scope: str = "/", **more: Any) -> MemoryRecord:
    at = datetime(2026, 4, number, 9)
    return MemoryRecord(id=f"r{number}", content=content, scope=scope, created_at=at, last_accessed=at, **more)


HERON = record(
    1,
    "The heron is called Zephyrine.",
    "/birds/herons",
    categories=["names"],
    metadata={"a": [1]},
    importance=0.8,
    source="alice",
    private=True,
)
OTTER = record(2, "The otter is called Bruno.", "/otters", categories=["names", "river"])
TROUT = record(3, "The heron eats trout.", "/birds")


def found(storage: EmberStorage, query: str, **conditions: Any) -> list[str]:
    (vector,) = storage.embedder([query])
    return [one.id for one, _ in storage.search(vector, **conditions)]


def test_it_has_the_protocol(storage: EmberStorage) -> None:
    assert isinstance(storage, StorageBackend)


def test_records_come_back_as_they_were(storage: EmberStorage) -> None:
    storage.save([HERON, OTTER, TROUT])
    assert storage.get_record("r1") == HERON
    assert storage.get_record("r9") is None
    assert storage.list_records() == [TROUT, OTTER, HERON]
    assert storage.list_records(limit=1, offset=1) == [OTTER]
    assert storage.list_records("/birds") == [TROUT, HERON]


def test_records_are_found(storage: EmberStorage) -> None:
    storage.save([HERON, OTTER, TROUT])
    assert found(storage, "What is the heron called?")[0] == "r1"
    assert found(storage, "What is it called?", scope_prefix="/otters") == ["r2"]
    assert found(storage, "What is it called?", categories=["river"]) == ["r2"]
    assert found(storage, "What is it called?", metadata_filter={"a": [1]}) == ["r1"]
    assert len(found(storage, "heron", limit=1)) == 1
    assert found(storage, "The otter is called Bruno.", min_score=0.999) == ["r2"]


def test_a_vector_of_another_embedder_is_refused(storage: EmberStorage) -> None:
    with pytest.raises(InputError, match="another embedder"):
        storage.search([0.5] * 8)


def test_a_record_is_replaced(storage: EmberStorage) -> None:
    storage.save([HERON])
    for changed in (
        HERON.model_copy(update={"importance": 0.1}),
        HERON.model_copy(update={"content": "She is called Zoe."}),
    ):
        storage.update(changed)
        assert storage.list_records() == [changed]
    assert found(storage, "Zoe") == ["r1"]


def test_records_are_deleted_by_every_condition(storage: EmberStorage) -> None:
    storage.save([HERON, OTTER, TROUT])
    assert storage.delete(record_ids=["r9"]) == 0
    assert storage.delete(scope_prefix="/birds", categories=["river"]) == 0
    assert storage.delete(older_than=datetime(2026, 4, 2)) == 1
    assert storage.delete(record_ids=["r2"]) == 1
    assert [one.id for one in storage.list_records()] == ["r3"]
    storage.reset("/birds")
    assert storage.count() == 0
    storage.save([HERON])
    assert storage.count() == 1


def test_a_record_that_has_lost_a_passage_is_deleted_by_its_scope(memory: Memory, storage: EmberStorage) -> None:
    text = "\n\n".join(f"Part {number}. {'The heron stands in the water. ' * 40}" for number in range(6))
    storage.save([record(1, text, "/birds"), OTTER])
    alice = memory.of("alice", agent="crew")
    damaged = next(one for one in alice.documents() if one.title == "/birds")
    alice.forget(page=alice.passages(damaged.id)[0].page_id)
    assert storage.delete(categories=["names"], scope_prefix="/birds") == 0
    storage.reset("/birds")
    assert [one.title for one in alice.documents()] == ["/otters"]


def test_the_words_of_a_forgotten_record_are_kept_for_no_search(storage: EmberStorage) -> None:
    (vector,) = storage.embedder([OTTER.content])
    storage.save([OTTER])
    storage.delete(record_ids=["r2"])
    with pytest.raises(InputError, match="another embedder"):
        storage.embedder.text_of(vector)


def test_scopes_and_categories_are_counted(storage: EmberStorage) -> None:
    storage.save([HERON, OTTER, TROUT])
    assert storage.list_scopes() == ["/birds", "/otters"]
    assert storage.list_scopes("/birds") == ["/birds/herons"]
    assert storage.list_categories() == {"names": 2, "river": 1}
    assert (storage.count(), storage.count("/birds"), storage.count("/bird")) == (3, 2, 0)
    info = storage.get_scope_info("/birds")
    assert (info.record_count, info.categories, info.child_scopes) == (2, ["names"], ["/birds/herons"])
    assert (info.oldest_record, info.newest_record) == (HERON.created_at, TROUT.created_at)
    assert storage.get_scope_info("/none").record_count == 0


def test_the_async_methods_do_the_same(storage: EmberStorage) -> None:
    async def all_of_them() -> tuple[list[Any], int]:
        await storage.asave([HERON])
        (vector,) = storage.embedder(["heron"])
        return await storage.asearch(vector, limit=3), await storage.adelete(record_ids=["r1"])

    hits, deleted = asyncio.run(all_of_them())
    assert [one for one, _ in hits] == [HERON]
    assert deleted == 1


def test_crewai_s_memory_remembers_and_recalls(memory: Memory) -> None:
    kept = crew_memory(memory, "alice", llm=Scripted(model="scripted"))
    kept.remember("The heron is called Zephyrine.", scope="/birds", categories=["names"], importance=0.5)
    (match, *_) = kept.recall("What is the heron called?", depth="shallow")
    assert match.record.content == "The heron is called Zephyrine."
    assert "Zephyrine" in memory.of("alice", agent="crew").recall("What is the heron called?").text
    assert crew_memory(memory, "bob", llm=Scripted(model="scripted")).recall("heron", depth="shallow") == []
    kept.reset()
    assert memory.of("alice", agent="crew").documents() == ()


def test_a_crew_is_told_what_is_remembered(memory: Memory) -> None:
    model = Scripted(model="scripted", sent=[])
    kept = crew_memory(memory, "alice", llm=model)
    kept.remember("The heron is called Zephyrine.", scope="/birds", categories=["names"], importance=0.5)
    keeper = Agent(role="keeper", goal="Know the birds", backstory="You keep birds.", llm=model)
    task = Task(description="What is the heron called?", expected_output="A name", agent=keeper)
    result = Crew(agents=[keeper], tasks=[task], memory=kept).kickoff()
    assert "Zephyrine" in result.raw
    assert any("What is the heron called?" in sent and "The heron is called Zephyrine." in sent for sent in model.sent)


def test_the_page_s_example_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBERMEM_EMBEDDER", "hashed")
    (example,) = re.findall(r"```python no-run\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {"__name__": "__main__", "model": Scripted(model="scripted")})


def test_a_record_of_which_a_part_was_forgotten_shows_what_is_left_and_is_deleted(
    memory: Memory, storage: EmberStorage
) -> None:
    long = "\n\n".join(f"Heron {number} lives near lake {number}. " * 12 for number in range(20))
    storage.save([record(1, long, "/birds")])
    alice = memory.of("alice", agent="crew")
    gone = alice.passages(alice.documents()[0].id)[3]
    alice.forget(page=gone.page_id)
    (left,) = storage.list_records("/birds")
    assert gone.text[:40] not in left.content
    assert "Heron 19" in left.content
    assert storage.search(storage.embedder(["Heron 7"])[0])[0][0].id == left.id
    storage.reset()
    assert alice.documents() == ()


def test_no_record_is_asked_for(storage: EmberStorage) -> None:
    storage.save([record(1, "The heron is called Zephyrine.")])
    assert storage.search(storage.embedder(["heron"])[0], limit=0) == []


def test_times_with_and_without_a_zone_are_compared(storage: EmberStorage) -> None:
    old = MemoryRecord(content="Old.", created_at=datetime(2024, 1, 1))
    new = MemoryRecord(content="New.", created_at=datetime(2025, 1, 1, tzinfo=UTC))
    storage.save([old, new])
    assert [one.content for one in storage.list_records()] == ["New.", "Old."]
    assert storage.get_scope_info("/").record_count == 2
    assert storage.delete(older_than=datetime(2024, 6, 1)) == 1
