"""Whatever is proposed of a person, in whatever order: the persona in the store stays whole, with its history."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embermem.bootstrap import open_store
from embermem.core import messages
from embermem.core.changes import Cause
from embermem.core.config import load
from embermem.core.traits import dimensions
from embermem.core.types import (
    About,
    Fact,
    FactProposal,
    Message,
    Owner,
    OwnerId,
    Persona,
    PersonaChange,
    ProfileProposal,
    Role,
    Source,
    ThreadId,
    TraitProposal,
    Utterance,
)
from embermem.memoryos.ingest.long_term import Knowledge
from embermem.protocols import ARCHIVED, ENDED, FactSelection
from embermem.store.sql import SqlStore
from proofs import bounded
from scripted import NOW, Place
from soundness import looking
from state_rows import state_rows

OWNER = messages.owner("ann", "default")

SETTINGS = load(user_facts=4, agent_facts=2)
SAID = 8
"""Utterances of each example's owner; seq n was said n days after NOW."""
NAMES = itertools.count()

Held = tuple[SqlStore, str | Path]


@pytest.fixture
def held(place: Place) -> Iterator[Held]:
    """One store for all examples; each has an owner of its own."""
    with closing(open_store(place(), load(busy_timeout_s=5.0))) as store:
        store.remember({"embedder": "e1", "dim": "2"})
        yield store, place()


level = st.floats(-1.0, 1.0, allow_nan=False)
confidence = st.floats(0.0, 1.0, allow_nan=False)
seqs = st.lists(st.integers(1, SAID), min_size=1, max_size=3, unique=True)
proposals = st.lists(
    st.one_of(
        st.tuples(st.just("trait"), st.sampled_from([d.name for d in dimensions()[2:6]]), level, confidence, seqs),
        st.tuples(
            st.just("fact"),
            st.sampled_from(["lives_in", "likes"]),
            st.sampled_from(["Lyon", "Oslo", "tea"]),
            st.sampled_from(["add", "supersede", "retire", "nonsense"]),
            seqs,
        ),
        st.tuples(st.just("profile"), st.sampled_from(["name", "home"]), st.sampled_from(["Lyon", "Ana"]), seqs),
    ),
    max_size=5,
)


