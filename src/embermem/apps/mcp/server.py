"""The server of one memory: eight tools, three resources, one prompt. No tool names an owner; `Reach` says whose it is.

Words that people said go out twice: for a model, as text between two markers of the store (`nonces`) under a notice
that it is a record; for a program, as values of a record with a schema. Taken in again, such text is taken out.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from mcp.server.context import ServerMiddleware
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError, UnexpectedToolError
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import AliasChoices, BeforeValidator, Field, ValidationError

import embermem
from embermem import prompts
from embermem.apps import render
from embermem.apps.mcp import shapes
from embermem.errors import EmberError, InputError, NotFound, StoreError
from embermem.types import Fact, Forgotten, Hit, Page, Segment, Source, Tier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from embermem.memory import Memory, OwnerMemory

__all__ = ["Needs", "Reach", "make_server", "server_of"]

logger = logging.getLogger(__name__)

Needs = Literal["read", "write"]
"""What a call does with the memory that it reaches."""
Reach = Callable[[Needs], "OwnerMemory"]
"""Gives the memory that the call in hand may reach. Raises EmberError where it may not."""

NAME = "ember"
MOST_HITS = 100
_SEGMENTS_SHOWN = 50
_SAID_SHOWN = 40
"""What `why` and a preview show of a long segment, so that an answer does not fill a model's window."""

_Value = TypeVar("_Value")


def _or(default: _Value) -> BeforeValidator:
    """Some clients send null for what they leave out."""
    return BeforeValidator(lambda value: default if value is None else value)


def _names(*names: str) -> AliasChoices:
    return AliasChoices(*names)


# Plain `str`, never `str | None`: of another type the SDK would read a text that happens to be JSON as JSON.
_UserInput = Annotated[
    str,
    _or(""),
    Field(
        description="What the user said, word for word.",
        validation_alias=_names("user_input", "user", "user_message", "input"),
    ),
]
_AgentResponse = Annotated[
    str,
    _or(""),
    Field(
        description="What you answered, word for word.",
        validation_alias=_names("agent_response", "assistant", "assistant_response", "response", "output"),
    ),
]
_Timestamp = Annotated[
    str,
    _or(""),
    Field(
        description="When it was said, in ISO 8601, such as 2026-05-02T10:00:00+02:00. Now, if left out.",
        validation_alias=_names("timestamp", "at", "time"),
    ),
]
_Thread = Annotated[
    str,
    _or("main"),
    Field(
        description="A name for this conversation, the same for all of it.",
        validation_alias=_names("thread", "thread_id", "run_id"),
    ),
]
_AskedIn = Annotated[
    str,
    _or(""),
    Field(
        description="The conversation in which it is asked, as given to add_memory.",
        validation_alias=_names("thread", "thread_id", "run_id"),
    ),
]
_Query = Annotated[
    str,
    Field(
        description="A question or some words, as you would say them.",
        validation_alias=_names("query", "question", "q"),
    ),
]
_Budget = Annotated[
    int,
    _or(0),
    Field(
        ge=0,
        description="The most tokens that the text may have; 0: as the memory is set.",
        validation_alias=_names("budget", "max_tokens"),
    ),
]
_K = Annotated[
    int,
    _or(10),
    Field(
        ge=1,
        le=MOST_HITS,
        description="How many results at most.",
        validation_alias=_names("k", "top_k", "limit", "max_results"),
    ),
]
_Id = Annotated[
    str,
    Field(
        description="An id as search_memory, retrieve_memory or get_user_profile gave it.",
        validation_alias=_names("id", "memory_id", "page_id", "fact_id", "utterance_id", "segment_id"),
    ),
]
_FactId = Annotated[
    str,
    Field(
        description="The fact's id, as get_user_profile or retrieve_memory gave it.",
        validation_alias=_names("fact_id", "id", "memory_id"),
    ),
]
_NewText = Annotated[
    str,
    Field(
        description="What is right, as one sentence about the same matter, such as `The user lives in Oslo`.",
        validation_alias=_names("text", "new_text", "memory", "content"),
    ),
]
_Confirm = Annotated[bool, _or(False), Field(description="false shows what would go; true takes it away, for good.")]
_Knowledge = Annotated[
    bool,
    _or(True),
    Field(description="Also the facts that are known.", validation_alias=_names("include_knowledge", "include_facts")),
]
_AgentKnowledge = Annotated[
    bool, _or(False), Field(description="Also what is known of you, the agent, with this user.")
]


