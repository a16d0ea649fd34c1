"""``seed``: initial centers as a function of their own."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .._engines.places import open_place
from .._rows.containers import check_enough
from .._rows.rows import Rows, warn_of_zero_rows
from .._seeding.methods import METHODS, Seeds, choose_rows
from .._seeding.options import SeedOptions
from .._seeding.search import TellFirstPass
from .._support.checks import check_integer, check_number, check_option, threads


@dataclass(frozen=True)
class Seeding:
    """Initial centers and what was computed to choose them."""

    indices: NDArray[np.int64]
    """The rows chosen."""
    similarities: int
    """Row–seed similarities computed."""
    entries: int
    """Stored values of X read for them: few, where posting lists were walked."""
    seconds: float
    labels: NDArray[np.int32] | None
    """The most similar seed of each row (−1: no direction), where the method compared them all."""
    max_similarity: NDArray[np.float64] | None
    """The similarity to that seed."""
    second_similarity: NDArray[np.float64] | None
    """The largest similarity to another seed."""
    _rows: Rows

    @cached_property
    def centers(self) -> NDArray[Any]:
        """The chosen rows, of unit length, ``(n_clusters, n_features)`` in the dtype of X."""
        centers = np.zeros((len(self.indices), self._rows.n_features), self._rows.values.dtype)
        for i, center in enumerate(centers):
            features, values = self._rows.entries(i)
            center[features] = values
        return centers


def seed(
    X: Any,
    n_clusters: int,
    *,
    method: str = "k-means++",
    alpha: float = 1.0,
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_threads: int | None = None,
    chain_length: int = 200,
    n_local_trials: int | None = None,
    oversampling: float = 2.0,
    rounds: int = 5,
) -> Seeding:
    """Choose rows of X as initial centers for spherical k-means.

    No method draws two rows of one direction while others are left; where they run out, a warning
    says so and rows are repeated. The draw is the same for any number of threads and container.

    Parameters
    ----------
    X : {array-like, sparse matrix or array, RowStore} of shape (n_samples, n_features)
    n_clusters : int
        The number of seeds.
    method : {"random", "k-means++", "greedy-k-means++", "afk-mc2", "k-means||"}, \
default="k-means++"
        - ``"random"``: uniform over the distinct directions.
        - ``"k-means++"``: the first in proportion to its weight, each other in proportion to its
          weight times alpha − (largest similarity to a seed).
        - ``"greedy-k-means++"``: the best of ``n_local_trials`` such draws each time.
        - ``"afk-mc2"``: a Markov chain in place of the exact draw; one pass over X in all.
        - ``"k-means||"``: ``rounds`` rounds of about ``oversampling``·n_clusters draws each, then
          k-means++ among them; few passes over X, for large n_clusters.
    alpha : float, default=1.0
        1 is the cosine; 1.5 and above a metric (Endo and Miyamoto).
    sample_weight : array-like of shape (n_samples,), default=None
    random_state : int, RandomState instance or None, default=None
    n_threads : int or None, default=None
    chain_length : int, default=200
        Steps of each chain of afk-mc2.
    n_local_trials : int or None, default=None
        None is scikit-learn's 2 + ⌊ln n_clusters⌋.
    oversampling : float, default=2.0
    rounds : int, default=5

    Returns
    -------
    Seeding
        ``indices``, ``centers``, and what was computed.
    """
    check_integer("n_clusters", n_clusters, 1)
    check_option("method", method, METHODS)
    check_number("alpha", alpha, 1)
    check_integer("chain_length", chain_length, 1)
    check_integer("rounds", rounds, 1)
    check_number("oversampling", oversampling, 0)
    if n_local_trials is not None:
        check_integer("n_local_trials", n_local_trials, 1)
    place = open_place(X, sample_weight=sample_weight, n_threads=threads(n_threads))
    check_enough(place.census, n_clusters)
    warn_of_zero_rows(place.census)
    options = SeedOptions(alpha, chain_length, n_local_trials, oversampling, rounds)
    state = check_random_state(random_state)
    seeds: Seeds = choose_rows(place, n_clusters, method, options, state)
    known = place.each(TellFirstPass()) if seeds.compared else None
    return Seeding(
        indices=seeds.indices,
        similarities=seeds.similarities,
        entries=seeds.entries,
        seconds=seeds.seconds,
        labels=None if known is None else np.concatenate([part.labels for part in known]),
        max_similarity=None if known is None else np.concatenate([part.best for part in known]),
        second_similarity=None if known is None else np.concatenate([p.second for p in known]),
        _rows=place.take(seeds.indices),
    )
