"""The figures of retrieval for one question, by their public names; what `bench recall` and `bench run` both report."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from embermem_bench import metrics

KS = (1, 5, 10, 20)
"""The cut-offs, in utterances."""


def ranking_values(prefix: str, ranking: Sequence[str], evidence: Collection[str]) -> dict[str, float]:
    """`mrr`, and `rec@k`, `any@k`, `all@k` for each k, of a ranking; each name begins with the prefix."""
    values = {f"{prefix}mrr": metrics.reciprocal_rank(ranking, evidence)}
    for k in KS:
        values[f"{prefix}rec@{k}"] = metrics.recall_at(ranking, evidence, k)
        values[f"{prefix}any@{k}"] = metrics.any_at(ranking, evidence, k)
        values[f"{prefix}all@{k}"] = metrics.all_at(ranking, evidence, k)
    return values


def ranking_names(prefix: str) -> list[str]:
    """The names of those with a k, kind by kind."""
    return [f"{prefix}{kind}@{k}" for kind in ("rec", "any", "all") for k in KS]
