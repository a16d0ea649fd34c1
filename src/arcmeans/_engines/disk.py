"""The engine for rows on disk: an engine for each chunk of a store, one after another.

``DiskPlace`` makes it, and the loop asks it as any ``PassEngine`` (``protocol.py`` says what each
method promises). The unit rows of one chunk are in memory at a time. Labels and row states of all
rows are in memory too, or in mapped files where they outgrow the limit of the chunks. Sum changes
are integers: added up over the chunks, they are those of one engine over all rows.
"""

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._algorithms.arrays import Arrays
from .._algorithms.options import EngineOptions
from .._rows.census import Census
from .._rows.chunks import Chunks
from .._rows.rows import Rows
from .._seeding.steps import FirstPass
from .memory import MemoryEngine, fingerprint_of
from .relocation import find_relocation


class DiskEngine:
    """Passes over the chunks of a store."""

    def __init__(self, chunks: Chunks, n_clusters: int, options: EngineOptions) -> None:
        self.n_clusters = n_clusters
        self._n_threads = options.n_threads
        self._chunks = chunks
        self.states = RowStates(chunks.census.n_rows, chunks.state_limit)
        self._changes = _core.native.SumChanges(n_clusters)
        self.engines: list[MemoryEngine] = []
        for number, first_row in enumerate(chunks.starts[:-1].tolist()):
            rows, arrays = chunks.without_entries(number), self.states.from_row(first_row)
            engine = MemoryEngine(rows, n_clusters, options, first_row=first_row, arrays=arrays)
            engine.release_rows()
            self.engines.append(engine)

    def adopt(self, first_passes: Iterable[FirstPass]) -> None:
        """Takes the first pass of each chunk from the seeding: ``assign`` only counts it then."""
        for engine, first_pass in zip(self._without_entries(), first_passes, strict=True):
            engine.adopt(first_pass)

    @property
    def census(self) -> Census:
        return self._chunks.census

    @property
    def labels(self) -> NDArray[np.int32]:
        return self.states["labels"]

    @property
    def previous_labels(self) -> NDArray[np.int32]:
        return self.states["previous_labels"]

    def assign(self, centers: _core.native.Centers) -> _core.native.Work:
        work = _core.native.Work()
        for engine in self._loaded():
            work.add(engine.assign(centers))
            engine.collect_changes(self._changes, add=engine is not self.engines[0])
        return work

    def fingerprint(self) -> int:
        return fingerprint_of(engine.fingerprint() for engine in self.engines)

    def sum_changes(self) -> _core.native.SumChanges:
        return self._changes

    def relocate(self, centers: _core.native.Centers) -> int:
        relocation = find_relocation(
            self._sizes(), lambda count: [e.offer(centers, count) for e in self._loaded()]
        )
        if relocation is None:
            return 0
        rows = self._chunks.take(relocation.rows).native()
        before, after = relocation.before, relocation.labels
        self._changes.collect(rows, before, after, self._n_threads, add=True)
        for engine in self.engines:
            engine.relabel(relocation)
        return len(relocation.rows)

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        centers.move(changes, self._n_threads)

    def resume_after(self, labels: NDArray[np.int32]) -> _core.native.SumChanges:
        for engine in self._loaded():
            here = slice(engine.first_row, engine.first_row + len(engine.labels))
            engine.resume_part(labels[here], self._changes, add=engine is not self.engines[0])
        return self._changes

    def count_used(self) -> int:
        return int(np.count_nonzero(self._sizes()))

    def close(self) -> None:
        """Nothing is held elsewhere."""

    def _sizes(self) -> NDArray[np.int64]:
        """How many usable rows each cluster has."""
        sizes = np.zeros(self.n_clusters, np.int64)
        for engine in self._without_entries():
            sizes += engine.sizes()
        return sizes

    def _loaded(self) -> Iterator[MemoryEngine]:
        """The engine of each chunk, with the unit rows of the chunk in memory."""
        return self._holding(self._chunks.load)

    def _without_entries(self) -> Iterator[MemoryEngine]:
        """The engine of each chunk, for what reads weights and zero rows but no entries."""
        return self._holding(self._chunks.without_entries)

    def _holding(self, rows_of: Callable[[int], Rows]) -> Iterator[MemoryEngine]:
        for number, engine in enumerate(self.engines):
            engine.hold_rows(rows_of(number))
            yield engine
            engine.release_rows()


class RowStates:
    """Arrays with an entry for every row: in memory up to a limit, then in mapped files."""

    def __init__(self, n_rows: int, limit: int) -> None:
        self._n_rows, self._left = n_rows, limit
        self._arrays: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def from_row(self, first_row: int) -> Arrays:
        """The arrays of one chunk: slices of those of all rows, from ``first_row`` on."""

        def array(name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
            if name not in self._arrays:
                self._arrays[name] = self._allocated((self._n_rows, *shape[1:]), np.dtype(dtype))
            return self._arrays[name][first_row : first_row + shape[0]]

        return array

    def _allocated(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        n_bytes = math.prod(shape) * dtype.itemsize
        if n_bytes <= self._left:
            self._left -= n_bytes
            return np.empty(shape, dtype)
        # The system keeps the file, closed and without a name, as long as it is mapped.
        with tempfile.TemporaryFile(prefix="arcmeans-") as file:
            return np.memmap(file, dtype, "w+", shape=shape)
