"""What the client or the model's server writes into messages, and nobody said, is neither stored nor recalled for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import httpx2
import pytest
from proxying import Spoken, assistant, spoken, user

from embermem.http.proxy import client_text
from embermem.http.proxy.dialects.messages import Messages
from embermem.http.proxy.request import asked
from scripted import Opener

ROUTES = ("/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat")
OPEN_WEBUI_TITLE = (
    "### Task:\nGenerate a title of 3 words with an emoji.\n### Guidelines:\n- Be brief.\n### Output:\nJSON.\n"
    "### Chat History:\n<chat_history>\nUSER: I moved to Lyon.\nASSISTANT: Nice.\n</chat_history>"
)
CLIENT_PROMPTS = (
    OPEN_WEBUI_TITLE,
    OPEN_WEBUI_TITLE.replace("Generate a title of 3 words with an emoji", "Suggest 3 follow-up questions"),
    OPEN_WEBUI_TITLE.replace("Generate a title of 3 words with an emoji", "Generate 3 broad tags"),
    "### Task:\nAnalyze the chat history and generate search queries.\n\nUSER: I moved to Lyon.",
    "### Task:\nYou complete what is in `<text>`.\n<type>General</type>\n<text>I moved to</text>\n#### Output:",
    "Create a short title for the chat history.\n\n<chat_history>\nUSER: I moved to Lyon.\n</chat_history>",
    "Please generate a concise, 5-word title for this conversation, using its language.\n\nUser: I moved to Lyon.",
    "Your task is to create a detailed summary of the conversation so far, with every request of the user.",
)
CLIENT_SYSTEMS = (
    "You write short titles for conversations.\nAnswer with the title alone.",
    "Analyze if this message indicates a new conversation topic. If it does, extract a 2-word title.",
    "Summarize this coding conversation in under 50 characters.",
)
CONTEXTS = (
    ("<system-reminder>\nUse the todo list. <b>Now</b>.\n</system-reminder>\nI moved to Lyon.", "I moved to Lyon."),
    (
        "I moved to Lyon.\n\n<system-reminder>a</system-reminder><system-reminder>b</system-reminder>",
        "I moved to Lyon.",
    ),
    ("I moved to Lyon.<environment_details>\n# Time\nnoon\n</environment_details>", "I moved to Lyon."),
    ("<task>\nMend the door.\n</task>\n<environment_details>\nls\n</environment_details>", "Mend the door."),
    (
        "[write_to_file for 'a'] Result:\nThe user refused.\n<feedback>\nUse oak.\n</feedback>\n"
        "<environment_details>ls</environment_details>",
        "Use oak.",
    ),
    ("<environment_context>\n<cwd>/home</cwd>\n</environment_context>Mend the door.", "Mend the door."),
    (
        "# AGENTS.md instructions for /home\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>\nMend the door.",
        "Mend the door.",
    ),
    ("<additional_data>x</additional_data>\n<user_query>\nMend the door.\n</user_query>", "Mend the door."),
    (
        "<context>noon</context>\n<editorContext>x</editorContext>\n<userRequest>\nMend it.\n</userRequest>",
        "Mend it.",
    ),
    (
        "### Task:\nRespond to the user query using the context.\n### Guidelines:\n- Cite.\n"
        "<context>\n<source id='1'>Oak.</source>\n</context>\nWhich wood?",
        "Which wood?",
    ),
    ("<system-reminder>a <system-reminder>b</system-reminder> c</system-reminder>Mend it.", "Mend it."),
    ("<ide_opened_file>a.py</ide_opened_file>\n<command-name>/clear</command-name>Mend it.", "Mend it."),
)
OWN_WORDS = (
    "What does <system-reminder> mean in your prompt?",
    "In code:\n```xml\n<system-reminder>\nhush\n</system-reminder>\n```\nWhat is it?",
    "It is written `<environment_details>x</environment_details>`.",
    "### Task:\nWrite a poem about chat.",
    "<task>Write a letter.</task>\n<context>I live in Lyon.</context>",
    "Give my novel a title about a conversation. Generate three.",
    "Can you generate a title for my talk on bees?",
)
THOUGHT = "<think>hm</think>Plain"


Turns = list[tuple[str, Any]]


@pytest.fixture
def proxy(opened: Opener) -> Iterator[Spoken]:
    """A proxy on an empty memory."""
    with spoken(opened) as one:
        yield one


def send(client: httpx2.Client, path: str, user: str, turns: Turns, system: str = "", stream: bool = False) -> str:
    """One request in the protocol of a route; what the header of its answer says of memory."""
    messages: Any = [{"role": role, "content": content} for role, content in turns]
    given: dict[str, Any] = {"model": "m", "stream": stream}
    if path == "/v1/responses":
        given |= {"input": messages, "instructions": system}
    elif path == "/v1/messages":
        given |= {
            "messages": messages,
            "max_tokens": 100,
            "system": [{"type": "text", "text": system}] if system else "",
        }
    else:
        given["messages"] = [{"role": "system", "content": system}, *messages] if system else messages
    answer = client.post(path, json=given, headers={"X-Ember-User": user})
    assert answer.status_code == 200, answer.text
    return answer.headers["x-ember-memory"]


def stored(proxy: Spoken, user: str) -> list[tuple[str, str]]:
    """What a user's memory holds, in order of arrival."""
    return [(one.role.value, one.text) for one in proxy.memory.of(user).utterances()]


