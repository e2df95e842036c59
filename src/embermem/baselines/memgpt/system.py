"""MemGPT (arXiv 2310.08560): a language model that pages its own memory, as an operating system does.

Main context is what fits into the window: memory blocks, and a FIFO queue of what was said and done with a recursive
summary at its head. Outside stand recall storage, which is the log of all that was said, and archival storage. The
model moves things between them by functions; while a page is learnt it edits, while a query is answered it only looks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import ClassVar

from embermem import prompts
from embermem.baselines.memgpt import files, storage
from embermem.baselines.memgpt.blocks import HUMAN, PERSONA, SHARED, Block, Edit, Refused, edited, plain
from embermem.baselines.memgpt.files import Loaded
from embermem.baselines.memgpt.functions import Functions, MemGptCall, call_line
from embermem.baselines.memgpt.kept import Attachment, Entry, Line, Mark, Passage, Summary, Voice
from embermem.baselines.memgpt.window import (
    WARNING,
    Find,
    Turn,
    Usage,
    changed,
    entry_line,
    evicted,
    fitting,
    head_lines,
    log_line,
    said_line,
)
from embermem.baselines.numbers import MemGptNumbers
from embermem.baselines.recorded import Kit, Piece, RecordedSystem
from embermem.baselines.records import Record, RecordId, Written
from embermem.core import ids, messages
from embermem.core.errors import InputError, RevisionMoved
from embermem.core.types import About, Context, Owner, Page, PageView, ThreadId, Utterance
from embermem.prompts.data import one_line
from embermem.protocols import Purpose, Scope

_LABEL = re.compile(r"[a-z][a-z0-9_]{0,31}")
_BLOCK_AGENT = "block:"
"""A shared block is kept as if by an agent of the same user, whose name begins so."""
_LETTERS_A_WORD = 10
_QUEUE = "queue:"
_EMBEDDED_AT_ONCE = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class MemGptSummary:
    """The recursive summary, made anew."""

    schema_name: ClassVar[str] = "MemGptSummary"
    summary: str


class MemGpt(RecordedSystem):
    """A MemorySystem with a window, and functions that page what is held into it and out of it."""

    name: ClassVar[str] = "memgpt"
    kinds: ClassVar[tuple[type[Record], ...]] = (Line, Attachment, Mark, Entry, Summary, Passage)
    tries: ClassVar[int] = 32
    """As many agents may write one block at once."""

    def __init__(self, kit: Kit, numbers: MemGptNumbers | None = None) -> None:
        super().__init__(kit)
        self.numbers = numbers or MemGptNumbers()
        self.functions = Functions(
            self.numbers,
            storage.RecallStorage(k_1=kit.settings.k_1, b=kit.settings.b, query_terms=kit.settings.query_terms),
            said=self.said,
            embed=self.embed,
            new_id=self.new_id,
        )
        self._cost = lru_cache(maxsize=8_192)(self.cost)

    # ------------------------------------------------------------------------------------------------- the protocol

    def learn(self, owner: Owner, pages: Sequence[Page]) -> Written:
        """The page's messages enter the queue; then the model calls functions until it is done with them.

        Edits of a shared block are written when all is decided, just before the page's own.
        """
        (page,) = pages
        turn = self._turn(owner, None, page)
        before = turn.own
        turn.queue += [self._entry(Voice.SAID, self._line_of(u), u.said_at, u.seq) for u in _spoken(page)]
        if not _spoken(page):
            return Written()
        if self.kit.asker is None:
            self._note(turn, page)
            self._press(turn)
        else:
            self._chain(turn)
        for label, edits in turn.edits.items():
            self._share(owner, page, turn.blocks[label], edits)
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
        turn = self._turn(owner, scope)
        turn.query = query
        if self.kit.asker is None:
            self._search(turn, query)
        elif turn.said or turn.passages:
            self._chain(turn)
        return self._recalled(turn, query, budget)

    # ----------------------------------------------------------------------------------------- what only MemGPT can do

    def blocks(self, owner: Owner) -> tuple[Block, ...]:
        """The owner's memory blocks: `human`, `persona`, and those attached."""
        return tuple(self._blocks(owner, None).values())

    def set_block(self, owner: Owner, label: str, text: str) -> None:
        """Write a block anew, one line a line of the text; one that is shared for all who share it. Raises InputError
        if there is no such block, or the text passes its limit."""
        lines = [line for line in map(plain, text.splitlines()) if line]

        def decide() -> Written:
            old = self._blocks(owner, None).get(label)
            if old is None:
                raise InputError(f"{owner.user}/{owner.agent} has no memory block {label!r}")
            new = replace(old, lines=(), limit=self.numbers.block_chars)
            try:
                for line in lines:
                    new = edited(new, Edit(id=self.new_id(), content=line, at=self.kit.clock()))
            except Refused as error:
                raise InputError(f"the text is too long for a memory block: {error}") from error
            return changed(old.lines, new.lines)

        block = self._blocks(owner, None).get(label)
        self.write(owner if block is None or block.shared is None else _home(owner, block.shared), decide)

    def attach(self, owner: Owner, label: str, block: str) -> None:
        """Put a shared block in the place of the block of this label, or beside the others for a new label. Agents of
        one user that attach the same name share it; no other user's can.

        Raises InputError for a label that is not of the letters a to z, digits and `_`, for a name that is empty, and
        for a block that stands under another label already.
        """
        if not _LABEL.fullmatch(label):
            raise InputError(f"label = {label!r} is not allowed; at most 32 of a-z, 0-9 and _, a letter first")
        _home(owner, messages.name(block, "block"))
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
        return Loaded(files=tuple(new), unchanged=tuple(unchanged), passages=count, errors=tuple(errors))

    def usage(self, owner: Owner) -> Usage:
        """Tokens of main context as it stands, by the counter in use."""
        return self._usage(self._turn(owner, None))

    # --------------------------------------------------------------------------------------------------- main context

    def _turn(self, owner: Owner, scope: Scope | None, page: Page | None = None) -> Turn:
        """What is in mind. While a page is learnt, nothing of what was said after it is."""
        searched = scope if page is None else Scope(before_seq=page.last_seq + 1)
        summary = self.kept(owner, Summary, scope)
        return Turn(
            owner=owner,
            at=self.kit.clock() if page is None else page.utterances[-1].said_at,
            sources=() if page is None else tuple(u.seq for u in _spoken(page)),
            scope=searched,
            said=len(self.said(owner, scope)) if page is None else page.last_seq,
            blocks=self._blocks(owner, scope, page),
            summary=summary[0] if summary else None,
            queue=list(self.kept(owner, Entry, scope)),
            passages=list(self.kept(owner, Passage, scope)),
        )

    def _blocks(self, owner: Owner, scope: Scope | None, page: Page | None = None) -> dict[str, Block]:
        """Under a scope shared blocks are empty: what other agents wrote has no place in this one's order."""
        limit = self.numbers.block_chars
        lines = self.kept(owner, Line, scope)
        blocks = {
            label: Block(label=label, limit=limit, lines=tuple(line for line in lines if line.label == label))
            for label in (HUMAN, PERSONA)
        }
        for attached in self.kept(owner, Attachment):
            home = _home(owner, attached.text)
            blocks[attached.label] = Block(
                label=attached.label,
                limit=limit,
                lines=() if scope is not None else _shared_lines(self.kept(home, Line)),
                shared=attached.text,
                closed=page is not None and self._through(owner, home) >= page.last_seq,
            )
        return blocks

    def _usage(self, turn: Turn) -> Usage:
        prompt = "memgpt_event" if turn.query is None else "memgpt_query"
        blocks, summary = ([self._cost(line) for line in lines] for lines in head_lines(turn))
        return Usage(
            window=self.numbers.window_tokens,
            system=self._cost(prompts.load(prompt).text) + self._cost(_QUEUE),
            blocks=sum(blocks),
            summary=sum(summary),
            queue=sum(self._cost(entry_line(entry)) for entry in turn.queue),
        )

    def _shown(self, turn: Turn) -> str:
        """Main context as the model sees it: of the queue what fits, the newest; the query, and what came of it."""
        blocks, summary = head_lines(turn)
        asked = [] if turn.query is None else [f"query: {one_line(turn.query, self.numbers.message_chars)}"]
        queue = turn.queue[len(turn.queue) - self._fitting(turn, sum(map(self._cost, asked))) :]
        after = [entry_line(entry) for entry in turn.done]
        return "\n".join([*blocks, *summary, _QUEUE, *map(entry_line, queue), *asked, *after])

    def _fitting(self, turn: Turn, more: int = 0) -> int:
        """Entries of the queue that stand in the window beside the rest of it."""
        usage = self._usage(turn)
        done = sum(self._cost(entry_line(entry)) for entry in turn.done)
        room = usage.window - (usage.total - usage.queue) - done - more
        count = fitting([self._cost(entry_line(entry)) for entry in turn.queue], room)
        return max(count, min(1, len(turn.queue)))

    def _entry(self, voice: Voice, text: str, at: datetime, *sources: int) -> Entry:
        return Entry(id=self.new_id(), text=text, at=at, sources=sources, voice=voice)

    def _line_of(self, utterance: Utterance) -> str:
        return said_line(utterance, self.numbers.message_chars)

    # -------------------------------------------------------------------------------------------------- queue manager

    def _press(self, turn: Turn) -> bool:
        """Flush the queue while it passes the window, and warn once when it comes near; whether it warned."""
        numbers = self.numbers
        while self._usage(turn).total > numbers.flush_share * numbers.window_tokens and len(turn.queue) > 1:
            self._flush(turn)
        warned = turn.summary is not None and turn.summary.warned
        if warned or self.kit.asker is None:  # nobody would read it
            return False
        if self._usage(turn).total <= numbers.warning_share * numbers.window_tokens:
            return False
        turn.queue.append(self._entry(Voice.SYSTEM, WARNING, turn.at, *turn.sources))
        turn.summary = replace(self._summary_of(turn), warned=True)
        return True

    def _flush(self, turn: Turn) -> None:
        """Evict the oldest of the queue into the recursive summary. They stay in recall storage."""
        count = evicted([self._cost(entry_line(entry)) for entry in turn.queue], self.numbers.evicted_share)
        gone, left = turn.queue[:count], turn.queue[count:]
        old = self._summary_of(turn)
        sources = tuple(sorted({*old.sources, *(seq for entry in gone for seq in entry.sources)}))
        text = self._summarised(turn.owner, old.text, gone)
        turn.queue = [entry for entry in left if entry.voice is not Voice.SYSTEM]  # the pressure is gone
        turn.summary = replace(old, text=text, at=gone[-1].at, sources=sources, warned=False)

    def _summarised(self, owner: Owner, old: str, gone: Sequence[Entry]) -> str:
        """A summary of a summary and of what comes after it."""
        words = self.numbers.summary_words
        if self.kit.asker is None:
            said = [_said_text(entry) for entry in gone if entry.voice is Voice.SAID]
            return self.kit.condense([*filter(None, [old]), *said], words * _LETTERS_A_WORD)
        shown = "\n".join([f"summary so far: {old or 'none'}", *(entry_line(entry) for entry in gone)])
        answer = self.ask(
            owner, Purpose.REMEMBER, "memgpt_summary", MemGptSummary, shown, _check_summary, words=str(words)
        )
        return one_line(answer.summary, words * _LETTERS_A_WORD)

    def _summary_of(self, turn: Turn) -> Summary:
        return turn.summary or Summary(id=self.new_id(), text="", at=turn.at, sources=())

    # ---------------------------------------------------------------------------------------------- function executor

    def _chain(self, turn: Turn) -> None:
        """Steps of the model, as long as heartbeats, errors or warnings ask for one more."""
        learning = turn.query is None
        purpose, prompt = (Purpose.REMEMBER, "memgpt_event") if learning else (Purpose.RECALL, "memgpt_query")
        if learning:
            self._press(turn)
        for _ in range(self.numbers.steps):
            call = self.ask(turn.owner, purpose, prompt, MemGptCall, self._shown(turn))
            if call.function == "send_message":
                return
            goes_on = call.heartbeat
            try:
                result = self.functions.run(turn, call)
            except Refused as error:
                result, goes_on = f"error: {error}", True
            (turn.queue if learning else turn.done).extend(
                (
                    self._entry(Voice.CALL, call_line(call, self.numbers.message_chars), turn.at, *turn.sources),
                    self._entry(Voice.RESULT, result, turn.at, *turn.sources),
                )
            )
            if learning:
                goes_on = self._press(turn) or goes_on
            if not goes_on:
                return

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
        for entry in reversed(turn.queue[len(turn.queue) - self._fitting(turn) :]):
            if entry.voice is not Voice.SAID or entry.sources[0] not in of:
                continue
            if (line := log_line(of[entry.sources[0]])) not in shown:
                pieces.append(Piece(text=line, score=0.0, seqs=entry.sources))
        head = [f"{block.label}: {line.text}" for block in turn.blocks.values() for line in block.lines]
        head += head_lines(turn)[1]
        context = self.context(owner=turn.owner, query=query, pieces=pieces, budget=budget, head=head, order=_order)
        relevance = max((find.relevance for find in finds), default=0.0)
        return replace(context, confidence=max(0.0, min(1.0, relevance)))

    # ------------------------------------------------------------------------------------------------------- writing

    def _share(self, owner: Owner, page: Page, block: Block, edits: Sequence[Edit]) -> None:
        """Make the edits of a page in its shared block: once, however often the page is learnt.

        Where another agent wrote first they are made again on what it wrote. Raises RevisionMoved if that cannot be
        done, such as where no room is left: then the page is decided anew, in sight of it.
        """
        assert block.shared is not None
        home = _home(owner, block.shared)
        born = self.kit.store.standing(owner.id).born

        def decide() -> Written:
            if self._through(owner, home) >= page.last_seq:
                return Written()
            lines = _shared_lines(self.kept(home, Line))
            new = replace(block, lines=lines, closed=False)
            try:
                for edit in edits:
                    new = edited(new, edit)
            except Refused as error:
                raise RevisionMoved(f"the shared block {block.shared!r} was written by another meanwhile") from error
            mark = Mark(id=_mark_id(owner), text="", at=self.kit.clock(), born=born, through=page.last_seq)
            written = changed(lines, new.lines)
            return replace(written, keep=[*written.keep, mark])

        self.write(home, decide)

    def _through(self, owner: Owner, home: Owner) -> int:
        """Up to which seq the agent's talk has been worked into a shared block."""
        marks = [mark for mark in self.kept(home, Mark) if mark.id == _mark_id(owner)]
        if not marks or marks[0].born != self.kit.store.standing(owner.id).born:
            return 0
        return marks[0].through

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


def _home(owner: Owner, block: str) -> Owner:
    """Whose records a shared block of the owner's user is: the user stands in its id, so no other's can be it."""
    agent = messages.name(f"{_BLOCK_AGENT}{block}", "block")
    return Owner(id=ids.owner_id(owner.user, agent), user=owner.user, agent=agent)


def _mark_id(owner: Owner) -> RecordId:
    return RecordId(f"mark:{owner.id}")


def _shared_lines(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Of the lines that stand under a shared block's own owner those of the block."""
    return tuple(line for line in lines if line.label == SHARED)


def _spoken(page: Page) -> tuple[Utterance, ...]:
    return tuple(u for u in page.utterances if u.text.strip())


def _check_summary(answer: MemGptSummary) -> None:
    if not answer.summary.strip():
        raise ValueError("The summary is empty.")


def _said_text(entry: Entry) -> str:
    """Speaker and text, without the day."""
    return entry.text.partition(" ")[2]


def _order(piece: Piece) -> float:
    """Results as they were found, then the queue as it was said."""
    return -piece.score if piece.score else piece.seqs[0]
