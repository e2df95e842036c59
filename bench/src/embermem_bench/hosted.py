"""What a hosted server is sent, and charges, where a scripted one on loopback was asked."""

from __future__ import annotations

from embermem.analysts.answers import BatchNotes, BatchSummaries, PageFacts, SegmentNotes
from embermem.llms.structured import reply_schema
from embermem.testing import wire

__all__ = ["as_hosted", "kind_of"]

_PLAIN = {made.name: made.schema for made in map(reply_schema, (BatchNotes, BatchSummaries, SegmentNotes, PageFacts))}
"""The schemas of the answers without what a question adds to them, by the names under which they are sent."""


def as_hosted(request: wire.Request) -> wire.Request:
    """The request with its schema as a server that is not on this machine is sent it: without the ids and lengths of
    the question, which are for a grammar."""
    form = request.get("response_format")
    plain = _PLAIN.get(kind_of(request))
    if form is None or plain is None:
        return request
    return {**request, "response_format": {**form, "json_schema": {**form["json_schema"], "schema": dict(plain)}}}


def kind_of(request: wire.Request) -> str:
    """The name of the form that was asked for; the purposes of the ledger each have their own."""
    named = (request.get("response_format") or {}).get("json_schema") or {}
    return str(named.get("name") or "no schema")
