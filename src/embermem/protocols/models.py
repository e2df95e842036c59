"""The protocols of embedders, language models, token counters and analysts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from embermem.core.changes import SummaryPart
from embermem.core.record import Record
from embermem.core.token_vectors import TokenVectors
from embermem.core.types import (
    Annotation,
    Breaking,
    ChainId,
    ChainTail,
    Fact,
    FactProposal,
    Owner,
    OwnerId,
    Page,
    PageView,
    Persona,
    PersonaChange,
    Role,
    Segment,
    ThreadId,
    Utterance,
)

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors

__all__ = [
    "Analyst",
    "AnswerForm",
    "Asker",
    "Assertion",
    "BreakableStream",
    "Call",
    "ChatMessage",
    "Embedder",
    "LanguageModel",
    "Limits",
    "ModelReply",
    "ModelRequest",
    "Needs",
    "ProfileRequest",
    "Purpose",
    "Reader",
    "ReplySchema",
    "SegmentWriter",
    "ServedModel",
    "StructuredMode",
    "TokenCounter",
    "TokenEmbedder",
    "TokenVectors",
]


class Embedder(Protocol):
    """Turns texts into vectors. `name` and `dim` are stored beside every vector."""

    @property
    def name(self) -> str:
        """The model and its version: vectors of different names are never compared."""

    @property
    def dim(self) -> int:
        """The length of one vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dim), float32, L2 norm 1 (0 for a text with nothing to embed).

        Safe to call from several threads. Raises EmbedderError; never returns a guess.
        """


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives a vector for each token, for late interaction (ColBERT, arXiv 2004.12832)."""

    @property
    def token_dim(self) -> int:
        """The length of one token's vector; even."""

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        """What `embed` gives, and each text's tokens, in one run. A long text's tokens reach further than its vector.

        Safe to call from several threads. Raises EmbedderError.
        """

    def embed_query(self, text: str) -> tuple[Vector, TokenVectors]:
        """The vector and the tokens of a text that asks, to be compared with what `embed_tokens` gives of texts.

        Safe to call from several threads. Raises EmbedderError.
        """


class TokenCounter(Protocol):
    """Counts what a text costs in a prompt."""

    @property
    def name(self) -> str:
        """Named in every Context, so that a budget can be read."""

    def count(self, text: str) -> int:
        """Tokens of the text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatMessage:
    """One message of a request to a language model."""

    role: Role
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplySchema:
    """The form that a structured answer must have: a name, and a JSON schema. `example` is a filled answer as JSON
    text, "" for none; servers without a grammar are shown it in place of the schema. `narrow` is the schema with the
    ids of one question and most lengths, for servers that take these in a grammar; None: there is none."""

    name: str
    schema: Mapping[str, Any]
    example: str = ""
    narrow: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    """What a language model is asked. With a `schema` the answer is to be one JSON object of that form."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float | None = None
    schema: ReplySchema | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelReply:
    """What it answered. Tokens are the server's count, our estimate where it gives none; `cached_tokens` are those of
    the prompt that it read from its cache. `cut`: the answer ended at `max_tokens`."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    cut: bool = False


class StructuredMode(StrEnum):
    """How a server is made to answer in a form."""

    JSON_SCHEMA = "json_schema"
    """By a grammar made from the schema."""
    JSON_OBJECT = "json_object"
    """By a grammar of any JSON object; the form is shown in the prompt."""
    PROMPT = "prompt"
    """By the prompt alone."""


class LanguageModel(Protocol):
    """A chat model behind an endpoint. One call of a method is one request: whoever calls it retries and repairs."""

    @property
    def name(self) -> str:
        """The model's name, as it stands in the ledger and in changes that rest on it."""

    def complete(self, request: ModelRequest) -> ModelReply:
        """One answer, reasoning text (`<think>…</think>`) taken out. Safe to call from several threads.

        Raises ModelTimeout, ModelUnreachable, ModelBusy, ModelRefused; ModelReplyError for an empty answer.
        """

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        """The answer's text piece by piece as it comes; last of all the whole as a ModelReply. Raises as `complete`.

        With a schema it ends when the object asked for is complete; what counts then is the ModelReply. The iterator
        may be a BreakableStream.
        """


