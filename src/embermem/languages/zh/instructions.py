"""长期要求: standing instructions, how the speaker wants the agent to behave from now on, and what is taken back.

As in English: an order is one only if it says that it lasts (以后, 每次, 别再 …) or is of a kind that does (跟我说中文), and a
message that quotes, reports or hands over a text is not read at all.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from embermem.core.attributes import INSTRUCTION_PREFIX
from embermem.core.patterns import regex
from embermem.languages.dates.engine import date_spans
from embermem.languages.facts.finding import USER, Finding, When
from embermem.languages.facts.orders import told

__all__ = ["instruction", "instructions"]

_LONGEST_TEXT, _LONGEST_CLAUSE = 400, 40
_HIDDEN = "\ue000"
_NO_NAME = "不要叫我"
"""Who says so has that nickname no longer."""
_NOT_OWN = regex(
    r"说[：:「“\"]|[他她它](?:们)?(?:总是?|一直|经常)?(?:说|让|叫|要求|告诉|写)|(?:老板|领导|老师|医生|教练|妈|爸|同事|朋友|客户)[们]?(?:总是?|一直|经常|都)?(?:说|让|叫|要求|告诉|写)|写着|写道|据说|原文|转发|收到|邮件|短信|通知|公告|规定|规则|守则|手册|指南|文章|文件|文档|提示词|系统|扮演|角色|故事|小说|剧本|台词|假装|假如|假设|如果你是|想象|开玩笑|你是一[个名位]|翻译|这[封段篇首句]|以下|下面|上面|如下|https?://|[{}<>]",
)
_SENTENCE = regex(r"[^。！？!?\n；;]+[。！？!?；;]*")
_ONCE = regex(
    r"这次|这个|这种|这些|这样|那个|那些|那样|今天|今晚|明天|现在(?!开始|起)|刚才|一下|一会儿|暂时|下次|它|他|她|大家|孩子"
)
_SPEAKER = regex("^(?:我(?!希望|想要?你|要你|需要你)|我们|咱们|他|她)")
_LEAD: Final = r"(?:以后|今后|往后|从现在(?:起|开始)|从今(?:天|以后|往后)(?:起|开始)?|每次|今后|之后)"
_LASTING = regex(rf"{_LEAD}|永远|一直|总是|一律|统一|每次|都(?=[用要给请])")
_FILLER = regex(
    rf"^(?:那|对了|还有|另外|好的?|嗯|哦|麻烦|请|拜托|希望|我(?:希望|想要?|要|需要)(?=你|您)|你|您|能不能|可不可以|可以|{_LEAD}|在?跟我聊天时|回答(?:我|问题)(?:的)?时候?|我们|咱们|都|就|也|要|得|必须|尽量|应该|永远|一直|总是|一律|统一|全部?|，|,)+"
)
_TAIL = regex(r"(?:好吗|行吗|可以吗|好不好|行不行|谢谢(?:你|您)?|吧|啊|哦|呀|呢|啦|哈|嘛|[。！？!?；;~～\s])+$")
_LANGUAGES = r"(?:(?:简体|繁体)?中文|汉语|普通话|粤语|英[文语]|法[文语]|德[文语]|日[文语]|韩[文语]|西班牙[文语]|俄[文语]|意大利[文语]|葡萄牙[文语]|阿拉伯[文语]|越南[文语]|泰[文语])"
_SAY = r"(?:回答|回复|答复|回应|交流|交谈|沟通|聊天?|说话?|对话|写|讲)"
_LANGUAGE = regex(
    rf"(?:只)?用(?P<a>{_LANGUAGES})(?:来)?(?:[跟和与]我)?{_SAY}?(?:我)?(?:的问题)?|(?:[跟和与]我)(?:只)?(?:说|讲|用)(?P<b>{_LANGUAGES})(?:{_SAY})?|(?:只)?(?:说|讲)(?P<c>{_LANGUAGES})"
)
_WITH_ME = regex(rf"[跟和与]我(?:只)?(?:说|讲){_LANGUAGES}|用{_LANGUAGES}[跟和与]我{_SAY}")
_MATTERS: Final = (
    ("units", r"(?:使?用)(?:公制|英制)(?:单位)?"),
    ("temperature", r"(?:温度)?(?:使?用)(?:摄氏度?|华氏度?)(?:表示)?"),
    ("length", rf"(?:把)?(?:你的)?(?:{_SAY}|答案|回复)?(?:我|问题)?(?:内容)?(?:时|的时候)?(?:都|要|请|尽量|得|再)*(?:保持|写)?(?:简短|简洁|简单|精简|短|详细|具体|长)(?:一?些|一?点儿?)?(?:地?{_SAY})?"),
    ("formality", rf"(?:{_SAY})?(?:时|的时候)?(?:都|要|请|尽量)*(?:使?用)?(?:正式|随意|口语化|敬语|尊称)(?:的语气|一点|一些|点)?"),
    ("emojis", r"(?:使?用|发|加|带)(?:任何)?(?:表情(?:符号|包)?|颜文字|emoji)"),
    ("address", r"(?:使?用|称)(?:您|你)(?:来)?(?:称呼)?我?|称呼我(?:为|叫)?[一-鿿A-Za-z]{1,8}"),
)  # fmt: skip
_OF_MATTERS = tuple((name, regex(pattern)) for name, pattern in _MATTERS)
_NEVER = r"(?:不要|别|不许|不准|千万别|不用|不能|请勿|甭)"
_TOPIC = regex(
    rf"^{_NEVER}(?P<again>再)?(?:[跟和]我)?(?P<verb>提起?|提到|说起|叫我|称呼我|问我?(?=关于|我的))(?P<v>[^，。！？]{{1,12}}?)(?:这件?事|的事情?)?(?P<le>了)?$"
)
_CALLED = regex(
    r"[小老阿大][一-鿿]|[A-Z][A-Za-z]+|宝贝|宝宝|亲爱的|亲|老师|先生|女士|小姐|[哥姐叔]|老板|主人|大人|您|[一-鿿]{1,2}(?:哥|姐|总|老师|先生|女士|小姐)"
)
"""How somebody is called: the rest is called to."""
_ORDER = regex(
    r"(?:先)?(?:告诉我|提醒我|问我|回答|回复|推荐|建议|给我(?:列|附|给出|举|解释|讲|总结|推荐|建议|说明|来源|例子)|给出|列出|附上|标明|注明|说明|解释|称呼我|纠正我|道歉|加上).{1,20}|(?:纠正我|打断我|道歉|说教|骗我|敷衍我)|用[^，。]{1,10}(?:回答|回复|解释)(?:我)?|把.{1,10}(?:换算|转换|翻译)成.{1,8}"
)
_TAKEN_BACK = regex(
    r"^(?:现在|以后|那)?(?:你|您)?(?:(?P<need>不用再?|不必再?|不需要再?|不要再|别再)(?P<p>(?:一直|总是|都)?[^，。]{2,16}?)|(?P<may>又?可以(?:再|重新|继续)?|能再)(?P<q>[^，。]{2,16}?))了$"
)


def instructions(text: str, said_at: datetime) -> Iterator[Finding]:
    """The standing instructions of a screened text, and what it takes back of earlier ones, in order. Positions are
    those of the text given."""
    if len(text) > _LONGEST_TEXT or _NOT_OWN.search(text):
        return
    found = [
        one
        for sentence in _SENTENCE.finditer(text)
        if _HIDDEN not in sentence.group()
        for one in _sentence(sentence.group(), sentence.start(), said_at)
    ]
    yield from told(found, _NO_NAME)


def instruction(phrase: str) -> tuple[str, str]:
    """The attribute and value of an order that is known to last."""
    order = _TAIL.sub("", _FILLER.sub("", _TAIL.sub("", phrase.strip())))
    return _order(order) or ("instruction", order or phrase.strip())


def _sentence(sentence: str, offset: int, said_at: datetime) -> Iterator[Finding]:
    lead = ""
    for clause in re.finditer(r"[^，,、：:]+", sentence):
        words = _TAIL.sub("", clause.group()).strip()
        if re.fullmatch(rf"(?:那|对了)?{_LEAD}", words) or (_until(words, said_at) and len(words) <= 12):
            lead = words
            continue
        found = _clause(lead + words, said_at)
        if found is not None:
            attribute, value, until, retracts = found
            when = None if until is None else When(until, _label(until - timedelta(days=1)), 0)
            yield Finding(
                subject=USER,
                attribute=attribute,
                value=value,
                start=offset + clause.start(),
                end=offset + clause.end(),
                when=when,
                until=until,
                retracts=retracts,
            )
            lead = ""


def _clause(clause: str, said_at: datetime) -> tuple[str, str, datetime | None, bool] | None:
    """Attribute, value, when it ends, whether it is taken back; None for any other clause."""
    if len(clause) > _LONGEST_CLAUSE or _SPEAKER.search(clause):
        return None
    back = _TAKEN_BACK.match(clause)
    if back is not None and (ended := _ended(back)) is not None:
        return *ended, None, True
    until = _until(clause, said_at)
    if until is not None:
        clause = re.sub(r"^.*?(?:之?前|为止|以前)(?:请|都|你|就)*", "", clause)
    order = " ".join(re.sub(rf"{_LEAD}(?:请|都|就)*", "", _FILLER.sub("", clause)).split())
    topic = _TOPIC.match(order)
    if _ONCE.search(order) or not order:
        return None
    lasting = until is not None or _LASTING.search(clause) is not None
    if topic is not None:
        calls = topic["verb"] in ("叫我", "称呼我")
        if calls and _CALLED.fullmatch(topic["v"]) is None:
            return None
        lasts = lasting or calls or topic["again"] is not None
        return ("instruction", _topic(topic), until, False) if lasts else None
    never = re.match(rf"{_NEVER}(?P<again>再)?", order)
    if not (lasting or (never is not None and never["again"]) or _WITH_ME.fullmatch(order)):
        return None
    found = _order(order)
    if found is None or (
        found[0] == "instruction" and _ORDER.fullmatch(order[never.end() :] if never else order) is None
    ):
        return None
    return *found, until, False


def _order(order: str) -> tuple[str, str] | None:
    """The attribute and value of an order."""
    if not 2 <= len(order) <= _LONGEST_CLAUSE:
        return None
    never = re.match(rf"{_NEVER}再?", order)
    rest = order[never.end() :] if never else order
    before = "不要" if never else ""
    rest = re.sub("了$", "", rest).rstrip()
    language = _LANGUAGE.fullmatch(rest)
    if language is not None:
        named = language["a"] or language["b"] or language["c"]
        return f"{INSTRUCTION_PREFIX}language", f"{before}用{named}回答"
    for matter, pattern in _OF_MATTERS:
        if pattern.fullmatch(rest):
            return f"{INSTRUCTION_PREFIX}{matter}", before + rest
    topic = _TOPIC.match(order)
    if topic is not None:
        return "instruction", _topic(topic)
    return "instruction", before + rest


def _topic(topic: re.Match[str]) -> str:
    """What is not to be said: one wording for each, so that it can be taken back."""
    return _unsaid(topic["verb"], topic["v"])


def _unsaid(verb: str, what: str) -> str:
    said = {"叫我": "叫我", "称呼我": "叫我"}.get(verb, "问" if verb.startswith("问") else "提")
    return f"不要{said}{what}"


def _ended(back: re.Match[str]) -> tuple[str, str] | None:
    """The attribute and value of what holds no longer: 不用再用法语回答了, 可以叫我小王了."""
    said = back["p"] or back["q"]
    if back["may"]:
        named = re.fullmatch(r"(?P<verb>提起?|提到|说起|叫我|称呼我)(?P<v>.{1,12})", said)
        if named is not None:
            return "instruction", _unsaid(named["verb"], named["v"])
    elif back["need"][0] in "别" or back["need"].startswith("不要"):
        return None  # "别再提…了" is an order
    order = _order(_FILLER.sub("", said))
    if order is None or not order[0].startswith(INSTRUCTION_PREFIX):
        return None
    return order[0], order[1] if order[0] == f"{INSTRUCTION_PREFIX}language" and back["need"] else ""


def _until(clause: str, said_at: datetime) -> datetime | None:
    """The first moment after the time up to which an order holds: 在6月5日之前, 到周五为止."""
    named = re.search(r"(?:^|在|到|直到)(?P<t>[^，。]{2,10}?)(?:之前|以前|为止|前)", clause)
    span = None if named is None else next(iter(date_spans(named["t"], said_at)), None)
    if span is None or span.last < said_at.date():
        return None
    return span.is_over(said_at)


def _label(moment: datetime) -> str:
    return f"到{moment.year}年{moment.month}月{moment.day}日为止"
