"""The bodies and answers of the routes under /v1.

A body refuses what it does not know, and every text and list in it has a limit. Absent and null say the same: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
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

from embermem.core.types import About, Redaction, Role, Tier

LONGEST_NAME = 512  # as the core takes them
LONGEST_KEY = 256
LONGEST_TEXT = 4 * 1024 * 1024  # no longer than a body may be; the setting `max_text_chars` decides below that
LONGEST_VALUE = 2000  # a line of a profile, as the core takes it
LONGEST_CURSOR = 8192  # holds two of the longest names in UTF-8, and base64 makes that a third longer
LONGEST_TIME = 64
MOST_MESSAGES = 1000
MOST_PARTS = 1000
MOST_ITEMS = 500  # of a batch: a few seconds of work, so that no client waits long for its first answer
MOST_FIELDS = 100
MOST_RESULTS = 200  # of one page of a list
MOST_HITS = 1000
MOST_TOKENS = 1_000_000
LARGEST = 2**53  # the largest whole number that JSON carries everywhere
_SHOWN = 80
_Thing = TypeVar("_Thing")

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
                        "{name} is an unknown field; known fields: {known}",
                        {"name": ascii(name)[:_SHOWN], "known": ", ".join(known)},
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


class Answer(BaseModel):
    """What a client is given."""

    model_config = ConfigDict(frozen=True)


def _identifier(name: str) -> str:
    if not name.isidentifier():
        raise PydanticCustomError(
            "not_a_field",
            "{name} is not a field's name; give a word such as birth_year",
            {"name": ascii(name)[:_SHOWN]},
        )
    return name


Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]
Moment = Annotated[
    str,
    StringConstraints(max_length=LONGEST_TIME),
    Field(description="ISO 8601, such as 2026-05-02T10:00:00+02:00. A time without a zone is in the owner's."),
]
UserId = Annotated[Name, Field(description="Whose memory.", examples=["alice"])]
AgentId = Annotated[Name, Field(description="The agent.", examples=["tutor"])]
RunId = Annotated[Name, Field(description="The thread, one conversation.", examples=["main"])]
FieldName = Annotated[str, StringConstraints(min_length=1, max_length=64), AfterValidator(_identifier)]
FieldValue = (
    Annotated[str, StringConstraints(max_length=LONGEST_VALUE)] | Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
)


class OwnerBody(Body):
    """Whose memory a body is about."""

    user_id: UserId = DEFAULT
    agent_id: AgentId = DEFAULT


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
    annotations: Annotated[list[Any], Field(max_length=MOST_PARTS)] | None = None


def _form(given: object) -> str:
    return "text" if isinstance(given, str) else "list"


Said = Annotated[
    Annotated[list[Message], Field(min_length=1, max_length=MOST_MESSAGES), Tag("list")] | Annotated[Text, Tag("text")],
    Discriminator(_form),  # so that what is wrong in a list is not also told as "not a text"
    Field(description="Messages in OpenAI's format, or one text of the user."),
]


class AddBody(OwnerBody):
    """Messages to keep."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "messages": [
                        {"role": "user", "content": "I moved to Lyon.", "at": "2026-05-02T10:00:00+02:00"},
                        {"role": "assistant", "content": "How do you like it?"},
                    ],
                    "user_id": "alice",
                }
            ]
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


class BatchItem(Body):
    """One addition of a batch. What it leaves out stands beside `items`."""

    messages: Said
    user_id: UserId | None = None
    agent_id: AgentId | None = None
    run_id: RunId | None = None
    at: Moment | None = None
    fresh: bool | None = None
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

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "user_id": "alice",
                    "items": [
                        {"messages": "I moved to Lyon.", "run_id": "monday", "key": "import-1"},
                        {"messages": "My sister is called Ana.", "run_id": "tuesday", "key": "import-2"},
                    ],
                }
            ]
        }
    )

    run_id: RunId = MAIN
    at: Moment | None = None
    items: Annotated[list[Annotated[BatchItem, WrapValidator(_or_refused)]], Field(min_length=1, max_length=MOST_ITEMS)]

    @property
    def read(self) -> list[BatchItem | RefusedItem]:
        """The items in order, those too that cannot be read."""
        return [*self.items]


class Addition(Answer):
    """A message that is kept."""

    id: str = Field(description="The utterance's id.")
    memory: str
    event: Literal["ADD"] = "ADD"
    role: Role
    page_id: str
    created_at: datetime


class Added(Answer):
    """What was kept, in order, and the pages that it is in."""

    results: list[Addition]
    page_ids: list[str]
    redactions: list[Redaction] = Field(
        default_factory=list, description="What the filter of sensitive texts removed, without the removed words."
    )


class BatchKept(Answer):
    """An item that is kept."""

    status: Literal[201] = 201
    results: list[Addition]
    page_ids: list[str]


class BatchRefused(Answer):
    """An item that is not kept, and why."""

    status: int
    problem: dict[str, Any] = Field(description="The problem, in the form of a failed request.")


