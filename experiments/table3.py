"""The paper's Table 3: run times of the algorithms, ``python -m experiments.table3``.

For each data set, number of clusters k and seed, every algorithm runs from the same uniform seeds
to convergence. They all compute the same result bit for bit; time and work differ. Time is CPU
time of the whole fit, the mean over the seeds, so that other users of the machine matter less. The
work is the share of similarities: all that were computed, between centers too, over
rows × k × iterations, which is what the standard algorithm computes.
"""

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import charts, markdown, paper
from .command import SOURCE, Artefact, Experiment, Options, main
from .fits import Fit, Task, task
from .sources import DataSet


@dataclass(frozen=True)
class Time:
    """One algorithm at one k on one data set; means over the seeds."""

    data: str
    rows: int
    columns: int
    k: int
    algorithm: str
    seeds: int
    iterations: float
    cpu_seconds: float
    least_cpu_seconds: float
    share: float
    """Similarities computed, between centers too, over rows × k × iterations."""
    share_of_centers: float
    """Those between centers alone, over the same."""
    paper_seconds: float | None


def make(options: Options) -> Artefact:
    data_sets = options.clustered()
    tasks = [t for data in data_sets for t in tasks_for(data, options)]
    found = times(options.fits(tasks, "table3"), data_sets)
    head = f"""CPU milliseconds of a fit, mean over {options.repeats} seeds, the lowest of a column
in bold; in parentheses those of Table 3 of {SOURCE},
which are of ELKI on Java and another machine: compare ratios. Below: the share of similarities
computed, in percent of rows × k × iterations.
"""
    text = "\n".join([head, *(section(data, found) for data in data_sets)])
    return Artefact(found, text, figure(data_sets, found))


def tasks_for(data: DataSet, options: Options) -> list[Task]:
    return [
        task(data, k, algorithm=algorithm, seed=seed, threads=options.threads or 1)
        for seed in range(options.repeats)
        for k in options.k or paper.CLUSTERS
        for algorithm in options.algorithms
    ]


def times(fits: Sequence[Fit], data_sets: Sequence[DataSet]) -> list[Time]:
    """The means, in the order in which their fits first come up."""
    groups: dict[tuple[str, int, str], list[Fit]] = {}
    for fit in fits:
        groups.setdefault((fit.data, fit.k, fit.algorithm), []).append(fit)
    by_name = {data.name: data for data in data_sets}
    published = paper.table3()
    return [
        Time(
            data=name,
            rows=own[0].rows,
            columns=own[0].columns,
            k=k,
            algorithm=algorithm,
            seeds=len(own),
            iterations=statistics.fmean(fit.iterations for fit in own),
            cpu_seconds=statistics.fmean(fit.cpu_seconds for fit in own),
            least_cpu_seconds=min(fit.cpu_seconds for fit in own),
            share=statistics.fmean(
                (fit.similarities + fit.center_similarities) / _all(by_name[name], fit)
                for fit in own
            ),
            share_of_centers=statistics.fmean(
                fit.center_similarities / _all(by_name[name], fit) for fit in own
            ),
            paper_seconds=published.get((by_name[name].paper or "", algorithm, k)),
        )
        for (name, k, algorithm), own in groups.items()
    ]


def _all(data: DataSet, fit: Fit) -> int:
    return data.directed * fit.k * fit.iterations


def section(data: DataSet, times: Sequence[Time]) -> str:
    """The two tables of one data set: a line for each algorithm, a column for each k."""
    own = [time for time in times if time.data == data.name]
    clusters = sorted({time.k for time in own})
    algorithms = list(dict.fromkeys(time.algorithm for time in own))
    seconds, shares = [], []
    for k in clusters:
        column = [
            time for name in algorithms for time in own if (time.algorithm, time.k) == (name, k)
        ]
        ours = markdown.numbers([1000 * time.cpu_seconds for time in column])
        theirs = [
            None if time.paper_seconds is None else 1000 * time.paper_seconds for time in column
        ]
        seconds.append(markdown.beside(ours, markdown.numbers(theirs)))
        shares.append(markdown.numbers([100 * time.share for time in column]))
    head = ["", *(f"k={k}" for k in clusters)]
    names = [label(algorithm) for algorithm in algorithms]
    return f"""### {data.title}

{markdown.table(head, [[*line] for line in zip(names, *seconds, strict=True)])}

{markdown.table(head, [[*line] for line in zip(names, *shares, strict=True)])}
"""


def label(algorithm: str) -> str:
    """Our name, and the paper's of its standard algorithm."""
    return "lloyd (Standard)" if algorithm == "lloyd" else algorithm


def figure(data_sets: Sequence[DataSet], times: Sequence[Time]) -> object:
    """Rows of data sets; below each row the paper's, where it has any."""
    published = any(time.paper_seconds is not None for time in times)
    columns = min(len(data_sets), charts.MOST_COLUMNS)
    rows = -(-len(data_sets) // columns) * (1 + published)
    drawn, axes = charts.panels(rows * columns, columns)
    for ax in axes:
        ax.set_axis_off()
    for number, data in enumerate(data_sets):
        row, column = divmod(number, columns)
        place = row * (1 + published) * columns + column
        own = [time for time in times if time.data == data.name]
        lines(axes[place], own, lambda time: time.cpu_seconds)
        axes[place].set_title(data.name.replace(" for ", "\nfor "))
        axes[place].set_ylabel("CPU seconds")
        if any(time.paper_seconds is not None for time in own):
            lines(axes[place + columns], own, lambda time: time.paper_seconds)
            axes[place + columns].set_title(f"the paper: {data.paper}")
            axes[place + columns].set_ylabel("seconds, as printed")
    charts.legend(drawn, axes[0])
    return drawn


def lines(ax: Any, times: Sequence[Time], of: Callable[[Time], float | None]) -> None:
    """A line for each algorithm over k."""
    ax.set_axis_on()
    for algorithm in dict.fromkeys(time.algorithm for time in times):
        points = [(t.k, of(t)) for t in times if t.algorithm == algorithm and of(t) is not None]
        if points:
            charts.line(
                ax, *zip(*points, strict=True), label=label(algorithm), **charts.look(algorithm)
            )
    charts.clusters_axis(ax, sorted({time.k for time in times}))
    charts.logarithmic(ax)


EXPERIMENT = Experiment("table3", "Table 3: run times of the algorithms", make)

if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
