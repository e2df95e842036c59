"""Claude's memory tool on a memory, beside the one of Anthropic's package that keeps real files."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import running

from embermem import Memory, OwnerMemory
from embermem.client import Client
from embermem.integrations.claude import AsyncMemoryTool, MemoryTool
from loopback import answering
from proofs import bounded
from scripted import SMALL

NOTES = "# Preferences\n\nAlice likes green tea.\nShe keeps a heron called Bartholomew.\n"


@pytest.fixture
def tool(alice: OwnerMemory) -> MemoryTool:
    return MemoryTool(alice)


def told(tool: Any, command: str, **given: Any) -> str:
    """What Claude is told: an answer, or an error."""
    try:
        answer = tool.call({"command": command, **given})
    except ToolError as error:
        return f"error: {error}"
    return str(answer)


def test_what_claude_writes_is_a_file_for_claude_and_a_document_for_ember(tool: MemoryTool, alice: OwnerMemory) -> None:
    assert told(tool, "view", path="/memories").endswith("0B\t/memories")
    assert told(tool, "create", path="/memories/people/alice.md", file_text=NOTES) == (
        "File created successfully at: /memories/people/alice.md"
    )
    assert told(tool, "view", path="/memories").splitlines()[1:] == [
        "76B\t/memories", "76B\t/memories/people/", "76B\t/memories/people/alice.md",
    ]  # fmt: skip
    assert told(tool, "view", path="/memories/people/alice.md", view_range=[3, 3]) == (
        "Here's the content of /memories/people/alice.md with line numbers:\n     3\tAlice likes green tea."
    )
    assert "called Bartholomew" in alice.recall("What is the heron called?").text
    edited = told(tool, "str_replace", path="/memories/people/alice.md", old_str="green", new_str="black")
    assert "     3\tAlice likes black tea." in edited
    assert "green tea" not in alice.recall("Which tea does Alice like?").text
    (document,) = alice.documents()
    assert (document.source, document.title) == ("claude:/memories/people/alice.md", "Preferences")
    assert alice.original(document.id) == NOTES.replace("green", "black")
    told(tool, "rename", old_path="/memories/people", new_path="/memories/folk")
    assert [one.source for one in alice.documents()] == ["claude:/memories/folk/alice.md"]
    assert told(tool, "delete", path="/memories/folk") == "Successfully deleted /memories/folk"
    assert alice.documents() == ()


def test_what_ember_forgets_is_gone_for_claude_and_other_documents_are_not_files(
    tool: MemoryTool, alice: OwnerMemory, memory: Memory
) -> None:
    alice.add_document("The rent is due.", source="/memories/lease.md")
    told(tool, "create", path="/memories/a.md", file_text=NOTES)
    told(tool, "create", path="/memories/b.md", file_text="# B\n\n## One\n\nFirst.\n\n## Two\n\nZanzibaresque.\n")
    assert told(MemoryTool(memory.of("bob")), "view", path="/memories/a.md").startswith("error: The path")
    alice.forget_document(alice.documents(source="claude:/memories/a.md")[0].id)
    assert told(tool, "view", path="/memories/a.md").startswith("error: The path /memories/a.md does not exist.")
    second = alice.passages(alice.documents(source="claude:/memories/b.md")[0].id)[-1]
    alice.forget(page=second.page_id)
    assert "First." in told(tool, "view", path="/memories/b.md")
    assert "Zanzibaresque" not in told(tool, "view", path="/memories/b.md")
    assert tool.clear_all_memory() == "All memory cleared"
    assert [one.source for one in alice.documents()] == ["/memories/lease.md"]


def test_a_path_outside_of_the_folder_is_refused(tool: MemoryTool, alice: OwnerMemory) -> None:
    cases: list[str] = [
        *("/memories/../secret.md", "/memories/a/../../b", "/memories/..", "/memories/a/b/../../../memories2/c"),
        *("/etc/passwd", "memories/a", "", "/", "/memories2/a", "../memories/a"),
    ]
    for path in cases:
        file = {"path": path, "file_text": "x"}
        for command, more in (
            ("view", {"path": path}),
            ("create", file),
            ("str_replace", {"path": path, "old_str": "a", "new_str": "b"}),
            ("insert", {"path": path, "insert_line": 0, "insert_text": "x"}),
            ("delete", {"path": path}),
            ("rename", {"old_path": path, "new_path": "/memories/x"}),
        ):
            said = told(tool, command, **more)
            assert re.match("error: (Path .* would escape|Path must start with) /memories", said), said
        told(tool, "create", path="/memories/x", file_text="x")
        assert told(tool, "rename", old_path="/memories/x", new_path=path).startswith("error: Path")
        assert [one.source for one in alice.documents()] == ["claude:/memories/x"]


def test_a_file_of_any_text_is_given_back_exactly(tool: MemoryTool, alice: OwnerMemory) -> None:
    for number, text in enumerate(["", "\n", "---", "a\r\nb\r", " \t x ", "汉字\u2028\n🦩", "<b>\\n"]):
        path = f"/memories/{number}.txt"
        told(tool, "create", path=path, file_text=text)
        lines = "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(text.split("\n"), 1))
        assert told(tool, "view", path=path) == f"Here's the content of {path} with line numbers:\n{lines}"
    for text in ("a\x00b", "\ud800"):
        assert told(tool, "create", path="/memories/x", file_text=text).startswith("error: The file /memories/x cannot")
    assert told(tool, "create", path=f"/memories/{'x' * 600}", file_text="x").startswith("error: The file")


# ------------------------------------------------------------------------------- beside the tool that keeps real files

NAMES = st.sampled_from(["a", "b.md", ".hidden", "d"])
PATHS = st.lists(NAMES, max_size=3).map(lambda parts: "/".join(["/memories", *parts]))
TEXTS = st.sampled_from(["", "one", "one\ntwo\n", "one\ntwo\none", "x\r\ny\n\nz", "äö\n"])
WORDS = st.sampled_from(["one", "two\n", "\r\n", "ö", "x"])
LINES = st.integers(-2, 4)
COMMANDS = st.one_of(
    st.fixed_dictionaries({"command": st.just("view"), "path": PATHS}),
    st.fixed_dictionaries({"command": st.just("view"), "path": PATHS, "view_range": st.tuples(LINES, LINES).map(list)}),
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("str_replace"), "path": PATHS, "old_str": WORDS, "new_str": TEXTS}),
    st.fixed_dictionaries({"command": st.just("insert"), "path": PATHS, "insert_line": LINES, "insert_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("delete"), "path": PATHS}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": PATHS, "new_path": PATHS}),
)  # fmt: skip


def by_files(tool: BetaLocalFilesystemMemoryTool, command: Mapping[str, Any]) -> str:
    """What the tool with real files says; an error of the system as one, and no empty folders after it."""
    try:
        said = told(tool, **command)
    except OSError:
        said = "error: of the system"
    for folder in sorted((one for one in tool.memory_root.rglob("*") if one.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
    return said


def without_sizes_of_folders(said: str) -> str:
    """A folder's size is that of its entry in the file system there."""
    return re.sub(r"(?m)^[\d.]+[BKMG](?=\t(/\S*/|/memories(/\S*)?)$)", "?", said) if "2 levels deep" in said else said


