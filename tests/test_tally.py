"""Bounds that follow the features of a row."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from arcmeans._algorithms.options import EngineOptions
from arcmeans._centers.placing import place_rows
from arcmeans._engines.memory import MemoryEngine
from arcmeans._engines.relocation import Relocation
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._run.loop import run

from .support.bounds import assert_bounds_hold
from .support.examples import examples
from .support.fits import assert_same_bits

LONGEST = 2**13
"""Entries of the longest row whose changes can be told (``cpp/core/moves/feature_gains.hpp``)."""


def passes(rows, centers, k, count, n_threads=1, chunk_rows=0, relocate=True):
    """The work of passes over the rows, each of which leaves bounds that hold."""
    engine = MemoryEngine(rows, k, EngineOptions("tally", n_threads, chunk_rows))
    for _ in range(count):
        work = engine.assign(centers)
        assert_bounds_hold(engine, centers)
        yield work
        if work.changed == 0:
            break
        if relocate:
            engine.relocate(centers)
        centers.move(engine.sum_changes(), n_threads)


@st.composite
def short(draw):
    """Rows of few entries, of one sign or two, that are near ties and have very unequal weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(10, 300)), draw(st.integers(2, 60))
    X = np.zeros((n, d))
    for row in X:
        size = rng.integers(1, draw(st.integers(2, 6)))
        row[rng.integers(0, d, size)] = rng.integers(1, 4, size) + 1e-6 * rng.random(size)
    if draw(st.booleans()):
        X *= rng.choice([-1.0, 1.0], X.shape)
    if draw(st.booleans()):  # entries next to nothing
        X[:, 0] += 1e-9
    weights = None
    if draw(st.booleans()):
        weights = rng.choice([1e-6, 1.0, 3.0, 1e6], n)
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    which = rng.choice(n, draw(st.integers(1, min(n, 40))), replace=False)
    return unit_rows(sp.csr_array(X), sample_weight=weights), np.sort(which)


@pytest.mark.threads
def test_any_run_has_bounds_that_hold_and_the_bits_of_lloyd(simd):
    @examples(60)
    @given(short(), st.sampled_from([1, 2]), st.sampled_from([0, 1, 70]))
    def check(data, n_threads, chunk_rows):
        rows, which = data
        k = len(which)
        list(passes(rows, place_rows(rows, rows, which), k, 20, n_threads, chunk_rows))
        results = [
            run(
                MemoryEngine(rows, k, EngineOptions(algorithm, n_threads, chunk_rows)),
                place_rows(rows, rows, which),
                max_iter=30,
            )
            for algorithm in ("lloyd", "tally")
        ]
        assert_same_bits(*results)

    check()


def test_seeds_that_get_no_rows_leave_bounds_that_hold():
    """They stay where they are in the first move, in which all others become other vectors."""

    @examples(60)
    @given(short())
    def check(data):
        rows, which = data
        which = np.append(which, which[0])
        centers = place_rows(rows, rows, which)
        list(passes(rows, centers, len(which), 10, relocate=False))

    check()


def groups_of_words(rng, n, d, size, groups):
    """Rows of so many entries, most of them from the features of their group."""
    group = rng.integers(groups, size=(n, 1))
    own = (rng.integers(d, size=(n, size)) * groups + group) % d
    features = np.where(rng.random((n, size)) < 0.7, own, rng.integers(d, size=(n, size)))
    counts = (np.ones(n * size), (np.repeat(np.arange(n), size), features.reshape(-1)))
    return sp.coo_array(counts, shape=(n, d)).tocsr()


