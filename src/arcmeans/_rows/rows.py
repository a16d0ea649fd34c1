"""``Rows``: unit rows and their weights, as the core takes them.

The entries of a sparse row are in ascending order of the caller's features. The number stored with
an entry is the rank of its feature by falling document frequency.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._support.caution import caution
from .census import Census, Frequent, fixed_point_one, inverse, weigh


@dataclass(frozen=True)
class Rows:
    """Unit rows and their weights; plain NumPy arrays, so that they can be pickled and mapped."""

    values: NDArray[Any]
    """Unit values: one a stored entry for sparse rows, ``(n_rows, n_features)`` for dense."""
    zero: NDArray[np.uint8]
    """1 where a row has no direction."""
    n_features: int
    weights: NDArray[np.float64] | None
    """One a row, times ``weight_scale``; None where all are 1."""
    weight_scale: float
    """The power of two that brings the weights into the range of the fixed-point sums."""
    one: float
    """1.0 in fixed point, a power of two."""
    starts: NDArray[np.int64] | None = None
    """Where each sparse row begins, and the end; None for dense rows."""
    features: NDArray[np.int32] | None = None
    """The rank of each entry's feature."""
    by_rank: NDArray[np.int32] | None = None
    """The caller's feature for each rank; None for dense rows, where they are the same."""
    frequent: Frequent | None = None
    """Of sparse rows; where it is None all features are frequent."""

    def n_frequent(self, n_clusters: int) -> int:
        """How many features centers keep in full."""
        return self.n_features if self.frequent is None else self.frequent.count(n_clusters)

    @property
    def n_shared(self) -> int:
        """How many features occur in more than one row; of dense rows, all."""
        return self.n_features if self.frequent is None else self.frequent.above[1]

    @property
    def n_rows(self) -> int:
        return len(self.zero)

    @cached_property
    def rank(self) -> NDArray[np.int32] | None:
        """The rank of each of the caller's features."""
        return inverse(self.by_rank)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    @property
    def n_zero(self) -> int:
        return int(self.zero.sum())

    @property
    def n_usable(self) -> int:
        return len(self.usable)

    @cached_property
    def total_weight(self) -> float:
        """The weight of all rows that have a direction."""
        if self.weights is None:
            return float(self.n_rows - int(self.zero.sum()))
        return math.fsum(self.weights[self.zero == 0]) / self.weight_scale

    @cached_property
    def usable(self) -> NDArray[np.int64]:
        """The rows that can move a center: with a direction and a weight above zero."""
        usable = self.zero == 0
        if self.weights is not None:
            usable &= self.weights > 0
        return np.flatnonzero(usable)

    def native(self) -> _core.native.Rows:
        """The rows as the core takes them: a view, not a copy."""
        if self.starts is None or self.features is None or self.by_rank is None:
            return _core.native.Rows(self.values, self.zero, one=self.one, weights=self.weights)
        return _core.native.Rows(
            self.starts,
            self.features,
            self.values,
            self.zero,
            n_features=self.n_features,
            by_rank=self.by_rank,
            one=self.one,
            weights=self.weights,
        )

    def hashes(self, which: NDArray[np.int64], n_threads: int = 1) -> NDArray[np.uint64]:
        """A number for the direction of each row: the same in any container, at any place."""
        hashes = np.empty(len(which), np.uint64)
        _core.native.hash_rows(self.native(), which, n_threads, hashes)
        return hashes

    def entries(self, i: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """The non-zero entries of one row: the caller's features, ascending, and unit values."""
        if self.starts is None or self.features is None or self.by_rank is None:
            features = np.flatnonzero(self.values[i]).astype(np.int32)
            return features, self.values[i, features]
        at = slice(self.starts[i], self.starts[i + 1])
        return self.by_rank[self.features[at]], self.values[at]

    def take(self, which: NDArray[np.int64], n_threads: int = 1) -> "Rows":
        """Some of the rows, in the order given, with their weights; features keep their ranks."""
        weights = None if self.weights is None else self.weights[which]
        taken: dict[str, Any] = {"zero": self.zero[which], "weights": weights}
        if self.starts is None or self.features is None:
            return replace(self, values=self.values[which], **taken)
        starts = np.zeros(len(which) + 1, np.int64)
        np.cumsum(self.starts[1:][which] - self.starts[which], out=starts[1:])
        features, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], self.dtype)
        entries = (self.starts, self.features, self.values)
        _core.native.copy_rows(
            *entries, which, to=starts, n_threads=n_threads, to_features=features, to_values=values
        )
        return replace(self, starts=starts, features=features, values=values, **taken)

    def reweighted(self, weights: NDArray[np.float64] | None) -> "Rows":
        """The same rows with other weights, one a row and not scaled yet; None: all 1."""
        counted = self.zero == 0
        if weights is not None:  # the weight of a row without a direction is of no account
            weights = np.where(counted, weights, 0.0)
        found = weigh(int(counted.sum()) if weights is None else weights[counted])
        return replace(
            self,
            weights=None if weights is None or found.all_one else weights * found.scale,
            weight_scale=found.scale,
            one=fixed_point_one(found.scaled_total),
        )


AnyCensus = Rows | Census
"""Either tells what centers need to know of rows: features, their order, the scale of sums."""


def concatenated(parts: Sequence[Rows]) -> Rows:
    """Rows made by one census, one part after another."""
    if len(parts) == 1:
        return parts[0]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("values", "zero", "weights", "features")
        if getattr(parts[0], name) is not None
    }
    if parts[0].starts is not None:
        sizes = [np.diff(part.starts) for part in parts if part.starts is not None]
        joined["starts"] = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return replace(parts[0], **joined)


def warn_of_zero_rows(rows: AnyCensus) -> None:
    """A warning that counts the rows without a direction, where there are any."""
    if rows.n_zero:
        caution(
            f"{rows.n_zero} of {rows.n_rows} rows are all zero: they have no direction, get label "
            "-1 and move no center.",
        )
