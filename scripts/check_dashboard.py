"""The dashboard and the alerts against the real thing: a server, a worker and a Prometheus that scrapes both.

    python scripts/check_dashboard.py [--prometheus PATH]

Needs the program `prometheus` (Debian: apt-get install prometheus). Makes a store in a temporary folder, adds and
recalls for some seconds, and asks Prometheus every query of deploy/grafana/ember.json and of
deploy/prometheus/alerts.yml. Prints each query that gives nothing, and ends with 1 if one fails. Everything that was
started is ended; nothing listens beyond loopback.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

import yaml

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 25.0
"""How long the store is used: some scrapes, so that rates are there."""
START_S = 120.0
VARIABLES = {"$store": ".*", "$__rate_interval": "15s"}
"""What Grafana puts in place of its variables."""


def main() -> int:
    """Runs all; 0 where every query can be asked."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--prometheus", default=shutil.which("prometheus"), help="the program; default: the one on PATH")
    prometheus = given.parse_args().prometheus
    if prometheus is None:
        print("there is no prometheus on PATH: apt-get install prometheus, or --prometheus PATH", file=sys.stderr)
        return 2
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ember-dashboard-")))
        server, worker, metrics = (f"127.0.0.1:{port}" for port in free_ports(3))
        ember = [sys.executable, "-m", "embermem", "--store", str(folder / "memory.db")]
        serve = [*ember, "serve", "--port", server.split(":")[1], "--no-worker"]
        stack.enter_context(started(serve, folder / "server.log"))
        wait_for(f"http://{server}/ready")
        stack.enter_context(started([*ember, "worker", "--listen", worker], folder / "worker.log"))
        wait_for(f"http://{worker}/health")
        config = folder / "prometheus.yml"
        config.write_text(yaml.safe_dump(configured(server, worker)), encoding="utf-8")
        shutil.copy(ROOT / "deploy" / "prometheus" / "alerts.yml", folder)
        flags = [f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={metrics}"]
        stack.enter_context(started([prometheus, *flags], folder / "prometheus.log"))
        wait_for(f"http://{metrics}/-/ready")
        use(server)
        return asked(metrics)


def configured(server: str, worker: str) -> Mapping[str, Any]:
    """The configuration of deploy/, with our addresses and a scrape every second."""
    config: dict[str, Any] = yaml.safe_load(
        (ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
    )
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    for job, address in zip(config["scrape_configs"], (server, worker), strict=True):
        job["static_configs"][0]["targets"] = [address]
    return config


def use(server: str) -> None:
    """Users who say something and ask, for a while."""
    until, turn = time.monotonic() + SECONDS, 0
    while time.monotonic() < until:
        user, turn = f"user {turn % 5}", turn + 1
        said = [
            {"role": "user", "content": f"I saw {turn} herons at the lake."},
            {"role": "assistant", "content": "Oh."},
        ]
        got(f"http://{server}/v1/memories", {"messages": said, "user_id": user})
        got(f"http://{server}/v1/context", {"query": "herons", "user_id": user})
        time.sleep(0.2)


def asked(metrics: str) -> int:
    """Every query; says which failed or gave nothing."""
    board = json.loads((ROOT / "deploy" / "grafana" / "ember.json").read_text(encoding="utf-8"))
    groups = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    queries = [(p["title"], one["expr"]) for p in board["panels"] for one in p.get("targets", ())]
    queries += [(rule["alert"], rule["expr"]) for group in groups for rule in group["rules"]]
    alerts, failed, empty, full = {rule["alert"] for group in groups for rule in group["rules"]}, 0, [], 0
    for title, query in queries:
        for name, value in VARIABLES.items():
            query = query.replace(name, value)
        try:
            answer = got(f"http://{metrics}/api/v1/query?{urlencode({'query': query})}")
        except HTTPError as error:
            print(f"{title}: {error.read().decode()}", file=sys.stderr)
            failed += 1
            continue
        full += bool(answer["data"]["result"])
        if not answer["data"]["result"] and title not in alerts:
            empty.append(title)
        if answer["data"]["result"] and title in alerts:
            print(f"the alert {title} would fire")
    rules = got(f"http://{metrics}/api/v1/rules")["data"]["groups"]
    unwell = [rule["name"] for group in rules for rule in group["rules"] if rule["health"] != "ok"]
    targets = got(f"http://{metrics}/api/v1/targets")["data"]["activeTargets"]
    down = [one["scrapeUrl"] for one in targets if one["health"] != "up"]
    print(
        f"{len(queries)} queries: {failed} failed, {full} gave series; alerts that Prometheus cannot evaluate: {unwell}"
    )
    print(f"{len(targets)} targets, down: {down}")
    print("queries of the dashboard that gave nothing:", ", ".join(sorted(set(empty))) or "none")
    return int(bool(failed or unwell or down))


@contextmanager
def started(command: Sequence[str], log: Path) -> Iterator[None]:
    """A process, ended at the end of the block; what it said is shown where the block fails."""
    with log.open("w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
    try:
        yield
    except BaseException:
        print(log.read_text()[-2000:], file=sys.stderr)
        raise
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def wait_for(url: str) -> None:
    """Until it answers 200."""
    until = time.monotonic() + START_S
    while True:
        try:
            got(url)
        except (OSError, HTTPException):
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
        else:
            return


def got(url: str, body: object = None) -> Any:
    """The answer, as JSON where it is that."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data=data, headers={"Content-Type": "application/json"})
    with build_opener(ProxyHandler({})).open(request, timeout=30) as answer:
        text = answer.read().decode()
    return json.loads(text) if answer.headers.get("content-type", "").startswith("application/json") else text


if __name__ == "__main__":
    sys.exit(main())
