"""`undo`, `correct`, `pin`, `retire`, `forget`: what was learnt put right, or taken away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import (
    InThreadOption,
    JsonOption,
    KeyOption,
    ScopeOption,
    SinceOption,
    SpeakerOption,
    UntilOption,
    WhereOption,
    owner_read,
    scope_of,
    session_of,
    text_of,
    time_of,
)

if TYPE_CHECKING:
    from embermem.core.types import Fact
    from embermem.memory import OwnerMemory


def undo(
    ctx: typer.Context,
    change: Annotated[int, typer.Argument(min=1, metavar="CHANGE", help="The change's number, as in `show changes`.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be reverted; change nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Undo what a change taught about this user; prints the number of the change that does so."""
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
    fact: Annotated[str, typer.Argument(metavar="FACT", help="The fact's id, as in `show long`.")],
    text: Annotated[str, typer.Argument(help="The correct fact in words; `-` reads stdin.")],
    value: Annotated[str | None, typer.Option(help="Its value, such as `Lyon`; default: the text.")] = None,
    valid_from: Annotated[
        str | None, typer.Option(metavar="TIME", help="Since when; default: as the text says, else as before.")
    ] = None,
    valid_to: Annotated[str | None, typer.Option(metavar="TIME", help="Until when it was so.")] = None,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replace a wrong fact; earlier messages do not teach the old one again."""
    says, since, until = text_of(text), time_of(valid_from), time_of(valid_to)
    _changed_fact(
        ctx,
        lambda owner: owner.correct(fact, says, value=value, valid_from=since, valid_to=until, key=key),
        as_json,
    )


def pin(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="The fact's id, as in `show long`.")],
    off: Annotated[bool, typer.Option("--off", help="Remove the pin.")] = False,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Exempt a fact from the cap of the knowledge base."""
    _changed_fact(ctx, lambda owner: owner.pin(fact, not off, key=key), as_json)


def retire(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="The fact's id, as in `show long`.")],
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """End a fact; it can still be queried by date."""
    _changed_fact(ctx, lambda owner: owner.retire(fact, key=key), as_json)


def _changed_fact(ctx: typer.Context, change: Callable[[OwnerMemory], Fact], as_json: bool) -> None:
    from embermem.reports import render

    with owner_read(ctx) as owner:
        fact = change(owner)
    render.answer(as_json, fact, f"{fact.id}: {fact.text}")


def forget(
    ctx: typer.Context,
    page: Annotated[str | None, typer.Option(metavar="ID", help="A page, by its id or number.")] = None,
    fact: Annotated[str | None, typer.Option(metavar="ID", help="A fact; the messages stay.")] = None,
    segment: Annotated[str | None, typer.Option(metavar="ID", help="All pages of a segment.")] = None,
    thread: Annotated[str | None, typer.Option(metavar="NAME", help="All pages of a thread.")] = None,
    before: Annotated[str | None, typer.Option(metavar="TIME", help="All pages before a time or day.")] = None,
    matching: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The pages that contain all of these words.")
    ] = None,
    scope: ScopeOption = None,
    in_thread: InThreadOption = None,
    where: WhereOption = None,
    speaker: SpeakerOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    everything: Annotated[bool, typer.Option("--all", help="All of this user's memory with this agent.")] = False,
    all_agents: Annotated[
        bool, typer.Option("--all-agents", help="All of this user's memory with every agent.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be removed; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove something from this user's memory and from the file, for good, with what rests on it alone.

    A scope removes the pages of which everything is in scope.
    """
    from embermem.cli import forget as forgetting

    options = {"page": page, "fact": fact, "segment": segment, "thread": thread, "matching": matching}
    given: dict[str, object] = {**options, "before": time_of(before)}
    given["scope"] = scope_of(scope, threads=in_thread, where=where, speakers=speaker, since=since, until=until)
    named = {what: name for what, name in given.items() if name is not None}
    if len(named) + everything + all_agents != 1:
        raise typer.BadParameter(
            "name one of --page, --fact, --segment, --thread, --before, --matching, --scope (or --in-thread, --where,"
            " --speaker, --since, --until), --all, --all-agents"
        )
    session = session_of(ctx)
    with session.for_reading() as memory:
        if all_agents:
            forgetting.forget_user(memory, session.user, dry_run=dry_run, yes=yes, as_json=as_json)
            return
        owner = session.known_owner(memory)
        forgetting.forget(owner, named, everything=everything, dry_run=dry_run, yes=yes, as_json=as_json)
