"""Good answers to Ember's own questions, as a small and obedient model would give them, by rule.

    server = ModelServer(answer)

The same pages always get the same answers, whatever else stands in the request: what is remembered after failures can
be compared with what is remembered without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from embermem import languages
from embermem.core.traits import dimensions_by_name
from embermem.languages.words import sentences, terms

__all__ = ["answer"]

Json = dict[str, Any]

_DATA = re.compile(r"^<<(?P<nonce>[a-z]+)$\n(?P<data>.*?)^(?P=nonce)>>$", re.MULTILINE | re.DOTALL)
_PAGE = re.compile(r"(p\d+)(?: (t\d+))?(?: \d{4}-\d\d-\d\d)?")
_BEFORE = re.compile(r"(t\d+) before: (.*)")
_SPOKEN = re.compile(r"(?:(?P<id>u\d+) )?(?P<side>user|agent|system|tool)(?: (?P<name>[^:]{1,40}))?: (?P<text>.*)")
_KNOWN = re.compile(r"(f\d+) user (?:([^:=]+): )?([^=]+)=(.*)")
_CLAIM = re.compile(r"(c\d+) ([^:=]+)=(.*)")
_SUMMARY = re.compile(r"^summary so far: (.*)$", re.MULTILINE)
_SENTENCE = 120
"""Characters of a first sentence that a summary takes."""
_STATEMENTS = (
    ("name", re.compile(r"\b[Mm]y name is (?P<v>[A-Z]\w+)"), "is called {}"),
    ("lives_in", re.compile(r"\bI (?:live|moved|have moved)(?: in| to) (?P<v>[A-Z]\w+)"), "lives in {}"),
    ("works_as", re.compile(r"\bI work as an? (?P<v>[a-z]+)"), "works as {}"),
    ("likes", re.compile(r"\bI (?:really )?(?:like|love|enjoy) (?P<v>[a-z]+(?: [a-z]+)?)"), "likes {}"),
    ("name", re.compile(r"我叫(?P<v>[一-鿿]{2,3})(?=[，。！,.!]|$)"), "名叫{}"),
    ("lives_in", re.compile(r"我(?:住在|搬到(?:了)?)(?P<v>[一-鿿]{2,3})(?=[，。！了,.!]|$)"), "住在{}"),
    ("likes", re.compile(r"我喜欢(?P<v>[一-鿿]{1,4})(?=[，。！,.!]|$)"), "喜欢{}"),
)
_SINGLE = frozenset({"name", "lives_in", "works_as"})


def answer(request: Mapping[str, Any]) -> Json:
    """The answer to the body of a chat request (OpenAI's, Anthropic's or Google's form) that holds one of Ember's
    questions about pages. Raises ValueError if it holds none."""
    blocks = [found["data"] for text in _texts(request) for found in _DATA.finditer(text)]
    for data in reversed(blocks):  # a repair round stands after the question it repeats
        lines = data.splitlines()
        if any(_PAGE.fullmatch(line) for line in lines):
            return _annotated(lines)
        if _SUMMARY.search(data):
            return _profiled(lines)
        if any(_is_said(line) for line in lines):
            return {"facts": _profiled(lines)["facts"]}
    raise ValueError("the request holds no question of Ember's about pages")


def _texts(value: object) -> Iterator[str]:
    """All texts of a body, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def _annotated(lines: list[str]) -> Json:
    before: dict[str, list[str]] = {}
    pages: list[Json] = []
    read: list[tuple[str, str, list[tuple[str, str]]]] = []
    for line in lines:
        if found := _PAGE.fullmatch(line):
            read.append((found[1], found[2] or read[-1][1], []))
        elif found := _BEFORE.fullmatch(line):
            before.setdefault(found[1], []).append(_first(_said(found[2])))
        elif read and (spoken := _SPOKEN.fullmatch(line)):
            read[-1][2].append((spoken["name"] or "", spoken["text"]))
    for name, thread, messages in read:
        said = [_first(text) for _, text in messages]
        own = [term for text in said for term in terms(text)]
        shared = set(own) & {term for text in before.get(thread, []) for term in terms(text)}
        words = list(dict.fromkeys(word for text in said for word in re.findall(r"\w{4,}", text)))
        pages.append(
            {
                "id": name,
                "continues": thread in before and bool(shared),
                "summary": _told([_telling(messages)]),
                "keywords": words[:6] or ["talk"],
            }
        )
        before[thread] = said[:2]
    return {"pages": pages}


def _profiled(lines: list[str]) -> Json:
    known: dict[tuple[str, str, str], str] = {}
    single: dict[tuple[str, str], str] = {}
    claims: dict[tuple[str, str], str] = {}
    facts: list[Json] = []
    traits: list[Json] = []
    firsts: list[tuple[str, str]] = []
    for line in lines:
        if found := _KNOWN.fullmatch(line):
            whose, attribute = found[2] or "", found[3].replace(" ", "_")
            known[whose, attribute, found[4].casefold()] = single[whose, attribute] = found[1]
        if found := _CLAIM.fullmatch(line):
            claims[found[2].replace(" ", "_"), found[3].casefold()] = found[1]
        spoken = _SPOKEN.fullmatch(line)
        if spoken is None or spoken["id"] is None:
            continue
        firsts.append((spoken["name"] or "", _first(spoken["text"])))
        if spoken["side"] != "user":
            continue
        for attribute, value, text in _stated(spoken["text"]):
            action, fact = _action(spoken["name"] or "", attribute, value, known, single)
            what = {"subject": "user", "attribute": attribute, "value": value, "text": text}
            facts.append({"evidence": [spoken["id"]], **what, "action": action, "fact": fact})
            if attribute == "likes" and value in dimensions_by_name():
                traits.append({"evidence": [spoken["id"]], "dimension": value, "level": 0.6})
    ended: set[str] = set()
    for note in facts:
        if note["action"] == "supersede" and note["fact"] in ended:
            note |= {"action": "add", "fact": ""}  # a fact is ended once
        ended.add(note["fact"])
    said = {(note["attribute"], note["value"].casefold()) for note in facts}
    confirmed = [name for what, name in claims.items() if what in said]
    told = {"title": "", "summary": _told(firsts), "traits": traits}
    return {"facts": facts, "confirmed": confirmed, "dropped": [], **told}


def _stated(text: str) -> Iterator[tuple[str, str, str]]:
    for attribute, pattern, template in _STATEMENTS:
        for found in pattern.finditer(text):
            if languages.of(template.format("")) is languages.of(found[0]):
                yield attribute, found["v"], template.format(found["v"])


def _action(
    whose: str,
    attribute: str,
    value: str,
    known: Mapping[tuple[str, str, str], str],
    single: Mapping[tuple[str, str], str],
) -> tuple[str, str]:
    if (whose, attribute, value.casefold()) in known:
        return "same", known[whose, attribute, value.casefold()]
    if attribute in _SINGLE and (whose, attribute) in single:
        return "supersede", single[whose, attribute]
    return "add", ""


_SAY = {"zh": ("他们说：", "{}说：")}
_SAY_ENGLISH = "They say: ", "{} says: "


def _told(said: Sequence[tuple[str, str]]) -> str:
    """What was said, each sentence by whom if they have a name."""
    told = [(who, text) for who, text in said if terms(text)]
    nameless, named = _SAY.get(languages.of(" ".join(text for _, text in told)).code, _SAY_ENGLISH)
    if not any(who for who, _ in told):
        text = " ".join(text for _, text in told)[:400].strip()
        return f"{nameless}{text}" if text else "They talk."
    return " ".join(f"{named.format(who)}{text}" if who else text for who, text in told)[:400].strip()


def _telling(messages: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """The sentence of a page's messages that has the most words, the first of several."""
    said = [(who, text[start:end][:_SENTENCE]) for who, text in messages for start, end in sentences(text)]
    return max(said, key=lambda one: len({*terms(one[1])}), default=("", ""))


def _is_said(line: str) -> bool:
    found = _SPOKEN.fullmatch(line)
    return found is not None and bool(found["id"])


def _said(line: str) -> str:
    found = _SPOKEN.fullmatch(line)
    return found["text"] if found else line


def _first(text: str) -> str:
    spans = sentences(text)
    return (text[spans[0][0] : spans[0][1]] if spans else text)[:_SENTENCE]
