"""Centers that go where a test sends them."""

import numpy as np

from arcmeans import _core
from arcmeans._centers.placing import place_rows

from .rows import full


class Pushed:
    """Centers that follow labels made up by the test, and what their sums have to be."""

    def __init__(self, rows, k):
        self.rows, self.k = rows, k
        self.centers = place_rows(rows, rows, np.arange(k))
        self.fixed = np.rint(full(rows).astype(np.float64) * rows.one).astype(np.int64)
        if rows.weights is not None:  # whole numbers
            self.fixed *= rows.weights.astype(np.int64)[:, None]
        self.vectors = np.array([self.centers.vector(j) for j in range(k)])
        self.labels = np.full(rows.n_rows, -1, np.int32)
        self._changes = _core.native.SumChanges(k)

    def push(self, labels, n_threads=1):
        self._changes.collect(self.rows.native(), self.labels, labels, n_threads)
        self.centers.move(self._changes, n_threads)
        for j in set(self.labels[self.labels != labels]) | set(labels[self.labels != labels]):
            total = self.fixed[labels == j].sum(axis=0)
            if j >= 0 and total.any():
                self.vectors[j] = total
        self.labels = labels.copy()

    def replace(self, j, vector):
        """Places a center anew; its rows are its rows no longer."""
        features = np.flatnonzero(vector).astype(np.int32)
        self.centers.place(j, features, vector[features])
        self.vectors[j] = vector
        self.labels[self.labels == j] = -1

    def check(self):
        for j in range(self.k):
            assert np.array_equal(self.centers.vector(j), self.vectors[j])
            assert self.centers.counts[j] == np.count_nonzero(self.labels == j)
            squared = sum(int(v) ** 2 for v in self.vectors[j])
            assert self.centers.scales[j] == 1.0 / np.sqrt(float(squared))
