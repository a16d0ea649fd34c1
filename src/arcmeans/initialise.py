"""Initial centers: the seedings of the paper and their relatives, each a few lines over one search.

Every method draws rows, and never two of one direction while others are left. A draw depends on the
random state and on exact similarities summed in integers, so it is the same for any number of
threads, container, index type or chunking.

What k-means++ and its greedy form compute on the way, the similarity of every row to every seed, is
just what the first assign pass would compute: it is kept, and the loop begins with it.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from . import _core
from .caution import caution
from .centers import fixed_entries, place_rows
from .engine import Engine, EngineOptions
from .result import FirstPass
from .rows import Rows, subset, unit_rows
from .validation import checked_centers, checked_indices


@dataclass(frozen=True)
class SeedOptions:
    """The parameters of the methods; each uses those that concern it."""

    alpha: float = 1.0
    """Rows are drawn in proportion to alpha − (their largest similarity to a seed)."""
    chain_length: int = 200
    """Steps of each Markov chain of afk-mc2."""
    n_local_trials: int | None = None
    """Candidates for each seed of greedy-k-means++; None: 2 + ⌊ln n_clusters⌋."""
    oversampling: float = 2.0
    """k-means|| draws about this times n_clusters candidates in a round."""
    rounds: int = 5
    """Rounds of k-means||."""


@dataclass(frozen=True)
class Seeds:
    """Chosen rows, and what choosing them was worth."""

    indices: NDArray[np.int64]
    similarities: int
    """Row–seed similarities computed."""
    entries: int
    """Stored values read for them: few, where posting lists were walked."""
    seconds: float
    first_pass: FirstPass | None = None
    """Known where every row was compared with every seed."""


Chosen = tuple[NDArray[np.int64], "_Search | None"]
"""The rows chosen, and the search that found them where there was one."""


class _Search:
    """Rows chosen one after another, with the similarities of all rows to those chosen."""

    def __init__(
        self, rows: Rows, n_seeds: int, random_state: np.random.RandomState, n_threads: int
    ) -> None:
        self.rows = rows
        self.random_state = random_state
        self.n_threads = n_threads
        self.hashes = rows.hashes(np.arange(rows.n_rows), n_threads)
        self.native = _core.native.SeedSearch(rows.native(), n_seeds)
        self.indices: list[int] = []
        self.similarities = 0
        self.entries = 0

    def compare(self, i: int) -> NDArray[np.float64]:
        """The similarity of every row to row i."""
        features, values, scale = fixed_entries(self.rows, self.rows, i)
        similarities = np.empty(self.rows.n_rows)
        self.entries += self.native.similarities(
            features, values, scale, self.n_threads, similarities
        )
        self.similarities += len(similarities)
        return similarities

    def choose(self, i: int, similarities: NDArray[np.float64] | None = None) -> None:
        """Makes row i the next seed."""
        if similarities is None:
            similarities = self.compare(i)
        j = len(self.indices)
        self.native.add(j, similarities, self.hashes, int(self.hashes[i]), self.n_threads)
        self.indices.append(i)

    def draw(self, alpha: float, size: int = 1) -> list[int]:
        """Rows in proportion to weight·(alpha − best); none where no direction is left."""
        total = self.native.weigh(alpha, None, self.n_threads)
        if total > 0:
            at = self.random_state.randint(total, size=size, dtype=np.int64)
            return [self.native.find(int(a)) for a in at]
        # What is left lies within rounding of the seeds, or none is left.
        left = self.native.open()
        if left == 0:
            return []
        return [self.native.nth_open(int(a)) for a in self.random_state.randint(left, size=size)]

    def first_pass(self) -> FirstPass:
        native = self.native
        return FirstPass(np.array(native.labels), np.array(native.best), np.array(native.second))


def _random(
    rows: Rows,
    n_clusters: int,
    options: SeedOptions,
    random_state: np.random.RandomState,
    n_threads: int,
) -> Chosen:
    """Uniform over the distinct directions, without replacement.

    Each direction gets a number from the random state and its own content, and the smallest win:
    the draw does not depend on the order of the rows, nor on how often one occurs.
    """
    keys = _scrambled(rows.hashes(rows.usable, n_threads), random_state)
    taken = 2 * n_clusters + 16
    while True:  # more and more of the smallest keys, until enough of them are distinct
        taken = min(taken, len(keys))
        smallest = np.argpartition(keys, taken - 1)[:taken]
        distinct, first = np.unique(keys[smallest], return_index=True)
        if len(distinct) >= n_clusters or taken == len(keys):
            return rows.usable[smallest[first]][:n_clusters], None
        taken *= 4


def _kmeans_plus_plus(
    rows: Rows,
    n_clusters: int,
    options: SeedOptions,
    random_state: np.random.RandomState,
    n_threads: int,
) -> Chosen:
    """k-means++ (Arthur and Vassilvitskii, 2007) by cosine, as in the paper.

    The first seed by weight alone, each other in proportion to alpha − max similarity; with
    alpha = 1.5 the dissimilarity is a metric (Endo and Miyamoto, 2015).
    """
    search = _Search(rows, n_clusters, random_state, n_threads)
    while len(search.indices) < n_clusters and (drawn := search.draw(options.alpha)):
        search.choose(drawn[0])
    return np.array(search.indices), search


def _greedy(
    rows: Rows,
    n_clusters: int,
    options: SeedOptions,
    random_state: np.random.RandomState,
    n_threads: int,
) -> Chosen:
    """k-means++ that draws several candidates for each seed and keeps the best of them."""
    trials = options.n_local_trials or 2 + int(np.log(n_clusters))
    search = _Search(rows, n_clusters * trials, random_state, n_threads)
    search.choose(search.draw(options.alpha)[0])
    while len(search.indices) < n_clusters and (drawn := search.draw(options.alpha, trials)):
        best, best_left, best_similarities = -1, -1, None
        for i in dict.fromkeys(drawn):
            similarities = search.compare(i)
            left = search.native.weigh(options.alpha, similarities, n_threads)
            if best < 0 or left < best_left:
                best, best_left, best_similarities = i, left, similarities
        search.choose(best, best_similarities)
    return np.array(search.indices), search


def _afk_mc2(
    rows: Rows,
    n_clusters: int,
    options: SeedOptions,
    random_state: np.random.RandomState,
    n_threads: int,
) -> Chosen:
    """AFK-MC² (Bachem et al., 2016), spherical as in Pratap et al. (2018).

    One pass for the proposal, half by distance to the first seed and half uniform; then a Markov
    chain for each seed, whose candidates alone are compared with the seeds so far.
    """
    search = _Search(rows, 1, random_state, n_threads)
    search.choose(search.draw(options.alpha)[0])
    total = search.native.weigh(options.alpha, None, n_threads)
    weights = np.zeros(rows.n_rows)
    weights[rows.usable] = 1.0 if rows.weights is None else rows.weights[rows.usable]
    proposal = weights / weights.sum()
    if total > 0:
        proposal = 0.5 * proposal + 0.5 * (search.native.weights / total)
    reach = np.cumsum(proposal)

    centers = _core.native.Centers(n_clusters, rows.n_features, rows.one)
    for j in range(1, n_clusters):
        features, values, _ = fixed_entries(rows, rows, search.indices[-1])
        centers.place(j - 1, features, values)
        at = random_state.random_sample(options.chain_length) * reach[-1]
        candidates = np.minimum(np.searchsorted(reach, at, side="right"), rows.usable[-1])
        labels, best = np.empty(len(candidates), np.int32), np.empty(len(candidates))
        _core.native.nearest(rows.native(), centers, candidates, n_threads, labels, best)
        search.similarities += j * len(candidates)
        far = np.maximum(options.alpha - best, 0.0)
        taken = search.hashes[search.indices]
        far[np.isin(search.hashes[candidates], taken)] = 0.0
        here = _walk(far, proposal[candidates], random_state.random_sample(len(candidates)))
        if far[here] > 0:
            search.indices.append(int(candidates[here]))
            continue
        # The chain met no direction that is new.
        left = rows.usable[~np.isin(search.hashes[rows.usable], taken)]
        if not len(left):
            break
        search.indices.append(int(left[random_state.randint(len(left))]))
    return np.array(search.indices), search


def _walk(far: NDArray[Any], proposal: NDArray[Any], chance: NDArray[Any]) -> int:
    """The end of a Metropolis–Hastings walk through candidates drawn from the proposal."""
    here = 0
    for there in range(1, len(far)):
        # Accepted with probability min(1, far′·q / (far·q′)), without dividing.
        if far[there] * proposal[here] > chance[there] * far[here] * proposal[there]:
            here = there
    return here


def _kmeans_parallel(
    rows: Rows,
    n_clusters: int,
    options: SeedOptions,
    random_state: np.random.RandomState,
    n_threads: int,
) -> Chosen:
    """k-means|| (Bahmani et al., 2012): a few rounds of many independent draws, then k-means++.

    Each round every row is drawn with a probability in proportion to alpha − best; the candidates,
    weighted by the rows nearest to them, are then reduced to n_clusters by k-means++.
    """
    search = _Search(rows, 1, random_state, n_threads)
    search.choose(search.draw(options.alpha)[0])
    candidates = [search.indices[0]]
    best, labels = np.array(search.native.best), np.zeros(rows.n_rows, np.int64)
    weights = np.zeros(rows.n_rows)
    weights[rows.usable] = 1.0 if rows.weights is None else rows.weights[rows.usable]
    for _ in range(options.rounds):
        far = weights * np.clip(options.alpha - best, 0.0, None)
        drawn = _independent_draws(far, options.oversampling * n_clusters, random_state)
        drawn = drawn[~np.isin(search.hashes[drawn], search.hashes[candidates])]
        drawn = drawn[np.sort(np.unique(search.hashes[drawn], return_index=True)[1])]
        if not len(drawn):
            continue
        found, similarities = _nearest(rows, place_rows(rows, rows, drawn), len(drawn), n_threads)
        search.similarities += len(drawn) * rows.n_rows
        nearer = similarities > best
        labels[nearer] = found[nearer] + len(candidates)
        best[nearer] = similarities[nearer]
        candidates.extend(int(i) for i in drawn)
    nearby = np.bincount(labels, weights, len(candidates)).astype(np.float64)
    reduced = subset(rows, np.array(candidates), nearby)
    indices, inner = _kmeans_plus_plus(reduced, n_clusters, options, random_state, n_threads)
    search.similarities += inner.similarities if inner else 0
    picked = [candidates[i] for i in indices]
    return np.array(_topped_up(search, picked, n_clusters, options)), search


def _nearest(
    rows: Rows, centers: _core.native.Centers, n_centers: int, n_threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The nearest of the centers for every row, by a pass of Lloyd, and how similar it is."""
    engine = Engine(rows, n_centers, EngineOptions(n_threads=n_threads))
    engine.assign(centers)
    similarities = np.empty(rows.n_rows)
    _core.native.own_similarities(rows.native(), centers, engine.labels, n_threads, similarities)
    return engine.labels, similarities


