"""Spherical k-means in plain NumPy and float64: the references every run is held against.

Written for reading, on dense rows and without bounds. ``spherical_kmeans`` keeps no fixed point and
says where its own rounding could have decided: ``margin`` is the smallest gap it saw between the
best and the second best similarity of a row, and only above rounding are its labels binding.
``exact_spherical_kmeans`` rounds where docs/exactness.md says, and is binding always.
"""

import math
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


def exact_spherical_kmeans(X, init, *, max_iter=300, sample_weight=None, empty_cluster="relocate"):
    """The run that docs/exactness.md defines, rounding for rounding: binding for every data set.

    Sums are integers, similarities are sim64, and of equal ones the smallest cluster wins, so the
    labels, the objective and the centers are those of arcmeans bit for bit, with ties and without.
    The weights are whole numbers of rows.
    """
    rows = _unit_rounded(X)
    directed = np.any(rows != 0, axis=1)
    weights = np.ones(len(rows), np.int64) if sample_weight is None else np.asarray(sample_weight)
    counted = directed & (weights > 0)
    one = 2.0 ** (61 - math.ceil(math.log2(max(int(weights[directed].sum()), 1))))
    fixed = np.rint(rows * one).astype(np.int64)
    sums = np.rint(_unit_rounded(init) * one).astype(np.int64)
    labels, seen = np.full(len(rows), -1), []
    for n_iter in range(1, max_iter + 1):
        scales = np.array([1.0 / math.sqrt(float(_dot(s, s))) for s in sums])
        similarities = _sim64(rows, sums, scales)
        new = np.where(directed, similarities.argmax(axis=1), -1)
        changed, labels = np.any(new != labels), new
        moved = np.zeros_like(sums)
        np.add.at(moved, labels[counted], fixed[counted] * weights[counted, None])
        objective = 0.0
        for center, scale, total in zip(sums, scales, moved, strict=True):
            objective += float(_dot(center, total)) * scale
        state = labels.tolist(), objective
        if not changed or n_iter == max_iter or state in seen:
            break
        seen.append(state)
        if empty_cluster == "relocate":
            own = similarities[np.arange(len(rows)), labels]
            labels = _relocated(labels, own, counted, rows, len(sums))
            moved[:] = 0
            np.add.at(moved, labels[counted], fixed[counted] * weights[counted, None])
        sums = np.where(np.any(moved != 0, axis=1, keepdims=True), moved, sums)
    centers = sums.astype(np.float64) * scales[:, None]
    return OracleRun(labels, centers, objective / one, n_iter, np.inf)


def _unit_rounded(X):
    """Unit rows in float64: scaled by a power of two, squares added in the order of features."""
    X = np.asarray(X, dtype=np.float64)
    largest = np.abs(X).max(axis=1, keepdims=True)
    scaled = np.ldexp(X, np.where(largest > 0, 1 - np.frexp(largest)[1], 0))
    lengths = np.sqrt(np.cumsum(scaled * scaled, axis=1)[:, -1:])
    return np.divide(scaled, lengths, out=np.zeros_like(X), where=lengths > 0)


def _dot(a, b):
    """Of two vectors of integers, without rounding or overflow."""
    both = np.flatnonzero((a != 0) & (b != 0))
    return sum(x * y for x, y in zip(a[both].tolist(), b[both].tolist(), strict=True))


def _sim64(rows, sums, scales):
    """The reference similarity of every row to every center: features are added in their order."""
    found = np.zeros((len(rows), len(sums)))
    for feature, values in zip(sums.T.astype(np.float64), rows.T, strict=True):
        some = np.flatnonzero(values)
        found[some] += values[some, None] * feature
    return found * scales


def _relocated(labels, own, counted, rows, n_clusters):
    """Labels with the least similar rows in the empty clusters, of any direction only one row."""
    labels = labels.copy()
    sizes = np.bincount(labels[counted], minlength=n_clusters)
    empty, taken = list(np.flatnonzero(sizes == 0)), set()
    for i in np.flatnonzero(counted)[np.argsort(own[counted], kind="stable")]:
        if not empty or own[i] >= 1 - 1e-9:
            break
        if sizes[labels[i]] < 2 or rows[i].tobytes() in taken:
            continue
        sizes[labels[i]] -= 1
        labels[i] = empty.pop(0)
        taken.add(rows[i].tobytes())
    return labels
