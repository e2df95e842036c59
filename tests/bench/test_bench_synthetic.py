"""Made-up talk."""

from __future__ import annotations

from itertools import islice

from embermem_bench.synthetic import exchanges, queries


def test_the_same_seed_makes_the_same_talk_and_no_line_twice() -> None:
    first, again, other = (list(islice(exchanges(seed), 500)) for seed in (1, 1, 2))
    assert first == again != other
    texts = [text for one in first for text in (one.query, one.response)]
    assert len(set(texts)) == len(texts)
    assert queries(3, 20) == queries(3, 20)
