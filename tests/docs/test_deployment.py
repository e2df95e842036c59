"""Dockerfile, compose.yaml and the systemd unit name files, commands and routes that exist."""

from __future__ import annotations

import configparser
import json
import re
import shlex
from fnmatch import fnmatch
from pathlib import Path

import yaml
from typer.main import get_command

from embermem.cli.main import app

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
UNITS = sorted((ROOT / "deploy").glob("*.service"))


def unit(path: Path) -> configparser.SectionProxy:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(path)
    return parser["Service"]


def commands() -> list[list[str]]:
    """Every embermem command that these files run."""
    cmd = re.search(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert cmd is not None
    execs = [shlex.split(unit(path)["ExecStart"].replace("%i", "9464"))[1:] for path in UNITS]
    return [json.loads(cmd[1]), *execs, *(service["command"] for service in COMPOSE["services"].values())]


def copied() -> list[str]:
    """What the image's build takes from the repository."""
    lines = re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
    return [source for line in lines for source in line.split()[:-1]]


def test_a_command_of_the_deployment_exists_with_its_options() -> None:
    for command in commands():
        known = get_command(app)
        with known.make_context("embermem", list(command), resilient_parsing=True) as context:
            name, sub, rest = known.resolve_command(context, list(command))  # type: ignore[attr-defined]
            assert sub is not None, name
            sub.make_context(name, rest, parent=context, resilient_parsing=False).close()


def test_the_image_copies_what_is_there_and_runs_without_root() -> None:
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for source in copied():
        assert (ROOT / source).exists(), source
        assert any(fnmatch(source, one) or source.startswith(f"{one}/") for one in kept), f"{source} is ignored"

    last = DOCKERFILE.split("\nFROM ")[-1]
    assert re.search(r"^USER [1-9]\d*$", last, re.MULTILINE)
    assert "HEALTHCHECK" in last
    assert re.search(r"^VOLUME /data$", last, re.MULTILINE)


def test_the_services_of_compose_share_store_and_settings_and_each_has_a_check_of_its_own() -> None:
    services = COMPOSE["services"]
    assert {name: service["volumes"] for name, service in services.items()} == {
        name: ["ember:/data"] for name in services
    }
    assert services["server"]["environment"] == services["worker"]["environment"]
    assert all(port.startswith("127.0.0.1:") for port in services["server"]["ports"])

    worker = COMPOSE["services"]["worker"]
    address = worker["command"][worker["command"].index("--listen") + 1]
    assert f"http://{address}/health" in " ".join(worker["healthcheck"]["test"])
    assert "healthcheck" not in COMPOSE["services"]["server"]  # it has that of the image


def test_each_unit_keeps_its_store_where_the_service_may_write() -> None:
    for path in UNITS:
        service = unit(path)
        store = re.search(r"EMBERMEM_STORE=(\S+)", service["Environment"])
        assert store is not None
        assert store[1].startswith(f"/var/lib/{service['StateDirectory']}/")
        assert (service["DynamicUser"], service["User"]) == (
            "yes",
            "embermem",
        )  # the same, so that they share the store
