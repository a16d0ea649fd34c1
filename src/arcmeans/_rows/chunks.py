"""``Chunks``: the rows of a store as unit rows, one chunk in memory at a time.

``DiskPlace`` and ``DiskEngine`` read rows through it. A chunk is named by its number. All chunks
share one set of buffers: the rows that ``load`` returns are overwritten when another chunk is
loaded. Meanwhile the system fetches the next chunk. The files of a store may be damaged, so all
that the core relies on is checked the first time a chunk is loaded.
"""

from collections.abc import Iterator
from functools import cached_property
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
"""The ``memory_limit`` where none is given."""
LARGEST_CHUNK = 2**28
"""Bytes of unit rows in a chunk: more at a time is no faster."""


class Chunks:
    """The rows of a store, in chunks."""

    def __init__(
        self,
        store: RowStore,
        sample_weight: ArrayLike | None,
        n_threads: int,
        memory_limit: float | None = None,
    ) -> None:
        """A quarter of ``memory_limit``, in bytes, is for a chunk; the rest is ``state_limit``."""
        self.store = store
        self.n_threads = n_threads
        limit = DEFAULT_LIMIT if memory_limit is None else int(memory_limit)
        self.starts = _starts_of_chunks(store, min(limit // 4, LARGEST_CHUNK))
        """The number of the first row of each chunk, and at the end the number of all rows."""
        self.state_limit = limit - limit // 4
        """The bytes of row states that an engine may keep in memory."""
        self._checked = np.zeros(len(self.starts) - 1, bool)
        """Which chunks of a sparse store have been checked for damage."""
        self._loaded: tuple[int, Rows] | None = None
        """The number of the chunk in the buffers, and its unit rows."""
        weights = checked_weights(sample_weight, store.shape[0])
        self._zero = self._zero_rows()
        """1 where a row has no direction."""
        directed = self._zero == 0
        if weights is not None:
            weights = np.where(directed, weights, 0.0)
        frequency = store.mapped("frequency").array if store.sparse else None
        summary = Summary.of(~directed, weights, store.shape[1], store.dtype, frequency)
        self.census: Census = census_of([summary])
        self._weights: NDArray[np.float64] | None = None
        if weights is not None and self.census.weighted:
            self._weights = weights * self.census.weight_scale

    def __len__(self) -> int:
        return len(self.starts) - 1

    def load(self, number: int) -> Rows:
        """The unit rows of a chunk, until another chunk is loaded."""
        if self._loaded is None or self._loaded[0] != number:
            self._loaded = None
            rows = self._sparse(number) if self.store.sparse else self._dense(number)
            self._loaded = number, rows
        return self._loaded[1]

    def without_entries(self, number: int) -> Rows:
        """A chunk for what asks only which rows are zero, and for weights. It reads no entries."""
        if self._loaded is not None and self._loaded[0] == number:
            return self._loaded[1]
        if self.store.sparse:
            starts, no_features = self._row_starts(number), np.empty(0, np.int32)
            return self._rows(number, np.empty(0, self.census.dtype), starts, no_features)
        begin, end = self._row_range(number)
        return self._rows(number, np.empty((end - begin, 1), self.census.dtype))

    def pieces(self) -> Iterator[tuple[slice, Rows]]:
        """The chunks in order, each after the range of its row numbers."""
        for number in range(len(self)):
            yield slice(*self._row_range(number)), self.load(number)

    def take(self, which: NDArray[np.int64]) -> Rows:
        """Some rows by their numbers, read one by one into memory of their own."""
        blocks = [self.store[int(i) : int(i) + 1] for i in which]
        X = sp.vstack(blocks, "csr") if self.store.sparse else np.vstack(blocks)
        weights = None if self._weights is None else self._weights[which]
        return rows_of_part(X, self.census, weights, self.n_threads)

    def _rows(
        self,
        number: int,
        values: NDArray[Any],
        starts: NDArray[np.int64] | None = None,
        features: NDArray[np.int32] | None = None,
    ) -> Rows:
        """The rows of a chunk with these entries."""
        here = slice(*self._row_range(number))
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

    def _dense(self, number: int) -> Rows:
        """The unit rows of a dense chunk, in the buffers."""
        begin, end = self._row_range(number)
        file = self.store.mapped("values")
        width = file.array.shape[1]
        values = self._buffers["values"][: (end - begin) * width].reshape(end - begin, width)
        self._fetch_next(number)
        zero = np.empty(end - begin, np.uint8)  # the core writes what ``self._zero`` has already
        if _core.native.unit_dense(file.array[begin:end], self.n_threads, values, zero) >= 0:
            raise self._damaged("values.npy", begin, end)
        file.have_read(begin, end)
        return self._rows(number, values)

    def _sparse(self, number: int) -> Rows:
        """The unit rows of a sparse chunk, in the buffers."""
        begin, end = self._row_range(number)
        first, last = self._entry_range(number)
        starts = self._row_starts(number)
        if not self._checked[number] and (
            first < 0 or last > self.store.nnz or np.any(np.diff(starts) < 0)
        ):
            raise self._damaged("indptr.npy", begin, end)
        indices, data = (self.store.mapped(name) for name in ("indices", "data"))
        entries = indices.array[first:last], data.array[first:last]
        self._fetch_next(number)
        if not self._checked[number]:
            frequency = np.zeros(self.census.n_features, np.int64)  # counted, and not used here
            found = _core.native.inspect(starts, *entries, frequency)
            if found.bad_index_row >= 0 or found.not_finite_row >= 0 or not found.canonical:
                raise self._damaged("indices.npy or data.npy", begin, end)
            self._checked[number] = True
        features = self._buffers["features"][: last - first]
        values = self._buffers["values"][: last - first]
        rank = self.census.rank
        assert rank is not None
        _core.native.unit_sparse(
            starts,
            *entries,
            rank,
            n_threads=self.n_threads,
            features=features,
            unit=values,
            zero=np.empty(end - begin, np.uint8),  # written with what ``self._zero`` has already
        )
        indices.have_read(first, last)
        data.have_read(first, last)
        return self._rows(number, values, starts, features)

    def _fetch_next(self, number: int) -> None:
        """Has the system read the chunk after this one, in a circle, while this one is used."""
        if len(self) == 1:
            return
        following = (number + 1) % len(self)
        if self.store.sparse:
            for name in ("indices", "data"):
                self.store.mapped(name).will_read(*self._entry_range(following))
        else:
            self.store.mapped("values").will_read(*self._row_range(following))

    def _row_range(self, number: int) -> tuple[int, int]:
        """The number of the first row of a chunk, and of the row after its last."""
        return int(self.starts[number]), int(self.starts[number + 1])

    def _entry_range(self, number: int) -> tuple[int, int]:
        """The number of the first stored entry of a sparse chunk, and of that after its last."""
        indptr = self.store.mapped("indptr").array
        return int(indptr[self.starts[number]]), int(indptr[self.starts[number + 1]])

    def _row_starts(self, number: int) -> NDArray[np.int64]:
        """Where each row of a sparse chunk begins among the entries of the chunk, and the end."""
        begin, end = self._row_range(number)
        file = self.store.mapped("indptr")
        starts: NDArray[np.int64] = np.array(file.array[begin : end + 1])
        file.have_read(begin, end)
        starts -= starts[0]
        return starts

    def _zero_rows(self) -> NDArray[np.uint8]:
        """Reads all rows once, without checking them."""
        zero = np.empty(self.store.shape[0], np.uint8)
        for begin, end in map(self._row_range, range(len(self))):
            if self.store.sparse:
                indptr = self.store.mapped("indptr")
                zero[begin:end] = np.diff(indptr.array[begin : end + 1]) == 0
                indptr.have_read(begin, end)
            else:
                values = self.store.mapped("values")
                zero[begin:end] = ~values.array[begin:end].any(axis=1)
                values.have_read(begin, end)
        return zero

    @cached_property
    def _buffers(self) -> dict[str, NDArray[Any]]:
        """Memory for the entries of the largest chunk."""
        if not self.store.sparse:
            largest = int(np.diff(self.starts).max()) * self.store.shape[1]
            return {"values": np.empty(largest, self.census.dtype)}
        ranges = map(self._entry_range, range(len(self)))
        largest = max(last - first for first, last in ranges)
        features = np.empty(largest, np.int32)
        return {"features": features, "values": np.empty(largest, self.census.dtype)}

    def _damaged(self, file: str, begin: int, end: int) -> ValueError:
        return ValueError(
            f"path={str(self.store.path)!r} is damaged: {file} does not hold what a row store "
            f"should, between rows {begin} and {end}. Write it again."
        )


def _starts_of_chunks(store: RowStore, limit: int) -> NDArray[np.int64]:
    """Where chunks begin, each with at most ``limit`` bytes of unit rows, or of a single row."""
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
        first = starts[-1]
        fitting = int(np.searchsorted(indptr, indptr[first] + entries, side="right")) - 1
        starts.append(min(n_rows, first + rows, max(first + 1, fitting)))
    return np.array(starts, np.int64)
