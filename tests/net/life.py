"""The conversations of the frozen stores, and the lives of the owners who have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

from embermem.core.changes import TraitSet
from embermem.protocols import ApiKey, Grant

SETTINGS: dict[str, Any] = {
    "embedder": "hashed",
    "background": False,
    "short_term_pages": 3,
    "mid_term_segments": 4,
    "user_facts": 5,
    "agent_facts": 5,
    "batch_pages": 2,
    "tau": 2.0,
    "min_new": 2,
    "busy_timeout_s": 20.0,
}
"""Capacities that a short life can fill."""

FADED = datetime(2024, 1, 8, 9, tzinfo=UTC)
"""When the first owner speaks, who is then silent for two years."""
BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)
MIDDLE = datetime(2026, 3, 20, 12, tzinfo=UTC)
"""Between the two halves of every life but the first."""
SECOND = datetime(2026, 4, 6, 8, tzinfo=UTC)
END = datetime(2026, 5, 2, 10, tzinfo=UTC)
"""The time at which the frozen stores are asked."""
NEVER = "9000-01-01T00:00:00+00:00"
"""When something expires that is to be there whenever a test runs."""

Opening = Callable[..., AbstractContextManager[Any]]
"""Opens the store, with more settings."""
Exchange = tuple[str, str | None]
Session = tuple[str, str, tuple[Exchange, ...]]
"""A thread, when it was said, and what."""


class Clock:
    """Says the time it is set to."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


