"""The measures are what their definitions say, in any container, and no pair is compared."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics

from arcmeans import SphericalKMeans, metrics
from arcmeans._analysis import affinities as clusters

CONTAINERS = [np.array, np.asfortranarray, sp.csr_array, sp.csc_matrix]


def data(n=120, d=30, k=4, dtype=np.float64):
    """Sparse rows around k directions, as an array, and labels that are not all the best."""
    rng = np.random.default_rng(0)
    truth = rng.integers(k, size=n)
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.2) + rng.random((k, d))[truth]
    X *= rng.uniform(0.1, 10, size=(n, 1)) * (rng.random((n, d)) < 0.7)
    labels = np.where(rng.random(n) < 0.9, truth, rng.integers(k, size=n))
    return X.astype(dtype), labels


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def simplified(X, labels, centers):
    """The definition, row by row."""
    found = []
    for x, label in zip(unit(X), labels, strict=True):
        distances = 1 - unit(centers) @ x
        a, b = distances[label], np.delete(distances, label).min()
        found.append((b - a) / max(a, b))
    return np.array(found)


@pytest.mark.parametrize("make", CONTAINERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_simplified_silhouette_is_its_definition(make, dtype):
    X, _ = data(dtype=dtype)
    model = SphericalKMeans(4, random_state=0).fit(X)
    expected = simplified(X.astype(np.float64), model.labels_, model.cluster_centers_)
    given = make(X)
    tolerance = 1e-12 if dtype == np.float64 else 1e-6
    for arguments in (
        {"labels": model.labels_, "centers": model.cluster_centers_},
        {"labels": model.labels_, "centers": sp.csr_array(3 * model.cluster_centers_)},
        {"centers": model.cluster_centers_},
        {"labels": model.labels_},
        {"model": model},
    ):
        samples = metrics.simplified_silhouette_samples(given, **arguments)
        assert np.allclose(samples, expected, rtol=0, atol=tolerance), arguments.keys()
        score = metrics.simplified_silhouette_score(given, **arguments)
        assert score == pytest.approx(expected.mean(), abs=tolerance)


@pytest.mark.parametrize("make", CONTAINERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_silhouette_is_scikit_learns(make, dtype):
    X, labels = data(dtype=dtype)
    labels[:1] = 9  # a cluster of one row, and a gap in the numbers
    expected = sklearn.metrics.silhouette_samples(X.astype(np.float64), labels, metric="cosine")
    samples = metrics.silhouette_samples(make(X), labels)
    tolerance = 1e-12 if dtype == np.float64 else 1e-6
    assert np.allclose(samples, expected, rtol=0, atol=tolerance)
    assert metrics.silhouette_score(make(X), labels) == pytest.approx(
        sklearn.metrics.silhouette_score(X, labels, metric="cosine"), abs=tolerance
    )


def test_a_sample_is_held_against_all_rows():
    X, labels = data()
    every = metrics.silhouette_samples(X, labels)
    draw = np.random.RandomState(5).choice(len(X), 20, replace=False)
    score = metrics.silhouette_score(X, labels, sample_size=20, random_state=5)
    assert score == pytest.approx(every[draw].mean(), abs=1e-14)
    whole = metrics.silhouette_score(X, labels, sample_size=len(X), random_state=5)
    assert whole == metrics.silhouette_score(X, labels)


@pytest.mark.parametrize("make", CONTAINERS)
def test_calinski_harabasz_is_its_definition(make):
    X, labels = data()
    U = unit(X)
    overall = unit(U.sum(axis=0, keepdims=True))[0]
    within = between = 0.0
    for j in range(4):
        rows = U[labels == j]
        total = rows.sum(axis=0)
        direction = total / np.linalg.norm(total)
        within += (1 - rows @ direction).sum()
        between += np.linalg.norm(total) * (1 - direction @ overall)
    expected = (between / 3) / (within / (len(X) - 4))
    score = metrics.calinski_harabasz_score(make(X), labels)
    assert score == pytest.approx(expected, rel=1e-12)
    assert between == pytest.approx((1 - U @ overall).sum() - within, rel=1e-12)


def test_a_weight_of_three_is_three_rows():
    X, labels = data()
    weights = np.random.default_rng(1).integers(4, size=len(X))
    repeated, again = np.repeat(X, weights, axis=0), np.repeat(labels, weights)
    for score in (metrics.calinski_harabasz_score, metrics.simplified_silhouette_score):
        weighted = score(X, labels, sample_weight=weights)
        assert weighted == pytest.approx(score(repeated, again), rel=1e-12)
        assert weighted != pytest.approx(score(X, labels), rel=1e-6)


def test_rows_without_a_label_or_a_direction_are_left_out():
    X, labels = data()
    Y, more = np.vstack([X, X[:5], 0 * X[:3]]), np.r_[labels, [-1] * 5, [2] * 3]
    for samples in (metrics.simplified_silhouette_samples, metrics.silhouette_samples):
        found = samples(sp.csr_array(Y), more)
        assert np.all(np.isnan(found[-8:]))
        assert np.array_equal(found[:-8], samples(X, labels))
    for score in (
        metrics.simplified_silhouette_score,
        metrics.silhouette_score,
        metrics.calinski_harabasz_score,
    ):
        assert score(Y, more) == score(X, labels)


@pytest.mark.threads
@pytest.mark.parametrize(("table", "chunk"), [(1, 1), (60, 50), (2**24, 2**20)])
def test_the_same_bits_in_any_container_chunk_and_thread(monkeypatch, table, chunk):
    X, labels = data(n=60)
    expected = [f(X, labels) for f in (metrics.silhouette_samples, metrics.calinski_harabasz_score)]
    expected.append(metrics.simplified_silhouette_samples(X, labels))
    monkeypatch.setattr(clusters, "TABLE_VALUES", table)
    monkeypatch.setattr(clusters, "CHUNK_VALUES", chunk)
    for given in (X, sp.csr_array(X)):
        for n_threads in (1, 3):
            found = [
                metrics.silhouette_samples(given, labels, n_threads=n_threads),
                metrics.calinski_harabasz_score(given, labels, n_threads=n_threads),
                metrics.simplified_silhouette_samples(given, labels, n_threads=n_threads),
            ]
            assert all(map(np.array_equal, found, expected))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_directions_that_coincide_leave_no_rounding_errors(dtype):
    """Three rows and multiples of them: distances are 0, not 1e-17, whoever is whose neighbor."""
    three = np.random.default_rng(3).random((3, 40)).astype(dtype)
    X = np.vstack([factor * three for factor in (1, 3, 7, 11)])
    apart, mixed = np.arange(12) % 3, np.arange(12) // 6
    assert np.all(metrics.simplified_silhouette_samples(X, apart) == 1)
    assert np.all(metrics.silhouette_samples(X, apart) == 1)
    assert metrics.calinski_harabasz_score(X, apart) == np.inf
    assert metrics.calinski_harabasz_score(X, mixed) == 0
    same = metrics.simplified_silhouette_samples(X, 0 * mixed, np.repeat(X[:1], 2, axis=0))
    assert np.all(same == 0)


def test_sparse_rows_are_never_made_dense():
    """A dense copy of X would be 1.6 TB, a matrix of all pairs 80 GB."""
    n, d = 100_000, 2_000_000
    X = sp.csr_array((np.ones(n), np.arange(n) % 50, np.arange(n + 1)), shape=(n, d))
    labels = np.arange(n) % 50 // 25
    assert metrics.silhouette_score(X, labels) == pytest.approx(1 - (24 / 25), abs=1e-3)
    assert metrics.simplified_silhouette_score(X, labels) == pytest.approx(1 / 5, abs=1e-9)


X, LABELS = data(n=20)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.silhouette_score(X, LABELS[:19]), "labels has shape (19,), expected (20,)."),
        (lambda m: m.silhouette_score(X, LABELS + 0.5), "labels has dtype float64; labels are"),
        (lambda m: m.silhouette_score(X, LABELS - 2), "=-2 should be an integer >= -1."),
        (lambda m: m.silhouette_score(X, 0 * LABELS), "labels name 1 cluster with rows; at least"),
        (lambda m: m.silhouette_score(X, 0 * LABELS - 1), "None of the 20 rows has both a label"),
        (lambda m: m.calinski_harabasz_score(X, 0 * LABELS), "labels name 1 cluster with rows"),
        (
            lambda m: m.calinski_harabasz_score(X, np.arange(20)),
            "The labelled rows weigh 20 together, which should be > 20, the number of clusters.",
        ),
        (
            lambda m: m.silhouette_score(X, LABELS, sample_size=0),
            "sample_size=0 should be an integer >= 1.",
        ),
        (
            lambda m: m.silhouette_score(X, LABELS, sample_size=21),
            "sample_size=21 should be <= 20, the number of rows",
        ),
        (
            lambda m: m.simplified_silhouette_score(X),
            "labels, centers and model are all None; one of them is needed.",
        ),
        (
            lambda m: m.simplified_silhouette_score(X, LABELS, X[:3]),
            "=3 should be between -1 and 2: there are 3 centers.",
        ),
        (
            lambda m: m.simplified_silhouette_score(X, LABELS, X[:4, :7]),
            "centers has 7 features, but X has 30 features.",
        ),
        (
            lambda m: m.simplified_silhouette_score(X, centers=X[:1]),
            "Found array with 1 sample(s) (shape=(1, 30)) while a minimum of 2 is required",
        ),
        (
            lambda m: m.simplified_silhouette_score(X, centers=np.eye(3, 30, k=28)),
            "centers[2] is all zero: it has no direction.",
        ),
        (
            lambda m: m.simplified_silhouette_score(
                X, centers=X[:2], model=SphericalKMeans(2).fit(X)
            ),
            "centers and model are both given; only one of them can be used.",
        ),
        (
            lambda m: m.simplified_silhouette_score(np.vstack([X, -X]), np.arange(40) % 20 % 2),
            "The rows of a cluster cancel out, so that it has no mean direction: give centers.",
        ),
        (
            lambda m: m.simplified_silhouette_score(X, LABELS, sample_weight=-np.ones(20)),
            "sample_weight[0]=-1.0 should be a finite number >= 0.",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(metrics)
