"""How the cost of a fit grows with k and with n: seconds an iteration and in all, and a figure.

Fits to convergence or 60 iterations, one thread, CPU time, random rows as seeds, all set-up
included. The loop with SciPy (NumPy on dense rows) is timed over a few iterations, which all cost
the same. Against k on as many rows as ``AT_ROWS`` says, against n with ``AT_CLUSTERS`` clusters.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .cases import unit_rows
from .targets import fit, loop_seconds, loop_work
from .timing import in_turns

ALGORITHMS = ("auto", "lloyd", "simplified-hamerly")
CLUSTERS = (10, 20, 50, 100, 200, 500, 1000)
QUICK_CLUSTERS = (10, 50, 200)
AT_ROWS = 50_000
AT_CLUSTERS = 100
PARTS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
LOOP = "loop"


@dataclass(frozen=True)
class Growth:
    """One fit."""

    data: str
    against: str
    """k or n."""
    rows: int
    k: int
    algorithm: str
    iterations: int
    seconds: float
    seconds_an_iteration: float
    similarities: float
    """Computed, over rows times k times iterations."""


def measure(name: str, X: Any, quick: bool) -> Iterator[Growth]:
    X = unit_rows(X)
    n = X.shape[0]
    few = X[: min(n, AT_ROWS)]
    for k in QUICK_CLUSTERS if quick else CLUSTERS:
        if k <= few.shape[0]:
            yield from _measure(name, "k", few, k)
    for part in PARTS[-3:] if quick else PARTS:
        rows = X[: int(n * part)]
        if rows.shape[0] >= AT_CLUSTERS:
            yield from _measure(name, "n", rows, AT_CLUSTERS)


def _measure(name: str, against: str, X: Any, k: int) -> Iterator[Growth]:
    chosen = np.sort(np.random.default_rng(k).choice(X.shape[0], k, replace=False))
    seeds = X[chosen].toarray() if sp.issparse(X) else X[chosen]
    works: dict[str, Callable[[], Any]] = {a: partial(fit, X, chosen, a) for a in ALGORITHMS}
    works[LOOP] = loop_work(X, seeds)
    measured = in_turns(works, 1)
    for algorithm in (*ALGORITHMS, LOOP):
        model = measured["lloyd" if algorithm == LOOP else algorithm].result
        iterations, share = model.n_iter_, 1.0
        if algorithm == LOOP:
            seconds = loop_seconds(measured[LOOP], iterations)
        else:
            seconds = measured[algorithm].seconds
            share = model.trace_["similarities"].sum() / (X.shape[0] * k * iterations)
        yield Growth(
            data=name,
            against=against,
            rows=X.shape[0],
            k=k,
            algorithm=algorithm,
            iterations=iterations,
            seconds=seconds,
            seconds_an_iteration=seconds / iterations,
            similarities=share,
        )


def draw(records: Sequence[Growth], path: Path) -> None:
    """Both times against both, one row of panels for each matrix, as SVG and PNG."""
    from experiments import charts  # needs matplotlib

    names = list(dict.fromkeys(record.data for record in records))
    with charts.styled():
        figure, axes = charts.panels(4 * len(names), columns=2, height=2.8)
        panels = iter(axes)
        for name in names:
            for against in ("k", "n"):
                for field, what in (
                    ("seconds_an_iteration", "CPU seconds an iteration"),
                    ("seconds", "CPU seconds of the fit"),
                ):
                    _panel(next(panels), charts, records, name, against, field, what)
        charts.legend(figure, axes[0])
        charts.save(figure, path)


def _panel(
    ax: Any,
    charts: Any,
    records: Sequence[Growth],
    name: str,
    against: str,
    field: str,
    what: str,
) -> None:
    mine = [r for r in records if (r.data, r.against) == (name, against)]
    for algorithm in (*ALGORITHMS, LOOP):
        line = [r for r in mine if r.algorithm == algorithm]
        xs = [r.k if against == "k" else r.rows for r in line]
        looks = _LOOKS.get(algorithm) or charts.look(algorithm)
        ys = [getattr(r, field) for r in line]
        label = "loop with SciPy or NumPy" if algorithm == LOOP else algorithm
        charts.line(ax, xs, ys, label=label, **looks)
    ax.set_xscale("log")
    ax.set_xticks(xs, [f"{x:,}" if against == "n" else str(x) for x in xs], fontsize=7.5)
    ax.minorticks_off()
    charts.logarithmic(ax)
    ax.set_ylabel(what)
    if against == "k":
        ax.set_xlabel("k, number of clusters")
        ax.set_title(f"{name}, {mine[0].rows:,} rows")
    else:
        ax.set_xlabel("n, number of rows")
        ax.set_title(f"{name}, k = {mine[0].k}")


_LOOKS = {
    "auto": {"color": "#D55E00", "linestyle": "-", "marker": "D"},
    LOOP: {"color": "#7F7F7F", "linestyle": ":", "marker": "s"},
}
