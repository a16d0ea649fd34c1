"""Seeding: exact caches, the laws of the draws, and what the loop takes over."""

import re
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2
from sklearn.exceptions import ConvergenceWarning

import arcmeans
from arcmeans import SphericalKMeans, _core, seed
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._centers.placing import place_rows
from arcmeans._engines.places import open_place
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._seeding.methods import METHODS, choose_rows
from arcmeans._seeding.options import SeedOptions
from arcmeans._seeding.parallel import independent_draws

from .support.oracle import unit
from .support.rows import text_like

COMPARING = ("k-means++", "greedy-k-means++")
pytestmark = pytest.mark.filterwarnings("ignore:.*rows are all zero")


def brute_force(X, indices):
    """sim64 of every row to every seed, one by one."""
    rows = unit_rows(X)
    centers = place_rows(rows, rows, indices)
    out = np.empty((rows.n_rows, len(indices)))
    for i in range(rows.n_rows):
        _core.native.reference_similarities(rows.native(), centers, i, out[i])
    return out


@pytest.mark.parametrize("method", COMPARING)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 3, 40])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_what_is_cached_is_exact(method, dtype, k, n_threads):
    """Through posting lists and without, the best similarities have the bits of sim64."""
    rng = np.random.default_rng(1)
    mixed = sp.csr_array(rng.standard_normal((80, 9)) * (rng.random((80, 9)) < 0.4))
    for X in (text_like(), text_like().toarray(), mixed, mixed.toarray()):
        found = seed(X.astype(dtype), k, method=method, random_state=3, n_threads=n_threads)
        expected = brute_force(X.astype(dtype), found.indices)
        directed = np.asarray(abs(X).sum(axis=1)).ravel() > 0
        assert np.array_equal(found.max_similarity[directed], expected.max(axis=1)[directed])
        assert np.array_equal(found.labels[directed], expected.argmax(axis=1)[directed])
        assert np.all(found.labels[~directed] == -1)
        if k > 1:
            second = np.sort(expected, axis=1)[:, -2]
            assert np.array_equal(found.second_similarity[directed], second[directed])


def test_postings_read_less():
    X = text_like(2000, 3000, density=0.004)
    few, many = seed(X, 2, random_state=0), seed(X, 100, random_state=0)
    assert few.entries == 2 * X.nnz  # too few seeds to pay for the lists
    assert many.entries < 100 * X.nnz / 3
    assert many.similarities == 100 * 2000


@pytest.mark.threads
@pytest.mark.parametrize("method", METHODS)
def test_the_same_seeds_everywhere(method):
    X = text_like()
    index64 = sp.csr_array(X)
    index64.indices = index64.indices.astype(np.int64)
    reference = seed(X, 12, method=method, random_state=7, n_threads=1)
    for other in (index64, sp.csc_matrix(X), X.toarray(), np.asfortranarray(X.toarray())):
        for n_threads in (1, 2, 5):
            found = seed(other, 12, method=method, random_state=7, n_threads=n_threads)
            assert np.array_equal(found.indices, reference.indices)
            assert np.array_equal(found.centers, reference.centers)
    for name in _core.available():
        original, _core.native = _core.native, _core.load(name)
        try:
            found = seed(X, 12, method=method, random_state=7)
        finally:
            _core.native = original
        assert np.array_equal(found.indices, reference.indices)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_no_seed_twice_while_directions_are_left(method, alpha):
    """Five directions, many copies each; scaled, so that the copies are not equal numbers."""
    rng = np.random.default_rng(0)
    kinds = rng.random((5, 4))
    X = kinds[rng.integers(5, size=60)] * np.ldexp(1.0, rng.integers(-9, 9, 60))[:, None]
    for s in range(10):
        found = seed(X, 5, method=method, alpha=alpha, random_state=s)
        assert len(np.unique(found.centers, axis=0)) == 5


