"""What is liked, avoided or preferred: the whole phrase up to the end of its clause, never a part of it."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Sequence

from embermem.core.patterns import regex
from embermem.languages.en import verbs
from embermem.languages.en.clauses.boundaries import FINITE, after_comma, starts_clause
from embermem.languages.en.clauses.tokens import AND, Token, low, tokens
from embermem.languages.en.clauses.told import told
from embermem.languages.en.clauses.values import content, may_stand_for
from embermem.languages.en.clauses.words import FUNCTION, KIN, PREPOSITIONS, PRONOUNS, THIRD, YOU, is_adverb
from embermem.languages.en.facts.phrases import SENTENCE_CHARS
from embermem.languages.facts.rules import Value

_MOST_CHARS, _MOST_WORDS = 240, 32
"""Of a longer phrase nothing is taken."""
TASTE_VERBS = r"(?:like|love|enjoy|adore|hate|dislike|detest|loathe|prefer|avoid|refuse|would rather|(?:don'?t|do not|can'?t|cannot) (?:like|enjoy|stand|bear|eat|drink|do)|only ever|never (?:eat|drink))"
_ANOTHER = regex(rf"(?:also |really |always |just |generally |usually )*{TASTE_VERBS}\b", re.IGNORECASE)
_RUN_ON = frozenset("love hate prefer dislike avoid".split())
_STOPS = frozenset("because bc cause cuz coz although though whereas yet however anyway lol haha hehe lmao tbh imo btw please pls thanks sorry honestly hence".split())  # fmt: skip
"""Words before which a phrase ends."""
_OPENERS = frozenset("that who whom which whose where when whenever if unless while until till before after than as".split())  # fmt: skip
"""Words with which a clause inside the phrase begins."""
_ADDED = frozenset("especially particularly such including except like even ideally preferably".split())
"""Words after a comma that go on with the phrase."""
_ONLY = frozenset(("only", "not", "never"))
_BEGINS_ITEM = frozenset("a an the my any anything go going take taking make making try trying getting seeing".split())
_ABLE = frozenset("can could can't couldn't cannot haven't already".split())
_OPINIONS = frozenset("think believe guess know hope love like hate prefer mean".split())
_WHICH = frozenset("the all every any anything everything".split())
_UNFINISHED = frozenset("of to a the and or".split())
_INSIDE = frozenset("'’%&/#+\"“”*")
_FIRST_DENIED = (
    THIRD | YOU | (PREPOSITIONS - {"like"})
    | frozenset("this that these those here there me us myself how what why who which if i we so such is are was were be and or but very just too not no mine neither nothing none nobody".split())
)  # fmt: skip
_POINTING = frozenset("this these here".split())
_NARROWED = frozenset("of that where when who with in on at from for between".split())
"""Words after a noun that say which one "the" means."""
_GENERIC = frozenset("ocean sea beach mountains outdoors countryside rain snow cold heat winter summer autumn spring piano violin guitar cello cinema theater theatre opera city gym dark sun water radio internet world underground subway".split())  # fmt: skip
"""Nouns of which there is one for everybody."""
_COUNTED = frozenset("or day person stop place way side".split())
_ANY = frozenset(("anything", "something", "everything", "one", "ones", "those"))
_OF_TALK = frozenset("option options suggestion suggestions version choice draft trouble".split())
_MOMENT = regex(
    r"(?<![\"“'])\b(?:tonight|today|tomorrow|yesterday|right now|at the moment|for now|for once|this (?:time|one|week|weekend|month|year|morning|afternoon|evening)|next (?:week|time|month)|(?:another|other) (?:one|time)|(?:lots? of|many|the|all) different)\b|\ue000",
    re.IGNORECASE,
)
"""What makes a taste one of the moment, or one of nothing certain, or hides words of it."""
_TAIL = regex(
    r"(?:[\s,]+(?:too|also|now|lately|recently|nowadays|any ?more|any longer|these days|really|either|ever|always|at all|whatsoever|as well|in general|the most|the best|a lot|a bit|a ton|that much|too much|very much|so much|most|best|now and then|to be honest|i guess|for sure|actually|personally|though|overall|right|(?:and|or) (?:stuff|things|so on|such|whatever)(?: like that)?))+$",
    re.IGNORECASE,
)
"""What ends a phrase and says nothing of what is liked."""
_SILENT = frozenset("think say know believe see hear tell ask admit mention imagine do bother point".split())
"""Verbs after "like to" that tell no taste."""
_OBJECTS = frozenset("a an the my our their some any to in on at with for up out away".split())
_ITEM = r"[^\s,]+(?: [^\s,]+){0,3}"
_LIST = regex(rf"({_ITEM})((?:, (?!and\b|or\b){_ITEM})+),? and ({_ITEM})")


def read_noun_phrase(sentence: str, pos: int) -> Value | None:
    """What is liked, from a position to where its clause ends; None where it can be understood only in its talk."""
    to = re.compile(r"to (?=[a-z])").match(sentence, pos)
    parts, end = _phrase(sentence, pos if to is None else to.end())
    if to is not None:
        return _doing(parts, end)
    return (_value(parts), end) if _is_understood(parts) else None


def read_doing(sentence: str, pos: int) -> Value | None:
    """ "fly with a stop" as what is done: "flying with a stop"."""
    return _doing(*_phrase(sentence, pos))


def read_infinitive(sentence: str, pos: int) -> Value | None:
    """ "fly with a stop": the verb as it is said."""
    parts, end = _phrase(sentence, pos)
    return (_value(parts), end) if _is_deed(parts) else None


def items(value: str) -> list[str]:
    """The items of a plain list ("hiking, chess and baking"); one item for anything else."""
    match = _LIST.fullmatch(value)
    if match is None:
        return [value]
    found = [match[1], *match[2].removeprefix(", ").split(", "), match[3]]
    inner = {word for one in found[:-1] for word in one.lower().split()}
    is_whole = inner & (PREPOSITIONS | _OPENERS | AND) and not all(one.split()[0].endswith("ing") for one in found)
    return [value] if is_whole else found


def _phrase(sentence: str, pos: int) -> tuple[list[Token], int]:
    """The tokens of the phrase that begins at a position, and where it ends in the sentence."""
    parts = tokens(sentence[pos : pos + _MOST_CHARS])
    k = 0
    while k < len(parts) and not _ends(sentence, pos, parts, k):
        k = _behind_bracket(parts, k) if parts[k].text == "(" else k + 1
    text = sentence[pos : pos + parts[k - 1].end] if k else ""
    is_cut = k == len(parts) and (len(sentence) > pos + _MOST_CHARS or len(sentence) >= SENTENCE_CHARS)
    if is_cut or _MOMENT.search(text):
        return [], pos
    text = text[: len(text) - len(m.group()) if (m := _TAIL.search(text)) else None].rstrip(" ,'\"*")
    return [t for t in parts[:k] if t.end <= len(text)], pos + len(text)


def _behind_bracket(parts: Sequence[Token], k: int) -> int:
    return next((j + 1 for j in range(k, len(parts)) if parts[j].text == ")"), len(parts))


def _ends(sentence: str, pos: int, parts: Sequence[Token], k: int) -> bool:
    """Whether the phrase ends before token k."""
    token, word, after, before = parts[k], parts[k].low, low(parts, k + 1), low(parts, k - 1)
    if token.text == ",":
        return not _goes_on(sentence, pos, parts, k)
    if not token.is_word:
        return token.text not in _INSIDE and not (token.text == "(" and any(t.text == ")" for t in parts[k:]))
    if k == 0:
        return False
    if word in AND:
        return starts_clause(parts, k + 1) or _another(sentence, pos, parts, k + 1) or after in _STOPS
    if word == "so":
        return after in PRONOUNS | _OBJECTS | {"please", "no", "not", "don't", "can", "what", ""}
    if word in ("as", "since", "while"):
        return after in PRONOUNS | {"my", "our"} or (word, after) == ("since", "the")
    if word in ("i", "we", "he", "she", "they", "it"):
        if after not in FINITE and verbs.verb(after) is None and not is_adverb(after):
            return False
        is_which = any(t.low in _WHICH for t in parts[max(0, k - 4) : k]) and after not in _OPINIONS
        is_inner = before in _OPENERS | {"how", "what"} or after in _ABLE
        return not (is_inner or (is_which and word in ("i", "we", "they")))
    if word == "but":
        return after not in _ONLY
    is_reason = word in _STOPS or (word, after) == ("due", "to")
    return is_reason or _another(sentence, pos, parts, k, is_bare=True)


def _another(sentence: str, pos: int, parts: Sequence[Token], k: int, *, is_bare: bool = False) -> bool:
    """Whether another taste begins at token k; `is_bare`: with no word before it that joins the two."""
    if k >= len(parts) or (parts[k].low == "like" and low(parts, k - 1) not in AND):
        return False
    before = low(parts, k - 1)
    is_joined = before in FUNCTION | PREPOSITIONS | AND or any(t.low in _OPENERS for t in parts[:k])
    if is_bare and (parts[k].low not in _RUN_ON or is_joined):
        return False
    return _ANOTHER.match(sentence, pos + parts[k].start) is not None


def _goes_on(sentence: str, pos: int, parts: Sequence[Token], k: int) -> bool:
    """Whether the phrase goes on behind the comma at token k: a list, or an example."""
    after, second = low(parts, k + 1), low(parts, k + 2)
    if _another(sentence, pos, parts, k + 1) or _another(sentence, pos, parts, k + 2) or second in _STOPS:
        return False
    if after in AND:
        return not starts_clause(parts, k + 2) and second not in FUNCTION - _BEGINS_ITEM
    if after in ("but", "not"):
        return second in _ONLY if after == "but" else second not in FUNCTION | {"really"}
    is_example = after in _ADDED and second not in ("if", "though", "i", "we")
    return is_example or after_comma(parts, k, 0) is not None or _is_bare_list(parts, k)


def _is_bare_list(parts: Sequence[Token], k: int) -> bool:
    """Whether nouns alone follow to the end: "crowds, noise, bright lights"."""
    rest = parts[k:]
    stop = next((j for j, t in enumerate(rest) if not t.is_word and t.text != ","), len(rest))
    said = [t.low for t in rest[:stop]]
    if len(said) > 11 or not (said.count(",") > 1 or any(t.text == "," for t in parts[:k])):
        return False
    return not any(w in FUNCTION | _STOPS or (said[j - 1] == "," and verbs.verb(w)) for j, w in enumerate(said))


def _is_deed(parts: Sequence[Token]) -> bool:
    known = verbs.verb(low(parts, 0))
    if known is None or "base" not in known.forms or low(parts, 0) in _SILENT:
        return False
    return len(parts) == 1 or _is_understood(parts, 1)


def _doing(parts: Sequence[Token], end: int) -> Value | None:
    """A deed as what is done: "to cook and bake bread" is "cooking and baking bread"."""
    if not _is_deed(parts):
        return None
    words = list(parts)
    for k, token in enumerate(parts):
        known, before = verbs.verb(token.low), k - 1 - (low(parts, k - 2) == ",")
        is_next = k > 1 and (parts[k - 1].low in AND or parts[k - 1].text == ",")
        if known is None or "base" not in known.forms or not (k == 0 or is_next):
            continue
        after_verb = before > 0 and words[before - 1].text != parts[before - 1].text
        if k == 0 or after_verb or (low(parts, k + 1)[:1].isalnum() and low(parts, k + 1) not in AND):
            words[k] = token._replace(text=verbs.gerund(known.base))
    return _value(words), end


def _value(parts: Sequence[Token]) -> str:
    return told(parts, 0, len(parts)).strip("\"'“”‘’*_~ ")


def _is_understood(parts: Sequence[Token], at: int = 0) -> bool:
    """Whether the phrase names something, and can be read without its talk; what is asked begins at token `at`."""
    words = [t.low for t in parts if t.is_word]
    if not words or len(words) > _MOST_WORDS or any(w in _OF_TALK for w in words):
        return False
    if at == 0 and not content(parts) and len(words) < 3:
        return False
    first, second = low(parts, at), low(parts, at + 1)
    is_of_talk = first in _FIRST_DENIED and not _is_clause(parts)
    if words[-1] in _UNFINISHED or (first == "the" and not _is_definite(parts, at)):
        return False
    if at == 0 and (is_of_talk or (first == "my" and (second in KIN or len(words) < 3))):
        return False
    return not any(_points(parts, k) for k in range(at, len(parts)) if k or not _is_clause(parts))


def _is_clause(parts: Sequence[Token]) -> bool:
    """Whether what is liked is that something is so: "it when it rains", "that my street is quiet"."""
    if low(parts, 0) == "it":
        return any(t.low in _OPENERS for t in parts[1:3])
    return low(parts, 0) == "that" and low(parts, 1) in ("i", "we", "my", "our", "people", "there")


def _is_definite(parts: Sequence[Token], at: int) -> bool:
    """Whether it is known which one "the" means: "the Beatles", "the sea", "the smell of rain"."""
    if any(t.low in _GENERIC for t in parts[at + 1 : at + 3]) or any(
        t.text[0].isupper() for t in parts[at + 1 : at + 2]
    ):
        return True
    return any(t.low in _NARROWED for t in parts[at + 2 : min(at + 5, len(parts) - 1)])


def _points(parts: Sequence[Token], k: int) -> bool:
    """Whether a word stands there that is understood only in the talk."""
    word, after = parts[k].low, low(parts, k + 1)
    inner = any(parts[j].low in _OPENERS for j in range(1, k))
    if word in YOU:
        return not inner or not content(parts[: next(j for j in range(1, k) if parts[j].low in _OPENERS)])
    if word == "one" and (low(parts, k - 1) in ("for", "like") or content(parts[k + 1 : k + 2]) or after in _COUNTED):
        return False
    if word in _POINTING or (word == "there" and after not in ("is", "are", "'s")):
        return True
    if word == "that":
        before = low(parts, k - 1)
        is_object = k == 0 or before in FUNCTION | PREPOSITIONS or before.endswith("ing")
        return not after or (is_object and before not in _ANY)
    if word == "those":
        return after not in PREPOSITIONS | {"who", "that"}
    last = k - 1 if word in ("one", "ones") else k  # "blue ones": not of "blue"
    named = any(low(parts, j) in _ANY or may_stand_for(word, parts, j) for j in range(last))
    return word in THIRD and not named and not any(t.low in _OPENERS for t in parts[:k])
