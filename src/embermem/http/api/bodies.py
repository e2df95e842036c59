"""The request bodies of the routes under /v1. Their answers are records of `embermem.wire`.

A body refuses unknown fields, and every text and list in it has a limit. An absent field and null mean the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import msgspec
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from embermem.core import metadata
from embermem.core.config import Mode
from embermem.core.errors import InputError
from embermem.core.messages import IGNORED_KEYS
from embermem.core.text import did_you_mean
from embermem.core.types import About, Forgotten, Scope, Tier, UtteranceOrigin

LONGEST_NAME = 512  # as the core takes them
LONGEST_KEY = 256
LONGEST_SPACE = 64
MOST_SHARES = 32
LONGEST_TEXT = 4 * 1024 * 1024  # no longer than a body may be; the setting `max_text_chars` decides below that
LONGEST_VALUE = 2000  # a line of a profile, as the core takes it
LONGEST_CURSOR = 8192  # holds two of the longest names in UTF-8, and base64 makes that a third longer
LONGEST_TIME = 64
MOST_MESSAGES = 1000
MOST_PARTS = 1000
MOST_ITEMS = 500  # of a batch: a few seconds of work, so that no client waits long for its first answer
MOST_FIELDS = 100
MOST_NAMES = 200  # of one field of a scope
MOST_FACTS = 500  # brought at once
MOST_RESULTS = 200  # of one page of a list
MOST_HITS = 1000
MOST_TOKENS = 1_000_000
LARGEST = 2**53  # the largest whole number that JSON carries everywhere
_SHOWN = 80

DEFAULT = "default"
MAIN = "main"


class Body(BaseModel):
    """What a client sends."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _knows(cls, given: object) -> object:
        if isinstance(given, Mapping):
            known = cls.names()
            for name in given:
                if name not in known:
                    raise PydanticCustomError(
                        "unknown_field",
                        "{name} is an unknown field{hint}; known fields: {known}",
                        {
                            "name": ascii(name)[:_SHOWN],
                            "hint": did_you_mean(str(name), known),
                            "known": ", ".join(known),
                        },
                    )
        return given

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The fields that may be given, and their other names."""
        named: list[str] = []
        for name, field in cls.model_fields.items():
            alias = field.validation_alias
            named += [str(one) for one in alias.choices] if isinstance(alias, AliasChoices) else [name]
        return tuple(named)


def _example(body: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [body]})


def _identifier(name: str) -> str:
    if not name.isidentifier():
        raise PydanticCustomError(
            "not_a_field",
            "{name} is not a field's name; give a word such as birth_year",
            {"name": ascii(name)[:_SHOWN]},
        )
    return name


Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
FactIds = Annotated[list[Name], Field(min_length=1, max_length=MOST_FACTS)]
Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]
Moment = Annotated[
    str,
    StringConstraints(max_length=LONGEST_TIME),
    Field(description="ISO 8601, such as 2026-05-02T10:00:00+02:00. A time without a zone is in the owner's."),
]


def _labels(given: dict[str, Any]) -> dict[str, Any]:
    try:
        return dict(metadata.checked(given, "metadata"))
    except InputError as error:
        raise PydanticCustomError("metadata", "{why}", {"why": str(error)}) from error


Labels = Annotated[
    dict[str, Any],
    AfterValidator(_labels),
    Field(description="Your own: texts, numbers, booleans or lists of texts by name. Answers have them as `labels`."),
]
Original = Annotated[
    Any, Field(description="Any JSON value, kept beside what is made of it and returned by `POST /v1/originals`.")
]
UserId = Annotated[Name, Field(description="The user.", examples=["alice"])]
AgentId = Annotated[Name, Field(description="The agent.", examples=["tutor"])]
SpaceName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=LONGEST_SPACE),
    Field(description="A shared space in place of the user's own memory, as it was granted.", examples=["team"]),
]
Shares = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_SPACE)]],
    Field(max_length=MOST_SHARES, description="Shared spaces to read too; results are merged."),
]
PersonFrom = Annotated[
    Name, Field(description="Another agent of the user, whose knowledge of the user is told too, as it was shared.")
]
RunId = Annotated[Name, Field(description="The thread, one conversation.", examples=["main"])]
Line = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_VALUE)]
FieldName = Annotated[str, StringConstraints(min_length=1, max_length=64), AfterValidator(_identifier)]
FieldValue = (
    Annotated[str, StringConstraints(max_length=LONGEST_VALUE)]
    | bool
    | Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
    | Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
)
"""A number with a fraction, and true or false, where a field of the application has that type."""


class OwnerBody(Body):
    """Whose memory a body is about: a user's with an agent, or a shared space's as it was granted to them."""

    user_id: UserId = DEFAULT
    agent_id: AgentId = DEFAULT
    space: SpaceName | None = None


def _of_scope(name: str) -> AfterValidator:
    """Checks a field of a scope as the core does."""

    def check(given: Any) -> Any:
        try:
            Scope(**{name: given})
        except InputError as error:
            raise PydanticCustomError("scope", "{why}", {"why": str(error)}) from error
        return given

    return AfterValidator(check)


_Names = Annotated[list[Name], Field(max_length=MOST_NAMES)]


class ScopeBody(Body):
    """What may be seen, decided before anything is ranked. An absent field leaves nothing out."""

    model_config = _example({"threads": ["monday"], "metadata": {"ticket": "T-7"}, "since": "2026-01-01"})

    threads: Annotated[_Names, _of_scope("threads")] | None = Field(default=None, description="Only of these threads.")
    not_threads: Annotated[_Names, _of_scope("not_threads")] = Field(default=[], description="None of these threads.")
    metadata: Annotated[dict[str, Any], _of_scope("metadata")] | None = Field(
        default=None, description='A filter, such as `{"kind": "contract", "n": {"$gte": 3}}`.'
    )
    speakers: Annotated[_Names, _of_scope("speakers")] | None = Field(default=None, description="Only said by these.")
    people: Annotated[_Names, _of_scope("people")] | None = Field(
        default=None, description="What these people said, and what facts about them rest on."
    )
    kinds: list[Literal["message", "document", "fact", "segment"]] | None = Field(
        default=None, description="Only these kinds of memories."
    )
    tiers: list[Tier] | None = Field(default=None, description="Only on pages in these tiers.")
    since: Annotated[Moment, _of_scope("since")] | None = Field(default=None, description="Said then or later.")
    until: Annotated[Moment, _of_scope("until")] | None = Field(
        default=None, description="Said then or before; a day as a whole."
    )
    before_seq: Annotated[int, Field(ge=0, le=LARGEST)] | None = Field(
        default=None, description="Only of the utterances before this one."
    )

    @property
    def scope(self) -> Scope:
        """The scope of the core."""
        return Scope(**{name: getattr(self, name) for name in self.model_fields_set if getattr(self, name) is not None})


# ------------------------------------------------------------------------------------------------------------ adding


class Message(Body):
    """One message in OpenAI's format, with a time of its own where it has one."""

    role: Literal["user", "assistant", "system", "developer", "tool", "function"]
    content: Text | Annotated[list[Text | dict[str, Any]], Field(max_length=MOST_PARTS)] | None = None
    name: Name | None = Field(default=None, description="The speaker, if not the user or the agent.")
    at: Moment | None = None
    tool_calls: Annotated[list[Any], Field(max_length=MOST_PARTS)] | None = None
    tool_call_id: Name | None = None
    function_call: dict[str, Any] | None = None
    refusal: Text | None = None
    audio: dict[str, Any] | None = None
    metadata: Labels | None = None
    original: Original = None
    origin: UtteranceOrigin | None = Field(default=None, description="Default: that of the role.")
    annotations: Annotated[list[Any], Field(max_length=MOST_PARTS)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _said(cls, given: object) -> object:
        left_out = IGNORED_KEYS.difference(cls.model_fields)
        return {k: v for k, v in given.items() if k not in left_out} if isinstance(given, Mapping) else given


def _form(given: object) -> str:
    return "text" if isinstance(given, str) else "list"


Said = Annotated[
    Annotated[list[Message], Field(min_length=1, max_length=MOST_MESSAGES), Tag("list")] | Annotated[Text, Tag("text")],
    Discriminator(_form),  # so that what is wrong in a list is not also told as "not a text"
    Field(description="Messages in OpenAI's format, or one text of the user."),
]


class AddBody(OwnerBody):
    """Messages to keep."""

    model_config = _example(
        {
            "messages": [
                {"role": "user", "content": "I moved to Lyon.", "at": "2026-05-02T10:00:00+02:00"},
                {"role": "assistant", "content": "How do you like it?"},
            ],
            "user_id": "alice",
        }
    )

    messages: Said
    run_id: RunId = MAIN
    at: Moment | None = Field(
        default=None, description="When they were said; now by default. A message's own `at` takes precedence."
    )
    fresh: bool | None = Field(
        default=None,
        description="Whether the first that the user says begins a page of its own. By default a text does, and a list "
        "goes on with the page that is open.",
    )
    expires_at: Moment | None = Field(default=None, description="When the pages expire.")
    metadata: Labels | None = Field(default=None, description="Of all messages. A message's own take precedence.")


class BatchItem(Body):
    """One addition of a batch. What it leaves out stands beside `items`."""

    messages: Said
    user_id: UserId | None = None
    agent_id: AgentId | None = None
    run_id: RunId | None = None
    at: Moment | None = None
    fresh: bool | None = None
    metadata: Labels | None = None
    expires_at: Moment | None = None
    key: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_KEY)] | None = Field(
        default=None, description="The same as the header Idempotency-Key, for this item."
    )


