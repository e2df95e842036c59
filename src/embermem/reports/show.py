"""`embermem show`: the tiers of one owner and the log of changes, as tables or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from embermem.core.changes import Change, FactAdded, FactStrengthened, Say, kind_of
from embermem.core.errors import InputError, NotFound
from embermem.core.record import plain_values
from embermem.core.types import (
    Fact,
    FactId,
    Hit,
    Page,
    PageId,
    Person,
    ProfileField,
    Role,
    Scope,
    Segment,
    SegmentId,
    Source,
    Tier,
    Trait,
)
from embermem.reports import render

if TYPE_CHECKING:
    from rich.text import Text

    from embermem.core.messages import At, LookBack
    from embermem.core.metadata import Metadata
    from embermem.memory import OwnerMemory

TEXT_CHARS = 72
SUMMARY_CHARS = 120
HOLDS_CHARS = 240
NOW: LookBack = {}
"""No other moment than this one."""


def pages(
    owner: OwnerMemory,
    tier: Tier | None,
    limit: int | None,
    as_json: bool,
    then: LookBack = NOW,
    scope: Scope | None = None,
) -> None:
    """The pages of one tier; those in scope."""
    found = owner.pages(tier, limit=limit, scope=scope, **then)
    if as_json:
        render.print_json(found)
    else:
        _page_table(f"{tier} pages" if tier else "pages", found)


def segments(
    owner: OwnerMemory, limit: int | None, as_json: bool, then: LookBack = NOW, scope: Scope | None = None
) -> None:
    """Mid-term memory, the hottest segment first. Those in scope."""
    found = _by_heat(owner, then, scope)[:limit]
    if as_json:
        render.print_json([_segment_data(segment, heat) for segment, heat in found])
    else:
        _segment_table(found)


def persona(owner: OwnerMemory, as_json: bool, then: LookBack = NOW) -> None:
    """Long-term memory: profiles, traits, facts with their sources."""
    if as_json:
        render.print_json(_persona_data(owner, then))
        return
    _profile_table("profile", owner.profile(**then))
    _profile_table("agent profile", owner.agent_profile(**then))
    _trait_table(owner.traits(**then))
    _fact_table("facts of the user", owner.facts("user", **then))
    _fact_table("facts of the agent", owner.facts("agent", **then))


def facts(owner: OwnerMemory, as_json: bool, then: LookBack, scope: Scope) -> None:
    """The current facts in scope."""
    found = owner.facts(scope=scope, **then)
    if as_json:
        render.print_json({"facts": found})
    else:
        _fact_table("facts", found)


def person(owner: OwnerMemory, name: str, as_json: bool, then: LookBack = NOW) -> None:
    """What is known of one person: profile and facts. Raises NotFound for an unknown name."""
    profile, facts = owner.profile(name, **then), owner.facts(person=name, **then)
    if as_json:
        render.print_json({"profile": profile, "facts": facts})
        return
    _profile_table("profile", profile)
    _fact_table("facts", facts)


def instructions(owner: OwnerMemory, as_json: bool, as_of: At = None) -> None:
    """The user's standing instructions."""
    found = owner.instructions(as_of=as_of)
    if as_json:
        render.print_json(found)
    else:
        _fact_table("instructions", found)


def people(owner: OwnerMemory, as_json: bool, then: LookBack = NOW) -> None:
    """Everybody whom the memory knows, and whether it is decided who the user is."""
    found = owner.people(as_of=then.get("as_of"))
    if as_json:
        render.print_json(found)
        return
    rows = [
        (
            render.cut(one.name, 40),
            render.cut(", ".join(one.names), SUMMARY_CHARS),
            "undecided" if one.undecided else one.id if one.id in ("user", "agent") else "",
            ", ".join(one.roles),
            one.facts,
        )
        for one in found
    ]
    render.table("people", ("name", "names", "is the", "speaks as", "facts"), rows)
    speakers = undecided(found)
    if speakers:
        names = ", ".join(render.cut(one.name, 40) for one in speakers)
        render.note(
            f"it is undecided who the user is: {names} speak as users; `embermem people set-user NAME` decides it"
        )


def undecided(found: Iterable[Person]) -> tuple[Person, ...]:
    """The speakers who could be the user while nobody is known to be."""
    found = tuple(found)
    if any(one.id == "user" for one in found):
        return ()
    return tuple(one for one in found if Role.USER in one.roles and not one.undecided)


