"""k-means|| (Bahmani et al., 2012): a few rounds of many independent draws, then k-means++.

In each round every row is drawn with a probability in proportion to alpha − best. The candidates,
weighted by the rows nearest to them, are then reduced to n_clusters by k-means++.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._algorithms.one_pass import nearest_labels
from .._centers.placing import place_rows
from .._rows.census import exact_sum
from .._rows.rows import Rows
from .keys import salt, scrambled
from .options import SeedOptions
from .plus_plus import plus_plus
from .search import Chosen, Seeding
from .steps import SeedPlace, SeedRows, SeedState, Step


@dataclass(frozen=True)
class BeginRounds(Step[None]):
    """The first seed is the only candidate."""

    reads_entries = False
    changes_state = True

    def on(self, rows: Rows, state: SeedState) -> None:
        state.candidate_similarity = np.array(state.search.best)
        state.candidate = np.zeros(rows.n_rows, np.int64)


@dataclass(frozen=True)
class FarTotal(Step[Fraction]):
    """The sum of weight·(alpha − best)."""

    reads_entries = False
    alpha: float

    def on(self, rows: Rows, state: SeedState) -> Fraction:
        return exact_sum(_far(rows, state, self.alpha))


@dataclass(frozen=True)
class Oversample(Step[NDArray[np.int64]]):
    """Rows drawn each by itself, about ``expected`` of all rows; ``total`` is that of all."""

    reads_entries = False
    alpha: float
    salt: int
    expected: float
    total: float

    def on(self, rows: Rows, state: SeedState) -> NDArray[np.int64]:
        # Chances by row number and a sum rounded once: the same however the rows are split.
        far = _far(rows, state, self.alpha)
        return independent_draws(far, state.first_row, self.salt, self.expected, self.total)


@dataclass(frozen=True, eq=False)
class Approach(Step[None]):
    """Takes the similarities to more candidates into account, numbered from ``base`` on."""

    changes_state = True
    candidates: Rows
    base: int

    def on(self, rows: Rows, state: SeedState) -> None:
        centers = place_rows(rows, self.candidates, in_full=True)
        labels = nearest_labels(rows, centers, state.n_threads)
        found = np.empty(rows.n_rows)
        _core.native.own_similarities(rows.native(), centers, labels, state.n_threads, found)
        nearer = found > state.candidate_similarity
        state.candidate[nearer] = labels[nearer] + self.base
        state.candidate_similarity[nearer] = found[nearer]


@dataclass(frozen=True)
class Nearby(Step[NDArray[np.int64]]):
    """The weight of the rows nearest to each candidate, in fixed point."""

    reads_entries = False
    n_candidates: int

    def on(self, rows: Rows, state: SeedState) -> NDArray[np.int64]:
        fixed = np.rint(_weights(rows) * rows.one).astype(np.int64)
        sums = np.zeros(self.n_candidates, np.int64)
        np.add.at(sums, state.candidate, fixed)
        return sums


def _far(rows: Rows, state: SeedState, alpha: float) -> NDArray[np.float64]:
    return _weights(rows) * np.maximum(alpha - state.candidate_similarity, 0.0)


def _weights(rows: Rows) -> NDArray[np.float64]:
    """The weight of each row; 0 where it has no direction."""
    counted: NDArray[np.float64] = (rows.zero == 0).astype(np.float64)
    return counted if rows.weights is None else counted * rows.weights


def independent_draws(
    far: NDArray[np.float64], first: int, salt: int, expected: float, total: float
) -> NDArray[np.int64]:
    """Rows, numbered from ``first``, each by itself with probability min(1, expected·far/total)."""
    numbers = np.arange(first, first + len(far), dtype=np.uint64)
    uniform = scrambled(numbers, salt) / 2.0**64
    return np.flatnonzero(uniform * total < expected * far) + first


def kmeans_parallel(
    place: SeedPlace, n_clusters: int, options: SeedOptions, random_state: np.random.RandomState
) -> Chosen:
    """Candidates in rounds, and k-means++ among them."""
    seeding = Seeding(place, 1, random_state)
    seeding.choose(seeding.draw(options.alpha)[0])
    alpha, expected = options.alpha, options.oversampling * n_clusters
    candidates, directions = list(seeding.indices), list(seeding.directions)
    place.each(BeginRounds())
    for _ in range(options.rounds):
        total = float(sum(place.each(FarTotal(alpha))))
        draw = Oversample(alpha, salt(random_state), expected, total)
        drawn = np.concatenate(place.each(draw))
        if not len(drawn):
            continue
        pool = place.take(drawn)
        found = pool.hashes(np.arange(len(drawn)))
        new = np.sort(np.unique(found, return_index=True)[1])
        new = new[~np.isin(found[new], np.array(directions, np.uint64))]
        if not len(new):
            continue
        place.each(Approach(pool.take(new), len(candidates)))
        seeding.n_similarities += len(new) * place.census.n_rows
        candidates.extend(drawn[new].tolist())
        directions.extend(found[new].tolist())
    nearby = np.sum(place.each(Nearby(len(candidates))), axis=0) / place.census.one
    pool = place.take(np.array(candidates))
    reduced = SeedRows(pool.reweighted(nearby), 1)
    indices, inner = plus_plus(reduced, n_clusters, options, random_state)
    seeding.n_similarities += inner.n_similarities if inner else 0
    chosen = [candidates[i] for i in indices]
    return np.array(_topped_up(seeding, chosen, n_clusters, alpha)), seeding


def _topped_up(seeding: Seeding, chosen: list[int], n_clusters: int, alpha: float) -> list[int]:
    """Too few candidates: the rest is drawn from all rows."""
    if len(chosen) < n_clusters:
        for i in chosen:
            if i != seeding.indices[0]:
                seeding.choose(i)
        while len(chosen) < n_clusters and (drawn := seeding.draw(alpha)):
            seeding.choose(drawn[0])
            chosen.append(drawn[0])
    return chosen
