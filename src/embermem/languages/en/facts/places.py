"""Where one lives, comes from, and has been."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.en.facts.phrases import ADV, CAP, I_OR_WE, IM, IVE, clause_rest, rule
from embermem.languages.facts.rules import Value
from embermem.languages.language import words_of

_AWAY = regex(
    r"\b(?:and|but|before|then)(?: i| we)?(?: later| then| soon| have since|'ve since| eventually)? "
    r"(?:left\b(?! (?:my|the|our|an?|some|behind)\b)|(?:moved|moving) (?:to|on|away|out|again)\b|returned|returning|(?:came|went|going|coming|moved)? ?back\b|(?:go|come|move) back\b)"
    r"|\b(?:until|till|otherwise|temporarily|briefly|part of the year|half (?:of )?the (?:year|time)|most of the (?:year|time)|on (?:weekends|weekdays)|during the (?:week|summer|winter))\b"
    r"|\b(?:summers?|winters?|season|weekends?|week|year|time|moment|now) only\b|^ only\b",
    re.IGNORECASE,
)
_STAY = regex(
    r"(?:^|\s)(?:just )?for (?:only |just |about |almost )?(?:an?|one|two|three|four|five|six|\d+|a few|a couple of|the|some|several) (?:\w+ )?"
    r"(?:days?|weeks?|months?|years?|weekends?|summer|winter|spring|autumn|semester|term|season|holidays?|while|bit)\b(?! now| already| so far)",
    re.IGNORECASE,
)
_IN_SEASON = regex(r"^ in (?:the )?(?:summers?|winters?)\b", re.IGNORECASE)
_PLACE = regex(
    rf"(?:the )?{CAP}(?:(?: (?:of|de|la|le|upon|and|on|du|del|al|the|&))? {CAP}){{0,4}}(?:, {CAP}(?: {CAP})?)?"
)
_LOWER_PLACE = regex(r"[a-z]+(?: [a-z]+)?")
NO_PLACE = frozenset(
    """mars venus january february march april may june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday christmas easter halloween i i'm i've i'll i'd my hell heaven god peace fear love windows english french german
    spanish italian chinese japanese russian aunt uncle mom mum dad grandma grandpa dr mr mrs ms the therapy church no yes it he she
    they we you and but so because this that there here thanks oh well prison bed denial town""".split()
)
_CAMEL = regex(r"[a-z][A-Z]")
_INITIALS = frozenset("UK US USA UAE NYC LA DC SF".split())
_FROM_PLACE = regex(rf"\s+from ({CAP}(?: {CAP})?)")
_CAME_FROM = regex(r"\bfrom ([A-Z][\w-]+(?: [A-Z][\w-]+)?) to $")
_HOMELY = regex(
    r"\b(?:city|town|village|apartment|flat|house|neighbou?rhood|rent|suburbs?|countryside|mortgage|landlord|roommates?)\b"
    r"|\bwith my (?:\w+ )?(?:family|wife|husband|kids|parents|partner|boyfriend|girlfriend|mom|mum|dad|fiancée?)\b"
)
_PARTS = frozenset(
    "north south east west northern southern eastern western central downtown upper lower greater inner".split()
)


def is_short_stay(sentence: str, pos: int, end: int) -> bool:
    """Whether the rest of the sentence says that the home was one for a time only, or is one of two."""
    rest = sentence[end:]
    perfect = re.compile(r"(?:[Ii]|[Ww]e)(?:'ve| have)\b").match(sentence, pos) is not None
    if _AWAY.search(rest) or (_IN_SEASON.match(rest) and "liv" in sentence[pos:end]):
        return True
    return not perfect and _STAY.search(clause_rest(sentence, end)) is not None


def read_place(sentence: str, pos: int) -> Value | None:
    match = _PLACE.match(sentence, pos)
    if match is not None:
        value = match.group()
        if (
            value.startswith("the ")
            and " " not in value[4:]
            and value[4:]
            not in ("UK", "US", "USA", "Netherlands", "Philippines", "Bronx", "Hague", "Bahamas", "Alps", "Louvre")
        ):
            return None
        tokens = [t.strip(",.'").lower() for t in value.removeprefix("the ").split()]
        if tokens[0] in NO_PLACE or len(value) < 2 or "'s" in value or sentence[match.end() : match.end() + 2] == "'s":
            return None
        for i, token in enumerate(tokens[1:], 1):  # "Lyon, May …" and "Paris and I": keep what stands before
            if token in NO_PLACE:
                kept = re.compile(rf"(?:the )?(?:[\w'.&-]+,? ?){{{i}}}").match(value)
                cut = (kept.group() if kept else "").rstrip(" ,")
                cut = re.sub(r" (?:and|of|on|the|al|de|la|le)$", "", cut)
                return (cut, pos + len(cut)) if cut else None
        if " and " in value:
            value = value.partition(" and ")[0] if value.partition(" and ")[2][:1].islower() else value
        following = re.compile(r" ([a-z-]+)").match(sentence, pos + len(value))
        if following and following[1] in (
            "style",
            "time",
            "mode",
            "fashion",
            "fans",
            "movies",
            "songs",
            "music",
            "books",
            "food",
            "people",
            "restaurant",
            "team",
            "jersey",
        ):
            return None
        return value, pos + len(value)
    lower = _LOWER_PLACE.match(sentence, pos)
    if lower is None:
        return None
    for candidate in (lower.group(), lower.group().split()[0]):
        if candidate in words_of("en", "places"):
            return candidate, pos + len(candidate)
    return None


def _read_visited(sentence: str, pos: int) -> Value | None:
    found = read_place(sentence, pos)
    if found is None or re.compile(r"(?: |, )(?:church|Church|Party|party|and (?:I|we|he|she))\b").match(
        sentence, found[1]
    ):
        return None
    head = found[0].split(",")[0].removeprefix("the ").lower()
    known = head in words_of("en", "places") or re.search(
        r"\b(?:park|museum|island|islands|beach|lake|canyon|mountains|castle|city|alps|zoo|louvre|gallery|uk|us|usa|falls|valley|cathedral)$",
        head,
    )
    return found if known else None


def _is_known(value: str) -> bool:
    """Whether the list of places has it, or its end after a comma ("Tarnby, Denmark"), or its beginning ("New York City")."""
    names = words_of("en", "places")
    whole = value.lower().removeprefix("the ").strip()
    head, _, tail = whole.partition(", ")
    if whole in names or head in names or (tail and (tail in names or re.fullmatch(r"[A-Z]{2}", value[-2:]))):
        return True
    first, _, last = head.partition(" ")
    return head.removesuffix(" city") in names or (first in _PARTS and last in names)


def read_home(sentence: str, pos: int) -> Value | None:
    """A place to live in: any name that is not known as something else."""
    found = read_place(sentence, pos)
    if found is None or _is_known(found[0]):
        return found
    first = found[0].removeprefix("the ").split()[0].rstrip(",")
    if first.lower() in words_of("en", "places_not") or found[0].split()[-1] in ("Street", "Avenue"):
        return None
    if _CAMEL.search(re.sub(r"\b(?:Mc|Mac|De|La|Le|Du)(?=[A-Z])", "", found[0])) or (
        first.isupper() and first not in _INITIALS
    ):
        return None
    numbered = re.compile(r" \d+(?! (?:days?|weeks?|months?|years?)\b)").match(sentence, found[1])
    return None if numbered else found


def read_new_home(sentence: str, pos: int) -> Value | None:
    """After "moved to", which is also said of tools, employers and teams: a known place, or one that the sentence vouches for."""
    found = read_home(sentence, pos)
    if found is None or _is_known(found[0]):
        return found
    origin = _FROM_PLACE.match(sentence, found[1]) or _CAME_FROM.search(sentence, 0, pos)
    if (origin and _is_known(origin[1])) or _HOMELY.search(sentence, found[1]):
        return found
    return None


_VISITING = regex(
    r"\b(?:vacation|holidays?|trip|visit(?:ing)?|business|conference|layover|airport|hotel|weekend|tonight|today|travell?ing|tour|hospital|meeting|for (?:a|the|two|three|\d) )",
    re.IGNORECASE,
)


def _read_present_home(sentence: str, pos: int) -> Value | None:
    """ "Now I'm in Berlin": a known place, where nothing speaks of a stay."""
    found = read_home(sentence, pos)
    return found if found and _is_known(found[0]) and not _VISITING.search(sentence) else None


ENDED: Final = (
    rule("lives_in", rf"[Ii] {ADV}(?:no longer live|don't live|do not live) in ", read_place, retracts=True),
    rule("lives_in", rf"[Ii]'m {ADV}(?:no longer|not) living in ", read_place, retracts=True),
    rule("lives_in", rf"(?:[Ii]|[Ww]e) {ADV}moved (?:away from|out of) ", read_place, retracts=True),
    rule("lives_in", r"[Ii] used to live in ", read_place, retracts=True),
)  # fmt: skip
RULES: Final = (
    rule("lives_in", I_OR_WE + r"(?:live|reside) in (?:downtown |central |the city of |northern |southern )?", read_home),
    rule("lives_in", rf"(?:[Ii]'m|[Ii] am|[Ww]e're) {ADV}(?:living|based|residing) in ", read_home),
    rule("lives_in", IVE + r"(?:lived|been living) in ", read_home),
    rule("lives_in", IVE + r"moved to ", read_new_home),
    rule("lives_in", I_OR_WE + r"(?:moved|relocated) (?:back |over |here )?(?:from [A-Z]\w+(?: [A-Z]\w+)? )?to ", read_new_home),
    rule("lives_in", I_OR_WE + r"(?:live|moved|relocated) (?:in|to|into) (?:an?|the|our) (?:\w+ )?(?:flat|apartment|house|place|town|village|city|suburb|neighbou?rhood|cottage|condo|studio) (?:in|of|called) ", read_home),
    rule("lives_in", r"(?:(?<=[Nn]ow )|(?<=[Nn]ow, ))(?:[Ii]'m|[Ii] am|[Ww]e're) in ", _read_present_home),
    rule("lives_in", r"(?:[Ii]'m|[Ii] am|[Ww]e're) (?:back )?in (?=[^.,;!?]{2,30} now\b)", _read_present_home),
    rule("comes_from", IM + r"from ", read_home),
    rule("comes_from", I_OR_WE + r"(?:come|hail) from ", read_place),
    rule("comes_from", r"[Mm]y home ?town is ", read_place),
    rule("visited", I_OR_WE + r"(?:visited|went to|travell?ed to|flew to|(?:just )?(?:got|came) back from (?:a (?:\w+ )?(?:trip|vacation|holiday) (?:to|in) )?|took a trip to) ?", _read_visited),
    rule("visited", IVE + r"(?:been to|visited|travell?ed to) ", _read_visited),
)  # fmt: skip
