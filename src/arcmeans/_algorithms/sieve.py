"""What the sieve remembers of each row between passes: bounds in 16 bits, and the row in 16."""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._rows.rows import Rows
from .arrays import Arrays

UNKNOWN = np.iinfo(np.int32).min
"""The lower bound of a row of which nothing is known."""


def bound_bytes(n_rows: int, n_clusters: int, dense: bool) -> int:
    """What the bounds take: 2 bytes each, and 4 a row for the one on the own center."""
    return n_rows * (2 * _core.native.LineGroups(n_clusters, dense).n_bounds + 4)


class SieveBounds:
    """The bounds of all rows, as arrays (``sieve_state.hpp`` of the core), or none."""

    def __init__(self, rows: Rows, n_clusters: int, keep: bool, arrays: Arrays) -> None:
        n, dense = rows.n_rows, rows.starts is None
        self._n_frequent = -1
        self._n_shared = rows.n_shared
        self._moves = _core.native.SieveMoves(n_clusters, dense)
        self._packed: _core.native.PackedRows | None = None
        self.lower: NDArray[np.int32] | None = None
        """At most the cosine to the own center, plus what that has fallen so far."""
        self.uppers: NDArray[np.int16] | None = None
        """At least the cosine to each group of centers, the own center left out of its group, less
        what it has risen so far."""
        if keep:
            self.lower = arrays("lower", (n,), np.int32)
            self.lower[:] = UNKNOWN
            groups = _core.native.LineGroups(n_clusters, dense)
            self.uppers = arrays("uppers", (n, groups.n_bounds), np.int16)

    def adopt(
        self, labels: NDArray[np.int32], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> None:
        """Bounds on the best and the second say too little here: the next pass is a full one."""

    def forget(self, rows: NDArray[np.int64]) -> None:
        """Bounds of rows that did not get their label from a pass say nothing."""
        if self.lower is not None:
            self.lower[rows] = UNKNOWN

    def release_rows(self) -> None:
        """The next pass packs the rows anew."""
        self._packed = None

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
        # Centers that another algorithm has used too keep all features in full.
        if self._packed is None or self._n_frequent != centers.n_frequent:
            self._n_frequent = centers.n_frequent
            self._packed = _core.native.PackedRows(
                rows, self._n_frequent, self._n_shared, n_threads
            )
        return _core.native.sift(
            rows,
            self._packed,
            centers,
            self._moves,
            labels,
            previous,
            self.lower,
            self.uppers,
            n_threads,
            chunk_rows,
        )
