"""Uniform over the distinct directions, without replacement: the method "random".

Each direction gets a key from the random state and its own hash, and the smallest keys win. The
draw depends neither on the order of the rows nor on how often a row occurs.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._rows.rows import Rows
from .keys import salt, scrambled
from .options import SeedOptions
from .search import Chosen
from .steps import SeedPlace, SeedState, Step


@dataclass(frozen=True)
class Smallest(Step[tuple[NDArray[np.uint64], NDArray[np.int64]]]):
    """The directions of a part with the smallest keys, and the first row of each direction."""

    reads_state = False
    salt: int
    count: int

    def on(self, rows: Rows, state: SeedState) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        usable = rows.usable
        keys = scrambled(rows.hashes(usable, state.n_threads), self.salt)
        taken = 2 * self.count + 16
        while True:  # more and more of the smallest keys, until enough of them are distinct
            taken = min(taken, len(keys))
            limit = np.partition(keys, taken - 1)[taken - 1] if taken else 0
            some = np.flatnonzero(keys <= limit) if taken else np.empty(0, np.int64)
            distinct, first = np.unique(keys[some], return_index=True)
            if len(distinct) >= self.count or taken == len(keys):
                return distinct[: self.count], usable[some[first[: self.count]]] + state.first_row
            taken *= 4


def uniform(
    place: SeedPlace, n_clusters: int, options: SeedOptions, random_state: np.random.RandomState
) -> Chosen:
    """Rows of different directions, each direction as likely as another."""
    found = place.each(Smallest(salt(random_state), n_clusters))
    keys = np.concatenate([keys for keys, _ in found])
    rows = np.concatenate([rows for _, rows in found])
    return rows[np.unique(keys, return_index=True)[1]][:n_clusters], None
