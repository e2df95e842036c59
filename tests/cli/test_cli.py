"""The command line in processes of its own."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from running import built, command, environment, run, write
from typer.testing import CliRunner

from embermem import __version__
from embermem.cli.main import app
from forked import ember
from proofs import bounded
from soundness import rows

COMMANDS = "add ingest model recall show settle analyse stats worker reindex doctor bench".split()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a short talk, one page of which tries to style the terminal."""
    folder = tmp_path_factory.mktemp("filled")
    talk: list[dict[str, Any]] = [
        {"query": f"Today I {what} in the garden, day {n}.", "response": f"How did it go with what you {what}?"}
        for n, what in enumerate("planted watered weeded pruned mulched harvested raked dug sowed mowed".split())
    ]
    talk.append({"query": "My [red]boat[/red] \x1b[31mleaks\x9b0m :smile: badly.", "response": "Seal it."})
    file = write(folder / "talk.jsonl", *talk)
    assert run(folder / "m.db", "ingest", str(file)).code == 0
    return folder / "m.db"


def test_the_package_runs_as_a_module_whose_help_lists_every_command_and_imports_nothing_heavy() -> None:
    line = [sys.executable, "-X", "importtime", "-m", "embermem", "--help"]
    done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"})
    assert done.returncode == 0
    assert "Usage: embermem " in done.stdout
    assert [name for name in COMMANDS if not re.search(rf"\b{name}\b", done.stdout)] == []
    imported = {one.rpartition("|")[2].strip() for one in done.stderr.splitlines()}
    assert "embermem.cli.main" in imported
    assert [name for name in imported if name.startswith("embermem_bench")] == []
    assert imported & {"numpy", "sqlalchemy", "onnxruntime", "fastapi", "httpx2", "mcp", "openai", "msgspec"} == set()


def test_the_version_is_printed() -> None:
    assert CliRunner().invoke(app, ["--version"]).output.strip() == f"embermem {__version__}"


def test_add_prints_an_id_that_show_finds_and_a_key_stores_once(tmp_path: Path) -> None:
    at = tmp_path / "new" / "folder" / "m.db"
    first = run(at, "add", "I fish for perch.", "Where?", "--key", "k", "--at", "2026-01-02T03:04:05Z")
    again = run(at, "add", "I fish for perch.", "Where?", "--key", "k", "--at", "2026-01-02T03:04:05Z", "--json")
    assert first.out.strip() == again.json["page_id"]
    page = run(at, "show", "page", first.out.strip(), "--json").json
    assert (page["query"], page["response"]) == ("I fish for perch.", "Where?")
    assert run(at, "show", "page", "1", "--json").json == page
    assert run(at, "stats", "--json").json["store"]["pages"] == 1


def test_a_key_with_other_content_is_refused(tmp_path: Path) -> None:
    assert run(tmp_path / "m.db", "add", "one", "--key", "k").code == 0
    done = run(tmp_path / "m.db", "add", "two", "--key", "k")
    assert (done.code, done.out) == (1, "")


def test_a_side_may_be_missing_and_stdin_may_bring_the_text(tmp_path: Path) -> None:
    at = tmp_path / "m.db"
    assert run(at, "add", "", "An answer alone.").code == 0
    assert run(at, "add", "-", stdin="长江很长。\n".encode()).code == 0
    shown = run(at, "show", "short", "--json").json
    assert [page["query"] + page["response"] for page in shown] == ["An answer alone.", "长江很长。"]


def test_reading_an_owner_that_there_is_not_fails_and_names_those_of_near_names(tmp_path: Path) -> None:
    at = tmp_path / "m.db"
    run(at, "--user", "ines", "--agent", "helper", "add", "I like figs.")
    run(at, "--user", "Zoë", "add", "I like nuts.")
    for reading in (
        *(["recall", "figs"], ["overview"], ["show"], ["show", "long", "--json"], ["stats"], ["settle"], ["analyse"]),
        *(
            ["items", "facts"],
            ["edits", "f1"],
            ["why", "f1"],
            ["diff", "2026-01-01"],
            ["conflicts"],
            ["undo", "1"],
        ),
        *(["forget", "--all", "--yes"], ["rebuild", "--owner-only"], ["instructions"], ["people", "merge", "a", "b"]),
        *(["retire", "f1"], ["document", "list"], ["webhooks", "list"]),
        ["export", "-"],
    ):
        for user, told in (("ines", "--user ines --agent helper"), ("Inès", "helper"), ("zoe", "--user 'Zoë'")):
            names = ["--user", user, "--agent", "default" if user == "ines" else "other"]
            done = run(at, *names, *reading)
            said = " ".join(done.err.split())
            assert (done.code, done.out) == (1, ""), (names, reading, done)
            assert f"there is no memory of {user}/" in said, (reading, said)
            assert told in said, (reading, said)
    assert "lists the 2 of this store" in " ".join(run(at, "--user", "bob", "recall", "figs").err.split())
    assert run(at, "stats").code == 0  # of the whole store
    assert run(at, "--user", "ines", "--agent", "helper", "recall", "figs").code == 0


