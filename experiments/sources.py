"""Data to experiment on: files that the user names, or generated text."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import data

from . import paper


@dataclass(frozen=True)
class Source:
    """Where a data set comes from, and what to call it."""

    path: Path | None
    """None: generated."""
    name: str


@dataclass(frozen=True)
class DataSet:
    """Rows to cluster."""

    name: str
    X: Any
    rows: int
    columns: int
    entries: int
    """Stored values."""
    zero_rows: int
    """All-zero rows, which have no direction: they are in no cluster and not in the objective."""


GENERATED = Source(None, "generated text")


def source(text: str) -> Source:
    """A source from ``PATH[=NAME]``; a name of the paper's data sets is found in any case."""
    if Path(text).exists():  # whatever = there is belongs to the path
        path, name = text, ""
    else:
        path, _, name = text.partition("=")
    if not Path(path).is_file():
        raise argparse.ArgumentTypeError(f"{path}: there is no such file")
    known = {of_paper.lower(): of_paper for of_paper in paper.table1()}
    name = name.strip() or Path(path).stem
    return Source(Path(path), known.get(name.lower(), name))


def check_names(sources: Sequence[Source]) -> None:
    """Names tell data sets apart in the results."""
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Two data sets are called {name!r}: name them with PATH=NAME.")


def loaded(sources: Sequence[Source], rows: int | None) -> Iterator[DataSet]:
    """Each data set, its first ``rows`` rows; says how many of them are all zero."""
    for source in sources:
        X = _generated(rows) if source.path is None else data.load(source.path)[:rows]
        empty = _empty_rows(X)
        if empty:
            print(
                f"{source.name}: {empty:,} of {X.shape[0]:,} rows are all zero: they stay in the "
                "data, but are in no cluster and not in the objective.",
                file=sys.stderr,
            )
        n_rows, n_columns = X.shape
        entries = X.nnz if sp.issparse(X) else X.size
        yield DataSet(source.name, X, n_rows, n_columns, entries, empty)


def _generated(rows: int | None) -> sp.csr_matrix:
    return data.generated(rows or 3_000, 5_000, nnz_per_row=40)


def _empty_rows(X: Any) -> int:
    return int(X.shape[0] - np.count_nonzero(abs(X).sum(axis=1)))
