"""The paper's Table 2: what the initialisation is worth, ``python -m experiments.table2``.

For each data set, number of clusters k and seed, each method chooses initial centers and
``SphericalKMeans`` runs to convergence. Seed s stands for ``random_state=s``.

The objective is ``inertia_``, the sum of squared distances of the unit rows to their unit centers;
the paper says "sum of variances". The relative change of a method is

    (mean over the seeds of its objective) / (mean over the seeds of uniform's objective) - 1,

so lower is better, and uniform itself has 0. Means are taken before the quotient. All-zero rows
are in no cluster and not in the objective. The result does not depend on the algorithm, so that
``auto`` may choose.
"""

import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from . import charts, markdown, paper
from .command import SOURCE, Artefact, Experiment, Options, main
from .fits import Fit, task
from .paper import Method
from .sources import DataSet

METHODS = tuple(dict.fromkeys(method for _, method, _ in paper.table2()))
MORE_METHODS = (Method("greedy-k-means++", 1.0), Method("k-means||", 1.0))
LOOKS = {
    Method("uniform", None): (charts.BLACK, "-", "o"),
    Method("k-means++", 1.0): (charts.BLUE, "-", "s"),
    Method("k-means++", 1.5): (charts.SKY, "--", "s"),
    Method("afk-mc2", 1.0): (charts.VERMILION, "-", "^"),
    Method("afk-mc2", 1.5): (charts.ORANGE, "--", "^"),
    Method("greedy-k-means++", 1.0): (charts.GREEN, "-", "D"),
    Method("k-means||", 1.0): (charts.PURPLE, "-", "v"),
}


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


def make(options: Options) -> Artefact:
    data_sets = options.clustered()
    methods = METHODS + MORE_METHODS * options.all_methods
    tasks = [
        task(
            data,
            k,
            algorithm="auto",
            method=method.name,
            alpha=method.alpha,
            seed=seed,
            threads=options.threads or 1,
        )
        for data in data_sets
        for seed in range(options.seeds)  # the first seed tells how long the others take
        for k in options.k or paper.CLUSTERS
        for method in methods
    ]
    found = changes(options.fits(tasks, "table2"), {data.name: data.paper for data in data_sets})
    head = f"""In percent, mean over {options.seeds} seeds; lower is better, the best of a column in
bold. In parentheses the figures of Table 2 of {SOURCE}.
"""
    text = "\n".join([head, *(section(data, found) for data in data_sets)])
    return Artefact(found, text, _figure(data_sets, found))


def changes(fits: Sequence[Fit], of_paper: dict[str, str | None]) -> list[Change]:
    """The relative changes, in the order in which their fits first come up."""
    inertias: dict[tuple[str, int, int, int, Method], list[float]] = {}
    for fit in fits:
        group = fit.data, fit.rows, fit.columns, fit.k, Method(fit.method, fit.alpha)
        inertias.setdefault(group, []).append(fit.inertia)
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
                paper=published.get((of_paper[data] or "", method, k)),
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
    return f"### {data.title}\n\n{table}\n"


def _is(change: Change, method: Method, k: int) -> bool:
    return (change.method, change.alpha, change.k) == (*method, k)


def _column(column: Sequence[Change]) -> list[str]:
    ours = markdown.percents([change.relative_change for change in column])
    return markdown.beside(ours, markdown.percents([change.paper for change in column]))


def _figure(data_sets: Sequence[DataSet], changes: Sequence[Change]) -> object:
    figure, axes = charts.panels(len(data_sets))
    for ax, data in zip(axes, data_sets, strict=True):
        own = [change for change in changes if change.data == data.name]
        methods = list(dict.fromkeys(Method(change.method, change.alpha) for change in own))
        for number, method in enumerate(methods):
            aside = 1.06 ** (number - len(methods) // 2)  # so that bars stand beside each other
            of_method = [c for c in own if Method(c.method, c.alpha) == method]
            ks = [aside * c.k for c in of_method]
            color, style, marker = LOOKS[method]
            ax.errorbar(
                ks,
                [100 * c.relative_change for c in of_method],
                [100 * (c.standard_error or 0.0) for c in of_method],
                color=color,
                linestyle=style,
                marker=marker,
                elinewidth=0.8,
                capsize=2,
                label=str(method),
            )
            theirs = [(aside * c.k, 100 * c.paper) for c in of_method if c.paper is not None]
            if theirs and method.name != "uniform":
                ax.plot(
                    *zip(*theirs, strict=True),
                    color=color,
                    linestyle="none",
                    marker=marker,
                    fillstyle="none",
                    markersize=7,
                )
        charts.clusters_axis(ax, sorted({c.k for c in own}))
        ax.set_title(data.name.replace(" for ", "\nfor "))
        ax.set_ylabel("objective against uniform, %")
    charts.legend(figure, axes[0])
    if any(change.paper is not None for change in changes):
        figure.supxlabel("hollow: the paper's; bars: standard error", fontsize=8)
    return figure


EXPERIMENT = Experiment("table2", "Table 2: the objective against uniform initialisation", make)

if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
