"""Clients send their history with each request: it is kept once, in the thread it belongs to, whatever they do."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from proxying import Proxied, Turns, ask, assistant, proxied, streamed, texts, threads, user

from embermem import Memory
from embermem.testing.model_server import ModelServer
from proofs import bounded
from scripted import SMALL, Opener


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model whose answers are all different."""
    with ModelServer(answer=counting()) as one:
        yield one


@pytest.fixture
def proxy(opened: Opener, model: ModelServer) -> Iterator[Proxied]:
    """A proxy before it, on an empty memory."""
    with proxied(opened(proxy_url=model.url), model) as one:
        yield one


def counting(more: str = "") -> Callable[[object], str]:
    """Answers "Answer 1.", "Answer 2." and so on."""
    numbers = itertools.count(1)
    return lambda _: f"Answer {next(numbers)}.{more}"


def talk(client: openai.OpenAI, history: Turns, *said: str, **more: str) -> Turns:
    """The history after these words of the user, each answered."""
    for words in said:
        history = [*history, user(words)]
        history = [*history, assistant(ask(client, history, **more))]
    return history


def contents(history: Turns) -> list[str]:
    return [message["content"] for message in history]


# ---------------------------------------------------------------------------------------------------- one conversation


def test_a_resent_history_is_kept_once(proxy: Proxied) -> None:
    history = talk(proxy.client(), [], *(f"Words {number}." for number in range(10)))
    assert list(threads(proxy.owner()).values()) == [contents(history)]
    assert [len(page.utterances) for page in proxy.owner().pages()] == [2] * 10


def test_a_restart_in_between_changes_nothing(opened: Opener, model: ModelServer) -> None:
    history: Turns = []
    for words in ("One.", "Two.", "Three."):
        memory = opened(proxy_url=model.url)
        with proxied(memory, model) as proxy:
            history = talk(proxy.client(), history, words)
            held = threads(proxy.owner())
        memory.close()
    assert list(held.values()) == [contents(history)]


def test_a_history_from_which_secrets_are_taken_out_is_known_again(opened: Opener, model: ModelServer) -> None:
    with proxied(opened(proxy_url=model.url, redact="secrets"), model) as proxy:
        history = talk(proxy.client(), [], "My card is 4111 1111 1111 1111.", "Thanks.", "password: hunter2x")
        assert proxy.shown()[-1]["content"] == "password: hunter2x"  # the model is asked what the user asked
        kept = [text.replace("4111 1111 1111 1111", "[redacted: card number]") for text in contents(history)]
        kept = [text.replace("hunter2x", "[redacted: password]") for text in kept]
        assert list(threads(proxy.owner()).values()) == [kept]


def test_a_history_that_was_never_seen_is_taken_over_whole(proxy: Proxied) -> None:
    history = talk(proxy.client(), [user("One."), assistant("First."), user("Two."), assistant("Second.")], "Three.")
    assert list(threads(proxy.owner()).values()) == [contents(history)]


def test_a_retry_after_an_upstream_error_doubles_nothing(proxy: Proxied) -> None:
    history = talk(proxy.client(), [], "One.")
    for _ in range(2):
        proxy.model.fail_next("http_500")
        with pytest.raises(openai.InternalServerError):
            ask(proxy.client(), [*history, user("Two.")])
        assert texts(proxy.owner())[-1] == ["Two."]
    history = talk(proxy.client(), history, "Two.")
    assert list(threads(proxy.owner()).values()) == [contents(history)]


def test_another_answer_to_the_newest_question_joins_its_page(proxy: Proxied) -> None:
    client = proxy.client()
    history = talk(client, [], "One.", "Two.")
    again = [*history[:3], assistant(ask(client, history[:3]))]
    assert texts(proxy.owner()) == [["One.", "Answer 1."], ["Two.", "Answer 2.", "Answer 3."]]
    talk(client, again, "Three.")
    assert len(threads(proxy.owner())) == 1
    assert texts(proxy.owner())[2] == ["Three.", "Answer 4."]


def test_the_same_answer_again_is_not_kept_again(proxy: Proxied) -> None:
    proxy.model.reply_with("Always this.")
    client = proxy.client()
    history = talk(client, [], "One.", "Two.")
    ask(client, history[:3])
    assert list(threads(proxy.owner()).values()) == [contents(history)]


def test_an_edited_message_opens_a_thread_that_holds_only_what_is_new(proxy: Proxied) -> None:
    client = proxy.client()
    history = talk(client, [], "One.", "Two.", "Three.")
    edited = talk(client, history[:2], "Two, edited.", "Four.")
    talk(client, history, "Five.")
    first, second = threads(proxy.owner()).values()
    assert first == [*contents(history), "Five.", "Answer 6."]
    assert second == contents(edited)[2:]


