"""``choose_k``: the same rows clustered for several k, and each result measured.

Each k is fitted from seeds of its own, with one and the same random state: a row of the table is
what ``SphericalKMeans(k, init=init, random_state=path.random_state)`` gives by itself, and the
seeds of k-means++ for a smaller k are the first of those for a larger one. Or, with ``warm_start``,
each k begins with the centers of the one before and with as many seeds as are missing, drawn by the
rule of k-means++ given these centers: in proportion to weight·(alpha − largest similarity).
"""

import math
import numbers
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .. import _core
from .._analysis.k_path import KPath
from .._analysis.metrics import (
    calinski_harabasz,
    rounding_of,
    silhouettes,
    simplified_silhouettes,
    weighted_mean,
)
from .._centers.placing import place_rows
from .._rows.containers import check_enough, checked_rows
from .._rows.rows import Rows
from .._seeding.given import given_centers
from .._support.checks import check_integer, check_option, threads
from .._support.progress import Steps
from .kmeans import SphericalKMeans


def choose_k(
    X: Any,
    ks: Iterable[int],
    *,
    init: Any = "k-means++",
    warm_start: bool = False,
    metrics: Sequence[str] = ("simplified_silhouette", "calinski_harabasz"),
    sample_weight: ArrayLike | None = None,
    keep_models: bool = False,
    random_state: int | np.random.RandomState | None = None,
    n_threads: int | None = None,
    progress: bool = False,
    **fit_options: Any,
) -> KPath:
    """Cluster X for several numbers of clusters and measure each result.

    A single run is at the mercy of its seeds, and so is a choice made by single runs: give
    ``n_init`` or ``warm_start`` where the curve jumps up and down.

    Parameters
    ----------
    X : {array-like, sparse matrix or array} of shape (n_samples, n_features)
    ks : iterable of int
        The numbers of clusters; they are taken in ascending order.
    init : str or callable, default="k-means++"
        As in :class:`SphericalKMeans`; with ``warm_start`` for the smallest k only.
    warm_start : bool, default=False
        Begin each k with the centers of the one before and draw the missing seeds, anew for each
        of ``n_init`` runs, by the rule of k-means++ given these centers. Fewer iterations and a
        smoother curve, but what one k missed the next may miss too.
    metrics : sequence of {"simplified_silhouette", "silhouette", "calinski_harabasz"}, \
default=("simplified_silhouette", "calinski_harabasz")
        See :mod:`arcmeans.metrics`; clusters without rows are left out. The silhouette takes no
        notice of weights.
    sample_weight : array-like of shape (n_samples,), default=None
    keep_models : bool, default=False
        Keep the fitted estimators in ``models``.
    random_state : int, RandomState instance or None, default=None
        An integer serves every k; from anything else one is drawn.
    n_threads : int or None, default=None
    progress : bool, default=False
        Show the progress on standard error: a bar by tqdm, or a line for each k where tqdm is not
        installed or the output is not a terminal or notebook.
    **fit_options
        Other parameters of :class:`SphericalKMeans`.

    Returns
    -------
    KPath
        ``table``, ``best(metric)``, ``plot()``, ``models``.
    """
    ascending, n = _checked_ks(ks), threads(n_threads)
    _check_metrics(metrics)
    rows = checked_rows(X, sample_weight=sample_weight, n_threads=n)
    check_enough(rows, ascending[-1])
    seed = _one_number(random_state)
    options = {"init": init, "n_threads": n_threads, "random_state": seed, **fit_options}
    lines, models = [], {}
    model = None
    for k in _shown(ascending, progress):
        if warm_start and model is not None:
            options["init"] = extension(rows, model, n)
        model = SphericalKMeans(k, **options)
        started = time.perf_counter()
        model.fit(X, sample_weight=sample_weight)
        seconds = time.perf_counter() - started
        model.set_params(init=init)  # an extension holds the rows, which should be let go
        measured = [METRICS[metric](rows, model, n) for metric in metrics]
        objective = float(model.trace_["objective"][-1])
        lines.append((k, model.inertia_, objective, *measured, model.n_iter_, seconds))
        if keep_models:
            models[k] = model
    return KPath(_table(lines, metrics), tuple(metrics), seed, models)


def _table(lines: list[tuple[Any, ...]], metrics: Sequence[str]) -> NDArray[np.void]:
    names = ["k", "inertia", "objective", *metrics, "iterations", "seconds"]
    counts = ("k", "iterations")
    dtype = [(name, np.int64 if name in counts else np.float64) for name in names]
    return np.array(lines, dtype=dtype)


# --- The metrics of a fit; NaN where there are not the clusters they need.