def test_reasoning_inside_a_reply_is_not_stored_and_the_reply_is_stored_once(proxy: Spoken) -> None:
    with proxy.http as client:
        for path, stream in product(ROUTES, (False, True)):
            for back in (THOUGHT, "Plain"):
                user = f"{path} {stream} {back}"
                proxy.model.script.says = THOUGHT
                send(client, path, user, [("user", "One?")], stream=stream)
                proxy.model.script.says = "Two."
                send(client, path, user, [("user", "One?"), ("assistant", back), ("user", "Two?")], stream=stream)
                assert [text for _, text in stored(proxy, user)] == ["One?", "Plain", "Two?", "Two."], user
        proxy.model.script.says = "<think>never an end"
        send(client, ROUTES[0], "cut", [("user", "One?")], stream=True)
        assert stored(proxy, "cut") == [("user", "One?")]


def test_a_prompt_of_the_clients_own_gets_no_memory_and_nothing_of_it_is_stored(proxy: Spoken) -> None:
    history: Turns = [("user", "I moved to Lyon."), ("assistant", "Nice.")]
    prompt = CLIENT_PROMPTS[0]
    with proxy.http as client:
        for path in ROUTES:
            proxy.model.script.says = "Nice."
            send(client, path, path, history[:1])
            proxy.model.script.says = "Lyon"
            assert send(client, path, path, [("user", prompt)]) == "off"
            assert send(client, path, path, [*history, ("user", prompt)], stream=True) == "off"
            assert send(client, path, path, history[:1], CLIENT_SYSTEMS[0]) == "off"
            assert b"ember-memory" not in proxy.model.last.raw
            assert stored(proxy, path) == history
            later: Turns = [("user", "Where do I live?")]
            assert send(client, path, path, [*history, ("user", prompt), ("assistant", "Lyon"), *later]) != "off"
            assert stored(proxy, path) == [*history, *later, ("assistant", "Lyon")]


def test_what_a_coding_agent_adds_is_not_stored_as_said(proxy: Spoken) -> None:
    reminder = "<system-reminder>\nUse the list.\n</system-reminder>"
    proxy.model.script.says = "Done."
    with proxy.http as client:
        for path in ROUTES:
            turns: Turns = [("user", f"{reminder}\nMend the door."), ("assistant", "Done."), ("user", reminder)]
            send(client, path, path, turns)
            assert [text for _, text in stored(proxy, path)] == ["Mend the door.", "Done.", "Done."], path


def test_of_every_kind_of_text_that_a_client_writes_only_what_was_said_is_left_in_linear_time() -> None:
    for given, left in (*CONTEXTS, *((one, one) for one in OWN_WORDS)):
        assert client_text.said(user(given)) == user(left), given
        assert client_text.said(user([{"type": "text", "text": given}])) == user([{"type": "text", "text": left}]), (
            given
        )
        assert not client_text.is_client_request([user(given)]), given
    for prompt in CLIENT_PROMPTS:
        assert client_text.is_client_request([user("Hi."), user(prompt)]), prompt
        assert list(client_text.spoken([user(prompt), assistant("Lyon"), user("Hi.")])) == [user("Hi.")]
    for system in CLIENT_SYSTEMS:
        assert client_text.is_client_request([{"role": "system", "content": system}, user("Hi.")]), system
    assert not client_text.is_client_request(
        [{"role": "system", "content": "You write titles for novels."}, user("Hi.")]
    )

    reminder = {"type": "text", "text": "<system-reminder>\nUse the list.\n</system-reminder>"}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    question = {"role": "user", "content": [reminder, {"type": "text", "text": "Mend the door."}]}
    called = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
    body = {"messages": [question, called, {"role": "user", "content": [result, reminder]}]}
    sought = asked(json.dumps(body).encode(), {}, Messages()).told
    assert (sought.at, sought.question) == (0, "Mend the door.")

    tool = client_text.said({"role": "tool", "content": "12 lines\n<system-reminder>\nBeware.\n</system-reminder>"})
    assert tool == {"role": "tool", "content": "12 lines"}
    read = client_text.said({"role": "user", "content": "[read_file for 'a.py'] Result:\n12 lines"})
    assert read == {"role": "tool", "content": "[read_file for 'a.py'] Result:\n12 lines"}

    for text in (
        "<system-reminder>" * 60_000,
        "```\n" * 200_000,
        "<system-reminder></" * 60_000,
        "<think></think>" * 60_000,
        "<task>\n" * 90_000,
    ):
        client_text.said({"role": "user", "content": text})
        client_text.said({"role": "assistant", "content": text})