def test_late_passes_leave_most_rows_alone():
    n, k = 6000, 20
    X = groups_of_words(np.random.default_rng(2), n, 400, 3, 10)
    rows = unit_rows(X)
    work = list(passes(rows, place_rows(rows, rows, np.arange(0, n, n // k)), k, 60))
    assert len(work) > 10
    assert work[0].similarities == work[1].similarities == n * k
    assert sum(w.similarities for w in work) < 0.5 * len(work) * n * k
    assert work[-1].similarities < 0.1 * n * k
    for w in work[2:]:
        assert w.similarities == k * (n - w.skipped_by_bounds)


def relabel(engine, rows, label):
    """Gives rows another label by hand."""
    labels = np.full(len(rows), label, np.int32)
    engine.relabel(Relocation(rows, engine.labels[rows], labels))


def pass_after(rows, centers, k, gifts):
    """The work of the pass after two, when some rows got other labels by hand."""
    engine = MemoryEngine(rows, k, EngineOptions("tally"))
    for given_away in (0, gifts):
        engine.assign(centers)
        relabel(engine, np.arange(given_away), k - 1)
        centers.move(engine.sum_changes(), 1)
    work = engine.assign(centers)
    assert_bounds_hold(engine, centers)
    return work


@pytest.mark.parametrize("size", [LONGEST, LONGEST + 1])
def test_long_rows_are_followed_as_far_as_32_bits_go(size):
    rng = np.random.default_rng(3)
    X = 0.2 * rng.random((90, size)) + np.repeat(rng.random((3, size)), 30, axis=0)
    rows = unit_rows(sp.csr_array(X))
    assert np.all(np.diff(rows.starts) == size)
    work = pass_after(rows, place_rows(rows, rows, np.array([0, 30, 60])), 3, 1)
    assert work.changed == 1
    assert work.skipped_by_bounds == (89 if size == LONGEST else 0)


@pytest.mark.parametrize("gifts", [10, 95])
def test_a_center_that_loses_most_of_its_rows_costs_only_its_own(gifts):
    """Its scale grows more than fourfold, which is told in full and counts for no other row."""
    X = np.vstack([np.tile([1.0, 0.01, 0.0], (100, 1)), np.tile([0.0, 0.01, 1.0], (100, 1))])
    rows = unit_rows(sp.csr_array(X))
    work = pass_after(rows, place_rows(rows, rows, np.array([0, 100])), 2, gifts)
    assert work.changed == gifts
    assert work.skipped_by_bounds == 200 - gifts


@pytest.mark.parametrize(("features", "followed"), [(8, True), (4000, False)])
def test_a_center_is_told_in_full_where_that_is_worth_it(features, followed):
    """Where all features of centers are far more than the entries of the rows, it is not."""
    shapes = (np.tile([1.0, 0.01, 0.0], (100, 1)), np.tile([0.0, 0.01, 1.0], (100, 1)))
    X = np.zeros((200, features))
    X[:, :3] = np.vstack(shapes)
    rows = unit_rows(sp.csr_array(X))
    assert rows.starts[-1] == 400
    work = pass_after(rows, place_rows(rows, rows, np.array([0, 100])), 2, 95)
    assert work.skipped_by_bounds == (105 if followed else 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_center_that_gets_rows_again_costs_only_those_near_it(dtype):
    """It stayed where it was without any, and is another vector now, whatever its scale says."""
    rng = np.random.default_rng(4)
    X = np.repeat(np.eye(3), (20, 10, 70), axis=0) + 0.01 * rng.random((100, 3))
    rows = unit_rows(X.astype(dtype))
    centers = place_rows(rows, rows, np.array([30, 20, 0]))
    engine = MemoryEngine(rows, 3, EngineOptions("tally"))
    none, third, last, first = np.arange(0), np.arange(20), np.arange(10, 20), np.arange(90, 100)
    # Half of the third cluster goes, then all of it; it comes back with half of it and others.
    for away, here in ((none, none), (last, none), (third, none), (last, first)):
        engine.assign(centers)
        for gone, label in ((away, 0), (here, 2)):
            relabel(engine, gone, label)
        centers.move(engine.sum_changes(), 1)
    work = engine.assign(centers)
    assert 0 < work.skipped_by_bounds < 80
    assert_bounds_hold(engine, centers)
