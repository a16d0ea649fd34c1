"""The engine that runs a pass over rows held in memory, on threads.

What it keeps between passes (labels, bounds) is a record of NumPy arrays. It answers one question:
here are the centers; how do the sums of the clusters change, and what work was it?
"""

from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray

from . import _core
from .angles import ANGLE_ALGORITHMS, AngleBounds
from .result import FirstPass
from .rows import Rows
from .sieve import SieveBounds

ALGORITHMS = (
    "lloyd",
    "simplified-elkan",
    "elkan",
    "simplified-hamerly",
    "hamerly",
    *ANGLE_ALGORITHMS,
    "sieve",
)
HAMERLY_UPDATES = ("tight", "eq8", "eq9")


def usable_cpus() -> int:
    """The processors this process may use: affinity and container limits are respected."""
    return int(joblib.cpu_count())


@dataclass(frozen=True)
class EngineOptions:
    """How a pass is carried out. No option changes a bit of the result."""

    algorithm: str = "lloyd"
    n_threads: int = 1
    chunk_rows: int = 1024
    """Rows a thread takes at a time."""
    keep_bounds: bool = True
    """Whether the sieve keeps its bounds of 2 bytes a row and center from pass to pass."""
    hamerly_update: str = "tight"
    """``tight`` (Eq. 7 with the largest movement), or the paper's ``eq8`` or ``eq9``."""
    n_groups: int | None = None
    """Groups of centers for yinyang, from 1 to the number of clusters; None: a twentieth of it."""


class Engine:
    """Rows, their labels and bounds, and the passes over them."""

    def __init__(self, rows: Rows, n_clusters: int, options: EngineOptions) -> None:
        self.rows = rows
        self.n_clusters = n_clusters
        self.options = options
        self.labels: NDArray[np.int32] = np.full(rows.n_rows, -1, np.int32)
        self._previous = self.labels.copy()
        self._changes = _core.native.SumChanges(n_clusters)
        self._native_rows = rows.native()
        n, k = rows.n_rows, n_clusters
        algorithm = options.algorithm
        self._kept: AngleBounds | SieveBounds | None = None
        if algorithm in ANGLE_ALGORITHMS:
            self._kept = AngleBounds(algorithm, rows, k, options.n_groups)
        elif algorithm == "sieve":
            self._kept = SieveBounds(rows, k, options.keep_bounds, options.n_threads)
        bounded = algorithm != "lloyd" and self._kept is None
        elkan = algorithm in ("elkan", "simplified-elkan")
        self._lower = np.full(n, -1.0) if bounded else None
        self._uppers = np.ones((n, k), np.float32) if elkan else None
        self._upper = np.ones(n) if bounded and not elkan else None
        self._tests = None
        self._adopted = False
        if algorithm in ("elkan", "hamerly"):
            self._tests = _core.native.CenterTests(k, algorithm == "elkan")

    def adopt(self, first_pass: FirstPass) -> None:
        """Takes over what the seeding learned: labels and bounds, so that the first pass is done.

        The labels are those of the reference similarity, and the bounds follow from it with the
        same margin as in the core.
        """
        rows = self.rows
        longest = rows.n_features if rows.starts is None else int(np.diff(rows.starts).max())
        error = _core.native.reference_error(rows.values.dtype == np.float64, longest)
        self.labels[:] = first_pass.labels
        second = np.clip(first_pass.second + error, -1.0, 1.0)
        best = np.clip(first_pass.best - error, -1.0, 1.0)
        if self._kept is not None:
            self._kept.adopt(best, second)
        if self._lower is not None:
            self._lower[:] = best
        if self._upper is not None:
            self._upper[:] = second
        if self._uppers is not None:
            self._uppers[:] = np.nextafter(second.astype(np.float32), np.float32(2.0))[:, None]
            np.minimum(self._uppers, 1.0, out=self._uppers)
            own = np.flatnonzero(self.labels >= 0)
            self._uppers[own, self.labels[own]] = 1.0
        self._adopted = True

    def assign(self, centers: _core.native.Centers) -> _core.native.Work:
        """Labels every row with its most similar center; returns the work done."""
        assert len(centers.scales) == self.n_clusters
        if self._adopted:
            self._adopted = False
            work = _core.native.Work()
            work.changed = int(np.count_nonzero(self.labels >= 0))
            work.reused = work.changed * self.n_clusters
            return work
        options = self.options
        if self._kept is not None:
            return self._kept.assign(
                self._native_rows,
                centers,
                self.labels,
                self._previous,
                options.n_threads,
                options.chunk_rows,
            )
        return _core.native.assign(
            getattr(_core.native.Algorithm, options.algorithm.replace("-", "_")),
            self._native_rows,
            centers,
            self.labels,
            self._previous,
            self._lower,
            self._uppers,
            self._upper,
            options.n_threads,
            options.chunk_rows,
            getattr(_core.native.HamerlyUpdate, options.hamerly_update),
            self._tests,
        )

    def sum_changes(self) -> _core.native.SumChanges:
        """How the clusters' sums change by the labels that changed in the last pass.

        The record is filled anew by the next call.
        """
        self._changes.collect(
            self._native_rows, self._previous, self.labels, self.options.n_threads
        )
        return self._changes

    def relocate(self, centers: _core.native.Centers) -> int:
        """Gives each cluster without rows the row least similar to its own center.

        Rows of different directions for several clusters; never the last row of another cluster,
        and never a row that lies in the direction of its center already, so that the objective
        rises each time and the run ends. Returns the number of rows moved.
        """
        usable = self.rows.usable
        sizes = np.bincount(self.labels[usable], minlength=self.n_clusters)
        empty = np.flatnonzero(sizes == 0)
        if not len(empty):
            return 0
        similarities = np.empty(self.rows.n_rows)
        _core.native.own_similarities(
            self._native_rows, centers, self.labels, self.options.n_threads, similarities
        )
        # The most a row's similarity to its own direction can fall short of 1 by rounding.
        margin = 1e-6 if self.rows.values.dtype == np.float32 else 1e-9
        candidates = usable[similarities[usable] < 1.0 - margin]
        candidates = candidates[np.argsort(similarities[candidates], kind="stable")]
        taken: set[int] = set()
        moved: list[int] = []
        for i in candidates:
            if len(moved) == len(empty):
                break
            direction = int(self.rows.hashes(np.array([i]))[0])
            if sizes[self.labels[i]] < 2 or direction in taken:
                continue
            taken.add(direction)
            sizes[self.labels[i]] -= 1
            self.labels[i] = empty[len(moved)]
            moved.append(int(i))
        self._forget(moved)
        return len(moved)

    def _forget(self, rows: list[int]) -> None:
        """Bounds of rows that did not get their label from a pass say nothing."""
        if self._lower is not None:
            self._lower[rows] = -1.0
        if self._upper is not None:
            self._upper[rows] = 1.0
        if self._kept is not None:
            self._kept.forget(rows)

    @property
    def previous(self) -> NDArray[np.int32]:
        """The labels before the last pass."""
        return self._previous
