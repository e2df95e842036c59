"""Keys of the service: how one is made, what it holds, and how one that is given is checked."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from embermem.core import messages
from embermem.core.errors import InputError
from embermem.protocols import ApiKey, Grant

if TYPE_CHECKING:
    from embermem.core.types import Owner
    from embermem.protocols import KeyStore

PREFIX = "ember_"
ANY = "*"
_ID_BYTES = 6
_SECRET_BYTES = 32
_LONGEST_KEY = 200
_MOST_GRANTS = 1000
_NO_DIGEST = "0" * 64
"""Compared with where no key has the id: the hash of no text that is known."""


class Right(StrEnum):
    """What a key allows with an owner's memory; `write` includes `read`, and `grant`, which is of spaces, both."""

    READ = "read"
    WRITE = "write"
    GRANT = "grant"


_RIGHTS = tuple(Right)
"""Each includes those before it."""


def make(
    name: str, owners: Sequence[str], *, spaces: Sequence[str] = (), read_only: bool, now: datetime
) -> tuple[ApiKey, str]:
    """A new key, and the text that its holder sends: `ember_<id>_<secret>`. Only a hash of it is in the record.

    The secret is 32 random bytes, so a plain SHA-256 is enough: slow hashes guard what people think up. Raises
    InputError for a name or an owner that cannot be.
    """
    if not owners and not spaces:
        raise InputError("a key needs at least one owner: USER, USER/AGENT, or * for any; or a space")
    if len(owners) + len(spaces) > _MOST_GRANTS:
        raise InputError(f"a key takes at most {_MOST_GRANTS} owners")
    key_id = secrets.token_hex(_ID_BYTES)
    text = f"{PREFIX}{key_id}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    key = ApiKey(
        id=key_id,
        name=messages.name(name, "name"),
        digest=digest_of(text),
        grants=tuple(dict.fromkeys((*map(grant_of, owners), *map(space_grant_of, spaces)))),
        read_only=read_only,
        created_at=now,
        revoked_at=None,
    )
    return key, text


def grant_of(text: str) -> Grant:
    """What `USER`, `USER/AGENT`, `USER/*` or `*` names; without an agent, all agents of the user. The last slash
    parts them. Raises InputError."""
    user, slash, agent = text.rpartition("/")
    if not slash:
        user, agent = text, ANY
    return Grant(
        user=None if user == ANY else messages.name(user, "owner"),
        agent=None if agent == ANY else messages.name(agent, "owner's agent"),
    )


def space_grant_of(text: str) -> Grant:
    """What `SPACE`, `SPACE:read`, `SPACE:write` or `SPACE:grant` names. Raises InputError."""
    name, colon, right = text.partition(":")
    owner = messages.space(name)
    told = messages.one_of(Right, right if colon else Right.READ, f"the right to the space {name}")
    return Grant(user=owner.user, agent=owner.agent, right=told.value)


def shown(grant: Grant) -> str:
    """A grant as it is written."""
    if grant.space is not None:
        return f"{grant.space}:{grant.right}"
    if grant == Grant(user=None, agent=None):
        return ANY
    return f"{ANY if grant.user is None else grant.user}/{ANY if grant.agent is None else grant.agent}"


def covers(key: ApiKey, owner: Owner, right: Right) -> bool:
    """Whether the key holds this owner, and this right. A space is held by name, or by a key of all owners: never by a
    user's or an agent's that is called the same."""
    if key.read_only and right is not Right.READ:
        return False
    if owner.space is None:
        return any(one.user in (None, owner.user) and one.agent in (None, owner.agent) for one in key.of_users)
    if is_for_all(key):
        return True
    held = (one.right for one in key.grants if one.space == owner.space)
    return any(one is not None and _RIGHTS.index(Right(one)) >= _RIGHTS.index(right) for one in held)


def is_for_all(key: ApiKey) -> bool:
    """Whether the key is for the memories of all owners, spaces included."""
    return Grant(user=None, agent=None) in key.grants


def verified(text: str, store: KeyStore) -> ApiKey | None:
    """The key whose text this is, if it is known and was not revoked. Raises StoreError.

    The same work is done whether a key of that id is known or not: one read of the store, one hash of what was given,
    and one comparison that takes as long wherever two hashes differ.
    """
    key_id, _, secret = text.removeprefix(PREFIX).partition("_")
    if not text.startswith(PREFIX) or not key_id.isascii() or not key_id.isalnum() or not secret:
        return None
    if len(text) > _LONGEST_KEY:
        return None
    found = store.key(key_id)
    same = hmac.compare_digest(_NO_DIGEST if found is None else found.digest, digest_of(text))
    return found if same and found is not None and found.revoked_at is None else None


def digest_of(text: str) -> str:
    """The hash under which a key is kept, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
