"""Names that are stored or sent are written down, so that renaming a class, a field or a function changes none of them.

Each table here is what stores, servers, clients and recordings of earlier versions hold. A row may be added; changing
or removing one breaks what reads them.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec
from typer.main import get_command

import embermem
import embermem_bench
from embermem import Memory, protocols
from embermem.analysts import answers
from embermem.cli.main import app
from embermem.client import exchange
from embermem.core import changes, errors, types
from embermem.core.changes import BY_TAG, Decision, api_kind
from embermem.core.errors import EmberError
from embermem.http import connections, problems
from embermem.http.api import working
from embermem.http.app import create_app
from embermem.http.inspector.owner import imports
from embermem.http.proxy import upstream
from embermem.llms import recorded
from embermem.llms.structured import reply_schema
from embermem.mcp.server import make_server
from embermem.owner_memory import OwnerMemory
from embermem.store.codec import decisions_from
from embermem.transfer import lines
from embermem_bench import asking
from embermem_bench.commands import main
from embermem_bench.systems import amem, mem0, mem0g, memorybank, readagent, tim
from embermem_bench.systems.memgpt import functions, main_context

DECISIONS = {
    "Embedded": ("embedded", "first_seq last_seq embedder"),
    "Noted": ("noted", "page_id upto_seq chain_id continues keywords analyst facts traits profile"),
    "ChainSummarised": ("chain_summarised", "chain_id thread summary sources"),
    "Placed": ("placed", "page_id segment_id f_score"),
    "SegmentWritten": ("segment_written", "segment_id parts keywords said_from said_to title shown"),
    "SegmentGrew": (
        "segment_grew", "segment_id parts places left keywords dropped said_from said_to title shown"
    ),
    "Analysed": ("analysed", "page_id upto_seq"),
    "FactAdded": ("fact_added", "fact_id about subject attribute value text sources valid_from expires_at metadata"),
    "FactStrengthened": ("fact_strengthened", "fact_id sources"),
    "FactRetired": ("fact_retired", "fact_id superseded_by valid_to"), "FactArchived": ("fact_archived", "fact_id"),
    "FactRestored": ("fact_restored", "fact_id"), "FactPinned": ("fact_pinned", "fact_id pinned"),
    "FactExpires": ("fact_expires", "fact_id at"),
    "ConflictSettled": ("conflict_settled", "fact_id other_id"), "FactAffirmed": ("fact_affirmed", "fact_id upto_seq"),
    "FactDenied": ("fact_denied", "fact_id about subject attribute value upto_seq"),
    "FactBarred": ("fact_barred", "mark upto_seq"), "TextsBarred": ("texts_barred", "messages texts"),
    "Erased": ("erased", "pages facts utterances passages"), "TraitCleared": ("trait_cleared", "dimension"),
    "Undone": ("undone", "no"), "BegunAnew": ("begun_anew", ""),
    "TraitSet": ("trait_set", "dimension level confidence sources valid_from"),
    "ProfileSet": ("profile_set", "whose name value sources set_by valid_from"),
    "PersonRelated": ("person_related", "relation one other holds sources"),
    "Evicted": ("evicted", "segment_id"), "SegmentEnded": ("segment_ended", "segment_id into"),
    "Visited": ("visited", "items"),
}  # fmt: skip
"""By the tag that a decision is stored, exported and shown under: what the API calls it, and its fields."""

PARTS = {
    changes.SummaryPart: "chain_id text sources phrases", changes.KeywordCount: "word pages",
    types.FactProposal: "about subject attribute value text sources single valid_from retracts replaces expires_at "
    "sure",
    types.TraitProposal: "dimension level confidence sources subject",
    types.ProfileProposal: "name value sources subject", types.Source: "seq utterance_id start end",
    protocols.ModelRequest: "messages max_tokens temperature schema",
    protocols.ModelReply: "text prompt_tokens completion_tokens cached_tokens cut",
    protocols.ReplySchema: "name schema example narrow", protocols.ChatMessage: "role text",
}  # fmt: skip
"""The fields of what stands in decisions, and in recordings of models' replies."""

