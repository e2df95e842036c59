"""What a statement is worth to note."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from embermem.languages.en.clauses.clause import Clause, Tense
from embermem.languages.en.clauses.tokens import Token
from embermem.languages.en.clauses.values import content
from embermem.languages.en.clauses.words import KIN, KIN_MANY, REASONS

_TALK = frozenset(
    """chat talk talking conversation message question questions answer update updates pic pics photo photos picture
    pictures link news list plan step steps option options suggestion suggestions recommendation recommendations
    details info information help advice discussion bug approach""".split()
)
_ONLY_TALK = frozenset("error errors query queries prompt prompts chatbot".split())
"""Words of what is done with the hearer at the moment."""

_LIFE = frozenset(
    """graduate recover marry divorce retire adopt quit lose win move buy sell pass break hire fire diagnose""".split()
)
"""Verbs of events that need few words."""
_RISES = frozenset("promotion offer raise award scholarship diagnosis degree diploma prize refund inheritance".split())
"""What one receives and notes."""
_BY_ATTRIBUTE = {"did": 0.3, "plans": -0.2, "would_like_to": -0.4, "feels": -0.3}


def _is_of_chat(kept: Sequence[Token]) -> bool:
    """ "learned a lot during our chat"."""
    said = [t.low for t in kept]
    return any(pair in _CHATS for pair in pairwise(said))


_CHATS = frozenset((word, noun) for word in ("our", "this") for noun in ("chat", "talk", "conversation", "discussion"))


def score(clause: Clause, attribute: str, weight: float, kept: Sequence[Token], dated: bool) -> float | None:
    """How much a statement is worth; None for one without content of its own. Its reason ("because …") adds little."""
    kept = kept[: next((k for k, t in enumerate(kept) if k and t.low in REASONS), len(kept))]
    words = content(kept)
    if not words or any(t.low in _ONLY_TALK for t in kept) or _is_of_chat(kept):
        return None
    if len(words) == 1 and not dated and clause.verb not in _LIFE and words[0] not in _RISES:
        weight -= 0.8
    names = sum(1 for t in kept if t.text[0].isupper() and t.low != "i")
    numbers = sum(1 for t in kept if t.text[0].isdigit() or t.text[0] in "$€£¥")
    total = (
        weight
        + 0.55 * min(len(words), 7)
        + 0.1 * min(len(kept), 12)
        + 0.1 * min(names, 3)
        + 0.2 * min(numbers, 2)
        + 1.1 * dated
        + _BY_ATTRIBUTE.get(attribute, 0.0)
    )
    total += 0.5 * any(t.low in KIN or t.low in KIN_MANY for t in kept)
    if any(t.low == "those" and len(content(kept[k + 1 : k + 3])) < 2 for k, t in enumerate(kept)):
        return None
    total -= 0.6 * any(t.low in ("this", "these", "that", "those") for t in kept[1:])
    if attribute in ("plans", "would_like_to") and kept[0].low in ("this", "that", "these", "those"):
        total -= 0.8
    total -= 0.8 * any(t.low in _TALK for t in kept)
    total -= 1.0 * (clause.negative and "never" not in clause.adverbs) + 0.5 * (
        clause.plural and attribute in ("does", "feels")
    )
    if clause.tense is Tense.PAST_PROGRESSIVE:
        total -= 0.7
    if clause.tense is Tense.FUTURE:
        total -= 0.4
    if clause.tense is Tense.WISH:
        total += 0.4
    return total


def of_thing(subject: Sequence[Token], kept: Sequence[Token]) -> float | None:
    """The same for what is said of a thing."""
    words = content(kept)
    if not content(subject) or not words or any(t.low in _TALK for t in (*subject, *kept)):
        return None
    return (
        -0.3
        + 0.4 * (subject[0].low in ("my", "our"))
        + 0.5 * min(len(words) + len(content(subject)), 7)
        + 0.1 * min(len(subject) + len(kept), 12)
        + 0.3 * any(t.text[0].isdigit() for t in kept)
    )


def of_wish(kept: Sequence[Token], *, is_dream: bool) -> float | None:
    """The same for what is wished or decided without a subject."""
    words = content(kept)
    if not words or any(t.low in _TALK for t in kept):
        return None
    decides = not is_dream and any(t.text[0].isupper() or t.text[0].isdigit() or t.text == '"' for t in kept)
    return 1.2 * is_dream + 0.4 * decides + 0.6 * min(len(words), 6) + 0.1 * min(len(kept), 12)
