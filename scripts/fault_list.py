"""The deliberate faults: mistakes that a developer could make, each of which changes what a user sees.

`scripts/faults.py` plants them one at a time and runs the tests that execute the changed lines.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One mistake: in `file` the text `old`, which occurs once, becomes `new`; then `breaks` is what a user sees.

    `tests` are patterns of the test files that are recorded for it, below `tests`. `engine` is what these tests store
    in. Files lie below `src/embermem`. `once`: a process runs the code once and keeps what it gives, so all tests of
    these files count as run.
    """

    name: str
    breaks: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    engine: str = "sqlite"
    once: bool = False


_LEASES_AND_REVISIONS = (
    Fault(
        name="lease-unchecked",
        breaks="a worker whose lease another took over still applies its result",
        file="store/queries/worker_queries.py",
        old="held = {} if lease is None else {",
        new="held = {} if True else {",
        tests=("test_store_suite.py",),
    ),
    Fault(
        name="lease-shared",
        breaks="two workers hold one owner at the same time",
        file="store/statements.py",
        old="return or_(until.is_(None), until <= at, until > int(latest))",
        new="return or_(until.is_(None), until >= at, until > int(latest))",
        tests=("test_store_suite.py",),
    ),
    Fault(
        name="revision-unchecked",
        breaks="a change that was decided before another one overwrites it",
        file="store/states.py",
        old="if known.no != revision:",
        new="if known.no < revision:",
        tests=("test_store_suite.py", "test_consolidation.py"),
    ),
    Fault(
        name="birth-unchecked",
        breaks="a change that was decided of an owner who was forgotten is written of the next of that name",
        file="store/states.py",
        old="if born is not None and known.held.born != micros(born):",
        new="if born is not None and known.held.born < micros(born):",
        tests=("test_store_suite.py", "test_forgotten_owner.py"),
    ),
    Fault(
        name="heartbeat-rare",
        breaks="a lease runs out while its worker waits for a model",
        file="memoryos/ingest/leases.py",
        old="max(_LEAST_S, lease_s / _BEATS)",
        new="max(_LEAST_S, lease_s * _BEATS)",
        tests=("test_workers.py",),
    ),
    Fault(
        name="turns-by-age",
        breaks="new owners wait until all older ones have nothing to do",
        file="store/queries/worker_queries.py",
        old=".order_by(owner.c.due_at).limit(limit)",
        new=".order_by(owner.c.created_at).limit(limit)",
        tests=("test_workers.py", "test_store_suite.py"),
    ),
    Fault(
        name="slice-endless",
        breaks="an owner with slow pages keeps a worker to itself",
        file="memoryos/ingest/pipeline.py",
        old="return claim.placed >= settings.slice_pages or seconds >= settings.slice_s",
        new="return claim.placed >= settings.slice_pages and seconds >= settings.slice_s",
        tests=("test_workers.py",),
    ),
    Fault(
        name="attempts-one-more",
        breaks="a failing model is asked once more than the setting allows",
        file="memoryos/ingest/read.py",
        old="if tried < claim.settings.attempts:",
        new="if tried <= claim.settings.attempts:",
        tests=("test_consolidation.py", "test_redo.py", "test_model_outages.py"),
    ),
)

