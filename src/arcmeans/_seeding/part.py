"""What seeding asks of one part of the rows: one step at a time, on the machine that has them.

A draw from all rows is a draw from the sums of the parts, then from one part: sums of integers and
of fractions do not depend on the parts, so neither does the draw. Rows are named by their numbers
among all. A step gets and gives plain arrays; those in ``CHANGING`` change what is kept of the
part, and done again in the same order they bring it back. Those in ``LIGHT`` read no entry.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import fixed_entries, place_rows
from .._engines.memory import Engine, EngineOptions
from .._rows.census import exact_sum
from .._rows.rows import AnyCensus, Rows
from .._run.records import FirstPass

CHANGING = ("begin", "weigh", "choose", "compare", "keep", "begin_rounds", "approach", "end")
LIGHT = (
    *("weigh", "find", "open", "nth_open", "weights_of", "left", "nth_left", "first_pass"),
    *("keep", "begin_rounds", "far_total", "oversample", "nearby", "end"),
)


@dataclass(frozen=True)
class Seed:
    """A row that was chosen, as a center."""

    features: NDArray[np.int32]
    values: NDArray[np.int64]
    scale: float
    direction: int
    """The hash of the row."""


def seed_at(census: AnyCensus, rows: Rows, i: int = 0) -> Seed:
    """Row i of ``rows`` as a seed for all rows that the census is of."""
    features, values = fixed_entries(census, rows, i)
    scale = 1.0 / math.sqrt(sum(v**2 for v in values.tolist()))
    return Seed(features, values, scale, int(rows.hashes(np.array([i]))[0]))


def scrambled(numbers: NDArray[np.uint64], salt: int) -> NDArray[np.uint64]:
    """Random keys for numbers: SplitMix64's finalizer (Steele, Lea and Flood, 2014), seeded."""
    keys = numbers ^ np.uint64(salt)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    return keys ^ (keys >> np.uint64(31))


