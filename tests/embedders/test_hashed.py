"""The hashed n-gram embedder: stable over processes and versions, and near where spelling is near."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from embermem.embedders.hashed import HashedNgrams

SRC = Path(__file__).parents[2] / "src"
TEXTS = ["My sister Ana plays the cello.", "我妹妹拉大提琴", "🎉 ok"]


def test_the_name_and_size_are_fixed() -> None:
    assert (HashedNgrams().name, HashedNgrams().dim) == ("hashed-ngram-v1", 384)


def test_another_process_with_another_hash_seed_gives_the_same_bytes() -> None:
    code = (
        "import sys; from embermem.embedders.hashed import HashedNgrams;"
        f"sys.stdout.buffer.write(HashedNgrams().embed({TEXTS!r}).tobytes())"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {"PYTHONPATH": str(SRC), "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment)
    assert done.stdout == HashedNgrams().embed(TEXTS).tobytes()


def test_vectors_under_this_name_never_change() -> None:
    # Rounded, as the last bit may differ between machines. If this fails, the embedder needs a new name.
    rounded = np.round(HashedNgrams().embed(TEXTS) * 1000).astype("<i4") + 0
    assert hashlib.sha256(rounded.tobytes()).hexdigest()[:16] == "af501dd835a0e363"


def test_spelling_order_and_repetition_count_a_little_and_case_and_width_do_not() -> None:
    right, wrong, other = HashedNgrams().embed(["restaurant", "restaurnat", "bicycle"])
    assert right @ wrong > right @ other + 0.05
    plain, loud, wide = HashedNgrams().embed(["call ana", "CALL Ana", "ｃａｌｌ ａｎａ"])
    np.testing.assert_array_equal(plain, loud)
    np.testing.assert_array_equal(plain, wide)
    one, other = HashedNgrams().embed(["dog bites man", "man bites dog"])
    assert 0.6 < one @ other < 0.99
    often, cello = HashedNgrams().embed(["very " * 50 + "good cello", "cello"])
    assert often @ cello > 0.1


def test_the_cost_grows_with_the_length_and_no_faster() -> None:
    embedder = HashedNgrams()
    embedder.embed(["some words and others " * 100])
    began = time.process_time()
    embedder.embed(["some words and others " * 20_000])
    assert time.process_time() - began < 2.0
