"""The time of each seeding: beside an iteration of Lloyd's algorithm, and beside scikit-learn's.

CPU time on one thread, on unit rows in float32.

- "seconds" is the time of ``arcmeans.seed`` less that of its set-up (validation and scaling to unit
  length), which a fit does once for seeding and loop together. It stands beside the time of a Lloyd
  iteration at the same k, measured as in ``lloyd``: a run of m iterations less a run of one. What
  k-means++ and its greedy form compute is the loop's first assign pass, which a fit then leaves
  out; this is not taken off here.
- scikit-learn's ``kmeans_plusplus`` is held against the whole call of ``arcmeans.seed``, set-up
  included, since its own is in its time too: with one trial against k-means++, with its default
  number of trials, which is ours too, against greedy-k-means++. It gets the rows in float32 and in
  float64, and the faster one counts: float32 it converts in small batches, which takes time. All
  trials of a seed are one product of matrices, which costs it little more than a single trial.
  It draws by squared Euclidean distance, on unit rows twice 1 - cosine. At large k it takes long:
  "skipped" unless --full.
- "entries read" is what was read of X for the similarities, in stored entries over (all of them
  times k): what a plain comparison of every row with every seed would read. Trials of the greedy
  form count, so its share can be above 1. afk-mc2 and k-means|| do not count this.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus
from sklearn.preprocessing import normalize

from arcmeans import SphericalKMeans, seed
from arcmeans._rows.containers import checked_rows
from arcmeans._seeding.methods import METHODS

from .timing import Measured, in_turns

CLUSTERS = (20, 200, 1000)
MOST_FOR_SCIKIT_LEARN = 200
"""The largest k at which scikit-learn is measured without --full."""
TRIALS: dict[str, int | None] = {"k-means++": 1, "greedy-k-means++": None}
"""scikit-learn's n_local_trials for the like of a method."""


@dataclass(frozen=True)
class SeedingTime:
    """Seconds of CPU time."""

    data: str
    k: int
    method: str
    seconds: float
    """Of the seeding alone."""
    lloyd_iteration: float
    share_of_iteration: float
    """seconds over lloyd_iteration."""
    with_set_up: float
    """Of the whole call."""
    scikit_learn: float | str | None
    """Of its whole call, in the faster dtype; None where it has no such method."""
    scikit_learn_ratio: float | None
    """scikit_learn over with_set_up."""
    entries_read: float | None
    """Stored entries read, over (all of them times k)."""


def measure(name: str, X: Any, quick: bool, full: bool, start: int = 0) -> list[SeedingTime]:
    """The times on one matrix, for each number of clusters and each method."""
    X = X.astype(np.float32)
    X = normalize(X[np.flatnonzero(abs(X).sum(axis=1))], copy=False)
    records = []
    for k in (k for k in CLUSTERS if k <= X.shape[0]):
        compared = full or k <= MOST_FOR_SCIKIT_LEARN
        works = _works(X, k, 5 if quick else 8, compared, start)
        measured = in_turns(works, repeats=1 if quick else 2)
        records += [_record(name, X, k, method, measured) for method in METHODS]
    return records


def _works(
    X: Any, k: int, most: int, compared: bool, start: int
) -> Mapping[Hashable, Callable[[], Any]]:
    """What is timed: methods by name, the others by tuples."""
    rows = np.random.default_rng(start).choice(X.shape[0], k, replace=False)
    works: dict[Hashable, Callable[[], Any]] = {
        method: partial(seed, X, k, method=method, random_state=start, n_threads=1)
        for method in METHODS
    }
    works["set-up", ""] = partial(checked_rows, X, n_threads=1)
    works["lloyd", "short"] = partial(_lloyd, X, rows, 1)
    works["lloyd", "long"] = partial(_lloyd, X, rows, most)
    for peer_rows in (X, X.astype(np.float64)) if compared else ():
        for method, trials in TRIALS.items():
            works["scikit-learn", method, str(peer_rows.dtype)] = partial(
                kmeans_plusplus, peer_rows, k, n_local_trials=trials, random_state=start
            )
    return works


def _lloyd(X: Any, rows: NDArray[np.int64], iterations: int) -> int:
    """The iterations made."""
    model = SphericalKMeans(
        len(rows),
        init=rows,
        algorithm="lloyd",
        max_iter=iterations,
        n_threads=1,
        empty_cluster="keep",
    )
    return int(model.fit(X).n_iter_)


def _record(
    name: str, X: Any, k: int, method: str, measured: Mapping[Hashable, Measured]
) -> SeedingTime:
    own = measured[method]
    seconds = max(0.0, own.seconds - measured["set-up", ""].seconds)
    short, long = measured["lloyd", "short"], measured["lloyd", "long"]
    lloyd = (long.seconds - short.seconds) / (long.result - short.result)
    peers = [measured.get(("scikit-learn", method, dtype)) for dtype in ("float32", "float64")]
    peer = min((found.seconds for found in peers if found), default=None)
    stored = X.nnz if sp.issparse(X) else X.size
    return SeedingTime(
        data=name,
        k=k,
        method=method,
        seconds=seconds,
        lloyd_iteration=lloyd,
        share_of_iteration=seconds / lloyd,
        with_set_up=own.seconds,
        scikit_learn=peer or ("skipped" if method in TRIALS else None),
        scikit_learn_ratio=peer / own.seconds if peer else None,
        entries_read=own.result.entries / (stored * k) if method in TRIALS else None,
    )
