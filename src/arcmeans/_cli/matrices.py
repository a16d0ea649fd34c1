"""Matrices from files: whole for a fit, or some rows at a time so that any length will do.

``.npy`` is mapped, ``.npz`` in CSR format and ``.svm`` are read front to back. A ``.mtx`` and the
other sparse formats in ``.npz`` do not have their rows one after another: these are held whole.
Files are data: whatever holds pickled Python objects, which may run code when read, is refused.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.lib import format as npy
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from .._rows.blocks import first_not_finite
from .._rows.matrix_market import read_matrix_market
from .._rows.store import RowStore
from .console import Console, UserError
from .decoding import opened
from .source_rows import SourceRows

PICKLED = "holds pickled Python objects, which could run code when read: refused"
PART = 4096
"""Rows looked at together."""
DAMAGED = (ValueError, EOFError, KeyError, struct.error, zipfile.BadZipFile, zlib.error)


@dataclass
class MatrixSource:
    """A matrix in a file. Its facts are known without reading it all, where the format allows."""

    name: str
    whole: Callable[[], Any]
    """The matrix, dense or sparse."""
    parts: Callable[[int], Iterator[Any]]
    """The matrix, as many rows at a time as the argument says."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the file says of itself."""
    rows: int | None = None
    store: RowStore | None = None

    @property
    def matrix(self) -> "MatrixSource":
        return self

    def read_all(
        self, console: Console, new_vectorizer: Callable[[], Any], pruning: Any
    ) -> SourceRows:
        console.say(f"reading {self.name}")
        X = as_floats(self.whole(), self.name)
        first = self.facts.get("features counted from")
        from_zero = None if first is None else first == 0
        return SourceRows(X, None, None, "rows", None, from_zero, self.store)

    def read_parts(
        self, console: Console, vectorizer: Any, size: int
    ) -> Iterator[tuple[list[str] | None, Any]]:
        with console.stage(f"reading {self.name}", "rows", self.rows) as stage:
            done = 0
            for X in self.parts(size):
                yield None, as_floats(X, self.name, done)
                done += X.shape[0]
                stage.reach(done)


def row_store(path: Path) -> MatrixSource:
    """A folder that ``RowStore.write`` made."""
    try:
        store = RowStore.open(path)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None

    def parts(size: int) -> Iterator[Any]:
        return (store[i : i + size] for i in range(0, len(store), size))

    kind = "sparse" if store.sparse else "dense"
    facts = {"format": f"row store, {kind}", "dtype": str(store.dtype)}
    whole = lambda: store[:]  # noqa: E731
    return MatrixSource(str(path), whole, parts, facts, len(store), store)


def npy_file(path: Path) -> MatrixSource:
    with _readable(path):
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
        _check_matrix(path, matrix.shape, matrix.dtype)

    def parts(size: int) -> Iterator[Any]:
        return (matrix[i : i + size] for i in range(0, len(matrix), size))

    facts = {"format": "npy, dense", "dtype": str(matrix.dtype)}
    return MatrixSource(str(path), lambda: matrix, parts, facts, len(matrix))


def npz_file(path: Path) -> MatrixSource:
    with _readable(path), zipfile.ZipFile(path) as file:
        names = [name.removesuffix(".npy") for name in file.namelist()]
    if "format" not in names:
        return _dense_npz(path, names)
    with _readable(path), np.load(path, allow_pickle=False) as stored:
        kind = stored["format"].item()
        kind = kind.decode() if isinstance(kind, bytes) else str(kind)
        shape = tuple(int(n) for n in stored["shape"])
    with _readable(path), _members(path, ("data",)) as (data,):
        _check_matrix(path, shape, data.dtype)
        facts = {"format": f"npz, sparse {kind}", "dtype": str(data.dtype)}

    def whole() -> Any:
        with _readable(path):
            return sp.load_npz(path)

    parts = _csr_parts(path, shape) if kind == "csr" else _of_whole(whole)
    return MatrixSource(str(path), whole, parts, facts, shape[0])


def svm_file(path: Path, n_features: int | None, zero_based: bool | None) -> MatrixSource:
    """``zero_based``: whether features are counted from 0; None: if a feature 0 occurs."""
    with _readable(path):
        from_zero = _has_feature_0(path) if zero_based is None else zero_based

    def read(file: BinaryIO) -> Any:
        X, _ = load_svmlight_file(file, n_features=n_features, zero_based=from_zero)
        return X

    def whole() -> Any:
        with _readable(path), opened(path) as file:
            return read(file)

    def parts(size: int) -> Iterator[Any]:
        assert n_features is not None  # a part does not tell how many there are
        with _readable(path), opened(path) as file:
            for lines in _line_groups(file, size):
                yield read(io.BytesIO(b"".join(lines)))

    facts = {"format": "svmlight, sparse", "features counted from": 0 if from_zero else 1}
    return MatrixSource(str(path), whole, parts, facts)


def mtx_file(path: Path) -> MatrixSource:
    with _readable(path):
        rows, _, _, form, kind, _ = scipy.io.mminfo(str(path))
        if kind == "complex":
            raise UserError(f"{path}: holds complex numbers; a matrix of real ones is needed.")

    def whole() -> Any:
        with _readable(path):
            matrix = read_matrix_market(path)
            return sp.csr_array(matrix) if sp.issparse(matrix) else matrix

    facts = {"format": f"Matrix Market, {form} {kind}"}
    return MatrixSource(str(path), whole, _of_whole(whole), facts, int(rows))


