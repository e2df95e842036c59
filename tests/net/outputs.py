"""What a store is asked through every face, and its answers as plain data."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from embermem import Memory, OwnerMemory, open_system
from embermem.core.errors import EmberError
from net.life import END, FADED, MIDDLE, QUESTIONS, Clock
from net.plain import Names, masked, plain

Plain = dict[str, Any]
PERSON = "alice"
"""Of whom everything is asked; of the others, less."""
AT = END.isoformat()
THEN = MIDDLE.isoformat()
BUDGET = 160
"""Tokens: so few that something is left out."""


def owners_of(memory: Any) -> dict[str, Any]:
    """The handles of all owners, by their user's name."""
    return {
        one.user: memory.space(one.space) if one.space else memory.of(one.user, one.agent) for one in memory.owners()
    }


# --------------------------------------------------------------------------------------------------- in this process


def recalled(memory: Memory, preset: Any = None, *, close: bool = False) -> Plain:
    """What each owner is reminded of: at the end of the lives, at their middle, and in a scarce budget. With `close`,
    only what is the same to three digits wherever it runs: ids, scores and texts."""
    found: Plain = {}
    for user, owner in owners_of(memory).items():
        for question in QUESTIONS[user]:
            found[f"{user}: {question}"] = _context(owner.recall(question, preset=preset), close=close)
        question = QUESTIONS[user][0]
        found[f"{user}, few tokens"] = _context(owner.recall(question, preset=preset, budget=BUDGET), close=close)
        if user != "eve":  # of whom all was read anew since
            past = owner.recall(question, preset=preset, as_of=THEN)
            found[f"{user}, then"] = _context(past, close=close)
            found[f"{user}, true then"] = _context(owner.recall(question, preset=preset, valid_at=THEN), close=close)
        found[f"{user}, searched"] = [_hit(hit) for hit in owner.search(question, 5)]
    return found


def _context(context: Any, *, close: bool) -> Plain:
    told = {
        "text": context.text,
        "hits": [_hit(hit) for hit in context.hits],
        "packed": [hit.utterance.seq for hit in context.packed],
        "facts": [fact.id for fact in context.facts],
        "confidence": plain(context.confidence),
    }
    if close:
        return told
    return {
        **told,
        "tokens": context.tokens,
        "counter": context.counter,
        "partial": context.partial,
        "preset": context.preset,
        "rests_on": plain(context.rests_on),
        "persona": _persona(context.persona),
        "left_out": [f"{one.score:.6f} {one.reason}: {one.what}" for one in context.left_out],
        "explain": [str(context.explain(hit)) for hit in context.hits[:3]],
    }


def _hit(hit: Any) -> list[Any]:
    """Rank, score, where it is, what it is."""
    return [hit.rank, plain(hit.score), plain(hit.tier), hit.segment_id, hit.utterance.id]


def _persona(persona: Any) -> Plain:
    """By its ids and names: the records are told elsewhere."""
    return {
        "profile": [[line.name, line.value] for line in persona.profile],
        "agent_profile": [[line.name, line.value] for line in persona.agent_profile],
        "traits": [[trait.dimension, plain(trait.level)] for trait in persona.traits],
        "facts": [fact.id for fact in (*persona.facts, *persona.agent_facts)],
    }


def read(memory: Any) -> Plain:
    """What each owner's lists say, through this process or a client."""
    return {user: _read(owner) for user, owner in owners_of(memory).items()}


def _read(owner: Any) -> Plain:
    told: Plain = {
        "pages": owner.pages(),
        "segments": owner.segments(),
        "archive": owner.segments(archived=True),
        "heat": [owner.heat(segment) for segment in owner.segments()],
        "profile": owner.profile(),
        "agent_profile": owner.agent_profile(),
        "traits": owner.traits(),
        "facts": sorted(owner.facts(), key=lambda fact: fact.id),  # a service tells them by their ids
        "archived_facts": owner.facts(archived=True),
        "past_facts": owner.past_facts(),
        "conflicts": owner.conflicts(),
        "links": owner.links(),
        "retention": owner.retention(),
        "stats": owner.stats(),
    }
    return {name: plain(one) for name, one in told.items()}


