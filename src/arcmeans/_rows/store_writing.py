"""Writing a row store: batches of rows appended to the files of a folder, one after another."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .blocks import BlockShape, checked_block, frequency_of, shape_of
from .npy_files import GrowingArray
from .store_header import FORMAT, Header
from .unit_rows import MAX_FEATURES


def write_batches(folder: Path, batches: Iterable[Any]) -> Header:
    """Writes all batches into files of the folder; returns the header, which is not written."""
    if sp.issparse(batches) or isinstance(batches, np.ndarray):
        raise TypeError(
            f"batches is a single {type(batches).__name__}; it should be an iterable of blocks of "
            "rows. For one block: [X]."
        )
    files: _Files | None = None
    try:
        for number, given in enumerate(batches):
            name = f"batch {number}"
            told = partial(_told, first=0 if files is None else files.n_rows)
            block = checked_block(given, name, told)
            if block.shape[0] == 0:
                continue
            if files is None:
                files = _Files(folder, shape_of(block))
            _check_alike(shape_of(block), name, files.first)
            files.append(block)
    finally:
        if files is not None:
            files.close()
    if files is None:
        raise ValueError("batches has no rows; a row store needs at least one.")
    first = files.first
    return Header(
        FORMAT, first.kind, first.dtype.name, files.n_rows, first.n_features, files.n_entries
    )


class _Files:
    """The files of a store, open for writing."""

    def __init__(self, folder: Path, first: BlockShape) -> None:
        self.first = first
        self.n_rows = self.n_entries = 0
        self._frequency = np.zeros(first.n_features if first.sparse else 0, np.int64)
        types = {"indptr": np.int64, "indices": np.int32, "data": first.dtype}
        if not first.sparse:
            values = GrowingArray(folder, "values", first.dtype, first.n_features)
            self._arrays = {"values": values}
            return
        types["frequency"] = np.int64
        self._arrays = {name: GrowingArray(folder, name, each) for name, each in types.items()}
        self._arrays["indptr"].append(np.zeros(1, np.int64))

    def append(self, block: Any) -> None:
        if self.first.sparse:
            self._frequency += frequency_of(block)
            self._arrays["indptr"].append(block.indptr[1:].astype(np.int64) + self.n_entries)
            self._arrays["indices"].append(block.indices)
            self._arrays["data"].append(block.data)
            self.n_entries += len(block.data)
        else:
            self._arrays["values"].append(block)
            self.n_entries += block.size
        self.n_rows += block.shape[0]

    def close(self) -> None:
        if self.first.sparse:
            self._arrays["frequency"].append(self._frequency)
        for array in self._arrays.values():
            array.close()


def _told(row: int, first: int) -> str:
    """Which row of a batch that begins at row ``first`` of the store."""
    return f"its row {row}, row {first + row} of the store"


def _check_alike(block: BlockShape, name: str, first: BlockShape) -> None:
    if block.sparse != first.sparse:
        raise ValueError(f"{name} is {block.kind}, but those before it are {first.kind}.")
    if block.n_features != first.n_features:
        raise ValueError(
            f"{name} has {block.n_features} features, but those before it have {first.n_features}."
        )
    if block.dtype != first.dtype:
        raise ValueError(f"{name} has dtype {block.dtype}, but those before it have {first.dtype}.")
    if block.n_features > MAX_FEATURES:
        raise ValueError(f"{name} has {block.n_features} features; the limit is {MAX_FEATURES}.")
