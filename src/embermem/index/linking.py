"""Links that a recall follows: what is linked to what was found first gets a share, and the link's reason is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.types import Link
from embermem.index.query_context import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

__all__ = ["FOLLOWED_FROM", "Followed", "follow", "shares_of"]

FOLLOWED_FROM = 3
"""How many of the first found a link is followed from, as a second hop is."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Followed:
    """A link that led on from what was found, the rows at its other end, and their share: 1 from the first found, half
    from the second, a third from the third."""

    link: Link
    rows: Rows
    share: float


def follow(view: View, best: Rows) -> tuple[Followed, ...]:
    """The links of the facts and segments that the best rows belong to, best first: each once, from its best row."""
    followed: dict[str, Followed] = {}
    for rank, row in enumerate(best.tolist(), 1):
        near = _items_of(view, row)
        for link in view.query.links:
            others = [there for here, there in ((link.from_id, link.to_id), (link.to_id, link.from_id)) if here in near]
            if link.id in followed or len(others) != 1:
                continue
            rows = _rows_of(view, others[0])
            followed[link.id] = Followed(link=link, rows=rows[rows != row], share=1.0 / rank)
    return tuple(followed.values())


def shares_of(view: View, followed: tuple[Followed, ...]) -> Floats:
    """The highest share that a link gives each row; 0 where none leads to it; shape (n,)."""
    shares = np.zeros(view.n)
    for one in followed:
        shares[one.rows] = np.maximum(shares[one.rows], one.share)
    return shares


def _items_of(view: View, row: int) -> set[str]:
    """The segment that a row's page is in, and the facts that rest on the row."""
    snapshot = view.snapshot
    places, seqs = snapshot.facts.source_seqs
    items: set[str] = {snapshot.facts.rows[place].id for place in places[seqs == snapshot.seqs[row]].tolist()}
    segment = snapshot.segment(int(snapshot.page_of(view.n)[row]))
    return items if segment is None else {*items, segment[0]}


def _rows_of(view: View, item: str) -> Rows:
    """The rows of a segment's pages, or those that a fact rests on; of those that the query may see."""
    snapshot = view.snapshot
    place = snapshot.segments.place_of(item)
    if place is not None:
        within = snapshot.segment_of_page()[snapshot.page_of(view.n)] == place
    else:
        seqs = [source.seq for fact in snapshot.facts.rows if fact.id == item for source in fact.sources]
        within = np.isin(snapshot.seqs[: view.n], seqs)
    return np.flatnonzero(within & view.candidates)
