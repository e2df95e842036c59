"""What is never taken from a page or a model on trust: orders to the memory, values nobody said, errors as summaries.

Checks of words, not of meaning: they are a floor under a model's answer. docs/concepts/model-analyst.md says what they leave.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Sequence

from embermem.analysts.screening import screen
from embermem.core.text import fold, has_cjk, runs, terms

_FIELDS_EN = (
    r"(?:name|profile|memory|memories|facts?|traits?|gender|home|address|occupation|job|birth ?year|age|persona)"
)
_FIELDS_ZH = "(?:名字|姓名|资料|画像|档案|身份|职业|工作|住址|住处|性别|年龄|记忆|特征|信息)"
_CHANGE_EN = r"(?:set|change|update|overwrite|replace|modify|mark|register|save|store|record|write|add|delete|erase|remove|forget|wipe|clear)"
_CHANGE_ZH = "(?:设|改|更新|写|记|换|删|清空|覆盖|登记|标记|存)"
_ORDER = re.compile(
    r"\b(?:ignore|disregard|override|forget|bypass)\s+(?:(?:all|everything|any|of|the|your|these|those|every)\s+){0,3}"
    r"(?:above|previous|prior|preceding|earlier|instructions?|rules|guidelines|prompts?|system)\b"
    rf"|\b{_CHANGE_EN}\b[^.!?\n]{{0,40}}\b(?:the )?users?(?:'s)? {_FIELDS_EN}\b"
    rf"|\b{_CHANGE_EN}\b[^.!?\n]{{0,40}}\b(?:to|in|into|from|of) (?:your|the) (?:(?:long[- ]term|user) )?(?:memory|memories|profile|knowledge base|persona)\b"
    rf"|\b{_CHANGE_EN}\b (?:all|every|everything in) (?:the |known |your )?(?:facts?|memor(?:y|ies)|traits?|knowledge)\b"
    r"|\b(?:system|developer) (?:prompt|message|note|override|instructions?)\b|\bnew instructions?\b"
    r"|\byou (?:must|should|have to|are to|will) (?:now )?(?:output|answer|reply|respond|return|print) (?:with|only|the following|exactly|json|in json)\b"
    r"|\b(?:answer|reply|respond|output) (?:only )?(?:with|in) (?:the following )?json\b"
    rf"|(?:忽略|无视|忘掉|忘记|不要理会)(?:掉)?(?:以上|上面|上述|之前|前面|先前|所有|全部|一切|你的)[^。！？\n]{{0,12}}(?:指令|指示|内容|规则|提示|要求|话|说明|一切|，|。|$)"
    rf"|{_CHANGE_ZH}[^。！？\n]{{0,10}}用户(?:的)?{_FIELDS_ZH}|用户(?:的)?{_FIELDS_ZH}[^。！？\n]{{0,10}}{_CHANGE_ZH}"
    r"|(?:系统|开发者)(?:提示|消息|指令|通知)|(?:新的|以下)(?:指令|指示)"
    r"|你(?:必须|应该|要|只能)(?:只)?(?:输出|回答|返回|回复)(?:以下|下面|JSON|json)"
    r"|(?:写入|记入|存入|更新|清空|删除)(?:到)?(?:你的|用户)?(?:长期)?(?:记忆|档案|画像|知识库)"
    r"|[{,\[]\s*\\?[\"'](?:summary|profile|facts|traits|pages|evidence|dimension|attribute|keywords|continues|action|links)\\?[\"']\s*:"
    r"|(?:^|[\s>])(?:u\d{1,4} (?:user|agent|system|tool)\b|p\d{1,4} t\d)|<<\s{0,4}[a-z]{6,40}|\b[a-z]{6,40}\s{0,4}>>|(?:^|\s)f\d{1,4} (?:user|agent) \w+="
    r"|<\|im_(?:start|end)\|>|\[/?INST\]|<<SYS>>|^\s*#{2,} *(?:instruction|system|response)",
    re.IGNORECASE | re.MULTILINE,
)
_ERROR = re.compile(
    r"\W*(?:error\s*[:：]|(?:an?|internal)\b[^.]{0,30}\berror occurred|(?:i am |i'm )?sorry\b[^.]{0,20}\b(?:i|but|cannot|can't|unable)\b|i (?:cannot|can't|am unable|am not able)\b"
    r"|as an ai\b|could not get\b|no response\b|request timed out|rate limit|(?:none|null|n/?a|nil|undefined|string|summary|unknown|empty)\W*$"
    r"|general conversation segment|错误\s*[:：]|(?:很)?抱歉|对不起|无法(?:获取|生成|总结)|我(?:不能|无法))",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"[\W_]*(?:(?:none|null|nil|n/?a|nothing|undefined|unknown|unspecified"
    r"|not (?:mentioned|specified|known|stated|given|provided|available|applicable)"
    r"|无|没有|未知|不详|未提及|未提供|不适用)[\W_]*)?",
    re.IGNORECASE,
)
_READ = 10_000
_SHORTEST_QUOTE = 2
"""Characters: a single letter stands everywhere."""
_LETTER = re.compile(r"[^\W_]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBER = re.compile(r"(?<!\d)\d{1,3}(?!\d)")
GENDERS = {
    "female": "female", "woman": "female", "girl": "female", "女": "female", "女性": "female",
    "male": "male", "man": "male", "boy": "male", "guy": "male", "男": "male", "男性": "male",
}  # fmt: skip
_GENDER_WORDS = {
    "female": re.compile(
        r"\b(?:female|woman|girl|lady|mother|mom|mum|mommy|wife|daughter|girlfriend)\b|女|妈妈|母亲|妻子"
    ),
    "male": re.compile(r"\b(?:male|man|guy|boy|father|dad|daddy|husband|son|boyfriend)\b|男|爸爸|父亲|丈夫"),
}


def orders(text: str) -> bool:
    """Whether an utterance gives orders to the memory or its model, or forges what they exchange.

    "Remember that I am allergic to nuts" is none: it says something of its speaker.
    """
    return _ORDER.search(_ends(text).replace("’", "'")) is not None


def no_summary(text: str) -> bool:
    """Whether a text is no summary: empty, the text of an error or a refusal, or a piece of JSON."""
    return not _LETTER.search(text) or text.lstrip()[:1] in "{[" or _ERROR.match(text) is not None


def says_nothing(text: str) -> bool:
    """Whether a value or a statement is only a word for there being none."""
    return _NOTHING.fullmatch(text) is not None


def stated(name: str, value: str, said: Sequence[tuple[str, int]]) -> bool:
    """Whether a profile field's value stands in what was said: texts, each with the year it was said in.

    Only the speaker's own words count: quotes, code and pasted text are left out. A name must stand there word for
    word; a year of birth as a number, or by an age that fits; other values by half of their words at least.
    """
    own = [(words, year) for text, year in said if (words := screen(_ends(text))) is not None]
    texts = [fold(words) for words, _ in own]
    if name == "birth_year":
        return _born(value, own)
    if name == "gender":
        pattern = _GENDER_WORDS.get(GENDERS.get(fold(value), ""))
        return any(pattern.search(text) if pattern else fold(value) in text for text in texts)
    if name == "name":
        return _word_for_word(value, texts)
    wanted = set(terms(value))
    return bool(wanted) and 2 * len(wanted & _terms_of(texts)) >= len(wanted)


def may_be_kept(text: str) -> bool:
    """Whether a line that a model wrote of its own, such as a reason, says anything, and gives nobody orders."""
    return not (says_nothing(text) or no_summary(text) or orders(text))


def span_of(quotes: Sequence[str], text: str) -> tuple[int, int] | None:
    """The [start, end) of the first of these quotes that stands in a text, word for word but for case and spaces."""
    for quote in quotes:
        words = quote.strip(" .,;!?。，；！？").split()
        if len("".join(words)) < _SHORTEST_QUOTE:
            continue
        pattern = r"\s+".join(map(re.escape, words))
        if not has_cjk(quote):
            pattern = rf"(?<!\w){pattern}(?!\w)"
        if found := re.search(pattern, text, re.IGNORECASE):
            return found.span()
    return None


def touches(parts: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether a statement and the texts it rests on share at least one word that carries meaning."""
    return bool({term for part in parts for term in terms(part)} & _terms_of([_ends(text) for text in texts]))


def _ends(text: str) -> str:
    """A long text's beginning and end: more than a model was shown of it."""
    return text if len(text) <= 2 * _READ else f"{text[:_READ]}\n{text[-_READ:]}"


def _terms_of(texts: Sequence[str]) -> set[str]:
    return {term for text in texts for term in terms(text)}


def _word_for_word(value: str, texts: Sequence[str]) -> bool:
    words = [fold(run) for run, _, _ in runs(value)]
    heard = {fold(run).removesuffix("'s") for text in texts for run, _, _ in runs(text)}
    return bool(words) and all(
        any(word in text for text in texts) if has_cjk(word) else word.removesuffix("'s") in heard for word in words
    )


def _born(value: str, own: Sequence[tuple[str, int]]) -> bool:
    if not _YEAR.fullmatch(value):
        return False
    ages = [year - int(found) for text, year in own for found in _NUMBER.findall(text)]
    return any(value in text for text, _ in own) or any(0 <= born - int(value) <= 1 for born in ages)
