"""What ``auto`` and ``sieve`` reach: fits to convergence or 60 iterations, beside every peer.

One thread, the same rows as seeds, unit rows in float32, CPU seconds in turns, the least of the
repeats. A time of ours is that of the whole fit: validation, the copy of X, packing, all passes.

- ``loop``: what one writes by hand, with SciPy on sparse and NumPy on dense rows, in float32
  (``lloyd.py``). Iterations cost the same but for the first, which moves no centers and costs
  less. The first few are timed, and taken for as many as our fit made.
- ``scikit-learn``: KMeans by lloyd and by elkan, seconds an iteration of the faster: a run of a few
  iterations less a run of one. Where rows times entries times k is large, on a part of the rows
  (``PEER_WORK``), times the rows there are. Elkan's later iterations, which compute less, are not
  among them. Held against our seconds an iteration, set-up included.
- ``faiss``: ``faiss.Kmeans(spherical=True)`` on dense rows, as many iterations as our fit made;
  where it is installed.

All of our fits are held against each other bit by bit. ``auto loss`` is the time of ``auto`` over
that of the fastest algorithm by name among those that were timed, less 1.
"""

import importlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from arcmeans import SphericalKMeans

from . import lloyd
from .cases import CASES, Case, Targets
from .peakmem import MEGABYTE, peak_of
from .shares import check_same
from .timing import Measured, in_turns

MOST_ITERATIONS = 60
LOOP_ITERATIONS = 4
SCIKIT_LEARN_ITERATIONS = 3
PEER_WORK = 2e9
"""Multiply-adds of a pass beyond which scikit-learn gets a part of the rows."""
LATE = 5
"""The last iterations, whose cost is held against the first."""
MOST_LOSS = 0.15
NAMED = {True: ("sieve", "tally", "lloyd"), False: ("sieve", "lloyd", "shallot")}
"""The algorithms that are timed, on sparse rows and on dense ones."""


@dataclass(frozen=True)
class Reached:
    """One line of the table: CPU seconds on one thread, and what they are times ours."""

    data: str
    rows: int
    k: int
    iterations: int
    auto: float
    sieve: float
    lloyd: float
    best: str
    """The fastest algorithm by name."""
    auto_loss: float
    loop: float
    scikit_learn: float
    """Seconds an iteration of the faster of its algorithms."""
    scikit_learn_by: str
    faiss: float | None
    loop_ratio: float
    loop_target: float
    scikit_learn_ratio: float
    scikit_learn_target: float
    lloyd_ratio: float
    lloyd_target: float
    faiss_ratio: float | None
    similarities: float
    """Computed by ``sieve``, over rows times k times iterations."""
    lines: float
    """Visited by ``sieve``, over rows times lines times iterations."""
    late: float
    """The seconds of one of the last iterations of ``auto`` over those of the first."""
    auto_mb: float | None
    """Peak memory beyond X."""
    lloyd_mb: float | None


def measure(files: Mapping[str, Path], full: bool, repeats: int) -> Iterator[Reached]:
    """Every line of the table, or those of the files."""
    for case in CASES:
        if files and case.name not in files:
            continue
        X = case.matrix(files.get(case.name), full or bool(files))
        for k, targets in case.clusters.items():
            yield _measure(case, X, k, targets, repeats)


def _measure(case: Case, X: Any, k: int, targets: Targets, repeats: int) -> Reached:
    sparse = sp.issparse(X)
    chosen = np.sort(np.random.default_rng(k).choice(X.shape[0], k, replace=False))
    seeds = X[chosen].toarray() if sparse else X[chosen]
    names = ("auto", *NAMED[sparse])

    works: dict[str, Callable[[], Any]] = {name: partial(fit, X, chosen, name) for name in names}
    works["loop"] = loop_work(X, seeds)
    measured = in_turns(works, repeats)
    models = {name: measured[name].result for name in names}
    for model in models.values():
        check_same(models["lloyd"], model)
    auto, seconds = models["auto"], {name: measured[name].seconds for name in names}
    iterations = auto.n_iter_

    own = seconds["auto"]
    best = min(NAMED[sparse], key=seconds.__getitem__)
    each, by = _scikit_learn_seconds(X, seeds, repeats)
    loop = loop_seconds(measured["loop"], iterations)
    faiss = None if sparse else _faiss_seconds(X, seeds, iterations, repeats)
    pairs, trace = X.shape[0] * iterations, models["sieve"].trace_
    passes = auto.trace_["assign_seconds"] + auto.trace_["update_seconds"]
    return Reached(
        data=case.name,
        rows=X.shape[0],
        k=k,
        iterations=iterations,
        auto=own,
        sieve=seconds["sieve"],
        lloyd=seconds["lloyd"],
        best=best,
        auto_loss=own / seconds[best] - 1.0,
        loop=loop,
        scikit_learn=each,
        scikit_learn_by=by,
        faiss=faiss,
        loop_ratio=loop / own,
        loop_target=targets.loop,
        scikit_learn_ratio=each * iterations / own,
        scikit_learn_target=targets.scikit_learn,
        lloyd_ratio=seconds["lloyd"] / own,
        lloyd_target=targets.lloyd,
        faiss_ratio=faiss / own if faiss else None,
        similarities=trace["similarities"].sum() / (pairs * k),
        lines=trace["lines"].sum() / (pairs * math.ceil(k / 32)),
        late=float(passes[-LATE:].mean() / passes[0]),
        auto_mb=_peak_mb(X, chosen, "auto"),
        lloyd_mb=_peak_mb(X, chosen, "lloyd"),
    )