_OWNERS = (
    Fault(
        name="utterances-of-all-owners",
        breaks="one owner is shown what another said",
        file="store/statements.py",
        old="select(table).where(table.c.owner_id == owner_id, table.c.seq > after_seq, *where)",
        new="select(table).where(table.c.seq > after_seq, *where)",
        tests=("test_store_suite.py", "test_public_face.py"),
    ),
    Fault(
        name="metadata-of-all-owners",
        breaks="a fact has metadata of what another owner said",
        file="store/queries/persona.py",
        old="where(said.owner_id == known.owner_id, said.metadata.is_not(None))",
        new="where(said.metadata.is_not(None))",
        tests=("test_inherited_metadata.py", "test_store_suite.py", "test_scopes.py"),
    ),
    Fault(
        name="threads-of-all-owners",
        breaks="a message joins a page of another owner's thread of the same name",
        file="store/queries/log.py",
        old='.where(schema.page.c.owner_id == bindparam("of"), schema.page.c.thread == bindparam("thread"))',
        new='.where(schema.page.c.thread == bindparam("thread"))',
        tests=("test_store_suite.py", "test_pages.py"),
    ),
    Fault(
        name="keys-of-all-owners",
        breaks="a key of `add` that another owner used is refused",
        file="store/receipts.py",
        old='schema.receipt.c.owner_id == bindparam("of"), schema.receipt.c.key == bindparam("key")',
        new='schema.receipt.c.key == bindparam("key")',
        tests=("test_store_suite.py", "test_pages.py", "test_messages.py", "test_public_face.py"),
    ),
    Fault(
        name="barred-by-all-owners",
        breaks="what one owner forgot is not learnt from another owner's same words",
        file="store/erasing.py",
        old="table.c.owner_id == owner_id, table.c.mark.in_(some)",
        new="table.c.mark.in_(some)",
        tests=("test_receipts.py", "test_forgetting.py"),
    ),
)

_FILES_AND_LOGS = (
    Fault(
        name="no-wal",
        breaks="readers and the writer of a file wait for each other",
        file="store/engines/sqlite_file.py",
        old='            "journal_mode=WAL",\n',
        new="",
        tests=("test_sqlite.py", "test_two_versions.py"),
    ),
    Fault(
        name="no-fsync",
        breaks="what was acknowledged is lost when the power fails",
        file="store/engines/sqlite_file.py",
        old='"synchronous=FULL", ',
        new='"synchronous=OFF", ',
        tests=("test_sqlite.py", "test_interrupts.py"),
    ),
    Fault(
        name="words-in-errors",
        breaks="the cause of a database error quotes what was said",
        file="store/engines/sqlite_file.py",
        old="hide_parameters=True,",
        new="hide_parameters=False,",
        tests=("test_sqlite.py", "test_damage.py"),
    ),
    Fault(
        name="schema-unchecked",
        breaks="an older program writes into a store that a newer one has migrated meanwhile",
        file="store/migrations.py",
        old="    if found != HEAD:\n",
        new="    if found is None:\n",
        tests=("test_two_versions.py", "test_migrations.py"),
    ),
    Fault(
        name="no-backup",
        breaks="an older store is migrated without a copy of it",
        file="store/engines/sqlite_schema.py",
        old='                    _copy(connection, path, path.with_name(f"{path.name}.before-{HEAD}"))\n',
        new="",
        tests=("test_migrations.py", "test_two_versions.py"),
    ),
    Fault(
        name="content-uncompared",
        breaks="other content under a key that was used before is dropped without an error",
        file="store/receipts.py",
        old=(
            "    if row is not None and not same_digest(row.digest, digest, secret() if is_keyed(row.digest) "
            'else b""):\n'
            '        raise KeyReused(f"the key {key!r} was used before with other content; nothing was stored; '
            'give a new key")\n'
        ),
        new="",
        tests=("test_store_suite.py", "test_messages.py"),
    ),
    Fault(
        name="receipt-one-early",
        breaks="an add that is repeated under its key also answers with the utterance before it",
        file="store/queries/log.py",
        old="before.seq + 1, before.seq + len(messages), at)",
        new="before.seq, before.seq + len(messages), at)",
        tests=("test_store_suite.py", "test_messages.py", "test_public_face.py"),
    ),
    Fault(
        name="owner-unlocked",
        breaks="two processes that add at the same time give one number twice, or fail",
        file="store/statements.py",
        old="_LOCKED = _OWNER.with_only_columns(schema.owner.c.seq).with_for_update()",
        new="_LOCKED = _OWNER.with_only_columns(schema.owner.c.seq)",
        tests=("test_postgres.py", "test_statements.py"),
        engine="postgresql",
    ),
    Fault(
        name="many-states",
        breaks="one read on a server mixes what stood before and after a change",
        file="store/engines/postgres.py",
        old='connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)',
        new="connection.execution_options(postgresql_readonly=True)",
        tests=("test_postgres.py", "test_statements.py"),
        engine="postgresql",
    ),
    Fault(
        name="password-shown",
        breaks="errors, `stats` and `doctor` print the password of the server",
        file="store/engines/postgres.py",
        old="return shown.render_as_string(hide_password=True)",
        new="return shown.render_as_string(hide_password=False)",
        tests=("test_postgres.py",),
        engine="postgresql",
    ),
    Fault(
        name="repeated-after-a-cut",
        breaks="a write that may have been committed when the connection broke is made twice",
        file="store/transactions.py",
        old="                if not error.undone:\n                    raise\n",
        new="",
        tests=("test_postgres.py",),
        engine="postgresql",
    ),
)

