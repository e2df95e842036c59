"""Sensitive texts: what is found is stored nowhere, and what is no secret stays as it was said."""

from __future__ import annotations

import logging
import string
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from embermem import Memory, Owner, OwnerMemory
from embermem.core.errors import InputError
from embermem.core.messages import Inbox
from embermem.core.sensitive import Finder, Found, Redacted, iban, luhn, redacted
from embermem.core.sensitive import secrets as secrets_by
from embermem.core.types import OwnerId
from embermem.languages import secret_words
from forgotten import kept
from proofs import bounded
from scripted import Opener, Place

secrets = secrets_by(secret_words())
LETTERS = string.ascii_letters + string.digits
ALL = (
    ("card number", "4111 1111 1111 1111"), ("card number", "5555-5555-5555-4444"), ("card number", "378282246310005"),
    ("card number", "3782 822463 10005"), ("card number", "６０１１ ０００９ ９０１３ ９４２４"),
    ("IBAN", "DE89 3704 0044 0532 0130 00"), ("IBAN", "GB82WEST12345698765432"),
    ("AWS access key", "AKIAIOSFODNN7EXAMPLE"), ("GitHub token", "ghp_" + "a1B2" * 9),
    ("GitHub token", "github_pat_" + "a1B2_" * 6), ("Slack token", "xoxb-1234567890-abcdefghij"),
    ("Stripe key", "sk_live_" + "4eC39HqLyjWDarjt"), ("Google key", "AIza" + "Sy3" * 11 + "xy"),
    ("API key", "sk-ant-api03-" + "Ab3_" * 8),
    ("JSON web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"),
    ("private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----"),
    ("private key", "-----BEGIN PRIVATE KEY-----\nMIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQ"),
)  # fmt: skip
NAMED = (
    ("password", "my password is {}, please", "Tr0ub4dor&3"), ("password", "password: {}", "hunter2"),
    ("password", '{{"password": "{}"}}', "correct horse 1 battery"),
    ("password", "https://bob:{}@example.org/path", "s3cretpw"), ("password", "我的密码是{}，记住", "Abc12345"),
    ("token", "api_key={}&page=1", "abcdEFGH12345678"),
    ("token", "AWS_SECRET_ACCESS_KEY = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("token", "Authorization: Bearer {}", "0123456789abcdef0123"),
    ("token", "curl -H 'authorization: Basic {}'", "dXNlcjpwYXNzd29yZDE="),
)  # fmt: skip
HARMLESS = (
    "Call me at +49 151 2345 6789 12, or 0049 151 23456789, or 8613800138000.",
    "In 2019 2020 2021 2022 it rained. Order 1712345678901 of 2024-05-01.",
    "The password is required. Password: none. My password is the name of my dog.",
    "The token: see section-4.2. The secret is out. max_tokens: 1200",
    "password: ${DB_PASSWORD} and token=<your-token-here>", "A bearer of good news; the basics of it.",
    "4111 1111 1111 1112 fails the check, and so does DE89 3704 0044 0532 0130 02.",
    "ISBN 978-3-16-148410-0, 3.14159265358979323846, 192.168.100.200",
    "task-oriented sk-learn, disk-1234567890123456789", "我的信用卡丢了，密码忘记了。",
)  # fmt: skip


def one(text: str, *finders: Finder) -> Redacted:
    return redacted([text], finders or (secrets,), ["the text"])[0]


def test_a_secret_is_known_by_its_form() -> None:
    for kind, secret in ALL:
        left = one(f"Here it is: {secret}\n. Keep it.")
        assert left.text == f"Here it is: [redacted: {kind}]\n. Keep it."
        assert [left.text[place.start : place.end] for place in left.places] == [f"[redacted: {kind}]"]


def test_a_value_that_is_named_as_a_secret_is_one() -> None:
    assert {
        kind: got
        for kind, text, secret in NAMED
        if (got := one(text.format(secret)).text) != text.format(f"[redacted: {kind}]")
    } == {}


def test_what_only_looks_like_a_secret_stays() -> None:
    assert {text: got for text in HARMLESS if (got := one(text)) != Redacted(text=text)} == {}


@example([ALL[-1][1], "and", ALL[-2][1]])
@given(st.lists(st.sampled_from([*(secret for _, secret in ALL), "and", "the heron", "12", "你好", "x"]), min_size=1))
def test_no_secret_is_left_wherever_it_stands_and_nothing_else_goes(words: list[str]) -> None:
    left = one(" | ".join(words)).text
    for _, secret in ALL:
        assert secret not in left
    assert [word for word in left.split(" | ") if not word.startswith("[redacted")] == [
        word for word in words if word not in {secret for _, secret in ALL}
    ]
    assert one(left).text == left


@example(["password: hunter2", "378282246310005"], " ")
@example(["GB82WEST12345698765432", "3782 822463 10005"], " ")
@given(
    st.lists(
        st.sampled_from([*(s for _, s in ALL), *(text.format(s) for _, text, s in NAMED), "hunter2", "12", "://", '"'])
    ),
    st.sampled_from([" ", "\n", "; ", "。"]),
)
def test_no_secret_hides_behind_another(words: list[str], between: str) -> None:
    left = one(between.join(words)).text
    assert not [secret for _, secret in ALL if secret in left]
    assert one(left).text == left


@given(st.text(alphabet=string.ascii_letters + " .,;!?\n你好世界", max_size=200))
def test_words_alone_come_back_as_they_were(text: str) -> None:
    assert one(text).text == text


@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20), st.sampled_from(["name", "place", "secret plan"]))),
)
def test_what_a_caller_finds_is_replaced_whatever_overlaps(text: str, spans: list[tuple[int, int, str]]) -> None:
    found = [Found(kind=kind, start=a, end=min(len(text), a + n)) for a, n, kind in spans if a < len(text)]
    left = one(text, lambda _: found)
    assert all(left.text[p.start : p.end] == f"[redacted: {p.kind}]" for p in left.places)
    assert all(before.end <= after.start for before, after in zip(left.places, left.places[1:], strict=False))
    covered = {i for one_found in found for i in range(one_found.start, one_found.end)}
    if not covered:
        assert left.text == text
    elif all(one_found.end - one_found.start < 6 for one_found in found):
        rest, done = "", 0
        for place in left.places:
            rest, done = rest + left.text[done : place.start], place.end
        assert rest + left.text[done:] == "".join(char for i, char in enumerate(text) if i not in covered)