class SeedPart:
    """A part of the rows, and how similar they are to the seeds so far."""

    rows: Rows

    def __init__(self, first: int, n_threads: int, *, postings: bool = True) -> None:
        """``first``: the number of the first row. Posting lists are a second copy of the rows."""
        self.first = first
        self.n_threads = n_threads
        self.postings = postings
        self._search: _core.native.SeedSearch | None = None
        self._hashes: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._compared: list[NDArray[np.float64]] = []
        self._best: NDArray[np.float64] = np.empty(0)
        self._candidate: NDArray[np.int64] = np.empty(0, np.int64)

    # --- Without a search.

    def take(self, which: NDArray[np.int64]) -> Rows:
        return self.rows.take(which - self.first)

    def content(self) -> tuple[int, int | None]:
        """Hashes of rows and weights by their numbers: sums, modulo 2^64, over the rows."""
        numbers = np.arange(self.first, self.first + self.rows.n_rows, dtype=np.uint64)
        numbers = scrambled(numbers, 0)
        hashes = self._all_hashes()
        rows = int(scrambled(hashes ^ numbers, 1).sum(dtype=np.uint64))
        if self.rows.weights is None:
            return rows, None
        return rows, int(scrambled(self.rows.weights.view(np.uint64) ^ numbers, 2).sum())

    def smallest(self, salt: int, count: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The directions with the smallest keys, and the first row of each."""
        usable = self.rows.usable
        keys = scrambled(self.rows.hashes(usable, self.n_threads), salt)
        taken = 2 * count + 16
        while True:  # more and more of the smallest keys, until enough of them are distinct
            taken = min(taken, len(keys))
            limit = np.partition(keys, taken - 1)[taken - 1] if taken else 0
            some = np.flatnonzero(keys <= limit) if taken else np.empty(0, np.int64)
            distinct, first = np.unique(keys[some], return_index=True)
            if len(distinct) >= count or taken == len(keys):
                return distinct[:count], usable[some[first[:count]]] + self.first
            taken *= 4

    # --- One seed after another.

    def begin(self, n_seeds: int) -> None:
        self._hashes = self._all_hashes()
        n_seeds = n_seeds if self.postings else 0
        self._search = _core.native.SeedSearch(self.rows.native(), n_seeds)

    def end(self) -> None:
        self.__init__(self.first, self.n_threads, postings=self.postings)  # type: ignore[misc]

    @property
    def search(self) -> _core.native.SeedSearch:
        assert self._search is not None
        return self._search

    def weigh(self, alpha: float) -> int:
        """The sum of weight·(alpha − best), in integers."""
        return self.search.weigh(self.rows.native(), alpha, None, self.n_threads)

    def find(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows at which the running sum of these weights passes numbers below the whole."""
        found = np.searchsorted(np.cumsum(self.search.weights), at, side="right")
        return found + self.first

    def weights_of(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.search.weights[which - self.first]

    def open(self) -> int:
        """How many rows are left that may be drawn."""
        return self.search.open()

    def nth_open(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        found = [self.search.nth_open(int(a)) for a in at]
        return np.array(found, np.int64) + self.first

    def choose(self, j: int, seed: Seed) -> int:
        """Makes a row seed j; returns the entries read."""
        similarities = np.empty(self.rows.n_rows)
        entries = self._similarities(seed, similarities)
        self._add(j, seed, similarities)
        return entries

    def compare(self, seeds: list[Seed], alpha: float) -> tuple[list[int], int]:
        """What each would leave of the sum of weights, and the entries read."""
        self._compared, left, entries = [], [], 0
        for seed in seeds:
            similarities = np.empty(self.rows.n_rows)
            entries += self._similarities(seed, similarities)
            native = self.rows.native()
            left.append(self.search.weigh(native, alpha, similarities, self.n_threads))
            self._compared.append(similarities)
        return left, entries

    def keep(self, j: int, which: int, seed: Seed) -> None:
        """Makes one of those compared seed j."""
        self._add(j, seed, self._compared[which])
        self._compared = []

    def first_pass(self) -> FirstPass:
        native = self.search
        return FirstPass(np.array(native.labels), np.array(native.best), np.array(native.second))

    # --- Rounds of many draws (k-means||), and chains (afk-mc2).

    def begin_rounds(self) -> None:
        self._best = np.array(self.search.best)
        self._candidate = np.zeros(self.rows.n_rows, np.int64)

    def far_total(self, alpha: float) -> Fraction:
        return exact_sum(self._far(alpha))

    def oversample(
        self, alpha: float, salt: int, expected: float, total: float
    ) -> NDArray[np.int64]:
        """Each row by itself, with probability min(1, expected·far/total)."""
        # Chances by row number and a sum rounded once: the same however the rows are split.
        return independent_draws(self._far(alpha), self.first, salt, expected, total)

    def approach(self, seeds: Rows, base: int) -> None:
        """Takes the similarities to more candidates, numbered from ``base``, into account."""
        rows, n_threads = self.rows, self.n_threads
        centers = place_rows(rows, seeds)
        engine = Engine(rows, seeds.n_rows, EngineOptions(n_threads=n_threads))
        engine.assign(centers)
        found = np.empty(rows.n_rows)
        _core.native.own_similarities(rows.native(), centers, engine.labels, n_threads, found)
        nearer = found > self._best
        self._candidate[nearer] = engine.labels[nearer] + base
        self._best[nearer] = found[nearer]

    def nearby(self, n_candidates: int) -> NDArray[np.int64]:
        """The weight of the rows nearest to each candidate, in fixed point."""
        fixed = np.rint(self._weights() * self.rows.one).astype(np.int64)
        sums = np.zeros(n_candidates, np.int64)
        np.add.at(sums, self._candidate, fixed)
        return sums

    def left(self, directions: NDArray[np.uint64]) -> int:
        """How many usable rows have other directions than these."""
        return len(self._left(directions))

    def nth_left(self, directions: NDArray[np.uint64], at: int) -> int:
        return int(self._left(directions)[at]) + self.first

    def _left(self, directions: NDArray[np.uint64]) -> NDArray[np.int64]:
        usable = self.rows.usable
        return usable[~np.isin(self._hashes[usable], directions)]

    def _far(self, alpha: float) -> NDArray[np.float64]:
        return self._weights() * np.maximum(alpha - self._best, 0.0)

    def _weights(self) -> NDArray[np.float64]:
        """The weight of each row; 0 where it has no direction."""
        counted: NDArray[np.float64] = (self.rows.zero == 0).astype(np.float64)
        return counted if self.rows.weights is None else counted * self.rows.weights

    def _similarities(self, seed: Seed, similarities: NDArray[np.float64]) -> int:
        return self.search.similarities(
            self.rows.native(), seed.features, seed.values, seed.scale, self.n_threads, similarities
        )

    def _add(self, j: int, seed: Seed, similarities: NDArray[np.float64]) -> None:
        native = self.rows.native()
        self.search.add(native, j, similarities, self._hashes, seed.direction, self.n_threads)

    def _all_hashes(self) -> NDArray[np.uint64]:
        return self.rows.hashes(np.arange(self.rows.n_rows), self.n_threads)


def independent_draws(
    far: NDArray[np.float64], first: int, salt: int, expected: float, total: float
) -> NDArray[np.int64]:
    """Rows, numbered from ``first``, each by itself with probability min(1, expected·far/total)."""
    numbers = np.arange(first, first + len(far), dtype=np.uint64)
    chance = scrambled(numbers, salt) / 2.0**64
    return np.flatnonzero(chance * total < expected * far) + first


def run_step(part: SeedPart, step: str, arguments: tuple[Any, ...]) -> Any:
    return getattr(part, step)(*arguments)
