"""The map: similar centers near each other, and each row between the centers it is similar to.

The centers are placed by t-SNE over their cosine distances, from their principal coordinates, so
that the same model has the same map. A row lies at the mean of all centers, weighted by the fourth
power of its similarities: by its own center if it is similar to that alone, in between if it could
as well be elsewhere. Distances on the map are a help to the eye and no measure.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

SHARPNESS = 4
FEW = 4
"""Centers from which on a plane cannot hold all their distances."""


def place_centers(centers: NDArray[Any]) -> NDArray[np.float64]:
    """Two coordinates a center, within [−1, 1]."""
    cosines = centers.astype(np.float64) @ centers.T.astype(np.float64)
    distances = np.clip(1.0 - cosines, 0.0, 2.0)
    np.fill_diagonal(distances, 0.0)
    distances = (distances + distances.T) / 2
    points = _principal(distances)
    k = len(centers)
    if k >= FEW:
        start = points / (np.abs(points).max() or 1.0)
        # Centers at one place could not get apart.
        start += 0.01 * np.random.RandomState(0).standard_normal(start.shape)
        map_of = TSNE(
            metric="precomputed",
            init=(1e-4 * start).astype(np.float32),
            perplexity=min(15.0, max(2.0, k / 4)),
            learning_rate=max(10.0, k / 12),
            random_state=0,
        )
        with threadpool_limits(1):  # so few points gain nothing by more
            points = map_of.fit_transform(distances.astype(np.float32))
    return _within(points.astype(np.float64))


def place_rows(
    similarities: NDArray[np.float64], places: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Where rows lie, by their similarity to each center."""
    weights = np.clip(similarities, 0.0, 1.0) ** SHARPNESS
    weights[weights.sum(axis=1) == 0] = 1.0
    placed: NDArray[np.float64] = weights @ places / weights.sum(axis=1, keepdims=True)
    return placed


def _principal(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Classical scaling: 1 − cos is half the squared distance of unit vectors."""
    k = len(distances)
    centering = np.eye(k) - 1.0 / k
    values, vectors = np.linalg.eigh(-centering @ distances @ centering)
    points = np.zeros((k, 2))
    for axis, at in enumerate(np.argsort(-values)[:2]):
        vector = vectors[:, at]
        sign = math.copysign(1.0, vector[np.argmax(np.abs(vector))])  # eigenvectors have none
        points[:, axis] = sign * vector * math.sqrt(max(0.0, values[at]))
    return points


def _within(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turned so that the longer side lies across, centered, and scaled."""
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    points = points @ axes.T if len(points) > 1 else points
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    reach = np.abs(points - middle).max()
    scaled: NDArray[np.float64] = (points - middle) / (reach if reach > 0 else 1.0)
    return scaled
