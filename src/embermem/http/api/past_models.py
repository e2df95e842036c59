"""Bodies and answers of what is asked of the past: conflicts, links, facts brought, ends, receipts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from embermem.core.types import About, Conflict, Forgotten, Link, Retention
from embermem.http.api.models import LONGEST_NAME, LONGEST_VALUE, Answer, Body, FactItem, Moment, OwnerBody

_Id = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
_Line = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_VALUE)]
MOST_FACTS = 500
"""Facts brought at once."""


class Conflicts(Answer):
    """Facts that cannot both be so."""

    results: list[Conflict]


class SettleConflictBody(OwnerBody):
    """Two facts of a conflict that may both stand."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"user_id": "alice", "fact_id": "f3-000", "other_id": "f7-001"}]}
    )

    fact_id: _Id
    other_id: _Id


class Brought(Body):
    """A fact that the caller brings."""

    text: _Line
    subject: _Line | None = None
    attribute: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    value: _Line | None = None
    about: About | None = None
    valid_from: Moment | None = None
    expires_at: Moment | None = None


class LearnBody(OwnerBody):
    """Facts to learn, all or none."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "user_id": "alice",
                    "facts": [{"text": "lives in Lyon", "attribute": "lives_in", "value": "Lyon"}],
                }
            ]
        }
    )

    facts: Annotated[list[Brought], Field(min_length=1, max_length=MOST_FACTS)]


class Learnt(Answer):
    """What each became, in order."""

    results: list[FactItem]


class Links(Answer):
    """Links between facts and segments."""

    results: list[Link]


class LinkBody(OwnerBody):
    """Two memories to link, and why."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"user_id": "alice", "from_id": "f3-000", "to_id": "s5-0", "reason": "both are of Lyon"}]
        }
    )

    from_id: _Id
    to_id: _Id
    reason: _Line


class ExpireBody(OwnerBody):
    """Until when it is kept; null takes that back."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"user_id": "alice", "at": "2030-01-01T00:00:00+00:00"}]})

    at: Moment | None


class Retained(Answer):
    """How much of each memory is retained."""

    results: list[Retention]


class FadeBody(OwnerBody):
    """Whose memory fades."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"user_id": "alice", "dry_run": True}]})

    dry_run: bool = False


class VerifyBody(OwnerBody):
    """A receipt, as forgetting gave it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "user_id": "alice",
                    "receipt": {
                        "dry_run": False,
                        "pages": ["p06h018yk1qqyrstqwvz8981m1"],
                        "utterances": ["u06h018yk1qqyrstqwvz8981m2"],
                        "facts": [],
                        "segments": [],
                        "chains": [],
                        "traits": [],
                        "profile": [],
                        "rewritten": [],
                        "change_no": 4,
                        "recorded_at": "2026-05-02T10:00:00+00:00",
                        "scrubbed": True,
                        "sha256": "0" * 64,
                        "marks": [],
                        "backups": [],
                    },
                }
            ]
        }
    )

    receipt: Forgotten


class DiffAnswer(Answer):
    """What came to be known from one time to another; `text` is all of it in words."""

    earlier: datetime
    later: datetime
    text: str
    changes: list[int]
    pages_added: list[str]
    facts_added: list[FactItem]
    facts_ended: list[FactItem]


class RefusedItem(Answer):
    """Something that an undoing leaves, and why."""

    item: str
    reason: str
    change_no: int


class UndoPlanAnswer(Answer):
    """What taking a change back would do: how many decisions, and what it leaves."""

    decisions: int
    refused: list[RefusedItem]
