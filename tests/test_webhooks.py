"""The change feed and webhooks: nothing is lost or out of order, each delivery is signed, receivers may fail."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.errors import ConfigError, InputError, NotFound
from embermem.core.types import Webhook, WebhookState
from embermem.webhooks import verified
from embermem.webhooks.delivery import pause_s
from embermem.webhooks.sending import Allowed, NotSent, checked_url, send
from forgotten import holds
from forked import script
from lives import copy_of
from loopback import DROPPED, NEVER, Loopback, answering, handling
from scripted import Clock, Opener, Place

TAKEN = b"HTTP/1.1 204 No Content\r\n\r\n"
FAILED = b"HTTP/1.1 500 Oh\r\nContent-Length: 6\r\n\r\nsecret"
AWAY = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
GONE = b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"


@dataclass(kw_only=True)
class Received:
    """A request that a receiver got."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def told(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[tuple[str, str]]:
        return [(one["id"], one["event"]) for one in self.told["events"]]


def received(receiver: Loopback) -> list[Received]:
    found = []
    for request in receiver.requests:
        head, _, body = request.partition(b"\r\n\r\n")
        lines = (line.decode().partition(": ") for line in head.split(b"\r\n")[1:])
        found.append(Received(headers={name.lower(): value for name, _, value in lines}, body=body))
    return found


# -------------------------------------------------------------------------------------------------------------- feed


def test_what_is_new_is_waited_for_watched_and_read_after_a_position_without_text(memory: Memory) -> None:
    anna = memory.of("anna")
    assert anna.changes(wait_s=0.05) == ()
    later = threading.Timer(0.2, lambda: memory.of("anna").learn([{"text": "likes figs"}]))
    later.start()
    assert [one.cause for one in anna.changes(wait_s=30)] == ["import"]
    later.join()
    with pytest.raises(InputError, match="wait_s"):
        anna.changes(wait_s=61)
    with pytest.raises(InputError, match="wait_s"):
        anna.changes(wait_s=float("nan"))

    bob = memory.of("bob")
    bob.learn([{"text": "likes figs"}])
    watched, again = bob.watch(), bob.watch(0)
    for text in ("likes plums", "likes pears"):
        bob.learn([{"text": text}])
    assert [next(watched).no for _ in range(2)] == [2, 3]
    assert [next(again).no for _ in range(3)] == [1, 2, 3]

    carl = memory.of("carl")
    begin = carl.standing()
    assert (str(begin.position), begin.name) == ("0.0", "state")
    page = carl.add("I live in Lyon.")
    carl.learn([{"text": "likes figs"}])
    said, learnt = carl.events(str(begin.position))
    assert (str(said.position), said.data["page_ids"]) == ("1.0", [page])
    assert (str(learnt.position), learnt.data["cause"]) == ("1.1", "import")
    assert "Lyon" not in repr((said, learnt))
    assert "figs" not in repr((said, learnt))
    assert carl.events(str(said.position)) == (learnt,)
    with pytest.raises(InputError, match="position"):
        carl.events("yesterday")


# ----------------------------------------------------------------------------------------------------------- webhooks


@dataclass(kw_only=True)
class Hooked:
    """A memory with a webhook, and its receiver."""

    memory: Memory
    alice: OwnerMemory
    hook: Webhook
    receiver: Loopback
    clock: Clock

    @property
    def now(self) -> Webhook:
        (one,) = self.alice.webhooks()
        return one


Hooks = Callable[..., Hooked]


@pytest.fixture
def hooks(opened: Opener, clock: Clock) -> Iterator[Hooks]:
    """Makes a memory with a webhook whose receiver answers the nth request with the nth answer, then the last."""
    made = itertools.count()
    with ExitStack() as stack:

        def make(*answers: bytes, **given: Any) -> Hooked:
            receiver = stack.enter_context(answering(lambda request, number: answers[min(number, len(answers) - 1)]))
            settings = {"webhook_hosts": "127.0.0.1", "webhook_attempts": 3, "webhook_timeout_s": 0.5}
            memory = opened(f"{next(made)}.db", **settings)
            alice = memory.of("alice")
            hook = alice.add_webhook(f"{receiver.url}/hook?a=1", **given)
            return Hooked(memory=memory, alice=alice, hook=hook, receiver=receiver, clock=clock)

        yield make


