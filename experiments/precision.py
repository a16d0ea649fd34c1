"""Beyond the paper: float32 against float64, ``python -m experiments.precision``.

The same data in both types, from the same rows drawn uniformly, to convergence. Similarities are
decided in float64 either way; what differs is the data itself, rounded to 24 bits.
"""

import statistics
import sys
from dataclasses import dataclass

from . import charts, markdown, paper
from .command import Artefact, Experiment, Options, enough, main
from .fits import Fit, task
from .table3 import label

TYPES = ("float32", "float64")
ALGORITHMS = ("lloyd", "simplified-hamerly")
"""Of the paper's, those that are fastest here; others are compared too."""
CLUSTERS = (20, 100)


@dataclass(frozen=True)
class Comparison:
    """One algorithm at one k on one data set; means over the seeds."""

    data: str
    k: int
    algorithm: str
    seeds: int
    float32_cpu_seconds: float
    float64_cpu_seconds: float
    objective_change: float
    """The inertia in float32 over that in float64, less 1: the largest of the seeds."""
    same_iterations: int
    """Seeds for which both took as many iterations."""


def make(options: Options) -> Artefact:
    data_sets = options.load()
    clusters = options.k or paper.CLUSTERS
    clusters = [k for k in CLUSTERS if k in clusters] or [max(clusters)]
    data_sets = enough(data_sets, min(clusters))
    algorithms = [
        name for name in options.algorithms if name in ALGORITHMS or name not in paper.ALGORITHMS
    ]
    tasks = [
        task(
            data,
            k,
            algorithm=a,
            dtype=dtype,
            method="rows",
            seed=seed,
            threads=options.threads or 1,
        )
        for data in data_sets
        for seed in range(options.repeats)
        for k in clusters
        for a in algorithms
        for dtype in TYPES
    ]
    groups: dict[tuple[str, int, str], dict[str, list[Fit]]] = {}
    fits: list[Fit] = options.fits(tasks, "precision")
    for fit in fits:
        group = groups.setdefault((fit.data, fit.k, fit.algorithm), {t: [] for t in TYPES})
        group[fit.dtype].append(fit)
    found = []
    for (name, k, algorithm), own in groups.items():
        pairs = list(zip(own["float32"], own["float64"], strict=True))
        found.append(
            Comparison(
                data=name,
                k=k,
                algorithm=algorithm,
                seeds=len(pairs),
                float32_cpu_seconds=statistics.fmean(a.cpu_seconds for a, _ in pairs),
                float64_cpu_seconds=statistics.fmean(b.cpu_seconds for _, b in pairs),
                objective_change=max((a.inertia / b.inertia - 1 for a, b in pairs), key=abs),
                same_iterations=sum(a.iterations == b.iterations for a, b in pairs),
            )
        )
    head = ["", "k", "", "float32, ms", "float64, ms", "ratio", "objective", "same iterations"]
    table = markdown.table(head, [_line(c) for c in found])
    text = f"""CPU milliseconds of a fit, mean over {options.repeats} seeds; the objective in
float32 over that in float64, less 1, where they differ most; and for how many seeds both took as
many iterations. The paper computes in double precision and has no figures for this.

{table}
"""
    return Artefact(found, text, _figure(found))


def _line(c: Comparison) -> list[str]:
    return [
        c.data,
        str(c.k),
        label(c.algorithm),
        markdown.number(1000 * c.float32_cpu_seconds),
        markdown.number(1000 * c.float64_cpu_seconds),
        f"{c.float64_cpu_seconds / c.float32_cpu_seconds:.2f}",
        f"{c.objective_change:+.0e}" if c.objective_change else "0",
        f"{c.same_iterations} of {c.seeds}",
    ]


def _figure(found: list[Comparison]) -> object:
    names = list(dict.fromkeys(c.data for c in found))
    figure, axes = charts.panels(len(names), sharey=True)
    for ax, name in zip(axes, names, strict=True):
        own = [c for c in found if c.data == name]
        ratios = [c.float64_cpu_seconds / c.float32_cpu_seconds for c in own]
        colors = [charts.look(c.algorithm)["color"] for c in own]
        ax.barh(range(len(own)), ratios, color=colors, height=0.7)
        ax.axvline(1, color=charts.GRAY, linewidth=1)
        ax.set_yticks(range(len(own)), [f"{label(c.algorithm)}, k={c.k}" for c in own])
        ax.set_xlabel("float64 over float32, CPU time")
        ax.set_title(name.replace(" for ", "\nfor "))
        ax.grid(axis="y", visible=False)
    axes[0].invert_yaxis()
    return figure


EXPERIMENT = Experiment("precision", "float32 against float64", make)

if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
