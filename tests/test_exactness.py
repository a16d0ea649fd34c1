"""The contract: the same bits, whatever the algorithm, threads, instruction set or chunks."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from arcmeans import SphericalKMeans, _core
from arcmeans._algorithms.options import HAMERLY_UPDATES, EngineOptions
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._engines.memory import MemoryEngine
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._run.loop import run
from arcmeans._seeding.given import given_centers

from .support.fits import assert_same_bits
from .support.oracle import exact_spherical_kmeans, spherical_kmeans

pytestmark = pytest.mark.filterwarnings("ignore:.*rows are all zero")

CONTAINERS = {
    "csr": lambda X: X,
    "csr matrix": sp.csr_matrix,
    "csc": sp.csc_array,
    "dense C": lambda X: np.ascontiguousarray(X.toarray()),
    "dense F": lambda X: np.asfortranarray(X.toarray()),
}


def fit(case, X, algorithm="lloyd", *, n_threads=1, chunk_rows=1024, update="tight", **options):
    """A run from the rows up, with the engine's options at hand."""
    rows = unit_rows(X, n_threads=n_threads)
    init = given_centers(rows, case.init.astype(X.dtype), n_threads)
    chosen = EngineOptions(algorithm, n_threads, chunk_rows, hamerly_update=update)
    engine = MemoryEngine(rows, case.n_clusters, chosen)
    return run(engine, init, **options)


@pytest.mark.threads
@pytest.mark.parametrize("empty_cluster", ["relocate", "keep"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_algorithms_threads_and_chunks_agree(case, dtype, simd, empty_cluster):
    X = case.X.astype(dtype)
    reference = fit(case, X, empty_cluster=empty_cluster)
    for algorithm, rows, (n_threads, chunk_rows) in itertools.product(
        ALGORITHMS, (X, X.toarray()), [(2, 7), (5, 1)]
    ):
        other = fit(
            case,
            rows,
            algorithm,
            n_threads=n_threads,
            chunk_rows=chunk_rows,
            empty_cluster=empty_cluster,
        )
        assert_same_bits(reference, other)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_instruction_sets_agree(case, dtype, algorithm, monkeypatch):
    X = case.X.astype(dtype)
    reference = fit(case, X)
    work = []
    for name in _core.available():
        monkeypatch.setattr(_core, "native", _core.load(name))
        other = fit(case, X, algorithm)
        assert_same_bits(reference, other)
        work.append([i.movement for i in other.iterations])
    assert all(w == work[0] for w in work)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_containers_agree(case, dtype, algorithm):
    X = case.X.astype(dtype)
    models = [
        SphericalKMeans(case.n_clusters, init=case.init, algorithm=algorithm, n_threads=2)
        for _ in CONTAINERS
    ]
    for model, convert in zip(models, CONTAINERS.values(), strict=True):
        model.fit(convert(X))
    first = models[0]
    for model in models[1:]:
        assert np.array_equal(first.labels_, model.labels_)
        assert first.cluster_centers_.dtype == model.cluster_centers_.dtype == dtype
        assert np.array_equal(first.cluster_centers_, model.cluster_centers_)
        assert first.inertia_ == model.inertia_
        assert first.n_iter_ == model.n_iter_


@pytest.mark.parametrize("update", HAMERLY_UPDATES)
@pytest.mark.parametrize("algorithm", ["hamerly", "simplified-hamerly"])
def test_hamerly_updates_agree(case, algorithm, update):
    reference = fit(case, case.X)
    assert_same_bits(reference, fit(case, case.X, algorithm, update=update))


@pytest.mark.parametrize("max_iter", [1, 2, 300])
@pytest.mark.parametrize("empty_cluster", ["relocate", "keep"])
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_the_oracle(case, max_iter, empty_cluster, weighted):
    """Bit for bit with the exact oracle; where no row ties, with the plain one too."""
    weights = None
    if weighted:  # some zero, where that leaves rows enough
        least = 0 if case.X.shape[0] > 2 * case.n_clusters else 1
        weights = np.random.default_rng(0).integers(least, 4, case.X.shape[0])
    options = {"max_iter": max_iter, "empty_cluster": empty_cluster}
    X = case.X.toarray()
    exact = exact_spherical_kmeans(X, case.init, sample_weight=weights, **options)
    plain = spherical_kmeans(X, case.init, sample_weight=weights, **options)
    binding = plain.margin > 1e-12
    assert case.ties or binding, "this case should be binding"
    total = np.sum(exact.labels >= 0) if weights is None else weights[exact.labels >= 0].sum()
    for algorithm in ALGORITHMS:
        model = SphericalKMeans(
            case.n_clusters, init=case.init, algorithm=algorithm, **options
        ).fit(case.X, sample_weight=weights)
        assert np.array_equal(model.labels_, exact.labels)
        assert model.n_iter_ == exact.n_iter
        assert np.array_equal(model.cluster_centers_, exact.centers)
        assert model.trace_["objective"][-1] == exact.objective
        assert np.isclose(model.inertia_, 2 * (total - exact.objective), atol=1e-9, rtol=1e-10)
        if binding:
            assert np.array_equal(model.labels_, plain.labels)
            assert model.n_iter_ == plain.n_iter
            assert np.allclose(model.cluster_centers_, plain.centers, atol=1e-9, rtol=0)
            inertia = 2 * (total - plain.objective)
            assert np.isclose(model.inertia_, inertia, atol=1e-9, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_iter", [1, 2, 3, 300])
def test_labels_are_the_prediction(case, dtype, max_iter):
    X = case.X.astype(dtype)
    model = SphericalKMeans(case.n_clusters, init=case.init, max_iter=max_iter).fit(X)
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(model.predict(X.toarray()), model.labels_)


def test_the_objective_never_falls(case):
    for empty_cluster in ("relocate", "keep"):
        result = fit(case, case.X, empty_cluster=empty_cluster)
        objectives = np.array([i.objective for i in result.iterations])
        assert np.all(np.diff(objectives) >= -1e-12 * np.abs(objectives[1:]))
        assert result.stopped == "converged"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_closer_than_rounding_do_not_go_round_for_ever(algorithm):
    """Multiples of six directions: equal but for the last bit, which seeds may split."""
    rng = np.random.default_rng(0)
    kinds = rng.poisson(1.5, (6, 10)) + np.eye(6, 10, dtype=int)
    ended = []
    for seed in range(12):
        X = (kinds[rng.integers(0, 6, 200)] * rng.integers(1, 8, (200, 1))).astype(float)
        model = SphericalKMeans(8, random_state=seed, algorithm=algorithm).fit(X)
        lloyd = SphericalKMeans(8, random_state=seed, algorithm="lloyd").fit(X)
        assert model.n_iter_ == lloyd.n_iter_ < 50
        assert np.array_equal(model.labels_, lloyd.labels_)
        assert np.array_equal(model.predict(X), model.labels_)
        ended.append(model.trace_["changed"][-1])
    assert max(ended) > 0  # some runs did come back to labels they had