def make_server(memory: Memory, user: str = "default", agent: str = "default") -> MCPServer[Any]:
    """The server of one owner's memory, for a client that is alone with it. The caller opens and closes the memory.

    Raises InputError for a name that is none.
    """
    owner = memory.of(user, agent)
    return server_of(memory, lambda needs: owner)


def server_of(
    memory: Memory,
    reach: Reach,
    *,
    says: Callable[[EmberError], str] = str,
    middleware: Sequence[ServerMiddleware[Any]] = (),
) -> MCPServer[Any]:
    """The server of a memory, where `reach` says for each call whose it is, and `says` how a failure is told."""
    server = _Server(
        NAME,
        title="Ember memory",
        description="Long-term memory of this user: recall, remember, correct, forget.",
        instructions=prompts.load("remember").fill(),
        version=embermem.__version__,
        log_level="WARNING",
        subscriptions=False,
        middleware=middleware,
    )
    tools = _Tools(memory, reach, says)
    for call, title, hints in (
        (tools.add_memory, "Remember an exchange", ToolAnnotations(**_ADDS)),
        (tools.retrieve_memory, "Recall", ToolAnnotations(**_READS)),
        (tools.search_memory, "Search the memory", ToolAnnotations(**_READS)),
        (tools.get_user_profile, "Who the user is", ToolAnnotations(**_READS)),
        (tools.correct_memory, "Correct a fact", ToolAnnotations(**_ADDS)),
        (tools.forget_memory, "Forget", ToolAnnotations(**_FORGETS)),
        (tools.why, "Where a memory comes from", ToolAnnotations(**_READS)),
        (tools.memory_stats, "How much is remembered", ToolAnnotations(**_READS)),
    ):
        server.add_tool(call, title=title, annotations=hints)
    _add_resources(server, memory, reach, says)

    @server.prompt(name="remember", title="How to use the memory", description="When to recall and when to remember.")
    def remember() -> str:
        return prompts.load("remember").fill()

    return server


_READS: dict[str, Any] = {"readOnlyHint": True, "openWorldHint": False}
"""Counting a visit is no change that a user could see."""
_ADDS: dict[str, Any] = {
    "readOnlyHint": False,
    "destructiveHint": False,
    "idempotentHint": False,
    "openWorldHint": False,
}
"""A correction too: the old fact stays answerable, so nothing is destroyed."""
_FORGETS: dict[str, Any] = {**_ADDS, "destructiveHint": True, "idempotentHint": True}


