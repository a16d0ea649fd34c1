"""Centers over a stream of batches: the exact sums of all the rows they have taken so far.

``MiniBatchSphericalKMeans`` has a ``Stream``. Sculley's mini-batch k-means (WWW 2010) moves a
center by 1/count towards each row it takes, which makes it the mean of the rows taken so far. The
spherical form needs no rate: a center is the direction of the sum of its rows, and sums are exact
integers of the core. What a batch adds does not depend on the order of its rows, on threads,
container or instruction set. So the centers are a function of the sequence of batches alone, bit
for bit.
"""

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import first_changes, fixed_entries, sums_of
from .._centers.sums import CenterSums
from .._centers.wire import Snapshot, centers_from
from .._rows.rows import Rows

FIRST_ONE = 2.0**40
"""1.0 in fixed point at the beginning of a stream: room for a total weight of 2^21."""
LEAST_ONE = 2.0**30
"""The least 1.0 in fixed point, from a total weight of 2^31 on; then the weights are scaled."""
LARGEST_SUM = 2.0**61
"""The total weight in fixed point is never larger."""
ROWS_A_THREAD = 256
"""Rows of a batch for which another thread is worth starting."""


class BatchReport(NamedTuple):
    """What a stream did with a batch."""

    inertia: float
    """Σ w·‖x − c‖² of its rows, before the centers moved."""
    movement: float
    """Σ ‖c′ − c‖² over the centers; infinite where some were reassigned."""
    reassigned: int
    """How many starved centers were placed at a row of the batch."""


