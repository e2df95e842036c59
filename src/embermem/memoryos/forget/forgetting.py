"""Forgetting: what goes with a page, a fact, a segment or a thread, and what is said anew of what stays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial

from embermem.core.errors import ForgottenKeyLost, InputError, NotFound
from embermem.core.revisions import decided_anew
from embermem.core.types import Forgotten, Owner, OwnerId, Page, PageId, Verified
from embermem.core.user_overrides import mark_of, mark_of_key, says
from embermem.languages.text_marks import mark_of_text
from embermem.languages.words import words_to_match
from embermem.memoryos.forget.impact import Impact, receipt
from embermem.protocols import ALL_FACTS, Forgetting, Receipt, Store


def forget(
    impact: Impact,
    *,
    dry_run: bool,
    receipt_of: Callable[[Forgotten], Receipt | None] = lambda forgotten: None,
    scrub: bool = True,
) -> Forgotten:
    """Forget what is named, or with `dry_run` say what that would take. `receipt_of` makes the receipt of the call,
    which is kept with the change. Without `scrub` the scrub of the store's files stays due. Where others write all the
    time they are held off meanwhile. Raises NotFound and StoreError."""
    store = impact.store
    if dry_run:
        return impact.decided(b"").forgotten

    def erase() -> Forgotten:
        decided = impact.decided(store.forgetting.secret())
        if not decided.erasure.pages and not decided.forgotten.facts:
            return replace(decided.forgotten, dry_run=False, scrubbed=store.forgetting.wipe())
        made = replace(decided.forgotten, change_no=decided.erasure.revision + 1)
        receipt = receipt_of(made)
        store.forgetting.forget(impact.owner, decided.erasure, now=impact.now, receipt=receipt)
        return made

    forgotten = decided_anew(erase, partial(store.forgetting.alone_with, impact.owner.id))
    if forgotten.change_no is None:
        return forgotten
    return done(store.forgetting, forgotten) if scrub else replace(forgotten, dry_run=False)


def forget_owner(store: Store, owner: Owner, *, now: datetime, dry_run: bool) -> Forgotten:
    """Forget a whole memory. Raises NotFound where there is none; a model may have been asked for it all the same, and
    the lines of that in the ledger go."""
    if store.log.owner_state(owner.id) is None:
        if not dry_run:
            store.forgetting.forget_owner(owner.id, now)
        raise NotFound(f"there is no memory of {owner.user}/{owner.agent}")
    pages, persona = store.reads.all_pages(owner.id), store.reads.persona(owner.id)
    facts = store.reads.facts(owner.id, ALL_FACTS)
    said = [u for page in pages for u in page.utterances]
    marks: list[str] = []
    if not dry_run:
        key = store.forgetting.secret()
        marks = [*(mark_of_text(key, u.text) for u in said), *(mark_of(key, says(fact)) for fact in facts)]
    forgotten = receipt(
        now,
        pages=[page.id for page in pages],
        utterances=said,
        facts=[fact.id for fact in facts],
        segments=[segment.id for segment in store.reads.segments(owner.id)],
        chains=[chain.id for chain in store.reads.chains(owner.id)],
        traits=[trait.dimension for trait in persona.traits],
        profile=[f"{line.whose.value}.{line.name}" for line in (*persona.profile, *persona.agent_profile)],
        marks=marks,
    )
    if dry_run:
        return forgotten
    store.forgetting.forget_owner(owner.id, now)
    return done(store.forgetting, forgotten)


def verify(store: Store, owner: Owner, receipt: Forgotten) -> Verified:
    """Whether what a receipt says is gone is in no table, log or text any more. Raises InputError for a dry run's."""
    if receipt.dry_run:
        raise InputError("this receipt is from a dry run: nothing was forgotten")
    left = store.forgetting.remains(owner.id, receipt)
    marked, unchecked = list[str](), ""
    try:
        marked = _marks_found(store, owner.id, receipt)
    except ForgottenKeyLost as error:
        unchecked = f"cannot be checked: {error}"
    found = tuple(dict.fromkeys([*left.rows, *marked, *sorted(left.bytes)]))
    return Verified(
        ok=not found and left.scrubbed and not unchecked,
        found=found,
        scrubbed=left.scrubbed,
        backups=left.backups,
        unchecked=unchecked,
    )


def _marks_found(store: Store, owner_id: OwnerId, receipt: Forgotten) -> list[str]:
    """The marks of a receipt that something stored has. Raises ForgottenKeyLost where they are of another key."""
    if not receipt.marks:
        return []
    key, marks = store.forgetting.secret(), {*receipt.marks}
    if receipt.key_mark and receipt.key_mark != mark_of_key(key):
        raise ForgottenKeyLost("the receipt was made with another key than the current one of the store")
    found = sorted(marks & {mark_of_text(key, text) for text in {u.text for u in store.log.utterances(owner_id)}})
    return found + sorted(marks & {mark_of(key, says(fact)) for fact in store.reads.facts(owner_id, ALL_FACTS)})


def matching(pages: Iterable[Page], query: str, unnamed: Collection[str] = ()) -> list[PageId]:
    """The pages that hold every word of a query that says something, in whatever form of the word, in what was said or
    in the names of those who said it. `unnamed` are speakers whose names are not looked at, since all pages have them.
    Raises InputError for a query without such a word."""
    wanted = set(words_to_match(query))
    if not wanted:
        raise InputError(f"matching = {query!r} contains no word to search for")

    def held(page: Page) -> set[str]:
        speakers = {u.speaker for u in page.utterances} - {*unnamed}
        return {word for text in (*(u.text for u in page.utterances), *speakers) for word in words_to_match(text)}

    return [page.id for page in pages if wanted <= held(page)]


def done(forgetting: Forgetting, forgotten: Forgotten) -> Forgotten:
    """A receipt, once what went is gone."""
    scrubbed, backups = forgetting.wipe(), forgetting.backups_holding([*forgotten.utterances, *forgotten.facts])
    mark = mark_of_key(forgetting.secret()) if forgotten.marks else ""
    return replace(forgotten, dry_run=False, scrubbed=scrubbed, backups=backups, key_mark=mark)