def brief(memory: Memory) -> Plain:
    """The same with fewer words, of a migrated store: what its migration must have kept."""
    found: Plain = {}
    for user, owner in owners_of(memory).items():
        facts = (*owner.facts(), *owner.facts(archived=True), *owner.past_facts())
        found[user] = {
            "said": [[page.id, plain(page.tier), *(one.text for one in page.utterances)] for page in owner.pages()],
            "facts": plain(facts),
            "traits": plain(owner.traits()),
            "profile": plain((*owner.profile(), *owner.agent_profile())),
            "segments": plain((*owner.segments(), *owner.segments(archived=True))),
            "chains": [[chain.id, chain.summary, len(chain.page_ids)] for chain in owner.chains()],
            "links": plain(owner.links()),
            "conflicts": [[one.older.id, one.newer.id, one.reason] for one in owner.conflicts()],
            "changes": [[one.no, plain(one.cause), len(one.decisions)] for one in owner.changes()],
            "recalled": [_hit(hit) for hit in owner.recall(QUESTIONS[user][0]).hits[:5]],
        }
    return {**found, "calls": len(memory.calls(FADED)), "keys": [key.name for key in memory.keys.all_keys()]}


def traced(memory: Memory) -> Plain:
    """Where what one owner knows comes from, how it changed, and what could be taken back."""
    owners = owners_of(memory)
    return {user: _traced(owner) for user, owner in owners.items()}


def _traced(owner: OwnerMemory) -> Plain:
    facts = (*owner.facts(), *owner.facts(archived=True), *owner.past_facts())
    segments = (*owner.segments(), *owner.segments(archived=True))
    items = [*(fact.id for fact in facts), *(segment.id for segment in segments)]
    lines = [f"{line.whose.value}.{line.name}" for line in (*owner.profile(), *owner.agent_profile())]
    names = [*lines, *(link.id for link in owner.links()), *(chain.id for chain in owner.chains()[:2])]
    told: Plain = {
        "chains": plain(owner.chains()),
        "why": {name: str(owner.why(name)) for name in (*items, *names)},
        "history": {item: [change.no for change in owner.history(item)] for item in items},
        "undo": {str(change.no): _undo_plan(owner, change.no) for change in owner.changes()},
        "since": [change.no for change in owner.changes(THEN)],
    }
    if owner.owner.user != "eve":
        told["then"] = {
            "facts": plain(owner.facts(as_of=THEN)),
            "true": plain(owner.facts(valid_at=THEN)),
            "pages": [[page.id, plain(page.tier)] for page in owner.pages(as_of=THEN)],
            "segments": [[one.id, one.summary, list(one.keywords)] for one in owner.segments(as_of=THEN)],
            "profile": [[one.name, one.value] for one in owner.profile(as_of=THEN)],
            "traits": [[one.dimension, plain(one.level)] for one in owner.traits(as_of=THEN)],
        }
        diff = owner.diff(THEN, END)
        told["diff"] = {
            "text": str(diff),
            "facts_added": [fact.id for fact in diff.facts_added],
            "changes": diff.changes,
        }
    return plain(told)  # type: ignore[no-any-return]


def _undo_plan(owner: OwnerMemory, no: int) -> Any:
    try:
        made = owner.undo_plan(no)
    except EmberError as error:
        return str(error)
    return {"decisions": plain(made.decisions), "refused": plain(made.refused)}


def recalled_by(name: str, file: Path, model_url: str) -> Plain:
    """What one of the papers' other systems is reminded of; the scripted model answers its questions."""
    model: Plain = {"model": "scripted", "model_key": "none", "model_url": model_url}
    with open_system(name, file, embedder="hashed", background=False, clock=Clock(END), **model) as memory:
        alice = memory.of("alice")
        return {question: _context(alice.recall(question), close=False) for question in QUESTIONS[PERSON]}


# ------------------------------------------------------------------------------------------------------------ export


def exported(place: str | Path, folder: Path, key_file: Path | None = None) -> list[Any]:
    """The lines of an export of everything. The moment of its making is left out."""
    from running import run as command

    out = folder / "export.jsonl"
    more = {} if key_file is None else {"EMBERMEM_FORGOTTEN_KEY_FILE": str(key_file)}
    done = command(Path(place), "export", str(out), more={"EMBERMEM_STORE": str(place), **more})
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    out.unlink()
    assert lines[0].pop("at")
    return [line for kind, run in itertools.groupby(lines, _kind) for line in _in_order(kind, list(run))]


def _kind(line: Plain) -> str:
    return str(line["kind"])


def _in_order(kind: str, lines: list[Plain]) -> list[Plain]:
    """Segments that one change opened come in any order, and so do originals, whose order is that of random ids."""
    match kind:
        case "segment":
            return sorted(lines, key=lambda line: str(line["id"]))
        case "original":
            return sorted(lines, key=lambda line: str(line["value"]))
    return lines


# -------------------------------------------------------------------------------------------------------------- HTTP


