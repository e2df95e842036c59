"""Which conversation a resent history belongs to, and what of it is new. Pure functions; nothing is kept but marks.

A client sends all that was said with every request, in most protocols. Its thread is found again by what the owner's
threads hold, so that a restart, another process or a retry changes nothing:

1. Every message has a mark (a hash of its role and words), every beginning of a history a path (a hash of its marks).
2. A thread is named by the path at its first message: `chat-1f2e…`. A history that goes on where its thread ends joins
   it. One that parts from it amid the thread opens a thread of its own, named by the path where they part, which holds
   only what is new.
3. Another reply to the thread's newest question joins that question's page. Another reply to an older one opens a
   thread, with the question told again, so that its page is whole.
4. A client that drops old messages sends a window: it belongs to the thread that ends as the window begins.
5. Where upstream holds what was said before, a client sends only what is new, and names the response that it follows,
   or the conversation. Each reply is kept with its response's id, so the thread and the place in it are known.
6. What is added carries its path as its key: the same message at the same place is kept once, whoever adds it.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from embermem.core.metadata import MAX_TEXT
from embermem.core.types import Role, Utterance

__all__ = [
    "ANSWER",
    "CUT",
    "Line",
    "New",
    "Placed",
    "Said",
    "Threads",
    "answer_name",
    "place",
    "place_after",
    "place_at_end",
    "said",
]

CUT = "[broken off]"
"""The last line of a reply that was kept, but is not whole."""

ANSWER = "response_id"
"""The label of a reply that says by which response it was made."""

_PREFIX = "chat-"
_NAME_HEX = 16
_WINDOW_LEAST = 2
_WINDOW_TRIES = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One message of a history, as it is compared: its role, its words without their spacing, the mark of both."""

    role: Role
    words: str
    mark: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One stored utterance, as it is compared. `words` are kept only of a reply that was broken off."""

    seq: int
    agent_side: bool
    mark: bytes
    words: str | None

    def is_(self, said: Said) -> bool:
        """Whether it says the same. A client may hold less of a reply that was broken off than we do."""
        if self.mark == said.mark:
            return True
        return self.words is not None and said.role is Role.ASSISTANT and self.words.startswith(said.words or " ")


@dataclass(frozen=True, kw_only=True, slots=True)
class New:
    """A message that is to be kept: its index in the history, and the key under which it is kept once."""

    index: int
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """Where a history belongs. `known` are the seqs of what it repeats; `whole`: it tells the thread from its start."""

    thread: str
    new: tuple[New, ...]
    known: frozenset[int]
    whole: bool


class Threads:
    """The lines of one owner's threads, in order of arrival. `upto` is the last seq read."""

    def __init__(self) -> None:
        self.upto = 0
        self.size = 0
        self._lines: dict[str, list[Line]] = defaultdict(list)
        self._places: dict[bytes, list[tuple[str, int]]] = defaultdict(list)
        self._answers: dict[str, tuple[str, int]] = {}

    def take(self, utterances: Iterable[Utterance]) -> None:
        """Read further utterances."""
        for utterance in utterances:
            self.upto = utterance.seq
            if utterance.role is Role.SYSTEM:
                continue
            one, lines = said(utterance.role, utterance.text), self._lines[utterance.thread]
            words = one.words if utterance.text.endswith(f"\n{CUT}") else None
            if isinstance(answer := utterance.metadata.get(ANSWER), str):
                self._answers[answer] = (utterance.thread, len(lines))
            line = Line(seq=utterance.seq, agent_side=utterance.role.agent_side, mark=one.mark, words=words)
            self._places[line.mark].append((utterance.thread, len(lines)))
            lines.append(line)
            self.size += 1

    def lines(self, thread: str) -> Sequence[Line]:
        """Those of one thread."""
        return self._lines.get(thread, ())

    def places(self, mark: bytes) -> Sequence[tuple[str, int]]:
        """Where a mark stands: threads and indexes in them, the oldest first."""
        return self._places.get(mark, ())

    def answer(self, name: str) -> tuple[str, int] | None:
        """Where the reply of a response stands: its thread and the index in it."""
        return self._answers.get(name)

    def note(self, answer: str, thread: str, mark: bytes) -> None:
        """Another response made a reply that is kept already."""
        at = next((at for name, at in reversed(self.places(mark)) if name == thread), None)
        if at is not None:
            self._answers.setdefault(answer, (thread, at))


