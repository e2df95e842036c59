"""Every number with its source, and how settings are loaded.

A setting is taken from the first of: an argument, the environment (`EMBERMEM_<NAME>`), a TOML file
(`EMBERMEM_CONFIG`, else `embermem.toml` in the working folder), the preset. Presets are `default` and `paper`.
"""

from __future__ import annotations

import logging
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as settings_of
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args

from embermem.core.attributes import Attributes
from embermem.core.errors import ConfigError
from embermem.core.fields import Field, fields_from_file, fields_from_table, line_finder, listed
from embermem.core.never import Never, vocabulary
from embermem.core.option_values import checked_value

logger = logging.getLogger(__name__)

ENV_PREFIX = "EMBERMEM_"
CONFIG_FILE = "embermem.toml"
SECRETS = frozenset({"embedder_key", "model_key", "proxy_key", "proxy_anthropic_key", "proxy_ollama_key"})
"""Settings whose values are never shown."""
_FILE = "file "
"""Begins the origin of a setting that a file gives."""

Preset = Literal["default", "paper"]
Mode = Literal["ask", "inject"]
"""What a recall is for: a question to memory, or what is put before a model unasked, which may be nothing."""

_LONGEST_S = 1e9
"""The longest wait (31 years), so that adding it to a time does not overflow."""

BACKUP_INCREMENTS = 30
"""Increments after a whole backup in one chain: a month of nights. A restore reads all of them; a choice of ours."""
BACKUP_SHARE = 0.5
"""The share of a store's pages from which a whole backup is made in place of an increment; a choice of ours."""

_FITTED = (
    "near the fit on the development sets by bench/scripts/fit_recall.sh; held-out figures in docs/research/recall.md"
)
_FITTED_RELEVANCE = (
    "near the fit by bench/scripts/fit_confidence.sh; checked figures in docs/research/recall.md, Calibration"
)
_FITTED_HOLDS = "near the fit on the evidence that contexts of other corpora hold; docs/research/recall.md, Calibration"
_CALIBRATED = "near the fit by bench/scripts/fit_confidence.sh; held-out figures in docs/research/recall.md, Answerable"
_FITTED_PAPER = "preset `paper`, fitted on LoCoMo 26 and 30; docs/research/recall.md, Calibration"


def _number(
    default: float | None,
    source: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
) -> Any:
    return field(default=default, metadata={"source": source, "low": low, "high": high, "above": above})


def _choice(default: str, source: str, *allowed: str) -> Any:
    return field(default=default, metadata={"source": source, "allowed": allowed})


