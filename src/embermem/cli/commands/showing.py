"""`recall`, `chat`, `show`, `stats`, `cost`: memory out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import (
    AsOfOption,
    InThreadOption,
    JsonOption,
    PersonFromOption,
    ScopeOption,
    ShareOption,
    SinceOption,
    SpeakerOption,
    UntilOption,
    ValidAtOption,
    WhereOption,
    given,
    owner_read,
    say,
    scope_of,
    session_of,
    text_of,
    then_of,
    time_of,
)
from embermem.cli.session import no_memory_of

if TYPE_CHECKING:
    from embermem.protocols import DiskUsage

_MOST_OWNERS = 100
"""Owners that `stats` lists; with --json it lists all."""


def recall(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="The query; `-` reads stdin.")],
    budget: Annotated[int | None, typer.Option(min=1, metavar="TOKENS", help="Tokens of the context.")] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="The time of the query; `last week` is relative to it.")
    ] = None,
    as_of: AsOfOption = None,
    valid_at: ValidAtOption = None,
    thread: Annotated[str | None, typer.Option(help="The thread of the query.")] = None,
    share: ShareOption = None,
    person_from: PersonFromOption = None,
    min_score: Annotated[
        float, typer.Option(min=0.0, max=1.0, metavar="P", help="Leave out messages with a lower relevance.")
    ] = 0.0,
    scope: ScopeOption = None,
    in_thread: InThreadOption = None,
    where: WhereOption = None,
    speaker: SpeakerOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also print the hits, their scores and what was left out.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the context for a query, ready for a prompt."""
    from embermem.reports import render, show

    asked_at, then = time_of(at), then_of(as_of, valid_at)
    seen = scope_of(scope, threads=in_thread, where=where, speakers=speaker, since=since, until=until)
    asked = text_of(query)
    with owner_read(ctx, share, person_from) as owner:
        context = owner.recall(
            asked, at=asked_at, budget=budget, thread=thread, scope=seen, min_score=min_score, **then
        )
    if as_json:
        render.print_json(context)
        return
    render.print_text(context.text)
    if explain:
        show.hits(f"hits, preset {context.preset}", context.hits)
        rows = [(o.reason, f"{o.score:.3f}", render.cut(o.what, 90)) for o in context.left_out]
        render.table("left out", ("why", "score", "what"), rows)
        render.records(
            "context",
            [
                (f"{context.counter} tokens", context.tokens),
                ("confidence", context.confidence),
                ("partial", context.partial),
                *(("note", text) for text in context.notes),
            ],
        )


