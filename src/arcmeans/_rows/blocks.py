"""Blocks: rows of a caller that come in several pieces, to a row store or a cluster.

Each block is checked by itself and summed up; the census of all blocks follows from the summaries,
and the unit rows of a block from the block and the census.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from .census import Census, Summary
from .containers import as_matrix, checked_weights
from .rows import Rows
from .unit_rows import canonical, raise_not_finite, rows_of_part


def checked_block(given: Any, name: str, told: Callable[[int], str] = "row {}".format) -> Any:
    """A block as the core takes it: canonical CSR or a dense array, of finite float32 or float64.

    An error says by ``told`` which row it is.
    """
    block, _ = as_matrix(given, name, partial(check_array, ensure_min_samples=0, input_name=name))
    if sp.issparse(block):
        found, inspection, _ = canonical(block, False, name)
        if inspection.not_finite_row >= 0:
            raise_not_finite(name, told(inspection.not_finite_row))
        return sp.csr_array((found.data, found.indices, found.starts), shape=block.shape)
    bad = first_not_finite(block)
    if bad >= 0:
        raise_not_finite(name, told(bad))
    return block


@dataclass(frozen=True)
class BlockShape:
    """What two blocks may differ in."""

    n_rows: int
    n_features: int
    sparse: bool
    dtype: np.dtype[Any]

    @property
    def kind(self) -> str:
        return "sparse" if self.sparse else "dense"


def shape_of(block: Any) -> BlockShape:
    n_rows, n_features = block.shape
    return BlockShape(n_rows, n_features, sp.issparse(block), block.dtype)


def first_not_finite(block: Any) -> int:
    """The first row that has a NaN or an infinity; −1 if none has."""
    if sp.issparse(block):
        finite = np.isfinite(block.data)
        at = int(np.argmin(finite)) if not finite.all() else -1
        return -1 if at < 0 else int(np.searchsorted(block.indptr, at, "right")) - 1
    finite = np.isfinite(block).all(axis=1)
    return -1 if finite.all() else int(np.argmin(finite))


def frequency_of(block: Any) -> NDArray[np.int64]:
    """How many rows of a canonical CSR block have each feature."""
    return np.bincount(block.indices, minlength=block.shape[1]).astype(np.int64, copy=False)


def zero_rows(block: Any) -> NDArray[np.bool_]:
    """Which rows have no direction."""
    zero: NDArray[np.bool_] = (
        np.diff(block.indptr) == 0 if sp.issparse(block) else ~block.any(axis=1)
    )
    return zero


def block_weights(weights: Any, block: Any) -> NDArray[np.float64] | None:
    """The weights of the rows of a block, not scaled yet; 0 for rows without a direction."""
    if weights is None:
        return None
    if block.shape[0] == 0:
        return np.empty(0)
    checked = checked_weights(weights, block.shape[0], alone=False)
    assert checked is not None
    return np.where(zero_rows(block), 0.0, checked)


def summarize(block: Any, weights: NDArray[np.float64] | None) -> Summary:
    """What the census has to know of the rows of a block."""
    frequency = frequency_of(block) if sp.issparse(block) else None
    return Summary.of(zero_rows(block), weights, block.shape[1], block.dtype, frequency)


def prepare(block: Any, weights: NDArray[np.float64] | None, census: Census) -> Rows:
    """The unit rows of a block, by the census of all rows."""
    if block.shape[0] == 0:  # a block without rows may be of any kind
        kind = np.empty if census.by_rank is None else sp.csr_array
        block = kind(block.shape, dtype=census.dtype)
    scaled = None
    if census.weighted:
        scaled = np.ones(block.shape[0]) if weights is None else weights
        scaled = scaled * census.weight_scale
    return rows_of_part(block, census, scaled, 1)
