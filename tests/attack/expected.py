"""What must be in the store, and what must not, by what the processes' journals say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from attack.journal import Attempt
from attack.outcome import Outcome
from attack.plan import Plan, Said, own_word, said_by
from attack.words import found_in

_LATE = 2**62


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgetting:
    """One that was begun. Where it was cut off, `pages` are those that it was to take."""

    owner: int
    whole: bool
    done: bool
    begun: int
    until: int
    pages: frozenset[str]
    utterances: frozenset[str]
    facts: frozenset[str]
    scrubbed: bool


@dataclass(kw_only=True, slots=True)
class Expected:
    """Everything that was begun, sorted."""

    plan: Plan
    said: dict[int, list[Said]] = field(default_factory=dict)
    """By the action that said it first."""
    adding: dict[int, list[Attempt]] = field(default_factory=dict)
    """The attempts to store that, in the order of time."""
    forgettings: list[Forgetting] = field(default_factory=list)
    facts: list[tuple[int, Attempt]] = field(default_factory=list)
    """Facts that callers brought: the owner, and how."""
    copies: dict[str, Attempt] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    """Words of what was acknowledged and is gone: `judge` finds them."""
    _until: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, tried: Collection[Attempt], rests: list[int]) -> Expected:
        """By the journals, and the moments at which all processes were at rest."""
        made = cls(plan=plan)
        numbers = {action.no: action for action in plan.actions}
        for one in sorted(tried, key=lambda attempt: attempt.begun):
            action = numbers[one.no]
            if action.adds:
                made.said[action.content] = said_by(plan, action)
                made.adding.setdefault(action.content, []).append(one)
                made._until[id(one)] = one.until(rests)
            elif action.kind in ("forget", "forget_owner"):
                made.forgettings.append(_forgetting(one, action.owner, action.kind == "forget_owner", rests))
            elif action.kind in ("learn", "correct"):
                made.facts.append((action.owner, one))
            elif action.kind == "copy":
                made.copies[str(one.intent["file"])] = one
        return made

    def owner(self, content: int) -> int:
        """Whose content it is."""
        return next(one.owner for one in self.plan.actions if one.adds and one.content == content)

    def judge(self, stored: Mapping[tuple[int, str], list[tuple[str, str]]], outcome: Outcome) -> None:
        """Hold what is stored against what was said. `stored` has the (utterance id, page id) of each owner's texts."""
        for content, said in self.said.items():
            self._judge_content(content, said, stored, outcome)
        self._judge_cut_off({page for ids in stored.values() for _, page in ids}, outcome)
        self._count(outcome)

    def _judge_content(
        self, content: int, said: list[Said], stored: Mapping[tuple[int, str], list[tuple[str, str]]], outcome: Outcome
    ) -> None:
        owner, tried = self.owner(content), self.adding[content]
        there = [stored.get((owner, one.text), []) for one in said]
        for ids in there:
            if len(ids) > 1:
                outcome.fail("doubled", f"a message of action {content} stands {len(ids)} times")
        kept = next((one for one in tried if one.done and self._names_all(one, said)), None)
        if kept is None:
            counts = {bool(ids) for ids in there}
            if len(counts) > 1 and not self._may_have_gone(owner, tried[0].begun, []):
                outcome.fail("half stored", f"of the messages of action {content}, cut off, only some are there")
            return
        for place, (one, ids) in enumerate(zip(said, there, strict=True)):
            pages = [str(page) for page in kept.result["pages"]]
            utterances = kept.result["utterances"]
            if self._gone(owner, kept, pages, utterances[place] if utterances else None):
                self.forgotten |= one.cores
                if ids:
                    outcome.fail("not forgotten", f"a message of action {content} was forgotten and is there")
            elif self._may_have_gone(owner, kept.begun, pages):
                self.forgotten |= set() if ids else one.cores
            elif not ids:
                outcome.fail("lost", f"an acknowledged message of action {content} is not there")
            outcome.counts["acknowledged messages"] += 1

    def _names_all(self, one: Attempt, said: list[Said]) -> bool:
        """Whether an acknowledgement names all messages; one made again names only what is still there."""
        return bool(one.result["pages"]) and len(one.result["utterances"]) in (0, len(said))

    def _gone(self, owner: int, kept: Attempt, pages: list[str], utterance: str | None) -> bool:
        """Whether an acknowledged forgetting took it."""
        for one in self.forgettings:
            if one.done and one.owner == owner:
                if one.whole and (kept.ended or _LATE) < one.begun:
                    return True
                if utterance in one.utterances or (utterance is None and pages[0] in one.pages):
                    return True
        return False

    def _may_have_gone(self, owner: int, begun: int, pages: list[str]) -> bool:
        """Whether one that was cut off, or that was at work at the same time, may have taken it."""
        for one in self.forgettings:
            if one.owner != owner:
                continue
            if one.whole and begun < one.until:
                return True
            if not one.done and not one.pages.isdisjoint(pages):
                return True
            if not pages and begun < one.until:
                return True
        return False

    def _judge_cut_off(self, present: set[str], outcome: Outcome) -> None:
        """A forgetting that was cut off took all of its pages, or none."""
        for one in self.forgettings:
            others = [other for other in self.forgettings if other is not one and other.owner == one.owner]
            if one.done or one.whole or any(other.whole for other in others):
                continue
            left = set(one.pages).difference(*(other.pages for other in others))
            if left and left & present and left - present:
                told = f"{len(left & present)} of {len(left)} pages stand after a forgetting that was cut off"
                outcome.fail("half forgotten", told)

    def _count(self, outcome: Outcome) -> None:
        done = [one for one in self.forgettings if one.done]
        outcome.counts["forgettings"] += len(done)
        outcome.counts["forgotten pages"] += len({page for one in done for page in one.pages})

    def judge_facts(self, there: Mapping[int, Collection[str]], outcome: Outcome) -> None:
        """Facts that callers brought stand until a forgetting names them. `there` has the ids of each owner's facts."""
        for owner, one in self.facts:
            if not one.done:
                continue
            fact_id = one.result["fact"]
            action = self.plan.action(one.no)
            cut_off = any(other.owner == owner and (other.whole or not other.done) for other in self.forgettings)
            if any(fact_id in other.facts for other in self.forgettings if other.owner == owner and other.done):
                kept = action.kind == "learn" and self._corrects(owner, there)  # with the labels of what it corrected
                if not cut_off and not kept:  # after the owner was forgotten, numbers may be given again
                    self.forgotten |= found_in(own_word(self.plan, action))
            elif not cut_off and fact_id not in there.get(owner, ()):
                outcome.fail("lost", f"the fact of action {one.no} ({action.kind}) is not there")

    def _corrects(self, owner: int, there: Mapping[int, Collection[str]]) -> bool:
        """Whether a correction of an owner stands, or may."""
        mine = (one for other, one in self.facts if other == owner and self.plan.action(one.no).kind == "correct")
        return any(not one.done or one.result["fact"] in there.get(owner, ()) for one in mine)

    def all_words(self) -> set[str]:
        """Every rare word that a process was about to say."""
        found = {core for said in self.said.values() for one in said for core in one.cores}
        for action in self.plan.actions:
            if action.kind in ("document", "learn", "correct"):
                found |= found_in(own_word(self.plan, action))
        return found

    def gone_before(self, moment: int) -> Iterator[str]:
        """Words of pages that an acknowledged and scrubbed forgetting had taken by a moment."""
        done = [one for one in self.forgettings if one.done and one.scrubbed and one.until < moment]
        for content, said in self.said.items():
            owner, kept = self.owner(content), next((one for one in self.adding[content] if one.done), None)
            if kept is None or not self._names_all(kept, said):
                continue
            for place, one in enumerate(said):
                utterances = kept.result["utterances"]
                took = any(
                    (utterances[place] in other.utterances if utterances else kept.result["pages"][0] in other.pages)
                    for other in done
                    if other.owner == owner
                )
                yield from one.cores if took else ()


def _forgetting(one: Attempt, owner: int, whole: bool, rests: list[int]) -> Forgetting:
    told: Mapping[str, Any] = one.result if one.done else one.intent
    return Forgetting(
        owner=owner,
        whole=whole,
        done=one.done,
        begun=one.begun,
        until=one.until(rests),
        pages=frozenset(told["pages"]),
        utterances=frozenset(told.get("utterances", ())),
        facts=frozenset(told.get("facts", ())),
        scrubbed=bool(told.get("scrubbed")),
    )


def by_text(rows: list[dict[str, Any]], owners: Mapping[str, int]) -> dict[tuple[int, str], list[tuple[str, str]]]:
    """The stored utterances of each owner by what they say."""
    found: dict[tuple[int, str], list[tuple[str, str]]] = defaultdict(list)
    for row in rows:
        found[owners.get(row["owner_id"], -1), row["text"]].append((row["id"], row["page_id"]))
    return found
