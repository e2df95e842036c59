"""Who may read another owner's memory: the grants of one owner, a space or a user."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, or_, select, update

from embermem.core.errors import StoreUnreachable
from embermem.core.types import NO_USER, Owner, OwnerId, Share
from embermem.store import schema
from embermem.store.codec import micros, record, row_of
from embermem.store.erasing import Erasing, remember_scrub
from embermem.store.statements import ensure_owner
from embermem.store.transactions import missing_parts, over_owners

_TABLE = schema.share


class Shares(Erasing):
    """Grants, each kept with its times after it was revoked too."""

    def shares(self, owner_id: OwnerId) -> tuple[Share, ...]:
        """All grants of an owner's memory, also those that were revoked, oldest first."""
        with self._read() as c:
            rows = c.execute(
                select(_TABLE).where(_TABLE.c.owner_id == owner_id).order_by(_TABLE.c.granted_at, _TABLE.c.id)
            )
            return tuple(record(Share, row) for row in rows)

    def share(self, owner: Owner, share: Share) -> Share:
        """Keep a grant; where one to the same user and agent stands, that one ends, or stays if it says the same."""
        with self._write() as c:
            ensure_owner(c, owner, micros(share.granted_at))
            same = (_TABLE.c.owner_id == owner.id, _is(_TABLE.c.user, share.user), _is(_TABLE.c.agent, share.agent))
            standing = c.execute(select(_TABLE).where(*same, _TABLE.c.revoked_at.is_(None))).first()
            if standing is not None and standing.write == share.write:
                return record(Share, standing)
            c.execute(
                update(_TABLE).where(*same, _TABLE.c.revoked_at.is_(None)).values(revoked_at=micros(share.granted_at))
            )
            c.execute(insert(_TABLE), row_of(share, _TABLE, owner_id=owner.id))
        return share

    def end_shares(self, owner_id: OwnerId, user: str | None, agent: str | None, now: datetime) -> tuple[Share, ...]:
        """End what stands of a user (None: of everybody together), of one agent or of all; returns the ended ones."""
        with self._write() as c:
            standing = [
                _TABLE.c.owner_id == owner_id,
                _is(_TABLE.c.user, user),
                _TABLE.c.revoked_at.is_(None),
                *(() if agent is None else (_TABLE.c.agent == agent,)),
            ]
            rows = c.execute(select(_TABLE).where(*standing).order_by(_TABLE.c.granted_at, _TABLE.c.id)).all()
            c.execute(update(_TABLE).where(*standing).values(revoked_at=micros(now)))
        return tuple(record(Share, row, revoked_at=now) for row in rows)

    def share_with(self, owner_id: OwnerId, user: str, agent: str) -> bool | None:
        """What a user with an agent may do with an owner's memory: None nothing, False read, True write too."""
        with self._read() as c:
            found = c.scalars(
                select(_TABLE.c.write).where(
                    _TABLE.c.owner_id == owner_id,
                    _TABLE.c.revoked_at.is_(None),
                    or_(_TABLE.c.user.is_(None), _TABLE.c.user == user),
                    or_(_TABLE.c.agent.is_(None), _TABLE.c.agent == agent),
                )
            ).all()
        return any(found) if found else None

    @over_owners
    def forget_shares(self, user: str, agent: str | None) -> None:
        """Delete the grants to a user, of one agent or of all, by spaces and by the user's own memories, also those
        that were revoked, and wipe their bytes. Raises StoreUnreachable, not undone, where a part of the database did
        not answer: the grants on the others are deleted."""
        owner, any_gone = schema.owner.c, False
        with self._read() as c:
            ids = c.scalars(select(owner.owner_id).where(owner.user.in_((NO_USER, user)))).all()
            missing = missing_parts(c)
        for owner_id in ids:
            of = (_TABLE.c.owner_id == owner_id, _TABLE.c.user == user)
            with self._write() as c:
                gone = delete(_TABLE).where(*of, *(() if agent is None else (_TABLE.c.agent == agent,)))
                if c.execute(gone).rowcount:
                    remember_scrub(c)
                    any_gone = True
        if any_gone:
            self.wipe()
        if missing:
            error = StoreUnreachable(
                f"{self._database.place}: grants to {user!r} in memories on {', '.join(missing)} could not be deleted; "
                "call it again once these nodes answer"
            )
            error.undone = False
            raise error


def _is(column: Any, value: str | None) -> ColumnElement[bool]:
    found: ColumnElement[bool] = column.is_(None) if value is None else column == value
    return found