_TIERS = (
    Fault(
        name="short-term-one-more",
        breaks="short-term memory keeps one page more than the setting says",
        file="store/queries/worker_queries.py",
        old="return and_(page.c.segment_id.is_(None), page.c.no.between(1, owner.c.pages - short))",
        new="return and_(page.c.segment_id.is_(None), page.c.no.between(1, owner.c.pages - short - 1))",
        tests=("test_store_suite.py", "test_consolidation.py"),
    ),
    Fault(
        name="exchange-joins",
        breaks="an exchange given whole joins the open page of its thread",
        file="core/paging.py",
        old="return role.agent_side or not (tail.answered or fresh or another)",
        new="return role.agent_side or not (tail.answered or another)",
        tests=("test_pages.py", "test_messages.py"),
    ),
    Fault(
        name="f-score-sign",
        breaks="pages join segments that share no keyword with them",
        file="core/equations.py",
        old="return cosine + jaccard",
        new="return cosine - jaccard",
        tests=("test_equations.py", "test_mid_term.py"),
    ),
    Fault(
        name="heat-sign",
        breaks="what was used lately is colder than what was not",
        file="core/equations.py",
        old="beta * L_interaction + gamma * R_recency",
        new="beta * L_interaction - gamma * R_recency",
        tests=("test_equations.py", "test_mid_term.py"),
    ),
    Fault(
        name="keywords-unshown",
        breaks="keywords that a segment does not show decide which pages join it",
        file="memoryos/ingest/mid_term.py",
        old="frozenset(count.word for count in segment.keywords[:shown])",
        new="frozenset(count.word for count in segment.keywords)",
        tests=("test_mid_term.py", "test_consolidation.py"),
    ),
    Fault(
        name="segment-of-its-last-page",
        breaks="a segment's vector is that of the page that joined last",
        file="memoryos/ingest/mid_term.py",
        old="vector_sum=added(segment.vector_sum, view.vector)",
        new="vector_sum=view.vector",
        tests=("test_mid_term.py", "test_consolidation.py"),
    ),
    Fault(
        name="evict-the-hottest",
        breaks="above the capacity the hottest segment leaves for the archive",
        file="memoryos/ingest/mid_term.py",
        old="return min(free, key=",
        new="return max(free, key=",
        tests=("test_mid_term.py", "test_consolidation.py"),
    ),
    Fault(
        name="evict-at-capacity",
        breaks="mid-term memory holds one segment less than the setting says",
        file="memoryos/ingest/mid_term.py",
        old="if len(segments) <= settings.mid_term_segments:",
        new="if len(segments) < settings.mid_term_segments:",
        tests=("test_mid_term.py", "test_consolidation.py"),
    ),
    Fault(
        name="promote-without-news",
        breaks="a segment is promoted before it has as many new pages as the setting says",
        file="memoryos/ingest/mid_term.py",
        old="if s.unanalysed >= settings.min_new and heat_of(s, at, settings) > settings.tau]",
        new="if heat_of(s, at, settings) > settings.tau]",
        tests=("test_mid_term.py", "test_consolidation.py"),
    ),
    Fault(
        name="chain-of-an-older-page",
        breaks="a page that continues the one before it joins an older page's chain",
        file="memoryos/ingest/short_term.py",
        old="        ends[page.thread] = chain_id\n",
        new="",
        tests=("test_consolidation.py", "test_redo.py"),
    ),
    Fault(
        name="allergy-fades",
        breaks="an allergy that nobody asked for leaves for the archive",
        file="memoryos/ingest/decay.py",
        old="waits = kept is not None or (not isinstance(item, Fact) and item.unanalysed > 0)",
        new="waits = not isinstance(item, Fact) and item.unanalysed > 0",
        tests=("test_retention.py",),
    ),
    Fault(
        name="expiry-put-off",
        breaks="a page that is to expire soon expires with the message that joined it later",
        file="store/queries/log.py",
        old="page.c.expires_at > at))",
        new="page.c.expires_at < at))",
        tests=("test_expiry.py",),
    ),
)

