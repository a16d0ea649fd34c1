"""Beyond the paper: one thread against all, ``python -m experiments.threads``.

The same fits on 1, 2, 4, … threads up to the processors this process may use. The clock counts
here, so the machine should be idle; of repeated fits the least time is taken.
"""

import sys
from dataclasses import dataclass

from arcmeans.engine import usable_cpus

from . import charts, markdown, paper
from .command import Artefact, Experiment, Options, main
from .fits import task
from .table3 import label

CLUSTERS = 100


@dataclass(frozen=True)
class Speed:
    """One algorithm on so many threads."""

    data: str
    k: int
    algorithm: str
    threads: int
    repeats: int
    seconds: float
    """By the clock, the least of the repeats."""
    speedup: float
    """Of one thread's seconds."""


def make(options: Options) -> Artefact:
    data_sets = options.load()
    wanted = options.k or paper.CLUSTERS
    k = CLUSTERS if CLUSTERS in wanted else max(wanted)
    counts = numbers_of_threads(options.threads or usable_cpus())
    tasks = [
        task(data, k, algorithm=algorithm, threads=threads, repeat=repeat)
        for data in data_sets
        for repeat in range(options.repeats)
        for algorithm in options.algorithms
        for threads in counts
    ]
    least: dict[tuple[str, str, int], float] = {}
    for fit in options.fits(tasks, "threads"):
        key = fit.data, fit.algorithm, fit.threads
        least[key] = min(fit.seconds, least.get(key, fit.seconds))
    found = [
        Speed(name, k, algorithm, threads, options.repeats, s, least[name, algorithm, 1] / s)
        for (name, algorithm, threads), s in least.items()
    ]
    lines = [
        [
            s.data,
            label(s.algorithm),
            str(s.threads),
            markdown.number(1000 * s.seconds),
            f"{s.speedup:.2f}",
        ]
        for s in found
    ]
    table = markdown.table(["", "", "threads", "ms by the clock", "speed-up"], lines)
    text = f"""k = {k}; of each fit the least time of {options.repeats}. All give the same bits. The
paper's implementation has one thread.

{table}
"""
    return Artefact(found, text, _figure(found))


def numbers_of_threads(most: int) -> list[int]:
    """1, 2, 4, … and the most."""
    powers = [2**i for i in range(most.bit_length()) if 2**i < most]
    return [*powers, most]


def _figure(found: list[Speed]) -> object:
    names = list(dict.fromkeys(speed.data for speed in found))
    figure, axes = charts.panels(len(names), sharey=True)
    for ax, name in zip(axes, names, strict=True):
        own = [speed for speed in found if speed.data == name]
        counts = sorted({speed.threads for speed in own})
        ax.plot(counts, counts, color="0.75", linewidth=1, linestyle=":", label="ideal")
        for algorithm in dict.fromkeys(speed.algorithm for speed in own):
            line = [(s.threads, s.speedup) for s in own if s.algorithm == algorithm]
            xs, ys = zip(*line, strict=True)
            charts.line(ax, xs, ys, label=label(algorithm), **charts.look(algorithm))
        ax.set_xticks(counts)
        ax.set_ylim(bottom=0)
        ax.set_xlabel("threads")
        ax.set_title(name.replace(" for ", "\nfor "))
    axes[0].set_ylabel("speed-up by the clock")
    charts.legend(figure, axes[0])
    return figure


EXPERIMENT = Experiment("threads", "One thread against all", make)

if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
