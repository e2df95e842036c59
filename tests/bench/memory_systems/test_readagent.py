"""ReadAgent: episodes between pauses, gists, and what is read again for a question; the paper's steps by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embermem.core.errors import ModelError, ModelReplyError
from embermem.testing.model_server import ModelServer
from embermem_bench.systems import OwnerSystem, SystemMemory, open_system
from embermem_bench.systems.readagent import Episode, ReadAgent, words
from memory_systems.answered import Answered
from memory_systems.conftest import SystemOpener, fresh
from proofs import bounded

SMALL = {"page_words_least": 8, "page_words_most": 20, "gist_words": 0}
"""Episodes of two or three sayings, each with a gist of the model's."""
TALK = (
    ("We went to the wetland park on Sunday.", "Which birds did you see there?"),
    ("A grey heron and two coots.", "Any plans for the week?"),
    ("Ana bakes rye bread with me.", "Is it her own recipe, or one from a book?"),
)


class Told:
    """Ana's memory in a store of the test's folder, with a model that answers what the test gives."""

    def __init__(self, folder: Path, server: ModelServer, **options: object) -> None:
        self.model = Answered()
        server.reply_with(self.model)
        self.memory = opened(folder, model="scripted", model_url=server.url, options=SMALL | options)
        self.owner = self.memory.of("ana")


@pytest.fixture
def ana(tmp_path: Path, model_server: ModelServer) -> Told:
    return Told(tmp_path, model_server)


def opened(folder: Path, **more: object) -> SystemMemory:
    given = {"embedder": "hashed", "background": False, "model_key": "none", "model_retries": 0, **more}
    return open_system("readagent", folder / "readagent.db", **given)  # type: ignore[arg-type]


def tell(owner: OwnerSystem, talk: Sequence[tuple[str, str]], thread: str = "s1", day: int = 2) -> None:
    for query, response in talk:
        owner.add(query, response, at=f"2026-05-{day:02d}T10:00:00+00:00", thread=thread)


def episodes(memory: SystemMemory, user: str = "ana") -> list[Episode]:
    system = memory.system
    assert isinstance(system, ReadAgent)
    return sorted(system.kept(memory.of(user).owner, Episode), key=lambda episode: episode.sources)


def kept(memory: SystemMemory, user: str = "ana") -> list[tuple[tuple[int, ...], str]]:
    return [(episode.sources, episode.text) for episode in episodes(memory, user)]


# ------------------------------------------------------------------------------------------------------- the paper


def test_the_talk_is_read_to_the_pause_that_the_model_chooses_and_only_the_last_episode_again(
    tmp_path: Path, model_server: ModelServer
) -> None:
    ana = Told(fresh(tmp_path), model_server)
    tell(ana.owner, TALK[:2])
    ana.model.give("Pause", {"point": 2})
    ana.model.give("Gist", {"gist": "At the wetland park."}, {"gist": "A heron, two coots."})
    assert ana.owner.settle() == 2
    assert kept(ana.memory) == [((1, 2), "At the wetland park."), ((3, 4), "A heron, two coots.")]
    assert ana.model.shown("Pause") == [
        "ana: We went to the wetland park on Sunday.\n[1]\n"
        "assistant: Which birds did you see there?\n[2]\n"
        "ana: A grey heron and two coots.\n[3]"
    ]
    assert ana.model.shown("Gist")[0] == (
        "2026-05-02\nana: We went to the wetland park on Sunday.\nassistant: Which birds did you see there?"
    )

    ana = Told(fresh(tmp_path), model_server)
    tell(ana.owner, TALK[:1])
    ana.model.give("Gist", {"gist": "At the park."})
    ana.owner.settle()
    (first,) = episodes(ana.memory)
    tell(ana.owner, TALK[1:])
    ana.model.give("Pause", {"point": 3}, {"point": 1})
    ana.model.give("Gist", {"gist": "Birds in the park."}, {"gist": "Plans: rye bread."}, {"gist": "Whose recipe?"})
    ana.owner.settle()
    assert kept(ana.memory) == [
        ((1, 2, 3), "Birds in the park."),
        ((4, 5), "Plans: rye bread."),
        ((6,), "Whose recipe?"),
    ]
    assert episodes(ana.memory)[0].id == first.id

    ana = Told(fresh(tmp_path), model_server)
    tell(ana.owner, TALK[:1])
    ana.owner.settle()
    tell(ana.owner, TALK[1:])
    ana.model.asked.clear()
    ana.model.give("Pause", {"point": 2})
    ana.owner.settle()
    assert [episode.sources for episode in episodes(ana.memory)][:1] == [(1, 2)]
    assert "wetland" not in " ".join(ana.model.shown("Gist"))

    part = fresh(tmp_path)
    ana = Told(part, model_server)
    tell(ana.owner, TALK[:2])
    ana.model.give("Pause", {"point": 2})
    ana.owner.settle()
    ana.memory.close()
    again = Told(part, model_server)
    tell(again.owner, TALK[2:])
    again.model.give("Pause", {"point": 1})
    again.owner.settle()
    assert [sources for sources, _ in kept(again.memory)] == [(1, 2), (3, 4), (5, 6)]
    assert again.model.shown("Pause")[0].startswith("ana: A grey heron")

    ana = Told(fresh(tmp_path), model_server)
    for page in TALK:
        tell(ana.owner, [page], "s1")
        tell(ana.owner, [(page[1], page[0])], "s2")
    ana.owner.settle()
    threads = [{seq % 4 in (1, 2) for seq in sources} for sources, _ in kept(ana.memory)]
    assert all(len(one) == 1 for one in threads)

    ana = Told(fresh(tmp_path), model_server)
    tell(ana.owner, [("bread " * 100, "Oh."), *TALK[:1]])
    ana.owner.settle()
    assert kept(ana.memory)[0][0] == (1,)


