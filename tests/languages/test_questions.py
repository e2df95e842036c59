"""What kind of answer a query asks for, in English and Chinese."""

from __future__ import annotations

import re

from embermem.languages import named
from embermem.languages.questions import (
    asks_for_advice,
    asks_for_count,
    asks_for_first,
    asks_for_last,
    asks_for_number,
    asks_for_order,
    asks_for_several,
    asks_for_time,
    asks_to_compare,
    happened_after,
    happened_before,
    happened_between,
    parts_asked,
    says_number,
)


def test_it_asks_for_a_time() -> None:
    cases = [
        "When did Ann move?", "Since when does she ski?", "What year was that?", "How long ago did they meet?",
        "他什么时候搬的家？", "啥时候的事", "何时出发", "哪天开学", "哪一天去的", "是哪个月开始的？", "他的生日是几号",
        "几月去的北京？", "星期几上课", "多久以前的事？", "几点见面？",
    ]  # fmt: skip
    assert [query for query in cases if not asks_for_time(query)] == []


def test_it_asks_for_no_time() -> None:
    cases = [
        "What does she do when it rains?", "Where is he?", "有几点建议？", "小时候住在哪里", "他哪里不舒服？",
        "谁养猫？",
    ]  # fmt: skip
    assert [query for query in cases if asks_for_time(query)] == []


def test_it_asks_for_a_number() -> None:
    cases = [
        "How many cats has he?", "How old is she?", "多少钱？", "他养了几只猫？", "要等几个月？", "车上坐了几口人",
        "返程的车有几成是空着的？", "孩子多大了？", "他有多高？", "那座山多高？", "十几岁？几十个人？",
    ]  # fmt: skip
    assert [query for query in cases if not asks_for_number(query)] == []


def test_it_asks_for_no_number() -> None:
    cases = [
        "Where is he?", "前几天我说了什么？", "这几个人是谁？", "好几次失败的原因", "她多高兴呀", "几乎忘了",
        "几号走？",
    ]  # fmt: skip
    assert [query for query in cases if asks_for_number(query)] == []


def test_a_number_is_said() -> None:
    cases = [
        "I have two dogs.", "It cost 30 euros.", "考了三百八十二分", "首印八千册", "五十二平", "花了一千二",
        "等了十分钟", "两只猫", "一年了", "二十多个人", "等了半个小时", "百分之五",
    ]  # fmt: skip
    assert [text for text in cases if not says_number(text)] == []


def test_no_number_is_said() -> None:
    cases = [
        "I have a dog.", "找个一样的", "我们一起去", "十分高兴", "千万别去", "万一下雨呢", "第二天就走了", "想养一只猫",
        "百度一下",
    ]  # fmt: skip
    assert [text for text in cases if says_number(text)] == []


def test_it_asks_for_several() -> None:
    cases = ["Which books has she read?", "How many?", "哪些书？", "去过哪几个地方", "所有的爱好", "列出来"]
    assert [query for query in cases if not asks_for_several(query)] == []


def test_it_asks_for_one() -> None:
    assert [query for query in ["Where does she live?", "谁养猫？", "他住在哪里"] if asks_for_several(query)] == []


def test_it_asks_for_the_first() -> None:
    cases = ["What was my first job?", "How did it look at the beginning?", "我第一次去是哪里？"]
    assert [query for query in cases if not asks_for_first(query)] == []


def test_a_first_name_is_not_the_first_of_several() -> None:
    assert [
        query for query in ["What is her first name?", "Who gave first aid?", "他姓什么？"] if asks_for_first(query)
    ] == []


def test_it_asks_for_the_last() -> None:
    cases = ["When did she last climb?", "What is my latest recipe?", "上次见面聊了什么？"]
    assert [query for query in cases if not asks_for_last(query)] == []


def test_a_date_is_not_the_last_of_several() -> None:
    cases = ["What did we do last week?", "Where did I go last summer?", "上周做了什么？"]
    assert [query for query in cases if asks_for_last(query)] == []


