"""`embermem forget`: what would go is shown and agreed to, then it goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from embermem.core.errors import InputError, NotFound
from embermem.reports import render, show

if TYPE_CHECKING:
    from embermem.core.types import Fact, Forgotten, Page
    from embermem.memory import Memory, OwnerMemory

SHOWN = 20
"""Rows of a table of what would go; how many more there are is said below it."""


def forget(
    owner: OwnerMemory, named: Mapping[str, Any], *, everything: bool, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Forget what is named, as `OwnerMemory.forget` names it (a page also by its number), or everything, after asking;
    with `dry_run` only show it. Raises InputError where nobody can be asked and `yes` was not given."""
    if "page" in named:
        named = {**named, "page": show.page_named(owner, named["page"]).id}

    def take(*, tried: bool) -> Forgotten:
        return owner.forget_owner(dry_run=tried) if everything else owner.forget(**named, dry_run=tried)

    found = take(tried=True)
    if dry_run:
        _print(owner, found, as_json)
        return
    if not yes:
        _ask(_counted(found), None if as_json else partial(_preview, owner, found))
    done = take(tried=False)
    if as_json:
        render.print_json(done)
        return
    render.print_text(f"forgotten: {_counted(done)}")
    if done.rewritten:
        render.note(f"made again from what is left: {len(done.rewritten)} summaries of segments and chains")
    _left([done])


def forget_user(memory: Memory, user: str, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Forget a user with all agents, after asking; with `dry_run` only show it. Raises NotFound for no such user, and
    InputError as `forget`."""
    found = memory.forget_user(user, dry_run=True)
    if not found:
        raise NotFound(f"there is no memory of {user}")
    if not (dry_run or yes):
        _ask(f"all of {user}, with {len(found)} agents", None if as_json else partial(_print_agents, found))
    done = found if dry_run else memory.forget_user(user)
    if as_json:
        render.print_json(done)
        return
    _print_agents(done)
    render.print_text(f"{'would be forgotten' if dry_run else 'forgotten'}: {len(done)} memories")
    if not dry_run:
        _left(done.values())


def _ask(what: str, show_first: Callable[[], None] | None) -> None:
    if not sys.stdin.isatty():
        raise InputError(
            "forgetting cannot be undone: give --yes to confirm, or --dry-run to see what would be removed"
        )
    if show_first is not None:
        show_first()
    typer.confirm(f"Forget {what}, for good?", abort=True, err=True)


def _left(receipts: Collection[Forgotten]) -> None:
    """What may still hold what was forgotten."""
    if any(one.scrub_pending for one in receipts):
        render.note(
            "another program still reads the file as it was: its old text leaves the disk once that program is done "
            "and the store is worked on or closed",
            style="yellow",
        )
    for backup in dict.fromkeys(backup for one in receipts for backup in one.backups):
        render.note(f"this backup still holds what was forgotten: {backup}", style="yellow")


def _print_agents(found: Mapping[str, Forgotten]) -> None:
    render.table("memories", ("agent", "holds"), [(agent, _counted(one)) for agent, one in found.items()])


def _print(owner: OwnerMemory, found: Forgotten, as_json: bool) -> None:
    if as_json:
        render.print_json(found)
        return
    _preview(owner, found)
    render.print_text(f"would be forgotten: {_counted(found)}")


def _preview(owner: OwnerMemory, found: Forgotten) -> None:
    """What would go, read while it is still there."""
    pages = [page for page_id in found.pages[:SHOWN] if (page := _there(owner, page_id)) is not None]
    if pages:
        rows = [(page.no, render.when(page.said_at), page.thread, _said(page)) for page in pages]
        render.table("pages", ("no", "said", "thread", "text"), rows)
        _more(len(found.pages))
    facts = [owner.fact(fact_id) for fact_id in found.facts[:SHOWN]]
    if facts:
        render.table("facts", ("fact", "subject", "attribute", "holds"), [_fact_row(fact) for fact in facts])
        _more(len(found.facts))
    rest = {"traits": found.traits, "profile lines": found.profile, "made again": found.rewritten}
    render.records("", [(what, render.cut(", ".join(names), 100)) for what, names in rest.items() if names])


def _there(owner: OwnerMemory, page_id: str) -> Page | None:
    try:
        return owner.page(page_id)
    except NotFound:  # another program was quicker
        return None


def _said(page: Page) -> str:
    return render.cut(page.query or page.response, show.TEXT_CHARS)


def _fact_row(fact: Fact) -> tuple[object, ...]:
    state = "past" if fact.retired_at else "archived" if fact.archived else "now"
    return render.cut(fact.text, show.SUMMARY_CHARS), render.cut(fact.person, 20), fact.attribute, state


def _more(count: int) -> None:
    if count > SHOWN:
        render.print_text(f"  and {count - SHOWN} more")


def _counted(found: Forgotten) -> str:
    counts = {
        "page": len(found.pages),
        "utterance": len(found.utterances),
        "fact": len(found.facts),
        "segment": len(found.segments),
        "trait": len(found.traits),
        "profile line": len(found.profile),
    }
    said = [f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts.items() if count]
    return ", ".join(said) or "nothing"
