"""The forgetting curve of MemoryBank (arXiv 2305.10250, §2.3): what is neither recalled nor said again fades.

R = exp(−t/S), where t is how long ago a memory was last used and S, its strength, grows each time it is recalled. What
falls below a floor leaves for the archive. It decides nothing else: no score of a recall knows of it. Pure functions;
no database, no clock.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta

from embermem.core.attributes import is_instruction, standing
from embermem.core.changes import Decision, Evicted, FactArchived
from embermem.core.config import Settings
from embermem.core.equations import retention
from embermem.core.types import Fact, FactId, Retention, SegmentId
from embermem.protocols import Use

_DAY_S = 86_400.0
_LONGEST_DAYS = 36_500.0
"""A century: what is due later than that is never due."""
_TEXT_CHARS = 200
"""Of a segment's summary, in what is told of it."""


def retentions(uses: Iterable[Use], at: datetime, settings: Settings) -> tuple[Retention, ...]:
    """What is retained of each memory at a time, the least first, and whether it would leave for the archive.

    S = `retention_strength_days`·(1 + times recalled), t in days, never below zero.
    """
    told = [_retention(use, at, settings) for use in uses if not _is_pinned(use)]
    return tuple(sorted(told, key=lambda one: (one.R, one.item_id)))


def fading(told: Iterable[Retention]) -> list[Decision]:
    """The decisions by which what has faded leaves for the archive."""
    return [
        FactArchived(fact_id=FactId(one.item_id)) if one.kind == "fact" else Evicted(segment_id=SegmentId(one.item_id))
        for one in told
        if one.archives
    ]


def waiting(uses: Iterable[Use], at: datetime, settings: Settings) -> frozenset[SegmentId]:
    """Segments that have faded, and stay only until their pages are analysed."""
    return frozenset(
        use.item.id
        for use in uses
        if not isinstance(use.item, Fact) and use.item.unanalysed and _of(use, at, settings) < settings.retention_floor
    )


def due(uses: Iterable[Use], now: datetime, last: datetime | None, settings: Settings) -> datetime | None:
    """When the next memory fades; not sooner than `retention_every_s` after the `last` look, and never now, since what
    could leave has left. None: never."""
    if settings.retention_floor <= 0.0:
        return None
    spans = [
        (use.last, min(_LONGEST_DAYS, -_strength(use, settings) * math.log(settings.retention_floor)))
        for use in uses
        if not _is_pinned(use) and _kept_as(use) is None
    ]
    if not spans:
        return None
    every = timedelta(seconds=settings.retention_every_s)
    crossing = min(since + timedelta(days=days) for since, days in spans)
    again = None if last is None else last + every
    if crossing <= now:  # it could not leave just now
        return again if again is not None and again > now else now + every
    return crossing if again is None else max(crossing, again)


def _retention(use: Use, at: datetime, settings: Settings) -> Retention:
    item = use.item
    t = max(0.0, (at - use.last).total_seconds() / _DAY_S)
    R = _of(use, at, settings)
    kept, below = _kept_as(use), settings.retention_floor > R
    if not below:
        reason = f"retained {R:.2f}, the floor is {settings.retention_floor:g}"
    elif kept is not None:
        reason = f"below the floor, and stays: it is {kept}"
    elif not isinstance(item, Fact) and item.unanalysed:
        reason = f"below the floor, and stays until its pages are analysed: {item.unanalysed} are not"
    else:
        times = (
            "recalled once" if use.visits == 1 else f"recalled {use.visits} times" if use.visits else "never recalled"
        )
        reason = f"{times}, not used for {t:.0f} days"
    waits = kept is not None or (not isinstance(item, Fact) and item.unanalysed > 0)
    return Retention(
        item_id=item.id,
        kind="fact" if isinstance(item, Fact) else "segment",
        text=item.text if isinstance(item, Fact) else item.summary[:_TEXT_CHARS],
        S=_strength(use, settings),
        t=t,
        R=R,
        archives=below and not waits,
        reason=reason,
    )


def _of(use: Use, at: datetime, settings: Settings) -> float:
    return retention((at - use.last).total_seconds() / _DAY_S, _strength(use, settings))


def _strength(use: Use, settings: Settings) -> float:
    return settings.retention_strength_days * (1 + use.visits)


def _is_pinned(use: Use) -> bool:
    return isinstance(use.item, Fact) and use.item.pinned


def _kept_as(use: Use) -> str | None:
    """What a memory is that never fades: a limit, such as an allergy, is to be known however seldom it is asked for; an
    instruction holds until it is taken back."""
    if not isinstance(use.item, Fact):
        return None
    if standing(use.item.attribute) == "limit":
        return "a limit of the user's"
    return "an instruction of the user's" if is_instruction(use.item.attribute) else None
