"""``RowStore``: rows in a folder on disk, written as a stream and mapped into memory on reading.

A store is a folder of plain ``.npy`` files, ``indptr``, ``indices`` and ``data`` for sparse rows or
``values`` for dense ones, with ``frequency`` (the rows with each feature), and a header in JSON.
Rows are stored as they came, in canonical form: features ascending, none twice, no zeros, all
finite. A store is written under another name beside its place and renamed once it is complete.
"""

import json
import math
import mmap
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy
from numpy.typing import NDArray
from sklearn.utils import check_array

from .._support.files import folder_written_whole
from .containers import as_native, check_unmasked
from .unit_rows import MAX_FEATURES, canonical

HEADER = "arcmeans-rows.json"
FORMAT = 1
"""Of the folder. One of another format is refused."""
_SPACE = 128  # bytes for the header of a .npy file, rewritten when its length is known


@dataclass(frozen=True)
class _Header:
    format: int
    kind: str
    """``sparse`` or ``dense``."""
    dtype: str
    n_rows: int
    n_features: int
    n_entries: int
    """Stored entries; for dense rows, all."""

    def arrays(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """The dtype and shape of each file."""
        if self.kind == "dense":
            return {"values": (self.dtype, (self.n_rows, self.n_features))}
        return {
            "indptr": ("int64", (self.n_rows + 1,)),
            "indices": ("int32", (self.n_entries,)),
            "data": (self.dtype, (self.n_entries,)),
            "frequency": ("int64", (self.n_features,)),
        }


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

    def __init__(self, path: Path, header: _Header) -> None:
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
            header = _write_all(folder, batches)
            (folder / HEADER).write_text(json.dumps(asdict(header), indent=2) + "\n", "utf-8")
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
            header = _read_header(text)
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

    def mapped(self, name: str) -> "MappedArray":
        """One of the files."""
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


class MappedArray:
    """An array in a ``.npy`` file, mapped into memory, with a say in what stays there."""

    def __init__(self, path: Path, dtype: str, shape: tuple[int, ...]) -> None:
        with path.open("rb") as file:
            if npy.read_magic(file) != (1, 0):
                raise ValueError(f"{path.name} is of another version of the .npy format")
            found, fortran, stored = npy.read_array_header_1_0(file)
            if (found, fortran, stored) != (shape, False, np.dtype(dtype)):
                raise ValueError(
                    f"{path.name} holds {stored} of shape {found}, not {dtype} of shape {shape}"
                )
            self._begin = file.tell()
            size = math.prod(shape) * stored.itemsize
            there = path.stat().st_size - self._begin
            if there != size:
                raise ValueError(f"{path.name} has {there} bytes of data, not {size}")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        flat = np.frombuffer(self._map, stored, math.prod(shape), self._begin)
        self.array: NDArray[Any] = flat.reshape(shape)

    def soon(self, begin: int, end: int) -> None:
        """Elements that will be read next: the system may fetch them meanwhile."""
        self._advise("MADV_WILLNEED", begin, end)

    def done(self, begin: int, end: int) -> None:
        """Elements that are not needed for now: they leave the memory of this process, and stay
        in the page cache while the system has room."""
        self._advise("MADV_DONTNEED", begin, end)

    def _advise(self, advice: str, begin: int, end: int) -> None:
        option = getattr(mmap, advice, None)
        width = self.array.itemsize * math.prod(self.array.shape[1:])
        first = (self._begin + begin * width) // mmap.PAGESIZE * mmap.PAGESIZE
        length = self._begin + end * width - first
        if option is not None and length > 0:
            self._map.madvise(option, first, length)


class _Column:
    """An array in a ``.npy`` file that grows."""

    def __init__(self, folder: Path, name: str, dtype: Any, width: int | None = None) -> None:
        self._file: IO[bytes] = (folder / f"{name}.npy").open("wb")
        self._file.write(bytes(_SPACE))
        self._dtype, self._width = np.dtype(dtype), width
        self.length = 0

    def append(self, array: NDArray[Any]) -> None:
        np.ascontiguousarray(array, self._dtype).tofile(self._file)
        self.length += len(array)

    def close(self) -> None:
        shape = (self.length,) if self._width is None else (self.length, self._width)
        fields = {"descr": self._dtype.str, "fortran_order": False, "shape": shape}
        text = repr(fields).encode("latin1")
        text += b" " * (_SPACE - 11 - len(text)) + b"\n"
        self._file.seek(0)
        self._file.write(npy.magic(1, 0) + len(text).to_bytes(2, "little") + text)
        self._file.close()


def _write_all(folder: Path, batches: Iterable[Any]) -> _Header:
    """All batches into the columns of a folder."""
    if sp.issparse(batches) or isinstance(batches, np.ndarray):
        raise TypeError(
            f"batches is a single {type(batches).__name__}; it should be an iterable of blocks of "
            "rows. For one block: [X]."
        )
    columns: dict[str, _Column] = {}
    kind, dtype, n_features, n_rows, n_entries = "", np.dtype(float), 0, 0, 0
    frequency = np.empty(0, np.int64)
    try:
        for number, given in enumerate(batches):
            name = f"batch {number}"
            block = _checked(given, name)
            if block.shape[0] == 0:
                continue
            if not columns:
                kind, dtype = "sparse" if sp.issparse(block) else "dense", block.dtype
                n_features = block.shape[1]
                frequency = np.zeros(n_features, np.int64)
                columns = _columns(folder, kind, dtype, n_features)
            _check_alike(block, name, kind, dtype, n_features)
            if kind == "sparse":
                n_entries += _append_sparse(columns, block, name, n_rows, n_entries, frequency)
            else:
                _append_dense(columns, block, name, n_rows)
                n_entries += block.size
            n_rows += block.shape[0]
        if not columns:
            raise ValueError("batches has no rows; a row store needs at least one.")
        if kind == "sparse":
            columns["frequency"].append(frequency)
    finally:
        for column in columns.values():
            column.close()
    return _Header(FORMAT, kind, dtype.name, n_rows, n_features, n_entries)


def _columns(folder: Path, kind: str, dtype: Any, n_features: int) -> dict[str, _Column]:
    if kind == "dense":
        return {"values": _Column(folder, "values", dtype, n_features)}
    types = {"indptr": np.int64, "indices": np.int32, "data": dtype, "frequency": np.int64}
    columns = {name: _Column(folder, name, each) for name, each in types.items()}
    columns["indptr"].append(np.zeros(1, np.int64))
    return columns


def _checked(given: Any, name: str) -> Any:
    check_unmasked(name, given)
    given, dtype = as_native(given)
    return check_array(
        given,
        accept_sparse="csr",
        dtype=dtype,
        order="C",
        ensure_all_finite=False,
        ensure_min_samples=0,
        input_name=name,
    )


def _check_alike(block: Any, name: str, kind: str, dtype: Any, n_features: int) -> None:
    found = "sparse" if sp.issparse(block) else "dense"
    if found != kind:
        raise ValueError(f"{name} is {found}, but those before it are {kind}.")
    if block.shape[1] != n_features:
        raise ValueError(
            f"{name} has {block.shape[1]} features, but those before it have {n_features}."
        )
    if block.dtype != dtype:
        raise ValueError(f"{name} has dtype {block.dtype}, but those before it have {dtype}.")
    if n_features > MAX_FEATURES:
        raise ValueError(f"{name} has {n_features} features; the limit is {MAX_FEATURES}.")


def _append_sparse(
    columns: dict[str, _Column],
    block: Any,
    name: str,
    n_rows: int,
    n_entries: int,
    frequency: NDArray[np.int64],
) -> int:
    found, inspection, counts = canonical(block, False, name)
    if inspection.not_finite_row >= 0:
        _raise_not_finite(name, inspection.not_finite_row, n_rows)
    frequency += counts
    columns["indptr"].append(found.starts[1:] + n_entries)
    columns["indices"].append(found.indices)
    columns["data"].append(found.data)
    return len(found.data)


def _append_dense(columns: dict[str, _Column], block: Any, name: str, n_rows: int) -> None:
    finite = np.isfinite(block).all(axis=1)
    if not finite.all():
        _raise_not_finite(name, int(np.argmin(finite)), n_rows)
    columns["values"].append(block)


def _raise_not_finite(name: str, row: int, n_rows: int) -> None:
    raise ValueError(
        f"{name} contains NaN or infinity (first in its row {row}, row {n_rows + row} of the "
        "store); every value must be finite."
    )


def _read_header(text: str) -> _Header:
    fields = json.loads(text)
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise ValueError(f"{HEADER} is not of format {FORMAT}")
    header = _Header(**fields)
    if header.kind not in ("sparse", "dense") or header.dtype not in ("float32", "float64"):
        raise ValueError(f"{HEADER} names kind {header.kind!r} and dtype {header.dtype!r}")
    for name in ("n_rows", "n_features", "n_entries"):
        number = getattr(header, name)
        if type(number) is not int or number < 0 or header.n_rows < 1 or header.n_features < 1:
            raise ValueError(f"{HEADER} has {name}={number!r}")
    return header
