"""Facts that a caller brings himself: each checked, and made into a proposal that rests on nothing that was said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from embermem.core import messages
from embermem.core.attributes import BUILT_IN, OTHER, Attributes
from embermem.core.errors import InputError
from embermem.core.fields import FieldValue
from embermem.core.messages import Inbox
from embermem.core.metadata import Metadata
from embermem.core.text import fold
from embermem.core.types import About, FactProposal

KEYS = ("text", "subject", "attribute", "value", "about", "valid_from", "valid_to", "expires_at", "metadata")

_LONGEST = 2000
_LONGEST_NAME = 200
_MOST = 1000
_NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_USER, _AGENT = "user", "agent"


def read(facts: Sequence[Mapping[str, Any]], inbox: Inbox, attributes: Attributes = BUILT_IN) -> list[FactProposal]:
    """The facts as proposals, in their order. Raises InputError that names the place."""
    if isinstance(facts, (str, bytes, Mapping)) or not isinstance(facts, Sequence):
        raise InputError("facts must be a list of mappings such as {'text': 'lives in Lyon', 'attribute': 'lives_in'}")
    if not facts:
        raise InputError("facts is empty: there is nothing to learn")
    if len(facts) > _MOST:
        raise InputError(f"facts has {len(facts):,} entries, more than the {_MOST:,} allowed; split it")
    return [_read(one, f"facts[{place}]", inbox, attributes) for place, one in enumerate(facts)]


def expiries(facts: Sequence[Mapping[str, Any]], inbox: Inbox) -> list[datetime | None]:
    """When each of the facts, which were read, ends by itself; None: never. Raises InputError for a time gone by."""
    return [inbox.expiry(one.get("expires_at"), f"facts[{place}].expires_at") for place, one in enumerate(facts)]


def ends(facts: Sequence[Mapping[str, Any]], inbox: Inbox) -> list[datetime | None]:
    """Until when each of the facts, which were read, held; None: it holds. Raises InputError for a time to come, and
    for one before the fact began."""
    found: list[datetime | None] = []
    for place, one in enumerate(facts):
        where, given = f"facts[{place}].valid_to", one.get("valid_to")
        until = None if given is None else inbox.moment(given, where)
        if until is not None and until > inbox.now:
            raise InputError(f"{where} = {until.isoformat()} is still to come; give it as expires_at")
        since = one.get("valid_from")
        if until is not None and since is not None and until < inbox.moment(since, f"facts[{place}].valid_from"):
            raise InputError(f"{where} = {until.isoformat()} is before valid_from")
        found.append(until)
    return found


def labels(facts: Sequence[Mapping[str, Any]], inbox: Inbox) -> list[Metadata]:
    """The metadata of each of the facts, which were read."""
    return [inbox.metadata(one.get("metadata"), f"facts[{place}].metadata") for place, one in enumerate(facts)]


def field_value(attributes: Attributes, name: str, given: FieldValue, where: str) -> str:
    """What a caller gives as a value of an attribute: of a field in its written form. Raises InputError for one that
    does not fit, and for an attribute that is never kept."""
    if not attributes.is_kept(attributes.canonical(name)):
        raise InputError(f"{where}: {name} is never kept here, because the setting `never` names it")
    field = attributes.field(name)
    if field is None:
        return str(given)
    try:
        return field.value(given)
    except ValueError as error:
        raise InputError(f"{where} = {given!r} {error}") from error


def _read(fact: Mapping[str, Any], where: str, inbox: Inbox, attributes: Attributes) -> FactProposal:
    if not isinstance(fact, Mapping):
        raise InputError(f"{where} is {type(fact).__name__}, not a mapping with a text")
    for key in fact:
        if key not in KEYS:
            raise InputError(f"{where} has the key {key!r}; allowed are: {', '.join(KEYS)}")
    text = _text(fact.get("text"), f"{where}.text", _LONGEST)
    side = fact.get("about")
    about = About.USER if side is None else messages.one_of(About, side, f"{where}.about")
    named = _attribute(fact.get("attribute"), f"{where}.attribute")
    given = fact.get("value")
    value = text if given is None else _text(given, f"{where}.value", _LONGEST)
    if about is About.USER:
        value = field_value(attributes, named, value, f"{where}.value")
    since = fact.get("valid_from")
    return FactProposal(
        about=about,
        subject=_subject(fact.get("subject"), about, f"{where}.subject", inbox),
        attribute=named,
        value=value,
        text=text,
        sources=(),
        single=attributes.single(named),
        valid_from=None if since is None else inbox.moment(since, f"{where}.valid_from"),
    )


def _text(text: object, where: str, longest: int) -> str:
    read = " ".join(messages.checked(text, where, longest).split())
    if not read:
        raise InputError(f"{where} is empty")
    return read


def _attribute(name: object, where: str) -> str:
    if name is None:
        return OTHER
    read = _text(name, where, _LONGEST_NAME).lower()
    if _NAME.fullmatch(read) is None:
        raise InputError(f"{where} = {name!r} is not an attribute's name; give words such as lives_in")
    return read


def _subject(subject: object, about: About, where: str, inbox: Inbox) -> str:
    """Who a fact is of, as analysts name them: the user and an agent without a name go by their roles."""
    agent = _AGENT if inbox.owner.agent == "default" else inbox.owner.agent
    if subject is None:
        return _USER if about is About.USER else agent
    read = _text(subject, where, _LONGEST_NAME)
    if about is About.USER:
        return _USER if fold(read) in (_USER, fold(inbox.owner.user)) else read
    return agent if fold(read) in (_AGENT, fold(agent)) else read