_PERSONA = (
    Fault(
        name="archive-the-newest",
        breaks="above the cap the newest facts leave the persona, and the oldest stay",
        file="memoryos/ingest/knowledge_cap.py",
        old="for fact_id in first[: max(0, over)]]",
        new="for fact_id in first[len(first) - max(0, over) :]]",
        tests=("test_long_term.py", "test_consolidation.py"),
    ),
    Fault(
        name="own-line-overwritten",
        breaks="a profile line that the caller set is replaced by what an analyst read",
        file="memoryos/ingest/long_term.py",
        old="            known.set_by == CALLER\n            or same_value(",
        new="            same_value(",
        tests=("test_long_term.py",),
    ),
    Fault(
        name="corrected-and-learnt-again",
        breaks="a value that the caller corrected is learnt again from an older page",
        file="memoryos/correct/corrections.py",
        old=(
            "    if not same_value(fact.value, value, fact.attribute):\n        decisions.append(denied(fact, seq))\n"
        ),
        new="",
        tests=("test_correction.py",),
    ),
    Fault(
        name="undo-once",
        breaks="a change whose undo was undone cannot be undone again",
        file="memoryos/correct/undoing.py",
        old=(
            "            for no in [no for no, by in self.undone.items() if by == undoes]:\n"
            "                del self.undone[no]  # what was undone by a change that is undone now, stands again\n"
        ),
        new="",
        tests=("test_undo.py",),
    ),
    Fault(
        name="undone-end-ends-again",
        breaks="a fact whose expiry was undone expires again at once",
        file="memoryos/correct/undoing.py",
        old=(
            "        decisions += [FactExpires(fact_id=d.fact_id, at=None) for d in decisions "
            "if isinstance(d, FactRestored)]\n"
        ),
        new="        pass\n",
        tests=("test_undo.py", "test_expiry.py"),
    ),
)

