"""Cases: queries whose recall was wrong, kept to be asked again."""

from __future__ import annotations

from embermem.core.types import RecallCase
from embermem.http.access import Accessible
from embermem.http.api import bodies
from embermem.http.api.dependencies import ItemId, Key, Reading, Writing, router, written_by
from embermem.wire.answers import Cases

routes = router("cases")


@routes.get("/cases", summary="List cases")
def list_cases(owner: Reading) -> Cases:
    """The queries that were noted as recalled wrongly, oldest first, each with how it was asked."""
    return Cases(results=owner.cases())


@routes.get("/cases/{item_id}", summary="Read a case")
def get_case(owner: Reading, item_id: ItemId) -> RecallCase:
    """Also one that was dropped."""
    return owner.case(item_id)


@routes.post("/cases", status_code=201, summary="Note a case")
def add_case(access: Accessible, body: bodies.CaseBody, key: Key = None) -> RecallCase:
    """Keeps a query with the utterances that its context should rest on, and those that it should not."""
    return written_by(access, body).add_case(
        body.query,
        expected=body.expected,
        unwanted=body.unwanted,
        note=body.note,
        at=body.at,
        budget=body.budget,
        preset=body.preset,
        thread=body.run_id,
        as_of=body.as_of,
        valid_at=body.valid_at,
        key=key,
    )


@routes.delete("/cases/{item_id}", summary="Drop a case")
def drop_case(owner: Writing, item_id: ItemId, key: Key = None) -> RecallCase:
    """Returns the dropped case."""
    return owner.drop_case(item_id, key=key)
