"""`add`, `ingest`, `settle`: messages in."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from embermem.cli.commands.common import (
    JsonOption,
    MetadataOption,
    labels_of,
    owner_read,
    owner_written,
    say,
    session_of,
    text_of,
    time_of,
    with_bar,
)
from embermem.core.errors import InputError, NotFound

if TYPE_CHECKING:
    from embermem.cli.session import Session
    from embermem.core.types import Waiting
    from embermem.memory import Memory, OwnerMemory
    from embermem.transfer.conversations import Source


def add(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="What the user said; `-` reads stdin; may be empty.")],
    response: Annotated[str | None, typer.Argument(help="What the agent answered.")] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When it was said, in ISO 8601; default: now.")] = None,
    thread: Annotated[str, typer.Option(help="The thread.")] = "main",
    key: Annotated[str | None, typer.Option(help="Idempotency key: repeated, it stores one page.")] = None,
    expires_at: Annotated[
        str | None, typer.Option("--expires-at", metavar="TIME", help="When the page expires.")
    ] = None,
    metadata: MetadataOption = None,
    origin: Annotated[str | None, typer.Option(help="Where the query comes from, such as `pasted`.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Store one page: a query, a response, or both."""
    from embermem.reports import render

    labels = labels_of(metadata)
    said_at, ends = time_of(at), time_of(expires_at)
    said = text_of(query)
    if response is not None:
        response = text_of(response)
    with owner_written(ctx) as owner:
        page_id = owner.add(
            said, response, at=said_at, thread=thread, key=key, expires_at=ends, metadata=labels, origin=origin
        )
    render.answer(as_json, {"page_id": page_id}, page_id)


def ingest(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file; `-` reads stdin.")],
    form: Annotated[str, typer.Option("--format", help="auto, jsonl, messages, recall, locomo or text.")] = "auto",
    thread: Annotated[str, typer.Option(help="The thread of messages without one.")] = "main",
    me: Annotated[str | None, typer.Option(metavar="NAME", help="The speaker on the user's side.")] = None,
    sample: Annotated[str | None, typer.Option(metavar="ID", help="Only the conversation with this id.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip and count invalid lines.")] = False,
    settle: Annotated[bool, typer.Option("--settle/--no-settle", help="Process the stored pages now.")] = True,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Store nothing; print the estimated cost with a model.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Store a file of messages. Run it again to continue after an interruption; nothing is stored twice.

    Reads JSON lines of messages or exchanges, a JSON list of OpenAI messages, the recall-set format, LoCoMo files, and
    lines of `Name: text`. In a file of several conversations, each gets its own owner, named by its id. Exit code 3:
    pages wait for the model; 4: pages were read without it.
    """
    from embermem.core import config
    from embermem.reports import render
    from embermem.transfer import conversations

    if form not in tuple(conversations.Format):
        raise typer.BadParameter(f"--format {form!r}; allowed: {', '.join(conversations.Format)}")
    where = "stdin" if file == "-" else file
    session = session_of(ctx)
    longest = config.load(session.preset).max_text_chars
    with _opened(file) as stream:
        try:
            sources = _chosen(conversations.read(stream, conversations.Format(form), me, longest), sample)
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
    else:
        for one in done:
            render.print_text(
                f"{one['user']} / {one['agent']}: {one['messages']} messages read, {one['new']} new, "
                f"{len(one['bad'])} bad, {one['placed']} pages settled"
            )
    end_waiting([wait for one in done for wait in one["waiting"]])


def _estimate(session: Session, sources: list[Source], thread: str, as_json: bool) -> None:
    from datetime import UTC, datetime

    from embermem.core import config, ids
    from embermem.reports import cost, render
    from embermem.reports import estimate as estimates

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
    from embermem.core.messages import MESSAGE_KEYS
    from embermem.core.text import did_you_mean
    from embermem.reports import render
    from embermem.transfer.ingest import ingest as store

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
            say("what was stored is kept; run the same command again, and it goes on there")
            raise
    for bad in result.bad:
        render.note(f"left out: {where}, {bad}", style="yellow")
    for key, (count, place) in result.unread.items():
        render.note(
            f"left out: {where}, {count} values of the key {key!r}{did_you_mean(key, MESSAGE_KEYS)}, the first at "
            f"{place}; no message has a place for it; write it under metadata",
            style="yellow",
        )
    new = owner.stats().utterances - before
    return {
        "user": owner.owner.user,
        "agent": owner.owner.agent,
        "messages": result.messages,
        "new": new,
        "bad": result.bad,
        "unread": result.unread,
        "placed": settled(owner) if settle else 0,
        "waiting": owner.stats().waiting if settle else (),
    }


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


def settle(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Process what is pending for this user, now. Exit code 3: pages wait; 4: pages were read without the model."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        placed, waiting = settled(owner), owner.stats().waiting
    render.answer(as_json, {"placed": placed, "waiting": waiting}, f"{placed} pages settled")
    end_waiting(waiting)


def analyse(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Process what is pending for this user, and analyse mid-term memory whatever its heat. Exit codes as `settle`."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        done, waiting = with_bar("analysing", "pages", owner.analyse), owner.stats().waiting
    told = f"{done.placed} pages settled; {done.analysed} pages of {done.promoted} segments analysed"
    render.answer(as_json, {**done.to_dict(), "waiting": waiting}, told)
    end_waiting(waiting)


def end_waiting(waiting: Sequence[Waiting]) -> None:
    """Say on stderr what waits for the model, and end with the exit code for that."""
    from datetime import UTC, datetime

    from embermem.reports import waiting as waits

    for sentence in waits.sentences(waiting, datetime.now(UTC)):
        say(sentence)
    if code := waits.exit_code(waiting):
        raise typer.Exit(code)


def settled(owner: OwnerMemory) -> int:
    """Process what is pending, with a bar of the steps of that; the number of pages placed."""
    try:
        return with_bar("settling", "", owner.settle)
    except KeyboardInterrupt:
        say("all messages are stored; what is not processed yet is pending: `embermem settle` goes on there")
        raise
