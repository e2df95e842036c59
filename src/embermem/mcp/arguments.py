"""The arguments of the tools: what a model reads of each, and the names by which other memories call it."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import AliasChoices, BeforeValidator, Field

MOST_HITS = 100

_Value = TypeVar("_Value")


def _or(default: _Value) -> BeforeValidator:
    """Some clients send null for what they leave out."""
    return BeforeValidator(lambda value: default if value is None else value)


def _names(*names: str) -> AliasChoices:
    return AliasChoices(*names)


_OF_THREAD = _names("thread", "thread_id", "run_id")


# Plain `str`, never `str | None`: of another type the SDK would read a text that happens to be JSON as JSON.
UserInput = Annotated[
    str,
    _or(""),
    Field(
        description="What the user said, literally.",
        validation_alias=_names("user_input", "user", "user_message", "input"),
    ),
]
AgentResponse = Annotated[
    str,
    _or(""),
    Field(
        description="What you answered, literally.",
        validation_alias=_names("agent_response", "assistant", "assistant_response", "response", "output"),
    ),
]
Timestamp = Annotated[
    str,
    _or(""),
    Field(
        description="When it was said, in ISO 8601, such as 2026-05-02T10:00:00+02:00. Now, if left out.",
        validation_alias=_names("timestamp", "at", "time"),
    ),
]
Thread = Annotated[
    str,
    _or("main"),
    Field(
        description="A name for this conversation, the same for all of it.",
        validation_alias=_OF_THREAD,
    ),
]
AskedIn = Annotated[
    str,
    _or(""),
    Field(
        description="The conversation in which it is asked, as given to add_memory.",
        validation_alias=_OF_THREAD,
    ),
]
Query = Annotated[
    str,
    Field(
        description="A question or some words, as you would say them.",
        validation_alias=_names("query", "question", "q"),
    ),
]
Budget = Annotated[
    int,
    _or(0),
    Field(
        ge=0,
        description="The most tokens that the text may have; 0: as the memory is set.",
        validation_alias=_names("budget", "max_tokens"),
    ),
]
AsOf = Annotated[
    str,
    _or(""),
    Field(description="What was known then: a day such as 2026-03-01, or a time. Now, if left out."),
]
ValidAt = Annotated[
    str,
    _or(""),
    Field(description="What was true then, by what is known now, such as where the user lived: a day, or a time."),
]
K = Annotated[
    int,
    _or(10),
    Field(
        ge=1,
        le=MOST_HITS,
        description="How many results at most.",
        validation_alias=_names("k", "top_k", "limit", "max_results"),
    ),
]
_ANY_ID = _names("id", "memory_id", "page_id", "fact_id", "utterance_id", "segment_id")
Id = Annotated[
    str,
    Field(
        description="An id as search_memory, retrieve_memory or get_user_profile gave it.",
        validation_alias=_ANY_ID,
    ),
]
IdOrName = Annotated[
    str,
    Field(
        description="An id as search_memory, retrieve_memory or get_user_profile gave it; also a trait's dimension, or "
        "a line of a profile such as `user.home`.",
        validation_alias=_ANY_ID,
    ),
]
FactId = Annotated[
    str,
    Field(
        description="The fact's id, as get_user_profile or retrieve_memory gave it.",
        validation_alias=_names("fact_id", "id", "memory_id"),
    ),
]
NewText = Annotated[
    str,
    Field(
        description="What is right, as one sentence about the same matter, such as `The user lives in Oslo`.",
        validation_alias=_names("text", "new_text", "memory", "content"),
    ),
]
Confirm = Annotated[bool, _or(False), Field(description="false shows what would go; true takes it away, for good.")]
Knowledge = Annotated[
    bool,
    _or(True),
    Field(description="Also the facts that are known.", validation_alias=_names("include_knowledge", "include_facts")),
]
AgentKnowledge = Annotated[bool, _or(False), Field(description="Also what is known of you, the agent, with this user.")]
