"""Whether an answer says that it has no answer. A closed list of phrases, English and Chinese; no model.

An answer abstains if the first of its parts that says anything gives up, and no later part takes that back with a
guess: "I don't know if it was Paris, but it was in France" is an answer, and so is "She lives in Lyon; since when is
not mentioned". Parts are sentences, and what stands between commas, semicolons, dashes and words such as `but`.
Greetings, regrets, offers of help, questions back and "based on the conversation" say nothing.

The list is narrow where a phrase may be the answer itself: "I don't know how to swim", "她也不知道".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from embermem.core.text import fold

LOCOMO_PHRASES = ("no information available", "not mentioned")
"""What LoCoMo's own evaluation looks for in answers to category 5 (snap-research/locomo, task_eval/evaluation.py)."""


def abstains_locomo(answer: str) -> bool:
    """LoCoMo's own definition: one of its two phrases stands anywhere in the answer, in any case of letters."""
    lowered = answer.lower()
    return any(phrase in lowered for phrase in LOCOMO_PHRASES)


def abstains(answer: str) -> bool:
    """Whether the answer says that it is not known, was not told or cannot be found. An empty answer does."""
    if not answer.strip():
        return True
    parts = [part for part in _parts(_normal(answer)) if not _says_nothing(part)]
    return bool(parts) and _gives_up(parts[0]) and not any(_takes_back(part) for part in parts[1:])


# ----------------------------------------------------------------------------------------------------------- parts


class _Opening(IntEnum):
    """What stands before a part; of several marks the highest counts."""

    SENTENCE = 0
    COMMA = 1
    CONTRAST = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """A stretch of an answer, what it was opened by, and whether it ends as a question."""

    text: str
    opening: _Opening
    question: bool = False


def _parts(text: str) -> Iterator[_Part]:
    opening, start = _Opening.SENTENCE, 0
    for match in _CUT.finditer(text):
        mark = match.group().strip()
        if part := text[start : match.start()].strip():
            yield _Part(text=part, opening=opening, question=mark.startswith("?"))
            opening = _Opening.SENTENCE
        opening = max(opening, _opened_by(match))
        start = match.end()
    if part := text[start:].strip():
        yield _Part(text=part, opening=opening)


def _opened_by(match: re.Match[str]) -> _Opening:
    if match["end"]:
        return _Opening.SENTENCE
    return _Opening.CONTRAST if match["contrast"] else _Opening.COMMA


def _gives_up(part: _Part) -> bool:
    return any(pattern.search(part.text) for pattern in _GIVES_UP)


def _says_nothing(part: _Part) -> bool:
    if any(pattern.match(part.text) for pattern in _SAYS_NOTHING):
        return True
    return part.question and _GUESS.match(part.text) is None


def _takes_back(part: _Part) -> bool:
    if _gives_up(part):
        return False
    if part.opening is _Opening.COMMA and _CLAIM.match(part.text):
        return True
    return part.opening is _Opening.CONTRAST or _GUESS.match(part.text) is not None


def _normal(answer: str) -> str:
    """Lower case, without emphasis and reported speech, short forms written out, adverbs left out."""
    text = fold(answer).strip().replace("“", '"').replace("”", '"')
    for pattern, replacement in _WRITTEN_OUT:
        text = pattern.sub(replacement, text)
    return text.strip()


# --------------------------------------------------------------------------------------------------------- phrases

