"""Centers over a stream of batches: the exact sums of all the rows they have taken so far.

Sculley's mini-batch k-means (WWW 2010) moves a center by 1/count towards each row it takes, which
makes it the mean of the rows taken so far. Its spherical form needs no rate: a center is the
direction of the sum of the rows taken so far, and the sums are the exact integers of the core. What
a batch adds does not depend on the order of its rows, on threads, container or instruction set, so
the centers are a function of the sequence of batches alone, bit for bit.
"""

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import first_changes, place_sums, sums_of
from .._centers.sums import CenterSums
from .._rows.rows import Rows

FIRST_ONE = 2.0**40
"""1.0 in fixed point at the beginning of a stream: room for a total weight of 2^21."""
LEAST_ONE = 2.0**30
"""What it falls to at a total weight of 2^31; beyond, the weights are scaled instead."""
LARGEST_SUM = 2.0**61
"""What the total weight, in fixed point, never passes."""
ROWS_A_THREAD = 256
"""Rows of a batch for which another thread is worth starting."""


class Step(NamedTuple):
    """What became of a batch."""

    inertia: float
    """Σ w·‖x − c‖² of its rows, before the centers moved."""
    movement: float
    """Σ ‖c′ − c‖² over the centers; infinite where some were reassigned."""
    reassigned: int
    """Centers moved to a row of the batch because they were starved."""


