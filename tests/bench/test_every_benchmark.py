"""Every command of `bench/scripts/`, and with them every `embermem bench …`, runs to its end on a little data."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from small import recall_set
from test_bench_recorded import noted
from test_dataset_gvd import ASKED, bank, written
from test_studies import talk as longer
from typer.main import get_command

from embermem import Memory
from embermem.testing.model_server import ModelServer
from embermem_bench import scripted
from embermem_bench.commands.main import app

BENCHMARKS = Path(__file__).parents[2] / "bench" / "scripts"
COMMANDS = {
    "backup.sh": "--pages 400 --alone 0.2 --ways",
    "calls.sh": "--pages 20 --runs 1",
    "cluster_failures.sh": "--part pooler --seconds 2",
    "contexts.sh": "--limit 1",
    "cost.sh": "{talk} --pages 2",
    "facts.sh": "{talk}",
    "fit_confidence.sh": "--lives 2",
    "fit_recall.sh": "{talk} {threads}",
    "forgetting.sh": "--pages 120",
    "gvd.sh": "{out} {gvd} --limit 1",
    "hostile_upstream.sh": "--gb 0.01 --timeout-s 1 --only gzip",
    "key_timing.sh": "--calls 5",
    "live.sh": "{out} {threads} --no-model --limit 1",
    "load.sh": "--clients 2 --seconds 1",
    "model_cost.sh": "{long} --pages 20",
    "model_settle.sh": "{url} {long} --model scripted --pages 12 --chats 1",
    "past.sh": "--pages 100 --samples 1",
    "peers.sh": "{talk} --only bm25,dense",
    "prompt_cache.sh": "{url} --model scripted --pages 10 --turns 3 --embedder hashed",
    "proxy.sh": "--pages 10 --calls 2 --embedder hashed",
    "recall.sh": "{talk} {threads}",
    "documents.sh": "size --mb 0.02 --no-vectors",
    "scopes.sh": "--utterances 200 --queries 2",
    "scale.sh": "--part recall --owners 2 --pages 3 --ask-seconds 0.2",
    "speed.sh": "--pages 5,10 --seconds 5",
    "study_ablation.sh": "{threads} --out {out} --no-model --limit 1",
    "study_amem_ablation.sh": "{threads} --out {out} --no-model --limit 1",
    "study_k_sweep.sh": "{threads} --out {out} --no-model --limit 1 --k 1 --k 2",
    "study_memory_map.sh": "{long} --out {out} --no-model",
    "study_presets.sh": "{threads} --out {out} --no-model --limit 1",
    "systems.sh": "{out} {threads} --no-model --limit 1",
    "topics.sh": "--limit 1",
    "workers.sh": "--owners 2 --wait 0.05",
}
"""The arguments that make each of them small."""
PROGRAMS = {"cluster_failures.sh": "pgbouncer"}
"""Programs that a script needs: without them, the script is not called."""
DIRECTLY = {
    "calibration": "{threads} --unrelated 2",
    "footprint": "--quick --embedder hashed --part bytes --part settle",
    "owners": "--owners 20 --whole 5 --turns 5 --real-owners 5 --unit-pages 5 --asks 50 --hours 0.01",
    "paper": "--dry --part gvd-ablation --limit 1 --out {out}",
    "inspector_stores.py": "big {out}/big --pages 40 --facts 130",
    "inspector_pages.py": "{store} --requests 1",
    "inspector_tasks.py": "--only conflict",
    "recall_against.py": "{root} {talk} {threads}",
    "scrub.py": "{store}",
    "speed.sh": "--search --utterances 20,40 --seconds 20",
    "understanding": "{talk} {threads} {changes}",
    "year": "",
}
"""What is called in another way too: a script that has no `.sh`, an option, a command that has no script."""
COVERED_BY = {
    "recall": "recall.sh",
    "speed": "speed.sh",
    "embed": "speed.sh",
    "search": "speed.sh",
    "load": "load.sh",
    "past": "past.sh",
    "scale": "scale.sh",
    "study": "study_presets.sh",
    "cost": "cost.sh",
    "run": "systems.sh",
    "report": "systems.sh",
    "paper": "paper",
    "calibration": "calibration",
    "contexts": "contexts.sh",
    "footprint": "footprint",
    "owners": "owners",
    "understanding": "understanding",
    "year": "year",
}
"""For each `embermem bench …`, the one above that calls it."""


def test_no_benchmark_is_left_out() -> None:
    there = {file.name for file in BENCHMARKS.glob("*.sh")}
    assert there == {*COMMANDS}
    assert {file.stem for file in BENCHMARKS.glob("*.py")} <= {Path(name).stem for name in (*COMMANDS, *DIRECTLY)}
    group: Any = get_command(app)
    assert {*group.commands} == {*COVERED_BY}
    for command, script in COVERED_BY.items():
        if script.endswith(".sh"):
            assert f"bench {command}" in (BENCHMARKS / script).read_text(encoding="utf-8"), command


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """Small data of each format, a store, and where a run is written."""
    talk = noted()
    talk.append(copy.deepcopy(talk[0]) | {"sample_id": "our-2"})
    long = longer(24)
    threads = long["conversations"][0]["threads"]
    threads[0]["turns"] = [turn for one in threads for turn in one["turns"]]
    del threads[1:]
    long["conversations"].append(copy.deepcopy(long["conversations"][0]) | {"id": "nora"})
    files = {"talk": talk, "threads": recall_set(), "long": long}
    for name, document in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    gvd = tmp_path / "gvd"
    gvd.mkdir()
    written(gvd, bank(), ASKED)
    moved = {"at": "2026-05-04", "text": "I live in Lyon."}, {"at": "2026-05-05", "text": "I moved to Nantes."}
    changes = {"id": "1", "lang": "en", "messages": moved, "old": "Lyon", "new": "Nantes"}
    (tmp_path / "changes.jsonl").write_text(f"{json.dumps(changes)}\n", encoding="utf-8")
    with Memory(tmp_path / "store.db", embedder="hashed", background=False) as memory:
        memory.of("alice").add("I live in Lyon.", "Since when?")
    return {name: str(tmp_path / f"{name}.json") for name in files} | {
        "gvd": str(gvd),
        "changes": str(tmp_path / "changes.jsonl"),
        "store": str(tmp_path / "store.db"),
        "out": str(tmp_path / "out"),
        "root": str(BENCHMARKS.parents[1]),
    }


def ended(command: list[str | Path], server: ModelServer) -> subprocess.CompletedProcess[str]:
    """A command to its end, with a scripted model and the embedder that needs no weights where it takes either."""
    own = {
        "PYTHON": sys.executable,
        "EMBERMEM": str(Path(sys.executable).with_name("embermem")),
        "EMBERMEM_EMBEDDER": "hashed",
        "EMBERMEM_MODEL": "scripted",
        "EMBERMEM_MODEL_URL": server.url,
        "EMBERMEM_MODEL_KEY": "none",
    }
    return subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=280, check=False)


@pytest.mark.proof
@pytest.mark.parametrize(("name", "arguments"), [*COMMANDS.items(), *DIRECTLY.items()])
def test_a_benchmark_runs_to_its_end(name: str, arguments: str, places: dict[str, str]) -> None:
    if name in PROGRAMS and shutil.which(PROGRAMS[name]) is None:
        pytest.skip(f"{PROGRAMS[name]} is not installed")
    if name.endswith(".sh"):
        command: list[str | Path] = [BENCHMARKS / name]
    elif name.endswith(".py"):
        command = [sys.executable, BENCHMARKS / name]
    else:
        command = [sys.executable, "-m", "embermem.cli.main", "bench", name]
    with ModelServer(scripted.answer) as server:
        words = [word.format(**places, url=server.url) for word in arguments.split()]
        done = ended([*command, *words], server)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip()
