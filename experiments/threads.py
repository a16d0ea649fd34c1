"""Beyond the paper: one thread against all, ``python -m experiments.threads``.

The same fits on 1, 2, 4, … threads up to the processors this process may use, in turns. The clock
counts here, so the machine should be idle; of repeated fits the least time is taken. The CPU time
of all threads together shows what threads cost on a machine that is not.
"""

import sys
from dataclasses import dataclass

from arcmeans._support.cpus import usable_cpus

from . import charts, markdown, paper
from .command import Artefact, Experiment, Options, enough, main
from .fits import Fit, task
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
    cpu_seconds: float
    """Of all threads together, the least of the repeats."""


def make(options: Options) -> Artefact:
    data_sets = options.load()
    wanted = options.k or paper.CLUSTERS
    k = CLUSTERS if CLUSTERS in wanted else max(wanted)
    data_sets = enough(data_sets, k)
    counts = numbers_of_threads(options.threads or usable_cpus())
    tasks = [
        task(data, k, algorithm=algorithm, threads=threads, repeat=repeat)
        for data in data_sets
        for repeat in range(1, 1 + options.repeats)  # 0 was measured at another time, by others
        for algorithm in options.algorithms
        for threads in counts
    ]
    groups: dict[tuple[str, str, int], list[Fit]] = {}
    fits: list[Fit] = options.fits(tasks, "threads")
    for fit in fits:
        groups.setdefault((fit.data, fit.algorithm, fit.threads), []).append(fit)
    least = {key: min(fit.seconds for fit in own) for key, own in groups.items()}
    found = [
        Speed(
            data=name,
            k=k,
            algorithm=algorithm,
            threads=threads,
            repeats=options.repeats,
            seconds=least[name, algorithm, threads],
            speedup=least[name, algorithm, 1] / least[name, algorithm, threads],
            cpu_seconds=min(fit.cpu_seconds for fit in own),
        )
        for (name, algorithm, threads), own in groups.items()
    ]
    lines = [
        [
            s.data,
            label(s.algorithm),
            str(s.threads),
            markdown.number(1000 * s.seconds),
            f"{s.speedup:.2f}",
            markdown.number(1000 * s.cpu_seconds),
        ]
        for s in found
    ]
    table = markdown.table(["", "", "threads", "ms by the clock", "speed-up", "CPU ms"], lines)
    text = f"""k = {k}; of each fit the least time of {options.repeats}, and the least CPU time of
all threads together. All give the same bits. The paper's implementation has one thread.

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
        ax.set_xlabel("threads")
        ax.set_title(name.replace(" for ", "\nfor "))
    axes[0].set_ylim(0, 1.05 * max(max(speed.speedup, speed.threads) for speed in found))
    axes[0].set_ylabel("speed-up by the clock")
    charts.legend(figure, axes[0])
    return figure


EXPERIMENT = Experiment("threads", "One thread against all", make)

if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
