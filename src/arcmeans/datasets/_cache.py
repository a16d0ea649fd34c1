"""The folder where data sets are kept, and the files they are kept in.

A file holds arrays alone, the names as UTF-8 text with a line each: nothing in it can run.
"""

import os
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._support.files import written_whole

VARIABLE = "ARCMEANS_DATA"
VERSION = 1


@dataclass(frozen=True)
class Dataset:
    """A matrix with names."""

    name: str
    X: sp.csr_matrix
    """TF-IDF weights, float64."""
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]


def folder() -> Path:
    """``ARCMEANS_DATA``, else the platform's folder for caches."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE]).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "arcmeans"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "arcmeans" / "Cache"
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "arcmeans"


def path_of(name: str) -> Path:
    """Where a data set is kept once it is built."""
    return folder() / f"{name}.npz"


def write(dataset: Dataset) -> None:
    """Keep a data set. At any moment there is the old file, the new one or none."""
    path = path_of(dataset.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        np.savez(
            file,
            version=np.array(VERSION),
            shape=np.array(dataset.X.shape),
            data=dataset.X.data,
            indices=dataset.X.indices,
            indptr=dataset.X.indptr,
            row_names=_bytes(dataset.row_names),
            column_names=_bytes(dataset.column_names),
        )


def read(name: str) -> Dataset:
    """A data set that is kept; FileNotFoundError if it is not, ValueError if the file is broken."""
    path = path_of(name)
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            if file["version"] != VERSION:
                raise ValueError(f"it has version {file['version']}, not {VERSION}")
            parts = file["data"], file["indices"], file["indptr"]
            X = sp.csr_matrix(parts, shape=tuple(file["shape"]))
            X.check_format(full_check=True)
            dataset = Dataset(name, X, _names(file["row_names"]), _names(file["column_names"]))
        if (len(dataset.row_names), len(dataset.column_names)) != X.shape:
            raise ValueError("it has not as many names as rows and columns")
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise ValueError(
            f"{path}: not a data set of this version of arcmeans ({error}). Remove it, and it "
            "will be built again."
        ) from error
    return dataset


def _bytes(names: tuple[str, ...]) -> NDArray[np.uint8]:
    lines = (" ".join(name.split()) + "\n" for name in names)  # a name is one line
    return np.frombuffer("".join(lines).encode(), np.uint8)


def _names(array: NDArray[np.uint8]) -> tuple[str, ...]:
    text = array.tobytes().decode()
    return tuple(text.split("\n")[:-1])
