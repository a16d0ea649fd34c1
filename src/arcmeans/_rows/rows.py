"""From whatever the caller has to unit rows.

Sparse stays sparse and the caller's arrays are never written to. A row is scaled to length 1 and
keeps the dtype of X; an all-zero row has no direction and is marked. The entries of a sparse row
stay in ascending order of the caller's features, while the numbers stored are the features' ranks
by falling document frequency (see ``cpp/core/rows/rows.hpp`` for why).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from .._support.caution import caution
from .census import Census, Frequent, by_frequency, fixed_point_one, frequent, inverse, weigh

MAX_FEATURES = 2**31 - 1


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
        """How many features more than one row may have."""
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
            return _core.native.Rows(self.values, self.weights, self.zero, self.one)
        return _core.native.Rows(
            self.starts,
            self.features,
            self.values,
            self.n_features,
            self.weights,
            self.zero,
            self.one,
            self.by_rank,
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


AnyCensus = Rows | Census
"""What places a center among rows: their features, their order and scale."""


def unit_rows(
    X: Any,
    *,
    sample_weight: NDArray[np.float64] | None = None,
    n_threads: int = 1,
    owned: bool = False,
    name: str = "X",
) -> Rows:
    """Scale validated data (CSR or C-contiguous, float32 or float64) to unit rows.

    With ``owned`` the arrays are not the caller's and are reused where that saves a copy.
    """
    if sp.issparse(X):
        parts = _unit_sparse(X, n_threads, owned, name)
    else:
        parts = _unit_dense(X, n_threads, owned, name)
    counted = parts["zero"] == 0
    if sample_weight is not None:  # what a row without a direction weighs is of no account
        sample_weight = np.where(counted, sample_weight, 0.0)
    found = weigh(int(counted.sum()) if sample_weight is None else sample_weight[counted])
    weights = None
    if not found.all_one:
        assert sample_weight is not None
        weights = sample_weight * found.scale
    one = fixed_point_one(found.scaled_total)
    return Rows(weights=weights, weight_scale=found.scale, one=one, **parts)


def rows_of_part(
    X: Any,
    census: Census,
    weights: NDArray[np.float64] | None,
    n_threads: int,
    *,
    owned: bool = False,
    name: str = "X",
) -> Rows:
    """Unit rows of a part, by the census of all rows. ``weights`` are scaled already."""
    if sp.issparse(X):
        parts = _unit_sparse(X, n_threads, owned, name, census)
    else:
        parts = _unit_dense(X, n_threads, owned, name)
    return Rows(weights=weights, weight_scale=census.weight_scale, one=census.one, **parts)


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


def subset(
    rows: Rows, which: NDArray[np.int64], weights: NDArray[np.float64], n_threads: int = 1
) -> Rows:
    """Some of the rows, with weights of their own; features keep their ranks."""
    parts: dict[str, Any] = {
        "by_rank": rows.by_rank,
        "frequent": rows.frequent,
    }
    if rows.starts is None or rows.features is None:
        values = rows.values[which]
    else:
        starts = np.zeros(len(which) + 1, np.int64)
        np.cumsum(rows.starts[1:][which] - rows.starts[which], out=starts[1:])
        features, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], rows.dtype)
        entries = (rows.starts, rows.features, rows.values)
        _core.native.copy_rows(*entries, which, starts, n_threads, features, values)
        parts["starts"], parts["features"] = starts, features
    found = weigh(weights[rows.zero[which] == 0])
    return Rows(
        values=values,
        zero=rows.zero[which],
        n_features=rows.n_features,
        weights=None if found.all_one else weights * found.scale,
        weight_scale=found.scale,
        one=fixed_point_one(found.scaled_total),
        **parts,
    )


def warn_of_zero_rows(rows: AnyCensus) -> None:
    if rows.n_zero:
        caution(
            f"{rows.n_zero} of {rows.n_rows} rows are all zero: they have no direction, get label "
            "-1 and move no center.",
        )


def _unit_sparse(
    X: Any,
    n_threads: int,
    owned: bool,
    name: str,
    census: Census | None = None,
) -> dict[str, Any]:
    n_rows, n_features = X.shape
    if n_features > MAX_FEATURES:
        raise ValueError(f"{name} has {n_features} features; the limit is {MAX_FEATURES}.")
    X, found, frequency = canonical(X, owned, name)
    owned = owned or X.has_been_copied
    starts, indices, data = X.starts, X.indices, X.data
    if found.not_finite_row >= 0:
        raise_not_finite(name, found.not_finite_row)

    if census is None or census.by_rank is None or census.frequent is None:
        by_rank, often = by_frequency(frequency), frequent(frequency)
    else:
        by_rank, often = census.by_rank, census.frequent
    rank = inverse(by_rank)
    assert rank is not None
    in_place = owned and indices.dtype == np.int32 and indices.flags.writeable
    features = indices if in_place else np.empty(len(indices), np.int32)
    values = data if owned and data.flags.writeable else np.empty_like(data)
    zero = np.empty(n_rows, np.uint8)
    _core.native.unit_sparse(starts, indices, data, rank, n_threads, features, values, zero)
    return {
        "values": values,
        "zero": zero,
        "n_features": n_features,
        "starts": starts,
        "features": features,
        "by_rank": by_rank,
        "frequent": often,
    }


@dataclass(frozen=True)
class Csr:
    """Compressed sparse rows in the types that the core reads."""

    starts: NDArray[np.int64]
    indices: NDArray[Any]
    data: NDArray[Any]
    has_been_copied: bool


def canonical(
    X: Any, owned: bool, name: str
) -> tuple[Csr, _core.native.Inspection, NDArray[np.int64]]:
    """Sorted rows without duplicates or stored zeros: the caller's own, or a copy made so."""
    for attempt in range(2):
        starts = np.ascontiguousarray(X.indptr, np.int64)
        indices, data = _native_indices(X.indices), np.ascontiguousarray(X.data)
        _check_starts(starts, len(indices), len(data), name)
        frequency = np.zeros(X.shape[1], np.int64)
        end = starts[-1]
        found = _core.native.inspect(starts, indices[:end], data[:end], frequency)
        if found.bad_index_row >= 0:
            raise ValueError(
                f"{name} has a column index outside [0, {X.shape[1]}) in row {found.bad_index_row}."
            )
        if attempt == 1 or (found.canonical and not found.has_zeros):
            break
        if not owned:
            parts = (data[:end].copy(), indices[:end].copy(), starts.copy())
            X = sp.csr_array(parts, shape=X.shape)
        X.has_canonical_format = False
        X.has_sorted_indices = False
        X.sum_duplicates()
        X.eliminate_zeros()
    return Csr(starts, indices[:end], data[:end], attempt == 1), found, frequency


def _native_indices(indices: NDArray[Any]) -> NDArray[Any]:
    """The indices in one of the two types that the core reads."""
    if indices.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        indices = indices.astype(np.int64)
    return np.ascontiguousarray(indices)


def _check_starts(starts: NDArray[np.int64], n_indices: int, n_data: int, name: str) -> None:
    if starts[0] != 0 or np.any(np.diff(starts) < 0) or starts[-1] > min(n_indices, n_data):
        raise ValueError(f"{name} is not a valid CSR matrix: its indptr does not fit its indices.")


def _unit_dense(X: NDArray[Any], n_threads: int, owned: bool, name: str) -> dict[str, Any]:
    values = X if owned and X.flags.writeable else np.empty_like(X)
    zero = np.empty(X.shape[0], np.uint8)
    not_finite = _core.native.unit_dense(X, n_threads, values, zero)
    if not_finite >= 0:
        raise_not_finite(name, not_finite)
    return {"values": values, "zero": zero, "n_features": X.shape[1]}


def raise_not_finite(name: str, row: int) -> None:
    raise ValueError(
        f"{name} contains NaN or infinity (first in row {row}); every value must be finite."
    )
