"""What Japanese statements say, of whom, when, and which sentences say nothing."""

from __future__ import annotations

from datetime import UTC, datetime

from embermem.analysts.screening import screen
from embermem.languages.facts.finding import Finding
from embermem.languages.ja import LANGUAGE

SAID = datetime(2026, 11, 21, 9, tzinfo=UTC)
"""A Saturday."""


def found(text: str) -> list[Finding]:
    screened = screen(text)
    return [] if screened is None else list(LANGUAGE.facts(screened, SAID))


def told(text: str) -> set[tuple[str, str, str]]:
    return {(one.subject, "-" * one.retracts + one.attribute, one.value) for one in found(text)}


def test_a_statement_gives_a_fact_of_its_speaker() -> None:
    cases = [
        ("初めまして、石原直人といいます。", "name", "石原直人"), ("名前は三浦由美です。", "name", "三浦由美"),
        ("私は今年で36歳になります。", "age", "36"), ("誕生日は7月8日だよ", "birthday", "7月8日"),
        ("昭和60年生まれです。", "birth_year", "1985"), ("出身は富山です。", "comes_from", "富山"),
        ("生まれも育ちも長崎です。", "grew_up_in", "長崎"), ("今は静岡市に住んでるよ。", "lives_in", "静岡市"),
        ("横浜に引っ越したんだけど、いい歯医者知らない？", "lives_in", "横浜"),
        ("私は小学校の教師です。", "works_as", "小学校の教師"), ("薬剤師をしています。", "works_as", "薬剤師"),
        ("県立図書館に勤めています。", "works_at", "県立図書館"), ("大学では法学を学んでいます。", "studies", "法学"),
        ("そばアレルギーがあるんだ。", "allergic_to", "そば"), ("花粉症なので春がつらい。", "has_condition", "花粉症"),
        ("牛肉は食べられません。", "avoids", "牛肉"), ("黒猫のクロを飼ってます。", "has_pet", "黒猫のクロ"),
        ("文鳥を飼い始めたよ。名前はしろ。", "has_pet", "文鳥のしろ"), ("趣味は釣りです。", "hobby", "釣り"),
        ("泳ぐのが大好き！", "likes", "泳ぐこと"), ("セロリはどうしても苦手なんだよね", "dislikes", "セロリ"),
        ("犬より猫のほうが好きです。", "prefers", "猫"), ("好きな季節は秋です。", "favorite_season", "秋"),
        ("チェロを習い始めました。", "learns", "チェロ"), ("イタリア語が話せます。", "speaks", "イタリア語"),
        ("古いコインを集めています。", "collects", "古いコイン"), ("予算は2万円くらいです。", "budget", "2万円"),
        ("気象予報士の試験のために勉強しています。", "prepares_for", "気象予報士の試験"),
        ("毎朝ジョギングをしています。", "does", "毎朝ジョギングをしている"),
        ("いつか自分の店を持ちたいと思っています。", "", ""),
        ("通訳になりたいと思っています。", "would_like_to", "通訳になりたい"), ("妹がいます。", "has_relative", "妹"),
    ]  # fmt: skip
    for text, attribute, value in cases:
        assert ({("user", attribute, value)} if attribute else set()) <= told(text)
        assert bool(told(text)) is bool(attribute)


def test_a_statement_about_somebody_else_is_theirs_or_nobodys() -> None:
    cases: list[tuple[str, set[tuple[str, str, str]]]] = [
        ("妹の美咲は高松に住んでる。", {("user", "has_relative", "妹の美咲"), ("妹の美咲", "lives_in", "高松")}),
        ("姉は高松に住んでて、看護師をしてる。", {("姉", "lives_in", "高松"), ("姉", "works_as", "看護師")}),
        ("夫は消防士です。", {("夫", "works_as", "消防士")}),
        ("今年の春に祖父が亡くなりました。", {("祖父", "did", "亡くなった")}),
        ("同僚の健太さんが結婚した。", {("user", "knows", "同僚の健太"), ("同僚の健太", "did", "結婚した")}),
        ("猫を飼っています。5歳です。", {("user", "has_pet", "猫")}), ("妹さんのお店は名古屋にあるの？", set()),
        ("母の日に花を贈った。", set()), ("姉の結婚式が楽しみ。", set()), ("彼は弁護士です。", set()),
        ("田中さんは京都に住んでいます。", set()),
    ]  # fmt: skip
    assert {text: got for text, expected in cases if (got := told(text)) != expected} == {}


