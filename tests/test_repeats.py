"""Rows that are there many times over: found, taken once, and never a bit different."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from arcmeans import RowStore, SphericalKMeans
from arcmeans._algorithms.options import EngineOptions
from arcmeans._centers.placing import place_rows
from arcmeans._engines.equal_rows import WORTH, EqualRowsEngine, distinct
from arcmeans._engines.memory import MemoryEngine
from arcmeans._engines.places import DiskPlace, MemoryPlace
from arcmeans._rows.chunks import Chunks
from arcmeans._rows.rows import Rows
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._run.loop import run

from .support.examples import examples
from .support.fits import assert_same_bits
from .support.rows import full


@st.composite
def repeated(draw):
    """Short rows, most of them several times; some without a direction, some without a weight."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, kinds, d = draw(st.integers(20, 120)), draw(st.integers(2, 12)), draw(st.integers(1, 12))
    X = rng.poisson(0.5, (kinds, d)).astype(float)
    X[1] = -X[0] if draw(st.booleans()) else 2.0 * X[0]
    X = X[rng.integers(kinds, size=n)]
    k = draw(st.integers(1, 8))
    X[:k] = rng.poisson(1.0, (k, d)) + np.eye(1, d)
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    weights = draw(st.sampled_from([None, rng.integers(0, 4, n) + 1.0 * (np.arange(n) < k)]))
    return unit_rows(sp.csr_array(X) if draw(st.booleans()) else X, sample_weight=weights), k


def unique_rows(rows):
    """The first of each set of equal rows, by NumPy."""
    _, first, inverse = np.unique(
        full(rows).astype(np.float64), axis=0, return_index=True, return_inverse=True
    )
    return first[inverse.reshape(-1)]


@pytest.mark.parametrize("collide", [False, True])
def test_repeats_change_no_bit(collide, monkeypatch):
    if collide:  # rows are equal only where all entries are

        def alike(self, which, n_threads=1):
            return np.full(len(which), 2**63, np.uint64)

        monkeypatch.setattr(Rows, "hashes", alike)

    @examples(50)
    @given(
        repeated(),
        st.sampled_from(["lloyd", "sieve", "hamerly", "shallot", "tally"]),
        st.sampled_from(["relocate", "keep"]),
    )
    def check(given, algorithm, empty_cluster):
        rows, k = given
        found = distinct(rows, 1)
        expected = unique_rows(rows)
        if found is None:
            assert len(set(expected)) > WORTH * rows.n_rows
            return
        assert np.array_equal(found.first_of_equals, np.unique(expected))
        assert np.array_equal(found.first_of_equals[found.equal_to], expected)
        # Seeds that are one row leave clusters empty: rows are given to them.
        which = np.arange(k) // 2
        plain, merged = (
            MemoryPlace(rows, 1).engine(k, EngineOptions(algorithm, merge_repeats=merge))
            for merge in (False, True)
        )
        assert isinstance(merged, EqualRowsEngine)
        centers = [place_rows(rows, rows, which) for _ in range(2)]
        results = [
            run(*given, empty_cluster=empty_cluster, max_iter=20)
            for given in zip((plain, merged), centers, strict=True)
        ]
        assert_same_bits(*results)
        assert np.array_equal(*(c.counts for c in centers))
        fewer = results[1].iterations[0].similarities
        assert fewer <= k * len(found.first_of_equals)

    check()


def test_equal_rows_once_wraps_any_engine(tmp_path):
    """Around an engine over rows on disk, in several chunks."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (40, 6)).astype(np.float64)[rng.integers(40, size=300)]
    X[:, 0] += 1.0
    rows, k, options = unit_rows(X), 5, EngineOptions("elkan")
    found = distinct(rows, 1)
    store = RowStore.write(tmp_path / "distinct", [X[found.first_of_equals]])
    place = DiskPlace(Chunks(store, None, 1, memory_limit=8 * 6 * 4 * 10))
    assert len(place.starts) > 3
    engines = [
        MemoryEngine(rows, k, options),
        EqualRowsEngine(rows, found, place.engine(k, options), k, 1),
    ]
    which = np.arange(k) // 2  # clusters without rows: rows are given to them
    centers = [place_rows(rows, rows, which) for _ in engines]
    results = [run(*given, max_iter=20) for given in zip(engines, centers, strict=True)]
    assert_same_bits(*results)
    assert results[0].iterations[0].relocated > 0
    assert 3 * results[1].iterations[0].similarities < results[0].iterations[0].similarities


def short_rows(rng, n=600):
    """Sparse rows of three entries at most, many of them equal."""
    kinds = np.zeros((150, 40))
    for kind in kinds:
        kind[rng.integers(0, 40, 3)] = rng.integers(1, 3, 3)
    return sp.csr_array(kinds[rng.integers(150, size=n)])


@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("weighted", [False, True])
def test_repeats_go_on_from_the_seeding(init, weighted):
    """What the seeding learned of all rows is taken over by one of each."""
    rng = np.random.default_rng(5)
    X = short_rows(rng)
    weights = rng.random(600) if weighted else None
    models = [
        SphericalKMeans(20, init=init, algorithm=algorithm, random_state=0).fit(
            X, sample_weight=weights
        )
        for algorithm in ("auto", "lloyd", "sieve")
    ]
    trace = models[0].trace_["similarities"]
    assert 0 < trace[1:].max() <= 150 * 20 < models[1].trace_["similarities"][1:].max()
    for model in models[1:]:
        assert np.array_equal(models[0].labels_, model.labels_)
        assert np.array_equal(models[0].cluster_centers_, model.cluster_centers_)
        assert models[0].inertia_ == model.inertia_
        assert models[0].n_iter_ == model.n_iter_


def test_few_repeats_are_left_alone():
    X = np.random.default_rng(6).random((100, 3))
    X[91:] = X[0]
    assert distinct(unit_rows(X), 1) is None
    X[90:] = X[0]
    assert len(distinct(unit_rows(X), 1).first_of_equals) == 90


def test_rows_without_a_direction_are_left_alone(simd):
    """Whatever stands where their bounds would: every number that 16 bits can hold."""
    X = np.zeros((2**16 + 40, 8))
    X[2**16 :] = np.random.default_rng(8).random((40, 8))
    rows = unit_rows(sp.csr_array(X))
    centers = place_rows(rows, rows, np.arange(2**16, 2**16 + 33))
    engine = MemoryEngine(rows, 33, EngineOptions("sieve"))
    engine.assign(centers)
    before = engine.labels.copy()
    anything = np.arange(2**16).astype(np.uint16).view(np.int16)
    engine.state["uppers"][: 2**16] = anything[:, None]
    engine.assign(centers)
    assert np.array_equal(engine.labels, before)
    assert np.all(before[: 2**16] == -1)
