"""Fits to convergence, each recorded as one line of a file, so that no fit is ever done twice."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from arcmeans import SphericalKMeans, _core
from arcmeans._engines.protocol import Place
from arcmeans._run.restarts import Plan
from arcmeans._run.starts import Start
from arcmeans._support.progress import Progress
from benchmarks.machine import processor

from .log import Log
from .paper import Method
from .sources import DataSet

MOST_ITERATIONS = 10_000


@dataclass(frozen=True)
class Setting:
    """What tells a fit from others."""

    data: str
    rows: int
    columns: int
    k: int
    algorithm: str
    update: str
    """Of Hamerly's upper bound: tight, eq8 or eq9."""
    dtype: str
    threads: int
    method: str
    """Of seeding; "rows": row numbers drawn at random, the same whatever the type of the data."""
    alpha: float | None
    seed: int
    repeat: int
    """0, 1, … of fits that are alike in all else."""


@dataclass(frozen=True)
class Fit(Setting):
    """What came of it."""

    inertia: float
    iterations: int
    similarities: int
    """Between rows and centers."""
    center_similarities: int
    cpu_seconds: float
    """Of the whole fit on all threads, the seeding included."""
    seconds: float
    """The same by the clock."""
    machine: str


@dataclass(frozen=True)
class Trace(Fit):
    """What came of it, iteration by iteration: numbers with blanks between."""

    step_similarities: str
    """Between rows and centers and between centers."""
    step_seconds: str
    """CPU seconds from the labels of the iteration before, for the first one from the start."""

    def similarities_each(self) -> list[int]:
        return [int(word) for word in self.step_similarities.split()]

    def seconds_each(self) -> list[float]:
        return [float(word) for word in self.step_seconds.split()]


AnyFit = TypeVar("AnyFit", bound=Fit)
Task = tuple[DataSet, Setting]


def task(data: DataSet, k: int, **differs: Any) -> Task:
    """A fit by Lloyd's algorithm from the uniform seeding, but for what differs."""
    usual = {
        "algorithm": "lloyd",
        "update": "tight",
        "dtype": str(data.X.dtype),
        "threads": 1,
        "method": "uniform",
        "alpha": None,
        "seed": 0,
        "repeat": 0,
    }
    return data, Setting(data.name, data.rows, data.columns, k, **{**usual, **differs})


def perform(tasks: Sequence[Task], record: type[AnyFit], path: Path, name: str) -> list[AnyFit]:
    """The fits: those of the file, and the others done now and added to it.

    A k that is more than the rows with a direction is left out. Where data or k are new, a fit of
    two iterations goes before: the first fit of a size pays for memory that later ones find.
    """
    tasks = [(data, setting) for data, setting in tasks if setting.k <= data.directed]
    with Log(path, record) as log:
        known = {setting_of(fit): fit for fit in log.records}
        warm: tuple[str, int] | None = None

        def do(i: int) -> float:
            nonlocal warm
            data, setting = tasks[i]
            if warm != (data.name, setting.k):
                _fit(_model(data, setting, max_iter=2), data, setting)
                warm = data.name, setting.k
            fit = known[setting] = fitted(data, setting, record)
            log.append(fit)
            return fit.seconds

        resumable(
            [(s, _weight(data, s), described(s)) for data, s in tasks],
            {s: fit.seconds for s, fit in known.items()},
            name,
            do,
        )
    return [known[setting] for _, setting in tasks]


def resumable(
    parts: Sequence[tuple[Any, float, str]],
    done: dict[Any, float],
    name: str,
    do: Callable[[int], float],
) -> None:
    """Do what is not done, and show how far it is.

    ``parts``: key, weight and description of each; ``done``: the seconds of keys already there;
    ``do`` takes the number of a part and returns its seconds.
    """
    progress = Progress(len(parts), sum(weight for _, weight, _ in parts))
    for key, weight, _ in parts:
        if key in done:
            progress.add(weight, done[key])
    try:
        for i, (key, weight, text) in enumerate(parts):
            if key not in done:
                progress.show(f"{name}: {text}")
                done[key] = do(i)
                progress.add(weight, done[key])
        progress.show(f"{name}: all done")
    finally:
        progress.end()


def fitted(data: DataSet, setting: Setting, record: type[AnyFit]) -> AnyFit:
    """One fit."""
    stamps: list[float] = []
    model = _model(data, setting, callback=lambda _: stamps.append(time.process_time()))
    cpu_started, cpu_seconds, seconds = _fit(model, data, setting)
    trace = model.trace_
    values: list[Any] = [
        *astuple(setting),
        model.inertia_,
        model.n_iter_,
        int(trace["similarities"].sum()),
        int(trace["center_similarities"].sum()),
        cpu_seconds,
        seconds,
        machine(),
    ]
    if record is Trace:
        every = trace["similarities"] + trace["center_similarities"]
        steps = np.diff([cpu_started, *stamps])
        values += [" ".join(map(str, every)), " ".join(f"{s:.6f}" for s in steps)]
    return record(*values)


def _model(data: DataSet, setting: Setting, **more: Any) -> "_Model":
    options = {
        "init": _init(data, setting),
        "alpha": 1.0 if setting.alpha is None else setting.alpha,
        "algorithm": setting.algorithm,
        "max_iter": MOST_ITERATIONS,
        "random_state": setting.seed,
        "n_threads": setting.threads,
    }
    model = _Model(setting.k, **{**options, **more})
    model.hamerly_update = setting.update
    return model


def _fit(model: "_Model", data: DataSet, setting: Setting) -> tuple[float, float, float]:
    """Fits the model: CPU time at the beginning, CPU seconds, seconds by the clock."""
    X = data.X.astype(setting.dtype, copy=False)
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.filterwarnings("ignore", r"\d+ of \d+ rows are all zero")  # said once, on loading
        warnings.filterwarnings("ignore", "Interrupted after")  # said by main
        started, cpu_started = time.perf_counter(), time.process_time()
        model.fit(X)
        return cpu_started, time.process_time() - cpu_started, time.perf_counter() - started


def _init(data: DataSet, setting: Setting) -> Any:
    if setting.method == "rows":
        directed = np.flatnonzero(abs(data.X).sum(axis=1))
        return np.random.RandomState(setting.seed).choice(directed, setting.k, replace=False)
    return "random" if setting.method == "uniform" else setting.method


class _Model(SphericalKMeans):
    """With a choice of Hamerly's update, which a user has no use for."""

    hamerly_update = "tight"

    def _plan(self, place: Place, start: Start, n_threads: int) -> Plan:
        plan = super()._plan(place, start, n_threads)
        return replace(plan, options=replace(plan.options, hamerly_update=self.hamerly_update))


def setting_of(fit: Fit) -> Setting:
    return Setting(*(getattr(fit, field.name) for field in fields(Setting)))


def machine() -> str:
    """What a fit ran on."""
    return f"{processor()}, {_core.simd}, arcmeans {version('arcmeans')}"


def described(setting: Setting) -> str:
    method = Method(setting.method, setting.alpha)
    return f"{setting.data}, k={setting.k}, {setting.algorithm}, {method}, seed {setting.seed}"


def _weight(data: DataSet, setting: Setting) -> float:
    """In proportion to the time expected: an iteration costs more with k, but not k times."""
    return data.entries * (setting.k + 20.0)
