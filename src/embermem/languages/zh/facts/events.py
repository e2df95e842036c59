"""Events, habits and plans: clauses whose verb stands in the table of frames."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import NamedTuple

from embermem.core.patterns import regex
from embermem.languages.facts.finding import When
from embermem.languages.zh.facts.checks import begins_with_noun
from embermem.languages.zh.facts.frames import EMPTY, FRAMES, Frame
from embermem.languages.zh.facts.phrases import COMPANY, FAMILY, FULL_KIN, TIME
from embermem.languages.zh.facts.times import past, planned, times

_LONGEST = 24
"""Characters of a value."""
_OFTEN = r"(?:(?:每|隔)(?:天|周|个?月|年|晚|个?星期|个?周末|逢|次)(?:[一二三四五六日天])?(?:和[周星期]*[一二三四五六日天])?(?:[早晚上中下][上午晨])?(?:都|会)?(?:要)?|天天|经常|常常|常去|平时(?:都|会)?|一般(?:都|会)?|通常(?:都|会)?|总是|老是|一有空就|有空就|周末(?:一般|经常|常|都|总)(?:都|会)?|偶尔)"
_DAY_PART = "(?:起床|下班后?|放学后?|睡前|饭后|下课后?)"
_PLAN = r"(?:打算|计划|准备|决定(?:了)?|约好了?|说好了?)(?:要|在|好了?)?"
_WILL = r"(?:要|会|想|得|将)(?:要|在)?"
_WITHOUT_MEANING = r"(?:也|都|就|还|又|已经|刚刚?|刚才|终于|总算|其实|最近|现在|目前|正式|一起|专门|自己|主要|顺便|顺利|成功|特意|首次|后来|便|竟然|居然|突然|只|第一次|在你们[^，买订预]{0,6}|好不容易|一个人|当|(?:之前|前))"
_HERE = r"(?:去(?![了过年世])|在|从|坐|开车|自驾|骑车|坐高铁|坐飞机|把|用|为了?|因为)(?!我|你|他|她|家$)[^，的了我你他她]{0,10}?(?:上|里|那边)?+"
_VERB = "|".join(frame.verbs for frame in FRAMES)
_AT_VERB = regex(_VERB)
_ELEMENT = regex(
    rf"(?P<time>{_OFTEN}|{TIME}的?|{_DAY_PART})|{_PLAN}|{_WITHOUT_MEANING}"
    rf"|(?P<told>(?:{COMPANY}|{_HERE})(?={_OFTEN}|{TIME}|{_PLAN}|{_WITHOUT_MEANING}|{_WILL}|[在从]|{_VERB}))|{_WILL}"
)
"""What stands before the verb; whom and where up to the first verb or other such element."""
_MOST_ELEMENTS = 8
_OFTEN_FOUND, _PLAN_FOUND, _WILL_FOUND = regex(_OFTEN), regex(_PLAN), regex(_WILL)
_TODAY = regex(r"今晚|今早|待会|一会儿|马上|这就|等下|刚才|今天(?=.*(?:吃|喝|看|玩))")
_OPENING = regex(f"{TIME}|{_OFTEN}|{_WITHOUT_MEANING}")
_DAYTIME = regex("早上|早晨|上午|中午|下午|晚上|周末|睡前")
_JUST = regex("刚|终于|总算")
_PARTICLES = regex(r"(?:啦|呀|哦|啊|呢|哈|嘛|吧|~|～|的)+$")
_MY_KIN = regex(rf"我(?:的|们家|家)?(?P<kin>{FAMILY})")
_DENIED = regex(r"[没未别]|不(?!锈|倒)|差点|可能|也许|应该|好像|想不想|要不")


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A clause: `body` is what follows the subject, `text` all of it. With `needs_time`, it is read only where it begins
    with a time or with how often: a clause without a subject is of the speaker only so. `goes_on_habit`: the clause
    before told of a habit."""

    body: str
    text: str
    at: datetime
    needs_time: bool
    goes_on_habit: bool


@dataclass(frozen=True, slots=True)
class Event:
    """What a clause with a verb of the table says."""

    attribute: str
    value: str
    when: When | None
    until: datetime | None
    timed: bool
    """Whether the clause names a time or how often."""
    retracts: bool = False


