"""What every LanguageModel does, whatever stands behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from scripted_llms import question

from embermem.core.errors import ModelReplyError
from embermem.llms import OpenAIChat, PydanticAIChat, RecordedModel
from embermem.protocols import LanguageModel, ModelReply
from embermem.testing.model_server import ModelServer

KINDS = ("openai", "pydantic-ai", "recorded", "replayed")


def echo(text: str) -> str:
    """The scripted answer: nothing for "nothing", else the last message, with reasoning before it."""
    return "" if text == "nothing" else f"<think>{{}} hm</think>\n\nYou said: {text}"


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LanguageModel]:
    """Each implementation, on a scripted model that repeats what it is told."""
    if request.param == "pydantic-ai":
        yield pydantic_ai_chat()
        return
    with ModelServer(lambda asked: echo(asked["messages"][-1]["content"])) as server:
        chat = OpenAIChat(model="scripted", base_url=server.url, api_key=None, timeout_s=20.0)
        if request.param == "openai":
            yield chat
            return
        recorded = RecordedModel(chat, tmp_path / "replies.jsonl")
        if request.param == "replayed":
            for text in TEXTS:
                recorded.complete(question(text))
            recorded = RecordedModel(None, tmp_path / "replies.jsonl")
        yield recorded


def pydantic_ai_chat() -> PydanticAIChat:
    """Imports the package, which takes a second, when it is needed."""
    from pydantic_ai.messages import ModelMessage, TextPart, UserPromptPart
    from pydantic_ai.messages import ModelResponse as TheirResponse
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def told(messages: list[ModelMessage]) -> str:
        part = messages[-1].parts[-1]
        assert isinstance(part, UserPromptPart)
        return echo(str(part.content))

    async def reply(messages: list[ModelMessage], info: AgentInfo) -> TheirResponse:
        return TheirResponse(parts=[TextPart(told(messages))])

    async def reply_in_pieces(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        text = told(messages)
        for at in range(0, max(len(text), 1), 5):
            yield text[at : at + 5]

    function = FunctionModel(reply, stream_function=reply_in_pieces)
    return PydanticAIChat("anthropic:scripted", api_key="k", timeout_s=20.0, model=function)


TEXTS = ("Hello.", "去公园了吗？", *(f"number {n}" for n in range(8)))


def test_an_answer_comes_without_its_reasoning_and_with_its_tokens(model: LanguageModel) -> None:
    reply = model.complete(question("Hello."))
    assert reply.text == "You said: Hello."
    assert reply.prompt_tokens > 0
    assert reply.completion_tokens > 0
    assert not reply.cut
    assert "scripted" in model.name


def test_a_streams_pieces_are_the_answer_and_the_whole_comes_last(model: LanguageModel) -> None:
    for text in TEXTS[:2]:
        *pieces, whole = model.stream(question(text))
        assert isinstance(whole, ModelReply)
        assert "".join(str(piece) for piece in pieces) == whole.text == f"You said: {text}"
        assert whole.completion_tokens > 0


def test_a_stream_may_be_left_early(model: LanguageModel) -> None:
    first = next(iter(model.stream(question("Hello."))))
    assert isinstance(first, str)
    assert "You said: Hello.".startswith(first)
    assert model.complete(question("Hello.")).text == "You said: Hello."


def test_several_threads_get_each_its_own_answer(model: LanguageModel) -> None:
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda text: model.complete(question(text)).text, TEXTS))
    assert replies == [f"You said: {text}" for text in TEXTS]


def test_an_empty_answer_is_an_error(model: LanguageModel) -> None:
    if isinstance(model, RecordedModel) and model._inner is None:
        pytest.skip("failures are not kept")
    with pytest.raises(ModelReplyError):
        model.complete(question("nothing"))
    with pytest.raises(ModelReplyError):
        list(model.stream(question("nothing")))
