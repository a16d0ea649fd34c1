"""Rows that several tests make, and what is known of them by brute force."""

import dataclasses

import numpy as np
import scipy.sparse as sp

from arcmeans import _core
from arcmeans._rows.census import Frequent


def text_like(n=300, d=150, seed=0, density=0.06):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=density, random_state=rng, format="lil")
    X[:, 0] = rng.random((n, 1))  # a feature that all rows have
    X[: n * 2 // 3, 1] = 0.3
    return sp.csr_array(X)


def with_zero_rows(X, *rows):
    kept = np.ones(X.shape[0])
    kept[list(rows)] = 0.0
    X = sp.csr_array(sp.diags_array(kept) @ X)
    X.eliminate_zeros()
    return X


def topics(rng, n, d, size, kinds):
    """Sparse rows of about so many entries, around a few kinds."""
    weights = rng.gamma(0.05, size=(kinds, d)) + 1e-6
    weights /= weights.sum(axis=1, keepdims=True)
    return sp.csr_array(
        np.array([rng.multinomial(size, weights[i % kinds]) for i in range(n)]).astype(float)
    )


@dataclasses.dataclass(frozen=True)
class FrequentAnyway(Frequent):
    n_frequent: int = 0

    def count(self, n_clusters):
        return self.n_frequent


def split(rows, n_frequent):
    """The same rows with so many frequent features, whatever the number of clusters."""
    frequent = rows.frequent
    frequent = FrequentAnyway(frequent.n_entries, frequent.above, n_frequent)
    return dataclasses.replace(rows, frequent=frequent)


def full(rows):
    """The rows as stored, by rank."""
    if rows.starts is None:
        return rows.values.astype(np.longdouble)
    out = np.zeros((rows.n_rows, rows.n_features), np.longdouble)
    out[np.repeat(np.arange(rows.n_rows), np.diff(rows.starts)), rows.features] = rows.values
    return out


def products(values, centers, k):
    """Each row times each center, from the integers."""
    sums = np.array([centers.vector(j) for j in range(k)]).astype(np.longdouble)
    lengths = np.sqrt((sums**2).sum(axis=1, keepdims=True))
    used = np.flatnonzero(values.any(axis=0))
    # float64 is good enough for all but the smallest margin, and much faster.
    fast = values.size * k > 2_000_000
    dtype = np.float64 if fast else np.longdouble
    return values[:, used].astype(dtype) @ (sums / lengths)[:, used].astype(dtype).T


def best_by_reference(rows, centers, k):
    """What every algorithm has to find: the first of the largest sim64."""
    matrix = np.empty((rows.n_rows, k))
    _core.native.similarity_matrix(rows.native(), centers, 1, matrix)
    return np.where(rows.zero == 0, matrix.argmax(axis=1), -1)