def test_what_is_new_is_sent_once_in_order_and_signed(hooks: Hooks) -> None:
    at = hooks(TAKEN)
    page = at.alice.add("I live in Lyon.")
    at.alice.learn([{"text": "likes figs"}])
    assert at.receiver.requests == []  # nothing is sent by the call itself
    assert (at.memory.deliver(), at.memory.deliver()) == (1, 0)
    (one,) = received(at.receiver)
    assert one.events == [("1.0", "page"), ("1.1", "change")]
    assert (one.told["user_id"], one.told["events"][0]["data"]["page_ids"]) == ("alice", [page])
    assert b"Lyon" not in one.body
    assert b"figs" not in one.body
    now = at.clock().timestamp()
    assert verified(at.hook.secret, one.headers, one.body, now=now)
    assert not verified(at.hook.secret, one.headers, one.body + b" ", now=now)
    assert not verified(at.hook.secret, one.headers, one.body, now=now + 301)
    assert not verified("whsec_b3RoZXI=", one.headers, one.body, now=now)
    at.alice.learn([{"text": "likes plums"}])
    at.memory.deliver()
    assert received(at.receiver)[1].events == [("1.2", "change")]
    assert (at.now.state, at.now.position, at.now.secret) == (WebhookState.ACTIVE, "1.2", "")


def test_a_failed_delivery_is_made_again_with_the_same_events_and_then_stopped(hooks: Hooks) -> None:
    at = hooks(FAILED, AWAY, TAKEN)
    at.alice.learn([{"text": "likes figs"}])
    for attempt, why in ((1, "status 500"), (2, "status 302")):
        assert at.memory.deliver() == 0
        assert (at.now.state, at.now.attempts, at.now.error) == (WebhookState.RETRYING, attempt, why)
        at.alice.learn([{"text": f"likes plums {attempt}"}])
        assert at.memory.deliver() == 0  # not yet
        at.clock.go(pause_s(at.hook.id, attempt) + 1)
    assert at.memory.deliver() == 2  # the failed ones, then what came meanwhile
    first, second, third, fourth = received(at.receiver)
    assert first.events == second.events == third.events == [("0.1", "change")]
    assert len({one.headers["webhook-id"] for one in (first, second, third)}) == 1
    assert fourth.events == [("0.2", "change"), ("0.3", "change")]


@pytest.mark.engines
def test_a_webhook_whose_last_attempt_failed_is_stopped_seen_and_replayed(hooks: Hooks) -> None:
    at = hooks(FAILED, FAILED, FAILED, TAKEN)
    at.alice.learn([{"text": "likes figs"}])
    for _ in range(5):
        at.memory.deliver()
        at.clock.go(4000)
    assert len(at.receiver.requests) == 3
    assert at.now.state == WebhookState.STOPPED.value
    assert (at.memory.stats().webhooks, at.memory.stats().webhooks_stopped) == (1, 1)
    at.alice.replay_webhook(at.hook.id)
    assert at.memory.deliver() == 1
    at.alice.replay_webhook(at.hook.id, since="0.0")
    assert at.memory.deliver() == 1
    assert received(at.receiver)[-1].events == [("0.1", "change")]
    assert at.now.state is WebhookState.ACTIVE


def test_a_receiver_that_does_not_take_it_is_told_why(hooks: Hooks) -> None:
    for answer, state, why in (
        (GONE, WebhookState.STOPPED, "status 410"),
        (NEVER, WebhookState.RETRYING, "no answer in time"),
        (DROPPED, WebhookState.RETRYING, "no answer: RemoteDisconnected"),
        (b"nonsense\r\n\r\n", WebhookState.RETRYING, "no answer: BadStatusLine"),
    ):
        at = hooks(answer)
        at.alice.learn([{"text": "likes figs"}])
        at.memory.deliver()
        assert (at.now.state, at.now.error) == (state, why)


