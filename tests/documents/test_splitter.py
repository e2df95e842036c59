from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from embermem.documents.markdown import markdown, plain
from embermem.documents.outline import Outline
from embermem.documents.splitter import split

HANDBOOK = """# Handbook

Welcome.

## Leave

### Parental leave

Parents have sixteen weeks.

### Sick leave

Call before nine.
"""
LINES = st.sampled_from(
    [
        *("# Top", "## Leave {#leave}", "### `Sick` leave ###", "Some words are here.", "", "", "- an item", "```"),
        *("~~~", "我们去公园散步。天气很好。", "| a | b |", "|---|---|", "| 1 | 2 |", "====", "---", "word " * 90),
        *("A sentence is this. " * 40, "公园" * 200, "x" * 5000),
    ]
)


def parts(outline: Outline) -> list[tuple[str, str]]:
    return [(" > ".join(part.place), outline.text[part.start : part.end]) for part in split(outline)]


def test_a_passage_is_of_one_section_and_says_the_headings_over_it() -> None:
    assert parts(markdown(HANDBOOK)) == [
        ("", "# Handbook\n\nWelcome."),
        ("Leave > Parental leave", "## Leave\n\n### Parental leave\n\nParents have sixteen weeks."),
        ("Leave > Sick leave", "### Sick leave\n\nCall before nine."),
    ]


@given(st.lists(LINES, max_size=40).map("\n".join))
def test_passages_hold_all_of_a_text_once(text: str) -> None:
    for outline in (markdown(text), plain(text)):
        done = 0
        for part in split(outline):
            assert done <= part.start < part.end
            assert text[done : part.start].strip() == ""
            done = part.end
        assert text[done:].strip() == ""


@given(st.lists(LINES, max_size=40).map("\n".join))
def test_no_word_is_cut(text: str) -> None:
    for part in split(markdown(text)):
        for at in (part.start, part.end):
            inside = text[at - 1 : at].isalnum() and text[at : at + 1].isalnum()
            assert (
                not inside or not text[at - 1 : at + 1].isascii() or "x" * 1000 in text[max(0, at - 2000) : at + 2000]
            )


def test_long_paragraphs_are_cut_between_sentences() -> None:
    text = " ".join(f"Sentence number {n} tells of the harbour and of the old mill." for n in range(60))
    made = parts(plain(text))
    assert all(one.startswith("Sentence") and one.endswith("mill.") for _, one in made)
    assert all(60 <= len(one.split()) <= 200 for _, one in made)


def test_chinese_is_cut_between_sentences_and_else_between_words() -> None:
    made = parts(plain("我们昨天下午去公园散步。" * 60))
    assert len(made) > 1
    assert all(one.endswith("。") for _, one in made)
    whole = parts(plain("我们昨天下午去公园散步" * 60))
    assert "".join(one for _, one in whole) == "我们昨天下午去公园散步" * 60
    assert not any(one.startswith("园") or one.startswith("午") for _, one in whole)


def test_code_and_tables_stay_whole_where_they_fit() -> None:
    code = "```python\n" + "\n".join(f"value_{n} = {n}  # a note" for n in range(20)) + "\n```"
    words = "This paragraph says what the code does in a few words. " * 12
    made = parts(markdown(f"{words}\n\n{code}\n\n{words}"))
    assert sum(code in one for _, one in made) == 1
    rows = "\n".join(f"| name {n} | what it means in words {n} |" for n in range(120))
    table = parts(markdown(f"| a | b |\n|---|---|\n{rows}"))
    assert len(table) > 1
    assert all(line.startswith("|") and line.endswith("|") for _, one in table for line in one.splitlines())


def test_a_heading_in_code_is_none() -> None:
    assert parts(markdown("## Run\n\n```sh\n# not a heading\nmake\n```"))[0][0] == "Run"