def fit(
    X: Any,
    seeds: NDArray[np.int64],
    algorithm: str,
    n_threads: int = 1,
    max_iter: int = MOST_ITERATIONS,
) -> SphericalKMeans:
    """One of our fits, from rows by their numbers."""
    return SphericalKMeans(
        len(seeds),
        init=seeds,
        algorithm=algorithm,
        max_iter=max_iter,
        n_threads=n_threads,
        empty_cluster="keep",
    ).fit(X)


def loop_work(X: Any, seeds: NDArray[np.float32]) -> Callable[[], lloyd.Fit]:
    """The loop by hand: the few iterations of it that are timed."""
    return partial(lloyd.PEERS["scipy"], X, seeds, LOOP_ITERATIONS)


def loop_seconds(few: Measured, iterations: int) -> float:
    """Of a loop of so many iterations."""
    return few.seconds * iterations / few.result.iterations


def _scikit_learn_seconds(X: Any, seeds: NDArray[np.float32], repeats: int) -> tuple[float, str]:
    """Seconds an iteration of the faster algorithm, and its name."""
    work = (X.nnz if sp.issparse(X) else X.size) * len(seeds)
    part = X[: max(len(seeds), int(X.shape[0] * min(1.0, PEER_WORK / work)))]
    works: dict[tuple[str, int], Callable[[], Any]] = {
        (name, m): partial(_scikit_learn, part, seeds, name, m)
        for name in ("lloyd", "elkan")
        for m in (1, SCIKIT_LEARN_ITERATIONS)
    }
    measured = in_turns(works, repeats)
    each = {
        name: lloyd.seconds_per_iteration(
            measured[name, 1], measured[name, SCIKIT_LEARN_ITERATIONS]
        )
        for name in ("lloyd", "elkan")
    }
    by = min(each, key=each.__getitem__)
    return each[by] * X.shape[0] / part.shape[0], by


def _scikit_learn(X: Any, seeds: NDArray[np.float32], algorithm: str, iterations: int) -> lloyd.Fit:
    model = KMeans(
        len(seeds), init=seeds, algorithm=algorithm, n_init=1, max_iter=iterations, tol=0
    ).fit(X)
    return lloyd.Fit(model.labels_, model.n_iter_)


def _faiss_seconds(
    X: Any, seeds: NDArray[np.float32], iterations: int, repeats: int
) -> float | None:
    """Of all iterations; None where it is not installed."""
    try:
        faiss = importlib.import_module("faiss")
    except ImportError:
        return None
    faiss.omp_set_num_threads(1)

    def train() -> None:
        peer = faiss.Kmeans(
            X.shape[1],
            len(seeds),
            niter=iterations,
            spherical=True,
            min_points_per_centroid=1,
            max_points_per_centroid=X.shape[0],  # or it would take a sample
        )
        peer.train(X, init_centroids=seeds)

    return in_turns({"faiss": train}, repeats, 0.0)["faiss"].seconds


def _peak_mb(X: Any, seeds: NDArray[np.int64], algorithm: str) -> float | None:
    peak = peak_of(lambda: fit(X, seeds, algorithm, max_iter=3))
    return None if peak is None else peak / MEGABYTE


def conclude(records: Sequence[Reached]) -> None:
    """Say which targets are missed, and where ``auto`` loses to an algorithm by name."""
    missed = []
    for record in records:
        for peer in ("loop", "scikit_learn", "lloyd"):
            ratio, target = (getattr(record, f"{peer}_{what}") for what in ("ratio", "target"))
            if ratio < target:
                missed.append(f"{record.data} k={record.k}: {ratio:.2f} x {peer}, not {target:g}")
        if record.faiss_ratio is not None and record.faiss_ratio < 1.0:
            missed.append(f"{record.data} k={record.k}: {record.faiss_ratio:.2f} x faiss")
    print("\ntargets missed:", *(missed or ["none"]), sep="\n  ")
    say_losses((f"{r.data} k={r.k}", r.auto_loss, r.best) for r in records)


def say_losses(losses: Iterable[tuple[str, float, str]]) -> None:
    """Of cases, what ``auto`` loses to the best algorithm by name, and which that is."""
    large = [f"{case}: {loss:.0%} to {best}" for case, loss, best in losses if loss > MOST_LOSS]
    print(f"auto loses more than {MOST_LOSS:.0%}:", *(large or ["nowhere"]), sep="\n  ")