def test_two_conversations_that_begin_alike_are_two_threads(proxy: Proxied) -> None:
    client = proxy.client()
    one = talk(client, [], "hi", "I live in Lyon.")
    other = talk(client, [], "hi", "I live in Oslo.")
    one, other = talk(client, one, "Where is it warm?"), talk(client, other, "Where is it cold?")
    assert list(threads(proxy.owner()).values()) == [contents(one), contents(other)]


def test_a_client_that_drops_old_messages_goes_on_in_its_thread(proxy: Proxied) -> None:
    client = proxy.client()
    window: Turns = []
    whole: list[str] = []
    for number in range(8):
        window = talk(client, window[-4:], "ok" if number % 2 else f"Words {number}.")
        whole += contents(window[-2:])
    assert list(threads(proxy.owner()).values()) == [whole]


def test_a_named_thread_takes_what_a_client_sends_without_history(proxy: Proxied) -> None:
    client = proxy.client(x_ember_thread="kitchen")
    for words in ("Yes.", "No.", "Yes.", "Maybe.", "No."):
        talk(client, [], words)
    held = threads(proxy.owner())
    assert list(held) == ["kitchen"]
    assert held["kitchen"][::2] == ["Yes.", "No.", "Yes.", "Maybe.", "No."]


def test_a_named_thread_keeps_a_resent_history_once_and_its_edits_too(proxy: Proxied) -> None:
    client = proxy.client(x_ember_thread="kitchen")
    history = talk(client, [], "One.", "Two.")
    edited = talk(client, history[:2], "Two, edited.", "Three.")
    assert threads(proxy.owner()) == {"kitchen": [*contents(history), *contents(edited)[2:]]}


def test_requests_at_the_same_time_keep_their_words_once(proxy: Proxied) -> None:
    proxy.model.reply_with("Always this.")
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: ask(proxy.client(), [user("One.")]), range(6)))
    assert texts(proxy.owner()) == [["One.", "Always this."]]


def test_two_processes_on_one_store_keep_a_history_once(opened: Opener, model: ModelServer) -> None:
    history: Turns = []
    one, other = opened(proxy_url=model.url), opened(proxy_url=model.url)
    with proxied(one, model) as here, proxied(other, model) as there:
        for place, words in ((here, "One."), (there, "Two."), (there, "Three."), (here, "Four.")):
            history = talk(place.client(), history, words)
        assert list(threads(here.owner()).values()) == [contents(history)]


def test_what_was_forgotten_does_not_come_back_with_the_history(opened: Opener, model: ModelServer) -> None:
    memory = opened(proxy_url=model.url)
    with proxied(memory, model) as proxy:
        history = talk(proxy.client(), [], "My heron is Bartholomew.", "Two.", "Three.")
        proxy.owner().forget(page=proxy.owner().pages()[0].id)
        history = talk(proxy.client(), history, "Four.")
    with proxied(memory, model) as proxy:
        talk(proxy.client(), history, "Five.", "Six.")
        held = [text for page in texts(proxy.owner()) for text in page]
    assert "My heron is Bartholomew." not in held
    assert "Answer 1." not in held
    assert held[::2] == ["Two.", "Three.", "Four.", "Five.", "Six."]


# ---------------------------------------------------------------------------------------------------- left and lost


def left(proxy: Proxied, history: Turns, at_least: int = 1) -> str:
    """A stream that the client leaves after some pieces; what it got."""
    proxy.model.fail_next("hang", midway=True)
    pieces = streamed(proxy.client(), history)
    got = [next(pieces) for _ in range(at_least)]
    pieces.close()
    return "".join(got)


def settled(proxy: Proxied, count: int) -> list[list[str]]:
    """The pages, when the newest holds so many utterances: the client does not see when the server notes its leave."""
    wait = threading.Event()
    for _ in range(500):
        pages = texts(proxy.owner())
        if pages and len(pages[-1]) >= count:
            return pages
        wait.wait(0.01)
    raise AssertionError(f"after 5 s: {texts(proxy.owner())}")


def test_where_the_client_leaves_what_came_is_kept_and_marked(proxy: Proxied) -> None:
    proxy.model.reply_with("The heron stands in the reeds and waits.")
    got = left(proxy, [user("One.")])
    ((asked, came),) = settled(proxy, 2)
    assert asked == "One."
    assert came.startswith(got)
    assert came.endswith("\n[broken off]")


