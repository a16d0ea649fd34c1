"""Sums of labeled rows, and how similar each row is to its own cluster and to the nearest other.

What the measures and the explanations need, in O(stored entries × clusters) time and with a chunk
of the products in memory at a time. The products are summed in ascending order of the caller's
features, by SciPy's loop over sparse rows and never by BLAS, so that they are the same for dense
and sparse X, for any number of threads and any chunking.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import first_changes, sums_of
from .._rows.rows import Rows

TABLE_VALUES = 2**24
"""The most values of the vectors that are held as a table of float64 at a time."""
CHUNK_VALUES = 2**20
"""The most products, or values of dense rows, of a chunk."""


@dataclass(frozen=True)
class Affinity:
    """Products of each row with vectors that stand for the clusters; NaN for label −1."""

    own: NDArray[np.float64]
    """With the vector of the row's own cluster."""
    other: NDArray[np.float64]
    """The largest product with the vector of another cluster; −inf where there is none."""
    neighbor: NDArray[np.int64]
    """The cluster with that vector, the first at a tie; −1 for label −1 and where there is none."""


def cluster_sums(rows: Rows, labels: NDArray[Any], n_clusters: int, n_threads: int) -> Any:
    """Σ w·x over the unit rows of each cluster, ``(n_clusters, n_features)`` as CSR in float64.

    They are the sums of a fit: integers in fixed point, the same in any order.
    """
    labels = np.ascontiguousarray(labels, np.int32)
    centers = _core.native.Centers(n_clusters, rows.n_features, rows.one)
    centers.move(first_changes(rows.native(), labels, n_clusters, n_threads), n_threads)
    sums = sums_of(rows, centers).vectors
    return sums.astype(np.float64) * (1.0 / (rows.one * rows.weight_scale))


def unweighted(rows: Rows) -> Rows:
    """The same rows, each of weight 1."""
    return rows if rows.weights is None else rows.reweighted(None)


def lengths(vectors: Any) -> NDArray[np.float64]:
    """The length of each row of a sparse matrix."""
    return np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1), np.float64).ravel())


def affinities(rows: Rows, labels: NDArray[Any], vectors: Any, n_threads: int = 1) -> Affinity:
    """Products of rows with vectors, dense or CSR, one a cluster, in the caller's features."""
    n, k = rows.n_rows, vectors.shape[0]
    found = Affinity(np.full(n, np.nan), np.full(n, -np.inf), np.full(n, -1, np.int64))
    width = max(1, min(k, TABLE_VALUES // rows.n_features))
    with ThreadPoolExecutor(n_threads) as pool:
        for first in range(0, k, width):
            table = _table(rows, vectors[first : first + width])

            def compare(at: slice, table: NDArray[Any] = table, first: int = first) -> None:
                _compare(_chunk(rows, at) @ table, labels[at], first, found, at)

            list(pool.map(compare, _chunks(rows, width)))
    outside = labels < 0
    found.other[outside] = np.nan
    found.neighbor[outside] = -1
    return found


def _compare(
    products: NDArray[np.float64],
    labels: NDArray[Any],
    first: int,
    found: Affinity,
    at: slice,
) -> None:
    """Adds to ``found`` what a chunk's products with the vectors from ``first`` on show."""
    mine = np.flatnonzero((labels >= first) & (labels < first + products.shape[1]))
    column = labels[mine] - first
    found.own[at][mine] = products[mine, column]
    products[mine, column] = -np.inf
    nearest = products.argmax(axis=1)
    largest = products[np.arange(len(products)), nearest]
    nearer = largest > found.other[at]
    found.other[at][nearer] = largest[nearer]
    found.neighbor[at][nearer] = nearest[nearer] + first


def _table(rows: Rows, vectors: Any) -> NDArray[np.float64]:
    """Vectors as columns, with the features in the order in which the rows number them."""
    dense = vectors.toarray() if sp.issparse(vectors) else vectors
    if rows.by_rank is not None:
        dense = dense[:, rows.by_rank]
    return np.ascontiguousarray(dense.T, np.float64)


def _chunks(rows: Rows, width: int) -> Iterator[slice]:
    per_row = width if rows.starts is not None else max(width, rows.n_features)
    size = max(1, CHUNK_VALUES // per_row)
    return (slice(i, min(i + size, rows.n_rows)) for i in range(0, rows.n_rows, size))


def _chunk(rows: Rows, at: slice) -> Any:
    """Some of the rows as CSR in float64; the features are numbered by rank."""
    size, d = at.stop - at.start, rows.n_features
    if rows.starts is None or rows.features is None:
        values = rows.values[at].astype(np.float64).ravel()
        features = np.tile(np.arange(d, dtype=np.int32), size)
        starts = np.arange(size + 1, dtype=np.int64) * d
    else:
        starts = rows.starts[at.start : at.stop + 1]
        entries = slice(starts[0], starts[-1])
        values, features = rows.values[entries].astype(np.float64), rows.features[entries]
        starts = starts - starts[0]
    return sp.csr_array((values, features, starts), shape=(size, d))
