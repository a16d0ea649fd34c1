"""What tally remembers of each row between passes: two bounds."""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._rows.rows import Rows
from .arrays import Arrays


class TallyBounds:
    """The bounds of all rows, as arrays (``cpp/core/algorithms/tally.hpp``)."""

    def __init__(self, rows: Rows, arrays: Arrays) -> None:
        self.lower: NDArray[np.float32] = arrays("lower", (rows.n_rows,), np.float32)
        """With ``upper``: how far the cosine to the own center is above all others, at least."""
        self.upper: NDArray[np.float32] = arrays("upper", (rows.n_rows,), np.float32)
        """At least the cosine to every other center."""
        self.lower[:], self.upper[:] = -1.0, 1.0

    def adopt(
        self, labels: NDArray[np.int32], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> None:
        """The first move makes other vectors of the seeds: the pass after it is a full one."""

    def forget(self, rows: NDArray[np.int64]) -> None:
        """Bounds of rows that did not get their label from a pass say nothing."""
        self.lower[rows], self.upper[rows] = -1.0, 1.0

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
        bounds = (self.lower, self.upper)
        return _core.native.tally(rows, centers, labels, previous, *bounds, n_threads, chunk_rows)
