"""Clauses in which a speaker says of themselves how things are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from embermem.core.patterns import regex


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of the speaker at [start, end) of its sentence. `body` is the clause with 我 for its subject.
    `has_subject`: its subject is named in it, or is that of the clause before."""

    start: int
    end: int
    body: str
    has_subject: bool


_NUM: Final = r"(?:\d{1,3}|[一二两三四五六七八九十]{1,3})"
_MONTH = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})月(?:份)?"
_AGO = r"(?:\d{1,2}|[一二两三四五六七八九十]{1,3})个?[月年天周](?:以)?前"
_TIME: Final = (
    rf"(?:昨天|前天|今天|明天|后天|昨晚|今早|今晚|刚才|前几天|这几天|前段时间|前阵子|上{{1,2}}个?(?:周|星期|礼拜)[一二三四五六日天末]?|上个?学期|上个?月|这个?(?:月|周末?|星期)|下{{1,2}}个?(?:周|星期|礼拜)[一二三四五六日天末]?|下个?学期|下个?月"
    rf"|(?:去年|前年|今年|明年|后年)(?:[春夏秋冬]天|年[初底末中]|[上下]半年|春节|国庆|圣诞节?)?|周末|(?:周|星期)[一二三四五六日天]|年底|月底|(?:19|20)\d\d年(?:{_MONTH}(?:\d{{1,2}}[日号])?)?|{_MONTH}(?:(?:\d{{1,2}}|[一二三四五六七八九十]{{1,3}})[日号])?|{_AGO}|半年前|{_NUM}(?:天|周|个月|年)后"
    r"|春节|过年|国庆节?|元旦|五一|十一|中秋节?|圣诞节?|情人节|暑假|寒假|早上|早晨|上午|中午|下午|晚上|[0-9一二两三四五六七八九十]{1,3}点(?:半|多|钟)?)(?:的时候|之前|左右)?"
)
"""A word or phrase of time."""
_FAMILY: Final = (
    r"爸妈|父母|儿媳妇?|女婿|阿嬷|阿公|双胞胎(?:妹妹|姐姐|哥哥|弟弟)|大女儿|小女儿|大儿子|小儿子|妹妹|姐姐|哥哥|弟弟|妈妈|爸爸|母亲|父亲|婆婆|公公|岳母|岳父|老婆|老公|妻子|丈夫|太太|媳妇|老伴|爱人|未婚[妻夫]|儿子|女儿|孩子|孙子|孙女|外孙女?|女朋友|男朋友|女友|男友"
    r"|爷爷|奶奶|外公|外婆|姥姥|姥爷|叔叔|伯伯|舅舅|舅妈|姑姑|姑妈|姨妈|婶婶|嫂子|姐夫|妹夫|表妹|表姐|表哥|表弟|堂妹|堂姐|堂哥|堂弟|侄子|侄女|妈(?![妈咪])|爸(?![爸妈])|姐(?![姐夫妹])|哥(?![哥们])|妹(?![妹夫子])|弟(?![弟妹媳子])"
)
_OTHERS: Final = r"先生|阿姨|闺蜜|室友|舍友|同事|老板|朋友|同学|邻居|导师"
"""Persons who are no relatives, or may be none."""
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
_NOT_SO: Final = regex(
    r"可能|也许|大概(?!\d)|或许|差点|几乎|险些|考虑|好像|仿佛|似乎|好比|例如|比如|等于|真想|要不(?!是)|怀疑|相信|觉得|感觉|认为|装作|就像|像是|(?<!预)算是|其实不|有一天|的时候$|的时候(?!我)"
    r"|什么|怎么|谁|哪(?!怕)|为啥|干嘛|[吗么]$|是否|几点|几号|多少|该不该|([一-鿿])不\1|有没有|没有?.{0,8}吧$|应该|不如|还是(?!在|很|会|要|喜|觉)"
    r"|小时候|以前|曾经|从前|当年|本来|原来|那时候?|那会儿|之前(?=在|是|住|做)"
    r"|打算|计划|想要|准备|决定(?=.*去)|将来|以后|未来|明年|后年|下个?(?:月|周|星期|礼拜|学期)|下周|明天|后天|长大后|马上(?=要)|快要?(?=.*了$)|即将|我们?(?:还)?(?:真)?想(?![到起通])|年底之?前|将要"
)
"""What a clause holds that is asked, doubted, past or planned."""
_TAGS: Final = regex(r"(?:对吗|是吗|对吧|对不对|是不是|不是吗|真的吗|没错吧|好笑吧|你信吗|才怪|他说|她说)[的吧啊呢]*$")
"""Clauses that ask whether the one before is so, or whose word it is."""
_LEAD: Final = regex(
    rf"(?:嗯|哦|噢|啊|呃|哎|唉|诶|哈{{1,6}}|嘿|对了|其实|另外|顺便说一下|话说|你好|您好|大家好|恭喜(?:啊|你)?|因为|所以|但是|但|可是|不过|而且|然后|还有|并且|同时|结果|后来|现在|目前|最近|那|可惜|不瞒你说|跟你说|我跟你[说讲](?:啊|哦)?|被裁之后|"
    rf"{_TIME}|平时|一直以来|说实话|老实说|没错|是的|对|好的|从小|自从|刚刚?|终于|以后|将来|毕业后|长大后|退休后){{0,3}}(?:的时候)?"
)
_OTHER_SUBJECT: Final = regex(
    r"[你您它咱这那]|他们|她们|大家|人家|别人|有人|有个|有一个|谁|医生|老师|老板|公司|我们?(?:公司|老板|领导|学校|小区|家楼)"
)
_KIN_HERE: Final = regex(rf"(?P<mine>(?:我们?|俺)(?:的|家的?|最好的|亲)?)?(?P<kin>{_FAMILY}|{_OTHERS})")
_ANYBODY: Final = regex(rf"(?:{_OTHERS}|叔叔|伯伯|太太)$")
"""Who is named so may be nobody's relative."""
_I: Final = regex(
    r"我(?!们?(?:公司|老板|领导|学校|朋友的|这|那))|咱|俺|叫我|可以叫我|你们?可以叫我|大家|朋友|作为|(?:医生|大夫)(?:不让|不许|禁止|叫我别|让我别|不准)"
)
_HIS: Final = regex(r"[他她](?![们的])")
_GONE: Final = regex("去世|过世|病逝|走了(?=.{1,3}年)")
"""After a death it is not known of whom the next clause tells."""
_CONNECTIVE: Final = regex(r"(?:但是?|而且|然后|所以|可是|结果|因为)")


