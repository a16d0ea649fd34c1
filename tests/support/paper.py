"""The paper's two simplified algorithms to the letter, in NumPy: which similarities they compute.

Bounds in float64 by Eqs. (6), (7) and (9), clamped where they are no bounds; movement p from a dot
product; all similarities are computed, and those are counted that the algorithm would ask for.
"""

import numpy as np

from .oracle import unit


def _move(rows, labels, centers):
    moved = centers.copy()
    for j in range(len(centers)):
        total = rows[labels == j].sum(axis=0)
        if np.linalg.norm(total) > 0:
            moved[j] = total / np.linalg.norm(total)
    return moved, np.clip((moved * centers).sum(axis=1), -1.0, 1.0)


def _sine(cosine):
    return np.sqrt(np.maximum(0.0, 1.0 - cosine**2))


def simplified_elkan(X, init):
    """Similarities computed in each iteration."""
    rows, centers = unit(X), unit(init)
    everyone = np.arange(len(rows))
    upper = rows @ centers.T
    labels = upper.argmax(axis=1)
    lower = upper[everyone, labels].copy()
    counts, changed = [upper.size], True
    while changed:
        centers, p = _move(rows, labels, centers)
        lower = lower * p[labels] - _sine(lower) * _sine(p)[labels]  # Eq. (6)
        upper = np.where(p > upper, upper * p + _sine(upper) * _sine(p), 1.0)  # Eq. (7)
        similarities = rows @ centers.T
        count, before = 0, labels.copy()
        tight = np.zeros(len(rows), bool)
        for j in range(len(centers)):
            fails = (labels != j) & (upper[:, j] > lower)
            now = fails & ~tight
            count += now.sum()
            lower[now] = similarities[now, labels[now]]
            tight |= now
            fails &= upper[:, j] > lower
            count += fails.sum()
            upper[fails, j] = similarities[fails, j]
            better = fails & (similarities[:, j] > lower)
            upper[better, labels[better]] = lower[better]
            labels[better] = j
            lower[better] = similarities[better, j]
        counts.append(int(count))
        changed = bool(np.any(labels != before))
    return counts


def simplified_hamerly(X, init):
    """Similarities computed in each iteration, with the update of Eq. (9)."""
    rows, centers = unit(X), unit(init)
    similarities = rows @ centers.T
    labels = similarities.argmax(axis=1)
    second, lower = np.sort(similarities, axis=1)[:, -2:].T
    upper = second.copy()
    counts, changed = [similarities.size], True
    while changed:
        centers, p = _move(rows, labels, centers)
        lower = lower * p[labels] - _sine(lower) * _sine(p)[labels]  # Eq. (6)
        order = np.argsort(p)
        least = np.where(labels == order[0], p[order[1]], p[order[0]])  # p′
        upper = np.where(least > upper, upper + _sine(upper) * _sine(least), 1.0)  # Eq. (9)
        similarities = rows @ centers.T
        fails = lower < upper
        count = fails.sum()
        lower[fails] = similarities[fails, labels[fails]]
        fails &= lower < upper
        count += fails.sum() * (len(centers) - 1)
        before = labels.copy()
        labels[fails] = similarities[fails].argmax(axis=1)
        upper[fails], lower[fails] = np.sort(similarities[fails], axis=1)[:, -2:].T
        counts.append(int(count))
        changed = bool(np.any(labels != before))
    return counts