def test_an_event_has_the_time_that_its_clause_names() -> None:
    cases = [
        ("先月、右足を骨折しました。", "did", "右足を骨折した", "2026年10月"),
        ("去年の夏に司法書士の試験に合格した。", "did", "司法書士の試験に合格した", "2025年6月〜8月"),
        ("三年前に離婚しました。", "did", "離婚した", "2023年"),
        ("先月金沢に引っ越しました。", "lives_in", "金沢", "2026年10月"),
    ]
    for text, attribute, value, label in cases:
        (event,) = found(text)
        assert event.when is not None
        assert (event.attribute, event.value, event.when.label, event.until) == (attribute, value, label, None)


def test_a_plan_with_a_date_ends_after_it() -> None:
    cases: list[tuple[str, str, datetime]] = [
        ("来月沖縄に行きます。", "沖縄に行く", datetime(2027, 1, 1, tzinfo=UTC)),
        ("来週の水曜、検査を受けます。", "検査を受ける", datetime(2026, 11, 26, tzinfo=UTC)),
        ("来年の6月に結婚することになりました。", "結婚する", datetime(2027, 7, 1, tzinfo=UTC)),
    ]
    for text, value, until in cases:
        (plan,) = found(text)
        assert (plan.attribute, plan.value, plan.until) == ("plans", value, until)


def test_what_ended_is_taken_back() -> None:
    cases: list[tuple[str, tuple[str, str, str]]] = [
        ("先週会社を辞めました。", ("user", "-works_at", "")),
        ("うちの犬のポチが死んじゃった。", ("user", "-has_pet", "犬のポチ")),
        ("大津から引っ越しました。", ("user", "-lives_in", "大津")),
    ]
    assert {text: got for text, ended in cases if (got := told(text)) != {ended}} == {}


def test_what_is_asked_supposed_reported_denied_or_past_is_no_fact() -> None:
    cases = [
        "神戸に住んでるの？", "小麦アレルギーはありますか？", "姉が札幌に引っ越したらしい。",
        "来年結婚するって言ってた。", "もし東京に住んでいたら、毎日通うのに。", "引っ越すなら、海の近くがいいな。",
        "来年転職するかもしれない。", "猫アレルギーかどうか検査したほうがいいかな？", "卵アレルギーはありません。",
        "昔は名古屋に住んでいました。", "友達は犬アレルギーだそうです。",
        "「横浜に住んでいます」って英語でなんて言うの？",
        "小説を書いてるんだけど、主人公は京都に住んでいる刑事なんだ。",
        "次の文を翻訳してください。私は札幌に住んでいます。", "転職した夢を見た。", "部長になったつもりで答えて。",
        "昨日は疲れた。", "看護師になればよかった。", "カレーが食べたい。", "週末はよく釣りに行きます。",
    ]  # fmt: skip
    assert {text: got for text in cases if (got := told(text)) != set()} == {}


def test_a_standing_instruction_is_kept() -> None:
    cases = [
        ("敬語はやめて", "instruction_formality", "敬語はやめて"),
        ("ため口でいいよ", "instruction_formality", "ため口でいい"),
        ("短く答えてください。", "instruction_length", "短く答えて"),
        ("絵文字は使わないでね。", "instruction_emojis", "絵文字は使わないで"),
        ("これからは英語で話して。", "instruction_language", "英語で答える"),
        ("今後は結論を先に書いてください。", "instruction", "結論を先に書いて"), ("ミホって呼んで", "nickname", "ミホ"),
        ("母の話はしないで。", "instruction", "母の話をしない"), ("もう敬語使っていいよ", "-instruction_formality", ""),
    ]  # fmt: skip
    for text, attribute, value in cases:
        (one,) = LANGUAGE.instructions(text, SAID)
        assert ("-" * one.retracts + one.attribute, one.value) == (attribute, value)


def test_an_order_of_the_moment_is_no_instruction() -> None:
    cases = [
        "このメールを短くまとめて。", "もっと詳しく説明して", "今日は短くして", "友達に敬語やめてって言われた",
        "塩を取ってください",
    ]  # fmt: skip
    assert {text: got for text in cases if (got := list(LANGUAGE.instructions(text, SAID))) != []} == {}


def test_an_instruction_may_hold_up_to_a_day() -> None:
    (one,) = LANGUAGE.instructions("12月末までは英語で答えて。", SAID)
    assert one.until == datetime(2027, 1, 1, tzinfo=UTC)