class Batch(Answer):
    """What came of each item, in order."""

    items: list[BatchKept | BatchRefused]


# ---------------------------------------------------------------------------------------------------------- memories


class SourceItem(Answer):
    """Where something was taken from: an utterance, and the characters [start, end) of it where they are known."""

    id: str
    seq: int = Field(description="Position in the owner's order of arrival.")
    start: int | None
    end: int | None


class UtteranceItem(Answer):
    """A message inside a page."""

    id: str
    seq: int = Field(description="Position in the owner's order of arrival.")
    role: Role
    speaker: str
    text: str
    said_at: datetime
    recorded_at: datetime


class PageData(Answer):
    """What else is known of a page."""

    no: int
    tier: Tier | None
    segment_id: str | None
    chain_id: str | None
    keywords: list[str]
    utterances: list[UtteranceItem]
    error: str | None = Field(description="Why processing failed, if it did.")
    expires_at: datetime | None = Field(description="When it is forgotten by itself.")


class UtteranceData(Answer):
    """What else is known of an utterance."""

    page_id: str
    seq: int
    role: Role
    speaker: str
    tier: Tier | None
    segment_id: str | None


class FactData(Answer):
    """What else is known of a fact."""

    about: About
    subject: str
    attribute: str
    value: str
    sources: list[str] = Field(description="Ids of the source utterances.")
    rests_on: list[SourceItem] = Field(description="The source characters in those utterances.")
    change_no: int = Field(description="Number of the change that made it.")
    valid_from: datetime | None
    valid_to: datetime | None
    retired_at: datetime | None
    superseded_by: str | None
    pinned: bool
    archived: bool
    expires_at: datetime | None = Field(description="Until when it is true, if it has an end.")
    conflicts: list[str] = Field(description="Ids of facts in conflict with it.")


class _Item(Answer):
    id: str
    memory: str = Field(description="Its text.")
    score: float | None = Field(default=None, description="Score, comparable within this answer only.")
    user_id: str
    agent_id: str
    run_id: str | None = None
    created_at: datetime = Field(description="When it was said, or since when it is true.")
    updated_at: datetime = Field(description="When Ember wrote it.")


class PageItem(_Item):
    """An exchange."""

    kind: Literal["page"] = "page"
    metadata: PageData


class UtteranceMemory(_Item):
    """A message as it was said."""

    kind: Literal["utterance"] = "utterance"
    metadata: UtteranceData


class FactItem(_Item):
    """Something known of the user, the agent or another."""

    kind: Literal["fact"] = "fact"
    metadata: FactData


Item = Annotated[PageItem | UtteranceMemory | FactItem, Field(discriminator="kind")]


class _List(Answer, Generic[_Thing]):
    results: list[_Thing]
    next_cursor: str | None = Field(description="Pass it as `cursor` for the next page; null at the end.")


class Items(_List[Item]):
    """A part of a list, newest first."""


class Pages(_List[PageItem]):
    """Pages, newest first."""


class Facts(_List[FactItem]):
    """Facts, newest first."""


class UpdateBody(OwnerBody):
    """The words that take a fact's place."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Alice lives in Paris", "user_id": "alice"}]})

    text: Annotated[Text, StringConstraints(min_length=1)] = Field(validation_alias=AliasChoices("text", "memory"))


# ------------------------------------------------------------------------------------------------------------ asking


class Filters(Body):
    """Whose memory, and which thread, said as other servers have it."""

    user_id: UserId | None = None
    agent_id: AgentId | None = None
    run_id: RunId | None = None


class _Question(OwnerBody):
    query: Text = Field(examples=["Where does she live?"])
    run_id: RunId | None = None


class SearchBody(_Question):
    """A query, and how many hits are wanted."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "Where does she live?", "user_id": "alice", "top_k": 3}]}
    )

    run_id: RunId | None = Field(default=None, description="Search this thread only.")
    top_k: Annotated[int, Field(ge=1, le=MOST_HITS)] = Field(
        default=10,
        validation_alias=AliasChoices("top_k", "k", "limit"),
        description="Number of results; also called k or limit.",
    )
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


class Found(Answer):
    """The best hits, best first."""

    results: list[UtteranceMemory]


