"""Answers to the model analyst's questions about the bundled year of talk, as a good model would give them, by rule.

    server = ModelServer(year.answer)

It knows the pages it is shown and the known facts beside them, nothing of the questions that are asked of the year.
What it reads beyond the extractive analyst: what is told of others, plans and their end, what is put in other words,
and what somebody else claims, which it hands on as the end of what was known (code decides that both stay).
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from embermem.core.text import fold
from embermem.testing import answers
from embermem_bench.scripted.systems import shown

__all__ = ["answer"]

_SPOKEN = re.compile(r"(?P<id>u\d+) (?P<side>user|agent)(?: [^:]{1,40})?: (?P<text>.*)")
_KNOWN = re.compile(r"(?P<id>f\d+) user (?:(?P<subject>[^:=]+): )?(?P<attribute>[^=]+)=(?P<value>.*)")
_USER, _SPEAKER = "user", "signe"
_SINGLE = frozenset({"name", "lives_in", "works_as", "works_at", "marital_status", "address", "phone_number"})
_FIELDS = {"name": "name", "lives_in": "home", "works_as": "occupation"}
_KIN = r"brother|sister|friend|colleague|boyfriend"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rule:
    """What a text that the pattern finds says: group `v` is the value, `who` whom it is about (else the user).
    `value` and `text` have a place for what was found. `ends`: it is so no longer."""

    attribute: str
    pattern: re.Pattern[str]
    text: str
    value: str = "{}"
    ends: bool = False


def _says(attribute: str, pattern: str, text: str, *, value: str = "{}", ends: bool = False) -> _Rule:
    return _Rule(attribute=attribute, pattern=re.compile(pattern), text=text, value=value, ends=ends)


_PLACE = r"(?P<v>[A-Z]\w+)"
_NOUNS = r"(?P<v>[a-z]+(?: [a-z]+){0,3}?)(?=[.,]| and| I)"
_BY_NAME = re.compile(rf"^(?:{_SPEAKER}'s )?(?:{_KIN}) (?=[A-Z])")
"""What stands before the name of somebody."""
_RULES = (
    _says("name", r"\bI'm (?P<v>[A-Z]\w+ [A-Z]\w+)", "is called {}"),
    _says("lives_in", rf"\b(?:I live in|(?:I|we) moved to) {_PLACE}", "lives in {}"),
    _says("lives_in", rf"\b[Mm]y (?P<who>(?:{_KIN}) [A-Z]\w+) lives in {_PLACE}", "lives in {}"),
    _says("lives_in", r"我(?P<who>妈妈)住在(?P<v>[一-鿿]{2})", "住在{}"),
    _says("works_as", r"\b(?:I work as|new job as|started working as) an? (?P<v>[a-z]+(?: [a-z]+)??) at [A-Z]", "works as {}"),
    _says("works_as", rf"\b[Mm]y (?P<who>(?:{_KIN}) [A-Z]\w+) works as an? (?P<v>[a-z]+)", "works as {}"),
    _says("works_at", r"\b(?:I work as|new job as|started working as) an? [a-z ]+? at (?P<v>[A-Z]\w+ [A-Z]\w+)", "works at {}"),
    _says("works_at", r"\bI left my job at (?P<v>[A-Z]\w+ [A-Z]\w+)", "works at {}", ends=True),
    _says("repairs", rf"\b[Mm]y (?P<who>(?:{_KIN}) [A-Z]\w+) [^.]*\brepairs (?P<v>[a-z ]+)", "repairs {}"),
    _says("workshop", rf"\b(?P<who>(?:{_KIN}) [A-Z]\w+) has [^.]*\b(?P<v>closed) the workshop", "has {} the workshop"),
    _says("workshop", rf"\b[Mm]y (?P<who>(?:{_KIN}) [A-Z]\w+) called\. The workshop is open", "", value="closed", ends=True),
    _says("has_relative", r"\b(?P<who>[A-Z]\w+) had her baby\b.*\bgirl\b.*\bcalled (?P<v>[A-Z]\w+)", "has a daughter, a girl called {}", value="daughter {}"),
    _says("speaks", r"\bI (?:can )?speak (?P<v>[A-Z]\w+(?: and [A-Z]\w+)?)", "speaks {}"),
    _says("learns", r"\bI'm learning (?P<v>[A-Z]\w+)", "is learning {}"),
    _says("teacher", r"\b(?P<v>[A-Z]\w+) teaches me\b", "has {} as a teacher"),
    _says("plays", r"\bI(?:'ve)? play(?:ed)? (?P<v>the cello)", "plays {}"),
    _says("likes", rf"\bI (?:(?:really )?love|like) (?!to ){_NOUNS}", "likes {}"),
    _says("likes", r"我喜欢(?P<v>[一-鿿]+)", "喜欢{}"),
    _says("avoids", r"我(?:从来)?不吃(?P<v>[一-鿿]{2})", "不吃{}"),
    _says("allergic_to", r"\bI'm allergic to (?P<v>[a-z]+)", "is allergic to {}"),
    _says("allergic_to", r"\bturned out not to be [a-z]+ but (?P<v>[a-z]+)", "is allergic to {}"),
    _says("allergic_to", r"\bturned out not to be (?P<v>[a-z]+) but", "is allergic to {}", ends=True),
    _says("allergic_to", r"\bI'm not allergic to (?P<v>[a-z]+)", "is allergic to {}", ends=True),
    _says("prepares_for", r"\bI'm training for a (?P<v>half marathon)", "is preparing for a {}"),
    _says("prepares_for", r"\bI'm no longer training for a (?P<v>half marathon)", "is preparing for a {}", ends=True),
    _says("wants_to", r"\bI want to (?P<v>[a-z]+ (?:to|a) [a-z]+)", "wants to {}"),
    _says("wants_to", r"\bI finally learned to (?P<v>[a-z]+)", "wants to {}", value="learn to {}", ends=True),
    _says("wants_to", rf"\boffered work in {_PLACE}\. We are planning to move there", "wants to {}", value="move to {}"),
    _says("wants_to", rf"\bThe {_PLACE} plan is off", "wants to {}", value="move to {}", ends=True),
    _says("marital_status", r"\bI'm (?P<v>engaged|single)\b", "is {}"),
    _says("separated_from", r"\b(?P<v>[A-Z]\w+) and I broke up\b", "broke up with {}"),
    _says("has_pet", r"\bMy (?P<v>dog [A-Z]\w+)(?! died)\b", "has the {}"),
    _says("has_pet", r"\bMy (?P<v>dog [A-Z]\w+) died\b", "has the {}", ends=True),
    _says("has_pet", r"\bI adopted (?P<v>a cat named [A-Z]\w+)", "has {}"),
    _says("address", r"\bmy address is (?P<v>[A-Z]\w+ \d+)", "has the address {}"),
    _says("phone_number", r"\bmy phone number is (?P<v>[\d ]+\d)", "has the phone number {}"),
)  # fmt: skip
_CLAIMED = {"workshop": "repairs"}
"""What a claim, were it true, would put an end to."""

_Action = Literal["add", "same", "supersede", "retire"]


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to the body of a chat request that holds one of Ember's questions about pages. Raises ValueError if it
    holds none."""
    made = answers.answer(request)
    if "facts" not in made:
        return made
    read = _Reading()
    for line in shown(request).splitlines():
        read.line(line)
    return {**made, "facts": read.facts, "profile": read.fields, "traits": read.traits}


