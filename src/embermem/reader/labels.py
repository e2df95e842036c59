"""What the reader tells of a message: its labels, in the order of the network's outputs.

The scheme is described in `reader/README.md`, beside the labelled messages.
"""

from __future__ import annotations

__all__ = ["ATTRIBUTES", "CHANGES", "GROUPS", "GROUP_OF", "JUDGED", "PARTS", "PERSONS", "STANCES", "TAGS", "TENSES"]

_GROUPS = {
    "name": "name nickname",
    "identity": "age birthday nationality religion height",
    "contact": "contact",
    "origin": "comes_from",
    "home": "lives_in",
    "job": "works_as",
    "employer": "works_at",
    "study": "studies learns",
    "school": "studies_at",
    "speaks": "speaks",
    "person": "has_relative knows",
    "status": "status",
    "pet": "has_pet",
    "owns": "owns",
    "health": "allergic_to diet has_condition takes afraid_of cannot",
    "like": "likes",
    "prefers": "prefers",
    "does": "does",
    "plans": "plans",
    "wants": "wants",
    "did": "did",
    "instruction": "instruction",
    "task": "goal decision reason done open failed",
    "other": "other",
}
GROUP_OF = {attribute: group for group, names in _GROUPS.items() for attribute in names.split()}
"""The group of each attribute: values of one group are found by one tag, and told apart afterwards."""
GROUPS, ATTRIBUTES = tuple(_GROUPS), tuple(GROUP_OF)
PARTS = ("who", "time", "rel")
"""What else is tagged: the words that name a person, a time, a relation."""
PERSONS = ("I", "you", "third")
STANCES = ("assert", "ask", "suppose", "quote", "joke", "answer")
TENSES = ("now", "past", "future")
CHANGES = ("none", "begin", "end", "fix")
TAGS = (*GROUPS, *PARTS)
JUDGED = {
    "attr": len(ATTRIBUTES) + 1,
    "whose": len(PERSONS),
    "stance": len(STANCES),
    "tense": len(TENSES),
    "neg": 2,
    "change": len(CHANGES),
    "low": 2,
    "trig": 2,
}
"""What a stretch is judged for, and how many answers there are; the last of "attr": no value of its group."""