ALICE_FIRST: tuple[Session, ...] = (
    (
        "arrival",
        "2026-03-02T09:00:00+01:00",
        (
            ("Hello, my name is Alice and I live in Lyon.", "Hello Alice! How is Lyon?"),
            ("I work as a gardener at the botanical garden.", "What grows there in March?"),
            ("My sister Ana is a nurse in Grenoble.", "Do you see her often?"),
        ),
    ),
    (
        "garden",
        "2026-03-07T18:30:00+01:00",
        (
            ("Yesterday I planted tomatoes and three fig trees behind the greenhouse.", "Figs like a warm wall."),
            ("So I built the fig trees a wall of old bricks, which keeps the heat.", "A good place for the figs."),
            ("Last Saturday a heron came to the pond and ate two goldfish.", "A net over the pond would help."),
        ),
    ),
    ("music", "2026-03-09T20:00:00+01:00", (("I love jazz records.", "Which ones?"),)),
    (
        "corsica",
        "2019-08-20T21:00:00+02:00",
        (("I hiked across Corsica with Ana, fifteen days in the mountains.", "That is a long way!"),),
    ),
    (
        "secrets",
        "2026-03-10T08:00:00+01:00",
        (("The spare key lies under the blue flower pot by the cellar door.", "I will keep that to myself."),),
    ),
    (
        "kitchen",
        "2026-03-12T19:00:00+01:00",
        (
            ("I am allergic to peanuts. I like figs with goat cheese.", "No peanuts, then."),
            ("I like rowing on the lake, and I hate horror films.", "Rowing is quieter."),
        ),
    ),
)
ALICE_SECOND: tuple[Session, ...] = (
    (
        "moving",
        "2026-04-06T09:30:00+02:00",
        (
            ("I moved to Nantes last week.", "How do you like it there?"),
            ("I work as a gardener at the botanical garden.", "Still the same one?"),
            ("I am learning to sail on the Loire.", "Is the wind good in April?"),
        ),
    ),
    (
        "garden",
        "2026-04-11T18:00:00+02:00",
        (
            ("The fig trees stayed in Lyon, Ana waters them behind the greenhouse.", "Ana is kind."),
            ("My new garden has a wall of white stone, 2 metres high.", "Enough for climbing roses."),
        ),
    ),
    ("trip", "2026-04-18T12:00:00+02:00", (("Tomorrow I take the train to Grenoble to see Ana.", "Safe journey!"),)),
    ("likes", "2026-04-20T12:00:00+02:00", (("I like old maps. I like violets.", "Maps of the sea?"),)),
)
MEI_FIRST: tuple[Session, ...] = (
    (
        "开始",
        "2026-03-03T10:00:00+08:00",
        (
            ("你好，我叫陈小美，我住在杭州。", "你好，小美！"),
            ("我在一家图书馆工作，我喜欢喝龙井茶。", "龙井茶很香。"),
            ("我的弟弟小军在北京上大学。", "他学什么？"),
        ),
    ),
    (
        "西湖",
        "2026-03-08T19:00:00+08:00",
        (
            ("昨天我去了西湖，看见很多白鹭站在水边。", "春天的西湖很美。"),
            ("白鹭飞走以后，我们在断桥上拍了照片。", "照片一定好看。"),
        ),
    ),
)
MEI_SECOND: tuple[Session, ...] = (
    (
        "搬家",
        "2026-04-07T09:00:00+08:00",
        (
            ("我上个月搬到苏州了。", "苏州的园林很有名。"),
            ("我对花生过敏，请记住。", "记住了。"),
            ("周末我想学拉二胡。I also like jazz.", "二胡的声音很特别。"),
        ),
    ),
)
WALKS: tuple[tuple[str, str, tuple[tuple[str, str, str], ...]], ...] = (
    (
        "plan",
        "2026-03-05T17:00:00+00:00",
        (
            ("user", "Bea", "Shall we walk to the lighthouse on Sunday?"),
            ("user", "Carlos", "I can drive everybody to the harbour at nine."),
            ("user", "Dmitri", "My knee is still bad, but I will come along."),
            ("assistant", "guide", "The path to the lighthouse is 7 km long and flat."),
            ("user", "Bea", "I am vegetarian, I bring lentil soup."),
            ("tool", "weather", '{"sunday": "dry", "wind": "strong"}'),
            ("assistant", "guide", "It stays dry on Sunday."),
        ),
    ),
    (
        "after",
        "2026-04-08T20:00:00+00:00",
        (
            ("user", "Carlos", "The lighthouse was closed, what a pity!"),
            ("user", "Dmitri", "I counted forty gannets on the cliff."),
            ("assistant", "guide", "Forty gannets are many for March."),
            ("user", "Bea", "Dmitri lives in Bergen now, he told me."),
            ("assistant", "guide", "Then the next walk is in Norway."),
            ("user", "Carlos", "I bought new boots for it."),
            ("assistant", "guide", "Walk them in first."),
        ),
    ),
)
BEN_FIRST = (
    "My dog Rex eats figs.",
    "I live in Dover. I work as a baker.",
    "The ferry to Calais was late again.",
    "Rex chased a hare over the cliff path.",
    "I like sourdough bread.",
)
BEN_SECOND = (
    "Rex has learnt to open the bakery door.",
    "The ferry to Calais takes dogs now, Rex came along.",
    "I moved to Calais. I like sourdough bread.",
    "A new oven stands in the bakery.",
    "It rains.",
    "So it goes.",
    "Nothing is new.",
)
HOMES = (
    {"text": "lives in Lyon", "attribute": "lives_in", "value": "Lyon", "valid_from": "2026-04-01"},
    {"text": "lives in Brest", "attribute": "lives_in", "value": "Brest", "valid_from": "2026-04-01"},
)
JOBS = (
    {"text": "works as a miller", "attribute": "works_as", "value": "miller", "valid_from": "2026-04-01"},
    {"text": "works as a diver", "attribute": "works_as", "value": "diver", "valid_from": "2026-04-01"},
)

IDA = (
    ("The choir rehearses the requiem on Monday.", "Which voices of the choir sing the requiem?"),
    ("The altos of the choir lose the pitch in the requiem.", "Slow rehearsals keep the pitch."),
    ("The conductor wants the requiem faster.", "A faster requiem needs clear consonants."),
    ("The snails ate all the beans behind the shed.", "Copper tape keeps snails off beans."),
    ("The choir sang the requiem in the church.", "Churches blur fast singing of a choir."),
    ("The choir learns a mass after the requiem.", "A mass is longer than a requiem."),
    ("Our conductor praised the choir for the mass.", "Praise helps a choir."),
)

