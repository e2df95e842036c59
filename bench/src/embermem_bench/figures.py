"""Figures of the studies, drawn by matplotlib into an SVG and a PNG: bars, lines, and points in the plane.

matplotlib comes with the extra `figures` and is imported only here, when something is drawn. The same numbers give the
same file. Names are shown as they are: nothing in them is read as markup or mathematics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from embermem.core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Panel", "bars", "check", "lines", "panels"]

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7a00", "#555555")
"""Okabe and Ito's, told apart by the colour-blind too; yellow is darkened, to be seen on white."""
OTHERS = "#c8c8c8"
"""Points of no named group."""
TICKS = 16
"""Values of x that are marked each; more would cover one another."""
DPI = 150
"""Of the PNG: sharp on a page of a paper."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """Points in the plane, shape (n, 2), each of a group; those of group −1 are grey. `links` join two of them."""

    title: str
    places: Floats = field(repr=False)
    groups: Sequence[int]
    links: Sequence[tuple[int, int]] = ()


def check() -> None:
    """Raises ConfigError, with what to install, if nothing can be drawn here."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ConfigError("figures need the package matplotlib: pip install 'embermem-bench[figures]'") from error


def bars(stem: Path, *, title: str, label: str, series: Mapping[str, Mapping[str, float | None]]) -> tuple[Path, Path]:
    """For each group (outer name) a bar for each item (inner name); what is None has none."""
    items = list(dict.fromkeys(name for one in series.values() for name in one))
    with _figure(stem, width=max(5.0, 1.2 + 0.45 * len(series) * max(1, len(items)))) as (figure, paths):
        axes = figure.add_subplot()
        wide = 0.8 / max(1, len(items))
        for n, item in enumerate(items):
            found = [(g, value) for g, one in enumerate(series.values()) if (value := one.get(item)) is not None]
            at = [g + (n - (len(items) - 1) / 2) * wide for g, _ in found]
            drawn = axes.bar(at, [value for _, value in found], wide, label=item, color=COLOURS[n % len(COLOURS)])
            axes.bar_label(drawn, fmt="%.2f", fontsize=6, padding=1)
        axes.set_xticks(range(len(series)), list(series))
        _name(axes, title, "", label, legend=len(items) > 1)
    return paths


def lines(
    stem: Path, *, title: str, x_label: str, label: str, series: Mapping[str, Sequence[tuple[float, float | None]]]
) -> tuple[Path, Path]:
    """For each name a line through (x, y); where y is None it has no point."""
    with _figure(stem, width=5.5) as (figure, paths):
        axes = figure.add_subplot()
        marks = "osD^vPX*"
        for n, (name, points) in enumerate(series.items()):
            known = [(x, y) for x, y in points if y is not None]
            axes.plot(
                [x for x, _ in known],
                [y for _, y in known],
                marker=marks[n % len(marks)],
                markersize=4,
                color=COLOURS[n % len(COLOURS)],
                label=name,
            )
        ticks = sorted({x for points in series.values() for x, _ in points})
        if len(ticks) <= TICKS:
            axes.set_xticks(ticks)
        axes.grid(axis="y", alpha=0.3)
        _name(axes, title, x_label, label, legend=len(series) > 1)
    return paths


def panels(stem: Path, *, title: str, shown: Sequence[Panel]) -> tuple[Path, Path]:
    """Points in the plane, one square for each panel, side by side."""
    with _figure(stem, width=4.6 * max(1, len(shown)), height=4.8) as (figure, paths):
        for n, panel in enumerate(shown, 1):
            axes = figure.add_subplot(1, len(shown), n)
            for a, b in panel.links:
                axes.plot(panel.places[[a, b], 0], panel.places[[a, b], 1], color="#999999", linewidth=0.4, zorder=1)
            colours = [OTHERS if group < 0 else COLOURS[group % len(COLOURS)] for group in panel.groups]
            axes.scatter(panel.places[:, 0], panel.places[:, 1], s=14, c=colours, zorder=2, linewidths=0)
            axes.set_xticks([])
            axes.set_yticks([])
            axes.set_aspect("equal", adjustable="datalim")
            _name(axes, panel.title, "", "", legend=False)
        figure.suptitle(title, fontsize=10)
    return paths


def _name(axes: Axes, title: str, x_label: str, label: str, *, legend: bool) -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x_label)
    axes.set_ylabel(label)
    if legend:
        axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


@contextmanager
def _figure(stem: Path, *, width: float, height: float = 3.6) -> Iterator[tuple[Figure, tuple[Path, Path]]]:
    """An empty figure; when it is drawn it is written as `stem`.svg and `stem`.png."""
    check()
    import matplotlib
    from matplotlib.figure import Figure

    paths = (stem.parent / f"{stem.name}.svg", stem.parent / f"{stem.name}.png")
    with matplotlib.rc_context(
        {
            "svg.hashsalt": "embermem",  # ids in the file are the same each time
            "svg.fonttype": "none",
            "text.parse_math": False,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "font.size": 9,
        }
    ):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, paths
        figure.savefig(paths[0], metadata={"Date": None})
        figure.savefig(paths[1], dpi=DPI)
