"""Two runs, or two models, that have to be the same bit for bit; and fits that are broken off."""

import numpy as np

SAME_COLUMNS = ["iteration", "changed", "relocated", "objective", "fingerprint", "movement"]


class BreakError(Exception):
    pass


def break_at(number):
    def callback(step):
        if step.iteration == number:
            raise BreakError

    return callback


def assert_same_bits(a, b):
    assert np.array_equal(a.labels, b.labels)
    assert (a.centers.vectors != b.centers.vectors).nnz == 0
    assert np.array_equal(a.centers.scales, b.centers.scales)
    assert a.objective == b.objective
    assert [i.objective for i in a.iterations] == [i.objective for i in b.iterations]
    assert [i.changed for i in a.iterations] == [i.changed for i in b.iterations]
    assert [i.fingerprint for i in a.iterations] == [i.fingerprint for i in b.iterations]
    assert a.stopped == b.stopped


def assert_same_fit(a, b):
    """Of two estimators, with their labels in memory or on a cluster."""
    assert np.array_equal(np.asarray(a.labels_), np.asarray(b.labels_))
    assert (a.center_sums().vectors != b.center_sums().vectors).nnz == 0
    assert np.array_equal(a.center_sums().scales, b.center_sums().scales)
    assert a.cluster_centers_.dtype == b.cluster_centers_.dtype
    assert np.array_equal(a.cluster_centers_, b.cluster_centers_)
    assert a.inertia_ == b.inertia_
    assert a.n_iter_ == b.n_iter_
    assert a.n_features_in_ == b.n_features_in_
    for name in SAME_COLUMNS:
        assert np.array_equal(a.trace_[name], b.trace_[name]), name
