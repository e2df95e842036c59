"""What is drawn: bars keep their sums, lines their formula, and everything stands within its picture."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Memory
from embermem.core.config import load
from embermem.core.types import (
    ChannelScore,
    Hit,
    PageId,
    Role,
    Segment,
    SegmentId,
    ThreadId,
    Tier,
    Utterance,
    UtteranceId,
)
from embermem.http.inspector.drawing import charts
from scripted import NOW, Clock, page

_NUMBERS = st.floats(-50, 50, allow_nan=False).map(lambda x: round(x, 3))
_CHANNELS = st.dictionaries(
    st.sampled_from(["dense", "window", "late", "page", "speaker", "told"]),
    st.builds(lambda x, w: ChannelScore(raw=x, normalised=x, weight=w), _NUMBERS, _NUMBERS),
)


def hit(rank: int, channels: dict[str, ChannelScore]) -> Hit:
    """A hit with these channels."""
    said = Utterance(
        id=UtteranceId(f"u{rank}"),
        seq=rank,
        page_id=PageId("p"),
        thread=ThreadId("main"),
        role=Role.USER,
        origin=Role.USER.origin,
        speaker="mei",
        text="hello",
        said_at=NOW,
        recorded_at=NOW,
    )
    score = sum(one.normalised * one.weight for one in channels.values())
    return Hit(utterance=said, score=score, rank=rank, tier=Tier.SHORT, channels=channels)


@given(channels=st.lists(_CHANNELS, max_size=4))
def test_a_hits_bar_stands_within_the_chart_and_parts_touch_without_overlap(
    channels: list[dict[str, ChannelScore]],
) -> None:
    bars, zero = charts.hit_bars([hit(rank, one) for rank, one in enumerate(channels, 1)])
    assert -1e-6 <= zero <= 100 + 1e-6
    for bar in bars:
        for part in bar.parts:
            assert part.x >= -1e-6
            assert part.x + part.width <= 100 + 1e-6
            assert part.x >= zero - 1e-6 if part.value > 0 else part.x + part.width <= zero + 1e-6
        ends = sorted((part.x, part.x + part.width) for part in bar.parts)
        assert all(first[1] <= second[0] + 1e-6 for first, second in itertools.pairwise(ends))


def test_the_parts_of_heat_sum_up_to_it_and_nothing_said_draws_nothing(memory: Memory, clock: Clock) -> None:
    alice = memory.of("alice")
    for number in range(12):
        alice.add(f"the cello sounds well {number}", "it does", thread=f"t{number % 3}")
    alice.settle()
    alice.visit(alice.search("cello"))
    clock.go(86_400.0)
    found = charts.heats(alice.segments(), clock(), memory.settings)
    assert found
    for one in found:
        assert abs(one.heat - alice.heat(one.segment)) < 1e-9
        assert abs(one.visits + one.new + one.recency - one.heat) < 1e-9
    assert [one.heat for one in found] == sorted((one.heat for one in found), reverse=True)
    assert charts.hit_bars([]) == ([], 0.0)
    assert charts.heats([], NOW, load()) == []
    assert charts.heat_lines([], {}, NOW, load()) is None


def test_a_line_of_heat_begins_with_its_first_page_and_fades_after_its_last(memory: Memory, clock: Clock) -> None:
    alice = memory.of("alice")
    for number in range(8):
        alice.add("the cello sounds well", "it does", at=NOW - timedelta(days=100 - number))
    alice.settle()
    heats = charts.heats(alice.segments(), clock(), memory.settings)
    said = {heats[0].segment.id: [page.said_at for page in alice.pages(segment=heats[0].segment.id)]}
    lines = charts.heat_lines(heats[:1], said, clock(), memory.settings)
    assert lines is not None
    (course,) = lines.courses
    assert [at for at, _ in course] == sorted(at for at, _ in course)
    assert course[0][0] == lines.since == min(said[heats[0].segment.id])
    known = [heat for _, heat in course]
    assert max(known) == lines.most == heats[0].segment.unanalysed + 1
    assert known[-1] == pytest.approx(heats[0].heat, abs=1e-3)  # the line ends at the heat of the list
    assert known[-1] < max(known)
    for point in lines.points(course).split():
        x, y = map(float, point.split(","))
        assert 0 <= x <= charts.LINE_WIDE
        assert 0 <= y <= charts.LINE_HIGH


def test_a_line_of_heat_rises_with_pages_not_analysed_and_visits_and_what_is_cold_has_a_short_bar() -> None:
    pages = [page(no=n, at=NOW - timedelta(days=6 - n)).page for n in (1, 2, 3)]
    segment = Segment(
        id=SegmentId("s1"),
        summary="",
        keywords=(),
        page_ids=tuple(one.id for one in pages),
        visits=2,
        unanalysed=2,
        last_access=NOW,
        archived=False,
        change_no=1,
        recorded_at=NOW,
        said_from=NOW - timedelta(days=5),
        said_to=NOW - timedelta(days=3),
        visited_at=NOW - timedelta(days=1),
    )
    (heat,) = charts.heats([segment], NOW, load())
    lines = charts.heat_lines([heat], {segment.id: [one.said_at for one in pages]}, NOW, load())
    assert lines is not None
    at, ended = lines.courses[0][-1]
    assert at == NOW
    assert ended == pytest.approx(heat.heat, abs=1e-3)
    assert lines.most == pytest.approx(2 + 2 + 1, abs=0.02)

    then = NOW - timedelta(days=2000)
    segment = Segment(
        id=SegmentId("s1"),
        summary="",
        keywords=(),
        page_ids=(),
        visits=0,
        unanalysed=0,
        last_access=NOW,  # it came by an import today
        archived=False,
        change_no=1,
        recorded_at=NOW,
        said_from=then,
        said_to=then,
    )
    (heat,) = charts.heats([segment], NOW, load())
    assert heat.heat < 0.01
    assert sum(width for _, _, width in heat.bars) == pytest.approx(100 * heat.heat)


def test_a_segment_is_called_by_words_and_never_by_an_id() -> None:
    for title, summary, keywords, called in (
        ("A wedding in Annecy", "Mei: It is in September.", ("wedding",), "A wedding in Annecy"),
        ("", "Mei: It is in September.\nembermem: A fine month.", ("wedding",), "It is in September."),
        ("", "她说：婚礼在九月。", (), "婚礼在九月。"),
        ("", "", ("wedding", "cousin", "flower"), "Talk about wedding, cousin and flower"),
        ("", "", ("wedding",), "Talk about wedding"),
        ("", "", (), "Talk about something"),
    ):
        segment = Segment(
            id=SegmentId("s1"),
            title=title,
            summary=summary,
            keywords=keywords,
            page_ids=(),
            visits=0,
            unanalysed=0,
            last_access=NOW,
            archived=False,
            change_no=1,
            recorded_at=NOW,
            said_from=NOW,
            said_to=NOW,
        )
        assert charts.label(segment) == called