def http(memory: Memory) -> Plain:
    """The answers of the HTTP API, by method and path: what is read, what is refused, and then what is changed."""
    from serving import client, running

    told: Plain = {}
    names = Names()
    with running(memory) as url, client(url) as asking:
        for method, path, body in (*_http_reads(memory), *_http_refusals(), *_http_writes(memory)):
            answer = asking.request(method, f"/v1{path}", json=body)
            asked = f"{method} {path}" + (f" {json.dumps(body, ensure_ascii=False, sort_keys=True)}" if body else "")
            assert asked not in told
            told[asked] = {"status": answer.status_code, "body": answer.json()}
        schema = asking.get("/openapi.json").json()
    told["operations"] = sorted(
        f"{method.upper()} {path} {operation['operationId']}"
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    )
    return names.of(masked(rounded(told), request_id="", instance=""))  # type: ignore[no-any-return]


def _http_reads(memory: Memory) -> Iterable[tuple[str, str, Any]]:
    alice = owners_of(memory)[PERSON]
    own = "user_id=alice&agent_id=tutor"
    fact, segment, page = alice.facts()[0], alice.segments()[0], alice.pages()[0]
    for path in ("profile", "facts", "facts?about=agent", "traits", "segments", "pages?limit=2", "stats", "changes"):
        yield "GET", f"/{path}{'&' if '?' in path else '?'}{own}", None
    for path in ("links", "conflicts", "retention", f"diff?earlier={THEN[:10]}", "memories?limit=3"):
        yield "GET", f"/{path}{'&' if '?' in path else '?'}{own}", None
    yield "GET", "/owners", None
    for item in (fact.id, page.id, page.utterances[0].id):
        yield "GET", f"/memories/{item}?{own}", None
    for path in (f"memories/{fact.id}/history", f"segments/{segment.id}", f"pages/{page.id}", f"why/{fact.id}"):
        yield "GET", f"/{path}?{own}", None
    for path in ("facts", "segments", "profile", "traits"):
        yield "GET", f"/{path}?as_of={THEN[:10]}&{own}", None
    for no in (change.no for change in alice.changes() if change.cause in ("correction", "profile")):
        yield "GET", f"/changes/{no}/undo?{own}", None
    for user in ("小美", "walkers", "ben"):
        owner = owners_of(memory)[user].owner
        for path in ("facts", "conflicts", "links", "segments"):
            yield "GET", f"/{path}?user_id={owner.user}&agent_id={owner.agent}", None
    asked = {"query": QUESTIONS[PERSON][0], "user_id": "alice", "agent_id": "tutor"}
    yield "POST", "/search", {**asked, "top_k": 3}
    yield "POST", "/context", {**asked, "budget": BUDGET, "explain": True}
    yield "POST", "/context", {**asked, "as_of": THEN}


def _http_refusals() -> Iterable[tuple[str, str, Any]]:
    yield "GET", "/memories/f0-000?user_id=alice", None
    yield "GET", "/facts?user_id=alice&limit=0", None
    yield "POST", "/context", {"query": "", "user_id": "alice", "budget": "many"}
    yield "DELETE", "/memories?user_id=alice", None
    yield "POST", "/changes/1/undo", {"user_id": "alice", "agent_id": "tutor"}


def _http_writes(memory: Memory) -> Iterable[tuple[str, str, Any]]:
    alice = owners_of(memory)[PERSON]
    own = {"user_id": "alice", "agent_id": "tutor"}
    fact, other = alice.facts()[0], alice.facts()[-1]
    said = [{"role": "user", "content": "I bought a boat."}, {"role": "assistant", "content": "A big one?"}]
    yield "POST", "/memories", {**own, "messages": said, "run_id": "boat", "at": AT}
    yield "PATCH", "/profile", {**own, "user": {"home": "Nantes"}, "agent": {"voice": None}}
    yield "POST", f"/facts/{fact.id}/pin", {**own, "pinned": True}
    yield "POST", "/facts", {**own, "facts": [{"text": "sails a dinghy", "attribute": "hobby", "value": "sailing"}]}
    yield "POST", "/links", {**own, "from_id": fact.id, "to_id": alice.segments()[-1].id, "reason": "of one week"}
    yield "POST", f"/facts/{other.id}/correct", {**own, "text": "likes roses", "value": "roses"}
    yield "POST", f"/facts/{fact.id}/expire", {**own, "at": (END + timedelta(days=9)).isoformat()}
    yield "POST", f"/facts/{fact.id}/retire", own
    page = alice.pages()[2]
    yield "DELETE", f"/memories/{page.id}?user_id=alice&agent_id=tutor&dry_run=true", None
    yield "DELETE", f"/memories/{page.id}?user_id=alice&agent_id=tutor", None
    yield "POST", "/fade", {**own, "dry_run": True}
    yield "GET", "/changes?user_id=alice&agent_id=tutor&limit=12", None


# --------------------------------------------------------------------------------------------------------------- MCP


