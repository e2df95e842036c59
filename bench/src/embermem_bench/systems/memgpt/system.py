"""MemGPT (arXiv 2310.08560): a language model that pages its own memory, as an operating system does.

Main context is what fits into the window: memory blocks, and a FIFO queue of what was said and done with a recursive
summary at its head. Outside stand recall storage, which is the log of all that was said, and archival storage. The
model moves things between them by functions; while a page is learnt it edits, while a query is answered it only looks.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import ClassVar

from embermem import prompts
from embermem.core import messages
from embermem.core.errors import InputError, ModelReplyError, RevisionMoved
from embermem.core.types import About, Added, Context, Owner, Page, PageView, Role, Scope, ThreadId, Utterance
from embermem.prompts.data import one_line
from embermem.prompts.rendering import day
from embermem.protocols import Purpose
from embermem_bench.systems.memgpt import files, storage
from embermem_bench.systems.memgpt.blocks import HUMAN, PERSONA, Block, Edit, Refused, edited, plain
from embermem_bench.systems.memgpt.files import Loaded
from embermem_bench.systems.memgpt.functions import Functions, MemGptCall, call_line
from embermem_bench.systems.memgpt.kept import Alarm, Attachment, Line, Mark, Passage, Voice
from embermem_bench.systems.memgpt.main_context import MainContext, home_of, mark_id, shared_lines
from embermem_bench.systems.memgpt.window import CHAT, EVENT, QUERY, Find, Turn, Usage, changed, head_lines, log_line
from embermem_bench.systems.numbers import MemGptNumbers
from embermem_bench.systems.protocol import Reply
from embermem_bench.systems.recorded import Kit, Piece
from embermem_bench.systems.records import Record, RecordId, Written

logger = logging.getLogger(__name__)

_LABEL = re.compile(r"[a-z][a-z0-9_]{0,31}")
_EMBEDDED_AT_ONCE = 200
_EVENTS = "events"
"""The thread of what the model says when an event comes."""
_OWED = "The user has no reply yet: call send_message."
_PURPOSES = {EVENT: Purpose.REMEMBER, QUERY: Purpose.RECALL, CHAT: Purpose.CHAT}


class MemGpt(MainContext):
    """A MemorySystem with a window, and functions that page what is held into it and out of it."""

    name: ClassVar[str] = "memgpt"
    tries: ClassVar[int] = 32
    """As many agents may write one block at once."""

    def __init__(self, kit: Kit, numbers: MemGptNumbers | None = None) -> None:
        super().__init__(kit, numbers)
        self.functions = Functions(
            self.numbers,
            storage.RecallStorage(k_1=kit.settings.k_1, b=kit.settings.b, query_terms=kit.settings.query_terms),
            said=self.said,
            embed=self.embed,
            new_id=self.new_id,
        )

    # ------------------------------------------------------------------------------------------------- the protocol

    def learn(self, owner: Owner, pages: Sequence[Page]) -> Written:
        """The page's messages enter the queue; then the model calls functions until it is done with them.

        Edits of a shared block are written when all is decided, just before the page's own.
        """
        (page,) = pages
        turn = self.turn(owner, None, page)
        before = turn.own
        if not self.hear(turn, page):
            return Written()
        if self.kit.asker is None:
            self._note(turn, page)
            self.press(turn)
        else:
            self._chain(turn)
        self._share_edits(turn, page.last_seq)
        return changed(before, turn.own)

    def recall(
        self,
        owner: Owner,
        query: str,
        *,
        at: datetime | None = None,
        budget: int | None = None,
        thread: ThreadId | None = None,
        scope: Scope | None = None,
    ) -> Context:
        """Main context, and what the model finds for the query; without a model, what one search of each storage finds.

        Results stand in the order in which they were found; the messages of the queue follow, the newest first.
        """
        turn = self.turn(owner, scope)
        turn.query, turn.prompt = query, QUERY
        if self.kit.asker is None:
            self._search(turn, query)
        elif turn.said or turn.passages:
            self._chain(turn)
        return self._recalled(turn, query, budget)

    def reply(self, owner: Owner, asked: Utterance, *, system: str | None, style: str | None) -> Reply:
        """The reply to a message, which is an event: the model calls functions, which change its memory at once for its
        next step, until it has sent a message and asks for no more. What came before is learnt first.

        All that changed is written when the reply is stored; if another wrote meanwhile, `settle` learns the page.
        Raises ModelReplyError if no message was sent in so many `steps`; ModelError, ModelWait.
        """
        self.settle_before(owner, asked.seq)
        revision = self.kit.records.standing(owner.id).revision
        page = Page(id=asked.page_id, no=0, thread=asked.thread, utterances=(asked,))
        turn = self._acting(self.turn(owner, None, page), system, style)
        turn.scope = Scope(before_seq=asked.seq)
        before = turn.own
        self.hear(turn, page)
        self._chain(turn, owes_reply=True)
        if not turn.sent:
            raise ModelReplyError(f"the model sent no reply in {self.numbers.steps} steps; ask again", "")

        def stored(said: Utterance) -> None:
            try:
                self._share_edits(turn, asked.seq)
                self._write_acted(turn, before, revision, (asked, said))
            except RevisionMoved:
                logger.info("a reply of %s/%s is learnt by the next settle", owner.user, owner.agent)

        return Reply(text="\n".join(turn.sent), context=self._recalled(turn, asked.text, None), stored=stored)

    # ------------------------------------------------------------------------------------------------- timed events

    def schedule(self, owner: Owner, text: str, at: datetime, *, every: timedelta | None = None) -> Alarm:
        """Have a text told to the model as a system message, when the time `at` has come, and again every so often.

        It is told with the next message, or by `run_events`. Raises InputError for a text that is empty, a time without
        a zone, or a period of no length.
        """
        if not plain(text):
            raise InputError("text is empty: there is nothing to tell")
        if at.utcoffset() is None:
            raise InputError(f"at = {at} has no time zone")
        if every is not None and every <= timedelta():
            raise InputError(f"every = {every} is not a period of time")
        seconds = 0.0 if every is None else every.total_seconds()
        shown = one_line(text, self.numbers.message_chars)
        alarm = Alarm(id=self.new_id(), text=shown, at=at, every_s=seconds)
        self.write(owner, lambda: Written(keep=[alarm]))
        return alarm

    def events(self, owner: Owner) -> tuple[Alarm, ...]:
        """The timed events that are still to come, in the order of their times."""
        return tuple(sorted(self.kept(owner, Alarm), key=lambda alarm: alarm.at))

    def cancel(self, owner: Owner, event_id: RecordId) -> None:
        """Take a timed event back; nothing, if there is no such event any more."""
        self.write(owner, lambda: Written(drop=[a.id for a in self.kept(owner, Alarm) if a.id == event_id]))

    def run_events(self, owner: Owner, add: Callable[..., Added]) -> str:
        """Tell the model of the events that are due, and have it take steps, without a message of the user.

        Returns what it said to the user, which is stored by `add`, the owner's `add_messages`, in a thread of its own;
        empty if it said nothing, or nothing is due.
        What is pending is learnt first. An event that was told stays due if the process dies before that is written.
        Raises ModelError, ModelWait, StoreError.
        """
        self.settle(owner)
        standing = self.kit.records.standing(owner.id)
        turn = self._acting(self.turn(owner, None), None, None)
        turn.sources = (standing.read_to,) if standing.read_to else ()
        before = turn.own
        if not self.deliver(turn):
            return ""
        if self.kit.asker is not None:
            self._chain(turn)
        text, said = "\n".join(turn.sent), tuple[Utterance, ...]()
        if text:
            added = add([{"role": Role.ASSISTANT.value, "content": text}], thread=_EVENTS)
            said = self.kit.log.utterances_by_id(owner.id, added.utterance_ids)
        self._share_edits(turn, 0)
        self._write_acted(turn, before, standing.revision, said)
        return text

    # ----------------------------------------------------------------------------------------- what only MemGPT can do

    def blocks(self, owner: Owner) -> tuple[Block, ...]:
        """The owner's memory blocks: `human`, `persona`, and those attached."""
        return tuple(self.blocks_of(owner, None).values())

    def set_block(self, owner: Owner, label: str, text: str) -> None:
        """Write a block anew, one line a line of the text; one that is shared for all who share it. Raises InputError
        if there is no such block, or the text passes its limit."""
        lines = [line for line in map(plain, text.splitlines()) if line]

        def decide() -> Written:
            old = self.blocks_of(owner, None).get(label)
            if old is None:
                raise InputError(f"{owner.user}/{owner.agent} has no memory block {label!r}")
            new = replace(old, lines=(), limit=self.numbers.block_chars)
            try:
                for line in lines:
                    new = edited(new, Edit(id=self.new_id(), content=line, at=self.kit.clock()))
            except Refused as error:
                raise InputError(f"the text is too long for a memory block: {error}") from error
            return changed(old.lines, new.lines)

        block = self.blocks_of(owner, None).get(label)
        self.write(owner if block is None or block.shared is None else home_of(owner, block.shared), decide)

    def attach(self, owner: Owner, label: str, block: str) -> None:
        """Put a shared block in the place of the block of this label, or beside the others for a new label. Agents of
        one user that attach the same name share it; no other user's can.

        Raises InputError for a label that is not of the letters a to z, digits and `_`, for a name that is empty, and
        for a block that stands under another label already.
        """
        if not _LABEL.fullmatch(label):
            raise InputError(f"label = {label!r} is not allowed; at most 32 of a-z, 0-9 and _, a letter first")
        home_of(owner, messages.name(block, "block"))
        attachment = Attachment(id=RecordId(f"attachment:{label}"), text=block, at=self.kit.clock(), label=label)

        def decide() -> Written:
            there = [a.label for a in self.kept(owner, Attachment) if a.text == block and a.label != label]
            if there:
                raise InputError(f"the block {block!r} is attached as {there[0]!r} already; detach it first")
            return Written(keep=[attachment])

        self.write(owner, decide)

    def detach(self, owner: Owner, label: str) -> None:
        """Take a shared block away from this agent; the block stays, and the agent's own of this label is back."""
        self.write(owner, lambda: Written(drop=[a.id for a in self.kept(owner, Attachment) if a.label == label]))

    def load_folder(self, owner: Owner, folder: str | Path) -> Loaded:
        """Put the text files (.txt, .md, UTF-8) of a folder and those below it into archival storage, each in one
        transaction. A file that is there already is left alone, one that has changed takes the place of what it was.

        Raises InputError if it is no folder, EmbedderError, StoreError; what was loaded before stays.
        """
        new: list[str] = []
        unchanged: list[str] = []
        errors: list[tuple[str, str]] = []
        count = 0
        for file in files.read_folder(Path(folder), self.numbers.file_bytes):
            if file.error:
                errors.append((file.name, file.error))
            elif any(p.file == file.name and p.digest == file.digest for p in self.kept(owner, Passage)):
                unchanged.append(file.name)
            else:
                made = self._passages_of(file)
                self.write(owner, partial(self._in_place_of, owner, file.name, made))
                new.append(file.name)
                count += len(made)
        if new and self.kit.asker is not None:
            self.schedule(owner, f"Documents loaded into archival storage: {len(new)}.", self.kit.clock())
        return Loaded(files=tuple(new), unchanged=tuple(unchanged), passages=count, errors=tuple(errors))

    def usage(self, owner: Owner) -> Usage:
        """Tokens of main context as it stands, by the counter in use."""
        return self.usage_of(self.turn(owner, None))

    # ---------------------------------------------------------------------------------------------- function executor

    def _acting(self, turn: Turn, system: str | None, style: str | None) -> Turn:
        """A turn in which the model speaks to the user."""
        turn.prompt = CHAT
        turn.variables = {"system": system or prompts.load("chat_system").fill(), "style": style or "-"}
        return turn

    def _chain(self, turn: Turn, *, owes_reply: bool = False) -> None:
        """Steps of the model, as long as heartbeats, errors, warnings or a reply that is owed ask for one more."""
        acts = turn.query is None
        if acts:
            self.press(turn)
        for _ in range(self.numbers.steps):
            purpose = _PURPOSES[turn.prompt]
            call = self.ask(
                turn.owner, purpose, turn.prompt, MemGptCall, self.shown(turn), lambda _: None, **turn.variables
            )
            if call.function == "send_message" and turn.prompt != CHAT:
                return
            goes_on = self._called(turn, call)
            if acts:
                goes_on = self.press(turn) or goes_on
            if not goes_on:
                if turn.sent or not owes_reply:
                    return
                turn.queue.append(self.entry(Voice.SYSTEM, _OWED, turn.at, *turn.sources))

    def _called(self, turn: Turn, call: MemGptCall) -> bool:
        """Do what the model called; whether it asks for one more step."""
        goes_on, chars = call.heartbeat, self.numbers.message_chars
        if call.function == "send_message" and (content := call.content.strip()):
            turn.sent.append(content)
            line = f"{day(turn.at)} {Role.ASSISTANT.value}: {one_line(content, chars)}"
            turn.queue.append(self.entry(Voice.SAID, line, turn.at))
            return goes_on
        try:
            result = self.functions.run(turn, call)
        except Refused as error:
            result, goes_on = f"error: {error}", True
        (turn.queue if turn.query is None else turn.done).extend(
            (
                self.entry(Voice.CALL, call_line(call, chars), turn.at, *turn.sources),
                self.entry(Voice.RESULT, result, turn.at, *turn.sources),
            )
        )
        return goes_on

    # ------------------------------------------------------------------------------------------------ without a model

    def _note(self, turn: Turn, page: Page) -> None:
        """Extracted facts go into the blocks as far as they fit, the rest into archival storage."""
        for note in self.kit.extractive.annotate(turn.owner, {}, [PageView(page=page)]):
            for fact in note.facts:
                label = HUMAN if fact.about is About.USER else PERSONA
                content = plain(fact.text)[: self.numbers.passage_chars]
                if turn.blocks[label].closed or not content:
                    continue
                key = f"{fact.subject}.{fact.attribute}" if fact.single else ""
                sources = tuple(dict.fromkeys(source.seq for source in fact.sources))
                try:
                    self.functions.edit(turn, label, content, sources, key=key)
                except Refused:
                    self.functions.insert(turn, content, sources)

    def _search(self, turn: Turn, query: str) -> None:
        """The first results of both storages; of recall storage more pages, up to `recall_k` utterances."""
        size = max(1, self.numbers.page_size)
        turn.finds += self.functions.said(turn, query)[: max(size, self.numbers.recall_k)]
        turn.finds += self.functions.near(turn, query)[:size]

    # ---------------------------------------------------------------------------------------------------- what is told

    def _recalled(self, turn: Turn, query: str, budget: int | None) -> Context:
        once: dict[tuple[tuple[int, ...], str], Find] = {}
        for find in turn.finds:
            once.setdefault((find.seqs, find.text), find)
        finds = list(once.values())
        pieces = [Piece(text=find.text, score=1.0 / rank, seqs=find.seqs) for rank, find in enumerate(finds, 1)]
        shown = {find.text for find in finds}
        of = {u.seq: u for u in self.said(turn.owner, turn.scope)}
        turn.done = []
        for entry in reversed(turn.queue[len(turn.queue) - self.fitting(turn) :]):
            if entry.voice is not Voice.SAID or of.keys().isdisjoint(entry.sources):
                continue
            if (line := log_line(of[entry.sources[0]])) not in shown:
                pieces.append(Piece(text=line, score=0.0, seqs=entry.sources))
        head = [f"{block.label}: {line.text}" for block in turn.blocks.values() for line in block.lines]
        head += head_lines(turn)[1]
        context = self.context(owner=turn.owner, query=query, pieces=pieces, budget=budget, head=head, order=_order)
        relevance = max((find.relevance for find in finds), default=0.0)
        return replace(context, confidence=max(0.0, min(1.0, relevance)))

    # ------------------------------------------------------------------------------------------------------- writing

    def _write_acted(self, turn: Turn, before: Sequence[Record], revision: int, said: Sequence[Utterance]) -> None:
        """Write what changed in a turn in which the model spoke, if nothing was written since. What it sent
        rests on the last utterance of `said`, all of which are read now, if nothing unread stands before them.

        Raises RevisionMoved.
        """
        sources = (said[-1].seq,) if said else ()
        turn.queue = [
            replace(entry, sources=sources) if entry.voice is Voice.SAID and not entry.sources else entry
            for entry in turn.queue
        ]
        owner, read_to = turn.owner, self.kit.records.standing(turn.owner.id).read_to
        for utterance in said:
            read_to += utterance.seq == read_to + 1
        self.kit.records.write(owner.id, changed(before, turn.own), revision=revision, read_to=read_to)

    def _share_edits(self, turn: Turn, through: int) -> None:
        for label, edits in turn.edits.items():
            self._share(turn.owner, through, turn.blocks[label], edits)

    def _share(self, owner: Owner, through: int, block: Block, edits: Sequence[Edit]) -> None:
        """Make the edits of a turn in its shared block: those of a page, which was said through that seq, once, however
        often it is learnt; those of an event, with 0, each time.

        Where another agent wrote first they are made again on what it wrote. Raises RevisionMoved if that cannot be
        done, such as where no room is left: then the page is decided anew, in sight of it.
        """
        assert block.shared is not None
        home = home_of(owner, block.shared)
        born = self.kit.records.standing(owner.id).born

        def decide() -> Written:
            if through and self.through(owner, home) >= through:
                return Written()
            lines = shared_lines(self.kept(home, Line))
            new = replace(block, lines=lines, closed=False)
            try:
                for edit in edits:
                    new = edited(new, edit)
            except Refused as error:
                raise RevisionMoved(f"the shared block {block.shared!r} was written by another meanwhile") from error
            written = changed(lines, new.lines)
            if not through:
                return written
            mark = Mark(id=mark_id(owner), text="", at=self.kit.clock(), born=born, through=through)
            return replace(written, keep=[*written.keep, mark])

        self.write(home, decide)

    def _passages_of(self, file: files.FileText) -> list[Passage]:
        texts = files.cut(file.text, self.numbers.passage_chars)
        made: list[Passage] = []
        for start in range(0, len(texts), _EMBEDDED_AT_ONCE):
            some = texts[start : start + _EMBEDDED_AT_ONCE]
            for part, (text, vector) in enumerate(zip(some, self.embed(*some), strict=True), start + 1):
                made.append(
                    Passage(
                        id=self.new_id(),
                        text=text,
                        at=self.kit.clock(),
                        vector=vector,
                        file=file.name,
                        part=part,
                        digest=file.digest,
                    )
                )
        return made

    def _in_place_of(self, owner: Owner, name: str, made: Sequence[Passage]) -> Written:
        return Written(keep=made, drop=[p.id for p in self.kept(owner, Passage) if p.file == name])


def _order(piece: Piece) -> float:
    """Results as they were found, then the queue as it was said."""
    return -piece.score if piece.score else piece.seqs[0]
