"""Where memory comes from, how it changed, and when it ends."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from embermem.core.types import Faded, Verified, Why
from embermem.http.access import Accessible, asker_of
from embermem.http.api import bodies
from embermem.http.api.dependencies import (
    AsOf,
    ChangeNo,
    ItemId,
    Key,
    Reading,
    read_by,
    router,
    time_query,
    written_by,
)
from embermem.wire.answers import Conflicts, ConflictSettled, DiffAnswer, Learnt, Retained, UndoPlanAnswer
from embermem.wire.mapping import to_record
from embermem.wire.memories import FactItem, PageItem, fact_item, page_item

routes = router("past")


@routes.get("/why/{item_id}", summary="Explain why something is remembered")
def get_why(owner: Reading, item_id: ItemId) -> Why:
    """For a fact, segment or chain by its id, a trait by its dimension, or a profile line such as `user.home`:
    the words it rests on, the changes that made it, what it replaced."""
    return owner.why(item_id)


@routes.get("/diff", summary="Compare two times")
def get_diff(
    owner: Reading,
    earlier: Annotated[str, time_query("A time or a day.")],
    later: Annotated[str | None, time_query("Default: now.")] = None,
) -> DiffAnswer:
    """What changed between two times, without what was forgotten since."""
    found = owner.diff(earlier, later)
    show = partial(fact_item, asker_of(owner))
    return to_record(
        DiffAnswer,
        found,
        facts_added=tuple(map(show, found.facts_added)),
        facts_ended=tuple(map(show, found.facts_ended)),
    )


@routes.get("/conflicts", summary="List facts in conflict")
def list_conflicts(owner: Reading, as_of: AsOf = None) -> Conflicts:
    """Both facts stay until one is corrected or retired, or the conflict is settled."""
    return Conflicts(results=owner.conflicts(as_of))


@routes.post("/conflicts/settle", summary="Settle a conflict")
def settle_conflict(access: Accessible, body: bodies.SettleConflictBody, key: Key = None) -> ConflictSettled:
    """The two facts are not reported as in conflict again. With `wrong`, one of their ids: that one is then a past fact
    that was never true. Returns the other conflicts."""
    owner = written_by(access, body)
    made = owner.settle_conflict(body.fact_id, body.other_id, wrong=body.wrong, key=key)
    return ConflictSettled(change_no=made, results=owner.conflicts())


@routes.post("/facts", status_code=201, summary="Add facts of your own")
def learn_facts(access: Accessible, body: bodies.LearnBody, key: Key = None) -> Learnt:
    """In one change, by the same rules as extracted facts: all of them, or none if one is refused."""
    owner = written_by(access, body)
    found = owner.learn([one.model_dump(exclude_none=True) for one in body.facts], key=key)
    return Learnt(results=tuple(fact_item(asker_of(owner), one) for one in found))


@routes.post("/facts/{item_id}/expire", summary="Set when a fact expires")
def expire_fact(access: Accessible, item_id: ItemId, body: bodies.ExpireBody, key: Key = None) -> FactItem:
    """At that time it ends, and is then among the past facts."""
    owner = written_by(access, body)
    owner.expire(fact_id=item_id, at=body.at, key=key)
    return fact_item(asker_of(owner), owner.fact(item_id))


@routes.post("/pages/{item_id}/expire", summary="Set when a page expires")
def expire_page(access: Accessible, item_id: ItemId, body: bodies.ExpireBody, key: Key = None) -> PageItem:
    """At that time no read returns it any more, and it is forgotten for good."""
    owner = written_by(access, body)
    owner.expire(page_id=item_id, at=body.at, key=key)
    return page_item(asker_of(owner), owner.page(item_id))


@routes.get("/retention", summary="Read retention")
def list_retention(
    owner: Reading,
    at: Annotated[str | None, time_query("At this time; default: now.")] = None,
) -> Retained:
    """By the forgetting curve, lowest first; see docs/concepts/retention.md."""
    return Retained(results=owner.retention(at))


@routes.post("/fade", summary="Archive faded memories")
def fade(access: Accessible, body: bodies.FadeBody, key: Key = None) -> Faded:
    """Archives what is retained less than the setting `retention_floor`."""
    return written_by(access, body).fade(dry_run=body.dry_run, key=key)


@routes.post("/verify", summary="Check a receipt of forgetting")
def verify_receipt(access: Accessible, body: bodies.VerifyBody) -> Verified:
    """Whether the content that the receipt names is gone."""
    return read_by(access, body).verify(body.receipt)


@routes.get("/changes/{change_no}/undo", summary="Preview an undo")
def plan_undo(owner: Reading, change_no: ChangeNo) -> UndoPlanAnswer:
    """What would be undone, and what is refused because later changes rest on it."""
    return to_record(UndoPlanAnswer, owner.undo_plan(change_no))
