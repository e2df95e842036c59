"""`embermem ingest --estimate`: what understanding a file would ask of the language model, before anything is stored.

What is counted: messages, pages, their tokens. What is computed from the settings: batches. What is guessed: how many
promotions there will be (`PAGES_A_PROMOTION`) and how long the answers are. The file is taken as if its owner's memory
were empty; retries and repairs are left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from embermem import prompts
from embermem.core.config import ModelReadingSettings, Settings
from embermem.index.tokens import Approx
from embermem.reports.cost import Allowance
from embermem.transfer.items import BadLine, Entry, Item

PAGES_A_PROMOTION = 3.0
"""Pages for each promotion, in units of the least that one needs: 2.4 to 4.5 on four LoCoMo conversations with the
extractive analyst (docs/reference/cli.md)."""
ANALYSED_SHARE = 0.8
"""Of the pages placed, those that a promotion reads: pages of small segments wait."""
LINE_TOKENS = 8
"""Around an utterance in a prompt: its id, its speaker, marks."""
ANNOTATE_BESIDE = 350
"""Tokens of an annotation's prompt beside its text and its pages: the answer's schema, the pages before the batch."""
PROFILE_BESIDE = 900
"""The same of a promotion's: the schema, the segment's summary, the persona, known facts."""
ANNOTATE_ANSWER = 90
"""Tokens of the answer for one page: a summary, a topic, keywords, and the JSON around them."""
PROFILE_ANSWER = 400
"""Tokens of the answer for one promotion."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """What one owner's part of a file holds, and what a model would be asked for it.

    `calls` and tokens are what is expected, `calls_at_most` where every promotion comes as early as it can.
    """

    user: str
    messages: int
    pages: int
    bad: int
    calls: int
    calls_at_most: int
    prompt_tokens: int
    completion_tokens: int


def estimate(items: Iterable[Item], user: str, thread: str, settings: Settings) -> Estimate:
    """The cost of understanding a stream of messages. Without a model it is nothing."""
    read = _read(items, thread)
    placed = read.tokens[: max(0, len(read.tokens) - settings.short_term_pages)]
    if not settings.model or not placed:
        placed = []
    batches = [placed[at : at + settings.batch_pages] for at in range(0, len(placed), settings.batch_pages)]
    least = pages_a_promotion(settings)
    promotions = round(len(placed) / (PAGES_A_PROMOTION * least))
    asked = len(batches) * (_size("annotate", "annotate_pages") + ANNOTATE_BESIDE) + sum(placed)
    asked += promotions * (_size("profile", "profile_pages") + PROFILE_BESIDE)
    asked += round(ANALYSED_SHARE * sum(placed)) if promotions else 0
    return Estimate(
        user=user,
        messages=read.messages,
        pages=len(read.tokens),
        bad=read.bad,
        calls=len(batches) + promotions,
        calls_at_most=len(batches) + len(placed) // least,
        prompt_tokens=asked,
        completion_tokens=len(placed) * ANNOTATE_ANSWER + promotions * PROFILE_ANSWER,
    )


def pages_a_promotion(settings: Settings) -> int:
    """New pages that a promoted segment has at least: `min_new`, and heat above τ without a visit (Eq. 3)."""
    heat = math.floor((settings.tau - settings.gamma) / settings.beta) + 1 if settings.beta else settings.min_new
    return max(settings.min_new, heat)


def verdict(estimates: Sequence[Estimate], left: Sequence[Allowance], settings: Settings) -> str:
    """Whether there is a model, and whether what today's limits leave is enough, in one sentence."""
    if not settings.model:
        return "no model is set (EMBERMEM_MODEL), so no call is made: what is stored is understood by extraction"
    calls = [one.calls for one in estimates]
    tokens = [one.prompt_tokens + one.completion_tokens for one in estimates]
    needed = [sum(calls), sum(tokens), max(calls, default=0), max(tokens, default=0)]
    short = [
        f"{one.what}: {need} needed, {one.left} left"
        for one, need in zip(left, needed, strict=True)
        if one.left is not None and need > one.left
    ]
    if short:
        return f"today's limits are too low ({'; '.join(short)}): what is over waits for the next days, and is recalled"
    return "today's limits allow it" if any(one.limit is not None for one in left) else "no limit is set"


@dataclass(slots=True)
class _Read:
    """What was read: `tokens` holds, for each page in order, what it costs in a prompt."""

    messages: int
    bad: int
    tokens: list[int]


def _read(items: Iterable[Item], thread: str) -> _Read:
    read = _Read(messages=0, bad=0, tokens=[])
    newest: dict[str, tuple[int, bool]] = {}  # of each thread: its newest page, and whether that is answered
    for item in items:
        if isinstance(item, BadLine):
            read.bad += 1
            continue
        read.messages += 1
        agent_side = item.role in ("assistant", "tool", "function")
        of = item.thread or thread
        page, answered = newest.get(of, (-1, True))
        if page < 0 or (answered and not agent_side):
            page = len(read.tokens)
            read.tokens.append(0)
        read.tokens[page] += _cost(item)
        newest[of] = (page, agent_side)
    return read


def _cost(entry: Entry) -> int:
    reading = ModelReadingSettings()
    text = entry.content if isinstance(entry.content, str) else json.dumps(entry.content, ensure_ascii=False)
    return LINE_TOKENS + Approx().count(text[: reading.utterance_chars])


def _size(*names: str) -> int:
    """Tokens of prompts as their files hold them."""
    return sum(Approx().count(prompts.load(name).text) for name in names)
