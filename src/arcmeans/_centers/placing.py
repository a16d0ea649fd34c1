"""Centers going into the core and coming out of it, as integer vectors in fixed point."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from .._rows.rows import AnyCensus, Rows
from .sums import CenterSums


def fixed_entries(
    census: AnyCensus, seeds: Rows, i: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Row i of ``seeds`` as a center for rows of ``census``: ranks, and integers."""
    features, values = seeds.entries(i)
    fixed = np.rint(values.astype(np.float64) * census.one).astype(np.int64)
    return _ranks(census, features), fixed


def empty_centers(
    census: AnyCensus, n_centers: int, one: float, *, in_full: bool = False
) -> _core.native.Centers:
    """Centers for rows of ``census``, none of them placed yet.

    With ``in_full`` every center has a number for every feature: more memory, and the fastest
    reference similarities. Else rare features are kept as lists.
    """
    n_frequent = census.n_features if in_full else census.n_frequent(n_centers)
    return _core.native.Centers(n_centers, census.n_features, one, n_frequent)


def place_rows(
    census: AnyCensus,
    seeds: Rows,
    which: NDArray[np.int64] | None = None,
    *,
    in_full: bool = False,
) -> _core.native.Centers:
    """Centers at the unit rows of ``seeds`` (all, or those named), for rows of ``census``."""
    picked = range(seeds.n_rows) if which is None else which
    centers = empty_centers(census, len(picked), census.one, in_full=in_full)
    for j, i in enumerate(picked):
        centers.place(j, *fixed_entries(census, seeds, int(i)))
    return centers


def place_sums(
    census: AnyCensus, sums: CenterSums, *, in_full: bool = False
) -> _core.native.Centers:
    """Centers from the integer vectors of an earlier run, for rows of ``census``."""
    vectors = sums.vectors
    centers = empty_centers(census, vectors.shape[0], sums.one, in_full=in_full)
    for j in range(vectors.shape[0]):
        at = slice(vectors.indptr[j], vectors.indptr[j + 1])
        centers.place(j, _ranks(census, vectors.indices[at]), vectors.data[at])
    return centers


def first_changes(
    rows: _core.native.Rows, labels: NDArray[np.int32], n_clusters: int, n_threads: int
) -> _core.native.SumChanges:
    """The sums of rows that had no label before."""
    changes = _core.native.SumChanges(n_clusters)
    changes.collect(rows, np.full(len(labels), -1, np.int32), labels, n_threads)
    return changes


def entries_of(
    centers: _core.native.Centers, by_rank: NDArray[np.int32] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Where each center begins, its features in ascending order and their sums.

    The features are ranks, or with ``by_rank`` the caller's.
    """
    starts = np.concatenate([[0], np.cumsum(centers.sizes())])
    features, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int64)
    centers.entries(starts, by_rank, features, values)
    return starts, features, values


def sums_of(census: AnyCensus, centers: _core.native.Centers) -> CenterSums:
    """The integer vectors of centers for rows of ``census``, in the caller's feature order."""
    scales = np.array(centers.scales)
    starts, features, values = entries_of(centers, census.by_rank)
    vectors = sp.csr_array((values, features, starts), shape=(len(scales), census.n_features))
    return CenterSums(vectors, scales, centers.one)


def _ranks(census: AnyCensus, features: NDArray[Any]) -> NDArray[np.int32]:
    return (features if census.rank is None else census.rank[features]).astype(np.int32, copy=False)
