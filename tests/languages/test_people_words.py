"""Whom words name: whose relative somebody is, and what is no name."""

from __future__ import annotations

from embermem.languages.people import is_parted, may_be_another, of_theirs, person_in, relation_of, without_own


def test_words_name_a_relative_without_whose_it_is_or_nobody() -> None:
    named = {
        "My sister Ana": "sister Ana",
        "our neighbour": "neighbour",
        "Mein Onkel Karl": "Onkel Karl",
        "我叔叔": "叔叔",
        "我的一个下属": "下属",
        "李叔叔": "李叔叔",
        "我表姐的老家": "表姐",
        "my bf": None,
        "The eldest": "The eldest",
        "的老家": None,
        "Ana": "Ana",
    }
    assert {words: person_in(words) for words in named} == named
    assert without_own("my bf") == "bf"
    told = ("her husband", "sein Bruder", "su perro", "她的哥哥", "my husband", "hers")
    assert [of_theirs(words) for words in told] == [True, True, True, True, False, False]


def test_a_relation_may_be_one_of_many_and_a_status_may_say_that_nobody_is_there() -> None:
    assert [relation_of(words) for words in ("sister Ana", "wife", "Ana")] == ["sibling", "partner", ""]
    assert [may_be_another(subject) for subject in ("user's uncle", "user's wife", "Ana", "用户的同事")] == [
        True,
        False,
        False,
        True,
    ]
    statuses = ("divorced", "geschieden", "divorcée", "separada", "离婚了", "single", "engaged")
    assert [is_parted(status) for status in statuses] == [True] * 5 + [False] * 2
