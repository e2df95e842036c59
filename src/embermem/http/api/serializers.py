"""Our records as the bodies of answers: the one place where their JSON is made."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from embermem.core.changes import Change, Decision, api_kind
from embermem.core.types import (
    Context,
    Fact,
    Hit,
    LeftOut,
    Owner,
    Page,
    ProfileField,
    Segment,
    Source,
    Tier,
    Trait,
    Utterance,
)
from embermem.http.api import models


def addition(utterance: Utterance) -> models.Addition:
    """A message that is kept."""
    return models.Addition(
        id=utterance.id,
        memory=utterance.text,
        role=utterance.role,
        page_id=utterance.page_id,
        created_at=utterance.said_at,
    )


def page(owner: Owner, one: Page) -> models.PageItem:
    """A page: what its speakers said, a line each."""
    return models.PageItem(
        id=one.id,
        memory="\n".join(f"{u.speaker}: {u.text}" for u in one.utterances),
        user_id=owner.user,
        agent_id=owner.agent,
        run_id=one.thread,
        created_at=one.said_at,
        updated_at=one.utterances[-1].recorded_at,
        metadata=models.PageData(
            no=one.no,
            tier=one.tier,
            segment_id=one.segment_id,
            chain_id=one.chain_id,
            keywords=list(one.keywords),
            utterances=[
                models.UtteranceItem(
                    id=u.id,
                    seq=u.seq,
                    role=u.role,
                    speaker=u.speaker,
                    text=u.text,
                    said_at=u.said_at,
                    recorded_at=u.recorded_at,
                )
                for u in one.utterances
            ],
            error=one.error,
            expires_at=one.expires_at,
        ),
    )


def hit(owner: Owner, one: Hit) -> models.UtteranceMemory:
    """An utterance that was found, with its score."""
    return utterance(owner, one.utterance, tier=one.tier, segment_id=one.segment_id, score=one.score)


def utterance(
    owner: Owner, one: Utterance, *, tier: Tier | None, segment_id: str | None, score: float | None = None
) -> models.UtteranceMemory:
    """An utterance, and where its page is."""
    return models.UtteranceMemory(
        id=one.id,
        memory=one.text,
        score=score,
        user_id=owner.user,
        agent_id=owner.agent,
        run_id=one.thread,
        created_at=one.said_at,
        updated_at=one.recorded_at,
        metadata=models.UtteranceData(
            page_id=one.page_id,
            seq=one.seq,
            role=one.role,
            speaker=one.speaker,
            tier=tier,
            segment_id=segment_id,
        ),
    )


def fact(owner: Owner, one: Fact) -> models.FactItem:
    """A fact; it was made when it began to hold, or else when it was recorded."""
    return models.FactItem(
        id=one.id,
        memory=one.text,
        user_id=owner.user,
        agent_id=owner.agent,
        created_at=one.valid_from or one.recorded_at,
        updated_at=one.recorded_at,
        metadata=models.FactData(
            about=one.about,
            subject=one.subject,
            attribute=one.attribute,
            value=one.value,
            sources=_ids(one.sources),
            rests_on=_sources(one.sources),
            change_no=one.change_no,
            valid_from=one.valid_from,
            valid_to=one.valid_to,
            retired_at=one.retired_at,
            superseded_by=one.superseded_by,
            pinned=one.pinned,
            archived=one.archived,
            expires_at=one.expires_at,
            conflicts=list(one.conflicts),
        ),
    )


def context(owner: Owner, one: Context, *, explain: bool) -> models.ContextAnswer:
    """What a recall hands back; what it left out where that is asked."""
    return models.ContextAnswer(
        text=one.text,
        tokens=one.tokens,
        counter=one.counter,
        confidence=one.confidence,
        partial=one.partial,
        preset=one.preset,
        results=[hit(owner, packed) for packed in one.packed],
        facts=[fact(owner, told) for told in one.facts],
        left_out=[_left_out(left) for left in one.left_out] if explain else None,
        notes=list(one.notes) if explain else None,
    )


def profile(user: tuple[ProfileField, ...], agent: tuple[ProfileField, ...]) -> models.Profile:
    """Both profiles, by the names of their fields."""
    return models.Profile(user=_fields(user), agent=_fields(agent))


def trait(one: Trait) -> models.TraitItem:
    """A trait that is known."""
    return models.TraitItem(
        dimension=one.dimension,
        category=one.category,
        level=one.level,
        confidence=one.confidence,
        pole=one.pole,
        sources=_ids(one.sources),
        rests_on=_sources(one.sources),
        change_no=one.change_no,
        recorded_at=one.recorded_at,
        valid_from=one.valid_from,
        retired_at=one.retired_at,
    )


def segment(one: Segment, heat: float) -> models.SegmentItem:
    """A segment without its pages."""
    return models.SegmentItem(
        id=one.id,
        summary=one.summary,
        keywords=list(one.keywords),
        heat=heat,
        visits=one.visits,
        unanalysed=one.unanalysed,
        last_access=one.last_access,
        archived=one.archived,
        said_from=one.said_from,
        said_to=one.said_to,
        page_ids=list(one.page_ids),
        rests_on=_sources(one.sources),
        change_no=one.change_no,
        recorded_at=one.recorded_at,
        tags=list(one.tags),
        context=one.context,
    )


def change(one: Change) -> models.ChangeItem:
    """A change with all that it decided."""
    return models.ChangeItem(
        change_no=one.no,
        cause=one.cause,
        analyst=one.analyst,
        recorded_at=one.recorded_at,
        decisions=[_decision(decided) for decided in one.decisions],
    )


def owner(one: Owner) -> models.OwnerItem:
    """An owner by its names."""
    return models.OwnerItem(user_id=one.user, agent_id=one.agent)


def _decision(one: Decision) -> dict[str, object]:
    said: Mapping[str, object] = msgspec.to_builtins(one)
    return {"kind": api_kind(type(one)), **said}


def _left_out(one: LeftOut) -> models.LeftOutItem:
    return models.LeftOutItem(what=one.what, score=one.score, reason=one.reason)


def _fields(lines: tuple[ProfileField, ...]) -> dict[str, models.ProfileValue]:
    return {
        line.name: models.ProfileValue(
            value=line.value,
            set_by=line.set_by,
            sources=_ids(line.sources),
            rests_on=_sources(line.sources),
            change_no=line.change_no,
            recorded_at=line.recorded_at,
            valid_from=line.valid_from,
            retired_at=line.retired_at,
        )
        for line in lines
    }


def _ids(sources: tuple[Source, ...]) -> list[str]:
    """The utterances that something rests on, each once."""
    return list(dict.fromkeys(source.utterance_id for source in sources))


def _sources(sources: tuple[Source, ...]) -> list[models.SourceItem]:
    return [
        models.SourceItem(id=source.utterance_id, seq=source.seq, start=source.start, end=source.end)
        for source in sources
    ]
