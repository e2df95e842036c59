"""Clauses: where they begin and end, whom they tell of, and whether they say how things are."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.facts.finding import USER
from embermem.languages.zh.facts.checks import is_name
from embermem.languages.zh.facts.phrases import FAMILY, FEMALE_KIN, FULL_KIN, OTHERS, TIME


class Mood(Enum):
    """How a clause is meant."""

    REAL = "real"
    PAST = "past"
    """It was so once: only what ended is read."""
    PLAN = "plan"
    """It is to be so: only plans and goals are read."""
    UNREAL = "unreal"
    """Asked, supposed, reported, doubted: nothing is read."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause `text` at [start, end) of its sentence. `subject` is USER, a relative, or "" for nobody who is known,
    and `kin` what a relative is, without their name; `body` is the clause with 我 for its subject. `is_opened`: it names its subject; `is_carried`: the subject is that
    of the clause before."""

    text: str
    start: int
    end: int
    subject: str
    kin: str
    body: str
    mood: Mood
    is_opened: bool
    is_carried: bool


_CLAUSE = regex(r"[^，,、：:。！？!?；;\s~～…—]+(?:、[^，,、：:。！？!?；;\s]+)*")
_RUN_ON = 16
"""A clause that is longer was spoken without punctuation, and is cut where a new one seems to begin."""
_CUT = regex(
    r"(?<=.{4})(?=(?:然后|所以|但是|因为|而且|不过|结果|后来)我?|(?<![和跟给让叫对帮把被替向比陪为由等找问说觉的是像在])我(?=[得就要想们又还也都跟和在昨今上下每妈爸哥姐弟妹儿女老]|现在|最近|打算|准备|刚))|(?=医生说|大夫说)|(?<=[了啦吧])(?=[你他她]说)|(?<=孩子|儿子|女儿)(?=大的|老大|一个)"
)
_SENTENCE_UNREAL: Final = regex(
    r"\ue000|难道|你是我的|我是你的|你来当|你当|你演|我演|我扮|[叫让]我当|才怪|个屁|下辈子|上辈子|要不是|如果.{0,8}就好|恨不得|开玩笑|骗你|逗你|狗头|doge|滑稽|🐶|游戏里|电影里|戏里|歌里|书里|梦里|小说里"
)
_FROM_HERE: Final = regex(
    r"如果|要是|假如|假设|假装|倘若|若是|万一|只要|除非|想象|幻想|希望|但愿|梦见|梦到|做梦|说不定|据说|听说|以为|告诉|问我|的话$"
    r"|(?<![能会我])(?<!老实)(?<!话)(?<!来)说(?!实话|话|来|起|不定|好了?|走就走|法|普|英|中|[一-鿿]语)|(?:他|她|他们|你|人家|有人|妈|爸)(?:老)?说"
)
"""What follows in the sentence is not the speaker's own statement of how things are."""
_UNREAL: Final = regex(
    r"可能|也许|大概(?!\d)|或许|差点|几乎|险些|考虑|好像|仿佛|似乎|好比|例如|比如|等于|真想|要不(?!是)|怀疑|相信|觉得|感觉|认为|装作|就像|像是|(?<!预)算是|其实不|有一天|的时候$|的时候(?!我)"
    r"|什么|怎么|谁|哪(?!怕)|为啥|干嘛|[吗么]$|是否|几点|几号|多少|该不该|([一-鿿])不\1|有没有|没有?.{0,8}吧$|应该|不如|还是(?!在|很|会|要|喜|觉)"
)
_PAST: Final = regex(r"小时候|以前|曾经|从前|当年|本来|原来|那时候?|那会儿|之前(?=在|是|住|做)")
_PLAN: Final = regex(
    r"打算|计划|想要|准备|决定(?=.*去)|将来|以后|未来|明年|后年|下个?(?:月|周|星期|礼拜|学期)|下周|明天|后天|长大后|马上(?=要)|快要?(?=.*了$)|即将|我们?(?:还)?(?:真)?想(?![到起通])|年底之?前|将要"
)
_TAGS: Final = regex(r"(?:对吗|是吗|对吧|对不对|是不是|不是吗|真的吗|没错吧|好笑吧|你信吗|才怪|他说|她说)[的吧啊呢]*$")
"""Clauses that ask whether the one before is so, or whose word it is."""
_LEAD: Final = regex(
    rf"(?:嗯|哦|噢|啊|呃|哎|唉|诶|哈{{1,6}}|嘿|对了|其实|另外|顺便说一下|话说|你好|您好|大家好|恭喜(?:啊|你)?|因为|所以|但是|但|可是|不过|而且|然后|还有|并且|同时|结果|后来|现在|目前|最近|那|可惜|不瞒你说|跟你说|我跟你[说讲](?:啊|哦)?|被裁之后|"
    rf"{TIME}|平时|一直以来|说实话|老实说|没错|是的|对|好的|从小|自从|刚刚?|终于|以后|将来|毕业后|长大后|退休后){{0,3}}(?:的时候)?"
)
_OTHER_SUBJECT: Final = regex(
    r"[你您它咱这那]|他们|她们|大家|人家|别人|有人|有个|有一个|谁|医生|老师|老板|公司|我们?(?:公司|老板|领导|学校|小区|家楼)"
)
_KIN_HERE: Final = regex(rf"(?P<mine>(?:我们?|俺)(?:的|家的?|最好的|亲)?)?(?P<kin>{FAMILY}|{OTHERS})")
_BARE_OTHERS: Final = regex(rf"(?:{OTHERS}|叔叔|伯伯|太太)$")
"""Who is named so may be nobody's relative."""
_I: Final = regex(
    r"我(?!们?(?:公司|老板|领导|学校|朋友的|这|那))|咱|俺|叫我|可以叫我|你们?可以叫我|大家|朋友|作为|(?:医生|大夫)(?:不让|不许|禁止|叫我别|让我别|不准)"
)
_HIS: Final = regex(r"[他她](?![们的])")


