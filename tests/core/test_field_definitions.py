"""Definitions of fields: what is checked when they are made, and the written form of values."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Field
from embermem.core.attributes import Attributes
from embermem.core.config import load
from embermem.core.errors import ConfigError
from embermem.core.fields import fields_as_json, fields_from_json
from embermem.core.never import never_of


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, where the settings file is looked for."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_definition_that_cannot_be_used_says_what_is_wrong() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"type": "colour"}, "type = 'colour' is not allowed; one of: text, number, date, boolean, choice"),
        ({"set_by": "me"}, "one of: model, user, caller"), ({"many": 1}, "many = 1 is not allowed; true or false"),
        ({"type": "choice"}, "give the list of choices"), ({"choices": ["a"]}, "type = 'choice' alone has choices"),
        ({"type": "choice", "choices": ["a", "A"]}, "choices has 'a' twice"),
        ({"examples": "a"}, "must be a list of texts"), ({"examples": [""]}, "examples[0] = ''"),
        ({"type": "number", "examples": ["many"]}, "examples[0] = 'many' is not allowed; a number"),
        ({"type": "date", "examples": ["12 March"]}, "a date such as 2026-03-12"),
        ({"units": ["kg"]}, "units belong to type = 'number'"), ({"was": "level"}, "was = 'level' is its name"),
        ({"was": "Level!"}, "was = 'Level!' is no name"), ({"description": 3}, "description must be a text"),
    ]  # fmt: skip
    for entries, said in cases:
        with pytest.raises(ConfigError) as refused:
            Field("level", **entries)
        assert "field 'level'" in str(refused.value)
        assert said in str(refused.value)


def test_a_name_is_small_letters_digits_and_underscores() -> None:
    cases = ["", "Level", "1st", "exam date", "_level", "level_", "a__b", "x" * 41, "level-2"]
    for name in cases:
        with pytest.raises(ConfigError, match="is no name"):
            Field(name)


def test_fields_that_cannot_be_told_apart_are_refused() -> None:
    cases: list[tuple[list[Field], str]] = [
        ([Field("level"), Field("level")], "there are 2 fields 'level'"),
        ([Field("home")], "belongs to the built-in attribute lives_in; call it lives_in"),
        ([Field("likes")], "holds many values"), ([Field("lives_in", many=True)], "holds one value"),
        ([Field("age", type="number")], "type = 'text' or 'choice'"),
        ([Field("instruction")], "kept for built-in attributes"),
        ([Field("favorite_pen")], "kept for built-in attributes"), ([Field("other")], "kept for built-in attributes"),
        ([Field("level"), Field("grade", was="level")], "was = 'level' is another field"),
        ([Field("level", was="old"), Field("grade", was="old")], "two fields were 'old'"),
    ]  # fmt: skip
    for fields, said in cases:
        with pytest.raises(ConfigError) as refused:
            load(fields=fields)
        assert said in str(refused.value)
        assert "from argument" in str(refused.value)


def test_a_field_may_add_to_a_built_in_attribute() -> None:
    known = load(fields=[Field("native_language"), Field("likes", many=True)]).attributes
    assert (known.single("native_language"), known.single("likes")) == (True, False)
    assert (known.profile("native_language"), known.profile("likes")) == ("native_language", None)
    assert load().attributes.profile("native_language") == "language"


LEVEL = Field("level", type="choice", choices=["A1", "B1"])


def test_values_have_one_written_form() -> None:
    cases: list[tuple[Field, object, str | None]] = [
        (Field("n", type="number"), 0, "0"), (Field("n", type="number"), -0.0, "0"),
        (Field("n", type="number"), 1.5, "1.5"), (Field("n", type="number"), "007", "7"),
        (Field("n", type="number"), "1,234.50", "1234.5"), (Field("n", type="number"), "12,34", None),
        (Field("n", type="number"), "1e5", None), (Field("n", type="number"), float("nan"), None),
        (Field("n", type="number"), True, None), (Field("n", type="number"), "3 kg", None),
        (Field("n", type="number", units=["kg", "€"]), "3 KG", "3 kg"),
        (Field("n", type="number", units=["kg", "€"]), "€3", "3 €"),
        (Field("d", type="date"), date(2026, 3, 12), "2026-03-12"),
        (Field("d", type="date"), datetime(2026, 3, 12, 10), "2026-03-12"),
        (Field("d", type="date"), "2026-02-30", None), (Field("d", type="date"), 20260312, None),
        (Field("b", type="boolean"), True, "yes"), (Field("b", type="boolean"), "False", "no"),
        (Field("b", type="boolean"), 1, None), (LEVEL, "b1", "B1"), (LEVEL, "C1", None), (LEVEL, "", None),
        (Field("t"), "  a  b ", "a b"), (Field("t"), "", None), (Field("t"), "x" * 101, None), (Field("t"), 3, None),
        (Field("t", examples=["Spanish"]), "spanish", "Spanish"),
    ]  # fmt: skip
    for field, value, written in cases:
        if written is not None:
            assert field.value(value) == written
        else:
            with pytest.raises(ValueError, match="is not allowed"):
                field.value(value)


@given(st.floats(-1e14, 1e14) | st.integers(-(10**14), 10**14))
def test_a_number_is_read_again_as_it_was_written(number: float) -> None:
    field = Field("n", type="number")
    written = field.value(number)
    assert field.value(written) == written
    assert abs(float(written) - number) <= max(1e-9, abs(number) * 1e-12)


def test_fields_are_read_from_a_file_of_their_own_beside_the_settings(folder: Path) -> None:
    (folder / "here").mkdir()
    (folder / "here" / "mine.toml").write_text('fields = "fields.toml"\nbudget = 600\n')
    (folder / "here" / "fields.toml").write_text(
        '[level]\ntype = "choice"\nchoices = ["A1", "B1"]\n[club]\nmany = true\n'
    )
    loaded = load(config=folder / "here" / "mine.toml")
    assert [(one.name, one.type, one.many) for one in loaded.attributes.own] == [
        ("level", "choice", False), ("club", "text", True),
    ]  # fmt: skip
    assert load(fields=folder / "here" / "fields.toml").fields == loaded.fields


def test_fields_and_instructions_may_stand_in_the_settings_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "embermem.toml").write_text('never = ["religion"]\nremember = ["a", "b"]\n[fields.level]\nmany = true\n')
    assert load().fields == (Field("level", many=True),)
    assert (load().never, load().remember) == (("religion",), ("a", "b"))
    monkeypatch.setenv("EMBERMEM_NEVER", "gender\nreligion")
    assert load().never == ("gender", "religion")


def test_a_file_of_fields_that_cannot_be_used_is_refused_with_its_line(folder: Path) -> None:
    cases = [
        ('[club]\nmany = true\n\n[level]\ntype = "x"\n', "fields.toml, line 4: field 'level': type = 'x'"),
        ("[level]\nmanny = true\n", "line 1: field 'level' has no entry 'manny'; did you mean many?"),
        ("level = 3\n", "level = 3 is no table; write [level]"),
        ("[level\n", "is not valid TOML"),
        ('[Level]\ntype = "text"\n', "line 1: field 'Level': name = 'Level' is no name"),
        ("[home]\n", "call it lives_in to add to that"),
        ('[level]\n[grade]\nwas = "level"\n', "was = 'level' is another field"),
    ]
    for text, said in cases:
        (folder / "fields.toml").write_text(text)
        with pytest.raises(ConfigError) as refused:
            load(fields="fields.toml")
        assert said in str(refused.value)
        assert "fields.toml" in str(refused.value)


def test_a_word_that_names_two_fields_is_refused() -> None:
    for aliases in ["level", "Level", "my level, the grade"]:
        level, grade = Field("level", aliases=["my level"]), Field("grade", aliases=aliases.split(", "))
        with pytest.raises(
            ConfigError, match=r"field 'grade': the alias '(?i:level|my level)' names the field 'level' too"
        ):
            load(fields=[level, grade])
        assert load(fields=[Field("level"), Field("grade", aliases=["Grade", "mark"])]).attributes.own


def test_what_is_no_list_of_fields_is_refused() -> None:
    for value in [3, [3], "nowhere.toml", {"level": 3}]:
        with pytest.raises(ConfigError):
            load(fields=value)


def test_a_table_in_the_settings_file_is_named_with_its_line(folder: Path) -> None:
    (folder / "embermem.toml").write_text('tau = 6.0\n\n[fields.level]\ntype = "x"\n')
    with pytest.raises(ConfigError, match=r"embermem\.toml, line 3: field 'level'"):
        load()


def test_what_a_store_remembers_of_fields_is_read_again() -> None:
    own = (Field("level", type="choice", choices=["A1"], was="grade"), Field("weight", type="number", units=["kg"]))
    read = fields_from_json(fields_as_json(own))
    assert [one.was for one in read] == ["", ""]
    assert fields_as_json(read) == fields_as_json(own)
    with pytest.raises(ConfigError, match="cannot be used"):
        fields_from_json('[{"name": "level", "colour": "red"}]')


def test_what_is_never_kept_is_named_by_attribute_kind_words_pattern_or_sentence() -> None:
    known = Attributes([Field("level"), Field("plan")])
    entries = ["Religion", "marital status", "employer", "health", "level", "plan", "card number", "iban",
               '"Project  Falcon"', r"/\bEMP-\d{6}\b/", "anything about politics"]  # fmt: skip
    never = never_of(entries, known)
    assert never.attributes == ("religion", "marital_status", "works_at", "health", "level", "plan")
    assert never.kinds == ("card number", "IBAN")
    assert never.sentences == ("anything about politics",)
    found = [one for finder in never.finders(lambda: lambda text: ()) for one in finder("project falcon, EMP-123456")]
    assert [(one.kind, one.start, one.end) for one in found] == [("private", 0, 14), ("private", 16, 26)]


def test_a_pattern_that_cannot_be_used_is_refused() -> None:
    cases = [("/(/", "not a regular expression"), ("/x*/", "matches an empty text"), ('"  "', "no words")]
    for entry, said in cases:
        with pytest.raises(ConfigError, match=said):
            load(never=[entry])
