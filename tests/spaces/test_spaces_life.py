"""Whatever several users, spaces, grants, revocations, additions and forgettings do to one another: what is told to a
handle is what its user said, and what stands in the spaces that are granted to it now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from embermem import Memory
from embermem.core.errors import NotFound, NotGranted
from proofs import bounded
from scripted import SMALL, Clock, Place

USERS, AGENTS, SPACES = ("ann", "ben"), ("default", "tutor"), ("alpha", "beta")
ANY = st.none() | st.sampled_from(AGENTS)
users, agents, spaces = st.sampled_from(USERS), st.sampled_from(AGENTS), st.sampled_from(SPACES)


class Sharing(RuleBasedStateMachine):
    """Two processes on one store, and a plain account of what may be told to whom."""

    stores: ClassVar[Iterator[Any]]

    def __init__(self) -> None:
        super().__init__()
        place = next(self.stores)
        self.sides = [Memory(place, **SMALL, clock=Clock()) for _ in range(2)]
        self.said: dict[tuple[str, str], dict[str, str]] = {}  # by owner: the word of each page that stands
        self.granted: dict[str, dict[tuple[str | None, str | None], bool]] = {name: {} for name in SPACES}
        self.words = (f"quokka{n}" for n in count())

    def teardown(self) -> None:
        for side in self.sides:
            side.close()

    def may(self, space: str, user: str, agent: str, *, write: bool = False) -> bool:
        standing = self.granted[space].items()
        return any(who in (None, user) and by in (None, agent) and (may or not write) for (who, by), may in standing)

    @rule(side=st.integers(0, 1), user=users, agent=agents)
    def add(self, side: int, user: str, agent: str) -> None:
        word = next(self.words)
        page = self.sides[side].of(user, agent).add(f"My note says {word}.", thread=word)
        self.said.setdefault((user, agent), {})[page] = word

    @rule(side=st.integers(0, 1), space=spaces, settle=st.booleans())
    def add_to_a_space(self, side: int, space: str, settle: bool) -> None:
        word = next(self.words)
        page = self.sides[side].space(space).add(f"Our note says {word}.", thread=word)
        self.said.setdefault((" ", space), {})[page] = word
        if settle:
            self.sides[side].space(space).settle()

    @rule(side=st.integers(0, 1), space=spaces, user=users, agent=agents)
    def add_through_a_handle(self, side: int, space: str, user: str, agent: str) -> None:
        word = next(self.words)
        if not self.may(space, user, agent):
            with pytest.raises(NotGranted):
                self.sides[side].of(user, agent, shares=[space])
            return
        shared = self.sides[side].of(user, agent, shares=[space]).shared[space]
        if not self.may(space, user, agent, write=True):
            with pytest.raises(NotGranted):
                shared.add(f"I say {word}.")
            return
        self.said.setdefault((" ", space), {})[shared.add(f"I say {word}.", thread=word)] = word

    @rule(side=st.integers(0, 1), space=spaces, user=st.none() | users, agent=ANY, write=st.booleans())
    def grant(self, side: int, space: str, user: str | None, agent: str | None, write: bool) -> None:
        agent = None if user is None else agent
        self.sides[side].grant(space, user=user, agent=agent, write=write)
        self.granted[space][user, agent] = write

    @rule(side=st.integers(0, 1), space=spaces, user=st.none() | users, agent=ANY)
    def revoke(self, side: int, space: str, user: str | None, agent: str | None) -> None:
        agent = None if user is None else agent
        ended = [who for who in self.granted[space] if who[0] == user and agent in (None, who[1])]
        if not ended:
            with pytest.raises(NotFound):
                self.sides[side].revoke(space, user=user, agent=agent)
            return
        assert len(self.sides[side].revoke(space, user=user, agent=agent)) == len(ended)
        for who in ended:
            del self.granted[space][who]

    @rule(side=st.integers(0, 1), whose=st.sampled_from([*((" ", one) for one in SPACES), ("ann", "default")]))
    def forget_a_page(self, side: int, whose: tuple[str, str]) -> None:
        if pages := self.said.get(whose):
            page = next(iter(pages))
            self.owner(side, whose).forget(page=page)
            del pages[page]

    @rule(side=st.integers(0, 1), space=spaces)
    def forget_a_space(self, side: int, space: str) -> None:
        if self.said.get((" ", space)) or self.granted[space]:
            self.sides[side].space(space).forget_owner()
            self.said.pop((" ", space), None)
            self.granted[space] = {}

    @rule(side=st.integers(0, 1), user=users)
    def forget_a_user(self, side: int, user: str) -> None:
        self.sides[side].forget_user(user)
        for agent in AGENTS:
            self.said.pop((user, agent), None)
        for name in SPACES:
            self.granted[name] = {who: may for who, may in self.granted[name].items() if who[0] != user}

    @invariant()
    def what_is_told_is_granted_and_stands(self) -> None:
        for side in self.sides:
            for user, agent in ((user, agent) for user in USERS for agent in AGENTS):
                open_ = [name for name in SPACES if self.may(name, user, agent)]
                for name in set(SPACES) - set(open_):
                    with pytest.raises(NotGranted):
                        side.of(user, agent, shares=[name])
                mine = side.of(user, agent, shares=open_)
                allowed = {*self.said.get((user, agent), {}).values()}
                for name in open_:
                    allowed |= {*self.said.get((" ", name), {}).values()}
                context, hits = mine.recall("What does the note say?", budget=4000), mine.search("note say", 50)
                told = f"{context.text} {context.to_dict()} {[hit.to_dict() for hit in hits]}"
                assert {*re.findall(r"quokka\d+", told)} <= allowed
                assert {hit.space for hit in hits} <= {None, *open_}

    def owner(self, side: int, whose: tuple[str, str]) -> Any:
        memory = self.sides[side]
        return memory.space(whose[1]) if whose[0] == " " else memory.of(*whose)


def test_what_is_told_is_always_granted(place: Place) -> None:
    Sharing.stores = (place(f"store{n}.db") for n in count())
    with closing(Sharing.stores):
        run_state_machine_as_test(
            Sharing,
            settings=settings(
                max_examples=bounded(3, proofs=60),
                stateful_step_count=bounded(8, proofs=30),
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