def _simplified_silhouette(rows: Rows, model: SphericalKMeans, n_threads: int) -> float:
    """A cluster without rows is no neighbor of any row."""
    labels = model.labels_
    used = np.unique(labels[labels >= 0])
    if len(used) < 2:
        return math.nan
    codes = np.where(labels >= 0, np.searchsorted(used, labels), -1)
    centers = model.cluster_centers_[used]
    return weighted_mean(simplified_silhouettes(rows, codes, centers, n_threads), rows.weights)


def _silhouette(rows: Rows, model: SphericalKMeans, n_threads: int) -> float:
    if len(np.unique(model.labels_[rows.zero == 0])) < 2:
        return math.nan
    return weighted_mean(silhouettes(rows, model.labels_, n_threads), None)


def _calinski_harabasz(rows: Rows, model: SphericalKMeans, n_threads: int) -> float:
    if not 2 <= len(np.unique(model.labels_[rows.usable])) < rows.total_weight:
        return math.nan
    return calinski_harabasz(rows, model.labels_, n_threads)


METRICS: dict[str, Callable[[Rows, SphericalKMeans, int], float]] = {
    "simplified_silhouette": _simplified_silhouette,
    "silhouette": _silhouette,
    "calinski_harabasz": _calinski_harabasz,
}


# --- Warm starts.


def extension(rows: Rows, model: SphericalKMeans, n_threads: int) -> Callable[..., NDArray[Any]]:
    """An ``init`` that takes the centers of a fit and adds k-means++ seeds for the missing ones."""
    centers, alpha = model.cluster_centers_, model.alpha
    own = np.empty(rows.n_rows)
    placed = given_centers(rows, centers, n_threads)
    _core.native.own_similarities(rows.native(), placed, model.labels_, n_threads, own)

    def extended(X: Any, n_clusters: int, random_state: np.random.RandomState) -> NDArray[Any]:
        # Every k gets the same stream; the draws should not be the same.
        random = np.random.RandomState([random_state.randint(2**31 - 1), n_clusters])
        missing = n_clusters - len(centers)
        added = np.zeros((missing, rows.n_features), centers.dtype)
        best = own.copy()
        for seed in added:
            i = _drawn(rows, best, alpha, random)
            features, values = rows.entries(i)
            seed[features] = values
            np.maximum(best, _similarities(rows, i, n_threads), out=best)
        return np.vstack([centers, added])

    return extended


def _similarities(rows: Rows, i: int, n_threads: int) -> NDArray[np.float64]:
    """The similarity of all rows to row i."""
    label, found = np.empty(rows.n_rows, np.int32), np.empty(rows.n_rows)
    center, every = place_rows(rows, rows, np.array([i]), in_full=True), np.arange(rows.n_rows)
    _core.native.nearest(
        rows.native(), center, every, n_threads=n_threads, labels=label, similarities=found
    )
    return found


def _drawn(
    rows: Rows, best: NDArray[np.float64], alpha: float, random: np.random.RandomState
) -> int:
    """A row in proportion to weight·(alpha − best), or any where all lie on centers."""
    far = np.zeros(rows.n_rows)
    far[rows.usable] = alpha - best[rows.usable]
    far[best >= 1.0 - rounding_of(rows)] = 0.0
    if rows.weights is not None:
        far *= rows.weights
    reach = np.cumsum(far)
    if reach[-1] <= 0:
        return int(random.choice(rows.usable))
    at = np.searchsorted(reach, random.random_sample() * reach[-1], side="right")
    return int(min(at, np.flatnonzero(far)[-1]))


# --- Parameters and progress.


def _checked_ks(ks: Iterable[int]) -> list[int]:
    given = list(ks)
    if not given:
        raise ValueError("ks is empty; at least one number of clusters is needed.")
    for k in given:
        check_integer("k", k, 1)
    if len(set(given)) < len(given):
        raise ValueError(f"ks={given} should be all different.")
    return sorted(int(k) for k in given)


def _check_metrics(metrics: Sequence[str]) -> None:
    if isinstance(metrics, str):
        raise ValueError(f"metrics={metrics!r} should be a sequence, such as ({metrics!r},).")
    for metric in metrics:
        check_option("metrics", metric, METRICS)
    if len(set(metrics)) < len(metrics):
        raise ValueError(f"metrics={tuple(metrics)} should be all different.")


def _one_number(random_state: int | np.random.RandomState | None) -> int:
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _shown(ks: list[int], progress: bool) -> Iterator[int]:
    """The ks, shown as they are taken."""
    if not progress:
        yield from ks
        return
    with closing(Steps(desc="choose_k", unit="k", total=len(ks))) as steps:
        for i, k in enumerate(ks, 1):
            steps.begin(f"k={k}", f"choose_k: k={k}, {i} of {len(ks)}")
            yield k
            steps.end()
