"""What the experiments will ask of a model, before anything is asked: calls, tokens, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from embermem import prompts
from embermem.index.tokens import counter
from embermem_bench import asking, datasets
from embermem_bench.cost import pages_of
from embermem_bench.datasets import Conversation
from embermem_bench.papers.experiments import Part
from embermem_bench.papers.run import Experiments
from embermem_bench.plan import Plan, SystemSpec
from embermem_bench.results import Spent
from embermem_bench.systems.numbers import FullContextNumbers
from embermem_bench.tracing import Price
from embermem_bench.unit import COUNTER

__all__ = ["RATES", "Rate", "Size", "sizes", "total"]

CHAT_TOKENS: Final = 100
"""Of a reply as a companion's (ours)."""
JUDGED_TOKENS: Final = 60
"""Of a verdict with its reason (ours)."""
_OF_RECALL: Final = frozenset({"top_k", "recall_k", "lookup", "page_size"})
_OF_RECALL_TOO: Final = frozenset({("without", "mid_term"), ("without", "long_term")})
"""Options that change nothing that is learnt: its calls come from the recording."""


_Learnt = tuple[str, int, str, str, tuple[tuple[str, str], ...]]
"""Kind of data, seed, conversation, and a system with the options by which it learns."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """What a system asks: (calls, tokens of prompts, tokens of answers) of a page that is learnt, and of a question,
    recall and answer together; and the tokens of a context."""

    page: tuple[float, float, float]
    response: tuple[float, float, float]
    context: float


RATES: Final[Mapping[str, Rate]] = {
    "tim": Rate(page=(1.97, 1_437, 206), response=(1.0, 444, 15), context=231),
    "memorybank": Rate(page=(0.20, 200, 14), response=(1.0, 1_142, 15), context=929),
    "memgpt": Rate(page=(1.23, 7_129, 80), response=(4.0, 20_417, 200), context=4_419),
    "amem": Rate(page=(22.31, 36_785, 2_404), response=(1.0, 7_718, 21), context=7_505),
    "amem:evolution=false": Rate(page=(3.76, 3_540, 207), response=(1.0, 6_817, 22), context=6_605),
    "amem:evolution=false,links=false": Rate(page=(1.88, 702, 183), response=(1.0, 1_339, 22), context=1_127),
    "readagent": Rate(page=(0.14, 114, 9), response=(2.0, 5_654, 26), context=3_543),
    "memoryos:preset=paper": Rate(page=(1.03, 684, 80), response=(1.0, 2_299, 15), context=2_087),
    "memoryos": Rate(page=(0.22, 355, 80), response=(1.0, 1_343, 12), context=1_131),
}
"""By system, measured on LoCoMo's conv-30 (196 pages, ten questions) with the scripted model: `--dry --part locomo
--conversation conv-30 --limit 10`. Prompts are real; what depends on answers, and their length, is the script's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """A part before it is run. `model` and `judge`: what will be asked of them."""

    part: Part
    conversations: int
    units: int
    questions: int
    model: Spent
    judge: Spent

    def price(self, prices: tuple[Price, Price]) -> float:
        """What it costs, at the prices of the model and of the judge."""
        return sum(
            price.of(spent.prompt_tokens, spent.completion_tokens)
            for spent, price in zip((self.model, self.judge), prices, strict=True)
        )


def sizes(wanted: Experiments) -> tuple[Size, ...]:
    """Of each part, in their order: what an earlier one learns alike is not asked again. Raises as `running.run`."""
    learnt: set[_Learnt] = set()
    return tuple(_size(part, plan, wanted, learnt) for part, plan in wanted.plans())


def total(found: tuple[Size, ...]) -> tuple[Spent, Spent]:
    """Of all parts: of the model, and of the judge."""
    return Spent.total(size.model for size in found), Spent.total(size.judge for size in found)


def _size(part: Part, plan: Plan, wanted: Experiments, learnt: set[_Learnt]) -> Size:
    talks = list(_talks(plan, wanted))
    judged = _judged(part)
    model, judge = [], []
    for seed, talk in talks:
        pages, history = len(pages_of(talk)), counter(COUNTER).count(asking.history_of(talk))
        for spec in part.systems:
            rate = _rate(spec, history)
            key = (part.data, seed, talk.id, spec.name, _learning(spec))
            if key not in learnt:
                learnt.add(key)
                model.append(_times(pages, *rate.page))
            calls, prompt, completion = rate.response
            said = CHAT_TOKENS if part.replies == "chat" else completion
            model.append(_times(len(talk.questions), calls, prompt, said))
            if part.judges:
                asked = history + rate.context + said + judged
                judge.append(_times(len(talk.questions) * len(part.judges), 1.0, asked, JUDGED_TOKENS))
    return Size(
        part=part,
        conversations=len({talk.id for _, talk in talks}),
        units=len(talks) * len(part.systems),
        questions=sum(len(talk.questions) for _, talk in talks),
        model=Spent.total(model),
        judge=Spent.total(judge),
    )


def _talks(plan: Plan, wanted: Experiments) -> Iterator[tuple[int, Conversation]]:
    """Each conversation of the plan with the questions that each seed draws."""
    for seed in plan.seeds:
        for path, dataset in zip(wanted.data, wanted.sets, strict=True):
            if path in plan.data:
                for talk in datasets.subset(dataset, questions=plan.limit, seed=seed).conversations:
                    if not plan.conversations or talk.id in plan.conversations:
                        yield seed, talk


def _rate(spec: SystemSpec, history: int) -> Rate:
    """A system's; that of full context is the conversation itself, as far as its window goes."""
    if spec.name == "full_context":
        window: str | int | None = spec.options.get("window_tokens", FullContextNumbers().window_tokens)
        context = float(history) if window is None else min(float(history), float(window))
        answer = counter(COUNTER).count(prompts.load("answer", asking.PROMPTS).text)
        said = RATES["memoryos"].response[2]  # its answers are as long as any other's
        return Rate(page=(0.0, 0.0, 0.0), response=(1.0, context + answer, said), context=context)
    learning = SystemSpec(name=spec.name, options=dict(_learning(spec))).label
    known = (learning, f"{spec.name}:preset={spec.options.get('preset')}", spec.name)
    return next(RATES[name] for name in known if name in RATES)


def _learning(spec: SystemSpec) -> tuple[tuple[str, str], ...]:
    """The options by which two of a system learn differently."""
    pairs = sorted((name, value) for name, value in spec.options.items() if name not in _OF_RECALL)
    return tuple(pair for pair in pairs if pair not in _OF_RECALL_TOO)


def _judged(part: Part) -> int:
    return sum(counter(COUNTER).count(prompts.load(f"judge_{name}", asking.PROMPTS).text) for name in part.judges)


def _times(count: int, calls: float, prompt: float, completion: float) -> Spent:
    return Spent(
        calls=round(count * calls), prompt_tokens=round(count * prompt), completion_tokens=round(count * completion)
    )
