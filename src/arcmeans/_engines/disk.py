"""Rows from disk: a chunk at a time is made ready, passed over and let go.

Unit rows of one chunk are in memory at a time, in buffers that all chunks share; the system fetches
the next chunk meanwhile. What is kept of every row (labels, bounds) is in memory too, or in mapped
files where it outgrows ``memory_limit``. A store that fits into one chunk is made ready once.
"""

import math
import tempfile
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from .. import _core
from .._algorithms.registry import Shared
from .._rows.census import Census, Summary, census_of, weigh
from .._rows.containers import checked_rows, checked_weights
from .._rows.rows import Rows
from .._rows.store import RowStore
from .._rows.unit_rows import rows_of_part
from .._seeding.part import LIGHT, SeedPart, run_step
from .memory import Engine, EngineOptions
from .parts import LocalParts, Parts
from .relocation import chosen

DEFAULT_LIMIT = 2**30
LARGEST_CHUNK = 2**28
"""Bytes of unit rows: more at a time is no faster."""


def checked_parts(
    X: Any,
    *,
    check: Callable[..., Any] = check_array,
    sample_weight: ArrayLike | None = None,
    n_threads: int,
    memory_limit: float | None = None,
) -> Parts:
    """Validated rows of X, in memory or in a store."""
    if isinstance(X, RowStore):
        return StreamedParts(X, sample_weight, n_threads, memory_limit)
    rows = checked_rows(X, check=check, sample_weight=sample_weight, n_threads=n_threads)
    return LocalParts(rows, n_threads)


