"""`embermem import`: what other programs keep of conversations and facts, into a memory, each of it once.

A file is read to its end before anything is stored (`look`): so it is known what would come in, and a file that breaks
off leaves nothing behind. Then its messages are stored in the order of time, its documents, and its facts
(`bring_in`), each under a key made of its content: a run that was killed is done again, and ends with one of each.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from embermem.core.errors import ConfigError, InputError, KeyReused
from embermem.core.types import Role
from embermem.languages.people import USER
from embermem.memoryos.people import speaker_of
from embermem.transfer import formats
from embermem.transfer.files import Files
from embermem.transfer.formats import Options
from embermem.transfer.ingest import ingest
from embermem.transfer.items import BadLine, DocumentEntry, Entry, FactEntry
from embermem.transfer.spool import Spool, ThreadSummary

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory

_USER = re.compile(r"^User(?='s\b|\s)")
FACTS_AT_ONCE = 100
"""Facts of one change at most."""
_NAMED = 5
"""Files that are named which no reader has opened."""
CUT_EVERY = 32
"""One fact in so many ends a change by its hash."""
Told = Callable[[int, int], None]
"""Called with how many things are stored, and how many there are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UserSummary:
    """What a file holds for one user; `user` is empty where the file names none."""

    user: str
    messages: int
    facts: int
    documents: int
    threads: list[ThreadSummary]


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What a file holds: its format, what would come in, what cannot be read and what is left out by rule.

    `me` is what the user is called in it; None where that is not known or does not matter. `needs_me`: it is a talk of
    several people, and has to be known.
    """

    where: str
    format: str
    title: str
    thread: str
    me: str | None
    needs_me: bool
    speakers: list[str]
    users: list[UserSummary]
    problems: list[BadLine]
    more_problems: int
    left_out: Mapping[str, int]
    spool: Spool = field(repr=False)

    def told(self) -> dict[str, object]:
        """All of it as plain values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "spool"}

    def check(self) -> None:
        """Raises InputError where the user has to be named first."""
        if self.needs_me:
            shown = ", ".join(self.speakers[:10]) + (", …" if len(self.speakers) > 10 else "")
            raise InputError(f"{self.where}: several people speak in it; name the user with --me: {shown}")


@dataclass(slots=True)
class BroughtIn:
    """What of a file was stored for one user, now or before; `problems` are what the memory refused."""

    user: str
    messages: int = 0
    facts: int = 0
    documents: int = 0
    problems: list[BadLine] = field(default_factory=list)


@contextmanager
def look(
    path: Path,
    options: Options,
    *,
    form: str | None = None,
    thread: str = "main",
    names: Iterable[str] = (),
    where: str | None = None,
) -> Iterator[Look]:
    """Read a file, a folder or an archive, and store nothing. `thread` is for messages that name none; `names` are
    what the user may be called; `where` is what the file is called in errors. What was read is let go of at the end of
    the block.

    Raises InputError with the place for what cannot be read to its end.
    """
    told = where or str(path)
    files = Files(path)
    try:
        known = formats.found(files, form, options)
        spool = Spool(thread=thread, longest=options.longest, ordered=known.ordered)
        try:
            files.opened.clear()
            spool.fill(known.read(files, options))
            if other := [name for name in files.names if name not in files.opened]:
                more = f" and {len(other) - _NAMED} more" if len(other) > _NAMED else ""
                spool.left_out[f"files that are not of {known.title}: {', '.join(other[:_NAMED])}{more}"] = len(other)
            yield _look(told, known, spool, options, names)
        finally:
            spool.close()
    except InputError as error:
        if str(error).startswith(told):
            raise
        raise InputError(f"{told}: {error}") from error
    finally:
        files.close()


def _look(where: str, known: formats.Format, spool: Spool, options: Options, names: Iterable[str]) -> Look:
    speakers = spool.speakers()
    me = _me(speakers, options.me, spool.me, names) if known.people else options.me
    if known.people and options.me is not None and me is None:
        raise InputError(f"nobody is called {options.me!r} in it; who speaks: {', '.join(speakers[:10])}")
    users = []
    for user in spool.users():
        messages, facts, documents = spool.counts(user)
        threads = spool.threads(user)
        users.append(UserSummary(user=user, messages=messages, facts=facts, documents=documents, threads=threads))
    return Look(
        where=where,
        format=known.name,
        title=known.title,
        thread=spool.thread,
        me=me,
        needs_me=known.people and me is None and bool(speakers),
        speakers=speakers,
        users=users,
        problems=spool.problems,
        more_problems=spool.more_problems,
        left_out=dict(spool.left_out),
        spool=spool,
    )


def _me(speakers: list[str], told: str | None, own: str | None, names: Iterable[str]) -> str | None:
    """The speaker who is the user: as told, as the file says, or called like the memory's user."""
    by_name = {one.casefold(): one for one in speakers}
    if told is not None:
        return by_name.get(told.casefold())
    return next((by_name[one.casefold()] for one in (own or "", *names) if one.casefold() in by_name), None)