QUESTIONS: dict[str, tuple[str, ...]] = {
    "ida": ("Who sings the requiem?",),
    "alice": ("Where does Alice live?", "What did I plant behind the greenhouse?", "Who is Ana?", "any peanuts?"),
    "小美": ("小美住在哪里？", "昨天看见了什么鸟？"),
    "walkers": ("Who drives to the harbour?", "How long is the path?"),
    "ben": ("What does Rex do?", "Does the ferry take dogs?"),
    "eve": ("What was in the attic?",),
    "noor": ("Which key opens the boathouse?",),
    "mia": ("What stands on the scarf?",),  # who is in the store of schema 0013 alone
    " ": ("When is the regatta?",),
}


def live(opening: Opening, clock: Clock, model_url: str | None = None) -> None:
    """All that the owners of a store live through; with the URL of a model, also what a model is needed for."""
    with opening() as memory:
        _eve(memory, clock)
        _first_half(memory, clock)
        _keys(memory, clock)
        clock.now = MIDDLE + timedelta(days=1)
        memory.reindex()
        clock.now = SECOND
        _second_half(memory, clock)
    if model_url is not None:
        model = {"model": "scripted", "model_key": "none", "model_url": model_url, "theta": 2.0, "tau": 0.0}
        with opening(**model, min_new=1) as memory:
            _with_a_model(memory, clock)
        _regrouped(opening, clock)
    with opening() as memory:
        _of_applications(memory, clock)
    clock.now = END


def _regrouped(opening: Opening, clock: Clock) -> None:
    """Chains that stood alone, and are joined once two of them are one topic."""
    with opening(short_term_pages=1) as memory:  # a text of two passages, and a fact
        ida = memory.of("ida")
        rows = " ".join(f"Row {number} of the choir sang the hymn of the old harbour." for number in range(150))
        ida.add(f"{rows} I live in Ghent.", "So many rows.", at=clock.now, thread="rows")
        ida.add("I live in Ghent.", "Since when?", at=clock.now, thread="ghent")
        ida.settle()
    for linkage, said in ((9.0, IDA[:4]), (0.01, IDA[4:])):
        with opening(topic_linkage=linkage, short_term_pages=1, mid_term_segments=50) as memory:
            ida = memory.of("ida")
            for number, (query, response) in enumerate(said):
                ida.add(query, response, at=clock.now, thread=f"choir-{linkage}-{number}")
                clock.now += timedelta(minutes=1)
            ida.settle()


HANDBOOK = (
    "# Handbook\n\n## Keys\n\nThe green key opens the boathouse.\n\n## Tides\n\nThe tide table hangs by the door.",
    "# Handbook\n\n## Keys\n\nThe red key opens the boathouse.\n\n## Tides\n\nThe tide table hangs by the door.",
)
"""A document, and what it became."""