@pytest.mark.parametrize("method", METHODS)
def test_when_directions_run_out(method):
    X = np.repeat(np.eye(3), 7, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 3 distinct directions, fewer than .*=5"):
        found = seed(X, 5, method=method, random_state=0)
    assert len(found.indices) == 5
    assert len(np.unique(found.centers, axis=0)) == 3


@pytest.mark.parametrize("method", METHODS)
def test_difficult_weights_and_rows(method):
    rng = np.random.default_rng(0)
    X = rng.random((30, 4))
    X[[3, 9]] = 0.0
    one = np.zeros(30)
    one[5] = 2.0
    with pytest.raises(ValueError, match="n_samples=30 only 1 have them"):
        seed(X, 2, method=method, sample_weight=one)
    assert seed(X, 1, method=method, sample_weight=one, random_state=0).indices.tolist() == [5]
    two = one.copy()
    two[11] = 1e-300
    found = seed(X, 2, method=method, sample_weight=two, random_state=0)
    assert sorted(found.indices) == [5, 11]
    # Rows all equally far from each other.
    found = seed(np.eye(9), 9, method=method, random_state=0)
    assert sorted(found.indices) == list(range(9))
    # Rows that differ by less than the draw can see.
    near = np.ones((6, 3)) + 1e-9 * rng.random((6, 3))
    assert len(set(seed(near, 6, method=method, random_state=0).indices)) == 6


# --- The laws of the draws ---

ROWS = np.array([[1.0, 0, 0], [3, 1, 0], [0, 1, 0.2], [0.3, 1, 1], [1, 0, 4.0]])
WEIGHTS = np.array([1.0, 2.0, 1.0, 0.5, 3.0])
SIMILARITIES = unit(ROWS) @ unit(ROWS).T


def far_from(chosen, alpha, weights):
    """The law of the next draw of k-means++."""
    far = weights * (alpha - SIMILARITIES[:, chosen].max(axis=1))
    far[chosen] = 0.0
    return far / far.sum()


def law(next_law, k, weights):
    """The probability of every sequence of k seeds."""
    sequences = {(i,): p for i, p in enumerate(weights / weights.sum())}
    for _ in range(k - 1):
        sequences = {
            (*chosen, i): p * q
            for chosen, p in sequences.items()
            for i, q in enumerate(next_law(list(chosen)))
            if q > 0
        }
    return sequences


def frequencies(draws, k, method="k-means++", sample_weight=None, **options):
    """How often each sequence of seeds is drawn: what ``seed`` does once X has been looked at."""
    place = open_place(ROWS, sample_weight=sample_weight, n_threads=1)
    random_state = np.random.RandomState(0)
    sequences = (
        choose_rows(place, k, method, SeedOptions(**options), random_state).indices
        for _ in range(draws)
    )
    return Counter(tuple(indices.tolist()) for indices in sequences)


def agrees(found, expected):
    """Chi-square at one in a thousand; what should be impossible must not occur."""
    if set(found) - set(expected):
        return False
    n = sum(found.values())
    statistic = sum((found.get(s, 0) - n * p) ** 2 / (n * p) for s, p in expected.items())
    return statistic < chi2.ppf(0.999, len(expected) - 1)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_law_of_k_means_plus_plus(weighted):
    weights = WEIGHTS if weighted else np.ones(5)
    laws = {
        alpha: law(lambda chosen, a=alpha: far_from(chosen, a, weights), 3, weights)
        for alpha in (1.0, 1.5)
    }
    for alpha, other in ((1.0, 1.5), (1.5, 1.0)):
        found = frequencies(4000, 3, alpha=alpha, sample_weight=weights)
        assert agrees(found, laws[alpha])
        assert not agrees(found, laws[other])


@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_the_law_of_the_greedy_form(alpha):
    def next_law(chosen):
        p = far_from(chosen, alpha, WEIGHTS)
        left = np.array(
            [
                WEIGHTS @ np.maximum(alpha - SIMILARITIES[:, [*chosen, i]].max(axis=1), 0)
                - sum(WEIGHTS[c] * (alpha - 1) for c in chosen)
                for i in range(5)
            ]
        )
        q = np.zeros(5)
        for a in range(5):
            for b in range(5):
                q[a if left[a] <= left[b] else b] += p[a] * p[b]
        return q

    options = {"method": "greedy-k-means++", "n_local_trials": 2, "sample_weight": WEIGHTS}
    found = frequencies(4000, 2, alpha=alpha, **options)
    assert agrees(found, law(next_law, 2, WEIGHTS))
    assert not agrees(found, law(lambda c: far_from(c, alpha, WEIGHTS), 2, WEIGHTS))


@pytest.mark.parametrize("chain_length", [1, 2, 30])
@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_the_law_of_the_chain(chain_length, alpha):
    def next_law(chosen):
        proposal = 0.5 * WEIGHTS / WEIGHTS.sum() + 0.5 * far_from(chosen[:1], alpha, WEIGHTS)
        far = np.maximum(alpha - SIMILARITIES[:, chosen].max(axis=1), 0)
        far[chosen] = 0.0
        step = np.zeros((5, 5))
        for a in range(5):
            for b in range(5):
                top, bottom = far[b] * proposal[a], far[a] * proposal[b]
                accept = 1.0 if bottom == 0 and top > 0 else min(1.0, top / max(bottom, 1e-300))
                step[a, b] += proposal[b] * accept
            step[a, a] += 1 - step[a].sum()
        end = proposal @ np.linalg.matrix_power(step, chain_length - 1)
        # A chain that met nothing new ends in a uniform draw from what is left.
        stuck = end[chosen].sum()
        end[chosen] = 0.0
        end[[i for i in range(5) if i not in chosen]] += stuck / (5 - len(chosen))
        return end

    options = {"method": "afk-mc2", "chain_length": chain_length, "sample_weight": WEIGHTS}
    found = frequencies(4000, 2, alpha=alpha, **options)
    assert agrees(found, law(next_law, 2, WEIGHTS))
    if chain_length == 1:
        assert not agrees(found, law(lambda c: far_from(c, alpha, WEIGHTS), 2, WEIGHTS))


def test_a_long_chain_forgets_its_proposal():
    """Without weights the chain's target is the law of k-means++ itself."""
    found = frequencies(3000, 2, method="afk-mc2", chain_length=60)
    assert agrees(found, law(lambda c: far_from(c, 1.0, np.ones(5)), 2, np.ones(5)))


def test_the_independent_draws_of_a_round():
    far = np.array([0.0, 1.0, 2.0, 3.0, 34.0])
    expected = np.array([0.0, 0.1, 0.2, 0.3, 1.0])
    draws, random_state = 4000, np.random.RandomState(0)
    counts = np.zeros(5)
    for _ in range(draws):
        salt = int(random_state.randint(2**62))
        counts[independent_draws(far, 0, salt, 4.0, far.sum())] += 1
    assert counts[0] == 0
    assert counts[4] == draws
    deviation = (counts[1:4] - draws * expected[1:4]) / np.sqrt(draws * expected[1:4])
    assert np.all(np.abs(deviation) < 3.5)


def test_k_means_parallel_draws_few_rows_whatever_their_scale():
    rng = np.random.default_rng(0)
    near = 1 + 1e-5 * rng.standard_normal((2000, 20))  # all rows within a small angle
    heavy = np.ones(2000)
    heavy[0] = 1e12
    for X, options in (
        (near, {}),
        (rng.standard_normal((2000, 20)), {"alpha": 1e14}),
        (rng.standard_normal((2000, 20)), {"sample_weight": heavy}),
    ):
        found = seed(X, 4, method="k-means||", random_state=0, **options)
        assert found.similarities < 100 * 2000


# --- In the loop ---


@pytest.mark.parametrize("method", COMPARING)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("dtype", "n_threads"), [(np.float32, 1), (np.float64, 3)])
def test_the_first_pass_is_taken_over(case, method, algorithm, dtype, n_threads):
    X = case.X.astype(dtype)
    rows = unit_rows(X)
    k = min(case.n_clusters, len(np.unique(rows.hashes(rows.usable))))
    options = {"algorithm": algorithm, "n_threads": n_threads}
    with_seeding = SphericalKMeans(k, init=method, random_state=1, **options).fit(X)
    stream = np.random.RandomState(1).randint(2**31 - 1, size=1)[0]
    found = seed(X, k, method=method, random_state=stream)
    anew = SphericalKMeans(k, init=found.indices, **options).fit(X)
    assert np.array_equal(with_seeding.labels_, anew.labels_)
    assert np.array_equal(with_seeding.cluster_centers_, anew.cluster_centers_)
    assert with_seeding.inertia_ == anew.inertia_
    assert with_seeding.n_iter_ == anew.n_iter_
    assert with_seeding.trace_["similarities"][0] == 0
    assert (
        with_seeding.trace_["reused"][0] == len(rows.usable) * k == anew.trace_["similarities"][0]
    )
    assert np.all(with_seeding.trace_["reused"][1:] == 0)
    # The bounds that were taken over are good for the passes that follow. Elkan keeps one for each
    # center, and the seeding knows only the second best: a few more are computed. The sieve takes
    # over labels alone: its next pass is a full one.
    later, later_anew = (m.trace_["similarities"][1:].sum() for m in (with_seeding, anew))
    if "elkan" not in algorithm and algorithm != "sieve":
        assert later <= later_anew


