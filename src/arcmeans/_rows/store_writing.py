"""Writing a row store: batches of rows appended to the files of a folder, one after another."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .blocks import checked_block, frequency_of
from .npy_files import GrowingArray
from .store_header import FORMAT, Header
from .unit_rows import MAX_FEATURES


@dataclass(frozen=True)
class _Kind:
    """What all batches have in common."""

    sparse: bool
    n_features: int
    dtype: np.dtype[Any]

    @property
    def name(self) -> str:
        return "sparse" if self.sparse else "dense"


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
                files = _Files(folder, _kind_of(block))
            _check_alike(block, name, files.kind)
            files.append(block)
    finally:
        if files is not None:
            files.close()
    if files is None:
        raise ValueError("batches has no rows; a row store needs at least one.")
    kind = files.kind
    return Header(
        FORMAT, kind.name, kind.dtype.name, files.n_rows, kind.n_features, files.n_entries
    )


class _Files:
    """The files of a store, open for writing."""

    def __init__(self, folder: Path, kind: _Kind) -> None:
        self.kind = kind
        self.n_rows = self.n_entries = 0
        self._frequency = np.zeros(kind.n_features if kind.sparse else 0, np.int64)
        types = {"indptr": np.int64, "indices": np.int32, "data": kind.dtype}
        if not kind.sparse:
            values = GrowingArray(folder, "values", kind.dtype, kind.n_features)
            self._arrays = {"values": values}
            return
        types["frequency"] = np.int64
        self._arrays = {name: GrowingArray(folder, name, each) for name, each in types.items()}
        self._arrays["indptr"].append(np.zeros(1, np.int64))

    def append(self, block: Any) -> None:
        if self.kind.sparse:
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
        if self.kind.sparse:
            self._arrays["frequency"].append(self._frequency)
        for array in self._arrays.values():
            array.close()


def _told(row: int, first: int) -> str:
    """Which row of a batch that begins at row ``first`` of the store."""
    return f"its row {row}, row {first + row} of the store"


def _kind_of(block: Any) -> _Kind:
    return _Kind(sp.issparse(block), block.shape[1], block.dtype)


def _check_alike(block: Any, name: str, kind: _Kind) -> None:
    found = _kind_of(block)
    if found.sparse != kind.sparse:
        raise ValueError(f"{name} is {found.name}, but those before it are {kind.name}.")
    if found.n_features != kind.n_features:
        raise ValueError(
            f"{name} has {found.n_features} features, but those before it have {kind.n_features}."
        )
    if found.dtype != kind.dtype:
        raise ValueError(f"{name} has dtype {found.dtype}, but those before it have {kind.dtype}.")
    if found.n_features > MAX_FEATURES:
        raise ValueError(f"{name} has {found.n_features} features; the limit is {MAX_FEATURES}.")
