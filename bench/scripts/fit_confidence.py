"""Fit the weights of confidence (config.py, `confidence_*`) on the package's own signs, with held-out conversations.

    bench/scripts/fit_confidence.sh DATA... [--cache FOLDER] [--without]

A logistic regression with a small penalty on squares tells five groups apart, each by its share in `SHARES`:
    answerable   questions of LoCoMo's categories 1–4
    adversarial  its category 5: what was said of somebody else, or slightly otherwise
    never        questions of other conversations of the set, with this one's names in place of theirs
    asked        questions of a data set that has no category 5 (user and assistant)
    foreign      questions of other conversations, put to these, as they are

Every figure is of the weights fitted on the other conversations.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from fit_recall import ENCODER, Talk, prepared

from embermem.core.config import Settings
from embermem.index.query_context import Query
from embermem.languages.words import terms
from embermem.memoryos.recall.confidence import Signs, signs
from embermem.memoryos.recall.retrieval import rank
from embermem_bench import metrics
from embermem_bench.datasets import LOCOMO_HEADLINE, Question, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAMES = tuple(field.name for field in fields(Signs))
SHARES = {"answerable": 0.3, "asked": 0.2, "adversarial": 0.1, "never": 0.25, "foreign": 0.15}
TRUE = ("answerable", "asked")
PAIRS = (("answerable", "adversarial"), ("answerable", "never"), ("asked", "foreign"))
PENALTY, STEPS = 0.001, 40
FOREIGN = 150
"""Questions of other conversations that are put to each."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Every question of every conversation: its conversation, its group, its signs (questions, signs)."""

    fold: NDArray[np.int64]
    group: NDArray[np.str_]
    signs: Floats

    @property
    def weights(self) -> Floats:
        """Each question's share in the loss; all sum to 1."""
        shares: Floats = sum(
            (share * (self.group == name) / max(1, (self.group == name).sum()) for name, share in SHARES.items())
        )
        return shares

    @property
    def is_true(self) -> Floats:
        """1 where the answer was said."""
        return np.isin(self.group, TRUE).astype(np.float64)


def main() -> None:
    arguments = _arguments()
    talks = [
        prepared(replace(data, headline=None), talk, arguments.cache)
        for data in map(load, arguments.data)
        for talk in data.conversations
    ]
    table = _table(talks, Mode(vectors=True, tokens=True))
    print("signs:", ", ".join(NAMES))
    for name in SHARES:
        print(f"  {name}: {_described(table.signs[table.group == name].mean(axis=0))}")
    print("\nfitted, each conversation with the weights fitted on the others")
    _report(table, _held_out(table, frozenset()))
    print("fitted on all:", _described(fit(table, np.ones(len(table.fold), dtype=bool), frozenset()), ("base", *NAMES)))
    print("\nas shipped")
    _report(table, _shipped(table))
    for name, mode in (("without token vectors", Mode(vectors=True)), ("by words alone", Mode())):
        print(f"\nas shipped, {name}")
        fewer = _table(talks, mode)
        _report(fewer, _shipped(fewer))
    if arguments.without:
        for place, name in enumerate(NAMES):
            print(f"\nwithout {name}, fitted again, held out")
            _report(table, _held_out(table, frozenset({place})))


def newton(x: Floats, true: Floats, w: Floats, penalty: Floats, steps: int) -> Floats:
    """The coefficients (columns,) of the logistic regression of least loss: rows of weight w, ridge `penalty`."""
    b = np.zeros(x.shape[1])
    for _ in range(steps):
        p = _logistic(x @ b)
        curve = (x * (w * p * (1 - p))[:, None]).T @ x + np.diag(penalty + 1e-9)
        b -= np.linalg.solve(curve, x.T @ (w * (p - true)) + penalty * b)
    return b


def fit(table: Table, kept: NDArray[np.bool_], locked: frozenset[int]) -> Floats:
    """The base and the weights (1 + signs,) of the least loss on the questions kept, by Newton's method."""
    free = [place for place in range(len(NAMES)) if place not in locked]
    x = table.signs[:, free]
    mean, deviation = x[kept].mean(axis=0), x[kept].std(axis=0) + 1e-9
    x = np.column_stack([np.ones(len(x)), (x - mean) / deviation])[kept]
    b = newton(x, table.is_true[kept], table.weights[kept], np.array([0.0] + [PENALTY] * len(free)), STEPS)
    weights = np.zeros(1 + len(NAMES))
    weights[[1 + place for place in free]] = b[1:] / deviation
    weights[0] = b[0] - (b[1:] / deviation * mean).sum()
    return weights


