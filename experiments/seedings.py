"""Runs to convergence from each seeding, kept in a file as they are done."""

import itertools
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arcmeans import SphericalKMeans

from . import paper
from .log import Log
from .paper import Method
from .progress import Progress
from .sources import DataSet

METHODS = tuple(dict.fromkeys(method for _, method, _ in paper.table2()))
MORE_METHODS = (Method("greedy-k-means++", 1.0), Method("k-means||", 1.0))
MOST_ITERATIONS = 10_000


@dataclass(frozen=True)
class Run:
    """One run to convergence."""

    data: str
    rows: int
    columns: int
    k: int
    method: str
    alpha: float | None
    seed: int
    inertia: float
    iterations: int
    seconds: float
    """Of the whole fit, the seeding included, by the clock."""


Key = tuple[str, int, int, int, str, float | None, int]


@dataclass(frozen=True)
class Plan:
    """The runs of an experiment."""

    data_sets: Sequence[DataSet]
    clusters: Sequence[int]
    methods: Sequence[Method]
    seeds: int
    n_threads: int | None

    def tasks(self) -> Iterator[tuple[DataSet, Key]]:
        """Every run, by data set and seed: the first seed tells how long the others take."""
        for data, seed in itertools.product(self.data_sets, range(self.seeds)):
            for k, (name, alpha) in itertools.product(self.clusters, self.methods):
                if k > data.rows - data.zero_rows:
                    continue
                yield data, (data.name, data.rows, data.columns, k, name, alpha, seed)


def perform(plan: Plan, runs_file: Path) -> list[Run]:
    """The plan's runs: those of the file, and the others done now and added to it."""
    tasks = list(plan.tasks())
    with Log(runs_file, Run) as log:
        known = {key(run): run for run in log.records}
        progress = Progress(len(tasks), sum(_weight(data, task) for data, task in tasks))
        for data, task in tasks:
            if task in known:
                progress.add(_weight(data, task), known[task].seconds)
        try:
            for data, task in tasks:
                if task not in known:
                    progress.show(_described(task))
                    known[task] = fit(data, task, plan.n_threads)
                    log.append(known[task])
                    progress.add(_weight(data, task), known[task].seconds)
            progress.show("all done")
        finally:
            progress.end()
    return [known[task] for _, task in tasks]


def fit(data: DataSet, task: Key, n_threads: int | None) -> Run:
    """One run."""
    *_, k, method, alpha, seed = task
    model = SphericalKMeans(
        k,
        init="random" if method == "uniform" else method,
        alpha=1.0 if alpha is None else alpha,
        max_iter=MOST_ITERATIONS,
        random_state=seed,
        n_threads=n_threads,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\d+ of \d+ rows are all zero")  # said once, on loading
        warnings.filterwarnings("ignore", "Interrupted after")  # said by main
        started = time.perf_counter()
        model.fit(data.X)
        seconds = time.perf_counter() - started
    return Run(*task, model.inertia_, model.n_iter_, seconds)


def key(run: Run) -> Key:
    """What tells a run from others."""
    return run.data, run.rows, run.columns, run.k, run.method, run.alpha, run.seed


def _weight(data: DataSet, task: Key) -> float:
    """In proportion to the time expected: an iteration costs more with k, but not k times."""
    return data.entries * (task[3] + 20.0)


def _described(task: Key) -> str:
    name, _, _, k, method, alpha, seed = task
    return f"{name}, k={k}, {Method(method, alpha)}, seed {seed}"
