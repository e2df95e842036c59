"""What is made of a reader's assertions: what is believed, of whom, in which words; and that ends find their facts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from analysts.pages import page
from embermem.analysts import asserted
from embermem.analysts.screening import screen
from embermem.languages.en import LANGUAGE as ENGLISH
from embermem.languages.facts.finding import Finding
from embermem.protocols import Assertion
from table_reader import at

SAID_AT = datetime(2026, 3, 2, 10, tzinfo=UTC)


def told(text: str, *assertions: Assertion) -> list[tuple[str, str, str, bool]]:
    screened = screen(text)
    assert screened is not None
    found = asserted.found(text, screened, assertions, SAID_AT)
    return [(one.subject, one.attribute, one.value, one.retracts) for one, _ in found]


def test_what_is_believed_of_assertions() -> None:
    text = 'my sister Ana lives in Leeds, her dog rex died, he said "I live in Rome, mate!", no pork for me'
    person = {"of_other": True, "person": "sister Ana"}
    cases = {
        "of a relative": ([at(text, "Leeds", **person)], [("sister Ana", "lives_in", "Leeds", False)]),
        "unsure": ([at(text, "Leeds", confidence=0.3)], []),
        "of nobody who is named": ([at(text, "Leeds", of_other=True)], []),
        "of a relative without a name": (
            [at(text, "Leeds", of_other=True, relation="sister")],
            [("sister", "lives_in", "Leeds", False)],
        ),
        "to come": (
            [at(text, "Leeds", tense="future")],
            [("user", "plans", "my sister Ana lives in Leeds", False)],
        ),
        "quoted": ([at(text, "Rome")], []),
        "a name with its relation": (
            [at(text, "Ana", attribute="has_relative", relation="sister")],
            [("user", "has_relative", "sister Ana", False)],
        ),
        "a name without one": ([at(text, "Ana", attribute="has_relative")], []),
        "by words that no language knows": (
            [at(text, "no pork", attribute="has_relative")],
            [("user", "has_relative", "no pork", False)],
        ),
        "a wish of one word": ([at(text, "pork", attribute="wants")], []),
        "an animal and its name": (
            [at(text, "dog", attribute="has_pet"), at(text, "rex", attribute="has_pet")],
            [("user", "has_pet", "dog rex", False)],
        ),
        "an event with a name": (
            [at(text, "rex died", attribute="has_pet", change="end", event=True, confidence=0.8)],
            [("user", "has_pet", "rex died", True)],
        ),
        "its own verb": ([at(text, "lives")], []),
        "a name of a relative": (
            [at(text, "Ana", attribute="name", of_other=True, person="sister")],
            [("user", "has_relative", "sister Ana", False)],
        ),
        "an end": ([at(text, "rex", attribute="has_pet", change="end")], [("user", "has_pet", "rex", True)]),
        "an end of a job": (
            [at(text, "died", attribute="works_at", change="end", event=True)],
            [("user", "works_at", "", True), ("user", "works_as", "", True)],
        ),
        "a diet keeps its not": (
            [at(text, "pork", attribute="diet", negated=True)],
            [("user", "diet", "no pork for me", False)],
        ),
        "a like that is none": (
            [at(text, "pork", attribute="likes", negated=True)],
            [("user", "dislikes", "pork", False)],
        ),
        "of two readings the surer": (
            [at(text, "Leeds", confidence=0.96), at(text, "Leeds", attribute="comes_from", confidence=0.98)],
            [("user", "comes_from", "Leeds", False)],
        ),
    }
    assert {case: told(text, *given) for case, (given, _) in cases.items()} == {
        case: right for case, (_, right) in cases.items()
    }


def test_the_time_of_what_is_asserted() -> None:
    text = "dentist on 9 march at noon, moved to Leeds on 3 february, party one day, Rome next week"

    def dated(words: str, time: str, **more: object) -> tuple[str, str | None, str | None]:
        screened, start = screen(text), text.index(time)
        assert screened is not None
        given = at(text, words, time=(start, start + len(time)), confidence=0.95, **more)
        ((one, _),) = asserted.found(text, screened, [given], SAID_AT)
        return one.value, one.when.label if one.when else None, str(one.until.date()) if one.until else None

    plan = {"attribute": "plans", "tense": "future"}
    assert dated("dentist", "on 9 march", **plan) == ("dentist", "9 March 2026", "2026-03-10")
    assert dated("Leeds", "on 3 february") == ("Leeds", "3 February 2026", None)
    assert dated("party", "one day", **plan) == ("party one day", None, None)
    assert dated("Rome", "next week", **plan) == ("Rome", "9 March 2026–15 March 2026", "2026-03-16")


def test_a_corrected_plan_takes_the_place_of_the_old_one() -> None:
    text = "the dentist is on the 9th"
    fixed = at(text, "dentist", attribute="plans", change="fix")
    assert told(text, fixed) == [("user", "plans", "dentist", True), ("user", "plans", "dentist", False)]
    assert told(text, replace(fixed, confidence=0.8)) == []


def test_an_end_that_names_what_ends_is_believed_sooner() -> None:
    text = "no more pottery, the teacher left"
    assert told(text, at(text, "pottery", attribute="does", change="end", confidence=0.75)) == [
        ("user", "does", "pottery", True)
    ]
    assert told(text, at(text, "left", attribute="works_at", change="end", event=True, confidence=0.75)) == []


def test_the_end_of_a_relation_ends_the_one_who_is_named_beside_it() -> None:
    text = "broke up with my boyfriend Cal. Ana says hi"
    over = at(text, "broke up", attribute="has_relative", change="end", event=True)
    cal = at(text, "Cal", attribute="has_relative", relation="boyfriend")
    ana = at(text, "Ana", attribute="has_relative", relation="sister")
    assert told(text, over, cal, ana) == [
        ("user", "has_relative", "Cal", True),
        ("user", "has_relative", "sister Ana", False),
    ]


def test_a_corrected_person_takes_the_place_of_the_one_of_the_same_relation() -> None:
    text = "my manager is Pauline, not Denise"
    fixed = at(text, "Pauline", attribute="knows", relation="manager", change="fix")
    assert told(text, fixed) == [("user", "knows", "manager", True), ("user", "knows", "manager Pauline", False)]


def test_a_word_of_kin_that_is_cut_is_told_whole() -> None:
    text = "张伟是我的舅舅"
    cut = at(text, "舅", attribute="has_relative", relation="舅舅")
    assert told(text, cut) == [("user", "has_relative", "舅舅", False)]


def test_an_allergy_that_is_denied_has_ended() -> None:
    for text, value in (
        ("Turns out I'm not allergic to nuts after all", "nuts"),
        ("ich bin doch nicht gegen Nüsse allergisch", "Nüsse"),
        ("En fait je ne suis pas allergique aux noix", "noix"),
        ("no soy alérgico a los frutos secos", "frutos secos"),
        ("我其实对花生不过敏", "花生"),
        ("卵アレルギーじゃありませんでした", "卵"),
    ):
        assert told(text, at(text, value, attribute="allergic_to")) == [("user", "allergic_to", value, True)], text


def test_what_begins_within_days_is_known_with_its_day_and_what_begins_later_is_a_plan() -> None:
    text = "from monday I work at Lidl, and in may I move to Rome"
    job = at(text, "Lidl", attribute="works_at", change="begin", tense="future", time=(0, 11))
    home = at(text, "Rome", change="begin", tense="future", time=(text.index("in may"), text.index(" I move")))
    assert told(text, job, home) == [
        ("user", "works_at", "Lidl", False),
        ("user", "plans", "and in may I move to Rome", False),
    ]


def test_a_degree_is_no_subject_of_study() -> None:
    text = "我表妹学历是硕士，她学法律"
    degree, subject = (at(text, word, attribute="studies", of_other=True, relation="表妹") for word in ("硕士", "法律"))
    assert told(text, degree, subject) == [("表妹", "education", "硕士", False), ("表妹", "studies", "法律", False)]


def test_what_a_clause_says_of_a_relative_with_whom_it_begins_is_said_of_the_relative() -> None:
    likes = {"attribute": "likes"}
    assert told("我的下属喜欢画画。", at("我的下属喜欢画画。", "画画", **likes)) == [("下属", "likes", "画画", False)]
    by_speaker = "我妈妈说我喜欢画画。"
    assert told(by_speaker, at(by_speaker, "画画", **likes)) == [("user", "likes", "画画", False)]
    assert told("我的下属是个助教。", at("我的下属是个助教。", "下属", attribute="works_as")) == []


def test_a_name_of_one_character_behind_a_word_of_kin_is_none() -> None:
    text = "我的哥哥特喜欢旅游。"
    person = at(text, "哥哥特", attribute="has_relative", relation="哥哥")
    assert told(text, person) == [("user", "has_relative", "哥哥", False)]


def test_a_length_of_time_is_no_condition() -> None:
    text = "I'm 5 months pregnant"
    found = told(text, at(text, "5 months", attribute="has_condition"), at(text, "pregnant", attribute="has_condition"))
    assert found == [("user", "has_condition", "pregnant", False)]


def test_an_instruction_is_told_with_its_whole_clause() -> None:
    text = "hi, you dont need to call me miss, just ask"
    assert told(text, at(text, "call me miss", attribute="instruction", confidence=0.99)) == [
        ("user", "instruction", "you dont need to call me miss", False)
    ]


def test_a_diet_that_is_new_ends_no_other() -> None:
    text = "turns out i'm vegetarian now"
    found = told(text, at(text, "vegetarian", attribute="diet", change="begin"))
    assert [(attribute, ends) for _, attribute, _, ends in found] == [("diet", False)]


def test_a_name_that_is_said_to_be_of_a_relative_is_not_the_speaker_s() -> None:
    name = {"attribute": "name", "relation": "表姐"}
    text = "张欣怡是我的表姐，她是硕士。"
    assert told(text, at(text, "张欣怡", **name)) == [("user", "has_relative", "表姐张欣怡", False)]
    degree = at(text, "硕士", attribute="education", of_other=True, person="欣怡")
    assert ("张欣怡", "education", "硕士", False) in told(text, at(text, "张欣怡", **name), degree)
    own = "我是张欣怡，刘伟的表姐"
    assert told(own, at(own, "张欣怡", **name)) == [("user", "name", "张欣怡", False)]
    both = "I'm Ana and this is my sister"
    assert told(both, at(both, "Ana", attribute="name", relation="sister")) == [("user", "name", "Ana", False)]


def test_an_acquaintance_without_a_name_is_no_fact_and_a_relative_is() -> None:
    text = "my boss and my sister were there"
    boss, sister = at(text, "boss", attribute="knows"), at(text, "sister", attribute="has_relative")
    assert told(text, replace(boss, relation="boss")) == []
    assert told(text, replace(sister, relation="sister")) == [("user", "has_relative", "sister", False)]


def test_a_dwelling_is_no_place_where_somebody_lives() -> None:
    dwellings = (
        ("a flat on the third floor", "I live in a flat on the third floor"),
        ("三楼", "我住在三楼"),
        ("alone", "alone"),
    )
    for value, text in dwellings:
        assert told(text, at(text, value)) == []
    for place in ("Leeds", "Rostock", "Woodstock", "鼓楼", "Seul"):
        assert told(f"I live in {place}", at(f"I live in {place}", place)) == [("user", "lives_in", place, False)]


def test_several_values_that_a_rule_read_as_one_are_told_one_by_one() -> None:
    text = "I love green teas, and hiking in the hills"
    rule = Finding(subject="user", attribute="likes", value=text[7:], start=0, end=len(text))
    both = [at(text, value, attribute="likes") for value in ("green teas", "hiking in the hills")]
    found = asserted.added([(rule, ENGLISH)], text, text, both, SAID_AT)
    assert [one.value for one, _ in found] == ["green teas", "hiking in the hills"]
    assert [one.value for one, _ in asserted.added([(rule, ENGLISH)], text, text, both[:1], SAID_AT)] == [text[7:]]


def test_who_is_called_my_own_is_no_name_of_the_relative_before() -> None:
    text = "I love my wife and my kids"
    kids = at(text, "kids", attribute="has_relative", relation="wife")
    assert told(text, kids) == [("user", "has_relative", "kids", False)]


def test_an_agent_that_repeats_what_it_was_told_or_speaks_in_general_says_nothing_of_itself() -> None:
    before = page("I'm allergic to walnuts").page.utterances[0]
    for text, value, attribute, of_itself in (
        ("Noted: no walnuts.", "walnuts", "allergic_to", False),
        ("I love walnuts!", "walnuts", "likes", True),
        ("Allergic to hazelnuts here.", "hazelnuts", "allergic_to", True),
        ("Ten minutes daily beat an hour.", "Ten minutes daily", "does", False),
        ("I practise daily.", "practise daily", "does", True),
    ):
        assert asserted.of_itself(text, at(text, value, attribute=attribute), before) == of_itself, text


def test_what_somebody_does_at_work_is_no_occupation_and_a_place_of_youth_is_the_place() -> None:
    text = "He teaches in a room above a shop, as a baker"
    assert told(text, at(text, "teaches in a room", attribute="works_as")) == []
    assert told(text, at(text, "baker", attribute="works_as")) == [("user", "works_as", "baker", False)]
    text = "我在成都长大。"
    assert told(text, at(text, "成都长大", attribute="comes_from")) == [("user", "comes_from", "成都", False)]


def test_an_age_in_words_is_a_number_of_years() -> None:
    said = (
        "i'm eighty-four years old",
        "mi perro tiene trece años",
        "ich bin dreizehn Jahre alt",
        "i'm in my early thirties",
    )
    ages = ("eighty-four years old", "trece años", "dreizehn Jahre alt", "in my early thirties")
    read = [told(text, at(text, age, attribute="age")) for text, age in zip(said, ages, strict=True)]
    assert read == [
        [("user", "age", "eighty-four", False)],
        [("user", "age", "trece", False)],
        [("user", "age", "dreizehn", False)],
        [],
    ]


def test_a_name_that_is_spelled_anew_is_the_speakers_only_if_they_say_so() -> None:
    text = "redo it pls its Kowalczyk with a y, i'm Jon btw"
    fixed = {"attribute": "name", "change": "fix", "confidence": 0.95}
    assert told(text, at(text, "Kowalczyk", **fixed)) == []
    assert told(text, at(text, "Jon", **fixed)) == [("user", "name", "Jon", False)]


def test_values_beside_one_another_are_one_and_those_with_a_word_between_are_not() -> None:
    text = "t1 diabetic and a retired postman, i have asthma eczema and a bad knee"
    assert told(text, at(text, "t1", attribute="has_condition"), at(text, "diabetic", attribute="has_condition")) == [
        ("user", "has_condition", "t1 diabetic", False)
    ]
    theirs = at(text, "diabetic", attribute="has_condition", of_other=True)
    assert told(text, at(text, "t1", attribute="has_condition"), theirs) == [("user", "has_condition", "t1", False)]
    apart = at(text, "eczema", attribute="has_condition"), at(text, "bad knee", attribute="has_condition")
    assert [value for _, _, value, _ in told(text, *apart)] == ["eczema", "bad knee"]
    unlike = at(text, "retired", attribute="works_as"), at(text, "postman", attribute="has_condition")
    assert [value for _, _, value, _ in told(text, *unlike)] == ["retired", "postman"]