class _Server(MCPServer[Any]):
    """Tells a model what was wrong in one line: our words, or which argument does not fit and why."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            match error.__cause__:
                case ValidationError() as cause:
                    wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in cause.errors())
                    raise ToolError(f"{name}: {'; '.join(wrong)}") from cause
                case ToolError() as cause:
                    raise cause from cause.__cause__
                case _:
                    raise


class _Tools:
    """The tools. A method's docstring is what a model reads of it."""

    def __init__(self, memory: Memory, reach: Reach, says: Callable[[EmberError], str]) -> None:
        self._memory = memory
        self._reach = reach
        self._says = says

    def add_memory(
        self,
        user_input: _UserInput,
        agent_response: _AgentResponse = "",
        timestamp: _Timestamp = "",
        thread: _Thread = "main",
    ) -> shapes.Stored:
        """Remember one exchange: what the user said and what you answered, both word for word.

        Call it once after each exchange, also when nothing in it seems important: what matters is found out later.
        When it returns, the exchange is stored and can be recalled. Do not give it what retrieve_memory returned.
        """
        with self._told():
            page_id = self._reach("write").add(
                user_input or None, agent_response or None, at=timestamp or None, thread=thread
            )
        return shapes.Stored(page_id=page_id, thread=thread)

    def retrieve_memory(
        self, query: _Query, budget: _Budget = 0, thread: _AskedIn = ""
    ) -> Annotated[CallToolResult, shapes.Recalled]:
        """Recall what matters for a question: who the user is, facts, and what was said on which day.

        Call it before you answer whenever earlier conversations may help, and at the start of a conversation. A low
        confidence means that the memory hardly speaks of it. For a list of ids use search_memory instead.
        """
        with self._told():
            owner = self._reach("read")
            context = owner.recall(query, budget=budget or None, thread=thread or None)
            self._count_visit(context.packed)
            notice, text = self._notice(), self._memory.marked(context.text or "-")
            shown = shapes.recalled(context, notice, text)
        rests_on = ", ".join(
            [f"#{one.number} {one.id} of {one.page_id}" for one in shown.sources] + [one.id for one in shown.facts]
        )
        tail = f"Confidence: {shown.confidence:.2f} of 1. Sources: {rests_on or 'none'}."
        return _result(shown, f"{notice}\n\n{text}\n\n{tail}")

    def search_memory(self, query: _Query, k: _K = 10) -> Annotated[CallToolResult, shapes.Found]:
        """Find single utterances, with their ids, best first; each is cut to its first words.

        Call it to find what to forget or to ask `why` about, or to look for exact words. To answer a question use
        retrieve_memory, which also knows facts and the profile.
        """
        with self._told():
            found = self._reach("read").search(query, k)
            return self._wrapped(
                shapes.Found(notice=self._notice(), results=[shapes.hit(one) for one in found]), "results"
            )

    def get_user_profile(
        self, include_knowledge: _Knowledge = True, include_assistant_knowledge: _AgentKnowledge = False
    ) -> Annotated[CallToolResult, shapes.ProfileShown]:
        """Who the user is: profile, traits of character, and the facts that are known, with their ids.

        Call it to greet somebody you know, to fit your manner to them, or to find a fact that is to be corrected.
        """
        with self._told():
            owner = self._reach("read")
            persona = owner.persona()
            shown = shapes.ProfileShown(
                notice=self._notice(),
                user=shapes.profile(persona.profile),
                agent=shapes.profile(persona.agent_profile),
                traits=[shapes.trait(one) for one in owner.traits()],
                knowledge=[shapes.fact(one) for one in persona.facts] if include_knowledge else [],
                assistant_knowledge=(
                    [shapes.fact(one) for one in persona.agent_facts] if include_assistant_knowledge else []
                ),
            )
            return self._wrapped(shown)

    def correct_memory(self, fact_id: _FactId, text: _NewText) -> Annotated[CallToolResult, shapes.Corrected]:
        """Put right a fact that is wrong or no longer so. The new text takes its place; the old is kept as past.

        Call it when the user says that something you know of them is not right. What was said stays as it was said.
        """
        with self._told():
            fact = self._reach("write").correct(fact_id, text)
            return self._wrapped(shapes.Corrected(notice=self._notice(), fact=shapes.fact(fact), replaced=fact_id))

    def forget_memory(self, id: _Id, confirm: _Confirm = False) -> Annotated[CallToolResult, shapes.ForgottenShown]:
        """Forget a page, a fact or a segment for good, with all that rests on it alone.

        Call it first without `confirm`: nothing changes, and it shows what would go. Show that to the user, and call
        it again with confirm=true only after they agree. The id of an utterance stands for its whole page.
        """
        with self._told():
            owner = self._reach("write")
            gone = _forgetting(owner, id)(dry_run=not confirm)
            words = {} if confirm else _words(owner, gone.pages, gone.facts)
            shown = shapes.ForgottenShown(
                notice=self._notice(),
                done=confirm,
                pages=list(gone.pages),
                facts=list(gone.facts),
                segments=list(gone.segments),
                chains=list(gone.chains),
                traits=list(gone.traits),
                profile=list(gone.profile),
                utterances=len(gone.utterances),
                rewritten=len(gone.rewritten),
                words=shapes.pieces(words),
                scrubbed=gone.scrubbed,
                sha256=gone.sha256,
                next=(
                    "It is gone."
                    if confirm
                    else "Nothing has changed yet. If the user agrees, call forget_memory again with confirm=true."
                ),
            )
            return self._wrapped(shown)

    def why(self, id: _Id) -> Annotated[CallToolResult, shapes.Origin]:
        """Say where a memory comes from: who said it and when, what was made of it, and what it replaced.

        Call it when the user asks how you know something, or before you rely on a fact that matters.
        """
        with self._told():
            return self._wrapped(_origin(self._reach("read"), id, self._notice()))

    def memory_stats(self) -> shapes.Counted:
        """Count what is remembered of this user: pages in each tier, segments, facts, traits.

        Call it when the user asks how much you remember, or to see whether understanding lags behind (`pending`).
        """
        with self._told():
            owner = self._reach("read")
            counts = owner.stats()
        return shapes.Counted(
            user=owner.owner.user,
            agent=owner.owner.agent,
            utterances=counts.utterances,
            pages=counts.pages,
            short=counts.short,
            pending=counts.pending,
            mid=counts.mid,
            archive=counts.archive,
            segments=counts.segments,
            facts=counts.facts,
            agent_facts=counts.agent_facts,
            traits=counts.traits,
            failed=counts.failed,
            embedder=self._memory.embedder_name,
            model=self._memory.settings.model or "none",
        )

    def _count_visit(self, hits: Sequence[Hit]) -> None:
        """Count a visit where that can be done and may be: an answer does not fail for a counter."""
        try:
            self._reach("write").visit(hits)
        except StoreError as error:
            logger.warning("a visit was not counted: %s", error)
        except EmberError:
            pass  # who asks may only read

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Our own failures are told to the model in our words; the SDK tells of any other without its text."""
        try:
            yield
        except EmberError as error:
            raise ToolError(self._says(error)) from error

    def _notice(self) -> str:
        return prompts.load("recalled").fill()

    def _wrapped(self, shown: Any, only: str | None = None) -> CallToolResult:
        """A record for programs; for models its fields (or the one named), as data between the markers."""
        record = {key: value for key, value in asdict(shown).items() if key != "notice"}
        text = _json(record if only is None else record[only])
        return _result(shown, f"{shown.notice}\n\n{self._memory.marked(text)}")


def _add_resources(server: MCPServer[Any], memory: Memory, reach: Reach, says: Callable[[EmberError], str]) -> None:
    kind = "text/plain"

    def told(value: object) -> str:
        return f"{prompts.load('recalled').fill()}\n\n{memory.marked(_json(value))}"

    @server.resource("ember://profile", name="profile", title="Who the user is", mime_type=kind)
    def profile() -> str:
        """The user's profile, traits and facts, as data between two markers."""
        with _read(says):
            owner = reach("read")
            persona = owner.persona()
            return told(
                {
                    "user": shapes.profile(persona.profile),
                    "agent": shapes.profile(persona.agent_profile),
                    "traits": [asdict(shapes.trait(one)) for one in owner.traits()],
                    "knowledge": [asdict(shapes.fact(one)) for one in persona.facts],
                }
            )

    @server.resource("ember://segments", name="segments", title="Topics", mime_type=kind)
    def segments() -> str:
        """The hottest topics of mid-term memory, with their summaries, as data between two markers."""
        with _read(says):
            owner = reach("read")
            hottest = sorted(((owner.heat(one), one) for one in owner.segments()), key=lambda pair: -pair[0])
            return told([_segment(one, heat) for heat, one in hottest[:_SEGMENTS_SHOWN]])

    @server.resource("ember://segments/{id}", name="segment", title="One topic", mime_type=kind)
    def segment(id: str) -> str:
        """One topic with everything that was said of it, as data between two markers."""
        with _read(says):
            owner = reach("read")
            one = owner.segment(id)
            pages = [owner.page(page_id) for page_id in one.page_ids]
            return told({**_segment(one, owner.heat(one)), "pages": [_page(page) for page in pages]})


