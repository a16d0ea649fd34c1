"""The float32 kernel stays within its proven distance of the reference similarity."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from arcmeans import _core
from arcmeans._algorithms.options import EngineOptions
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._centers.placing import place_rows
from arcmeans._engines.memory import MemoryEngine
from arcmeans._rows.unit_rows import unit_rows

from .support.examples import examples


def both(rows, centers, i, k):
    native = rows.native()
    fast, reference = np.empty(k, np.float32), np.empty(k)
    _core.native.panel_similarities(native, centers, i, fast)
    _core.native.reference_similarities(native, centers, i, reference)
    return fast.astype(np.float64), reference


@st.composite
def matrices(draw):
    """Rows with values of very different sizes and signs, sparse or full, long or short."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 6)), draw(st.sampled_from([1, 3, 17, 200, 3000]))
    decades = draw(st.sampled_from([0, 3, 30]))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-decades, 0, (n, d))
    if draw(st.booleans()):
        X = np.abs(X)
    X[rng.random((n, d)) < draw(st.sampled_from([0.0, 0.5, 0.97]))] = 0.0
    X[:, rng.integers(d)] += 1.0
    if draw(st.booleans()):
        X[1] = X[0]  # a similarity of 1
    return X.astype(draw(st.sampled_from([np.float32, np.float64])))


def test_error_bound(simd):
    @examples(60)
    @given(matrices(), st.sampled_from([1, 15, 16, 17, 70, 130]), st.booleans())
    def check(X, k, sparse):
        rows = unit_rows(sp.csr_array(X) if sparse else X)
        centers = place_rows(rows, rows, np.arange(k) % len(X))
        for i in range(len(X)):
            fast, reference = both(rows, centers, i, k)
            size = len(rows.entries(i)[0]) if sparse else X.shape[1]
            assert np.all(np.abs(fast - reference) <= _core.native.panel_error(size))

    check()


def test_reference_is_the_exact_product_rounded():
    """sim64 against exact rational arithmetic, within float64's own error bound."""
    from fractions import Fraction

    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 40))
    rows = unit_rows(X)
    centers = place_rows(rows, rows)
    for i in range(5):
        _, reference = both(rows, centers, i, 5)
        for j in range(5):
            exact = sum(
                Fraction(float(x)) * int(c)
                for x, c in zip(rows.values[i], centers.vector(j), strict=True)
            )
            length = float(sum(int(c) ** 2 for c in centers.vector(j))) ** 0.5
            assert abs(float(exact) / length - reference[j]) <= 50 * 2.0**-53


def test_reference_has_the_same_bits_everywhere(case):
    """Ranks, containers and instruction sets change nothing in sim64."""
    seen = []
    for X in (case.X, case.X.toarray()):
        for name in _core.available():
            original, _core.native = _core.native, _core.load(name)
            try:
                rows = unit_rows(X)
                centers = place_rows(rows, unit_rows(case.init))
                usable = rows.usable[:20]
                seen.append([both(rows, centers, int(i), case.n_clusters)[1] for i in usable])
            finally:
                _core.native = original
    assert all(np.array_equal(seen[0], other) for other in seen[1:])


def test_the_matrix_has_the_bits_of_the_reference(case, simd):
    for X in (case.X, case.X.astype(np.float32).toarray()):
        rows = unit_rows(X)
        centers = place_rows(rows, unit_rows(case.init.astype(X.dtype)))
        matrix = np.empty((rows.n_rows, case.n_clusters))
        _core.native.similarity_matrix(rows.native(), centers, 2, matrix)
        for i in range(0, rows.n_rows, 7):
            assert np.array_equal(matrix[i], both(rows, centers, i, case.n_clusters)[1])


def test_a_center_wider_than_the_rows_is_refused():
    rows = unit_rows(np.ones((3, 4)))
    with pytest.raises(ValueError, match="a feature that the rows do not have"):
        place_rows(rows, unit_rows(np.ones((2, 5))))


@examples(20)
@given(st.integers(1, 2**22))
@example(2**23)
def test_the_error_bound_covers_its_first_order(size):
    bound = _core.native.panel_error(size)
    assert bound >= (size + 8) * 2.0**-24
    assert bound == np.inf or bound <= 1.0


@pytest.mark.parametrize("before", [0, 200])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_zeros_of_float32_are_told_apart(algorithm, before, simd):
    """A similarity that float32 rounds to zero is not that of a center without the features."""
    X = sp.csr_array(
        np.array([[1.0, -1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 0]])
    )
    tiny = 1e-9
    init = np.array(
        [
            [1.0, 1.0 + tiny, 0, 0, 0],  # −tiny/2 to the first row
            [1.0 + tiny, 1.0, 0, 0, 0],  # +tiny/2
            [0, 0, -1.0, 0, 1.0],  # below zero to the second row
            [0, 0, 0, 0, 1.0],
        ]
    )
    for order, expected in (([0, 1, 2, 3], [1, 0, 0, 0]), ([2, 3, 0, 1], [3, 1, 0, 0])):
        if before:  # centers without the features of any row, so that the others stand far behind
            expected = [before + expected[0], 0, 0, 0]
        seeds = np.vstack([np.eye(5)[[4] * before], init[order]])
        engine = MemoryEngine(unit_rows(X), len(seeds), EngineOptions(algorithm))
        engine.assign(place_rows(engine.rows, unit_rows(seeds)))
        assert engine.labels.tolist() == expected