ERRORS = """
    analyst-error budget-spent config-error conflict embedder-error embedder-mismatch embedder-missing ember-error
    forgotten-key-lost input-error key-reused model-busy model-error model-gave-way model-missing model-refused
    model-reply-error model-resting model-timeout model-too-long model-unreachable model-wait not-found not-granted
    revision-moved
    schema-mismatch stale-lease store-busy store-closed store-conflict store-corrupt store-error store-full store-moved
    store-read-only store-unreachable
"""
"""The types of problems that a client takes for errors of `embermem.core.errors`."""
OF_A_CLIENT = "access-refused server-busy server-error server-timeout server-unreachable"
"""Errors that only a client raises: no server sends them."""
OF_A_SERVER: dict[str, type[EmberError]] = {
    "http-error": problems.HttpError, "unauthorized": problems.Unauthorized, "forbidden": problems.Forbidden,
    "body-too-large": problems.BodyTooLarge, "too-many-requests": problems.TooManyRequests,
    "request-too-slow": connections.RequestTooSlow, "too-many-connections": connections.TooManyConnections,
    "too-many-operations": working.TooManyOperations, "too-large": imports.TooLarge, "no-upstream": upstream.NoUpstream,
    "upstream-unreachable": upstream.UpstreamUnreachable, "upstream-late": upstream.UpstreamLate,
    "upstream-too-large": upstream.UpstreamTooLarge, "upstream-unreadable": upstream.UpstreamUnreadable,
}  # fmt: skip
"""The types of problems that only a server knows."""

EXPORTED = {
    "export": "version schema at embedder dim vectors key", "owner": "user agent timezone created_at seq pages",
    "utterance": "seq id page page_no thread role speaker text said_at recorded_at expires_at metadata passage origin",
    "document": "id source title digest said_at recorded_at metadata", "original": "id value",
    "change": "no cause analyst recorded_at decisions",
    "receipt": "key digest first_seq last_seq recorded_at change_no result",
    "visit": "item_id visits at", "vector": "seq data tokens passages",
    "end": "utterances changes receipts vectors visits documents originals", "finish": "owners",
}  # fmt: skip
"""Lines of an export."""

SCHEMAS: dict[str, type[Any]] = {
    "BatchNotes": answers.BatchNotes, "SegmentNotes": answers.SegmentNotes, "PageFacts": answers.PageFacts,
    "BatchSummaries": answers.BatchSummaries, "Pause": readagent.Pause, "Gist": readagent.Gist,
    "LookUp": readagent.LookUp, "NextEpisode": readagent.NextEpisode, "TimThoughts": tim.TimThoughts,
    "TimOrganised": tim.TimOrganised, "AMemNote": amem.AMemNote, "AMemLinks": amem.AMemLinks,
    "AMemEvolved": amem.AMemEvolved, "AMemEvolvedAll": amem.AMemEvolvedAll, "Mem0Facts": mem0.Mem0Facts,
    "Mem0Update": mem0.Mem0Update, "Mem0Updates": mem0.Mem0Updates, "Mem0Summary": mem0.Mem0Summary,
    "Mem0gTriples": mem0g.Mem0gTriples, "Mem0gEntities": mem0g.Mem0gEntities, "Mem0gObsolete": mem0g.Mem0gObsolete,
    "MemGptCall": functions.MemGptCall, "MemGptSummary": main_context.MemGptSummary, "DayEvents": memorybank.DayEvents,
    "DayInsight": memorybank.DayInsight, "AllEvents": memorybank.AllEvents, "UserPortrait": memorybank.UserPortrait,
    "Judgement": asking.Judgement, "CompanionJudgement": asking.CompanionJudgement,
}  # fmt: skip
"""What models are asked for, by the name that is sent with the schema and that a recording is found by."""