@runtime_checkable
class BreakableStream(Protocol):
    """An answer that another thread can end while it is awaited."""

    def break_off(self) -> None:
        """Leave the server alone at once. Whoever awaits the next piece meets a ModelError. Safe from any thread."""


@runtime_checkable
class ServedModel(LanguageModel, Protocol):
    """A model whose server is known: what it takes, and whether it has others to serve."""

    @property
    def structured_mode(self) -> StructuredMode:
        """How its server is made to answer in a form, as far as its answers have shown."""

    def find_context(self) -> int | None:
        """Tokens of prompt and answer together that the server takes, from its refusals; else it is asked, once, for a
        few seconds at most. None if it does not tell. Raises nothing."""

    @property
    def one_at_a_time(self) -> bool:
        """Whether one request may have to wait until another ends, as on a machine of one's own."""


class Purpose(StrEnum):
    """What a model was asked for."""

    ANNOTATE = "annotate"
    PROFILE = "profile"
    CHAT = "chat"
    REMEMBER = "remember"
    """A memory system of the bench understands what was said."""
    RECALL = "recall"
    """A memory system of the bench looks for what a query asks."""
    JUDGE = "judge"
    """The bench has an answer judged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Ceilings of a day (UTC) in calls and in tokens (prompt and answer), for all owners and for each; None: none."""

    calls: int | None = None
    tokens: int | None = None
    owner_calls: int | None = None
    owner_tokens: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Call(Record):
    """One line of the ledger: a request that was sent to a model. `outcome` is "ok", "started" (not yet ended, or
    whoever made it died), "unusable" (an answer came that could not be used), "gave way" (to a chat), or a
    ModelError's. Tokens are the server's count, or our estimate where it gave none."""

    id: str
    owner_id: OwnerId
    at: datetime
    purpose: Purpose
    model: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    ms: int
    outcome: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerForm:
    """What is expected of one structured answer: `tokens` is its limit, and `example` an answer of its type with the
    real ids, filled in as it should be, for a server that has no grammar; None: the schema is shown. `ids` are those
    that an answer may name. A question that is `divisible` can be asked about less at a time: an answer that is cut is
    not asked for with more tokens."""

    tokens: int
    example: Any = None
    ids: tuple[str, ...] = ()
    divisible: bool = False


_Answer = TypeVar("_Answer")