KILLED = """
import sys
from datetime import datetime
from embermem import Memory
now = datetime.fromisoformat(sys.argv[2])
given = dict(embedder="hashed", background=False, webhook_hosts="127.0.0.1", webhook_timeout_s=60.0)
Memory(sys.argv[1], clock=lambda: now, forgotten_key_file=sys.argv[3], **given).deliver()
"""


def test_a_process_killed_in_a_delivery_loses_nothing(
    opened: Opener, clock: Clock, place: Place, tmp_path: Path
) -> None:
    with (
        handling(lambda request, connection: None) as receiver,
        opened(webhook_hosts="127.0.0.1", webhook_timeout_s=1.0) as memory,
    ):
        alice = memory.of("alice")
        alice.add_webhook(receiver.url)
        alice.learn([{"text": "likes figs"}])
        given = (str(place()), clock().isoformat(), str(tmp_path / "memory.db.key"))
        child = script(KILLED, *given)
        while not receiver.requests:
            assert child.poll() is None, "the process ended before it delivered anything"
            time.sleep(0.05)
        child.kill()
        child.wait()
        assert memory.deliver() == 0  # its lease holds
        clock.go(3600)
        other = threading.Thread(target=memory.deliver)
        other.start()
        while len(receiver.requests) < 2:
            time.sleep(0.05)
        first, second = received(receiver)
        assert first.events == second.events == [("0.1", "change")]
        other.join()


def test_only_the_events_asked_for_are_sent_and_text_only_where_it_is_asked_for(hooks: Hooks) -> None:
    at = hooks(TAKEN, events=["page"], text=True)
    at.alice.learn([{"text": "likes figs"}])
    assert (at.memory.deliver(), at.receiver.requests) == (1, [])
    at.alice.add("I live in Lyon.")
    at.memory.deliver()
    (one,) = received(at.receiver)
    assert [said["text"] for said in one.told["events"][0]["data"]["messages"]] == ["I live in Lyon."]


@pytest.mark.engines
def test_many_workers_deliver_each_event_once(hooks: Hooks) -> None:
    at = hooks(TAKEN)
    at.alice.learn([{"text": "likes figs"}])
    threads = [threading.Thread(target=at.memory.deliver) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.events for one in received(at.receiver)] == [[("0.1", "change")]]


@pytest.mark.engines
def test_a_worker_that_died_in_a_delivery_holds_it_no_longer_than_its_lease(hooks: Hooks) -> None:
    at = hooks(TAKEN)
    at.alice.learn([{"text": "likes figs"}])
    claimed = at.memory._parts.admin.claim_delivery(at.clock(), 60)
    at.alice.learn([{"text": "likes plums"}])
    assert claimed is not None
    assert at.memory.deliver() == 0
    at.clock.go(61)
    assert at.memory.deliver() == 2
    assert [one.events for one in received(at.receiver)] == [[("0.1", "change")], [("0.2", "change")]]
    at.memory._parts.admin.undelivered(claimed, "late", at.clock(), None)  # of a lease that is another's by now
    assert at.now.state == WebhookState.ACTIVE.value


@pytest.mark.engines
def test_a_webhook_is_removed_forgotten_with_its_memory_and_not_another_owners(hooks: Hooks) -> None:
    at = hooks(TAKEN)
    bob = at.memory.of("bob")
    assert bob.webhooks() == ()
    for call in (bob.remove_webhook, bob.replay_webhook):
        with pytest.raises(NotFound):
            call(at.hook.id)
    again = at.alice.add_webhook(at.hook.url, key="k")
    assert at.alice.add_webhook(at.hook.url, key="k").secret == again.secret != at.hook.secret
    at.alice.remove_webhook(again.id)
    at.alice.learn([{"text": "likes figs"}])
    at.alice.forget_owner()
    assert at.memory.deliver() == 0
    assert at.alice.webhooks() == ()
    assert at.receiver.requests == []