def _held_out(table: Table, locked: frozenset[int]) -> Floats:
    """Each question's confidence by the weights fitted on all other conversations."""
    found = np.zeros(len(table.fold))
    for fold in np.unique(table.fold):
        out = table.fold == fold
        b = fit(table, ~out, locked)
        found[out] = _logistic(b[0] + table.signs[out] @ b[1:])
    return found


def _shipped(table: Table) -> Floats:
    settings = Settings()
    b = np.array([getattr(settings, f"confidence_{name}") for name in ("base", *NAMES)])
    return _logistic(b[0] + table.signs @ b[1:])


def _report(table: Table, found: Floats) -> None:
    for true, false in PAIRS:
        yes, no = table.group == true, table.group == false
        each = [
            _auc(found[yes & (table.fold == fold)], found[no & (table.fold == fold)])
            for fold in np.unique(table.fold[yes])
        ]
        auc = _auc(found[yes], found[no])
        print(f"  {true} from {false}: AUC {_shown(auc)}, by conversation {', '.join(map(_shown, each))}")
    for name in SHARES:
        some = found[table.group == name]
        if len(some):
            print(f"  {name} ({len(some)}): mean {some.mean():.2f}, above a half {(some > 0.5).mean():.2f}")
    edges = np.linspace(0, 1, 6)
    for low, high in pairwise(edges):
        inside = (found >= low) & (found < high + (high == 1))
        w = table.weights[inside]
        if w.sum() > 0:
            truth, said = (table.is_true[inside] @ w) / w.sum(), (found[inside] @ w) / w.sum()
            print(f"  confidence {low:.1f} to {high:.1f}: mean {said:.2f}, answered {truth:.2f} ({inside.sum()})")


def _auc(yes: Floats, no: Floats) -> float | None:
    return metrics.auc(yes.tolist(), no.tolist())


# ------------------------------------------------------------------------------------------------- data → signs


@dataclass(frozen=True, kw_only=True)
class Mode:
    """What the embedder gives."""

    vectors: bool = False
    tokens: bool = False


def _table(talks: Sequence[Talk], mode: Mode) -> Table:
    fold, group, found = [], [], []
    settings = Settings()
    for number, talk in enumerate(talks):
        for name, _, query in queries(talks, number, mode):
            ranking = rank(talk.memory, query, settings)
            if ranking.rows:
                fold.append(number)
                group.append(name)
                found.append(astuple(signs(ranking.view, ranking.rows)))
    return Table(fold=np.array(fold), group=np.array(group), signs=np.array(found))


def queries(talks: Sequence[Talk], number: int, mode: Mode) -> Iterator[tuple[str, Question | None, Query]]:
    """What one conversation is asked, each with its group: its own questions, and those of others."""
    for name, question, query in [*_own(talks[number]), *_others(talks, number)]:
        vector, tokens = query.vector if mode.vectors else None, query.tokens if mode.tokens else None
        yield name, question, replace(query, vector=vector, tokens=tokens)


def _own(talk: Talk) -> Iterator[tuple[str, Question, Query]]:
    for question, query in talk.asked:
        if not _has_category_5(talk):
            yield "asked", question, query
        else:
            yield "answerable" if question.category in LOCOMO_HEADLINE else "adversarial", question, query


def _others(talks: Sequence[Talk], number: int) -> Iterator[tuple[str, None, Query]]:
    """The same questions every time; of a set with names, from the same set, and with this conversation's names."""
    talk, chance = talks[number], np.random.default_rng(number)
    named = _has_category_5(talk)
    texts: list[str] = []
    for other in talks:
        if other is talk or (named and other.data.name != talk.data.name):
            continue
        ours = chance.permutation(talk.memory.speakers()).tolist()
        for question, _ in other.asked:
            if question.category != "5":
                texts.append(_renamed(question.text, other.memory.speakers(), ours) if named else question.text)
    texts = [texts[place] for place in chance.permutation(len(texts))[:FOREIGN]]
    for text in texts:
        vector, its_tokens = ENCODER.embed_query(text)
        keywords = frozenset(terms(text))
        query = Query(text=text, vector=vector, tokens=its_tokens, keywords=keywords)
        yield "never" if named else "foreign", None, query


def _has_category_5(talk: Talk) -> bool:
    return any(question.category == "5" for question, _ in talk.asked)


def _renamed(text: str, theirs: Sequence[str], ours: Sequence[str]) -> str:
    for their, our in zip(theirs, ours, strict=False):
        text = re.sub(rf"\b{re.escape(their)}\b", our, text)
    return text


def _logistic(x: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def _described(values: Floats, names: Sequence[str] = NAMES) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in zip(names, values, strict=True))


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="LoCoMo's format or the neutral recall-set format")
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors between runs")
    parser.add_argument("--without", action="store_true", help="also fit without each sign in turn")
    return parser.parse_args()


if __name__ == "__main__":
    main()
