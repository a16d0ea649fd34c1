"""How fast each level of the caches can be read, and how fast the sieve reads its lines.

*What can be read.* Matrices of 16 KB to 256 MB in float32, times a vector of 1 KB by BLAS, over and
over within one call of NumPy: a pass reads every byte of the matrix once. On one thread; the least
of several times. A level's bandwidth is that of a matrix that fits into it well.

*What the sieve reads.* A visit of a row to a line reads 64 bytes for each entry of the row: lines
visited, times the mean entries of a row, times 64, over the seconds of the assign phase. Packing,
the scan of bounds, exact decisions and the row itself (4 bytes an entry) are in the time and not in
the bytes. ``first`` is the first pass, which visits all lines and packs the rows; ``early`` the
second to the fourth; ``late`` the last five, in which the scan of the bounds is most of the work.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from .cases import unit_rows
from .targets import fit

KILOBYTE = 1024
SIZES = tuple(16 * KILOBYTE * 4**i for i in range(8))
COLUMNS = 256
LINE_BYTES = 64
CLUSTERS = (32, 100, 200, 1000)


@dataclass(frozen=True)
class Bandwidth:
    """What can be read from a working set of one size."""

    working_set_kb: int
    gb_per_second: float


@dataclass(frozen=True)
class Kernel:
    """What the sieve reads."""

    data: str
    rows: int
    entries_a_row: float
    k: int
    lines_mb: float
    """All lines of all centers, at most."""
    phase: str
    lines_a_row: float
    """Visited in a pass, of so many:"""
    of_lines: int
    nanoseconds_a_visit: float
    nanoseconds_a_row: float
    gb_per_second: float


def bandwidth(repeats: int = 7) -> Iterator[Bandwidth]:
    vector = np.ones((COLUMNS, 1), np.float32)
    for size in SIZES:
        matrix = np.ones((size // (4 * COLUMNS), COLUMNS), np.float32)
        times = max(1, (64 * 2**20) // size)
        many = np.broadcast_to(matrix, (times, *matrix.shape))
        out = np.empty((times, len(matrix), 1), np.float32)
        least = np.inf
        with threadpool_limits(limits=1):
            for _ in range(repeats):
                started = time.perf_counter()
                np.matmul(many, vector, out=out)
                least = min(least, time.perf_counter() - started)
        yield Bandwidth(size // KILOBYTE, times * size / least / 1e9)


def measure(name: str, X: Any, quick: bool) -> Iterator[Kernel]:
    X = unit_rows(X)
    n, d = X.shape
    entries = X.nnz / n if sp.issparse(X) else d
    for k in CLUSTERS[:2] if quick else CLUSTERS:
        if k > n:
            continue
        seeds = np.sort(np.random.default_rng(k).choice(n, k, replace=False))
        traces = [fit(X, seeds, "sieve").trace_ for _ in range(2)]
        assign = np.min([trace["assign_seconds"] for trace in traces], axis=0)
        lines = traces[0]["lines"]
        phases = {"first": slice(0, 1), "early": slice(1, 4), "late": slice(-5, None)}
        for phase, which in phases.items():
            visits, seconds = int(lines[which].sum()), float(assign[which].sum())
            yield Kernel(
                data=name,
                rows=n,
                entries_a_row=entries,
                k=k,
                lines_mb=-(-k // 32) * d * LINE_BYTES / 2**20,
                phase=phase,
                lines_a_row=visits / len(lines[which]) / n,
                of_lines=-(-k // 32),
                nanoseconds_a_visit=1e9 * seconds / max(1, visits),
                nanoseconds_a_row=1e9 * seconds / len(lines[which]) / n,
                gb_per_second=visits * entries * LINE_BYTES / seconds / 1e9,
            )