class Asker(Protocol):
    """Puts questions to a language model on behalf of an owner: within the budget, each request in the ledger, failures
    on the way tried again, a wrong answer repaired once, a server that is down left alone for a while."""

    @property
    def model(self) -> str:
        """The model's name."""

    @property
    def context_tokens(self) -> int | None:
        """Tokens of prompt and answer together that the server takes, told by it or learnt from its refusals; None
        while unknown. The first use may ask the server, for a few seconds at most; it raises nothing."""

    @property
    def breaking(self) -> Breaking:
        """How the circuit breaker stands."""

    def ask(
        self,
        owner: Owner,
        purpose: Purpose,
        messages: Sequence[ChatMessage],
        answer: type[_Answer],
        check: Callable[[_Answer], None] = lambda _: None,
        *,
        accept: Callable[[_Answer], bool] = lambda _: True,
        form: AnswerForm | None = None,
    ) -> _Answer:
        """An answer of the type `answer` (a frozen dataclass or msgspec.Struct, whose JSON schema the model is shown).

        `check` raises ValueError, in words meant for the model, where the answer is of the form but wrong; the repair
        round shows it that. `accept` says of an answer that passed whether anything of it can be used: where nothing
        can, the ledger calls the request "unusable", and the answer is returned all the same. Without a `form` the
        answer may be as long as the settings allow. Raises ModelError, ModelTooLong for a prompt that does not fit the
        server's context among them; ModelWait, ModelGaveWay for a question that made room for chat among them.
        """

    def stream(self, owner: Owner, purpose: Purpose, messages: Sequence[ChatMessage]) -> Iterator[str]:
        """A free answer, piece by piece. Tried again only while nothing has come. Raises ModelError, ModelWait."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileRequest:
    """What an analyst is shown at a promotion: a segment, its pages not yet analysed, what is known, and `read`, what
    the extractive analyst found in the pages."""

    owner: Owner
    segment: Segment
    pages: tuple[PageView, ...]
    persona: Persona
    nearest: tuple[Fact, ...]
    read: tuple[FactProposal, ...] = ()


class SegmentWriter(Protocol):
    """Says what a segment is about, in sentences and phrases of its own pages. Pure, and the same for the same pages.
    `weights` are the segment's keywords, by how much they tell it from the owner's others."""

    def told(self, page: Page, facts: Sequence[FactProposal], chain_id: ChainId | None) -> tuple[SummaryPart, ...]:
        """The sentences of a page that say what happened, in order, each with its source and readable alone. `facts`
        are what the page was found to say."""

    def chosen(self, parts: Sequence[SummaryPart], weights: Mapping[str, float], limit: int) -> tuple[SummaryPart, ...]:
        """The parts that tell most, at most `limit` characters but for a first one, in the order of what was said."""

    def title(self, parts: Sequence[SummaryPart], weights: Mapping[str, float]) -> str:
        """A heading of at most a few words; "" where no word tells anything."""

    def people(self, texts: Sequence[str]) -> frozenset[str]:
        """The names, as keywords, of those who speak in the texts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Assertion:
    """What a message says of somebody, as a reader found it: `attribute` has the value text[start:end].

    `of_other`: it is said of somebody else than the speaker, whom the words `person` name, if any do; `relation` is a
    word of kin or the like that is said with it; text[time[0]:time[1]] says when. `tense` is past, now or future;
    `negated`: it is said not to be so.
    `change`: whether it begins, ends, or is corrected ("fix"), or none. `event`: the words are not the value, but say
    what happened ("dumped me"). `confidence` is in [0, 1]; of an instruction it is that of a wish for all that follows,
    and not for one answer or task alone.
    """

    attribute: str
    start: int
    end: int
    of_other: bool
    person: str
    relation: str
    time: tuple[int, int] | None
    tense: str
    negated: bool
    change: str
    event: bool
    confidence: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """What a message to the agent needs of what is remembered: probabilities, which sum to 1.

    `advice`: it asks for a choice, a plan, an idea or a text for a person, so that what this person likes, avoids and
    may not counts. `now`: it asks for one matter as it is now, of which a newer statement replaces an older one;
    `several`: for a list or a count; `past`: for anything else that was said or happened. `tells`: it says something
    and asks nothing. `nothing`: thanks, general knowledge, a task that brings all it needs.
    """

    advice: float
    now: float
    several: float
    past: float
    nothing: float
    tells: float


class Reader(Protocol):
    """Reads what messages say of people, and what they need of memory, in any language that it was trained on."""

    @property
    def name(self) -> str:
        """The network and its version."""

    def read(self, utterance: Utterance, before: Utterance | None) -> tuple[Assertion, ...]:
        """What a message says, in the order of its words; `before` is the message that it may answer.

        Pure; safe to call from several threads. Raises EmbedderError.
        """

    def needs(self, query: str) -> Needs:
        """What a message to the agent needs of memory. Pure; safe to call from several threads. Raises
        EmbedderError."""

    def wishes(self, request: Vector, embedder: str) -> Vector | None:
        """Of the vector of a request for advice that vector whose product with an utterance's vector is the logarithm
        of how likely what it says bears on the request, up to a constant; None for vectors of an embedder that it does
        not know. Pure; safe to call from several threads."""


class Analyst(Protocol):
    """Whatever reads pages and says what they mean. It proposes; the system applies."""

    @property
    def name(self) -> str:
        """Stored with every change that rests on it."""

    def annotate(
        self, owner: Owner, tails: Mapping[ThreadId, ChainTail], batch: Sequence[PageView]
    ) -> tuple[Annotation, ...]:
        """One annotation a page, in the batch's order.

        `tails` holds, for each thread of the batch that has one, the page before the batch; within the batch
        a page continues the one before it in the same thread. Raises AnalystError.
        """

    def profile(self, request: ProfileRequest) -> PersonaChange:
        """What the new pages of a segment say of the user and the agent. Raises AnalystError."""
