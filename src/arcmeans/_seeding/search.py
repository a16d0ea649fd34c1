"""Seeds chosen one after another, by the similarities of all rows to the seeds so far.

The methods in this room make a ``Seeding``. It draws rows and chooses seeds by steps on the parts
of a place. Two things make a draw independent of the parts. The chances of the rows are integers,
so their sum over parts is exact. One random number goes through the parts in order: ``Find`` takes
the row whose chances reach past the number, and so never a row of chance 0.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import fixed_entries
from .._rows.rows import AnyCensus, Rows
from .steps import FirstPass, SeedPlace, SeedState, Step


@dataclass(frozen=True)
class Seed:
    """A row as a center: a seed, or a candidate for one."""

    features: NDArray[np.int32]
    """The ranks of its features."""
    values: NDArray[np.int64]
    """In fixed point."""
    scale: float
    """1/‖values‖; a row of zeros is never a seed, for it is not open."""
    direction: int
    """The hash of the row's direction."""


def seed_at(census: AnyCensus, rows: Rows, i: int = 0) -> Seed:
    """Row i of ``rows`` as a center for all rows that the census is of."""
    features, values = fixed_entries(census, rows, i)
    scale = 1.0 / math.sqrt(sum(v**2 for v in values.tolist()))
    return Seed(features, values, scale, int(rows.hashes(np.array([i]))[0]))


# --- The steps.


@dataclass(frozen=True)
class Begin(Step[None]):
    """Begins the seed search of a part, without any seed."""

    reads_state = False
    changes_state = True
    n_seeds: int
    """How many similarities of all rows to a seed will be asked for, about. The core makes posting
    lists if these are many enough to pay for the lists; with 0 never."""

    def on(self, rows: Rows, state: SeedState) -> None:
        state.hashes = rows.hashes(np.arange(rows.n_rows), state.n_threads)
        n_seeds = self.n_seeds if state.may_use_posting_lists else 0
        state.search_or_none = _core.native.SeedSearch(rows.native(), n_seeds)


@dataclass(frozen=True)
class Weigh(Step[int]):
    """Sets the chance of each row: weight·(alpha − best) in integers. The answer is the sum.

    best is the row's largest similarity to a seed, −1 before the first. A row that is not open has
    chance 0.
    """

    reads_entries = False
    changes_state = True
    alpha: float

    def on(self, rows: Rows, state: SeedState) -> int:
        return state.search.weigh(rows.native(), self.alpha, None, state.n_threads)


@dataclass(frozen=True, eq=False)
class Find(Step[NDArray[np.int64]]):
    """For each number the first row at which the running sum of the chances is above the number."""

    reads_entries = False
    drawn: NDArray[np.int64]

    def on(self, rows: Rows, state: SeedState) -> NDArray[np.int64]:
        found = np.searchsorted(np.cumsum(state.search.chances), self.drawn, side="right")
        return found + state.first_row


@dataclass(frozen=True, eq=False)
class CountOpen(Step[int]):
    """How many rows are open, when the seeds have these directions."""

    reads_entries = False
    directions: NDArray[np.uint64]

    def on(self, rows: Rows, state: SeedState) -> int:
        return len(_open_rows(rows, state, self.directions))


@dataclass(frozen=True, eq=False)
class FindOpen(Step[NDArray[np.int64]]):
    """Open rows, by their numbers among the open rows of the part."""

    reads_entries = False
    directions: NDArray[np.uint64]
    drawn: NDArray[np.int64]

    def on(self, rows: Rows, state: SeedState) -> NDArray[np.int64]:
        return _open_rows(rows, state, self.directions)[self.drawn] + state.first_row


def _open_rows(rows: Rows, state: SeedState, directions: NDArray[np.uint64]) -> NDArray[np.int64]:
    usable = rows.usable
    return usable[~np.isin(state.hashes[usable], directions)]


@dataclass(frozen=True, eq=False)
class Choose(Step[int]):
    """Makes a row seed j. The answer is the number of entries read."""

    changes_state = True
    j: int
    seed: Seed

    def on(self, rows: Rows, state: SeedState) -> int:
        similarities, n_entries = _compared(rows, state, self.seed)
        _add(rows, state, self.j, self.seed, similarities)
        return n_entries


@dataclass(frozen=True, eq=False)
class Compare(Step[tuple[list[int], int]]):
    """Compares all rows with candidates for the next seed.

    The answer is, for each candidate, the sum of the chances if it were the seed, and the number of
    entries read.
    """

    changes_state = True
    candidates: list[Seed]
    alpha: float

    def on(self, rows: Rows, state: SeedState) -> tuple[list[int], int]:
        state.compared, sums, n_entries = [], [], 0
        for candidate in self.candidates:
            similarities, n_read = _compared(rows, state, candidate)
            state.compared.append(similarities)
            native = rows.native()
            sums.append(state.search.weigh(native, self.alpha, similarities, state.n_threads))
            n_entries += n_read
        return sums, n_entries