def test_what_is_looked_up_stands_whole_among_the_gists_as_far_as_there_is_room(
    tmp_path: Path, model_server: ModelServer
) -> None:
    ana = Told(fresh(tmp_path), model_server)
    told_in_three(ana)
    ana.model.give("LookUp", {"episodes": [3, 1]})
    context = ana.owner.recall("Which bread, and which birds?", at="2026-05-09T00:00:00+00:00")
    assert ana.model.shown("LookUp") == [
        "Question, asked on 2026-05-09: Which bread, and which birds?\n"
        "1. (2026-05-02) Gist one.\n2. (2026-05-03) Gist two.\n3. (2026-05-04) Gist three."
    ]
    assert context.text.splitlines() == [
        "2026-05-02 Sat:",
        "#1 ana: We went to the wetland park on Sunday.",
        "#2 assistant: Which birds did you see there?",
        "2026-05-03 Sun: Gist two.",
        "2026-05-04 Mon:",
        "#5 ana: Ana bakes rye bread with me.",
        "#6 assistant: Is it her own recipe, or one from a book?",
    ]
    assert [hit.utterance.seq for hit in context.hits] == [5, 6, 2, 1, 3, 4]
    assert [hit.utterance.seq for hit in context.packed] == [5, 6, 2, 1]
    assert context.hits[0].score == context.hits[1].score == 1.0

    ana = Told(fresh(tmp_path), model_server, lookup=2)
    told_in_three(ana)
    ana.model.give("LookUp", {"episodes": [3, 3, 2, 1]}, {"episodes": []})
    assert "Gist one." in ana.owner.recall("Bread?").text
    nothing = ana.owner.recall("Bread?")
    assert all(gist in nothing.text for gist in ("Gist one.", "Gist two.", "Gist three."))
    assert nothing.confidence == 0.0

    ana = Told(fresh(tmp_path), model_server, shown_gists=2)
    told_in_three(ana)
    ana.owner.recall("rye bread recipe book")
    (shown,) = ana.model.shown("LookUp")
    assert len(shown.splitlines()) == 3
    assert "Gist three." in shown

    ana = Told(fresh(tmp_path), model_server)
    told_in_three(ana)
    for budget, seen in (
        (200, ("#5 ana", "#1 ana")),
        (70, ("#5 ana", "Gist one.")),
        (35, ("Gist three.", "Gist one.")),
    ):
        ana.model.give("LookUp", {"episodes": [3, 1]})
        context = ana.owner.recall("Which bread?", budget=budget)
        assert context.tokens <= budget
        assert all(part in context.text for part in seen), (budget, context.text)


def told_in_three(ana: Told) -> None:
    """Three threads, an episode each."""
    for number, page in enumerate(TALK, 1):
        tell(ana.owner, [page], f"s{number}", day=number + 1)
    ana.model.give("Gist", {"gist": "Gist one."}, {"gist": "Gist two."}, {"gist": "Gist three."})
    ana.owner.settle()


def test_the_sequential_look_up_reads_one_before_it_names_the_next(tmp_path: Path, model_server: ModelServer) -> None:
    ana = Told(fresh(tmp_path), model_server, sequential=True)
    told_in_three(ana)
    ana.model.give("NextEpisode", {"episode": 2}, {"episode": 3}, {"episode": 0})
    context = ana.owner.recall("Which birds?")
    first, second, third = ana.model.shown("NextEpisode")
    assert "heron" not in first
    assert "2. (2026-05-03) Gist two.\n   ana: A grey heron and two coots." in second
    assert "rye bread" not in second
    assert "rye bread" in third
    assert [hit.utterance.seq for hit in context.hits][:4] == [3, 4, 5, 6]

    ana = Told(fresh(tmp_path), model_server, sequential=True)
    told_in_three(ana)
    ana.model.give("NextEpisode", {"episode": 2}, {"episode": 2}, {"episode": 0})
    assert [hit.utterance.seq for hit in ana.owner.recall("Which birds?").hits][:2] == [3, 4]
    assert len(ana.model.shown("NextEpisode")) == 3


# -------------------------------------------------------------------------------------------------- what goes wrong


