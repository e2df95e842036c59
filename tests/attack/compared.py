"""All rows before and after a forgetting: what may differ is what rests on what was forgotten, and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import state_rows
from attack.words import found_in
from embermem.core.types import Forgotten, thread_of
from embermem.core.user_overrides import plain
from embermem.languages.words import sentences
from embermem.store import schema
from soundness import looking

Row = dict[str, Any]
Rows = dict[str, list[Row]]

_KEYS = {
    **state_rows.KEYS,
    **{table.name: tuple(column.name for column in table.primary_key) for table in schema.metadata.sorted_tables},
    "source": ("item", "item_id", "change_no", "seq", "start", "end"),
}
_OWN = ("user", "agent", "timezone", "created_at", "seq", "pages")
"""Columns of an owner's row that a forgetting leaves; the others say how far the log is."""
_SETTINGS = ("scrub_due", "scrubbed", "nonce_key", "born_after", "forgotten_key_mark")
"""Settings of the store that a forgetting may change."""
_MODEL = "model:"
"""Begins the names of analysts that are models."""
_PROPOSED = ("facts", "traits", "profile")
"""Columns of a note: what an analyst proposed from its page, as JSON."""
_UNCOUNTED = {"page": ("touched_no",), "segment": ("touched_no",), "change": ()}


def taken(place: str | Path) -> Rows:
    """Every row of every table, and of what the log says of personas, topics and visits; not the checkpoints, which
    say that again."""
    with looking(place) as look:
        found = {
            table.name: look(f'SELECT * FROM "{table.name}"')
            for table in schema.metadata.sorted_tables
            if table not in (schema.checkpoint, schema.checkpoint_part)
        }
        told = state_rows.state_rows(look)
        visits = [row for owner in found["owner"] for row in _visits(look, owner["owner_id"], found["visit"])]
    return {**found, **told, "visit": visits}


def _visits(look: Callable[..., list[Row]], owner_id: str, waiting: list[Row]) -> Iterator[Row]:
    """The visits of an owner's items, those that wait and those that the next change has taken alike."""
    mine = [row for row in waiting if row["owner_id"] == owner_id]
    for item_id, (times, at) in state_rows.visits(state_rows.log_of(look, owner_id), mine).items():
        yield {"owner_id": owner_id, "item_id": item_id, "visits": times, "visited_at": at}


def differences(before: Rows, after: Rows, owner_id: str, done: Forgotten) -> list[str]:
    """What differs and may not, in words without the texts."""
    return [*_of_others(before, after, owner_id), *_of_owner(_owned(before, owner_id), _owned(after, owner_id), done)]


def _owned(rows: Rows, owner_id: str) -> Rows:
    return {name: [row for row in some if row.get("owner_id") == owner_id] for name, some in rows.items()}


def _of_others(before: Rows, after: Rows, owner_id: str) -> Iterator[str]:
    for name in before:
        old, new = (
            Counter(
                repr(row)
                for row in rows[name]
                if row.get("owner_id") != owner_id and not (name == "store" and row["key"] in _SETTINGS)
            )
            for rows in (before, after)
        )
        if old != new and name == "store":
            keys = {
                row["key"] for rows in (before, after) for row in rows[name] if (repr(row) in old) != (repr(row) in new)
            }
            yield f"store: settings changed: {', '.join(sorted(keys))}"
        elif old != new:
            yield f"{name}: {(old - new).total()} rows of others went or changed, {(new - old).total()} came"


def _of_owner(before: Rows, after: Rows, done: Forgotten) -> Iterator[str]:
    impact = Impact(before, done)
    for name in before:
        new = {_key(name, row): row for row in after[name]}
        old = {_key(name, row): row for row in before[name]}
        for key, row in old.items():
            if impact.reaches(name, row):
                continue
            if key not in new:
                yield f"{name} {key}: the row went"
            elif changed := _changed(name, row, new[key]):
                yield f"{name} {key}: {', '.join(changed)} changed"
        for key, row in new.items():
            fresh = row.get("change_no", row.get("no")) == done.change_no
            if key not in old and not fresh and not impact.reaches(name, row):
                yield f"{name} {key}: a row came"


def _key(name: str, row: Row) -> tuple[Any, ...]:
    return tuple(row[column] for column in _KEYS[name] if column != "owner_id")


def _changed(name: str, old: Row, new: Row) -> list[str]:
    columns = _OWN if name == "owner" else [one for one in old if one not in _UNCOUNTED.get(name, ())]
    return [f"{one} ({_size(old[one])} → {_size(new[one])})" for one in columns if old[one] != new[one]]


def _size(value: object) -> str:
    return f"{len(value)} characters" if isinstance(value, (str, bytes)) else repr(value)


