"""What a caller may give as X, as blocks of rows that a worker makes or has.

A block is a delayed value: Dask computes it on a worker, and again if that worker is lost.
"""

import math
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import scipy.sparse as sp
from dask import delayed
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from .._rows.store import RowStore

PARTITION_BYTES = 2**26
"""Of a row store: enough to be worth a task, few enough to spread."""


@dataclass(frozen=True)
class Blocks:
    """Delayed blocks of rows, in order."""

    blocks: list[Any]
    sizes: list[float]
    """The rows of each; NaN where only the block can tell."""


def blocks_of(X: Any, n_threads: int) -> Blocks:
    """The blocks of whatever was given."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X is a dask array of {X.ndim} dimensions; it should have 2.")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return Blocks(list(X.to_delayed().ravel()), list(X.chunks[0]))
    if isinstance(X, RowStore):
        ends = _ends(X, n_threads)
        return Blocks([_slice(X, *each) for each in ends], [end - begin for begin, end in ends])
    if isinstance(X, (list, tuple)) and X:
        if all(isinstance(x, Delayed) for x in X):
            return Blocks(list(X), [math.nan] * len(X))
        if all(isinstance(x, (str, os.PathLike)) for x in X):
            return Blocks([_file(x) for x in X], [math.nan] * len(X))
    raise TypeError(
        f"X is {_described(X)}; it should be a dask array, a list of delayed blocks, a RowStore or "
        "a list of files. For rows in memory there is arcmeans.SphericalKMeans."
    )


def _described(X: Any) -> str:
    if isinstance(X, (list, tuple)):
        kinds = sorted({type(x).__name__ for x in X})
        return f"a {type(X).__name__} of {', '.join(kinds) if kinds else 'nothing'}"
    return f"of type {type(X).__name__}"


def _ends(store: RowStore, n_threads: int) -> Sequence[tuple[int, int]]:
    """Partitions of about the same bytes, none of them large; as many, two at least, a thread."""
    entry = store.dtype.itemsize + (4 if store.sparse else 0)
    on_each = max(2, -(-store.nnz * entry // (PARTITION_BYTES * n_threads)))
    wanted = min(on_each * n_threads, store.shape[0])
    if store.sparse:
        reach = np.linspace(0, store.nnz, wanted + 1)[1:-1]
        ends = np.searchsorted(store.mapped("indptr").array, reach)
    else:
        ends = np.linspace(0, store.shape[0], wanted + 1)[1:-1].astype(np.int64)
    starts = np.unique(np.concatenate([[0], ends, [store.shape[0]]])).tolist()
    return list(pairwise(starts))


def _slice(store: RowStore, begin: int, end: int) -> Any:
    name = f"arcmeans-read-0{uuid.uuid4().hex}"
    return delayed(read_slice, pure=False)(store.path.absolute(), begin, end, dask_key_name=name)


def read_slice(path: Path, begin: int, end: int) -> Any:
    """Rows of a store, which every worker can open by the same path."""
    rows = RowStore.open(path)[begin:end]
    return rows.copy()


def _file(path: Any) -> Any:
    place = Path(path).absolute()
    if not place.exists():
        raise FileNotFoundError(f"X names {os.fspath(path)!r}, which does not exist.")
    if not place.is_dir() and place.suffix not in (".npz", ".npy"):
        raise ValueError(
            f"X names {os.fspath(path)!r}; a file of rows should end in .npz (as written by "
            "scipy.sparse.save_npz) or .npy, or be the folder of a row store."
        )
    return delayed(read_file, pure=False)(place, dask_key_name=f"arcmeans-read-0{uuid.uuid4().hex}")


def read_file(path: Path) -> Any:
    """The rows of a file: ``scipy.sparse.save_npz``, ``numpy.save``, or a row store."""
    if path.is_dir():
        return RowStore.open(path)[:].copy()
    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False)
    return sp.csr_array(sp.load_npz(path))


def lazy_array(
    blocks: Sequence[Any], sizes: Sequence[float], width: tuple[int, ...], dtype: np.dtype[Any]
) -> Any:
    """Delayed blocks as one dask array, those without rows too."""
    name = f"arcmeans-0{uuid.uuid4().hex}"
    keys = {(name, i, *(0 for _ in width)): block.key for i, block in enumerate(blocks)}
    graph = HighLevelGraph.from_collections(name, keys, dependencies=blocks)
    return da.Array(graph, name, (tuple(sizes), *((w,) for w in width)), dtype)