@dataclass(slots=True)
class _Reading:
    """What a question shows, line by line, and what is said of it."""

    known: dict[tuple[str, str, str], str] = field(default_factory=dict)
    facts: list[dict[str, Any]] = field(default_factory=list)
    fields: list[dict[str, Any]] = field(default_factory=list)
    traits: list[dict[str, Any]] = field(default_factory=list)

    def line(self, line: str) -> None:
        """A known fact, or what the user's side said; all else tells nothing."""
        if fact := _KNOWN.fullmatch(line):
            subject = _USER if fact["subject"] in (None, _SPEAKER) else _BY_NAME.sub("", fact["subject"])
            attribute = fact["attribute"].replace(" ", "_")
            self.known[subject, attribute, fold(fact["value"])] = fact["id"]
        elif (said := _SPOKEN.fullmatch(line)) and said["side"] == "user":
            for rule, found in _found(said["text"]):
                self._note(rule, found, said["id"])

    def _note(self, rule: _Rule, found: re.Match[str], evidence: str) -> None:
        given = found.groupdict()
        value = rule.value.format(given.get("v", ""))
        subject = given.get("who") or _USER
        action, fact = self._action(_BY_NAME.sub("", subject), rule, value)
        if action is None:
            return
        text = rule.text.format(value if rule.value != "{}" else given.get("v", ""))
        self.facts.append(
            {
                "action": action,
                "fact": fact,
                "who": "user",
                "subject": subject,
                "attribute": rule.attribute,
                "value": value,
                "text": text or value,
                "evidence": [evidence],
            }
        )
        if subject == _USER and rule.attribute in _FIELDS and not rule.ends:
            self.fields.append({"name": _FIELDS[rule.attribute], "value": value, "evidence": [evidence]})
        if rule.attribute == "plays":
            self.traits.append({"dimension": "music", "level": 0.7, "confidence": 0.5, "evidence": [evidence]})

    def _action(self, subject: str, rule: _Rule, value: str) -> tuple[_Action | None, str]:
        same = self.known.pop((subject, rule.attribute, fold(value)), None)
        if rule.ends:
            return ("retire", same) if same is not None else (None, "")
        if same is not None:
            self.known[subject, rule.attribute, fold(value)] = same
            return "same", same
        ended = _CLAIMED.get(rule.attribute) or (rule.attribute if rule.attribute in _SINGLE else None)
        old = next((key for key in self.known if key[:2] == (subject, ended)), None)
        return ("supersede", self.known.pop(old)) if old is not None else ("add", "")


def _found(text: str) -> Iterator[tuple[_Rule, re.Match[str]]]:
    """What the rules find in a text, as it stands there from left to right."""
    found = [(match.start("v") if "v" in match.groupdict() else match.start(), i, match)
             for i, rule in enumerate(_RULES) for match in rule.pattern.finditer(text)]  # fmt: skip
    for _, i, match in sorted(found, key=lambda one: one[:2]):
        yield _RULES[i], match
