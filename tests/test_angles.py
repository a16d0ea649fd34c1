"""Bounds kept as angles, and the three algorithms that live by them: yinyang, exponion, shallot."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from arcmeans import SphericalKMeans, _core
from arcmeans._algorithms.options import EngineOptions
from arcmeans._centers.placing import place_rows, sums_of
from arcmeans._engines.memory import MemoryEngine
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._run.loop import run
from arcmeans._seeding.given import given_centers

from .support.angles import angles, around, chords, turn
from .support.bounds import assert_bounds_hold
from .support.cases import CASES
from .support.examples import examples
from .support.fits import assert_same_bits

ANGLE_ALGORITHMS = ("yinyang", "exponion", "shallot")
NEIGHBORS, NEIGHBORS_FEATURES = 128, 32
"""What ``cpp/core/algorithms/neighbors.hpp`` keeps of a center: up to 128 others, with copies of
them up to 32 features."""

# --- The arithmetic ---


def test_an_angle_is_rounded_outward(simd):
    @given(angles)
    @example(0.0)
    @example(np.pi)
    def check(angle):
        low, high = around(angle)
        # The test's own arccos is good to two units in the last place.
        assert _core.native.angle_at_most(low) >= np.arccos(low) * (1 - 2.0**-51)
        assert _core.native.angle_at_least(high) <= np.arccos(high) * (1 + 2.0**-51)
        assert _core.native.angle_at_most(low) <= np.arccos(low) * (1 + 2.0**-26)
        assert _core.native.angle_at_least(high) >= np.arccos(high) * (1 - 2.0**-26)

    check()


def test_the_arc_cosine_everywhere():
    """The proven relative error, over a grid that is fine where the polynomial could be off."""
    near_one = 1.0 - np.geomspace(2.0**-53, 1.0, 20_000)
    cosines = np.concatenate([np.linspace(-1.0, 1.0, 40_001), near_one, -near_one])
    native = _core.native
    most, least = (
        np.array([f(c) for c in cosines.tolist()])
        for f in (native.angle_at_most, native.angle_at_least)
    )
    true = np.arccos(cosines)
    assert np.all(least <= true * (1 + 2.0**-51))
    assert np.all(most >= true * (1 - 2.0**-51))
    assert np.all(most - least <= true * 2.0**-26)


def test_a_turn_covers_the_movement(simd):
    @given(chords)
    def check(chord):
        turned = _core.native.turn(chord)
        assert turned >= turn(chord)
        assert turned <= turn(chord) + 1e-7

    check()


def test_beyond_is_less_similar_by_twice_the_error():
    sizes = st.sampled_from([1, 3, 50, 10**4, 10**7])

    @given(angles, st.booleans(), sizes, st.floats(0.0, 3.0))
    @example(0.0, False, 1, 0.0)
    @example(1e-3, False, 3, 0.0)
    @example(np.pi / 2, False, 3, 0.0)
    @example(3.0, False, 3, 0.0)
    def check(angle, is_double, size, further):
        error = _core.native.reference_error(is_double, size)
        limit = _core.native.beyond(angle, error)
        other = limit + further
        if other > np.pi:
            return
        # cos a − cos b without cancellation
        lead = 2.0 * np.sin((angle + other) / 2) * np.sin((other - angle) / 2)
        assert lead > 2.0 * error * (1 - 1e-12)
        assert limit <= angle + np.sqrt(10.0 * error) * (1 + 1e-15)

    check()


# --- The bounds, through whole runs ---


def grouping(groups, k):
    """The group of each center."""
    return np.array([groups.group_of(j) for j in range(k)])


def check_bounds_through_a_run(rows, init, algorithm, n_groups=None, passes=12):
    centers = given_centers(rows, init, 1)
    engine = MemoryEngine(rows, len(init), EngineOptions(algorithm, n_groups=n_groups))
    for _ in range(passes):
        if engine.assign(centers).changed == 0:
            break
        assert_bounds_hold(engine, centers)
        engine.relocate(centers)
        centers.move(engine.sum_changes(), 1)


def directions(seed, n, d, spread=0.3, kinds=12):
    """Rows around a few directions."""
    rng = np.random.default_rng(seed)
    middle = rng.standard_normal((kinds, d))
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    return middle[rng.integers(kinds, size=n)] + spread * rng.standard_normal((n, d))


@pytest.mark.parametrize("n_features", [3, NEIGHBORS_FEATURES + 1])
@pytest.mark.parametrize("k", [1, 2, 17, 40, NEIGHBORS + 1, 300])
def test_lists_of_neighbors_hold_while_centers_move(k, n_features):
    """Through large and small moves, with lists found anew and lists kept."""
    X = directions(k, 1500, n_features)
    rows = unit_rows(X)
    engine = MemoryEngine(rows, k, EngineOptions("lloyd"))
    centers = given_centers(rows, X[:k], 1)
    neighbors = _core.native.CenterNeighbors(k, n_features)
    # One by one, no more than a sixteenth of all centers is worth a list.
    most = k - 1 if n_features <= NEIGHBORS_FEATURES else {300: 16}.get(k, 0)
    computed = []
    for _ in range(12):
        computed.append(neighbors.update(centers, 2))
        unit = sums_of(rows, centers).unit(np.float64)
        # The arc sine of half the chord keeps its digits at small angles.
        for a in range(0, k, 7):
            true = 2 * np.arcsin(np.minimum(1, np.linalg.norm(unit - unit[a], axis=1) / 2))
            ids = neighbors.of(a)
            assert len(set(ids)) == len(ids) == min(most, NEIGHBORS)
            true[a] = np.inf
            margin = 1e-3
            assert k == 1 or neighbors.nearest_at_most(a) >= true.min() - margin
            for m in (m for m in (0, 16, 32, 64, 128) if m < len(ids) + 16):
                rest = true.copy()
                rest[ids[:m]] = np.inf
                assert neighbors.beyond_first(a, m) <= rest.min() + margin
                if m == 0:
                    assert neighbors.beyond_first(a, 0) >= rest.min() - 0.05 or k == 1
        engine.assign(centers)
        centers.move(engine.sum_changes(), 1)
    assert computed[0] == k * (k - 1) // 2
    if k == 300 and n_features == 3:
        assert min(computed) < computed[0], "some lists should be kept"


# --- Whole runs: the bits of lloyd ---


def fit(X, init, algorithm, n_groups=None, n_threads=1, **options):
    rows = unit_rows(X)
    chosen = EngineOptions(algorithm, n_threads, 64, n_groups=n_groups)
    engine = MemoryEngine(rows, len(init), chosen)
    return run(engine, given_centers(rows, init, 1), **options)


@st.composite
def hard_directions(draw):
    """Few dimensions, many centers; rows that are equal, nearly equal, opposite or on a circle."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(20, 400)), draw(st.sampled_from([1, 2, 3, 4, 33]))
    spread = draw(st.sampled_from([1e-7, 1e-4, 0.05, 1.0]))
    X = directions(rng.integers(2**32), n, d, spread, draw(st.integers(1, 12)))
    if draw(st.booleans()):  # many times the same row
        X = X[rng.integers(0, max(1, n // 3), n)]
    if draw(st.booleans()):
        X[::2] *= -1.0
    if draw(st.booleans()):
        X = np.round(X, 1) + 1e-3
    k = draw(st.integers(1, n))
    init = X[rng.permutation(n)[:k]]
    return X.astype(draw(st.sampled_from([np.float32, np.float64]))), init


@pytest.mark.threads
def test_every_run_has_the_bits_of_lloyd(simd):
    @examples(40)
    @given(hard_directions(), st.floats(0.0, 1.0), st.sampled_from(["relocate", "keep"]))
    def check(data, share, empty_cluster):
        X, init = data
        init = init.astype(X.dtype)
        k = len(init)
        options = {"empty_cluster": empty_cluster, "max_iter": 40}
        expected = fit(X, init, "lloyd", **options)
        some = 1 + int(share * (k - 1))
        for n_groups, n_threads in ((None, 1), (1, 1), (some, 2), (k, 1)):
            result = fit(X, init, "yinyang", n_groups, n_threads, **options)
            assert_same_bits(expected, result)
        for algorithm in ("exponion", "shallot"):
            for n_threads in (1, 2):
                assert_same_bits(expected, fit(X, init, algorithm, n_threads=n_threads, **options))
        assert_same_bits(expected, fit(sp.csr_array(X), init, "exponion", **options))

    check()


@pytest.mark.parametrize("seeds", ["rows", "elsewhere", "crowded"])
@pytest.mark.parametrize("algorithm", ANGLE_ALGORITHMS)
@pytest.mark.parametrize("n_features", [3, 8, NEIGHBORS_FEATURES + 1])
def test_more_centers_than_a_list_holds(algorithm, n_features, seeds):
    """Long runs, with lists kept, found anew and too short; rows far from centers that crowd."""
    X = directions(0, 3000, n_features, spread=0.5).astype(np.float32)
    init = {
        "rows": X[:400],
        "elsewhere": np.vstack([X[:100], directions(1, 300, n_features)]),
        "crowded": np.vstack([X[:5], X[5] + directions(2, 395, n_features) / 50]),
    }[seeds].astype(np.float32)
    expected = fit(X, init, "lloyd", empty_cluster="keep")
    assert len(expected.iterations) > 8
    assert_same_bits(expected, fit(X, init, algorithm, empty_cluster="keep"))
    check_bounds_through_a_run(unit_rows(X), init, algorithm, passes=6)


def test_seeds_that_are_the_same_row():
    """All centers in one place, and rows at equal angles of many: ties to the lowest index."""
    X = np.vstack([np.eye(3), -np.eye(3)] * 50)
    init = np.vstack([np.ones((9, 3)), X[:6], X[:6]])
    expected = fit(X, init, "lloyd", empty_cluster="keep")
    for algorithm in ANGLE_ALGORITHMS:
        for n_groups in (None, 1, 5, len(init)):
            assert_same_bits(expected, fit(X, init, algorithm, n_groups, empty_cluster="keep"))


# --- What they save ---


@pytest.fixture(scope="module")
def normals():
    X = directions(5, 6000, 3, spread=0.2)
    return X, X[:200]


def trace(data, algorithm, **options):
    X, init = data
    model = SphericalKMeans(len(init), init=init, algorithm=algorithm, n_threads=1, **options)
    return model.fit(X).trace_


def test_groups_span_hamerly_to_elkan(normals):
    """More groups compute fewer similarities; one group is a Hamerly, k groups an Elkan."""
    computed = [
        trace(normals, "yinyang", n_groups=g)["similarities"].sum() for g in (1, 20, 80, 200)
    ]
    assert computed == sorted(computed, reverse=True)
    assert computed[0] <= 1.02 * trace(normals, "simplified-hamerly")["similarities"].sum()
    assert computed[-1] <= 1.3 * trace(normals, "simplified-elkan")["similarities"].sum()


def test_few_similarities_in_few_dimensions(normals):
    for algorithm in ("exponion", "shallot"):
        later = trace(normals, algorithm)[1:]
        assert later["similarities"].mean() < 6000 * 200 / 10
        assert later["skipped_by_centers"].mean() > 6000 / 4
    exponion, shallot = (trace(normals, a)["similarities"].sum() for a in ("exponion", "shallot"))
    assert shallot < exponion


def test_tests_by_centers_never_fire_on_text():
    case = CASES["text"]()
    for algorithm in ("exponion", "shallot"):
        model = SphericalKMeans(33, init=case.init, algorithm=algorithm)
        with pytest.warns(UserWarning, match="rows are all zero"):
            model.fit(case.X)
        # Docstrings that are there many times over are all there is to it.
        assert model.trace_["skipped_by_centers"].max() < len(model.labels_) / 100


def test_counts_of_the_grouping(normals):
    first = trace(normals, "yinyang")["center_similarities"]
    assert 200 * 10 <= first[0] <= 5 * 200 * 10
    assert np.all(first[1:] == 0)
    assert np.all(trace(normals, "yinyang", n_groups=200)["center_similarities"] == 0)


def test_grouping_is_deterministic_and_groups_what_is_similar(normals):
    X, init = normals
    rows = unit_rows(X)
    found = []
    for n_threads in (1, 3):
        engine = MemoryEngine(rows, 200, EngineOptions("yinyang", n_threads, n_groups=20))
        work = engine.assign(place_rows(rows, unit_rows(init)))
        found.append(grouping(engine.algorithm.groups, 200))
        assert work.center_similarities >= 200 * 20
    first, again = found
    assert np.array_equal(first, again)
    unit = init / np.linalg.norm(init, axis=1, keepdims=True)
    within = np.mean([(unit[first == g] @ unit[first == g].T).mean() for g in set(first)])
    assert within > (unit @ unit.T).mean() + 0.3


def test_groups_that_are_not(normals):
    with pytest.raises(ValueError, match="a center is in a group that is not"):
        _core.native.CenterGroups(np.array([0, 2], np.int32), 2, 3)
