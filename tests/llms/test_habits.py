"""What small models and their servers do, as it was seen with real ones, against the asker over real HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
import pytest
from scripted_llms import ALICE, MemoryLedger, Raw, RawServer, always, completion, question

from embermem.analysts.answers import ShownId
from embermem.core.config import Settings
from embermem.core.errors import ModelError, ModelReplyError, ModelTimeout, ModelTooLong, ModelUnreachable
from embermem.core.types import Role
from embermem.llms import ModelAsker, OpenAIChat
from embermem.llms.dialect import THINKING_TOKENS
from embermem.protocols import AnswerForm, BreakableStream, Call, ChatMessage, Purpose, StructuredMode
from embermem.testing.model_server import ModelServer
from scripted import Clock


class Note(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    summary: Annotated[str, msgspec.Meta(description="what was said")]


class Notes(msgspec.Struct, frozen=True, kw_only=True):
    pages: tuple[Note, ...]


GOOD = {"pages": [{"id": f"p{n}", "summary": f"They talk about the river, for the {n}th time."} for n in range(1, 5)]}
READ = msgspec.convert(GOOD, Notes)
FORM = AnswerForm(tokens=200, example=Notes(pages=tuple(Note(id=f"p{n}", summary="one sentence") for n in range(1, 5))))
PROMPT = (
    ChatMessage(role=Role.SYSTEM, text="Note the pages in JSON."),
    ChatMessage(role=Role.USER, text="\n".join(f"p{n}: I walked along the river again." for n in range(1, 5))),
)


def known(notes: Notes) -> None:
    """As an analyst checks: exactly the pages shown."""
    if wrong := {note.id for note in notes.pages} ^ {f"p{n}" for n in range(1, 5)}:
        raise ValueError(f"ids {sorted(wrong)} were not shown, or are missing")


class Asking:
    """An asker on a server."""

    def __init__(self, url: str, *, timeout_s: float = 10.0, **settings: Any) -> None:
        self.model = OpenAIChat(model="small", base_url=url, api_key=None, timeout_s=timeout_s)
        self.ledger = MemoryLedger()
        self.asker = ModelAsker(
            self.model, self.ledger, Settings(**{"model_retries": 0, **settings}), Clock(), sleep=lambda _: None
        )

    def ask(self, form: AnswerForm | None = FORM) -> Notes:
        return self.asker.ask(ALICE, Purpose.ANNOTATE, PROMPT, Notes, known, form=form)

    @property
    def calls(self) -> list[Call]:
        return list(self.ledger.lines.values())


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(GOOD) as server:
        yield server


# ---------------------------------------------------------------------------------------------------- shapes of answers


def test_a_right_answer_in_a_wrapping_is_taken_at_once(server: ModelServer) -> None:
    for kind in ["properties", "fence", "think"]:
        server.fail_next(kind)
        one = Asking(server.url)
        assert one.ask() == READ
        assert one.ledger.outcomes == ["ok"]


def test_a_wrong_answer_is_asked_for_once_more_without_being_shown_and_is_called_unusable(server: ModelServer) -> None:
    for kind in ["other_ids", "schema_echo", "prose"]:
        server.fail_next(kind)
        one = Asking(server.url)
        assert one.ask() == READ
        assert one.ledger.outcomes == ["unusable", "ok"]
        asked = server.requests[-2:]
        assert [[message["role"] for message in request["messages"]] for request in asked] == [["system", "user"]] * 2
        assert "could not be used" in asked[1]["messages"][-1]["content"]
        assert 0 < one.calls[1].prompt_tokens - one.calls[0].prompt_tokens < 250


# ------------------------------------------------------------------------------------------------- endless, and silence


def test_an_answer_that_repeats_itself_is_ended_early(server: ModelServer) -> None:
    server.fail_next("repeats", ignores_limit=True)
    one = Asking(server.url)
    assert one.ask() == READ
    first, second = one.calls
    assert (first.outcome, second.outcome) == ("unusable", "ok")
    assert first.completion_tokens < 500
    assert "repeats itself" in server.requests[1]["messages"][-1]["content"]


def test_an_endless_answer_ends_at_its_tokens_and_is_given_twice_as_many_once(server: ModelServer) -> None:
    server.fail_always("endless")
    one = Asking(server.url)
    with pytest.raises(ModelReplyError, match="cut at its limit"):
        one.ask()
    assert [request["max_tokens"] for request in server.requests] == [200, 400]
    assert sum(call.completion_tokens for call in one.calls) < 2 * (200 + 400)


def test_a_server_that_pays_no_heed_to_the_limit_is_left(server: ModelServer) -> None:
    server.fail_always("endless", ignores_limit=True)
    one = Asking(server.url)
    with pytest.raises(ModelReplyError, match="cut at its limit"):
        one.ask()
    assert all(call.completion_tokens < 2.5 * 400 for call in one.calls)


def events(*pieces: str, pause_s: float = 0.0, first_s: float = 0.0, comments: bool = False) -> Raw:
    """A stream whose pieces come after pauses."""

    class Slowly(list[bytes]):
        def __iter__(self) -> Iterator[bytes]:
            yield b": wait\n\n"
            time.sleep(first_s)
            for piece in pieces:
                body = completion(None)
                body["choices"] = [{"delta": {"content": piece}}]
                yield f"data: {msgspec.json.encode(body).decode()}\n\n".encode()
                for _ in range(10 if comments else 1):
                    time.sleep(pause_s / (10 if comments else 1))
                    yield b": wait\n\n" if comments else b""
            yield b"data: [DONE]\n\n"

    return Raw(parts=Slowly(), headers={"Content-Type": "text/event-stream"})


TEXT = msgspec.json.encode(GOOD).decode()
PIECES = [TEXT[at : at + 20] for at in range(0, len(TEXT), 20)]


def test_an_answer_may_take_as_long_as_it_likes_while_it_goes_on() -> None:
    with RawServer(lambda request: events(*PIECES, pause_s=0.08)) as server:
        began = time.monotonic()
        assert Asking(server.url, timeout_s=0.4).ask() == READ
        assert time.monotonic() - began > 2 * 0.4


def test_the_first_piece_may_be_five_times_as_late_as_another() -> None:
    with RawServer(lambda request: events(*PIECES, first_s=0.9)) as server:
        assert Asking(server.url, timeout_s=0.3).ask() == READ


def test_silence_within_an_answer_ends_it_and_the_setting_is_named() -> None:
    for comments in [False, True]:
        silent = events(*PIECES[:2], pause_s=2.0, comments=comments)
        with RawServer(always(silent)) as server:
            began = time.monotonic()
            with pytest.raises(ModelTimeout, match=r"silent for 0\.3 s .*model_timeout_s"):
                Asking(server.url, timeout_s=0.3).ask()
            assert time.monotonic() - began < 1.5


def test_a_long_silence_is_not_tried_again_at_once(server: ModelServer) -> None:
    server.fail_always("hang")
    with pytest.raises(ModelTimeout):
        Asking(server.url, timeout_s=0.2, model_timeout_s=0.2, model_retries=2).ask()
    assert server.calls == 1


def test_a_reader_may_take_longer_than_the_server(server: ModelServer) -> None:
    server.reply_with("Hello there, Alice.")
    stream = Asking(server.url, timeout_s=0.2).asker.stream(ALICE, Purpose.CHAT, PROMPT)
    said = [next(stream)]
    time.sleep(0.6)
    said += stream
    assert "".join(said) == "Hello there, Alice."


def test_a_server_that_never_begins_is_left_and_the_setting_is_named(server: ModelServer) -> None:
    server.fail_always("hang")
    with pytest.raises(ModelTimeout, match=r"within 1 s .*model_timeout_s"):
        Asking(server.url, timeout_s=0.2).ask()


def test_what_follows_a_whole_answer_is_not_waited_for() -> None:
    with RawServer(lambda request: events(TEXT, "\n\nI hope this helps.", *["And so on."] * 50, pause_s=0.1)) as server:
        began = time.monotonic()
        assert Asking(server.url).ask() == READ
        assert time.monotonic() - began < 2.0


def test_an_echo_of_the_schema_before_the_answer_does_not_end_it() -> None:
    echo = '{"type": "object", "properties": {"pages": {"type": "array"}}}'
    with RawServer(lambda request: events(echo, "\n\n", TEXT)) as server:
        assert Asking(server.url).ask() == READ


def test_a_server_that_does_not_stream_is_understood() -> None:
    with RawServer(lambda request: Raw.json(completion(TEXT))) as server:
        assert Asking(server.url).ask() == READ


# ------------------------------------------------------------------------------------------------------------- grammar


def test_a_server_that_ignores_the_format_is_shown_it_and_then_stepped_down(server: ModelServer) -> None:
    server.fail_always("no_grammar")
    one = Asking(server.url)
    assert one.model.structured_mode is StructuredMode.JSON_SCHEMA
    assert one.ask() == READ  # the repair shows the form, as the first answer was none of it
    assert one.ledger.outcomes == ["unusable", "ok"]
    assert one.ask() == READ
    assert one.ledger.outcomes == ["unusable", "ok", "ok"]


def test_answers_of_another_form_twice_take_each_mode_a_step_down(server: ModelServer) -> None:
    server.fail_always("prose")
    one = Asking(server.url)
    modes = []
    for _ in range(3):
        with pytest.raises(ModelReplyError):
            one.ask()
        modes.append(one.model.structured_mode)
    assert modes == [StructuredMode.JSON_OBJECT, StructuredMode.PROMPT, StructuredMode.PROMPT]
    assert [request.get("response_format", {}).get("type") for request in server.requests] == [
        *["json_schema"] * 2, *["json_object"] * 2, *[None] * 2,
    ]  # fmt: skip


def test_without_a_grammar_a_filled_example_stands_in_the_schemas_place(server: ModelServer) -> None:
    server.fail_always("http_400_format", json_object=True)
    one = Asking(server.url)
    assert one.ask() == READ
    system, user = server.requests[-1]["messages"]
    assert system["content"] == PROMPT[0].text
    assert '"id":"p1","summary":"one sentence"' in user["content"]
    assert '"type"' not in user["content"]
    assert user["content"].endswith("\nAnswer:")


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    id: ShownId
    words: Annotated[list[str], msgspec.Meta(extra_json_schema={"maxItems": 2})] = []


class AllSeen(msgspec.Struct, frozen=True, kw_only=True):
    lenient: ClassVar[bool] = True
    pages: Annotated[list[Seen], msgspec.Meta(extra_json_schema={"maxItems": 9})]


def seen(one: Asking) -> AllSeen:
    form = AnswerForm(tokens=100, ids=("p1", "p2"))
    return one.asker.ask(ALICE, Purpose.ANNOTATE, PROMPT, AllSeen, form=form)


def test_a_near_servers_grammar_names_each_id_once_and_bounds_lists(server: ModelServer) -> None:
    server.reply_with({"pages": [{"id": "p1", "words": ["river"]}, {"id": "p2", "words": []}]})
    assert [one.id for one in seen(Asking(server.url)).pages] == ["p1", "p2"]
    pages = server.requests[0]["response_format"]["json_schema"]["schema"]["properties"]["pages"]
    assert [one["properties"]["id"]["enum"] for one in pages["prefixItems"]] == [["p1"], ["p2"]]
    assert (pages["minItems"], pages["maxItems"]) == (2, 2)
    assert pages["prefixItems"][0]["properties"]["words"]["maxItems"] == 2


def test_a_server_that_refuses_bounds_is_sent_the_plain_schema_first(server: ModelServer) -> None:
    server.fail_always("http_400_format")
    one = Asking(server.url)
    with suppress(ModelError):
        seen(one)
    schemas = [asked.get("response_format", {}).get("json_schema", {}).get("schema") for asked in server.requests]
    assert "prefixItems" in str(schemas[0])
    assert "prefixItems" not in str(schemas[1])
    assert "maxItems" not in str(schemas[1])
    assert schemas[1] is not None
    assert schemas[2] is None


def test_what_came_whole_of_a_list_that_is_cut_twice_is_read() -> None:
    cut = '{"pages": [{"id": "p1", "words": ["a \\" ]}"]}, {"id": "p2", "wor'
    body = {"choices": [{"message": {"content": cut}, "finish_reason": "length"}]}
    with RawServer(lambda _: Raw(parts=[json.dumps(body).encode()])) as raw:
        one = Asking(raw.url)
        assert [page.id for page in seen(one).pages] == ["p1"]
        assert len(one.calls) == 2


def test_without_an_example_the_schema_is_shown(server: ModelServer) -> None:
    server.fail_always("http_400_format", json_object=True)
    assert Asking(server.url).ask(AnswerForm(tokens=200)) == READ
    system, user = server.requests[-1]["messages"]
    assert '"properties"' in system["content"]
    assert user["content"] == PROMPT[1].text


def test_with_a_grammar_the_prompt_is_as_it_was_made(server: ModelServer) -> None:
    Asking(server.url).ask()
    assert [message["content"] for message in server.requests[0]["messages"]] == [one.text for one in PROMPT]


# ------------------------------------------------------------------------------------------------------------- context


def test_a_prompt_that_does_not_fit_is_told_apart_and_teaches_the_context() -> None:
    cases: list[tuple[dict[str, Any], int, int | None]] = [
        (
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size. try increasing the context size",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 5120,
                    "n_ctx": 4096,
                }
            },
            400,
            4096,
        ),
        (
            {
                "error": {
                    "message": "request (5120 tokens) exceeds the available context size (2048 tokens)",
                    "type": "invalid_request_error",
                }
            },
            400,
            2048,
        ),
        (
            {
                "object": "error",
                "message": "This model's maximum context length is 2048 tokens. However, you requested 4100 tokens "
                "(3900 in the messages, 200 in the completion).",
                "code": 400,
            },
            400,
            2048,
        ),
        (
            {"error": {"message": "too many", "code": "context_length_exceeded", "type": "invalid_request_error"}},
            400,
            None,
        ),
        ({"error": "prompt too long; exceeded max context length by 300 tokens"}, 400, None),
        (
            {
                "error": "Trying to keep the first 4098 tokens when context the overflows. However, the model is "
                "loaded with context length of only 4096 tokens, which is not enough."
            },
            400,
            4096,
        ),
        ({"error": {"message": "Payload too large"}}, 413, None),
    ]
    for body, status, context in cases:
        refusal = Raw.json(body, status)
        with RawServer(always(refusal)) as server:
            one = Asking(server.url)
            with pytest.raises(ModelTooLong):
                one.ask()
            assert len(server.requests) == 1
            assert one.asker.context_tokens == context
        assert one.ledger.outcomes == ["too long"]
        assert one.calls[0].prompt_tokens == 0


def test_an_overflow_that_comes_as_an_event_is_one_too() -> None:
    event = '{"error": {"message": "the model is loaded with context length of only 4096 tokens"}}'
    with RawServer(lambda request: Raw.events(f"event: error\ndata: {event}")) as server:
        one = Asking(server.url)
        with pytest.raises(ModelTooLong, match="4096"):
            one.ask()
        assert one.asker.context_tokens == 4096


def test_an_answer_that_ends_where_the_context_does_is_not_asked_for_with_more_tokens() -> None:
    full = {"prompt_tokens": 900, "completion_tokens": 124}
    body = {"choices": [{"message": {"content": '{"pages": ['}, "finish_reason": "length"}], "usage": full}

    turns = iter([Raw.refusal("context size (1024 tokens) exceeded"), Raw.json(body)])
    with RawServer(lambda request: next(turns)) as server:
        one = Asking(server.url)
        for _ in range(2):
            with pytest.raises(ModelTooLong):
                one.ask()
    assert one.ledger.outcomes == ["too long", "unusable"]


def test_a_limit_too_large_for_what_the_prompt_leaves_is_made_smaller_at_once() -> None:
    refused = (
        "'max_tokens' or 'max_completion_tokens' is too large: 200. This model's maximum context length is 1024 tokens "
        "and your request has 900 input tokens (200 > 1024 - 900)."
    )

    def answer(request: dict[str, Any]) -> Raw:
        return Raw.refusal(refused) if request["max_tokens"] > 124 else events(*PIECES)

    with RawServer(answer) as server:
        one = Asking(server.url)
        assert one.ask() == READ
    assert [request["max_tokens"] for request in server.requests] == [200, 124]


# ------------------------------------------------------------------------------------------------------------ thinking


def test_thinking_is_turned_off_where_the_server_can(server: ModelServer) -> None:
    server.fail_always("think", obeys=True, unclosed=True)
    one = Asking(server.url)
    assert one.ask() == READ
    assert one.ledger.outcomes == ["ok"]
    assert server.requests[0]["chat_template_kwargs"] == {"enable_thinking": False}


def test_chat_thinks_as_its_model_does(server: ModelServer) -> None:
    server.reply_with("Hello.")
    list(Asking(server.url).asker.stream(ALICE, Purpose.CHAT, PROMPT))
    assert "chat_template_kwargs" not in server.requests[0]


def test_a_model_that_thinks_all_the_same_is_asked_in_other_ways_and_given_room(server: ModelServer) -> None:
    for detail in [{}, {"unopened": True}, {"field": True}]:
        server.fail_always("think", **detail)
        one = Asking(server.url)
        for _ in range(3):
            assert one.ask() == READ
        asked = server.requests[-3:]
        assert ["chat_template_kwargs" in request for request in asked] == [True, False, False]
        assert [request.get("reasoning_effort") for request in asked] == [None, "none", None]
        assert [request["max_tokens"] for request in asked] == [200, *[200 + THINKING_TOKENS] * 2]


def test_thinking_that_leaves_no_room_for_the_answer_gets_room_of_its_own(server: ModelServer) -> None:
    server.fail_next("think", unclosed=True)
    one = Asking(server.url)
    assert one.ask() == READ
    assert [request["max_tokens"] for request in server.requests] == [200, 400 + THINKING_TOKENS]


def test_thinking_without_end_is_ended_at_a_limit_of_its_own() -> None:
    def answer(request: dict[str, Any]) -> Raw:
        chunk = msgspec.json.encode({"choices": [{"delta": {"reasoning_content": "hm, " * 100}}]}).decode()
        return Raw.events(*[f"data: {chunk}"] * 500, "data: [DONE]")

    with RawServer(answer) as server:
        one = Asking(server.url)
        with pytest.raises(ModelReplyError, match="turn its thinking off"):
            one.ask()
    assert len(server.requests) == 2
    assert server.requests[1]["reasoning_effort"] == "none"


def test_a_server_that_refuses_to_turn_thinking_off_is_asked_without() -> None:
    cases = ["property 'chat_template_kwargs' is unsupported", "Extra inputs are not permitted"]
    for message in cases:

        def answer(request: dict[str, Any], message: str = message) -> Raw:
            return Raw.refusal(message) if "chat_template_kwargs" in request else events(*PIECES)

        with RawServer(answer) as server:
            one = Asking(server.url)
            assert one.ask() == one.ask() == READ
        assert "chat_template_kwargs" not in server.requests[-1]
        assert "chat_template_kwargs" not in server.requests[-2]


# --------------------------------------------------------------------------------------------------------- breaking off


def broken_off(stream: BreakableStream, server: ModelServer, calls: int) -> None:
    """Some time after the server was asked so often."""
    server.wait_for_calls(calls)
    time.sleep(0.2)
    stream.break_off()


def test_an_answer_can_be_broken_off_from_another_thread_and_the_server_is_left(server: ModelServer) -> None:
    faults: list[tuple[str, dict[str, Any]]] = [
        ("hang", {}), ("hang", {"midway": True}), ("trickle", {"seconds": 0.05}),
    ]  # fmt: skip
    for kind, detail in faults:
        server.fail_next(kind, **detail)
        one = Asking(server.url)
        stream = one.model.stream(question())
        other = threading.Thread(target=broken_off, args=(stream, server, server.calls + 1))
        other.start()
        began = time.monotonic()
        with pytest.raises(ModelUnreachable):
            list(stream)
        other.join()
        assert time.monotonic() - began < 3.0
        assert one.ask() == READ


def test_an_answer_broken_off_before_it_began_asks_nobody_for_long(server: ModelServer) -> None:
    server.fail_next("hang")
    stream = Asking(server.url).model.stream(question())
    stream.break_off()
    with pytest.raises(ModelUnreachable):
        list(stream)


# ------------------------------------------------------------------------------------------------------- what they cost

HABITS: tuple[tuple[str, tuple[tuple[str, dict[str, Any]], ...]], ...] = (
    ("none: a grammar, a right answer", ()), ("the answer in a repeated schema, always", (("properties", {}),)),
    ("wrong ids, once", (("other_ids", {}), ("", {}))), ("wrong ids, always", (("other_ids", {}),)),
    ("the schema echoed, once", (("schema_echo", {}), ("", {}))), ("prose, always", (("prose", {}),)),
    ("no grammar: `response_format` ignored", (("no_grammar", {}),)),
    ("no grammar: `response_format` refused", (("http_400_format", {"json_object": True}),)),
    ("endless, always", (("endless", {}),)),
    ("endless, and the limit ignored", (("endless", {"ignores_limit": True}),)),
    ("one phrase over and over, once", (("repeats", {"ignores_limit": True}), ("", {}))),
    ("thinks unless told not to", (("think", {"obeys": True}),)), ("thinks whatever it is told", (("think", {}),)),
    ("thinks until its tokens are spent, once", (("think", {"unclosed": True}), ("", {}))),
    ("a slow first token (0.6 s, silence 0.2 s)", (("slow", {"seconds": 0.6}),)),
    ("the prompt does not fit", (("overflow", {"tokens": 50}),)),
)  # fmt: skip
"""Habits, and the faults of the scripted server that stand for them: the first is met once, the last ever after."""


def cost_of(faults: tuple[tuple[str, dict[str, Any]], ...]) -> tuple[str, ...]:
    """What one question about four pages costs, and what comes of it, as a row of the documentation has it."""
    with ModelServer(GOOD) as server:
        for kind, detail in faults[:-1]:
            server.fail_next(kind, **detail)
        if faults and faults[-1][0]:
            server.fail_always(faults[-1][0], **faults[-1][1])
        one = Asking(server.url, timeout_s=0.2 if any(kind == "slow" for kind, _ in faults) else 10.0)
        try:
            comes = "the answer" if one.ask() == READ else "another answer"
        except (ModelReplyError, ModelTooLong) as error:
            comes = f"`{type(error).__name__}`"
        tokens = [
            str(sum(each)) for each in zip(*((c.prompt_tokens, c.completion_tokens) for c in one.calls), strict=True)
        ]
        return str(len(one.calls)), *tokens, comes


def test_each_habit_costs_what_the_documentation_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "model-habits.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| ")
    ]
    told = {row[0]: tuple(row[1:]) for row in rows}
    assert {habit: got for habit, faults in HABITS if (got := cost_of(faults)) != told[habit]} == {}
