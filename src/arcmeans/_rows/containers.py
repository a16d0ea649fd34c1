"""What a caller gives as rows, weights and centers, checked and in the types that the core reads.

An error names the parameter, its value and the limit, before any work.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from .rows import AnyCensus, Rows
from .unit_rows import unit_rows


def checked_rows(
    X: Any,
    *,
    check: Callable[..., Any] = check_array,
    sample_weight: ArrayLike | None = None,
    n_threads: int,
) -> Rows:
    """Validated unit rows of X. ``check`` is scikit-learn's, or its like for an estimator."""
    matrix, owned = as_matrix(X, "X", check)
    return unit_rows(
        matrix,
        sample_weight=checked_weights(sample_weight, matrix.shape[0]),
        n_threads=n_threads,
        owned=owned,
    )


def as_matrix(X: Any, name: str, check: Callable[..., Any]) -> tuple[Any, bool]:
    """X as CSR or a C-contiguous array, of float32 or float64 in the byte order of this machine.

    Also whether the arrays of the matrix are nobody else's. ``check`` is as for ``checked_rows``.
    """
    check_unmasked(name, X)
    if isinstance(X, np.ndarray) or sp.issparse(X):
        X = X.astype(X.dtype.newbyteorder("="), copy=False)
    half = getattr(X, "dtype", None) == np.float16
    matrix = check(
        X,
        accept_sparse="csr",
        dtype=np.float32 if half else [np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
    )
    return matrix, _is_a_copy(matrix, X)


def check_enough(rows: AnyCensus, n_clusters: int) -> None:
    """An error where fewer rows than clusters can move a center."""
    usable = rows.n_usable
    if rows.n_rows < n_clusters:
        raise ValueError(f"n_samples={rows.n_rows} should be >= n_clusters={n_clusters}.")
    if usable < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} needs as many rows with a direction and a weight; of "
            f"n_samples={rows.n_rows} only {usable} have them."
        )


def checked_centers(init: Any, n_clusters: int, rows: AnyCensus) -> Any:
    """An array of centers, dense or sparse, of the right shape."""
    check_unmasked("init", init)
    init = check_array(
        init,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
        input_name="init",
    )
    if init.shape != (n_clusters, rows.n_features):
        raise ValueError(
            f"init has shape {init.shape}, but n_clusters={n_clusters} centers of "
            f"{rows.n_features} features need shape {(n_clusters, rows.n_features)}."
        )
    return init


def checked_indices(init: NDArray[Any], n_clusters: int, rows: AnyCensus) -> NDArray[np.int64]:
    """Row numbers for initial centers: as many as clusters, and in range."""
    if len(init) != n_clusters:
        raise ValueError(f"init names {len(init)} rows, but n_clusters={n_clusters}.")
    wrong = (init < 0) | (init >= rows.n_rows)
    if wrong.any():
        raise ValueError(
            f"init names row {init[np.argmax(wrong)]}, outside [0, n_samples={rows.n_rows})."
        )
    return init.astype(np.int64)


def checked_weights(
    weights: ArrayLike | None, n_rows: int, *, alone: bool = True
) -> NDArray[np.float64] | None:
    """Weights in float64, one a row. ``alone``: of all rows, so that their range is checked too."""
    if weights is None:
        return None
    check_unmasked("sample_weight", weights)
    weights = np.asarray(weights)
    if weights.dtype.kind not in "biufO":
        raise ValueError(f"sample_weight has dtype {weights.dtype}, expected real numbers.")
    weights = weights.astype(np.float64, copy=False)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected {(n_rows,)}.")
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(f"sample_weight[{i}]={weights[i]} should be a finite number >= 0.")
    if alone:
        with np.errstate(over="ignore"):
            check_weight_range(float(weights.max(initial=0.0)), float(weights.sum()))
    return weights


def check_weight_range(largest: float, total: float) -> None:
    """An error where all weights are zero, or beyond what fixed-point sums can be scaled to."""
    if largest == 0.0:
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    if largest < 2.0**-1000 or total > 2.0**1000:
        raise ValueError(
            f"sample_weight has a largest value of {largest:g} and a sum of {total:g}; they should "
            f"lie between {2.0**-1000:g} and {2.0**1000:g}."
        )


def check_unmasked(name: str, values: Any) -> None:
    """An error for a masked array: without its mask, the values it hides would count as data."""
    masked = np.count_nonzero(np.ma.getmaskarray(values)) if np.ma.isMaskedArray(values) else 0
    if masked:
        raise ValueError(
            f"{name} is a masked array with {masked} of {values.size} values masked; masks are not "
            "supported: fill the values in, or leave their rows out."
        )


def _is_a_copy(checked: Any, X: Any) -> bool:
    """Whether validation made new arrays that are nobody else's."""
    if sp.issparse(checked):
        if not sp.issparse(X):
            return False
        given = [getattr(X, name, None) for name in ("data", "indices", "indptr")]
        arrays = [a for a in given if isinstance(a, np.ndarray)]
        made = (checked.data, checked.indices)
        return not any(np.may_share_memory(a, b) for a in arrays for b in made)
    return isinstance(X, np.ndarray) and not np.may_share_memory(checked, X)
