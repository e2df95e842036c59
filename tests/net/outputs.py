"""What a store is asked through every face, and its answers as plain data."""

from __future__ import annotations

from typing import Any

from embermem import Memory
from net.life import FADED, MIDDLE, QUESTIONS
from net.plain import Names, plain

Plain = dict[str, Any]
PERSON = "alice"
"""Of whom everything is asked; of the others, less."""
THEN = MIDDLE.isoformat()
BUDGET = 160
"""Tokens: so few that something is left out."""


def owners_of(memory: Any) -> dict[str, Any]:
    """The handles of all owners, by their user's name."""
    return {
        one.user: memory.space(one.space) if one.space else memory.of(one.user, one.agent) for one in memory.owners()
    }


# --------------------------------------------------------------------------------------------------- in this process


def recalled(memory: Memory, preset: Any = None, *, close: bool = False) -> Plain:
    """What each owner is reminded of: at the end of the lives, at their middle, and in a scarce budget. With `close`,
    only what is the same to three digits wherever it runs: ids, scores and texts."""
    found: Plain = {}
    for user, owner in owners_of(memory).items():
        for question in QUESTIONS[user]:
            found[f"{user}: {question}"] = _context(owner.recall(question, preset=preset), close=close)
        question = QUESTIONS[user][0]
        found[f"{user}, few tokens"] = _context(owner.recall(question, preset=preset, budget=BUDGET), close=close)
        if user != "eve":  # of whom all was read anew since
            past = owner.recall(question, preset=preset, as_of=THEN)
            found[f"{user}, then"] = _context(past, close=close)
            found[f"{user}, true then"] = _context(owner.recall(question, preset=preset, valid_at=THEN), close=close)
        found[f"{user}, searched"] = [_hit(hit) for hit in owner.search(question, 5)]
    return found


def _context(context: Any, *, close: bool) -> Plain:
    told = {
        "text": context.text,
        "hits": [_hit(hit) for hit in context.hits],
        "packed": [hit.utterance.seq for hit in context.packed],
        "facts": [fact.id for fact in context.facts],
        "confidence": plain(context.confidence),
    }
    if close:
        return told
    return {
        **told,
        "tokens": context.tokens,
        "counter": context.counter,
        "partial": context.partial,
        "preset": context.preset,
        "rests_on": plain(context.rests_on),
        "persona": _persona(context.persona),
        "left_out": [f"{one.score:.6f} {one.reason}: {one.what}" for one in context.left_out],
        "explain": [str(context.explain(hit)) for hit in context.hits[:3]],
    }


def _hit(hit: Any) -> list[Any]:
    """Rank, score, where it is, what it is."""
    return [hit.rank, plain(hit.score), plain(hit.tier), hit.segment_id, hit.utterance.id]


def _persona(persona: Any) -> Plain:
    """By its ids and names: the records are told elsewhere."""
    return {
        "profile": [[line.name, line.value] for line in persona.profile],
        "agent_profile": [[line.name, line.value] for line in persona.agent_profile],
        "traits": [[trait.dimension, plain(trait.level)] for trait in persona.traits],
        "facts": [fact.id for fact in (*persona.facts, *persona.agent_facts)],
    }


def brief(memory: Memory) -> Plain:
    """The same with fewer words, of a migrated store: what its migration must have kept."""
    found: Plain = {}
    for user, owner in owners_of(memory).items():
        facts = (*owner.facts(), *owner.facts(archived=True), *owner.past_facts())
        found[user] = {
            "said": [[page.id, plain(page.tier), *(one.text for one in page.utterances)] for page in owner.pages()],
            "facts": plain(facts),
            "traits": plain(owner.traits()),
            "profile": plain((*owner.profile(), *owner.agent_profile())),
            "segments": plain((*owner.segments(), *owner.segments(archived=True))),
            "chains": [[chain.id, chain.summary, len(chain.page_ids)] for chain in owner.chains()],
            "conflicts": [[one.older.id, one.newer.id] for one in owner.conflicts()],
            "changes": [[one.no, plain(one.cause), len(one.decisions)] for one in owner.changes()],
            "recalled": [_hit(hit) for hit in owner.recall(QUESTIONS[user][0]).hits[:5]],
        }
    return {**found, "calls": len(memory.calls(FADED)), "keys": [key.name for key in memory.keys.all_keys()]}


def lived(memory: Memory) -> Plain:
    """What a store says of lives that were just lived in it; only what is the same to three digits wherever it runs.
    Ids that chance made are named by the order in which they appear."""
    owners = owners_of(memory)
    told = {
        "recalled": recalled(memory, close=True),
        "segments": {
            user: [[list(one.page_ids), list(one.keywords), one.summary] for one in owner.segments()]
            for user, owner in owners.items()
        },
        "facts": {
            user: sorted([one.attribute, one.text, len(one.sources)] for one in owner.facts())
            for user, owner in owners.items()
        },
    }
    return Names().of(told)  # type: ignore[no-any-return]
