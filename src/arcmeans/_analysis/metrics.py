"""The metrics of ``arcmeans.metrics``, for unit rows.

A distance below the rounding of a similarity counts as 0, so that rows of one direction do not get
a silhouette made of rounding errors.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import normalize
from sklearn.utils import check_array

from .. import _core
from .._algorithms.one_pass import nearest_labels
from .._rows.rows import Rows
from .._seeding.given import given_centers
from .affinities import affinities, cluster_sums, lengths, unweighted
from .labels import checked_labels, numbered


def simplified_silhouettes(
    rows: Rows, labels: ArrayLike | None, centers: Any, n_threads: int
) -> NDArray[np.float64]:
    """The simplified silhouette of each row; NaN for rows without a label."""
    codes: NDArray[Any]
    if centers is not None:
        directions = _checked_directions(centers, rows)
        if labels is None:
            codes = _nearest(rows, directions, n_threads)
        else:
            codes = checked_labels(labels, rows, directions.shape[0])
    elif labels is not None:
        codes, k = numbered(checked_labels(labels, rows))
        directions = _mean_directions(cluster_sums(rows, codes, k, n_threads))
    else:
        raise ValueError("labels, centers and model are all None; one of them is needed.")
    near = affinities(rows, codes, directions, n_threads)
    return _ratios(1.0 - near.own, 1.0 - near.other, rounding_of(rows))


def silhouettes(
    rows: Rows, labels: ArrayLike, n_threads: int, which: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """The silhouette of each row, or of the rows ``which`` and NaN for others; without weights."""
    codes, k = numbered(checked_labels(labels, rows))
    sizes = np.bincount(codes[codes >= 0], minlength=k)
    sums = cluster_sums(unweighted(rows), codes, k, n_threads)
    means = sums.multiply(1.0 / sizes[:, None]).tocsr()
    if which is not None:
        asked = np.full_like(codes, -1)
        asked[which] = codes[which]
        codes = asked
    near = affinities(rows, codes, means, n_threads)
    # The row itself, with x·x = 1 within rounding, is taken out of the mean of its own cluster.
    size = sizes[codes].astype(np.float64)
    own = (near.own * size - 1.0) / np.maximum(size - 1.0, 1.0)
    found = _ratios(1.0 - own, 1.0 - near.other, rounding_of(rows))
    found[(codes >= 0) & (size == 1)] = 0.0
    return found


def calinski_harabasz(rows: Rows, labels: ArrayLike, n_threads: int) -> float:
    """The Calinski–Harabasz index on the sphere, of rows and their weights."""
    checked = checked_labels(labels, rows)
    if rows.weights is not None:
        checked = np.where(rows.weights > 0, checked, -1)
    codes, k = numbered(checked)
    counted = codes >= 0
    n = float(np.count_nonzero(counted))
    if rows.weights is not None:
        n = math.fsum(rows.weights[counted]) / rows.weight_scale
    if n <= k:
        raise ValueError(
            f"The labelled rows weigh {n:g} together, which should be > {k}, the number of "
            "clusters."
        )
    sums = cluster_sums(rows, codes, k, n_threads)
    resultants = math.fsum(lengths(sums))
    overall = math.sqrt(math.fsum(np.asarray(sums.sum(axis=0)).ravel() ** 2))
    within, between = n - resultants, resultants - overall
    nothing = n * rounding_of(rows)
    if between <= nothing:
        return 0.0
    return math.inf if within <= nothing else (between / (k - 1)) / (within / (n - k))


def weighted_mean(samples: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """The mean of the samples that are not NaN, summed exactly: the same in any order."""
    counted = ~np.isnan(samples)
    if weights is None:
        return math.fsum(samples[counted]) / np.count_nonzero(counted)
    total = math.fsum(weights[counted])
    if total == 0:
        raise ValueError("sample_weight is zero for every row with a label and a direction.")
    return math.fsum(samples[counted] * weights[counted]) / total


def _checked_directions(centers: Any, rows: Rows) -> Any:
    """Centers of unit length, dense or CSR, in float64."""
    checked = check_array(
        centers, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2, input_name="centers"
    )
    if checked.shape[1] != rows.n_features:
        raise ValueError(
            f"centers has {checked.shape[1]} features, but X has {rows.n_features} features."
        )
    unit = normalize(checked)
    zero = np.asarray(abs(unit).sum(axis=1)).ravel() == 0
    if zero.any():
        raise ValueError(f"centers[{int(np.argmax(zero))}] is all zero: it has no direction.")
    return unit


def _nearest(rows: Rows, directions: Any, n_threads: int) -> NDArray[np.int32]:
    """The most similar center of each row, by the rules of a fit."""
    return nearest_labels(rows, given_centers(rows, directions, n_threads, in_full=True), n_threads)


def _mean_directions(sums: Any) -> Any:
    length = lengths(sums)
    if np.any(length == 0):
        raise ValueError(
            "The rows of a cluster cancel out, so that it has no mean direction: give centers."
        )
    return sums.multiply(1.0 / length[:, None]).tocsr()


def rounding_of(rows: Rows) -> float:
    """The most by which rounding can falsify a similarity of these rows."""
    longest = rows.n_features if rows.starts is None else int(np.diff(rows.starts).max())
    return _core.native.reference_error(rows.values.dtype == np.float64, longest)


def _ratios(
    own: NDArray[np.float64], other: NDArray[np.float64], rounding: float
) -> NDArray[np.float64]:
    """(b − a)/max(a, b), with a = own and b = other; 0 where both are 0 within rounding."""
    a, b = (np.where(d <= rounding, 0.0, d) for d in (own, other))
    larger = np.maximum(a, b)
    found = np.where(np.isnan(a), np.nan, 0.0)
    np.divide(b - a, larger, out=found, where=larger > 0)
    return found