@settings(max_examples=bounded(15, proofs=200))
@given(commands=st.lists(COMMANDS, max_size=12))
def test_each_command_answers_as_the_tool_with_real_files_does(commands: list[Mapping[str, Any]]) -> None:
    with TemporaryDirectory() as folder, Memory(":memory:", **SMALL) as memory:
        files, ours = BetaLocalFilesystemMemoryTool(folder), MemoryTool(memory.of("alice"))
        for command in commands:
            expected, found = by_files(files, command), told(ours, **command)
            if expected == "error: of the system":
                assert found.startswith("error: "), command
            else:
                assert without_sizes_of_folders(found) == without_sizes_of_folders(expected), command
        root = files.memory_root
        kept = {f"claude:/memories/{one.relative_to(root)}": one for one in root.rglob("*") if one.is_file()}
        texts = {one.source: memory.of("alice").original(one.id) for one in memory.of("alice").documents()}
        assert texts == {source: file.read_bytes().decode() for source, file in kept.items()}
        assert [one for one in memory.check() if one.level == "error"] == []


# ------------------------------------------------------------------------------------------------- Anthropic's runner


def answer_of(content: list[dict[str, Any]], stop: str) -> bytes:
    body = json.dumps(
        {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": content,
            "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    ).encode()  # fmt: skip
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
    return head.encode() + b"\r\n" + body


SCRIPT = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/tea.md", "file_text": "Alice likes green tea."},
    {"command": "create", "path": "/memories/tea.md", "file_text": "again"},
]


def claude(request: bytes, number: int) -> bytes:
    if number < len(SCRIPT):
        use = {"type": "tool_use", "id": f"t{number}", "name": "memory", "input": SCRIPT[number]}
        return answer_of([use], "tool_use")
    return answer_of([{"type": "text", "text": "I noted it."}], "end_turn")


GIVEN: dict[str, Any] = {
    "model": "scripted",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "I like green tea."}],
    "betas": ["context-management-2025-06-27"],
}


