"""Clusters that lose all their rows."""

import numpy as np
import pytest

from arcmeans import SphericalKMeans
from arcmeans._algorithms.options import EngineOptions
from arcmeans._algorithms.problem import Problem
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._engines.memory import MemoryEngine
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._seeding.given import given_centers


def passed(X, init, algorithm="lloyd"):
    """An engine after its first pass, and the centers."""
    rows = unit_rows(X)
    centers = given_centers(rows, init, 1)
    engine = MemoryEngine(rows, len(init), EngineOptions(algorithm))
    engine.assign(centers)
    return engine, centers


def problem(X, n_clusters):
    return Problem(n_rows=len(X), n_features=X.shape[1], n_clusters=n_clusters, sparse=False)


def test_the_least_similar_rows_move():
    X = np.array([[1.0, 0.0], [0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.7, 0.3]])
    engine, centers = passed(X, np.array([[1.0, 0.0], [-1.0, 0.0], [-1.0, -1.0]]))
    assert engine.labels.tolist() == [0] * 5
    assert engine.relocate(centers) == 2
    assert engine.labels.tolist() == [0, 0, 2, 1, 0]


@pytest.mark.parametrize("algorithm", [a for a in ALGORITHMS if a != "lloyd"])
def test_bounds_of_a_moved_row_are_forgotten(algorithm):
    """u(i) is about all centers but the own one, and that is another now."""
    X = np.array([[1.0, 0.0], [0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.7, 0.3]])
    engine, centers = passed(X, np.array([[1.0, 0.0], [-1.0, 0.0]]), algorithm)
    engine.relocate(centers)
    assert engine.labels.tolist() == [0, 0, 0, 1, 0]
    nothing_known = {a.name: a.initial for a in ALGORITHMS[algorithm].row_state(problem(X, 2))}
    if algorithm in (
        "elkan",
        "simplified-elkan",
    ):  # u(i,j) holds whatever the label
        del nothing_known["uppers"]
    for name in set(nothing_known) - {"seconds"}:  # any center will do for the second nearest
        if nothing_known[name] is not None:
            assert np.all(engine.state[name][3] == nothing_known[name])


def test_never_two_rows_of_one_direction():
    X = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.0, 4.0], [0.5, 0.5]])
    engine, centers = passed(X, np.array([[1.0, 0.0], [-1.0, 0.0], [-1.0, -1.0]]))
    engine.relocate(centers)
    assert engine.labels.tolist() == [0, 0, 1, 0, 2]


def test_never_the_last_row_of_a_cluster():
    X = np.array([[1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [1.0, 0.2, 0.0], [0.0, 0.1, 1.0]])
    init = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 1.0], [-1.0, -1.0, -1.0]])
    engine, centers = passed(X, init)
    assert engine.labels.tolist() == [0, 0, 0, 1]  # row 3 is the least similar, and alone
    engine.relocate(centers)
    assert engine.labels.tolist() == [0, 0, 2, 1]


def test_never_a_row_that_lies_at_its_center():
    X = np.repeat(np.eye(3), 4, axis=0)
    for dtype in (np.float32, np.float64):
        engine, centers = passed(X.astype(dtype), np.vstack([np.eye(3), -np.eye(3)]).astype(dtype))
        assert engine.relocate(centers) == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_keep_leaves_the_center(algorithm):
    X = np.abs(np.random.default_rng(0).standard_normal((50, 4)))
    init = np.vstack([X[:2], -np.ones(4)])
    model = SphericalKMeans(3, init=init, algorithm=algorithm, empty_cluster="keep").fit(X)
    assert set(model.labels_) == {0, 1}
    assert np.allclose(model.cluster_centers_[2], -0.5)
    assert np.all(model.trace_["relocated"] == 0)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_kept_center_can_come_back(algorithm):
    """Rows leave a center, which stays; later another center moves away and they return."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        X = rng.standard_normal((12, 2))
        init = rng.standard_normal((5, 2))
        model = SphericalKMeans(5, init=init, algorithm=algorithm, empty_cluster="keep").fit(X)
        lloyd = SphericalKMeans(5, init=init, algorithm="lloyd", empty_cluster="keep").fit(X)
        assert np.array_equal(model.cluster_centers_, lloyd.cluster_centers_)
        assert np.array_equal(model.labels_, model.predict(X))


def test_relocation_fills_every_cluster():
    X = np.abs(np.random.default_rng(1).standard_normal((60, 5)))
    model = SphericalKMeans(8, init=np.vstack([X[:1], -X[1:8]])).fit(X)
    assert set(model.labels_) == set(range(8))
    assert model.trace_["relocated"].sum() >= 7