class Stream:
    """The centers of a stream: exact sums of the rows they have taken, and the counts of these.

    Features lie in the caller's order, since each batch would rank them differently. A seed is a
    detached center: it counts for nothing, and the first rows it takes replace it.

    *Nothing overflows, however long the stream.* The total weight in fixed point stays below 2^61,
    as in docs/exactness.md. Where the next batch would pass that, ``one`` and the sums are divided
    by a power of two, and each entry of a sum is rounded once, half away from zero. That happens at
    most once while the total weight doubles. The error is then half a unit in sums whose total is
    2^60 units.
    """

    def __init__(self, centers: _core.native.Centers, census: Rows, weight_scale: float) -> None:
        n_clusters = len(centers.scales)
        self.centers = centers
        self.census = census
        """See ``no_rows``; with the ``one`` of ``centers``."""
        self.weight_scale = weight_scale
        """The power of two by which the weights of all rows are multiplied; see ``_rescale``."""
        self.counts = np.zeros(n_clusters)
        """The weight of the rows that each center has taken since it was placed."""
        self.credit = np.zeros(n_clusters)
        """What each reassigned center counts in addition, so that it is not starved again."""
        self.rows_since = 0
        """The rows taken since starved centers were looked for."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "centers": self.sums(), "attached": self._attached()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        attached = state.pop("attached")
        self.__dict__.update(state)
        self._restore(state["centers"], attached)

    def _attached(self) -> NDArray[np.bool_]:
        """Which centers are not detached."""
        return np.array([not self.centers.detached(j) for j in range(len(self.counts))], bool)

    def sums(self) -> CenterSums:
        """The centers as they go into files."""
        return sums_of(self.census, self.centers)

    def label(self, rows: Rows, n_threads: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The most similar center of each row, by the tie rule, and the similarity to it."""
        directed = np.flatnonzero(rows.zero == 0)
        found, cosines = np.empty(len(directed), np.int32), np.empty(len(directed))
        native, centers = rows.native(), self.centers
        _core.native.nearest(
            native, centers, directed, n_threads=n_threads, labels=found, similarities=cosines
        )
        labels, similarities = np.full(rows.n_rows, -1, np.int32), np.zeros(rows.n_rows)
        labels[directed], similarities[directed] = found, cosines
        return labels, similarities

    def take_batch(
        self, rows: Rows, ratio: float, random_state: np.random.RandomState, n_threads: int
    ) -> BatchReport:
        """Labels the rows of a batch, moves the centers to their new sums, and reassigns.

        A center is starved below ``ratio`` times the largest count.
        """
        n_threads = min(n_threads, 1 + rows.n_rows // ROWS_A_THREAD)
        # As in scikit-learn: after every 10·n_clusters rows, or while a center has none.
        self.rows_since += rows.n_rows
        due = self.rows_since >= 10 * len(self.counts) or not np.all(self.counts + self.credit)
        rows = self._weighed(rows)
        labels, similarities = self.label(rows, n_threads)
        self.add_rows(rows, labels, n_threads)
        chords = self.centers.chords.tolist()
        movement, reassigned = math.fsum(chord * chord for chord in chords), 0
        if due:
            self.rows_since = 0
            reassigned = self._reassign(rows, labels, ratio, random_state, n_threads)
        if reassigned:
            movement = math.inf
        return BatchReport(inertia(rows, similarities), movement, reassigned)

    def _weighed(self, rows: Rows) -> Rows:
        """The rows of a batch with weights at the scale of the stream.

        The stream is first rescaled where the sums might overflow with this batch.
        """
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
        """Divides the sums by 2^bits, rounding half away from zero.

        ``one`` falls by as much, down to ``LEAST_ONE``; the rest falls to ``weight_scale``.
        """
        sums, attached = self.sums(), self._attached()
        one = max(LEAST_ONE, math.ldexp(sums.one, -bits))
        self.weight_scale *= math.ldexp(sums.one, -bits) / one
        vectors = sums.vectors
        for j in range(len(self.counts)):
            at = slice(vectors.indptr[j], vectors.indptr[j + 1])
            size = np.abs(vectors.data[at])
            # Twice by one bit less: 2^bits itself may be beyond the integers.
            rounded = ((size >> min(bits - 1, 62)) + 1) >> 1
            # A sum that rounds to nothing has no direction: the center keeps its own, detached.
            attached[j] &= rounded.any()
            if attached[j]:
                vectors.data[at] = np.sign(vectors.data[at]) * rounded
        vectors.eliminate_zeros()
        self._restore(CenterSums(vectors, sums.scales, one), attached)

    def _restore(self, sums: CenterSums, attached: NDArray[np.bool_]) -> None:
        """Sets the centers to these vectors; those attached are the sums of their rows."""
        self.census = dataclasses.replace(self.census, one=sums.one)
        snapshot = Snapshot(
            one=sums.one,
            starts=sums.vectors.indptr.astype(np.int64),
            features=sums.vectors.indices.astype(np.int32),
            values=sums.vectors.data,
            counts=attached.astype(np.int64),  # rows do not leave: that there are some is enough
            detached=(~attached).astype(np.uint8),
        )
        self.centers = centers_from(snapshot, self.census)

    def add_rows(self, rows: Rows, labels: NDArray[np.int32], n_threads: int) -> None:
        """Adds rows to the sums of their clusters, and moves the centers there."""
        usable = rows.usable
        changes = first_changes(rows.native(), labels, len(self.counts), n_threads)
        self.centers.move(changes, n_threads)
        weights = None if rows.weights is None else rows.weights[usable] / rows.weight_scale
        self.counts += np.bincount(labels[usable], weights, len(self.counts))

    def _reassign(
        self,
        rows: Rows,
        labels: NDArray[np.int32],
        ratio: float,
        random_state: np.random.RandomState,
        n_threads: int,
    ) -> int:
        """Places starved centers at rows of the batch; returns how many.

        Starved is a center whose count is below ``ratio`` times the largest count. The rows are
        drawn in proportion to 1 − (similarity to their own center), no direction twice, at most
        half of the batch. A center that was placed forgets its rows. Its credit is the least count
        among the centers that were not, so it is not starved again at once.
        """
        standing = self.counts + self.credit
        starved = np.flatnonzero(standing < min(ratio, 1.0) * standing.max())
        starved = starved[np.argsort(standing[starved], kind="stable")][: len(rows.usable) // 2]
        if not len(starved):
            return 0
        drawn = self._draw(rows, labels, len(starved), random_state, n_threads)
        starved = starved[: len(drawn)]
        for j, i in zip(starved.tolist(), drawn, strict=True):
            self.centers.place(j, *fixed_entries(self.census, rows, i))
        self.counts[starved] = 0.0
        self.credit[starved] = np.delete(standing, starved).min()
        return len(starved)

    def _draw(
        self,
        rows: Rows,
        labels: NDArray[np.int32],
        size: int,
        random_state: np.random.RandomState,
        n_threads: int,
    ) -> list[int]:
        """Draws up to ``size`` rows by integer chances, proportional to weight·(1 − similarity)."""
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
            number = random_state.randint(total, dtype=np.int64)
            i = int(np.searchsorted(np.cumsum(chances), number, side="right"))
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
