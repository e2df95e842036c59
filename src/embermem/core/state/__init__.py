"""What is understood of one owner: the fold of the changes of its log. Pure, over plain records; no database is known
here.

A moment is the number of a change. Each item holds its versions, each with the numbers of the changes that began and
ended it, so that the newest state and one of the past are the same read: `state.at(no)`. The state has two parts, which
are folded apart: the persona, and topics.
"""

from embermem.core.state.facts import FactHistory, FactState, sorted_sources
from embermem.core.state.persona import PERSONA_KINDS, PersonaMoment, PersonaState
from embermem.core.state.topics import (
    NEVER,
    TOPIC_KINDS,
    Spans,
    TopicMoment,
    TopicRows,
    TopicState,
    alike_of_topics,
)
from embermem.core.state.versions import Version, Versions
from embermem.core.state.visits import NO_VISITS, Visits, analysed, visits

__all__ = [
    "NEVER",
    "NO_VISITS",
    "PERSONA_KINDS",
    "TOPIC_KINDS",
    "FactHistory",
    "FactState",
    "PersonaMoment",
    "PersonaState",
    "Spans",
    "TopicMoment",
    "TopicRows",
    "TopicState",
    "Version",
    "Versions",
    "Visits",
    "alike_of_topics",
    "analysed",
    "sorted_sources",
    "visits",
]
