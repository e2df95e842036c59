"""The arguments of the tools: what a model reads of each, and the names by which other memories call it."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BeforeValidator, Field

MOST_HITS = 100

_Value = TypeVar("_Value")


def _or(default: _Value) -> BeforeValidator:
    """Some clients send null for what they leave out."""
    return BeforeValidator(lambda value: default if value is None else value)


def _says(description: str, *names: str, ge: int | None = None, le: int | None = None) -> Any:
    """What a model reads of an argument, and all names by which it may be given, where there are several."""
    return Field(description=description, validation_alias=AliasChoices(*names) if names else None, ge=ge, le=le)


_OF_THREAD = ("thread", "thread_id", "run_id")


# Plain `str`, never `str | None`: of another type the SDK would read a text that happens to be JSON as JSON.
UserInput = Annotated[
    str, _or(""), _says("What the user said, word for word.", "user_input", "user", "user_message", "input")
]
AgentResponse = Annotated[
    str,
    _or(""),
    _says(
        "What you answered, word for word.", "agent_response", "assistant", "assistant_response", "response", "output"
    ),
]
Timestamp = Annotated[
    str,
    _or(""),
    _says(
        "When it was said, in ISO 8601, such as 2026-05-02T10:00:00+02:00. Now, if left out.", "timestamp", "at", "time"
    ),
]
Thread = Annotated[str, _or("main"), _says("A name for this conversation, the same for all of it.", *_OF_THREAD)]
AskedIn = Annotated[str, _or(""), _says("The conversation in which it is asked, as given to add_memory.", *_OF_THREAD)]
Query = Annotated[str, _says("A question or some words, as you would say them.", "query", "question", "q")]
Budget = Annotated[
    int, _or(0), _says("The most tokens that the text may have; 0: as the memory is set.", "budget", "max_tokens", ge=0)
]
AsOf = Annotated[str, _or(""), _says("What was known then: a day such as 2026-03-01, or a time. Now, if left out.")]
ValidAt = Annotated[
    str, _or(""), _says("What was true then, by what is known now, such as where the user lived: a day, or a time.")
]
K = Annotated[
    int, _or(10), _says("How many results at most.", "k", "top_k", "limit", "max_results", ge=1, le=MOST_HITS)
]
_ANY_ID = ("id", "memory_id", "page_id", "fact_id", "utterance_id", "segment_id")
Id = Annotated[str, _says("An id as search_memory, retrieve_memory or get_user_profile gave it.", *_ANY_ID)]
IdOrName = Annotated[
    str,
    _says(
        "An id as search_memory, retrieve_memory or get_user_profile gave it; also a trait's dimension, or "
        "a line of a profile such as `user.home`.",
        *_ANY_ID,
    ),
]
FactId = Annotated[
    str, _says("The fact's id, as get_user_profile or retrieve_memory gave it.", "fact_id", "id", "memory_id")
]
NewText = Annotated[
    str,
    _says(
        "What is right, as one sentence about the same matter, such as `The user lives in Oslo`.",
        "text",
        "new_text",
        "memory",
        "content",
    ),
]
Confirm = Annotated[bool, _or(False), _says("false shows what would go; true takes it away, for good.")]
Knowledge = Annotated[bool, _or(True), _says("Also the facts that are known.", "include_knowledge", "include_facts")]
AgentKnowledge = Annotated[bool, _or(False), _says("Also what is known of you, the agent, with this user.")]