def last_result(request: bytes) -> tuple[bool, str]:
    """What the tool said to the last call."""
    body = json.loads(request.split(b"\r\n\r\n", 1)[1])
    part = body["messages"][-1]["content"][-1]
    return bool(part.get("is_error")), str(part["content"])


def assert_ran(requests: list[bytes], alice: OwnerMemory) -> None:
    assert len(requests) == len(SCRIPT) + 1
    assert json.loads(requests[0].split(b"\r\n\r\n", 1)[1])["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    said = [last_result(one) for one in requests[1:]]
    assert [wrong for wrong, _ in said] == [False, False, True]
    assert "File /memories/tea.md already exists" in said[2][1]
    assert "green tea" in alice.recall("Which tea does Alice like?").text


def test_anthropic_s_runner_uses_the_tool(alice: OwnerMemory) -> None:
    with answering(claude) as server, Anthropic(api_key="k", base_url=server.url, max_retries=0) as client:
        runner = client.beta.messages.tool_runner(tools=[MemoryTool(alice)], **GIVEN)
        assert runner.until_done().content[0].text == "I noted it."
        assert_ran(server.requests, alice)


def test_the_async_runner_uses_the_async_tool(alice: OwnerMemory) -> None:
    async def ran(url: str) -> Any:
        async with AsyncAnthropic(api_key="k", base_url=url, max_retries=0) as client:
            done = await client.beta.messages.tool_runner(tools=[AsyncMemoryTool(alice)], **GIVEN).until_done()
            return done.content[0]

    with answering(claude) as server:
        assert asyncio.run(ran(server.url)).text == "I noted it."
        assert_ran(server.requests, alice)


def test_the_async_tool_has_every_command(alice: OwnerMemory) -> None:
    tool, plain = AsyncMemoryTool(alice), MemoryTool(alice)

    async def used() -> None:
        for command in (
            {"command": "create", "path": "/memories/a", "file_text": "one\n"},
            {"command": "insert", "path": "/memories/a", "insert_line": 1, "insert_text": "two"},
            {"command": "str_replace", "path": "/memories/a", "old_str": "one", "new_str": "three"},
            {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"},
        ):
            await tool.call(command)
        assert await tool.call({"command": "view", "path": "/memories/b"}) == told(plain, "view", path="/memories/b")
        assert "three" in told(plain, "view", path="/memories/b")
        await tool.call({"command": "delete", "path": "/memories/b"})
        await tool.clear_all_memory()

    asyncio.run(used())
    assert alice.documents() == ()


def test_the_tool_works_over_http_too(memory: Memory) -> None:
    with running(memory) as url, Client(url) as client:
        tool: Any = MemoryTool(client.of("alice"))  # type: ignore[arg-type]
        told(tool, "create", path="/memories/a.md", file_text=NOTES)
        assert "Bartholomew" in told(tool, "view", path="/memories/a.md")
        told(tool, "rename", old_path="/memories/a.md", new_path="/memories/b/c.md")
        assert told(tool, "delete", path="/memories/b") == "Successfully deleted /memories/b"
        assert told(tool, "view", path="/memories").endswith("0B\t/memories")
