"""Beyond the paper: three updates of Hamerly's upper bound, ``python -m experiments.hamerly``.

After the centers moved, the bound on the similarity to all other centers can be moved by Eq. (8) or
Eq. (9) of the paper, both made safe where they are no bounds, or by Eq. (7) with the largest
movement alone, which is tighter than both: ``docs/algorithms.md``. The result is the same; the
similarities that have to be computed differ.
"""

import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from arcmeans._algorithms.options import HAMERLY_UPDATES

from . import charts, markdown, paper
from .command import Artefact, Experiment, Options, main
from .fits import Fit, task
from .sources import DataSet

ALGORITHM = "simplified-hamerly"
NAMES = {
    "tight": "tight (Eq. 7, largest movement)",
    "eq8": "the paper's Eq. 8",
    "eq9": "the paper's Eq. 9",
}
LOOKS = {
    "tight": (charts.GREEN, "-", "D"),
    "eq8": (charts.VERMILION, "-", "^"),
    "eq9": (charts.ORANGE, "--", "^"),
}


@dataclass(frozen=True)
class Work:
    """One update at one k on one data set; means over the seeds."""

    data: str
    k: int
    update: str
    seeds: int
    share: float
    """Similarities computed over rows × k × iterations."""
    cpu_seconds: float


def make(options: Options) -> Artefact:
    data_sets = options.clustered()
    tasks = [
        task(data, k, algorithm=ALGORITHM, update=update, seed=seed, threads=options.threads or 1)
        for data in data_sets
        for seed in range(options.repeats)
        for k in options.k or paper.CLUSTERS
        for update in HAMERLY_UPDATES
    ]
    found = _works(options.fits(tasks, "hamerly"), data_sets)
    head = f"""`{ALGORITHM}`, mean over {options.repeats} seeds: the share of similarities computed,
in percent of rows × k × iterations. The paper has no figures for this; Eq. 8 and Eq. 9 are its own
updates.
"""
    text = "\n".join([head, *(_section(data, found) for data in data_sets)])
    return Artefact(found, text, _figure(data_sets, found))


def _works(fits: Sequence[Fit], data_sets: Sequence[DataSet]) -> list[Work]:
    directed = {data.name: data.directed for data in data_sets}
    groups: dict[tuple[str, int, str], list[Fit]] = {}
    for fit in fits:
        groups.setdefault((fit.data, fit.k, fit.update), []).append(fit)
    return [
        Work(
            data=name,
            k=k,
            update=update,
            seeds=len(own),
            share=statistics.fmean(
                fit.similarities / (directed[name] * fit.k * fit.iterations) for fit in own
            ),
            cpu_seconds=statistics.fmean(fit.cpu_seconds for fit in own),
        )
        for (name, k, update), own in groups.items()
    ]


def _section(data: DataSet, works: Sequence[Work]) -> str:
    own = [work for work in works if work.data == data.name]
    clusters = sorted({work.k for work in own})
    columns = []
    for k in clusters:
        column = [work for u in HAMERLY_UPDATES for work in own if (work.update, work.k) == (u, k)]
        columns.append(markdown.numbers([100 * work.share for work in column]))
    lines = [[NAMES[u], *cells] for u, *cells in zip(HAMERLY_UPDATES, *columns, strict=True)]
    return f"### {data.title}\n\n{markdown.table(['', *(f'k={k}' for k in clusters)], lines)}\n"


def _figure(data_sets: Sequence[DataSet], works: Sequence[Work]) -> object:
    figure, axes = charts.panels(len(data_sets))
    for ax, data in zip(axes, data_sets, strict=True):
        own = [work for work in works if work.data == data.name]
        base = {work.k: work.share for work in own if work.update == "eq9"}
        for update in HAMERLY_UPDATES:
            points = [
                (work.k, 100 * (work.share / base[work.k] - 1))
                for work in own
                if work.update == update
            ]
            color, style, marker = LOOKS[update]
            charts.line(
                ax,
                *zip(*points, strict=True),
                color=color,
                linestyle=style,
                marker=marker,
                label=NAMES[update],
            )
        charts.clusters_axis(ax, sorted({work.k for work in own}))
        ax.set_title(data.name.replace(" for ", "\nfor "))
        ax.set_ylabel("similarities against Eq. 9, %")
    charts.legend(figure, axes[0])
    return figure


EXPERIMENT = Experiment("hamerly", "Updates of Hamerly's upper bound", make)

if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
