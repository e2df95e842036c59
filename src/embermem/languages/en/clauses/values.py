"""The value of a clause: what stands after its verb, without the time it names, cut where it is complete."""

from __future__ import annotations

from collections.abc import Sequence

from embermem.languages.en import verbs
from embermem.languages.en.clauses import frames
from embermem.languages.en.clauses.tokens import AND, Token, low
from embermem.languages.en.clauses.words import (
    CUTS,
    DEICTIC,
    FUNCTION,
    KIN,
    KIN_MANY,
    NO_END,
    PREPOSITIONS,
    REASONS,
    STRIPPED_LAST,
    THIRD,
    VAGUE,
    YOU,
    is_adverb,
)

MOST_WORDS = 13
"""Words of a complement: with its verb and a subject a fact has 14 at most, with a date 16."""
_BARE = (
    THIRD
    | DEICTIC
    | frozenset("""something anything everything nothing stuff things what me myself them all one both""".split())
)
_BEFORE_VERB = frozenset(
    ("to", "not", ",", "who", "that", "'ve", "have", "has", "had", "was", "were", "is", "are", "be")
)
_BE = frozenset(("was", "were", "is", "are", "be", "been", "get", "got", "being"))
_COUNTS = CUTS | frozenset("only least more than no every any another this that my our last first next number".split())
"""Words after which "one" is a number, or is told of elsewhere."""
_POINTED = frozenset("straight right now first next today tomorrow yesterday tonight is was are".split())
"""Words before which "these" stands for a thing."""
_AFTER_ONE = CUTS | {"called", "named"}
_DETERMINERS = frozenset("a an the my our this that some another new old first last".split())
_OBJECTS = THIRD | frozenset(
    ("this", "that", "these", "those", "me", "here", "there", "everyone", "everybody", "someone")
)
_ANIMATE = (
    KIN
    | KIN_MANY
    | frozenset(
        """dog cat puppy kitten dogs cats mom woman man girl boy lady guy people kids person student students""".split()
    )
)


_ENDABLE = frozenset(
    """work travel swim dance sing cook bake paint draw run walk hike camp ski surf read write play drive study grow
    learn teach perform compete eat sleep relax exercise volunteer hiking swimming dancing singing cooking
    baking painting drawing running camping skiing surfing reading writing biking fishing shopping climbing""".split()
)
"""Verbs that are complete without an object."""


def complement(
    sentence: Sequence[Token],
    start: int,
    end: int,
    most: int = MOST_WORDS,
    *,
    of_relative: bool = False,
    is_open: bool = False,
) -> tuple[int, int] | None:
    """The tokens of tokens[start:end] that a fact keeps, [start, end): None where they can be understood only in their
    talk, or are cut short of their sense. `of_relative`: "her" may be who the clause is about; `is_open`: what follows
    is an object too ("to see how …")."""
    given = end
    while given > start and (not sentence[given - 1].is_word or sentence[given - 1].low in STRIPPED_LAST):
        given -= 1
    end = _before_hearer(sentence, start, end)
    end = _before_unknown(sentence, start, end, of_relative=of_relative)
    end = _within(sentence, start, end, most)
    end = _stripped(sentence, start, end)
    while (
        end > start
        and (end < given or is_open or _is_last_verb(sentence, start, end))
        and _is_bare_verb(sentence, start, end)
        and (sentence[end - 1].low not in _ENDABLE or (end < given and sentence[end].low in _BARE))
    ):
        end = _stripped(sentence, start, end - 1)
    if is_open and low(sentence, end - 1) in ("out", "up") and low(sentence, end - 3) in AND:
        end = _stripped(sentence, start, end - 2)
    first = low(sentence, start)
    if end <= start or (first in _BARE and end - start == 1):
        return None
    if first in ("something", "anything") and low(sentence, start + 1) in ("really", "very", "so", "that", "i"):
        return None
    if first in THIRD - {"one"} and not (of_relative and first in ("his", "her", "their")):
        return None
    if low(sentence, start) in ("this", "that", "these", "those") and low(sentence, start + 1) in FUNCTION | {"one"}:
        return None
    return start, end


