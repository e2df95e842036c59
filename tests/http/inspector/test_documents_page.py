"""Documents in the inspector: listed in parts, found, read in their passages, added and forgotten."""

from __future__ import annotations

from datetime import timedelta

import httpx2
import pytest
from read_page import OWNER, Read, get, holding, visiting
from serving import Server, running

from embermem import Memory, OwnerMemory
from embermem.core.types import Document
from scripted import Opener

LEASE = "# The lease\n\nThe flat is in Lyon.\n\n## Rent\n\nThe rent is due on the third.\n"
LONG = "\n\n".join(f"## Part {n}\n\nThis is <b>part {n}</b> of the tale." for n in range(120))


@pytest.fixture
def alice(memory: Memory) -> OwnerMemory:
    """Alice, with a lease, and a document of bob's beside."""
    memory.of("bob").add_document("The secret word is heron.", title="of bob", source="bob.md")
    mine = memory.of("alice")
    mine.add_document(LEASE, source="home/lease.md", metadata={"kind": "contract"}, expires_at=timedelta(days=3))
    return mine


def only(mine: OwnerMemory) -> Document:
    (found,) = mine.documents()
    return found


def test_documents_are_listed_in_parts_with_their_source_passages_and_end_and_are_found(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    page = Read(get(browser, "/documents").text)
    assert len(page.hooks("document")) == 1
    for told in ("The lease", "home/lease.md", "2 passages", "added just now", "forgotten in 3 days"):
        assert told in page.text, told
    assert "bob" not in page.text
    for number in range(50):
        alice.add_document(f"Note {number}.", title=f"Note <i>{number:02}</i>", source=f"notes/{number:02}.txt")
    first = get(browser, "/documents")
    page = Read(first.text)
    assert len(page.hooks("document")) == 40
    assert "<i>49" not in first.text
    assert "Note <i>49</i>" in page.text
    assert "Note <i>09</i>" not in page.text
    (earlier,) = page.hooks("earlier")
    rest = Read(browser.get(str(earlier["href"])).text)
    assert len(rest.hooks("document")) == 11
    assert "The lease" in rest.text
    for q in ("LEASE", "home/"):
        assert len(Read(get(browser, "/documents", q=q).text).hooks("document")) == 1
    assert Read(get(browser, "/documents", q="heron").text).hooks("none-found")
    assert get(browser, "/documents", before="none").status_code == 404


def test_a_text_or_a_file_is_added_and_replaced_under_its_name(server: Server, browser: httpx2.Client) -> None:
    page = Read(get(browser, "/documents").text)
    assert page.hooks("empty")
    assert page.hooks("add-document")
    answer = browser.post("/documents", params=OWNER, data={"title": "Garden", "text": "The heron is grey."})
    page = Read(answer.text)
    assert page.hooks("added")
    assert "1 new passage." in page.text
    (one,) = server.memory.of("alice").documents()
    assert one.title == "Garden"
    again = Read(browser.post("/documents", params=OWNER, data={"title": "Garden", "text": "The heron is grey."}).text)
    assert "stored already" in again.text
    for text, told in ((LEASE, "2 new passages"), (LEASE.replace("third", "fifth"), "1 new passage, 1 removed")):
        answer = browser.post("/documents", params=OWNER, files={"file": ("lease.md", text.encode())})
        assert told in Read(answer.text).text
    one = next(one for one in server.memory.of("alice").documents() if one.source == "lease.md")
    assert one.title == "The lease"


def test_a_document_shows_what_it_is_and_its_passages_in_order_and_in_parts(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    alice.add_document(LEASE, source="home/lease.md", metadata={"kind": "contract"}, original={"from": "the notary"})
    one = only(alice)
    page = Read(get(browser, f"/documents/{one.id}").text)
    assert len(page.hooks("passage")) == 2
    assert page.text.index("The flat is in Lyon.") < page.text.index("The rent is due")
    for told in ("contract", "Rent", "original kept"):
        assert told in page.text
    assert "notary" not in page.text
    for passage in alice.passages(one.id):
        assert get(browser, f"/pages/{passage.page_id}").status_code == 200
    done = alice.add_document(LONG, source="tale.md")
    page, seen = Read(get(browser, f"/documents/{done.id}").text), list[str]()
    for _ in range(9):
        seen += [str(one["id"]) for one in page.hooks("passage")]
        following = page.hooks("following")
        if not following:
            break
        page = Read(browser.get(str(following[0]["href"])).text)
    assert seen == [f"u{one.seq}" for one in alice.passages(done.id)]
    assert len(seen) > 100
    assert "<b>part" not in get(browser, f"/documents/{done.id}").text
    assert get(browser, f"/documents/{done.id}", start="-1").status_code == 200
    assert get(browser, f"/documents/{done.id}", start="9" * 30).status_code == 422


def test_a_file_larger_than_other_bodies_is_taken_and_one_above_its_limit_refused(opened: Opener) -> None:
    memory = opened(http_body_bytes=1024, http_import_bytes=4096)
    with running(memory) as url, visiting(url) as browser:
        for size, status in ((2000, 200), (9000, 413)):
            answer = browser.post("/documents", params=OWNER, files={"file": ("a.txt", b"heron " * (size // 6))})
            assert answer.status_code == status
        assert len(memory.of("alice").documents()) == 1


def test_what_cannot_be_stored_is_refused_and_a_document_forgotten_after_a_preview_by_its_owner_alone(
    alice: OwnerMemory, browser: httpx2.Client, memory: Memory
) -> None:
    zipped = {"file": ("a.bin", b"PK\x03\x04\x00\x00")}
    for sent in (
        {"data": {"title": "x", "text": "  "}},
        {"data": {"text": "a"}, "files": {"file": ("a.txt", b"b")}},
        {"files": zipped},
    ):
        answer = browser.post("/documents", params=OWNER, **sent)
        assert answer.status_code == 422
    assert len(alice.documents()) == 1
    one = only(alice)
    preview = Read(get(browser, "/forget", kind="document", id=one.id).text)
    assert preview.hooks("preview")
    assert "passages" in preview.text
    assert only(alice) == one
    assert Read(browser.post("/forget", params=OWNER, data={"kind": "document", "id": one.id}).text).hooks("receipt")
    assert alice.documents() == ()
    assert get(browser, f"/documents/{one.id}").status_code == 404
    assert get(browser, "/forget", kind="document", id=one.id).status_code == 404
    theirs = only(memory.of("bob"))
    for path, query in ((f"/documents/{theirs.id}", {}), ("/forget", {"kind": "document", "id": theirs.id})):
        answer = get(browser, path, **query)
        assert answer.status_code == 404
        assert "heron" not in answer.text
    assert browser.post("/forget", params=OWNER, data={"kind": "document", "id": theirs.id}).status_code == 404
    assert only(memory.of("bob")) == theirs


def test_a_key_that_may_only_read_is_offered_no_change_of_documents(alice: OwnerMemory, memory: Memory) -> None:
    with holding(memory, "alice", read_only=True) as browser:
        for path in ("/documents", f"/documents/{only(alice).id}"):
            page = Read(get(browser, path).text)
            assert not page.hooks("add-document")
            assert not page.hooks("forget")
        assert browser.post("/documents", params=OWNER, data={"text": "x"}).status_code == 403
        assert len(alice.documents()) == 1