def _segment(segment: Segment, heat: float) -> dict[str, object]:
    return {
        "id": segment.id,
        "uri": f"ember://segments/{segment.id}",
        "summary": segment.summary,
        "keywords": list(segment.keywords),
        "heat": round(heat, 3),
        "pages": len(segment.page_ids),
        "said_from": segment.said_from.isoformat(),
        "said_to": segment.said_to.isoformat(),
        "archived": segment.archived,
    }


def _page(page: Page) -> dict[str, object]:
    return {"id": page.id, "said": [asdict(shapes.said(one)) for one in page.utterances]}


# ------------------------------------------------------------------------------------------- what an id stands for


def _forgetting(owner: OwnerMemory, item: str) -> partial[Forgotten]:
    """`forget` of what an id stands for: its first letter is its kind. Raises NotFound, InputError."""
    match item[:1]:
        case "p":
            return partial(owner.forget, page=item)
        case "u":
            return partial(owner.forget, page=owner.utterance(item).page_id)
        case "f":
            return partial(owner.forget, fact=item)
        case "s":
            return partial(owner.forget, segment=item)
        case _:
            raise _no_id(item)


def _origin(owner: OwnerMemory, item: str, notice: str) -> shapes.Origin:
    of_pages = partial(_origin_of_pages, owner, item, notice=notice)
    match item[:1]:
        case "f":
            return _origin_of_fact(owner, owner.fact(item), notice)
        case "u":
            one = owner.utterance(item)
            page = owner.page(one.page_id)
            return of_pages([page.id], kind="utterance", text=one.text, state=str(page.tier or ""), changed=page.id)
        case "p":
            page = owner.page(item)
            return of_pages([page.id], kind="page", text=page.query, state=str(page.tier or ""), changed=page.id)
        case "s":
            segment = owner.segment(item)
            tier = Tier.ARCHIVE if segment.archived else Tier.MID
            return of_pages(segment.page_ids, kind="segment", text=segment.summary, state=tier, changed=segment.id)
        case _:
            raise _no_id(item)


