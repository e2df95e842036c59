"""The trained reader reads what people say in passing, in many languages, and that something ends.

It is not known to say more than these sentences: `reader/CARD.md` has its figures.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from embermem.analysts.asserted import LEAST_OF
from embermem.core.types import PageId, Role, ThreadId, Utterance, UtteranceId
from embermem.embedders.e5 import E5
from embermem.embedders.weights import find_weights
from embermem.reader.trained import TrainedReader

pytestmark = pytest.mark.skipif(find_weights() is None, reason="the weights of the encoder are not installed")

SAID = [
    ("my sister Ana lives in Seville", "lives_in", "Seville", "sister Ana", ""),
    ("我住在北京，在银行上班", "lives_in", "北京", "", ""),
    ("moro em Lisboa com o meu namorado Rui", "has_relative", "Rui", "", ""),
    ("me and tom split up last week", "has_relative", "tom", "", "end"),
    ("im allergic to peanuts btw, whats in pesto", "allergic_to", "peanuts", "", ""),
    ("мой кот Барсик опять сожрал резинку", "has_pet", "Барсик", "", ""),
    ("मेरी बेटी अनन्या को खांसी है", "has_relative", "अनन्या", "", ""),
]


def said(text: str, speaker: str = "user") -> Utterance:
    return Utterance(
        id=UtteranceId("u1"),
        seq=1,
        page_id=PageId("p1"),
        thread=ThreadId("t"),
        speaker=speaker,
        role=Role.USER,
        origin=Role.USER.origin,
        text=text,
        said_at=datetime(2026, 5, 4, tzinfo=UTC),
        recorded_at=datetime(2026, 5, 4, tzinfo=UTC),
    )


def test_it_reads_values_at_their_words_in_many_languages() -> None:
    reader = TrainedReader(E5())
    missed = []
    for text, attribute, value, _, change in SAID:
        found = reader.read(said(text), None)
        if not any(
            one.attribute == attribute
            and value in text[one.start : one.end]
            and one.confidence >= 0.5
            and (one.change == "end") == (change == "end")
            for one in found
        ):
            missed.append((text, [(one.attribute, text[one.start : one.end], one.confidence) for one in found]))
    assert missed == []


def test_a_message_reads_alike_alone_and_after_it_was_embedded() -> None:
    encoder = E5()
    reader = TrainedReader(encoder)
    text = said("just moved to leeds!! starting at the NHS on monday")
    before = said("Where do you live now?", "Mara")
    alone = reader.read(text, before)
    encoder.embed_tokens([text.text])
    assert [(one.attribute, one.start, one.end) for one in reader.read(text, before)] == [
        (one.attribute, one.start, one.end) for one in alone
    ]
    assert reader.read(said("  "), None) == ()


def test_whose_relative_is_told_of() -> None:
    reader = TrainedReader(E5())
    mother = reader.read(said("My dad Piet is 71 and lives in Gent. My mum is Rose."), None)
    assert {one.of_other for one in mother if one.attribute == "has_relative" and one.confidence >= 0.5} == {False}
    hers = reader.read(said("My sister is 30 and her husband is 35."), None)
    assert [one.person for one in hers if one.attribute == "age"] == ["sister"]


@pytest.mark.parametrize(
    ("text", "words", "stands"),
    [
        ("please don't use bullet points with me, i read this on a tiny phone", "use bullet points", True),
        ("Schreib mir ohne Fremdwörter, ich bin kein Akademiker", "ohne Fremdwörter", True),
        ("call me Jo pls, never Joanna", "call me Jo", True),
        ("以后回答我别用表情符号", "别用表情", True),
        ("Stop asking and just give me the booking link already!", "Stop asking and just give me", False),
        ("Show me the three options for the flight now.", "Show me the three options", False),
        ("Don't worry about the garden for now, finish the draft.", "Don't worry about the garden", False),
    ],
)
def test_a_wish_for_all_that_follows_is_told_from_a_request_for_this_answer(
    text: str, words: str, stands: bool
) -> None:
    read = TrainedReader(E5()).read(said(text), None)
    found = [one for one in read if one.attribute == "instruction" and one.confidence >= LEAST_OF["instruction"]]
    assert any(words in text[one.start : one.end] for one in found) == stands