def test_kinds_of_init_agree():
    X = text_like()
    indices = [3, 50, 7, 200]
    by_rows = SphericalKMeans(4, init=indices).fit(X)
    asked = []

    def choose(X, n_clusters, random_state):
        asked.append((X.shape, n_clusters, isinstance(random_state, np.random.RandomState)))
        return X[indices]

    for init in (
        np.array(indices, np.uint8),
        X[indices],
        X[indices] * 7.5,
        X[indices].toarray(),
        sp.csc_matrix(X[indices]),
        choose,
        lambda X, n_clusters, random_state: np.array(indices),
    ):
        model = SphericalKMeans(4, init=init).fit(X)
        assert np.allclose(model.cluster_centers_, by_rows.cluster_centers_, atol=1e-15)
        assert np.array_equal(model.labels_, by_rows.labels_)
    assert asked == [(X.shape, 4, True)]


def test_n_init_keeps_the_best_of_independent_runs():
    X = text_like()
    runs = SphericalKMeans(8, n_init=6, random_state=4).fit(X)
    streams = np.random.RandomState(4).randint(2**31 - 1, size=6)
    objectives = []
    for stream in streams:
        found = seed(X, 8, method="random", random_state=stream)
        model = SphericalKMeans(8, init=found.indices).fit(X)
        objectives.append(model.inertia_)
    assert len(set(objectives)) > 1
    assert runs.inertia_ == min(objectives)
    assert SphericalKMeans(8, random_state=4).fit(X).inertia_ == objectives[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "k-means+"}, "method='k-means+' should be one of 'random', 'k-means++'"),
        ({"method": "k-means+"}, "Did you mean 'k-means++'?"),
        ({"alpha": 0}, "alpha=0 should be a number >= 1."),
        ({"n_clusters": 0}, "n_clusters=0 should be an integer >= 1."),
        ({"n_clusters": 301}, "n_samples=300 should be >= n_clusters=301."),
        ({"rounds": 0}, "rounds=0 should be an integer >= 1."),
        ({"n_local_trials": 0}, "n_local_trials=0 should be an integer >= 1."),
        ({"oversampling": -1}, "oversampling=-1 should be a number >= 0."),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        seed(text_like(), **{"n_clusters": 3, **options})


def test_seeding_is_public():
    assert arcmeans.seed is seed
    found = arcmeans.seed(text_like().toarray(), 4, random_state=0)
    assert np.allclose(np.linalg.norm(found.centers, axis=1), 1)
    assert found.seconds > 0
