"""The comparison with other memories: its script runs with Ember's own systems alone, and says what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from small import locomo, recall_set

ROOT = Path(__file__).parents[2]
OWN = "ember,bm25,dense"
EMBER = ["ember-paper", "ember-default"]


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "bench" / "scripts" / "peers.sh", *arguments],
        env=os.environ | {"PYTHON": sys.executable} | environment,
        capture_output=True,
        text=True,
        timeout=240,
    )


def written(folder: Path, document: object) -> Path:
    path = folder / "ours.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.proof
def test_each_own_system_finds_what_is_plain_and_says_what_it_costs(tmp_path: Path) -> None:
    done = run(written(tmp_path, locomo()), "--only", OWN, "--json")
    assert done.returncode == 0, done.stderr
    (report,) = json.loads(done.stdout)["data"]
    assert (report["name"], report["utterances"], report["questions"]) == ("ours", 5, 3)
    assert list(report["systems"]) == ["bm25", "dense", *EMBER]
    for found in report["systems"].values():
        assert found["rec@10"] == found["mrr"] == 1.0
        assert found["search_ms_p95"] >= found["search_ms_p50"] > 0
        assert found["unforeseen_texts"] == 0
    assert [name for name, found in report["systems"].items() if "disk_bytes" in found] == EMBER


@pytest.mark.proof
def test_a_question_in_mid_conversation_sees_neither_its_thread_nor_what_comes_later(tmp_path: Path) -> None:
    document = recall_set()
    asked = document["conversations"][0]["questions"]
    asked[:] = [asked[0] | {"id": thread, "evidence_threads": [thread]} for thread in ("k1", "k2", "k3")]
    done = run(written(tmp_path, document), "--only", OWN, "--json")
    assert done.returncode == 0, done.stderr
    (report,) = json.loads(done.stdout)["data"]
    for found in report["systems"].values():
        assert found["thread_any@10"] == pytest.approx(1 / 3)


@pytest.mark.proof
def test_the_table_has_a_row_a_system_under_the_name_that_was_given(tmp_path: Path) -> None:
    done = run(f"Our talk={written(tmp_path, locomo())}", "--only", "bm25,dense")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "**Our talk**: 1 conversations, 5 utterances, 3 questions"
    assert lines[2].startswith("| system | rec@5 | rec@10 | MRR | ms p50 |")
    assert [line.split(" | ")[0] for line in lines[4:6]] == ["| BM25 alone", "| dense alone"]
    assert "BM25 alone" in done.stderr, "progress"


@pytest.mark.proof
@pytest.mark.skipif(find_spec("chromadb") is not None, reason="chromadb is installed here")
def test_a_system_that_is_not_installed_is_named_as_such(tmp_path: Path) -> None:
    done = run(written(tmp_path, locomo()), "--only", "chroma,bm25")
    assert done.returncode == 0, done.stderr
    assert "| Chroma | not installed |" in done.stdout
    assert "| BM25 alone | 100.0 |" in done.stdout


@pytest.mark.proof
def test_a_system_that_fails_says_how_and_the_others_are_measured(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    (broken / "chromadb-0.dist-info").mkdir(parents=True)
    (broken / "chromadb-0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: chromadb\nVersion: 0\n")
    (broken / "chromadb.py").write_text("raise RuntimeError('out of tune')\n")
    done = run(written(tmp_path, locomo()), "--only", "chroma,bm25", PYTHONPATH=str(broken))
    assert done.returncode == 1
    assert "RuntimeError: out of tune" in done.stderr
    assert "| Chroma | failed |" in done.stdout
    assert "| BM25 alone | 100.0 |" in done.stdout


@pytest.mark.proof
def test_the_footprint_of_ember_alone_is_measured_and_the_others_are_named(tmp_path: Path) -> None:
    done = run("--footprint", "--items", "100", "--only", "ember,chroma", "--folder", tmp_path)
    assert done.returncode == 0, done.stderr
    header, _, ember, chroma = done.stdout.splitlines()[:4]
    assert header.startswith("| store | items | add one, ms p50 |")
    assert ember.startswith("| Ember | 100 |")
    assert "| – |" not in ember
    if find_spec("chromadb") is None:
        assert "not installed" in chroma
    assert not list(tmp_path.iterdir())


@pytest.mark.proof
def test_a_connection_is_refused_and_noted() -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import socket, isolation\n"
        "refused = isolation.refuse_network()\n"
        "try: socket.create_connection(('127.0.0.1', 9))\n"
        "except ConnectionRefusedError as error: print(error, refused)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(ROOT / "bench" / "scripts" / "peers")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "the benchmark uses no network: socket.getaddrinfo 127.0.0.1" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param([], "usage:", marks=pytest.mark.proof),
        pytest.param(["nowhere.json"], "cannot read nowhere.json", marks=pytest.mark.proof),
        pytest.param([__file__], "not JSON", marks=pytest.mark.proof),
        pytest.param(["--footprint", "--items", "3"], "expected numbers of 100 and more", marks=pytest.mark.proof),
        pytest.param(
            ["--footprint", "--only", "lucene"], "unknown store 'lucene'; known: ember", marks=pytest.mark.proof
        ),
        (["{file}", "--only", "bm25,lucene"], "unknown system 'lucene'; known: bm25, dense, ember-paper"),
        pytest.param(["{file}", "--only", ","], "unknown system ','", marks=pytest.mark.proof),
    ],
)
def test_a_wrong_call_says_what_is_wrong(arguments: list[str], said: str, tmp_path: Path) -> None:
    file = str(written(tmp_path, locomo()))
    done = run(*(argument.replace("{file}", file) for argument in arguments))
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.proof
def test_help_names_the_systems() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("bm25", "mem0", "chroma", "langgraph", "--json"))