def answer_name(response_id: str) -> str:
    """A response's id as a label of its reply; one that is too long for that by its hash."""
    return response_id if len(response_id) <= MAX_TEXT else _hash(response_id.encode("utf-8", "replace")).hex()


def said(role: Role, text: str) -> Said:
    """A message as it is compared: spacing does not count, nor the note that a reply was broken off."""
    words = " ".join(text.removesuffix(f"\n{CUT}").split())
    return Said(role=role, words=words, mark=_hash(role.encode(), words.encode("utf-8", "replace")))


def place(history: Sequence[Said], threads: Threads, owner_id: str, thread: str | None) -> Placed:
    """Where a history belongs and what of it is new; `thread` is the one that the client named. It is not empty."""
    if thread is not None:
        return _in_named(history, threads, thread)
    paths = _paths(_hash(owner_id.encode()), [one.mark for one in history])
    return _by_path(history, threads, paths) or _by_window(history, threads) or _new(_name(paths[0]), paths, 0)


def place_after(history: Sequence[Said], threads: Threads, owner_id: str, answer: str) -> Placed:
    """Where a history goes on after a response, which follows what upstream holds. One that is unknown, such as of the
    time before the proxy, begins a thread."""
    found = threads.answer(answer)
    if found is None:
        paths = _paths(_hash(owner_id.encode(), answer.encode("utf-8", "replace")), [one.mark for one in history])
        return _by_path(history, threads, paths) or _new(_name(paths[0]), paths, 0)
    name, at = found
    lines = threads.lines(name)
    held = [line.seq for line in lines[: at + 1]]
    paths = _paths_after(name, lines[: at + 1], history)
    match = _follow(lines, at + 1, history)
    upto = len(match.seqs)
    if upto == len(history) or match.at_end:
        return _new(name, paths, upto, (*held, *match.seqs))
    return _parted(_name(paths[upto]), history, paths, upto, (*held, *match.seqs))


def place_at_end(history: Sequence[Said], threads: Threads, name: str) -> Placed:
    """At the end of a conversation that upstream holds. Only what stands unanswered at the thread's end was sent
    before: it is asked again."""
    lines = threads.lines(name)
    again = next(
        (
            size
            for size in range(min(len(history), len(lines)), 0, -1)
            if all(line.is_(one) for line, one in zip(lines[-size:], history, strict=False))
        ),
        0,
    )
    paths = _paths_after(name, lines[: len(lines) - again], history)
    return _new(name, paths, again, [line.seq for line in lines])


# ------------------------------------------------------------------------------------------------ how it is found


@dataclass(frozen=True, kw_only=True, slots=True)
class _Match:
    """How far a history follows a thread's lines. `at_end`: only replies stand after the last that it follows."""

    seqs: tuple[int, ...]
    at_end: bool


def _follow(lines: Sequence[Line], start: int, history: Sequence[Said]) -> _Match:
    """Lines of the agent's side may be passed over: the client kept another reply."""
    seqs, at = [], start
    for one in history:
        look = at
        while look < len(lines) and not lines[look].is_(one) and lines[look].agent_side:
            look += 1
        if look == len(lines) or not lines[look].is_(one):
            break
        seqs.append(lines[look].seq)
        at = look + 1
    return _Match(seqs=tuple(seqs), at_end=all(line.agent_side for line in lines[at:]))