def as_floats(X: Any, name: str, first: int = 0) -> Any:
    """Rows from ``first`` on, checked to be finite; integers as float64, as the library has it."""
    if X.dtype.kind != "f":
        return X.astype(np.float64)
    X = sp.csr_array(X) if sp.issparse(X) else X
    for i in range(0, X.shape[0], PART):
        part = X[i : i + PART]
        row = first_not_finite(part)
        if row >= 0:
            raise UserError(
                f"{name}: contains NaN or infinity, first in row {first + i + row} (from 0); "
                "every value must be finite."
            )
    return X


# --- Matrices read some rows at a time.


def _of_whole(whole: Callable[[], Any]) -> Callable[[int], Iterator[Any]]:
    def parts(size: int) -> Iterator[Any]:
        X = whole()
        X = sp.csr_array(X) if sp.issparse(X) else X
        return (X[i : i + size] for i in range(0, X.shape[0], size))

    return parts


def _csr_parts(path: Path, shape: tuple[int, ...]) -> Callable[[int], Iterator[Any]]:
    """The three arrays of the file are read side by side."""

    def parts(size: int) -> Iterator[Any]:
        with _readable(path), _members(path, ("indptr", "indices", "data")) as members:
            starts, indices, data = members
            if starts.length != shape[0] + 1 or data.length != indices.length:
                raise ValueError("arrays of lengths that do not belong together")
            at = starts.next(1)
            for i in range(0, shape[0], size):
                rows = min(size, shape[0] - i)
                ends = np.concatenate([at[-1:], starts.next(rows)]).astype(np.int64)
                if np.any(np.diff(ends) < 0):
                    raise ValueError("an indptr that does not ascend")
                entries, at = int(ends[-1] - ends[0]), ends
                columns, values = indices.next(entries), data.next(entries)
                if entries and not 0 <= columns.min() <= columns.max() < shape[1]:
                    raise ValueError(f"a column outside [0, {shape[1]})")
                yield sp.csr_array((values, columns, ends - ends[0]), shape=(rows, shape[1]))

    return parts


@dataclass
class _Member:
    """An array of a ``.npz``, read from its beginning on."""

    file: Any
    dtype: np.dtype[Any]
    length: int
    left: int

    def next(self, count: int) -> NDArray[Any]:
        if not 0 <= count <= self.left:
            raise ValueError(f"{count} more values wanted, but there are {self.left}")
        self.left -= count
        raw = self.file.read(count * self.dtype.itemsize)
        if len(raw) < count * self.dtype.itemsize:
            raise EOFError("an array is cut off")
        return np.frombuffer(raw, self.dtype)


@contextmanager
def _members(path: Path, names: tuple[str, ...]) -> Iterator[list[_Member]]:
    with ExitStack() as stack:
        archive = stack.enter_context(zipfile.ZipFile(path))
        members = []
        for name in names:
            file = stack.enter_context(archive.open(f"{name}.npy"))
            version = npy.read_magic(file)
            header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, dtype = header(file)
            if dtype.hasobject:
                raise UserError(f"{path}: {PICKLED}.")
            length = int(np.prod(shape, dtype=np.int64))
            members.append(_Member(file, dtype, length, length))
        yield members


def _line_groups(file: BinaryIO, size: int) -> Iterator[list[bytes]]:
    """The lines that hold a row, ``size`` at a time: all but comments and blank lines."""
    group: list[bytes] = []
    for line in file:
        if line.split(b"#", 1)[0].strip():
            group.append(line)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


# --- Checks.


def _dense_npz(path: Path, names: list[str]) -> MatrixSource:
    if len(names) != 1:
        listed = ", ".join(repr(name) for name in names[:20]) or "none"
        raise UserError(
            f"{path}: neither a sparse matrix as scipy.sparse.save_npz writes it nor a single "
            f"array; the arrays in it: {listed}."
        )
    with _readable(path), _members(path, (names[0],)) as (member,):
        dtype = member.dtype

    def whole() -> Any:
        with _readable(path), np.load(path, allow_pickle=False) as stored:
            matrix = stored[names[0]]
        _check_matrix(path, matrix.shape, matrix.dtype)
        return matrix

    facts = {"format": "npz, dense", "dtype": str(dtype)}
    return MatrixSource(str(path), whole, _of_whole(whole), facts)


def _check_matrix(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if dtype.hasobject:
        raise UserError(f"{path}: {PICKLED}.")
    if len(shape) != 2:
        raise UserError(f"{path}: has shape {shape}; a matrix of rows and columns is needed.")
    if dtype.kind not in "biuf":
        raise UserError(f"{path}: holds values of type {dtype}; real numbers are needed.")
    if 0 in shape:
        raise UserError(f"{path}: has shape {shape}; there is nothing in it to cluster.")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Errors of reading name the file and say what is wrong with it."""
    with open(path, "rb"):  # a missing file, a folder, no permission: errors that name it
        pass
    try:
        yield
    except DAMAGED as error:
        if "pickle" in str(error).lower() or "Python objects" in str(error):
            raise UserError(f"{path}: {PICKLED}.") from error
        what = str(error).strip("'\"") or type(error).__name__
        raise UserError(f"{path}: damaged, cut off, or not what its name says ({what})") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise UserError(f"{path}: damaged, cut off, or not what its name says ({error})") from error


def _has_feature_0(path: Path) -> bool:
    with opened(path) as file:
        return any(re.search(rb"\s0+:", line.split(b"#", 1)[0]) for line in file)
