"""Spherical k-means in plain NumPy and float64: the reference every run is held against.

Written for reading. It works on dense rows, keeps no bounds and no fixed point, and says where its
own rounding could have decided: ``margin`` is the smallest gap it saw between the best and the
second best similarity of a row, and only above rounding are its labels binding.
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class OracleRun:
    labels: np.ndarray
    centers: np.ndarray
    objective: float
    n_iter: int
    margin: float


def unit(X):
    X = np.asarray(X, dtype=np.float64)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, lengths, out=np.zeros_like(X), where=lengths > 0)


def spherical_kmeans(X, init, *, max_iter=300, sample_weight=None, empty_cluster="relocate"):
    rows, centers = unit(X), unit(init)
    weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, float)
    directed = np.linalg.norm(rows, axis=1) > 0
    counted = directed & (weights > 0)
    labels = np.full(len(rows), -1)
    margin = np.inf
    for n_iter in range(1, max_iter + 1):
        similarities = rows @ centers.T
        new = np.where(directed, similarities.argmax(axis=1), -1)
        margin = min(margin, _gap(similarities[directed]))
        changed = np.any(new != labels)
        labels = new
        own = similarities[np.arange(len(rows)), labels]
        objective = float(weights[directed] @ own[directed])
        if not changed or n_iter == max_iter:
            break
        if empty_cluster == "relocate":
            margin = min(margin, _relocate(labels, own, counted, rows, len(centers)))
        for j in range(len(centers)):
            total = (weights[:, None] * rows)[(labels == j) & counted].sum(axis=0)
            if np.linalg.norm(total) > 1e-9:
                centers[j] = total / np.linalg.norm(total)
    return OracleRun(labels, centers, objective, n_iter, margin)


def _gap(similarities):
    if similarities.shape[1] < 2:
        return np.inf
    two = np.sort(similarities, axis=1)[:, -2:]
    two = two[np.any(two != 0, axis=1)]  # no common feature with any center: zero is exact
    return float((two[:, 1] - two[:, 0]).min(initial=np.inf))


def _relocate(labels, own, counted, rows, n_clusters):
    """Moves the least similar rows to the empty clusters; returns the smallest gap among them."""
    sizes = np.bincount(labels[counted], minlength=n_clusters)
    empty = list(np.flatnonzero(sizes == 0))
    gap, last, taken = np.inf, None, []
    for i in np.flatnonzero(counted)[np.argsort(own[counted], kind="stable")]:
        if not empty or own[i] > 1 - 1e-9:
            break
        gap = gap if last is None else min(gap, own[i] - last)
        last = own[i]
        if sizes[labels[i]] < 2 or any(np.allclose(rows[i], rows[t]) for t in taken):
            continue
        sizes[labels[i]] -= 1
        labels[i] = empty.pop(0)
        taken.append(i)
    return gap
