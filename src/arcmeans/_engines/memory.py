"""The engine for rows in memory, on threads.

It also passes over one part of rows that lie on disk or on several machines (``disk.py``,
``dask/``). Then the rows are in memory only while the engine works on them (``attach``,
``detach``); labels and row states stay.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._algorithms.arrays import Arrays, in_memory
from .._algorithms.options import EngineOptions
from .._algorithms.problem import problem_of
from .._algorithms.registry import make_algorithm
from .._rows.rows import AnyCensus, Rows
from .._seeding.steps import FirstPass
from .relocation import Candidates, candidates_of, chosen, relabel


@dataclass(frozen=True)
class Ordinary:
    """The next pass looks at the rows, and counts from the labels there are."""


@dataclass(frozen=True)
class Known:
    """The seeding has given the rows the labels of the next pass: it is only counted."""


@dataclass(frozen=True)
class Resumed:
    """The next pass is the first of this engine, but the run had labels before it."""

    labels: NDArray[np.int32]


NextPass = Ordinary | Known | Resumed


class RowsEngine(ABC):
    """The labels of rows in memory, and what follows from labels.

    How a pass finds the labels, a subclass says.
    """

    def __init__(
        self,
        rows: Rows,
        n_clusters: int,
        n_threads: int,
        *,
        first: int = 0,
        arrays: Arrays = in_memory,
    ) -> None:
        """``first`` is the number of the first row, where these are a part of the rows."""
        self.n_clusters = n_clusters
        self.n_threads = n_threads
        self.first = first
        self.attach(rows)
        self.labels: NDArray[np.int32] = arrays("labels", (rows.n_rows,), np.int32)
        self.previous: NDArray[np.int32] = arrays("previous", (rows.n_rows,), np.int32)
        self.labels[:] = self.previous[:] = -1
        self._next: NextPass = Ordinary()
        self._changes = _core.native.SumChanges(n_clusters)

    def attach(self, rows: Rows) -> None:
        """The rows are in memory, for now or for good."""
        self.rows = rows
        self.native_rows = rows.native()

    @property
    def census(self) -> AnyCensus:
        return self.rows

    # --- A pass.

    @abstractmethod
    def find_labels(self, centers: _core.native.Centers) -> _core.native.Work:
        """A pass: fills ``labels``, and ``previous`` with the labels before."""

    @abstractmethod
    def forget(self, rows: NDArray[np.int64]) -> None:
        """These rows of the part got labels that no pass found."""

    def assign(self, centers: _core.native.Centers) -> _core.native.Work:
        """A pass: every row gets the label of its most similar center. Returns the work done."""
        assert len(centers.scales) == self.n_clusters
        this_pass, self._next = self._next, Ordinary()
        match this_pass:
            case Known():
                work = _core.native.Work()
                work.changed = int(np.count_nonzero(self.labels >= 0))
                work.reused = work.changed * self.n_clusters
            case Ordinary():
                work = self.find_labels(centers)
            case Resumed(labels):
                work = self.find_labels(centers)
                self.previous[:] = labels
                work.changed = int(np.count_nonzero(self.labels != labels))
        return work

    def fingerprint(self) -> int:
        """A hash of the labels."""
        return _core.native.hash_labels(self.labels, self.first)

    # --- Sums.

    def sum_changes(self) -> _core.native.SumChanges:
        """How the clusters' sums change by the labels that changed in the last pass.

        The record is filled anew by the next call.
        """
        self.add_changes(self._changes, anew=True)
        return self._changes

    def add_changes(self, changes: _core.native.SumChanges, *, anew: bool = False) -> None:
        """Adds what ``sum_changes`` would return to the changes of other parts, or begins them."""
        changes.collect(self.native_rows, self.previous, self.labels, self.n_threads, add=not anew)

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        """Moves the centers; there are no copies of them."""
        centers.move(changes, self.n_threads)

    # --- Clusters without rows.

    def relocate(self, centers: _core.native.Centers) -> int:
        """Gives each cluster without rows the row least similar to its own center.

        See ``relocation.py``. Returns the number of rows moved.
        """
        sizes = self.sizes()
        empty = int(np.count_nonzero(sizes == 0))
        if not empty:
            return 0
        rows, labels = chosen(sizes, [self.candidates(centers, empty + self.n_clusters)])
        self.give(rows, labels)
        return len(rows)

    def sizes(self) -> NDArray[np.int64]:
        """The rows of each cluster that can move a center."""
        return np.bincount(self.labels[self.rows.usable], minlength=self.n_clusters)

    def used(self) -> int:
        """The number of clusters that have rows."""
        return int(np.count_nonzero(self.sizes()))

    def candidates(self, centers: _core.native.Centers, count: int) -> Candidates:
        """Rows that might go to clusters without any."""
        return candidates_of(self.rows, self.labels, centers, count, self.first, self.n_threads)

    def give(self, rows: NDArray[np.int64], labels: NDArray[np.int32]) -> None:
        """Gives rows, named by their numbers among all, other labels than the pass did."""
        self.forget(relabel(self.labels, self.first, rows, labels))

    # --- A run that is taken up.

    def resume(self, labels: NDArray[np.int32]) -> _core.native.SumChanges:
        """Makes the next pass count as the pass after these labels; returns the sums of these.

        The engine has made no pass yet.
        """
        self.resume_part(labels, self._changes, anew=True)
        return self._changes

    def resume_part(
        self, labels: NDArray[np.int32], changes: _core.native.SumChanges, *, anew: bool = False
    ) -> None:
        """The same for one of several parts: adds the sums to those of other parts, or begins."""
        before = labels.copy()
        self._next = Resumed(before)
        changes.collect(self.native_rows, self.labels, before, self.n_threads, add=not anew)

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
        first: int = 0,
        arrays: Arrays = in_memory,
    ) -> None:
        super().__init__(rows, n_clusters, options.n_threads, first=first, arrays=arrays)
        self._chunk_rows = options.chunk_rows
        problem = problem_of(rows, n_clusters, options)
        self.algorithm, self.state = make_algorithm(options.algorithm, problem, arrays)

    def detach(self, *, keep_copy: bool = False) -> None:
        """Lets go of the rows; labels and bounds stay, and with ``keep_copy`` the algorithm's own
        copy of the rows."""
        del self.rows, self.native_rows
        if not keep_copy:
            self.algorithm.release_rows()

    def adopt(self, first_pass: FirstPass) -> None:
        """Takes over what the seeding learned: labels and bounds, so that the first pass is done.

        The labels are those of the reference similarity, and the bounds follow from it with the
        same margin as in the core.
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
        self._next = Known()

    def find_labels(self, centers: _core.native.Centers) -> _core.native.Work:
        return self.algorithm.assign(
            self.native_rows,
            centers,
            self.labels,
            self.previous,
            n_threads=self.n_threads,
            chunk_rows=self._chunk_rows,
        )

    def forget(self, rows: NDArray[np.int64]) -> None:
        """Bounds of rows that did not get their label from a pass say nothing."""
        self.algorithm.forget(rows)