class RefusedItem:
    """An item of a batch that cannot be read, and why."""

    def __init__(self, why: str) -> None:
        self.why = why


def _or_refused(given: object, read: ValidatorFunctionWrapHandler) -> object:
    try:
        return read(given)
    except ValidationError as error:
        return RefusedItem(
            "; ".join(
                f"{'.'.join(ascii(part).strip(chr(39)) for part in one['loc']) or 'item'}: {one['msg']}"
                for one in error.errors(include_input=False, include_url=False)[:5]
            )
        )


class BatchBody(OwnerBody):
    """Many additions, each kept or refused on its own."""

    model_config = _example(
        {
            "user_id": "alice",
            "items": [
                {"messages": "I moved to Lyon.", "run_id": "monday", "key": "import-1"},
                {"messages": "My sister is called Ana.", "run_id": "tuesday", "key": "import-2"},
            ],
        }
    )

    run_id: RunId = MAIN
    at: Moment | None = None
    items: Annotated[list[Annotated[BatchItem, WrapValidator(_or_refused)]], Field(min_length=1, max_length=MOST_ITEMS)]

    @property
    def read(self) -> list[BatchItem | RefusedItem]:
        """The items in order, those too that cannot be read."""
        return [*self.items]


# ---------------------------------------------------------------------------------------------------------- memories


