"""What a segment says of itself without a model: sentences and titles of its own pages."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from embermem.analysts import keywords
from embermem.analysts.extractive import ExtractiveAnalyst
from embermem.analysts.topic_text import TopicText
from embermem.analysts.topic_title import clause
from embermem.core.changes import KeywordCount, SummaryPart
from embermem.core.types import ChainId, PageView, Source, UtteranceId
from embermem.memoryos.ingest.segment_text import spread_of, weights
from proofs import bounded

from .pages import page

WRITER, ANALYST, CHAIN = TopicText(), ExtractiveAnalyst(), ChainId("c1")


def told(view: PageView) -> list[str]:
    return [part.text for part in WRITER.told(view.page, ANALYST.facts(view.page), CHAIN)]


def part(text: str, seq: int = 1, *, phrases: tuple[str, ...] = ()) -> SummaryPart:
    source = Source(seq=seq, utterance_id=UtteranceId(f"u{seq}"))
    return SummaryPart(chain_id=CHAIN, text=text, sources=(source,), phrases=phrases)


def title(*texts: str) -> str:
    found = [word for text in texts for word in keywords(text, 20)]
    return WRITER.title([part(text, seq) for seq, text in enumerate(texts, 1)], dict.fromkeys(found, 1.0))


# ---------------------------------------------------------------------------------------------------------- sentences


def test_statements_are_told_with_their_speaker_and_source_and_questions_and_greetings_are_not() -> None:
    view = page(
        "Hi there! I signed up for the harbour marathon in Bergen. Do you like running?",
        "Wow, great! What will you wear?",
        speakers=("Ida", "Ben"),
    )
    (one,) = WRITER.told(view.page, (), CHAIN)
    assert one.text == "Ida: I signed up for the harbour marathon in Bergen."
    (source,) = one.sources
    said = view.page.utterances[0].text
    assert said[source.start : source.end] == "I signed up for the harbour marathon in Bergen."
    assert one.chain_id == CHAIN


def test_a_fact_is_told_in_place_of_the_sentence_that_says_it_if_its_words_were_said() -> None:
    view = page("I signed up for a pottery class with my old neighbour.", speakers=("Ida", "Ben"))
    assert told(view) == ["Ida signed up for a pottery class with their old neighbour."]


def test_a_page_of_questions_alone_still_tells_one_sentence() -> None:
    assert told(page("What is the tallest volcano of Iceland?")) == ["What is the tallest volcano of Iceland?"]


def test_a_photo_s_caption_and_the_marks_of_a_layout_are_left_out() -> None:
    view = page("**I repaired the old cello of my aunt.** [photo: a photo of a dog]", speakers=("Ida", "Ben"))
    assert not any("photo" in text or "*" in text for text in told(view))


def test_code_addresses_and_markup_are_told_only_by_what_the_user_asked_of_them() -> None:
    view = page(
        "Can you sort this list of harbour pilots by their licence?",
        "ana@harbour.example has licence 12. <td>Pilots of the harbour have a licence each</td>",
    )
    assert told(view) == ["The user: Can you sort this list of harbour pilots by their licence?"]


def test_a_sentence_begins_with_a_capital_ends_and_does_not_join_another() -> None:
    view = page("however, my cello teacher moved to the harbour of Bergen", speakers=("Ida", "Ben"))
    assert told(view) == ["Ida: My cello teacher moved to the harbour of Bergen."]


def test_a_page_that_an_assistant_answers_is_known_by_what_it_was_asked() -> None:
    view = page(
        "Please write a lesson plan on lighthouse keepers.",
        "A whale watching tour starts at noon. The whale watching tour ends late. Lighthouse keepers climb stairs.",
    )
    phrases = {phrase for one in WRITER.told(view.page, (), CHAIN) for phrase in one.phrases}
    assert "lighthouse keepers" in phrases
    assert not any("whale" in phrase for phrase in phrases)


@given(st.text(max_size=300), st.text(max_size=200))
@example("0 0 0 0 0 0 0A 0 0", "")
@settings(max_examples=bounded(50, proofs=1500), deadline=None)
def test_no_text_raises_and_every_sentence_names_where_it_stands(user: str, assistant: str) -> None:
    view = page(user or "x", assistant)
    lengths = {u.id: len(u.text) for u in view.page.utterances}
    parts = WRITER.told(view.page, ANALYST.facts(view.page), CHAIN)
    for one in parts:
        assert one.sources
        assert all((source.end or 0) <= lengths[source.utterance_id] for source in one.sources)
    assert len({one.text for one in parts}) == len(parts)
    assert len(WRITER.title(parts, {}).split()) <= 8


# --------------------------------------------------------------------------------------------------------- what stays


def test_of_sentences_those_that_tell_most_stay_within_the_limit_in_the_order_of_what_was_said() -> None:
    parts = [
        part("Ida: I rode the old ferry to the island with my cello on my back.", 3),
        part("Ben: That is nice to hear.", 2),
        part("Ida: I play the cello in the harbour orchestra on Fridays.", 1),
        part("Ida: I play the cello in the harbour orchestra, on Fridays too.", 4),
    ]
    kept = WRITER.chosen(parts, {"cello": 2.0, "harbour": 1.0, "orchestra": 1.0}, 1000)
    assert [one.sources[0].seq for one in kept] in ([1, 3], [3, 4])
    assert len(WRITER.chosen(parts, {"cello": 2.0}, 70)) == 1


def test_a_sentence_of_a_page_that_nobody_told_of_stands_before_more_of_the_same_page() -> None:
    parts = [
        part("Ida: I play the cello in the harbour orchestra on Fridays.", 1, phrases=("harbour orchestra",)),
        part("Ida: My cello teacher leads the harbour choir on Mondays.", 2, phrases=("harbour orchestra",)),
        part("Ida: I grow seventeen tomatoes on my balcony in Bergen.", 3, phrases=("balcony",)),
    ]
    kept = WRITER.chosen(parts, {"cello": 2.0, "harbour": 2.0, "tomato": 1.0, "balcony": 1.0}, 120)
    assert [one.sources[0].seq for one in kept] in ([1, 3], [2, 3])


def test_a_word_that_most_segments_have_is_no_keyword_and_a_rare_one_tells_more() -> None:
    counts = [KeywordCount(word=word, pages=2) for word in ("photo", "cello", "lake")]
    spread = spread_of([("photo", "cello"), ("photo", "lake"), ("photo",), ("photo", "lake"), ("tea",)])
    found = weights(counts, spread)
    assert set(found) == {"cello", "lake"}
    assert found["cello"] > found["lake"] > 0


# -------------------------------------------------------------------------------------------------------------- title


def test_a_title_is_made_of_phrases_as_a_heading_has_them() -> None:
    cases: list[tuple[tuple[str, ...], str]] = [
        (
            ("Ida: My marathon training goes well.", "Ida: The marathon training made my knee worse."),
            "Marathon training",
        ),
        (("The user: I booked the flights for our trip to Kyoto.",), "Trip to Kyoto"),
        (("Ida: It was so powerful and I was really excited about the pottery class!",), "Pottery class"),
        (("Ida: Thanks, Ben!",), ""),
        (("小雨：我在准备婚礼。", "小雨：婚礼的场地定了。"), "婚礼"),
    ]
    for texts, heading in cases:
        made = title(*texts)
        assert heading in made
        assert made[:1] == made[:1].upper()
        assert len(made.split()) <= 8
        assert not {"ida", "ben"} & {word.lower() for word in made.split()}


def test_two_things_are_joined_in_the_language_of_the_pages() -> None:
    assert title("Ida: The pottery class starts.", "Ida: The choir rehearsal was long.") in (
        "Pottery class and choir rehearsal",
        "Choir rehearsal and pottery class",
    )


def test_a_second_phrase_stands_in_a_title_only_for_pages_that_the_first_leaves() -> None:
    say = ("Ida: The pottery class made a stoneware vase today.", "Ida: Our pottery class glazed a vase.")
    assert title(*say, "Ida: The pottery class ended.") == "Pottery class"
    assert title(*say, "Ida: My choir rehearsal was long.") == "Pottery class and choir rehearsal"


def test_a_title_that_is_cut_ends_with_no_word_that_leads_on() -> None:
    assert clause("I have four stories about Lian and no ending at all for them", 7) == "I have four stories about Lian"
