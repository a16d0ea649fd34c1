"""What moves of the centers do to the sieve: gains that lower bounds, and slots that change."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from arcmeans import _core
from arcmeans._algorithms.options import EngineOptions
from arcmeans._centers.placing import place_rows
from arcmeans._engines.memory import MemoryEngine
from arcmeans._rows.unit_rows import unit_rows

from .support.examples import examples
from .support.pushed import Pushed
from .support.rows import best_by_reference, full, split, topics
from .support.sieve_bounds import LINE, assert_bounds_hold, check_run


@st.composite
def documents(draw):
    """So many centers that they share bounds, and the gain lines are visited."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, d = draw(st.sampled_from([129, 200, 256, 257, 300])), draw(st.sampled_from([30, 120, 400]))
    kinds = rng.gamma(draw(st.sampled_from([0.05, 0.5])), size=(draw(st.integers(2, 40)), d))
    X = kinds[rng.integers(len(kinds), size=k + 150)] * rng.gamma(0.5, size=(k + 150, d))
    X[rng.random(X.shape) < draw(st.sampled_from([0.3, 0.8]))] = 0.0
    if draw(st.booleans()):
        X *= rng.choice([-1.0, 1.0], X.shape, p=[0.2, 0.8])
    X *= 10.0 ** rng.uniform(-6, 3, (len(X), 1))
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    X[:, 0] += X.any(axis=1) == 0
    weights = rng.integers(1, 4, len(X)).astype(float) if draw(st.booleans()) else None
    rows = unit_rows(sp.csr_array(X), sample_weight=weights)
    if draw(st.booleans()):
        rows = split(rows, draw(st.integers(0, d)))
    return rows, rng.permutation(k)


def test_bounds_hold_where_gains_lower_them(simd):
    @examples(20)
    @given(documents())
    def check(given):
        check_run(*given)

    check()


@pytest.mark.parametrize("k", [200, 300])
@pytest.mark.parametrize("signed", [False, True])
def test_the_gain_lines_tell_most_of_a_move(k, signed):
    rng = np.random.default_rng(5)
    X = topics(rng, 3000, 500, 40, 60)
    if signed:
        X.data *= rng.choice([-1.0, 1.0], len(X.data))
    rows = unit_rows(X)
    centers = place_rows(rows, rows, np.arange(k))
    engine = MemoryEngine(rows, k, EngineOptions("sieve"))
    for _ in range(3):
        moved = np.array(centers.chords)
        engine.assign(centers)
        centers.move(engine.sum_changes(), 1)
    aging = engine.algorithm.aging
    assert aging.told
    assert np.count_nonzero(moved) > 0.5 * k
    assert np.all(aging.falls_less_slack[moved > 0] > 0.3 * moved[moved > 0])
    groups = _core.native.LineGroups(k, False)
    largest = np.zeros(groups.count)
    np.maximum.at(largest, [groups.of(j) for j in range(k)], moved)
    assert np.all(aging.rises_less_slack[largest > 0] > 0.3 * largest[largest > 0])


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("k", [224, 225, 480, 520, 992, 993])
def test_losses_share_the_lanes_that_gains_leave(k, signed):
    """28 gains and 4 losses, 16 and 16, 30 and 2, 17 and 15, 31 and 1, and a line of each."""
    rng = np.random.default_rng(k)
    X = topics(rng, k + 250, 200, 15, 300)
    if signed:
        X.data *= rng.choice([-1.0, 1.0], len(X.data))
    check_run(unit_rows(X), np.arange(k), passes=6)


def test_losses_that_share_a_lane_do_not_overflow():
    """56 centers lose as much, each in a feature of its own, and a row has all of these alike."""
    k = 224
    feature = np.arange(k)
    kept, lost = np.eye(2 * k)[feature], np.eye(2 * k)[feature + k]
    row = lost[1::4].sum(axis=0)  # whose lane is the number of the center modulo 4
    X = np.vstack([kept + lost, kept, lost, row])
    weights = np.ones(len(X))
    weights[k] = 1e6  # center 0 does not gain from what comes to it
    rows = unit_rows(sp.csr_array(X), sample_weight=weights)
    centers = place_rows(rows, rows, feature)
    engine = MemoryEngine(rows, k, EngineOptions("sieve"))
    for _ in range(2):
        engine.assign(centers)
        assert np.array_equal(engine.labels[: 3 * k], np.tile(feature, 3))
        centers.move(engine.sum_changes(), 1)
    engine.assign(centers)
    leaving = np.arange(2 * k + 1, 3 * k)
    engine.labels[leaving] = 0
    engine.algorithm.forget(leaving)
    centers.move(engine.sum_changes(), 1)
    assert centers.chords[1::4].min() > 0.3
    work = engine.assign(centers)
    assert engine.algorithm.aging.told
    assert work.lines > work.similarities / LINE  # the row visited the gain lines too
    assert_bounds_hold(engine, centers, full(rows))


