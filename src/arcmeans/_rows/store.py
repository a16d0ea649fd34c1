"""``RowStore``: rows in a folder on disk, written as a stream and mapped into memory on reading.

A store is a folder of plain ``.npy`` files, ``indptr``, ``indices`` and ``data`` for sparse rows or
``values`` for dense ones, with ``frequency`` (the rows with each feature), and a header in JSON.
Rows are stored as they came, in canonical form: features ascending, none twice, no zeros, all
finite. A store is written under another name beside its place and renamed once it is complete.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._support.files import folder_written_whole
from .npy_files import MappedArray
from .store_header import HEADER, Header
from .store_writing import write_batches


class RowStore:
    """Rows on disk, sparse or dense, for data larger than memory.

    ``RowStore.write(path, batches)`` makes one, ``RowStore.open(path)`` opens it. ``fit``,
    ``predict``, ``transform`` and ``score`` of :class:`arcmeans.SphericalKMeans` and
    :func:`arcmeans.seed` take it in the place of X, with the same results bit for bit.

    Attributes
    ----------
    path : pathlib.Path
    shape : (n_rows, n_features)
    dtype : numpy.dtype
        float32 or float64.
    sparse : bool
    nnz : int
        The stored entries; for dense rows, all.

    Examples
    --------
    >>> import tempfile, scipy.sparse as sp
    >>> from arcmeans import RowStore, SphericalKMeans
    >>> batches = (sp.random_array((100, 50), density=0.2, random_state=i) for i in range(3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = RowStore.write(f"{folder}/rows", batches)
    ...     labels = SphericalKMeans(4, random_state=0).fit(store).labels_
    >>> store.shape, labels.shape
    ((300, 50), (300,))
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.shape = (header.n_rows, header.n_features)
        self.dtype = np.dtype(header.dtype)
        self.sparse = header.kind == "sparse"
        self.nnz = header.n_entries
        self._files = {
            name: MappedArray(path / f"{name}.npy", dtype, shape)
            for name, (dtype, shape) in header.arrays().items()
        }

    @classmethod
    def write(cls, path: str | os.PathLike[str], batches: Iterable[Any]) -> "RowStore":
        """Write blocks of rows, one after another, and open the store.

        Parameters
        ----------
        path : path
            The folder to make. It should not exist.
        batches : iterable of {array-like, sparse matrix or array}
            Blocks with the same number of features, all sparse or all dense, all of one dtype:
            float32 and float64 are kept, float16 becomes float32, other numbers float64. Only one
            is looked at at a time. Blocks without rows are left out.

        Returns
        -------
        RowStore
            If anything fails, there is no store.
        """
        place = Path(path)
        if place.exists() or place.is_symlink():
            raise FileExistsError(
                f"path={os.fspath(path)!r} exists already; remove it or name another."
            )
        if not place.absolute().parent.is_dir():
            raise FileNotFoundError(
                f"path={os.fspath(path)!r} should lie in a folder that exists; "
                f"{os.fspath(place.parent)!r} does not."
            )
        with folder_written_whole(place) as folder:
            header = write_batches(folder, batches)
            (folder / HEADER).write_text(header.to_json(), "utf-8")
        return cls.open(place)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "RowStore":
        """Open a store. Nothing is read yet but the header; the sizes of the files are checked."""
        place = Path(path)
        if not place.is_dir():
            found = "is no folder" if place.exists() else "does not exist"
            raise FileNotFoundError(f"path={os.fspath(path)!r} {found}; a row store is a folder.")
        try:
            text = (place / HEADER).read_text("utf-8")
        except FileNotFoundError:
            raise ValueError(
                f"path={os.fspath(path)!r} is not a row store: it has no {HEADER}."
            ) from None
        try:
            header = Header.from_json(text)
            return cls(place, header)
        except (ValueError, TypeError, KeyError, OSError) as error:
            raise ValueError(
                f"path={os.fspath(path)!r} is damaged or no row store of this version of arcmeans "
                f"({error}). Write it again."
            ) from error

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Any:
        """A slice of the rows: a CSR array or a dense array, mapped and read-only."""
        if not isinstance(rows, slice):
            raise TypeError(f"rows={rows!r} should be a slice, as in store[10:20].")
        begin, end, step = rows.indices(self.shape[0])
        if step != 1:
            raise ValueError(f"step={step} of the slice should be 1.")
        end = max(begin, end)
        if not self.sparse:
            return self._array("values")[begin:end]
        starts = np.array(self._array("indptr")[begin : end + 1])
        at = slice(int(starts[0]), int(starts[-1]))
        parts = (self._array("data")[at], self._array("indices")[at], starts - starts[0])
        return sp.csr_array(parts, shape=(end - begin, self.shape[1]))

    def mapped(self, name: str) -> MappedArray:
        """The array of one of the files."""
        return self._files[name]

    def _array(self, name: str) -> NDArray[Any]:
        return self._files[name].array

    def __repr__(self) -> str:
        kind = f"{self.nnz:,} entries" if self.sparse else "dense"
        return (
            f"RowStore({os.fspath(self.path)!r}: {self.shape[0]:,} x {self.shape[1]:,}, {kind}, "
            f"{self.dtype})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path.absolute()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(RowStore.open(state["path"]).__dict__)
