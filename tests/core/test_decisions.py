"""The table of decisions says all that there is to say of each kind, and what it says is so."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar, NewType, Union, get_args, get_origin, get_type_hints

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

import embermem
from drawn import records
from embermem.core import metadata
from embermem.core.changes import (
    KINDS,
    ByRule,
    Cause,
    Change,
    Decision,
    Falls,
    Heading,
    Item,
    Kind,
    Moves,
    Rests,
    Say,
    SegmentGrew,
    SegmentWritten,
    Sort,
    Stays,
    Undoing,
    ended_by,
    ids,
    kind_of,
    named,
    set_by,
    sources,
    texts,
    unset,
    values,
)
from embermem.core.changes.table import table
from embermem.core.types import ChainId, FactId, ItemId, PageId, SegmentId, Source
from embermem.memoryos.forget.redacting import Going, OwnRule, redacted
from embermem.memoryos.forget.traces import Pieces, Traces
from embermem.protocols import Trail
from proofs import bounded

SORTS: dict[Any, Sort] = {
    **{PageId: Sort.PAGE, ChainId: Sort.CHAIN, SegmentId: Sort.SEGMENT, FactId: Sort.FACT},
    ItemId: Sort.VISITED,
}
ANY = st.one_of([records(kind).map(lambda one: consistent(one)) for kind in KINDS])
AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
quickly = hypothesis.settings(max_examples=bounded(60, proofs=300), suppress_health_check=[*hypothesis.HealthCheck])


def consistent(decision: Decision) -> Decision:
    """A growth that is of a text without parts and keywords; any other decision as it is."""
    if not isinstance(decision, SegmentGrew):
        return decision
    return replace(decision, places=tuple(range(len(decision.parts))), left=(), dropped=())


def leaves(hint: Any, value: Any, path: str) -> Iterator[tuple[str, object, Any]]:
    """What a value holds, by the types of its fields: the path to it, what it is, and itself."""
    if value is None:
        return
    if hint in SORTS:
        yield path, SORTS[hint], value
    elif isinstance(hint, NewType):
        yield from leaves(hint.__supertype__, value, path)
    elif hint is Source:
        yield path, Source, value
    elif get_origin(hint) is tuple:
        for one in value:
            yield from leaves(get_args(hint)[0], one, path)
    elif get_origin(hint) in (UnionType, Union):
        inner = [one for one in get_args(hint) if one is not type(None)]
        yield from leaves(inner[0], value, path)
        assert len(inner) == 1
    elif is_dataclass(hint):
        hints = get_type_hints(hint)
        for one in fields(hint):
            yield from leaves(hints[one.name], getattr(value, one.name), f"{path}.{one.name}".lstrip("."))
    elif get_origin(hint) is Mapping:
        yield from ((path, str, text) for _, text in metadata.texts(value))
    elif hint is str:
        yield path, str, value


def told_by_the_table(decision: Decision) -> list[tuple[str, object, Any]]:
    entry = kind_of(decision)
    found: list[tuple[str, object, Any]] = []
    for path, sort in entry.ids.items():
        if sort is not Sort.CHANGE:  # a number, which no type tells from others
            what = str if sort is Sort.DIMENSION else sort
            found += [(path, what, one) for one in values(decision, path)]
    found += [(path, Source, one) for path in entry.sources for one in values(decision, path)]
    found += [(path, str, one) for path in (*entry.texts, *entry.labels) for one in values(decision, path)]
    return found


@quickly
@given(decision=ANY)
def test_the_table_names_every_id_source_and_text_that_a_decision_holds(decision: Decision) -> None:
    walked = list(leaves(type(decision), decision, ""))
    assert sorted(map(repr, told_by_the_table(decision))) == sorted(map(repr, walked))
    assert {*sources(decision)} == {value for _, what, value in walked if what is Source}
    assert {*texts(decision)} <= {value for _, what, value in walked if what is str}
    assert named(decision) <= {value for _, what, value in walked if isinstance(what, Sort)}


def test_every_field_that_holds_an_id_a_source_or_a_text_is_in_the_table() -> None:
    """As above, by types alone: also what examples seldom hold."""
    for entry in KINDS.values():
        whole = [*entry.ids, *entry.sources, *entry.texts, *entry.labels]
        told = {*whole}
        assert len(told) == len(whole), f"{entry.of.tag}: one field is named twice"
        assert {path for path in told if entry.ids.get(path) is not Sort.CHANGE} == {*paths(entry.of, "")}, entry.of.tag


def paths(hint: Any, path: str) -> Iterator[str]:
    """The paths of a type that lead to an id, a source or a text."""
    if isinstance(hint, NewType) or hint in (Source, str) or get_origin(hint) is Mapping:
        yield path
    elif get_origin(hint) is tuple:
        yield from paths(get_args(hint)[0], path)
    elif get_origin(hint) in (UnionType, Union):
        yield from {one for inner in get_args(hint) for one in paths(inner, path)}
    elif is_dataclass(hint):
        hints = get_type_hints(hint)
        for one in fields(hint):
            yield from paths(hints[one.name], f"{path}.{one.name}".lstrip("."))


@quickly
@given(decision=ANY)
def test_every_decision_is_told_in_words(decision: Decision) -> None:
    entry = kind_of(decision)
    say = Say({one: f"<{one}>" for one in named(decision)}, datetime.isoformat)
    what, text = entry.told(decision, say)
    assert what
    assert isinstance(text, str)
    assert bool(entry.taught(decision, say)) != (entry.did is not None)
    assert not entry.about or [*values(decision, entry.about)]


# ------------------------------------------------------------------------------------------------------- forgetting


def test_redacting_has_a_rule_of_its_own_where_the_table_says_so() -> None:
    assert {*get_args(OwnRule)} == {kind for kind, entry in KINDS.items() if isinstance(entry.forgotten, ByRule)}


@quickly
@given(decision=ANY)
def test_what_rests_on_what_is_forgotten_alone_goes_with_it(decision: Decision) -> None:
    left = without(decision, pages={"gone"}, seqs={source.seq for source in sources(decision)})
    assert [one for d in left for one in sources(d)] == []


@quickly
@given(decision=ANY)
def test_what_names_a_page_goes_with_it(decision: Decision) -> None:
    pages = {one for sort, one in ids(decision) if sort is Sort.PAGE}
    left = without(decision, pages=pages)
    assert not (pages and left)
    assert left == (decision,) or not isinstance(kind_of(decision).forgotten, Stays)


def without(decision: Decision, *, pages: set[str] | None = None, seqs: set[int] | None = None) -> tuple[Decision, ...]:
    change = Change(no=1, cause=Cause.PROMOTION, analyst="", recorded_at=AT, decisions=(decision,))
    trail = Trail(
        begun=0, changes=(change,), chains={}, segments={}, facts=frozenset(), repeated=frozenset(), verbatim=True,
        written_from={SegmentId(one): 1 for sort, one in ids(decision) if sort is Sort.SEGMENT},
        texts={
            SegmentId(one): SegmentWritten(segment_id=SegmentId(one), parts=(), keywords=(), said_from=AT, said_to=AT)
            for sort, one in ids(decision) if sort is Sort.SEGMENT
        },
    )  # fmt: skip
    going = Going(
        pages=frozenset(PageId(one) for one in pages or ()),
        seqs=frozenset(seqs or ()),
        traces=Traces(),
        pieces=Pieces(),
        spoken=lambda speaker, role: None,
        exact=True,
    )
    return redacted(trail, going, b"key").changes[0].decisions


@dataclass(frozen=True, kw_only=True, slots=True)
class Dreamt:
    """A kind of decision that the tests make up."""

    tag: ClassVar[str] = "Dreamt"
    page_id: PageId
    text: str
    sources: tuple[Source, ...]


def dreamt(**said: Any) -> Kind[Dreamt]:
    """An entry of it; what is given takes the place of what would be right."""
    right: dict[str, Any] = {
        "ids": {"page_id": Sort.PAGE}, "sources": ("sources",), "texts": ("text",), "forgotten": Rests(("page_id",)),
        "heading": Heading.BOOKKEEPING, "undone": Undoing.NOTHING, "moves": Moves.NOTHING,
        "told": lambda one, say: ("dreamt", one.text),
    }  # fmt: skip
    return Kind(of=Dreamt, **{name: value for name, value in {**right, **said}.items() if value is not None})


def test_a_kind_with_an_entry_of_its_own_is_in_the_table() -> None:
    assert table([Dreamt], [dreamt()]).keys() == {Dreamt}


def test_an_entry_says_how_its_kind_is_forgotten_undone_read_and_told() -> None:
    for left_out in ["forgotten", "undone", "moves", "told", "heading"]:
        with pytest.raises(TypeError, match=left_out):
            dreamt(**{left_out: None})


def test_an_entry_that_would_keep_what_is_forgotten_is_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"forgotten": Stays(), "ids": {}}, "holds words or sources"),
        ({"forgotten": Stays(), "texts": (), "sources": ()}, "names what may be forgotten"),
        ({"forgotten": Falls(("page_id",))}, "holds words or sources"),
        ({"forgotten": Falls(()), "texts": (), "sources": ()}, "what it falls with"),
        ({"forgotten": Rests(("page_id",)), "sources": ()}, "no sources"),
        ({"forgotten": Rests(("text",))}, "none of its ids"),
        ({"ids": {"page_id": Sort.PAGE, "chain_id": Sort.CHAIN}}, "no field chain_id"),
        ({"about": "text"}, "none of its ids"),
    ]
    for said, why in cases:
        with pytest.raises(TypeError, match=why):
            dreamt(**said)


def test_an_entry_that_an_undoing_could_not_take_back_is_refused() -> None:
    for said in [{}, {"sets": (Item.NOTE, ("page_id",))}]:
        with pytest.raises(TypeError, match="an undoing could not take it back"):
            dreamt(undone=Undoing.RESTORED, **said)


def test_what_takes_away_an_item_is_a_decision_of_the_same_item() -> None:
    for entry in [one for one in KINDS.values() if one.unset]:
        assert entry.sets is not None
        item, fields_of = entry.sets
        names = tuple({"whose": "user", "relation": "is"}.get(name, name) for name in fields_of)
        taken = unset(item, names, None)
        assert taken is not None
        assert (ended_by(taken) or set_by(taken)) == (item, names)
        assert texts(taken) in ((), ("", ""), names[1:])


def test_a_kind_without_an_entry_is_refused() -> None:
    with pytest.raises(TypeError, match="Dreamt: no entry in the table of decisions says how it is forgotten"):
        table([*KINDS, Dreamt], KINDS.values())


@pytest.mark.proof
def test_ember_does_not_start_with_a_kind_that_has_no_entry(tmp_path: Path) -> None:
    copied = tmp_path / "embermem"
    shutil.copytree(Path(embermem.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    module = copied / "core" / "changes" / "decisions.py"
    source = module.read_text(encoding="utf-8")
    made = '@dataclass(frozen=True)\nclass Dreamt:\n    tag: ClassVar[str] = "Dreamt"\n    text: str\n\n\nDecision = ('
    module.write_text(source.replace("Decision = (", made).replace("    | Evicted\n", "    | Evicted\n    | Dreamt\n"))
    done = subprocess.run(
        [sys.executable, "-c", "from embermem import Memory"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert "Dreamt: no entry in the table of decisions" in done.stderr
