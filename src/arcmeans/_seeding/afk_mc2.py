"""AFK-MC² (Bachem et al., 2016), spherical as in Pratap et al. (2018).

One pass over the rows gives the proposal, half by distance to the first seed and half by weight
alone. Then each seed is the end of a Markov chain whose candidates alone are compared with the
seeds so far. The proposal stays as it is, so all candidates are drawn at the start.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import empty_centers
from .._rows.rows import Rows
from .options import SeedOptions
from .search import Chosen, Find, Seeding, Weigh
from .steps import SeedPlace, SeedState, Step


@dataclass(frozen=True, eq=False)
class ChancesOf(Step[NDArray[np.int64]]):
    """The chances that ``Weigh`` set for some rows."""

    reads_entries = False
    which: NDArray[np.int64]

    def on(self, rows: Rows, state: SeedState) -> NDArray[np.int64]:
        return state.search.chances[self.which - state.first_row]


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
    seeding = Seeding(place, 1, random_state)
    alpha, length = options.alpha, options.chain_length
    by_weight = place.each(Weigh(alpha))  # of rows that no seed is near to
    first = int(seeding.find(by_weight, 1, Find)[0])
    size = (n_clusters - 1) * length
    coins = random_state.randint(2, size=size).astype(bool)
    drawn = seeding.find(by_weight, size, Find)
    seeding.choose(first)
    by_distance = place.each(Weigh(alpha))
    total = sum(by_distance)
    if total > 0:
        drawn[coins] = seeding.find(by_distance, int(coins.sum()), Find)

    which, at = np.unique(drawn, return_inverse=True)
    rows = place.take(which)
    weights = np.ones(len(which)) if rows.weights is None else rows.weights
    proposal = weights / (place.census.total_weight * place.census.weight_scale)
    if total > 0:
        proposal = 0.5 * proposal + 0.5 * (_chances_of(place, which) / total)
    pool = _Pool(rows, which, at.reshape(n_clusters - 1, length), proposal)
    return _ends_of_chains(seeding, pool, n_clusters, alpha)


def _chances_of(place: SeedPlace, which: NDArray[np.int64]) -> NDArray[np.int64]:
    """The chances that ``Weigh`` set for rows in ascending order."""
    ends = np.searchsorted(which, place.starts)
    found = [
        place.at(number, ChancesOf(which[begin:end]))
        for number, (begin, end) in enumerate(pairwise(ends))
        if begin < end
    ]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _ends_of_chains(seeding: Seeding, pool: _Pool, n_clusters: int, alpha: float) -> Chosen:
    random_state = seeding.random_state
    directions = pool.rows.hashes(np.arange(pool.rows.n_rows))
    centers = empty_centers(pool.rows, n_clusters, pool.rows.one, in_full=True)
    seed = seeding.seed(seeding.indices[0])
    for j, chain in enumerate(pool.chains):
        centers.place(j, seed.features, seed.values)
        labels, best = np.empty(len(chain), np.int32), np.empty(len(chain))
        _core.native.nearest(
            pool.rows.native(), centers, chain, n_threads=1, labels=labels, similarities=best
        )
        seeding.n_similarities += (j + 1) * len(chain)
        far = np.maximum(alpha - best, 0.0)
        far[np.isin(directions[chain], np.array(seeding.directions, np.uint64))] = 0.0
        here = _walk(far, pool.proposal[chain], random_state.random_sample(len(chain)))
        if far[here] > 0:
            i = int(pool.numbers[chain[here]])
        else:  # the chain met no open row
            drawn = seeding.draw_open()
            if not drawn:
                break
            i = drawn[0]
        seed = seeding.seed(i)
        seeding.note(i, seed)
    return np.array(seeding.indices), seeding


def _walk(far: NDArray[Any], proposal: NDArray[Any], uniform: NDArray[Any]) -> int:
    """The end of a Metropolis–Hastings walk through candidates drawn from the proposal."""
    here = 0
    for there in range(1, len(far)):
        # Accepted with probability min(1, far′·q / (far·q′)), without dividing.
        if far[there] * proposal[here] > uniform[there] * far[here] * proposal[there]:
            here = there
    return here