_WRITTEN_OUT = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[*_`#]+", ""),
        (r'\b(said|says|replied|answered|wrote|asked|told \w+)[,:]? "[^"]*"', r"\1 so"),
        (r'(说|问|回答|写)道?[,:]? ?"[^"]*"', r"\1了"),
        ('["「」『』]', ""),
        (r"\bcan(?:'t|not)\b", "can not"),
        (r"n't\b", " not"),
        (r"'ve\b", " have"),
        (r"'re\b", " are"),
        (r"\bi'm\b", "i am"),
        (r"\b(it|that|there)'s\b", r"\1 is"),
        (
            r"\b(?:actually|explicitly|specifically|directly|clearly|currently|really|honestly|simply|just|ever"
            r"|anywhere|also|been|certainly|definitively|definitely) ",
            "",
        ),
        (r"^no, ", ""),
    )
)

_CUT = re.compile(  # `fold` has made wide marks narrow; a stop within a word or number cuts nothing
    r"(?P<end>[.!?]+(?=\s|$)|[!?。]+|\n+)"
    r"|(?P<contrast>\b(?:but|however|though|although|yet(?= \w)|nevertheless|nonetheless)\b|但是|但|不过|可是|然而|却)"
    r"|[,;:、—]|\s[-–]+\s"
)

_SOURCE = (
    r"(?:conversations?|context|texts?|memor(?:y|ies)|dialogues?|chats?|histor(?:y|ies)|records?|transcripts?|notes?"
    r"|passages?|messages?|excerpts?|stor(?:y|ies)|information|data)"
)
_KNOWLEDGE = r"(?:information|info|details?|records?|memor(?:y|ies)|knowledge|recollection|mention|indication)"
_IS = r"(?:is|are|was|were|has|have|remains?)"
_SAID = r"(?:mentioned|specified|stated|said|told|discussed|disclosed|talked about|brought up)"
_WHAT = r"(?:if|whether|what|when|where|who|whom|whose|which|why|how)"
_NOT_TO_DO = r"(?! \w+(?: \w+)? to\b)"  # "I don't know how to swim", "I'm not sure which book to take"
_NOT_TO_SOMEONE = r"(?!.{0,60}\bto (?:her|him|them|me|his|their|my|the|any|an?)\b)"  # "never mentioned to her boss"
_OF_THIS = (  # what is not known is what was asked; "I don't know him" is none of it
    rf"(?=$| (?:sorry|yet|enough|anything|exactly|about|for sure|for certain|of any)\b| (?:that|this|it)$| {_WHAT}\b"
    r"| (?:the|her|his|their|your|its|that|this)(?: \w+)? (?:answer|name|date|time|year|age|details?|reason|place"
    r"|location|number|title)\b)"
)

_GIVES_UP = tuple(
    re.compile(pattern)
    for pattern in (
        # Nothing is there.
        rf"(?:^|\bthere {_IS} |\b(?:i|we) (?:have|had|see|find|found) |\b(?:contains?|provides?|gives?) )"
        rf"(?:no|not enough|not any|insufficient) (?:\w+ ){{0,2}}{_KNOWLEDGE}\b",
        r"\b(?:i|we) (?:do|did|can|could) not (?:have|see|find) (?:any|enough|that|this|the|an?|sufficient) "
        rf"(?:\w+ ){{0,2}}{_KNOWLEDGE}\b",
        rf"(?:^|\b{_KNOWLEDGE}(?: \w+){{0,6}} {_IS} |\b(?:it|that|this|answer) {_IS} )"
        r"not (?:available|provided|given|known|clear|specified|stated|included|found)\b",
        # Nobody said it.
        rf"\b(?:not|never) (?:mentioned|specified)\b(?! until\b| only\b){_NOT_TO_SOMEONE}",
        rf"\b(?:(?:do|does|did) not (?:mention|specify)|never mentions?)\b{_NOT_TO_SOMEONE}",
        rf"(?:^|\b{_IS} )(?:not|never) {_SAID}\b(?! until\b| only\b){_NOT_TO_SOMEONE}",
        rf"^(?:nothing|none of (?:this|that|it)) {_IS} {_SAID}\b",
        rf"\b(?:do|did) not (?:think|believe|see) .{{0,80}}\b{_SAID}\b",
        rf"\b{_SOURCE}(?: \w+){{0,3}} (?:do|does|did|has|have) (?:not|never|no) (?:say|state|tell|provide|contain"
        rf"|include|indicate|reveal|discuss|give|show|cover|have|record|mention|{_SAID})",
        r"\byou (?:have )?(?:never|not|did not) (?:tell|told|say|said|share|shared)\b(?! (?:him|her|them)\b)",
        # I do not know.
        rf"(?:^|\b(?:i|we) )(?:do|did|can|could) not (?:know|recall|remember){_NOT_TO_DO}{_OF_THIS}",
        r"(?:^|\bi have )no (?:idea|clue|memory|recollection)\b",
        rf"(?:^|\b(?:i|we) (?:am|are|was|were) )(?:not (?:sure|certain|aware)|unsure|unaware)\b{_NOT_TO_DO}",
        # It cannot be found out.
        r"(?:^|\b(?:i|we) )(?:(?:can|could) not|am unable to|are unable to|unable to) "
        rf"(?:answer|determine|confirm|verify|say (?:for\b|{_WHAT}\b)|tell (?:you|from|{_WHAT})\b"
        rf"|(?:find|provide|give) (?:any|that|this|an? (?:answer|mention)|information|{_WHAT})\b)",
        r"\b(?:can|could) not be (?:determined|answered|inferred|known|found|confirmed)\b",
        r"\b(?:impossible|not possible) to (?:say|tell|determine|know|answer)\b",
        r"\b(?:is|are|was|were|remains?) (?:unknown|unspecified|unclear|unanswerable|not known|not answerable)\b"
        r"(?! to\b)",
        r"^(?:unknown|unspecified|unanswerable|unclear|n/a|not applicable|no answer|none (?:given|mentioned))$",
        # 没有提到
        r"(?:没有?|未曾?|从未|从没)(?:被|有|曾|明确|具体|直接|在\w{1,6}中)*(?:提到|提及|提过|说明|说过|谈到|谈及|讲过|透露)",
        r"(?:没有?|未)(?:明确|跟我|和我|对我|向我)*(?:告诉过?我|说过?(?:$|是|什么|哪|何|谁|多少|为什么))",
        r"(?:没有|未能?|并无|无|缺少|缺乏)(?:找到|任何|足够的?|相关的?|有关|关于.{1,20}的|这方面的?|此类|更多|具体|可用的?)*"
        r"(?:信息|记录|资料|线索|内容|印象|记忆)",
        r"信息不足|资料不足",
        # 不知道
        r"(?:^|我们?|暂时|目前|抱歉|实在|真的|并|还|也)(?<![他她它]也)(?<![他她它]并)(?<![他她它]还)"
        r"(?:不知道|不清楚|不太清楚|不确定|不太确定|不记得|记不清|记不得|想不起来|不了解)(?!自己|如何|怎么|该)",
        r"(?:无法|不能|没法|无从)(?:回答|确定|确认|得知|判断|知道|知晓|推断|给出)",
        r"^(?:未知|不详|不明|未说明|未提供)$",
    )
)

_SAYS_NOTHING = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:hi|hey|hello|dear)\b.{0,30}$",
        r"(?:(?:i am )?(?:so |very |truly )?(?:sorry|afraid)|i apologi[sz]e|apologies|my apologies)"
        r"(?: (?:about|for) (?:that|this|it|the \w+))?$",
        r"(?:unfortunately|regrettably|h+m+|u+m+|well|oh|ah|to be honest|(?:that is a )?(?:good|great) question)$",
        r"(?:so|answer|the answer(?: is)?|final answer)$",
        rf"(?:based on|according to|from|given|in|as of|as for) .{{0,60}}\b(?:{_SOURCE}|told me|shared|know)\b"
        r"(?: \w+){0,3}$",
        r"(?:please|let me know|feel free|if you|tell me|ask (?:him|her|them))\b",
        r"(?:(?:maybe |perhaps )?you (?:can|could)|you (?:may|might|will have to))\b",
        r"i (?:can|could|will|would|am happy to) .{0,60}\b(?:help|remember|look|assist|check|find out)\b",
        r"(?:很|非常|真的|十分)?(?:抱歉|对不起|不好意思|遗憾)$",
        r"(?:根据|从|在).{0,30}(?:对话|聊天|记忆|记录|信息|内容|资料|上下文)(?:中|里|来看|看)?$",
        r"请|如果你|如果您|你可以|您可以|要不要|谢谢|你能|您能",
    )
)

_GUESS = re.compile(
    r"maybe|perhaps|probably|possibly|presumably|likely|most likely"
    r"|i (?:think|guess|believe|suppose|assume|would say|would guess)"
    r"|(?:it|that|she|he|they) (?:could|might|may|must)\b|could be|might be|my (?:best )?guess"
    r"|可能|也许|大概|应该|或许|好像|估计|我猜|我想|我觉得|我认为"
)
_CLAIM = re.compile(
    r"(?:it|she|he|they|that|this|there) (?:is|was|are|were|has|had|have)\b"
    r"|[她他它那这]?(?:是(?!否)|在(?!.{0,12}[中里]))"
)
