"""The paper's Figure 1: one run, iteration by iteration, ``python -m experiments.figure1``.

Every algorithm runs from the same uniform seeds, k = 100 (or the largest k asked for). Similarities
are those between rows and centers and those between centers. An iteration's time is the CPU time
from the labels before it to its own; the first one's has the preparation of the rows and the
seeding in it. Each fit is repeated, and of each iteration the least time is taken.
"""

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from . import charts, markdown, paper
from .command import SOURCE, Artefact, Experiment, Options, enough, main
from .fits import Trace, task
from .sources import DataSet
from .table3 import label

CLUSTERS = 100


@dataclass(frozen=True)
class Step:
    """One iteration of one algorithm."""

    data: str
    k: int
    algorithm: str
    iteration: int
    similarities: int
    cumulative_similarities: int
    cpu_seconds: float
    cumulative_cpu_seconds: float


def make(options: Options) -> Artefact:
    data_sets = options.load()
    wanted = options.k or [CLUSTERS]
    k = CLUSTERS if CLUSTERS in wanted else max(wanted)
    data_sets = enough(data_sets, k)
    tasks = [
        task(data, k, algorithm=algorithm, repeat=repeat, threads=options.threads or 1)
        for data in data_sets
        for repeat in range(options.repeats)
        for algorithm in options.algorithms
    ]
    traces = options.fits(tasks, "figure1", Trace, "figure1_runs.csv")
    steps = [step for data in data_sets for step in _steps(data, traces)]
    head = f"""One run from the same uniform seeds, k = {k}; of each iteration the least CPU time of
{options.repeats} runs. The paper's: seconds of a whole run, from Table 3 of {SOURCE}; its Figure 1,
on DBLP Author-Conference, prints no numbers.
"""
    text = "\n".join([head, *(_section(data, steps) for data in data_sets)])
    return Artefact(steps, text, _figure(data_sets, steps))


def _steps(data: DataSet, traces: Sequence[Trace]) -> list[Step]:
    own = [trace for trace in traces if trace.data == data.name]
    steps = []
    for algorithm in dict.fromkeys(trace.algorithm for trace in own):
        repeats = [trace for trace in own if trace.algorithm == algorithm]
        similarities = repeats[0].similarities_each()
        seconds = [min(s) for s in zip(*(t.seconds_each() for t in repeats), strict=True)]
        sums = itertools.accumulate(similarities), itertools.accumulate(seconds)
        steps += [
            Step(data.name, repeats[0].k, algorithm, i, *numbers)
            for i, numbers in enumerate(
                zip(similarities, sums[0], seconds, sums[1], strict=True), 1
            )
        ]
    return steps


def _section(data: DataSet, steps: Sequence[Step]) -> str:
    last = {step.algorithm: step for step in steps if step.data == data.name}
    published = [paper.table3().get((data.paper or "", a, s.k)) for a, s in last.items()]
    every = data.directed * next(iter(last.values())).k
    columns = [
        [label(algorithm) for algorithm in last],
        [str(step.iteration) for step in last.values()],
        markdown.numbers([step.cumulative_similarities / 1e6 for step in last.values()]),
        markdown.numbers(
            [100 * s.cumulative_similarities / every / s.iteration for s in last.values()]
        ),
        markdown.beside(
            markdown.numbers([step.cumulative_cpu_seconds for step in last.values()]),
            markdown.numbers(published),
        ),
    ]
    head = ["", "iterations", "similarities, millions", "% of all", "CPU seconds (paper's)"]
    lines = [list(line) for line in zip(*columns, strict=True)]
    return f"### {data.title}\n\n{markdown.table(head, lines)}\n"


def _figure(data_sets: Sequence[DataSet], steps: Sequence[Step]) -> object:
    kinds = [
        ("similarities", "millions an iteration", 1e-6),
        ("cumulative_similarities", "millions so far", 1e-6),
        ("cpu_seconds", "seconds an iteration", 1.0),
        ("cumulative_cpu_seconds", "seconds so far", 1.0),
    ]
    figure, axes = charts.panels(4 * len(data_sets), columns=4, height=2.5)
    for (data, (field, text, unit)), ax in zip(
        itertools.product(data_sets, kinds), axes, strict=True
    ):
        own = [step for step in steps if step.data == data.name]
        for algorithm in dict.fromkeys(step.algorithm for step in own):
            line = [step for step in own if step.algorithm == algorithm]
            xs = [step.iteration for step in line]
            ys = [unit * getattr(step, field) for step in line]
            charts.line(ax, xs, ys, label=label(algorithm), **charts.look(algorithm))
        if field.startswith("cumulative"):
            ax.set_ylim(bottom=0)
        else:
            charts.logarithmic(ax)
        ax.set_title("similarities" if "similarities" in field else "CPU time")
        ax.set_xlabel("iteration")
        name = data.name.replace(" for ", "\nfor ") + "\n" if field == "similarities" else ""
        ax.set_ylabel(name + text)
    charts.legend(figure, axes[0])
    return figure


EXPERIMENT = Experiment("figure1", "Figure 1: one run, iteration by iteration", make)

if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
