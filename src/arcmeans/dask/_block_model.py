"""A fitted model on a worker, and what it says of one block of rows."""

from fractions import Fraction
from typing import Any, Self

import numpy as np

from .._api.base import chords
from .._api.kmeans import SphericalKMeans
from .._centers.placing import place_sums
from .._centers.sums import CenterSums
from .._rows.census import exact_sum
from .._rows.containers import checked_weights


class BlockModel(SphericalKMeans):
    """A fitted model for blocks, which may have no rows."""

    def fitted_with(self, sums: CenterSums, dtype: np.dtype[Any], n_features: int) -> Self:
        """Takes over the centers of a model fitted elsewhere; there are no labels."""
        self._sums, self._dtype, self._centers = sums, dtype, None
        self.n_features_in_ = n_features
        return self

    def distances(self, block: Any, dtype: np.dtype[Any]) -> Any:
        """``transform``, in a dtype."""
        found = self.transform(block) if block.shape[0] else np.empty((0, self._n_features_out))
        return found.astype(dtype, copy=False)

    def inertia_of(self, block: Any, weights: Any) -> Fraction:
        """Minus the score of a block, without rounding."""
        if not block.shape[0]:
            return Fraction(0)
        rows = self._rows(block, 1, reset=False)
        which, far = chords(rows, place_sums(rows, self._sums), 1)
        checked = checked_weights(weights, rows.n_rows, alone=False)
        return exact_sum(far if checked is None else far * checked[which])


def predicted(model: BlockModel, block: Any, dtype: np.dtype[Any]) -> Any:
    """A task: the labels of a block."""
    return model.predict(block) if block.shape[0] else np.empty(0, dtype)


def transformed(model: BlockModel, block: Any, dtype: np.dtype[Any]) -> Any:
    """A task: the distances of a block to the centers."""
    return model.distances(block, dtype)


def scored(model: BlockModel, block: Any, weights: Any) -> Fraction:
    """A task: the inertia of a block."""
    return model.inertia_of(block, weights)
