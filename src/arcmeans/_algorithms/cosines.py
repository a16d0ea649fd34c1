"""Bounds kept as cosines: what the paper's algorithms remember of each row between passes."""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._rows.rows import Rows
from .arrays import Arrays

LEAST, MOST = -1.0, 1.0
"""The bounds of a row of which nothing is known."""


class CosineBounds:
    """The bounds of all rows, as arrays; none for lloyd."""

    def __init__(
        self,
        algorithm: str,
        rows: Rows,
        n_clusters: int,
        hamerly_update: str,
        arrays: Arrays,
    ) -> None:
        native, n = _core.native, rows.n_rows
        self._algorithm = getattr(native.Algorithm, algorithm.replace("-", "_"))
        self._update = getattr(native.HamerlyUpdate, hamerly_update)
        self.lower: NDArray[np.float64] | None = None
        """At most the cosine to the own center."""
        self.uppers: NDArray[np.float32] | None = None
        """At least the cosine to each center."""
        self.upper: NDArray[np.float64] | None = None
        """At least the cosine to every center but the own."""
        if algorithm == "lloyd":
            return
        self.lower = arrays("lower", (n,), np.float64)
        self.lower[:] = LEAST
        if algorithm in ("elkan", "simplified-elkan"):
            self.uppers = arrays("uppers", (n, n_clusters), np.float32)
            self.uppers[:] = MOST
        else:
            self.upper = arrays("upper", (n,), np.float64)
            self.upper[:] = MOST

    def adopt(
        self, labels: NDArray[np.int32], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> None:
        """Begins with the seeding's bounds."""
        if self.lower is not None:
            self.lower[:] = lower
        if self.upper is not None:
            self.upper[:] = upper
        if self.uppers is not None:
            self.uppers[:] = np.nextafter(upper.astype(np.float32), np.float32(2.0))[:, None]
            np.minimum(self.uppers, MOST, out=self.uppers)
            own = np.flatnonzero(labels >= 0)
            self.uppers[own, labels[own]] = MOST

    def forget(self, rows: NDArray[np.int64]) -> None:
        """A row's bound for each center holds whatever its label is; the other two do not."""
        if self.lower is not None:
            self.lower[rows] = LEAST
        if self.upper is not None:
            self.upper[rows] = MOST

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
        return _core.native.assign(
            self._algorithm,
            rows,
            centers,
            labels,
            previous,
            self.lower,
            self.uppers,
            self.upper,
            n_threads,
            chunk_rows,
            self._update,
        )