def test_a_client_that_goes_on_with_what_it_got_stays_in_its_thread(proxy: Proxied) -> None:
    proxy.model.reply_with("The heron stands in the reeds and waits.")
    got = left(proxy, [user("One.")])
    settled(proxy, 2)
    ask(proxy.client(), [user("One."), assistant(got), user("Go on.")])
    assert [len(page) for page in texts(proxy.owner())] == [2, 2]
    assert len(threads(proxy.owner())) == 1


def test_a_client_that_asks_again_after_leaving_gets_a_whole_answer_on_the_same_page(proxy: Proxied) -> None:
    proxy.model.reply_with("The heron stands in the reeds and waits.")
    left(proxy, [user("One.")])
    settled(proxy, 2)
    history = [user("One."), assistant(ask(proxy.client(), [user("One.")]))]
    ask(proxy.client(), [*history, user("Two.")])
    first, second = texts(proxy.owner())
    assert (first[0], first[2], second[0]) == ("One.", "The heron stands in the reeds and waits.", "Two.")


def test_an_exchange_is_on_disk_when_the_client_has_its_end(proxy: Proxied, opened: Opener) -> None:
    history: Turns = []
    for number in range(4):
        history = [*history, user(f"Words {number}.")]
        history.append(assistant("".join(streamed(proxy.client(), history))))
        elsewhere = opened()
        assert list(threads(elsewhere.of("alice")).values()) == [contents(history)]


# ---------------------------------------------------------------------------------------------------------- whatever

WORDS = st.sampled_from(["hi", "yes", "no", "I live in Lyon."])
STEP = st.one_of(
    st.tuples(st.just("say"), WORDS),
    st.tuples(st.just("stream"), WORDS),
    st.tuples(st.just("fail"), WORDS),
    st.tuples(st.just("leave"), WORDS),
    st.tuples(st.just("again"), st.just("")),
    st.tuples(st.just("back"), st.just("")),
    st.tuples(st.just("new"), st.just("")),
    st.tuples(st.just("restart"), st.just("")),
)


@settings(
    max_examples=bounded(4, proofs=40),
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.generate],
)
@given(steps=st.lists(STEP, min_size=3, max_size=10))
def test_whatever_a_client_does_nothing_it_was_answered_is_lost_or_doubled(
    steps: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("any") / "memory.db"
    with ModelServer(answer=counting(" The heron stands in the reeds and waits.")) as model:
        histories, sent = played(steps, place, model)
        with Memory(place, **SMALL) as memory:
            held = [(u.thread, u.role.value, u.text) for u in memory.of("alice").utterances()]
    answers = [text for _, role, text in held if role == "assistant" and "[broken off]" not in text]
    assert len(answers) == len(set(answers))
    for history in histories:
        for question, answer in itertools.pairwise(history):
            if answer["role"] == "assistant":
                (thread,) = (one for one, role, text in held if (role, text) == ("assistant", answer["content"]))
                assert (thread, "user", question["content"]) in held
    asked = {tuple(sent[:place]) for sent in map(contents, sent) for place in range(1, len(sent) + 1, 2)}
    said_again = sum(step in ("new", "back", "again") for step, _ in steps)
    assert sum(role == "user" for _, role, _ in held) <= len(asked) + said_again


def played(steps: list[tuple[str, str]], place: Path, model: ModelServer) -> tuple[list[Turns], list[Turns]]:
    """Every history that the client held after a step, and all that it sent."""
    history: Turns = []
    held: list[Turns] = []
    while True:
        with Memory(place, **SMALL, proxy_url=model.url) as memory, proxied(memory, model) as proxy:
            while steps:
                (step, words), steps = steps[0], steps[1:]
                if step == "restart":
                    break
                history = stepped(proxy, history, step, words)
                held.append(history)
            else:
                return held, [[m for m in request["messages"] if m["role"] != "system"] for request in model.requests]


def stepped(proxy: Proxied, history: Turns, step: str, words: str) -> Turns:
    """The client's history after one step."""
    client = proxy.client()
    asked = [*history, user(words)]
    match step:
        case "say":
            return [*asked, assistant(ask(client, asked))]
        case "stream":
            return [*asked, assistant("".join(streamed(client, asked)))]
        case "fail":
            proxy.model.fail_next("http_500")
            with pytest.raises(openai.InternalServerError):
                ask(client, asked)
            return history
        case "leave":
            left(proxy, asked)
            return history
        case "again" if history:
            return [*history[:-1], assistant(ask(client, history[:-1]))]
        case "back":
            return history[:-2]
        case "new":
            return []
    return history
