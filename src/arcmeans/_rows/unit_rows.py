"""Rows of a caller, scaled to length 1.

Sparse rows stay sparse and the caller's arrays are never written to. A row keeps the dtype of X; an
all-zero row has no direction and is marked. The entries of a sparse row stay in ascending order of
the caller's features, while the numbers stored are the features' ranks by falling document
frequency (see ``cpp/core/rows/rows.hpp`` for why).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from .census import Census, by_frequency, fixed_point_one, frequent, inverse
from .rows import Rows

MAX_FEATURES = 2**31 - 1


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
    one = fixed_point_one(1.0)  # until the weights are known
    return Rows(weights=None, weight_scale=1.0, one=one, **parts).reweighted(sample_weight)


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
        raise_not_finite(name, f"row {found.not_finite_row}")

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
    _core.native.unit_sparse(
        starts,
        indices,
        data,
        rank,
        n_threads=n_threads,
        features=features,
        unit=values,
        zero=zero,
    )
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
    """X with the entries of each row sorted, without duplicates or stored zeros: X or a copy."""
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
        raise_not_finite(name, f"row {not_finite}")
    return {"values": values, "zero": zero, "n_features": X.shape[1]}


def raise_not_finite(name: str, first: str) -> None:
    """The error for a value that is not finite; ``first`` says in which row."""
    raise ValueError(
        f"{name} contains NaN or infinity (first in {first}); every value must be finite."
    )
