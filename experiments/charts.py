"""Figures in one style: the colors of Okabe and Ito, which the color-blind can tell apart.

An algorithm has the same color, line and marker wherever it comes up.
"""

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arcmeans._algorithms.registry import ALGORITHMS

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GRAY = "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F"

_LOOKS = {
    "lloyd": (BLACK, "-", "o"),
    "simplified-elkan": (SKY, "--", "s"),
    "elkan": (BLUE, "-", "s"),
    "simplified-hamerly": (ORANGE, "--", "^"),
    "hamerly": (VERMILION, "-", "^"),
}
_MORE_LOOKS = [
    (GREEN, "-", "D"),
    (PURPLE, "-", "v"),
    (PURPLE, "--", "P"),
    (GREEN, "--", "X"),
    (GRAY, "-", "*"),
    (GRAY, "--", "h"),
]
STYLE = {
    "figure.dpi": 120,
    "savefig.dpi": 160,
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "svg.hashsalt": "arcmeans",  # the same file for the same figure
    "svg.fonttype": "path",
}
MOST_COLUMNS = 3
NARROWEST = 5.6
"""Inches."""


@contextmanager
def styled() -> Iterator[None]:
    """The style, for all that is drawn within; an ImportError where nothing can be drawn."""
    with matplotlib_pyplot().rc_context(STYLE):
        yield


def look(algorithm: str) -> dict[str, Any]:
    """How a line of an algorithm is drawn."""
    others = [name for name in (*ALGORITHMS, "auto") if name not in _LOOKS]
    looks = _LOOKS.get(algorithm)
    if looks is None:
        looks = _MORE_LOOKS[others.index(algorithm) % len(_MORE_LOOKS)]
    return dict(zip(("color", "linestyle", "marker"), looks, strict=True))


def panels(n: int, columns: int = MOST_COLUMNS, height: float = 2.6, **options: Any) -> Any:
    """A figure with n axes, row by row."""
    pyplot = matplotlib_pyplot()
    columns = min(n, columns)
    rows = -(-n // columns)
    figure, axes = pyplot.subplots(
        rows,
        columns,
        figsize=(max(NARROWEST, 3.1 * columns), height * rows + 0.7),
        squeeze=False,
        layout="constrained",
        **options,
    )
    flat = list(axes.ravel())
    for unused in flat[n:]:
        unused.set_axis_off()
    return figure, flat[:n]


def line(ax: Any, xs: Sequence[float], ys: Sequence[float], **looks: Any) -> None:
    """A line whose markers do not crowd each other."""
    every = max(1, len(xs) // 12)
    above = 3 if looks.get("linestyle") == "--" else 2  # so that a line below it can be seen
    ax.plot(
        xs, ys, markevery=every, markeredgecolor="white", markeredgewidth=0.6, zorder=above, **looks
    )


def clusters_axis(ax: Any, clusters: Sequence[int]) -> None:
    """k along the x axis, by ratio."""
    ax.set_xscale("log")
    ax.set_xticks(clusters, [str(k) for k in clusters])
    ax.minorticks_off()
    ax.set_xlabel("k, number of clusters")


def logarithmic(ax: Any) -> None:
    """The y axis by ratio, with plain numbers at 1, 2 and 5 of each power of ten."""
    ticker = importlib.import_module("matplotlib.ticker")
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ax.yaxis.set_minor_locator(ticker.NullLocator())


def legend(figure: Any, ax: Any) -> None:
    """What the lines mean, once, above all."""
    handles, labels = ax.get_legend_handles_labels()
    longest = max(map(len, labels))
    columns = int(figure.get_figwidth() / (0.075 * longest + 0.6))
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=max(1, min(columns, len(labels))),
        fontsize=8.5,
    )


def save(figure: Any, path: Path) -> None:
    """As SVG and as PNG."""
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"))
    matplotlib_pyplot().close(figure)


def matplotlib_pyplot() -> Any:
    try:
        matplotlib = importlib.import_module("matplotlib")
    except ImportError as error:
        raise ImportError(
            "The figures need matplotlib, which is not installed: pip install 'arcmeans[plot]'"
        ) from error
    matplotlib.use("agg")
    return importlib.import_module("matplotlib.pyplot")
