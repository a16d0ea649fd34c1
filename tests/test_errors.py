"""Bad input gets an error that names the parameter, its value and the limit."""

import os
import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from arcmeans import SphericalKMeans

X = np.random.default_rng(0).random((20, 4))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 should be an integer >= 1."),
        ({"n_clusters": 2.5}, "n_clusters=2.5 should be an integer >= 1."),
        ({"n_clusters": 21}, "n_samples=20 should be >= n_clusters=21."),
        ({"max_iter": 0}, "max_iter=0 should be an integer >= 1."),
        ({"tol": -1e-3}, "tol=-0.001 should be a number >= 0."),
        ({"tol": float("nan")}, "tol=nan should be a number >= 0."),
        ({"n_threads": 0}, "n_threads=0 should be an integer >= 1."),
        ({"algorithm": "elkann"}, "algorithm='elkann' should be one of"),
        ({"algorithm": "elkann"}, "Did you mean 'elkan'?"),
        ({"empty_cluster": "drop"}, "empty_cluster='drop' should be one of 'relocate', 'keep'."),
        ({"init": "randon"}, "init='randon' should be one of 'random', 'k-means++', "),
        ({"init": "randon"}, "'k-means||', an array or a callable. Did you mean 'random'?"),
        ({"init": [1, 2, 3]}, "init names 3 rows, but n_clusters=8."),
        ({"init": range(13, 21)}, "init names row 20, outside [0, n_samples=20)."),
        ({"n_init": 0}, "n_init=0 should be an integer >= 1."),
        ({"alpha": 0.5}, "alpha=0.5 should be a number >= 1."),
        ({"chain_length": 0}, "chain_length=0 should be an integer >= 1."),
        ({"n_groups": 0}, "n_groups=0 should be an integer >= 1."),
        ({"algorithm": "yinyang", "n_groups": 9}, "n_groups=9 should be <= n_clusters="),
        ({"init": np.ones((3, 4))}, "init has shape (3, 4), but n_clusters=8 centers of 4"),
        ({"init": np.ones((8, 5))}, "need shape (8, 4)."),
        ({"init": np.eye(8, 4)}, "init has an all-zero row, 4: a center needs a direction."),
        ({"init": np.ones(8)}, "Expected 2D array, got 1D array"),
        ({"init": np.ma.masked_less(X[:8], 0.5)}, "init is a masked array with "),
        ({"init": lambda X, n_clusters, random_state: X[:3]}, "init has shape (3, 4), but n_cl"),
        ({"algorithm": "simplified-hamerli"}, "Did you mean 'simplified-hamerly'?"),
        ({"empty_cluster": "relocated"}, "Did you mean 'relocate'?"),
        ({"warm_start": "yes"}, "warm_start='yes' should be True or False."),
        ({"callback": "print"}, "callback='print' should be None or a callable."),
        ({"checkpoint": 3}, "checkpoint=3 should be None or the path of a file."),
        ({"checkpoint_seconds": -1}, "checkpoint_seconds=-1 should be a number >= 0."),
        ({"init": np.full((8, 4), np.nan)}, "init contains NaN or infinity (first in row 0)"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SphericalKMeans(**parameters).fit(X)


@pytest.mark.parametrize("make", [np.array, np.asfortranarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_not_finite_names_the_first_row(make, bad, dtype):
    Y = X.astype(dtype)
    Y[13, 2] = Y[17, 0] = bad
    model = SphericalKMeans(2)
    with pytest.raises(ValueError, match=r"X contains NaN or infinity \(first in row 13\)"):
        model.fit(make(Y))
    with pytest.raises(ValueError, match=r"first in row 13"):
        model.fit(X.astype(dtype)).predict(make(Y))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X[0], "Expected 2D array, got 1D array"),
        (X[:0], "Found array with 0 sample(s)"),
        (X[:, :0], "Found array with 0 feature(s)"),
        (X + 1j, "Complex data not supported"),
        (sp.csr_array(X + 1j), "Complex data not supported"),
        (5.0, "Expected 2D array, got scalar array"),
        (X[None], "Found array with dim 3"),
        (np.array([["a", "b"]] * 20, dtype=object), "could not convert string to float"),
    ],
)
def test_shapes_and_types(data, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SphericalKMeans(2).fit(data)


def test_wrong_number_of_features():
    with pytest.raises(ValueError, match="X has 3 features, but SphericalKMeans is expecting 4"):
        SphericalKMeans(2).fit(X).predict(X[:, :3])


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_not_fitted(method):
    with pytest.raises(NotFittedError, match="This SphericalKMeans instance is not fitted yet"):
        getattr(SphericalKMeans(2), method)(X)


def test_no_names_before_the_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SphericalKMeans(2).get_feature_names_out()


@pytest.mark.parametrize("method", ["fit", "predict", "transform", "score", "fit_transform"])
def test_masked_values_are_not_taken_for_data(method):
    """scikit-learn drops the mask without a word."""
    masked = np.ma.masked_greater(X, 0.9)
    model = SphericalKMeans(2, random_state=0).fit(X)
    message = rf"X is a masked array with {masked.mask.sum()} of 80 values masked; masks are not"
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(masked)
    unmasked = np.ma.array(X, mask=False)
    assert np.array_equal(SphericalKMeans(2, random_state=0).fit(unmasked).labels_, model.labels_)


@pytest.mark.filterwarnings("ignore:.*rows are all zero")
def test_too_few_rows_with_a_direction():
    Y = X.copy()
    Y[5:] = 0
    with pytest.raises(ValueError, match=r"n_clusters=8 .* n_samples=20 only 5 have them"):
        SphericalKMeans(8).fit(Y)


def test_a_warning_that_no_test_expects_is_an_error():
    """One of arcmeans is, always; one of another package only in continuous integration."""
    Y = X.copy()
    Y[0] = 0
    with pytest.raises(UserWarning, match="1 of 20 rows are all zero"):
        SphericalKMeans(2).fit(Y)
    others = DeprecationWarning("of another package")
    if os.environ["ARCMEANS_WARNINGS"] == "errors":
        with pytest.raises(DeprecationWarning, match="of another package"):
            warnings.warn(others, stacklevel=1)
    else:
        with pytest.warns(DeprecationWarning, match="of another package"):
            warnings.warn(others, stacklevel=1)


def test_fewer_directions_than_clusters():
    Y = np.repeat(X[:3], 5, axis=0)
    with pytest.warns(
        ConvergenceWarning, match=r"only 3 distinct directions, fewer than n_clusters=5: 2 clusters"
    ):
        model = SphericalKMeans(5, random_state=0).fit(Y)
    assert len(set(model.labels_)) == 3
    assert np.all(np.isfinite(model.cluster_centers_))
    assert model.n_iter_ < 10
    assert model.inertia_ < 1e-12


def test_empty_clusters_of_given_centers_are_told():
    Y = np.repeat(np.eye(3), 5, axis=0)
    with pytest.warns(
        ConvergenceWarning, match="Only 3 of n_clusters=5 clusters have rows"
    ) as told:
        SphericalKMeans(5, init=np.vstack([Y[::5], -Y[::8]])).fit(Y)
    assert told[0].filename == __file__  # the warning points at the caller
    SphericalKMeans(5, init=np.vstack([Y[::5], -Y[::8]]), empty_cluster="keep").fit(Y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.r_[np.ones(19), -1], "sample_weight[19]=-1.0 should be a finite number >= 0."),
        (np.r_[np.nan, np.ones(19)], "sample_weight[0]=nan should be a finite number >= 0."),
        (np.zeros(20), "sample_weight is zero for every row"),
        (np.ones(19), "sample_weight has shape (19,), expected (20,)."),
        (np.full(20, 1e-310), "sample_weight has a largest value of 1e-310 and a sum of 2e-309"),
        (np.full(20, 1e308), "a sum of inf; they should lie between 9.33264e-302 and 1.07151e+301"),
        (np.ones((20, 1)), "sample_weight has shape (20, 1), expected (20,)."),
        (np.ones(20) + 1j, "sample_weight has dtype complex128, expected real numbers."),
        (["1"] * 20, "sample_weight has dtype <U1, expected real numbers."),
        (np.ma.masked_equal(np.arange(20), 3), "sample_weight is a masked array with 1 of 20"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "fit_predict", "fit_transform", "score"])
def test_weights(method, weights, message):
    model = SphericalKMeans(2).fit(X)
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(model, method)(X, sample_weight=weights)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("indices", np.array([0, 99, 1, 2]), "column index outside [0, 4) in row 0"),
        ("indices", np.array([0, 1, -1, 2]), "column index outside [0, 4) in row 1"),
        ("indptr", np.array([0, 3, 2, 4]), "indptr does not fit its indices"),
        ("indptr", np.array([0, 2, 3, 400]), "indptr does not fit its indices"),
    ],
)
def test_broken_sparse_matrices_do_not_crash(name, value, message):
    S = sp.csr_array((np.ones(4), [0, 1, 2, 3], [0, 2, 3, 4]), shape=(3, 4))
    setattr(S, name, value.astype(np.int32))
    with pytest.raises(ValueError, match=re.escape(message)):
        SphericalKMeans(1).fit(S)
