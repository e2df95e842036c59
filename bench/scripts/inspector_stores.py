"""Stores to try the inspector on: bench/scripts/inspector_stores.py big|many FOLDER [--pages N] [--facts N]

`big`: one owner, `big`/`companion`, who talked for two years: so many pages, and so many facts in all, current, past
and archived, of sixty people, with conflicts, instructions and traits. `many`: so many owners (--owners) of few
pages each. Both are made of our own words, the same for the same seed, with the extractive analyst; run again, `big`
goes on where it was stopped. More facts are held than the caps allow by default: open it with FOLDER/ember.toml
(EMBERMEM_CONFIG), or the next change moves most of them to the archive.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from embermem import Memory, OwnerMemory

USER, AGENT, ZONE = "big", "companion", "Europe/Copenhagen"
ENDED = datetime(2026, 6, 20, 21, tzinfo=UTC)
DAYS = 730
CHUNK = 200
"""Pages settled at once."""
BROUGHT = 500
"""Facts learnt at once."""

_NAMES = "Ines Tom Mirela Jonas Aoife Stefan Lucia Piotr Hanna Rafael Edith Omar Greta Milan Nora Felix Agnes Bruno "
_NAMES += (
    "Celia Dario Elsa Fabio Gwen Hugo Irma Jaro Katya Lars Mona Nils Olga Paolo Quentin Rosa Sami Tilde Ulla Viktor "
)
_NAMES += "Wanda Yara Zeno Alma Bela Cleo Dag Esme Finn Gita Henk Ilse Joop Kira Levi Maud Ned Orla Pia Rolf Saga Timo"
PEOPLE = tuple(_NAMES.split())
PLACES = tuple(
    "Oban Lund Graz Porto Ghent Turku Brno Cork Split Bergen Leiden Arles Tartu Siena Bath Trier Vigo Aarhus".split()
)
JOBS = tuple("nurse carpenter baker welder gardener tailor pilot librarian printer surveyor vet potter".split())
THINGS = tuple(
    "green tea|rye bread|old maps|jazz|sour cherries|wool blankets|night trains|slow cinema|chess|figs|harbour walks|"
    "radio plays|smoked cheese|rowing|folk songs|plum jam|paper kites|wild swimming|lentil soup|card games".split("|")
)
KINDS = tuple("quiet early small loud cheap warm strange honest heavy bright local famous dry plain soft".split())
TOPICS = {
    name: words.split()
    for name, words in (
        ("the allotment", "tomatoes compost slugs rhubarb greenhouse seedlings mulch courgettes"),
        ("the choir", "rehearsal alto harmony conductor tenor solo programme encore"),
        ("the old van", "clutch mechanic brakes rust gearbox tyres battery exhaust"),
        ("pottery class", "kiln glaze clay wheel handle firing bowl slip"),
        ("the half marathon", "training knees intervals pace stretching medal tempo blister"),
        ("the wedding", "venue flowers invitations speech caterer cake guests photographer"),
        ("the new flat", "landlord boiler curtains deposit neighbours balcony lease shelves"),
        ("bird watching", "heron binoculars marsh warbler kestrel hide migration nest"),
        ("the bakery job", "sourdough oven shift flour croissants starter rye apron"),
        ("Portuguese", "verbs accent grammar subtitles tutor vocabulary pronunciation exam"),
        ("the night train", "sleeper ticket platform delay suitcase couchette station dining-car"),
        ("board games", "dice tiles strategy rulebook opponent auction meeples draft"),
        ("the tax return", "receipts deduction accountant refund form deadline invoice ledger"),
        ("the dentist", "filling crown drill anaesthetic molar brace appointment toothache"),
        ("the thesis", "supervisor chapter footnote bibliography defence examiner abstract draft"),
        ("astronomy", "telescope nebula eyepiece meteor orbit eclipse planet observatory"),
        ("the aquarium", "filter algae guppies gravel heater snails pump water-test"),
        ("the sailing course", "mast jib knot tiller harbour buoy gust mooring"),
        ("the beehive", "honey queen smoker frames swarm nectar veil wax"),
        ("chess club", "opening endgame bishop gambit clock blunder rating checkmate"),
        ("the roof", "slates gutter scaffold leak insulation chimney rafters surveyor"),
        ("the puppy", "leash crate vaccination chewing obedience breeder kennel treats"),
        ("grandmother's recipes", "dumplings dill broth semolina pickles dough skillet jam"),
        ("the exhibition", "gallery curator frame catalogue opening sculpture lighting label"),
        ("the job interview", "recruiter salary portfolio reference offer panel commute contract"),
        ("the band", "drummer bassline amplifier setlist demo chorus rehearsal-room gig"),
        ("the hospital stay", "surgeon stitches ward nurse X-ray crutches recovery painkiller"),
        ("cheese making", "rennet curds whey cellar rind brine mould culture"),
        ("the ski trip", "slope boots lift powder chalet goggles avalanche wax-bench"),
        ("knitting", "needles wool cable gauge sleeve pattern skein cardigan"),
        ("the school board", "headteacher minutes canteen timetable petition playground budget-vote parents"),
        ("the camera", "lens aperture tripod darkroom negative shutter exposure print"),
        ("genealogy", "archive parish baptism census ancestor emigrant registry portrait"),
        ("the bicycle", "chain derailleur saddle puncture spokes panniers helmet lane"),
        ("mushroom picking", "chanterelle basket spores moss boletus fungus woodland identification"),
        ("the radio play", "microphone script producer footsteps narrator broadcast studio-hour actor"),
        ("the swimming pool", "crawl lanes chlorine lifeguard flippers turns breaststroke locker"),
        ("the divorce of friends", "lawyer custody mediation quarrel apartment-sale furniture silence visits"),
        ("the book club", "novel translator ending narrator-voice paperback chapter-vote library author"),
        ("solar panels", "inverter kilowatt subsidy installer meter cable-run rooftop grid"),
        ("wine tasting", "vintage tannin cork grape vineyard decanter sommelier label-art"),
        ("the theatre group", "stage costume premiere prompter rehearsal-plan monologue curtain applause"),
        ("the neighbour's cat", "whiskers windowsill sardines collar fence purr vet-bill basket-nap"),
        ("calligraphy", "ink brush paper stroke seal character grindstone scroll"),
        ("the moving company", "boxes piano stairs lorry inventory bubble-wrap elevator keys"),
        ("the insurance claim", "adjuster policy damage estimate photographs form-letter reimbursement signature"),
        ("rock climbing", "harness rope chalk route belay carabiner summit overhang"),
        ("the language café", "conversation flashcards idioms newcomers coffee-table host dialect pronouncing"),
    )
}
ASKED = (
    "About {topic}: {who} thinks the {a} comes before the {b}, what do you say?",
    "{topic} again. The {a} took {n} hours and the {b} is still not right.",
    "Today it was all {a} and {b}; {topic} eats my evenings.",
    "{who} asked about the {a}. Is the {b} worth the money for {topic}?",
    "I dreamt of the {a}. {topic}, of course, and a {b} in the middle of it.",
    "The {a} is done, the {b} comes on the {n}th, so {topic} moves on.",
)
ANSWERED = (
    "The {b} can wait; look at the {a} first.",
    "Write down what you did with the {a}, then the {b} will be easier.",
    "{n} hours for the {a} is not much. How is the {b}?",
    "Ask {who} about the {b}, they have done it before.",
)
SAID = (
    "I like {thing} from {place}.",
    "I don't like {kind} {thing}.",
    "I love {kind} {thing} in {place}.",
    "My friend {who} works as a {job}.",
    "My friend {who} lives in {place}.",
    "{who} likes {kind} {thing}.",
    "{who} moved to {place}.",
    "I am learning {language}.",
    "I visited {place} with {who}.",
    "I live in {place}.",
    "I want to try {kind} {thing} in {place}.",
    "I am allergic to {kind} {thing}.",
)
LANGUAGES = tuple("Portuguese Finnish Basque Welsh Czech Greek Estonian Danish Maltese".split())
CHINESE = (
    ("我今天在{place}吃了饺子，和{who}一起。", "听起来不错，饺子是自己包的吗？"),
    ("我喜欢喝绿茶，妈妈喜欢红茶。", "那你们可以一起喝茶聊天。"),
    ("我住在{place}，最近常常下雨。", "下雨天适合看书。"),
    ("{who}下个月要来看我，我打算带她去河边。", "河边散步很好，记得带伞。"),
    ("我在学书法，手总是抖。", "慢慢来，先练横和竖。"),
)
NOTED = (
    "likes",
    "dislikes",
    "owns",
    "did",
    "visited",
    "knows",
    "hobby",
    "collects",
    "plans",
    "does",
    "speaks",
    "avoids",
)
SINGLE = ("lives_in", "works_at", "drives", "diet")


class Clock:
    """The clock of the talk."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One page of the talk."""

    query: str
    response: str
    thread: str
    at: datetime


