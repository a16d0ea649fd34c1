"""Which algorithm ``auto`` chooses, and what its bounds may take."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from arcmeans import RowStore, SphericalKMeans
from arcmeans._algorithms import auto
from arcmeans._algorithms.options import EngineOptions
from arcmeans._centers.placing import place_rows
from arcmeans._engines.memory import MemoryEngine
from arcmeans._rows.census import Summary, census_of, weigh
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._seeding.steps import SeedRows

from .support.cases import sieve_bytes
from .support.rows import topics


@pytest.fixture
def set_left(monkeypatch):
    """Says how much memory is left, to be asked for any size."""

    def say(left):
        monkeypatch.setattr(auto, "NOT_ASKED", -1)
        monkeypatch.setattr(auto, "available", lambda: left)

    return say


@pytest.mark.parametrize(
    ("n_features", "k", "algorithm"),
    [
        (3, 499, "lloyd"),
        (3, 500, "exponion"),
        (8, 500, "exponion"),
        (9, 500, "shallot"),
        (16, 500, "shallot"),
        (17, 500, "sieve"),
        (16, 249, "lloyd"),
        (16, 250, "sieve"),
        (31, 2, "lloyd"),
        (32, 2, "sieve"),
    ],
)
def test_auto_for_dense_rows(n_features, k, algorithm):
    options = auto.chosen(unit_rows(np.ones((4, n_features))), k, 3)
    assert (options.algorithm, options.n_threads) == (algorithm, 3)
    assert not options.merge_repeats


@pytest.mark.filterwarnings("ignore:.*rows are all zero")
@pytest.mark.parametrize(("n_features", "sieves"), [(3, False), (16, True)])
def test_auto_looks_at_how_many_centers_a_ball_holds(n_features, sieves, tmp_path, set_left):
    """Few on a surface, and most where rows fill 16 dimensions. In memory and on disk."""
    X = np.random.default_rng(6).standard_normal((2000, n_features))
    X[7] = 0.0
    models = [
        SphericalKMeans(500, init="random", random_state=0, max_iter=6, algorithm=a)
        for a in ("auto", "lloyd")
    ]
    fitted = [m.fit(X) for m in models]
    stored = clone(models[0]).fit(RowStore.write(tmp_path / "rows", [X[:900], X[900:]]))
    for found in (fitted[0], stored):
        assert np.array_equal(found.labels_, fitted[1].labels_)
        assert np.array_equal(found.cluster_centers_, fitted[1].cluster_centers_)
        assert np.all((found.trace_["lines"] > 0) == sieves)
    set_left(0)  # no room for bounds
    assert not models[0].fit(X).trace_["lines"].any()


def test_a_ball_is_three_times_as_wide_as_the_row_is_far():
    """On a circle of 100 centers, rows at 0.4 and 0.1 of the way to the next."""
    places = np.concatenate([np.arange(100), np.arange(100) + 0.4, np.arange(50) + 0.1])
    angles = places * (2.0 * np.pi / 100)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    rows = unit_rows(X)
    centers = place_rows(rows, rows, np.arange(100))
    off = SeedRows(unit_rows(X[100:]), 1)
    # 1.2 around the own center are three centers, 0.3 are one.
    assert auto.centers_in_a_ball(off, centers) == pytest.approx((100 * 3 + 50) / 150)


@pytest.mark.parametrize(
    ("entries", "k", "algorithm"),
    [
        (3, 733, "tally"),
        (3, 734, "sieve"),
        (8, 275, "tally"),
        (8, 276, "sieve"),
        (22, 20, "tally"),
        (23, 20, "sieve"),
    ],
)
def test_auto_for_sparse_rows(entries, k, algorithm, set_left):
    X = np.zeros((10, 30))
    X[:, :entries] = 1.0
    set_left(None)
    options = EngineOptions(algorithm, merge_repeats=entries < 8)
    assert auto.chosen(unit_rows(sp.csr_array(X)), k, 1) == options
    summary = Summary(10, 30, np.dtype(float), 0, 10, weigh(10), (X != 0).sum(axis=0))
    assert auto.chosen(census_of([summary]), k, 1) == options


def test_auto_fits_into_memory(set_left):
    """Bounds, and centers with all of their features, take half of what there is at most."""
    dense = unit_rows(np.ones((10, 40)))
    short = unit_rows(sp.csr_array(np.eye(10, 30)))
    needed = sieve_bytes(10, 100, dense=True)
    for left, expected in ((2 * needed, "sieve"), (2 * needed - 2, "lloyd")):
        set_left(left)
        assert auto.chosen(dense, 100, 1).algorithm == expected
    for left, expected in ((2 * 12 * 30 * 100, "tally"), (2 * 12 * 30 * 100 - 2, "sieve")):
        set_left(left)
        assert auto.chosen(short, 100, 1).algorithm == expected


def test_little_is_kept_without_asking(monkeypatch):
    """Looking for what is free takes as long as a small fit."""
    rows = unit_rows(np.ones((10, 40)))
    asked = []
    monkeypatch.setattr(auto, "available", lambda: asked.append(True) or 0)
    assert auto.chosen(rows, 100, 1).algorithm == "sieve"
    assert not asked
    monkeypatch.setattr(auto, "NOT_ASKED", sieve_bytes(10, 100, dense=True) - 1)
    assert auto.chosen(rows, 100, 1).algorithm == "lloyd"
    assert asked


def test_what_bounds_take():
    """32 up to 1024 centers; one for each center of up to 128 where rows are sparse."""
    assert [sieve_bytes(1, k, dense=False) for k in (70, 129, 1024, 1025)] == [196, 68, 68, 132]
    assert [sieve_bytes(1, k, dense=True) for k in (70, 129, 1024, 1025)] == [68, 68, 68, 132]


@pytest.mark.parametrize("k", [1, 32, 33, 70, 140])
def test_bounds_are_kept_where_they_fit(k, set_left):
    rows = unit_rows(sp.csr_array(np.ones((140, 30))))
    needed = sieve_bytes(140, k, dense=False)
    state = MemoryEngine(rows, k, EngineOptions("sieve")).state
    assert state["uppers"].ctypes.data % 64 == 0  # a row's bounds are whole cache lines
    assert needed == state["lower"].nbytes + state["uppers"].nbytes
    for left, keep in ((2 * needed, True), (2 * needed - 1, False), (0, False), (None, True)):
        set_left(left)
        assert auto.chosen(rows, k, 1) == EngineOptions("sieve", keep_bounds=keep)
        for algorithm in ("auto", "sieve"):
            assert auto.options_for(algorithm, rows, k, 1).keep_bounds == keep


@pytest.mark.parametrize("algorithm", ["auto", "sieve"])
def test_a_fit_without_room_for_bounds_has_the_same_bits(algorithm, set_left):
    X = topics(np.random.default_rng(7), 300, 200, 30, 12)
    models, lines = [], []
    for left in (None, 0):
        set_left(left)
        models.append(SphericalKMeans(40, algorithm=algorithm, random_state=1).fit(X))
        lines.append(models[-1].trace_["lines"][1:])
    kept, none = models
    assert np.array_equal(kept.labels_, none.labels_)
    assert np.array_equal(kept.cluster_centers_, none.cluster_centers_)
    assert np.all(lines[1] == 300 * 2)
    assert lines[0].min() < 300