OPERATIONS = """
    add_document forget_document get_document list_documents read_originals
    add_instruction add_memories add_memories_batch analyse correct_fact delete_memories delete_memory watch_events
    expire_fact expire_page fade get_context get_diff get_memory get_memory_history get_operation get_page
    get_profile get_segment get_stats get_why grant_space get_health learn_facts list_changes
    list_conflicts list_facts merge_facts pin_facts retire_facts
    get_overview list_fields list_instructions list_memories list_owners list_pages list_people
    list_retention list_segments list_traits merge_people get_metrics patch_memory pin_fact plan_undo
    get_readiness retire_fact search_memories set_user settle settle_conflict split_people
    undo_change update_memory update_profile verify_receipt
    add_webhook list_webhooks remove_webhook replay_webhook
    list_grants list_person_shares list_spaces revoke_grants share_person
"""
"""The operations of the HTTP API, from which clients are generated."""
BODIES = """
    Document DocumentAdded DocumentBody DocumentData DocumentMemory DocumentWhole Documents Passage
    OriginalItem OriginalsBody Originals
    ChainData ChainMemory Edit Order ReplayBody Webhook WebhookBody WebhookState Webhooks
    SegmentData SegmentMemory
    About AddBody Added Addition Batch BatchBody BatchItem BatchKept BatchRefused Brought ChangeItem Changes
    Conflict Conflicts ContextAnswer ContextBody CorrectBody DiffAnswer ExpireBody Fact FactData FactItem Facts
    FadeBody Faded FieldItem Fields Filters Forgotten-Input Forgotten-Output Found History InstructionBody Instructions
    Items Kind LearnBody Learnt LeftOutItem
    MadeBy Message NamesBody OperationItem Outdated OwnerItem OwnerStats Owners PageData PageItem Pages
    People PeopleRuled PersonItem PersonProfile PinBody Problem Profile ProfileBody ProfileValue Quote Redaction
    RefusedItem Retained Retention RetireBody Role SearchBody SegmentItem SegmentWhole Segments SettleBody
    ConflictSettled FactStatus FactsBody FactsChanged MergeFactsBody Origin PinFactsBody
    SettleConflictBody Source SourceItem Tier TraitItem Traits UndoBody UndoPlanAnswer Undoing UpdateBody
    GrantBody ScopeBody PersonShareBody ShareItem SharedPart Shares Spaces
    UserBody Utterance UtteranceData UtteranceItem UtteranceMemory UtteranceOrigin
    Verified VerifyBody Waiting WaitsFor Why
"""
"""The schemas of its bodies and answers."""
TOOLS = {
    "add_memory": "agent_response metadata origin thread timestamp user_input", "add_document": "source text title",
    "retrieve_memory": "as_of budget min_score mode query scope thread valid_at",
    "search_memory": "as_of k min_score query scope valid_at",
    "get_user_profile": "as_of include_assistant_knowledge include_knowledge person valid_at",
    "correct_memory": "ended fact_id text valid_from valid_to",
    "add_instruction": "expires_at text", "list_memory": "after k kind",
    "forget_memory": "confirm id", "why": "id", "memory_stats": "",
}  # fmt: skip
"""The tools of the MCP server, and what they take."""
COMMANDS = """
    get items edits update webhooks document
    add analyse backup bench chat conflicts copy correct cost demo diff doctor expire export fade fields forget
    import ingest instructions keys learn mcp migrate model overview people pin rebuild recall reindex restore
    retire schema serve settle show space stats undo verify why worker
"""
GROUPS = {
    "document": "add forget list show",
    "bench": "calibration contexts cost embed footprint load owners paper past recall report run scale search speed "
    "study understanding year",
    "keys": "add list revoke", "webhooks": "add list remove replay",
    "people": "merge set-user split", "space": "grant grants list revoke",
}  # fmt: skip
"""The commands of `embermem`, and those of its groups."""

COUNTED = (
    "add add_document add_messages correct expire fade forget forget_owner forget_pages learn"
    " overview recall search update"
)
"""The operations that `ember_operations_total` counts."""

T = TypeVar("T")


def names(kind: type[Any]) -> str:
    return " ".join(one.name for one in fields(kind))


def below(kind: type[T]) -> Iterator[type[T]]:
    for child in kind.__subclasses__():
        yield child
        yield from below(child)


def ours(kind: type[T]) -> Iterator[type[T]]:
    """The classes of Ember below one, whatever tests defined of their own."""
    return (one for one in below(kind) if one.__module__.startswith("embermem."))