def test_reading_makes_no_store_and_no_folder(tmp_path: Path) -> None:
    at = tmp_path / "none" / "m.db"
    for arguments in (["recall", "x"], ["show"], ["stats"], ["settle"], ["reindex"], ["worker", "--once"]):
        done = run(at, *arguments)
        assert (done.code, done.out) == (1, ""), arguments
        assert "there is no store at" in done.err
    assert run(at, "doctor").code == 0
    assert run(at, "model").code == 0
    assert not at.parent.exists()


def test_json_is_all_there_is_on_stdout(filled: Path) -> None:
    for arguments in (
        ["recall", "my boat"],
        ["show"],
        ["show", "short"],
        ["show", "pending"],
        ["show", "mid"],
        ["show", "long"],
        ["show", "archive"],
        ["stats"],
        ["settle"],
        ["analyse"],
        ["worker", "--once"],
        ["doctor"],
        ["model"],
        ["reindex"],
    ):
        done = run(filled, *arguments, "--json")
        assert (done.code, done.json is None) == (0, False), (arguments, done.err)
        assert not {"\x1b", "\x9b"} & set(done.out), arguments


def test_text_from_outside_styles_nothing(filled: Path) -> None:
    for arguments in (["show"], ["recall", "my boat leaks", "--explain"], ["show", "short"], ["show", "page", "11"]):
        out = run(filled, *arguments).out
        assert "[red]boat[/red]" in out, arguments
        assert ":smile:" in out
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", out)


def test_json_keeps_long_and_odd_texts_whole(tmp_path: Path) -> None:
    text = "start " + "very " * 400 + "[bold]\x1b[31m end"
    assert run(tmp_path / "m.db", "add", text).code == 0
    (page,) = run(tmp_path / "m.db", "show", "short", "--json").json
    assert page["query"] == text
    assert "…" in run(tmp_path / "m.db", "show", "short").out


def test_recall_prints_the_context_and_explains_on_request(filled: Path) -> None:
    plain, explained = (run(filled, "recall", "my boat leaks", *more).out for more in ([], ["--explain"]))
    assert "Seal it." in plain
    assert explained.startswith(plain)
    assert "hits" in explained[len(plain) :]
    found = run(filled, "recall", "my boat leaks", "--budget", "40", "--json").json
    assert found["tokens"] <= 40
    assert found["hits"]


def test_one_users_memory_is_not_anothers(filled: Path, tmp_path: Path) -> None:
    filled = Path(shutil.copy(filled, tmp_path / "m.db"))  # others read the store as it is
    for other in (["--user", "other"], ["--agent", "other"]):
        run(filled, *other, "add", "I like figs.")
        assert "boat" not in run(filled, *other, "recall", "my boat leaks").out
        assert len(run(filled, *other, "show", "short", "--json").json) == 1
        assert "boat" not in run(filled, *other, "show", "--json").out


def test_segments_are_shown_with_heat_and_opened_by_id(filled: Path) -> None:
    segments = run(filled, "show", "mid", "--json").json
    assert segments
    assert all(segment["heat"] > 0 for segment in segments)
    opened = run(filled, "show", "segment", segments[0]["id"], "--json").json
    assert [page["id"] for page in opened["pages"]] == segments[0]["page_ids"]
    assert segments[0]["id"] in run(filled, "show", "segment", segments[0]["id"]).out