class Impact:
    """What of an owner's rows rests on what was forgotten: by its sources, by membership of a chain or segment,
    by being what a fact that went had replaced."""

    def __init__(self, before: Rows, done: Forgotten) -> None:
        self._pages, self._utterances = {*done.pages}, {*done.utterances}
        going = "\n".join(row["text"] for row in before["utterance"] if row["id"] in self._utterances)
        staying = "\n".join(row["text"] for row in before["utterance"] if row["id"] not in self._utterances)
        self._cores = found_in(going) - found_in(staying)
        self._sentences = {going[start:end].strip() for start, end in sentences(going)}
        self._sentences = {one for one in self._sentences if one and one not in staying}
        self._seqs = {row["seq"] for row in before["utterance"] if row["id"] in self._utterances}
        self._threads = {row["thread"] for row in before["page"] if row["page_id"] in self._pages}
        resting = {(row["item"], row["item_id"]) for row in before["source"] if row["seq"] in self._seqs}
        placed = [
            row for name in ("page", "note", "membership") for row in before[name] if row["page_id"] in self._pages
        ]
        self._chains = {row["chain_id"] for row in placed if row.get("chain_id")} | _named(resting, "chain")
        self._segments = {row["segment_id"] for row in placed if row.get("segment_id")} | _named(resting, "segment")
        self._chains |= {row["chain_id"] for row in before["chain"] if self._tells(row)}
        self._segments |= {row["segment_id"] for row in before["segment_text"] if self._tells(row)}
        if any(row["analyst"].startswith(_MODEL) for row in before["change"]):
            self._segments |= self._telling_of_chains(before)
        self._facts = self._reached_facts(before, {*done.facts} | _named(resting, "fact"))
        self._values = {plain(row["value"]) for row in before["fact"] if row["fact_id"] in done.facts}
        self._traits = _named(resting, "trait") | {*done.traits}
        self._lines = _named(resting, "profile") | {*done.profile}
        self._people = _named(resting, "person")
        self._mirroring = self._lines_of_facts(before, {*done.facts})
        self._mentions = self._pages | self._utterances | self._chains | self._segments | self._facts | self._traits
        self._numbers = {row["no"] for row in before["change"] if self._told(row["decisions"])}
        self._numbers |= {row["no"] for row in before["change_source"] if row["seq"] in self._seqs}

    def reaches(self, name: str, row: Row) -> bool:
        """Whether a row may be changed, or go. One with a rare word or a sentence of what goes alone must be."""
        if self._tells(row):
            return True
        match name:
            case "utterance" | "utterance_value" | "embedding":
                return row["seq"] in self._seqs
            case "change_source":
                return row["seq"] in self._seqs or row["no"] in self._numbers
            case "original":
                return row["item_id"] in self._utterances or thread_of(row["item_id"]) in self._threads
            case "page" | "membership":
                return row["page_id"] in self._pages
            case "document":
                return thread_of(row["document_id"]) in self._threads
            case "note":
                return row["page_id"] in self._pages or any(self._told(row[one]) for one in _PROPOSED)
            case "receipt":
                return not self._seqs.isdisjoint(range(row["first_seq"], row["last_seq"] + 1))
            case "chain":
                return row["chain_id"] in self._chains
            case "segment" | "segment_text":
                return row["segment_id"] in self._segments
            case "fact" | "fact_state":
                return row["fact_id"] in self._facts
            case "visit":
                return row["item_id"] in self._facts or row["item_id"] in self._segments
            case "trait":
                return row["dimension"] in self._traits
            case "person":
                return ".".join((row["relation"], row["one"], row["other"])) in self._people
            case "profile":
                name = f"{row['whose']}.{row['name']}"
                return name in self._lines or (name, row["change_no"]) in self._mirroring
            case "source":
                if row["item"] == "profile" and (row["item_id"], row["change_no"]) in self._mirroring:
                    return True
                return row["seq"] in self._seqs or self._owns(row["item"], row["item_id"])
            case "change":
                return self._told(row["decisions"])
            case _:
                return False

    def _tells(self, row: Row) -> bool:
        told = "\n".join(one for one in row.values() if isinstance(one, str))
        return bool(found_in(told) & self._cores) or any(one in told for one in self._sentences)

    def _owns(self, item: str, item_id: str) -> bool:
        groups = {"chain": self._chains, "segment": self._segments, "fact": self._facts}
        groups |= {"trait": self._traits, "profile": self._lines, "person": self._people}
        return item_id in groups[item]

    def _told(self, text: str) -> bool:
        """Whether JSON names an item that goes, or says the value of a fact that does."""
        return any(one in self._mentions or plain(one) in self._values for one in _strings(json.loads(text)))

    def _telling_of_chains(self, before: Rows) -> set[str]:
        """Segments that tell of chains of what goes, also where all of its pages are in others: a model that wrote of
        the chain may have used words of any page of it."""
        return {
            row["segment_id"]
            for row in before["segment_text"]
            if any(part["chain_id"] in self._chains for part in json.loads(row["parts"]))
        }

    def _lines_of_facts(self, before: Rows, gone: set[str]) -> set[tuple[str, int]]:
        """Versions of profile lines that say what a fact said that went: both were learnt from the same words, or from
        the same message with the same value. Such a version has no value and no sources afterwards."""
        spans = {
            (row["seq"], row["start"], row["end"])
            for row in before["source"]
            if row["item"] == "fact" and row["item_id"] in gone
        }
        same = {
            (f"{row['whose']}.{row['name']}", row["change_no"])
            for row in before["profile"]
            if plain(row["value"] or "") in self._values
        }
        learnt = [
            ((row["item_id"], row["change_no"]), row["start"])
            for row in before["source"]
            if row["item"] == "profile" and (row["seq"], row["start"], row["end"]) in spans
        ]
        return {version for version, start in learnt if start is not None or version in same}

    def _reached_facts(self, before: Rows, gone: set[str]) -> set[str]:
        """Facts that go, those that they had replaced, and the others of an attribute of theirs, of which another may
        hold again."""
        rows = {row["fact_id"]: row for row in before["fact"]}
        about = {(row["about"], row["subject"], row["attribute"]) for one, row in rows.items() if one in gone}
        replaced = {row["fact_id"] for row in before["fact_state"] if row["superseded_by"] in gone}  # by whatever name
        return (
            gone
            | replaced
            | {one for one, row in rows.items() if (row["about"], row["subject"], row["attribute"]) in about}
        )


def _named(resting: set[tuple[str, str]], item: str) -> set[str]:
    return {item_id for kind, item_id in resting if kind == item}


def _strings(told: Any) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    elif isinstance(told, (list, dict)):
        for one in told.values() if isinstance(told, dict) else told:
            yield from _strings(one)