def clauses_of(sentence: str) -> Iterator[Clause]:
    """The clauses of a sentence that say how things are with the speaker; positions are those of the sentence."""
    if _SENTENCE_UNREAL.search(sentence):
        return
    spans = list(_spans(sentence))
    asks = re.search(r"[?？]\s*$", sentence) is not None
    from_here, is_own, before = False, False, ""
    for i, (start, end) in enumerate(spans):
        text = sentence[start:end]
        from_here = from_here or _FROM_HERE.search(text) is not None or sentence[end : end + 1] in ("：", ":")
        is_asked = asks and i == len(spans) - 1
        is_tagged = i + 1 < len(spans) and _TAGS.match(sentence[spans[i + 1][0] : spans[i + 1][1]]) is not None
        found = _of_speaker(text, start, end, after_own=is_own and not _GONE.search(before), is_first=i == 0)
        is_own, before = found is not None, text
        if found is not None and not (from_here or is_asked or is_tagged or _NOT_SO.search(text)):
            yield found


def _spans(sentence: str) -> Iterator[tuple[int, int]]:
    for match in _CLAUSE.finditer(sentence):
        start = match.start()
        if len(match.group()) > _RUN_ON:
            for cut in _CUT.finditer(sentence, start, match.end()):
                if cut.start() - start >= 4:
                    yield start, cut.start()
                    start = cut.start()
        yield start, match.end()


def _of_speaker(text: str, start: int, end: int, *, after_own: bool, is_first: bool) -> Clause | None:
    """The clause, if it tells of the speaker: it says so, or names nobody else and begins, or goes on about them."""
    lead = _LEAD.match(text)
    at = lead.end() if lead else 0
    if _names_relative(text, at) or _HIS.match(text, at):
        return None
    if _I.match(text, at):
        return Clause(start + at, end, text[at:], has_subject=True)
    if _OTHER_SUBJECT.match(text, at):
        return None
    if is_first:
        return Clause(start, end, f"我{text}", has_subject=False)
    connective = _CONNECTIVE.match(text)
    return Clause(start, end, f"我{text[connective.end() :] if connective else text}", True) if after_own else None


def _names_relative(text: str, at: int) -> bool:
    """Whether a clause begins with a relative, of whom it tells."""
    match = _KIN_HERE.match(text, at)
    if match is None or text[match.end() : match.end() + 1] in ("的", "们", "俩", "说", ""):
        return False
    return match["mine"] is not None or not _ANYBODY.match(match["kin"])