class UpdateBody(OwnerBody):
    """What of a fact, or of a page, is to change."""

    model_config = _example({"text": "Alice lives in Paris", "user_id": "alice"})

    text: Annotated[Text, StringConstraints(min_length=1)] | None = Field(
        default=None, validation_alias=AliasChoices("text", "memory"), description="The fact in other words."
    )
    value: Line | None = Field(default=None, description="The value of that fact; default: the text.")
    pinned: bool | None = None
    expires_at: Moment | None = None
    metadata: Labels | None = Field(default=None, description="The fact's own, in place of those that it has.")


# ------------------------------------------------------------------------------------------------------------ asking


class Filters(Body):
    """Whose memory, and which thread, said as other servers have it."""

    user_id: UserId | None = None
    agent_id: AgentId | None = None
    run_id: RunId | None = None


class Question(OwnerBody):
    """A query, and what is read beside the own memory."""

    query: Text = Field(examples=["Where does she live?"])
    run_id: RunId | None = None
    shares: Shares = []
    person_from: PersonFrom | None = None
    min_score: Annotated[float, Field(ge=0.0, le=1.0)] = Field(
        default=0.0, description="Leave out messages with a lower relevance, which is their `score` in the answer."
    )
    scope: ScopeBody | None = Field(default=None, description="What may be found and told.")

    @property
    def scope_asked(self) -> Scope | None:
        """The scope of the core."""
        return None if self.scope is None else self.scope.scope


class SearchBody(Question):
    """A query, and how many hits are wanted."""

    model_config = _example({"query": "Where does she live?", "user_id": "alice", "top_k": 3})

    run_id: RunId | None = Field(default=None, description="Search this thread only.")
    top_k: Annotated[int, Field(ge=1, le=MOST_HITS)] = Field(
        default=10,
        validation_alias=AliasChoices("top_k", "k", "limit"),
        description="Number of results; also called k or limit.",
    )
    at: Moment | None = Field(default=None, description="Time of the query; default: now.")
    as_of: Moment | None = Field(default=None, description="Read what was known at this time.")
    valid_at: Moment | None = Field(default=None, description="Read what was true at this time.")
    filters: Filters | None = None

    @model_validator(mode="after")
    def _one_owner(self) -> Self:
        for name in ("user_id", "agent_id", "run_id"):
            beside, inside = getattr(self, name), getattr(self.filters, name, None)
            if inside is not None and name in self.model_fields_set and beside not in (None, inside):
                raise PydanticCustomError("two_values", "{name} and filters.{name} differ", {"name": name})
        return self

    @property
    def owner_asked(self) -> tuple[str, str]:
        """(user, agent), wherever they were said."""
        inside = self.filters or Filters()
        return inside.user_id or self.user_id, inside.agent_id or self.agent_id

    @property
    def thread_asked(self) -> str | None:
        """The thread, wherever it was said."""
        return (None if self.filters is None else self.filters.run_id) or self.run_id


