"""What the reader of English clauses understands, in sentences of our own."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from embermem.analysts.screening import screen
from embermem.languages.en import LANGUAGE as ENGLISH
from embermem.languages.en import verbs
from embermem.languages.facts.finding import Finding
from proofs import bounded

SAID = datetime(2026, 11, 21, 12, tzinfo=UTC)  # a Saturday


def found(text: str) -> list[Finding]:
    return [one for one in ENGLISH.facts(screen(text) or "", SAID) if not one.retracts]


def taken_back(text: str) -> set[tuple[str, str]]:
    return {(one.attribute, one.value) for one in ENGLISH.facts(text, SAID) if one.retracts}


def said(text: str) -> list[str]:
    return [f"{one.subject}: {ENGLISH.statement(one.attribute, one.value)}" for one in found(text)]


TOLD = """
I have limited storage space in the barn. | user: has limited storage space in the barn
I'm ready to book the lake cabin in Bath with my sister. | user: plans to book the lake cabin in Bath with their sister
I ran into this friendly couple from Lisbon. | user: ran into a friendly couple from Lisbon
I have a high fever and a bad cough. | user: had a high fever and a bad cough
I'll repaint the old boat shed in Ghent this arvo. | user: plans to repaint the old boat shed in Ghent
We painted the chapel door and hope to see roses soon. | user: painted the chapel door
We adopted a shelter greyhound last spring. | user: adopted a shelter greyhound
My husband and I hiked the coast path in Wales. | user: hiked the coast path in Wales with their husband
The wife and I renovated the kitchen in March. | user: renovated the kitchen with the wife
I lost my job at the cannery last week. | user: lost their job at the cannery
Since I lost my job at the cannery, money has been tight. | user: lost their job at the cannery
I've finished my thesis on river ecology. | user: finished their thesis on river ecology
I've been learning the accordion from my uncle. | user: has been learning the accordion from their uncle
I volunteer at the animal shelter every Sunday. | user: volunteers at the animal shelter every Sunday
I bake sourdough bread and sell it at the market. | user: bakes sourdough bread and sells it at the market
I never eat breakfast before a morning swim. | user: avoids breakfast before a morning swim
I used to compete in ballroom tournaments. | user: used to compete in ballroom tournaments
I'm passionate about restoring old bicycles. | user: likes restoring old bicycles
I'm looking forward to our sailing trip in Greece. | user: is looking forward to their sailing trip in Greece
I'm going to visit my grandmother in Bergen next month. | user: plans to visit their grandmother in Bergen
I'm planning to open a bakery with my cousin. | user: plans to open a bakery with their cousin
I'm flying to Lisbon with my brother on Friday. | user: plans to fly to Lisbon with their brother
I want to write a novel about my grandfather. | user: would like to write a novel about their grandfather
I'd love to see the northern lights in Norway. | user: would like to see the northern lights in Norway
My dream is to restore an old windmill. | user: would like to restore an old windmill
It's always been my dream to sail around Iceland. | user: would like to sail around Iceland
We're expecting our first baby in June. | user: is expecting their first baby
My wife is pregnant. | wife: is pregnant
My brother Oskar broke his collarbone at practice. | brother Oskar: broke his collarbone at practice
Lost my job as a courier yesterday. | user: lost their job as a courier
Still working on the extension behind the house. | user: is still working on the extension behind the house
I just moved into a cabin near the lake, any tips for the winter? | user: moved into a cabin near the lake
Hi Ember! Yesterday I passed the sailing exam. | user: passed the sailing exam
I feel it's important to teach children about rivers. | user: feels it is important to teach children about rivers
Knitting socks helps me unwind in winter. | user: says that knitting socks helps them unwind in winter
My rent is about 900 euros a month. | user: says that their rent is about 900 euros a month
I made this walnut table in my workshop. | user: made a walnut table in their workshop
I can't afford the tuition at the music academy. | user: cannot afford the tuition at the music academy
My wife's brother came. My son plays handball. | user: has a son
I went to the opera with my friend Noor. | user: has a friend named Noor
My two kids, Tom and Mia, sleep late. | user: has kids named Tom and Mia
Ana, my sister, called. | user: has a sister named Ana
I'm Nadia, a 37-year-old welder. | user: is 37 years old
I'm Nadia, a 37-year-old welder. | user: works as a welder
I'm a 52-year-old plumber from Leeds. | user: works as a plumber
Call me Dr. Okafor. | user: goes by Dr. Okafor
We sold the flat and now I'm in Berlin. | user: lives in Berlin
I'm 180 cm tall. | user: is 180 cm tall
I'm Catholic. | user: is Catholic
My pronouns are they/them. | user: goes by the pronouns they/them
My phone number is +32 475 00 00 00. | user: has the phone number +32 475 00 00 00
I work as a baker, can you help me sleep better? | user: works as a baker
I suppose so. I live in Oslo. | user: lives in Oslo
I toured a lighthouse yesterday and it was really inspiring. | user: toured a lighthouse and found it inspiring
We sailed the Frisian isles. It was fun and relaxing! | user: sailed the Frisian isles and found it fun and relaxing
I sold the harp because I needed the room for a loom. | user: sold the harp because they needed the room for a loom
I'm too tired for the harvest dance in Ghent. | user: is too tired for the harvest dance in Ghent
I'd rather travel by train with my sister than fly. | user: prefers to travel by train with their sister rather than fly
Please put the greenhouse plans on hold for a month. | user: would like to put the greenhouse plans on hold for a month
I toured a glass studio in Ghent. I felt really calm. | user: toured a glass studio in Ghent and felt calm
I practised the songs about bites, stings, and burns. | user: practised the songs about bites, stings, and burns
I got the idea from a trip to Ghent a few years ago. | user: got the idea from a trip to Ghent
I've gathered the harbour documents we discussed. | user: gathered the harbour documents
I'm keen to give those sailing lessons in Ghent a go. | user: is keen to give the sailing lessons in Ghent a go
I'm ready to continue with that harbour museum catalogue. | user: plans to continue with the harbour museum catalogue
I usually read the river almanac, and sometimes I sketch. | user: usually reads the river almanac
The 'Harbour View' cabin from Bath sounds perfect. | user: says that the Harbour View cabin from Bath sounds perfect
The ferry is the only time I have to read novels. | user: says that the ferry is the only time they have to read novels
I've formally accepted the offer from the brewery. | user: has formally accepted the offer from the brewery
We agreed to meet the architect every second Tuesday. | user: agreed to meet the architect every second Tuesday
I made sure the orchard deed was fully settled and archived. | user: made sure the orchard deed was fully settled
I want to open a rye bakery so I can show my kids the joy that old bread gives. | user: would like to open a rye bakery
"""

UNTOLD = """
I don't have to smile at the harvest dance in Ghent. | I won't be able to speak at the harvest dance in Ghent.
Please start with the chapter on the old orchard. | I had to be bold and dig deep into those topics.
I watched a really great one called "Harbour" in the cinema.
I think the most difficult part is the walk before the summit.
I believe that planting the right trees and hedges can save the river. | I just need to survive this week.
I wanted columns for the orchard in the table. | The oak checklist was good. Made a real difference on the farm.
I'm skipping the optional tours of the harbour. | I learned a lot about roses during our chat.
Let's move on to the next orchard phrase. | I'm going to jump on these straight away and lock in the cabin.
I did manage the tasting over the weekend. | My favorite was a very old silk coat.
Can you help me reply to this: Hi Rosa,\\nOur orchard talk has been postponed.\\nThank you,\\nJohannes Meier
Improve this answer for the fair: I planted roses behind the chapel.
I planted some plum trees\\nwhich the keeper in Bath liked\\nbut the soil there was dry,\\nand I watered it for days
We agreed to it. | No need to rebuild the greenhouse in the orchard.
I'll ring once I've got the signed contracts for the orchard. | My patience is truly at its absolute end.
Bit of a chore that I still have to label the jam jars. | I'm tired of discussing the colours of the barn.
I'm not keen on ringing the orchard keeper right now. | We need to pay more attention to clean rivers.
Petra Lind  00:02\\nTell me of it.\\nOmar Reyes  00:10\\nI launched a bakery in Ghent.
Please remember this content: I planted roses behind the chapel.
Here it is.\\nFound 120 images of boats in the folder\\nFound 340 images of boats in the folder | I agree with you.
I'm so happy for you. | I can imagine. | I think so too. | I loved it. | I did that too. | I love the sound of that.
I know what you mean about that. | I need help with my essay. | Can you tell me if I should go?
Should I buy a boat, or is that silly? | If I win the lottery, I buy a boat in Spain.
I wish I had studied medicine in Leiden. | In the game I built a castle with three towers.
I built a rocket in my garage, just kidding. | "I broke the window of the chapel," he said.
You are an expert copywriter. I sell handmade candles in Bruges. | Hello! I'm Claudette, an AI assistant made for you.
I'm 34% done with the course. | I'm a nurse, aren't I? | Now I'm in Berlin for a conference. | I took him to it.
I told you about it yesterday. | Thanks, I really appreciate your kind words. | I'm glad you enjoyed the concert.
They visited the lighthouse museum.
"""


def rows(text: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in text.strip().splitlines()]


def test_a_statement_is_told_in_the_third_person() -> None:
    for row in rows(TOLD):
        text, expected = (part.strip() for part in row.split(" | "))
        assert expected in said(text)


def test_small_talk_requests_fiction_and_pointing_words_give_no_fact() -> None:
    assert {text: got for text in " | ".join(rows(UNTOLD)).split(" | ") if (got := said(text)) != []} == {}


def test_a_time_is_resolved_and_leaves_the_value() -> None:
    cases = [
        ("I joined a choir yesterday.", "20 November 2026"),
        ("I joined a choir in Ghent last week.", "9–15 November 2026"),
        ("Last month I joined a choir in Ghent.", "October 2026"),
        ("I joined a choir in Ghent two years ago.", "2024"),
        ("I'm going to join a choir in Ghent next month.", "December 2026"),
    ]
    for text, label in cases:
        (one,) = [f for f in found(text) if f.attribute in ("did", "plans")]
        assert one.when is not None
        assert one.when.label == label
        assert one.value in ("joined a choir", "joined a choir in Ghent", "join a choir in Ghent")


def test_a_plan_with_a_date_ends_after_it() -> None:
    (one,) = found("I'm going to visit the shipyard museum next Friday.")
    assert one.until == datetime(2026, 11, 28, tzinfo=UTC)


def test_a_time_to_come_is_that_of_what_was_arranged() -> None:
    cases = [
        ("I booked a cabin in Bath 17-21 September.", "booked a cabin in Bath for 17–21 September 2027"),
        ("I've booked a cabin in Bath from June 1st to June 7th.", "booked a cabin in Bath for 1–7 June 2027"),
        ("I reserved a table at the pier for next week.", "reserved a table at the pier for 23–29 November 2026"),
    ]
    for text, value in cases:
        (one,) = found(text)
        assert (one.value, one.when) == (value, None)


def test_what_was_arranged_in_the_past_has_its_date() -> None:
    (one,) = found("I booked the ferry to Oslo last week.")
    assert one.when is not None
    assert (one.value, one.when.label) == ("booked the ferry to Oslo", "9–15 November 2026")


def test_a_deadline_stays_in_the_value_and_ends_what_it_limits() -> None:
    (one,) = found("I need to submit the grant report for the museum by Friday.")
    assert one.value == "needs to submit the grant report for the museum by 27 November 2026"
    assert (one.when, one.until) == (None, datetime(2026, 11, 28, tzinfo=UTC))


def test_a_plan_that_is_done_or_given_up_is_taken_back() -> None:
    cases = [
        ("We finally visited the Louvre.", "visit the Louvre"),
        ("I've already booked the ferry to Oslo.", "book the ferry to Oslo"),
        ("I'm not going to visit Rome any more.", "visit Rome"),
        ("We're not going to Rome after all.", "go to Rome"),
        ("I don't want to learn the cello anymore.", "learn the cello"),
        ("We cancelled our trip to Rome.", "trip to Rome"),
    ]
    assert [(text, plan) for text, plan in cases if ("plans", plan) not in taken_back(text)] == []


def test_what_says_nothing_of_a_plan_takes_none_back() -> None:
    cases = ["I visited the Louvre.", "I'm not going to the Louvre today.", "I visit the Louvre."]
    assert [text for text in cases if any(attribute == "plans" for attribute, _ in taken_back(text))] == []


def test_the_hearer_is_left_out_with_the_phrase_that_names_them() -> None:
    assert said("I finished the patchwork quilt you asked for.") == ["user: finished the patchwork quilt"]
    assert said("I planted tulips in the garden for your birthday.") == ["user: planted tulips in the garden"]


def test_a_list_that_is_cut_short_of_its_last_verb_ends_before_it() -> None:
    assert said("I wrote a book on rivers and made a plan for getting it printed in Ghent.") == [
        "user: wrote a book on rivers and made a plan"
    ]


def test_what_a_named_relative_did_to_the_speaker_is_left() -> None:
    assert said("My colleague Rob invited me to a sailing class.") == ["user: has a colleague named Rob"]


def test_a_long_clause_ends_where_a_phrase_does() -> None:
    text = (
        "I carried the old oak table from the barn to the workshop behind the house near the river"
        " with the help of the neighbours from across the road."
    )
    (one,) = found(text)
    assert len(one.value.split()) <= 14
    assert text.startswith(one.value.replace("carried", "I carried", 1))


def test_few_facts_are_taken_from_one_text() -> None:
    text = " ".join(
        f"I planted {tree} trees near the old harbour wall."
        for tree in "plum pear fig apple lime elm oak ash fir".split()
    )
    assert len(found(text)) <= 5


WORDS = (
    "I we my sister husband went have 'm not want to the garden and , . ? you yesterday Rome dog old her it's".split()
)


@settings(max_examples=bounded(60, proofs=1000))
@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_positions_point_into_the_text_whatever_is_said(text: str) -> None:
    for one in ENGLISH.facts(text, SAID):
        assert 0 <= one.start < one.end <= len(text)


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert all(one.end <= len(text) for one in ENGLISH.facts(text, SAID))


def test_a_value_has_no_content_word_of_its_own() -> None:
    for row in rows(TOLD):
        text = row.split(" | ")[0]
        stem = ENGLISH.stem
        spoken = {stem(word.strip(".,?!'\"").lower()) for word in text.replace("'s", " 's").split()}
        told_otherwise = {
            "they", "them", "their", "themself", "is", "are", "has", "does", "not", "a", "some", "cannot", "it",
        }  # fmt: skip
        for one in found(text):
            if one.attribute in ("did", "does", "plans", "would_like_to"):
                words = {stem(word.strip(".,?!'\"").lower()) for word in one.value.replace("'s", " 's").split()}
                assert len(words - spoken - {stem(word) for word in told_otherwise}) <= 1  # the verb's own form


def test_verbs_are_inflected() -> None:
    cases = [
        ("go", "goes", "went", "going"), ("study", "studies", "studied", "studying"),
        ("stop", "stops", "stopped", "stopping"), ("make", "makes", "made", "making"), ("lie", "lies", "lay", "lying"),
        ("visit", "visits", "visited", "visiting"), ("have", "has", "had", "having"), ("see", "sees", "saw", "seeing"),
        ("play", "plays", "played", "playing"), ("teach", "teaches", "taught", "teaching"),
    ]  # fmt: skip
    assert {
        base: got
        for base, third, past, gerund in cases
        if (got := (verbs.third(base), verbs.past(base), verbs.gerund(base))) != (third, past, gerund)
    } == {}


def test_a_form_leads_to_its_base() -> None:
    cases = [
        ("went", "go"), ("found", "find"), ("cancelled", "cancel"), ("running", "run"), ("baked", "bake"),
        ("felt", "feel"),
    ]  # fmt: skip
    for form, base in cases:
        known = verbs.verb(form)
        assert known is not None
        assert known.base == base


def test_what_is_no_verb_has_no_base() -> None:
    assert verbs.verb("garden's") is None
    assert verbs.base_of_gerund("king") is None


def test_a_clause_that_ends_in_a_place_is_read_to_its_end() -> None:
    for ending in ["down here", "up there", "over here", "out there", "from here"]:
        found = list(ENGLISH.facts(f"I've got all that warmth for free {ending}, you fool.", SAID))
        assert all(ending not in one.value for one in found)
