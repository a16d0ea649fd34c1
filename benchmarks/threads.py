"""Two threads against one: the assign phase and the whole fit, by the clock.

The same fit by ``auto`` on one thread and on two, in turns; of each the least time of the repeats.
The clock counts, so both processors should be idle otherwise.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from .cases import unit_rows
from .targets import fit

CLUSTERS = (100, 200, 1000)
ITERATIONS = 15


@dataclass(frozen=True)
class Speedup:
    data: str
    rows: int
    k: int
    iterations: int
    assign_1: float
    """Seconds on one thread."""
    assign_2: float
    assign_speedup: float
    fit_1: float
    fit_2: float
    fit_speedup: float


def measure(name: str, X: Any, quick: bool) -> Iterator[Speedup]:
    X = unit_rows(X)
    for k in (k for k in (CLUSTERS[:1] if quick else CLUSTERS) if k <= X.shape[0]):
        chosen = np.sort(np.random.default_rng(k).choice(X.shape[0], k, replace=False))
        assign, whole = ({1: math.inf, 2: math.inf} for _ in range(2))
        with threadpool_limits(limits=1):
            for _ in range(2 if quick else 3):
                for n_threads in assign:
                    started = time.perf_counter()
                    model = fit(X, chosen, "auto", n_threads, ITERATIONS)
                    seconds = time.perf_counter() - started
                    whole[n_threads] = min(whole[n_threads], seconds)
                    seconds = float(model.trace_["assign_seconds"].sum())
                    assign[n_threads] = min(assign[n_threads], seconds)
        yield Speedup(
            data=name,
            rows=X.shape[0],
            k=k,
            iterations=model.n_iter_,
            assign_1=assign[1],
            assign_2=assign[2],
            assign_speedup=assign[1] / assign[2],
            fit_1=whole[1],
            fit_2=whole[2],
            fit_speedup=whole[1] / whole[2],
        )
