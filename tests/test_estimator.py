"""scikit-learn's own checks, and the promises of its KMeans restated."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import estimator_html_repr, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from arcmeans import SphericalKMeans

DOCUMENTS = ["red green blue", "green red", "cat dog", "dog cat mouse"] * 5


@pytest.mark.filterwarnings("ignore:.*rows are all zero", "ignore:.*only .* distinct directions")
@parametrize_with_checks(
    [SphericalKMeans(n_clusters=3), SphericalKMeans(n_clusters=3, warm_start=True, n_init=2)]
)
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
    assert np.array_equal(model.predict(X), labels)


def test_the_order_of_rows_permutes_the_labels_only():
    rng = np.random.default_rng(3)
    X, weights, order = rng.random((150, 8)), rng.random(150), rng.permutation(150)
    for init in ("random", X[:6]):
        model = SphericalKMeans(6, init=init, random_state=1).fit(X, sample_weight=weights)
        other = clone(model).fit(X[order], sample_weight=weights[order])
        assert np.array_equal(other.labels_, model.labels_[order])
        assert np.array_equal(other.cluster_centers_, model.cluster_centers_)
        assert other.inertia_ == model.inertia_


def test_integer_weights_are_repeated_rows():
    rng = np.random.default_rng(4)
    X, weights = rng.standard_normal((120, 7)), rng.integers(0, 5, 120)
    init = X[np.flatnonzero(weights)[:5]]
    model = SphericalKMeans(5, init=init).fit(X, sample_weight=weights)
    other = SphericalKMeans(5, init=init).fit(np.repeat(X, weights, axis=0))
    assert np.array_equal(np.repeat(model.labels_, weights), other.labels_)
    assert np.array_equal(model.cluster_centers_, other.cluster_centers_)
    assert model.inertia_ == other.inertia_
    score = model.score(X, sample_weight=weights)
    assert score == pytest.approx(other.score(np.repeat(X, weights, axis=0)), rel=1e-14)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint16, bool])
@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_integers_are_as_good_as_floats(dtype, make):
    X = np.random.default_rng(5).integers(0, 2, (90, 12))
    X[:, 0] = 1
    model = SphericalKMeans(4, random_state=0).fit(make(X.astype(dtype)))
    other = SphericalKMeans(4, random_state=0).fit(X.astype(float))
    assert np.array_equal(model.labels_, other.labels_)
    assert np.array_equal(model.cluster_centers_, other.cluster_centers_)
    assert np.array_equal(model.transform(make(X.astype(dtype))), other.transform(X.astype(float)))


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
    pipeline = make_pipeline(TfidfVectorizer(dtype=np.float32), SphericalKMeans(2, random_state=0))
    labels = pipeline.fit_predict(DOCUMENTS)
    assert len(set(labels[::4]) | set(labels[1::4])) == 1
    assert labels[0] != labels[2] == labels[3]
    assert np.array_equal(pipeline.predict(DOCUMENTS), labels)
    assert pipeline.transform(DOCUMENTS).shape == (20, 2)
    assert pipeline.score(DOCUMENTS) == pytest.approx(-pipeline[-1].inertia_, rel=1e-6)


def test_in_a_grid_search():
    pipeline = Pipeline([("tfidf", TfidfVectorizer()), ("cluster", SphericalKMeans())])
    grid = {"cluster__n_clusters": [1, 2], "cluster__random_state": [0]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(DOCUMENTS)
    assert search.best_params_["cluster__n_clusters"] == 2
    assert search.best_score_ > search.cv_results_["mean_test_score"][0]
    assert len(set(search.predict(DOCUMENTS))) == 2


def test_weights_are_routed():
    X, weights = np.random.default_rng(6).random((60, 5)), np.r_[np.zeros(30), np.ones(30)]
    direct = SphericalKMeans(3, random_state=0).fit(X, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        model = SphericalKMeans(3, random_state=0)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(model).fit(X, sample_weight=weights)
        assert np.array_equal(pipeline[-1].labels_, direct.labels_)
        score = pipeline.score(X, sample_weight=weights)
        assert score == direct.score(X, sample_weight=weights)
        search = GridSearchCV(model, {"n_clusters": [3]}, cv=[(range(60), range(60))])
        search.fit(X, sample_weight=weights)
        assert search.best_score_ == score


def test_tags():
    tags = get_tags(SphericalKMeans())
    assert tags.estimator_type == "clusterer"
    assert tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert tags.transformer_tags.preserves_dtype == ["float64", "float32"]
    assert not tags.target_tags.required


def test_how_it_is_shown():
    model = SphericalKMeans(4, algorithm="elkan")
    assert repr(model) == "SphericalKMeans(algorithm='elkan', n_clusters=4)"
    assert "SphericalKMeans" in estimator_html_repr(model)
    model.fit(np.random.default_rng(0).random((20, 3)))
    assert "Fitted" in estimator_html_repr(model)


def test_clones_and_pickles():
    def stop(step):
        return step.iteration == 2

    X = np.random.default_rng(7).random((80, 6))
    model = SphericalKMeans(4, init=X[:4], warm_start=True, callback=stop, checkpoint="here")
    copied = clone(model)
    assert copied.get_params().keys() == model.get_params().keys()
    assert copied.callback is stop
    assert copied.checkpoint == "here"
    assert not hasattr(copied, "labels_")
    model.set_params(callback=None, checkpoint=None).fit(X)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.transform(X), model.transform(X))
    assert again.score(X) == model.score(X)
    assert again.fit(X).n_iter_ == 2  # a warm start needs the integers of the centers


def test_as_the_cluster_model_of_bertopic():
    """BERTopic takes any object with ``fit(X)`` and ``labels_``, and ``predict(X)`` for new rows.

    It hands over reduced embeddings, dense float32, and keeps label -1 for outliers.
    """
    embeddings = np.random.default_rng(8).standard_normal((120, 5)).astype(np.float32)
    cluster_model = SphericalKMeans(n_clusters=6, random_state=0)
    cluster_model.fit(embeddings)
    topics = cluster_model.labels_
    assert hasattr(topics, "tolist")
    assert set(topics.tolist()) == set(range(6))
    assert np.array_equal(cluster_model.predict(embeddings[:10]), topics[:10])
    assert np.array_equal(cluster_model.fit(embeddings, y=None).labels_, topics)


def test_random_draws_are_uniform_over_directions():
    """Nine copies of a row are one direction: no likelier than the others."""
    X = np.vstack([np.repeat(np.eye(5)[:1], 9, axis=0), np.eye(5)[1:]])
    picked = np.zeros(5)
    for seed in range(2000):
        centers = SphericalKMeans(1, random_state=seed, max_iter=1).fit(X).cluster_centers_
        picked[np.argmax(centers)] += 1
    chi_square = ((picked - 400) ** 2 / 400).sum()
    assert chi_square < 18.5  # 4 degrees of freedom, one in a thousand; weighting by copies: > 1000
