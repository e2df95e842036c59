"""Languages, likes and dislikes, games, collections."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.en.facts.nouns import NP_FIRST_DENIED, read_noun_phrase
from embermem.languages.en.facts.phrases import ADV, ANY_MORE, IM, read_group, rule
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
    found = read_noun_phrase(sentence, pos, first="any")
    if found is None or found[0].lower().split()[0] in NP_FIRST_DENIED - {
        "a",
        "an",
        "the",
        "all",
        "going",
        "having",
        "things",
    }:
        return None
    return found


def _read_preferred(sentence: str, pos: int) -> Value | None:
    match = re.compile(r"to (?!be\b|think\b|say\b|have\b|not\b|do\b|see\b)[a-z]").match(sentence, pos)
    found = read_noun_phrase(sentence, pos, first="to" if match else None)
    return found


ENDED: Final = (
    rule("likes", rf"[Ii] (?:no longer {ADV}|don't {ADV})(?:like|love|enjoy) (?=[^.,;!?]{{2,60}}\b(?:anymore|any more|any longer))", read_noun_phrase, retracts=True),
    rule("likes", r"[Ii] no longer (?:like|love|enjoy) ", read_noun_phrase, retracts=True),
    rule("plays", rf"[Ii] (?:no longer play |don't play (?={ANY_MORE}))", read_group(_SKILLS), retracts=True),
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
    rule("prefers", rf"[Ii] {ADV}prefer ", _read_preferred),
    rule("dislikes", rf"[Ii] {ADV}(?:hate|dislike|detest|loathe|despise|can't stand|cannot stand|can't bear) ", read_noun_phrase),
    rule("dislikes", rf"[Ii] {ADV}(?:don't|do not) (?:really )?(?:like|enjoy) ", read_noun_phrase),
    rule("dislikes", r"(?:[Ii]'m|[Ii] am) not (?:a (?:big |huge )?fan of|fond of|into) ", read_noun_phrase),
    rule("likes", IM + r"(?:a (?:big |huge |massive )?fan of|fond of|into|keen on|passionate about|crazy about) ", read_noun_phrase),
    rule("likes", rf"[Ii] {ADV}(?:like|love|enjoy|adore) ", read_noun_phrase),
    rule("plays", rf"(?:[Ii]|[Ii] can) {ADV}play ", read_group(_SKILLS)),
    rule("plays", r"[Ii]'ve (?:been playing |played (?=the ))", read_group(_SKILLS)),
    rule("collects", rf"[Ii] {ADV}collect ", read_noun_phrase),
    rule("drives", rf"[Ii] {ADV}drive (?=an? )", read_group(regex(r"an? (?:[a-z0-9]+ ){0,2}[A-Z][\w-]+(?: [A-Z\d][\w-]*)?"))),
)  # fmt: skip
