"""The share of similarities each algorithm computes, and that all give the same bits.

Every algorithm starts from the same random seeds and runs to convergence on one thread. A share is
row-center similarities computed over n·k·iterations, where n counts the rows with a direction.
Center-center similarities are counted apart, and added in the share "with centers".

For 20 Newsgroups the shares that ELKI computes stand beside them. Its counter takes in the
similarities between centers, so "with centers" is the column to hold against them. They come from
other seeds, and the share depends on those: the longer a run, the smaller its share.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from arcmeans import SphericalKMeans
from arcmeans._algorithms.registry import ALGORITHMS

CLUSTERS = (20, 200)
MOST_ITERATIONS = 10_000

NEWSGROUPS = (11314, 101631)
ELKI = {
    20: {
        "simplified-hamerly": 0.855,
        "hamerly": 0.856,
        "simplified-elkan": 0.211,
        "elkan": 0.212,
    },
    200: {
        "simplified-hamerly": 0.717,
        "hamerly": 0.726,
        "simplified-elkan": 0.176,
        "elkan": 0.184,
    },
}


@dataclass(frozen=True)
class Share:
    """One algorithm's work; means over the seeds."""

    data: str
    k: int
    algorithm: str
    share: float
    """Row-center similarities computed, over n·k·iterations."""
    with_centers: float
    """The same with center-center similarities added."""
    elki: float | None
    """The share ELKI computes, where it is known."""
    center_similarities: float
    cpu_seconds: float
    """Of the whole fit, set-up included."""
    iterations: str
    """Of each seed."""


@dataclass(frozen=True)
class _Run:
    model: Any
    share: float
    with_centers: float
    center_similarities: int
    cpu_seconds: float


def measure(name: str, X: Any, n_seeds: int) -> list[Share]:
    """The shares on one matrix, for each number of clusters and each algorithm."""
    records = []
    for k in (k for k in CLUSTERS if k <= X.shape[0]):
        runs: dict[str, list[_Run]] = {algorithm: [] for algorithm in ALGORITHMS}
        for seed in range(n_seeds):
            for algorithm in ALGORITHMS:
                runs[algorithm].append(_run(X, k, algorithm, seed))
                check_same(runs["lloyd"][-1].model, runs[algorithm][-1].model)
        elki = ELKI[k] if X.shape == NEWSGROUPS else {}
        records += [
            _mean(name, k, algorithm, runs[algorithm], elki.get(algorithm))
            for algorithm in ALGORITHMS
        ]
    return records


def _run(X: Any, k: int, algorithm: str, seed: int) -> _Run:
    model = SphericalKMeans(
        k, algorithm=algorithm, max_iter=MOST_ITERATIONS, n_threads=1, random_state=seed
    )
    with threadpool_limits(limits=1):
        started = time.process_time()
        model.fit(X)
        seconds = time.process_time() - started
    similarities = int(model.trace_["similarities"].sum())
    between_centers = int(model.trace_["center_similarities"].sum())
    every = int(np.sum(model.labels_ >= 0)) * k * model.n_iter_
    return _Run(
        model=model,
        share=similarities / every,
        with_centers=(similarities + between_centers) / every,
        center_similarities=between_centers,
        cpu_seconds=seconds,
    )


def check_same(expected: SphericalKMeans, model: SphericalKMeans) -> None:
    """Raise unless two runs agree in every bit."""
    for attribute in ("labels_", "cluster_centers_", "inertia_", "n_iter_"):
        wanted, found = (np.asarray(getattr(m, attribute)) for m in (expected, model))
        if wanted.tobytes() != found.tobytes():
            raise RuntimeError(
                f"{attribute} of algorithm={model.algorithm!r} differs from that of "
                f"{expected.algorithm!r} (n_clusters={model.n_clusters}, "
                f"random_state={model.random_state})."
            )


def _mean(name: str, k: int, algorithm: str, runs: Sequence[_Run], elki: float | None) -> Share:
    return Share(
        data=name,
        k=k,
        algorithm=algorithm,
        share=float(np.mean([run.share for run in runs])),
        with_centers=float(np.mean([run.with_centers for run in runs])),
        elki=elki,
        center_similarities=float(np.mean([run.center_similarities for run in runs])),
        cpu_seconds=float(np.mean([run.cpu_seconds for run in runs])),
        iterations="+".join(str(run.model.n_iter_) for run in runs),
    )
