"""Batches drawn from rows held in memory, and when enough of them have been seen."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from sklearn.utils.random import sample_without_replacement

from .._rows.rows import Rows
from .stream import BatchReport


def plain(rows: Rows) -> Rows:
    """The rows with their features in the caller's order, in which batches agree."""
    if rows.features is None or rows.by_rank is None:
        return rows
    order = np.arange(rows.n_features, dtype=np.int32)
    return dataclasses.replace(rows, features=rows.by_rank[rows.features], by_rank=order)


@dataclasses.dataclass
class StopRule:
    """When enough batches have been seen, by the rules of scikit-learn's MiniBatchKMeans."""

    smoothing: float
    """The share of the newest batch in the smoothed inertia."""
    tol: float
    """Movement at which the centers stand still; 0: never."""
    patience: int | None
    """Batches without a gain."""
    smoothed: float = math.nan
    least: float = math.inf
    without_gain: int = 0

    def converged(self, report: BatchReport, size: int) -> bool:
        """Whether a batch of this size was the last to take."""
        mean = report.inertia / size
        if math.isnan(self.smoothed):
            self.smoothed = mean
        else:
            self.smoothed = self.smoothed * (1 - self.smoothing) + mean * self.smoothing
        if self.tol > 0 and report.movement <= self.tol:
            return True
        self.without_gain = 0 if self.smoothed < self.least else self.without_gain + 1
        self.least = min(self.least, self.smoothed)
        return self.patience is not None and self.without_gain >= self.patience


def sample_of(rows: Rows, size: int, random_state: np.random.RandomState) -> Rows:
    """Usable rows, each at most once."""
    n_rows = len(rows.usable)
    if size >= n_rows:
        return rows.take(rows.usable)
    drawn = sample_without_replacement(n_rows, size, random_state=random_state)
    return rows.take(rows.usable[drawn])


def batches_of(rows: Rows, size: int, random_state: np.random.RandomState) -> Callable[[], Rows]:
    """Draws batches with replacement by weight; a row drawn twice is a row of weight 2."""
    usable, weights = rows.usable, rows.weights
    running = None if weights is None else np.cumsum(weights[usable])

    def draw() -> Rows:
        if running is None:
            drawn = random_state.randint(len(usable), size=size)
        else:
            numbers = random_state.random_sample(size) * running[-1]
            drawn = np.minimum(np.searchsorted(running, numbers, side="right"), len(usable) - 1)
        which, times = np.unique(drawn, return_counts=True)
        batch = rows.take(usable[which])
        return dataclasses.replace(batch, weights=times.astype(np.float64), weight_scale=1.0)

    return draw
