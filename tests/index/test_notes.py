"""What is noted of single rows."""

from __future__ import annotations

from embermem.index.notes import Notes


def test_what_is_noted_of_a_row_is_found_by_its_kind() -> None:
    notes = Notes()
    notes.of("asks")[3] = True
    notes.of(("is short", frozenset({"ana"})))[3] = False
    assert notes.of("asks") == {3: True}
    assert notes.of(("is short", frozenset({"ana"}))) == {3: False}
    assert notes.of(("is short", frozenset({"bo"}))) == {}
    assert notes.nbytes > 0


def test_notes_do_not_grow_for_ever() -> None:
    notes = Notes()
    notes.of("asks").update(dict.fromkeys(range(100_000), True))
    assert notes.of("asks") == {}
    for kind in range(1000):
        notes.of(kind)[0] = kind
    assert notes.nbytes < 100_000
