"""The numbers of the extractive analyst, with how each was set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractiveSettings:
    """Limits and thresholds. All lengths are in characters unless the name says otherwise.

    The continuity weights were set by hand; the two `continue_at` lie where neighbouring pages of one thread and pages
    of different threads part best, with vectors of all-MiniLM-L6-v2; `docs/extractive.md` has the figures. Another
    embedder wants its own.
    """

    max_chars: int = 20_000
    """Of each utterance only so much is read for facts, keywords and summaries."""
    max_facts: int = 40
    """Facts taken from one utterance at most: more is a list or pasted text."""
    keywords: int = 8
    """Keywords of a page; the paper's Jaccard term needs few and telling ones."""

    summary_chars: int = 320
    summary_sentences: int = 3
    sentence_chars: int = 200
    """A longer sentence is cut at a word and ends in "…"."""
    segment_chars: int = 600
    segment_sentences: int = 6

    break_after_s: float = 6 * 3600.0
    """A silence longer than this ends the chain: the talk was taken up anew."""
    cosine_weight: float = 0.6
    cohesion_weight: float = 0.7
    cue_bonus: float = 0.05
    """For a page that opens with a word that points back ("that", "it", 那), or that answers a question."""
    shift_penalty: float = 0.45
    """For a page that opens with a word that turns away ("by the way", "anyway", 对了)."""
    continue_at: float = 0.35
    """The page continues its chain if the score reaches this."""
    continue_at_lexical: float = 0.12
    """The same where either page has no vector: only words and cues speak."""
    few_terms: int = 2
    """A page of so few content words ("yes, sure!") says no topic of its own: it continues unless a cue turns away."""