def _independent_draws(
    far: NDArray[np.float64], expected: float, random_state: np.random.RandomState
) -> NDArray[np.int64]:
    """Each row by itself, with probability min(1, expected·far/Σ far)."""
    # Chances by row number and a sum rounded once: the same however the rows are split.
    chance = _scrambled(np.arange(len(far), dtype=np.uint64), random_state) / 2.0**64
    return np.flatnonzero(chance * math.fsum(far) < expected * far)


def _topped_up(
    search: _Search, picked: list[int], n_clusters: int, options: SeedOptions
) -> list[int]:
    """Too few candidates: the rest is drawn from all rows."""
    if len(picked) < n_clusters:
        for i in picked:
            if i != search.indices[0]:
                search.choose(i)
        while len(picked) < n_clusters and (drawn := search.draw(options.alpha)):
            search.choose(drawn[0])
            picked.append(drawn[0])
    return picked


METHODS: dict[str, Callable[[Rows, int, SeedOptions, np.random.RandomState, int], Chosen]] = {
    "random": _random,
    "k-means++": _kmeans_plus_plus,
    "greedy-k-means++": _greedy,
    "afk-mc2": _afk_mc2,
    "k-means||": _kmeans_parallel,
}


def choose_rows(
    rows: Rows,
    n_clusters: int,
    method: str,
    options: SeedOptions,
    random_state: np.random.RandomState,
    n_threads: int,
) -> Seeds:
    """Seeds by one of the methods; a warning, and repeated rows, where directions run out."""
    started = time.perf_counter()
    indices, search = METHODS[method](rows, n_clusters, options, random_state, n_threads)
    first_pass = None
    if len(indices) < n_clusters:
        caution(
            f"The rows have only {len(indices)} distinct directions, fewer than "
            f"n_clusters={n_clusters}: {n_clusters - len(indices)} clusters stay empty.",
            ConvergenceWarning,
        )
        indices = np.resize(indices, n_clusters)
    elif search and method in ("k-means++", "greedy-k-means++"):
        first_pass = search.first_pass()
    return Seeds(
        indices=np.asarray(indices, np.int64),
        similarities=search.similarities if search else 0,
        entries=search.entries if search else 0,
        seconds=time.perf_counter() - started,
        first_pass=first_pass,
    )