@settings(max_examples=bounded(8, proofs=400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(proposals, min_size=1, max_size=6), about=st.sampled_from(About))
def test_any_changes_leave_a_persona_whose_levels_evidence_and_history_hold(
    held: Held, changes: list[list[tuple[object, ...]]], about: About
) -> None:
    store, place = held
    owner = Owner(id=OwnerId(f"owner{next(NAMES)}"), user="alice", agent="default")
    said = {u.seq: u for u in spoken(store, owner)}
    for number, change in enumerate(changes):
        persona = store.persona(owner.id)
        made = resolved(change, said, persona, about)
        revision = number
        decisions = Knowledge(OWNER, persona).learn(
            made,
            said={seq: u.said_at for seq, u in said.items()},
            known=store.facts(owner.id, FactSelection(resting_on=frozenset(said))),
            no=revision + 1,
            at=NOW + timedelta(days=SAID + number),
            settings=SETTINGS,
        )
        now = NOW + timedelta(days=SAID + number)
        store.apply(owner, Cause.PROMOTION, "any", decisions, now=now, revision=revision, lease=None)
        assert_whole(store.persona(owner.id), said)
        assert_facts_end_once(store, owner, said)
    assert_versions_follow_each_other(place, owner)
    before = store.persona(owner.id), store.facts(owner.id, ENDED)
    store.replay(owner.id)
    assert (store.persona(owner.id), store.facts(owner.id, ENDED)) == before


def spoken(store: SqlStore, owner: Owner) -> tuple[Utterance, ...]:
    messages = [
        Message(role=Role.USER, speaker="alice", text=f"{n}", said_at=NOW + timedelta(days=n), thread=ThreadId("t"))
        for n in range(1, SAID + 1)
    ]
    store.append(owner, messages, now=NOW, key=None, digest="", fresh=False)
    return store.utterances(owner.id, 0, 100)


def resolved(
    change: list[tuple[object, ...]], said: dict[int, Utterance], persona: Persona, about: About
) -> PersonaChange:
    """A drawn change as proposals on the utterances that are there."""
    facts: list[FactProposal] = []
    traits: list[TraitProposal] = []
    profile: list[ProfileProposal] = []
    mine = persona.facts if about is About.USER else persona.agent_facts
    for kind, name, *rest, on in change:
        assert isinstance(name, str)
        assert isinstance(on, list)
        sources = tuple(Source(seq=seq, utterance_id=said[seq].id) for seq in sorted(on))
        if kind == "trait":
            strength, sure = rest
            assert isinstance(strength, float)
            assert isinstance(sure, float)
            traits.append(TraitProposal(dimension=name, level=strength, confidence=sure, sources=sources))
        elif kind == "profile":
            profile.append(ProfileProposal(name=name, value=str(rest[0]), sources=sources))
        else:
            facts.append(stated(name, str(rest[0]), str(rest[1]), mine, about, sources))
    return PersonaChange(facts=tuple(facts), traits=tuple(traits), profile=tuple(profile))


def stated(
    name: str, value: str, action: str, mine: tuple[Fact, ...], about: About, sources: tuple[Source, ...]
) -> FactProposal:
    return FactProposal(
        about=about,
        subject="user",
        attribute=name,
        value=value,
        text=f"{name} {value}",
        sources=sources,
        single=name == "lives_in",
        retracts=action == "retire",
        replaces=mine[0].id if mine and action in ("supersede", "retire") else None,
    )


def assert_whole(persona: Persona, said: dict[int, Utterance]) -> None:
    for trait in persona.traits:
        assert -1.0 <= trait.level <= 1.0
        assert 0.0 <= trait.confidence <= 1.0
    resting = [item.sources for item in (*persona.facts, *persona.agent_facts)]
    resting += [trait.sources for trait in persona.traits] + [line.sources for line in persona.profile]
    for sources in resting:
        assert sources
        assert all(said[source.seq].id == source.utterance_id for source in sources)
    assert len({trait.dimension for trait in persona.traits}) == len(persona.traits)
    assert len(persona.facts) <= SETTINGS.user_facts
    assert len(persona.agent_facts) <= SETTINGS.agent_facts
    homes = [f for f in (*persona.facts, *persona.agent_facts) if f.attribute == "lives_in"]
    assert len(homes) <= 1


def assert_facts_end_once(store: SqlStore, owner: Owner, said: dict[int, Utterance]) -> None:
    persona = store.persona(owner.id)
    archived = [*store.facts(owner.id, ARCHIVED)]
    ended = [*store.facts(owner.id, ENDED)]
    ids = [fact.id for fact in (*persona.facts, *persona.agent_facts, *archived, *ended)]
    assert len(ids) == len(set(ids))
    for fact in ended:
        assert fact.retired_at is not None
        assert fact.superseded_by is None or fact.superseded_by in ids
        assert fact.superseded_by != fact.id
        if fact.valid_from is not None and fact.valid_to is not None:
            assert fact.valid_from <= fact.valid_to


def assert_versions_follow_each_other(place: str | Path, owner: Owner) -> None:
    """Of each trait and profile line: every version but the newest is retired by the change that made the next."""
    with looking(place) as look:
        told = state_rows(look)
        for table, key in (("trait", "dimension"), ("profile", "name")):
            versions: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
            for row in (one for one in told[table] if one["owner_id"] == owner.id):
                versions[row[key]].append((row["change_no"], row["retired_no"]))
            for chain in versions.values():
                assert [retired for _, retired in chain] == [*(made for made, _ in chain[1:]), None]
