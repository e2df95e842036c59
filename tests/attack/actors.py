"""One process of a life: it does its actions one after the other, and keeps a journal of them."""

from __future__ import annotations

import faulthandler
import io
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from attack import compared, words
from attack.engines import Engine
from attack.journal import Journal
from attack.plan import NAMES, Action, Plan, own_word, said_by
from attack.words import found_in
from embermem import Memory, OwnerMemory, bootstrap
from embermem.core import config
from embermem.core.errors import EmberError
from embermem.core.types import Forgotten, Page
from embermem.transfer.export import export
from lives import copy_of, store_of

BEGINS = datetime(2026, 5, 2, 10, tzinfo=UTC)
_QUESTIONS = ("Where do I live?", "What came back to the lake?", "What can you help me with?", "我住在哪里？")
_MATCHING = ("purple lake", "train late", "nurse", "北京", "travaille")
_JUMPS_S = (-86_400.0 * 40, -3600.0, -5.0, 30.0, 7200.0, 86_400.0 * 3, 86_400.0 * 400)


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """Where a life is lived: its store, and folders outside of it."""

    engine: Engine
    place: str | Path
    store: Path
    copies: Path
    journals: Path
    temporary: Path
    key: Path
    model_url: str
    began: float

    def settings(self, plan: Plan) -> dict[str, Any]:
        """The settings of every process."""
        own = {"forgotten_key_file": str(self.key)}
        if plan.model:
            own |= {"model": "scripted", "model_url": self.model_url, "model_key": "none"}
        return {**plan.settings, **own}


def jump_of(action: Action) -> float:
    """By how many seconds an action sets its process's clock."""
    return Random(action.seed).choice(_JUMPS_S)