def clauses_of(sentence: str) -> list[Clause]:
    """The clauses of a sentence with their subjects and moods; `start` and `end` are positions in the sentence."""
    if _SENTENCE_UNREAL.search(sentence):
        return []
    spans = list(_spans(sentence))
    asks = re.search(r"[?？]\s*$", sentence) is not None
    found: list[Clause] = []
    from_here = False
    for i, (start, end) in enumerate(spans):
        text = sentence[start:end]
        from_here = from_here or _FROM_HERE.search(text) is not None or sentence[end : end + 1] in ("：", ":")
        is_asked = asks and i == len(spans) - 1
        is_tagged = i + 1 < len(spans) and _TAGS.match(sentence[spans[i + 1][0] : spans[i + 1][1]]) is not None
        mood = Mood.UNREAL if from_here or is_asked or is_tagged else _mood(text)
        found.append(_clause(text, start, end, mood, found[-1] if found else None))
    return found


def _spans(sentence: str) -> Iterator[tuple[int, int]]:
    for match in _CLAUSE.finditer(sentence):
        start = match.start()
        if len(match.group()) > _RUN_ON:
            for cut in _CUT.finditer(sentence, start, match.end()):
                if cut.start() - start >= 4:
                    yield start, cut.start()
                    start = cut.start()
        yield start, match.end()


def _mood(text: str) -> Mood:
    if _UNREAL.search(text):
        return Mood.UNREAL
    if _PAST.search(text):
        return Mood.PAST
    return Mood.PLAN if _PLAN.search(text) else Mood.REAL


def _clause(text: str, start: int, end: int, mood: Mood, before: Clause | None) -> Clause:
    """The clause with its subject: named in it, or that of the clause before."""

    def of(subject: str, kin: str, body: str, *, at: int = 0, opened: bool = False, carried: bool = False) -> Clause:
        return Clause(text, start + at, end, subject, kin, body, mood, opened, carried)

    lead = _LEAD.match(text)
    at = lead.end() if lead else 0
    topic, topic_kin = (before.subject, before.kin) if before is not None else ("", "")
    if (found := _kin(text, at)) is not None:
        kin, name, rest = found
        return of(kin + name, kin, f"我{text[rest:]}", opened=True)
    if (his := _HIS.match(text, at)) is not None:
        is_female = re.search(FEMALE_KIN, topic_kin) is not None and topic_kin not in ("外公", "姐夫", "妹夫")
        if topic_kin and (his.group() == "她") == is_female:
            return of(topic, topic_kin, f"我{text[his.end() :]}", opened=True)
        return of("", "", text)
    if _I.match(text, at):
        return of(USER, "", text[at:], at=at, opened=True)
    if _OTHER_SUBJECT.match(text, at):
        return of("", "", text)
    if before is None:
        return of(USER, "", f"我{text}")
    if topic and not _BARE_OTHERS.match(topic) and before is not None and not _GONE.search(before.text):
        connective = _CONNECTIVE.match(text)
        return of(topic, topic_kin, f"我{text[connective.end() :] if connective else text}", carried=True)
    return of("", "", text)


def _kin(text: str, at: int) -> tuple[str, str, int] | None:
    """The relative that a clause begins with, their name, and where what is said of them begins."""
    match = _KIN_HERE.match(text, at)
    if match is None or text[match.end() : match.end() + 1] in ("的", "们", "俩", "说", ""):
        return None
    if match["mine"] is None and _BARE_OTHERS.match(match["kin"]):
        return None
    kin, end = FULL_KIN.get(match["kin"], match["kin"]), match.end()
    if (latin := _LATIN.match(text, end)) is not None:
        return kin, latin.group(), latin.end()
    for length in (3, 2):
        name = text[end : end + length]
        if len(name) == length and text[end + length : end + length + 1] in _AFTER_NAME and is_name(name):
            return kin, name, end + length
    return kin, "", end


_GONE: Final = regex("去世|过世|病逝|走了(?=.{1,3}年)")
"""After a death the speaker tells of themselves."""
_LATIN: Final = regex(r"[A-Z][A-Za-z]{1,14}")
_CONNECTIVE: Final = regex(r"(?:但是?|而且|然后|所以|可是|结果|因为)")
_AFTER_NAME: Final = frozenset("是在住叫去也今昨上刚从对有会喜养学考每最特很")
