"""Compare what the reader that ships says of labelled messages with their labels. Needs Ember alone, with its weights.

    python reader/score_reader.py w24 [w25 …] [--talk FOLDER]

For each writer and confidence: the share of what is said that has a label worth noting of its attribute with half of
its words (and of these the share that is exact: the same words, of whom, negation and change), and the share of the
labels that are found (exactly).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from labelled import Claim, Labelled, labelled

from embermem.core.types import PageId, Role, ThreadId, Utterance, UtteranceId, UtteranceOrigin
from embermem.embedders.e5 import E5
from embermem.protocols import Assertion
from embermem.reader.labels import CHANGES, STANCES
from embermem.reader.trained import TrainedReader

CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
NOT_MEANT = frozenset(STANCES) - {"assert", "answer"} | {"low"}
SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Said:
    """What was said with this confidence, of which message; `label`: the number of the label that it agrees with."""

    confidence: float
    message: int
    label: int | None
    exact: bool


def compared(reader: TrainedReader, messages: Sequence[Labelled]) -> tuple[list[Said], int]:
    """What the reader says of messages, and how many labels are worth noting."""
    found: list[Said] = []
    count = 0
    for number, one in enumerate(messages):
        labels = [claim for claim in one.claims if _worth_noting(claim)]
        count += len(labels)
        before = _utterance(*one.before) if one.before else None
        for said in reader.read(_utterance(one.speaker, one.text), before):
            place = next((i for i, label in enumerate(labels) if _agree(said, label)), None)
            exact = place is not None and _exact(said, labels[place])
            found.append(Said(said.confidence, number, place, exact))
    return found, count


def _worth_noting(claim: Claim) -> bool:
    return claim.flags.isdisjoint(NOT_MEANT) and (claim.person != "you" or claim.attribute == "instruction")


def _agree(said: Assertion, claim: Claim) -> bool:
    start, end = claim.value
    both = min(said.end, end) - max(said.start, start)
    return said.attribute == claim.attribute and 2 * both >= max(said.end - said.start, end - start) > 0


def _exact(said: Assertion, claim: Claim) -> bool:
    change = next((name for name in CHANGES if name in claim.flags), "none")
    person = claim.person == "third" and claim.attribute != "instruction"
    told = (said.start, said.end, said.of_other, said.negated, said.change)
    return told == (*claim.value, person, "not" in claim.flags, change)


def _utterance(speaker: str, text: str) -> Utterance:
    return Utterance(
        id=UtteranceId("u"),
        seq=1,
        page_id=PageId("p"),
        thread=ThreadId("t"),
        role=Role.USER,
        origin=UtteranceOrigin.PERSON,
        speaker=speaker,
        text=text,
        said_at=SAID_AT,
        recorded_at=SAID_AT,
    )


def rows(found: Sequence[Said], count: int) -> Iterator[str]:
    """A line for each confidence."""
    for least in CONFIDENCES:
        told = [one for one in found if one.confidence >= least]
        right = [one for one in told if one.label is not None]
        exact = [one for one in right if one.exact]
        labels, exactly = ({(one.message, one.label) for one in some} for some in (right, exact))
        shares = [len(some) / max(1, of) for some, of in ((right, len(told)), (exact, len(told)))]
        yield (
            f"{least:.2f}: {len(told):5} said, right {shares[0]:.3f} ({shares[1]:.3f}), "
            f"found {len(labels) / max(1, count):.3f} ({len(exactly) / max(1, count):.3f}) of {count}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("writers", nargs="+")
    parser.add_argument("--talk", type=Path, help="the folder with talk of other sources")
    given = parser.parse_args()
    reader, messages = TrainedReader(E5()), labelled(given.talk)
    for writer in given.writers:
        some = [one for one in messages if one.writer == writer]
        print(f"{writer}: {len(some):,} messages", *rows(*compared(reader, some)), sep="\n  ")


if __name__ == "__main__":
    main()
