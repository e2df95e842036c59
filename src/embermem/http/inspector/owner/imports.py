"""Import by dropping a file: it is looked at first, then stored behind, with its progress shown; and a download."""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Form, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from embermem.core import ids
from embermem.core.errors import EmberError, InputError, NotFound, kind
from embermem.core.types import Owner, is_of_document
from embermem.http.access import Right
from embermem.http.inspector.place import Changing, PageContext, PageRoute, Place
from embermem.http.problems import HttpError
from embermem.http.serving import kept
from embermem.memory import Memory, OwnerMemory
from embermem.reports import cost, estimate
from embermem.transfer import conversations, ingest
from embermem.transfer.items import BadLine

logger = logging.getLogger(__name__)

KEPT = 8
"""Imports remembered by one server, running or done."""
_AT_ONCE = 500
"""Utterances of an export that are read at once."""
BAD_SHOWN = 50
"""Bad lines listed; the others are counted."""
READY, STORING, UNDERSTANDING, DONE, FAILED = "ready", "storing", "understanding", "done", "failed"

router = APIRouter(route_class=PageRoute, include_in_schema=False)


class TooLarge(HttpError):
    """The file is larger than `http_import_bytes`."""

    tag = "too-large"
    status = 413


@dataclass(slots=True)
class Import:
    """One file on its way into memory. One thread writes it, requests read it."""

    id: str
    owner: Owner
    owners: list[OwnerMemory]
    name: str
    path: Path
    size: int
    form: conversations.Format
    me: str | None
    estimates: list[estimate.Estimate]
    verdict: str
    state: str = READY
    read: int = 0
    messages: int = 0
    bad: list[BadLine] = field(default_factory=list)
    placed: tuple[int, int] = (0, 0)
    error: str = ""
    _begun: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> bool:
        """Whether it may be stored now: once, whoever asks twice."""
        with self._lock:
            begun, self._begun = self._begun, True
        return not begun

    def tell(self, done: int, total: int) -> None:
        """How many pages of how many are understood."""
        self.placed = (done, total)

    @property
    def share(self) -> float:
        """How much of what is in hand is done, in percent."""
        if self.state == DONE:
            return 100.0
        if self.state == UNDERSTANDING:
            done, total = self.placed
            return 100.0 * done / total if total else 0.0
        expected = sum(one.messages for one in self.estimates) or 1
        return min(100.0, 100.0 * self.messages / expected)


class Imports:
    """The imports of one server, in its memory: what they store is in the store. Their files go with it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="embermem-import-")
        self._lock = threading.Lock()
        self._all: OrderedDict[str, Import] = OrderedDict()

    @property
    def folder(self) -> Path:
        """Where uploads stand; only this server's user may read it."""
        return Path(self._folder.name)

    def keep(self, one: Import) -> None:
        """Remember it; the oldest that is not running leaves."""
        with self._lock:
            self._all[one.id] = one
            for old in [known for known in self._all.values() if known.state not in (STORING, UNDERSTANDING)][:-KEPT]:
                del self._all[old.id]
                old.path.unlink(missing_ok=True)

    def of(self, import_id: str, owner: Owner) -> Import:
        """One import of this owner. Raises NotFound."""
        with self._lock:
            found = self._all.get(import_id)
        if found is None or found.owner.id != owner.id:
            raise NotFound(f"there is no import {import_id!r}")
        return found


@router.get("/import")
def form(here: PageContext) -> HTMLResponse:
    """Where a file is dropped."""
    return here.page(
        "import.html",
        title="Import",
        limit=here.memory.settings.http_import_bytes,
        forms=list(conversations.Format),
        model=here.memory.model_name,
    )


@router.post("/import")
def upload(
    request: Request,
    here: Changing,
    file: UploadFile,
    form: Annotated[str, Form()] = "auto",
    me: Annotated[str, Form()] = "",
) -> Response:
    """Take the file and look at it. Without a model it is stored at once, else the estimate is shown first."""
    path = _kept(file, here.memory.settings.http_import_bytes, _imports(request).folder)
    try:
        made = _looked_at(here, path, file.filename or "file", _form(form), me.strip() or None)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    _imports(request).keep(made)
    if not here.memory.model_name and made.begin():
        _start(here.memory, made)
    return here.back(f"/import/{made.id}")


@router.get("/export")
def download(here: PageContext) -> StreamingResponse:
    """What was said, as JSON lines that an import reads: words, who said them, when and in which thread. What was
    understood of them is understood again."""
    headers = {"Content-Disposition": 'attachment; filename="memory.jsonl"', "Cache-Control": "no-store"}
    return StreamingResponse(_lines(here.mine), media_type="application/jsonl", headers=headers)


