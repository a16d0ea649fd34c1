"""What the loop asks of an engine, and the engine for rows held in memory, on threads.

An engine answers one question: here are the centers; how do the sums of the clusters change, and
what work was it? What this one keeps between passes (labels, bounds) is a record of NumPy arrays.
It also is what passes over one part of rows that lie on disk or on several machines
(``streamed.py``, ``dask/``): labels depend on a row and the centers alone, sums are integers, so
parts add up to the same bits.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._algorithms.arrays import Arrays, in_memory
from .._algorithms.registry import RECORDS, Shared
from .._rows.rows import AnyCensus, Rows
from .._run.records import FirstPass
from .equal_rows import Distinct, distinct
from .relocation import Candidates, candidates_of, chosen

HAMERLY_UPDATES = ("tight", "eq8", "eq9")


@dataclass(frozen=True)
class EngineOptions:
    """How a pass is carried out. No option changes a bit of the result."""

    algorithm: str = "lloyd"
    n_threads: int = 1
    chunk_rows: int = 0
    """Rows a thread takes at a time; 0: what suits the algorithm."""
    merge_repeats: bool = False
    """Whether a pass takes only one of rows that are equal, where many are."""
    keep_bounds: bool = True
    """Whether the sieve keeps its bounds from pass to pass."""
    hamerly_update: str = "tight"
    """``tight`` (Eq. 7 with the largest movement), or the paper's ``eq8`` or ``eq9``."""
    n_groups: int | None = None
    """Groups of centers for yinyang, from 1 to the number of clusters; None: a twentieth of it."""


class PassEngine(Protocol):
    """What the loop needs, wherever the rows are."""

    @property
    def census(self) -> AnyCensus: ...
    @property
    def labels(self) -> Any:
        """The labels of all rows after the last pass."""

    @property
    def previous(self) -> Any:
        """The labels before it."""

    def assign(self, centers: _core.native.Centers) -> _core.native.Work:
        """Labels every row with its most similar center; returns the work done."""

    def fingerprint(self) -> int:
        """A hash of the labels."""

    def sum_changes(self) -> _core.native.SumChanges:
        """How the clusters' sums change by the labels that changed since the pass before."""

    def relocate(self, centers: _core.native.Centers) -> int:
        """Gives rows to clusters without any; returns how many."""

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        """Moves the centers, here and wherever the engine has copies of them."""

    def resume(self, labels: Any) -> _core.native.SumChanges:
        """Makes the next pass count as the one after these labels; returns their sums."""

    def used(self) -> int:
        """The number of clusters that have rows."""

    def close(self) -> None:
        """Nothing more will be asked."""


