"""Which answers say that they have no answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
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
I don't know. Could you tell me more?
I don't know, maybe you can tell me?
I don't know when, sorry.
I don't know if you like it.
I don't know her name.
We don't know.
I don't remember.
I can't recall that.
I have no idea.
No idea.
I'm not sure.
I'm not sure when that happened.
I wasn't told.
I don't think you mentioned that.
You never told me that.
You haven't told me where you live.
Not mentioned
**Not mentioned**
"No information available"
The answer is "not mentioned".
not mentioned in the conversation.
Unfortunately, that was not mentioned.
No, that was never mentioned.
Nothing was said about that.
Nora did not mention her age.
She hasn't mentioned it.
It is not specified.
Not specified
No information available
There is no information about that.
I don't have any information about her job.
I couldn't find any information about it.
The conversation does not mention where she lives.
The context provided does not specify the date
The memories do not contain information about her sister.
Based on our conversation, there's no mention of a dog.
According to the chat history, her job was not specified.
There's not enough information to answer.
Insufficient information.
That information is not available.
No record of that.
I have no memory of that.
I cannot answer that question.
I am unable to answer that.
It cannot be determined from the conversation.
It's unclear.
The date of the party is unknown.
Unknown
N/A
Hey Nora, I don't know.
不知道
我不知道。
抱歉，我不知道。
很抱歉，对话记录中没有相关内容。
我不知道你住在哪里
目前不知道
我不清楚
我不知道！你能告诉我吗？
我不确定。
我不记得了
没有提到
对话中没有提到这一点。
根据对话，没有提到她的工作。
您还没有提到过这个。
您没有告诉我。
你没有告诉过我
你没有说过你的生日是哪天。
未提及
未知
没有相关信息。
没有足够的信息来回答。
我没有关于这件事的记忆。
信息不足，无法回答。
无法确定。
""".strip().splitlines()

ANSWERS = """
Lyon
I don't know if it was Paris, but it was Lyon.
I don't know if …, but it was Lyon
I'm not sure, but I think it was Lyon.
I don't know, maybe Lyon.
I don't know, maybe Lyon?
I don't know, probably in May.
I don't know. I guess it was Lyon.
Not sure, perhaps 2022?
She lives in Lyon; since when is not mentioned.
She lives in Lyon. I don't know since when.
The exact date is not mentioned, but it was in May 2023.
The date isn't specified, it was last summer.
Although the conversation does not mention the exact date, it was in May.
I don't know him very well.
I don't know how to swim.
I don't know what to do with my life.
I'm not sure which job to take.
She doesn't know anyone in Lyon.
He doesn't remember the accident
She has no idea how to cook
She said "I don't know".
She never mentioned it to her boss.
He was not available that day.
It was unknown to her that he had left.
They did not go
No dogs
No.
Yes
None
Nothing
Unknown Pleasures
I'm sorry.
里昂
我不知道是不是巴黎，但是在法国。
我不知道，可能是里昂。
我不知道！也许是里昂
她说：“我不知道。”
不确定具体日期，不过是五月
没有提到年份，但是在五月
她住在里昂，没有提到是哪一年
他不知道自己被骗了
她也不知道
我不会游泳
她没有去
没有
不是
""".strip().splitlines()


@pytest.mark.parametrize("answer", ABSTAINS)
def test_an_answer_that_gives_up_abstains(answer: str) -> None:
    assert abstains(answer)
    assert abstains(f"  {answer}\n")


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_says_something_does_not_abstain(answer: str) -> None:
    assert not abstains(answer)


def test_the_examples_of_the_documents_hold() -> None:
    page = (Path(__file__).parents[2] / "docs" / "research" / "metrics.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| ([^|]+) \| (yes|no) \|", page, re.MULTILINE)
    assert len(shown) >= 8
    for answer, expected in shown:
        assert abstains(answer.replace("(empty)", "")) is (expected == "yes"), answer
    for answer in re.findall(r'\("([^"]+)"\)', page.split("Known limits")[1].split("## ")[0]):
        assert abstains(answer), answer


@pytest.mark.parametrize("answer", ["", "  \n"])
def test_an_empty_answer_abstains(answer: str) -> None:
    assert abstains(answer)


@given(st.sampled_from(ABSTAINS), st.sampled_from(["but I think it was Lyon.", "however, it was in May", "但是在里昂"]))
def test_a_claim_after_a_contrast_takes_it_back(answer: str, claim: str) -> None:
    assert not abstains(f"{answer} {claim}")


@given(st.text(max_size=200))
def test_any_text_is_judged(answer: str) -> None:
    assert abstains(answer) in (True, False)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Not mentioned.", True),
        ("There is NO INFORMATION AVAILABLE on it", True),
        ("It was Lyon, which is not mentioned again", True),
        ("I don't know.", False),
        ("", False),
    ],
)
def test_locomo_looks_for_its_two_phrases_only(answer: str, expected: bool) -> None:
    assert abstains_locomo(answer) is expected