def _plain(default: object, source: str) -> Any:
    return field(default=default, metadata={"source": source})


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """All settings of one Memory. Times are in seconds, sizes in bytes, budgets in tokens of `token_counter`."""

    preset: Preset = "default"

    # Short-term memory
    short_term_pages: int = _number(7, "paper §4.1: short-term queue of 7 pages", low=1, high=1000)

    # Mid-term memory
    mid_term_segments: int = _number(200, "paper §3.3, §4.1: at most 200 segments", low=1, high=100_000)
    theta: float = _number(
        0.6, "paper Eq. 1, §4.1: θ = 0.6; used where pages are placed one by one", low=-1.0, high=2.0
    )
    placed_by: Literal["chain", "page"] = _choice(
        "chain",
        "what joins a segment: a page by Eq. 1 in the paper; in `default` a chain, looked back over; "
        "docs/concepts/how-it-works.md",
        "chain",
        "page",
    )
    topic_linkage: float = _number(
        0.02,
        "average likeness of pages from which chains are one topic; calibrated on two people of RealMem, "
        "docs/concepts/how-it-works.md",
        low=0.0,
    )
    topic_vectors: float = _number(0.05, "weight of the vectors in this likeness; that of the words is 1", low=0.0)
    topic_leaves: float = _number(
        0.5, "share of topic_linkage below which a chain leaves its segment for none", low=0.0, high=1.0
    )
    topic_words: int = _number(192, "counted keywords of a segment, the most frequent ones", low=1, high=10_000)
    topic_looked_back: int = _number(64, "newest pages of a segment whose chains may leave it", low=1, high=10_000)
    heat_since: Literal["said", "arrived"] = _choice(
        "said",
        "from when recency counts, if no visit was later: when the newest page was said, or (paper) when it came",
        "said",
        "arrived",
    )
    alpha: float = _number(1.0, "paper Eq. 3, §4.1: α = 1", low=0.0)
    beta: float = _number(1.0, "paper Eq. 3, §4.1: β = 1", low=0.0)
    gamma: float = _number(1.0, "paper Eq. 3, §4.1: γ = 1", low=0.0)
    mu: float = _number(1e7, "paper §3.3: time constant of 10⁷ s", above=0.0)
    tau: float = _number(5.0, "paper §3.3, §4.1: promotion above heat 5", low=0.0)
    min_new: int = _number(5, "pages not yet analysed that a promotion needs; 1 in the paper", low=1)
    promote_every: int = _number(
        64, "pages placed between two checks for hot segments; the paper checks after each page", low=1
    )
    segment_keywords: int = _number(
        24, "keywords of a segment that are compared, the most frequent ones", low=1, high=1000
    )
    segment_summary_chars: int = _number(
        1200, "characters of a segment's summary, made of sentences of its pages", low=80
    )

    # Long-term memory
    user_facts: int = _number(
        100, "paper §3.3: facts held of a person; tastes are archived first, in preset `paper` the oldest fact", low=1
    )
    agent_facts: int = _number(100, "paper §3.3: facts held of a person on the agent's side; archived likewise", low=1)
    facts_when: Literal["read", "promoted"] = _choice(
        "read",
        "when facts are learnt: at promotion in the paper; as soon as their page is analysed in `default`",
        "read",
        "promoted",
    )

    # Consolidation
    batch_pages: int = _number(8, "pages that one consolidation processes; 1 in the paper", low=1, high=64)
    batch_wait_s: float = _number(
        600.0, "the longest time that a pending page waits for a full batch", low=0.0, high=_LONGEST_S
    )
    quiet_s: float | None = _number(
        5.0,
        "silence after which the extractive analyst reads a page without a reply; None: after the reply or the next "
        "page; docs/operations/workers.md",
        low=0.0,
        high=86_400.0,
    )
    attempts: int = _number(5, "attempts of the configured analyst before the extractive analyst is used", low=1)
    retry_base_s: float = _number(
        30.0, "pause after the first failure; doubled after each further one", above=0.0, high=_LONGEST_S
    )
    retry_max_s: float = _number(3600.0, "longest pause between attempts", above=0.0, high=_LONGEST_S)
    lease_s: float = _number(
        60.0, "how long a worker's claim on an owner lasts without renewal", above=0.0, high=_LONGEST_S
    )
    slice_pages: int = _number(
        32,
        "pages of one owner that a worker places in one turn",
        low=1,
    )
    slice_s: float = _number(
        5.0,
        "seconds that a worker spends on one owner in one turn: one or two batches with a model",
        above=0.0,
        high=_LONGEST_S,
    )
    worker_threads: int = _number(
        4,
        "owners that one `embermem worker` processes at the same time; docs/operations/workers.md",
        low=1,
        high=256,
    )
    worker_stall_s: float = _number(
        300.0,
        "silence of a thread of `embermem worker` after which /health says that it hangs; with a model, "
        "5 × model_timeout_s × (1 + model_retries) are added; docs/operations/workers.md",
        above=0.0,
        high=_LONGEST_S,
    )
    background: bool = _plain(True, "whether a background thread of this process embeds and consolidates new pages")
    pause_s: float = _number(
        0.2,
        "how long the background thread waits after an add, so that it does not delay an answer",
        low=0.0,
        high=60.0,
    )
    poll_s: float = _number(
        5.0, "how often the background thread and workers check for due owners", above=0.0, high=_LONGEST_S
    )
    embed_batch: int = _number(64, "texts per call of the embedder", low=1, high=4096)

    # Recall
    top_m: int = _number(5, "paper §3.4, §4.1: m = 5 segments", low=1)
    top_k: int = _number(10, "paper §4.1: k = 10 pages on LoCoMo (5 on GVD)", low=1)
    top_facts: int = _number(10, "paper §3.4: 10 facts of each kind", low=0)
    hits: int = _number(50, "ranked utterances in a Context", low=1, high=1000)
    budget: int = _number(1200, "tokens of a context if the caller gives no budget", low=1)
    token_counter: Literal["approx", "words"] = _choice(
        "approx", "how tokens are counted; docs/concepts/recall.md", "approx", "words"
    )
    recall_embed_limit: int = _number(32, "utterances without a vector that recall embeds", low=0)
    k_1: float = _number(1.2, "BM25's k₁, the usual value", low=0.0)
    b: float = _number(0.75, "BM25's b, the usual value", low=0.0, high=1.0)
    query_terms: int = _number(
        64, "words of a query that BM25 searches for, the rarest ones; a pasted page has hundreds", low=1
    )

    # Recall, preset `default`: weights of the channels in index/fusion.py
    recall_dense: float = _number(0.5, _FITTED)
    recall_window: float = _number(0.3, _FITTED)
    recall_late: float = _number(1.0, _FITTED)
    recall_speaker: float = _number(2.2, _FITTED)
    recall_date: float = _number(
        6.0, "above what words and vectors set two texts apart that are both relevant; questions about days of ours"
    )
    recall_document: float = _number(
        0.5, "how near the whole document of a passage comes; docs/research/bench.md, documents (ours)", low=0.0
    )
    recall_length: float = _number(
        -1.2, "what a long text loses: times ln(characters / 150), above 150; docs/research/recall.md", high=0.0
    )
    late_candidates: int = _number(192, "candidates for late interaction: the best rows by the other channels", low=1)
    recall_told: float = _number(
        1.5, "redundancy penalty: factor of ln(1 + characters of the same thread ranked above / told_unit)", low=0.0
    )
    told_unit: float = _number(2000.0, "characters: about 350 words", above=0.0)
    recall_lately: float = _number(
        0.6,
        "weight of ln(1 + threads begun since) against what a long request may mean; set on two people of RealMem: "
        "any@5 .621 and .702 without, .634 and .736 with 0.6 for every query",
        low=0.0,
    )
    recall_wishes: float = _number(
        2.0,
        "for a query that asks for advice, weight of an utterance on which a wish, a taste or a limit rests that holds",
        low=0.0,
    )
    recall_before: float = _number(
        0.5,
        "what a word of the turns that a follow-up rests on counts, relative to one of its own; "
        "bench/sets/follow_ups.json",
        low=0.0,
        high=1.0,
    )

    confidence_base: float = _number(-8.7, _CALIBRATED)
    confidence_words: float = _number(1.5, _CALIBRATED)
    confidence_late: float = _number(9.1, _CALIBRATED)
    confidence_cosine: float = _number(13.2, _CALIBRATED)
    confidence_length: float = _number(0.2, _CALIBRATED)
    confidence_whose: float = _number(30.0, _CALIBRATED)
    confidence_tau: float = _number(
        0.08, "temperature of the soft maximum over eight utterances; 0.05 to 0.15 give the same", above=0.0
    )
    confidence_as_cosine: float = _number(0.45, "cosine assumed without token vectors if all words are found")
    confidence_like: float = _number(
        0.85, "similarity assumed for a word that is found, without token vectors", low=0.0, high=1.0
    )
    confidence_unlike: float = _number(
        0.3, "similarity assumed for a missing word, without token vectors", low=0.0, high=1.0
    )

    relevance_base: float = _number(0.34, _FITTED_RELEVANCE)
    relevance_answerable: float = _number(1.33, _FITTED_RELEVANCE)
    relevance_share: float = _number(0.72, _FITTED_RELEVANCE, low=0.0)
    relevance_paper_base: float = _number(-7.2, _FITTED_PAPER)
    relevance_paper_page: float = _number(8.6, _FITTED_PAPER, low=0.0)
    holds_base: float = _number(-0.6, _FITTED_HOLDS)
    holds_answerable: float = _number(0.225, _FITTED_HOLDS)

    # Packing, preset `default`: docs/concepts/recall.md
    pack_candidates: int = _number(300, "utterances considered for packing, the best ones", low=1)
    pack_token_floor: float = _number(6.0, "tokens added to the cost of every line", low=0.0)
    pack_least_share: float = _number(
        0.2,
        "packing ends when the next 1,000 tokens are expected to add less than this share of the evidence",
        low=0.0,
    )
    pack_sure: float = _number(
        0.15,
        "confidence from which what was said may take all of the budget; docs/concepts/recall.md",
        above=0.0,
        high=1.0,
    )
    pack_line_least: int = _number(200, "tokens that one utterance may always take, if the budget allows", low=1)
    pack_head_share: float = _number(
        0.3,
        "share of what is packed for the profile, the user's instructions and what bears by its theme",
        low=0.0,
        high=1.0,
    )
    standing_facts: int = _number(
        4,
        "goals and limits of the user packed where they bear on the query; 0: none; docs/concepts/recall.md",
        low=0,
        high=20,
    )
    standing_goal_days: float = _number(
        365.0, "days after which a goal lapses if it is not said again; limits never lapse", above=0.0
    )
    standing_recency: float = _number(0.1, "added to a goal's or limit's similarity, times its recency", low=0.0)
    standing_recency_days: float = _number(90.0, "days after which recency is 1/e", above=0.0)
    facts_told: int = _number(6, "facts packed with a query, the most; 0: none", low=0, high=100)
    facts_least: float = _number(
        0.1, "probability of holding the evidence from which a fact's source makes it told", low=0.0, high=1.0
    )

    # Ablation
    without: Literal["nothing", "mid_term", "long_term", "chain"] = _choice(
        "nothing",
        "MemoryOS paper, Figure 2: the part that an ablation leaves out; docs/research/studies.md",
        "nothing",
        "mid_term",
        "long_term",
        "chain",
    )

    # Input
    timezone: str = _plain("UTC", "zone of times given without one")
    max_text_chars: int = _number(1_000_000, "characters of the longest message", low=1)
    max_document_chars: int = _number(20_000_000, "characters of the longest document, and bytes of its file", low=1)
    redact: Literal["none", "secrets"] = _choice(
        "none", "what is removed from a text before it is stored; docs/guides/sensitive.md", "none", "secrets"
    )

    # What is remembered
    fields: tuple[Field, ...] | None = _plain(
        None,
        "fields of one's own: a TOML file with a table for each, or the tables [fields.NAME]; none: those that the "
        "store remembers; docs/guides/fields.md",
    )
    remember: tuple[str, ...] = _plain((), "a list of what to remember, for the model; docs/guides/fields.md")
    never: tuple[str, ...] = _plain(
        (),
        'a list of what never to keep: attributes, kinds of sensitive content, "words", /patterns/; '
        "docs/guides/fields.md",
    )

    # Retention
    retention: bool = _plain(
        False, "whether memories that are not used fade into the archive; docs/concepts/retention.md"
    )
    retention_strength_days: float = _number(
        30.0, "S of MemoryBank §2.3 before the first recall; 1 in the paper", above=0.0, high=36_500
    )
    retention_floor: float = _number(
        0.05, "R below which a memory fades: after 90 days with S = 30 (ours)", low=0.0, high=1.0
    )
    retention_every_s: float = _number(
        86_400.0, "how often consolidation checks an owner for faded memories", above=0.0, high=_LONGEST_S
    )

    # Parts
    embedder: str = _plain("auto", "`auto`, `e5`, `hashed`, or `openai:<model>` for an OpenAI-compatible endpoint")
    embedder_url: str = _plain("", "base URL of that endpoint, such as http://127.0.0.1:11434/v1")
    embedder_key: str = field(default="", repr=False, metadata={"source": "its key; set it in the environment"})
    model: str = _plain(
        "",
        "the language model: a name at an OpenAI-compatible endpoint, `anthropic:NAME` or `google:NAME`; empty: none",
    )
    model_url: str = _plain("", "base URL of the endpoint; else OPENAI_BASE_URL, else OpenAI's")
    model_key: str = field(default="", repr=False, metadata={"source": "its key; else OPENAI_API_KEY"})
    model_timeout_s: float = _number(
        60.0,
        "the longest silence of a model within its answer; it may take 5 times as long to begin it",
        above=0.0,
        high=3600.0,
    )
    model_retries: int = _number(2, "retries after a timeout, 429 or 5xx", low=0, high=10)
    model_retry_max_s: float = _number(
        20.0, "longest pause before a retry; if the server asks for more, the work waits", low=0.0, high=3600.0
    )
    model_breaker_failures: int = _number(5, "consecutive failures that open the circuit breaker", low=1)
    model_breaker_s: float = _number(60.0, "how long the circuit breaker stays open", above=0.0, high=_LONGEST_S)
    model_concurrency: int = _number(
        4, "simultaneous model requests of one process, without replies of chat", low=1, high=10_000
    )
    model_answer_tokens: int = _number(4000, "most tokens of one structured answer", low=64, high=200_000)
    model_chat_tokens: int = _number(2000, "most tokens of one reply of chat", low=16, high=200_000)
    chat_turn_tokens: int = _number(
        1500, "most tokens of the newest turns that chat adds to the prompt", low=0, high=1_000_000
    )
    model_cache: str = _plain(
        "", "a file outside the store that records whole requests and replies, for benchmarks and tests"
    )
    calls_per_day: int | None = _number(None, "model calls per day (UTC) for all owners; None: no limit", low=0)
    tokens_per_day: int | None = _number(None, "model tokens per day for all owners; None: no limit", low=0)
    owner_calls_per_day: int | None = _number(None, "model calls per day for one owner; None: no limit", low=0)
    owner_tokens_per_day: int | None = _number(None, "model tokens per day for one owner; None: no limit", low=0)
    busy_timeout_s: float = _number(60.0, "how long a write waits for other writers", low=0.0, high=86_400.0)
    forgotten_key_file: str = _plain(
        "",
        "with PostgreSQL: the file with the key of forgotten values; docs/operations/postgresql.md",
    )
    resident_bytes: int = _number(
        512 * 2**20, "memory for the owners' indexes; the least recently used are dropped", low=0
    )

    index_cache: str = _plain(
        "auto",
        "where indexes are kept so that a process need not work them out: auto (beside an SQLite file; with PostgreSQL "
        "nowhere), off, or a folder of this machine; docs/operations/storage.md",
    )
    index_cache_from: int = _number(
        1000,
        "utterances from which an owner's index is kept in a file; with fewer it is soon worked out",
        low=1,
    )

    # The service
    http_body_bytes: int = _number(4 * 2**20, "largest body of a request", low=1024)
    http_answer_bytes: int = _number(8 * 2**20, "largest page of a list; a single item may be larger", low=1024)
    http_import_bytes: int = _number(
        64 * 2**20, "largest file that the inspector takes: an import, a document", low=1024
    )
    http_threads: int = _number(
        8, "threads for requests: with 50 clients on two cores a third faster than 40 threads", low=1
    )
    http_rate_per_minute: int = _number(600, "requests per minute for each key; 0: no limit", low=0)
    http_connections: int = _number(
        1000, "open connections: 500 event streams and as many other clients", low=10, high=1_000_000
    )
    http_request_s: float = _number(
        20.0,
        "how long the head of a request may take to arrive, as in Apache's mod_reqtimeout",
        above=0.0,
        high=3600.0,
    )
    http_least_rate: int = _number(
        500, "least bytes per second for request bodies and for reading answers, as in mod_reqtimeout", low=1
    )
    http_trusted_proxies: str = _plain(
        "", "addresses and networks of trusted reverse proxies (X-Forwarded-For, -Proto), separated by commas"
    )
    http_stop_s: float = _number(10.0, "how long a stopping server waits for requests in progress", low=0.0, high=600.0)
    webhook_hosts: str = _plain(
        "",
        "hosts, addresses and networks that webhooks may reach though they are not public, and over http://, separated "
        "by commas",
    )
    webhook_timeout_s: float = _number(10.0, "how long one delivery to a webhook may take", above=0.0, high=300.0)
    webhook_attempts: int = _number(
        16, "attempts to deliver before a webhook is stopped: about nine hours", low=1, high=1000
    )
    trace_text: bool = _plain(False, "whether OpenTelemetry spans contain the text of queries")
    proxy_url: str = _plain(
        "", "the proxy's upstream base URL, such as https://api.openai.com/v1; else model_url, else OPENAI_BASE_URL"
    )
    proxy_key: str = field(
        default="",
        repr=False,
        metadata={"source": "its key; else model_key or OPENAI_API_KEY, if they are for the same host"},
    )
    proxy_anthropic_url: str = _plain(
        "", "the proxy's upstream for Anthropic's clients, such as https://api.anthropic.com; else the one of proxy_url"
    )
    proxy_anthropic_key: str = field(default="", repr=False, metadata={"source": "its key"})
    proxy_ollama_url: str = _plain(
        "", "the proxy's upstream for Ollama's clients, such as http://127.0.0.1:11434; else the one of proxy_url"
    )
    proxy_ollama_key: str = field(default="", repr=False, metadata={"source": "its key"})
    proxy_budget: int = _number(1200, "tokens of memory that the proxy adds to a request", low=1)
    proxy_timeout_s: float = _number(
        600.0,
        "how long the proxy waits for the head of the upstream answer, then for a whole body or the next bytes of a "
        "stream; as in OpenAI's clients",
        above=0.0,
        high=86_400.0,
    )
    proxy_answer_bytes: int = _number(32 * 2**20, "largest upstream answer that is held in memory", low=1024)
    proxy_body_bytes: int = _number(32 * 2**20, "largest body of a chat request; it may contain images", low=1024)
    proxy_known: int = _number(200_000, "message hashes that the proxy caches, about 300 bytes each", low=0)

    @property
    def attributes(self) -> Attributes:
        """The attributes of facts: those that are built in, and the fields."""
        return vocabulary(self.fields or (), self.never).attributes

    @property
    def never_kept(self) -> Never:
        """What `never` names."""
        return vocabulary(self.fields or (), self.never).never


