"""Where ``tally`` pays: against ``sieve`` and ``lloyd``, by the entries of a row and by k.

Rows with more than a few entries are thinned: each entry stays with the same probability. A file
of short rows is taken as it is. Fits from the same random rows on one thread, in turns.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from .cases import unit_rows
from .shares import check_same
from .targets import fit
from .timing import in_turns

ENTRIES = (3, 6, 12, 20)


@dataclass(frozen=True)
class Short:
    """One case."""

    data: str
    rows: int
    entries: float
    """Of a row, on average."""
    k: int
    iterations: int
    lloyd: float
    """CPU seconds of a fit."""
    sieve: float
    tally: float
    auto: float
    similarities: float
    """Computed by ``tally``, over rows times k times iterations."""
    auto_loss: float
    """What auto takes more than the fastest of the three."""


def measure(name: str, X: Any, quick: bool) -> Iterator[Short]:
    """Every number of entries that the rows have, and of clusters."""
    if not sp.issparse(X):
        return
    X = sp.csr_matrix(X)
    average = X.nnz / X.shape[0]
    for entries in [e for e in ENTRIES if e < average / 2] or [average]:
        some = unit_rows(thinned(X, entries / average))
        for k in (20, 100) if quick else (20, 100, 500, 2000):
            if 20 * k <= some.shape[0]:
                yield _measure(name, some, k)


def thinned(X: sp.csr_matrix, share: float) -> sp.csr_matrix:
    """That share of the entries, at random."""
    if share >= 1.0:
        return X
    thin = X.copy()
    thin.data[np.random.default_rng(0).random(thin.nnz) >= share] = 0.0
    thin.eliminate_zeros()
    return thin


def _measure(name: str, X: sp.csr_matrix, k: int) -> Short:
    seeds = np.sort(np.random.default_rng(k).choice(X.shape[0], k, replace=False))
    works: dict[str, Callable[[], Any]] = {
        a: partial(fit, X, seeds, a) for a in ("lloyd", "sieve", "tally", "auto")
    }
    measured = in_turns(works, 2)
    for a in ("sieve", "tally", "auto"):
        check_same(measured["lloyd"].result, measured[a].result)
    seconds = {a: measured[a].seconds for a in works}
    tally = measured["tally"].result
    computed, iterations = tally.trace_["similarities"].sum(), tally.n_iter_
    return Short(
        data=name,
        rows=X.shape[0],
        entries=X.nnz / X.shape[0],
        k=k,
        iterations=iterations,
        **seconds,
        similarities=computed / (X.shape[0] * k * iterations),
        auto_loss=seconds["auto"] / min(seconds[a] for a in ("lloyd", "sieve", "tally")) - 1.0,
    )