def mcp(memory: Memory) -> Plain:
    """The answers of the MCP tools, to programs and to models."""
    from mcp_talk import resource, talk, text_of

    alice = owners_of(memory)[PERSON]
    fact, page = alice.facts()[0], alice.pages()[0]
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("memory_stats", {}),
        ("get_user_profile", {"include_assistant_knowledge": True}),
        ("get_user_profile", {"as_of": THEN}),
        ("retrieve_memory", {"query": QUESTIONS[PERSON][0], "budget": BUDGET}),
        ("retrieve_memory", {"query": QUESTIONS[PERSON][1], "valid_at": THEN}),
        ("search_memory", {"query": QUESTIONS[PERSON][1], "k": 3}),
        ("why", {"id": fact.id}),
        ("forget_memory", {"id": page.id}),
        ("correct_memory", {"fact_id": fact.id, "text": "gardens in Nantes"}),
        ("add_memory", {"user_input": "I bought a boat.", "agent_response": "A big one?", "timestamp": AT}),
        ("forget_memory", {"id": page.id, "confirm": True}),
        ("forget_memory", {"id": "p0"}),
    )

    async def script(client: Any) -> Plain:
        listed = (await client.list_tools()).tools
        told: Plain = {"tools": {tool.name: sorted(tool.input_schema["properties"]) for tool in listed}}
        for uri in sorted(str(one.uri) for one in (await client.list_resources()).resources):
            told[uri] = await resource(client, uri)
        for name, arguments in calls:
            answer = await client.call_tool(name, arguments)
            told[f"{name} {json.dumps(arguments, sort_keys=True)}"] = {
                "text": text_of(answer.content),
                "structured": answer.structured_content,
                "is_error": answer.is_error,
            }
        return told

    return Names().of(rounded(talk(memory, script)))  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------------ command line


def cli(file: Path) -> Plain:
    """The JSON of the commands. They ask the machine's clock, so what follows from it is left out: heat, and the
    file's size; whoever is asked about has no age, and nothing expires before the year 9000."""
    from running import run

    with Memory(file, embedder="hashed", background=False) as memory:
        alice = memory.of("alice", "tutor")
        fact, segment, no = alice.facts()[0], alice.segments()[0], alice.changes()[-1].no
    own = ("--user", "alice", "--agent", "tutor")
    commands: tuple[tuple[str, ...], ...] = (
        ("stats",),
        *((*own, "show", *what) for what in ((), ("page", "1"), ("segment", segment.id), ("changes", "--limit", "3"))),
        (*own, "recall", QUESTIONS[PERSON][0], "--at", AT, "--budget", str(BUDGET)),
        ("--preset", "paper", "--user", "小美", "recall", QUESTIONS["小美"][0], "--as-of", THEN),
        (*own, "why", fact.id),
        (*own, "diff", THEN, AT),
        (*own, "links"),
        ("--user", "walkers", "--agent", "guide", "conflicts"),
        ("keys", "list"),
        (*own, "undo", str(no), "--dry-run"),
        (*own, "correct", fact.id, "gardens in Nantes"),
        (*own, "forget", "--thread", "music", "--yes"),
        (*own, "add", "I bought a boat.", "--at", AT),
    )
    told: Plain = {}
    for command in commands:
        done = run(file, *command, "--json")
        told[" ".join(command)] = {"code": done.code, "json": done.json if done.out else None, "err": done.err}
    by_the_clock = {"heat": 0, "bytes": 0, "recorded_at": _then_or_now, "retired_at": _then_or_now}
    text = json.dumps(masked(rounded(told), **by_the_clock)).replace(str(file.parent), "FOLDER")
    return Names().of(json.loads(text))  # type: ignore[no-any-return]


def _then_or_now(moment: Any) -> Any:
    """A time of the lives, or that it is a later one."""
    return moment if moment is None or moment <= AT else "now"


def rounded(value: Any) -> Any:
    """JSON with its numbers rounded."""
    if isinstance(value, Mapping):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else plain(value)


# --------------------------------------------------------------------------------------------------------- told anew


def told_anew(memory: Memory, lines: list[Any]) -> Plain:
    """What a store says of lives that were just lived in it; `lines` are its export. Ids that chance made are named by
    the order in which they appear."""
    told = {"export": masked(lines, key="KEY"), "recalled": recalled(memory, close=True)}
    return Names().of(rounded(told))  # type: ignore[no-any-return]


def told_closely(memory: Memory) -> Plain:
    """The same of a store whose scores hang by the processor."""
    segments = {
        user: [[list(one.page_ids), list(one.keywords)] for one in owner.segments()]
        for user, owner in owners_of(memory).items()
    }
    return Names().of({"recalled": recalled(memory, close=True), "segments": segments})  # type: ignore[no-any-return]