class Actor:
    """A worker. `tell` hears of each action's beginning and end."""

    def __init__(
        self, plan: Plan, room: Room, worker: int, life: int, tell: Callable[[str], None], ahead_s: float, quiet: bool
    ) -> None:
        self._plan = plan
        self._quiet = quiet
        self._room = room
        self._worker = worker
        self._tell = tell
        self._ahead_s = ahead_s
        self._journal = Journal(room.journals, worker, life)
        self._memory: Memory | None = None
        self._acting = False
        self._interrupted = False

    def run(self, actions: Sequence[Action]) -> None:
        """Do them. What is not an error of ours is told in full; the process goes on after each."""
        signal.signal(signal.SIGINT, self._on_interrupt)
        for action in actions:
            self._tell(f"B {action.no}")
            self._do(action)
            self._tell(f"E {action.no}")
        while self._memory is not None:
            self._do_guarded(-1, self._close)

    def now(self) -> datetime:
        """The time, by the clock of this process."""
        return BEGINS + timedelta(seconds=time.monotonic() - self._room.began + self._ahead_s)

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._acting:
            self._acting = False
            raise KeyboardInterrupt

    def _do(self, action: Action) -> None:
        self._do_guarded(action.no, lambda: getattr(self, f"_{action.kind}")(action, Random(action.seed)))

    def _do_guarded(self, no: int, act: Callable[[], object]) -> None:
        try:
            try:
                self._acting = True
                act()
            finally:
                self._acting = False
        except KeyboardInterrupt:
            self._journal.say(no, "interrupted")
        except EmberError as error:
            kinds = [kind.__name__ for kind in type(error).__mro__]
            self._journal.say(no, "error", kinds=kinds, said=str(error), cause=repr(error.__cause__)[:400])
        except Exception:  # noqa: BLE001  (told in the report)
            self._journal.say(no, "foreign", said=traceback.format_exc())

    def _close(self) -> None:
        memory, self._memory = self._memory, None
        if memory is not None:
            memory.close()

    def _open(self) -> Memory:
        if self._memory is None:
            own = {**self._room.settings(self._plan), **({"background": False} if self._quiet else {})}
            self._memory = Memory(self._room.place, clock=self.now, **own)
        return self._memory

    def _mine(self, action: Action) -> OwnerMemory:
        return self._open().of(*NAMES[action.owner])

    # ----------------------------------------------------------------------------------------------------- what is said

    def _add(self, action: Action, random: Random) -> None:
        mine, said = self._mine(action), said_by(self._plan, action)
        key = f"k{action.content}" if action.keyed else None
        self._journal.say(action.no, "intend")
        reply = said[1].text if len(said) > 1 else None
        labels = labels_of(said[0].text)
        page = mine.add(said[0].text, reply, thread=f"t{action.thread}", key=key, metadata=labels)
        self._journal.say(action.no, "done", pages=[page], utterances=[])

    def _batch(self, action: Action, random: Random) -> None:
        mine, key = self._mine(action), f"k{action.content}" if action.keyed else None
        told = [
            {
                "role": one.role,
                "content": one.text,
                "metadata": labels_of(one.text),
                "original": {"said": [one.text]},
                **({} if one.name is None else {"name": one.name}),
            }
            for one in said_by(self._plan, action)
        ]
        self._journal.say(action.no, "intend")
        added = mine.add_messages(told, thread=f"t{action.thread}", key=key)
        self._journal.say(action.no, "done", pages=added.page_ids, utterances=added.utterance_ids)

    def _retry(self, action: Action, random: Random) -> None:
        (self._add if action.how == "add" else self._batch)(action, random)

    def _document(self, action: Action, random: Random) -> None:
        mine, word = self._mine(action), own_word(self._plan, action)
        parts = [f"## Part {part}\n\nThe heron is back, says part {part}." for part in range(random.randint(1, 9))]
        parts.insert(random.randint(0, len(parts)), f"## Of {word}\n\nThe lake is all about {word} now.")
        source = f"s{action.thread}"
        self._journal.say(action.no, "intend")
        text, labels = "\n\n".join(parts), {"word": [word, action.no]}
        done = mine.add_document(text, source=source, metadata=labels, original={"text": text})
        self._journal.say(action.no, "done", document=done.id)
        if random.random() < 0.2:
            mine.forget_document(done.id)

    # ----------------------------------------------------------------------------------------------- what is understood

    def _settle(self, action: Action, random: Random) -> None:
        self._mine(action).settle()

    def _rebuild(self, action: Action, random: Random) -> None:
        self._open().rebuild()

    def _dry_run(self, action: Action, random: Random) -> None:
        self._mine(action).understand_anew(dry_run=True)

    def _jump(self, action: Action, random: Random) -> None:
        self._ahead_s += jump_of(action)

    def _reopen(self, action: Action, random: Random) -> None:
        self._close()
        self._open()

    # ---------------------------------------------------------------------------------------------------- what is read

    def _recall(self, action: Action, random: Random) -> None:
        mine, asked = self._mine(action), random.choice(_QUESTIONS)
        context = mine.recall(asked, budget=random.choice((50, 600, 4000)))
        mine.visit(context)
        self._heard(action, repr(context), repr(mine.search(asked, k=20)), repr(mine.pages(limit=20)))

    def _read_past(self, action: Action, random: Random) -> None:
        mine = self._mine(action)
        at = self.now() - timedelta(seconds=random.uniform(0, 5))
        context = mine.recall(random.choice(_QUESTIONS), as_of=at)
        self._heard(action, repr(context), repr(mine.facts(as_of=at)), repr(mine.segments(as_of=at)))

    def _heard(self, action: Action, *texts: str) -> None:
        """No other owner's words are in what an owner is told."""
        foreign = [one for text in texts for one in words.found_in(text) if words.owner_of(one) != action.owner]
        if foreign:
            self._journal.say(action.no, "leak", words=foreign)

    # ----------------------------------------------------------------------------------------------- what callers rule

    def _learn(self, action: Action, random: Random) -> None:
        mine, word = self._mine(action), own_word(self._plan, action)
        attribute = random.choice(("lives_in", "likes", "other"))
        self._journal.say(action.no, "intend")
        labels = {"word": [word]}
        brought = {"text": f"has to do with {word}", "attribute": attribute, "value": word, "metadata": labels}
        (fact,) = mine.learn([brought])
        self._journal.say(action.no, "done", fact=fact.id)

    def _correct(self, action: Action, random: Random) -> None:
        mine, word = self._mine(action), own_word(self._plan, action)
        if facts := mine.facts():
            self._journal.say(action.no, "intend")
            fact = mine.correct(random.choice(facts).id, f"is {word} now", value=word)
            self._journal.say(action.no, "done", fact=fact.id)

    def _rule(self, action: Action, random: Random) -> None:
        mine = self._mine(action)
        if action.how == "set_profile":
            mine.set_profile(name=random.choice(("Alice", "Zoë", None)))
        elif action.how == "settle_conflict":
            for one in mine.conflicts()[:1]:
                mine.settle_conflict(one.older.id, one.newer.id)
        elif facts := mine.facts():
            fact = random.choice(facts)
            _ = mine.pin(fact.id) if action.how == "pin" else mine.retire(fact.id)

    def _undo(self, action: Action, random: Random) -> None:
        mine = self._mine(action)
        if changes := mine.changes():
            mine.undo(random.choice(changes[-8:]).no)

    # ---------------------------------------------------------------------------------------------------- what goes

    def _forget(self, action: Action, random: Random) -> None:
        mine = self._mine(action)
        target = _target(mine, action.how, random)
        if target is None:
            return
        named, pages = target
        if pages is None:
            pages = [*mine.forget(**named, dry_run=True).pages]
        before = compared.taken(self._room.place) if self._quiet else {}
        self._journal.say(action.no, "intend", pages=pages, how=action.how)
        done = mine.forget_pages(pages) if action.how == "pages" else mine.forget(**named)
        self._receipt(action, done)
        if self._quiet:
            self._compare(action, mine, before, done)

    def _compare(self, action: Action, mine: OwnerMemory, before: compared.Rows, done: Forgotten) -> None:
        """Nobody else is at work: what differs is the forgetting's doing."""
        after = compared.taken(self._room.place)
        differs = compared.differences(before, after, mine.owner.id, done)
        self._journal.say(action.no, "compared", differs=differs[:20])
        wrong = [one.what for one in self._open().check(deep=True) if one.level == "error"]
        if wrong:
            self._journal.say(action.no, "unsound", said=wrong[:5])
        if done.scrubbed:
            self._look_at_bytes(action, before, after, done)
        verified = mine.verify(done)
        if not verified.ok and action.how != "fact" and done.scrubbed:
            self._journal.say(action.no, "unverified", found=verified.found, scrubbed=verified.scrubbed)

    def _look_at_bytes(self, action: Action, before: compared.Rows, after: compared.Rows, done: Forgotten) -> None:
        """The receipt says that no file of the store holds a byte of it any more."""
        gone = {core for row in before["utterance"] if row["id"] in done.utterances for core in found_in(row["text"])}
        gone -= {core for some in after.values() for row in some for core in found_in(repr([*row.values()]))}
        files = self._room.engine.files(self._room.place)
        if found := {core for file in files for core in gone & words.found_in_bytes(words.bytes_of(file))}:
            self._journal.say(action.no, "bytes", words=sorted(found))

    def _forget_owner(self, action: Action, random: Random) -> None:
        mine = self._mine(action)
        pages = [page.id for page in mine.pages()]
        self._journal.say(action.no, "intend", pages=pages, how="owner")
        self._receipt(action, mine.forget_owner())

    def _receipt(self, action: Action, done: Forgotten) -> None:
        told = {"pages": done.pages, "utterances": done.utterances, "facts": done.facts}
        self._journal.say(action.no, "done", **told, scrubbed=done.scrubbed)

    def _scrub(self, action: Action, random: Random) -> None:
        self._open().scrub()

    # ---------------------------------------------------------------------------------------------- what is carried off

    def _copy(self, action: Action, random: Random) -> None:
        target = self._room.copies / f"copy-{action.no}.db"
        if target.exists():
            return
        settings = config.load(**self._room.settings(self._plan))
        memory = self._open()
        self._journal.say(action.no, "intend", file=target.name)
        if random.random() < 0.5:
            copy_of(memory, target)
        else:
            bootstrap.copy_store(self._room.place, target, settings, self.now(), lambda progress: None)
        self._journal.say(action.no, "done", file=target.name)

    def _export(self, action: Action, random: Random) -> None:
        mine, out = self._mine(action), io.BytesIO()
        export(store_of(self._open()), [mine.owner], out, vectors=False, now=self.now())
        self._heard(action, out.getvalue().decode())


