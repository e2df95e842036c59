"""What happened, what is planned and what is done regularly: a table of verbs."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from typing import Final, NamedTuple

from embermem.core.patterns import regex

_END: Final = r"(?:んです|んだ|です|だ)?(?:[よねなわさぞー〜～!！笑♪w]|けど|けれど|から|ので|んで|が|し)*$"
_SURU: Final = (
    "結婚|離婚|婚約|転職|退職|就職|入社|昇進|昇格|異動|転勤|卒業|入学|進学|合格|留学|独立|起業|開業|出産|妊娠|入院|退院|手術|骨折|捻挫|引っ越し|転居|移住|帰国|帰省|受賞|優勝|準優勝|完走|登頂|出場|参加|"
    "入籍|再婚|復職|休職|転校|退学|中退|開店|閉店|出版|発表|出張|旅行|出店|修理|納車|契約|解約|失恋|断捨離|リフォーム|個展を開催|参列|観戦"
)
_TABLE: Final = (
    (rf"(?:{_SURU})し", "する"),
    (r"(?:引っ越|越)し", "す"),
    (r"(?<=に)(?:行っ|行き)|(?<=へ)(?:行っ|行き)", "く"),
    (r"(?<=に)(?:行って|旅行して)(?:き|来)", "て来る"),
    (r"(?:を|が)?受け(?=.)(?<=[術診接験査]を受け)|(?<=[術診接験査]を)受け", "る"),
    (r"(?<=に)(?:受かっ|受かり)", "る"),
    (r"(?<=[許格書級賞位]を)(?:取っ|取り|もらっ|もらい)|(?<=[許格]を)取得し", "る"),
    (r"(?<=[子供娘息女男孫甥姪も]が)(?:生まれ|産まれ)", "る"),
    (r"(?<=[子供娘息女男も]を)(?:産み|産ん|出産し)", "む"),
    (r"亡くなっ|亡くなり|生まれ|産まれ", "る"),
    (r"(?<=を)(?:始め|開い|開き|オープンし|立ち上げ)", "る"),
    (r"(?<=[コ酒煙]を)(?:やめ|辞め)", "る"),
    (r"(?<=[家車ン邸屋クイ]を)(?:買い|買っ|購入し|売り|売っ|建て)", "う"),
    (r"(?<=に)(?:登り|登っ|出会い|出会っ|出演し|通い始め)", "る"),
    (r"(?<=と)(?:別れ|付き合い始め|再会し|同棲し始め)", "る"),
    (r"(?<=を)(?:失くし|なくし|盗まれ|折り|折っ)", "す"),
    (r"(?<=に)(?:なり|なっ)(?<=[長任師員]に(?:なり|なっ))", "る"),
    (r"内定(?:を|が)(?:もらっ|もらい|出|取り|取っ)", "る"),
)
"""Stems before た and ました."""
_PAST: Final = {"っ": "った", "ん": "んだ"}
_POLITE: Final = {
    "行き": "行った", "受かり": "受かった", "取り": "取った", "もらい": "もらった", "産み": "産んだ", "亡くなり": "亡くなった",
    "開き": "開いた", "買い": "買った", "売り": "売った", "登り": "登った", "出会い": "出会った", "折り": "折った", "なり": "なった",
}  # fmt: skip
_OBJECT: Final = r"(?P<o>(?:[^は、]{0,20}?(?:に|で|を|から|へ|の|が|と))?)"
DID: Final = tuple(
    regex(rf"{_OBJECT}(?P<stem>{stem})(?:た|だ|ました|てしまった|てしまいました|ちゃった|ちゃいました|たん){_END}")
    for stem, _ in _TABLE
)
_DUE: Final = (
    r"結婚する|離婚する|転職する|退職する|就職する|入社する|異動する|転勤する|卒業する|入学する|進学する|留学する|独立する|起業する|開業する|出産する|入院する|退院する|手術する|引っ越しする|移住する|帰国する|帰省する|出場する|参加する|出張する|旅行する|発表する|出演する|再婚する|復職する"
    r"|引っ越す|(?<=[にへ])行く|(?<=に)行って来る|(?<=[術診接験査]を)受ける|(?<=[験接式査術会ブ断ト]が)ある|(?<=[を])始める|(?<=に)出る|(?<=と)会う|(?<=に)登る|(?<=を)(?:開く|産む|走る|辞める|買う|迎える)|(?<=が)(?:生まれる|始まる)"
)
_MASU: Final = {
    "する": "し", "引っ越す": "引っ越し", "行く": "行き", "受ける": "受け", "ある": "あり", "始める": "始め", "出る": "出",
    "会う": "会い", "登る": "登り", "開く": "開き", "産む": "産み", "走る": "走り", "辞める": "辞め", "買う": "買い",
    "迎える": "迎え", "生まれる": "生まれ", "始まる": "始まり", "来る": "来",
}  # fmt: skip
_WILL: Final = regex(rf"(?P<v>{_OBJECT}(?:{_DUE})){_END}")
_SETTLED: Final = regex(
    rf"(?P<v>[^は、]{{0,20}}?(?:{_DUE}|{_SURU}|[うくすつぬむぶぐる]))(?:予定|つもり|ことにし(?:た|ました|て)|ことにな(?:った|りました|って|ってる|っている|っています)|ことが決ま(?:った|りました)){_END}"
)
_TRIP: Final = regex(
    rf"(?P<v>[^はがを、]{{1,16}}?(?:旅行|出張|手術|面接|結婚式|試験|検査|引っ越し|帰省|受験|発表会|ライブ|コンサート|合宿|研修|大会|健康診断)){_END}"
)
_WISH: Final = regex(
    rf"(?P<v>[^はが、]{{0,18}}?[いきしちにみりえけせてねべめれぎじび]たい)(?:と|なと|なって)思って(?:い)?(?:る|ます){_END}|(?:将来の?)?夢は(?P<w>[^はが、]{{2,18}}?)こと(?:です|だ)?{_END}"
)
_OFTEN: Final = regex(
    rf"(?P<v>(?:毎日|毎朝|毎晩|毎週|毎月|週に?[0-9０-９一二三四五六]回?|月に[0-9０-９一二三]回|平日は|休日は|週末は|(?:毎週)?[月火水木金土日]曜(?:日)?は)(?:の?[月火水木金土日]曜日?)?(?:に|は|、)?[^はが、]{{2,20}}?(?:て|で))(?:い)?(?:る|ます){_END}"
)
_OFTEN_SO: Final = regex("よく(?=.)|いつも|たまに|時々|ときどき|毎[日朝晩週月年回]|しょっちゅう|だいたい|基本")
"""What is so again and again is no plan."""
_EMPTY: Final = regex(
    r"それ|これ|あれ|その|この|あの|そこ|ここ|そう|何|誰|どこ|どう|みんな|さん(?:が|は)|彼(?!氏|女と)|あなた|[？?]"
)


class Event(NamedTuple):
    """`attribute` is did, plans, would_like_to or does."""

    attribute: str
    value: str


def event(body: str, *, ahead: bool) -> Event | None:
    """What a clause without its subject and time tells. `ahead`: its time lies in the future."""
    if _EMPTY.search(body) or len(body) > 40:
        return None
    if (match := _WISH.match(body)) is not None:
        return Event("would_like_to", match["v"] or f"{match['w']}こと")
    if (match := _OFTEN.match(body)) is not None:
        return Event("does", f"{match['v']}いる")
    if (match := _SETTLED.match(body)) is not None and len(match["v"]) > 2:
        return Event("plans", match["v"])
    if ahead and _OFTEN_SO.search(body) is None:
        plain = _in_plain_form(body)
        if (match := _WILL.match(plain)) is not None or (match := _TRIP.match(plain)) is not None:
            return Event("plans", match["v"])
        return None
    if ahead:
        return None
    for pattern in DID:
        if (match := pattern.match(body)) is not None:
            return _happened(match)
    return None


def _happened(match: re.Match[str]) -> Event | None:
    stem = match["stem"]
    for polite, past in _POLITE.items():
        if stem.endswith(polite):
            told = stem.removesuffix(polite) + past
            break
    else:
        told = stem[:-1] + _PAST[stem[-1]] if stem[-1] in _PAST else stem + "た"
    if stem.endswith("開い"):
        told = stem + "た"
    value = f"{match['o']}{told}"
    if "が" in match["o"] and not re.search("生まれ|産まれ|内定", stem):
        return None
    return Event("did", value) if len(value) <= 26 else None


def _in_plain_form(body: str) -> str:
    """The clause with its verb in the plain form: 行きます as 行く."""
    for plain, polite in _MASU.items():
        body = re.sub(rf"{polite}ます", plain, body)
    return body
