"""The arguments of the tools: what a model reads of each, and the names by which other memories call it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from pydantic import AliasChoices, BeforeValidator, Field

from embermem.core.config import Mode
from embermem.core.text import did_you_mean

MOST_HITS = 100

_Value = TypeVar("_Value")


def _or(default: _Value) -> BeforeValidator:
    """Some clients send null for what they leave out."""
    return BeforeValidator(lambda value: default if value is None else value)


def _says(description: str, *names: str, ge: int | None = None, le: int | None = None) -> Any:
    """The description of an argument for a model, and all names that are accepted for it, if there are several."""
    return Field(description=description, validation_alias=AliasChoices(*names) if names else None, ge=ge, le=le)


_BOUNDS = {"ge": "minimum", "le": "maximum"}


def with_short_schema(tool: Tool) -> Tool:
    """A tool whose schema leaves out what a model does not need: titles, defaults that mean that nothing is given, and
    that null is accepted."""
    properties = {name: _short(one) for name, one in tool.parameters["properties"].items()}
    required = {"required": tool.parameters["required"]} if "required" in tool.parameters else {}
    schema = {"type": "object", "properties": properties, **required}
    return tool.model_copy(update={"parameters": schema})


def _short(one: dict[str, Any]) -> dict[str, Any]:
    (kept,) = [kind for kind in one.get("anyOf", [{}]) if kind.get("type") != "null"]
    kept = {key: value for key, value in kept.items() if key != "additionalProperties"}
    named = {_BOUNDS.get(key, key): value for key, value in one.items() if key not in ("title", "anyOf", "default")}
    default = {"default": one["default"]} if one.get("default") else {}
    return {**kept, **named, **default}


def refuse_unknown(tool: Tool, given: Iterable[str]) -> None:
    """Raise ToolError for an argument that the tool does not have, or one given by two names."""
    by_name: dict[str, str] = {}
    for field, info in tool.fn_metadata.arg_model.model_fields.items():
        names = info.validation_alias.choices if isinstance(info.validation_alias, AliasChoices) else [field]
        by_name |= {str(name): field for name in names}
    taken: dict[str, str] = {}
    for name in given:
        meant = by_name.get(name)
        if meant is None:
            hint = did_you_mean(name, by_name)
            takes = ", ".join(tool.parameters["properties"]) or "none"
            raise ToolError(f"{tool.name} has no argument {name}{hint}; its arguments: {takes}")
        if meant in taken:
            raise ToolError(f"{tool.name}: {taken[meant]} and {name} are two names of one argument; give one of them")
        taken[meant] = name


_OF_THREAD = ("thread", "thread_id", "run_id")


# Plain `str`, never `str | None`: of another type the SDK would read a text that happens to be JSON as JSON.
UserInput = Annotated[
    str, _or(""), _says("What the user said, literally.", "user_input", "user", "user_message", "input")
]
AgentResponse = Annotated[
    str,
    _or(""),
    _says("What you answered, literally.", "agent_response", "assistant", "assistant_response", "response", "output"),
]
Timestamp = Annotated[
    str,
    _or(""),
    _says(
        "The time of the exchange in ISO 8601, such as 2026-05-02T10:00:00+02:00. Default: now.",
        "timestamp",
        "at",
        "time",
    ),
]
Thread = Annotated[
    str, _or("main"), _says("A name for this conversation; use the same name for all of its exchanges.", *_OF_THREAD)
]
DocumentText = Annotated[str, _says("The text of the document, as Markdown or plain text.", "text", "content")]
DocumentTitle = Annotated[str, _or(""), _says("Its title. Default: its first heading.", "title", "name")]
DocumentSource = Annotated[
    str,
    _or(""),
    _says("Where it is from, such as a path or an address; added again, it replaces what changed.", "source", "url"),
]
Metadata = Annotated[
    dict[str, Any] | None,
    _says('Labels to find the exchange by, such as {"ticket": "T-7"}: texts, numbers, booleans or lists of texts.'),
]
UserInputOrigin = Annotated[
    str,
    _or(""),
    _says("Where user_input comes from: `pasted` if the user did not write it, `document`, `tool`. Default: `person`."),
]
AskedIn = Annotated[str, _or(""), _says("The current conversation, as given to add_memory.", *_OF_THREAD)]
ScopeGiven = Annotated[
    dict[str, Any] | None,
    _says(
        'Limits what may be found, such as {"threads": ["main"], "metadata": {"ticket": "T-7"}, "since": "2026-01-01"}.'
        " Fields: threads, not_threads, metadata, speakers, people, kinds, tiers, since, until, before_seq.",
        "scope",
        "filters",
    ),
]
Query = Annotated[str, _says("A question or keywords, in natural language.", "query", "question", "q")]
Budget = Annotated[
    int,
    _or(0),
    _says("Maximum number of tokens of the text; 0 means the configured default.", "budget", "max_tokens", ge=0),
]
AsOf = Annotated[str, _or(""), _says("Read what was known at this day (such as 2026-03-01) or time. Default: now.")]
ValidAt = Annotated[
    str,
    _or(""),
    _says("Read what was true at this day or time according to present knowledge, such as where the user lived."),
]
MinScore = Annotated[
    float,
    _or(0.0),
    _says("Leave out messages with a lower score, from 0 to 1; 0 leaves out none.", "min_score", ge=0.0, le=1.0),
]
ModeGiven = Annotated[
    Mode, _or("ask"), _says("`inject` returns nothing for a message that needs no memory, such as thanks.", "mode")
]
K = Annotated[
    int, _or(10), _says("Maximum number of results.", "k", "top_k", "limit", "max_results", ge=1, le=MOST_HITS)
]
_ANY_ID = ("id", "memory_id", "page_id", "fact_id", "utterance_id", "segment_id")
Id = Annotated[
    str, _says("An id returned by search_memory, list_memory, retrieve_memory or get_user_profile.", *_ANY_ID)
]
IdOrName = Annotated[
    str,
    _says(
        "An id returned by search_memory, retrieve_memory or get_user_profile; also a trait's dimension, or "
        "a line of a profile such as `user.home`.",
        *_ANY_ID,
    ),
]
FactId = Annotated[
    str, _says("The fact's id, returned by get_user_profile or retrieve_memory.", "fact_id", "id", "memory_id")
]
NewText = Annotated[
    str,
    _or(""),
    _says(
        "The correct statement, as one sentence about the same subject, such as `The user lives in Oslo`.",
        "text",
        "new_text",
        "memory",
        "content",
    ),
]
Ended = Annotated[
    bool,
    _or(False),
    _says("true in place of `text`: the fact or instruction holds no longer, and nothing replaces it."),
]
ValidFrom = Annotated[
    str, _or(""), _says("Since which day or time the new text is true. Default: as it says, else as before.")
]
ValidTo = Annotated[str, _or(""), _says("Until which day or time, now past, the new text was true.")]
Instruction = Annotated[
    str,
    _says(
        "The instruction in the user's words, such as `Always answer in French`.",
        "text",
        "instruction",
        "rule",
        "content",
    ),
]
ExpiresAt = Annotated[str, _or(""), _says("The day or time in ISO 8601 at which it ends. Default: never.")]
_KINDS = {
    **{f"{kind}s": kind for kind in ("page", "fact", "document", "segment")},
    **dict.fromkeys(("exchange", "exchanges"), "page"),
    **dict.fromkeys(("topic", "topics"), "segment"),
}
ListedKind = Annotated[
    Literal["page", "fact", "document", "segment"],
    BeforeValidator(lambda kind: _KINDS.get(kind.strip().lower(), kind) if isinstance(kind, str) else kind),
    _or("page"),
    _says("What is listed: exchanges, current facts, documents or topics.", "kind", "type"),
]
After = Annotated[
    str, _or(""), _says("Begin after the item with this id: the last one of the list before.", "after", "cursor")
]
Confirm = Annotated[bool, _or(False), _says("false shows what would be removed; true removes it permanently.")]
Knowledge = Annotated[bool, _or(True), _says("Include the known facts.", "include_knowledge", "include_facts")]
PersonName = Annotated[
    str,
    _or(""),
    _says(
        "Read what is known of this person: a name or kin word listed in `people`. Default: the user.", "person", "name"
    ),
]
AgentKnowledge = Annotated[bool, _or(False), _says("Include facts about you, the agent, with this user.")]