def talk(seed: int, pages: int, until: datetime, days: int) -> Iterator[Said]:
    """So many pages, in sessions of 4 to 24 about one topic, over the days before `until`; one in fourteen in Chinese.
    Topics come and go: ten of them are talked of at a time."""
    rng = random.Random(seed)
    mean = 14
    step = timedelta(days=days) / max(1, pages / mean)
    at, made, session = until - timedelta(days=days), 0, 0
    while made < pages:
        session += 1
        length = min(pages - made, rng.randint(4, 2 * mean - 4))
        moment = at
        names = list(TOPICS)
        topic = names[(int(10 * made * len(names) / pages / 12) + rng.randrange(10)) % len(names)]
        for _ in range(length):
            moment += timedelta(minutes=rng.uniform(1, 6))
            query, response = _exchange(rng, topic)
            yield Said(query=query, response=response, thread=f"talk {session}", at=min(moment, until))
        made += length
        at += step


def _exchange(rng: random.Random, topic: str) -> tuple[str, str]:
    words = _words(rng)
    a, b = rng.sample(TOPICS[topic], 2)
    words |= {"topic": topic, "a": a, "b": b, "n": rng.randint(2, 28)}
    if rng.random() < 1 / 14:
        query, response = rng.choice(CHINESE)
        return query.format(**words), response
    query = rng.choice(ASKED).format(**words)
    if rng.random() < 0.55:
        query = f"{query} {rng.choice(SAID).format(**words)}"
    return query[0].upper() + query[1:], rng.choice(ANSWERED).format(**words)


