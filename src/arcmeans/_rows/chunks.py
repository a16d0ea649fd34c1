"""``Chunks``: the rows of a store, as many at a time as are to be in memory.

The unit rows of one chunk are in memory at a time, in buffers that all chunks share; the system
fetches the next chunk meanwhile. A store that fits into one chunk is made ready once.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .census import Census, Summary, census_of
from .containers import checked_weights
from .rows import Rows
from .store import RowStore
from .unit_rows import rows_of_part

DEFAULT_LIMIT = 2**30
LARGEST_CHUNK = 2**28
"""Bytes of unit rows: more at a time is no faster."""


class Chunks:
    """The rows of a store, in chunks."""

    def __init__(
        self,
        store: RowStore,
        sample_weight: ArrayLike | None,
        n_threads: int,
        memory_limit: float | None = None,
    ) -> None:
        """A quarter of the limit is for a chunk of rows, the rest is ``room``."""
        self.store = store
        self.n_threads = n_threads
        limit = DEFAULT_LIMIT if memory_limit is None else int(memory_limit)
        self.starts = _starts_of_chunks(store, min(limit // 4, LARGEST_CHUNK))
        self.room = limit - limit // 4
        self._checked = np.zeros(len(self.starts) - 1, bool)
        self._loaded: tuple[int, Rows] | None = None
        weights = checked_weights(sample_weight, store.shape[0])
        self._zero = self._zero_rows()
        counted = self._zero == 0
        if weights is not None:
            weights = np.where(counted, weights, 0.0)
        frequency = store.mapped("frequency").array if store.sparse else None
        summary = Summary.of(~counted, weights, store.shape[1], store.dtype, frequency)
        self.census: Census = census_of([summary])
        self._weights: NDArray[np.float64] | None = None
        if weights is not None and self.census.weighted:
            self._weights = weights * self.census.weight_scale

    def __len__(self) -> int:
        return len(self.starts) - 1

    def load(self, chunk: int) -> Rows:
        """The unit rows of a chunk, until the next one is loaded."""
        if self._loaded is None or self._loaded[0] != chunk:
            self._loaded = None
            self._loaded = chunk, self._prepared(chunk)
        return self._loaded[1]

    def hollow(self, chunk: int) -> Rows:
        """A chunk without its entries: for what asks only for zero rows and weights."""
        if self._loaded is not None and self._loaded[0] == chunk:
            return self._loaded[1]
        if not self.store.sparse:
            n_rows = int(self.starts[chunk + 1] - self.starts[chunk])
            return self._rows(chunk, np.empty((n_rows, 1), self.census.dtype))
        no_entries = np.empty(0, np.int32)
        values = np.empty(0, self.census.dtype)
        return self._rows(chunk, values, self._row_starts(chunk), no_entries)

    def pieces(self) -> Iterator[tuple[slice, Rows]]:
        """Chunk after chunk, and which of all rows they are."""
        for chunk, (begin, end) in enumerate(pairwise(self.starts.tolist())):
            yield slice(begin, end), self.load(chunk)

    def take(self, which: NDArray[np.int64]) -> Rows:
        """Some rows, read one by one."""
        blocks = [self.store[int(i) : int(i) + 1] for i in which]
        X = sp.vstack(blocks, "csr") if self.store.sparse else np.vstack(blocks)
        weights = None if self._weights is None else self._weights[which]
        return rows_of_part(X, self.census, weights, self.n_threads)

    def _rows(
        self,
        chunk: int,
        values: NDArray[Any],
        starts: NDArray[np.int64] | None = None,
        features: NDArray[np.int32] | None = None,
    ) -> Rows:
        here = slice(*self._ends(chunk))
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

    def _prepared(self, chunk: int) -> Rows:
        """The unit rows of a chunk, in the buffers."""
        return self._sparse(chunk) if self.store.sparse else self._dense(chunk)

    def _dense(self, chunk: int) -> Rows:
        begin, end = self._ends(chunk)
        file = self.store.mapped("values")
        values = self._buffer("values", self.census.dtype)[: (end - begin) * file.array.shape[1]]
        values = values.reshape(end - begin, -1)
        self._fetch_next(chunk)
        zero = np.empty(end - begin, np.uint8)  # known already
        if _core.native.unit_dense(file.array[begin:end], self.n_threads, values, zero) >= 0:
            raise self._damaged("values.npy", begin, end)
        file.done(begin, end)
        return self._rows(chunk, values)

    def _sparse(self, chunk: int) -> Rows:
        begin, end = self._ends(chunk)
        starts = self._row_starts(chunk)
        first, last = self._entries(chunk)
        if not self._checked[chunk] and (
            first < 0 or last > self.store.nnz or np.any(np.diff(starts) < 0)
        ):
            raise self._damaged("indptr.npy", begin, end)
        indices, data = (self.store.mapped(name) for name in ("indices", "data"))
        features = self._buffer("features", np.int32)[: last - first]
        values = self._buffer("values", self.census.dtype)[: last - first]
        rank = self.census.rank
        assert rank is not None
        entries = indices.array[first:last], data.array[first:last]
        self._fetch_next(chunk)
        if not self._checked[chunk]:
            scratch = np.zeros(self.census.n_features, np.int64)
            found = _core.native.inspect(starts, *entries, scratch)
            if found.bad_index_row >= 0 or found.not_finite_row >= 0 or not found.canonical:
                raise self._damaged("indices.npy or data.npy", begin, end)
            self._checked[chunk] = True
        zero = np.empty(end - begin, np.uint8)  # known already
        _core.native.unit_sparse(
            starts,
            *entries,
            rank,
            n_threads=self.n_threads,
            features=features,
            unit=values,
            zero=zero,
        )
        indices.done(first, last)
        data.done(first, last)
        return self._rows(chunk, values, starts, features)

    def _fetch_next(self, chunk: int) -> None:
        """Has the system read the next chunk while this one is worked on."""
        if len(self) == 1:
            return
        following = (chunk + 1) % len(self)
        if not self.store.sparse:
            begin, end = self._ends(following)
            self.store.mapped("values").soon(begin, end)
            return
        for name in ("indices", "data"):
            self.store.mapped(name).soon(*self._entries(following))

    def _ends(self, chunk: int) -> tuple[int, int]:
        """The number of the first row of a chunk and of the one after its last."""
        return int(self.starts[chunk]), int(self.starts[chunk + 1])

    def _entries(self, chunk: int) -> tuple[int, int]:
        indptr = self.store.mapped("indptr").array
        first, last = int(indptr[self.starts[chunk]]), int(indptr[self.starts[chunk + 1]])
        return first, last

    def _row_starts(self, chunk: int) -> NDArray[np.int64]:
        begin, end = self._ends(chunk)
        file = self.store.mapped("indptr")
        starts: NDArray[np.int64] = np.array(file.array[begin : end + 1])
        file.done(begin, end)
        starts -= starts[0]
        return starts

    def _zero_rows(self) -> NDArray[np.uint8]:
        """1 where a row has no direction."""
        zero = np.empty(self.store.shape[0], np.uint8)
        for begin, end in map(self._ends, range(len(self))):
            if self.store.sparse:
                indptr = self.store.mapped("indptr")
                zero[begin:end] = np.diff(indptr.array[begin : end + 1]) == 0
                indptr.done(begin, end)
            else:
                values = self.store.mapped("values")
                zero[begin:end] = ~values.array[begin:end].any(axis=1)
                values.done(begin, end)
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


def _starts_of_chunks(store: RowStore, limit: int) -> NDArray[np.int64]:
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
