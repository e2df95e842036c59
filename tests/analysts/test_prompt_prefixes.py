"""Prompts of one kind begin alike, so that a server's cache holds their beginning from question to question."""

from __future__ import annotations

from itertools import groupby

import pytest

from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer
from proofs import bounded
from scripted import Opener

TALKS = {
    "alice": ("I moved to Lyon in May.", "I have a cat called Pixel.", "I learn the cello.", "I run on Sundays."),
    "小明": ("我住在上海。", "我有一只猫。", "我在学大提琴。", "我周日跑步。"),
}


@pytest.mark.parametrize("fault", bounded([None], proofs=[None, "no_grammar"]))
def test_what_differs_from_question_to_question_stands_in_the_last_message(opened: Opener, fault: str | None) -> None:
    with ModelServer(answer) as server:
        if fault is not None:
            server.fail_always(fault)
        memory = opened(model="scripted", model_url=server.url, short_term_pages=1, batch_pages=1, min_new=1, tau=0.1)
        for user, texts in TALKS.items():
            for text in texts:
                memory.of(user).add(text, "Good.")
            memory.of(user).settle()
        asked = [[message["content"] for message in request["messages"]] for request in server.requests]
    firsts = sorted(messages[0] for messages in asked)
    kinds = {text: len(list(same)) for text, same in groupby(firsts)}
    assert len(kinds) == 2, [text[:80] for text in kinds]  # one for batches of pages, one for promotions
    assert min(kinds.values()) >= 2
    for text in kinds:
        assert not [word for word in ("Pixel", "alice", "上海", "小明", "<<") if word in text]
