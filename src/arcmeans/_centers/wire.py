"""Centers and sum changes as plain arrays, on their way from one process to another.

Both are integers, so adding and moving by them gives the same bits in every process.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._rows.rows import AnyCensus
from .placing import empty_centers, entries_of


@dataclass(frozen=True)
class Changes:
    """``SumChanges`` as arrays: entries only for the clusters and features that change."""

    rows: NDArray[np.int64]
    """For each cluster, the rows that came less those that went."""
    touched: NDArray[np.uint8]
    """1 where a row came or went."""
    starts: NDArray[np.int64]
    """Where the entries of each cluster begin, and the end."""
    features: NDArray[np.int32]
    """By rank."""
    values: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        arrays = (self.rows, self.touched, self.starts, self.features, self.values)
        return sum(array.nbytes for array in arrays)


def changes_to_arrays(changes: _core.native.SumChanges, n_clusters: int) -> Changes:
    """Sum changes of the core as arrays."""
    starts = np.zeros(n_clusters + 1, np.int64)
    changes.sizes(starts[1:])
    np.cumsum(starts, out=starts)
    rows, touched = np.empty(n_clusters, np.int64), np.empty(n_clusters, np.uint8)
    features, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int64)
    changes.copy(rows, touched, features, values)
    return Changes(rows, touched, starts, features, values)


def add_changes(
    total: _core.native.SumChanges, changes: Changes, n_features: int, n_threads: int
) -> None:
    """Adds sum changes, as arrays, to sum changes of the core."""
    total.add(
        changes.rows,
        changes.touched,
        changes.starts,
        changes.features,
        changes.values,
        n_features=n_features,
        n_threads=n_threads,
    )


def changes_from_arrays(
    changes: Changes, n_features: int, n_threads: int = 1
) -> _core.native.SumChanges:
    """Sum changes of the core from arrays."""
    total = _core.native.SumChanges(len(changes.rows))
    add_changes(total, changes, n_features, n_threads)
    return total


@dataclass(frozen=True)
class Snapshot:
    """Centers as arrays, with what it takes to move them on."""

    one: float
    starts: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    """The rows of each cluster."""
    detached: NDArray[np.uint8]
    """1 where the vector is not the sum of the rows (``cpp/core/centers/centers.hpp``)."""

    @property
    def nbytes(self) -> int:
        return self.starts.nbytes + self.features.nbytes + self.values.nbytes


def snapshot_of(centers: _core.native.Centers) -> Snapshot:
    """The centers as arrays."""
    n_clusters = len(centers.scales)
    starts, features, values = entries_of(centers)
    return Snapshot(
        one=centers.one,
        starts=starts,
        features=features,
        values=values,
        counts=np.array(centers.counts),
        detached=np.array([centers.detached(j) for j in range(n_clusters)], np.uint8),
    )


def centers_from(
    snapshot: Snapshot, census: AnyCensus, n_threads: int = 1, *, in_full: bool = False
) -> _core.native.Centers:
    """Centers that are, and will move, like those the snapshot was taken of."""
    n_clusters = len(snapshot.counts)
    centers = empty_centers(census, n_clusters, snapshot.one, in_full=in_full)
    for j in range(n_clusters):
        at = slice(snapshot.starts[j], snapshot.starts[j + 1])
        centers.place(j, snapshot.features[at], snapshot.values[at])
    # Placed centers are detached. A move by the sums that they stand at attaches them.
    attached = np.repeat(snapshot.detached == 0, np.diff(snapshot.starts))
    sizes = np.where(snapshot.detached == 0, np.diff(snapshot.starts), 0)
    changes = Changes(
        rows=snapshot.counts,
        touched=(snapshot.counts > 0).astype(np.uint8),
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        features=snapshot.features[attached],
        values=snapshot.values[attached],
    )
    centers.move(changes_from_arrays(changes, census.n_features, n_threads), n_threads)
    return centers
