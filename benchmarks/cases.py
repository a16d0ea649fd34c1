"""The data of the table of targets: real files where they are given, else generated stand-ins.

A stand-in has the shape of its original, or a part of its rows, and what matters for the cost of a
pass: text-like rows of as many entries, short rows of which a third repeat, dense clusters.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from . import data


@dataclass(frozen=True)
class Targets:
    """How many times faster than each peer ``auto`` is to be."""

    loop: float
    scikit_learn: float
    lloyd: float


@dataclass(frozen=True)
class Case:
    """One data set of the table."""

    name: str
    rows: int
    """The first rows of a file, and those of a stand-in in full."""
    quick_rows: int
    """Those of a stand-in that is to take minutes."""
    clusters: Mapping[int, Targets]
    generate: Callable[[int], Any]

    def matrix(self, path: Path | None, full: bool) -> Any:
        """Unit rows in float32, none of them zero."""
        if path is None:
            X = self.generate(self.rows if full else self.quick_rows)
        else:
            X = data.load(path)[: self.rows]
        return unit_rows(X)


def unit_rows(X: Any) -> Any:
    """The rows that have a direction, scaled to unit length in float32."""
    X = X.astype(np.float32)
    return normalize(X[np.flatnonzero(abs(X).sum(axis=1))], copy=False)


def _names(n: int) -> sp.csr_matrix:
    """Short rows, of which 36 % repeat another."""
    different = int(0.64 * n)
    again = np.random.default_rng(1).integers(0, different, n - different)
    X = data.generated(different, 17_905, nnz_per_row=2.5, n_topics=50)
    return X[np.concatenate([np.arange(different), again])]


def embeddings(n: int) -> NDArray[np.float32]:
    """Clusters of different sizes and widths in 50 dimensions."""
    rng = np.random.default_rng(2)
    middles = rng.standard_normal((2000, 50)).astype(np.float32)
    middle = rng.choice(2000, n, p=rng.dirichlet(np.ones(2000)))
    width = rng.gamma(4.0, 0.25, (n, 1)).astype(np.float32)
    return middles[middle] + width * rng.standard_normal((n, 50), dtype=np.float32)


CASES: Sequence[Case] = (
    Case(
        "20news",
        11_314,
        11_314,
        {20: Targets(6, 15, 1.5), 100: Targets(10, 25, 2.5), 200: Targets(10, 25, 2.5)},
        lambda n: data.generated(n, 101_631, nnz_per_row=98, n_topics=40),
    ),
    Case(
        "arxiv",
        200_000,
        30_000,
        {
            20: Targets(6, 15, 1.4),
            100: Targets(10, 25, 3),
            200: Targets(12, 25, 4),
            1000: Targets(15, 30, 4),
        },
        lambda n: data.generated(n, 46_774, nnz_per_row=55),
    ),
    Case(
        "npm_names",
        500_000,
        100_000,
        {20: Targets(3, 10, 1.2), 100: Targets(3, 10, 1.2), 200: Targets(3, 10, 1.2)},
        _names,
    ),
    Case(
        "glove50",
        200_000,
        40_000,
        {100: Targets(2, 2, 1.5), 1000: Targets(2, 2, 1.5)},
        embeddings,
    ),
)
