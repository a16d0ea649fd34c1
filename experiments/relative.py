"""Relative changes of the objective against uniform initialisation, as CSV and as Markdown."""

import csv
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from . import markdown, paper
from .paper import Method
from .seedings import Run
from .sources import DataSet


@dataclass(frozen=True)
class Change:
    """One method at one k on one data set."""

    data: str
    rows: int
    columns: int
    k: int
    method: str
    alpha: float | None
    seeds: int
    inertia: float
    """The mean over the seeds."""
    relative_change: float
    """inertia over that of uniform, less 1."""
    standard_error: float | None
    """Of the relative change, to first order; None for uniform and for a single seed."""
    paper: float | None
    """The paper's relative change, where it has one."""


def changes(runs: Sequence[Run]) -> list[Change]:
    """The relative changes, in the order in which their runs first come up."""
    inertias: dict[tuple[str, int, int, int, Method], list[float]] = {}
    for run in runs:
        group = run.data, run.rows, run.columns, run.k, Method(run.method, run.alpha)
        inertias.setdefault(group, []).append(run.inertia)
    published = paper.table2()
    result = []
    for (data, rows, columns, k, method), own in inertias.items():
        uniform = inertias[data, rows, columns, k, Method("uniform", None)]
        result.append(
            Change(
                data=data,
                rows=rows,
                columns=columns,
                k=k,
                method=method.name,
                alpha=method.alpha,
                seeds=len(own),
                inertia=statistics.fmean(own),
                relative_change=statistics.fmean(own) / statistics.fmean(uniform) - 1,
                standard_error=None if own is uniform else _standard_error(own, uniform),
                paper=published.get((data, method, k)),
            )
        )
    return result


def _standard_error(own: Sequence[float], uniform: Sequence[float]) -> float | None:
    if len(own) < 2 or len(uniform) < 2:
        return None
    base = statistics.fmean(uniform)
    ratio = statistics.fmean(own) / base
    variance = statistics.variance(own) / len(own)
    variance += ratio**2 * statistics.variance(uniform) / len(uniform)
    return math.sqrt(variance) / base


def write(changes: Sequence[Change], path: Path) -> None:
    """All of them, in full precision."""
    with path.open("w", newline="", encoding="utf-8") as file:
        names = [field.name for field in fields(Change)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, changes))


def section(data: DataSet, changes: Sequence[Change]) -> str:
    """The table of one data set: a line for each method, a column for each k."""
    own = [change for change in changes if change.data == data.name]
    clusters = sorted({change.k for change in own})
    methods = list(dict.fromkeys(Method(change.method, change.alpha) for change in own))
    columns = [
        _column([change for method in methods for change in own if _is(change, method, k)])
        for k in clusters
    ]
    lines = [[str(method), *cells] for method, *cells in zip(methods, *columns, strict=True)]
    table = markdown.table(["", *(f"k={k}" for k in clusters)], lines)
    return f"## {_title(data)}\n\n{table}\n"


def _is(change: Change, method: Method, k: int) -> bool:
    return (change.method, change.alpha, change.k) == (*method, k)


def _column(column: Sequence[Change]) -> list[str]:
    ours = markdown.percents([change.relative_change for change in column])
    theirs = markdown.percents([change.paper for change in column])
    if all(change.paper is None for change in column):
        return ours
    return [f"{one} ({other})" for one, other in zip(ours, theirs, strict=True)]


def _title(data: DataSet) -> str:
    title = f"{data.name}: {data.rows:,} × {data.columns:,}"
    size = paper.table1().get(data.name)
    if size and (size.rows, size.columns) != (data.rows, data.columns):
        title += f" (in the paper {size.rows:,} × {size.columns:,})"
    return title
