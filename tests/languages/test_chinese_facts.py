"""What Chinese statements say of times, of persons and of what ended."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from embermem.languages.facts.finding import Finding
from embermem.languages.zh.facts import statements
from embermem.languages.zh.facts.script import simplified

SAID = datetime(2026, 11, 21, 9, tzinfo=UTC)
"""A Saturday."""


def found(text: str) -> list[Finding]:
    return list(statements(text, SAID))


def told(text: str) -> list[tuple[str, str, str]]:
    return [(one.subject, "-" * one.retracts + one.attribute, one.value) for one in found(text)]


def test_an_event_has_the_time_that_its_clause_names() -> None:
    cases: list[tuple[str, str, datetime]] = [
        ("我昨天去爬了泰山。", "2026年11月20日", datetime(2026, 11, 20, tzinfo=UTC)),
        ("我上周骨折了。", "2026年11月9日那周", datetime(2026, 11, 9, tzinfo=UTC)),
        ("上个月我去了敦煌看壁画。", "2026年10月", datetime(2026, 10, 1, tzinfo=UTC)),
        ("我去年夏天参加了一个夏令营。", "2025年6月至8月", datetime(2025, 6, 1, tzinfo=UTC)),
        ("我四十天前做了手术。", "2026年10月12日", datetime(2026, 10, 12, tzinfo=UTC)),
        ("我2019年开了一家面馆。", "2019年", datetime(2019, 1, 1, tzinfo=UTC)),
    ]
    for text, label, first in cases:
        (event,) = found(text)
        assert event.when is not None
        assert (event.attribute, event.when.label, event.when.at) == ("did", label, first)
        assert event.until is None


def test_a_plan_with_a_date_ends_after_it_and_one_without_has_no_end() -> None:
    cases: list[tuple[str, str, str, datetime]] = [
        ("我下个月要去敦煌看壁画。", "去敦煌看壁画", "2026年12月", datetime(2027, 1, 1, tzinfo=UTC)),
        ("我下周三要做手术。", "做手术", "2026年11月25日", datetime(2026, 11, 26, tzinfo=UTC)),
        ("我计划明年三月去冰岛看极光。", "去冰岛看极光", "2027年3月", datetime(2027, 4, 1, tzinfo=UTC)),
        ("国庆我要回老家看我妈。", "回老家看妈妈", "2027年10月1日", datetime(2027, 10, 2, tzinfo=UTC)),
    ]
    for text, value, label, until in cases:
        (plan,) = found(text)
        assert plan.when is not None
        assert (plan.attribute, plan.value, plan.when.label, plan.until) == ("plans", value, label, until)
    (plan,) = found("我打算开一家花店。")
    assert (plan.attribute, plan.value, plan.when, plan.until) == ("plans", "开一家花店", None, None)


def test_a_plan_that_is_done_or_called_off_is_taken_back() -> None:
    cases: list[tuple[str, tuple[str, str, str]]] = [
        ("我终于去了敦煌。", ("user", "-plans", "去敦煌")),
        ("哈尔滨不去了，公司不批假。", ("user", "-plans", "去哈尔滨")),
        ("泰国的行程取消了。", ("user", "-plans", "去泰国")),
        ("我不去云南了。", ("user", "-plans", "去云南")),
    ]
    assert [(text, ended) for text, ended in cases if ended not in told(text)] == []


def test_a_grade_is_told_as_what_somebody_does() -> None:
    assert [
        (text, grade)
        for text, grade in [
            ("我今年大三，在准备实习。", "读大三"),
            ("我儿子今年上初一，数学不及格，怎么办？", "读初一"),
        ]
        if ("does", grade) not in [(attribute, value) for _, attribute, value in told(text)]
    ] == []


def test_traditional_characters_are_read_and_values_stay_as_they_are_written() -> None:
    assert told("我叫陳美玲，住在臺南，是一名護士。") == [
        ("user", "name", "陳美玲"), ("user", "lives_in", "臺南"), ("user", "works_as", "護士"),
    ]  # fmt: skip
    assert told("我妹妹對芒果過敏。") == [("妹妹", "allergic_to", "芒果")]
    assert told("請幫我翻譯：我住在臺南。") == []


def test_simplified_text_is_as_long_as_what_was_written() -> None:
    assert simplified("我養了兩隻貓") == "我养了两只猫"


def test_a_clause_without_a_subject_after_a_pet_a_child_a_death_or_a_schoolmate_is_of_nobody_known() -> None:
    assert told("我养了一只猫，五岁了，叫小黑。") == [("user", "has_pet", "一只猫")]
    assert ("user", "age", "6") not in told("我有一个女儿，今年六岁，喜欢画画。")
    assert [subject for subject, attribute, _ in told("我妈住院了，昨天去买了一台轮椅。") if attribute == "owns"] == []
    assert told("我爸去年去世了，住在北京。") == [("爸爸", "did", "去世了")]
    assert told("我同桌考了第一名，喜欢画画。") == []
    assert told("我有个朋友，住在北京，喜欢画画。") == []


def test_he_and_she_are_the_relative_of_the_clause_before_if_the_sex_agrees() -> None:
    assert ("妹妹", "likes", "唱歌") in told("我妹妹是护士，她喜欢唱歌。")
    assert [row for row in told("我妹妹是护士，他喜欢唱歌。") if row[1] == "likes"] == []


def test_speech_without_punctuation_is_cut_where_a_new_clause_begins() -> None:
    assert ("妹妹", "plans", "结婚") in told("我妹明天结婚我得早点起来去帮忙你说我穿什么好")
    assert ("user", "has_relative", "两个孩子") in told("我跟我老婆结婚十年了我们有两个孩子大的八岁小的五岁")


def test_a_statement_before_a_question_is_read_and_the_question_is_not() -> None:
    assert told("我刚搬到昆明，我老公会喜欢吗？") == [("user", "lives_in", "昆明")]


@example(["我妹妹小敏", "我", "去了", "敦煌"])
@given(
    st.lists(
        st.sampled_from(
            "我 我妹妹小敏 老公 她 去年 下个月 每天 打算 和同事 在大连 去了 去 买了 一台相机 敦煌 泰山 如果 吗".split()
            + "， 。 ？ 了 結婚 过敏 对花生 今年 三十岁 住在 臺南 是 老师 叫".split()
        ),
        max_size=24,
    )
)
def test_positions_lie_in_the_text_and_values_are_short_and_not_about_me(words: list[str]) -> None:
    text = "".join(words)
    for one in found(text):
        assert 0 <= one.start < one.end <= len(text)
        assert len(one.value) <= 24
        assert "我" not in one.value
