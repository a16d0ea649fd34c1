"""AFK-MC² (Bachem et al., 2016), spherical as in Pratap et al. (2018).

One pass over the rows gives the proposal, half by distance to the first seed and half by weight
alone. Then each seed is the end of a Markov chain whose candidates alone are compared with the
seeds so far. The proposal stays as it is, so all candidates are drawn at the start.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import empty_centers
from .._rows.rows import Rows
from .options import SeedOptions
from .search import Chosen, Find, Search, Weigh
from .steps import SeedPlace, SeedState, Step


@dataclass(frozen=True, eq=False)
class WeightsOf(Step[NDArray[np.int64]]):
    """What ``Weigh`` found for some rows."""

    reads_entries = False
    which: NDArray[np.int64]

    def on(self, rows: Rows, state: SeedState) -> NDArray[np.int64]:
        return state.search.weights[self.which - state.first]


@dataclass(frozen=True, eq=False)
class CountLeft(Step[int]):
    """How many usable rows have other directions than these."""

    reads_entries = False
    directions: NDArray[np.uint64]

    def on(self, rows: Rows, state: SeedState) -> int:
        return len(_left(rows, state, self.directions))


@dataclass(frozen=True, eq=False)
class FindLeft(Step[NDArray[np.int64]]):
    """Rows among the usable rows of other directions than these, by their places among them."""

    reads_entries = False
    directions: NDArray[np.uint64]
    at: NDArray[np.int64]

    def on(self, rows: Rows, state: SeedState) -> NDArray[np.int64]:
        return _left(rows, state, self.directions)[self.at] + state.first


def _left(rows: Rows, state: SeedState, directions: NDArray[np.uint64]) -> NDArray[np.int64]:
    usable = rows.usable
    return usable[~np.isin(state.hashes[usable], directions)]


@dataclass(frozen=True)
class _Pool:
    """The candidates of all chains."""

    rows: Rows
    numbers: NDArray[np.int64]
    """Their numbers among all rows, ascending."""
    chains: NDArray[np.int64]
    """For each chain, which of the candidates it goes through."""
    proposal: NDArray[np.float64]
    """The probability of each candidate."""


def afk_mc2(
    place: SeedPlace, n_clusters: int, options: SeedOptions, random_state: np.random.RandomState
) -> Chosen:
    """The first seed by weight, the others by chains."""
    search = Search(place, 1, random_state)
    alpha, length = options.alpha, options.chain_length
    by_weight = place.each(Weigh(alpha))  # of rows that no seed is near to
    first = int(search.find(by_weight, 1, Find)[0])
    size = (n_clusters - 1) * length
    coins = random_state.randint(2, size=size).astype(bool)
    drawn = search.find(by_weight, size, Find)
    search.choose(first)
    by_distance = place.each(Weigh(alpha))
    total = sum(by_distance)
    if total > 0:
        drawn[coins] = search.find(by_distance, int(coins.sum()), Find)

    which, at = np.unique(drawn, return_inverse=True)
    rows = place.take(which)
    weights = np.ones(len(which)) if rows.weights is None else rows.weights
    proposal = weights / (place.census.total_weight * place.census.weight_scale)
    if total > 0:
        proposal = 0.5 * proposal + 0.5 * (_weights_of(place, which) / total)
    pool = _Pool(rows, which, at.reshape(n_clusters - 1, length), proposal)
    return _ends_of_chains(search, pool, n_clusters, alpha)


def _weights_of(place: SeedPlace, which: NDArray[np.int64]) -> NDArray[np.int64]:
    """What ``Weigh`` found for rows in ascending order."""
    at = np.searchsorted(which, place.starts)
    found = [
        place.at(part, WeightsOf(which[begin:end]))
        for part, (begin, end) in enumerate(pairwise(at))
        if begin < end
    ]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _ends_of_chains(search: Search, pool: _Pool, n_clusters: int, alpha: float) -> Chosen:
    place, random_state = search.place, search.random_state
    directions = pool.rows.hashes(np.arange(pool.rows.n_rows))
    centers = empty_centers(pool.rows, n_clusters, pool.rows.one, in_full=True)
    seed = search.seed(search.indices[0])
    for j, chain in enumerate(pool.chains):
        centers.place(j, seed.features, seed.values)
        labels, best = np.empty(len(chain), np.int32), np.empty(len(chain))
        _core.native.nearest(
            pool.rows.native(), centers, chain, n_threads=1, labels=labels, similarities=best
        )
        search.similarities += (j + 1) * len(chain)
        far = np.maximum(alpha - best, 0.0)
        taken = np.array(search.directions, np.uint64)
        far[np.isin(directions[chain], taken)] = 0.0
        here = _walk(far, pool.proposal[chain], random_state.random_sample(len(chain)))
        if far[here] > 0:
            i = int(pool.numbers[chain[here]])
        else:  # the chain met no direction that is new
            left = place.each(CountLeft(taken))
            if not sum(left):
                break
            i = int(search.find(left, 1, partial(FindLeft, taken))[0])
        seed = search.seed(i)
        search.note(i, seed)
    return np.array(search.indices), search


def _walk(far: NDArray[Any], proposal: NDArray[Any], chance: NDArray[Any]) -> int:
    """The end of a Metropolis–Hastings walk through candidates drawn from the proposal."""
    here = 0
    for there in range(1, len(far)):
        # Accepted with probability min(1, far′·q / (far·q′)), without dividing.
        if far[there] * proposal[here] > chance[there] * far[here] * proposal[there]:
            here = there
    return here
