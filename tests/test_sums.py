"""Sums in fixed point: exact, whatever the order, the split, the coming and going of rows."""

import math

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from arcmeans import SphericalKMeans, _core
from arcmeans._centers.placing import place_rows
from arcmeans._rows.unit_rows import unit_rows

from .support.examples import examples


def vectors(centers, rows, k):
    out = np.array([centers.vector(j) for j in range(k)])
    return out if rows.rank is None else out[:, rows.rank]


def changed(rows, previous, labels, k, n_threads=1):
    changes = _core.native.SumChanges(k)
    changes.collect(rows.native(), previous, labels, n_threads)
    return changes


def moved(rows, k, *labelings, n_threads=1):
    """The vectors after the rows were labelled in turn in each of these ways."""
    centers = place_rows(rows, rows, np.zeros(k, np.int64))
    previous = np.full(rows.n_rows, -1, np.int32)
    for labels in labelings:
        centers.move(changed(rows, previous, labels, k, n_threads), n_threads)
        previous = labels
    return vectors(centers, rows, k)


def exact(rows, k, labels):
    """The sums in Python's own integers."""
    sums = [[0] * rows.n_features for _ in range(k)]
    for i, label in enumerate(labels):
        weight = 1.0 if rows.weights is None else float(rows.weights[i])
        for f, value in zip(*rows.entries(i), strict=True):
            fixed = round(math.ldexp(float(value), int(math.log2(rows.one))))
            fixed = fixed * int(weight) if weight.is_integer() else round(fixed * weight)
            sums[label][f] += fixed
    return sums


@st.composite
def labelled_rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, k = draw(st.integers(3, 40)), draw(st.integers(1, 50)), draw(st.integers(1, 3))
    X = np.where(rng.random((n, d)) < 0.4, rng.standard_normal((n, d)), 0.0)
    X[:, 0] = 1.0 + rng.random(n)
    kind = draw(st.sampled_from([None, "integer", "real", "tiny"]))
    weights = {
        None: None,
        "integer": rng.integers(1, 9, n).astype(float),
        "real": rng.random(n) + 0.01,
        "tiny": (rng.random(n) + 0.1) * 1e-200,
    }[kind]
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    rows = unit_rows(sp.csr_array(X) if draw(st.booleans()) else X, sample_weight=weights)
    labelings = [np.r_[np.arange(k), rng.integers(k, size=n - k)].astype(np.int32) for _ in "abc"]
    return rows, k, labelings


def test_sums_are_exact(simd):
    @examples(40)
    @given(labelled_rows())
    def check(given):
        rows, k, labelings = given
        direct = moved(rows, k, labelings[0])
        assert np.array_equal(direct, exact(rows, k, labelings[0]))
        # Through other labelings and back, on several threads.
        a, b, c = labelings
        assert np.array_equal(direct, moved(rows, k, b, c, a, n_threads=3))
        assert np.array_equal(direct, moved(rows, k, b, a, c, a))

    check()


def test_dense_rows_are_rounded_by_vectors_as_one_by_one(simd):
    """From 2,048 rows on; numbers halfway between two whole ones among them."""
    rng = np.random.default_rng(3)
    n, k = 2100, 3
    X = rng.standard_normal((n, 11))
    halves = (2 * rng.integers(2**9, size=(n // 2, 1)) + 1) * 2.0**-50
    X[::2] = np.hstack([np.ones((n // 2, 1)), rng.choice([-1.0, 1.0], (n // 2, 10)) * halves])
    rows = unit_rows(X, sample_weight=rng.integers(1, 3, n))
    assert rows.one == 2.0**49
    assert np.array_equal(rows.values[::2], X[::2])
    labels = rng.integers(k, size=n).astype(np.int32)
    assert np.array_equal(moved(rows, k, labels), exact(rows, k, labels))
    assert np.array_equal(moved(rows, k, labels), moved(rows, k, labels[::-1].copy(), labels))


def test_sums_do_not_depend_on_order():
    rng = np.random.default_rng(0)
    X = sp.random_array((200, 30), density=0.3, random_state=rng, format="csr")
    X = sp.csr_array(X + sp.csr_array((np.ones(200), (range(200), [0] * 200)), X.shape))
    labels = np.r_[0:4, rng.integers(4, size=196)].astype(np.int32)
    order = rng.permutation(200)
    assert np.array_equal(
        moved(unit_rows(X), 4, labels), moved(unit_rows(sp.csr_array(X[order])), 4, labels[order])
    )


def test_nothing_overflows_at_the_limit():
    """All rows in one direction and one cluster: the largest sum there is stays below 2⁶²."""
    for n in (1, 2, 3, 1000, 1025):
        rows = unit_rows(np.ones((n, 1)))
        total = moved(rows, 1, np.zeros(n, np.int32))[0, 0]
        assert 0 < total <= 2**61
        assert total == n * int(rows.one)
    heavy = unit_rows(np.ones((3, 1)), sample_weight=np.array([1e300, 1e290, 5.0]))
    assert 0 < moved(heavy, 1, np.zeros(3, np.int32))[0, 0] <= 2**61 + 3


def test_integer_weights_are_repeated_rows():
    rng = np.random.default_rng(1)
    X = rng.random((60, 7))
    weights = rng.integers(1, 5, 60)
    init = X[:5]
    weighted = SphericalKMeans(5, init=init).fit(X, sample_weight=weights)
    repeated = SphericalKMeans(5, init=init).fit(np.repeat(X, weights, axis=0))
    assert np.array_equal(weighted.cluster_centers_, repeated.cluster_centers_)
    assert np.array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)
    assert weighted.inertia_ == repeated.inertia_
    assert weighted.n_iter_ == repeated.n_iter_


def test_rows_that_cancel_leave_the_center_where_it_is():
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    rows = unit_rows(X)
    centers = place_rows(rows, unit_rows(np.array([[3.0, 1.0]])))
    labels = np.zeros(4, np.int32)
    changes = changed(rows, np.full(4, -1, np.int32), labels, 1)
    before = centers.vector(0).copy()
    centers.move(changes, 1)
    assert np.array_equal(before, centers.vector(0))
    assert centers.chords[0] == 0
    # The rows sum to zero all the same: when one leaves, the rest point the other way.
    after = labels.copy()
    after[0] = -1
    centers.move(changed(rows, labels, after, 1), 1)
    assert np.all(centers.vector(0) < 0)
