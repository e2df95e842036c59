"""Labelled messages: `README.md` describes the labels.

Texts are those of `encoder/data/people`, of `data/people`, and of talk of other sources in a folder that is not in this
repository.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from embermem.reader.labels import GROUP_OF

__all__ = ["REQUESTS", "Claim", "Labelled", "labelled", "requests"]

HERE = Path(__file__).parent
PEOPLE = (HERE.parent / "encoder" / "data" / "people", HERE / "data" / "people")
REQUESTS = HERE / "data" / "requests"
TALK = "talk"
"""The writer of all messages that are not ours."""
FLAGS = frozenset(("past", "future", "not", "begin", "end", "fix", "ask", "suppose", "quote", "joke", "answer", "low"))

_NAMES, _LANGUAGE = re.compile(r"(user|agent): ([^;]+)"), re.compile(r"lang: ([^;]+)")
_LINE = re.compile(r'(\d+) (\S+) (I|you|@"[^"]*"|@\S+) (~?)"((?:[^"]|"(?! ?$| [a-z]))*)"((?: .*)?)')
_FLAG = re.compile(r'(time|rel|is)="([^"]*)"|(\S+)')
_PLACE = re.compile(r"(\d+):(\d+)")

Span = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One label: the places of its words in the message; `who` is None for the speaker and for who listens."""

    attribute: str
    value: Span
    event: bool
    person: str
    who: Span | None
    time: Span | None
    relation: Span | None
    flags: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Labelled:
    """A message of a person with its labels, and the one before it in the same session. Names are empty where the
    speaker has none. `language` is what the file says; empty for talk of other sources. `only` names the one attribute
    that is labelled, where not all are."""

    id: str
    writer: str
    language: str
    speaker: str
    text: str
    before: tuple[str, str] | None
    claims: tuple[Claim, ...]
    only: str = ""


@dataclass(frozen=True, slots=True)
class _Said:
    speaker: str
    text: str
    session: int
    by_agent: bool


def labelled(talk: Path | None) -> list[Labelled]:
    """All labelled messages. Raises ValueError for a label that is not of the form, or whose words are not there."""
    found: list[Labelled] = []
    for path in sorted((HERE / "data" / "labels").glob("w*/*.lab")):
        writer, name = path.parent.name, path.stem
        text = next(folder / writer / f"{name}.txt" for folder in PEOPLE if (folder / writer / f"{name}.txt").exists())
        language, said = _life(text)
        claims: defaultdict[int, list[Claim]] = defaultdict(list)
        for line in _lines(path):
            number, claim = _claim(line, said)
            claims[number].append(claim)
        found += _messages(f"{writer}-{name}", writer, language, said, claims)
    return found + list(_talk(talk)) if talk is not None else found


def requests() -> Iterator[Labelled]:
    """The messages of `data/requests`, labelled with the wishes for all that follows, and with nothing else. Raises
    ValueError for a clause that is not in its text."""
    for path in sorted(REQUESTS.glob("*.jsonl")):
        for number, line in enumerate(_lines(path)):
            one = json.loads(line)
            places = (_find(one["text"], clause, 0) for clause in one["standing"])
            yield Labelled(
                id=f"{path.stem}/{number}",
                writer=path.stem,
                language=one["lang"],
                speaker="user",
                text=one["text"],
                before=None,
                claims=tuple(map(_wish, places)),
                only="instruction",
            )


def _wish(place: Span | None) -> Claim:
    if place is None:
        raise ValueError("a clause is not in its text")
    return Claim(
        attribute="instruction",
        value=place,
        event=False,
        person="I",
        who=None,
        time=None,
        relation=None,
        flags=frozenset(),
    )


