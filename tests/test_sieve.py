"""The sieve: a filter within its error, and bounds that are true after every pass."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from arcmeans import _core
from arcmeans._algorithms.options import EngineOptions
from arcmeans._centers.placing import place_rows
from arcmeans._engines.memory import MemoryEngine
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._run.loop import run

from .support.examples import examples
from .support.fits import assert_same_bits
from .support.pushed import Pushed
from .support.rows import best_by_reference, full, products, split, topics
from .support.sieve_bounds import (
    FINE,
    LINE,
    ROW,
    UNIT,
    assert_bounds_hold,
    check_run,
    errors_of,
    lower_now,
)

# --- The filter ---


@st.composite
def awkward(draw):
    """Rows whose roundings to 16 bits add up, or nearly vanish, or differ by decades."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = 6, draw(st.sampled_from([1, 2, 31, 700, 4099]))
    kind = draw(st.sampled_from(["flat", "levels", "decades", "random", "one large"]))
    X = {
        "flat": lambda: np.ones((n, d)),
        "levels": lambda: rng.integers(1, 4, (n, d)).astype(float),
        "decades": lambda: 10.0 ** rng.uniform(-9, 0, (n, d)),
        "random": lambda: rng.random((n, d)),
        "one large": lambda: np.where(np.arange(d) == 0, 1.0, 0.5 / 32767),
    }[kind]()
    X = np.broadcast_to(X, (n, d)) * np.ones((n, d))
    if draw(st.booleans()):
        X = X * rng.choice([-1.0, 1.0], (n, d))
    size = rng.integers(1, d + 1, n)
    X[np.arange(d) >= size[:, None]] = 0.0
    X[1] = X[0]
    return X.astype(draw(st.sampled_from([np.float32, np.float64])))


def filtered(rows, centers, n_frequent):
    """What the filter says of each row and one center, without the rounding of an upper bound."""
    engine = MemoryEngine(
        split(rows, n_frequent) if rows.starts is not None else rows, 1, EngineOptions("sieve")
    )
    engine.assign(centers)
    filters, reference = errors_of(rows, centers)
    error = (filters[:, 0] + 3 * reference).astype(np.float32)
    found = lower_now(engine, slice(None), engine.labels) + 2 / (FINE * UNIT) + error
    return found, filters[:, 0]


def test_the_filter_stays_within_its_error(simd):
    @examples(60)
    @given(awkward(), st.booleans(), st.floats(0.0, 1.0))
    @example(np.ones((6, 4099)), False, 1.0)
    def check(X, sparse, share):
        rows = unit_rows(sp.csr_array(X) if sparse else X)
        n_frequent = int(share * rows.n_features) if sparse else rows.n_features
        if sparse:
            rows = split(rows, n_frequent)
        for center in range(3):
            centers = place_rows(rows, rows, [center])
            found, error = filtered(rows, centers, n_frequent)
            true = products(full(rows), centers, 1)[:, 0]
            # The lower bound that it is read from is in steps of 2⁻²¹, rounded down twice.
            assert np.all(np.abs(found - true) <= error + 2.0**-20)

    check()


def test_the_error_is_reached():
    """Flat rows round the same way in every entry: the bound is no larger than it has to be."""
    shares = []
    for size in range(3000, 3100):
        rows = unit_rows(np.ones((1, size)))
        found, error = filtered(rows, place_rows(rows, rows), size)
        shares.append((found[0] - 1.0) / error[0])
    assert -1.0 <= min(shares) < -0.7
    assert 0.8 < max(shares) <= 1.0
    # The filter is low by many units there, and bounds hold all the same: of lanes and of lines.
    rows = unit_rows(np.ones((1, 3000 + int(np.argmin(shares)))))
    check_run(rows, np.zeros(33, int))


