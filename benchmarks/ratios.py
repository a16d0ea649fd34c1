"""The plot of docs/performance.md: how many times faster than each peer a fit is.

``python -m benchmarks.ratios results/targets.csv ratios.svg`` draws what ``python -m
benchmarks targets`` wrote. A hollow mark is a peer that was timed on a part of the rows
(``scikit_learn_whole`` is False).
"""

import csv
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PEERS = {
    "loop_ratio": ("a loop with SciPy or NumPy", "#000000", "s"),
    "scikit_learn_ratio": ("scikit-learn", "#0072B2", "o"),
    "faiss_ratio": ("faiss", "#D55E00", "D"),
}
"""The column of each peer, its name, and how its marks look."""


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def draw(records: Sequence[Mapping[str, str]], path: Path) -> None:
    """A line of the plot for each data set and k, a mark on it for each peer."""
    from experiments import charts  # needs matplotlib

    with charts.styled():
        figure, (ax,) = charts.panels(1, height=0.27 * len(records) + 0.6)
        for column, (name, color, marker) in PEERS.items():
            _marks(ax, records, column, label=name, color=color, marker=marker)
        ax.set_yticks(range(len(records)), [f"{r['data']}, k = {r['k']}" for r in records])
        ax.invert_yaxis()
        ax.set_xscale("log")
        ticks = [1, 2, 5, 10, 20, 50, 100, 200]
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.minorticks_off()
        ax.axvline(1, color="#7F7F7F", linewidth=1)
        ax.set_xlabel("times faster than the peer; 1: as fast")
        charts.legend(figure, ax)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})


def _marks(ax: Any, records: Sequence[Mapping[str, str]], column: str, **looks: Any) -> None:
    for line, record in enumerate(records):
        if not record[column]:
            continue
        hollow = column == "scikit_learn_ratio" and record.get("scikit_learn_whole") == "False"
        fill = {"markerfacecolor": "white"} if hollow else {}
        ax.plot(float(record[column]), line, linestyle="none", markersize=6, **looks, **fill)
        looks.pop("label", None)


def main() -> None:
    parser = ArgumentParser("python -m benchmarks.ratios", description="Draw ratios to peers.")
    parser.add_argument("table", type=Path, help="a CSV file that `benchmarks targets` wrote")
    parser.add_argument("plot", type=Path, help="an .svg or .png file to write")
    arguments = parser.parse_args()
    draw(read(arguments.table), arguments.plot)


if __name__ == "__main__":
    main()