def _lines(mine: OwnerMemory) -> Iterator[str]:
    after = 0
    while some := mine.utterances(after, limit=_AT_ONCE):
        after = some[-1].seq
        for one in some:
            if not is_of_document(one.thread):
                said = {"role": one.role.value, "content": one.text, "name": one.speaker, "thread": one.thread}
                origin = "" if one.origin is one.role.origin else one.origin.value
                line = {**said, "at": one.said_at.isoformat(), "metadata": dict(one.metadata), "origin": origin}
                yield json.dumps({name: value for name, value in line.items() if value}, ensure_ascii=False) + "\n"


@router.get("/import/{import_id}")
def progress(request: Request, here: PageContext, import_id: str) -> HTMLResponse:
    """How far it is; the part that htmx asks for again and again, or the whole page."""
    made = _imports(request).of(import_id, here.mine.owner)
    return here.page(
        "import_part.html" if here.partial else "importing.html",
        title="Import",
        made=made,
        total=_totals(made),
        bad=made.bad[:BAD_SHOWN],
        more_bad=max(0, len(made.bad) - BAD_SHOWN),
        running=made.state in (STORING, UNDERSTANDING),
        model=here.memory.model_name,
    )


@router.post("/import/{import_id}/start")
def start(request: Request, here: Changing, import_id: str) -> RedirectResponse:
    """Store what was looked at."""
    made = _imports(request).of(import_id, here.mine.owner)
    if made.begin():
        _start(here.memory, made)
    return here.back(f"/import/{made.id}")


def _imports(request: Request) -> Imports:
    return kept(request.app, "inspector_imports", Imports)


def _form(name: str) -> conversations.Format:
    try:
        return conversations.Format(name)
    except ValueError as error:
        raise InputError(f"format {name!r} is not known; one of: {', '.join(conversations.Format)}") from error


def _kept(file: UploadFile, limit: int, folder: Path) -> Path:
    """The upload in a file of its own. Raises TooLarge, InputError."""
    size = file.size or 0
    if size > limit:
        raise TooLarge(f"the file has {size:,} bytes; at most {limit:,} are taken (setting http_import_bytes)")
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as kept:
        shutil.copyfileobj(file.file, kept)
        size = kept.tell()
    if not size:
        Path(kept.name).unlink()
        raise InputError("the file is empty; choose a file with a conversation")
    return Path(kept.name)


def _looked_at(here: Place, path: Path, name: str, form: conversations.Format, me: str | None) -> Import:
    settings, mine = here.memory.settings, here.mine
    with path.open("rb") as file:
        sources = conversations.read(file, form, me, settings.max_text_chars)
        owners = _owners(here, sources)
        estimates = [
            estimate.estimate(source.items, owner.owner.user, "main", settings)
            for source, owner in zip(sources, owners, strict=True)
        ]
    now = here.memory.now()
    today = list(here.memory.calls(cost.midnight_of(now)))
    left = cost.allowances(today, settings, mine.owner.id)
    return Import(
        id=ids.new_id("i"),
        owner=mine.owner,
        owners=owners,
        name=name,
        path=path,
        size=path.stat().st_size,
        form=form,
        me=me,
        estimates=estimates,
        verdict=estimate.verdict(estimates, left, settings),
    )


def _owners(here: Place, sources: list[conversations.Source]) -> list[OwnerMemory]:
    """Whose each conversation is: this owner's, or where a file names several, of the users so named."""
    several = len(sources) > 1
    agent = here.mine.owner.agent
    return [here.access.owner(one.name, agent, Right.WRITE) if several and one.name else here.mine for one in sources]


def _start(memory: Memory, made: Import) -> None:
    made.state = STORING

    def run() -> None:
        try:
            with made.path.open("rb") as file:
                sources = conversations.read(file, made.form, made.me, memory.settings.max_text_chars)
                for source, owner in zip(sources, made.owners, strict=True):
                    _store(made, source, owner)
            made.state = UNDERSTANDING
            for owner in {one.owner.id: one for one in made.owners}.values():
                owner.settle(made.tell)
            made.state = DONE
        except EmberError as error:
            made.error, made.state = str(error), FAILED
        except Exception as error:  # noqa: BLE001 - the thread's end: whoever looks is told, and the log says where
            logger.error("an import failed: %s", kind(error))
            made.error, made.state = "a defect; the server's log says where", FAILED
        finally:
            made.path.unlink(missing_ok=True)

    threading.Thread(target=run, name="embermem-import", daemon=True).start()


def _store(made: Import, source: conversations.Source, owner: OwnerMemory) -> None:
    before = made.messages

    def told(messages: int, offset: int) -> None:
        made.messages, made.read = before + messages, offset

    done = ingest.ingest(owner, source.items, thread="main", where=made.name, skip_bad=True, told=told)
    made.bad.extend(done.bad)


def _totals(made: Import) -> dict[str, int]:
    names = ("messages", "pages", "bad", "calls", "calls_at_most", "prompt_tokens", "completion_tokens")
    return {name: sum(int(getattr(one, name)) for one in made.estimates) for name in names}