class ContextBody(Question):
    """A query, and how long the text may be."""

    model_config = _example({"query": "Where does she live?", "user_id": "alice", "budget": 300})

    run_id: RunId | None = Field(default=None, description="The thread of the query; its open page is always included.")
    budget: Annotated[int, Field(ge=1, le=MOST_TOKENS)] | None = Field(
        default=None,
        validation_alias=AliasChoices("budget", "max_tokens"),
        description="Most tokens; also called max_tokens. Default: the setting `budget`.",
    )
    at: Moment | None = Field(default=None, description="Time of the query; default: now.")
    mode: Mode = Field(default="ask", description="`inject`: nothing for a message that needs no memory.")
    as_of: Moment | None = Field(default=None, description="Read what was known at this time. Counts no visit.")
    valid_at: Moment | None = Field(default=None, description="Read what was true at this time. Counts no visit.")
    explain: bool = Field(default=False, description="Include what was left out, and why.")


# ----------------------------------------------------------------------------------------------------------- persona


_Fields = Annotated[dict[FieldName, FieldValue | None], Field(min_length=1, max_length=MOST_FIELDS)]


class ProfileBody(OwnerBody):
    """Fields to set; null takes one away. All is one change: where a field is refused, none is set."""

    model_config = _example(
        {
            "user_id": "alice",
            "user": {"name": "Alice", "birth_year": 1994},
            "agent": {"description": "a patient tutor"},
        }
    )

    user: _Fields | None = None
    agent: _Fields | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.user is None and self.agent is None:
            raise PydanticCustomError("nothing", "give at least one field of the user or the agent")
        return self


class UserBody(OwnerBody):
    """The speaker who is the user."""

    model_config = _example({"user_id": "alice", "name": "Caroline"})

    name: Name


class NamesBody(OwnerBody):
    """Two names, each of a known person."""

    model_config = _example({"user_id": "alice", "one": "Ana", "other": "Caroline's sister"})

    one: Name
    other: Name


class PinBody(OwnerBody):
    """Whether the cap may never take the fact."""

    model_config = _example({"user_id": "alice", "pinned": True})

    pinned: bool = True


class CorrectBody(OwnerBody):
    """What is so instead."""

    model_config = _example({"user_id": "alice", "text": "Alice lives in Paris", "value": "Paris"})

    text: Annotated[Text, StringConstraints(min_length=1)]
    value: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_VALUE)] | None = None
    valid_from: Moment | None = Field(
        default=None, description="Since when it is so; by default as the text says, else as before."
    )
    valid_to: Moment | None = Field(default=None, description="Until when it was so: a time that has passed.")


class RetireBody(OwnerBody):
    """Whose fact it is."""

    model_config = _example({"user_id": "alice"})


class FactsBody(OwnerBody):
    """Facts, by their ids."""

    model_config = _example({"user_id": "alice", "fact_ids": ["f3-000", "f7-001"]})

    fact_ids: FactIds


class PinFactsBody(FactsBody):
    """Whether the cap may never take these facts."""

    model_config = _example({"user_id": "alice", "fact_ids": ["f3-000", "f7-001"], "pinned": True})

    pinned: bool = True


class MergeFactsBody(OwnerBody):
    """A fact, and others that say the same."""

    model_config = _example({"user_id": "alice", "keep": "f3-000", "others": ["f7-001"]})

    keep: Name
    others: FactIds


# ------------------------------------------------------------------- where memory comes from, and when it ends


class SettleConflictBody(OwnerBody):
    """Two facts of a conflict that may both stand, or one of which is wrong."""

    model_config = _example({"user_id": "alice", "fact_id": "f3-000", "other_id": "f7-001"})

    fact_id: Name
    other_id: Name
    wrong: Name | None = None


class Brought(Body):
    """A fact that the caller brings."""

    text: Line
    subject: Line | None = None
    attribute: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    value: Line | None = None
    about: About | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    expires_at: Moment | None = None
    metadata: Labels | None = None


class LearnBody(OwnerBody):
    """Facts to learn, all or none."""

    model_config = _example(
        {
            "user_id": "alice",
            "facts": [{"text": "lives in Lyon", "attribute": "lives_in", "value": "Lyon"}],
        }
    )

    facts: Annotated[list[Brought], Field(min_length=1, max_length=MOST_FACTS)]


