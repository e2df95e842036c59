"""`undo`, `correct`, `pin`, `retire`, `forget`: what was learnt put right, or taken away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import JsonOption, owner_read, session_of, text_of, time_of

if TYPE_CHECKING:
    from embermem.core.types import Fact
    from embermem.memory import OwnerMemory


def undo(
    ctx: typer.Context,
    change: Annotated[int, typer.Argument(min=1, metavar="CHANGE", help="Its number, by `show changes`.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be taken back, change nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take back what a change taught about this user; prints the number of the change that does so."""
    from embermem.core.changes import Say, kind_of
    from embermem.reports import render

    with owner_read(ctx) as owner:
        plan = owner.undo_plan(change)
        no = None if dry_run else owner.undo(change)
        held = {} if as_json else {fact.id: fact.text for fact in (*owner.facts(), *owner.past_facts())}
    if as_json:
        render.print_json({"change": no, "undoes": change, "refused": plan.refused})
        return
    if no is not None:
        render.print_text(str(no))
        render.note(f"what change {change} taught is taken back; `embermem undo {no}` restores it")
    say = Say(held, render.when)
    for decision in plan.decisions if dry_run else ():
        if taught := kind_of(decision).taught(decision, say):
            render.print_text(taught)
    for one in plan.refused:
        render.note(f"stays: {one.item}: {one.reason}", style="yellow")


def correct(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id, by `show long`.")],
    text: Annotated[str, typer.Argument(help="What is right, in words; `-` reads it from stdin.")],
    value: Annotated[str | None, typer.Option(help="What it comes to, such as `Lyon`; the text, if not given.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what is right in place of a fact; what was said before does not teach the old one again."""
    says = text_of(text)
    _changed_fact(ctx, lambda owner: owner.correct(fact, says, value=value), as_json)


def pin(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id, by `show long`.")],
    off: Annotated[bool, typer.Option("--off", help="No longer.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Keep a fact when newer ones fill the knowledge base."""
    _changed_fact(ctx, lambda owner: owner.pin(fact, not off), as_json)


def retire(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id, by `show long`.")],
    as_json: JsonOption = False,
) -> None:
    """Say that a fact is true no longer; it stays answerable by date."""
    _changed_fact(ctx, lambda owner: owner.retire(fact), as_json)


def _changed_fact(ctx: typer.Context, change: Callable[[OwnerMemory], Fact], as_json: bool) -> None:
    from embermem.reports import render

    with owner_read(ctx) as owner:
        fact = change(owner)
    render.answer(as_json, fact, f"{fact.id}: {fact.text}")


def forget(
    ctx: typer.Context,
    page: Annotated[str | None, typer.Option(metavar="ID", help="A page, by its id or number.")] = None,
    fact: Annotated[str | None, typer.Option(metavar="ID", help="A fact; what was said stays.")] = None,
    segment: Annotated[str | None, typer.Option(metavar="ID", help="All pages of a segment.")] = None,
    thread: Annotated[str | None, typer.Option(metavar="NAME", help="All pages of a thread.")] = None,
    before: Annotated[str | None, typer.Option(metavar="TIME", help="All pages said before a time or day.")] = None,
    matching: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The pages that hold all of these words.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With --matching: also so many that search finds.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of this user's memory.")] = False,
    all_agents: Annotated[bool, typer.Option("--all-agents", help="All of this user, with every agent.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take something out of this user's memory and out of the file, for good, with all that rests on it alone."""
    from embermem.cli import forget as forgetting

    options = {"page": page, "fact": fact, "segment": segment, "thread": thread, "matching": matching}
    given: dict[str, object] = {**options, "before": time_of(before)}
    named = {what: name for what, name in given.items() if name is not None}
    if len(named) + everything + all_agents != 1:
        raise typer.BadParameter(
            "name one of --page, --fact, --segment, --thread, --before, --matching, --all, --all-agents"
        )
    if limit is not None:
        if matching is None:
            raise typer.BadParameter("--limit goes with --matching")
        named["limit"] = limit
    session = session_of(ctx)
    with session.for_reading() as memory:
        if all_agents:
            forgetting.forget_user(memory, session.user, dry_run=dry_run, yes=yes, as_json=as_json)
            return
        owner = session.owner(memory)
        forgetting.forget(owner, named, everything=everything, dry_run=dry_run, yes=yes, as_json=as_json)