def everything(owner: OwnerMemory, limit: int | None, as_json: bool, then: LookBack = NOW) -> None:
    """All three tiers."""
    if as_json:
        render.print_json(
            {
                "short": owner.pages(Tier.SHORT, **then),
                "pending": owner.pages(Tier.PENDING, limit=limit, **then),
                "mid": [_segment_data(segment, heat) for segment, heat in _by_heat(owner, then)[:limit]],
                "long": _persona_data(owner, then),
            }
        )
        return
    _page_table("short-term memory", owner.pages(Tier.SHORT, **then))
    if waiting := owner.pages(Tier.PENDING, limit=limit, **then):
        _page_table("pending pages", waiting)
    segments(owner, limit, as_json=False, then=then)
    persona(owner, as_json=False, then=then)


def page(owner: OwnerMemory, name: str, as_json: bool, then: LookBack = NOW) -> None:
    """One page whole, by its id or its number."""
    found = page_named(owner, name, then)
    if as_json:
        render.print_json(found)
        return
    render.records(
        f"page {found.no}",
        [
            ("id", found.id),
            ("thread", found.thread),
            ("said at", found.said_at),
            ("tier", found.tier),
            ("segment", found.segment_id),
            ("chain", found.chain_id),
            ("keywords", ", ".join(found.keywords)),
            *([("error", found.error)] if found.error else []),
            *([("expires", found.expires_at)] if found.expires_at else []),
            *([("metadata", labels(found.metadata))] if found.metadata else []),
        ],
    )
    for utterance in found.utterances:
        render.print_text(f"#{utterance.seq} {utterance.speaker}: {utterance.text}")


def labels(metadata: Metadata) -> str:
    """Metadata on one line."""
    return ", ".join(f"{name}={json.dumps(one, ensure_ascii=False)}" for name, one in metadata.items())


def segment(owner: OwnerMemory, name: str, limit: int | None, as_json: bool, then: LookBack = NOW) -> None:
    """One segment with its pages."""
    found = owner.segment(SegmentId(name), **then)
    heat = owner.heat(found, as_of=then.get("as_of"))
    held = [owner.page(page_id, **then) for page_id in found.page_ids[:limit]]
    if as_json:
        render.print_json(_segment_data(found, heat) | {"pages": held})
        return
    render.records(
        "segment",
        [
            ("id", found.id),
            *([("title", found.title)] if found.title else []),
            ("heat", heat),
            ("pages", len(found.page_ids)),
            ("visits", found.visits),
            ("not analysed", found.unanalysed),
            ("said", f"{render.when(found.said_from)} to {render.when(found.said_to)}"),
            ("last access", found.last_access),
            ("archived", found.archived),
            ("keywords", ", ".join(found.keywords)),
            ("summary", found.summary),
        ],
    )
    _page_table("its pages", held)


def changes(owner: OwnerMemory, limit: int | None, as_json: bool) -> None:
    """The log of what was derived, the newest last: the numbers are those that `undo` takes."""
    log = owner.changes()
    texts = {d.fact_id: d.text for change in log for d in change.decisions if isinstance(d, FactAdded)}
    told = log if limit is None else log[max(0, len(log) - limit) :]
    if as_json:
        render.print_json([_change_data(one, texts) for one in told])
        return
    rows = (
        (one.no, render.when(one.recorded_at), one.cause, one.analyst, render.cut(holds(one, texts), HOLDS_CHARS))
        for one in told
    )
    render.table("changes", ("no", "when", "cause", "analyst", "holds"), rows)


def holds(change: Change, names: Mapping[Any, str]) -> str:
    """What a change decided, in few words: what it taught the persona, each once; what was said again; what it did,
    counted. `names` are what facts and segments are called, by their ids."""
    say = Say(names, render.when)
    in_order = sorted(change.decisions, key=lambda decision: isinstance(decision, FactStrengthened))
    said = [kind_of(decision).taught(decision, say) for decision in in_order]
    done: Counter[str] = Counter()
    for decision in change.decisions:
        did = kind_of(decision).did
        if did is not None:
            what, count = did(decision)
            done[what] += count
    counted = [f"{what}: {count}" for what, count in done.items()]
    return "; ".join(one for one in dict.fromkeys([*said, *counted]) if one)