_FORGETTING = (
    Fault(
        name="topics-kept",
        breaks="where a forgotten page was is still told to readers of the past",
        file="store/states.py",
        old="topics=None if self.topics is None else self.topics.redacted(pairs),",
        new="topics=self.topics,",
        tests=("test_states.py", "test_forgetting.py"),
    ),
    Fault(
        name="vectors-kept",
        breaks="vectors of forgotten utterances stay in the store",
        file="store/erasing.py",
        old="for table in (schema.embedding, schema.utterance_value, schema.change_source, schema.utterance)\n",
        new="for table in (schema.utterance_value, schema.change_source, schema.utterance)\n",
        tests=("test_forgetting.py", "test_forgetting_alone.py"),
    ),
    Fault(
        name="ledger-kept",
        breaks="model calls of a user who was forgotten whole stay in the store",
        file="store/erasing.py",
        old="drop_index_files(c, owner_id, self._database)\n        for table in schema.OWNED:\n",
        new="drop_index_files(c, owner_id, self._database)\n        for table in set(schema.OWNED) - {schema.call}:\n",
        tests=("test_forgetting.py", "test_forgotten_owner.py", "test_receipts.py", "test_store_suite.py"),
    ),
    Fault(
        name="line-kept",
        breaks="a profile line that rests on a forgotten page alone stays",
        file="memoryos/forget/redacting.py",
        old="return [replace(d, sources=fact.sources)]\n        return list(self._resting([d]))\n",
        new="return [replace(d, sources=fact.sources)]\n        return [d]\n",
        tests=("test_forgetting.py", "test_forgetting_alone.py"),
    ),
    Fault(
        name="barred-words-teach",
        breaks="words that were forgotten teach the same fact when they are said again",
        file="memoryos/ingest/claim.py",
        old="said = {u.seq: u.said_at for u in every if u.text not in gone}",
        new="said = {u.seq: u.said_at for u in every}",
        tests=("test_receipts.py", "test_forgetting.py"),
    ),
    Fault(
        name="forgotten-and-stored-again",
        breaks="a forgotten message is stored again when a client sends its history again",
        file="store/queries/log.py",
        old="return [one for one, own in zip(messages, marks, strict=True) if known.isdisjoint(own)]",
        new="return messages",
        tests=("test_receipts.py", "test_forgotten_owner.py"),
    ),
    Fault(
        name="scrub-leaves-only",
        breaks="the scrub passes over the inner pages of the file's trees",
        file="store/engines/sqlite_slack.py",
        old="        yield from self._dirty(number, page, top, content)\n",
        new="        if not inner:\n            yield from self._dirty(number, page, top, content)\n",
        tests=("test_slack.py", "test_forgetting.py"),
    ),
    Fault(
        name="digest-readable",
        breaks="guesses can be tried on the digest of a forgotten message that was the last of its add",
        file="store/erasing.py",
        old="purged.isdisjoint(range(row.first_seq, row.last_seq + 1))",
        new="purged.isdisjoint(range(row.first_seq, row.last_seq))",
        tests=("test_forgetting.py", "test_receipts.py", "test_messages.py"),
    ),
    Fault(
        name="verified-unscrubbed",
        breaks="`verify` says that all is gone while deleted bytes are still in the file",
        file="memoryos/forget/forgetting.py",
        old="ok=not found and left.scrubbed and not unchecked,",
        new="ok=not found and not unchecked,",
        tests=("test_receipts.py", "test_forgetting.py"),
    ),
    Fault(
        name="key-readable",
        breaks="every user of the machine may read the key of forgotten values",
        file="store/forgotten_key.py",
        old="os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)",
        new="os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)",
        tests=("test_forgotten_key.py", "test_forgetting.py"),
    ),
)

_LOOKING_BACK = (
    Fault(
        name="as-of-one-change-early",
        breaks="what was known at a time lacks the change that came last before it",
        file="core/state/topics.py",
        old="np.flatnonzero((self.began <= no) & (self.ended > no)",
        new="np.flatnonzero((self.began < no) & (self.ended > no)",
        tests=("test_state.py", "test_past_store.py", "test_past.py"),
    ),
    Fault(
        name="as-of-before-the-moment",
        breaks="what was recorded at just the time that is asked for is left out",
        file="store/queries/changes.py",
        old="log.c.recorded_at <= at)",
        new="log.c.recorded_at < at)",
        tests=("test_past_store.py", "test_past.py"),
        once=True,
    ),
)