def _words(rng: random.Random) -> dict[str, object]:
    return {
        "who": rng.choice(PEOPLE),
        "place": rng.choice(PLACES),
        "job": rng.choice(JOBS),
        "thing": rng.choice(THINGS),
        "kind": rng.choice(KINDS),
        "language": rng.choice(LANGUAGES),
    }


def big(folder: Path, pages: int, facts: int, seed: int, embedder: str) -> None:
    """One owner of so many pages and facts."""
    clock = Clock(ENDED - timedelta(days=DAYS))
    cap = max(100, facts // 5)
    settings: dict[str, Any] = {"embedder": embedder, "background": False, "user_facts": cap, "agent_facts": cap}
    (folder / "ember.toml").write_text(
        f'embedder = "{embedder}"\nuser_facts = {cap}\nagent_facts = {cap}\n', encoding="utf-8"
    )
    with Memory(folder / "memory.db", clock=clock, **settings) as memory:
        owner = memory.of(USER, AGENT, timezone=ZONE)
        there = owner.stats().pages
        if not there:
            owner.set_profile(name="Runa Bech", birth_year=1988)
            owner.set_agent_profile("a companion who remembers two years of talk")
        _said(owner, clock, talk(seed, pages, ENDED, DAYS), there, pages)
        clock.now = ENDED
        _brought(owner, random.Random(seed + 1), facts)
        _ruled(owner, random.Random(seed + 2))
        _told(owner)


def _said(owner: OwnerMemory, clock: Clock, said: Iterator[Said], there: int, pages: int) -> None:
    """Adds and understands all pages, with the clock of the talk; some are recalled on the way."""
    began = time.monotonic()
    said = islice(said, there, None)
    for done in range(there, pages, CHUNK):
        some = list(islice(said, CHUNK))
        for one in some:
            clock.now = max(clock.now, one.at)
            owner.add(one.query, one.response, at=one.at, thread=one.thread)
        owner.settle()
        owner.visit(owner.recall(some[-1].query, budget=400))
        print(f"{done + len(some)} of {pages} pages, {time.monotonic() - began:.0f} s", flush=True)


def _brought(owner: OwnerMemory, rng: random.Random, facts: int) -> None:
    """Facts from elsewhere until there are so many in all: a third of them past, and of the user more than the cap."""
    missing = facts - sum(_counted(owner))
    number = facts - missing
    while missing > 0:
        some: list[dict[str, object]] = []
        for _ in range(min(missing, BROUGHT)):
            number += 1
            some.append(_fact(rng, number))
        began = time.monotonic()
        owner.learn(some)
        missing = facts - sum(_counted(owner))
        print(f"{missing} facts are missing, {time.monotonic() - began:.1f} s", flush=True)


def _fact(rng: random.Random, number: int) -> dict[str, object]:
    words = _words(rng)
    attribute = rng.choice(NOTED)
    value = f"{words['kind']} {words['thing']} of {words['place']}, no. {number}"
    since = ENDED - timedelta(days=rng.randint(40, DAYS))
    made: dict[str, object] = {
        "text": f"{attribute.replace('_', ' ')} {value}",
        "attribute": attribute,
        "value": value,
        "subject": "user" if rng.random() < 0.4 else words["who"],
        "valid_from": since,
    }
    if rng.random() < 1 / 3:
        made["valid_to"] = min(since + timedelta(days=rng.randint(1, 300)), ENDED - timedelta(days=1))
    return made


def _ruled(owner: OwnerMemory, rng: random.Random) -> None:
    """Conflicts, instructions, a few pins and corrections."""
    for n, who in enumerate(PEOPLE[:12]):
        day = f"{ENDED - timedelta(days=n):%Y-%m-%d}"
        owner.learn(
            [
                {
                    "text": f"moved to {place}",
                    "attribute": "lives_in",
                    "value": place,
                    "subject": who,
                    "valid_from": day,
                }
                for place in rng.sample(PLACES, 2)
            ]
        )
    for text in (
        "Answer in short sentences.",
        "Always tell distances in kilometres.",
        "Never suggest restaurants with loud music.",
        "Call me Runa.",
        "请用简体中文写菜谱。",
    ):
        owner.add_instruction(text)
    facts = owner.facts()
    known = rng.sample(facts, min(30, len(facts)))
    for fact in known[:20]:
        owner.pin(fact.id)
    for fact in known[20:30]:
        owner.retire(fact.id)


def _counted(owner: OwnerMemory) -> tuple[int, int, int]:
    return len(owner.facts()), len(owner.past_facts()), len(owner.facts(archived=True))


def _told(owner: OwnerMemory) -> None:
    current, past, archived = _counted(owner)
    stats = owner.stats()
    print(f"{current} current facts, {past} past, {archived} archived; {stats}", flush=True)
    print(f"{len(owner.conflicts())} conflicts, {len(owner.instructions())} instructions")


def many(folder: Path, owners: int, seed: int, embedder: str) -> None:
    """So many owners of two to six pages each; a few of them wait to be understood."""
    rng = random.Random(seed)
    clock = Clock(ENDED - timedelta(days=DAYS))
    (folder / "ember.toml").write_text(f'embedder = "{embedder}"\n', encoding="utf-8")
    began = time.monotonic()
    with Memory(folder / "memory.db", clock=clock, embedder=embedder, background=False) as memory:
        for number in range(owners):
            clock.now = ENDED - timedelta(days=DAYS) * (1 - (number + 1) / owners)
            owner = memory.of(
                f"{rng.choice(PEOPLE).lower()}-{number:05}", rng.choice(("companion", "tutor", "default"))
            )
            messages = [
                {"role": role, "content": text, "at": one.at}
                for one in talk(seed + number, rng.randint(2, 6), clock.now, rng.randint(1, 60))
                for role, text in (("user", one.query), ("assistant", one.response))
            ]
            owner.add_messages(messages, thread="main")
            if number % 500 == 499:
                print(f"{number + 1} of {owners} owners, {time.monotonic() - began:.0f} s", flush=True)
                if number < owners - 1:
                    memory.work()
        print(memory.stats())


def main() -> int:
    """Make one store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("big", "many"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--owners", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--embedder", default="hashed")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.kind == "many" and (given.folder / "memory.db").exists():
        parser.error(f"{given.folder / 'memory.db'} is there already")
    if given.kind == "big":
        big(given.folder, given.pages, given.facts, given.seed, given.embedder)
    else:
        many(given.folder, given.owners, given.seed, given.embedder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
