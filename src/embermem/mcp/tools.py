"""The tools: what each is called with, what it calls, and how the answer is told. No tool names an owner; `Reach` says
whose memory a call reaches.

Words that people said go out twice: for a model, as text between two markers of the store (`nonces`) under a notice
that it is a record; for a program, as values of a record with a schema. Taken in again, such text is taken out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import AcceptedElicitation, ElicitationResult, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from embermem.api_keys import Right
from embermem.core import types
from embermem.core.errors import EmberError, InputError
from embermem.core.messages import LookBack
from embermem.core.types import Chain, Forgotten, Persona, Scope, Utterance
from embermem.mcp import origins, shapes
from embermem.mcp.arguments import (
    After,
    AgentKnowledge,
    AgentResponse,
    AskedIn,
    AsOf,
    Budget,
    Confirm,
    DocumentSource,
    DocumentText,
    DocumentTitle,
    Ended,
    ExpiresAt,
    FactId,
    Id,
    IdOrName,
    Instruction,
    K,
    Knowledge,
    ListedKind,
    Metadata,
    MinScore,
    ModeGiven,
    NewText,
    PersonName,
    Query,
    ScopeGiven,
    Thread,
    Timestamp,
    UserInput,
    UserInputOrigin,
    ValidAt,
    ValidFrom,
    ValidTo,
    with_short_schema,
)
from embermem.mcp.consent import Consent, asked
from embermem.mcp.reach import Reach
from embermem.owner_memory import count_visit
from embermem.reports import waiting
from embermem.wire.mapping import to_record

if TYPE_CHECKING:
    from embermem.memory import Memory


_NOTHING = "Nothing was found."
_GONE = "It is gone."
_ASK = "Nothing has changed yet. If the user agrees, call forget_memory again with confirm=true."
_REFUSED = "The user was asked and did not agree. Nothing has changed; do not ask again unless they bring it up."

_READS: dict[str, Any] = {"readOnlyHint": True, "openWorldHint": False}
"""Counting a visit is not a change that a user could see."""
_ADDS: dict[str, Any] = {
    "readOnlyHint": False,
    "destructiveHint": False,
    "idempotentHint": False,
    "openWorldHint": False,
}
"""Includes corrections: the old fact can still be read, so nothing is destroyed."""
_FORGETS: dict[str, Any] = {**_ADDS, "destructiveHint": True, "idempotentHint": True}


@cache
def declared() -> tuple[Tool, ...]:
    """The tools with the schemas of their arguments, which take long to derive and are the same for every memory. Each
    is named like the method of `Calls` that it calls. Results have no schema, since
    clients put the list of tools into every prompt."""
    unbound = Calls.__new__(Calls)
    return tuple(
        with_short_schema(
            Tool.from_function(
                getattr(unbound, name),
                title=title,
                description=inspect.getdoc(getattr(unbound, name)),
                annotations=ToolAnnotations(**hints),
            )
        )
        for name, title, hints in (
            ("add_memory", "Remember an exchange", _ADDS),
            ("add_document", "Remember a document", _ADDS),
            ("add_instruction", "Set a standing instruction", _ADDS),
            ("retrieve_memory", "Recall", _READS),
            ("search_memory", "Search the memory", _READS),
            ("list_memory", "List what is remembered", _READS),
            ("get_user_profile", "Read the user's profile", _READS),
            ("correct_memory", "Correct a fact", _ADDS),
            ("forget_memory", "Forget", _FORGETS),
            ("why", "Explain a memory", _READS),
            ("memory_stats", "Count memories", _READS),
        )
    )


class Calls:
    """The methods behind the tools. A method's docstring is the tool's description for the model."""

    def __init__(self, memory: Memory, reach: Reach, says: Callable[[EmberError], str]) -> None:
        self._memory = memory
        self._reach = reach
        self._says = says

    def add_memory(
        self,
        user_input: UserInput,
        agent_response: AgentResponse = "",
        timestamp: Timestamp = "",
        thread: Thread = "main",
        metadata: Metadata = None,
        origin: UserInputOrigin = "",
    ) -> CallToolResult:
        """Remember one exchange: what the user said and what you answered, both literally.

        Call it once after each exchange, even if nothing in it seems important: importance is decided later.
        When it returns, the exchange is stored and can be recalled. Do not pass it the output of retrieve_memory.
        """
        with self._told(query="user_input", response="agent_response", at="timestamp"):
            page_id = self._reach(Right.WRITE).add(
                user_input,
                agent_response,
                at=timestamp or None,
                thread=thread,
                metadata=metadata,
                origin=origin or None,
            )
        return _plain(shapes.Stored(page_id=page_id, thread=thread))

    def add_document(
        self, text: DocumentText, title: DocumentTitle = "", source: DocumentSource = ""
    ) -> CallToolResult:
        """Remember a document that the user gives you: a note, a page, a manual. It is stored in passages.

        Call it when the user asks you to keep a text that is not part of the conversation. With the `source` of a
        document that was stored before, what changed is replaced. retrieve_memory quotes its passages.
        """
        with self._told():
            done = self._reach(Right.WRITE).add_document(text, title=title or None, source=source or None)
        return _plain(to_record(shapes.StoredDocument, done))

    def add_instruction(self, text: Instruction, expires_at: ExpiresAt = "") -> CallToolResult:
        """Keep a standing instruction of the user about your replies, such as "always answer in French".

        Call it when the user says how you should reply from now on, in all conversations. It replaces an earlier
        instruction about the same matter. get_user_profile lists those in force; correct_memory ends one.
        """
        with self._told():
            fact = self._reach(Right.WRITE).add_instruction(text, expires_at=expires_at or None)
            return self._fact(fact, "")

    def retrieve_memory(
        self,
        query: Query,
        budget: Budget = 0,
        thread: AskedIn = "",
        min_score: MinScore = 0.0,
        mode: ModeGiven = "ask",
        scope: ScopeGiven = None,
        as_of: AsOf = "",
        valid_at: ValidAt = "",
    ) -> CallToolResult:
        """Recall what is relevant to a question: the user's profile, facts, and what was said on which day.

        Call it before you answer whenever earlier conversations may help, and at the start of a conversation. A low
        confidence means that the memory probably does not contain the answer. For what was true on an earlier day
        ("where did I live in March?") pass valid_at. For a list of ids use search_memory instead.
        """
        with self._told():
            owner = self._reach(Right.READ)
            context = owner.recall(
                query,
                budget=budget or None,
                thread=thread or None,
                scope=_scope(scope),
                min_score=min_score,
                mode=mode,
                as_of=as_of or None,
                valid_at=valid_at or None,
            )
            if not (as_of or valid_at):
                with suppress(EmberError):  # who asks may only read
                    count_visit(self._reach(Right.WRITE), context)
            text = self._memory.marked(context.text) if context.text else ""
            shown = shapes.recalled(context, shapes.notice() if text else "", text)
        rests_on = ", ".join(
            [
                f"{'' if one.space is None else f'{one.space} '}#{one.number} {one.id} of {one.page_id}"
                for one in shown.sources
            ]
            + [one.id for one in shown.facts]
        )
        tail = f"Confidence: {shown.confidence:.2f} of 1. Sources: {rests_on or 'none'}."
        return _result(shown, f"{shown.notice}\n\n{text}\n\n{tail}" if text else f"{_NOTHING} {tail}")

    def search_memory(
        self,
        query: Query,
        k: K = 10,
        min_score: MinScore = 0.0,
        scope: ScopeGiven = None,
        as_of: AsOf = "",
        valid_at: ValidAt = "",
    ) -> CallToolResult:
        """Find single utterances with their ids, best first; each is cut to its first words.

        Call it to find something to forget or to explain with `why`, or to look for exact words. To answer a question
        use retrieve_memory, which also returns facts and the profile.
        """
        with self._told():
            found = self._reach(Right.READ).search(
                query, k, scope=_scope(scope), min_score=min_score, as_of=as_of or None, valid_at=valid_at or None
            )
            results = [to_record(shapes.HitShown, one) for one in found]
            return self._wrapped(shapes.Found(notice=_notice(results), results=results), "results")

    def list_memory(self, kind: ListedKind = "page", k: K = 10, after: After = "") -> CallToolResult:
        """List what is remembered, the newest first, with ids: exchanges, facts, documents or topics.

        Call it when the user asks what you remember or which documents you have. For more, pass `after`.
        To find something use search_memory.
        """
        with self._told():
            found = self._reach(Right.READ).items(kind, limit=k + 1, after=after or None)
            items = [shapes.item(one) for one in found[:k] if not isinstance(one, (Utterance, Chain))]
            rest = items[-1].id if len(found) > k else ""
            return self._wrapped(shapes.Listed(notice=_notice(items), kind=kind, items=items, after=rest))

    def get_user_profile(
        self,
        include_knowledge: Knowledge = True,
        include_assistant_knowledge: AgentKnowledge = False,
        person: PersonName = "",
        as_of: AsOf = "",
        valid_at: ValidAt = "",
    ) -> CallToolResult:
        """Read the user's profile, character traits and known facts, with their ids, and the people who are known.

        Call it to greet a known user, to adapt your tone, or to find a fact that has to be corrected. For what is known
        of somebody else, such as the user's sister, pass `person`.
        """
        with self._told():
            owner = self._reach(Right.READ)
            then = LookBack(as_of=as_of or None, valid_at=valid_at or None)
            persona = Persona() if person else owner.persona(**then)
            knowledge = owner.facts(person=person, **then) if person else persona.facts
            shown = shapes.ProfileShown(
                notice="",
                user=shapes.profile(persona.profile),
                agent=shapes.profile(persona.agent_profile),
                person=shapes.profile(owner.profile(person, **then) if person else ()),
                people=[to_record(shapes.PersonShown, one) for one in owner.people(as_of=as_of or None)],
                traits=[to_record(shapes.TraitShown, one) for one in (() if person else owner.traits(**then))],
                instructions=shapes.facts(() if person else owner.instructions(**then)),
                knowledge=shapes.facts(knowledge if include_knowledge else ()),
                assistant_knowledge=shapes.facts(persona.agent_facts if include_assistant_knowledge else ()),
            )
            if any(asdict(shown).values()):
                shown = replace(shown, notice=shapes.notice())
            return self._wrapped(shown)

    def correct_memory(
        self,
        fact_id: FactId,
        text: NewText = "",
        ended: Ended = False,
        valid_from: ValidFrom = "",
        valid_to: ValidTo = "",
    ) -> CallToolResult:
        """Correct a fact that is wrong or no longer true. The new text replaces it; the old one is kept as a past fact.

        Call it when the user says that something you know about them is wrong, or with `ended` when a fact or a
        standing instruction holds no longer. The original messages do not change.
        """
        with self._told():
            if ended == bool(text):
                raise InputError(
                    "give either text, the correct statement, or ended=true where nothing replaces the fact"
                )
            if ended and (valid_from or valid_to):
                raise InputError("with ended=true leave valid_from and valid_to out: the fact ends now")
            owner = self._reach(Right.WRITE)
            if ended:
                return self._fact(owner.retire(fact_id), "")
            corrected = owner.correct(fact_id, text, valid_from=valid_from or None, valid_to=valid_to or None)
            return self._fact(corrected, fact_id)

    def forget_memory(
        self,
        id: Id,
        confirm: Confirm = False,
        *,
        consent: Annotated[ElicitationResult[Consent], Resolve(asked)],
    ) -> CallToolResult:
        """Forget a page, a fact, a segment or a document permanently, with everything that is derived from it alone.

        Call it first without `confirm`: nothing changes, and it shows what would be removed. Show that to the user,
        and call it again with confirm=true only after they agree. The id of an utterance means its whole page.
        """
        with self._told():
            refused = not (isinstance(consent, AcceptedElicitation) and consent.data.forget)
            done = confirm and not refused
            gone, words = self.forgetting(id, dry_run=not done)
            shown = to_record(
                shapes.ForgottenShown,
                gone,
                notice=shapes.notice(),
                done=done,
                words=shapes.pieces(words),
                next=_GONE if done else _REFUSED if confirm else _ASK,
            )
            return self._wrapped(shown)

    def forgetting(self, item: str, *, dry_run: bool) -> tuple[Forgotten, dict[str, str]]:
        """Forget what an id stands for; what went or would go, and before that the words of it. Raises EmberError."""
        owner = self._reach(Right.WRITE)
        gone = origins.forgetting(owner, item)(dry_run=dry_run)
        return gone, origins.words(owner, gone.pages, gone.facts) if dry_run else {}

    def why(self, id: IdOrName) -> CallToolResult:
        """Explain where a memory comes from: who said it and when, what was derived from it, and what it replaced.

        Call it when the user asks how you know something, or before you rely on an important fact.
        """
        with self._told():
            return self._wrapped(origins.origin(self._reach(Right.READ), id, shapes.notice()))

    def memory_stats(self) -> CallToolResult:
        """Count what is remembered about this user: pages in each tier, segments, facts, traits.

        Call it when the user asks how much you remember, or to see how many pages are still unprocessed (`pending`),
        and what waits for the model and why (`waits`).
        """
        with self._told():
            owner = self._reach(Right.READ)
            counts = owner.stats()
        model = self._memory.settings.model or "none"
        names = {"user": owner.owner.user, "agent": owner.owner.agent}
        waits = waiting.sentences(counts.waiting, self._memory.now())
        embedder = self._memory.embedder_name
        shown = to_record(shapes.Counted, counts, **names, waits=waits, embedder=embedder, model=model)
        return _plain(shown)

    @contextmanager
    def _told(self, **arguments: str) -> Iterator[None]:
        """Report our own errors to the model with our messages; the SDK reports any other without its text.
        `arguments` are parameters of the core by which a message may begin, and the tool's names for them."""
        try:
            yield
        except EmberError as error:
            raise ToolError(_renamed(self._says(error), arguments)) from error

    def _fact(self, fact: types.Fact, replaced: str) -> CallToolResult:
        shown = to_record(shapes.FactShown, fact)
        return self._wrapped(shapes.Corrected(notice=shapes.notice(), fact=shown, replaced=replaced))

    def _wrapped(self, shown: Any, only: str | None = None) -> CallToolResult:
        """A record for programs; for models its fields (or the one named), as data between the markers. A record
        without a notice holds nothing that people said."""
        if not shown.notice:
            return _result(shown, _NOTHING)
        record = {key: value for key, value in asdict(shown).items() if key != "notice"}
        text = shapes.as_json(record if only is None else record[only])
        return _result(shown, shapes.for_model(self._memory, text))


def _renamed(message: str, arguments: Mapping[str, str]) -> str:
    """A message with the tool's names for the parameters that it begins with: `x …`, or `x and y …`."""
    first, *rest = message.split(" ", 3)
    if rest[:1] == ["and"] and len(rest) > 1:
        rest[1] = arguments.get(rest[1], rest[1])
    return " ".join((arguments.get(first, first), *rest))


def _scope(given: dict[str, Any] | None) -> Scope | None:
    """A scope as the core has it. Raises InputError that says where it is wrong."""
    return None if given is None else Scope.from_dict(given)


def _notice(found: Sequence[object]) -> str:
    return shapes.notice() if found else ""


def _plain(shown: Any) -> CallToolResult:
    """A record in which no words of people stand."""
    return _result(shown, shapes.as_json(asdict(shown)))


def _result(shown: Any, text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=asdict(shown))
