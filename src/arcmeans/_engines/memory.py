"""The engine for rows in memory, on threads.

``MemoryPlace`` makes one over all rows. The engines over rows on disk (``disk.py``) and on a
cluster (``dask/``) have one for each part. Such a part is in memory only while its engine works on
it, between ``hold_rows`` and ``release_rows``; labels and row state stay. After a pass ``labels``
are the labels that it found and ``previous_labels`` those before it: the sum changes follow from
the rows in which they differ.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._algorithms.arrays import Arrays, in_memory
from .._algorithms.options import EngineOptions
from .._algorithms.problem import problem_of
from .._algorithms.registry import make_algorithm
from .._rows.rows import AnyCensus, Rows
from .._seeding.steps import FirstPass
from .relocation import Offer, Relocation, find_relocation, offer_of


class RowsEngine(ABC):
    """The labels of rows in memory, and what follows from labels; a subclass finds the labels.

    ``PassEngine`` says what the methods without a docstring promise.
    """

    def __init__(
        self,
        rows: Rows,
        n_clusters: int,
        n_threads: int,
        *,
        first_row: int = 0,
        arrays: Arrays = in_memory,
    ) -> None:
        """``first_row`` is the number that row 0 of a part has among all rows."""
        self.n_clusters = n_clusters
        self.n_threads = n_threads
        self.first_row = first_row
        self.hold_rows(rows)
        self.labels: NDArray[np.int32] = arrays("labels", (rows.n_rows,), np.int32)
        self.previous_labels: NDArray[np.int32] = arrays(
            "previous_labels", (rows.n_rows,), np.int32
        )
        self.labels[:] = self.previous_labels[:] = -1
        self._adopted = False
        """Whether ``labels`` are those of the next pass, from the seeding: it only counts them."""
        self._resumed: NDArray[np.int32] | None = None
        """The labels of a run state, where the next pass is the first of a resumed run."""
        self._changes = _core.native.SumChanges(n_clusters)

    def hold_rows(self, rows: Rows) -> None:
        """Has the rows at hand until ``release_rows``, or for good."""
        self.rows = rows
        self.native_rows = rows.native()

    @property
    def census(self) -> AnyCensus:
        return self.rows

    # --- A pass.

    @abstractmethod
    def find_labels(self, centers: _core.native.Centers) -> _core.native.Work:
        """A pass: copies ``labels`` to ``previous_labels``, and overwrites ``labels``."""

    @abstractmethod
    def forget(self, rows: NDArray[np.int64]) -> None:
        """Drops what follows from the old labels of these rows, which a relocation changed.

        Rows are named by their numbers in the part.
        """

    def assign(self, centers: _core.native.Centers) -> _core.native.Work:
        assert len(centers.scales) == self.n_clusters
        if self._adopted:
            self._adopted = False
            work = _core.native.Work()
            work.changed = int(np.count_nonzero(self.labels >= 0))
            work.reused = work.changed * self.n_clusters
            return work
        work = self.find_labels(centers)
        if self._resumed is not None:
            self.previous_labels[:] = self._resumed
            work.changed = int(np.count_nonzero(self.labels != self._resumed))
            self._resumed = None
        return work

    def fingerprint(self) -> int:
        return _core.native.hash_labels(self.labels, self.first_row)

    # --- Sums.

    def sum_changes(self) -> _core.native.SumChanges:
        self.collect_changes(self._changes)
        return self._changes

    def collect_changes(self, changes: _core.native.SumChanges, *, add: bool = False) -> None:
        """Writes the sum changes of the last pass to ``changes``.

        With ``add`` it keeps what ``changes`` has of other parts, and adds to that.
        """
        before, after = self.previous_labels, self.labels
        changes.collect(self.native_rows, before, after, self.n_threads, add=add)

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        centers.move(changes, self.n_threads)

    # --- Clusters without rows.

    def relocate(self, centers: _core.native.Centers) -> int:
        relocation = find_relocation(self.sizes(), lambda count: [self.offer(centers, count)])
        if relocation is None:
            return 0
        self.relabel(relocation)
        return len(relocation.rows)

    def sizes(self) -> NDArray[np.int64]:
        """How many usable rows each cluster has."""
        return np.bincount(self.labels[self.rows.usable], minlength=self.n_clusters)

    def count_used(self) -> int:
        return int(np.count_nonzero(self.sizes()))

    def offer(self, centers: _core.native.Centers, count: int) -> Offer:
        """Rows of this part for clusters without any: at most ``count``."""
        return offer_of(self.rows, self.labels, centers, count, self.first_row, self.n_threads)

    def relabel(self, relocation: Relocation) -> None:
        """Gives the rows of this part that a relocation moves their new labels."""
        self.forget(relocation.relabel(self.labels, self.first_row))

    # --- A run that is resumed.

    def resume_after(self, labels: NDArray[np.int32]) -> _core.native.SumChanges:
        self.resume_part(labels, self._changes)
        return self._changes

    def resume_part(
        self, labels: NDArray[np.int32], changes: _core.native.SumChanges, *, add: bool = False
    ) -> None:
        """``resume_after`` for a part: writes its sums to ``changes``, or adds them to those."""
        self._resumed = after = labels.copy()
        before = self.labels  # all −1: the engine has made no pass
        changes.collect(self.native_rows, before, after, self.n_threads, add=add)

    def close(self) -> None:  # noqa: B027 - a protocol asks for it
        """Nothing is held elsewhere."""


class MemoryEngine(RowsEngine):
    """Passes over every row, by an algorithm."""

    def __init__(
        self,
        rows: Rows,
        n_clusters: int,
        options: EngineOptions,
        *,
        first_row: int = 0,
        arrays: Arrays = in_memory,
    ) -> None:
        super().__init__(rows, n_clusters, options.n_threads, first_row=first_row, arrays=arrays)
        self._chunk_rows = options.chunk_rows
        problem = problem_of(rows, n_clusters, options)
        self.algorithm, self.state = make_algorithm(options.algorithm, problem, arrays)

    def release_rows(self, *, keep_packed: bool = False) -> None:
        """Lets go of the rows, and without ``keep_packed`` also of the packed rows made of them."""
        del self.rows, self.native_rows
        if not keep_packed:
            self.algorithm.release_rows()

    def adopt(self, first_pass: FirstPass) -> None:
        """Takes labels and bounds from the seeding: the first ``assign`` only counts.

        The seeding compared by the reference similarity. The true cosine is at most the reference
        error away, so the bounds are as safe as those of a pass.
        """
        rows = self.rows
        longest = rows.n_features
        if rows.starts is not None:
            longest = int(np.diff(rows.starts).max(initial=0))
        error = _core.native.reference_error(rows.values.dtype == np.float64, longest)
        second = np.clip(first_pass.second + error, -1.0, 1.0)
        best = np.clip(first_pass.best - error, -1.0, 1.0)
        self.labels[:] = first_pass.labels
        self.algorithm.adopt(self.labels, best, second)
        self._adopted = True

    def find_labels(self, centers: _core.native.Centers) -> _core.native.Work:
        return self.algorithm.assign(
            self.native_rows,
            centers,
            self.labels,
            self.previous_labels,
            n_threads=self.n_threads,
            chunk_rows=self._chunk_rows,
        )

    def forget(self, rows: NDArray[np.int64]) -> None:
        self.algorithm.forget(rows)


def fingerprint_of(parts: Iterable[int]) -> int:
    """The fingerprint of all rows from those of their parts: the sum of 64 bits, in 64 bits."""
    total = sum(parts) % 2**64
    return total - 2**64 if total >= 2**63 else total