def test_it_asks_for_an_order() -> None:
    cases = [
        "Which came first, the fair or the exam?", "In which order did I visit the three museums?",
        "Did I buy the kayak before I sold the bike?", "What did I plant earlier, the roses or the beans?",
        "我先学的法语还是先学的德语？",
    ]  # fmt: skip
    assert [query for query in cases if not asks_for_order(query)] == []


def test_it_asks_for_a_count() -> None:
    cases = ["How many times did I swim?", "How often was she ill?", "我一共去过几次医院？"]
    assert [query for query in cases if not asks_for_count(query)] == []


def test_an_amount_is_not_a_count() -> None:
    assert [
        query
        for query in ["How many hours does the trip take?", "How old is she?", "他多高？"]
        if asks_for_count(query)
    ] == []


def test_it_asks_to_compare() -> None:
    cases = [
        "Is the flat cheaper than the house?", "What is the difference between the two plans?",
        "Which is warmer, the tent or the hut?", "新房子比旧房子大吗？",
    ]  # fmt: skip
    assert [query for query in cases if not asks_to_compare(query)] == []


def test_it_asks_for_advice() -> None:
    cases = ["What should I cook on Sunday?", "Any ideas for her birthday?", "晚饭吃什么好？"]
    assert [query for query in cases if not asks_for_advice(query)] == []


def test_a_plain_question_asks_for_nothing_of_this() -> None:
    for query in ["Where does she live?", "When did Ann move?", "他住在哪里"]:
        kinds = (asks_for_first, asks_for_last, asks_for_order, asks_for_count, asks_to_compare, asks_for_advice)
        assert not any(kind(query) for kind in kinds)


def test_the_parts_of_a_question_are_what_it_names_beside_each_other() -> None:
    assert parts_asked("Which came first, the fair or the exam?") == ("Which came first", "the fair", "the exam?")
    assert parts_asked("我先学的法语还是先学的德语？") == ("我先学的法语", "先学的德语？")
    assert parts_asked("Where does she live?") == ("Where does she live?",)


def test_what_a_question_names_as_the_beginning_or_the_end_of_a_time() -> None:
    assert happened_after("What have I read since I moved to the coast?") == "I moved to the coast"
    assert happened_before("What did we discuss before the wedding?") == "the wedding"
    assert happened_between("What happened between the fair and the exam?") == ("the fair", "the exam")
    assert happened_after("我搬家以后做了什么？") == "我搬家"
    assert happened_after("Where does she live?") is None


def test_a_question_needs_more_than_one_turn_in_french_spanish_and_german() -> None:
    cases: list[tuple[str, tuple[str, ...]]] = [
        ("first", ("Était-ce la première fois ?", "¿Fue la primera vez?", "War das das erste Mal?")),
        ("last", ("Quelle était la dernière fois ?", "¿Cuándo fue la última vez?", "Wo war ich zuletzt?")),
        ("order", ("Dans quel ordre ?", "¿En qué orden lo hice?", "In welcher Reihenfolge war das?")),
        ("count", ("Combien de fois ai-je couru ?", "¿Cuántas veces he corrido?", "Wie oft bin ich gelaufen?")),
        ("compare", ("Laquelle est la plus chère ?", "¿Cuál es más caro?", "Welches kostet mehr?")),
    ]
    for field, queries in cases:
        for code, query in zip(("fr", "es", "de"), queries, strict=True):
            assert re.search(getattr(named(code).questions, field), query, re.IGNORECASE), query


def test_an_amount_of_a_unit_counts_no_cases() -> None:
    cases = [
        ("fr", "Combien de jours ai-je marché ?"), ("es", "¿Cuántos días fueron?"), ("de", "Wie viele Tage waren es?"),
    ]  # fmt: skip
    assert [
        (code, query) for code, query in cases if re.search(named(code).questions.count, query, re.IGNORECASE)
    ] == []