class StreamedParts:
    """The rows of a store, in chunks."""

    def __init__(
        self,
        store: RowStore,
        sample_weight: ArrayLike | None,
        n_threads: int,
        memory_limit: float | None = None,
    ) -> None:
        self.store = store
        self.n_threads = n_threads
        limit = DEFAULT_LIMIT if memory_limit is None else int(memory_limit)
        self.starts = _chunks(store, min(limit // 4, LARGEST_CHUNK))
        self.room = limit - limit // 4
        self._checked = np.zeros(len(self.starts) - 1, bool)
        self._loaded: tuple[int, Rows] | None = None
        weights = checked_weights(sample_weight, store.shape[0])
        self._zero = self._zero_rows()
        self._weights = None
        counted = self._zero == 0
        if weights is not None:
            weights = np.where(counted, weights, 0.0)
        found = weigh(int(counted.sum()) if weights is None else weights[counted])
        usable = counted if weights is None else weights > 0
        summary = Summary(
            n_rows=store.shape[0],
            n_features=store.shape[1],
            dtype=store.dtype,
            n_zero=int(self._zero.sum()),
            n_usable=int(usable.sum()),
            weights=found,
            frequency=store.mapped("frequency").array if store.sparse else None,
        )
        self.census: Census = census_of([summary])
        if weights is not None and self.census.weighted:
            self._weights = weights * self.census.weight_scale
        self._seed_parts = [
            SeedPart(int(first), n_threads, postings=len(self.starts) == 2)
            for first in self.starts[:-1]
        ]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def load(self, part: int) -> Rows:
        """The unit rows of a chunk, until the next one is loaded."""
        if self._loaded is None or self._loaded[0] != part:
            self._loaded = None
            self._loaded = part, self._prepared(part)
        return self._loaded[1]

    def hollow(self, part: int) -> Rows:
        """A chunk without its entries: for what asks only for zero rows and weights."""
        if self._loaded is not None and self._loaded[0] == part:
            return self._loaded[1]
        if not self.store.sparse:
            n_rows = int(self.starts[part + 1] - self.starts[part])
            return self._rows(part, np.empty((n_rows, 1), self.census.dtype))
        no_entries = np.empty(0, np.int32)
        return self._rows(part, np.empty(0, self.census.dtype), self._row_starts(part), no_entries)

    def rows(self) -> Iterator[Rows]:
        """Chunk after chunk."""
        for part in range(len(self)):
            yield self.load(part)

    def take(self, which: NDArray[np.int64]) -> Rows:
        """Some rows, read one by one."""
        blocks = [self.store[int(i) : int(i) + 1] for i in which]
        X = sp.vstack(blocks, "csr") if self.store.sparse else np.vstack(blocks)
        weights = None if self._weights is None else self._weights[which]
        return rows_of_part(X, self.census, weights, self.n_threads)

    def each(self, step: str, *arguments: Any) -> list[Any]:
        return [self.at(part, step, *arguments) for part in range(len(self))]

    def at(self, part: int, step: str, *arguments: Any) -> Any:
        seeds = self._seed_parts[part]
        seeds.rows = self.hollow(part) if step in LIGHT else self.load(part)
        try:
            return run_step(seeds, step, arguments)
        finally:
            del seeds.rows

    def engine(
        self, n_clusters: int, options: EngineOptions, *, seeded: bool = False
    ) -> "StreamedEngine":
        engine = StreamedEngine(self, n_clusters, options)
        if seeded:
            for part, seeds in enumerate(self._seed_parts):
                engine.parts[part].attach(self.hollow(part))
                engine.parts[part].adopt(self.at(part, "first_pass"))
                seeds.end()
        return engine

    def close(self) -> None:
        pass

    def _rows(
        self,
        part: int,
        values: NDArray[Any],
        starts: NDArray[np.int64] | None = None,
        features: NDArray[np.int32] | None = None,
    ) -> Rows:
        here = slice(*self.starts[part : part + 2])
        return Rows(
            values=values,
            zero=self._zero[here],
            n_features=self.census.n_features,
            weights=None if self._weights is None else self._weights[here],
            weight_scale=self.census.weight_scale,
            one=self.census.one,
            starts=starts,
            features=features,
            by_rank=self.census.by_rank,
            frequent=self.census.frequent,
        )

    def _prepared(self, part: int) -> Rows:
        begin, end = (int(i) for i in self.starts[part : part + 2])
        zero = np.empty(end - begin, np.uint8)  # known already
        if not self.store.sparse:
            file = self.store.mapped("values")
            values = self._buffer("values", self.census.dtype)[
                : (end - begin) * file.array.shape[1]
            ]
            values = values.reshape(end - begin, -1)
            self._fetch_next(part)
            if _core.native.unit_dense(file.array[begin:end], self.n_threads, values, zero) >= 0:
                raise self._damaged("values.npy", begin, end)
            file.done(begin, end)
            return self._rows(part, values)
        starts = self._row_starts(part)
        first, last = self._entries(part)
        size = last - first
        if not self._checked[part] and (
            first < 0 or last > self.store.nnz or np.any(np.diff(starts) < 0)
        ):
            raise self._damaged("indptr.npy", begin, end)
        indices, data = (self.store.mapped(name) for name in ("indices", "data"))
        features = self._buffer("features", np.int32)[:size]
        values = self._buffer("values", self.census.dtype)[:size]
        rank = self.census.rank
        assert rank is not None
        entries = indices.array[first:last], data.array[first:last]
        self._fetch_next(part)
        if not self._checked[part]:
            scratch = np.zeros(self.census.n_features, np.int64)
            found = _core.native.inspect(starts, *entries, scratch)
            if found.bad_index_row >= 0 or found.not_finite_row >= 0 or not found.canonical:
                raise self._damaged("indices.npy or data.npy", begin, end)
            self._checked[part] = True
        _core.native.unit_sparse(starts, *entries, rank, self.n_threads, features, values, zero)
        indices.done(first, last)
        data.done(first, last)
        return self._rows(part, values, starts, features)

    def _fetch_next(self, part: int) -> None:
        """Has the system read the next chunk while this one is worked on."""
        if len(self) == 1:
            return
        following = (part + 1) % len(self)
        if not self.store.sparse:
            begin, end = (int(i) for i in self.starts[following : following + 2])
            self.store.mapped("values").soon(begin, end)
            return
        for name in ("indices", "data"):
            self.store.mapped(name).soon(*self._entries(following))

    def _entries(self, part: int) -> tuple[int, int]:
        indptr = self.store.mapped("indptr").array
        first, last = int(indptr[self.starts[part]]), int(indptr[self.starts[part + 1]])
        return first, last

    def _row_starts(self, part: int) -> NDArray[np.int64]:
        begin, end = (int(i) for i in self.starts[part : part + 2])
        file = self.store.mapped("indptr")
        starts: NDArray[np.int64] = np.array(file.array[begin : end + 1])
        file.done(begin, end)
        starts -= starts[0]
        return starts

    def _zero_rows(self) -> NDArray[np.uint8]:
        """1 where a row has no direction."""
        zero = np.empty(self.store.shape[0], np.uint8)
        for begin, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            if self.store.sparse:
                indptr = self.store.mapped("indptr")
                zero[begin:end] = np.diff(indptr.array[begin : end + 1]) == 0
                indptr.done(int(begin), int(end))
            else:
                values = self.store.mapped("values")
                zero[begin:end] = ~values.array[begin:end].any(axis=1)
                values.done(int(begin), int(end))
        return zero

    def _buffer(self, name: str, dtype: Any) -> NDArray[Any]:
        """Memory for the entries of the largest chunk."""
        return self._buffers[name].view(dtype)

    @cached_property
    def _buffers(self) -> dict[str, NDArray[Any]]:
        if self.store.sparse:
            largest = max(last - first for first, last in map(self._entries, range(len(self))))
            return {
                "features": np.empty(largest, np.int32),
                "values": np.empty(largest, self.census.dtype),
            }
        largest = int(np.diff(self.starts).max()) * self.store.shape[1]
        return {"values": np.empty(largest, self.census.dtype)}

    def _damaged(self, file: str, begin: int, end: int) -> ValueError:
        return ValueError(
            f"path={str(self.store.path)!r} is damaged: {file} does not hold what a row store "
            f"should, between rows {begin} and {end}. Write it again."
        )


class StreamedEngine:
    """The engines of all chunks, one after another."""

    def __init__(self, parts: StreamedParts, n_clusters: int, options: EngineOptions) -> None:
        self.n_clusters = n_clusters
        self.options = options
        self._parts = parts
        self._states = _States(parts.census.n_rows, parts.room)
        self._changes = _core.native.SumChanges(n_clusters)
        shared: Shared = {}
        self.parts = [
            Engine(
                parts.hollow(part),
                n_clusters,
                options,
                first=int(first),
                arrays=self._states.slices(int(first)),
                shared=shared,
            )
            for part, first in enumerate(parts.starts[:-1])
        ]
        for part in self.parts:
            part.detach()

    @property
    def census(self) -> Census:
        return self._parts.census

    @property
    def labels(self) -> NDArray[np.int32]:
        return self._states["labels"]

    @property
    def previous(self) -> NDArray[np.int32]:
        return self._states["previous"]

    def assign(self, centers: _core.native.Centers) -> _core.native.Work:
        work = _core.native.Work()
        for engine in self._loaded():
            work.add(engine.assign(centers))
            self._collect(engine)
        return work

    def fingerprint(self) -> int:
        return wrapped(part.fingerprint() for part in self.parts)

    def sum_changes(self) -> _core.native.SumChanges:
        return self._changes

    def relocate(self, centers: _core.native.Centers) -> int:
        sizes = self.sizes()
        empty = int(np.count_nonzero(sizes == 0))
        if not empty:
            return 0
        offered = [part.candidates(centers, empty + self.n_clusters) for part in self._loaded()]
        rows, labels = chosen(sizes, offered)
        if not len(rows):
            return 0
        self._changes.collect(
            self._parts.take(rows).native(), self.labels[rows], labels, self.options.n_threads, True
        )
        for part in self.parts:
            part.give(rows, labels)
        return len(rows)

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        centers.move(changes, self.options.n_threads)

    def resume(self, labels: NDArray[np.int32]) -> _core.native.SumChanges:
        for engine in self._loaded():
            here = slice(engine.first, engine.first + len(engine.labels))
            engine.labels[:] = labels[here]
            self._collect(engine)
            engine.take_up()
        return self._changes

    def sizes(self) -> NDArray[np.int64]:
        sizes = np.zeros(self.n_clusters, np.int64)
        for number, engine in enumerate(self.parts):
            engine.attach(self._parts.hollow(number))
            sizes += engine.sizes()
            engine.detach()
        return sizes

    def used(self) -> int:
        return int(np.count_nonzero(self.sizes()))

    def close(self) -> None:
        pass

    def _loaded(self) -> Iterator[Engine]:
        """Each chunk's engine with its rows in memory."""
        for number, engine in enumerate(self.parts):
            engine.attach(self._parts.load(number))
            yield engine
            engine.detach()

    def _collect(self, engine: Engine) -> None:
        """Into the changes of all chunks, begun anew by the first."""
        engine.add_changes(self._changes, anew=engine is self.parts[0])


class _States:
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


def wrapped(numbers: Iterator[int]) -> int:
    """The sum of numbers of 64 bits, in 64 bits."""
    total = sum(numbers) % 2**64
    return total - 2**64 if total >= 2**63 else total


def _chunks(store: RowStore, limit: int) -> NDArray[np.int64]:
    """Where chunks begin whose unit rows take no more than the limit, or are one row."""
    n_rows, n_features = store.shape
    if not store.sparse:
        size = max(1, limit // (n_features * store.dtype.itemsize))
        return np.append(np.arange(0, n_rows, size, dtype=np.int64), n_rows)
    indptr = store.mapped("indptr").array
    if indptr[0] != 0 or indptr[-1] != store.nnz:
        raise ValueError(
            f"path={str(store.path)!r} is damaged: indptr.npy does not fit indices.npy. Write it "
            "again."
        )
    entries, rows = max(1, limit // (4 + store.dtype.itemsize)), max(1, limit // 64)
    starts = [0]
    while starts[-1] < n_rows:
        reach = np.searchsorted(indptr, indptr[starts[-1]] + entries, side="right") - 1
        starts.append(min(n_rows, starts[-1] + rows, max(starts[-1] + 1, int(reach))))
    return np.array(starts, np.int64)
