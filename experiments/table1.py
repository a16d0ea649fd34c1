"""The paper's Table 1: the sizes of the data sets, ``python -m experiments.table1``."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from . import charts, markdown, paper
from .command import SOURCE, Artefact, Experiment, Options, main
from .sources import DataSet


@dataclass(frozen=True)
class Size:
    """A data set, and what the paper says of the one that it is or stands in for."""

    data: str
    rows: int
    columns: int
    entries: int
    non_zero: float
    """The share of entries that are not zero."""
    zero_rows: int
    paper_data: str
    paper_rows: float | None
    paper_columns: float | None
    paper_non_zero: float | None


def make(options: Options) -> Artefact:
    sizes = [_size(data) for data in options.load()]
    head = ["data set", "rows", "columns", "non-zero", "all-zero rows", "the paper's"]
    table = markdown.table(head, [_line(size) for size in sizes])
    text = f"{table}\n\nThe paper's: Table 1 of {SOURCE}.\n"
    return Artefact(sizes, text, _figure(sizes))


def _size(data: DataSet) -> Size:
    theirs = paper.table1().get(data.paper or "")
    return Size(
        data=data.name,
        rows=data.rows,
        columns=data.columns,
        entries=data.entries,
        non_zero=data.entries / data.rows / data.columns,
        zero_rows=data.zero_rows,
        paper_data=data.paper or "",
        paper_rows=theirs and theirs.rows,
        paper_columns=theirs and theirs.columns,
        paper_non_zero=theirs and theirs.non_zero,
    )


def _line(size: Size) -> list[str]:
    theirs = "–"
    if size.paper_rows is not None:
        theirs = f"{size.paper_data}: {size.paper_rows:,} × {size.paper_columns:,}, "
        theirs += f"{100 * (size.paper_non_zero or 0):.3f} %"
    return [
        size.data,
        f"{size.rows:,}",
        f"{size.columns:,}",
        f"{100 * size.non_zero:.3f} %",
        f"{size.zero_rows:,}",
        theirs,
    ]


def _figure(sizes: Sequence[Size]) -> object:
    figure, (ax,) = charts.panels(1, height=3.6)
    for number, size in enumerate(sizes):
        if size.paper_rows is not None:
            ax.plot(
                [size.rows, size.paper_rows],
                [size.columns, size.paper_columns],
                color="0.7",
                linewidth=1,
                zorder=1,
            )
            ax.plot(
                size.paper_rows,
                size.paper_columns,
                "s",
                color=charts.VERMILION,
                fillstyle="none",
                label="the paper's" if "the paper's" not in _labels(ax) else None,
            )
        ax.plot(size.rows, size.columns, "o", color=charts.BLUE, label=None if number else "here")
        ax.annotate(
            size.data.partition(" for ")[0],
            (size.rows, size.columns),
            xytext=(5, 4 if number % 2 else -9),
            textcoords="offset points",
            fontsize=7.5,
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.margins(0.18)
    ax.set_xlabel("rows")
    ax.set_ylabel("columns")
    charts.legend(figure, ax)
    return figure


def _labels(ax: object) -> list[str]:
    return ax.get_legend_handles_labels()[1]  # type: ignore[attr-defined,no-any-return]


EXPERIMENT = Experiment("table1", "Table 1: sizes of the data sets", make)

if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