def every_error() -> list[type[EmberError]]:
    return [EmberError, *ours(EmberError)]


def test_decisions_are_stored_and_sent_under_these_names() -> None:
    assert {tag: (api_kind(kind), names(kind)) for tag, kind in BY_TAG.items()} == DECISIONS


def test_every_kind_of_decision_has_a_tag_of_its_own() -> None:
    assert len(BY_TAG) == len(get_args(Decision))
    assert all("tag" in vars(kind) for kind in BY_TAG.values())


def test_a_stored_decision_is_read_by_its_tag() -> None:
    kept = '[["FactPinned",{"fact_id":"f1","pinned":true}],["Evicted",{"segment_id":"s1"}]]'
    pinned = changes.FactPinned(fact_id=types.FactId("f1"), pinned=True)
    assert decisions_from(kept, [changes.FactPinned]) == (pinned,)


def test_the_parts_of_what_is_stored_have_these_fields() -> None:
    assert [(kind, got) for kind in PARTS if (got := names(kind)) != PARTS[kind]] == []


def test_a_recording_has_these_fields() -> None:
    assert [one.name for one in msgspec.structs.fields(recorded._Recording)] == ["key", "model", "request", "reply"]


def test_errors_are_sent_under_these_names() -> None:
    found = [one for one in every_error() if one.__module__ == errors.__name__]
    assert {one.tag for one in found} == {*ERRORS.split(), *OF_A_CLIENT.split()}
    assert {*exchange._KINDS} == {*ERRORS.split()}
    assert {tag: kind.tag for tag, kind in OF_A_SERVER.items()} == {tag: tag for tag in OF_A_SERVER}


def test_every_error_that_a_server_may_send_has_a_tag_of_its_own() -> None:
    sent = [one for one in every_error() if not one.__module__.startswith("embermem_bench")]
    assert [one for one in sent if "tag" not in vars(one)] == []
    assert len({one.tag for one in sent}) == len(set(sent))


def test_lines_of_an_export_have_these_names() -> None:
    assert {kind: names(line) for kind, line in lines.KINDS.items()} == EXPORTED


def test_models_are_asked_under_these_names() -> None:
    assert {name: reply_schema(kind).name for name, kind in SCHEMAS.items()} == {name: name for name in SCHEMAS}
    folders = (Path(str(one.__file__)).parent for one in (embermem, embermem_bench))
    source = (file.read_text(encoding="utf-8") for folder in folders for file in folder.rglob("*.py"))
    written = [name for text in source for name in re.findall(r'schema_name: ClassVar\[str\] = "(\w+)"', text)]
    assert sorted(written) == sorted(SCHEMAS)


def test_operations_are_counted_under_these_names() -> None:
    spanned = re.compile(r'@telemetry\.spanned\(telemetry\.[A-Z]+, "(\w+)"\)')
    folder = Path(embermem.__file__).parent / "owner_memory"
    written = [one for file in folder.glob("*.py") for one in spanned.findall(file.read_text(encoding="utf-8"))]
    assert " ".join(sorted(written)) == COUNTED
    assert all(hasattr(OwnerMemory, name) for name in written)


def test_the_http_api_has_these_names() -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "memory.db", embedder="hashed") as memory:
        described = create_app(memory, hosts=["testserver"]).openapi()
    named = {one["operationId"] for path in described["paths"].values() for one in path.values()}
    assert named == {*OPERATIONS.split()}
    assert {*described["components"]["schemas"]} == {*BODIES.split()}


def test_the_tools_have_these_names() -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "memory.db", embedder="hashed") as memory:
        tools = asyncio.run(make_server(memory).list_tools())
    assert {one.name: " ".join(sorted(one.input_schema["properties"])) for one in tools} == TOOLS


def test_the_commands_have_these_names() -> None:
    ours: Any = get_command(app)
    commands = {name: ours.get_command(None, name) for name in ours.list_commands(None)}
    commands |= {"bench": get_command(main.app)}
    assert {*commands} == {*COMMANDS.split()}
    groups = {
        name: " ".join(sorted(vars(one)["commands"])) for name, one in commands.items() if "commands" in vars(one)
    }
    assert groups == GROUPS
