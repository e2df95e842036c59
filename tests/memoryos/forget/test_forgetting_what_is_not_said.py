"""What is forgotten beside what was said: documents, metadata, labels of webhooks, grants, and what calls gave."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from embermem import Forgotten, Memory, OwnerMemory
from forgotten import holds
from scripted import Place
from soundness import assert_sound

pytestmark = pytest.mark.engines

LEASE = "# Zyxlease\n\nWelcome.\n\n## Zyxplace\n\nThe zyxrent is due on the third."
SOURCE, FILE = "zyxsource.md", {"zyxname": "zyxvalue", "zyxlist": ["zyxitem"]}
SAID = {"zyxlabel": "zyxsaid", "zyxmany": ["zyxone"]}
DOCUMENT = ("zyxlease", "zyxplace", "zyxrent", "zyxsource", "zyxname", "zyxvalue", "zyxlist", "zyxitem")
TALK = ("zyxfigs", "zyxlabel", "zyxsaid", "zyxmany", "zyxone")
LEARNT = ("zyxplums", "zyxfact", "zyxfactlist")
REST = ("zyxhost", "zyxspace", "zyxfriend")


@pytest.fixture
def alice(memory: Memory) -> OwnerMemory:
    """A memory with words of its own in all that a caller can give."""
    memory.of("bob").add("I live in Lyon.", "I see.", metadata={"of": "bob"})
    alice = memory.of("alice")
    alice.add("I like zyxfigs.", "I see.", thread="figs", metadata=SAID, key="said")
    alice.add("The train was late.", "I see.", thread="trains", metadata={"of": "trains"})
    alice.add_document(LEASE, source=SOURCE, metadata=FILE, key="lease")
    alice.learn(
        [{"text": "likes zyxplums", "value": "zyxplums", "metadata": {"zyxfact": ["zyxfactlist"]}}], key="learnt"
    )
    alice.add_webhook("https://zyxhost.invalid/zyxpath", key="hook")
    memory.grant("zyxspace", user="alice")
    memory.space("zyxspace").add("The deploy is on Friday.")
    memory.grant("others", user="zyxfriend")
    alice.settle()
    return alice


def test_no_word_of_what_was_forgotten_is_left_and_of_all_else_all_is(
    memory: Memory, alice: OwnerMemory, place: Place
) -> None:
    every = (*DOCUMENT, *TALK, *LEARNT, *REST)
    assert holds(place(), *every) == list(every)
    left = list(every)
    forgettings: dict[tuple[str, ...], Callable[[], Forgotten]] = {
        DOCUMENT: lambda: alice.forget_document(alice.documents()[0].id),
        TALK: lambda: alice.forget(thread="figs"),
        LEARNT: lambda: alice.forget(fact=next(one for one in alice.facts() if one.value == "zyxplums").id),
    }
    for gone, forget in forgettings.items():
        receipt = forget()
        left = [word for word in left if word not in gone]
        assert holds(place(), *every) == left
        assert alice.verify(receipt).ok
    alice.remove_webhook(alice.webhooks()[0].id)
    alice.forget(thread="trains")
    assert holds(place(), "zyxhost", "zyxpath") == []
    assert [one for one in memory.check(deep=True) if one.level == "error"] == []
    assert all(found.same for found in memory.rebuild())
    assert_sound(place())


def test_no_byte_of_a_grant_to_who_is_forgotten_is_left_and_who_is_forgotten_whole_takes_all_along(
    memory: Memory, alice: OwnerMemory, place: Place
) -> None:
    memory.forget_user("zyxfriend")
    assert holds(place(), "zyxfriend") == []
    memory.grant("others", user="zyxfriend")
    memory.of("zyxfriend").add("Hello.")
    memory.forget_user("zyxfriend")
    assert holds(place(), "zyxfriend") == []
    receipt = alice.forget_owner()
    assert holds(place(), *DOCUMENT, *TALK, *LEARNT, "zyxhost", "zyxpath") == []
    assert alice.verify(receipt).ok
    memory.space("zyxspace").forget_owner()
    assert holds(place(), "zyxspace") == []
    assert [one for one in memory.check(deep=True) if one.level == "error"] == []
    assert_sound(place())
