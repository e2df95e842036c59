"""Where memory comes from, how it changed, and when it ends."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from embermem.core.types import Faded, Link, Verified, Why
from embermem.http.access import Accessible
from embermem.http.api import bodies
from embermem.http.api.dependencies import (
    AsOf,
    ChangeNo,
    ItemId,
    Reading,
    Writing,
    read_by,
    router,
    text_query,
    time_query,
    written_by,
)
from embermem.wire.answers import Conflicts, DiffAnswer, Learnt, Links, Retained, UndoPlanAnswer
from embermem.wire.mapping import to_record
from embermem.wire.memories import FactItem, PageItem, fact_item, page_item

routes = router("past")


@routes.get("/why/{item_id}", summary="Why something is remembered")
def get_why(owner: Reading, item_id: ItemId) -> Why:
    """Of a fact, segment, chain or link by its id, a trait by its dimension, a profile line as `user.home`: the words
    said that it rests on, the changes that made it, what it replaced."""
    return owner.why(item_id)


@routes.get("/diff", summary="What came to be known between two times")
def get_diff(
    owner: Reading,
    earlier: Annotated[str, time_query("A time or a day.")],
    later: Annotated[str | None, time_query("Now, if left out.")] = None,
) -> DiffAnswer:
    """Without what was forgotten since."""
    found = owner.diff(earlier, later)
    show = partial(fact_item, owner.owner)
    return to_record(
        DiffAnswer,
        found,
        facts_added=tuple(map(show, found.facts_added)),
        facts_ended=tuple(map(show, found.facts_ended)),
    )


@routes.get("/conflicts", summary="Facts that cannot both be so")
def list_conflicts(owner: Reading, as_of: AsOf = None) -> Conflicts:
    """Both stand until one is corrected or retired, or both are let stand."""
    return Conflicts(results=owner.conflicts(as_of))


@routes.post("/conflicts/settle", summary="Both facts may stand")
def settle_conflict(access: Accessible, body: bodies.SettleConflictBody) -> Conflicts:
    """They are not marked as in conflict again; what else is."""
    owner = written_by(access, body)
    owner.settle_conflict(body.fact_id, body.other_id)
    return Conflicts(results=owner.conflicts())


@routes.post("/facts", status_code=201, summary="Learn facts of your own")
def learn_facts(access: Accessible, body: bodies.LearnBody) -> Learnt:
    """In one change, by the rules of facts that are understood: all of them or, where one is refused, none."""
    owner = written_by(access, body)
    found = owner.learn([one.model_dump(exclude_none=True) for one in body.facts])
    return Learnt(results=tuple(fact_item(owner.owner, one) for one in found))


@routes.post("/facts/{item_id}/expire", summary="A fact holds until a time")
def expire_fact(access: Accessible, item_id: ItemId, body: bodies.ExpireBody) -> FactItem:
    """From then on it holds no longer, and stands among the past facts."""
    owner = written_by(access, body)
    owner.expire(fact_id=item_id, at=body.at)
    return fact_item(owner.owner, owner.fact(item_id))


@routes.post("/pages/{item_id}/expire", summary="A page is kept until a time")
def expire_page(access: Accessible, item_id: ItemId, body: bodies.ExpireBody) -> PageItem:
    """Then no read shows it any more, and it is forgotten for good."""
    owner = written_by(access, body)
    owner.expire(page_id=item_id, at=body.at)
    return page_item(owner.owner, owner.page(item_id))


@routes.get("/links", summary="What has to do with what")
def list_links(
    owner: Reading,
    as_of: AsOf = None,
    item_id: Annotated[str | None, text_query("Of one fact or segment.")] = None,
) -> Links:
    """Links between facts and segments, each with its reason."""
    return Links(results=owner.links(item_id, as_of=as_of))


@routes.post("/links", status_code=201, summary="Link two memories")
def make_link(access: Accessible, body: bodies.LinkBody) -> Link:
    """A fact or segment with another, and why."""
    return written_by(access, body).link(body.from_id, body.to_id, body.reason)


@routes.delete("/links/{item_id}", summary="Take a link away")
def remove_link(owner: Writing, item_id: ItemId) -> Link:
    """The link, as it ended."""
    return owner.unlink(item_id)


@routes.get("/retention", summary="How much is retained")
def list_retention(
    owner: Reading,
    at: Annotated[str | None, time_query("At another time than now.")] = None,
) -> Retained:
    """By the forgetting curve, least first; see docs/retention.md."""
    return Retained(results=owner.retention(at))


@routes.post("/fade", summary="Archive what was not used for long")
def fade(access: Accessible, body: bodies.FadeBody) -> Faded:
    """What is retained less than the setting `retention_floor`."""
    return written_by(access, body).fade(dry_run=body.dry_run)


@routes.post("/verify", summary="Check a receipt of forgetting")
def verify_receipt(access: Accessible, body: bodies.VerifyBody) -> Verified:
    """Whether what it says is gone is gone."""
    return read_by(access, body).verify(body.receipt)


@routes.get("/changes/{change_no}/undo", summary="What taking a change back would do")
def plan_undo(owner: Reading, change_no: ChangeNo) -> UndoPlanAnswer:
    """What would be taken back, and what later changes rest on."""
    return to_record(UndoPlanAnswer, owner.undo_plan(change_no))
