"""The engine for rows on disk: the engines of all chunks, one after another.

The unit rows of one chunk are in memory at a time. The states of all rows (labels, bounds) are in
memory too, or in mapped files where they outgrow ``memory_limit``.
"""

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._algorithms.options import EngineOptions
from .._rows.census import Census
from .._rows.chunks import Chunks
from .._seeding.steps import FirstPass
from .memory import MemoryEngine
from .parts import fingerprint_of
from .relocation import chosen


class DiskEngine:
    """Passes over the chunks of a store."""

    def __init__(self, chunks: Chunks, n_clusters: int, options: EngineOptions) -> None:
        self.n_clusters = n_clusters
        self._n_threads = options.n_threads
        self._chunks = chunks
        self.states = RowStates(chunks.census.n_rows, chunks.room)
        self._changes = _core.native.SumChanges(n_clusters)
        self.parts = [
            MemoryEngine(
                chunks.hollow(part),
                n_clusters,
                options,
                first=int(first),
                arrays=self.states.slices(int(first)),
            )
            for part, first in enumerate(chunks.starts[:-1])
        ]
        for part in self.parts:
            part.detach()

    def adopt(self, first_passes: Iterable[FirstPass]) -> None:
        """Takes over what the seeding learned of each chunk, so that the first pass is done."""
        for number, (engine, known) in enumerate(zip(self.parts, first_passes, strict=True)):
            engine.attach(self._chunks.hollow(number))
            engine.adopt(known)
            engine.detach()

    @property
    def census(self) -> Census:
        return self._chunks.census

    @property
    def labels(self) -> NDArray[np.int32]:
        return self.states["labels"]

    @property
    def previous(self) -> NDArray[np.int32]:
        return self.states["previous"]

    def assign(self, centers: _core.native.Centers) -> _core.native.Work:
        work = _core.native.Work()
        for engine in self._loaded():
            work.add(engine.assign(centers))
            engine.add_changes(self._changes, anew=engine is self.parts[0])
        return work

    def fingerprint(self) -> int:
        return fingerprint_of(part.fingerprint() for part in self.parts)

    def sum_changes(self) -> _core.native.SumChanges:
        return self._changes

    def relocate(self, centers: _core.native.Centers) -> int:
        sizes = self._sizes()
        empty = int(np.count_nonzero(sizes == 0))
        if not empty:
            return 0
        offered = [part.candidates(centers, empty + self.n_clusters) for part in self._loaded()]
        rows, labels = chosen(sizes, offered)
        if not len(rows):
            return 0
        taken = self._chunks.take(rows).native()
        self._changes.collect(taken, self.labels[rows], labels, self._n_threads, add=True)
        for part in self.parts:
            part.give(rows, labels)
        return len(rows)

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        centers.move(changes, self._n_threads)

    def resume(self, labels: NDArray[np.int32]) -> _core.native.SumChanges:
        for engine in self._loaded():
            here = slice(engine.first, engine.first + len(engine.labels))
            engine.resume_part(labels[here], self._changes, anew=engine is self.parts[0])
        return self._changes

    def used(self) -> int:
        return int(np.count_nonzero(self._sizes()))

    def close(self) -> None:
        """The states of the rows go with the engine."""

    def _sizes(self) -> NDArray[np.int64]:
        """The rows of each cluster that can move a center."""
        sizes = np.zeros(self.n_clusters, np.int64)
        for number, engine in enumerate(self.parts):
            engine.attach(self._chunks.hollow(number))
            sizes += engine.sizes()
            engine.detach()
        return sizes

    def _loaded(self) -> Iterator[MemoryEngine]:
        """Each chunk's engine with its rows in memory."""
        for number, engine in enumerate(self.parts):
            engine.attach(self._chunks.load(number))
            yield engine
            engine.detach()


class RowStates:
    """Arrays with an entry for every row: in memory, then in mapped files beyond a limit."""

    def __init__(self, n_rows: int, limit: int) -> None:
        self._n_rows, self._left = n_rows, limit
        self._arrays: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def slices(self, first: int) -> Callable[[str, tuple[int, ...], Any], NDArray[Any]]:
        """Memory for the state of the rows from ``first`` on."""

        def array(name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
            if name not in self._arrays:
                self._arrays[name] = self._allocated((self._n_rows, *shape[1:]), np.dtype(dtype))
            return self._arrays[name][first : first + shape[0]]

        return array

    def _allocated(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        size = math.prod(shape) * dtype.itemsize
        if size <= self._left:
            self._left -= size
            return np.empty(shape, dtype)
        with tempfile.TemporaryFile(prefix="arcmeans-") as file:  # there while it is mapped
            return np.memmap(file, dtype, "w+", shape=shape)