def asked_centers(
    layout: Rows,
    rows: Rows,
    X: Any,
    n_clusters: int,
    init: Any,
    random_state: np.random.RandomState,
    n_threads: int,
) -> _core.native.Centers:
    """Centers for use with ``layout``, from what a caller gives that is no word.

    An array of centers, numbers of rows, or a callable that returns either.
    """
    if callable(init):
        init = init(X, n_clusters=n_clusters, random_state=random_state)
    if np.ndim(init) == 1 and np.issubdtype(np.asarray(init).dtype, np.integer):
        which = checked_indices(np.asarray(init), n_clusters, rows)
        return place_rows(layout, rows, which)
    return given_centers(layout, checked_centers(init, n_clusters, rows), n_threads)


def given_centers(rows: Rows, init: Any, n_threads: int) -> _core.native.Centers:
    """Centers from a validated array, dense or sparse."""
    seeds = unit_rows(init, n_threads=n_threads, name="init")
    if np.any(seeds.zero):
        raise ValueError(
            f"init has an all-zero row, {int(np.argmax(seeds.zero))}: a center needs a direction."
        )
    return place_rows(rows, seeds)


def _scrambled(
    numbers: NDArray[np.uint64], random_state: np.random.RandomState
) -> NDArray[np.uint64]:
    """Random keys for numbers: SplitMix64's finalizer (Steele, Lea and Flood, 2014), seeded."""
    high, low = random_state.randint(2**32, size=2, dtype=np.int64)
    keys = numbers ^ np.uint64((int(high) << 32) | int(low))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    return keys ^ (keys >> np.uint64(31))
