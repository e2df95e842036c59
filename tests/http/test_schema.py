"""The description at /openapi.json is true: what it allows is answered as it says, whatever a client sends."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from serving import Server

from embermem import Memory, OwnerMemory
from embermem.http import problems
from embermem.http.app import create_app
from scripted import SMALL, Clock

if TYPE_CHECKING:
    import schemathesis

EXAMPLES = 30
OURS = r"^/v1/(?!events|chat|models)"
ALICE = {"user_id": "alice"}
QUIETLY = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[*HealthCheck],
)


def talk(memory: Memory) -> None:
    """Alice has pages, facts, segments and changes."""
    alice = memory.of("alice")
    for number in range(8):
        alice.add(f"I live in Lyon, in house {number}.", "Good.")
    alice.settle()


@pytest.fixture(scope="module")
def described() -> Iterator[schemathesis.BaseSchema]:
    """The description of a server over a temporary store in which something was said."""
    import schemathesis

    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(Path(folder) / "memory.db", **{**SMALL, "clock": Clock()}) as memory,
    ):
        talk(memory)
        yield schemathesis.openapi.from_asgi("/openapi.json", create_app(memory, hosts=["testserver"]))


def left_out(operation: Any, mode: schemathesis.GenerationMode) -> list[Any]:
    """What the description cannot say: which texts are a time, a cursor or half a character (422); and that a batch
    tells each item by itself what is wrong with it (200)."""
    from schemathesis import GenerationMode
    from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

    if mode is GenerationMode.POSITIVE:
        return [positive_data_acceptance]
    return [negative_data_rejection] if operation.path == "/v1/memories/batch" else []


def failures(operation: Any, mode: schemathesis.GenerationMode) -> str:
    """What went wrong with cases of one operation; empty if nothing did."""
    from schemathesis import GenerationMode

    excluded = left_out(operation, mode)
    said = operation.definition.raw
    taken = [one for one in said.get("parameters", ()) if one["in"] != "header"] or said.get("requestBody")
    if mode is GenerationMode.NEGATIVE and not taken:
        return ""  # what takes no more than the id of a request, which is any text, cannot be asked wrongly

    @QUIETLY
    @given(case=operation.as_strategy(generation_mode=mode))
    def answered(case: schemathesis.Case[Any]) -> None:
        wait = (case.query or {}).get("wait_s")
        if isinstance(wait, float | int) and 0 < wait <= 60:  # allowed: nobody needs to wait so long for the answer
            case.query["wait_s"] = wait / 1000
        case.call_and_validate(excluded_checks=excluded)

    try:
        answered()
    except (AssertionError, BaseExceptionGroup) as error:
        return "\n".join(str(one) for one in getattr(error, "exceptions", [error]))
    return ""


@pytest.mark.proof
@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
def test_every_answer_is_one_that_the_description_names(described: schemathesis.BaseSchema, mode: str) -> None:
    from schemathesis import GenerationMode

    found = described.include(path_regex=OURS).get_all_operations()
    wrong = [said for operation in found if (said := failures(operation.ok(), GenerationMode[mode]))]  # type: ignore[union-attr]
    assert not wrong, "\n\n".join(wrong)


def operations(http: httpx2.Client) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(method, path, description) of every route of ours."""
    for path, methods in http.get("/openapi.json").json()["paths"].items():
        if re.match(OURS, path):
            for method, said in methods.items():
                yield method.upper(), path, said