@given(st.integers(0, 10**15 - 1))
def test_one_digit_of_sixteen_makes_a_card_number_right(number: int) -> None:
    right = [digit for digit in "0123456789" if luhn(f"{number:015}{digit}")]
    assert len(right) == 1
    card = f"4{number:015}"[:15]
    last = next(digit for digit in "0123456789" if luhn(card + digit))
    assert one(f"It is {card}{last}.").text == "It is [redacted: card number]."


@given(st.text(alphabet=string.digits, min_size=18, max_size=18))
def test_an_iban_is_right_with_one_pair_of_check_digits(account: str) -> None:
    check = 98 - int(account + "1314" + "00") % 97
    assert iban(f"DE{check:02}{account}")
    assert not iban(f"DE{(check + 1) % 100:02}{account}") or check == 98
    assert one(f"Pay to DE{check:02}{account}!").text == "Pay to [redacted: IBAN]!"


REPEATED = (
    *("hello there ", "eyJ", "eyJabcdefghi.", "-----BEGIN PRIVATE KEY-----", "password:", "token=a1b2c3d4 ", "1"),
    *("4111 ", "4 ", "DE89 ", "sk-", "://a:", "bearer ", 'password:"', "密码是", "secret is ", " ", "MIIE", "token=&"),
)


def test_a_long_text_is_read_whatever_it_repeats() -> None:
    """Were a search quadratic, this would take minutes."""
    pieces = bounded(REPEATED[:2], proofs=REPEATED)
    assert [piece for piece in pieces if not one(piece * (200_000 // len(piece))).text] == []


def test_a_secret_found_in_one_message_is_taken_out_of_the_others(opened: Opener, place: Place) -> None:
    alice = opened(redact="secrets").of("alice")
    added = alice.add_messages(
        [
            {"role": "user", "content": "My password is hunter2x."},
            {"role": "assistant", "content": "I will not tell that it is hunter2x."},
        ]
    )
    assert [u.text for u in alice.page(added.page_ids[0]).utterances] == [
        "My password is [redacted: password].",
        "I will not tell that it is [redacted: password].",
    ]
    assert [(one.message, one.kind, one.where) for one in added.redactions] == [
        (0, "password", "text"),
        (1, "password", "text"),
    ]
    assert b"hunter2x" not in kept(place())


def test_what_was_found_in_metadata_is_told_with_its_place(opened: Opener) -> None:
    alice = opened(redact="secrets").of("alice")
    labels = {"n": 1, "tags": ["x", "my password is hunter2x."]}
    added = alice.add_messages([{"role": "user", "content": "It is hunter2x.", "metadata": labels}])
    (said,) = alice.utterances()
    assert (said.text, said.metadata["n"]) == ("It is [redacted: password].", 1)
    assert said.metadata["tags"] == ("x", "my password is [redacted: password].")
    assert [(one.where, one.start) for one in added.redactions] == [("text", 6), ("metadata.tags[1]", 15)]


def test_metadata_that_what_was_taken_out_makes_too_long_are_refused(opened: Opener) -> None:
    alice = opened(redact="secrets").of("alice")
    with pytest.raises(InputError, match=r"messages\[0\]\.metadata without what was sensitive\.note has"):
        alice.add("Hello", metadata={"note": "x" * 480 + " my password is hunter2x."})


WAYS: dict[str, Callable[[OwnerMemory, str], object]] = {
    "add": lambda alice, text: alice.add(text, f"You said {text}"),
    "a list of messages": lambda alice, text: alice.add_messages([{"role": "user", "content": text}]),
    "parts of a message": lambda alice, text: alice.add_messages(
        [{"role": "user", "content": [{"type": "text", "text": text}]}]
    ),
    "a tool's call": lambda alice, text: alice.add_messages(
        [{"role": "assistant", "tool_calls": [{"function": {"name": "pay", "arguments": {"to": text}}}]}]
    ),
    "a speaker's name": lambda alice, text: alice.add_messages(
        [{"role": "user", "name": text.strip() or "x", "content": "Hello"}]
    ),
    "metadata": lambda alice, text: alice.add("Hello", metadata={"note": text[:500], "notes": ["x", text[:500]]}),
    "a message's metadata": lambda alice, text: alice.add_messages(
        [{"role": "user", "content": "Hello", "metadata": {"note": text[:500]}}]
    ),
    "a profile": lambda alice, text: alice.set_profile(name="Alice", job=text),
    "the agent's profile": lambda alice, text: alice.set_agent_profile(text),
}


def test_no_way_in_stores_a_secret(opened: Opener, place: Place, caplog: pytest.LogCaptureFixture) -> None:
    memory = opened(redact="secrets")
    alice = memory.of("alice")
    with caplog.at_level(logging.DEBUG):
        for name, way in WAYS.items():
            caplog.clear()
            for _, secret in ALL[:-1]:
                way(alice, f"It is {secret} as you know")
            assert "card number" in caplog.text, name
            assert [secret for _, secret in ALL[:-1] if secret in caplog.text] == [], name
        caplog.clear()
        alice.settle()
    memory.close()
    stored = kept(place())
    assert [secret for _, secret in ALL[:-1] if secret.encode() in stored or secret in caplog.text] == []


def test_facts_of_a_callers_own_hold_no_secret(opened: Opener, place: Place) -> None:
    alice = opened(redact="secrets").of("alice")
    (one_fact,) = alice.learn([{"text": "pays with 4111 1111 1111 1111", "attribute": "pays_with"}])
    assert one_fact.text == "The user pays with [redacted: card number]"
    assert b"4111 1111" not in kept(place())


def test_a_corrected_fact_holds_no_secret(opened: Opener, place: Place) -> None:
    alice = opened(redact="secrets").of("alice")
    alice.add("I live in Lyon.", "Nice.")
    alice.settle()
    fact = alice.correct(alice.facts()[0].id, "The door's password is hunter2x", value="hunter2x")
    assert (fact.text, fact.value) == ("alice: The door's password is [redacted: password]", "[redacted: password]")
    assert b"hunter2x" not in kept(place())


def test_nothing_is_redacted_unless_it_is_asked_for(opened: Opener) -> None:
    alice = opened().of("alice")
    added = alice.add_messages([{"role": "user", "content": "card 4111 1111 1111 1111"}])
    assert added.redactions == ()
    assert alice.page(added.page_ids[0]).query == "card 4111 1111 1111 1111"


def test_a_filter_of_the_callers_own_works_beside_the_built_in_one(opened: Opener) -> None:
    def herons(text: str) -> Iterable[Found]:
        at = text.find("heron")
        return [Found(kind="bird", start=at, end=at + 5)] if at >= 0 else []

    alice = opened(redact="secrets", filter=herons).of("alice")
    page = alice.add("A heron took my card 4111 1111 1111 1111.")
    assert alice.page(page).query == "A [redacted: bird] took my card [redacted: card number]."


def test_the_same_call_made_again_stores_nothing_new(opened: Opener) -> None:
    alice = opened(redact="secrets").of("alice")
    said = [{"role": "user", "content": "card 4111 1111 1111 1111"}]
    first, again = alice.add_messages(said, key="k"), alice.add_messages(said, key="k")
    assert first == again
    assert len(alice.pages()) == 1


def _raises(text: str) -> Iterable[Found]:
    raise ValueError(f"I cannot read {text}")


WRONG: dict[str, Any] = {
    "it raises": _raises, "it ends behind the text": lambda text: [Found(kind="x", start=0, end=len(text) + 1)],
    "it ends before it begins": lambda text: [Found(kind="x", start=3, end=2)],
    "it is empty": lambda text: [Found(kind="x", start=1, end=1)],
    "it begins before the text": lambda text: [Found(kind="x", start=-1, end=2)],
    "it gives something else": lambda text: [(0, 1)], "it gives nothing that can be counted": lambda text: None,
    "it has no kind": lambda text: [Found(kind=" ", start=0, end=1)],
    "its kind has a bracket": lambda text: [Found(kind="a] b", start=0, end=1)],
    "its kind is a text": lambda text: [Found(kind="k" * 65, start=0, end=1)],
    "its numbers are none": lambda text: [Found(kind="x", start=True, end=2)],
}  # fmt: skip


def test_a_filter_that_fails_stops_the_add_and_says_no_word_of_the_text(opened: Opener) -> None:
    for wrong in WRONG.values():
        alice = opened(filter=wrong).of("alice")
        with pytest.raises(InputError, match="nothing was stored") as refused:
            alice.add("the zyxglorp orchestra")
        assert "zyxglorp" not in str(refused.value)
        assert refused.value.__cause__ is None
        with pytest.raises(InputError):
            alice.set_profile(name="zyxglorp")
        assert alice.pages() == ()
        assert alice.profile() == ()


def test_a_filter_that_cannot_be_called_is_refused(place: Place) -> None:
    with pytest.raises(InputError, match="cannot be called"):
        Memory(place(), embedder="hashed", background=False, filter="secrets")  # type: ignore[arg-type]


def test_what_ember_put_into_a_prompt_is_taken_out_before_anything_is_looked_for(opened: Opener) -> None:
    memory = opened(redact="secrets")
    alice = memory.of("alice")
    page = alice.add(memory.marked("an old card 4111 1111 1111 1111") + "Hello, it is me.")
    assert alice.page(page).query == "Hello, it is me."


def test_redactions_count_the_messages_that_were_given() -> None:
    owner = Owner(id=OwnerId("o"), user="alice", agent="default")
    inbox = Inbox(owner=owner, zone=ZoneInfo("UTC"), now=datetime.now(UTC), max_chars=1000, finders=(secrets,))
    made, _, took = inbox.openai(
        [{"role": "user", "content": "Hi"}, {"role": "user", "name": "AKIAIOSFODNN7EXAMPLE", "content": "Hello"}],
        None,
        "main",
    )
    assert [one.speaker for one in made] == ["alice", "[redacted: AWS access key]"]
    assert [(one.message, one.where) for one in took] == [(1, "name")]


@settings(max_examples=bounded(6, proofs=75), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.sampled_from([secret for _, secret in ALL[:9]]), min_size=1, max_size=4))
def test_no_found_secret_is_in_any_file(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("s") / "memory.db"
    with Memory(file, embedder="hashed", background=False, redact="secrets") as memory:
        alice = memory.of("alice")
        for word in words:
            alice.add(f"take {word} with you", f"I have {word}")
        alice.settle()
    stored = kept(file)
    assert not [word for word in words if word.encode() in stored]
