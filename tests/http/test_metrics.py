"""/health, /ready and /metrics."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families
from serving import Server, client, running

from embermem import Memory
from embermem.http.app import create_app
from scripted import Opener


def figures(url: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample by its name and labels."""
    with client(url) as c:
        got = c.get("/metrics")
    assert got.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(got.text)
        for sample in family.samples
    }


def test_requests_and_what_was_done_and_waits_are_counted_without_a_name(server: Server, memory: Memory) -> None:
    with client(server.url) as c:
        for n in range(3):
            c.get(f"/v1/pages/none-{n}")
        c.get("/nowhere-1")
        c.get("/nowhere-2")
        c.request("FROB", "/v1/stats")
        for n in range(5):
            said = [{"role": "user", "content": f"I like {n} herons."}, {"role": "assistant", "content": "Noted."}]
            c.post("/v1/memories", json={"messages": said, "user_id": "alice-4711"})
        c.post("/v1/context", json={"query": "herons", "user_id": "alice-4711"})
        c.post("/v1/search", json={"query": "herons", "user_id": "alice-4711"})
        assert "alice-4711" not in c.get("/metrics").text
    found = figures(server.url)

    def count(method: str, route: str, status: str) -> float:
        labels = frozenset({"method": method, "route": route, "status": status}.items())
        return found.get(("ember_http_requests_total", labels), 0)

    assert count("GET", "/v1/pages/{item_id}", "404") == 3
    assert count("GET", "(none)", "404") == 2
    assert count("OTHER", "/v1/stats", "405") == 1
    seconds = frozenset({"method": "GET", "route": "/v1/pages/{item_id}"}.items())
    assert found["ember_http_request_seconds_count", seconds] == 3

    def value(name: str, **labels: str) -> float:
        return found[name, frozenset(labels.items())]

    assert value("ember_operations_total", operation="add_messages") == 5
    assert value("ember_operations_total", operation="recall") == 1
    assert value("ember_operations_total", operation="search") == 1
    assert value("ember_owners") == 1
    assert value("ember_utterances") == 10
    assert value("ember_due_owners") == 1
    assert value("ember_pending_pages") == 2
    assert value("ember_resident_bytes") > 0
    assert value("ember_model_tokens_today") == 0
    assert value("ember_store_up") == 1


def test_a_server_is_alive_but_not_ready_where_its_store_cannot_be_read(server: Server, memory: Memory) -> None:
    with client(server.url) as c:
        assert (c.get("/health").status_code, c.get("/ready").status_code) == (200, 200)
        memory.close()
        assert c.get("/health").text == "ok\n"
        broken = c.get("/ready")
        assert (broken.status_code, broken.headers["retry-after"]) == (503, "1")
        assert broken.json()["type"] == "urn:embermem:problem:store-closed"
        assert "ember_store_up 0.0" in c.get("/metrics").text


def test_two_servers_in_one_process_count_apart(opened: Opener) -> None:
    first, second = (create_app(opened(f"{n}.db")) for n in range(2))
    first.state.serving.metrics.request("GET", "/x", 200, 0.1)
    assert b'route="/x"' in first.state.serving.metrics.text()
    assert b'route="/x"' not in second.state.serving.metrics.text()


def test_machines_that_look_after_the_server_need_no_key(memory: Memory) -> None:
    for path in ("/health", "/ready"):
        with running(memory, require_keys=True) as url, client(url) as c:
            assert c.get(path).status_code == 200, path
            assert c.get("/metrics").status_code == 401, path