@pytest.mark.parametrize("dense", [False, True])
def test_lines_visited_together_have_the_error_of_the_worst(dense, simd):
    """One short center in the second line, all entries of which but one are rounded down."""
    rng = np.random.default_rng(0)
    n, d, k, short = 42, 4097, 40, 35
    X = (rng.random((n, d)) < 0.5).astype(float)
    X[short] = 0.49 / (0.92 * 32767)
    X[short, 0] = 1.0
    X[k:] = 512 / ROW  # whole numbers in 16 bits, but for one of them
    X[k:, :2] = [0.0, math.sqrt(1.0 - (d - 2) * (512 / ROW) ** 2)]
    rows = unit_rows(X if dense else sp.csr_array(X))
    centers = place_rows(rows, rows, np.arange(k))
    MemoryEngine(rows, k, EngineOptions("sieve")).assign(centers)
    lengths = centers.line_lengths
    assert lengths[short] < 0.6 * lengths[:LINE].min()
    check_run(rows, np.arange(k), passes=1)


# --- Bounds and labels, pass by pass ---


@st.composite
def collections(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k = draw(st.sampled_from([1, 2, 4, 7, 16, 31, 33, 70, 128]))
    n, d = draw(st.integers(max(k, 40), 160)), draw(st.sampled_from([1, 2, 7, 40, 150]))
    kinds = rng.standard_normal((draw(st.integers(1, 12)), d))
    spread = draw(st.sampled_from([1e-8, 1e-4, 0.1, 1.0, 10.0]))
    X = kinds[rng.integers(len(kinds), size=n)] + spread * rng.standard_normal((n, d))
    if draw(st.booleans()):
        X = np.abs(X)
    X[rng.random((n, d)) < draw(st.sampled_from([0.0, 0.5, 0.9]))] = 0.0
    if draw(st.booleans()):
        X = X[rng.integers(0, max(k, n // 3), n)]  # equal rows, equal seeds
    if draw(st.booleans()):
        X *= 10.0 ** rng.uniform(-12, -3, (n, 1))
    X[:k, 0] += X[:k].any(axis=1) == 0
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    weights = None
    if draw(st.booleans()):
        weights = rng.integers(0, 4, n) + (np.arange(n) < k)
        weights[0] = draw(st.sampled_from([1, 10**12]))
    rows = unit_rows(X if draw(st.booleans()) else sp.csr_array(X), sample_weight=weights)
    if rows.starts is not None and draw(st.booleans()):
        rows = split(rows, draw(st.integers(0, d)))
    return rows, rng.permutation(k)


def test_bounds_hold_through_whole_runs(simd):
    @examples(60)
    @given(collections())
    def check(given):
        check_run(*given)

    check()


@pytest.mark.parametrize("keep_bounds", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [None, 0.0, 0.3])
def test_every_case(case, dtype, share, keep_bounds):
    rows = unit_rows(case.X.astype(dtype))
    if share is not None:
        rows = split(rows, int(share * rows.n_features))
    seeds = unit_rows(case.init.astype(dtype))
    k = case.n_clusters
    results = [
        run(MemoryEngine(rows, k, options), place_rows(rows, seeds))
        for options in (EngineOptions("lloyd"), EngineOptions("sieve", keep_bounds=keep_bounds))
    ]
    assert_same_bits(*results)


@pytest.mark.threads
@pytest.mark.parametrize("dense", [False, True])
def test_more_centers_than_lines_in_a_look(dense):
    """Beyond 1024 centers the bounds are looked through in several steps."""
    X = topics(np.random.default_rng(0), 1400, 60, 30, 500)
    rows = unit_rows(X.toarray() if dense else X)
    check_run(rows, np.arange(1060), passes=5, n_threads=2, chunk_rows=100)


@pytest.mark.parametrize("k", [20, 40, 70, 140, 300, 600])
def test_groups_of_every_size(k, simd):
    """1 to 32 centers of a line share a bound."""
    rows = unit_rows(np.random.default_rng(k).standard_normal((700, 13)))
    assert _core.native.LineGroups(k, True).n_bounds == LINE
    check_run(rows, np.arange(k), passes=4)


@pytest.mark.parametrize(
    ("n_frequent", "dtype"),
    [(70_000, np.float32), (65_537, np.float64), (65_536, np.float32), (3000, np.float64)],
)
def test_long_rows_of_many_features(n_frequent, dtype):
    """Features beyond 16 bits, and rows of thousands of them."""
    rng = np.random.default_rng(1)
    d, n = 70_000, 50
    common = rng.permutation(d)[:3000]
    columns = [
        np.unique(np.r_[rng.choice(common, 1500), rng.integers(0, d, rng.integers(3000, 8000))])
        for _ in range(n)
    ]
    starts = np.cumsum([0, *map(len, columns)])
    X = sp.csr_array((rng.random(starts[-1]), np.concatenate(columns), starts), shape=(n, d))
    rows = split(unit_rows(X.astype(dtype)), n_frequent)
    assert rows.features.max() > 65_536
    centers = place_rows(rows, rows, np.arange(5))
    engine = MemoryEngine(rows, 5, EngineOptions("sieve"))
    lloyd = MemoryEngine(rows, 5, EngineOptions("lloyd"))
    reference = place_rows(rows, rows, np.arange(5))
    values = full(rows).astype(np.float64)
    for number in range(4):
        engine.assign(centers)
        lloyd.assign(reference)
        assert np.array_equal(engine.labels, lloyd.labels)
        assert_bounds_hold(engine, centers, values, tight=number == 0)
        centers.move(engine.sum_changes(), 1)
        reference.move(lloyd.sum_changes(), 1)


# --- Centers that are pushed about ---


def swinging(n_groups=6):
    """Rows in groups that share few features, from tight to wide."""
    rng = np.random.default_rng(3)
    blocks = []
    for group in range(n_groups):
        middle = np.zeros(8 * n_groups)
        middle[8 * group : 8 * group + 8] = 1.0
        wide = 2.0 ** (1 - group / 2)
        blocks.append(middle + wide * rng.random((16, 8 * n_groups)))
    return np.vstack(blocks)


@pytest.mark.parametrize(
    "kind", ["non-negative", "mixed signs", "dense", "rare", "many", "many of mixed signs"]
)
def test_bounds_wrap_around_many_times(kind):
    """Centers go back and forth while rows keep bounds of old."""
    k, groups, steps = (170, 12, 250) if kind.startswith("many") else (70, 6, 800)
    X = swinging(groups)
    if "mixed signs" in kind:
        X[:, ::2] *= -1.0
    rows = unit_rows(X if kind == "dense" else sp.csr_array(X))
    if kind in ("rare", "many"):
        rows = split(rows, 20)
    rng = np.random.default_rng(0)
    values = full(rows)
    pushed = Pushed(rows, k)
    engine = MemoryEngine(rows, k, EngineOptions("sieve", chunk_rows=40))
    home = (np.arange(len(X)) % k).astype(np.int32)
    skipped = 0
    for step in range(steps):
        labels = home.copy()
        # Mostly within a group, where centers move little; at times anywhere.
        some = rng.random(len(X)) < rng.choice([0.0, 0.02, 0.5])
        near = np.arange(len(X)) // 16 * 16 + rng.integers(16, size=len(X))
        labels[some] = home[near[some]]
        if step % 97 == 0:
            labels[some] = rng.integers(k, size=np.count_nonzero(some))
        pushed.push(labels)
        skipped += engine.assign(pushed.centers).skipped_by_bounds
        assert np.array_equal(engine.labels, best_by_reference(rows, pushed.centers, k))
        if step % 25 == 0:
            assert_bounds_hold(engine, pushed.centers, values)
    assert np.median(engine.algorithm.aging.rises) > steps / 200 * 2**16 / UNIT
    assert 0.1 < skipped / (steps * len(X)) < 0.9


@pytest.mark.parametrize("dense", [False, True])
def test_centers_that_lose_nearly_all_their_weight(dense):
    """Sums shrink a million million times, and what is left has to be told apart in 16 bits."""
    rng = np.random.default_rng(7)
    X, k = rng.random((60, 5)), 3
    weights = np.ones(len(X))
    weights[0] = 10**12
    rows = unit_rows(X if dense else sp.csr_array(X), sample_weight=weights)
    values = full(rows)
    pushed = Pushed(rows, k)
    engine = MemoryEngine(rows, k, EngineOptions("sieve"))
    for step in range(9):
        labels = rng.integers(k, size=len(X)).astype(np.int32)
        labels[0] = step % k
        pushed.push(labels)
        engine.assign(pushed.centers)
        assert np.array_equal(engine.labels, best_by_reference(rows, pushed.centers, k))
        assert_bounds_hold(engine, pushed.centers, values)
        assert min(pushed.centers.line_lengths) > 20_000
