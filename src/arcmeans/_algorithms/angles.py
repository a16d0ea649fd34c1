"""Bounds kept as angles: what yinyang, exponion and shallot remember of each row between passes."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import entries_of, place_rows
from .._rows.rows import Rows
from .._rows.unit_rows import unit_rows
from .arrays import Arrays

ANGLE_ALGORITHMS = ("yinyang", "exponion", "shallot")
NEIGHBORS, NEIGHBORS_FEATURES = 128, 32
"""What ``cpp/core/algorithms/neighbors.hpp`` keeps of a center: this many others,
with copies of them for data of at most this many features."""
_GROUPING_PASSES = 5


def default_groups(n_clusters: int) -> int:
    """The number of yinyang's groups where none is asked for: one for twenty centers."""
    return max(1, n_clusters // 20)


class AngleBounds:
    """The bounds of all rows, as arrays, and what the core keeps of the centers."""

    def __init__(
        self,
        algorithm: str,
        rows: Rows,
        n_clusters: int,
        n_groups: int | None,
        arrays: Arrays,
    ) -> None:
        self.algorithm = algorithm
        self._n_features = rows.n_features
        self._dense = rows.starts is None
        self.n_groups = n_groups or default_groups(n_clusters)
        n_rows = rows.n_rows
        self.own: NDArray[np.float64] = arrays("own", (n_rows,), np.float64)
        """At least the angle to the own center."""
        self.other: NDArray[np.float64] = arrays("other", (n_rows,), np.float64)
        """At most the angle to any other center."""
        self.groups: NDArray[np.float32] | None = None
        """At most the angle to the others of each group, plus what the group has moved so far."""
        self.seconds: NDArray[np.int32] | None = None
        """The center that was the second nearest; −1 where it is not known."""
        self._center_groups: _core.native.CenterGroups | None = None
        self._neighbors: _core.native.CenterNeighbors | None = None
        if algorithm == "yinyang":
            self.groups = arrays("groups", (n_rows, self.n_groups), np.float32)
        else:
            self._neighbors = _core.native.CenterNeighbors(n_clusters, rows.n_features)
        if algorithm == "shallot":
            self.seconds = arrays("seconds", (n_rows,), np.int32)
            self.seconds[:] = -1
        for array, nothing_known in ((self.own, np.pi), (self.other, 0.0), (self.groups, 0.0)):
            if array is not None:
                array[:] = nothing_known

    def adopt(
        self, labels: NDArray[np.int32], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> None:
        """Begin with bounds on the cosines to the own center and to every other."""
        # arccos is within a few units in the last place; one in 2⁴⁰ is far more.
        self.own[:] = np.arccos(lower) * (1.0 + 2.0**-40)
        self.other[:] = np.arccos(upper) * (1.0 - 2.0**-40)
        if self.groups is not None:
            self.groups[:] = (self.other * (1.0 - 2.0**-23)).astype(np.float32)[:, None]

    def forget(self, rows: NDArray[np.int64]) -> None:
        """Bounds of rows that did not get their label from a pass say nothing."""
        self.own[rows] = np.pi
        self.other[rows] = 0.0
        if self.groups is not None:
            self.groups[rows] = 0.0

    def release_rows(self) -> None:
        """The bounds are no copy of the rows."""

    def assign(
        self,
        rows: _core.native.Rows,
        centers: _core.native.Centers,
        labels: NDArray[np.int32],
        previous: NDArray[np.int32],
        n_threads: int,
        chunk_rows: int,
    ) -> _core.native.Work:
        """One pass over the rows."""
        state = (rows, centers, labels, previous, self.own, self.other)
        if self._neighbors is not None:
            if self.seconds is None:
                return _core.native.exponion(*state, n_threads, chunk_rows, self._neighbors)
            return _core.native.shallot(
                *state, self.seconds, n_threads, chunk_rows, self._neighbors
            )
        grouping = 0
        if self._center_groups is None:
            group_of, grouping = grouped(
                centers, self._n_features, self.n_groups, n_threads, dense=self._dense
            )
            self._center_groups = _core.native.CenterGroups(
                group_of, self.n_groups, self._n_features
            )
        assert self.groups is not None
        work = _core.native.yinyang(*state, self.groups, n_threads, chunk_rows, self._center_groups)
        work.center_similarities += grouping
        return work


def grouped(
    centers: _core.native.Centers, n_features: int, n_groups: int, n_threads: int, *, dense: bool
) -> tuple[NDArray[np.int32], int]:
    """The centers in groups of similar ones, by a few passes of lloyd over them.

    The seeds are centers at equal steps, so the same centers get the same groups. Returns the group
    of each center and the similarities this took. A group may be empty.
    """
    k, native = len(centers.scales), _core.native
    group_of = (np.arange(k) % n_groups).astype(np.int32)
    if n_groups in (1, k):
        return group_of, 0
    starts, features, sums = entries_of(centers)
    shape = (k, n_features)
    vectors = sp.csr_array((sums.astype(np.float32), features, starts), shape=shape)
    units = unit_rows(vectors.toarray() if dense else vectors)
    groups = place_rows(units, units, np.arange(n_groups) * k // n_groups, in_full=True)
    changes, view = native.SumChanges(n_groups), units.native()
    group_of[:], previous, similarities = -1, group_of.copy(), 0
    lloyd = (native.Algorithm.lloyd, view, groups, group_of, previous, None, None, None)
    for _ in range(_GROUPING_PASSES):
        work = native.assign(*lloyd, n_threads, 256, native.HamerlyUpdate.tight)
        similarities += work.similarities
        if work.changed == 0:
            break
        changes.collect(view, previous, group_of, n_threads)
        groups.move(changes, n_threads)
    return group_of, similarities