class InstructionBody(OwnerBody):
    """A standing instruction in the user's words."""

    model_config = _example({"user_id": "alice", "text": "Always answer in metric units."})

    text: Line
    expires_at: Moment | None = None


class DocumentBody(OwnerBody):
    """A document: its text, or a file in base64 whose format the ending of `source` says."""

    model_config = _example({"user_id": "alice", "text": "# Lease\n\nThe rent is due on the third.", "source": "lease"})

    text: Annotated[str, StringConstraints(max_length=LONGEST_TEXT)] | None = None
    file: Annotated[str, StringConstraints(max_length=2 * LONGEST_TEXT)] | None = None
    title: Line | None = None
    source: Line | None = None
    at: Moment | None = None
    metadata: Mapping[str, Any] | None = None
    original: Original = None
    expires_at: Moment | None = Field(default=None, description="When the document is forgotten by itself.")


class OriginalsBody(OwnerBody):
    """Which originals are asked for; without `ids`, `run_id` and `last`, all."""

    model_config = _example({"user_id": "alice", "run_id": "main", "last": 10})

    ids: Annotated[list[Name], Field(max_length=MOST_MESSAGES)] | None = Field(
        default=None, description="Ids of utterances and documents."
    )
    run_id: RunId | None = Field(default=None, description="Only of this thread.")
    last: Annotated[int, Field(ge=0, le=LARGEST)] | None = Field(default=None, description="The last so many.")


class ExpireBody(OwnerBody):
    """Until when it is kept; null takes that back."""

    model_config = _example({"user_id": "alice", "at": "2030-01-01T00:00:00+00:00"})

    at: Moment | None


class FadeBody(OwnerBody):
    """Whose memory fades."""

    model_config = _example({"user_id": "alice", "dry_run": True})

    dry_run: bool = False


def _receipt(given: object) -> object:
    """Each value has exactly the type that the description names: pydantic would take "yes" for true."""
    try:
        return msgspec.convert(given, Forgotten)
    except msgspec.ValidationError as error:
        raise PydanticCustomError("receipt", "{what}", {"what": str(error)}) from error


Receipt = Annotated[Forgotten, BeforeValidator(_receipt)]


class VerifyBody(OwnerBody):
    """A receipt, as forgetting gave it."""

    model_config = _example(
        {
            "user_id": "alice",
            "receipt": {
                "dry_run": False,
                "pages": ["p06h018yk1qqyrstqwvz8981m1"],
                "utterances": ["u06h018yk1qqyrstqwvz8981m2"],
                "facts": [],
                "segments": [],
                "chains": [],
                "traits": [],
                "profile": [],
                "rewritten": [],
                "change_no": 4,
                "recorded_at": "2026-05-02T10:00:00+00:00",
                "scrubbed": True,
                "sha256": "0" * 64,
                "marks": [],
                "backups": [],
            },
        }
    )

    receipt: Receipt


class UndoBody(OwnerBody):
    """Whose change it is."""

    model_config = _example({"user_id": "alice"})


Position = Annotated[
    str,
    StringConstraints(max_length=64),
    Field(description="A position (seq.revision), the id of an event.", examples=["12.3"]),
]


class WebhookBody(OwnerBody):
    """Where events are sent, and which."""

    model_config = _example({"user_id": "alice", "url": "https://example.com/ember", "events": ["page", "promotion"]})

    url: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_VALUE)]
    events: Annotated[list[Name], Field(max_length=MOST_FIELDS)] = Field(
        default_factory=list, description="`page` and causes of changes; none means all."
    )
    text: bool = Field(default=False, description="Whether events hold what was said and decided.")
    since: Position | None = None


class ReplayBody(OwnerBody):
    """From where events are sent again."""

    model_config = _example({"user_id": "alice", "since": "12.3"})

    since: Position | None = None


class SettleBody(OwnerBody):
    """Whose memory is to be understood."""

    model_config = _example({"user_id": "alice"})


# ------------------------------------------------------------------------------------------------------------ sharing


class GrantBody(Body):
    """Who may reach a space."""

    model_config = _example({"user_id": "alice", "write": False})

    user_id: UserId | None = Field(description="The user; null is everybody.")
    agent_id: AgentId | None = Field(default=None, description="Only with this agent; null is any.")
    write: bool = Field(default=False, description="Whether the user may also add to it, correct and forget.")


class PersonShareBody(OwnerBody):
    """With which other agent of the user what is known of the user is shared."""

    model_config = _example({"user_id": "alice", "agent_id": "coach", "with_agent": "tutor"})

    with_agent: AgentId
    shared: bool = Field(default=True, description="False takes it back.")