def test_wrong_usage_exits_2(tmp_path: Path) -> None:
    for arguments in (
        ["--nonsense"],
        ["nonsense"],
        ["add"],
        ["recall", "x", "--budget", "0"],
        ["recall", "x", "--at", "soon"],
        ["add", "x", "--at", "soon"],
        ["show", "sideways"],
        ["show", "page"],
        ["show", "short", "3"],
        ["model", "remove"],
        ["ingest", "x", "--format", "wav"],
    ):
        done = run(tmp_path / "m.db", *arguments)
        assert (done.code, done.out) == (2, ""), arguments
        assert "Traceback" not in done.err
    assert not (tmp_path / "m.db").exists()


def test_an_error_is_one_line_on_stderr_and_exit_1(filled: Path) -> None:
    for arguments, said in (
        (["show", "page", "nope"], "nope"),
        (["show", "page", "999"], "999"),
        (["show", "segment", "nope"], "nope"),
        (["--preset", "fast", "stats"], "fast"),
        (["ingest", "/no/such/file"], "/no/such/file"),
        (["bench", "recall", "/no/such/file"], "/no/such/file"),
    ):
        done = run(filled, *arguments)
        assert (done.code, done.out) == (1, ""), arguments
        assert done.err.startswith("error: ")
        assert said in done.err
        assert len(done.err.strip().splitlines()) == 1


def test_a_bad_setting_in_the_environment_is_named(filled: Path) -> None:
    done = run(filled, "stats", more={"EMBERMEM_TAU": "warm"})
    assert done.code == 1
    assert "EMBERMEM_TAU" in done.err


def test_doctor_tells_which_settings_are_given_and_no_secret(filled: Path) -> None:
    done = run(filled, "doctor", "--json", more={"EMBERMEM_TAU": "4", "EMBERMEM_MODEL_KEY": "sk-secret"})
    told = [one["what"] for one in json.loads(done.out)["checks"]]
    assert any("tau = 4 (environment variable EMBERMEM_TAU)" in one for one in told)
    assert any("model_key = (set)" in one for one in told)
    assert "sk-secret" not in done.out


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.db").write_text("not a database, and long enough to be sure of it" * 50)
    done = run(tmp_path / "m.db", "stats")
    assert (done.code, "Traceback" in done.err) == (1, False)
    assert run(tmp_path / "m.db", "doctor").code == 1
    assert json.loads(run(tmp_path / "m.db", "doctor", "--json").out)["ok"] is False
    assert run(tmp_path, "add", "x").code == 1


def test_whoever_stops_reading_sees_no_error(filled: Path) -> None:
    line = f"{' '.join(command('show', '--json'))} | head -c 10"
    done = subprocess.run(["sh", "-c", line], capture_output=True, env=environment(filled))
    assert done.stderr == b""


def wait_until_embedded(at: Path) -> None:
    """Until every utterance of a store has its vector."""
    deadline = time.monotonic() + 60
    count = "SELECT (SELECT count(*) FROM utterance) - (SELECT count(*) FROM embedding) AS without"
    while rows(at, count) != [{"without": 0}]:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_worker_stops_on_a_signal_after_doing_what_was_due(tmp_path: Path) -> None:
    at = tmp_path / "m.db"
    for number in bounded((signal.SIGTERM,), proofs=(signal.SIGTERM, signal.SIGINT)):
        walks = ({"query": f"walk number {n} until {number}", "response": "good"} for n in range(20))
        file = write(tmp_path / f"{number}.jsonl", *walks)
        assert run(at, "--user", "ana", "ingest", str(file), "--no-settle").code == 0
        process = ember(at, "worker")
        wait_until_embedded(at)
        assert "working" in process.errors()
        process.send_signal(number)
        _, err = process.communicate()
        assert process.returncode == 0
        assert "Traceback" not in err
    assert run(at, "--user", "ana", "stats", "--json").json["owner"]["without_vector"] == 0
    assert run(at, "doctor").code == 0


class Impatient(io.StringIO):
    """A screen before which somebody presses Ctrl-C as soon as it says that this ends the work."""

    def write(self, text: str) -> int:
        written = super().write(text)
        if "Ctrl-C" in text:
            signal.raise_signal(signal.SIGINT)
        return written


def test_a_worker_can_be_ended_from_the_moment_it_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = tmp_path / "m.db"
    assert run(at, "add", "I walked home.").code == 0
    for name, value in environment(at).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", Impatient())
    with pytest.raises(SystemExit) as ended:
        built().main(args=["worker"], prog_name="embermem")
    assert not ended.value.code


