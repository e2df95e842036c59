"""Languages, likes and dislikes, games, collections."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.en.clauses.times import timed
from embermem.languages.en.facts.goals import lasting
from embermem.languages.en.facts.nouns import read_doing, read_infinitive, read_noun_phrase
from embermem.languages.en.facts.phrases import ADV, ANY_MORE, I_OR_WE, IM, IVE, read_group, rule
from embermem.languages.en.verbs import gerund, third, verb
from embermem.languages.facts.rules import Value

_LANGUAGES = regex(
    r"(?:(?:fluent|some|a little|a bit of|basic|native|good|conversational) )?(?:English|French|German|Spanish|Italian|Portuguese|Mandarin|Cantonese|Chinese|Japanese|Korean|Russian|Arabic|Hindi|Turkish|Dutch|Swedish|Norwegian|Danish|Finnish|Polish|Czech|Greek|Hebrew|Vietnamese|Thai|Hungarian|Romanian|Ukrainian|Urdu|Bengali|Tamil|Swahili|Persian|Farsi|Catalan|Irish|Welsh|Latin|ASL|sign language)\b"
)
_LANGUAGE_LIST = regex(
    rf"{_LANGUAGES.pattern}(?:(?:, |,? and ){_LANGUAGES.pattern}){{0,4}}(?! (?:teacher|tutor|class|food|course|homework|cuisine|culture|history))",
    re.IGNORECASE,
)
_SKILLS = regex(
    r"(?:the )?(?:piano|violin|guitar|bass guitar|bass|cello|drums|flute|ukulele|saxophone|trumpet|clarinet|harp|harmonica|chess|tennis|football|soccer|basketball|baseball|volleyball|badminton|cricket|rugby|golf|hockey|table tennis|squash|video games|board games|Minecraft|poker|ping pong)\b(?:(?:,| and) (?:the )?(?:piano|violin|guitar|drums|chess|tennis|basketball|football|soccer)\b)?(?! (?:role|part|card|music))"
)
_KINDS = "color|colour|food|movie|film|book|song|band|singer|author|season|sport|animal|dish|game|city|fruit|drink|flower|subject|country|dessert|team|artist|genre|composer|painter|cuisine|hobby|show|tv show|ice cream|instrument|holiday"
_FAVORITE = rf"(?:(?:all[- ]time )?(?P<thing>{_KINDS})) (?:is|has always been|has to be) (?:called |probably )?"


def _read_learnt(sentence: str, pos: int) -> Value | None:
    for pattern in (_LANGUAGE_LIST, _SKILLS):
        match = pattern.match(sentence, pos)
        if match is not None:
            return match.group(), match.end()
    return None


def _read_favorite(sentence: str, pos: int) -> Value | None:
    return None if sentence.startswith("to ", pos) else read_noun_phrase(sentence, pos)


def _read_preferred(sentence: str, pos: int) -> Value | None:
    match = _TO.match(sentence, pos)
    if match is None or match.end() == pos:
        return read_noun_phrase(sentence, pos)
    read = read_infinitive if "to " in match.group() else read_noun_phrase
    found = read(sentence, match.end())
    return None if found is None else (match.group() + _THAN.sub(" rather than ", found[0], count=1), found[1])


def _read_rather(sentence: str, pos: int) -> Value | None:
    """What somebody would rather do always: it says than what, or what not. Anything else may be a wish of the moment."""
    no = "not " if sentence.startswith("not ", pos) else ""
    found = read_infinitive(sentence, pos + len(no))
    if found is None or not (no or _THAN.search(found[0])):
        return None
    return f"{no}to {_THAN.sub(' rather than ', found[0], count=1)}", found[1]


def _read_refused(sentence: str, pos: int) -> Value | None:
    found = read_doing(sentence, pos) if lasting(sentence[pos:]) else None
    return None if found is None or timed(sentence[pos : found[1]], _ANY_DAY) else found


def _read_only(sentence: str, pos: int) -> Value | None:
    found, known = read_doing(sentence, pos), verb(sentence[pos:].split(" ")[0].lower())
    if found is None or known is None:
        return None
    said = re.search(r"only (?:ever )?$", sentence[:pos])
    return f"{said[0] if said else ''}{third(known.base)}{found[0].removeprefix(gerund(known.base))}", found[1]


def _read_none_of(sentence: str, pos: int) -> Value | None:
    found = read_noun_phrase(sentence, pos)
    if found is None or not _EVER.match(sentence, found[1]):
        return None
    return f"anything with {found[0]}", found[1]


def _read_subject(sentence: str, pos: int) -> Value | None:
    """What somebody says is not for them: "Camping is not for me"."""
    match = NOT_FOR_ME.match(sentence, pos)
    found = None if match is None else read_noun_phrase(sentence[: match.end("v")], pos)
    if match is None or found is None or found[1] != match.end("v"):
        return None
    value = found[0]
    return (value[:1].lower() + value[1:] if value[1:].islower() and pos == 0 else value), match.end()


_THAN = regex(
    rf"{''.join(f'(?<!{end})' for end in 'more less other rather later lier nger tter eaper gher ller gger lder ewer aster'.split())} than "
)
_TO = regex(r"(?:not )?(?:to )?(?:not )?")
_HABITS = r"(?:eat|drink|wear|fly|stay|use|take|watch|read|buy|touch|travel|visit|set foot|sit|sleep|share|drive|ride|order|listen|play|support|date|rent|book|live|shop|work|swim|smoke|cook|go to|go on|go near)\b(?! (?:the|that|this|it)\b)"
_EVER = regex(r",? ever\b")
NOT_FOR_ME = regex(
    r"(?P<v>[^\s,.;:!?()][^,.;:!?()]{2,60}?) (?:is|are)(?:n'?t| not| so not| really not)(?: really| just)? (?:for me|my thing|my cup of tea)(?= at all\b| honestly\b| really\b| tbh\b| and\b| but\b|\s*(?:[.,;!]|$))"
)
_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_HARD = r"(?:(?!(?:hard|bare|near|probab|possib|rare)ly)\w+ly |always |just |also |so |very |too |still |do |much |far |quite |pretty |kinda |sorta ){0,2}"
_NOT = r"(?:[Dd]on'?t|do not)"
_WILL_NOT = r"(?:will (?:not|never)|won'?t|would never|never ever)"
_NO = r"(?:absolutely |really )?(?:no|zero|little)"
_MUCH = r"(?:an? )?(?:real |huge |big |bad |strong |deep |terrible |bit of a |massive )*"
_HAVE = rf"(?:[Ii]|[Ww]e|[Ii]'?ve|[Ww]e'?ve) {_HARD}(?:have |got |have got |'ve got )?"
_AM = rf"(?:(?:[Ii]'?m|[Ii] am|[Ww]e are|[Ww]e're) {_HARD})"
_FAN = r"(?:a (?:big |huge |massive |great |real )?fan of|fond of|keen on|big on|interested in|into|crazy about|mad about|obsessed w(?:ith)?)"

ENDED: Final = (
    rule("likes", rf"[Ii] (?:no longer {ADV}|don't {ADV})(?:like|love|enjoy) (?=[^.,;!?]{{2,60}}\b(?:anymore|any more|any longer))", read_noun_phrase, retracts=True),
    rule("likes", r"[Ii] no longer (?:like|love|enjoy) ", read_noun_phrase, retracts=True),
    rule("plays", rf"[Ii] (?:no longer play |don't play (?={ANY_MORE}))", read_group(_SKILLS), retracts=True),
    rule("likes", rf"{_AM}(?:no longer {_FAN} |not {_FAN} (?={ANY_MORE}))", read_noun_phrase, retracts=True),
    rule("avoids", r"[Ii] no longer avoid ", read_noun_phrase, retracts=True),
    rule("dislikes", r"[Ii] no longer (?:hate|dislike) ", read_noun_phrase, retracts=True),
    rule("dislikes", rf"[Ii] don't (?:hate|dislike) (?={ANY_MORE})", read_noun_phrase, retracts=True),
)  # fmt: skip
RULES: Final = (
    rule("native_language", r"[Mm]y (?:native|first) language is |[Mm]y mother tongue is ", read_group(_LANGUAGES)),
    rule("native_language", IM + r"a native ", read_group(regex(r"(\w+)(?= speaker\b)"), 1)),
    rule("speaks", rf"(?:[Ii]|[Ii] can) {ADV}speak ", read_group(_LANGUAGE_LIST)),
    rule("speaks", IM + r"fluent in ", read_group(_LANGUAGE_LIST)),
    rule("learns", rf"(?:[Ii]'m|[Ii] am|[Ii]'ve been) {ADV}(?:learning|studying) (?:to (?:speak|play) |how to play )?", _read_learnt),
    rule("favorite_", rf"[Mm]y favou?rite {_FAVORITE}", _read_favorite),
    rule("hobby", r"[Mm]y (?:main |favou?rite |biggest )?hobb(?:y is|ies are|ies include) ", read_noun_phrase),
    rule("prefers", rf"(?:{I_OR_WE}|[Ii]'?d |[Ii] would )?{_HARD}[Pp]refer ", _read_preferred),
    rule("prefers", rf"(?:[Ii]'?d|[Ii] would) {_HARD}(?:much )?rather ", _read_rather),
    rule("dislikes", rf"(?:{I_OR_WE})?{_HARD}(?:(?:[Hh]ate|dislike|detest|loathe|despise) |[Cc](?:an'?t|annot) (?:stand|bear|be doing with) )+", read_noun_phrase),
    rule("dislikes", rf"(?:{I_OR_WE})?{_HARD}{_NOT} (?:really )?(?:like|enjoy|love|care for) ", read_noun_phrase),
    rule("dislikes", rf"(?:{_AM}not|[Nn]ot) {_HARD}{_FAN} ", read_noun_phrase),
    rule("dislikes", rf"(?:{_AM}|(?=[SsTtFf]))(?:[Ss]ick(?: and tired)?|[Tt]ired|[Ff]ed up) (?:of|with) (?!discussing|talking|repeating|explaining|asking|waiting|trying|being)", read_noun_phrase),
    rule("dislikes", rf"(?:{_HAVE})?(?:{_NO} (?:interest in|patience for|time for|use for|love for|desire(?= to))|{_MUCH}(?:aversion to|dislike of|dislike for|hatred of)) ", read_noun_phrase),
    rule("dislikes", r"(?=.{3,62} (?:is|are))", _read_subject),
    rule("avoids", rf"(?:{I_OR_WE}|[Ii]'?d ){_HARD}{_WILL_NOT} (?={_HABITS})", _read_refused),
    rule("avoids", rf"{I_OR_WE}{_HARD}refuse to (?!believe|accept|give|be |let|apologi|answer|comment|admit|say|think)", _read_refused),
    rule("dislikes", rf"(?:{IVE}|[Ii] |(?=[Nn]))[Nn]ever (?:really )?(?:liked|enjoyed|cared for|been {_FAN}) ", read_noun_phrase),
    rule("dislikes", rf"{IVE}{_HARD}(?:hated|disliked) ", read_noun_phrase),
    rule("likes", rf"{IVE}always (?:loved|liked|enjoyed|been {_FAN}) ", read_noun_phrase),
    rule("avoids", rf"{I_OR_WE}{_HARD}(?:{_NOT}|won'?t|will not) do ", read_noun_phrase),
    rule("avoids", r"[Nn]othing with ", _read_none_of),
    rule("does", rf"{I_OR_WE}(?:only ever |only (?={_HABITS}))", _read_only),
    rule("likes", rf"{_AM}(?:{_FAN}|passionate about) ", read_noun_phrase),
    rule("likes", rf"{_HAVE}{_MUCH}(?:soft spot for|thing for|weakness for|passion for|love for|love of) ", read_noun_phrase),
    rule("likes", rf"{I_OR_WE}{_HARD}(?:(?:like|love|luv|enjoy|adore|cherish|treasure) )+", read_noun_phrase),
    rule("plays", rf"(?:[Ii]|[Ii] can) {ADV}play ", read_group(_SKILLS)),
    rule("plays", r"[Ii]'ve (?:been playing |played (?=the ))", read_group(_SKILLS)),
    rule("collects", rf"[Ii] {ADV}collect ", read_noun_phrase),
    rule("drives", rf"[Ii] {ADV}drive (?=an? )", read_group(regex(r"an? (?:[a-z0-9]+ ){0,2}[A-Z][\w-]+(?: [A-Z\d][\w-]*)?"))),
)  # fmt: skip
