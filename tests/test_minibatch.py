"""Mini batches: exact sums over a stream, held against a plain loop, and scikit-learn's manners."""

import copy
import os
import pickle
import re
import signal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from arcmeans import MiniBatchSphericalKMeans, SphericalKMeans, _core
from arcmeans._minibatch import stream as running_sums

from .support import processes
from .support.oracle import unit

WEIGHTS_ARE_CHANCES = "fit draws its batches by weight: a row of weight 2 is not two rows"
CONTAINERS = {
    "csr": lambda X: sp.csr_array(X),
    "csr int64": lambda X: _with_int64(sp.csr_array(X)),
    "csc matrix": lambda X: sp.csc_matrix(X),
    "dense F": np.asfortranarray,
}


def _with_int64(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def clustered(n, seed=0, k=6, d=12, dtype=np.float64):
    """Rows around k directions, about half of the values zero."""
    rng = np.random.default_rng(seed)
    X = 4 * rng.standard_normal((k, d))[np.arange(n) % k] + rng.standard_normal((n, d))
    return np.where(np.abs(X) < 1.5, 0.0, X).astype(dtype)


def state(model):
    """Everything that has to agree, as bytes: also what another batch would make of the model."""
    following = copy.deepcopy(model).set_params(verbose=0)
    X = clustered(60, seed=99, d=model.n_features_in_, dtype=model.cluster_centers_.dtype)
    following.partial_fit(X)
    sums = model.center_sums()
    return {
        "sums": (sums.vectors.toarray().tobytes(), sums.scales.tobytes(), sums.one),
        "centers": model.cluster_centers_.tobytes(),
        "counts": model.counts_.tobytes(),
        "labels": model.labels_.tobytes(),
        "inertia": model.inertia_,
        "steps": model.n_steps_,
        "following": (following.cluster_centers_.tobytes(), following.counts_.tobytes()),
    }


def streamed(batches, n_clusters=6, **parameters):
    parameters = {"random_state": 0, "n_threads": 1, **parameters}
    model = MiniBatchSphericalKMeans(n_clusters, **parameters)
    for batch in batches:
        model.partial_fit(batch)
    return model


@pytest.mark.filterwarnings("ignore:.*rows are all zero", "ignore:.*only .* distinct directions")
@parametrize_with_checks(
    [MiniBatchSphericalKMeans(n_clusters=3, batch_size=10, max_iter=5)],
    expected_failed_checks=lambda _: {  # as scikit-learn has it for MiniBatchKMeans
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS_ARE_CHANCES,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS_ARE_CHANCES,
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_stream_against_a_plain_loop(dtype):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((600, 7)).astype(dtype)
    weights = rng.integers(0, 4, size=600).astype(float) / 2
    init = X[:9]
    model = MiniBatchSphericalKMeans(9, init=init, reassignment_ratio=0.0)
    rows, centers = unit(X), unit(init)
    sums, counts = np.zeros((9, 7)), np.zeros(9)
    for at in np.array_split(np.arange(600), 23):
        similarities = rows[at] @ centers.T
        two = np.sort(similarities, axis=1)[:, -2:]
        assert np.min(two[:, 1] - two[:, 0]) > 1e-6  # or the loop's labels would mean nothing
        labels = similarities.argmax(axis=1)
        np.add.at(sums, labels, weights[at, None] * rows[at])
        np.add.at(counts, labels, weights[at])
        centers = np.where(counts[:, None] > 0, sums / np.maximum(1e-300, counts[:, None]), centers)
        centers = unit(centers)
        model.partial_fit(X[at], sample_weight=weights[at])
        assert np.array_equal(model.counts_, counts)
        assert np.allclose(
            model.cluster_centers_, centers, atol=1e-6 if dtype == np.float32 else 1e-12
        )
        assert np.array_equal(model.labels_, (rows[at] @ centers.T).argmax(axis=1))
    assert model.n_steps_ == 23
    squares = ((rows[at] - centers[model.labels_]) ** 2).sum(axis=1)
    assert model.inertia_ == pytest.approx(weights[at] @ squares, rel=1e-5)


@pytest.mark.threads
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ratio", [0.01, 0.9])
def test_streams_agree_bit_for_bit(dtype, ratio, monkeypatch):
    X = clustered(900, dtype=dtype)
    batches = np.array_split(X, [300, 310, 640])
    expected = state(streamed(batches, reassignment_ratio=ratio))
    for n_threads in (2, 5):
        model = streamed(batches, reassignment_ratio=ratio, n_threads=n_threads)
        assert state(model) == expected
    for convert in CONTAINERS.values():
        assert state(streamed(map(convert, batches), reassignment_ratio=ratio)) == expected
    mixed = [batches[0], sp.csr_array(batches[1]), batches[2], sp.coo_array(batches[3])]
    assert state(streamed(mixed, reassignment_ratio=ratio)) == expected
    for name in _core.available():
        monkeypatch.setattr(_core, "native", _core.load(name))
        assert state(streamed(batches, reassignment_ratio=ratio)) == expected


@pytest.mark.threads
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fits_agree_bit_for_bit(dtype, weighted, monkeypatch):
    X = clustered(1500, dtype=dtype)
    weights = np.random.default_rng(1).random(1500) if weighted else None
    parameters = {"batch_size": 400, "max_iter": 4, "reassignment_ratio": 0.3, "tol": 1e-3}

    def fit(X, n_threads=1):
        model = MiniBatchSphericalKMeans(9, random_state=5, n_threads=n_threads, **parameters)
        return state(model.fit(X, sample_weight=weights))

    expected = fit(X)
    assert fit(X, n_threads=3) == expected
    for convert in CONTAINERS.values():
        assert fit(convert(X)) == expected
    for name in _core.available():
        monkeypatch.setattr(_core, "native", _core.load(name))
        assert fit(sp.csr_array(X)) == expected


@pytest.mark.filterwarnings("ignore:.*rows are all zero", "ignore:.*only .* distinct directions")
def test_predict_gives_the_labels(case):
    model = MiniBatchSphericalKMeans(case.n_clusters, batch_size=50, max_iter=3, random_state=0)
    model.fit(case.X)
    assert np.array_equal(model.predict(case.X), model.labels_)
    assert np.array_equal(model.predict(case.X.toarray()), model.labels_)
    assert np.all(np.isfinite(model.cluster_centers_))
    assert np.allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1.0)
    model.partial_fit(case.X[:40])
    assert np.array_equal(model.predict(case.X[:40]), model.labels_)


def test_the_order_of_rows_in_a_batch_does_not_matter():
    X = clustered(400)
    shuffled = np.random.default_rng(0).permutation(400)
    init = X[:6]
    one = streamed([X[:200], X[200:]], init=init, reassignment_ratio=0.0)
    other = streamed([X[shuffled[shuffled < 200]], X[shuffled[shuffled >= 200]]], init=init)
    assert state(one)["sums"] == state(other)["sums"]


def test_a_weight_of_three_is_three_rows():
    X, times = clustered(300), np.tile([1, 3, 2], 100)
    model, repeated = (MiniBatchSphericalKMeans(6, init=X[:6]) for _ in range(2))
    for at in np.array_split(np.arange(300), 7):
        model.partial_fit(X[at], sample_weight=times[at])
        repeated.partial_fit(np.repeat(X[at], times[at], axis=0))
        assert state(model)["sums"] == state(repeated)["sums"]
        assert np.array_equal(model.counts_, repeated.counts_)


def test_a_long_stream_neither_overflows_nor_drifts(monkeypatch):
    """A scale with room for one row only: it has to be halved again and again."""
    monkeypatch.setattr(running_sums, "FIRST_ONE", 2.0**61)
    monkeypatch.setattr(running_sums, "LEAST_ONE", 2.0**52)  # from 2^9 rows on weights shrink
    rng = np.random.default_rng(0)
    X = np.eye(6, 12)[np.arange(50_000) % 6] + 0.1 * rng.standard_normal((50_000, 12))
    batches = [X[:20], *np.array_split(X[20:], 12_500)]
    model = streamed(batches, init=X[:6], reassignment_ratio=0.0)
    sums = [unit(X[j::6]).sum(axis=0) for j in range(6)]
    found = model.center_sums()
    assert model.n_steps_ == 12_501
    assert model.counts_.sum() == 50_000
    assert found.one == 2.0**52
    # Rows weigh 2^-7: 50,000 are below 2^16.
    assert 2.0**57 < np.abs(found.vectors).max() < 2.0**58
    assert np.allclose(model.cluster_centers_, unit(sums), rtol=0, atol=1e-13)


def test_sums_make_room_by_rounding_half_away_from_zero():
    X = clustered(60, k=2)
    model = streamed([X], 2, init=X[:2], reassignment_ratio=0.0)
    before = model.center_sums()
    model.partial_fit(X[1:2], sample_weight=[2.0**24])
    after = model.center_sums()
    step = round(before.one / after.one)
    assert step > 1
    light, found = (sums.vectors[[0]].toarray() for sums in (before, after))
    assert np.array_equal(found, np.sign(light) * ((np.abs(light) + step // 2) // step))


@pytest.mark.parametrize("heavy", [1.0, 2.0**20, 1e12, 1e40])
@pytest.mark.parametrize("light", [1.0, 1e-9, 1e-40])
def test_weights_of_any_size(light, heavy):
    """The direction of a light center survives heavy rows elsewhere."""
    X = clustered(60, k=2)
    model = MiniBatchSphericalKMeans(2, init=X[:2], reassignment_ratio=0.0)
    model.partial_fit(X, sample_weight=np.full(60, light))
    before = model.cluster_centers_.copy()
    model.partial_fit(X[1:2], sample_weight=[heavy])
    rounding = 1e-12 + heavy / (30 * light) * 2.0**-60  # a unit, as a share of the light sum
    assert np.allclose(model.cluster_centers_[0], before[0], rtol=0, atol=min(1e-3, rounding))
    assert np.allclose(model.counts_, [30 * light, 30 * light + heavy], rtol=1e-12, atol=0)
    assert np.allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1.0)
    if heavy / light > 1e11:
        assert np.allclose(model.cluster_centers_[1], unit(X[1:2])[0], rtol=0, atol=1e-8)


def test_seeds_count_for_nothing():
    X = np.array([[1.0, 0.1, 0.0], [0.0, 0.1, 1.0], [1.0, 0.3, 0.0]])
    init = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    model = streamed([X], 2, init=init)
    assert np.array_equal(model.counts_, [2.0, 1.0])
    mean = unit(unit(X[[0, 2]]).sum(axis=0)[None])[0]
    assert np.allclose(model.cluster_centers_, [mean, unit(X[1:2])[0]], atol=1e-12)


@pytest.mark.parametrize("pickled", [False, True])
@pytest.mark.parametrize("more", [1, 2**22])
def test_rows_that_cancel(pickled, more):
    """A sum of exactly zero has no direction: the center stays, and the next row replaces it."""
    east, north = np.array([[3.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 5.0]])
    model = streamed([east, -east], 1, init=np.array([[1.0, 1.0, 0.0]]))
    assert np.allclose(model.cluster_centers_, unit(east))
    assert model.counts_ == 2
    if pickled:
        model = pickle.loads(pickle.dumps(model))
    model.partial_fit(np.vstack([east, -east]))
    assert np.allclose(model.cluster_centers_, unit(east))
    model.partial_fit(north, sample_weight=[more])  # 2^22: with another scale
    assert np.allclose(model.cluster_centers_, unit(north))
    model.partial_fit(east, sample_weight=[more])
    assert np.allclose(model.cluster_centers_, unit(north + east * 5 / 3))


@pytest.mark.parametrize("ratio", [0.01, 0.0])
def test_starved_centers_are_reassigned(ratio):
    X = np.abs(clustered(600)) + 0.01
    init = np.vstack([X[:3], -X[:3]])  # three that no row is near to
    model = streamed([X[:200]], init=init, reassignment_ratio=ratio)
    if ratio == 0.0:
        assert np.array_equal(model.counts_ > 0, [True] * 3 + [False] * 3)
        assert np.allclose(model.cluster_centers_[3:], unit(init[3:]))
        return
    similar = unit(X[:200]) @ model.cluster_centers_[3:].T
    assert np.allclose(similar.max(axis=0), 1.0)  # they are rows of the batch now
    assert len(set(similar.argmax(axis=0))) == 3
    assert np.array_equal(model.counts_[3:], [0.0] * 3)
    model.partial_fit(X[200:400])
    assert np.all(model.counts_[3:] > 0)
    assert set(model.partial_fit(X[400:]).labels_) == set(range(6))


def test_at_most_half_of_a_batch_is_reassigned_to():
    X = np.abs(clustered(100)) + 0.01
    init = np.vstack([X[:2], -X[:40]])
    model = MiniBatchSphericalKMeans(42, init=init, random_state=0)
    model.partial_fit(X[:50])
    moved = model.cluster_centers_.min(axis=1) >= 0
    assert moved.sum() == 2 + 25


def test_reassigned_rows_are_those_far_from_their_centers():
    """Rows along their center are never drawn; the others in proportion to 1 − similarity."""
    far = [[1, 1, 0], [1, -1, 0], [1, 2, 0], [1, -2, 0]]  # the mean stays where it is
    X = np.vstack([np.tile([1.0, 0, 0], (96, 1)), far])
    near = 0
    for seed in range(300):
        model = streamed([X], 2, init=[[1.0, 0, 0], [0, 0, -1.0]], random_state=seed)
        found = np.abs(model.cluster_centers_[1, 1])
        assert found > 0.5
        near += found < 0.8
    # 1 − 0.707 against 1 − 0.447: 104 of 300 are to be expected, with a deviation of 8.
    assert 75 < near < 135


@pytest.mark.filterwarnings("ignore:.*only .* distinct directions")
def test_rows_of_one_direction_leave_nothing_to_reassign(capsys):
    model = streamed([np.ones((20, 3)), np.ones((20, 3))], 3)
    assert model.counts_.sum() == 40
    assert model.inertia_ < 1e-12
    MiniBatchSphericalKMeans(3, batch_size=20, verbose=1, random_state=0).fit(np.ones((40, 3)))
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.endswith(", 0 centers reassigned") for line in lines)


def test_fit_ends_without_improvement():
    X = clustered(3000)
    parameters = {"n_clusters": 6, "batch_size": 100, "random_state": 0}
    whole = MiniBatchSphericalKMeans(max_no_improvement=None, max_iter=20, **parameters).fit(X)
    assert whole.n_steps_ == 20 * 3000 // 100
    assert whole.n_iter_ == 20
    assert np.isclose(whole.counts_.sum(), 20 * 3000)
    early = MiniBatchSphericalKMeans(max_no_improvement=3, max_iter=20, **parameters).fit(X)
    later = MiniBatchSphericalKMeans(max_no_improvement=30, max_iter=20, **parameters).fit(X)
    assert 3 < early.n_steps_ < later.n_steps_ < whole.n_steps_
    assert early.n_iter_ == -(-early.n_steps_ * 100 // 3000)


def test_tol_ends_the_fit():
    X = clustered(3000)
    parameters = {"n_clusters": 6, "batch_size": 100, "random_state": 0}
    parameters |= {"max_no_improvement": None, "max_iter": 50}
    steps = [MiniBatchSphericalKMeans(tol=t, **parameters).fit(X).n_steps_ for t in (0, 1e-4, 1e-1)]
    assert steps[0] == 50 * 3000 // 100
    assert 1 < steps[2] < steps[1] < steps[0]


def test_stopping_is_that_of_scikit_learn():
    """The smoothed inertia and the count of batches without a gain, by hand."""
    X = clustered(1000)
    model = MiniBatchSphericalKMeans(6, batch_size=100, random_state=0, max_no_improvement=4)
    model.fit(X)
    found = []
    step = running_sums.Stream.take_batch

    def noted(self, *arguments):
        found.append(step(self, *arguments))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running_sums.Stream, "take_batch", noted)
        clone(model).fit(X)
    smoothed, least, without = None, np.inf, 0
    for one in found[1:]:
        share = 100 * 2 / 1001
        mean = one.inertia / 100
        smoothed = mean if smoothed is None else smoothed * (1 - share) + mean * share
        without = 0 if smoothed < least else without + 1
        least = min(least, smoothed)
        assert (without >= 4) == (one is found[-1])
    assert len(found) == model.n_steps_ < 1000


@pytest.mark.parametrize("seed", range(3))
def test_quality_is_near_that_of_the_full_algorithm(seed):
    rng = np.random.default_rng(seed)
    X = 3 * rng.standard_normal((15, 20))[rng.integers(15, size=8000)]
    X += rng.standard_normal(X.shape)
    init = "greedy-k-means++"
    full = SphericalKMeans(15, init=init, n_init=5, random_state=seed).fit(X)
    small = MiniBatchSphericalKMeans(15, init=init, batch_size=500, random_state=seed).fit(X)
    assert small.inertia_ < 1.03 * full.inertia_
    assert small.inertia_ == pytest.approx(-small.score(X), rel=1e-15)


@pytest.mark.parametrize(
    "init", ["random", "k-means++", "greedy-k-means++", "afk-mc2", "k-means||"]
)
def test_every_seeding(init):
    X = clustered(500)
    model = MiniBatchSphericalKMeans(6, init=init, random_state=0, init_size=100).fit(X)
    assert set(model.labels_) == set(range(6))
    streamed([X], init=init)


def test_seeds_given_by_number_by_array_or_by_a_function():
    X = clustered(300)

    def function(data, n_clusters, random_state):
        assert data is X
        return data[:n_clusters]

    models = [
        MiniBatchSphericalKMeans(6, init=init, random_state=0, n_init=1).fit(X)
        for init in (np.arange(6), X[:6], sp.csr_array(X[:6]))
    ]
    for model in models[1:]:
        assert state(model) == state(models[0])
    by_function = streamed([X], init=function)
    assert state(by_function) == state(streamed([X], init=X[:6]))


def test_a_sample_with_too_few_directions_is_not_the_last_word():
    """Nearly all rows are the same, and init_size rows of them are one direction."""
    X = np.vstack([np.tile([[1.0, 0, 0]], (2000, 1)), np.eye(3)])
    model = MiniBatchSphericalKMeans(3, init_size=3, random_state=0, n_init=1).fit(X)
    assert model.inertia_ < 1e-9


def test_partial_fit_goes_on_from_fit_and_fit_begins_anew():
    X = clustered(900)
    model = MiniBatchSphericalKMeans(6, random_state=0, batch_size=100).fit(X[:600])
    fitted, steps, counts = state(model), model.n_steps_, model.counts_
    model.partial_fit(X[600:])
    assert model.n_steps_ == steps + 1
    assert model.counts_.sum() == counts.sum() + 300
    assert len(model.labels_) == 300
    assert state(model.fit(X[:600])) == fitted


@pytest.mark.filterwarnings("ignore:.*rows are all zero")
def test_pickled_in_the_middle_of_a_stream():
    batches = np.array_split(clustered(700), 7)
    batches[2][::3] = 0.0
    straight = streamed(batches, reassignment_ratio=0.8)
    model = MiniBatchSphericalKMeans(6, random_state=0, reassignment_ratio=0.8)
    for batch in batches:
        model = pickle.loads(pickle.dumps(model.partial_fit(batch)))
    assert state(model) == state(straight)
    assert np.array_equal(model.predict(batches[1]), straight.predict(batches[1]))


def test_all_zero_rows():
    X = clustered(60)
    X[::4] = 0.0
    model = MiniBatchSphericalKMeans(3, random_state=0)
    warning = "15 of 60 rows are all zero"
    with pytest.warns(UserWarning, match=warning) as caught:
        model.fit(X)
    assert len(caught) == 1
    assert np.array_equal(model.labels_ == -1, np.arange(60) % 4 == 0)
    with pytest.warns(UserWarning, match=warning):
        model = clone(model).partial_fit(X)
    assert model.counts_.sum() == 45
    assert np.all(model.transform(X)[::4] == 1.0)
    before = model.cluster_centers_.copy()
    with pytest.warns(UserWarning, match="5 of 5 rows are all zero"):
        model.partial_fit(np.zeros((5, 12)))
    assert np.array_equal(model.labels_, [-1] * 5)
    assert np.array_equal(model.cluster_centers_, before)
    assert model.inertia_ == 0.0


def test_transform_names_and_output():
    X = clustered(200, dtype=np.float32)
    frame = pd.DataFrame(X, columns=[f"term {j}" for j in range(12)])
    model = MiniBatchSphericalKMeans(4, random_state=0).set_output(transform="pandas")
    distances = model.fit_transform(frame)
    names = [f"minibatchsphericalkmeans{j}" for j in range(4)]
    assert list(distances.columns) == list(model.get_feature_names_out()) == names
    assert list(model.feature_names_in_) == list(frame.columns)
    assert np.all(distances.dtypes == np.float32)
    expected = 1.0 - unit(X) @ model.cluster_centers_.T
    assert np.allclose(distances, expected, atol=1e-6)
    assert np.array_equal(np.argmin(distances, axis=1), model.labels_)
    assert model.score(frame, sample_weight=np.full(200, 2.0)) == pytest.approx(-2 * model.inertia_)
    assert np.array_equal(model.fit_predict(frame), model.labels_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 should be an integer >= 1."),
        ({"n_clusters": 21}, "n_samples=20 should be >= n_clusters=21."),
        ({"max_iter": 0}, "max_iter=0 should be an integer >= 1."),
        ({"batch_size": 0}, "batch_size=0 should be an integer >= 1."),
        ({"tol": -1.0}, "tol=-1.0 should be a number >= 0."),
        ({"max_no_improvement": -1}, "max_no_improvement=-1 should be an integer >= 0."),
        ({"init_size": 0}, "init_size=0 should be an integer >= 1."),
        ({"init_size": 5}, "init_size=5 should be >= n_clusters=8."),
        ({"n_init": 0}, "n_init=0 should be an integer >= 1."),
        ({"reassignment_ratio": -0.1}, "reassignment_ratio=-0.1 should be a number >= 0."),
        ({"alpha": 0.5}, "alpha=0.5 should be a number >= 1."),
        ({"n_threads": 0}, "n_threads=0 should be an integer >= 1."),
        ({"init": "randon"}, "init='randon' should be one of 'random', "),
        ({"init": np.ones((3, 12))}, "init has shape (3, 12), but n_clusters=8 centers of 12"),
        ({"init": [1, 2]}, "init names 2 rows, but n_clusters=8."),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_parameters(method, parameters, message):
    model = MiniBatchSphericalKMeans(**parameters)
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(model, method)(clustered(20))


def test_batches_that_do_not_fit():
    X = clustered(20)
    model = MiniBatchSphericalKMeans(8)
    with pytest.raises(ValueError, match="n_samples=5 should be >= n_clusters=8"):
        model.partial_fit(X[:5])
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X)
    with pytest.raises(AttributeError, match="no cluster_centers_ before it is fitted"):
        model.cluster_centers_  # noqa: B018
    before = state(model.partial_fit(X))
    with pytest.raises(ValueError, match="X has 3 features, but MiniBatchSphericalKMeans is"):
        model.partial_fit(X[:, :3])
    with pytest.raises(ValueError, match=re.escape("Found array with 0 sample(s)")):
        model.partial_fit(X[:0])
    with pytest.raises(ValueError, match=r"NaN or infinity \(first in row 0\)"):
        model.partial_fit(X * np.nan)
    with pytest.raises(ValueError, match=r"sample_weight has shape \(2,\), expected \(20,\)"):
        model.partial_fit(X, sample_weight=[1, 2])
    assert state(model) == before
    assert len(model.partial_fit(X[:5]).labels_) == 5  # later batches may be small


def test_verbose_prints_a_line_a_batch(capsys):
    model = MiniBatchSphericalKMeans(3, random_state=0, batch_size=50, verbose=1)
    model.fit(clustered(300))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == model.n_steps_
    assert lines[0].startswith("batch 1 of at most 600: mean inertia ")


@processes.needs_fork
def test_ctrl_c_leaves_the_estimator_fitted():
    ended = processes.run(interrupted_in_the_fifth_batch)
    assert ended.code == 0, ended.err


def interrupted_in_the_fifth_batch():
    steps, step = [], running_sums.Stream.take_batch

    def step_and_interrupt(self, *arguments):
        steps.append(1)
        if len(steps) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return step(self, *arguments)

    running_sums.Stream.take_batch = step_and_interrupt
    X = np.random.default_rng(0).standard_normal((20000, 60)).astype(np.float32)
    endless = {"max_iter": 10**6, "max_no_improvement": None}
    model = MiniBatchSphericalKMeans(200, **endless, random_state=0, n_threads=1)
    with pytest.warns(match="Interrupted after"), pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.n_steps_ == 5
    model.partial_fit(X[:100])


def test_an_interrupted_batch_is_taken_whole(monkeypatch):
    add = running_sums.Stream.add_rows

    def interrupted(self, *arguments):
        signal.raise_signal(signal.SIGINT)
        add(self, *arguments)

    batches = np.array_split(clustered(300), 3)
    model = streamed(batches[:2])
    with monkeypatch.context() as patch:
        patch.setattr(running_sums.Stream, "add_rows", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(batches[2])
    assert state(model) == state(streamed(batches))


def test_a_seed_keeps_its_direction_however_long_the_stream():
    X = np.abs(clustered(40)) + 0.01
    init = np.vstack([X[:1], -X[1:2]])
    model = streamed([X], 2, init=init, reassignment_ratio=0.0)
    seed = model.cluster_centers_[1].copy()
    model.partial_fit(X, sample_weight=np.full(40, 2.0**50))
    assert model.counts_[1] == 0
    assert np.allclose(model.cluster_centers_[1], seed, rtol=0, atol=1e-15)


def test_a_reassigned_center_forgets_its_rows():
    """One row of 101 is not enough: it is given up for a row of the batch, and counts anew."""
    X = np.vstack([clustered(100, k=1, seed=4), -clustered(1, k=1, seed=4)])
    model = streamed([X], 2, init=X[[0, 100]], reassignment_ratio=0.5)
    assert np.array_equal(model.counts_, [100.0, 0.0])
    found = model.cluster_centers_[1]
    assert np.isclose((unit(X) @ found).max(), 1.0)
    taken = model.predict(X) == 1
    assert taken.any()
    model.set_params(reassignment_ratio=0.0).partial_fit(X)
    assert model.counts_[1] == taken.sum()
    mean = unit(X)[taken].sum(axis=0, keepdims=True)
    assert np.allclose(model.cluster_centers_[1], unit(mean), atol=1e-12)