def labels_of(text: str) -> dict[str, Any]:
    """A message's metadata: rare words of its own, so that they are to go with it."""
    return {"words": sorted(found_in(text))[:2], "long": len(text) > 200}


def _target(mine: OwnerMemory, how: str, random: Random) -> tuple[dict[str, Any], list[str] | None] | None:
    """What is to be forgotten, and its pages where they are known without trying; None where there is nothing."""
    if how == "fact":
        facts = [*mine.facts(), *mine.past_facts(), *mine.facts(archived=True)]
        return ({"fact": random.choice(facts).id}, []) if facts else None
    if how == "segment":
        segments = [*mine.segments(), *mine.segments(True)]
        if not segments:
            return None
        chosen = random.choice(segments)
        return {"segment": chosen.id}, [*chosen.page_ids]
    pages = mine.pages()
    if not pages:
        return None
    page = random.choice(pages)
    if how == "page":
        return {"page": page.id}, [page.id]
    if how == "pages":
        return {}, [one.id for one in random.sample(pages, random.randint(1, max(1, len(pages) // 3)))]
    if how == "thread":
        return {"thread": page.thread}, [one.id for one in pages if one.thread == page.thread]
    if how == "before":
        return {"before": pages[len(pages) // 4].said_at}, None
    return {"matching": _words_of(page, random)}, None


def _words_of(page: Page, random: Random) -> str:
    """A query that matches this page alone, or one that may match many."""
    own = sorted(words.found_in("\n".join(one.text for one in page.utterances)))
    said = " ".join(one.text for one in page.utterances)
    exact = [one for one in said.replace(",", " ").replace(".", " ").split() if words.found_in(one)]
    return random.choice(exact or own) if own and random.random() < 0.8 else random.choice(_MATCHING)


def live(
    plan: Plan,
    room: Room,
    worker: int,
    life: int,
    out: int,
    actions: Sequence[Action],
    ahead_s: float,
    quiet: bool,
) -> None:
    """The whole of a forked process; it does not return."""
    try:
        tempfile.tempdir = str(room.temporary)
        faulthandler.register(signal.SIGUSR1, open(room.journals / f"{os.getpid()}.trace", "w"))  # noqa: SIM115
        actor = Actor(plan, room, worker, life, lambda line: _write(out, line), ahead_s, quiet)
        actor.run(actions)
        os._exit(0)
    except BaseException:  # noqa: BLE001  (a process that was forked must not go on as its parent)
        _write(out, f"X {traceback.format_exc()!r}")
    finally:
        os._exit(1)


def _write(out: int, line: str) -> None:
    os.write(out, line.encode() + b"\n")