_RECALL = (
    Fault(
        name="ties-reversed",
        breaks="of utterances with the same score the later one comes first",
        file="memoryos/recall/retrieval.py",
        old='rows[np.argsort(-scores[rows], kind="stable")[:k]]',
        new='rows[np.argsort(scores[rows], kind="stable")[::-1][:k]]',
        tests=("test_default_ranking.py", "test_golden.py", "test_chinese_recall.py"),
    ),
    Fault(
        name="tokens-estimated",
        breaks="`Context.tokens` is the sum of the lines, not what the text costs",
        file="memoryos/recall/packing.py",
        old="while (tokens := self.counter.count(text)) > self.budget",
        new="while (tokens := self.used) > self.budget",
        tests=("test_packing.py", "test_standing.py"),
    ),
    Fault(
        name="the-head-fills-the-budget",
        breaks="what the user wants of the agent takes the whole budget, and nothing of the conversation is told",
        file="memoryos/recall/packing.py",
        old="            if head > most:\n                return True\n",
        new="",
        tests=("test_instructions.py",),
    ),
    Fault(
        name="threads-interleaved",
        breaks="conversations of one day are told line by line among each other",
        file="memoryos/recall/layout.py",
        old="return (day(u.said_at), *first[day(u.said_at), u.thread], u.said_at, u.seq)",
        new="return (day(u.said_at), u.said_at, u.seq, u.said_at, u.seq)",
        tests=("test_packing.py", "test_paper_preset.py"),
    ),
    Fault(
        name="scope-leaks",
        breaks="a recall gives what its scope leaves out",
        file="memoryos/recall/scoping.py",
        old="shown &= ~np.isin(snapshot.thread_of(n), _numbers(snapshot, scope.not_threads))",
        new="pass",
        tests=("test_default_ranking.py", "test_scopes.py"),
    ),
    Fault(
        name="archive-recalled",
        breaks="preset `paper` recalls segments that were evicted",
        file="memoryos/recall/retrieval.py",
        old="for place in places if not view.snapshot.segments.archived[place]]",
        new="for place in places]",
        tests=("test_paper_preset.py", "test_golden.py"),
    ),
)

_LANGUAGES = (
    Fault(
        name="next-friday-today",
        breaks='"next Friday", said on a Friday, is taken for today',
        file="languages/dates/days.py",
        old="off = off % 7 or 7",
        new="off = off % 7",
        tests=("test_dates.py",),
    ),
    Fault(
        name="chinese-by-pairs",
        breaks="a Chinese word of one character does not find a longer one that holds it",
        file="languages/zh/words.py",
        old="return (*pairs, *characters)",
        new="return tuple(pairs)",
        tests=("test_chinese_recall.py", "test_bm25.py"),
    ),
    Fault(
        name="luhn-shifted",
        breaks="card numbers are stored as they are",
        file="core/sensitive.py",
        old="digits[-1::-2] + digits[-2::-2].translate(_DOUBLED)",
        new="digits[-2::-2] + digits[-1::-2].translate(_DOUBLED)",
        tests=("test_sensitive.py",),
    ),
)

_EMBEDDERS = (
    Fault(
        name="hashed-lengths",
        breaks="with the hashed embedder long texts come before near ones",
        file="embedders/hashed.py",
        old="return vectors / np.where(norms > 0.0, norms, 1.0)",
        new="return vectors",
        tests=("test_hashed.py", "test_embedder_suite.py"),
    ),
    Fault(
        name="vectors-in-the-order-of-runs",
        breaks="of a call of many texts each gets the vector of another",
        file="embedders/e5.py",
        old="return [found[i] for i in range(len(windows))]",
        new="return list(found.values())",
        tests=("test_e5.py", "test_embedder_suite.py"),
    ),
    Fault(
        name="page-vector-long",
        breaks="a page of many utterances outweighs the others of its segment",
        file="core/vectors.py",
        old="return np.asarray(total / norm if norm > 0.0 else total, dtype=np.float32)",
        new="return np.asarray(total, dtype=np.float32)",
        tests=("test_store_suite.py", "test_paper_preset.py", "test_consolidation.py", "test_golden.py"),
    ),
    Fault(
        name="vectors-as-they-come",
        breaks="texts get each other's vectors where a server answers in another order",
        file="embedders/openai_http.py",
        old="vectors[order] = found / norms",
        new="vectors[:] = found / norms",
        tests=("embedders/test_openai_http.py",),
    ),
)

