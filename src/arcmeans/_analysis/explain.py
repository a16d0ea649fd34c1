"""``explain``: what the clusters are about, how tight they are, and which rows are typical.

Terms come in two kinds, as in CLUTO (Karypis, technical report 02-017, University of Minnesota,
2003). *Descriptive* ones make the rows of a cluster similar to each other: the mean similarity of
all its pairs is the squared length of its mean, so feature f has the share c_f² of it, with c the
unit center. *Discriminating* ones set the cluster apart from all other rows: with r the direction
of their sum, f has the share (c_f − r_f)²/‖c − r‖² of the squared distance between the two.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._rows.containers import checked_rows
from .._rows.rows import Rows
from .._rows.unit_rows import unit_rows
from .._seeding.given import given_centers
from .._support.checks import check_integer, threads
from .affinities import affinities, cluster_sums
from .explanation import ClusterExplanation, Explanation, Term, TypicalRow
from .labels import checked_labels, label_array

Names: TypeAlias = Callable[[int], str]
"""The name of a feature."""
Near: TypeAlias = tuple[float, int] | None
"""The separation from the nearest other cluster, and its number."""


def explain(
    model: Any,
    feature_names: ArrayLike | None = None,
    X: Any = None,
    *,
    top: int = 10,
    n_typical: int = 3,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_threads: int | None = None,
) -> Explanation:
    """Say what each cluster of a fitted model is about.

    Parameters
    ----------
    model : fitted estimator
        With ``cluster_centers_`` and, where ``labels`` is None, ``predict`` or ``labels_``.
    feature_names : array-like of shape (n_features,), default=None
        None: the model's ``feature_names_in_``, or else "feature 17".
    X : {array-like, sparse matrix or array} of shape (n_samples, n_features), default=None
        The rows, not necessarily those of the fit. Without them cohesion and typical rows are not
        known, and "all other rows" are the other centers, each as often as its cluster has rows.
    top : int, default=10
        The most terms of each kind.
    n_typical : int, default=3
        The most typical and atypical rows.
    labels : array-like of shape (n_samples,), default=None
        The cluster of each row, −1 for none. None: ``predict`` of X or, without X, ``labels_``.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts. Needs X.
    n_threads : int or None, default=None

    Returns
    -------
    Explanation
        A record for each cluster; ``print`` it, or take ``to_dict()`` for JSON.
    """
    check_integer("top", top, 1)
    check_integer("n_typical", n_typical, 0)
    check_is_fitted(model)
    if X is None and sample_weight is not None:
        raise ValueError("sample_weight is given without X; weights belong to rows.")
    centers, n = np.asarray(model.cluster_centers_), threads(n_threads)
    names = _checked_names(model, feature_names, centers.shape[1])
    if X is None:
        members = _from_centers(model, centers, labels)
    else:
        rows = checked_rows(X, sample_weight=sample_weight, n_threads=n)
        if rows.n_features != centers.shape[1]:
            raise ValueError(
                f"X has {rows.n_features} features, but the model has {centers.shape[1]}."
            )
        given = model.predict(X) if labels is None else labels
        checked = checked_labels(given, rows, len(centers)).astype(np.int32)
        members = _from_rows(rows, checked, centers, n)
    used = np.arange(len(centers)) if members.sizes is None else np.flatnonzero(members.sizes)
    near = _nearest_clusters(centers, used, n)
    return Explanation(
        tuple(
            _explained(j, center, names, members, near.get(j), top, n_typical)
            for j, center in enumerate(centers)
        )
    )


@dataclass(frozen=True)
class _Members:
    """What is known of the rows of the clusters."""

    sum_of: Callable[[int], NDArray[np.float64]]
    """The sum of the rows of a cluster; without rows, its center times its size."""
    total: NDArray[np.float64]
    """The sum over all clusters."""
    sizes: NDArray[np.int64] | None = None
    shares: NDArray[np.float64] | None = None
    labels: NDArray[np.int32] | None = None
    cosines: NDArray[np.float64] | None = None
    """Of each row to its own center."""
    weights: NDArray[np.float64] | None = None

    def rest(self, j: int) -> NDArray[np.float64] | None:
        """The direction of all rows that are not in cluster j; None where they have none."""
        rest: NDArray[np.float64] = self.total - self.sum_of(j)
        squared = math.fsum(rest**2)
        # A vector within rounding of zero has no direction.
        if squared <= 1e-18 * math.fsum(self.total**2):
            return None
        return rest / math.sqrt(squared)


def _from_centers(model: Any, centers: NDArray[Any], labels: ArrayLike | None) -> _Members:
    """Without rows: each center counts as often as its cluster has rows, or once."""
    labels = getattr(model, "labels_", None) if labels is None else labels
    sizes = None if labels is None else _sizes(labels, len(centers))
    counts = np.ones(len(centers)) if sizes is None else sizes

    def sum_of(j: int) -> NDArray[np.float64]:
        vector: NDArray[np.float64] = counts[j] * centers[j].astype(np.float64)
        return vector

    total = np.zeros(centers.shape[1])
    for j in range(len(centers)):
        total += sum_of(j)
    return _Members(sum_of, total, sizes, None if sizes is None else sizes / sizes.sum())


def _from_rows(
    rows: Rows, labels: NDArray[np.int32], centers: NDArray[Any], n_threads: int
) -> _Members:
    k, counted = len(centers), labels >= 0
    weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    sums = cluster_sums(rows, labels, k, n_threads)
    cosines = np.empty(rows.n_rows)
    placed = given_centers(rows, centers, n_threads)
    _core.native.own_similarities(rows.native(), placed, labels, n_threads, cosines)
    of_cluster = np.bincount(labels[counted], weights[counted], k)
    return _Members(
        sum_of=lambda j: np.asarray(sums[[j]].toarray(), np.float64).ravel(),
        total=np.asarray(sums.sum(axis=0), np.float64).ravel(),
        sizes=np.bincount(labels[counted], minlength=k),
        shares=of_cluster / of_cluster.sum(),
        labels=labels,
        cosines=np.clip(cosines, -1.0, 1.0),
        weights=weights,
    )


def _sizes(labels: ArrayLike, k: int) -> NDArray[np.int64]:
    given = label_array(labels, k)
    if np.all(given < 0):
        raise ValueError(f"None of the {len(given)} labels is >= 0.")
    return np.bincount(given[given >= 0], minlength=k)


def _nearest_clusters(
    centers: NDArray[Any], used: NDArray[np.int64], n_threads: int
) -> dict[int, tuple[float, int]]:
    """For each cluster in use: the separation from the nearest other cluster, and its number."""
    if len(used) < 2:
        return {}
    rows = unit_rows(sp.csr_array(centers[used]), n_threads=n_threads)
    near = affinities(rows, np.arange(len(used)), centers[used], n_threads)
    return {
        int(j): (max(0.0, 1.0 - float(cosine)), int(used[other]))
        for j, cosine, other in zip(used, near.other, near.neighbor, strict=True)
    }


def _explained(
    j: int, center: NDArray[Any], names: Names, members: _Members, near: Near, top: int, rows: int
) -> ClusterExplanation:
    separation, nearest = near or (None, None)
    size = None if members.sizes is None else int(members.sizes[j])
    known: dict[str, Any] = {
        "label": j,
        "size": size,
        "share": None if members.shares is None else float(members.shares[j]),
        "separation": separation,
        "nearest": nearest,
    }
    if size == 0:
        return ClusterExplanation(**known)
    rest = members.rest(j)
    known["descriptive"] = _terms(center.astype(np.float64) ** 2, center, rest, names, top)
    if rest is not None:
        apart = (center - rest) ** 2
        known["discriminating"] = _terms(apart, center, rest, names, top)
    if members.labels is not None:
        known |= _typical(j, members, rows)
    return ClusterExplanation(**known)


def _terms(
    squares: NDArray[np.float64],
    center: NDArray[Any],
    rest: NDArray[np.float64] | None,
    names: Names,
    top: int,
) -> tuple[Term, ...]:
    """The features with the largest squares, the first of equal ones first."""
    total = math.fsum(squares)
    if total == 0:
        return ()
    top = min(top, len(squares))
    enough = np.partition(squares, -top)[-top]
    candidates = np.flatnonzero((squares >= enough) & (squares > 0))
    picked = candidates[np.argsort(-squares[candidates], kind="stable")[:top]]
    return tuple(
        Term(
            name=names(int(f)),
            feature=int(f),
            share=float(squares[f] / total),
            center=float(center[f]),
            rest=None if rest is None else float(rest[f]),
        )
        for f in picked
    )


def _typical(j: int, members: _Members, n: int) -> dict[str, Any]:
    """Mean cosine, and the rows nearest to the center and farthest from it."""
    assert members.cosines is not None
    assert members.weights is not None
    rows = np.flatnonzero(members.labels == j)
    cosines, weights = members.cosines[rows], members.weights[rows]
    if not weights.any():
        weights = np.ones(len(rows))
    order = np.argsort(-cosines, kind="stable")
    nearest, farthest = order[:n], np.argsort(cosines, kind="stable")[:n]
    return {
        "cohesion": math.fsum(cosines * weights) / math.fsum(weights),
        "typical": tuple(TypicalRow(int(rows[i]), float(cosines[i])) for i in nearest),
        "atypical": tuple(TypicalRow(int(rows[i]), float(cosines[i])) for i in farthest),
    }


def _checked_names(model: Any, feature_names: ArrayLike | None, n_features: int) -> Names:
    given = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    if given is None:
        return "feature {}".format
    listed = np.asarray(given, dtype=object)
    if listed.shape != (n_features,):
        raise ValueError(f"feature_names has shape {listed.shape}, expected {(n_features,)}.")
    return lambda f: str(listed[f])
