"""Bad input gets an error that names the parameter, its value and the limit."""

import re

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
        ({"init": np.ones((3, 4))}, "init has shape (3, 4), but n_clusters=8 centers of 4"),
        ({"init": np.ones((8, 5))}, "need shape (8, 4)."),
        ({"init": np.eye(8, 4)}, "init has an all-zero row, 4: a center needs a direction."),
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
        (np.array([["a", "b"]] * 20, dtype=object), "could not convert string to float"),
    ],
)
def test_shapes_and_types(data, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SphericalKMeans(2).fit(data)


def test_wrong_number_of_features():
    with pytest.raises(ValueError, match="X has 3 features, but SphericalKMeans is expecting 4"):
        SphericalKMeans(2).fit(X).predict(X[:, :3])


def test_not_fitted():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SphericalKMeans(2).predict(X)


@pytest.mark.filterwarnings("ignore:.*rows are all zero")
def test_too_few_rows_with_a_direction():
    Y = X.copy()
    Y[5:] = 0
    with pytest.raises(ValueError, match=r"n_clusters=8 .* n_samples=20 only 5 have them"):
        SphericalKMeans(8).fit(Y)


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


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.r_[np.ones(19), -1], "sample_weight[19]=-1.0 should be a finite number >= 0."),
        (np.r_[np.nan, np.ones(19)], "sample_weight[0]=nan should be a finite number >= 0."),
        (np.zeros(20), "sample_weight is zero for every row"),
        (np.ones(19), "sample_weight has shape (19,), expected (20,)."),
    ],
)
def test_weights(weights, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SphericalKMeans(2).fit(X, sample_weight=weights)


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
