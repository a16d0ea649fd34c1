"""The methods that choose rows as initial centers, by name.

Every method draws rows, and never two of one direction while others are left. A draw depends on the
random state and on exact similarities summed in integers, so it is the same for any number of
threads, container, index type or chunking.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._support.caution import caution
from .afk_mc2 import afk_mc2
from .options import SeedOptions
from .parallel import kmeans_parallel
from .plus_plus import greedy_plus_plus, plus_plus
from .search import Chosen
from .steps import SeedPlace
from .uniform import uniform

METHODS: dict[str, Callable[[SeedPlace, int, SeedOptions, np.random.RandomState], Chosen]] = {
    "random": uniform,
    "k-means++": plus_plus,
    "greedy-k-means++": greedy_plus_plus,
    "afk-mc2": afk_mc2,
    "k-means||": kmeans_parallel,
}
COMPARING = ("k-means++", "greedy-k-means++")
"""The methods that compare every row with every seed."""


@dataclass(frozen=True)
class Seeds:
    """Chosen rows, and what was computed to choose them."""

    indices: NDArray[np.int64]
    similarities: int
    """Row–seed similarities computed."""
    entries: int
    """Stored values read for them: few, where posting lists were walked."""
    seconds: float
    compared: bool = False
    """Whether every row was compared with every seed: then the place knows the first pass."""


def choose_rows(
    place: SeedPlace,
    n_clusters: int,
    method: str,
    options: SeedOptions,
    random_state: np.random.RandomState,
) -> Seeds:
    """Seeds by one of the methods; a warning, and repeated rows, where directions run out."""
    started = time.perf_counter()
    indices, seeding = METHODS[method](place, n_clusters, options, random_state)
    compared = method in COMPARING and len(indices) == n_clusters
    if len(indices) < n_clusters:
        caution(
            f"The rows have only {len(indices)} distinct directions, fewer than "
            f"n_clusters={n_clusters}: {n_clusters - len(indices)} clusters stay empty.",
            ConvergenceWarning,
        )
        indices = np.resize(indices, n_clusters)
    if seeding and not compared:
        place.end_seeding()
    return Seeds(
        indices=np.asarray(indices, np.int64),
        similarities=seeding.n_similarities if seeding else 0,
        entries=seeding.n_entries if seeding else 0,
        seconds=time.perf_counter() - started,
        compared=compared,
    )