@dataclass(frozen=True, eq=False)
class ChooseCompared(Step[None]):
    """Makes one of the candidates of the step ``Compare`` seed j; it is candidate ``which``."""

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
    """What the first pass would find, once all rows were compared with all seeds."""

    reads_entries = False

    def on(self, rows: Rows, state: SeedState) -> FirstPass:
        found = state.search
        return FirstPass(np.array(found.labels), np.array(found.best), np.array(found.second))


def _compared(rows: Rows, state: SeedState, seed: Seed) -> tuple[NDArray[np.float64], int]:
    """The similarity of each row to a seed, and the number of entries read for it."""
    similarities = np.empty(rows.n_rows)
    n_entries = state.search.similarities(
        rows.native(),
        seed.features,
        seed.values,
        seed.scale,
        n_threads=state.n_threads,
        similarities=similarities,
    )
    return similarities, n_entries


def _add(
    rows: Rows, state: SeedState, j: int, seed: Seed, similarities: NDArray[np.float64]
) -> None:
    """Makes a row seed j of the search; rows of its direction are not open any more."""
    state.search.add(
        rows.native(),
        j,
        similarities,
        hashes=state.hashes,
        own_hash=seed.direction,
        n_threads=state.n_threads,
    )


# --- All parts.


class Seeding:
    """Seeds chosen one after another from the rows of a place."""

    def __init__(self, place: SeedPlace, n_seeds: int, random_state: np.random.RandomState) -> None:
        """``n_seeds`` as for ``Begin``."""
        self.place = place
        self.random_state = random_state
        self.indices: list[int] = []
        """The numbers of the seeds among all rows."""
        self.directions: list[int] = []
        """The hashes of their directions."""
        self.n_similarities = 0
        """Row–seed similarities computed."""
        self.n_entries = 0
        """Entries of rows read for them."""
        place.each(Begin(n_seeds))

    def seed(self, i: int) -> Seed:
        """Row i as a center."""
        return seed_at(self.place.census, self.place.take(np.array([i])))

    def choose(self, i: int) -> None:
        """Makes row i the next seed."""
        seed = self.seed(i)
        self.n_entries += sum(self.place.each(Choose(len(self.indices), seed)))
        self.n_similarities += self.place.census.n_rows
        self.note(i, seed)

    def choose_among(self, candidates: Sequence[int], alpha: float) -> None:
        """Makes one of these rows the next seed: the one after which the chances sum to least.

        The first of the candidates wins a tie. There has to be a candidate.
        """
        rows, census = self.place.take(np.array(candidates)), self.place.census
        seeds = [seed_at(census, rows, c) for c in range(len(candidates))]
        found = self.place.each(Compare(seeds, alpha))
        sums = [sum(of_part[c] for of_part, _ in found) for c in range(len(candidates))]
        winner = sums.index(min(sums))
        self.place.each(ChooseCompared(len(self.indices), winner, seeds[winner]))
        self.n_entries += sum(n_read for _, n_read in found)
        self.n_similarities += len(candidates) * census.n_rows
        self.note(candidates[winner], seeds[winner])

    def note(self, i: int, seed: Seed) -> None:
        """Row i has become a seed."""
        self.indices.append(i)
        self.directions.append(seed.direction)

    def draw(self, alpha: float, size: int = 1) -> list[int]:
        """Draws rows by chance, or any open rows if all chances are 0; none if no row is open."""
        totals = self.place.each(Weigh(alpha))
        if sum(totals):
            return [int(i) for i in self.find(totals, size, Find)]
        return self.draw_open(size)  # the open rows lie within rounding of seeds

    def draw_open(self, size: int = 1) -> list[int]:
        """Draws open rows, one as likely as another; none if no row is open."""
        directions = np.array(self.directions, np.uint64)
        n_open = self.place.each(CountOpen(directions))
        if not sum(n_open):
            return []
        return [int(i) for i in self.find(n_open, size, partial(FindOpen, directions))]

    def find(
        self,
        totals: Sequence[int],
        size: int,
        step: Callable[[NDArray[np.int64]], Step[NDArray[np.int64]]],
    ) -> NDArray[np.int64]:
        """Rows at random numbers below the sum of ``totals``, which are the totals of the parts.

        ``step`` finds the rows of a part from numbers below the total of the part.
        """
        drawn = self.random_state.randint(sum(totals), size=size, dtype=np.int64)
        ends = np.cumsum(totals)
        parts = np.searchsorted(ends, drawn, side="right")
        rows = np.empty(size, np.int64)
        for number in np.unique(parts).tolist():
            here = parts == number
            before = ends[number] - totals[number]
            rows[here] = self.place.at(number, step(drawn[here] - before))
        return rows


Chosen = tuple[NDArray[np.int64], Seeding | None]
"""The numbers of the seeds, and the seeding where the method needed one."""
