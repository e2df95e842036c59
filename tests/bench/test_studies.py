"""`embermem bench study`: the papers' studies done again, on small talk of our own."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import run
from test_bench_report import asked, header
from test_dataset_gvd import ASKED, bank
from test_dataset_gvd import written as gvd_written

from embermem import OwnerMemory, bootstrap
from embermem.core import config
from embermem.core.errors import ConfigError, InputError
from embermem.protocols import LanguageModel
from embermem.testing.model_server import ModelServer
from embermem_bench import figures, scripted
from embermem_bench.datasets import parse
from embermem_bench.plan import SystemSpec
from embermem_bench.results import Result, Results
from embermem_bench.studies import COMPARISONS, Written, compare, comparison, draw_map
from embermem_bench.studies.comparing import rows
from embermem_bench.studies.comparisons import Comparison, Variant
from embermem_bench.studies.memory_map import Memories, connected, nearness
from embermem_bench.studies.writing import document
from embermem_bench.systems import open_system
from scripted import Opener

TOPICS = ("kayak", "sourdough", "trombone", "greenhouse", "lighthouse", "marathon")
WITHOUT = ("nothing", "mid_term", "long_term", "chain")


def talk(pages: int = 12, name: str = "small") -> dict[str, Any]:
    """Mara tells Jon of a topic a page, two pages a thread, and is asked about the first and the last."""
    threads = []
    for n in range(0, pages, 2):
        turns = []
        for p in (n, n + 1):
            topic = TOPICS[p % len(TOPICS)]
            turns.append({"id": f"{p}:0", "speaker": "Mara", "role": "user", "text": f"My {topic} number {p} is blue."})
            turns.append({"id": f"{p}:1", "speaker": "Jon", "role": "assistant", "text": f"I see, the {topic}."})
        threads.append({"id": f"t{n}", "at": f"2026-03-{1 + n:02}T09:00:00", "turns": turns})
    ask = "What colour is the {} number {}?"
    questions = [
        {"id": f"q{p}", "text": ask.format(TOPICS[p % 6], p), "category": c, "evidence": [f"{p}:0"], "answer": "blue"}
        for p, c in ((0, "old"), (pages - 1, "new"))
    ]
    return {"name": name, "conversations": [{"id": "mara", "threads": threads, "questions": questions}]}


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def ran(study: Comparison, folder: Path, **settings: Any) -> Written:
    data = write(folder / "talk.json", talk())
    return compare(study, [data], folder / "out", embedder="hashed", **settings)


def is_drawn(written: Written) -> None:
    """Its figures are whole, and its table holds every number of its JSON."""
    svg, png = written.figures
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert png.read_bytes().startswith(b"\x89PNG")
    text = written.table.read_text(encoding="utf-8")
    kept = json.loads(written.numbers.read_text(encoding="utf-8"))
    assert kept == json.loads(json.dumps(written.content))
    for row in kept["rows"]:
        cells = {cell.strip() for line in text.splitlines() for cell in line.split("|")}
        missing = {str(number) for number in numbers(row)} - cells
        assert not missing, (row, text)


def numbers(value: object) -> Iterator[float]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from () if key in ("k", "failed") else numbers(item)
    elif isinstance(value, (int, float)) and value:
        yield value


# ------------------------------------------------------------------------------------ MemoryOS without one of its tiers


def told(opened: Opener, without: str, preset: str, **settings: Any) -> OwnerMemory:
    """Nine pages, of which three are in short-term memory; the persona is learnt as pages are read."""
    fitting = {"facts_when": "read", "without": without, "token_counter": "words", **settings}
    alice = opened(f"{preset}-{without}.db", preset=preset, **fitting).of("alice")
    alice.add("My name is Alice and I live in Lyon.", "How nice, Lyon!", at="2026-04-01T09:00:00", thread="a")
    for n in range(4):
        alice.add(f"The kayak race number {n} in Lyon was wet.", "And who won?", at="2026-04-02T09:00:00", thread="b")
    for n in range(4):
        alice.add(f"The bread number {n} in Lyon rose.", "Well done!", at="2026-04-03T09:00:00", thread="c")
    alice.settle()
    return alice


@pytest.mark.parametrize("preset", ["default", pytest.param("paper", marks=pytest.mark.proof)])
def test_memory_without_a_tier_lacks_what_the_tier_brings_and_nothing_else(opened: Opener, preset: str) -> None:
    whole, newest, no_facts, unchained = (told(opened, without, preset) for without in WITHOUT)

    remembered, ablated = (one.recall("Who am I, in Lyon?") for one in (whole, newest))
    assert {hit.tier for hit in remembered.hits} == {"short", "mid"}
    assert {hit.tier for hit in ablated.hits} == {"short"}
    assert {hit.utterance.text for hit in ablated.hits} == {
        "The bread number 1 in Lyon rose.",
        "The bread number 2 in Lyon rose.",
        "The bread number 3 in Lyon rose.",
        "Well done!",
    }
    assert {hit.utterance.id for hit in ablated.packed} <= {hit.utterance.id for hit in ablated.hits}
    assert [fact.text for fact in ablated.facts] == [fact.text for fact in remembered.facts] != []
    profiles = [[field.value for field in one.persona.profile] for one in (ablated, remembered)]
    assert profiles[0] == profiles[1] != []

    remembered, ablated = (one.recall("Where do I live?") for one in (whole, no_facts))
    assert (remembered.facts != (), ablated.facts) == (True, ())
    assert (ablated.persona.facts, ablated.persona.profile, ablated.persona.traits) == ((), (), ())
    assert {hit.utterance.seq for hit in ablated.hits} == {hit.utterance.seq for hit in remembered.hits}
    assert not any("stands at every recall" in note or "by its theme" in note for note in ablated.notes)

    assert len(whole.chains()) < len(whole.pages()) == len(unchained.pages())
    assert len({page.chain_id for page in unchained.pages()}) == len(unchained.pages())
    assert not [chain for chain in unchained.chains() if len(chain.page_ids) > 1]
    assert [fact.text for fact in unchained.facts()] == [fact.text for fact in whole.facts()]
    assert [page.keywords for page in unchained.pages()] == [page.keywords for page in whole.pages()]


def test_without_chains_a_model_is_shown_each_page_alone(opened: Opener) -> None:
    assert any(" before: " in text for text in shown_to_a_model(opened, "nothing"))
    assert not any(" before: " in text for text in shown_to_a_model(opened, "chain"))


def shown_to_a_model(opened: Opener, without: str) -> list[str]:
    """What a model was shown of pages, when every placed page was read by it; without chains each is its own."""
    with ModelServer(scripted.answer) as server:
        alice = told(opened, without, "default", model="scripted", model_url=server.url, model_key="none")
        placed = alice.pages("mid")
        assert ({page.error for page in placed}, len(placed)) == ({None}, 6)
        assert without != "chain" or len({page.chain_id for page in placed}) == 6
        return [text for request in server.requests for text in texts_of(request)]


def texts_of(request: Mapping[str, Any]) -> list[str]:
    return [str(message["content"]) for message in request["messages"] if message["role"] == "user"]


def test_every_variant_of_a_study_opens_sweeps_go_through_their_ks_and_others_are_refused(tmp_path: Path) -> None:
    for name in COMPARISONS:
        study = comparison(name, preset="paper", ks=(1, 2))
        labels = [variant.spec.label for variant in study.variants]
        assert len(set(labels)) == len({variant.label for variant in study.variants}) == len(labels) > 1
        for number, variant in enumerate(study.variants):
            assert SystemSpec.parse(variant.spec.label) == variant.spec
            open_system(
                variant.spec.name, tmp_path / f"{name}-{number}.db", options=variant.spec.options, embedder="hashed"
            ).close()

    named = comparison("k-sweep", systems=("mem0", "memoryos:preset=paper,top_m=3"), ks=(5, 7, 5))
    assert [(v.series, v.x, v.spec.label) for v in named.variants] == [
        ("mem0", 5, "mem0:recall_k=5"),
        ("mem0", 7, "mem0:recall_k=7"),
        ("memoryos:preset=paper,top_m=3", 5, "memoryos:preset=paper,top_k=5,top_m=3"),
        ("memoryos:preset=paper,top_m=3", 7, "memoryos:preset=paper,top_k=7,top_m=3"),
    ]

    own = comparison("k-sweep")
    assert [v.x for v in own.variants if v.series == "memoryos:preset=paper"] == [5, 10, 20, 30, 40]
    assert [v.x for v in own.variants if v.series == "amem"] == [10, 20, 30, 40, 50]

    with pytest.raises(ConfigError, match="no study 'x'; there are: ablation"):
        comparison("x")
    with pytest.raises(ConfigError, match="full_context has no k"):
        comparison("k-sweep", systems=("full_context",))

    with pytest.raises(ConfigError, match="without = 'heat'"):
        config.load(without="heat")

    assert parse(talk(), "x", "x").conversations[0].with_evidence[0].answer == "blue"


# ------------------------------------------------------------------------------------------------- what is compared


@pytest.mark.proof
def test_the_ablation_writes_its_files_and_shows_what_each_tier_is_worth(tmp_path: Path) -> None:
    written = ran(comparison("ablation"), tmp_path, command="embermem bench study ablation talk.json")
    is_drawn(written)
    by = {row["label"]: row for row in written.content["rows"]}
    assert list(by) == ["MemoryOS", "-MTM", "-LPM", "-Chain", "no memory"]
    assert by["MemoryOS"]["by_category"] == {"all": 1.0, "new": 1.0, "old": 1.0}
    assert by["-MTM"]["by_category"] == {"all": 0.5, "new": 1.0, "old": 0.0}
    assert by["-MTM"]["apart"]["mean"] == -0.5
    assert (by["no memory"]["packed"], by["no memory"]["context_tokens"]) == (0.0, 0.0)
    assert by["MemoryOS"]["apart"] is None
    assert "command: embermem bench study ablation talk.json" in written.text
    assert str(tmp_path) not in written.text + json.dumps(written.content)
    with pytest.raises(InputError, match=r"no question has the measure 'charm'; there are: .*packed"):
        ran(comparison("ablation"), tmp_path, command="embermem bench study ablation talk.json", measure="charm")


@pytest.mark.proof
def test_an_ablation_gives_the_same_again(tmp_path: Path) -> None:
    one, again = (ran(comparison("ablation"), tmp_path) for _ in range(2))
    assert (again.text, again.content) == (one.text, one.content)


@pytest.mark.proof
def test_a_sweep_draws_a_line_for_each_system_and_more_memories_hold_more(tmp_path: Path) -> None:
    study = comparison("k-sweep", systems=("amem", "mem0"), ks=(1, 8))
    written = ran(study, tmp_path)
    is_drawn(written)
    lengths = [(row["series"], row["k"], row["context_tokens"]) for row in written.content["rows"]]
    assert [(series, k) for series, k, _ in lengths] == [("amem", 1), ("amem", 8), ("mem0", 1), ("mem0", 8)]
    assert lengths[0][2] < lengths[1][2]
    assert lengths[2][2] <= lengths[3][2]


@pytest.mark.proof
def test_with_a_model_answers_are_what_is_drawn(tmp_path: Path) -> None:
    with ModelServer(scripted.answer) as server:
        asked = {"model": "scripted", "model_url": server.url, "model_key": "none", "embedder": "hashed"}
        model: LanguageModel | None = bootstrap.make_model(None, config.load(**asked))
        written = ran(comparison("presets"), tmp_path, model=model)
        assert server.calls > 4
    is_drawn(written)
    assert written.content["measure"] == "f1_locomo"
    for row in written.content["rows"]:
        assert 0.0 <= row["f1_locomo"] <= 1.0
        assert row["calls_a_response"] >= 1.0
    assert written.content["made"]["model"] == "scripted"


def test_figures_are_means_over_headline_questions_by_thread_where_evidence_is_threads_only() -> None:
    study = Comparison(
        name="s",
        title="S",
        source="ours",
        drawn="bars",
        variants=tuple(Variant(label=label, spec=SystemSpec(name=label)) for label in ("amem", "tim")),
    )
    found = Results(
        headers=(header("amem", "tim"),),
        ingested=(),
        results=(
            packed("amem", "q1", "a", 1.0),
            packed("amem", "q2", "b", 0.5),
            packed("amem", "q3", "b", 0.0, headline=False),
            packed("tim", "q1", "a", 0.25),
            packed("tim", "q2", "b", 0.25),
        ),
    )
    first, second = rows(study, found, "packed")
    assert (first.figures["packed"], second.figures["packed"]) == (0.75, 0.25)
    assert first.by_category == {"all": 0.75, "a": 1.0, "b": 0.5}
    assert (first.figures["questions"], first.apart) == (2, None)
    assert second.apart is not None
    assert second.apart.mean == -0.5
    assert second.apart.low is None, "one conversation says nothing of others"


def packed(system: str, question: str, category: str, share: float, *, headline: bool = True) -> Result:
    values = {"thread_packed": share, "thread_mrr": share}
    return asked(system, "c", question, values, category=category, headline=headline, evidence_threads=("t",))


# ------------------------------------------------------------------------------------------------------- the memory map


def test_the_map_draws_notes_with_their_links_and_pages_in_their_segments(tmp_path: Path) -> None:
    data = write(tmp_path / "talk.json", talk(name="<script>|`x`"))
    written = draw_map(data, tmp_path / "out", embedder="hashed", short_term_pages=2)
    is_drawn(written)
    notes, pages = written.content["rows"]
    assert (notes["system"], notes["n"]) == ("A-MEM", 24)
    assert (pages["system"], pages["n"]) == ("MemoryOS", 10)
    assert notes["pairs together"] + notes["pairs apart"] == 24 * 23 // 2
    assert pages["pairs together"] + pages["pairs apart"] == 45
    assert notes["cosine together"] > notes["cosine apart"]
    assert "<script>" not in written.text
    assert "\\|\\`x\\`" in written.text

    with pytest.raises(InputError, match="no conversation 'nobody'; there are: mara"):
        draw_map(write(tmp_path / "talk.json", talk()), tmp_path, conversation="nobody", embedder="hashed")


@pytest.mark.proof
def test_a_map_is_the_same_again(tmp_path: Path) -> None:
    data = write(tmp_path / "talk.json", talk())
    one, again = (draw_map(data, tmp_path / name, embedder="hashed", short_term_pages=2) for name in ("one", "again"))
    assert again.content == one.content
    assert [path.read_bytes() for path in again.figures] == [path.read_bytes() for path in one.figures]


LINKS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=12)


@given(LINKS)
def test_what_is_linked_hangs_together_and_each_part_is_named_by_its_first(links: Sequence[tuple[int, int]]) -> None:
    parts = connected(9, links)
    assert all(parts[a] == parts[b] for a, b in links)
    assert all(parts[part] == part <= n for n, part in enumerate(parts))
    assert len(set(parts)) >= 9 - len(links)


@given(LINKS.map(lambda links: sorted({(min(pair), max(pair)) for pair in links if pair[0] != pair[1]})))
def test_all_pairs_are_together_or_apart_and_their_cosines_are_the_whole_vectors(links: list[tuple[int, int]]) -> None:
    vectors = np.random.default_rng(len(links)).normal(size=(9, 4)).astype(np.float32)
    memories = Memories(
        system="s", what="w", embedder="e", vectors=vectors, groups=(0,) * 9, links=tuple(links), linked=True
    )
    found = nearness(memories)
    assert (found.pairs_together, found.pairs_together + found.pairs_apart) == (len(links), 36)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = [float(unit[a] @ unit[b]) for a, b in links]
    assert found.together == (pytest.approx(float(np.mean(expected)), abs=1e-6) if links else None)


def test_pages_are_together_in_one_segment_and_in_none_with_nobody() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)
    found = nearness(Memories(system="s", what="w", embedder="e", vectors=vectors, groups=(0, 0, -1, -1)))
    assert (found.together, found.pairs_together, found.pairs_apart) == (1.0, 1, 5)
    assert found.apart == pytest.approx(0.2)


# ---------------------------------------------------------------------------------------------------- figures and files


def test_names_in_figures_are_text_the_same_numbers_give_the_same_file_and_a_line_leaves_out_what_was_not_measured(
    tmp_path: Path,
) -> None:
    series: dict[str, dict[str, float | None]] = {
        "$\\alpha$ <b>": {"a & b": 0.5, "none": None},
        "two": {"a & b": 0.25, "none": 0.0},
    }
    first, again = (
        figures.bars(tmp_path / name, title="]]> $x", label="y", series=series) for name in ("first", "again")
    )
    drawn = ElementTree.parse(first[0])
    texts = {"".join(element.itertext()).strip() for element in drawn.iter() if element.tag.endswith("}text")}
    assert {"$\\alpha$ <b>", "a & b", "]]> $x"} <= texts
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]

    measured: dict[str, list[tuple[float, float | None]]] = {"a": [(10, 0.1), (20, None)], "b": []}
    svg, _ = figures.lines(tmp_path / "l", title="t", x_label="k", label="y", series=measured)
    assert ElementTree.parse(svg) is not None


def test_without_matplotlib_it_is_told_what_to_install_before_anything_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ConfigError, match=r"figures need the package matplotlib: pip install 'embermem-bench\[figures\]'"
    ):
        figures.check()


@given(st.text(max_size=40))
def test_no_name_from_data_becomes_markup_in_a_table(name: str) -> None:
    text = document(
        title=name, figure="f", lead=(), tables=(("T", ("", "n"), [(name, 1)]),), made={"data": name}, command=""
    )
    row = next(line for line in text.splitlines() if line.endswith("| 1 |"))
    assert row.replace("\\|", "").count("|") == 3
    assert "<" not in text


def test_the_command_writes_a_study_and_prints_its_table_or_its_numbers(tmp_path: Path) -> None:
    data, out = write(tmp_path / "talk.json", talk(8)), tmp_path / "out"
    done = run(tmp_path / "m.db", "bench", "study", "presets", str(data), "--out", str(out), "--limit", "1", "--json")
    assert done.json["study"] == "presets"
    assert sorted(path.name for path in out.iterdir()) == [
        "presets-run",
        "presets.json",
        "presets.md",
        "presets.png",
        "presets.svg",
    ]
    shown = run(tmp_path / "m.db", "bench", "study", "presets", str(data), "--out", str(out), "--limit", "1")
    assert shown.out.startswith("# MemoryOS by the paper's steps")
    assert "bench study presets talk.json --preset default --limit 1" in shown.out
    taken = run(tmp_path / "m.db", "bench", "study", "presets", str(data), "--out", str(data))
    assert (taken.code != 0, "cannot make the folder" in taken.err) == (True, True)
    refused = run(tmp_path / "m.db", "bench", "study", "memory-map", str(data), str(data), "--out", str(out))
    assert refused.code == 2


# ---------------------------------------------------------------------------------------------------- with a judge


def test_gvd_without_a_model_has_no_figure_and_it_is_told_what_it_needs(tmp_path: Path) -> None:
    gvd_written(tmp_path, bank(), ASKED)
    with pytest.raises(InputError, match="as GVD, need a model and a judge"):
        compare(comparison("presets"), [tmp_path], tmp_path / "out", embedder="hashed")


@pytest.mark.proof
def test_the_ablation_runs_on_gvd_with_a_judge_and_a_model_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "gvd"
    folder.mkdir()
    gvd_written(folder, bank(), ASKED)
    with ModelServer(scripted.answer) as server, ModelServer(scripted.answer) as other:
        model, judge = (
            bootstrap.make_model(None, config.load(model="scripted", model_url=one.url, model_key="none"))
            for one in (server, other)
        )
        written = compare(
            comparison("ablation", preset="paper", ks=(5,)),
            [folder],
            tmp_path / "out",
            model=model,
            judge=judge,
            judges=("gvd",),
            replies="chat",
            embedder="hashed",
        )
        judged = [(r.get("response_format") or {}).get("json_schema", {}).get("name") for r in other.requests]
        assert {*judged} == {"CompanionJudgement"}
    assert written.content["measure"] == "gvd.accuracy"
    assert [row["system"] for row in written.content["rows"]][:2] == [
        "memoryos:preset=paper,top_k=5",
        "memoryos:preset=paper,top_k=5,without=mid_term",
    ]
    assert [row["gvd.coherence"] for row in written.content["rows"]] == [1.0] * 5
    assert "gvd.correctness" in written.text