MODES: tuple[Mode, ...] = get_args(Mode)
PRESETS: Mapping[str, Mapping[str, object]] = {
    "default": {},
    # The paper's steps and constants, exactly.
    "paper": {
        "min_new": 1,
        "promote_every": 1,
        "batch_pages": 1,
        "batch_wait_s": 0.0,
        "quiet_s": None,
        "facts_when": "promoted",
        "placed_by": "page",
        "heat_since": "arrived",
    },
}

SHOWN_KEYWORDS = 8
"""Keywords of a segment that are shown, at most: those that tell it from others."""
COMMON_SHARE, COMMON_LEAST = 0.15, 12
"""A keyword of more than this share of the pages, and of more than so many, tells nothing of a topic (ours)."""
TOPIC_WORDS_MOST = 8
"""Two groups of pages are one topic by their keywords only if they have one more in common than the smaller one has
pages, or so many (ours)."""

QUIET_MESSAGES = 16
"""A page is read whole each time a message joins it, so it waits `quiet_s` for each so many messages since it began,
the last ones counted as whole: the longer it is, the more rarely it is read (ours)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractiveSettings:
    """Limits and thresholds. All lengths are in characters unless the name says otherwise."""

    max_chars: int = 20_000
    """The part of each utterance that is read for facts, keywords and summaries."""
    max_facts: int = 40
    """Most facts from one utterance; more indicates a list or pasted text."""
    keywords: int = 8
    """Keywords of a page; the Jaccard term of the paper needs few and specific ones."""

    summary_chars: int = 320
    summary_sentences: int = 3
    sentence_chars: int = 200
    """A longer sentence is cut at a word and ends in "…"."""
    page_sentences: int = 3
    """Sentences that a page gives to its segment's summary."""
    telling: float = 0.9
    """What a sentence after a page's first must be worth."""
    page_phrases: int = 8
    """Phrases that a page gives to its segment's title."""
    title_words: int = 8
    second_phrase: float = 0.25
    """The worth of a title's second phrase, relative to that of its first."""

    break_after_s: float = 6 * 3600.0
    """A longer silence ends the chain."""
    continue_at: float = 0.7
    """The probability from which a page continues its chain."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelReadingSettings:
    """What a language model is shown of a batch, and what is kept of its answers (all ours). Lengths are in characters;
    longer texts are cut, longer values are dropped."""

    utterance_chars: int = 2_000
    """The shown part of each utterance."""
    annotate_chars: int = 40_000
    """The shown part of one batch, about 10,000 tokens. The longest utterances are cut first."""
    profile_chars: int = 40_000
    tail_chars: int = 120
    """The shown part of each utterance of the page before a batch, to decide whether the topic continues."""
    tail_utterances: int = 2
    speaker_chars: int = 40
    known_facts: int = 8
    """Known facts shown at a promotion, those that the pages may confirm, change or end."""
    claims: int = 64
    """Most findings of the extractive analyst that are shown at a promotion, the first ones."""

    keywords: int = 8
    """As many as the extractive analyst keeps."""
    chain_chars: int = 480
    """Of a chain's summary; the prompt asks for 40 words."""
    segment_chars: int = 900
    """Of a segment's summary; the prompt asks for 100 words."""
    title_chars: int = 80
    title_words: int = 8
    """A longer title is none."""
    summary_sources: int = 64
    """Most source utterances of a summary, the newest ones."""
    fact_chars: int = 200
    value_chars: int = 100
    subject_chars: int = 60
    attribute_chars: int = 40
    field_chars: int = 60
    evidence: int = 8
    """Most source utterances of one item."""
    facts: int = 24
    traits: int = 12
    """Most facts and traits kept from one answer, the first ones."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """Settings, and by name where those were given that are not the preset's: "argument", "environment variable NAME"
    or "file PATH, line N"."""

    settings: Settings
    origins: Mapping[str, str]


def load(preset: str | None = None, config: str | Path | None = None, **arguments: object) -> Settings:
    """Settings from argument > environment > file > preset.

    Raises ConfigError that names the setting, what is allowed, and where the value came from.
    """
    return load_with_origins(preset, config=config, **arguments).settings


def load_with_origins(preset: str | None = None, config: str | Path | None = None, **arguments: object) -> Loaded:
    """The same, with where each was given. Raises as `load`."""
    of_file, text = _from_file(config)
    layers = (of_file, _from_environment())
    given = {name: (value, "argument") for name, value in arguments.items() if value is not None}
    if preset is not None:
        given["preset"] = (preset, "argument")
    merged: dict[str, tuple[object, str]] = {}
    for layer in (*layers, given):
        merged.update(layer)
    known = {f.name: f for f in settings_of(Settings)}
    for name, (_, origin) in merged.items():
        if name not in known:
            raise ConfigError(f"unknown setting {name!r} (from {origin}); known: {', '.join(sorted(known))}")
    chosen, origin = merged.get("preset", ("default", "preset"))
    if not isinstance(chosen, str) or chosen not in PRESETS:
        raise ConfigError(f"preset = {chosen!r} (from {origin}) is not allowed; one of: {', '.join(PRESETS)}")
    checked = {
        name: _LISTS[name](value, origin)
        if name in _LISTS
        else checked_value(
            name,
            str(known[name].type),
            value,
            known[name].metadata,
            origin=f" (from {origin})",
            secret=name in SECRETS,
        )
        for name, (value, origin) in merged.items()
    }
    values: dict[str, Any] = {**PRESETS[str(chosen)], **checked, "preset": chosen}
    settings = Settings(**values)
    try:
        vocabulary(settings.fields or (), settings.never)
    except ConfigError as error:
        origins = dict.fromkeys(merged[name][1] for name in ("fields", "never") if name in merged)
        if isinstance(path := merged.get("fields", (None,))[0], (str, Path)):
            origins = dict.fromkeys((f"file {path}", *origins))
        raise ConfigError(f"{error} (from {', '.join(origins)})") from error
    given_by = {name: origin for name, (_, origin) in merged.items()}
    placed = {name: _line_of(name, text) for name, origin in given_by.items() if origin.startswith(_FILE)}
    return Loaded(settings=settings, origins={name: by + placed.get(name, "") for name, by in given_by.items()})


def _line_of(name: str, text: str) -> str:
    """Where a setting stands in the text of a settings file: ", line 3"; "" where that cannot be told."""
    head = re.compile(rf"\s*{re.escape(name)}\s*[=.]|\s*\[{re.escape(name)}\b")
    line = next((no for no, one in enumerate(text.splitlines(), 1) if head.match(one)), None)
    return "" if line is None else f", line {line}"


def _fields(value: object, origin: str) -> tuple[Field, ...] | None:
    """Fields as they are given in code, the path of their file, or the tables of a settings file."""
    if value is None:
        return None
    if isinstance(value, (str, Path)):
        beside = Path(origin.removeprefix(_FILE)).parent if origin.startswith(_FILE) else Path()
        return fields_from_file(beside / Path(value).expanduser())
    if isinstance(value, Mapping):
        text = Path(origin.removeprefix(_FILE)).read_text(encoding="utf-8") if origin.startswith(_FILE) else ""
        return fields_from_table(value, origin, line_finder(text, "fields."))
    if not isinstance(value, Sequence) or not all(isinstance(one, Field) for one in value):
        raise ConfigError(
            f"fields (from {origin}) must be a list of Field, the path of a TOML file, or a table of fields"
        )
    return tuple(value)


def _texts(name: str) -> Callable[[object, str], tuple[str, ...]]:
    """A list of texts; in the environment a line for each."""

    def read(value: object, origin: str) -> tuple[str, ...]:
        lines = [line for line in value.splitlines() if line.strip()] if isinstance(value, str) else value
        return listed(lines, f"{name} (from {origin})")

    return read


_LISTS: Mapping[str, Callable[[object, str], Any]] = {
    "fields": _fields,
    "remember": _texts("remember"),
    "never": _texts("never"),
}
"""Settings that hold more than one value, each with how it is read."""


def _from_environment() -> dict[str, tuple[object, str]]:
    known = {f.name for f in settings_of(Settings)}
    found: dict[str, tuple[object, str]] = {}
    for key, value in os.environ.items():
        name = key.removeprefix(ENV_PREFIX).lower()
        if key.startswith(ENV_PREFIX) and name not in known and (meant := get_close_matches(name, known, 1, 0.8)):
            logger.warning(
                "unknown setting in the environment: %s; did you mean %s%s?", key, ENV_PREFIX, meant[0].upper()
            )
        if key.startswith(ENV_PREFIX) and name in known and value != "":
            found[name] = (value, f"environment variable {key}")
    return found


def _from_file(config: str | Path | None) -> tuple[dict[str, tuple[object, str]], str]:
    """The settings of the file, and its text."""
    named = config or os.environ.get(ENV_PREFIX + "CONFIG")
    path = Path(named) if named else Path(CONFIG_FILE)
    if not named and not path.is_file():
        return {}, ""
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"cannot read the configuration file {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the configuration file {path} is not valid TOML: {error}") from error
    return {name: (value, f"{_FILE}{path}") for name, value in content.items()}, text
