"""Which of the known facts a model is shown beside new pages."""

from __future__ import annotations

from collections import Counter

from embermem.analysts.extractive import ExtractiveAnalyst
from embermem.core.attributes import BUILT_IN, Attributes
from embermem.core.equations import idf
from embermem.core.types import Fact
from embermem.languages.words import terms
from embermem.protocols import ProfileRequest


def nearest(request: ProfileRequest, limit: int, known: Attributes = BUILT_IN) -> tuple[Fact, ...]:
    """At most `limit` of the facts known from elsewhere, as they stand in order: those of one value that the pages
    plainly speak of, those that share rare words with the pages, then others of one value, which change without a
    shared word. What rests on these pages alone was read in them, and is not told twice."""
    here = {u.seq for view in request.pages for u in view.page.utterances}
    facts = [fact for fact in request.nearest if not fact.sources or any(s.seq not in here for s in fact.sources)]
    if len(facts) <= limit:
        return tuple(facts)
    said = {term for view in request.pages for u in view.page.utterances for term in terms(u.text[:20_000])}
    reader = ExtractiveAnalyst(known=known)
    spoken_of = {fact.attribute for view in request.pages for fact in reader.facts(view.page)}
    words = [set(terms(f"{f.subject} {f.attribute.replace('_', ' ')} {f.value} {f.text}")) for f in facts]
    held = Counter(term for own in words for term in own)

    def worth(i: int) -> tuple[bool, float, bool, int]:
        one_value = known.single(facts[i].attribute)
        shared = sum(idf(len(facts), held[term]) for term in words[i] & said)
        return one_value and facts[i].attribute in spoken_of, shared, one_value, i

    chosen = sorted(range(len(facts)), key=worth, reverse=True)[:limit]
    return tuple(facts[i] for i in sorted(chosen))
