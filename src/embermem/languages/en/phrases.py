"""Noun phrases as headings have them: "marathon training", "trip to Kyoto"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.en import verbs, words
from embermem.languages.en.clauses.tokens import Token, low, tokens
from embermem.languages.en.clauses.words import (
    ADVERBS,
    DEICTIC,
    FUNCTION,
    KIN,
    KIN_MANY,
    PREPOSITIONS,
    PRONOUNS,
    THIRD,
    VAGUE,
    YOU,
    _set,
    is_adverb,
)

_LONGEST_WORD: Final = 22
_LONGEST: Final = 3
"""Words of a phrase before a preposition and after it."""
_OPENS: Final = _set(
    """a an the my our their your his her its some any no every each another this that these those both several many
    few more new first second next own more"""
)
"""Words after which a noun phrase begins."""
_OBJECTS: Final = _OPENS | PRONOUNS
"""Words with which the object of a verb begins."""
_ARTICLES: Final = _set("a an the my our their your his her its this that these those")
_SAYS_HOW: Final = _set(
    """is are was were be been being am 's 're 'm feel feels felt feeling seem seems seemed look looks looked sound
    sounds so very too really quite pretty more most super getting got become becomes became becoming
    stay stays stayed remain remains i we they you he she them me us him help helps
    helped let lets
    it to will would can could should may might must don't didn't not"""
)
"""Words after which an adjective or a verb stands without a noun."""
_ONLY_HOW: Final = _set(
    """feel feels felt feeling seem seems seemed look looks looked sound sounds so very too really quite pretty more
    most super become becomes became becoming get gets getting got stay stays stayed remain remains"""
)
"""Those of them after which no noun stands at all."""
_JOINS: Final = _set("of to in for with at")
_BEFORE_NAMES: Final = _JOINS - {"of"}
"""Those after which only a name is told."""
_NO_NOUN: Final = (
    FUNCTION
    | VAGUE
    | PRONOUNS
    | THIRD
    | YOU
    | DEICTIC
    | ADVERBS
    | PREPOSITIONS
    | words.STOP_WORDS
    | _set(
        """regarding concerning including following according depending using containing
        everyday anymore anytime sometime wherever whenever somewhere anywhere everywhere amidst
        name dear plus biggest greatest latest highest lowest newest oldest
        full total main fellow past recent current upcoming final initial useful helpful clear specific overall basic
        simple quick slow high low extra further likely due able unable glad proud curious ready afraid aware thrilled
        excited grateful thankful blessed lucky happy sad tired busy glad worried nervous awesome epic gorgeous stunning
        powerful meaningful perfect super rad neat tough rough ok okay thing's let's today's tonight's tomorrow's
        yesterday's monday tuesday wednesday thursday friday saturday sunday january february march april june july
        august september october november december bye cheers congrats sorry wow haha till til gonna wanna gotta 'cause
        cause coz lotta kinda sorta etc vs ago version option options way side end start beginning rest number level
        amount list detail details example step steps focus note section item items part area areas term terms line
        lines matter impact difference ability chance approach kind aspect factor effort purpose element elements
        suggestion suggestions recommendation recommendations advice afterward afterwards far worth nonstop anyways
        beforehand regardless specific actual relevant generic potential huge proposed various positive negative
        incredible amazing additional corresponding unexpected related available effective proper major possible
        necessary important"""
    )
    - KIN
    - KIN_MANY
)
_SINGLE_NO: Final = (
    _set("group event project plan journey progress meeting class community team world energy idea") | KIN | KIN_MANY
)
_EMPTY_HEADS: Final = _set(
    """fan source reminder importance lack sense feeling feelings power form visual bit lot lots kind type part parts
    piece way set bunch variety range presence picture photo fear joy love copy piece couple pair loads
    half series rollercoaster state value use role level amount number act"""
)
"""Words that say nothing of what stands after their "of"."""
_ACTS: Final = _set(
    """relieve predict stunt reset stink stinks leverage postpone enable ensure enhance improve increase reduce optimize
    optimise maximize minimize provide include involve require promote prevent protect achieve maintain manage handle
    address assess evaluate analyze analyse determine identify define describe explain discuss explore examine consider
    compare choose select create generate produce develop implement execute perform deliver convert extract detect
    recognize classify calculate compute estimate collect gather combine merge remove delete replace modify adjust adapt
    customize configure install integrate connect attach assign allocate distribute divide organize arrange prioritize
    streamline simplify accelerate foster cultivate nurture embrace encourage inspire motivate empower engage attract
    retain acquire obtain receive accept refuse deny avoid eliminate mitigate overcome resolve solve tackle confront
    convey reveal illustrate demonstrate indicate imply suggest recommend propose recall pretend expect anticipate
    utilize adopt submit introduce incorporate emphasize highlight summarize summarise outline"""
)
"""Verbs that are seldom nouns: no phrase begins with them, and one ends before them."""
_MARKS_TIME: Final = _set(
    """monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december"""
)
_NO_NAME: Final = FUNCTION | PRONOUNS | PREPOSITIONS | _MARKS_TIME
"""Words that are no part of a name, however they are written."""
_HEADS: Final = _set(
    "support help show work talk piece set day night care class group meeting walk run list plan match start"
)
"""Words that say too little to open a phrase, and end one."""
_ADJECTIVE: Final = regex(
    r"\w+(?:ful|ous|able|ible|less|ive|istic|ient|iant|ish|iest|ary|[ct]ional|itional|tual|cial|ical)|\w+-(?:\w+ed|free|friendly|based|like|term|time)|exciting|amazing|inspiring|loving"
)
_ADJECTIVES: Final = _set(
    """specific essential certified professional due thrilled adorable active full primary particular personal social
    local global general natural normal physical mental emotional final total special typical traditional medical
    legal financial digital annual formal informal initial central crucial critical practical technical vertical
    official potential virtual visual usual unusual actual additional national international individual original
    regional cultural optional rational typical classic public basic specific toxic chronic organic dynamic strategic
    realistic domestic dramatic electric magic tragic epic iconic ironic scary funny happy healthy lucky messy crazy
    easy heavy busy dirty tiny pretty ready steady tasty spicy cozy comfy noisy sunny rainy cloudy windy angry hungry
    sleepy silly weird cute sweet calm quiet loud fresh dry wet cold warm hot cool dark bright clean cheap rich poor
    strong weak young modern ancient brave wise smart proud fair rare common complex simple single double secure
    accurate adequate appropriate fortunate passionate private separate ultimate unique vague brief broad deep wide
    narrow flat sharp smooth soft tight loose thick thin tall huge vast massive giant minor major senior junior
    superior inferior exterior interior grateful contemporary upset stuck alive aware alone asleep familiar similar
    popular regular singular solar lunar nuclear safe worth aged gone"""
)
_PREDICATES: Final = _set("worth due upset stuck alive aware alone asleep gone safe ready afraid glad grateful")
"""Adjectives that stand before no noun: "makes life worth living"."""
_FIGURES: Final = ("wild ride", "roller coaster", "amazing ride", "crazy ride", "long way", "happy place", "next level")
"""What is said of anything, in pictures."""
_SIZES: Final = _set("small big little long short old last best different hard whole real wrong right")
"""What one word is told with, though it tells no topic by itself: "a small act"."""
_GENERAL: Final = _set(
    """specific actual relevant potential various additional related available information response request context
    question answer example benefit feature aspect topic idea text content result word sentence paragraph subject prompt
    assistance chapter skill challenge goal insight dedication passion positivity beauty adventure journey inspiration
    motivation growth success strength courage kindness happiness joy peace gratitude commitment determination
    encouragement moment dream life experience disaster mess"""
)
"""What says little in a title beside other words."""
_BEFORE_ONE_WORD: Final = (_SIZES | _ADJECTIVES) - _PREDICATES - words.STOP_WORDS - _GENERAL
"""Adjectives with which a single word is told."""
_NOUN_TOO: Final = _set(
    """dance work travel test project book study design research dream food paint report score house market garden
    coach guard model market fund loan insurance access budget coffee tea lunch dinner breakfast party exercise
    interview gym tour trip visit walk swim camp race hike sail surf fish dog cat pet train drive flight film movie
    music song game team network brand customer trade stock tax rent water fire wine beer cook light voice sound
    view photo video sketch stream blog post email mail phone text code data risk bank stress sleep rest health
    shift push kick hit need wish name sign fight visit order
    support care contact help pain heart head face hand foot knee back shoulder stretch"""
)
"""Words that are nouns at least as often as verbs."""
_NOUNS: Final = _set(
    """drive archive initiative objective narrative alternative perspective motive executive detective olive relative
    incentive native dive hive vegetable table cable fish dish wish finish cottage_cheese patient client ingredient
    gradient recipient library salary diary glossary summary dictionary secretary anniversary documentary itinerary
    february january vocabulary boundary commentary dispensary representative preventive collective"""
)
"""Nouns that end like adjectives."""
_QUOTED: Final = regex(r"(?<=['’]s)['’]$")
"""The end of a quotation after a possessive."""
_WORD: Final = regex(r"[^\W\d_][\w'’&.-]*")


def noun_phrases(sentence: str) -> Iterator[str]:
    """The noun phrases of a sentence, shorter and longer ones; names as written, all else in lower case."""
    yield from (phrase for phrase in _found(tokens(sentence)) if not phrase.endswith(_FIGURES))


def _found(said: Sequence[Token]) -> Iterator[str]:
    at = 0
    while at < len(said):
        if not (_is_noun(said[at]) or _is_in_name(said, at)):
            at += 1
            continue
        end = at
        while end < len(said) and (_is_noun(said[end]) or said[end].low in _HEADS or _is_in_name(said, end)):
            end += 1
        start, stop = _bounds(said, at, end)
        if start < stop and not _is_addressed(said, start, stop):
            start = max(start, stop - _LONGEST)
            is_open = start > at or _is_opened(said, start) or low(said, stop) in ("is", "are", "was", "were")
            yield from _cut(said, start, stop, is_open=is_open)
            is_of = low(said, stop) == "of" and said[stop - 1].low in _EMPTY_HEADS
            if not is_of and (after := _after(said, stop)) is not None:
                yield f"{_written(said, start, stop)} {said[stop].low} {after}"
        at = end


def _is_addressed(said: Sequence[Token], start: int, end: int) -> bool:
    """Whether a name stands there for the one who is spoken to: "…, Ana." or "Ana, …"."""
    if end - start > 1 or not said[start].text[0].isupper():
        return False
    before, after = low(said, start - 1), low(said, end)
    return (before in ("", ",") and after in ("", ",", ".", "!", "?")) and (before, after) != ("", "")


def _is_in_name(said: Sequence[Token], at: int) -> bool:
    """Whether a word that says little by itself is part of a name: New York, First Aid, Iron Man."""
    token = said[at]
    if at == 0 or not token.text[0].isupper() or token.low in _NO_NAME:
        return False
    beside = [said[place].text for place in (at - 1, at + 1) if 0 < place < len(said)]
    return said[at - 1].is_word and any(text[0].isupper() and len(text) > 1 for text in beside)


def _is_noun(token: Token) -> bool:
    """Whether a word may stand in a noun phrase that is worth a heading."""
    return (
        1 < len(token.low) <= _LONGEST_WORD
        and token.low.removesuffix("'s") not in _NO_NOUN
        and _WORD.fullmatch(token.text) is not None
        and "_" not in token.low
        and not is_adverb(token.low)
        and words.keywords_of(token.text.removesuffix("'s")) != ()
    )


def _bounds(said: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    """The noun phrase within a run of words: without the verbs before it, and up to the verb after it."""
    before, is_open = low(said, start - 1), _is_opened(said, start)
    if before in ("that", "which", "who", "do", "does", "did") and _is_form(said[start], {"third", "base"}):
        start += 1  # "content that targets holders"
    while start < end and said[start].low in _ACTS and not _is_name(said, start):
        start += 1
    if not is_open:
        while start < end and _is_verb(said, start, end):
            start += 1
    is_told = not is_open and before in _SAYS_HOW and start < end and not _is_name(said, start)
    only_how = before in _ONLY_HOW or end - start == 1 or verbs.base_of_gerund(said[end - 1].low) is not None
    if is_told and only_how:
        return start, start
    for at in range(start + 1, end):
        acts = said[at].low in _ACTS or _is_finite(said, at, end) or _is_clause(said, at, end)
        if acts and not _is_name(said, at):
            return start, at
    return start, end


def _is_form(token: Token, forms: set[str]) -> bool:
    """Whether a word is such a form of a verb, and no noun as well."""
    known = verbs.verb(token.low)
    return known is not None and not known.forms.isdisjoint(forms) and token.low not in _NOUN_TOO


def _is_clause(said: Sequence[Token], at: int, end: int) -> bool:
    """Whether a gerund after a noun begins a clause: "research relating to …", "people working on …"."""
    after = low(said, at + 1)
    return (
        at + 1 == end
        and verbs.base_of_gerund(said[at].low) is not None
        and (after in _OPENS or after in THIRD or after in ("to", "on", "as"))
    )


def _is_opened(said: Sequence[Token], at: int) -> bool:
    """Whether what stands before a word says that a noun phrase begins."""
    before = low(said, at - 1)
    return before in _OPENS or (before in PREPOSITIONS and before != "to") or before.endswith("'s")


def _is_finite(said: Sequence[Token], at: int, end: int) -> bool:
    """Whether a word after a noun is its verb; a form in -s that ends a phrase is more likely a plural."""
    known = verbs.verb(said[at].low)
    if known is None or "gerund" in known.forms:
        return False
    if low(said, at + 1) in _ARTICLES:
        return True  # its object follows
    if "base" in known.forms:
        plural = said[at].low not in _NOUN_TOO and any(
            place < end and said[place].low.endswith("s") for place in (at - 1, at + 1)
        )
        return plural or said[at].low.endswith(("ate", "ify", "ize", "ise"))
    is_noun = "third" in known.forms and known.base in _NOUN_TOO
    return not is_noun or low(said, at + 1) in _OBJECTS


def _is_verb(said: Sequence[Token], at: int, end: int) -> bool:
    """Whether a word that no article opens is a verb before its object rather than a noun."""
    token, known = said[at], verbs.verb(said[at].low)
    if _is_name(said, at):
        listed = known is not None and "third" in known.forms and at + 1 < len(said) and said[at + 1].text.islower()
        return listed and token.text.istitle()
    if verbs.base_of_gerund(token.low) is not None:
        return True
    if known is None:
        return False
    if known.forms & {"past", "participle"} and "base" not in known.forms:
        return True
    after = low(said, at + 1)
    place = at - 1
    while place >= 0 and is_adverb(said[place].low):
        place -= 1
    before = low(said, place)
    begins = not before[:1].isalnum() or before in ("and", "or", "please", "then", "also", "you", "let's")
    acts = before in _SAYS_HOW or after in _OBJECTS or _is_done(said, at + 1)
    acts = acts or (begins and token.low not in _NOUN_TOO)
    return acts or at + 1 >= end or "third" in known.forms


def _cut(said: Sequence[Token], start: int, end: int, *, is_open: bool) -> Iterator[str]:
    """A phrase, and what it ends with: its head stands last."""
    if end - start == 1 and start > 0 and said[start - 1].low in _BEFORE_ONE_WORD and not _is_done(said, start):
        yield f"{said[start - 1].low} {_written(said, start, end)}"
    for begin in range(start, end):
        if begin == end - 1 and (said[begin].low in _SINGLE_NO or _is_done(said, begin)):
            return
        if begin == end - 1 and not (is_open or begin > start or _is_name(said, begin)):
            return
        if _is_adjective(said[end - 1].low) and not _is_name(said, end - 1):
            return
        yield _written(said, begin, end)


def _is_done(said: Sequence[Token], at: int) -> bool:
    """Whether a word is a participle or a past that stands for no thing by itself."""
    if at >= len(said) or _is_name(said, at):
        return False
    known = verbs.verb(said[at].low)
    return known is not None and not known.forms & {"base", "gerund", "third"}


def _is_adjective(word: str) -> bool:
    return word not in _NOUNS and (word in _ADJECTIVES or _ADJECTIVE.fullmatch(word) is not None)


@lru_cache(maxsize=8_192)
def is_thing(word: str) -> bool:
    """Whether a keyword may be a noun that tells something: no adjective, no past form, no mere verb."""
    known = verbs.verb(word)
    acts = known is not None and word not in _NOUN_TOO and verbs.base_of_gerund(word) is None
    acts = acts or word.endswith(("ate", "ify", "ize", "ise"))
    return (
        word not in _NO_NOUN and word not in _GENERAL and not is_adverb(word) and not _is_adjective(word) and not acts
    )


def _after(said: Sequence[Token], at: int) -> str | None:
    """The noun phrase that a preposition joins to the one before it: "of the garden", "to Kyoto"."""
    if low(said, at) not in _JOINS:
        return None
    start = at + 1
    while low(said, start) in ("the", "a", "an", "my", "our", "their", "his", "her", "its"):
        start += 1
    end = start
    while end < len(said) and end - start < _LONGEST and _is_noun(said[end]):
        end += 1
    if start == end or (low(said, at) in _BEFORE_NAMES and not _is_name(said, start)):
        return None
    begin, stop = _bounds(said, start, end)
    if begin >= stop or _is_adjective(said[stop - 1].low) or low(said, stop) == "of":
        return None
    if stop - begin == 1 and verbs.base_of_gerund(said[begin].low) is not None and low(said, stop)[:1].isalpha():
        return None  # "the importance of letting go"
    return _written(said, begin, stop)


def _written(said: Sequence[Token], start: int, end: int) -> str:
    found = (said[at].text if _is_name(said, at) else said[at].low for at in range(start, end))
    return " ".join(_QUOTED.sub("", word.rstrip(".")) for word in found).removesuffix("'").removesuffix("'s")


def _is_name(said: Sequence[Token], at: int) -> bool:
    """Whether a word has a capital that the beginning of the sentence does not explain."""
    text = said[at].text
    if not text[0].isupper():
        return False
    if at > 0 and said[at - 1].text not in (":", '"', "“", "(", "-", "–"):
        return True
    return (len(text) > 1 and text[1:2].isupper()) or (
        at + 1 < len(said) and said[at + 1].text[0].isupper() and said[at + 1].is_word
    )