def _of_applications(memory: Any, clock: Clock) -> None:
    """Metadata, a document that changed, a space with its grants, calls with keys, and a webhook."""
    noor = memory.of("noor", "desk")
    labels = {"ticket": "T-7", "priority": 2, "open": True, "tags": ["boat", "keys"]}
    noor.add("I lost the key of the boathouse.", "Which one?", at=clock.now, thread="T-7", metadata=labels)
    noor.add("The green one. I live in Vannes.", "I see.", at=clock.now, thread="T-7", metadata={"ticket": "T-7"})
    for text in HANDBOOK:
        noor.add_document(text, source="handbook.md", at=clock.now, metadata={"kind": "handbook"}, key=text[:40])
        clock.now += timedelta(minutes=1)
    noor.settle()
    (fact,) = noor.learn(
        [{"text": "noor likes oars", "attribute": "likes", "value": "oars", "metadata": labels}], key="l"
    )
    noor.correct(fact.id, "noor likes canoes", value="canoes", key="c")
    noor.add_webhook("https://example.com/hook", events=["page"])
    messages = [
        {"role": "user", "content": "The oars are in the loft.", "original": {"type": "message", "parts": [1]}},
        {"role": "tool", "content": "", "original": ["tide", None]},
    ]
    noor.add_messages(messages, at=clock.now, thread="T-8")
    noor.add_document("Tide: 14:20", source="tides.txt", at=clock.now, original={"tide": "14:20"})
    team = memory.space("crew")
    team.add_messages(
        [
            {"role": "user", "name": "Noor", "content": "The regatta is on the last Sunday of May."},
            {"role": "user", "name": "Iris", "content": "I live in Auray, I can row."},
        ],
        at=clock.now,
    )
    team.settle()
    memory.grant("crew", user="noor")
    memory.grant("crew", user="ben", write=True)
    memory.revoke("crew", user="ben")
    noor.share_person_with("coach")


def begin(opening: Opening, clock: Clock) -> None:
    """The first half alone."""
    with opening() as memory:
        _first_half(memory, clock)
    clock.now = END


def _eve(memory: Any, clock: Clock) -> None:
    """Two years of silence: what is not used fades."""
    clock.now = FADED
    eve = memory.of("eve")
    eve.add("The attic is full of old clocks and one stuffed owl.", "Do the clocks still run?", thread="attic")
    eve.add("I collect stamps.", "From where?", thread="stamps")
    for n, word in enumerate(("thread", "needle", "button", "ribbon")):
        eve.add(f"There is also a box with a {word} in it.", "I see.", thread=f"box {n}")
    eve.settle()
    clock.now = BEGIN
    eve.fade()


def _first_half(memory: Any, clock: Clock) -> None:
    clock.now = BEGIN
    alice = memory.of("alice", "tutor", timezone="Europe/Paris")
    _tell(alice, ALICE_FIRST)
    clock.now += timedelta(hours=1)
    alice.set_profile(name="Alice Martin")
    alice.set_agent_profile("a patient tutor of gardening", voice="calm")
    alice.visit(alice.recall("What did I plant behind the greenhouse?"))

    clock.now += timedelta(hours=1)
    mei = memory.of("小美", timezone="Asia/Shanghai")
    _tell(mei, MEI_FIRST)
    mei.set_profile(birth_year=1992)

    clock.now += timedelta(hours=1)
    _walk(memory.of("walkers", "guide"), 0)

    ben = memory.of("ben")
    for n, text in enumerate(BEN_FIRST):
        ben.add(text, "I see.", thread=f"t{n}", at=f"2026-03-{n + 3:02}T10:00:00+00:00", key=f"ben {n}")
    ben.settle()


def _second_half(memory: Any, clock: Clock) -> None:
    alice = memory.of("alice", "tutor")
    _take_back(alice, clock)
    _tell(alice, ALICE_SECOND)
    for step in (_correct, _forget, _tie, _expire):
        clock.now += timedelta(hours=1)
        step(memory, alice, clock)
        alice.settle()
    alice.add("And what shall I plant on Sunday?", thread="open", at="2026-04-26T10:00:00+02:00")

    clock.now += timedelta(days=1)
    mei = memory.of("小美")
    _tell(mei, MEI_SECOND)
    _walk(memory.of("walkers", "guide"), 1)


def _take_back(alice: Any, clock: Clock) -> None:
    """The change that first told of a trait is undone, and then that of the profile, twice."""
    trait = next(c.no for c in alice.changes() for d in c.decisions if isinstance(d, TraitSet))
    alice.undo(trait)
    clock.now += timedelta(minutes=10)
    profile = next(c.no for c in alice.changes() if c.cause == "profile")
    alice.undo(alice.undo(profile))