def overview(
    ctx: typer.Context,
    budget: Annotated[int, typer.Option(min=1, metavar="TOKENS", help="Tokens of the text.")] = 600,
    person: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only of this person, as in `show people`.")
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="DAY", help="Only what was on this day or later.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="Only what was on this day or before.")] = None,
    share: ShareOption = None,
    person_from: PersonFromOption = None,
    scope: ScopeOption = None,
    in_thread: InThreadOption = None,
    where: WhereOption = None,
    speaker: SpeakerOption = None,
    as_of: AsOfOption = None,
    valid_at: ValidAtOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print who everybody is and what happened, by time."""
    from embermem.reports import render

    then, days = then_of(as_of, valid_at), {"since": time_of(since), "until": time_of(until)}
    seen = scope_of(scope, threads=in_thread, where=where, speakers=speaker)
    with owner_read(ctx, share, person_from) as owner:
        context = owner.overview(budget, person=person, scope=seen, **days, **then)
    if as_json:
        render.print_json(context)
        return
    render.print_text(context.text)


def demo(
    ctx: typer.Context,
    keep: Annotated[str | None, typer.Option(metavar="PATH", help="Keep the memory in this new file.")] = None,
) -> None:
    """Show the memory at work on a bundled conversation of four months, in a store that is then deleted."""
    from embermem import demo

    preset = ctx.obj.preset
    words = [*(("--store", keep) if keep else ()), *(("--preset", preset) if preset else ())]
    raise typer.Exit(demo.main(words))


def chat(
    ctx: typer.Context,
    thread: Annotated[str, typer.Option(help="The thread.")] = "main",
    system: Annotated[str | None, typer.Option(metavar="TEXT", help="Replaces the default system prompt.")] = None,
    style: Annotated[str | None, typer.Option(metavar="TEXT", help="How to reply, such as `short, warm`.")] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, metavar="TOKENS", help="Tokens of the memory in the prompt.")
    ] = None,
    share: ShareOption = None,
    person_from: PersonFromOption = None,
) -> None:
    """Chat with a model that has memory. /help lists commands; Ctrl-C stops a reply, Ctrl-D ends the chat."""
    from embermem.chat import no_model
    from embermem.cli import chat as chats
    from embermem.core import config

    session = session_of(ctx)
    if not config.load(session.preset).model:
        raise no_model()
    with session.for_writing(background=True) as memory:
        owner = session.owner(memory, share or (), person_from)
        talk = chats.Talk(memory, owner, thread=thread, system=system, style=style, budget=budget)
        unanswered = chats.run(talk)
    if unanswered and not sys.stdin.isatty():
        raise typer.Exit(1)


def show(
    ctx: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(metavar="[short|mid|long|pending|archive|people|changes|page|segment]", help="Default: all."),
    ] = None,
    name: Annotated[str | None, typer.Argument(metavar="[ID]", help="The id of the page or segment.")] = None,
    person: Annotated[
        str | None, typer.Option(metavar="NAME", help="With `long`: one person's profile and facts.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Most rows.")] = None,
    scope: ScopeOption = None,
    in_thread: InThreadOption = None,
    where: WhereOption = None,
    speaker: SpeakerOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    as_of: AsOfOption = None,
    valid_at: ValidAtOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the tiers, the people, a page (by id or number), a segment, or the log of changes."""
    from embermem.reports import show as shown

    if what in ("page", "segment") and name is None:
        raise typer.BadParameter(f"`show {what}` needs an ID")
    if what not in ("page", "segment") and name is not None:
        raise typer.BadParameter(f"`show {what}` takes no ID")
    if what not in (None, "short", "pending", "mid", "long", "archive", "people", "changes", "page", "segment"):
        raise typer.BadParameter(
            f"cannot show {what!r}: short, pending, mid, long, archive, people, changes, page ID or segment ID"
        )
    if person is not None and what != "long":
        raise typer.BadParameter("--person requires `show long`")
    then = then_of(as_of, valid_at)
    if what == "changes" and then:
        raise typer.BadParameter("`show changes` prints the whole log; use `diff` for the changes between two times")
    seen = scope_of(scope, threads=in_thread, where=where, speakers=speaker, since=since, until=until)
    if seen is not None and (what not in ("short", "pending", "mid", "long", "archive") or person is not None):
        raise typer.BadParameter("a scope requires `show` short, pending, mid, long or archive, without --person")
    if what == "people" and "valid_at" in then:
        raise typer.BadParameter("`show people` takes --as-of, not --valid-at")
    with owner_read(ctx) as owner:
        match what:
            case None:
                shown.everything(owner, limit, as_json, then)
            case "mid":
                shown.segments(owner, limit, as_json, then, seen)
            case "long" if seen is not None:
                shown.facts(owner, as_json, then, seen)
            case "long" if person is not None:
                shown.person(owner, person, as_json, then)
            case "long":
                shown.persona(owner, as_json, then)
            case "people":
                shown.people(owner, as_json, then)
            case "changes":
                shown.changes(owner, limit, as_json)
            case "page":
                shown.page(owner, name or "", as_json, then)
            case "segment":
                shown.segment(owner, name or "", limit, as_json, then)
            case _:
                shown.pages(owner, shown.tier_of(what), limit, as_json, then, seen)


def stats(
    ctx: typer.Context,
    by_bytes: Annotated[bool, typer.Option("--bytes", help="Print what each table and index takes on disk.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Print counts for the store and for this user."""
    from datetime import UTC, datetime

    from embermem.reports import outdated, render, waiting

    session = session_of(ctx)
    if by_bytes:
        with session.for_reading() as memory:
            _bytes(memory.disk_usage(), as_json)
        return
    with session.for_reading() as memory:
        whole, owners = memory.stats(), memory.owners(partly=True)
        asked = session.owner(memory)
        own = asked.stats() if asked.owner in owners else None
        if own is None and (session.space or given(ctx, "user") or given(ctx, "agent")):
            raise no_memory_of(str(asked.owner), owners)
        better = memory.better_embedder()
        old = memory.outdated()
    if better is not None:
        say(f"the embedder {better} is now available; `embermem settle` or a worker embeds the store again with it")
    if as_json:
        render.print_json({"store": whole, "owner": own, "owners": owners})
        return
    render.records("store", [pair for pair in _pairs(whole) if pair[0] != "unreachable" or pair[1]])
    if found := outdated.sentence(old.values()):
        render.print_text(f"  {found}")
    if own is not None:
        shown = [pair for pair in _pairs(own) if pair[0] not in ("outdated", "waiting")]
        render.records(f"{session.user} / {session.agent}", shown)
        for sentence in waiting.sentences(own.waiting, datetime.now(UTC)):
            render.print_text(f"  {sentence}")
    if len(owners) > 1 or own is None:
        shown = [(render.cut(o.user), render.cut(o.agent)) for o in owners[:_MOST_OWNERS]]
        render.table("owners", ("user", "agent"), shown)
        if len(owners) > _MOST_OWNERS:
            render.print_text(f"  and {len(owners) - _MOST_OWNERS} more")


def _bytes(usage: DiskUsage, as_json: bool) -> None:
    """What takes the bytes, and how many of them for each utterance and page."""
    from embermem.core.record import plain_values
    from embermem.reports import render

    said, pages = max(usage.utterances, 1), max(usage.pages, 1)
    if as_json:
        render.print_json(
            {
                **plain_values(usage),
                "unused": usage.unused,
                "bytes_per_utterance": round(usage.bytes / said, 1),
                "bytes_per_page": round(usage.bytes / pages, 1),
            }
        )
        return
    rows = [
        (one.name if one.index_of is None else f"  {one.name} (index of {one.index_of})", one.bytes, one.unused)
        for one in usage.parts
    ]
    rows += [("free pages", usage.free, usage.free), ("other", usage.other, 0)]
    told = [(name, render.size(size), render.size(unused), f"{size / said:.1f}") for name, size, unused in rows if size]
    render.table("bytes" if usage.exact else "bytes of values", ("part", "bytes", "unused", "per utterance"), told)
    render.records(
        "store",
        [
            ("bytes", render.size(usage.bytes)),
            ("unused in pages", render.size(usage.unused)),
            ("per utterance", f"{usage.bytes / said:.0f}"),
            ("per page", f"{usage.bytes / pages:.0f}"),
        ],
    )


def _pairs(record: object) -> list[tuple[str, object]]:
    from embermem.core.record import plain_values
    from embermem.reports import render

    named: dict[str, object] = plain_values(record)
    return [(k, render.size(v) if k == "bytes" and isinstance(v, int) else v) for k, v in named.items()]


def cost(
    ctx: typer.Context,
    since: Annotated[
        str | None, typer.Option(metavar="DAY", help="From this day (UTC); default: the last 30 days.")
    ] = None,
    by: Annotated[str, typer.Option(help="day, purpose or owner.")] = "day",
    as_json: JsonOption = False,
) -> None:
    """Print model calls, their cost, and what today's limits leave."""
    from datetime import UTC, datetime, timedelta

    from embermem.reports import cost as costs

    if by not in tuple(costs.By):
        raise typer.BadParameter(f"--by {by!r}; allowed: {', '.join(costs.By)}")
    now = datetime.now(UTC)
    begin = time_of(since) or costs.midnight_of(now) - timedelta(days=29)
    begin = begin.replace(tzinfo=begin.tzinfo or UTC)
    session = session_of(ctx)
    with session.for_reading() as memory:
        costs.show(memory, session.owner(memory).owner.id, begin, costs.By(by), now, as_json)
