"""Rare features: lists and lines that follow every move, and what centers may take."""

import numpy as np
import pytest
import scipy.sparse as sp

from arcmeans._algorithms.options import EngineOptions
from arcmeans._centers.placing import place_rows, place_sums, sums_of
from arcmeans._engines.memory import MemoryEngine
from arcmeans._engines.places import MemoryPlace
from arcmeans._rows import census
from arcmeans._rows.census import frequent
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._run.loop import run

from .support import processes
from .support.marks import measures_memory
from .support.pushed import Pushed
from .support.rows import best_by_reference, full, split, topics
from .support.sieve_bounds import assert_bounds_hold


@pytest.mark.threads
@pytest.mark.parametrize(
    ("n_frequent", "weighted"), [(0, False), (7, True), (30, False), (None, True)]
)
def test_lines_and_lists_follow_every_move(n_frequent, weighted, simd):
    """Against sums from scratch: centers that grow, shrink, empty, cancel and are placed anew."""
    rng = np.random.default_rng(2)
    n, d, k = 60, 40, 35
    X = np.where(rng.random((n, d)) < 0.2, rng.standard_normal((n, d)), 0.0)
    X[:, 0] += X.any(axis=1) == 0
    X[1::2] = -X[::2]  # pairs that cancel
    weights = rng.integers(1, 5, n).astype(float) if weighted else None
    rows = unit_rows(X if n_frequent is None else sp.csr_array(X), sample_weight=weights)
    if n_frequent is not None:
        rows = split(rows, n_frequent)
    values = full(rows)
    pushed = Pushed(rows, k)
    engine = MemoryEngine(rows, k, EngineOptions("sieve", 2, chunk_rows=16))
    engine.assign(pushed.centers)
    for step in range(250):
        labels = pushed.labels.copy()
        some = rng.random(n) < rng.choice([0.02, 0.3, 1.0])
        labels[some] = rng.integers(-1, rng.choice([2, k]), np.count_nonzero(some))
        if step % 10 == 3:
            j = rng.integers(k)
            vector = rng.integers(-(2**50), 2**50, d) * (rng.random(d) < 0.3)
            vector[rng.integers(d)] = 2**49
            pushed.replace(j, vector)
            engine.assign(pushed.centers)
            labels[pushed.labels == -1] = -1
        pushed.push(labels, n_threads=1 + step % 2)
        pushed.check()
        engine.assign(pushed.centers)
        assert np.array_equal(engine.labels, best_by_reference(rows, pushed.centers, k))
        if step % 20 == 0:
            assert_bounds_hold(engine, pushed.centers, values)
            # Bounds found at once are tight, and fresh centers with the same sums agree.
            again = MemoryEngine(rows, k, EngineOptions("sieve"))
            again.assign(pushed.centers)
            assert_bounds_hold(again, pushed.centers, values, tight=True)
            fresh = place_sums(rows, sums_of(rows, pushed.centers))
            other = MemoryEngine(rows, k, EngineOptions("sieve", keep_bounds=False))
            other.assign(fresh)
            assert np.array_equal(again.labels, other.labels)
            assert np.array_equal(again.labels, engine.labels)


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_features_of_one_row(weighted, merge):
    """Looked up once for a row; but not where centers are not the sums of these rows."""
    rng = np.random.default_rng(8)
    n, d, k = 90, 10, 7
    X = np.zeros((n, d + 3 * n))
    X[:, :d] = rng.gamma(0.3, size=(n, d)) * (rng.random((n, d)) < 0.6)
    for i in range(60):  # and thirty rows without any
        X[i, d + 3 * i : d + 3 * i + 3] = rng.gamma(0.5, size=3)
    X[60:] = X[60 + np.arange(30) // 3]
    X[:, 0] += X.any(axis=1) == 0
    weights = rng.integers(2, 5, n).astype(float) if weighted else None
    rows = split(unit_rows(sp.csr_array(X), sample_weight=weights), 6)
    assert rows.n_shared == d
    values = full(rows)
    pushed = Pushed(rows, k)
    engine = MemoryPlace(rows, 1).engine(k, EngineOptions("sieve", merge_repeats=merge))
    for step in range(60):
        labels = rng.integers(k, size=n).astype(np.int32)
        if step % 3 == 1:  # a center that keeps what its rows have left
            labels[labels == step % k] = (step + 1) % k
        if step % 6 == 3:  # one that has some features of a row and not the others
            some = np.where(rng.random(d + 3 * n) < 0.3, 2**40, 0)
            pushed.replace(step % k, some)
            labels[pushed.labels == -1] = -1
        pushed.push(labels)
        engine.assign(pushed.centers)
        assert np.array_equal(engine.labels, best_by_reference(rows, pushed.centers, k))
        if not merge:
            assert_bounds_hold(engine, pushed.centers, values)


def test_panels_follow_centers_with_lists():
    """One set of centers serves algorithms that read panels and the sieve, by turns."""
    rng = np.random.default_rng(4)
    X = topics(rng, 120, 80, 12, 9)
    whole = unit_rows(X)
    rows = split(whole, 5)
    k = 9
    pushed = Pushed(rows, k)
    sieve = MemoryEngine(rows, k, EngineOptions("sieve"))
    for _ in range(3):
        pushed.push(rng.integers(k, size=120).astype(np.int32))
        sieve.assign(pushed.centers)
    lloyd = MemoryEngine(rows, k, EngineOptions("lloyd"))
    lloyd.assign(pushed.centers)
    assert pushed.centers.n_frequent == 5
    assert np.array_equal(lloyd.labels, sieve.labels)
    pushed.check()
    sieve.assign(pushed.centers)  # with the bounds from before
    assert np.array_equal(lloyd.labels, sieve.labels)
    for _ in range(3):
        pushed.push(rng.integers(k, size=120).astype(np.int32))
        pushed.check()
        sieve.assign(pushed.centers)
        lloyd.assign(pushed.centers)
        assert np.array_equal(lloyd.labels, sieve.labels)
    vector = np.zeros(80, np.int64)
    vector[[3, 40, 79]] = 2**40
    pushed.replace(2, vector)
    for engine in (lloyd, sieve):
        engine.assign(pushed.centers)
        assert np.array_equal(engine.labels, best_by_reference(rows, pushed.centers, k))


def test_no_more_features_are_frequent_than_the_rows_are_worth(monkeypatch):
    frequency = np.array([100, 17, 16, 3, 3, 2, 1, 1, 0])
    often = frequent(frequency)
    # Where centers are small, lists are left to features of one row.
    assert [often.count(k) for k in (14, 15, 10**6, 10**7)] == [8, 6, 6, 2]
    monkeypatch.setattr(census, "SMALL", 0)
    assert often.n_entries == 143
    assert often.above == (8, 6, 5, *[3] * 13, 2)
    assert [often.count(k) for k in (1, 14, 15, 19, 20, 22, 23, 38, 39, 10**6)] == [
        *[8, 8, 6, 6, 5, 5, 3, 3, 2, 2]
    ]
    for k in (1, 14, 15, 19, 20, 22, 23, 38):
        assert 10 * k * often.count(k) <= 8 * 143


def print_what_centers_take():
    rng = np.random.default_rng(0)
    n, d, k = 2000, 600_000, 400
    common = np.arange(n)[:, None] % 20 * 25 + rng.integers(0, 60, (n, 40))
    own = rng.integers(500, d, (n, 300))
    features = np.hstack([common, own])
    values = np.tile(np.repeat([1.0, 0.1], [40, 300]), n)
    rows = unit_rows(sp.csr_array((values, features.ravel(), np.arange(n + 1) * 340), (n, d)))
    processes.forget_peak()
    before = processes.status_mb("VmHWM")
    centers = place_rows(rows, rows, np.arange(k))
    result = run(MemoryEngine(rows, k, EngineOptions("sieve")), centers, max_iter=4)
    print(centers.n_frequent, processes.status_mb("VmHWM") - before, len(result.iterations))


@processes.reads_proc
@measures_memory
def test_centers_of_many_features_take_no_more_than_they_may():
    """All sums of all centers would be 1.9 gigabytes; they may take 64 megabytes."""
    ended = processes.run(print_what_centers_take)
    assert ended.code == 0, ended.err
    n_frequent, megabytes, passes = ended.out.split()
    assert int(passes) == 4
    assert 10 * 400 * int(n_frequent) <= census.SMALL
    assert float(megabytes) < 400
