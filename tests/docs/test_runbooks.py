"""The dashboard, the alerts and the runbooks agree with what servers and workers export, and with each other."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from typer.main import get_command

from embermem import Memory
from embermem.cli.main import app
from embermem.http.metrics import Metrics
from embermem.pulse import Pulse
from embermem.store.backup_list import LAST_BACKUP
from embermem.store.codec import micros
from scripted import SMALL

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
RUNBOOKS = ROOT / "docs" / "operations" / "runbooks"
MONITORING = (ROOT / "docs" / "operations" / "monitoring.md").read_text(encoding="utf-8")
GROUPS = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text(encoding="utf-8"))["groups"]
ALERTS = [rule for group in GROUPS for rule in group["rules"]]
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "ember.json").read_text(encoding="utf-8"))
NAME = re.compile(r"\b(ember_[a-z_]+)\b")
ELSEWHERE = {"ember_replica_lag_seconds"}
"""Exported by a process over a replica, which there is none of here."""


def queries() -> Iterator[str]:
    """Every query of the dashboard."""
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))
    yield from (one["definition"] for one in DASHBOARD["templating"]["list"] if "definition" in one)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The names of all samples of a process that has a worker's threads and knows of a backup."""
    place, pulse = tmp_path_factory.mktemp("exported") / "memory.db", Pulse()
    with Memory(place, **SMALL) as memory:
        memory.of("alice").add("I moved to Lyon.")
        with closing(sqlite3.connect(place)) as beside, beside:
            made = micros(datetime.now(UTC) - timedelta(hours=2))
            beside.execute("INSERT INTO store VALUES (?, ?)", (LAST_BACKUP, str(made)))
        pulse.thread().round_ended()
        text = Metrics(memory, pulse).text().decode()
    families = list(text_string_to_metric_families(text))
    (backup,) = (one for one in families if one.name == "ember_last_backup_age_seconds")
    assert 7200 <= backup.samples[0].value < 7300
    return frozenset(f"{one.name}{suffix}" for one in families for suffix in SUFFIXES.get(one.type, ("",)))


SUFFIXES = {
    "counter": ("_total",),
    "histogram": ("_bucket", "_count", "_sum"),
    "gaugehistogram": ("_bucket", "_gcount", "_gsum"),
}
"""By the kind of a metric, how its samples are called."""


def test_every_metric_of_alerts_dashboard_and_page_is_exported_and_every_one_exported_is_there(
    exported: frozenset[str],
) -> None:
    known = exported | ELSEWHERE
    asked = {name for text in (*queries(), *(rule["expr"] for rule in ALERTS)) for name in NAME.findall(text)}
    assert asked - known == set()
    shown = {name for text in queries() for name in NAME.findall(text)}
    bases = {re.sub("_(total|bucket|count|sum|gcount|gsum)$", "", name) for name in shown}
    told = {re.sub("_(total|bucket|count|sum|gcount|gsum)$", "", name) for name in known if name.startswith("ember_")}
    assert told - bases == set(), "the dashboard shows every figure"

    rows = re.findall(r"^\| (`ember_.*?) \|", MONITORING, re.MULTILINE)
    explained = {name for row in rows for name in NAME.findall(row)}
    named = {
        name for name in exported | ELSEWHERE if not name.endswith(("_bucket", "_count", "_sum", "_gcount", "_gsum"))
    }
    assert named - explained == set()
    assert {name for name in explained if name not in named and f"{name}_bucket" not in exported} == set()


def test_the_dashboard_asks_for_its_data_source_and_can_be_imported() -> None:
    variables = {one["name"]: one["type"] for one in DASHBOARD["templating"]["list"]}
    assert variables == {"datasource": "datasource", "store": "query"}
    panels = DASHBOARD["panels"]
    assert {panel["datasource"]["uid"] for panel in panels if "datasource" in panel} == {"${datasource}"}
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all("$store" in expr for expr in queries() if not expr.startswith("label_values"))
    for at, one in enumerate(panels):
        place = one["gridPos"]
        assert place["x"] + place["w"] <= 24
        for other in panels[at + 1 :]:
            there = other["gridPos"]
            beside = place["x"] + place["w"] <= there["x"] or there["x"] + there["w"] <= place["x"]
            apart = place["y"] + place["h"] <= there["y"] or there["y"] + there["h"] <= place["y"]
            assert beside or apart, (one["title"], other["title"])


def test_every_alert_waits_has_a_severity_a_runbook_of_its_name_and_a_test_in_which_it_fires() -> None:
    pages = {page: page.read_text(encoding="utf-8").splitlines()[0] for page in RUNBOOKS.glob("*.md")}
    named = {}
    for rule in ALERTS:
        assert re.fullmatch("[0-9]+[mh]", rule["for"]), rule["alert"]
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"]["summary"]
        named[ROOT / rule["annotations"]["runbook_url"]] = f"# {rule['alert']}"
    assert len(named) == len(ALERTS)
    assert {page: head for page, head in pages.items() if page.name != "index.md"} == named

    tests: list[Any] = yaml.safe_load((PROMETHEUS / "alerts_test.yml").read_text())["tests"]
    fired = {one["alertname"] for test in tests for one in test["alert_rule_test"] if one["exp_alerts"]}
    assert fired == {rule["alert"] for rule in ALERTS}


def test_a_runbook_has_its_sections_and_its_commands_have_these_options() -> None:
    for page in sorted(RUNBOOKS.glob("[!i]*.md")):
        text = page.read_text(encoding="utf-8")
        assert re.findall("^## (.*)$", text, re.MULTILINE) == [
            "What users notice",
            "How to look",
            "How to fix it",
            "When it is over",
        ]
        known = get_command(app)
        for line in re.findall(r"^\$ embermem (.*)$", text, re.MULTILINE):
            given = shlex.split(line)
            with known.make_context("embermem", given, resilient_parsing=True) as context:
                rest = [*context._protected_args, *context.args]
                name, sub, more = known.resolve_command(context, rest)  # type: ignore[attr-defined]
                assert sub is not None, name
                if "--help" not in more:
                    sub.make_context(name, more, parent=context, resilient_parsing=False).close()


@pytest.mark.skipif(shutil.which("promtool") is None, reason="the package prometheus brings promtool")
def test_prometheus_itself_takes_the_rules_and_they_fire_as_their_tests_say() -> None:
    for what in [("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")]:
        done = subprocess.run(["promtool", *what], cwd=PROMETHEUS, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