def test_every_route_is_described_with_all_that_may_go_wrong_and_refuses_a_parameter_that_it_does_not_know(
    http: httpx2.Client,
) -> None:
    names = list[str]()
    for _, path, said in operations(http):
        names.append(said["operationId"])
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", said["operationId"]), path
        assert said["summary"], path
        assert said["description"], path
        assert {"401", "403", "404", "409", "422", "429", "500"} <= set(said["responses"]), path
        for status in problems.ANSWERS:
            assert problems.MEDIA_TYPE in said["responses"][str(status)]["content"], (path, status)
        assert "x-request-id" in {one["name"].lower() for one in said["parameters"]}, path
        assert all(one.get("description") for one in said["parameters"]), path
    assert len(names) == len(set(names)) >= 28

    for method, path, said in operations(http):
        refused = http.request(method, re.sub(r"\{\w+\}", "1", path), params={"scopes": "{}"}, json={})
        assert refused.status_code == 422, (method, path)
        found = [one["what"] for one in refused.json()["errors"] if one["where"] == "query.scopes"]
        known = sorted(one["name"] for one in said["parameters"] if one["in"] == "query")
        assert found == [
            f"is not known; one of: {', '.join(known)}" if known else "is not known; this address takes none"
        ]


def fields_of(alice: OwnerMemory, path: str) -> dict[str, Any]:
    """What a route asks for that is of this memory alone: ids, and a time; and the people whom an example names."""
    if path.startswith("/v1/people/"):
        alice.learn([{"text": "sings", "subject": name} for name in ("Ana", "Caroline", "Caroline's sister")])
    if path == "/v1/diff":
        return {"earlier": "2026-05-01"}
    if path == "/v1/conflicts/settle":
        home = {"attribute": "lives_in", "valid_from": "2026-05-02"}
        one, other = alice.learn([{"text": f"lives in {city}", "value": city, **home} for city in ("Bern", "Basel")])
        return {"fact_id": one.id, "other_id": other.id}
    if path in ("/v1/facts/pin", "/v1/facts/retire", "/v1/facts/merge"):
        one, other = alice.learn([{"text": f"wants to {path[10:]} {what}"} for what in ("this", "that")])
        return {"keep": one.id, "others": [other.id]} if path.endswith("merge") else {"fact_ids": [one.id, other.id]}
    return {}


def test_the_example_of_every_route_is_answered_well(server: Server, http: httpx2.Client) -> None:
    talk(server.memory)
    alice = server.memory.of("alice")
    schemas = http.get("/openapi.json").json()["components"]["schemas"]
    ids = {
        "/v1/pages/": alice.pages()[0].id,
        "/v1/segments/": alice.segments()[0].id,
        "/v1/operations/": http.post("/v1/settle", json=ALICE).json()["id"],
    }
    ordered = sorted(operations(http), key=lambda one: one[:2] == ("DELETE", "/v1/memories"))
    for number, (method, path, said) in enumerate(ordered):
        if not number or "{item_id}" in path or "{change_no}" in path:
            (fact,) = alice.learn([{"text": f"has a sister called {chr(ord('A') + number)}na"}])
        if path.startswith("/v1/webhooks/"):
            ids["/v1/webhooks/"] = alice.add_webhook("https://receiver.invalid/").id
        if path == "/v1/documents/{item_id}":
            ids["/v1/documents/"] = alice.add_document("# Lease\n\nThe rent is due.").id
        server.memory.grant("crew", user="alice")
        prefix = next((known for known in ids if path.startswith(known)), None)
        place = path.replace("{item_id}", fact.id if prefix is None else ids[prefix])
        place = place.replace("{change_no}", str(fact.change_no)).replace("{space}", "crew")
        if "requestBody" in said:
            named = said["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            (example,) = schemas[named]["examples"]
            new = {"text": f"alice lives in house {number}"} if "text" in example else fields_of(alice, path)
            answer = http.request(method, place, json={**example, **new, **ALICE})
        else:
            more = {"confirm": True} if path == "/v1/memories" and method == "DELETE" else {}
            asked = fields_of(alice, path) if path == "/v1/diff" else {}
            owner = {name: one for name, one in ALICE.items() if any(one["name"] == name for one in said["parameters"])}
            answer = http.request(method, place, params={**owner, **more, **asked})
        assert answer.status_code in (200, 201, 202), (method, place, answer.text)
        assert str(answer.status_code) in said["responses"], (method, place)