def _is_last_verb(sentence: Sequence[Token], start: int, end: int) -> bool:
    """Whether a verb, not the last noun of a list ("bites, stings and burns"), stands after "and" at the end."""
    if low(sentence, end - 2) not in AND:
        return False
    known = verbs.verb(sentence[end - 1].low)
    is_list = any(t.text == "," for t in sentence[start:end])
    return known is None or known.base in frames.LIGHT or not (is_list or "third" in known.forms)


def _before_hearer(sentence: Sequence[Token], start: int, end: int) -> int:
    """Without the phrase that speaks of the hearer; nothing where no phrase begins before it."""
    for k in range(start, end):
        if sentence[k].low in YOU:
            before = sentence[k - 1] if k > start else None
            is_noun = (
                before is not None
                and before.is_word
                and before.low not in CUTS | NO_END
                and low(sentence, k - 2) != "to"
                and k - start > 2
            )
            return k if is_noun and sentence[k].low in ("you", "u") else _cut_before(sentence, start, k)
    return end


def _before_unknown(sentence: Sequence[Token], start: int, end: int, *, of_relative: bool) -> int:
    """Without the phrase with a pronoun of somebody or something who was not named in the clause."""
    for k in range(start, end):
        word, before, after = sentence[k].low, low(sentence, k - 1), low(sentence, k + 1)
        if of_relative and word in ("his", "her", "himself", "herself"):
            continue
        if word in ("one", "ones") and k > start and (k + 1 == end or after in _AFTER_ONE):
            if before not in _COUNTS and verbs.verb(before) is None:
                return _cut_before(sentence, start, k)
            continue
        if word in THIRD:
            if word not in ("one", "ones") and not any(may_stand_for(word, sentence, j) for j in range(start, k)):
                return _cut_before(sentence, start, k)
        elif (
            (word in ("each", "one") and after in ("other", "another"))
            or (word, before) in (("this", "of"), ("these", "of"))
            or (word, after) == ("that", "name")
        ):
            return _cut_before(sentence, start, k)
        elif word == "same" and before in ("this", "that"):
            return _cut_before(sentence, start, k - 1)
        elif word in ("this", "that", "these", "those"):
            alone = (
                k > start
                and (k + 1 == end or after in CUTS | _POINTED or is_adverb(after))
                and (word != "that" or before in CUTS | {"of"})
            )
            if alone:
                return _cut_before(sentence, start, k - 1)
        elif word in ("here", "there") and k + 1 == end:
            from_there = before in ("over", "out", "from", "up", "down")
            return _cut_before(sentence, start, k + 1) if from_there else k
    return end


def may_stand_for(pronoun: str, sentence: Sequence[Token], at: int) -> bool:
    """Whether a pronoun may mean what a token before it names."""
    token = sentence[at]
    is_noun = token.is_word and token.low not in FUNCTION | VAGUE | frames.FEELING
    if pronoun in ("he", "him", "his", "himself", "she", "her", "hers", "herself"):
        return token.low in _ANIMATE or (token.text[0].isupper() and token.low not in ("i", "i'm"))
    if pronoun in ("they", "them", "their", "theirs", "themselves"):
        return token.low in _ANIMATE or (is_noun and token.low.endswith("s") and not token.low.endswith("ss"))
    return is_noun and (verbs.verb(token.low) is None or low(sentence, at - 1) in _DETERMINERS)


def _cut_before(sentence: Sequence[Token], start: int, k: int) -> int:
    """The last place before k where a phrase begins; k may lie behind the last token."""
    k = min(k, len(sentence) - 1)
    while k > start and sentence[k].low not in CUTS and sentence[k].text != ",":
        k -= 1
    return k