def test_gain_lines_save_visits():
    """From the second move on, of which there is something to tell."""
    rows = unit_rows(topics(np.random.default_rng(5), 4000, 900, 40, 90))
    k = 200
    centers = place_rows(rows, rows, np.arange(k))
    engine = MemoryEngine(rows, k, EngineOptions("sieve"))
    visits = []
    for _ in range(4):
        work = engine.assign(centers)
        visits.append(work.similarities / (rows.n_rows * k))
        assert work.exact_decisions < 0.02 * rows.n_rows  # the filter decides the others
        centers.move(engine.sum_changes(), 1)
    assert visits[0] == 1.0
    assert visits[1] > 0.9
    assert max(visits[2:]) < 0.25


@pytest.mark.threads
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_frequent", [60, 300])
def test_centers_that_move_most_share_a_line(n_frequent, n_threads, simd):
    """From time to time centers change slots, and the bounds of all rows follow."""
    k = 100
    rows = split(unit_rows(topics(np.random.default_rng(3), 3000, 300, 15, 1000)), n_frequent)
    centers = place_rows(rows, rows, np.arange(k))
    engine = MemoryEngine(rows, k, EngineOptions("sieve", n_threads=n_threads, chunk_rows=300))
    values = full(rows)
    slots, lately, changed = np.arange(k), np.zeros(k), []
    for number in range(14):
        work = engine.assign(centers)
        assert work.changed > 0
        assert np.array_equal(engine.labels, best_by_reference(rows, centers, k))
        assert_bounds_hold(engine, centers, values)
        before, slots = slots, np.array(engine.algorithm.aging.slots)
        assert np.array_equal(np.sort(slots), np.arange(k))
        if not np.array_equal(slots, before):
            changed.append(number)
            in_order = np.split(lately[np.argsort(slots)], range(LINE, k, LINE))
            for faster, slower in pairwise(in_order):
                assert faster.min() >= slower.max()
            stays = slots // LINE == before // LINE
            assert np.array_equal(slots[stays], before[stays])
        centers.move(engine.sum_changes(), n_threads)
        lately = 0.3 * lately + centers.chords
    assert changed == [4, 6, 9, 13]


def test_gains_below_one_step_add_up():
    """One center goes far, so that the others move by less than a step of the lines."""
    rng = np.random.default_rng(6)
    k, half = 170, 400
    angle = np.pi / 4 + rng.uniform(-0.004, 0.004, 2 * k)
    angle[0] = np.pi / 4 - 0.006  # the nearest, which stays
    X = np.zeros((2 * k + 22, 2 * half + 2))
    X[: 2 * k, :half], X[: 2 * k, half : 2 * half] = np.cos(angle)[:, None], np.sin(angle)[:, None]
    X[2 * k : -2, :half] = 1.0  # these see what the others do
    X[-2, -2] = X[-1, -1] = 1.0  # these are far away, and center 0 in turns
    rows = unit_rows(sp.csr_array(X))
    pushed = Pushed(rows, k)
    engine = MemoryEngine(rows, k, EngineOptions("sieve"))
    for step in range(6):
        labels = np.full(len(X), -1, np.int32)
        labels[: 2 * k] = 2 + rng.permutation(2 * k) % (k - 2)
        labels[0] = 1
        labels[-1 - step % 2] = 0
        pushed.push(labels)
        engine.assign(pushed.centers)
        assert np.array_equal(engine.labels, best_by_reference(rows, pushed.centers, k))
        assert_bounds_hold(engine, pushed.centers, full(rows).astype(np.float64))
    told = engine.algorithm.aging.rises_less_slack
    assert np.count_nonzero(told) > 0.9 * len(told)


@pytest.mark.parametrize("n_frequent", [None, 3])
def test_shares_of_what_was_add_up(n_frequent):
    """Rows that others do not meet come and go: all that changes for those is a center's scale."""
    rng = np.random.default_rng(9)
    k, steps = 170, 6
    angle = np.pi / 4 + np.sort(rng.uniform(-0.05, 0.05, k)).repeat(2)
    X = np.zeros((2 * k + steps * k, 2 + steps))
    X[: 2 * k, 0], X[: 2 * k, 1] = np.cos(angle), np.sin(angle)
    X[2 * k + np.arange(steps * k), 2 + np.arange(steps * k) // k] = 1.0
    weights = np.where(np.arange(len(X)) < 2 * k, 100.0, 34.0)
    rows = unit_rows(sp.csr_array(X), sample_weight=weights)
    if n_frequent is not None:
        rows = split(rows, n_frequent)
    pushed = Pushed(rows, k)
    engine = MemoryEngine(rows, k, EngineOptions("sieve"))
    told = 0
    for step in [0, *range(steps), *range(steps)[::-1]]:
        labels = np.full(len(X), -1, np.int32)
        labels[: 2 * k] = np.arange(2 * k) // 2
        labels[2 * k : 2 * k + step * k] = np.arange(step * k) % k
        pushed.push(labels)
        engine.assign(pushed.centers)
        told += engine.algorithm.aging.told
        assert np.array_equal(engine.labels, best_by_reference(rows, pushed.centers, k))
        assert_bounds_hold(engine, pushed.centers, full(rows))
    assert told >= 2 * steps - 2
