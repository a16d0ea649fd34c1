"""What can come in: every container and dtype; X is never changed, sparse X never densified."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from arcmeans import SphericalKMeans
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._core import native
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._seeding.methods import METHODS

K = 6


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((90, 20)) < 0.3, rng.random((90, 20)), 0.0)
    X[:, 3] += 0.1
    return X


@pytest.fixture(scope="module")
def expected(X):
    return SphericalKMeans(K, init=X[:K]).fit(X)


def assert_fits_alike(expected, X, init):
    model = SphericalKMeans(K, init=init).fit(X)
    assert np.array_equal(model.labels_, expected.labels_)
    assert np.array_equal(model.cluster_centers_, expected.cluster_centers_)
    assert model.inertia_ == expected.inertia_
    assert np.array_equal(model.predict(X), expected.labels_)


@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_sparse_format(X, expected, form, kind):
    assert_fits_alike(expected, getattr(sp, f"{form}_{kind}")(X), X[:K])


@pytest.mark.parametrize("index", [np.int32, np.int64, np.uint32, np.int16, np.uint64, ">i4"])
def test_index_types(X, expected, index):
    S = sp.csr_array(X)
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    assert_fits_alike(expected, S, X[:K])
    mixed = sp.csr_array(X)
    mixed.indptr = mixed.indptr.astype(np.int64)
    assert_fits_alike(expected, mixed, X[:K])


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 7, 16, 17, 40, 65])
def test_what_a_look_finds_wherever_it_stands(index, dtype, size):
    """One flaw at a time, at each place of a row: vectors and what they leave over."""
    starts = np.array([0, 1, size + 1], np.int64)  # the flaw is in the second row
    indices = np.concatenate([[0], np.arange(size)]).astype(index)
    values = np.linspace(-1.0, 2.0, size + 1).astype(dtype) + dtype(0.01)
    nothing = (True, False, -1, -1)

    def look(indices, values):
        frequency = np.zeros(size, np.int64)
        found = native.inspect(starts, indices, values, frequency)
        if found.bad_index_row < 0:
            assert np.array_equal(frequency, np.bincount(indices, minlength=size))
        return found.canonical, found.has_zeros, found.bad_index_row, found.not_finite_row

    assert look(indices, values) == nothing
    for at in range(1, size + 1):
        for flaw in (0.0, -0.0):
            assert look(indices, _with(values, at, flaw)) == (True, True, -1, -1)
        for flaw in (np.nan, -np.nan, np.inf, -np.inf):
            assert look(indices, _with(values, at, flaw)) == (True, False, -1, 1)
        for flaw in (-1, size, np.iinfo(index).max, np.iinfo(index).min):
            assert look(_with(indices, at, flaw), values)[2] == 1
        if at > 1:
            twice = _with(indices, at, indices[at - 1])
            assert look(twice, values) == (False, False, -1, -1)
            swapped = _with(_with(indices, at, indices[at - 1]), at - 1, indices[at])
            assert look(swapped, values) == (False, False, -1, -1)
    finite = np.finfo(dtype)
    assert look(indices, np.full(size + 1, finite.max)) == nothing
    assert look(indices, np.full(size + 1, -finite.smallest_subnormal)) == nothing


def _with(numbers, at, value):
    numbers = numbers.copy()
    numbers[at] = value
    return numbers


def test_unsorted_duplicate_and_zero_entries(X, expected):
    S = sp.csr_array(X)
    rng = np.random.default_rng(1)
    indices, data, indptr = [], [], [0]
    for i in range(S.shape[0]):
        row = S[[i]]
        # Halves of each value twice, zeros in between, all shuffled.
        j = np.concatenate([row.indices, row.indices, [0, 5]])
        v = np.concatenate([row.data / 2, row.data / 2, [0.0, 0.0]])
        order = rng.permutation(len(j))
        indices.append(j[order])
        data.append(v[order])
        indptr.append(indptr[-1] + len(j))
    messy = sp.csr_array((np.concatenate(data), np.concatenate(indices), indptr), shape=S.shape)
    messy.has_sorted_indices = True  # a flag that lies is not believed
    before = messy.data.copy(), messy.indices.copy(), messy.indptr.copy()
    assert_fits_alike(expected, messy, X[:K])
    for array, copy in zip((messy.data, messy.indices, messy.indptr), before, strict=True):
        assert np.array_equal(array, copy)


def test_dense_containers(X, expected, tmp_path):
    assert_fits_alike(expected, np.asfortranarray(X), X[:K])
    assert_fits_alike(expected, X.tolist(), X[:K].tolist())
    assert_fits_alike(expected, pd.DataFrame(X), X[:K])
    assert_fits_alike(expected, np.repeat(X, 2, axis=1)[:, ::2], X[:K])
    np.save(tmp_path / "X.npy", X)
    assert_fits_alike(expected, np.load(tmp_path / "X.npy", mmap_mode="r"), X[:K])


def test_read_only_and_mapped_sparse(X, expected, tmp_path):
    S = sp.csr_array(X)
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(S, name))
        setattr(S, name, np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    assert_fits_alike(expected, S, X[:K])
    frozen = X.copy()
    frozen.flags.writeable = False
    assert_fits_alike(expected, frozen, frozen[:K])


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.int8, np.float64),
        (np.int64, np.float64),
        (np.uint32, np.float64),
        (bool, np.float64),
    ],
)
def test_dtypes(X, dtype, kept):
    Y = (X * 20).astype(dtype)
    model = SphericalKMeans(K, init=Y[:K]).fit(Y)
    assert model.cluster_centers_.dtype == kept
    same = SphericalKMeans(K, init=Y[:K].astype(kept)).fit(Y.astype(kept))
    assert np.array_equal(model.cluster_centers_, same.cluster_centers_)
    assert np.allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("make", [np.array, sp.csr_array, sp.csc_array, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_X_is_not_changed(X, make, dtype):
    given = make(X.astype(dtype))
    before = given.copy()
    SphericalKMeans(K, random_state=0).fit(given).predict(given)
    if sp.issparse(given):
        assert np.array_equal(given.indices, before.indices)
        assert np.array_equal(given.data, before.data)
    else:
        assert np.array_equal(given, before)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("init", METHODS)
def test_sparse_is_never_densified(X, algorithm, init, monkeypatch):
    def densified(self, *_, **__):
        raise AssertionError("a sparse matrix was made dense")

    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
        for name in ("toarray", "todense"):
            monkeypatch.setattr(kind, name, densified)
    model = SphericalKMeans(K, init=init, algorithm=algorithm, random_state=0)
    for make in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
        S = make(X)
        model.fit(S).predict(S)
        model.transform(S)
        model.score(S)


def test_more_features_than_the_core_can_number():
    with pytest.raises(ValueError, match="2147483648 features; the limit is 2147483647"):
        unit_rows(sp.csr_array((np.ones(1), ([0], [0])), shape=(1, 2**31)))


def test_scaling_a_row_by_a_power_of_two_changes_no_bit(X, expected):
    rng = np.random.default_rng(2)
    scaled = X * np.ldexp(1.0, rng.integers(-900, 900, len(X)))[:, None]
    assert_fits_alike(expected, scaled, scaled[:K])
    assert_fits_alike(expected, sp.csr_array(scaled), sp.csr_array(scaled[:K]))


def test_the_order_of_rows_permutes_labels_and_changes_no_other_bit(X, expected):
    order = np.random.default_rng(3).permutation(len(X))
    model = SphericalKMeans(K, init=X[:K]).fit(X[order])
    assert np.array_equal(model.labels_, expected.labels_[order])
    assert np.array_equal(model.cluster_centers_, expected.cluster_centers_)
    assert model.inertia_ == expected.inertia_


def test_other_byte_orders(X, expected):
    assert_fits_alike(expected, X.astype(">f8"), X[:K])
    swapped = sp.csr_array(X)
    swapped.data = swapped.data.astype(">f8")
    assert_fits_alike(expected, swapped, X[:K])
    assert SphericalKMeans(K).fit(X.astype(">f4")).cluster_centers_.dtype == np.float32


@pytest.mark.filterwarnings("ignore:.*rows are all zero")
@pytest.mark.parametrize("weight", [0.0, 0.5, 7.0, 1e30])
def test_the_weight_of_a_zero_row_is_of_no_account(X, weight):
    weights = np.random.default_rng(0).integers(1, 5, len(X)).astype(float)
    without = SphericalKMeans(K, init=X[:K]).fit(X, sample_weight=weights)
    Y, more = np.vstack([X, 0 * X[:1]]), np.append(weights, weight)
    with_zero = SphericalKMeans(K, init=X[:K]).fit(Y, sample_weight=more)
    assert np.array_equal(with_zero.cluster_centers_, without.cluster_centers_)
    assert with_zero.inertia_ == without.inertia_


def test_centers_are_scaled_before_they_are_rounded(X):
    small = X.astype(np.float32)
    given = SphericalKMeans(K, init=X[:K]).fit(small)
    for factor in (2.0**900, 2.0**-900):
        scaled = SphericalKMeans(K, init=X[:K] * factor).fit(small)
        assert np.array_equal(scaled.cluster_centers_, given.cluster_centers_)


def test_zero_rows_have_no_direction(X, expected):
    with_zeros = np.insert(X, [0, 10, 90], 0.0, axis=0)
    zero = ~with_zeros.any(axis=1)
    for make in (np.array, sp.csr_array):
        with pytest.warns(UserWarning, match="3 of 93 rows are all zero"):
            model = SphericalKMeans(K, init=X[:K]).fit(make(with_zeros))
        assert np.all(model.labels_[zero] == -1)
        assert np.array_equal(model.labels_[~zero], expected.labels_)
        assert np.array_equal(model.cluster_centers_, expected.cluster_centers_)
        assert model.inertia_ == expected.inertia_
        with pytest.warns(UserWarning, match="3 of 93 rows are all zero"):
            assert np.array_equal(model.predict(make(with_zeros)), model.labels_)


def test_random_seeds_do_not_depend_on_the_container(X):
    reference = SphericalKMeans(K, random_state=5).fit(X)
    S = sp.csr_array(X)
    S.indices = S.indices.astype(np.int64)
    for other in (np.asfortranarray(X), sp.csr_array(X), sp.csc_matrix(X), S):
        for n_threads in (1, 3):
            model = SphericalKMeans(K, random_state=5, n_threads=n_threads).fit(other)
            assert np.array_equal(model.cluster_centers_, reference.cluster_centers_)


def test_random_seeds_have_distinct_directions():
    kinds = np.eye(4) + 0.1
    X = np.repeat(kinds, 50, axis=0) * np.ldexp(1.0, np.arange(200) % 7)[:, None]
    for seed in range(20):
        model = SphericalKMeans(4, random_state=seed, max_iter=1).fit(X)
        assert sorted(np.bincount(model.labels_)) == [50, 50, 50, 50]


def test_the_fit_makes_no_warning_of_its_own(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SphericalKMeans(K).fit(X).predict(X)


def test_rows_without_entries_are_no_flaw():
    """Wherever they stand, also where entries of one row and the next would be out of order."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        X = sp.csr_array((rng.random((200, 9)) < 0.1).astype(np.float32))
        frequency = np.zeros(9, np.int64)
        starts = X.indptr.astype(np.int64)
        found = native.inspect(starts, X.indices, X.data, frequency)
        assert found.canonical
        assert not found.has_zeros
        assert frequency.tolist() == np.bincount(X.indices, minlength=9).tolist()