def _within(sentence: Sequence[Token], start: int, end: int, most: int) -> int:
    words = [k for k in range(start, end) if sentence[k].is_word]
    if len(words) <= most:
        return end
    limit = words[most]
    for k in range(limit, start + 2, -1):
        token = sentence[k]
        if (
            (token.low in CUTS | REASONS or token.text == ",")
            and sentence[k - 1].low not in NO_END
            and sentence[k - 1].text != ","
        ):
            if (
                (token.low in _RELATIVE and _is_definite(sentence, start, k))
                or (token.low in ("to", "for", "of") and k - start < 3)
                or token.low == "into"
                or _is_bare_verb(sentence, start, k)
            ):
                continue
            return k
    return start


_RELATIVE = frozenset(("that", "which", "who", "where"))


def _is_definite(sentence: Sequence[Token], start: int, k: int) -> bool:
    """Whether the noun before k needs what follows it: "the joy that …"."""
    near = [token.low for token in sentence[max(start, k - 4) : k]]
    return "the" in near and not any(word in CUTS for word in near[near.index("the") :])


def _is_bare_verb(sentence: Sequence[Token], start: int, k: int) -> bool:
    """Whether what ends before k is a verb whose object would be cut off: "to make", "and even went"."""
    last = verbs.verb(sentence[k - 1].low)
    if last is None and not sentence[k - 1].low.endswith("ing"):
        return False
    before = k - 2
    while before >= start and is_adverb(sentence[before].low):
        before -= 1
    if last is not None and "participle" in last.forms and low(sentence, before) in _BE:
        return False
    if last is not None and last.base in frames.LIGHT and before >= start and sentence[before].low in PREPOSITIONS:
        return True
    return before < start or sentence[before].low in AND | _BEFORE_VERB or sentence[before].text == ","


_DANGLING = frozenset("trying similar based called according related compared able willing supposed".split())
"""Words that say nothing without what follows them."""
_KEPT_DOING = frozenset("keep keeps kept keeping stop worth is are was were not be been".split())


def _before_time(sentence: Sequence[Token], start: int, end: int) -> int:
    """Without "a few years", of which "ago" was said."""
    k = end - 1
    while k > start and low(sentence, k - 1) in _AMOUNTS:
        k -= 1
    return k


_AMOUNTS = frozenset("a few couple of some many several two three four five six seven eight nine ten long".split())


def _stripped(sentence: Sequence[Token], start: int, end: int) -> int:
    """Without what says nothing at the end: adverbs, function words, "of it", "about that"."""
    while end > start:
        last = sentence[end - 1]
        before = low(sentence, end - 2)
        if last.low == "up" and before == "coming":
            end -= 2
        elif last.low == "ago" or (before in AND and is_adverb(last.low)):
            end = _before_time(sentence, start, end - 1) if last.low == "ago" else end - 2
        elif last.low == "on" and before == "going":
            break
        elif (last.low in _DANGLING and end - start > 1 and before not in _KEPT_DOING) or (
            last.low == "going" and before in ("else", "things")
        ):
            end -= 1
        elif last.low in ("one", "ones") and before in ("another", "new", "other", "different"):
            end -= 2
        elif (
            not last.is_word
            or last.low in STRIPPED_LAST
            or last.low in ("something", "anything", "someone")
            or last.low in NO_END
        ):
            end -= 1
        elif (
            last.low in _OBJECTS
            and end - start > 1
            and low(sentence, end - 2) in CUTS | {"of", "up", "out"}
            and low(sentence, end - 2) not in AND
        ):
            end -= 2
        else:
            break
    return end


def content(words: Sequence[Token]) -> list[str]:
    """The words that say something of their own."""
    return [
        t.low
        for t in words
        if t.is_word
        and t.low not in FUNCTION
        and t.low not in VAGUE
        and (len(t.low) > 2 or t.text.isupper() or t.text.isdecimal())
    ]
