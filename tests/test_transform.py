"""Distances to the centers and the score: what makes a clustering a transformer."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from arcmeans import SphericalKMeans

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 12)) * (rng.random((300, 12)) < 0.5)
X[:, 0] += 3.0
WEIGHTS = rng.random(300)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_distances_are_one_minus_the_cosine():
    model = SphericalKMeans(6, random_state=0).fit(X)
    distances = model.transform(X)
    assert distances.shape == (300, 6)
    expected = 1.0 - unit(X) @ unit(model.cluster_centers_).T
    assert np.allclose(distances, expected, rtol=0, atol=1e-14)
    assert np.array_equal(distances.argmin(axis=1), model.predict(X))


@pytest.mark.parametrize("make", [np.asfortranarray, sp.csr_array, sp.csr_matrix, sp.coo_array])
@pytest.mark.parametrize("n_threads", [1, pytest.param(3, marks=pytest.mark.threads)])
def test_distances_are_the_same_bits_in_any_container(make, n_threads):
    model = SphericalKMeans(6, random_state=0).fit(X)
    distances = model.transform(X)
    model.set_params(n_threads=n_threads)
    assert np.array_equal(model.transform(make(X)), distances)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(np.float32, np.float32), (np.float64, np.float64), (np.float16, np.float32), (int, float)],
)
def test_distances_have_the_dtype_of_the_rows(dtype, expected):
    Y = (4 * X).astype(dtype)
    model = SphericalKMeans(4, random_state=0).fit(X)
    assert model.transform(Y).dtype == expected
    assert SphericalKMeans(4, random_state=0).fit_transform(Y).dtype == expected


def test_fit_transform_is_fit_and_transform():
    model = SphericalKMeans(5, random_state=1)
    distances = model.fit_transform(X, sample_weight=WEIGHTS)
    other = SphericalKMeans(5, random_state=1).fit(X, sample_weight=WEIGHTS)
    assert np.array_equal(model.labels_, other.labels_)
    assert np.array_equal(distances, other.transform(X))


def test_sparse_rows_are_never_made_dense(monkeypatch):
    def refuse(self, *args, **kwargs):
        raise AssertionError("made dense")

    S = sp.csr_array(X)
    for name in ("toarray", "todense"):
        monkeypatch.setattr(sp.csr_array, name, refuse)
    model = SphericalKMeans(4, random_state=0)
    assert model.fit_transform(S).shape == (300, 4)
    assert model.score(S) < 0


@pytest.mark.filterwarnings("ignore:.*rows are all zero")
@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_a_row_without_a_direction_is_orthogonal_to_all(make):
    model = SphericalKMeans(3, random_state=0).fit(X)
    Y = X[:5].copy()
    Y[2] = 0
    assert np.array_equal(model.transform(make(Y))[2], np.ones(3))
    assert model.predict(make(Y))[2] == -1
    assert model.score(make(Y)) == pytest.approx(model.score(make(Y[[0, 1, 3, 4]])))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_stay_within_their_range(dtype):
    """The similarity of a row to its own direction is rounded, often to more than 1."""
    Y = np.random.default_rng(1).standard_normal((200, 7)).astype(dtype)
    model = SphericalKMeans(200, init=Y, max_iter=1).fit(Y)
    for rows, best in ((Y, 0.0), (-Y, 2.0)):
        distances = model.transform(rows)
        assert distances.min() >= 0.0
        assert distances.max() <= 2.0
        assert np.allclose(np.diag(distances), best, atol=1e-6)


@pytest.mark.parametrize(
    ("weights", "rounding"),
    # A large total weight leaves the fixed-point sums 30 bits for the values of a row.
    [(None, 1e-12), (WEIGHTS, 1e-12), (1e-12 * WEIGHTS, 1e-12), (1e12 * WEIGHTS, 1e-9)],
)
def test_the_score_is_minus_the_inertia(weights, rounding):
    model = SphericalKMeans(5, random_state=0).fit(X, sample_weight=weights)
    score = model.score(X, sample_weight=weights)
    assert score < 0
    assert score == pytest.approx(-model.inertia_, rel=rounding)
    chords = 2 * model.transform(X).min(axis=1)
    assert score == pytest.approx(-(chords @ (np.ones(300) if weights is None else weights)))


def test_a_greater_score_is_better():
    scores = [SphericalKMeans(k, random_state=0).fit(X).score(X) for k in (1, 4, 30)]
    assert scores == sorted(scores)
    points = np.repeat(np.eye(3), 4, axis=0)
    assert SphericalKMeans(3, random_state=0).fit(points).score(points) == 0.0


def test_names_of_the_columns():
    frame = pd.DataFrame(X).add_prefix("f")
    model = SphericalKMeans(3, random_state=0).fit(frame)
    names = ["sphericalkmeans0", "sphericalkmeans1", "sphericalkmeans2"]
    assert model.get_feature_names_out().tolist() == names
    model.set_output(transform="pandas")
    assert model.transform(frame).columns.tolist() == names
    assert model.fit_transform(sp.csr_array(X)).columns.tolist() == names


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_names_of_the_features():
    frame = pd.DataFrame(X).add_prefix("f")
    model = SphericalKMeans(3, random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert np.array_equal(model.transform(frame), model.transform(X))
    for use in (model.transform, model.score, model.predict):
        with pytest.raises(ValueError, match="feature names should match"):
            use(frame.add_suffix("x"))


def test_distances_as_features_in_a_pipeline():
    documents = ["red green blue", "green red", "cat dog", "dog cat mouse"] * 5
    y = [0, 0, 1, 1] * 5
    pipeline = make_pipeline(
        TfidfVectorizer(), SphericalKMeans(2, random_state=0), KNeighborsClassifier(1)
    )
    assert pipeline.fit(documents, y).score(documents, y) == 1.0
    assert pipeline[:-1].get_feature_names_out().tolist() == [
        "sphericalkmeans0",
        "sphericalkmeans1",
    ]
