"""Initial centers: the seedings of the paper and their relatives, each a few lines over one search.

Every method draws rows, and never two of one direction while others are left. A draw depends on the
random state and on exact similarities summed in integers, so it is the same for any number of
threads, container, index type or chunking.

What k-means++ and its greedy form compute on the way, the similarity of every row to every seed, is
just what the first assign pass would compute: it is kept, and the loop begins with it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .. import _core
from .._centers.placing import empty_centers, place_rows
from .._engines.parts import LocalParts, Parts
from .._rows.containers import checked_centers, checked_indices
from .._rows.rows import AnyCensus, Rows
from .._rows.unit_rows import unit_rows
from .._support.caution import caution
from .part import Seed, seed_at


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
    compared: bool = False
    """Whether every row was compared with every seed: then the parts know the first pass."""


Chosen = tuple[NDArray[np.int64], "_Search | None"]
"""The rows chosen, and the search that found them where there was one."""


class _Search:
    """Rows chosen one after another, with the similarities of all rows to those chosen."""

    def __init__(self, parts: Parts, n_seeds: int, random_state: np.random.RandomState) -> None:
        self.parts = parts
        self.random_state = random_state
        self.indices: list[int] = []
        self.directions: list[int] = []
        self.similarities = 0
        self.entries = 0
        parts.each("begin", n_seeds)

    def seed(self, i: int) -> Seed:
        return seed_at(self.parts.census, self.parts.take(np.array([i])))

    def choose(self, i: int, seed: Seed | None = None) -> None:
        """Makes row i the next seed."""
        seed = seed or self.seed(i)
        self.entries += sum(self.parts.each("choose", len(self.indices), seed))
        self.similarities += self.parts.census.n_rows
        self._chosen(i, seed)

    def choose_best(self, drawn: list[int], alpha: float) -> None:
        """Makes that one of the rows the next seed which leaves the least to be drawn from."""
        rows, census = self.parts.take(np.array(drawn)), self.parts.census
        seeds = [seed_at(census, rows, i) for i in range(len(drawn))]
        found = self.parts.each("compare", seeds, alpha)
        left = [sum(part[c] for part, _ in found) for c in range(len(drawn))]
        best = left.index(min(left))
        self.parts.each("keep", len(self.indices), best, seeds[best])
        self.entries += sum(entries for _, entries in found)
        self.similarities += len(drawn) * self.parts.census.n_rows
        self._chosen(drawn[best], seeds[best])

    def _chosen(self, i: int, seed: Seed) -> None:
        self.indices.append(i)
        self.directions.append(seed.direction)

    def draw(self, alpha: float, size: int = 1) -> list[int]:
        """Rows in proportion to weight·(alpha − best); none where no direction is left."""
        totals = self.parts.each("weigh", alpha)
        if sum(totals) > 0:
            return [int(i) for i in self.found(totals, size, "find")]
        # What is left lies within rounding of the seeds, or none is left.
        left = self.parts.each("open")
        return [int(i) for i in self.found(left, size, "nth_open")] if sum(left) else []

    def found(self, totals: list[int], size: int, step: str) -> NDArray[np.int64]:
        """Rows at numbers drawn below the sum of the totals of the parts."""
        at = self.random_state.randint(sum(totals), size=size, dtype=np.int64)
        reach = np.cumsum(totals)
        parts = np.searchsorted(reach, at, side="right")
        rows = np.empty(size, np.int64)
        for p in np.unique(parts):
            here = parts == p
            rows[here] = self.parts.at(int(p), step, at[here] - (reach[p] - totals[p]))
        return rows


def _random(
    parts: Parts, n_clusters: int, options: SeedOptions, random_state: np.random.RandomState
) -> Chosen:
    """Uniform over the distinct directions, without replacement.

    Each direction gets a number from the random state and its own content, and the smallest win:
    the draw does not depend on the order of the rows, nor on how often one occurs.
    """
    found = parts.each("smallest", _salt(random_state), n_clusters)
    keys = np.concatenate([keys for keys, _ in found])
    rows = np.concatenate([rows for _, rows in found])
    return rows[np.unique(keys, return_index=True)[1]][:n_clusters], None


def _kmeans_plus_plus(
    parts: Parts, n_clusters: int, options: SeedOptions, random_state: np.random.RandomState
) -> Chosen:
    """k-means++ (Arthur and Vassilvitskii, 2007) by cosine, as in the paper.

    The first seed by weight alone, each other in proportion to alpha − max similarity; with
    alpha = 1.5 the dissimilarity is a metric (Endo and Miyamoto, 2015).
    """
    search = _Search(parts, n_clusters, random_state)
    while len(search.indices) < n_clusters and (drawn := search.draw(options.alpha)):
        search.choose(drawn[0])
    return np.array(search.indices), search


def _greedy(
    parts: Parts, n_clusters: int, options: SeedOptions, random_state: np.random.RandomState
) -> Chosen:
    """k-means++ that draws several candidates for each seed and keeps the best of them."""
    trials = options.n_local_trials or 2 + int(np.log(n_clusters))
    search = _Search(parts, n_clusters * trials, random_state)
    search.choose(search.draw(options.alpha)[0])
    while len(search.indices) < n_clusters and (drawn := search.draw(options.alpha, trials)):
        search.choose_best(list(dict.fromkeys(drawn)), options.alpha)
    return np.array(search.indices), search


def _afk_mc2(
    parts: Parts, n_clusters: int, options: SeedOptions, random_state: np.random.RandomState
) -> Chosen:
    """AFK-MC² (Bachem et al., 2016), spherical as in Pratap et al. (2018).

    One pass for the proposal, half by distance to the first seed and half by weight alone; then a
    Markov chain for each seed, whose candidates alone are compared with the seeds so far. The
    proposal stays as it is, so all candidates are drawn at the start.
    """
    search = _Search(parts, 1, random_state)
    alpha, length = options.alpha, options.chain_length
    by_weight = parts.each("weigh", alpha)  # of rows that no seed is near to
    first = int(search.found(by_weight, 1, "find")[0])
    size = (n_clusters - 1) * length
    coins = random_state.randint(2, size=size).astype(bool)
    drawn = search.found(by_weight, size, "find")
    search.choose(first)
    by_distance = parts.each("weigh", alpha)
    total = sum(by_distance)
    if total > 0:
        drawn[coins] = search.found(by_distance, int(coins.sum()), "find")

    which, at = np.unique(drawn, return_inverse=True)
    chains = at.reshape(n_clusters - 1, length)
    pool = parts.take(which)
    weights = np.ones(len(which)) if pool.weights is None else pool.weights
    proposal = weights / (parts.census.total_weight * parts.census.weight_scale)
    if total > 0:
        proposal = 0.5 * proposal + 0.5 * (_weights_of(parts, which) / total)
    return _walks(search, pool, which, chains, proposal, n_clusters, alpha)


def _weights_of(parts: Parts, which: NDArray[np.int64]) -> NDArray[np.int64]:
    """What each of these rows, in ascending order, weighed when last it was asked for."""
    at = np.searchsorted(which, parts.starts)
    found = [
        parts.at(p, "weights_of", which[begin:end])
        for p, (begin, end) in enumerate(pairwise(at))
        if begin < end
    ]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _walks(
    search: _Search,
    pool: Rows,
    which: NDArray[np.int64],
    chains: NDArray[np.int64],
    proposal: NDArray[np.float64],
    n_clusters: int,
    alpha: float,
) -> Chosen:
    """The chains of AFK-MC² over candidates at hand; ``which`` are their numbers."""
    parts, random_state = search.parts, search.random_state
    directions = pool.hashes(np.arange(pool.n_rows))
    centers = empty_centers(pool, n_clusters, pool.one)
    seed = search.seed(search.indices[0])
    for j, chain in enumerate(chains):
        centers.place(j, seed.features, seed.values)
        labels, best = np.empty(len(chain), np.int32), np.empty(len(chain))
        _core.native.nearest(pool.native(), centers, chain, 1, labels, best)
        search.similarities += (j + 1) * len(chain)
        far = np.maximum(alpha - best, 0.0)
        taken = np.array(search.directions, np.uint64)
        far[np.isin(directions[chain], taken)] = 0.0
        here = _walk(far, proposal[chain], random_state.random_sample(len(chain)))
        if far[here] > 0:
            i = int(which[chain[here]])
        else:  # the chain met no direction that is new
            left = parts.each("left", taken)
            if not sum(left):
                break
            at = int(random_state.randint(sum(left)))
            reach = np.cumsum(left)
            p = int(np.searchsorted(reach, at, side="right"))
            i = parts.at(p, "nth_left", taken, at - int(reach[p] - left[p]))
        seed = search.seed(i)
        search.indices.append(i)
        search.directions.append(seed.direction)
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
    parts: Parts, n_clusters: int, options: SeedOptions, random_state: np.random.RandomState
) -> Chosen:
    """k-means|| (Bahmani et al., 2012): a few rounds of many independent draws, then k-means++.

    Each round every row is drawn with a probability in proportion to alpha − best; the candidates,
    weighted by the rows nearest to them, are then reduced to n_clusters by k-means++.
    """
    search = _Search(parts, 1, random_state)
    search.choose(search.draw(options.alpha)[0])
    alpha, expected = options.alpha, options.oversampling * n_clusters
    candidates, directions = list(search.indices), list(search.directions)
    parts.each("begin_rounds")
    for _ in range(options.rounds):
        total = float(sum(parts.each("far_total", alpha)))
        drawn = np.concatenate(
            parts.each("oversample", alpha, _salt(random_state), expected, total)
        )
        if not len(drawn):
            continue
        pool = parts.take(drawn)
        found = pool.hashes(np.arange(len(drawn)))
        new = np.sort(np.unique(found, return_index=True)[1])
        new = new[~np.isin(found[new], np.array(directions, np.uint64))]
        if not len(new):
            continue
        parts.each("approach", pool.take(new), len(candidates))
        search.similarities += len(new) * parts.census.n_rows
        candidates.extend(drawn[new].tolist())
        directions.extend(found[new].tolist())
    nearby = np.sum(parts.each("nearby", len(candidates)), axis=0) / parts.census.one
    pool = parts.take(np.array(candidates))
    reduced = LocalParts(pool.reweighted(nearby), 1)
    indices, inner = _kmeans_plus_plus(reduced, n_clusters, options, random_state)
    search.similarities += inner.similarities if inner else 0
    chosen = [candidates[i] for i in indices]
    return np.array(_topped_up(search, chosen, n_clusters, options)), search


def _topped_up(
    search: _Search, chosen: list[int], n_clusters: int, options: SeedOptions
) -> list[int]:
    """Too few candidates: the rest is drawn from all rows."""
    if len(chosen) < n_clusters:
        for i in chosen:
            if i != search.indices[0]:
                search.choose(i)
        while len(chosen) < n_clusters and (drawn := search.draw(options.alpha)):
            search.choose(drawn[0])
            chosen.append(drawn[0])
    return chosen


METHODS: dict[str, Callable[[Parts, int, SeedOptions, np.random.RandomState], Chosen]] = {
    "random": _random,
    "k-means++": _kmeans_plus_plus,
    "greedy-k-means++": _greedy,
    "afk-mc2": _afk_mc2,
    "k-means||": _kmeans_parallel,
}


def choose_rows(
    parts: Parts,
    n_clusters: int,
    method: str,
    options: SeedOptions,
    random_state: np.random.RandomState,
) -> Seeds:
    """Seeds by one of the methods; a warning, and repeated rows, where directions run out."""
    started = time.perf_counter()
    indices, search = METHODS[method](parts, n_clusters, options, random_state)
    compared = False
    if len(indices) < n_clusters:
        caution(
            f"The rows have only {len(indices)} distinct directions, fewer than "
            f"n_clusters={n_clusters}: {n_clusters - len(indices)} clusters stay empty.",
            ConvergenceWarning,
        )
        indices = np.resize(indices, n_clusters)
    elif search and method in ("k-means++", "greedy-k-means++"):
        compared = True
    if search and not compared:
        parts.each("end")
    return Seeds(
        indices=np.asarray(indices, np.int64),
        similarities=search.similarities if search else 0,
        entries=search.entries if search else 0,
        seconds=time.perf_counter() - started,
        compared=compared,
    )


def asked_centers(
    census: AnyCensus,
    parts: Parts,
    X: Any,
    n_clusters: int,
    init: Any,
    random_state: np.random.RandomState,
    n_threads: int,
) -> _core.native.Centers:
    """Centers for rows of ``census``, from what a caller gives that is no word.

    An array of centers, numbers of rows, or a callable that returns either.
    """
    if callable(init):
        init = init(X, n_clusters=n_clusters, random_state=random_state)
    if np.ndim(init) == 1 and np.issubdtype(np.asarray(init).dtype, np.integer):
        which = checked_indices(np.asarray(init), n_clusters, parts.census)
        seeds = parts.take(which)
        if seeds.zero.any():
            raise ValueError(
                f"init names row {which[np.argmax(seeds.zero)]}, which is all zero: a center needs "
                "a direction."
            )
        return place_rows(census, seeds)
    return given_centers(census, checked_centers(init, n_clusters, parts.census), n_threads)


def given_centers(rows: AnyCensus, init: Any, n_threads: int) -> _core.native.Centers:
    """Centers from a validated array, dense or sparse."""
    seeds = unit_rows(init, n_threads=n_threads, name="init")
    if np.any(seeds.zero):
        raise ValueError(
            f"init has an all-zero row, {int(np.argmax(seeds.zero))}: a center needs a direction."
        )
    return place_rows(rows, seeds)


def _salt(random_state: np.random.RandomState) -> int:
    high, low = random_state.randint(2**32, size=2, dtype=np.int64)
    return (int(high) << 32) | int(low)
