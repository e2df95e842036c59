"""What every protocol of the proxy promises about any JSON: it reads what it can, and fails at nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.http.proxy.dialects.chat_completions import ChatCompletions
from embermem.http.proxy.dialects.dialect import Dialect
from embermem.http.proxy.dialects.messages import Messages
from embermem.http.proxy.dialects.ollama import OllamaChat
from embermem.http.proxy.dialects.responses import Responses
from embermem.http.proxy.replies import StreamedReply, parsed
from embermem.http.proxy.request import asked

pytestmark = pytest.mark.proof

DIALECTS = [ChatCompletions(), Responses(), Messages(), OllamaChat()]
NAMES = st.sampled_from(
    "model messages input role user assistant tool content type text output_text input_text tool_use tool_result "
    "function_call function_call_output name arguments output response id delta index choices message done "
    "content_block content_block_start content_block_delta content_block_stop tool_calls function thinking metadata "
    "user_id images response.completed response.output_item.done response.output_text.delta output_index item "
    "previous_response_id conversation cache_control partial_json input_json_delta text_delta document".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=30,
)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: type(dialect).__name__)
@given(body=st.dictionaries(NAMES, JSON, max_size=6))
def test_any_request_is_read_and_the_block_changes_the_newest_message_only(dialect: Dialect, body: Any) -> None:
    raw = json.dumps(body).encode()
    read = asked(raw, {}, dialect)
    assert read.body(None) == raw
    if not read.told.question.strip():
        return
    seen = json.loads(read.body("a block"))
    assert "a block" in str(seen)
    assert {name: seen[name] for name in seen if name not in ("messages", "input")} == {
        name: body[name]
        for name in body
        if name not in ("messages", "input") and (name != "cache_control" or name in seen)
    }
    for name in {"messages", "input"} & set(body):
        if isinstance(body[name], list):
            changed = [at for at, one in enumerate(body[name]) if one != seen[name][at]]
            assert changed in ([], [read.told.at])


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: type(dialect).__name__)
@given(events=st.lists(st.dictionaries(NAMES, JSON, max_size=6), max_size=6), cut=st.integers(1, 40))
def test_any_answer_and_any_stream_is_read_however_it_is_cut(dialect: Dialect, events: Any, cut: int) -> None:
    lines = b"".join(dialect.line + json.dumps(event).encode() + b"\n" for event in events)
    whole, pieces = (StreamedReply(10_000, dialect.line, dialect.event) for _ in range(2))
    whole.feed(lines)
    for at in range(0, len(lines), cut):
        pieces.feed(lines[at : at + cut])
    assert pieces.reply() == whole.reply()
    for event in events:
        reply = dialect.reply(parsed(json.dumps(event).encode()))
        assert reply is None or reply.message["role"] == "assistant"