def _by_path(history: Sequence[Said], threads: Threads, paths: Sequence[bytes]) -> Placed | None:
    """The thread named by the latest point of this history at which one begins; those before it hold what led there."""
    found, known = None, set[int]()
    for index in reversed(range(len(history))):
        name = _name(paths[index])
        lines = threads.lines(name)
        if not lines:
            continue
        told_again = 0
        if history[index].role.agent_side:
            told_again = next((at for at, line in enumerate(lines) if line.agent_side), 0)
        start = max(0, index - told_again)
        match = _follow(lines, 0, history[start:])
        known.update(match.seqs)
        found = found or (name, start + len(match.seqs), match.at_end)
    if found is None:
        return None
    name, upto, at_end = found
    if upto == len(history) or at_end:
        return _new(name, paths, upto, known)
    return _parted(_name(paths[upto]), history, paths, upto, known)


def _by_window(history: Sequence[Said], threads: Threads) -> Placed | None:
    """The thread whose end is the beginning of this history: at least one message of each side."""
    for name, at in reversed(threads.places(history[0].mark)[-_WINDOW_TRIES:]):
        lines = threads.lines(name)
        match = _follow(lines, at, history)
        sides = {one.role.agent_side for one in history[: len(match.seqs)]}
        if name.startswith(_PREFIX) and match.at_end and len(match.seqs) >= _WINDOW_LEAST and len(sides) == 2:
            return _new(name, _paths_after(name, lines[:at], history), len(match.seqs), match.seqs, whole=False)
    return None


def _in_named(history: Sequence[Said], threads: Threads, name: str) -> Placed:
    """In the thread that the client names everything is kept; a client may send all of it, its end, or only news."""
    lines = threads.lines(name)
    for at in reversed([at for at, line in enumerate(lines) if line.is_(history[0])]):
        match = _follow(lines, at, history)
        if match.at_end:
            paths = _paths_after(name, lines[:at], history)
            return _new(name, paths, len(match.seqs), match.seqs, whole=at == 0)
    if lines and lines[0].is_(history[0]):
        match = _follow(lines, 0, history)
        paths = _paths_after(name, (), history)
        return _parted(name, history, paths, len(match.seqs), match.seqs)
    last = str(lines[-1].seq) if lines else "0"
    paths = _paths(_hash(name.encode(), last.encode()) if lines else _hash(name.encode()), [m.mark for m in history])
    return _new(name, paths, 0, whole=not lines)


# -------------------------------------------------------------------------------------------------- what is new


def _new(name: str, paths: Sequence[bytes], upto: int, known: Iterable[int] = (), *, whole: bool = True) -> Placed:
    new = tuple(New(index=index, key=_key(paths[index])) for index in range(upto, len(paths)))
    return Placed(thread=name, new=new, known=frozenset(known), whole=whole)


def _parted(name: str, history: Sequence[Said], paths: Sequence[bytes], upto: int, known: Iterable[int]) -> Placed:
    """What is new after the point where a history parts; if that is a reply, its question first."""
    rest = _new(name, paths, upto, known)
    begin = upto
    while upto < len(history) and history[upto].role.agent_side and begin and not history[begin - 1].role.agent_side:
        begin -= 1
    again = [New(index=at, key=_key(_hash(b"again", paths[upto], str(at).encode()))) for at in range(begin, upto)]
    return Placed(thread=name, new=(*again, *rest.new), known=rest.known, whole=True)


def _paths(root: bytes, marks: Iterable[bytes]) -> list[bytes]:
    """The path at each mark."""
    paths = []
    for mark in marks:
        root = _hash(root, mark)
        paths.append(root)
    return paths


def _paths_after(name: str, lines: Sequence[Line], history: Sequence[Said]) -> list[bytes]:
    before = [line.mark for line in lines]
    return _paths(_hash(name.encode()), [*before, *(one.mark for one in history)])[len(before) :]


def _name(path: bytes) -> str:
    return f"{_PREFIX}{path.hex()[:_NAME_HEX]}"


def _key(path: bytes) -> str:
    return f"proxy:{path.hex()}"


def _hash(*parts: bytes) -> bytes:
    made = hashlib.blake2b(digest_size=16)
    for part in parts:
        made.update(len(part).to_bytes(8) + part)
    return made.digest()
