"""Tasks that make the rows of a partition ready: from the caller's block to unit rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from .._rows.census import Census, Summary, WeightSummary, weigh
from .._rows.containers import as_native, check_unmasked, checked_weights
from .._rows.rows import Rows
from .._rows.unit_rows import canonical, raise_not_finite, rows_of_part


def checked_block(block: Any, name: str) -> Any:
    """A block as the core takes it: canonical CSR or dense, float32 or float64, finite."""
    check_unmasked(name, block)
    block, dtype = as_native(block)
    block = check_array(
        block,
        accept_sparse="csr",
        dtype=dtype,
        order="C",
        ensure_all_finite=False,
        ensure_min_samples=0,
        input_name=name,
    )
    if not sp.issparse(block):
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            raise_not_finite(name, int(np.argmin(finite)))
        return block
    found, inspection, _ = canonical(block, False, name)
    if inspection.not_finite_row >= 0:
        raise_not_finite(name, inspection.not_finite_row)
    parts = (found.data, found.indices, found.starts)
    return sp.csr_array(parts, shape=block.shape)


@dataclass(frozen=True)
class Shape:
    """What a block is."""

    n_rows: int
    n_features: int
    sparse: bool
    dtype: np.dtype[Any]

    @property
    def kind(self) -> str:
        return f"{'sparse' if self.sparse else 'dense'} of {self.dtype}"


def shape_of(block: Any) -> Shape:
    return Shape(block.shape[0], block.shape[1], sp.issparse(block), block.dtype)


def _zero(block: Any) -> NDArray[np.bool_]:
    zero: NDArray[np.bool_] = (
        np.diff(block.indptr) == 0 if sp.issparse(block) else ~block.any(axis=1)
    )
    return zero


def weights_of(weights: Any, block: Any) -> NDArray[np.float64] | None:
    """The weights of a partition, not scaled yet; 0 for rows without a direction."""
    if weights is None:
        return None
    if block.shape[0] == 0:
        return np.empty(0)
    checked = checked_weights(weights, block.shape[0], alone=False)
    assert checked is not None
    return np.where(_zero(block), 0.0, checked)


def summarize(block: Any, weights: NDArray[np.float64] | None) -> Summary:
    zero = _zero(block)
    frequency = None
    if sp.issparse(block):
        frequency = np.bincount(block.indices, minlength=block.shape[1]).astype(np.int64)
    found: WeightSummary = weigh(int((~zero).sum()) if weights is None else weights[~zero])
    return Summary(
        n_rows=block.shape[0],
        n_features=block.shape[1],
        dtype=block.dtype,
        n_zero=int(zero.sum()),
        n_usable=int((~zero if weights is None else weights > 0).sum()),
        weights=found,
        frequency=frequency,
    )


def prepare(block: Any, weights: NDArray[np.float64] | None, census: Census) -> Rows:
    """The unit rows of a partition."""
    if block.shape[0] == 0:  # it may be of any kind
        kind = np.empty if census.by_rank is None else sp.csr_array
        block = kind(block.shape, dtype=census.dtype)
    scaled = None
    if census.weighted:
        scaled = np.ones(block.shape[0]) if weights is None else weights
        scaled = scaled * census.weight_scale
    return rows_of_part(block, census, scaled, 1)


def taken(rows: Rows, places: NDArray[np.int64]) -> Rows:
    """Some rows of a partition."""
    return rows.take(places)
