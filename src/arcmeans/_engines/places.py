"""Places in this process: rows in memory, and rows of a store on disk.

``dask/`` has the place on a cluster.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from .._algorithms.options import EngineOptions
from .._rows.chunks import Chunks
from .._rows.containers import checked_rows
from .._rows.rows import Rows
from .._rows.store import RowStore
from .._seeding.search import TellFirstPass
from .._seeding.steps import Answer, FirstPass, SeedRows, SeedState, Step
from .disk import DiskEngine
from .equal_rows import EqualRowsEngine, SeededEngine, distinct
from .memory import MemoryEngine
from .protocol import Place


def open_place(
    X: Any,
    *,
    check: Callable[..., Any] = check_array,
    sample_weight: ArrayLike | None = None,
    n_threads: int,
    memory_limit: float | None = None,
) -> Place:
    """The validated rows of X, in memory or in a store."""
    if isinstance(X, RowStore):
        return DiskPlace(Chunks(X, sample_weight, n_threads, memory_limit))
    rows = checked_rows(X, check=check, sample_weight=sample_weight, n_threads=n_threads)
    return MemoryPlace(rows, n_threads)


class MemoryPlace(SeedRows):
    """Rows in memory: one part."""

    state_limit = None
    in_this_process = True
    passes_here = True

    def engine(
        self, n_clusters: int, options: EngineOptions, *, seeded: bool = False
    ) -> SeededEngine:
        """Over one of each set of equal rows, where that pays."""
        found = distinct(self.rows, options.n_threads) if options.merge_repeats else None
        engine: SeededEngine
        if found is None:
            engine = MemoryEngine(self.rows, n_clusters, options)
        else:
            inner = MemoryEngine(found.rows, n_clusters, options)
            engine = EqualRowsEngine(self.rows, found, inner, n_clusters, options.n_threads)
        if seeded:
            engine.adopt(self.at(0, TellFirstPass()))
            self.end_seeding()
        return engine

    def pieces(self) -> Iterator[tuple[slice, Rows]]:
        yield slice(0, self.rows.n_rows), self.rows

    def close(self) -> None:
        """Nothing is held elsewhere."""


class DiskPlace:
    """Rows of a store: the parts are its chunks."""

    in_this_process = False
    passes_here = True

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self.census = chunks.census
        self.starts = chunks.starts
        self.state_limit = chunks.state_limit
        self._states = [
            SeedState(first_row, chunks.n_threads, may_use_posting_lists=len(chunks) == 1)
            for first_row in chunks.starts[:-1].tolist()
        ]

    def take(self, which: NDArray[np.int64]) -> Rows:
        return self._chunks.take(which)

    def pieces(self) -> Iterator[tuple[slice, Rows]]:
        return self._chunks.pieces()

    def each(self, step: Step[Answer]) -> list[Answer]:
        return [self.at(number, step) for number in range(len(self._chunks))]

    def at(self, number: int, step: Step[Answer]) -> Answer:
        chunks = self._chunks
        rows = chunks.load(number) if step.reads_entries else chunks.without_entries(number)
        return step.on(rows, self._states[number])

    def end_seeding(self) -> None:
        self._states = [state.fresh() for state in self._states]

    def engine(
        self, n_clusters: int, options: EngineOptions, *, seeded: bool = False
    ) -> DiskEngine:
        engine = DiskEngine(self._chunks, n_clusters, options)
        if seeded:
            engine.adopt(self._first_passes())
        return engine

    def _first_passes(self) -> Iterator[FirstPass]:
        """The first pass of each chunk; then the seed state of the chunk is dropped."""
        for number, state in enumerate(self._states):
            yield self.at(number, TellFirstPass())
            self._states[number] = state.fresh()

    def close(self) -> None:
        """Nothing is held elsewhere."""