def test_the_address_of_a_removed_webhook_is_in_no_file(opened: Opener, place: Place) -> None:
    memory = opened(webhook_hosts="127.0.0.1")
    alice = memory.of("alice")
    hook = alice.add_webhook("http://127.0.0.1:9/quuxville")
    assert holds(place(), "quuxville")
    alice.remove_webhook(hook.id)
    assert not holds(place(), "quuxville")


def test_no_secret_is_in_the_file(hooks: Hooks, tmp_path: Path) -> None:
    at = hooks(TAKEN)
    copy_of(at.memory, tmp_path / "copy.db")
    assert at.hook.secret.removeprefix("whsec_").encode() not in (tmp_path / "copy.db").read_bytes()


def test_an_address_that_is_not_public_is_refused_unless_the_operator_names_its_host(memory: Memory) -> None:
    special = """
        0.0.0.0 0.1.1.1 10.0.0.1 100.64.0.1 127.0.0.1 169.254.0.1 172.31.255.255 192.0.0.1 192.0.0.8 192.0.0.9
        192.0.0.10 192.0.0.170 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.88.99.2 192.168.0.1 192.175.48.1
        198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
        :: ::1 ::8.8.8.8 ::ffff:10.0.0.1 ::ffff:192.88.99.1 ::ffff:0:8.8.8.8 64:ff9b::10.0.0.1 64:ff9b:1::8.8.8.8
        100::1 100:0:0:1::1 2001::1 2001:1::1 2001:1::2 2001:1::3 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1
        2001:20::1 2001:30::1 2001:1ff:ffff::1 2001:db8::1 2002:808:808::1 2620:4f:8000::1 3fff::1 3fff:fff:ffff::1
        4000::1 5f00::1 fc00::1 fdff::1 fe80::1 fec0::1 ff02::1 ff0e::1
    """
    public = """
        1.1.1.1 100.63.255.255 172.32.0.1 192.0.1.1 192.88.98.255 192.88.100.1 198.17.255.255 198.20.0.1 223.255.255.255
        ::ffff:1.1.1.1 64:ff9b::1.1.1.1 2001:200::1 2001:db7::1 2001:db9::1 2003::1 2606:4700::1111 2a00:1450::1
        2620:4f:8001::1 3fff:1000::1
    """
    allowed = Allowed.parsed("")
    taken = [one for one in (*special.split(), *public.split()) if allowed.address("", ip_address(one))]
    assert taken == public.split()

    for url in (
        *("http://example.com/", "ftp://example.com/", "https://", "https://me:pw@example.com/", "example.com", ""),
        *("https://127.0.0.1/", "https://10.1.2.3/", "https://169.254.169.254/", "https://[::1]/", "https://0.0.0.0/"),
        *(
            "https://[::ffff:127.0.0.1]/",
            "https://[2002:7f00:1::]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[fd00::1]/",
        ),
        *("https://224.0.0.1/", "https://100.64.0.1/", "https://example.com:0/", "https://example.com/#a"),
    ):
        with pytest.raises(InputError, match="url"):
            memory.of("alice").add_webhook(url)

    named = Allowed.parsed("receiver.internal, 10.0.0.0/8")
    for address in ("http://receiver.internal/", "https://10.1.2.3/x", "http://10.1.2.3:8080/", "https://example.com/"):
        assert checked_url(address, named) == address
    with pytest.raises(ConfigError, match="webhook_hosts"):
        Allowed.parsed("10.0.0.0/99")

    for host in ("localhost", "2130706433", "0x7f.1", "127.1"):
        with answering(lambda request, number: TAKEN) as receiver:
            port = receiver.url.rpartition(":")[2]
            with pytest.raises(NotSent, match=r"refused|resolved"):
                send(f"https://{host}:{port}/", {}, b"", allowed=Allowed.parsed(""), timeout_s=1.0)
            assert receiver.requests == [], host


def test_pauses_grow_and_are_bounded() -> None:
    pauses = [pause_s("w1", attempt) for attempt in range(1, 40)]
    assert 9 <= pauses[0] <= 11
    assert pauses[0] < pauses[3] < pauses[6]
    assert max(pauses) <= 3960
    assert timedelta(hours=7) < timedelta(seconds=sum(pauses[:15])) < timedelta(hours=10)
