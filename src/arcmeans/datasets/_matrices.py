"""Matrices in files of the usual kinds. Nothing that could run code on loading is read."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer

from .._rows.matrix_market import read_matrix_market

KINDS = {
    ".npz": "scipy.sparse.save_npz, or counts in a compact form",
    ".npy": "numpy.save",
    ".svmlight": "svmlight and libsvm",
    ".libsvm": "svmlight and libsvm",
    ".mtx": "Matrix Market",
}
_COMPRESSED = (".gz", ".bz2")


def read_matrix(path: Path) -> Any:
    """The matrix of a file as it is stored: CSR, or a dense array.

    ``.npz``: a matrix of ``scipy.sparse.save_npz``, or counts in a compact form (``shape``,
    ``rowlen``, the entries of each row; ``indices``; ``counts``, unless all are 1). ``.npy``: dense
    rows. ``.svmlight`` or ``.libsvm``, ``.mtx``: these and those compressed to ``.gz`` or ``.bz2``.
    Raises ValueError where the file is none of these, broken, or holds pickled objects.
    """
    kind = _kind(path)
    try:
        if kind == ".npy":
            return _numeric(np.load(path, allow_pickle=False))
        if kind == ".npz":
            return _npz(path)
        if kind == ".mtx":
            X = read_matrix_market(path)
            return _numeric(sp.csr_matrix(X) if sp.issparse(X) else np.asarray(X))
        return _numeric(sp.csr_matrix(load_svmlight_file(str(path))[0]))
    except (ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's, not the file's
        raise ValueError(f"{path}: not a matrix that can be read ({error}).") from error


def tfidf(counts: Any, *, sublinear: bool = False) -> Any:
    """scikit-learn's TF-IDF of counts, unit rows, float32; with 1 + ln(count) if ``sublinear``."""
    X = TfidfTransformer(sublinear_tf=sublinear).fit_transform(counts.astype(np.float32))
    return X.astype(np.float32, copy=False)


def _kind(path: Path) -> str:
    names = [suffix.lower() for suffix in path.suffixes]
    if names and names[-1] in _COMPRESSED:
        names.pop()
        if names and names[-1] in (".npy", ".npz"):
            names.clear()
    if not names or names[-1] not in KINDS:
        raise ValueError(f"{path}: the name of a matrix file should end in {', '.join(KINDS)}.")
    return names[-1]


def _npz(path: Path) -> Any:
    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        if "rowlen" not in file.files:
            return _numeric(sp.csr_matrix(sp.load_npz(path)))
        starts = np.concatenate([[0], np.cumsum(file["rowlen"], dtype=np.int64)])
        indices = file["indices"].astype(np.int32)
        counts = file["counts"] if "counts" in file.files else np.ones(len(indices), np.int32)
        matrix = sp.csr_matrix((counts, indices, starts), shape=tuple(file["shape"]))
        matrix.check_format(full_check=True)
        return _numeric(matrix)


def _numeric(matrix: Any) -> Any:
    if matrix.ndim != 2:
        raise ValueError(f"it has {matrix.ndim} dimensions, not 2")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"its entries are {matrix.dtype}, not numbers")
    return matrix.astype(np.float32) if matrix.dtype == np.float16 else matrix
