"""scikit-learn's own checks, and the promises of its KMeans restated."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from arcmeans import SphericalKMeans


@pytest.mark.filterwarnings("ignore:.*rows are all zero", "ignore:.*only .* distinct directions")
@parametrize_with_checks([SphericalKMeans(n_clusters=3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_refit_gives_the_same_bits():
    X = np.random.default_rng(0).random((200, 10))
    model = SphericalKMeans(7, random_state=3).fit(X)
    labels, centers = model.labels_.copy(), model.cluster_centers_.copy()
    again = clone(model).fit(X)
    model.fit(X)
    for other in (model, again):
        assert np.array_equal(other.labels_, labels)
        assert np.array_equal(other.cluster_centers_, centers)
    assert np.array_equal(model.fit_predict(X), labels)


def test_inertia_is_the_squared_chords():
    rng = np.random.default_rng(1)
    X, weights = rng.standard_normal((300, 8)), rng.random(300)
    for max_iter in (1, 3, 300):
        model = SphericalKMeans(5, random_state=0, max_iter=max_iter)
        model.fit(X, sample_weight=weights)
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        squares = ((unit - model.cluster_centers_[model.labels_]) ** 2).sum(axis=1)
        assert model.inertia_ == pytest.approx(weights @ squares, rel=1e-12)


def test_one_cluster_is_the_mean_direction():
    X = np.random.default_rng(2).random((50, 6))
    model = SphericalKMeans(1).fit(X)
    mean = (X / np.linalg.norm(X, axis=1, keepdims=True)).sum(axis=0)
    assert np.allclose(model.cluster_centers_[0], mean / np.linalg.norm(mean), atol=1e-14)
    assert model.n_iter_ == 2


def test_in_a_pipeline():
    documents = ["red green blue", "green red", "cat dog", "dog cat mouse"] * 5
    labels = make_pipeline(
        TfidfVectorizer(dtype=np.float32), SphericalKMeans(2, random_state=0)
    ).fit_predict(documents)
    assert len(set(labels[::4]) | set(labels[1::4])) == 1
    assert labels[0] != labels[2] == labels[3]


def test_random_draws_are_uniform_over_directions():
    """Nine copies of a row are one direction: no likelier than the others."""
    X = np.vstack([np.repeat(np.eye(5)[:1], 9, axis=0), np.eye(5)[1:]])
    picked = np.zeros(5)
    for seed in range(2000):
        centers = SphericalKMeans(1, random_state=seed, max_iter=1).fit(X).cluster_centers_
        picked[np.argmax(centers)] += 1
    chi_square = ((picked - 400) ** 2 / 400).sum()
    assert chi_square < 18.5  # 4 degrees of freedom, one in a thousand; weighting by copies: > 1000
