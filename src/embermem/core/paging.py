"""Which page a message belongs to, and in which tier a page is."""

from __future__ import annotations

from dataclasses import dataclass

from embermem.core.types import PageId, Role, Tier


@dataclass(frozen=True, kw_only=True, slots=True)
class PageTail:
    """The newest page of a thread, as far as the next message of that thread must know it."""

    page_id: PageId
    answered: bool
    speaker: str = ""
    """Who spoke last in it on the user's side; empty if that does not matter."""


def joins(tail: PageTail | None, role: Role, speaker: str = "", *, fresh: bool = False) -> bool:
    """Whether a message of this role belongs to the thread's newest page; if not, it begins the next one.

    A page is one or more user-side utterances, then zero or more agent-side ones. So an agent-side message joins
    the newest page, and a user-side one joins while that page is unanswered and its `speaker` goes on: in a group,
    each one's turn is a page. `fresh` asks for a page of its own for what comes from the user's side (an exchange given
    whole is one page).
    """
    if tail is None:
        return False
    another = role is Role.USER and tail.speaker != "" and speaker != tail.speaker
    return role.agent_side or not (tail.answered or fresh or another)


def tier_of(*, placed: bool, archived: bool, no: int, pages: int, short: int) -> Tier | None:
    """A page in a segment is mid, or archive if its segment was evicted; otherwise short among the newest `short` of
    `pages`, otherwise pending. `no` counts pages from 1; a passage of a document is below, and in no tier. A tier is
    never stored."""
    if no < 1:
        return None
    if placed:
        return Tier.ARCHIVE if archived else Tier.MID
    return Tier.SHORT if no > pages - short else Tier.PENDING
