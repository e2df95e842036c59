"""Hides from the readers of statements what the speaker did not say of themselves: quotes, code, pasted text.

Everything hidden is replaced by one private character each, so that positions stay true.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re

from embermem import languages
from embermem.core.patterns import regex

HIDDEN = "\ue000"

_FENCE = regex(r"```[^`]*(?:```|\Z)|`[^`\n]{1,400}`|~~~[^~]*(?:~~~|\Z)")
_LINE = regex(r"^[ \t]*(?:>|[-*•·▪●]\s|\d{1,3}[.)、]\s|#|\||♪|🎵|🎶).*$|^.*[♪♫🎵🎶].*$", re.MULTILINE)
_QUOTES = regex(r"“[^”\n]*(?:”|$)|\"[^\"\n]*(?:\"|$)|«[^»\n]*(?:»|$)|„[^“”\n]*(?:[“”]|$)|「[^」\n]*(?:」|$)"
                     r"|『[^』\n]*(?:』|$)|(?<![^\s(])['‘][^'’\n]{1,300}(?:['’](?=[\s.,;:!?)]|$))", re.MULTILINE)  # fmt: skip
_PERSON = languages.either(lambda one: one.screening.quoted_speaker)
_TRANSCRIPT = regex(r"^[ \t]*[^\s:：,.]{1,20}(?: [^\s:：,.]{1,20})?[:：]\s?\S", re.MULTILINE)
_TIMED_TURN = regex(r"^[ \t]*[^\s\d][^\n:：]{1,40}?[ \t][(\[]?\d{1,2}:\d\d(?::\d\d)?[)\]]?[ \t]*$", re.MULTILINE)
_ALIKE = regex(r"^([^\W\d_]{4,}) .*(?:\n\1 .*)+$", re.MULTILINE)
"""Neighbouring lines that begin with the same word: what a program printed."""
_ASSIGNS = regex(r"^\s*\w+\s*=\s*[\"'\d\[{]|^\s*\w+:[^\n]*\n\s*\w+: ", re.MULTILINE)
"""Settings and code without a fence: `name = "Ann"`, lines of keys with values."""
_WHOLE = languages.finder(lambda one: one.screening.whole)
_FROM_HERE = languages.finder(lambda one: one.screening.from_here)
_LINE_CHARS = 25
_LINES = 4
"""Fewer lines, or shorter ones, say nothing of how a text came about."""
_MARKUP = regex(r"</\w|<(?:html|div|p|span|script|br|a|b|i|li|ul|body)\b", re.IGNORECASE)


def screen(text: str) -> str | None:
    """The text with quotes, code, quoted lines, lists and what follows a call for fiction hidden.

    None if nothing in it can be taken as the speaker's own word (a text to translate, a letter, a transcript, markup).
    The result is as long as the text.
    """
    if _WHOLE(text) or _MARKUP.search(text) or _ASSIGNS.search(text) or _is_wrapped(text):
        return None
    if "\n" in text and (len(_TRANSCRIPT.findall(text)) >= 2 or len(_TIMED_TURN.findall(text)) >= 2):
        return None
    text = text.replace("’", "'")
    if "`" in text or "~~~" in text:
        text = _FENCE.sub(_hide, text)
    text = _LINE.sub(_hide, text)
    text = _ALIKE.sub(_hide, text)
    text = _QUOTES.sub(_hide_speech, text)
    here = _FROM_HERE(text)
    return text if here is None else text[: here.start()] + HIDDEN * (len(text) - here.start())


def _is_wrapped(text: str) -> bool:
    """Whether lines break within sentences: pasted, or written as a document."""
    lines = [line for line in map(str.rstrip, text.split("\n")) if len(line) >= _LINE_CHARS]
    return len(lines) >= _LINES and 2 * sum(line[-1].isalnum() or line[-1] == "," for line in lines) >= len(lines)


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