def _origin_of_pages(
    owner: OwnerMemory,
    item: str,
    page_ids: Sequence[str],
    *,
    notice: str,
    kind: str,
    text: str,
    state: str,
    changed: str,
) -> shapes.Origin:
    pages = [owner.page(page_id) for page_id in page_ids[:_SAID_SHOWN]]
    return shapes.Origin(
        notice=notice,
        id=item,
        kind=kind,
        text=text,
        state=state,
        said=[shapes.said(u) for page in pages for u in page.utterances][:_SAID_SHOWN],
        changes=[shapes.change(entry) for entry in owner.history(changed)],
        replaces=[],
        replaced_by=[],
        pages=len(page_ids),
    )


def _origin_of_fact(owner: OwnerMemory, fact: Fact, notice: str) -> shapes.Origin:
    by = [owner.fact(fact.superseded_by)] if fact.superseded_by is not None else []
    said = _said(owner, fact.sources)
    return shapes.Origin(
        notice=notice,
        id=fact.id,
        kind="fact",
        text=fact.text,
        state=shapes.state(fact),
        said=said[-_SAID_SHOWN:],
        changes=[shapes.change(entry) for entry in owner.history(fact.id)],
        replaces=[shapes.fact(past) for past in owner.past_facts() if past.superseded_by == fact.id],
        replaced_by=[shapes.fact(one) for one in by],
        pages=len({one.page_id for one in said}),
    )


def _said(owner: OwnerMemory, sources: Sequence[Source]) -> list[shapes.SaidShown]:
    return [shapes.said(owner.utterance(key)) for key in dict.fromkeys(one.utterance_id for one in sources)]


def _words(owner: OwnerMemory, pages: Sequence[str], facts: Sequence[str]) -> dict[str, str]:
    """The words of what would go, by id; of much, the first."""
    shown = [one for page in pages[:_SAID_SHOWN] for one in owner.page(page).utterances][:_SAID_SHOWN]
    said: dict[str, str] = {one.id: f"{one.speaker}: {one.text}" for one in shown}
    return {**said, **{fact: owner.fact(fact).text for fact in facts[:_SAID_SHOWN]}}


def _no_id(item: str) -> InputError:
    shown = render.cut(item, 40)
    return InputError(f"{shown!r} is not an id of the memory; search_memory and get_user_profile give ids")


# ----------------------------------------------------------------------------------------------------- telling it


@contextmanager
def _read(says: Callable[[EmberError], str]) -> Iterator[None]:
    try:
        yield
    except NotFound as error:
        raise ResourceNotFoundError(says(error)) from error
    except EmberError as error:
        raise ResourceError(says(error)) from error


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def _result(shown: Any, text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=asdict(shown))
