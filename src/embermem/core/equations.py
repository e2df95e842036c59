"""Every formula, pure, in the papers' letters.

Source: the MemoryOS paper (Kang et al., 2025), by equation or section number. BM25: Robertson and Zaragoza,
"The Probabilistic Relevance Framework" (2009).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from embermem.core.types import Vector

Numbers = TypeVar("Numbers", "float", "NDArray[np.float64]")
"""One number, or an array with one for each of many segments."""


def cosine(a: Vector, b: Vector) -> float:
    """cos(a, b) = a·b / (‖a‖‖b‖), in [−1, 1]; 0 where one of them has no length."""
    norm = math.sqrt(float(a @ a)) * math.sqrt(float(b @ b))
    if norm == 0.0:
        return 0.0
    return max(-1.0, min(1.0, float(a @ b) / norm))


def jaccard(K_s: AbstractSet[str], K_p: AbstractSet[str]) -> float:
    """§3.2: F_Jaccard = |K_s ∩ K_p| / |K_s ∪ K_p| of Eq. 2, in [0, 1]; 0 where both are empty."""
    return jaccard_of_counts(float(len(K_s & K_p)), float(len(K_s)), len(K_p))


def jaccard_of_counts(shared: Numbers, size_s: Numbers, size_p: int) -> Numbers:
    """F_Jaccard from |K_s ∩ K_p|, |K_s| and |K_p|."""
    union = size_s + size_p - shared
    share: Numbers = shared / (union + (union == 0.0))
    return share


def f_score(cosine: Numbers, jaccard: Numbers) -> Numbers:
    """Eq. 2: F_score = cos(e_s, e_p) + F_Jaccard(K_s, K_p), in [−1, 2]."""
    return cosine + jaccard


def topic_weight(N: int, n: int) -> float:
    """ln²((N + 1)/(n + ½)) for n ≤ N: what it says of two of N pages that both have a keyword which n of them have
    (ours)."""
    return math.log((N + 1) / (n + 0.5)) ** 2


def topic_linkage(shared: Numbers, nearness: Numbers, pages: Numbers, nu: float, w: float) -> Numbers:
    """Σ_t a_t·b_t·g_t / (n_a·n_b·ν) + w·(ā − m)·(b̄ − m): how like the pages of two groups are on average (ours).

    `shared` is that sum over the keywords of both, a_t pages of the one and b_t of the other having t, of weight g_t;
    `pages` is n_a·n_b; ν the mean of Σ g_t over the owner's pages, so that two pages of the same keywords give about 1.
    `nearness` is the product of the groups' mean vectors, each less the mean m of all pages.
    """
    return shared / (pages * nu) + w * nearness if nu > 0.0 else w * nearness


def recency(delta_t: float, mu: float) -> float:
    """§3.3: R_recency = exp(−Δt/μ), in [0, 1]; Δt in seconds since the last access, never below zero."""
    return math.exp(-max(0.0, delta_t) / mu)


def heat(N_visit: int, L_interaction: int, R_recency: float, alpha: float, beta: float, gamma: float) -> float:
    """Eq. 3: Heat = α·N_visit + β·L_interaction + γ·R_recency."""
    return alpha * N_visit + beta * L_interaction + gamma * R_recency


def idf(N: int, n: int) -> float:
    """BM25's inverse document frequency, ln(1 + (N − n + ½)/(n + ½)): n of N documents hold the term; > 0."""
    return math.log1p((N - n + 0.5) / (n + 0.5))


def bm25_term(tf: float, dl: float, avgdl: float, k_1: float, b: float) -> float:
    """BM25's saturation of one term: tf·(k₁ + 1) / (tf + k₁·(1 − b + b·dl/avgdl)); `idf` multiplies it."""
    return tf * (k_1 + 1.0) / (tf + k_1 * (1.0 - b + b * dl / avgdl))


def z_score(x: float, mean: float, deviation: float) -> float:
    """z = (x − mean) / deviation, over one query's candidates; 0 where they do not differ."""
    return (x - mean) / deviation if deviation > 0.0 else 0.0


def logistic(x: float) -> float:
    """1 / (1 + e^−x), in (0, 1)."""
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0.0 else math.exp(x) / (1.0 + math.exp(x))


def log_odds(p: float, least: float) -> float:
    """ln(p / (1 − p)), with p kept in [least, 1 − least]."""
    p = min(max(p, least), 1.0 - least)
    return math.log(p / (1.0 - p))


def fading(t: Numbers, tau: float) -> Numbers:
    """e^(−t/τ), in (0, 1]: what is left at a distance t ≥ 0 in time, in the unit of τ (ours)."""
    left: Numbers = math.e ** (-t / tau)
    return left


def sharpness(length: float, breadth: Numbers, slack: float) -> Numbers:
    """(l + s) / b: how much a span of b days says of one of l days; above 1 where it says all of it (ours)."""
    return (length + slack) / breadth


def told_penalty(chars: float, unit: float) -> float:
    """ln(1 + c/u): what another line of a thread loses after c characters of it were told; 0 where none was (ours)."""
    return math.log1p(chars / unit)


def soft_maximum(x: Iterable[float], tau: float, n: int) -> float:
    """τ · ln((Σ e^(x/τ) + n − |x|) / n): a maximum of n numbers to which all add, missing ones as 0 (ours)."""
    terms = [math.exp(one / tau) for one in x]
    return tau * math.log((math.fsum(terms) + n - len(terms)) / n)


def evidence_level(level: float, confidence: float, new_level: float, new_confidence: float) -> float:
    """A trait's level after new evidence: the mean of both levels, weighted by their confidence (ours).

    The papers leave the merging of traits to a model; this is the merge without one.
    """
    total = confidence + new_confidence
    return level + (new_level - level) * (new_confidence / total) if total else 0.0


def evidence_confidence(confidence: float, new_confidence: float) -> float:
    """Confidence after independent evidence: 1 − (1 − c₁)(1 − c₂) (ours)."""
    return 1.0 - (1.0 - confidence) * (1.0 - new_confidence)


# -------------------------------------------------------------- MemoryBank (Zhong et al., 2023, arXiv 2305.10250), §2.3


def retention(t: float, S: float) -> float:
    """§2.3: R = e^(−t/S), in [0, 1]: what is retained after a time t by a memory of strength S, in the same unit.

    t is never below zero; 0 for a memory without strength.
    """
    return math.exp(-max(0.0, t) / S) if S > 0.0 else 0.0