class Stream:
    """The centers of a stream: exact sums of the rows they have taken, and the counts of these.

    Features lie in the caller's order, since each batch would rank them differently.

    A center is *attached* once its vector is the sum of its rows. A seed is not: it counts for
    nothing, and the first rows that have a direction together replace it.

    *Nothing overflows, however long the stream.* The total weight times the fixed-point scale stays
    below 2^61 as in docs/exactness.md. Where the next batch would pass that, scale and sums are
    divided by a power of two, and each entry of a sum is rounded once, half away from zero. That
    happens at most once while the total weight doubles, and then the error is half a unit in sums
    whose total is 2^60 units.
    """

    def __init__(self, centers: _core.native.Centers, census: Rows, weight_scale: float) -> None:
        n_clusters = len(centers.scales)
        self.centers = centers
        self.census = census
        self.weight_scale = weight_scale
        self.attached = np.zeros(n_clusters, bool)
        """Whether the vector of each center is the sum of its rows."""
        self.counts = np.zeros(n_clusters)
        """The weight of the rows that each center is the sum of."""
        self.credit = np.zeros(n_clusters)
        """What each reassigned center counts in addition, so that it is not moved again at once."""
        self.rows_since = 0
        """The rows since starved centers were looked for."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "centers": self.sums()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._restore(state["centers"])

    def sums(self) -> CenterSums:
        """The integer vectors, in the caller's feature order."""
        return sums_of(self.census, self.centers)

    def label(self, rows: Rows, n_threads: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The most similar center of each row, by the tie rule, and the similarity to it."""
        directed = np.flatnonzero(rows.zero == 0)
        found, similar = np.empty(len(directed), np.int32), np.empty(len(directed))
        _core.native.nearest(
            rows.native(),
            self.centers,
            directed,
            n_threads=n_threads,
            labels=found,
            similarities=similar,
        )
        labels, similarities = np.full(rows.n_rows, -1, np.int32), np.zeros(rows.n_rows)
        labels[directed], similarities[directed] = found, similar
        return labels, similarities

    def step(
        self, rows: Rows, ratio: float, random_state: np.random.RandomState, n_threads: int
    ) -> Step:
        """Labels the rows of a batch and moves the centers to their new sums."""
        n_threads = min(n_threads, 1 + rows.n_rows // ROWS_A_THREAD)
        # As in scikit-learn: after every 10·n_clusters rows, or while a center has none.
        self.rows_since += rows.n_rows
        due = self.rows_since >= 10 * len(self.counts) or not np.all(self.counts + self.credit)
        rows = self._weighed(rows)
        labels, similarities = self.label(rows, n_threads)
        self.take_in(rows, labels, n_threads)
        chords = self.centers.chords.tolist()
        movement, reassigned = math.fsum(chord * chord for chord in chords), 0
        if due:
            self.rows_since = 0
            reassigned = self._reassign(rows, labels, ratio, random_state, n_threads)
        return Step(inertia(rows, similarities), math.inf if reassigned else movement, reassigned)

    def _weighed(self, rows: Rows) -> Rows:
        """The rows at the scale of the stream, which first makes room for them."""
        total = (math.fsum(self.counts) + rows.total_weight) * self.weight_scale
        over = math.ceil(math.log2(max(total, 1.0) * self.centers.one / LARGEST_SUM))
        if over > 0:
            self._rescale(over)
        weights, scale = rows.weights, self.weight_scale
        if weights is not None:
            weights = weights / rows.weight_scale * scale
        elif scale != 1.0:
            weights = np.full(rows.n_rows, scale)
        return dataclasses.replace(rows, weights=weights, weight_scale=scale, one=self.centers.one)

    def _rescale(self, bits: int) -> None:
        """Divides the sums by 2^bits, rounding half away from zero; directions stay as they are."""
        sums = self.sums()
        one = max(LEAST_ONE, math.ldexp(sums.one, -bits))
        self.weight_scale *= math.ldexp(sums.one, -bits) / one
        vectors = sums.vectors
        for j in range(len(self.counts)):
            at = slice(vectors.indptr[j], vectors.indptr[j + 1])
            size = np.abs(vectors.data[at])
            # Twice by one bit less: 2^bits itself may be beyond the integers.
            rounded = ((size >> min(bits - 1, 62)) + 1) >> 1
            # Too light to be told from nothing: only the direction is kept.
            self.attached[j] &= rounded.any()
            if self.attached[j]:
                vectors.data[at] = np.sign(vectors.data[at]) * rounded
        vectors.eliminate_zeros()
        self._restore(CenterSums(vectors, sums.scales, one))

    def _restore(self, sums: CenterSums) -> None:
        """Centers at these sums, attached where they are."""
        self.census = dataclasses.replace(self.census, one=sums.one)
        self.centers = place_sums(self.census, sums)
        self._join(np.flatnonzero(self.attached), sums.vectors[np.flatnonzero(self.attached)])

    def _join(self, which: NDArray[np.int64], vectors: sp.csr_array) -> None:
        """Adds a vector to each sum named, as two rows that float64 holds exactly."""
        high = vectors.data >> 32 << 32
        starts = vectors.indptr.astype(np.int64)
        rows = _core.native.Rows(
            np.concatenate([starts, starts[-1] + starts[1:]]),
            np.tile(vectors.indices.astype(np.int32), 2),
            np.concatenate([high, vectors.data - high]) / self.centers.one,
            np.zeros(2 * len(which), np.uint8),
            n_features=self.census.n_features,
            by_rank=np.arange(self.census.n_features, dtype=np.int32),
            one=self.centers.one,
        )
        labels = np.tile(which.astype(np.int32), 2)
        self.centers.move(first_changes(rows, labels, len(self.counts), 1), 1)

    def take_in(self, rows: Rows, labels: NDArray[np.int32], n_threads: int) -> None:
        """The rows join the sums, and the centers move there."""
        usable = rows.usable
        before = np.array(self.centers.scales)
        changes = first_changes(rows.native(), labels, len(self.counts), n_threads)
        self.centers.move(changes, n_threads)
        weights = None if rows.weights is None else rows.weights[usable] / rows.weight_scale
        self.counts += np.bincount(labels[usable], weights, len(self.counts))
        touched = np.unique(labels[usable])
        still = (self.centers.scales == before) & (self.centers.chords == 0.0)
        for j in touched[still[touched]]:
            # It stayed: rows that cancel each other, or the whole sum, or that repeat the seed.
            if self._sum_is_zero(rows, labels == j):
                continue
            self.attached[j] = not self.attached[j]
        self.attached[touched[~still[touched]]] = True

    def _sum_is_zero(self, rows: Rows, members: NDArray[np.bool_]) -> bool:
        alone = _core.native.Centers(1, rows.n_features, rows.one)
        alone.move(first_changes(rows.native(), np.where(members, 0, -1).astype(np.int32), 1, 1), 1)
        return not alone.vector(0).any()

    def _reassign(
        self,
        rows: Rows,
        labels: NDArray[np.int32],
        ratio: float,
        random_state: np.random.RandomState,
        n_threads: int,
    ) -> int:
        """Moves starved centers to rows of the batch; returns how many.

        Starved is a count below ``ratio`` times the largest. The rows are drawn in proportion to
        1 − (similarity to their own center), no direction twice, at most half of the batch. The
        center forgets its rows, but stands as if it had as many as the least of the others, so
        that it is not moved again at once.
        """
        standing = self.counts + self.credit
        starved = np.flatnonzero(standing < min(ratio, 1.0) * standing.max())
        starved = starved[np.argsort(standing[starved], kind="stable")][: len(rows.usable) // 2]
        if not len(starved):
            return 0
        drawn = self._draw(rows, labels, len(starved), random_state, n_threads)
        starved = starved[: len(drawn)]
        self._detach(starved[self.attached[starved]])
        everywhere = np.arange(rows.n_features, dtype=np.int32)
        for j, i in zip(starved, drawn, strict=True):
            features, values = rows.entries(i)
            fixed = np.zeros(rows.n_features, np.int64)
            fixed[features] = np.rint(values.astype(np.float64) * rows.one)
            self.centers.place(int(j), everywhere, fixed)
        self.counts[starved] = 0.0
        self.credit[starved] = np.delete(standing, starved).min()
        return len(starved)

    def _detach(self, which: NDArray[np.int64]) -> None:
        """The sums of these centers become zero; a center without a sum stays where it is."""
        if len(which):
            self._join(which, -sp.csr_array(np.stack([self.centers.vector(j) for j in which])))
        self.attached[which] = False

    def _draw(
        self,
        rows: Rows,
        labels: NDArray[np.int32],
        size: int,
        random_state: np.random.RandomState,
        n_threads: int,
    ) -> list[int]:
        """Up to ``size`` rows in proportion to weight·(1 − similarity), as integers."""
        similarities = np.empty(rows.n_rows)
        _core.native.own_similarities(rows.native(), self.centers, labels, n_threads, similarities)
        # The most a row's similarity to its own direction can fall short of 1 by rounding.
        margin = 1e-6 if rows.values.dtype == np.float32 else 1e-9
        usable = rows.usable
        far = 1.0 - similarities[usable]
        far[far <= margin] = 0.0
        if rows.weights is not None:
            far *= rows.weights[usable] / rows.weights.max()
        chances = np.rint(far * 2.0**30).astype(np.int64)
        hashes = rows.hashes(usable, n_threads)
        drawn: list[int] = []
        while len(drawn) < size and (total := int(chances.sum())) > 0:
            at = random_state.randint(total, dtype=np.int64)
            i = int(np.searchsorted(np.cumsum(chances), at, side="right"))
            drawn.append(int(usable[i]))
            chances[hashes == hashes[i]] = 0
        return drawn


def inertia(rows: Rows, similarities: NDArray[np.float64]) -> float:
    """2·Σ w·(1 − similarity) over the rows with a direction, rounded once."""
    directed = rows.zero == 0
    far = 1.0 - similarities[directed]
    if rows.weights is not None:
        far *= rows.weights[directed]
    return max(0.0, 2.0 * math.fsum(far) / rows.weight_scale)


def variance(rows: Rows) -> float:
    """The mean variance of the features of the unit rows: (1 − ‖mean‖²) / n_features."""
    alone = _core.native.Centers(1, rows.n_features, rows.one)
    alone.move(first_changes(rows.native(), -rows.zero.astype(np.int32), 1, 1), 1)
    length = 0.0
    if alone.vector(0).any():
        length = 1.0 / (float(alone.scales[0]) * rows.one * rows.weight_scale)
    return max(0.0, 1.0 - (length / rows.total_weight) ** 2) / rows.n_features


def no_rows(n_features: int) -> Rows:
    """The census with which a stream begins: no rows yet, features in the caller's order."""
    return Rows(np.empty((0, n_features)), np.empty(0, np.uint8), n_features, None, 1.0, FIRST_ONE)