class ContextBody(_Question):
    """A query, and how long the text may be."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "Where does she live?", "user_id": "alice", "budget": 300}]}
    )

    run_id: RunId | None = Field(default=None, description="The thread of the query; its open page is always included.")
    budget: Annotated[int, Field(ge=1, le=MOST_TOKENS)] | None = Field(
        default=None,
        validation_alias=AliasChoices("budget", "max_tokens"),
        description="Most tokens; also called max_tokens. Default: the setting `budget`.",
    )
    at: Moment | None = Field(default=None, description="Time of the query; default: now.")
    as_of: Moment | None = Field(default=None, description="Read what was known at this time. Counts no visit.")
    valid_at: Moment | None = Field(default=None, description="Read what was true at this time. Counts no visit.")
    explain: bool = Field(default=False, description="Include what was left out, and why.")


class LeftOutItem(Answer):
    """Something that was found and not packed."""

    what: str
    score: float
    reason: str


class ContextAnswer(Answer):
    """Text ready for a prompt, and what it is made of."""

    text: str
    tokens: int = Field(description="The length of `text` by `counter`.")
    counter: str
    confidence: float = Field(description="Probability, from 0 to 1, that it contains what was asked.")
    partial: bool = Field(description="Some utterances were ranked by words alone.")
    preset: str
    results: list[UtteranceMemory] = Field(description="The utterances in `text`.")
    facts: list[FactItem] = Field(description="The facts in `text`.")
    left_out: list[LeftOutItem] | None = None
    notes: list[str] | None = None


# ----------------------------------------------------------------------------------------------------------- persona


class ProfileValue(Answer):
    """One line of a profile."""

    value: str
    set_by: str = Field(description="`caller`, or the analyst.")
    sources: list[str]
    rests_on: list[SourceItem]
    change_no: int
    recorded_at: datetime
    valid_from: datetime | None
    retired_at: datetime | None


class Profile(Answer):
    """Both profiles."""

    user: dict[str, ProfileValue]
    agent: dict[str, ProfileValue]


_Fields = Annotated[dict[FieldName, FieldValue | None], Field(min_length=1, max_length=MOST_FIELDS)]


class ProfileBody(OwnerBody):
    """Fields to set; null takes one away. All is one change: where a field is refused, none is set."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "user_id": "alice",
                    "user": {"name": "Alice", "birth_year": 1994},
                    "agent": {"description": "a patient tutor"},
                }
            ]
        }
    )

    user: _Fields | None = None
    agent: _Fields | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.user is None and self.agent is None:
            raise PydanticCustomError("nothing", "give at least one field of the user or the agent")
        return self


class PinBody(OwnerBody):
    """Whether the cap may never take the fact."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"user_id": "alice", "pinned": True}]})

    pinned: bool = True


class CorrectBody(OwnerBody):
    """What is so instead."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"user_id": "alice", "text": "Alice lives in Paris", "value": "Paris"}]}
    )

    text: Annotated[Text, StringConstraints(min_length=1)]
    value: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_VALUE)] | None = None


class RetireBody(OwnerBody):
    """Whose fact it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"user_id": "alice"}]})


class TraitItem(Answer):
    """One of the 90 traits, as far as it is known."""

    dimension: str
    category: str
    level: float = Field(description="From -1, the low pole, to 1, the high one.")
    confidence: float
    pole: str
    sources: list[str]
    rests_on: list[SourceItem]
    change_no: int
    recorded_at: datetime
    valid_from: datetime | None
    retired_at: datetime | None


class Traits(Answer):
    """The traits that are known."""

    results: list[TraitItem]


# ---------------------------------------------------------------------------------------------------------- segments


class SegmentItem(Answer):
    """Pages of one topic."""

    id: str
    summary: str
    keywords: list[str]
    heat: float
    visits: int
    unanalysed: int = Field(description="Pages not yet analysed for the persona.")
    last_access: datetime
    archived: bool
    said_from: datetime
    said_to: datetime
    page_ids: list[str]
    rests_on: list[SourceItem] = Field(description="Sources of its summary.")
    change_no: int = Field(description="The change that wrote its summary.")
    recorded_at: datetime = Field(description="When that was.")
    tags: list[str]
    context: str


class Segments(_List[SegmentItem]):
    """Segments, newest first."""


class SegmentWhole(SegmentItem):
    """A segment with its newest pages, in order."""

    pages: list[PageItem]


# ----------------------------------------------------------------------------------------------------------- changes


class ChangeItem(Answer):
    """An entry of the log of what was derived."""

    change_no: int
    cause: str
    analyst: str
    recorded_at: datetime
    decisions: list[dict[str, Any]] = Field(description="Each with its `kind` and fields.")


class Changes(_List[ChangeItem]):
    """Changes, oldest first."""


class History(Answer):
    """What was decided of one memory, oldest first."""

    results: list[ChangeItem]


class UndoBody(OwnerBody):
    """Whose change it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"user_id": "alice"}]})


class Undoing(Answer):
    """The change that took another back; undoing it restores that."""

    change_no: int


# -------------------------------------------------------------------------------------------- operations and owners


class SettleBody(OwnerBody):
    """Whose memory is to be understood."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"user_id": "alice"}]})


class OperationItem(Answer):
    """Work that goes on behind."""

    id: str
    kind: str
    status: Literal["running", "done", "failed"]
    user_id: str
    agent_id: str
    done: int
    total: int | None = Field(description="Null until known.")
    result: dict[str, int] | None = None
    error: dict[str, Any] | None = Field(default=None, description="A problem, as a failed request would have it.")


class OwnerItem(Answer):
    """One (user, agent) pair."""

    user_id: str
    agent_id: str


class Owners(_List[OwnerItem]):
    """Owners, in order of their names."""