def tells_of_a_thing(body: str) -> bool:
    """Whether what follows 我 is a noun: 我同桌考了第一名, 我手机坏了. The clause is not of the speaker."""
    is_known = _AT_VERB.match(body) is not None or _ELEMENT.match(body) is not None
    return not is_known and begins_with_noun(body[:5])


def events(said: Said) -> Iterator[Event]:
    """What a clause says after its subject."""
    if said.text.endswith("吧"):
        return
    body = _PARTICLES.sub("", said.body)
    for opening in reversed(_openings(body)):
        before = body[: opening.end]
        if _DENIED.search(before) or (said.needs_time and _OPENING.match(before) is None):
            continue
        for frame, pattern in _patterns():
            match = pattern.fullmatch(body, opening.end)
            event = None if match is None else _event(frame, match, opening, said)
            if event is None:
                continue
            yield event
            if event.attribute == "did" and re.search("终于|总算", before):
                yield Event("plans", event.value.replace("了", "", 1), None, None, event.timed, retracts=True)
            return


class _Opening(NamedTuple):
    """What stands before a verb at `end`: `told` is what belongs to an event (with whom, where), `all_of_it` what
    belongs to a habit (when and how often, too)."""

    end: int
    told: str
    all_of_it: str


def _openings(body: str) -> list[_Opening]:
    """Where a verb of the table stands after nothing but times, adverbs, company and places."""
    found, start, told, all_of_it = [], 0, "", ""
    for _ in range(_MOST_ELEMENTS):
        if _AT_VERB.match(body, start):
            found.append(_Opening(start, told, all_of_it))
        element = _ELEMENT.match(body, start)
        if element is None or element.end() == start:
            break
        start = element.end()
        told += element["told"] or ""
        all_of_it += element["told"] or element["time"] or ""
    return found


@cache
def _patterns() -> tuple[tuple[Frame, re.Pattern[str]], ...]:
    return tuple((frame, re.compile(frame.pattern() + "(?P<le>了)?")) for frame in FRAMES)


def _event(frame: Frame, match: re.Match[str], opening: _Opening, said: Said) -> Event | None:
    before, thing = match.string[: match.start()], match["object"]
    if EMPTY.search(thing) or _TODAY.search(before):
        return None
    done = match["aspect"] is not None or "了" in match.group()
    if _OFTEN_FOUND.search(before) or (said.goes_on_habit and not done and _DAYTIME.match(before)):
        value = _value(opening.all_of_it + match.group())
        return Event(frame.habit, value, None, None, True) if frame.habit and not done and _fits(value) else None
    named = times(said.text, said.at)
    if _PLAN_FOUND.search(before) or _WILL_FOUND.search(before) or (named and named.first > said.at.date()):
        return _plan(frame, match, opening, said)
    when = past(said.text, said.at)
    is_past = done or _JUST.search(before) or (frame.bare and when is not None)
    if not frame.done or not is_past or (when is None and (frame.dated or named is not None)):
        return None
    value = thing if frame.done == "owns" else _value(opening.told + match.group())
    if frame.done == "did" and re.search("[了过完]", value) is None:
        value += "了"
    return Event(frame.done, value, when, None, when is not None) if _fits(value) else None


def _plan(frame: Frame, match: re.Match[str], opening: _Opening, said: Said) -> Event | None:
    """A plan is told as one, or has a day to come: what somebody "wants" without either is a wish of the moment."""
    before = match.string[: match.start()]
    found, named = planned(said.text, said.at), times(said.text, said.at)
    if (
        not frame.planned
        or (match["aspect"] in ("了", "完了", "过了") and match["object"])
        or (named is not None and found is None)
    ):
        return None
    if found is None and _PLAN_FOUND.search(before) is None:
        return None
    value = re.sub("了$", "", _value(opening.told + match.group()))
    if not _fits(value):
        return None
    return Event("plans", value, None if found is None else found[0], None if found is None else found[1], True)


def _value(text: str) -> str:
    """What is told, with 自己的 for 我的."""
    value = (
        _MY_KIN.sub(lambda match: FULL_KIN.get(match["kin"], match["kin"]), text)
        .replace("我的", "自己的")
        .replace("让我", "让自己")
    )
    return _PARTICLES.sub("", value)


def _fits(value: str) -> bool:
    return 2 <= len(value) <= _LONGEST and "我" not in value and not EMPTY.search(value)
