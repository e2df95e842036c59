"""Prompts are data: they refuse wrong variables, say where they come from, and stay short."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import prompts
from embermem.analysts.answers import attribute_of
from embermem.analysts.showing import trait_lines, trait_names
from embermem.analysts.traits import has_words
from embermem.core.attributes import attributes
from embermem.core.errors import InputError
from embermem.core.traits import dimensions
from embermem.index.tokens import Approx

ROOT = Path(__file__).parents[2]
ALL = [
    prompts.load(file.name.removesuffix(".md"), package)
    for package in ("embermem.prompts", "embermem_bench.prompts")
    for file in files(package).iterdir()
    if file.name.endswith(".md")
]


def test_each_says_its_version_and_its_source_in_a_header_that_is_not_sent() -> None:
    assert len({prompt.name for prompt in ALL}) == len(ALL) > 40
    for prompt in ALL:
        assert prompt.version
        assert prompt.source
        assert "source:" not in prompt.text.splitlines()[0]


def test_a_missing_or_unused_variable_is_an_error() -> None:
    for prompt in [prompt for prompt in ALL if prompt.variables]:
        whole = dict.fromkeys(prompt.variables, "x")
        assert "{{" not in prompt.fill(**whole)
        with pytest.raises(InputError, match="missing"):
            prompt.fill(**dict(list(whole.items())[1:]))
        with pytest.raises(InputError, match="not used: more"):
            prompt.fill(**whole, more="x")


@given(st.text())
def test_what_a_value_holds_is_never_read_as_a_variable(value: str) -> None:
    prompt = prompts.Prompt(name="n", version="1", source="s", text="[{{one}}|{{two}}]")
    assert prompt.fill(one=value + "{{two}}", two="2") == f"[{value}{{{{two}}}}|2]"


def test_a_prompt_that_is_not_there_is_an_error() -> None:
    for name in ["nothing", "../errors", "", "Profile"]:
        with pytest.raises(InputError, match="no prompt"):
            prompts.load(name)


def test_the_stable_parts_are_short() -> None:
    count = Approx().count
    assert count(prompts.load("annotate").fill()) <= 350
    assert count(prompts.load("profile").fill(traits=trait_lines())) <= 1000


def test_the_list_of_traits_names_all_but_those_derived_from_the_profile_and_from_likes() -> None:
    listed = [name.strip().replace(" ", "_") for name in re.split(r"[(),:/\n]", trait_lines())]
    assert trait_names() == {d.name for d in dimensions()} - {"age_group", "gender"}
    assert {name for name in trait_names() if name not in listed} == {n for n in trait_names() if has_words(n)}
    assert len(trait_names()) == 88
    assert {"music", "sports"} <= trait_names() - set(listed)


def test_attributes_named_in_the_prompt_are_those_of_the_table() -> None:
    line = next(line for line in prompts.load("profile").text.splitlines() if line.strip().startswith("attribute:"))
    named = [attribute_of(name) for name in line.partition(":")[2].split(",")][:-2]
    assert len(named) > 12
    assert set(named) <= set(attributes())


def test_a_change_of_a_text_is_a_new_version() -> None:
    def state(*names: str) -> tuple[str, str]:
        texts = "\n".join(prompts.load(name).text for name in names)
        return prompts.load(names[0]).version, hashlib.sha256(texts.encode()).hexdigest()[:8]

    assert state("annotate", "annotate_pages") == ("3", "be5fbd87")
    assert state("profile", "profile_pages") == ("7", "14ec7517")
    assert state("facts", "facts_pages") == ("1", "d14e4c26")
