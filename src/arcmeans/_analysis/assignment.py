"""The most similar center of each row and the second, by the arithmetic of the fit."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import place_sums
from .._centers.sums import CenterSums
from .._rows.containers import checked_rows
from .._support.checks import threads

VALUES = 2**22
"""Similarities held at a time."""


class Clusterer(Protocol):
    """An estimator that is fitted."""

    n_threads: int | None

    def center_sums(self) -> CenterSums: ...


@dataclass(frozen=True)
class Assignment:
    """The two most similar centers of rows, and the cosines to them.

    A row without a direction has label −1 and similarity NaN, and so has a second center where
    there is only one.
    """

    labels: NDArray[np.int32]
    similarities: NDArray[np.float64]
    seconds: NDArray[np.int32]
    second_similarities: NDArray[np.float64]


def part_size(n_clusters: int) -> int:
    """How many rows ``assign`` should get at a time."""
    return min(8192, max(512, VALUES // n_clusters))


def similarities_of(model: Clusterer, X: Any) -> NDArray[np.float64]:
    """The cosine of each row of X to each center; NaN for rows without a direction."""
    n_threads, sums = threads(model.n_threads), model.center_sums()
    n_clusters, n_features = sums.vectors.shape
    if X.shape[1] != n_features:
        raise ValueError(
            f"the rows have {X.shape[1]:,} features, but the model has {n_features:,}."
        )
    rows = checked_rows(X, n_threads=n_threads)
    similarities = np.empty((rows.n_rows, n_clusters))
    centers = place_sums(rows, sums)
    _core.native.similarity_matrix(rows.native(), centers, n_threads, similarities)
    similarities[rows.zero != 0] = np.nan
    return similarities


def assign(model: Clusterer, X: Any) -> Assignment:
    """The assignment of the rows of X, with all their similarities in memory."""
    similarities = similarities_of(model, X)
    n_rows, n_clusters = similarities.shape
    every, zero = np.arange(n_rows), np.isnan(similarities[:, 0])
    labels = similarities.argmax(axis=1)  # the first at a tie, as in a fit
    best = similarities[every, labels]
    similarities[every, labels] = -np.inf
    seconds = similarities.argmax(axis=1)
    other = similarities[every, seconds]
    none = zero | (n_clusters == 1)
    return Assignment(
        np.where(zero, -1, labels).astype(np.int32),
        np.where(zero, np.nan, np.clip(best, -1.0, 1.0)),
        np.where(none, -1, seconds).astype(np.int32),
        np.where(none, np.nan, np.clip(other, -1.0, 1.0)),
    )


def assign_parts(model: Clusterer, X: Any) -> Assignment:
    """The assignment of the rows of X, with the similarities of a part of them in memory."""
    size = part_size(len(model.center_sums().scales))
    parts = [assign(model, X[i : i + size]) for i in range(0, X.shape[0], size)]
    return Assignment(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in Assignment.__dataclass_fields__
        )
    )