def _correct(memory: Any, alice: Any, clock: Clock) -> None:
    alice.pin(alice.facts("user")[0].id)
    known = (*alice.facts("user", archived=True), *alice.facts("user"))
    *_, last = (fact for fact in known if fact.attribute == "likes")
    alice.correct(last.id, "likes pressed violets", value="pressed violets")
    archived = alice.facts(archived=True)
    alice.pin(archived[-1].id)
    alice.pin(archived[-1].id, False)
    alice.retire(next(fact.id for fact in alice.facts("user")[1:] if fact.attribute != "lives_in"))


def _forget(memory: Any, alice: Any, clock: Clock) -> None:
    gone = next(page for page in alice.pages() if page.thread == "secrets")
    alice.forget(page=gone.id)
    alice.forget(fact=alice.facts("user")[-1].id)


def _tie(memory: Any, alice: Any, clock: Clock) -> None:
    """Facts that a caller brings, and two pairs of them that cannot be so."""
    walkers = memory.of("walkers", "guide")
    walkers.learn(HOMES)
    walkers.learn(JOBS)
    settled = walkers.conflicts()[0]
    walkers.settle_conflict(settled.older.id, settled.newer.id)
    walkers.learn([{"text": "speaks only when asked", "about": "agent"}])


def _expire(memory: Any, alice: Any, clock: Clock) -> None:
    """What has an end: a visitor who leaves, a page that goes by itself, and two that outlive every test."""
    walkers = memory.of("walkers", "guide")
    walkers.learn([{"text": "has a visitor", "expires_at": clock.now + timedelta(days=2)}])
    walkers.add("The code of the gate is four two four two.", thread="gate", expires_at=timedelta(days=2))
    alice.expire(fact_id=alice.facts("user")[0].id, at=NEVER)
    alice.expire(page_id=alice.pages()[0].id, at=NEVER)
    clock.now += timedelta(days=3)
    walkers.settle()


def _with_a_model(memory: Any, clock: Clock) -> None:
    """A model that is set later reads again what extraction has read; then all is read anew."""
    ben = memory.of("ben")
    clock.now += timedelta(days=1)
    ben.settle()
    for n, text in enumerate(BEN_SECOND, len(BEN_FIRST)):
        ben.add(text, "I see.", thread=f"t{n}", at=f"2026-04-{n + 3:02}T10:00:00+00:00")
        clock.now += timedelta(hours=1)
    ben.settle()
    eve = memory.of("eve")
    eve.understand_anew()
    eve.settle()


def _walk(walkers: Any, part: int) -> None:
    thread, at, said = WALKS[part]
    messages = [{"role": role, "name": name, "content": text} for role, name, text in said]
    walkers.add_messages(messages, thread=thread, at=at)
    walkers.settle()


def _tell(owner: Any, sessions: tuple[Session, ...]) -> None:
    for thread, at, exchanges in sessions:
        for n, (query, response) in enumerate(exchanges):
            said = datetime.fromisoformat(at) + timedelta(minutes=2 * n)
            owner.add(query, response, thread=thread, at=said, key=f"{thread} {at} {n}")
        owner.settle()


def _keys(memory: Any, clock: Clock) -> None:
    """A key of the service."""
    made: dict[str, Any] = {"id": "0123456789ab", "name": "a tutor's", "digest": "5" * 64, "read_only": True}
    grants = (Grant(user="alice", agent="tutor"), Grant(user="小美", agent=None))
    memory.keys.add_key(ApiKey(**made, grants=grants, created_at=clock.now, revoked_at=None))


def said() -> Iterator[tuple[str, str]]:
    """Everything that is said in the lives, with who is the user; what is forgotten in them too."""
    for user, sessions in (("alice", (*ALICE_FIRST, *ALICE_SECOND)), ("小美", (*MEI_FIRST, *MEI_SECOND))):
        for _, _, exchanges in sessions:
            yield from ((user, text) for exchange in exchanges for text in exchange if text is not None)
    yield from (("walkers", text) for _, _, talk in WALKS for _, _, text in talk)
    yield from (("ben", text) for text in (*BEN_FIRST, *BEN_SECOND))