def _talk(folder: Path) -> Iterator[Labelled]:
    turns: dict[str, list[_Said]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in _lines(path):
            one = json.loads(line)
            turns[one["id"]] = [_Said("", " ".join(turn["text"].split()), 0, False) for turn in one["turns"]]
    of_talks: defaultdict[str, defaultdict[int, list[Claim]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted((HERE / "data" / "labels" / TALK).glob("*.lab")):
        for line in _lines(path):
            name, number, *rest = line.split(" ")
            if name in turns:
                of_talks[name][int(number)].append(_placed(rest, turns[name][int(number)].text))
    for name, claims in of_talks.items():
        yield from _messages(name, TALK, "", turns[name], claims)


def _messages(
    name: str, writer: str, language: str, said: Sequence[_Said], claims: defaultdict[int, list[Claim]]
) -> Iterator[Labelled]:
    for number, one in enumerate(said):
        if one.by_agent:
            continue
        last = said[number - 1] if number and said[number - 1].session == one.session else None
        yield Labelled(
            id=f"{name}/{number}",
            writer=writer,
            language=language,
            speaker=one.speaker,
            text=one.text,
            before=None if last is None else (last.speaker, last.text),
            claims=tuple(claims[number]),
        )


def _life(path: Path) -> tuple[str, list[_Said]]:
    """The language that the head of a file names, and what is said in it."""
    head, *lines = _lines(path)
    names = {kind[0]: name.strip() for kind, name in _NAMES.findall(head)}
    said: list[_Said] = []
    session = 0
    for line in lines:
        if line.startswith("## "):
            session += 1
        elif line.startswith("\t"):
            last = said.pop()
            said.append(_Said(last.speaker, f"{last.text}\n{line.strip()}", last.session, last.by_agent))
        else:
            speaker, _, text = line.partition(":")
            speaker = speaker.strip()
            said.append(_Said(names.get(speaker, speaker), text.strip(), session, speaker == "a"))
    language = _LANGUAGE.search(head)
    return language.group(1).strip() if language else "", said


def _claim(line: str, said: Sequence[_Said]) -> tuple[int, Claim]:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise ValueError(f"no label: {line!r}")
    number, attribute, who, event, value, rest = match.groups()
    text = said[int(number)].text
    told = {key: words for key, words, _ in _FLAG.findall(rest) if key}
    place = _find(text, value, 0)
    if place is None or attribute not in GROUP_OF:
        raise ValueError(f"the words are not in the message, or no attribute: {line!r}")
    named = who[1:].strip('"') if who.startswith("@") else ""
    relation = _find(text, told["rel"], place[0]) if "rel" in told and not event else None
    return int(number), Claim(
        attribute=attribute,
        value=place,
        event=bool(event),
        person=_whose(attribute, "third" if named else who),
        who=_find(text, named, place[0]) if named else None,
        time=_find(text, told["time"], place[0]) if "time" in told else None,
        relation=None if relation == place else relation,
        flags=frozenset(flag for *_, flag in _FLAG.findall(rest) if flag) & FLAGS,
    )


def _placed(parts: Sequence[str], text: str) -> Claim:
    """A label of talk: its words are given by their places."""
    attribute, who, value, *rest = parts
    told = dict(part.split("=", 1) for part in rest if "=" in part)
    return Claim(
        attribute=attribute,
        value=_span(value.removeprefix("~")),
        event=value.startswith("~"),
        person=_whose(attribute, "third" if who.startswith("@") else who),
        who=_span(who[1:]) if who.startswith("@") else None,
        time=_span(told["time"]) if "time" in told else None,
        relation=_span(told["rel"]) if _PLACE.fullmatch(told.get("rel", "")) else None,
        flags=frozenset(rest) & FLAGS,
    )


def _whose(attribute: str, person: str) -> str:
    """Of whom a label tells; an instruction is the speaker's wish, whoever is to follow it."""
    return "I" if attribute == "instruction" else person


def _span(words: str) -> Span:
    start, end = map(int, words.split(":"))
    return start, end


def _find(text: str, words: str, near: int) -> Span | None:
    """Where words stand in a text; of several places the one that is nearest."""
    places = [match.start() for match in re.finditer(re.escape(words), text)]
    start = min(places, key=lambda place: abs(place - near), default=None)
    return None if start is None else (start, start + len(words))


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
