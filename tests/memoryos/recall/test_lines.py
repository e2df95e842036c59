from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from embermem.index.tokens import counter
from embermem.prompts.rendering import CUT, cut

WORDS = counter("words")
PLAN = """Here is the plan for the weekend:

## Saturday
1. **Morning:**
   * Take the train to the lake.
   * Rent a boat at the pier.
2. **Evening:**
   * Cook the trout.

## Sunday
* Watch the heron at dawn.
* Drive home.

Let me know what you think!"""


@given(
    st.text(st.sampled_from("ab heron. \n*1:#公园。!?"), max_size=400),
    st.integers(1, 40),
    st.sampled_from(["approx", "words"]),
)
def test_a_cut_is_one_line_and_never_longer_than_allowed(text: str, limit: int, name: str) -> None:
    made = cut(text, limit, {"heron": 1.0}, counter(name))
    assert counter(name).count(made) <= limit
    assert len(made.splitlines()) <= 1


@given(st.text(st.sampled_from("ab heron. \n*1:#公园。!?"), max_size=400), st.integers(1, 40))
def test_a_cut_holds_only_what_was_said_in_its_order(text: str, limit: int) -> None:
    said = " ".join(text.split())
    at = 0
    for part in cut(text, limit, {"heron": 1.0}, WORDS).split(CUT):
        at = said.index(part.strip(), at)


def test_a_line_of_a_list_comes_with_its_head() -> None:
    assert cut(PLAN, 21, {"heron": 3.0}, WORDS) == (
        "Here is the plan for the weekend: […] ## Sunday * Watch the heron at dawn. * Drive home. […]"
    )

    made = cut(PLAN, 19, {"evening": 3.0}, WORDS)
    assert "2. **Evening:** * Cook the trout." in made

    text = "\n".join(f"## The heron, part {i}\nIt stood in the reeds {i} times." for i in range(20))
    made = cut(text, 30, {"heron": 2.0}, WORDS)
    assert made.count("It stood") >= made.count("##") > 0

    made = cut("\n".join(f"## Bird {i}" for i in range(20)) + "\n## Heron", 12, {"heron": 1.0}, WORDS)
    assert made.endswith("## Heron")


def test_a_cut_is_made_around_the_words_asked_for_else_at_the_beginning() -> None:
    text = " ".join(f"Train {i} left." for i in range(20)) + " A heron came. It sat down. " + "Rain fell. " * 20
    assert cut(text, 11, {"heron": 1.0}, WORDS) == "[…] Train 19 left. A heron came. It sat down. […]"

    assert cut("One came. Two came. Three came. Four came.", 5, {"heron": 1.0}, WORDS) == "One came. Two came. […]"

    text = "so we went on and on " * 100 + "until the heron came by the old mill " + "and then it rained " * 100
    made = cut(text, 80, {"heron": 1.0}, WORDS)
    assert made.startswith(CUT)
    assert made.endswith(CUT)
    assert "the heron came" in made

    for end in ("。", "，"):
        text = f"我们坐火车去了湖边{end}" * 60 + f"后来看见一只白鹭{end}" + f"晚上下雨了{end}" * 60
        made = cut(text, 250, {"白鹭": 2.0}, counter("approx"))
        assert "后来看见一只白鹭" in made
        assert made.startswith(CUT)
        assert counter("approx").count(made) <= 250