_MODEL = (
    Fault(
        name="retries-one-more",
        breaks="a model that stays away ends in an AssertionError",
        file="llms/asking.py",
        old="return patient and attempt < self._settings.model_retries",
        new="return patient and attempt <= self._settings.model_retries",
        tests=("test_asking.py",),
    ),
    Fault(
        name="breaker-late",
        breaks="a server that failed as often as the setting allows is asked once more",
        file="llms/breaker.py",
        old="if self._failed >= self._limit:",
        new="if self._failed > self._limit:",
        tests=("test_breaker.py", "test_asking.py"),
    ),
    Fault(
        name="repair-without-the-question",
        breaks="a model that is to repair its answer is not told what was asked",
        file="llms/asking.py",
        old='text=f"{last.text}',
        new='text=f"',
        tests=("test_asking.py",),
    ),
    Fault(
        name="one-call-over-the-limit",
        breaks="one call more than the day's limit is paid for",
        file="store/queries/usage_log.py",
        old="if calls is not None and had + 1 > calls:",
        new="if calls is not None and had > calls:",
        tests=("test_ledger.py",),
    ),
)

_SERVICE = (
    Fault(
        name="key-of-another-owner",
        breaks="a key for one user reaches every user of that agent",
        file="api_keys.py",
        old="one.user in (None, owner.user) and one.agent in (None, owner.agent)",
        new="one.user in (None, owner.user) or one.agent in (None, owner.agent)",
        tests=("test_keys.py", "test_api_keys.py"),
    ),
    Fault(
        name="revoked-key",
        breaks="a key that was revoked still opens the service",
        file="api_keys.py",
        old="return found if same and found is not None and found.revoked_at is None else None",
        new="return found if same and found is not None else None",
        tests=("test_keys.py", "test_api_keys.py"),
    ),
    Fault(
        name="reading-key-writes",
        breaks="a key that may only read changes memories by `/v1`",
        file="http/api/dependencies.py",
        old="return access.owner(user_id, agent_id, Right.WRITE, space=space)",
        new="return access.owner(user_id, agent_id, Right.READ, space=space)",
        tests=("test_keys.py",),
    ),
    Fault(
        name="revoked-grant",
        breaks="a space can be read after it was revoked",
        file="store/queries/shares.py",
        old="                    _TABLE.c.revoked_at.is_(None),\n                    or_(_TABLE.c.user",
        new="                    or_(_TABLE.c.user",
        tests=("test_spaces.py", "test_spaces_life.py"),
    ),
    Fault(
        name="space-by-user-key",
        breaks="a key of a user that is called as a space reaches the space",
        file="api_keys.py",
        old="held = (one.right for one in key.grants if one.space == owner.space)",
        new='held = (one.right or "read" for one in key.grants if owner.space in (one.space, one.user))',
        tests=("test_spaces_api.py",),
    ),
    Fault(
        name="chunks-uncounted",
        breaks="a body in chunks may be of any size",
        file="http/limits.py",
        old='came += len(message.get("body", b""))',
        new='came = len(message.get("body", b""))',
        tests=("test_limits.py",),
    ),
    Fault(
        name="reused-key-is-no-conflict",
        breaks="a key that was used with other content is answered as a bad request, not as a conflict",
        file="http/problems.py",
        old="    errors.KeyReused: 409,\n",
        new="",
        tests=("test_problems.py", "test_api_memories.py"),
    ),
    Fault(
        name="foreign-forms",
        breaks="a page of another origin forgets memories by a form",
        file="http/middleware.py",
        old="if origin is not None and not _same(origin, host):",
        new='if origin == "null":',
        tests=("test_addresses.py",),
    ),
    Fault(
        name="proxy-forgets-the-newest",
        breaks="the proxy does not tell the model what was said last in another conversation",
        file="http/proxy/talk.py",
        old="self._before_seq = owned.threads.upto + 1",
        new="self._before_seq = owned.threads.upto",
        tests=("test_proxy.py",),
    ),
    Fault(
        name="proxy-for-reading-keys",
        breaks="a key that may only read has the model asked at the server's cost",
        file="http/proxy/routes.py",
        old="given.user, given.agent, Right.WRITE, shares=given.shares",
        new="given.user, given.agent, Right.READ, shares=given.shares",
        tests=("test_proxy.py",),
    ),
    Fault(
        name="tools-write-with-reading-keys",
        breaks="a key that may only read changes memories by MCP",
        file="http/mcp.py",
        old="return _current.get().reached(right)",
        new="return _current.get().reached(Right.READ)",
        tests=("test_mcp_http.py", "test_mcp_isolation.py"),
    ),
    Fault(
        name="forgotten-unasked",
        breaks="the tool `forget_memory` forgets before the user has agreed",
        file="mcp/tools.py",
        old="gone, words = self.forgetting(id, dry_run=not done)",
        new="gone, words = self.forgetting(id, dry_run=False)",
        tests=("test_mcp_tools.py",),
    ),
    Fault(
        name="markup-unescaped",
        breaks="what somebody said runs as a script in the inspector",
        file="http/inspector/words.py",
        old="    yield escape(text[at:])\n",
        new="    yield Markup(text[at:])\n",
        tests=("test_hostile_texts.py",),
    ),
    Fault(
        name="failure-is-success",
        breaks="`embermem` ends with exit code 0 after an error",
        file="cli/main.py",
        old="raise typer.Exit(1) from error",
        new="raise typer.Exit(0) from error",
        tests=("test_cli.py",),
    ),
    Fault(
        name="client-sends-twice",
        breaks="the client sends a message again that the server may have stored",
        file="client/exchange.py",
        old="return pause if request.repeatable or not outcome.sent else None",
        new="return pause",
        tests=("client/test_exchange.py", "client/test_client.py"),
    ),
)

