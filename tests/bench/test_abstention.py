"""Which answers say that they have no answer."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from embermem_bench.abstention import abstains, abstains_locomo

ABSTAINS = """
I don't know.
I do not know
I don’t know that.
I'm afraid I don't know that.
I'm sorry, but I don't know.
I don't know; you never told me.
I don't know, maybe you can tell me?
I don't know when, sorry.
I don't know if you like it.
I don't remember.
I have no idea.
I'm not sure.
I wasn't told.
I don't think you mentioned that.
You haven't told me where you live.
**Not mentioned**
"No information available"
The answer is "not mentioned".
Unfortunately, that was not mentioned.
No, that was never mentioned.
Nora did not mention her age.
She hasn't mentioned it.
Not specified
No information available
There is no information about that.
I couldn't find any information about it.
The conversation does not mention where she lives.
The memories do not contain information about her sister.
Based on our conversation, there's no mention of a dog.
There's not enough information to answer.
That information is not available.
I have no memory of that.
I cannot answer that question.
It cannot be determined from the conversation.
It's unclear.
The date of the party is unknown.
N/A
Hey Nora, I don't know.
不知道
抱歉，我不知道。
很抱歉，对话记录中没有相关内容。
我不知道！你能告诉我吗？
我不确定。
我不记得了
没有提到
根据对话，没有提到她的工作。
您还没有提到过这个。
你没有告诉过我
你没有说过你的生日是哪天。
未提及
没有相关信息。
我没有关于这件事的记忆。
无法确定。
""".strip().splitlines()

ANSWERS = """
Lyon
I don't know if it was Paris, but it was Lyon.
I'm not sure, but I think it was Lyon.
I don't know, maybe Lyon.
I don't know, probably in May.
I don't know. I guess it was Lyon.
She lives in Lyon; since when is not mentioned.
The exact date is not mentioned, but it was in May 2023.
Although the conversation does not mention the exact date, it was in May.
I don't know him very well.
I don't know what to do with my life.
She doesn't know anyone in Lyon.
She has no idea how to cook
She said "I don't know".
She never mentioned it to her boss.
It was unknown to her that he had left.
They did not go
No.
Yes
None
Unknown Pleasures
I'm sorry.
里昂
我不知道是不是巴黎，但是在法国。
我不知道！也许是里昂
她说：“我不知道。”
不确定具体日期，不过是五月
她住在里昂，没有提到是哪一年
他不知道自己被骗了
我不会游泳
没有
不是
""".strip().splitlines()


def test_an_answer_that_gives_up_or_is_empty_abstains_and_one_that_says_something_does_not() -> None:
    assert [answer for answer in (*ABSTAINS, "") if not (abstains(answer) and abstains(f"  {answer}\n"))] == []
    assert [answer for answer in ANSWERS if abstains(answer)] == []


def test_the_examples_of_the_documents_hold() -> None:
    page = (Path(__file__).parents[2] / "docs" / "research" / "metrics.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| ([^|]+) \| (yes|no) \|", page, re.MULTILINE)
    assert len(shown) >= 8
    for answer, expected in shown:
        assert abstains(answer.replace("(empty)", "")) is (expected == "yes"), answer
    for answer in re.findall(r'\("([^"]+)"\)', page.split("Known limits")[1].split("## ")[0]):
        assert abstains(answer), answer


@given(st.sampled_from(ABSTAINS), st.sampled_from(["but I think it was Lyon.", "however, it was in May", "但是在里昂"]))
def test_a_claim_after_a_contrast_takes_it_back(answer: str, claim: str) -> None:
    assert not abstains(f"{answer} {claim}")


@given(st.text(max_size=200))
def test_any_text_is_judged(answer: str) -> None:
    assert abstains(answer) in (True, False)


def test_locomo_looks_for_its_two_phrases_only() -> None:
    found = ("Not mentioned.", "There is NO INFORMATION AVAILABLE on it", "It was Lyon, which is not mentioned again")
    assert [abstains_locomo(answer) for answer in (*found, "I don't know.", "")] == [True, True, True, False, False]
