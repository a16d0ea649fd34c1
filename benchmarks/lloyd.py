"""The time of a Lloyd iteration: arcmeans, scikit-learn, and the obvious loop with SciPy.

All three get the same unit rows in float32 and the same rows as seeds, on one thread. The time of
an iteration is that of a run of m iterations less that of a run of one, divided by m - 1, so that
what is done once a run cancels out: validation, copies, scikit-learn's row norms, and the last
assignment that it adds to a run that did not converge. What remains is m - 1 times:

- arcmeans: an assign pass over all rows; the change of the sums, for the rows that changed their
  label; the objective; the move. The first pass, in which every row changes, cancels out.
  Left in is that centers take longer to hand over once they moved: seeds have few entries. Later
  iterations, in which few rows change, are faster than these first ones.
- scikit-learn: an assign pass, sums of all rows, the move. It does not normalize the centers: its
  k-means is the Euclidean one, so its labels are others.
- SciPy: ``X @ C.T``, argmax, an indicator matrix times X, division by the norms.

A run that converges before m iterations counts those it made.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from arcmeans import SphericalKMeans

from .timing import Measured, in_turns

CLUSTERS = (20, 100, 200)


@dataclass(frozen=True)
class LloydTime:
    """Seconds of CPU time an iteration."""

    data: str
    k: int
    iterations: int
    """m, as asked for."""
    arcmeans: float
    scikit_learn: float
    scipy: float
    scikit_learn_ratio: float
    """scikit-learn's time over that of arcmeans."""
    scipy_ratio: float
    same_labels: float
    """The share of rows to which arcmeans and the SciPy loop give the same label."""


@dataclass(frozen=True)
class Fit:
    """What a peer found, in how many iterations."""

    labels: NDArray[Any]
    iterations: int


def measure(name: str, X: Any, quick: bool, seed: int = 0) -> list[LloydTime]:
    """The times on one matrix, for each number of clusters."""
    X = X.astype(np.float32)
    X = normalize(X[np.flatnonzero(abs(X).sum(axis=1))], copy=False)
    most, repeats = (5, 2) if quick else (8, 3)
    return [_measure(name, X, k, most, repeats, seed) for k in CLUSTERS if k <= X.shape[0]]


def _measure(name: str, X: Any, k: int, most: int, repeats: int, seed: int) -> LloydTime:
    seeds = X[np.random.default_rng(seed).choice(X.shape[0], k, replace=False)]
    if sp.issparse(seeds):
        seeds = seeds.toarray()
    works: dict[tuple[str, int], Callable[[], Fit]] = {
        (peer, iterations): partial(fit, X, seeds, iterations)
        for peer, fit in PEERS.items()
        for iterations in (1, most)
    }
    measured = in_turns(works, repeats)
    own, sklearn, scipy = (
        seconds_per_iteration(measured[peer, 1], measured[peer, most]) for peer in PEERS
    )
    labels = [measured[peer, most].result.labels for peer in ("arcmeans", "scipy")]
    agreement = float(np.mean(labels[0] == labels[1]))
    return LloydTime(name, k, most, own, sklearn, scipy, sklearn / own, scipy / own, agreement)


def seconds_per_iteration(short: Measured, long: Measured) -> float:
    """Of the iterations that a long run has more than a short one."""
    more: int = long.result.iterations - short.result.iterations
    return (long.seconds - short.seconds) / more


def _arcmeans(X: Any, seeds: NDArray[np.float32], iterations: int) -> Fit:
    model = SphericalKMeans(
        len(seeds),
        init=seeds,
        algorithm="lloyd",
        max_iter=iterations,
        n_threads=1,
        empty_cluster="keep",
    ).fit(X)
    return Fit(model.labels_, model.n_iter_)


def _scikit_learn(X: Any, seeds: NDArray[np.float32], iterations: int) -> Fit:
    model = KMeans(
        len(seeds), init=seeds, algorithm="lloyd", n_init=1, max_iter=iterations, tol=0
    ).fit(X)
    return Fit(model.labels_, model.n_iter_)


def _scipy(X: Any, seeds: NDArray[np.float32], iterations: int) -> Fit:
    """What one writes by hand; an empty cluster keeps its center."""
    n, k = X.shape[0], len(seeds)
    centers = seeds.copy()
    labels = np.full(n, -1)
    for iteration in range(1, iterations + 1):
        if iteration > 1:
            indicator = sp.csr_matrix(
                (np.ones(n, np.float32), (labels, np.arange(n))), shape=(k, n)
            )
            sums = indicator @ X
            sums = sums.toarray() if sp.issparse(sums) else sums
            norms = np.linalg.norm(sums, axis=1)
            filled = norms > 0
            centers[filled] = sums[filled] / norms[filled, None]
        previous, labels = labels, np.argmax(X @ centers.T, axis=1)
        if np.array_equal(previous, labels):
            break
    return Fit(labels, iteration)


PEERS: dict[str, Callable[[Any, NDArray[np.float32], int], Fit]] = {
    "arcmeans": _arcmeans,
    "scikit-learn": _scikit_learn,
    "scipy": _scipy,
}