def hits(title: str, found: Iterable[Hit]) -> None:
    """Recalled utterances with their relevance, their scores and what each channel gave."""
    rows = [
        (
            hit.rank,
            "" if hit.relevance is None else f"{hit.relevance:.2f}",
            f"{hit.score:.3f}",
            f"#{hit.utterance.seq}",
            render.when(hit.utterance.said_at),
            hit.tier,
            render.cut(hit.utterance.speaker, 20),
            render.cut(hit.utterance.text, TEXT_CHARS),
            " ".join(f"{render.cut(name, 12)} {s.normalised:.2f}×{s.weight:.2f}" for name, s in hit.spoke.items()),
        )
        for hit in found
    ]
    columns = ("rank", "relevance", "score", "utterance", "said", "tier", "speaker", "text", "channels")
    render.table(title, columns, rows)


def _change_data(one: Change, texts: Mapping[FactId, str]) -> dict[str, Any]:
    return {**plain_values(one), "holds": holds(one, texts)}


def page_named(owner: OwnerMemory, name: str, then: LookBack = NOW) -> Page:
    """A page by its id or its number. Raises NotFound."""
    if not name.isascii() or not name.isdigit():
        return owner.page(PageId(name), **then)
    number = int(name) if len(name) < 19 else 0  # SQLite's whole numbers end there
    found = owner.pages(before=number + 1, limit=1, **then)
    if not found or found[0].no != number:
        raise NotFound(f"there is no page number {name} of {owner.owner.user} / {owner.owner.agent}")
    return found[0]


def tier_of(name: str) -> Tier:
    """The tier of that name. Raises InputError."""
    try:
        return Tier(name)
    except ValueError as error:
        raise InputError(
            f"cannot show {name!r}; allowed: short, pending, mid, long, archive, people, changes, page ID, segment ID"
        ) from error


def _by_heat(owner: OwnerMemory, then: LookBack, scope: Scope | None = None) -> list[tuple[Segment, float]]:
    found = owner.segments(scope=scope, **then)
    return sorted(((one, owner.heat(one, as_of=then.get("as_of"))) for one in found), key=lambda pair: -pair[1])


def _segment_data(one: Segment, heat: float) -> dict[str, Any]:
    return {**plain_values(one), "heat": heat}


def _persona_data(owner: OwnerMemory, then: LookBack) -> dict[str, Any]:
    return {
        "profile": owner.profile(**then),
        "agent_profile": owner.agent_profile(**then),
        "traits": owner.traits(**then),
        "facts": owner.facts("user", **then),
        "agent_facts": owner.facts("agent", **then),
    }


def _page_table(title: str, found: Iterable[Page]) -> None:
    rows = [
        (
            one.no,
            one.id,
            render.when(one.said_at),
            render.cut(one.thread, 16),
            render.cut(one.query, TEXT_CHARS),
            render.cut(one.response, TEXT_CHARS),
        )
        for one in found
    ]
    render.table(title, ("no", "id", "said", "thread", "query", "response"), rows)


def _segment_table(found: Iterable[tuple[Segment, float]]) -> None:
    rows = [
        (
            one.id,
            f"{heat:.2f}",
            len(one.page_ids),
            render.cut(one.title, 48),
            render.cut(", ".join(one.keywords), 48),
            render.cut(one.summary, SUMMARY_CHARS),
        )
        for one, heat in found
    ]
    render.table("mid-term memory: segments", ("id", "heat", "pages", "title", "keywords", "summary"), rows)


def _profile_table(title: str, found: Iterable[ProfileField]) -> None:
    rows = [
        (render.cut(one.name, 24), render.cut(one.value, SUMMARY_CHARS), one.set_by, sources(one.sources))
        for one in found
    ]
    render.table(title, ("field", "value", "set by", "from"), rows)


def _trait_table(found: Iterable[Trait]) -> None:
    rows = [
        (one.category, one.dimension, one.pole, f"{one.level:+.2f}", f"{one.confidence:.2f}", sources(one.sources))
        for one in found
    ]
    render.table("traits of the user", ("category", "dimension", "pole", "level", "confidence", "from"), rows)


def _fact_table(title: str, found: Iterable[Fact]) -> None:
    rows = [
        (
            one.id,
            render.cut(one.text, SUMMARY_CHARS),
            render.cut(one.person, 20),
            render.cut(one.attribute, 20),
            render.when(one.valid_from),
            sources(one.sources),
        )
        for one in found
    ]
    render.table(title, ("id", "fact", "person", "attribute", "since", "from"), rows)


def sources(found: Iterable[Source]) -> Text:
    """The utterances that something rests on, by their numbers."""
    from rich.text import Text

    return Text(render.cut(", ".join(f"#{one.seq}" for one in found), 40), style="dim")