_MOVING = (
    Fault(
        name="copied-once",
        breaks="what was written to a store while it was copied is missing from the copy",
        file="store/admin/copying.py",
        old="if theirs != mine:",
        new="if not mine:",
        tests=("test_copy.py",),
    ),
    Fault(
        name="import-without-lines",
        breaks="an export that lost lines is imported without an error",
        file="transfer/importing.py",
        old="_expect(told == found,",
        new="_expect(told >= found,",
        tests=("test_transfer.py",),
    ),
    Fault(
        name="foreign-vectors",
        breaks="vectors of another embedder are imported, and recall by meaning finds nothing",
        file="transfer/importing.py",
        old="(header.embedder, header.dim) == (embedder.name, embedder.dim)",
        new="header.dim == embedder.dim",
        tests=("test_transfer.py",),
    ),
    Fault(
        name="doctor-overlooks",
        breaks="`doctor` finds nothing wrong with a segment that counts too many pages",
        file="store/admin/invariants.py",
        old="_count(segment, segment.c.pages != members)",
        new="_count(segment, segment.c.pages < members)",
        tests=("test_doctor.py",),
        once=True,
    ),
)

FAULTS = (
    *_LEASES_AND_REVISIONS,
    *_OWNERS,
    *_FILES_AND_LOGS,
    *_TIERS,
    *_PERSONA,
    *_FORGETTING,
    *_LOOKING_BACK,
    *_RECALL,
    *_LANGUAGES,
    *_EMBEDDERS,
    *_MODEL,
    *_SERVICE,
    *_MOVING,
)
