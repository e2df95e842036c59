"""Fields of the application's own over HTTP: listed, held against values, and the same for both clients."""

from __future__ import annotations

import asyncio
from datetime import date

from serving import client, running

from embermem import Field
from embermem.client import AsyncClient, Client
from scripted import Opener

FIELDS = (
    Field("level", type="choice", choices=["A1", "B1"], aliases=["水平"], description="of the learner"),
    Field("premium", type="boolean"),
    Field("size", type="number"),
    Field("exam", type="date"),
    Field("weight", type="number", units=["kg"], many=True, examples=["70 kg"], set_by="user"),
)


def test_fields_are_listed_and_values_are_held_against_them(opened: Opener) -> None:
    memory = opened(fields=FIELDS)
    with running(memory) as address, client(address) as http, Client(address) as ours:
        listed = http.get("/v1/fields").json()["results"]
        assert listed[0] == {
            "name": "level", "type": "choice", "many": False, "description": "of the learner", "examples": [],
            "choices": ["A1", "B1"], "aliases": ["水平"], "units": [], "set_by": "model",
        }  # fmt: skip
        assert ours.fields() == FIELDS
        refused = http.patch("/v1/profile", json={"user_id": "alice", "user": {"level": "D1"}})
        assert refused.status_code in (400, 422)
        assert "one of: A1, B1" in refused.text
        assert http.patch("/v1/profile", json={"user_id": "alice", "user": {"level": "b1"}}).status_code == 200
        assert http.get("/v1/profile", params={"user_id": "alice"}).json()["user"]["level"]["value"] == "B1"

        put = http.patch("/v1/profile", json={"user_id": "alice", "user": {"premium": True, "size": 1.75}})
        assert put.status_code == 200, put.text
        ours.of("alice").set_profile(exam=date(2027, 4, 1))
        told = {line.name: line.value for line in ours.of("alice").profile()}
        assert told == {"exam": "2027-04-01", "level": "B1", "premium": "yes", "size": "1.75"}
        assert http.patch("/v1/profile", json={"user_id": "alice", "user": {"home": True}}).status_code == 422

        async def awaited() -> tuple[Field, ...]:
            async with AsyncClient(address) as theirs:
                return await theirs.fields()

        assert asyncio.run(awaited()) == FIELDS

    with running(opened("none.db")) as address, client(address) as http:
        assert http.get("/v1/fields").json() == {"results": []}
