"""Seeds one after another, with the similarities of all rows to the seeds so far."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import fixed_entries
from .._rows.rows import AnyCensus, Rows
from .steps import FirstPass, SeedPlace, SeedState, Step


@dataclass(frozen=True)
class Seed:
    """A row that was chosen, as a center."""

    features: NDArray[np.int32]
    """By rank."""
    values: NDArray[np.int64]
    scale: float
    direction: int
    """The hash of the row."""


def seed_at(census: AnyCensus, rows: Rows, i: int = 0) -> Seed:
    """Row i of ``rows`` as a seed for all rows that the census is of."""
    features, values = fixed_entries(census, rows, i)
    scale = 1.0 / math.sqrt(sum(v**2 for v in values.tolist()))
    return Seed(features, values, scale, int(rows.hashes(np.array([i]))[0]))


# --- The steps.


@dataclass(frozen=True)
class Begin(Step[None]):
    """No seed is chosen yet; about this many will be."""

    reads_state = False
    changes_state = True
    n_seeds: int

    def on(self, rows: Rows, state: SeedState) -> None:
        state.hashes = rows.hashes(np.arange(rows.n_rows), state.n_threads)
        n_seeds = self.n_seeds if state.postings else 0
        state.running = _core.native.SeedSearch(rows.native(), n_seeds)


@dataclass(frozen=True)
class Weigh(Step[int]):
    """Weighs each row by weight·(alpha − best), in integers; the answer is the sum."""

    reads_entries = False
    changes_state = True
    alpha: float

    def on(self, rows: Rows, state: SeedState) -> int:
        return state.search.weigh(rows.native(), self.alpha, None, state.n_threads)


@dataclass(frozen=True, eq=False)
class Find(Step[NDArray[np.int64]]):
    """The rows at which the running sum of what ``Weigh`` found passes these numbers."""

    reads_entries = False
    at: NDArray[np.int64]

    def on(self, rows: Rows, state: SeedState) -> NDArray[np.int64]:
        found = np.searchsorted(np.cumsum(state.search.weights), self.at, side="right")
        return found + state.first


@dataclass(frozen=True)
class CountOpen(Step[int]):
    """How many rows are left that may be drawn."""

    reads_entries = False

    def on(self, rows: Rows, state: SeedState) -> int:
        return state.search.open()


@dataclass(frozen=True, eq=False)
class FindOpen(Step[NDArray[np.int64]]):
    """Rows among those left that may be drawn, by their places among these."""

    reads_entries = False
    at: NDArray[np.int64]

    def on(self, rows: Rows, state: SeedState) -> NDArray[np.int64]:
        found = [state.search.nth_open(int(place)) for place in self.at]
        return np.array(found, np.int64) + state.first


@dataclass(frozen=True, eq=False)
class Choose(Step[int]):
    """Makes a row seed j. The answer is the number of entries read."""

    changes_state = True
    j: int
    seed: Seed

    def on(self, rows: Rows, state: SeedState) -> int:
        similarities, entries = _similarities(rows, state, self.seed)
        _add(rows, state, self.j, self.seed, similarities)
        return entries


@dataclass(frozen=True, eq=False)
class Compare(Step[tuple[list[int], int]]):
    """What each candidate would leave of the sum of ``Weigh``, and the number of entries read."""

    changes_state = True
    candidates: list[Seed]
    alpha: float

    def on(self, rows: Rows, state: SeedState) -> tuple[list[int], int]:
        state.compared, left, total = [], [], 0
        for seed in self.candidates:
            similarities, entries = _similarities(rows, state, seed)
            total += entries
            weighed = state.search.weigh(rows.native(), self.alpha, similarities, state.n_threads)
            left.append(weighed)
            state.compared.append(similarities)
        return left, total


@dataclass(frozen=True, eq=False)
class Keep(Step[None]):
    """Makes one of the candidates that were compared seed j."""

    reads_entries = False
    changes_state = True
    j: int
    which: int
    seed: Seed

    def on(self, rows: Rows, state: SeedState) -> None:
        _add(rows, state, self.j, self.seed, state.compared[self.which])
        state.compared = []


@dataclass(frozen=True)
class TellFirstPass(Step[FirstPass]):
    """What the first pass would find; all rows were compared with all seeds."""

    reads_entries = False

    def on(self, rows: Rows, state: SeedState) -> FirstPass:
        found = state.search
        return FirstPass(np.array(found.labels), np.array(found.best), np.array(found.second))


def _similarities(rows: Rows, state: SeedState, seed: Seed) -> tuple[NDArray[np.float64], int]:
    """The similarity of each row to a seed, and the number of entries read for it."""
    similarities = np.empty(rows.n_rows)
    entries = state.search.similarities(
        rows.native(),
        seed.features,
        seed.values,
        seed.scale,
        n_threads=state.n_threads,
        similarities=similarities,
    )
    return similarities, entries


def _add(
    rows: Rows, state: SeedState, j: int, seed: Seed, similarities: NDArray[np.float64]
) -> None:
    state.search.add(
        rows.native(),
        j,
        similarities,
        hashes=state.hashes,
        own_hash=seed.direction,
        n_threads=state.n_threads,
    )


# --- The search over all parts.


class Search:
    """Rows chosen one after another."""

    def __init__(self, place: SeedPlace, n_seeds: int, random_state: np.random.RandomState) -> None:
        self.place = place
        self.random_state = random_state
        self.indices: list[int] = []
        """The rows chosen."""
        self.directions: list[int] = []
        """Their hashes."""
        self.similarities = 0
        """Similarities computed."""
        self.entries = 0
        """Entries of rows read for them."""
        place.each(Begin(n_seeds))

    def seed(self, i: int) -> Seed:
        """Row i as a seed."""
        return seed_at(self.place.census, self.place.take(np.array([i])))

    def choose(self, i: int) -> None:
        """Makes row i the next seed."""
        seed = self.seed(i)
        self.entries += sum(self.place.each(Choose(len(self.indices), seed)))
        self.similarities += self.place.census.n_rows
        self.note(i, seed)

    def choose_best(self, drawn: Sequence[int], alpha: float) -> None:
        """Makes the row of those drawn the next seed that leaves the least to be drawn from."""
        rows, census = self.place.take(np.array(drawn)), self.place.census
        seeds = [seed_at(census, rows, i) for i in range(len(drawn))]
        found = self.place.each(Compare(seeds, alpha))
        left = [sum(of_part[c] for of_part, _ in found) for c in range(len(drawn))]
        best = left.index(min(left))
        self.place.each(Keep(len(self.indices), best, seeds[best]))
        self.entries += sum(entries for _, entries in found)
        self.similarities += len(drawn) * census.n_rows
        self.note(drawn[best], seeds[best])

    def note(self, i: int, seed: Seed) -> None:
        """Row i was chosen."""
        self.indices.append(i)
        self.directions.append(seed.direction)

    def draw(self, alpha: float, size: int = 1) -> list[int]:
        """Rows in proportion to weight·(alpha − best); none where no direction is left."""
        totals = self.place.each(Weigh(alpha))
        if sum(totals) > 0:
            return [int(i) for i in self.find(totals, size, Find)]
        # What is left lies within rounding of the seeds, or none is left.
        left = self.place.each(CountOpen())
        return [int(i) for i in self.find(left, size, FindOpen)] if sum(left) else []

    def find(
        self,
        totals: Sequence[int],
        size: int,
        step: Callable[[NDArray[np.int64]], Step[NDArray[np.int64]]],
    ) -> NDArray[np.int64]:
        """Rows at numbers drawn below the sum of the totals of the parts."""
        at = self.random_state.randint(sum(totals), size=size, dtype=np.int64)
        ends = np.cumsum(totals)
        parts = np.searchsorted(ends, at, side="right")
        rows = np.empty(size, np.int64)
        for part in np.unique(parts):
            here = parts == part
            before = ends[part] - totals[part]
            rows[here] = self.place.at(int(part), step(at[here] - before))
        return rows


Chosen = tuple[NDArray[np.int64], Search | None]
"""The rows chosen, and the search that found them where there was one."""