class Engine:
    """Rows, their labels and bounds, and the passes over them."""

    def __init__(
        self,
        rows: Rows,
        n_clusters: int,
        options: EngineOptions,
        *,
        first: int = 0,
        arrays: Arrays = in_memory,
        shared: Shared | None = None,
    ) -> None:
        """``first`` is the number of the first row, where these are a part of the rows.

        ``shared`` is then what the engines of all parts share of their algorithms.
        """
        self.n_clusters = n_clusters
        self.options = options
        self.first = first
        self.attach(rows)
        n = rows.n_rows

        def filled(name: str, shape: tuple[int, ...], dtype: Any, value: float) -> NDArray[Any]:
            array = arrays(name, shape, dtype)
            array[...] = value
            return array

        self.labels: NDArray[np.int32] = filled("labels", (n,), np.int32, -1)
        self._previous: NDArray[np.int32] = filled("previous", (n,), np.int32, -1)
        self._resumed: NDArray[np.int32] | None = None
        self._changes = _core.native.SumChanges(n_clusters)
        self._adopted = False
        self._merged: Merged | None = None
        found = distinct(rows, options.n_threads) if options.merge_repeats else None
        if found is not None:
            inner = Engine(found.rows, n_clusters, replace(options, merge_repeats=False))
            self._merged = Merged(found, inner, first, weighted=rows.weights is not None)
            options = EngineOptions()  # what is kept is kept there
        make = RECORDS[options.algorithm].make
        self.algorithm = make(rows, n_clusters, options, arrays, {} if shared is None else shared)

    def attach(self, rows: Rows) -> None:
        """Looks at the rows, which may have been put away since."""
        self.rows = rows
        self._native_rows = rows.native()

    def detach(self, *, keep_copy: bool = False) -> None:
        """Lets go of the rows; their bounds stay, and with ``keep_copy`` the algorithm's copy."""
        del self.rows, self._native_rows
        if not keep_copy:
            self.algorithm.release_rows()

    @property
    def census(self) -> AnyCensus:
        return self.rows

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
        self.labels[:] = first_pass.labels
        second = np.clip(first_pass.second + error, -1.0, 1.0)
        best = np.clip(first_pass.best - error, -1.0, 1.0)
        if self._merged is not None:
            self._merged.adopt(first_pass)
        self.algorithm.adopt(self.labels, best, second)
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
        rows, labels = self._native_rows, (self.labels, self._previous)
        if self._merged is not None:
            work = self._merged.assign(centers, *labels)
        else:
            threads = (options.n_threads, options.chunk_rows)
            work = self.algorithm.assign(rows, centers, *labels, *threads)
        if self._resumed is not None:  # the first pass of this engine, but not of the run
            self._previous[:] = self._resumed
            self._resumed = None
            work.changed = int(np.count_nonzero(self.labels != self._previous))
        return work

    def sum_changes(self) -> _core.native.SumChanges:
        """How the clusters' sums change by the labels that changed in the last pass.

        The record is filled anew by the next call.
        """
        self.add_changes(self._changes, anew=True)
        return self._changes

    def add_changes(self, changes: _core.native.SumChanges, *, anew: bool = False) -> None:
        """Adds what ``sum_changes`` would return to the changes of other parts, or begins them."""
        if self._merged is not None and self._merged.tells_all:
            self._merged.add_changes(changes, anew=anew)
            return
        changes.collect(
            self._native_rows, self._previous, self.labels, self.options.n_threads, not anew
        )

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

    def candidates(self, centers: _core.native.Centers, count: int) -> Candidates:
        """Rows that might go to clusters without any."""
        return candidates_of(
            self.rows, self.labels, centers, count, self.first, self.options.n_threads
        )

    def give(self, rows: NDArray[np.int64], labels: NDArray[np.int32]) -> None:
        """Gives rows, named by their numbers among all, other labels than the pass did."""
        mine = (rows >= self.first) & (rows < self.first + len(self.labels))
        here = rows[mine] - self.first
        self.labels[here] = labels[mine]
        self._forget(here)

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        centers.move(changes, self.options.n_threads)

    def fingerprint(self) -> int:
        if self._merged is not None and not self._merged.apart:
            return self._merged.fingerprint
        return _core.native.hash_labels(self.labels, self.first)

    def used(self) -> int:
        return int(np.count_nonzero(self.sizes()))

    def resume(self, labels: NDArray[np.int32]) -> _core.native.SumChanges:
        self.labels[:] = labels
        self._part_from_merged()
        changes = self.sum_changes()
        self.take_up()
        return changes

    def take_up(self) -> None:
        """Makes the next pass the first of this engine, counted from the labels there are."""
        self._resumed = self.labels.copy()
        self.labels[:] = -1
        self._part_from_merged()

    def close(self) -> None:
        pass

    def _forget(self, rows: NDArray[np.int64]) -> None:
        """Bounds of rows that did not get their label from a pass say nothing."""
        self.algorithm.forget(rows)
        self._part_from_merged()

    def _part_from_merged(self) -> None:
        """Labels did not come from a pass over the distinct rows."""
        if self._merged is not None:
            self._merged.apart = True

    @property
    def previous(self) -> NDArray[np.int32]:
        """The labels before the last pass."""
        return self._previous


class Merged:
    """An engine for the distinct rows, where many are equal, and what all rows have of it."""

    def __init__(self, found: Distinct, inner: Engine, first: int, *, weighted: bool) -> None:
        self.inner = inner
        self.first = found.first
        self.apart = False
        """Whether labels of the rows are not those of the distinct ones after their last pass."""
        self._anew = True
        """Whether they were not before that pass."""
        self._copies = None if weighted else found.copies
        self._equal = _core.native.EqualRows(found.inverse, len(found.first), first)

    @property
    def fingerprint(self) -> int:
        return self._equal.hash

    @property
    def tells_all(self) -> bool:
        """Whether what the last pass changed, of any row, can be told from the distinct ones."""
        return not (self.apart or self._anew) and self._copies is not None

    def adopt(self, first_pass: FirstPass) -> None:
        self.inner.adopt(first_pass.of(self.first))
        self.inner._adopted = False  # the pass is counted there
        self.apart = True

    def assign(
        self,
        centers: _core.native.Centers,
        labels: NDArray[np.int32],
        previous: NDArray[np.int32],
    ) -> _core.native.Work:
        """One pass over the distinct rows, for all."""
        work = self.inner.assign(centers)
        self._anew, self.apart = self.apart, False
        work.changed = self._equal.spread(
            self.inner.labels, self.inner.previous, self._anew, labels, previous
        )
        return work

    def add_changes(self, changes: _core.native.SumChanges, *, anew: bool) -> None:
        inner = self.inner
        changes.collect(
            inner._native_rows,
            inner.previous,
            inner.labels,
            inner.options.n_threads,
            not anew,
            self._copies,
        )
