"""`embermem rebuild`: memory derived again, from the log or by reading every page anew, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from embermem.core.errors import NotFound
from embermem.core.types import Fact, Owner, ProfileField, Trait
from embermem.memoryos.rebuild import Difference
from embermem.reports import render, show

if TYPE_CHECKING:
    from embermem.memory import Memory, OwnerMemory

Progress = Callable[[int, int], None]

VALUE_CHARS = 60


def again(memory: Memory, owners: Sequence[Owner], told: Progress) -> tuple[Difference, ...]:
    """Apply each owner's log again; what differs."""
    found: list[Difference] = []
    for owner in owners:
        told(len(found), len(owners))
        found += memory.rebuild(owner)
    return tuple(found)


def anew(owner: OwnerMemory, memory: Memory, dry_run: bool, told: Progress) -> Difference:
    """Read every page of an owner again, in a copy if it is a dry run; what differs. Says beforehand who reads."""
    who = f"{owner.owner.user} / {owner.owner.agent}"
    where = " in a copy in memory" if dry_run else ""
    render.note(f"reading {who} anew{where}, by {_analyst(memory.settings.model)}")
    if dry_run and memory.settings.model:
        render.note("the model's calls are made, and count")
    try:
        return owner.understand_anew(dry_run=dry_run, progress=told)
    except KeyboardInterrupt:
        if not dry_run:
            render.note("what is not yet read waits: `embermem settle`, with the same model, goes on there")
        raise


def outdated(memory: Memory, told: Progress) -> tuple[Difference, ...]:
    """Read the memory of every owner with outdated pages again; what differs. Raises NotFound without a reader."""
    old = memory.outdated()
    if not all(one.reader for mine in old.values() for one in mine):
        raise NotFound(
            "no trained reader is in use, so nothing is read again: run `embermem model install`, "
            "and leave the setting `embedder` at `auto`"
        )
    owners = (memory.of(one.user, one.agent) if one.space is None else memory.space(one.space) for one in old)
    return tuple(anew(one, memory, False, told) for one in owners)


def show_again(found: Sequence[Difference], as_json: bool) -> None:
    """Owner by owner: the same, or what differed from the log."""
    if as_json:
        render.print_json({"same": all(one.same for one in found), "owners": found})
        return
    for one in found:
        if one.same:
            render.print_text(f"{_name(one)}: the same")
        else:
            render.print_text(f"{_name(one)}: differed from the log, and is mended")
            _listing(one)


def show_anew(found: Sequence[Difference], model: str, dry_run: bool, as_json: bool) -> None:
    """What each owner's memory is, read anew, beside what it was."""
    if as_json:
        render.print_json({"dry_run": dry_run, "model": model or None, "owners": found})
        return
    done = "would be read" if dry_run else "was read"
    for one in found:
        render.print_text(f"{_name(one)}: {done} anew by {_analyst(model)}")
        _listing(one)
    if not found:
        render.print_text("no page is outdated")


def _listing(one: Difference) -> None:
    before, after = one.segments
    waiting = f"{one.waiting} ({'; '.join(one.errors)})" if one.errors else one.waiting
    render.records("", [("segments", f"{before} → {after}"), ("pages that wait", waiting)])
    tables: tuple[tuple[str, tuple[str, ...], list[tuple[object, ...]]], ...] = (
        (
            "facts",
            ("", "fact", "subject", "attribute", "from"),
            [*(_fact("gone", fact) for fact in one.facts_gone), *(_fact("new", fact) for fact in one.facts_new)],
        ),
        ("traits", ("trait", "before", "after"), [_trait(old, new) for old, new in one.traits]),
        ("profile", ("of", "field", "before", "after"), [_line(old, new) for old, new in one.profile]),
        (
            "summaries",
            ("", "summary"),
            [
                *(("gone", render.cut(text, show.SUMMARY_CHARS)) for text in one.summaries_gone),
                *(("new", render.cut(text, show.SUMMARY_CHARS)) for text in one.summaries_new),
            ],
        ),
    )
    for title, columns, rows in tables:
        if rows:
            render.table(title, columns, rows)
    if not any(rows for _, _, rows in tables):
        render.print_text("  No fact that holds, trait, profile line or summary differs; past facts, ids or times do.")


def _fact(what: str, one: Fact) -> tuple[object, ...]:
    return (
        what,
        render.cut(one.text, show.SUMMARY_CHARS),
        render.cut(one.person or one.subject, 20),
        render.cut(one.attribute, 20),
        show.sources(one.sources),
    )


def _trait(old: Trait | None, new: Trait | None) -> tuple[object, ...]:
    named = new or old
    return (None if named is None else named.dimension, _level(old), _level(new))


def _level(one: Trait | None) -> str:
    return "" if one is None else f"{one.level:+.2f} {one.pole}, confidence {one.confidence:.2f}"


def _line(old: ProfileField | None, new: ProfileField | None) -> tuple[object, ...]:
    named = new or old
    of = (None, None) if named is None else (named.whose, render.cut(named.name, 24))
    return (*of, _value(old), _value(new))


def _value(one: ProfileField | None) -> str:
    return "" if one is None else f"{render.cut(one.value, VALUE_CHARS)} ({one.set_by})"


def _analyst(model: str) -> str:
    return f"model {model}" if model else "extraction: no model is set"


def _name(one: Difference) -> str:
    return f"{render.cut(one.owner.user, 60)} / {render.cut(one.owner.agent, 60)}"
