"""Initial centers."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from . import _core
from .centers import place_rows
from .rows import Rows, unit_rows


def random_rows(
    rows: Rows, n_clusters: int, random_state: np.random.RandomState
) -> NDArray[np.int64]:
    """Rows drawn uniformly, without two of the same direction while there are others.

    The draw depends on the random state, the number of rows and which of them are equal: not on
    container, index type or threads.
    """
    order = random_state.permutation(rows.usable)
    native = rows.native()
    taken = min(len(order), 2 * n_clusters + 16)
    while True:  # a longer and longer beginning of the permutation, until it has enough
        hashes = np.empty(taken, np.uint64)
        _core.native.hash_rows(native, order[:taken], hashes)
        first = np.sort(np.unique(hashes, return_index=True)[1])
        if len(first) >= n_clusters or taken == len(order):
            break
        taken = min(len(order), 4 * taken)
    if len(first) < n_clusters:
        warnings.warn(
            f"The rows have only {len(first)} distinct directions, fewer than "
            f"n_clusters={n_clusters}: {n_clusters - len(first)} clusters stay empty.",
            ConvergenceWarning,
            stacklevel=4,
        )
        repeats = np.setdiff1d(np.arange(taken), first, assume_unique=True)
        first = np.concatenate([first, repeats])
    return order[first[:n_clusters]]


def initial_centers(
    rows: Rows,
    n_clusters: int,
    init: Any,
    random_state: np.random.RandomState,
    n_threads: int,
) -> Any:
    """Centers for the core, from the word or the validated array given as ``init``."""
    if isinstance(init, str):
        return place_rows(rows, rows, random_rows(rows, n_clusters, random_state))
    seeds = unit_rows(init, n_threads=n_threads, name="init")
    if np.any(seeds.zero):
        raise ValueError(
            f"init has an all-zero row, {int(np.argmax(seeds.zero))}: a center needs a direction."
        )
    return place_rows(rows, seeds)
