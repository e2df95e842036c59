"""Which text is Japanese, how its words are cut, the dates it names, and what its questions ask for."""

from __future__ import annotations

from datetime import UTC, datetime

from embermem import Memory, languages
from embermem.languages import questions
from embermem.languages.dates.engine import date_spans
from embermem.languages.people import called, label, whose
from embermem.languages.words import content_words, sentences, terms

SAID = datetime(2026, 11, 21, 9, tzinfo=UTC)
"""A Saturday."""


def one_date(text: str) -> str:
    (span,) = date_spans(text, SAID)
    days = f"{span.first}" if span.first == span.last else f"{span.first}..{span.last}"
    return f"{text[span.start : span.end]}: {days}"


def test_a_text_with_enough_kana_is_japanese() -> None:
    cases = [
        ("昨日は庭に行きました", "ja"), ("鬼の山の家", "ja"), ("コーヒー", "ja"), ("東京旅行", "zh"),
        ("我最近在看鬼灭の刃特别好看", "zh"), ("我昨天去了花园", "zh"), ("안녕하세요", "zh"),
    ]  # fmt: skip
    assert {text: got for text, code in cases if (got := languages.by_signs(text).code) != code} == {}


def test_a_query_of_han_characters_finds_both_languages() -> None:
    asked = set(terms("東京旅行"))
    assert asked <= set(terms("来月、東京旅行に行きます"))
    assert asked <= set(terms("我们下个月去東京旅行"))


def test_keywords_are_cut_where_the_script_changes() -> None:
    assert content_words("京都でコーヒーを飲んだ") == {"京都", "コーヒー"}


def test_sentences_end_with_their_own_full_stop() -> None:
    text = "映画を見た。面白かった！また行く？"
    assert [text[start:end] for start, end in sentences(text)] == ["映画を見た。", "面白かった！", "また行く？"]


def test_a_date_is_read_as_of_when_it_was_said() -> None:
    cases = [
        ("昨日は映画を見た", "昨日: 2026-11-20"), ("おとといから熱がある", "おととい: 2026-11-19"),
        ("先週の土曜に会った", "先週の土曜: 2026-11-14"), ("来週の水曜日に面接", "来週の水曜日: 2026-11-25"),
        ("土曜日に行く予定", "土曜日: 2026-11-28"), ("土曜日に行った", "土曜日: 2026-11-14"),
        ("今度の日曜に会う", "今度の日曜: 2026-11-22"), ("この前の日曜に会った", "この前の日曜: 2026-11-15"),
        ("来月3日に引っ越す", "来月3日: 2026-12-03"), ("先々月の末に", "先々月の末: 2026-09-21..2026-09-30"),
        ("3月12日に試験がある", "3月12日: 2027-03-12"), ("令和7年4月1日に入社", "令和7年4月1日: 2025-04-01"),
        ("平成元年に始まった", "平成元年: 1989-01-01..1989-12-31"),
        ("去年の夏に結婚した", "去年の夏: 2025-06-01..2025-08-31"), ("三日前に届いた", "三日前: 2026-11-18"),
        ("3ヶ月前のこと", "3ヶ月前: 2026-08-01..2026-08-31"), ("半年前から習ってる", "半年前: 2026-05-01..2026-05-31"),
        ("一週間後に手術", "一週間後: 2026-11-25..2026-12-01"),
        ("12月1日から5日まで大阪", "12月1日から5日: 2026-12-01..2026-12-05"),
        ("お正月に帰省する", "お正月: 2027-01-01..2027-01-03"), ("3/12に面接", "3/12: 2027-03-12"),
        ("二週間前の金曜日に電話した", "二週間前の金曜日: 2026-11-06"),
        ("イースターの前の週に行った", "イースターの前の週: 2026-03-29..2026-04-04"),
        ("昨年夏", "昨年夏: 2025-06-01..2025-08-31"),
    ]  # fmt: skip
    assert {text: got for text, expected in cases if (got := one_date(text)) != expected} == {}


def test_what_names_no_day_is_no_date() -> None:
    assert {
        text: got
        for text in ["毎週水曜に読み聞かせ", "こんにちは、元気？", "2泊3日", "以前の話", "今日この頃", "人前で話す"]
        if (got := date_spans(text, SAID)) != ()
    } == {}


def test_a_question_is_known_by_its_words() -> None:
    cases: list[tuple[object, str, str]] = [
        (questions.asks_for_several, "行ったことのある国を全部教えて", "一番好きな国は？"),
        (questions.asks_of_the_past, "先週どこに行ったの？", "来週どこに行こうか？"),
        (questions.asks_for_advice, "夕飯のおすすめある？", "夕飯は食べた？"),
        (questions.asks_for_overview, "私について知っていることを教えて", "私の猫の名前を教えて"),
        (questions.asks_of_character, "姉の性格は？", "姉の住所は？"),
        (questions.continues, "じゃあ、お姉さんは？", "お姉さんはどこに住んでいますか？"),
        (questions.continues, "なんで？", "なんで会社を辞めたの？"),
        (questions.points_back, "それはいくらだった？", "カメラはいくらだった？"),
        (questions.refers_to_person, "彼女はどこに引っ越した？", "姉はどこに引っ越した？"),
        (questions.asks_of_oneself, "私の誕生日は？", "母の誕生日は？"),
    ]
    for ask, yes, no in cases:
        assert callable(ask)
        assert ask(yes)
        assert not ask(no)


def test_a_question_asks_for_the_attribute_that_it_names() -> None:
    assert "allergic_to" in questions.asked_attributes("アレルギーはある？")
    assert "lives_in" in questions.asked_attributes("姉はどこに住んでる？")
    assert "has_pet" in questions.asked_attributes("ペットの名前は？")


def test_a_relative_is_named_with_no_between() -> None:
    assert called("妹の美咲")[1:] == ("妹", "美咲")
    assert whose("健太", "妹") == "健太の妹"
    assert whose("user", "妹", "美咲") == "userの妹の美咲"
    assert called("妹妹小丽")[1:] == ("妹妹", "小丽")
    assert label("userの妹", languages.named("ja")) == "ユーザーの妹"


def test_what_was_said_in_japanese_is_recalled_with_the_standing_instructions() -> None:
    with Memory(":memory:") as memory:
        aoi = memory.of("aoi")
        aoi.add("えびアレルギーがあるんです。妹の美咲は看護師をしています。", "気をつけますね。", at=SAID, thread="a")
        aoi.add("来月、函館に旅行に行きます。", "楽しみですね。", at=SAID, thread="b")
        aoi.add("敬語はやめて", "わかった！", at=SAID, thread="b")
        aoi.settle()

        context = aoi.recall("何かアレルギーはある？", at=SAID, budget=600)
        assert "えび" in context.text
        assert "敬語はやめて" in context.text
        assert "函館" in aoi.recall("旅行はいつ、どこに行く？", at=SAID, budget=400).text