def test_reindex_embeds_every_utterance(filled: Path) -> None:
    count = run(filled, "stats", "--json").json["store"]["utterances"]
    done = run(filled, "reindex", "--embedder", "hashed", "--json")
    assert done.json["reembedded"] in (0, count)


def test_a_scope_limits_what_is_recalled_shown_and_forgotten(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    for food, desk in (("figs", "a"), ("plums", "b")):
        said = ("add", f"I like {food}.", "Good.", "--thread", desk, "--at", "2026-03-01T10:00:00+00:00")
        run(store, *said, "--metadata", f"desk={desk}")
    run(store, "settle")
    for given in (("--scope", '{"threads": ["a"]}'), ("--in-thread", "a"), ("--where", "desk=a")):
        assert "plums" not in run(store, "recall", "What do I like?", *given).out
        assert "figs" in run(store, "recall", "What do I like?", *given).out
        assert [page["thread"] for page in run(store, "show", "short", *given, "--json").json] == ["a"]
        assert [fact["value"] for fact in run(store, "show", "long", *given, "--json").json["facts"]] == ["figs"]
        assert "plums" not in run(store, "overview", *given).out
    early = ("--until", "2026-02-01", "--speaker", "default")
    assert run(store, "show", "short", *early, "--json").json == []
    for wrong, why in (
        (("--scope", "{"), "not JSON"),
        (("--scope", '{"thread": 1}'), "scope.thread is not known"),
        (("--scope", '{"threads": ["a"]}', "--in-thread", "b"), "give it once"),
        (("--where", "desk"), "KEY=VALUE"),
    ):
        done = run(store, "recall", "figs", *wrong)
        assert done.code != 0
        assert why in " ".join(done.err.split())
    assert len(run(store, "forget", "--where", "desk=a", "--dry-run", "--json").json["pages"]) == 1
    assert len(run(store, "forget", "--where", "desk=a", "--yes", "--json").json["pages"]) == 1
    assert [page["thread"] for page in run(store, "show", "short", "--json").json] == ["b"]


def test_labels_given_with_add_are_shown(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    given = ("--metadata", "ticket=T-7", "--metadata", "n=7", "--metadata", 'tags=["a", "b=c"]', "--metadata", 's="7"')
    page = run(store, "add", "I live in Lyon.", *given, "--metadata", "late=false", "--json").json["page_id"]
    labels = {"ticket": "T-7", "n": 7, "tags": ["a", "b=c"], "s": "7", "late": False}
    shown = run(store, "show", "page", page, "--json").json
    assert shown["metadata"] == shown["utterances"][0]["metadata"] == labels
    assert 'tags=["a", "b=c"]' in run(store, "show", "page", page).out
    wrong = run(store, "add", "Hi", "--metadata", "ticket")
    assert (wrong.code, "KEY=VALUE" in wrong.err) == (2, True)
    wrong = run(store, "add", "Hi", "--metadata", "a b=1")
    assert (wrong.code, "metadata has the name 'a b'" in wrong.err) == (1, True)


def test_stats_by_bytes_tells_what_each_table_and_index_takes_and_an_utterance_and_a_page(filled: Path) -> None:
    told = run(filled, "stats", "--bytes", "--json").json
    parts = {part["name"]: part for part in told["parts"]}
    assert told["bytes"] == filled.stat().st_size
    assert sum(part["bytes"] for part in told["parts"]) + told["free"] + told["other"] == told["bytes"]
    assert [part["bytes"] for part in told["parts"]] == sorted((part["bytes"] for part in told["parts"]), reverse=True)
    assert parts["utterance"]["index_of"] is None
    assert parts["ix_utterance_page"]["index_of"] == "utterance"
    assert all(0 <= part["unused"] <= part["bytes"] for part in told["parts"])
    assert (told["utterances"], told["pages"]) == (22, 11)
    assert told["bytes_per_utterance"] == round(told["bytes"] / 22, 1)
    assert told["bytes_per_page"] == round(told["bytes"] / 11, 1)
    lines = run(filled, "stats", "--bytes").out.splitlines()
    assert any(line.split()[:1] == ["embedding"] for line in lines)
    assert any("ix_utterance_page (index of utterance)" in line for line in lines)
    assert f"{told['bytes'] / 22:.0f}" in next(line for line in lines if "per utterance" in line and "part" not in line)
