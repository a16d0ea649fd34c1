"""Data to experiment on: the paper's data sets, files that the user names, or generated text."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcmeans import datasets
from arcmeans.datasets._matrices import read_matrix, tfidf
from benchmarks import data

from . import paper


@dataclass(frozen=True)
class Source:
    """Where a data set comes from, and what to call it."""

    name: str
    path: Path | None = None
    """A file."""
    key: str | None = None
    """A data set of ``arcmeans.datasets``; None with no path either: generated."""
    rows: int | None = None
    """Only so many rows of the file, its first."""
    logarithmic: bool = False
    """1 + ln(count) in place of the counts of the file."""
    transposed: bool = False
    """The counts of the file with rows and columns exchanged."""


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
    paper: str | None
    """The name in the paper of this data set, or of the one that it stands in for."""

    @property
    def title(self) -> str:
        """Its name and size, and the size in the paper where that is another."""
        text = f"{self.name}: {self.rows:,} × {self.columns:,}"
        size = paper.table1().get(self.paper or "")
        if size and (size.rows, size.columns) != (self.rows, self.columns):
            text += f" (in the paper {size.rows:,} × {size.columns:,})"
        return text

    @property
    def directed(self) -> int:
        """The rows that can be clustered."""
        return self.rows - self.zero_rows


TEXT = Source("generated text")
GRAPH = Source("generated graph")
"""Many short rows and few columns, as authors and conferences are."""
STANDS_FOR = " for "
AUTHORS, CONFERENCES = "DBLP Author-Conference", "DBLP Conference-Author"
"""The paper's pair of transposes."""


def source(text: str) -> Source:
    """A source from ``WHAT[^ROWS][^log][^T][=NAME]``.

    WHAT is a file or a data set of ``arcmeans.datasets``. Of a file, ^ROWS takes the first rows; of
    counts, ^log takes 1 + ln(count) and ^T exchanges rows and columns. A name of the paper's data
    sets is found in any case, also at the end of ``NAME for ...``.
    """
    what, name = (text, "") if Path(text).exists() else _parted(text)
    what, *modifiers = [what] if Path(what).exists() else what.split("^")
    if what in datasets.NAMES:
        if modifiers:
            raise argparse.ArgumentTypeError(f"{text}: ^ is for files")
        return Source(_spelled(name) or datasets.TITLES[what], key=what)
    changes: dict[str, Any] = {}
    for modifier in modifiers:
        if modifier == "T":
            changes["transposed"] = True
        elif modifier == "log":
            changes["logarithmic"] = True
        elif modifier.isdecimal() and int(modifier) > 0:
            changes["rows"] = int(modifier)
        else:
            raise argparse.ArgumentTypeError(f"{text}: ^{modifier} should be ^ROWS, ^log or ^T")
    if not Path(what).is_file():
        raise argparse.ArgumentTypeError(
            f"{what}: there is no such file, and the data sets are {', '.join(datasets.NAMES)}"
        )
    default = Path(what).stem + " transposed" * ("T" in modifiers)
    return Source(_spelled(name) or default, Path(what), **changes)


def standard() -> list[Source]:
    """What there is on any machine, and 20 Newsgroups where it is in the cache."""
    try:
        datasets.load("20-newsgroups")
    except FileNotFoundError:
        return [TEXT]
    return [TEXT, Source(datasets.TITLES["20-newsgroups"], key="20-newsgroups")]


def in_paper(name: str) -> str | None:
    """The paper's data set that a name tells of."""
    last = name.rpartition(STANDS_FOR)[2]
    return last if last in paper.table1() else None


def partner(source: Source) -> Source | None:
    """The same data with rows and columns exchanged before TF-IDF; None where counts are lacking.

    Raises ValueError where a file cannot be read.
    """
    if source == GRAPH:
        return Source(source.name + " transposed", transposed=True)
    if source.key == "dblp-author-conference":
        key = "dblp-conference-author"
        return Source(datasets.TITLES[key], key=key)
    if source.path is None or source.transposed:
        return None
    if not np.issubdtype(read_matrix(source.path).dtype, np.integer):
        return None
    own, stands, paper_name = source.name.rpartition(STANDS_FOR)
    if paper_name == AUTHORS:
        name = f"{own} transposed{stands}{CONFERENCES}" if stands else CONFERENCES
    else:
        name = f"{source.name} transposed"
    return replace(source, name=name, transposed=True)


def check_names(sources: Sequence[Source]) -> None:
    """Names tell data sets apart in the results."""
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Two data sets are called {name!r}: name them with PATH=NAME.")


def loaded(source: Source, rows: int | None) -> DataSet:
    """A data set, of its first ``rows`` rows; says how many of them are all zero."""
    X = _matrix(source, rows)
    n_rows, n_columns = X.shape
    empty = int(n_rows - np.count_nonzero(abs(X).sum(axis=1)))
    if empty:
        print(
            f"{source.name}: {empty:,} of {n_rows:,} rows are all zero: they stay in the "
            "data, but are in no cluster and not in the objective.",
            file=sys.stderr,
        )
    entries = X.nnz if sp.issparse(X) else X.size
    return DataSet(source.name, X, n_rows, n_columns, entries, empty, in_paper(source.name))


def _matrix(source: Source, rows: int | None) -> Any:
    if source.key is not None:
        return datasets.load(source.key).X[:rows]
    if source.path is not None:
        X = read_matrix(source.path)[: source.rows][:rows]
    elif source == TEXT:
        X = data.generated_counts(rows or 3_000, 5_000, nnz_per_row=40)
    else:
        X = data.generated_counts(rows or 12_000, 150, nnz_per_row=3, n_topics=30)
    counts = np.issubdtype(X.dtype, np.integer)
    if not counts:
        if source.transposed or source.logarithmic:
            raise ValueError(f"{source.path}: with ^T or ^log it should hold counts, so integers.")
        return X
    return tfidf(sp.csr_matrix(X.T) if source.transposed else X, sublinear=source.logarithmic)


def _parted(text: str) -> tuple[str, str]:
    what, _, name = text.partition("=")
    return what, name.strip()


def _spelled(name: str) -> str:
    """The name, with a name of the paper's as the paper spells it."""
    own, stands, last = name.rpartition(STANDS_FOR)
    known = {of_paper.lower(): of_paper for of_paper in paper.table1()}
    return own + stands + known.get(last.lower(), last)