def test_what_was_not_shown_is_refused_and_nothing_is_written_or_lost(
    tmp_path: Path, model_server: ModelServer
) -> None:
    for named in [[4], *bounded([], proofs=[*([0], [1, -2])])]:
        ana = Told(fresh(tmp_path), model_server)
        told_in_three(ana)
        ana.model.give("LookUp", {"episodes": named}, {"episodes": [2]})
        assert "heron" in ana.owner.recall("Which birds?").text
        ana.model.give("LookUp", {"episodes": named}, {"episodes": named})
        with pytest.raises(ModelReplyError):
            ana.owner.recall("Which birds?")

    ana = Told(fresh(tmp_path), model_server)
    tell(ana.owner, TALK)
    ana.model.give("Pause", {"point": 9}, {"point": 9})
    with pytest.raises(ModelReplyError):
        ana.owner.settle()
    assert kept(ana.memory) == []
    assert ana.owner.settle() == 3
    assert sorted(seq for sources, _ in kept(ana.memory) for seq in sources) == [1, 2, 3, 4, 5, 6]

    ana = Told(fresh(tmp_path), model_server)
    tell(ana.owner, TALK)
    model_server.fail_next("http_500", after=2)
    with pytest.raises(ModelError):
        ana.owner.settle()
    assert ana.owner.settle() == 3
    assert [seq for sources, _ in kept(ana.memory) for seq in sources] == [1, 2, 3, 4, 5, 6]


def test_a_gist_is_one_line_is_not_empty_and_of_a_few_words_is_the_episode(
    tmp_path: Path, model_server: ModelServer
) -> None:
    ana = Told(fresh(tmp_path), model_server)
    tell(ana.owner, TALK[:1])
    ana.model.give("Gist", {"gist": "A\nheron\u202e \u0007" + "xxx" + "".join(map(str, range(1500)))})
    ana.owner.settle()
    ((_, gist),) = kept(ana.memory)
    assert gist.startswith("A heron x")
    assert len(gist) <= 800

    ana = Told(fresh(tmp_path), model_server)
    tell(ana.owner, TALK[:1])
    ana.model.give("Gist", {"gist": " "}, {"gist": "At the park."})
    ana.owner.settle()
    assert kept(ana.memory) == [((1, 2), "At the park.")]

    ana = Told(fresh(tmp_path), model_server, gist_words=20)
    tell(ana.owner, TALK[:1])
    ana.owner.settle()
    assert kept(ana.memory)[0][1] == (
        "ana: We went to the wetland park on Sunday. assistant: Which birds did you see there?"
    )
    assert ana.model.asked == []

    assert words("A grey heron, two coots.") == 5
    assert words("我昨天在公园看到一只苍鹭。") == 6
    assert words("") == words(" …! ") == 0


# --------------------------------------------------------------------------------------------------- how it is read


def test_without_a_model_the_nearest_episodes_are_looked_up(system_opened: SystemOpener) -> None:
    ana = system_opened("readagent").of("ana")
    for number, page in enumerate((*TALK, ("我昨天在公园看到一只苍鹭。", "真好！")), 1):
        tell(ana, [page], f"s{number}")
    ana.settle()
    assert [hit.utterance.seq for hit in ana.recall("Who bakes rye bread?").hits][:2] == [5, 6]
    assert ana.recall("公园里的苍鹭").hits[0].utterance.seq == 7


SAID = st.lists(
    st.tuples(st.integers(1, 25), st.sampled_from(["s1", "s1", "s2"]), st.booleans()),
    min_size=1,
    max_size=bounded(10, proofs=25),
)
"""Sayings: of so many words, in a thread, and whether the talk is settled after it."""


@settings(max_examples=bounded(3, proofs=125))
@given(SAID)
def test_every_saying_is_in_one_episode_of_its_thread_however_often_the_talk_is_settled(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[int, str, bool]]
) -> None:
    with opened(tmp_path_factory.mktemp("readagent"), options=SMALL) as memory:
        ana, leo = memory.of("ana"), memory.of("leo")
        for number, (count, thread, settle) in enumerate(said):
            text = " ".join(f"w{number}n{n}" for n in range(count))
            for owner in (ana, leo):
                owner.add_messages([{"role": "user", "content": text}], thread=thread, at="2026-05-02T10:00:00+00:00")
            if settle:
                ana.settle()
        ana.settle()
        leo.settle()
        found = episodes(memory)
        assert [one.sources for one in found] == [one.sources for one in episodes(memory, "leo")]
        assert sorted(seq for one in found for seq in one.sources) == list(range(1, len(said) + 1))
        for one in found:
            assert {said[seq - 1][1] for seq in one.sources} == {one.thread}
            assert len(one.sources) == 1 or length(said, one.sources) <= 20
        for thread in ("s1", "s2"):
            of_it = [one.sources for one in found if one.thread == thread]
            for part, following in pairwise(of_it):
                assert part[-1] < following[0]
                assert length(said, part) >= 8 or length(said, (*part, following[0])) > 20


def length(said: list[tuple[int, str, bool]], seqs: Sequence[int]) -> int:
    return sum(said[seq - 1][0] for seq in seqs)
