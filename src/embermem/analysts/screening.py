"""Hides from the readers of statements what the speaker did not say of themselves: quotes, code, pasted text.

Everything hidden is replaced by one private character each, so that positions stay true.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re

HIDDEN = "\ue000"

_FENCE = re.compile(r"```[^`]*(?:```|\Z)|`[^`\n]{1,400}`|~~~[^~]*(?:~~~|\Z)")
_LINE = re.compile(r"^[ \t]*(?:>|[-*•·▪●]\s|\d{1,3}[.)、]\s|#|\||♪|🎵|🎶).*$|^.*[♪♫🎵🎶].*$", re.MULTILINE)
_QUOTES = re.compile(r"“[^”\n]*(?:”|$)|\"[^\"\n]*(?:\"|$)|«[^»\n]*(?:»|$)|„[^“”\n]*(?:[“”]|$)|「[^」\n]*(?:」|$)"
                     r"|『[^』\n]*(?:』|$)|(?<![^\s(])['‘][^'’\n]{1,300}(?:['’](?=[\s.,;:!?)]|$))", re.MULTILINE)  # fmt: skip
_PERSON = re.compile(r"\b(?:i|i['’]?m|my|me|we|our|mine)\b|我|咱", re.IGNORECASE)
_TRANSCRIPT = re.compile(r"^[ \t]*[^\s:：,.]{1,20}(?: [^\s:：,.]{1,20})?[:：]\s?\S", re.MULTILINE)
_WHOLE = re.compile(
    r"\.\s*not[.!]|\b(?:translat(?!ors?\b)|proofread|paraphras|rephras|rewrit|role-?\s?play|lyric|just kidding|i'?m kidding|only joking"
    r"|i'?m joking|i am joking|april fool|in character|stay in role|correct (?:this|my|the)"
    r"|(?:check|fix|improve) (?:this|my|the) (?:grammar|sentence|text|english|paragraph|email|essay)|summari[sz]e (?:this|the)"
    r"|grammar of|(?:is|are) (?:this|that|the following|my|these) (?:\w+ )?(?:sentence|phrase|grammar|wording|english|paragraph|text)s?\b"
    r"|does (?:this|the following) (?:\w+ )?(?:sentence|phrase|sound|read)|which (?:sentence|phrase) is|example sentences?|how (?:do|would|can) (?:you|i) say|dear (?:sir|madam|hiring|[A-Z]\w+,)|sincerely|(?:best|kind|warm) regards"
    r"|yours (?:truly|faithfully)|cover letter|once upon a time|for my (?:novel|story|character)|my character)"
    r"|翻译|润色|改写|歌词|角色扮演|开玩笑|骗你的|造句|这句话|语法|此致|敬礼|尊敬的|扮演|台词|人设|小说|剧本|自我介绍模板",
    re.IGNORECASE,
)
_FROM_HERE = re.compile(
    r"\b(?:pretend|imagine|suppose|let'?s say|act as|you are now|(?:write|draft|compose|generate|create|make up) (?:me |us )?"
    r"(?:an?|the|some|my) (?:\w+ ){0,2}(?:story|poem|song|essay|letter|e-?mail|bio|speech|text|message|script|dialogue|post|tweet"
    r"|introduction|paragraph|rap|joke|review|profile|note|caption|monologue)|(?:the|this) following|quote:|here(?:'s| is) (?:a|an|the|what)"
    r" (?:\w+ ){0,2}(?:text|poem|story|letter|e-?mail|quote|essay|he|she|they|wrote|message|post))"
    r"|假装|想象一下|假设|假如|写一(?:篇|首|段|封|个)|帮我写|下面(?:这|是)|以下(?:是|内容|文字)|原文|引用|故事",
    re.IGNORECASE,
)  # fmt: skip
_MARKUP = re.compile(r"</\w|<(?:html|div|p|span|script|br|a|b|i|li|ul|body)\b", re.IGNORECASE)


def screen(text: str) -> str | None:
    """The text with quotes, code, quoted lines, lists and what follows a call for fiction hidden.

    None if nothing in it can be taken as the speaker's own word (a text to translate, a letter, a transcript, markup).
    The result is as long as the text.
    """
    if _WHOLE.search(text) or _MARKUP.search(text):
        return None
    if "\n" in text and len(_TRANSCRIPT.findall(text)) >= 2:
        return None
    text = text.replace("’", "'")
    if "`" in text or "~~~" in text:
        text = _FENCE.sub(_hide, text)
    text = _LINE.sub(_hide, text)
    text = _QUOTES.sub(_hide_speech, text)
    here = _FROM_HERE.search(text)
    return text if here is None else text[: here.start()] + HIDDEN * (len(text) - here.start())


def _hide(match: re.Match[str]) -> str:
    return HIDDEN * len(match.group())


def _hide_speech(match: re.Match[str]) -> str:
    """A short title in quotes stays readable; a quoted sentence or anything in the first person is hidden."""
    quoted = match.group()
    if (
        len(quoted) <= 50
        and quoted.count(" ") <= 6
        and not _PERSON.search(quoted)
        and not re.search(r"[.!?。！？]", quoted)
    ):
        return quoted
    return HIDDEN * len(quoted)
