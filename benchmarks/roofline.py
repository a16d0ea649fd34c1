"""How fast each level of the caches can be read, and how fast the sieve reads its lines.

*What can be read.* Matrices of 16 KB to 256 MB in float32, times a vector of 1 KB by BLAS, over and
over within one call of NumPy: a pass reads every byte of the matrix once. On one thread; the least
of several times. A level's bandwidth is that of a matrix that fits into it well.

*What the sieve reads.* A visit of a row to a line reads 64 bytes for each entry of the row: lines
visited, times the mean entries of a row, times 64, over the CPU seconds of the assign phase. The
scan of bounds, exact decisions and the row itself (4 bytes an entry) are in the time and not in
the bytes. ``first`` is the first pass, with all set-up: validation, the copy of X, packing;
``early`` the second to the fourth; ``late`` the last five, in which few lines are visited.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from arcmeans import SphericalKMeans
from arcmeans._rows.unit_rows import unit_rows as prepared_rows

from .cases import unit_rows
from .targets import MOST_ITERATIONS

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
                started = time.process_time()
                np.matmul(many, vector, out=out)
                least = min(least, time.process_time() - started)
        yield Bandwidth(size // KILOBYTE, times * size / least / 1e9)


def _assign_seconds(X: Any, seeds: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The lines visited in each pass, and its CPU seconds.

    The trace has the clock's, to which others on the machine add. Callbacks divide the CPU time
    into iterations; of each, assigning has the share that it has by the clock.
    """
    marks = [time.process_time()]
    model = SphericalKMeans(
        len(seeds),
        init=seeds,
        algorithm="sieve",
        max_iter=MOST_ITERATIONS,
        n_threads=1,
        empty_cluster="keep",
        callback=lambda *_: marks.append(time.process_time()),
    ).fit(X)
    assign, update = model.trace_["assign_seconds"], model.trace_["update_seconds"]
    return model.trace_["lines"], np.diff(marks) * assign / (assign + update)


def measure(name: str, X: Any, quick: bool) -> Iterator[Kernel]:
    X = unit_rows(X)
    n, d = X.shape
    entries, prepared = X.nnz / n if sp.issparse(X) else d, prepared_rows(X)
    for k in CLUSTERS[:2] if quick else CLUSTERS:
        if k > n:
            continue
        frequent = prepared.n_frequent(k)  # the others are not in the lines
        seeds = np.sort(np.random.default_rng(k).choice(n, k, replace=False))
        runs = [_assign_seconds(X, seeds) for _ in range(2)]
        lines, assign = runs[0][0], np.min([seconds for _, seconds in runs], axis=0)
        phases = {"first": slice(0, 1), "early": slice(1, 4), "late": slice(-5, None)}
        for phase, which in phases.items():
            visits, seconds = int(lines[which].sum()), float(assign[which].sum())
            yield Kernel(
                data=name,
                rows=n,
                entries_a_row=entries,
                k=k,
                lines_mb=-(-k // 32) * frequent * LINE_BYTES / 2**20,
                phase=phase,
                lines_a_row=visits / len(lines[which]) / n,
                of_lines=-(-k // 32),
                nanoseconds_a_visit=1e9 * seconds / max(1, visits),
                nanoseconds_a_row=1e9 * seconds / len(lines[which]) / n,
                gb_per_second=visits * entries * LINE_BYTES / seconds / 1e9,
            )
