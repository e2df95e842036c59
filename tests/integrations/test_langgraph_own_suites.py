"""LangGraph's own tests of its stores, taken from the packages' sources, hold for EmberStore."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest

import embermem

HERE = Path(__file__).parent

LEFT_OUT = {
    f"langgraph-checkpoint=={version('langgraph-checkpoint')}": (
        "test_vector_store_initialization",  # an attribute of InMemoryStore
        "test_embed_with_path",  # cosines of fake embeddings; items without a text follow those with one
        "test_non_ascii",  # the encoder finds a Japanese line nearer to three others than they are to themselves
    ),
    "langgraph-checkpoint-sqlite==3.1.2": (
        "test_vector_store_initialization",  # attributes of SqliteStore
        "test_nonnull_migrations",
        "test_escape_glob_literal",
        "test_namespace_match_pattern",
        "test_list_namespaces_prefix_uses_indexable_condition",
        "test_embed_with_path",  # cosines of fake embeddings
        "test_non_ascii",
        "test_scores",
        "test_sql_injection_vulnerability",  # refuses names of fields that SqliteStore writes into its SQL
        "test_filter_keys_with_hyphens_and_digits",  # names with dots as paths, in this store only
    ),
}
"""For each package, the tests that ask for something else than a store does, each with its reason."""


@pytest.mark.proof
@pytest.mark.sqlite
@pytest.mark.parametrize("package", LEFT_OUT)
def test_the_tests_of_the_framework_s_stores_hold(package: str, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "-d", str(tmp_path)]
    subprocess.run([*pip, package], check=True, timeout=300)
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    known = os.pathsep.join([str(Path(embermem.__file__).parents[1]), str(HERE), str(folder)])
    leaving = [f"--deselect=tests/test_store.py::{name}" for name in LEFT_OUT[package]]
    plain = ["-q", "-c", os.devnull, "--rootdir=.", "-p", "no:cacheprovider", "-p", "langgraph_suite"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plain, *leaving, "tests/test_store.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": known},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 40
