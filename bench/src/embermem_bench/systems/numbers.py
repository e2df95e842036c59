"""The numbers of the papers' other systems, with their sources. MemoryOS's stand in config.py.

k = 10 where a paper leaves it open: so many memories each system gave on LoCoMo in the MemoryOS paper, §4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypeVar

from embermem.core.errors import ConfigError
from embermem.core.option_values import checked_value

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Numbers = TypeVar("Numbers", bound=DataclassInstance)


@dataclass(frozen=True, kw_only=True, slots=True)
class FullContextNumbers:
    """LoCoMo (arXiv 2402.17753), the long-context baselines."""

    window_tokens: int | None = None
    """All that was said. A number is a window as the paper gives its models, up to 16,000 tokens there; what does not
    fit is left out from the oldest on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadAgentNumbers:
    """ReadAgent (arXiv 2402.09727)."""

    page_words_least: int = 280
    page_words_most: int = 600
    """Words of an episode between which the pause is chosen; QuALITY, §4."""
    lookup: int = 5
    """Episodes that are looked up at most, ReadAgent-P."""
    sequential: bool = False
    """Look-up one by one, each read before the next is named: ReadAgent-S, §3."""
    gist_words: int = 60
    """An episode of no more words is its own gist (ours): a talk that grows page by page asks for none at each."""
    gist_chars: int = 800
    """Of a gist, cut (ours); the prompt asks for 80 words."""
    shown_gists: int = 400
    """Gists that a look-up is shown, the nearest to the question if there are more (ours): some 25,000 tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryBankNumbers:
    """MemoryBank (arXiv 2305.10250)."""

    top_k: int = 10
    """Exchanges and days' events that are recalled."""
    strength: float = 1.0
    """S when a memory is first kept, §2.3; each recall adds 1 and sets t to 0."""
    day_s: float = 86_400.0
    """t is counted in days."""
    forgetting: bool = False
    """Whether the curve decides what is still recalled, §2.3: for companions that are to seem human, the paper says.
    Off, since a bench asks once, at the end: after a week without a recall, R is below 0.001, and nothing is left."""
    day_chars: int = 12_000
    """Of a day's talk, or of days' events, that one question shows (ours); a longer one is told in parts."""
    events_chars: int = 1_000
    """Of a day's events, cut (ours); the prompt asks for 100 words."""
    insight_chars: int = 600
    """Of a day's insight into the user (ours); the prompt asks for 60 words."""
    overview_chars: int = 1_500
    """Of the global event summary (ours); the prompt asks for 150 words."""
    portrait_chars: int = 1_200
    """Of the global portrait (ours); the prompt asks for 120 words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TimNumbers:
    """Think-in-Memory (arXiv 2311.08719)."""

    top_k: int = 10
    """Thoughts that are recalled."""
    buckets: int = 8
    """b of the random projection, §3.2: F(x) = argmax([xR; −xR]), R of shape (d, b/2). The paper gives no number; with
    1 there is one bucket, and every thought is looked at; another odd number gives one bucket less."""
    seed: int = 0
    """Of the projection."""
    fill: bool = True
    """Whether a bucket of fewer than top_k thoughts is filled up from those next in line; False: one bucket (ours)."""
    near: int = 5
    """Older thoughts of its bucket that each new one is organised with, nearest first, of the same head or as near as
    `near_cosine` (ours: the paper's whole bucket fits no prompt)."""
    near_cosine: float = 0.6
    shown_most: int = 40
    """Thoughts that one question about organising shows (ours)."""
    part: int = 20
    """Utterances that one question about thoughts shows; a longer page takes several (ours)."""
    utterance_chars: int = 2_000
    thought_chars: int = 300
    entity_chars: int = 80
    """Of what is shown of an utterance, and kept of a thought, of its head, relation and tail (ours)."""
    thoughts_most: int = 40
    """Thoughts of one part of a page that are kept (ours)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemGptNumbers:
    """MemGPT (arXiv 2310.08560)."""

    window_tokens: int = 8_192
    """GPT-4's window there."""
    warning_share: float = 0.7
    """Of the window: memory pressure, §2.2."""
    flush_share: float = 1.0
    evicted_share: float = 0.5
    """Of the queue, at a flush."""
    block_chars: int = 2_000
    """Limit of a memory block, as the published code has it."""
    page_size: int = 5
    """Results of a search that are shown at once."""
    steps: int = 8
    """Calls of functions that heartbeats may chain (ours)."""
    passage_chars: int = 1_000
    """Of a passage in archival storage: a part of a file, or what the model inserts at once (ours)."""
    message_chars: int = 2_000
    """Of one message in the window, or one result (ours)."""
    summary_words: int = 150
    """That the recursive summary is asked to have; what has more than ten letters for each is cut (ours)."""
    recall_k: int = 10
    """Utterances that a search without a model goes on paging for."""
    file_bytes: int = 5_000_000
    """Of a file that is loaded (ours)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AMemNumbers:
    """A-MEM (arXiv 2502.12110)."""

    near_k: int = 10
    """Nearest notes among which links are looked for: k of Eq. 5, not given; §4.2 gives k = 10 for retrieval."""
    recall_k: int = 10
    """Notes nearest to a query, Eq. 10; those that they link to come beside them."""
    links: bool = True
    """Link generation; False with `evolution` off is "w/o LG & ME" of Table 2."""
    evolution: bool = True
    """Evolution of neighbours; False is "w/o ME" of Table 2."""
    evolve_linked: bool = False
    """False: all the near_k may evolve, as Eq. 7 says; True: those that the new note was linked to, at half the calls.
    Without a model always these."""
    evolve_each: bool = True
    """One question for each neighbour, as in Eq. 7; False: one for all of them (ours)."""
    link_cosine: float = 0.6
    """Without a model: cosine from which near notes are linked (ours)."""
    window: int = 4
    """Without a model: utterances of the page, up to its own, that a note's context is condensed from (ours)."""
    keywords: int = 8
    tags: int = 5
    """Of a note, at most (ours; the paper asks for at least three of each)."""
    word_chars: int = 40
    content_chars: int = 2_000
    context_chars: int = 300
    """Of what is shown of a note's content, and kept of a keyword or tag, and of its context (ours)."""
    near_chars: int = 400
    """Of what is shown of a neighbour's content (ours)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0Numbers:
    """Mem0 (arXiv 2504.19413)."""

    recent: int = 10
    """m, messages that extraction is shown beside the summary, §2.1."""
    near: int = 10
    """s, memories that an update is decided against."""
    recall_k: int = 10
    update_each: bool = True
    """One question a candidate, as in §2.1; False asks about all candidates of a pair at once: one call in place of
    |Ω|, but none sees what the others changed."""
    summary_every: int = 10
    """Messages after which S is made anew (the paper says "periodically"; ours): so many the extraction is shown as
    they were said, so that hardly any is in neither. 0: no summary."""
    pair_most: int = 10
    """Messages that one extraction reads at most (ours): a page of more is read in parts."""
    message_chars: int = 2_000
    """Of one message, in what a model is shown (ours)."""
    facts_most: int = 20
    """Candidates of one extraction (ours)."""
    fact_chars: int = 300
    summary_chars: int = 1_500
    """Limits of what a model may answer, twice what its prompt asks for and more (ours)."""
    same_fact: float = 0.9
    """Without a model: the cosine from which two texts may be one fact, if the words of one are in the other (ours)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0GraphNumbers(Mem0Numbers):
    """Mem0g (arXiv 2504.19413, §2.2): Mem0's, and those of the graph beside it."""

    memories: bool = True
    """Whether the memories of Mem0 are kept beside the graph, as Table 2's figures have it; False: the graph alone."""
    same_entity: float = 0.9
    """Cosine above which two names are one entity (t in the paper, which gives no number; ours)."""
    near_entity: float = 0.7
    """Cosine above which a word of a query means an entity (ours)."""
    relations_k: int = 10
    """Triples, entity-centred and by their text, that are recalled beside recall_k memories."""
    relevance: float = 0.2
    """Cosine to the query above which a triple is recalled for its text (ours)."""
    entities_most: int = 20
    triples_most: int = 20
    """Of one extraction (ours)."""
    name_chars: int = 80
    """Of an entity's name or a relation's (ours)."""
    spoken_of: int = 3
    """Without a model: keywords of an utterance that its speaker speaks of (ours)."""


def altered(numbers: Numbers, options: Mapping[str, object]) -> Numbers:
    """The numbers with some of them changed; a value may be a text, as a command line gives it.

    Raises ConfigError that names the option, and what is allowed.
    """
    known = {field.name: str(field.type) for field in fields(numbers)}
    for name in options:
        if name not in known:
            raise ConfigError(f"unknown option {name!r} of {type(numbers).__name__}; known: {', '.join(known)}")
    return replace(
        numbers, **{name: checked_value(name, known[name], value, {"low": 0}) for name, value in options.items()}
    )