def bring_in(owner: OwnerMemory, found: Look, user: str = "", *, told: Told = lambda done, total: None) -> BroughtIn:
    """Store what a file holds for one of its users; what is stored already is not stored again.

    What was imported before and then forgotten is not stored again. `told` hears of what is done. Raises InputError if
    the file holds nothing of this user or the user has to be named first, and what `add_messages` raises.
    """
    found.check()
    if found.users and user not in (names := [one.user for one in found.users]):
        raise InputError(f"{found.where} holds nothing of the user {user!r}; its users are: {', '.join(names[:10])}")
    done, total = BroughtIn(user=owner.owner.user), sum(found.spool.counts(user))

    def tell(messages: int, offset: int) -> None:
        done.messages = messages
        told(messages, total)

    items = _as_user(owner, found.spool.messages(user), found.me)
    ingest(owner, items, thread=found.thread, where=found.where, skip_bad=False, told=tell)
    for document in found.spool.documents(user):
        with _refused(done, document.place):
            _document(owner, document)
            done.documents += 1
        told(done.messages + done.documents, total)
    if found.me is not None and done.messages:
        with _refused(done, "--me"):
            _name_user(owner, found.me)
    for some in _together(found.spool.facts(user)):
        _facts(owner, some, done)
        told(done.messages + done.documents + done.facts, total)
    return done


def _document(owner: OwnerMemory, document: DocumentEntry) -> None:
    """Store a document, but not one that was imported before and then forgotten."""
    told = [document.text, document.title, document.source, document.at, document.metadata]
    digest = hashlib.sha256(json.dumps(told, default=str, sort_keys=True).encode()).hexdigest()
    with suppress(KeyReused):
        owner.add_document(
            document.text,
            title=document.title,
            source=document.source,
            at=document.at,
            metadata=document.metadata,
            key=f"import:document:{digest}",
        )


def _together(facts: Iterable[FactEntry]) -> Iterator[list[FactEntry]]:
    """Facts that are learnt in one change: cut where a fact's hash says so, so that the same facts are cut alike in a
    file that has grown. What is over, and what is an instruction, is learnt by itself: again, it would stand twice."""
    some: list[FactEntry] = []
    for fact in facts:
        alone = fact.standing or fact.until is not None
        if some and (alone or len(some) >= FACTS_AT_ONCE or int(_key(some[-1:])[-8:], 16) % CUT_EVERY == 0):
            yield some
            some = []
        if alone:
            yield [fact]
        else:
            some.append(fact)
    if some:
        yield some


def _facts(owner: OwnerMemory, facts: list[FactEntry], done: BroughtIn) -> None:
    """Learn some facts; where one of them is refused, each by itself."""
    try:
        _learn(owner, facts)
    except (InputError, ConfigError) as error:
        if len(facts) == 1:
            what = "it was forgotten here" if isinstance(error, KeyReused) else str(error)
            done.problems.append(BadLine(place=facts[0].place, what=what, advice="it was left out"))
            return
        for fact in facts:
            _facts(owner, [fact], done)
    else:
        done.facts += len(facts)


def _learn(owner: OwnerMemory, facts: list[FactEntry]) -> None:
    if facts[0].standing:
        owner.add_instruction(facts[0].text, key=_key(facts))
    else:
        owner.learn([_told(fact) for fact in facts], key=_key(facts))


def _key(facts: list[FactEntry]) -> str:
    told = json.dumps([_told(fact) for fact in facts], default=str, sort_keys=True)
    return f"import:facts:{hashlib.sha256(told.encode()).hexdigest()}"


def _told(fact: FactEntry) -> dict[str, object]:
    """A fact as `learn` takes it."""
    given = {
        "text": _USER.sub("The user", fact.text),
        "subject": fact.subject,
        "attribute": fact.attribute,
        "value": fact.value,
        "about": fact.about,
        "valid_from": fact.since,
        "valid_to": fact.until,
        "metadata": dict(fact.metadata),
    }
    return {name: value for name, value in given.items() if value}


def _as_user(owner: OwnerMemory, entries: Iterable[Entry], me: str | None) -> Iterator[Entry]:
    """The user's messages under the name that the memory has for the user; where it has none, under the user's own."""
    called = None if _has_name(owner) else me
    return (replace(one, name=called) if me is not None and one.name == me else one for one in entries)


def _name_user(owner: OwnerMemory, me: str) -> None:
    """What the user is called, and where the memory has no name for the user, which speaker that is."""
    named = _has_name(owner)
    called = FactEntry(
        place="--me",
        text=f"{'The user' if named else me} is called {me}",
        subject=None if named else me,
        attribute="name",
        value=me,
    )
    if me.casefold() != owner.owner.user.casefold():
        _learn(owner, [called])
    user = next((person for person in owner.people() if person.id == USER), None)
    if not named and (user is None or me not in user.names):
        owner.set_user(me)


def _has_name(owner: OwnerMemory) -> bool:
    """Whether the memory's user is called by a name, as "ana" is and "default" is not."""
    return speaker_of(owner.owner.user, Role.USER) != USER


@contextmanager
def _refused(done: BroughtIn, place: str) -> Iterator[None]:
    """What the memory refuses is told with its place, and the rest goes on."""
    try:
        yield
    except (InputError, ConfigError) as error:
        done.problems.append(BadLine(place=place, what=str(error), advice="it was left out"))
