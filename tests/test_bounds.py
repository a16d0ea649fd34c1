"""Bounds are never violated: over all angles, in the worst position, rounding included."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arcmeans import _core
from arcmeans._algorithms.options import EngineOptions
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._engines.memory import MemoryEngine
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._seeding.given import given_centers

from .support.angles import angles, around, chords, turn
from .support.bounds import assert_bounds_hold

# Where an angle becomes a cosine in the test itself, the last bits are the test's own.
SLACK = 4e-16

similarities = angles.map(lambda a: float(np.cos(a)))


def test_a_row_in_the_worst_place_never_beats_the_bounds(simd):
    @given(angles, chords)
    @example(0.1, 2.0 * np.sin(0.2))  # the center moves past the row: only 1 is a bound
    @example(np.pi - 0.05, 1.0)  # the angles add up to more than π: only −1 is one
    def check(angle, chord):
        core = _core.native
        low, high = around(angle)
        nearest = max(0.0, angle - turn(chord))
        farthest = min(np.pi, angle + turn(chord))
        assert core.upper_after(high, chord) >= np.cos(nearest) - SLACK
        assert core.lower_after(low, chord) <= np.cos(farthest) + SLACK
        stored = np.array([high], np.float32)
        if float(stored[0]) < high:
            stored = np.nextafter(stored, np.float32(2.0))
        core.uppers_after(stored, np.array([chord]))
        assert float(stored[0]) >= np.cos(nearest) - SLACK

    check()


def test_bounds_are_tight(simd):
    @given(angles, chords)
    def check(angle, chord):
        similarity = float(np.cos(angle))
        upper = _core.native.upper_after(similarity, chord)
        # Near a similarity of 1 a last bit of it is a large angle: 2⁻²⁵ of slack in the angle.
        nearest = max(0.0, angle - turn(chord) - 1e-7)
        assert upper <= np.cos(nearest) + 1e-7
        lower = _core.native.lower_after(similarity, chord)
        assert lower >= np.cos(min(np.pi, angle + turn(chord) + 1e-7)) - 1e-7

    check()


def test_hamerly_updates_cover_every_center():
    @given(
        angles, st.lists(chords, min_size=1, max_size=4), st.sampled_from(["tight", "eq8", "eq9"])
    )
    @example(1.6, [0.3, 0.1], "eq9")  # a negative bound
    @example(0.1, [0.5, 0.4], "eq8")  # all centers moved further than the bound's angle
    def check(angle, moves, update):
        core = _core.native
        upper = core.hamerly_upper_after(
            around(angle)[1], max(moves), min(moves), getattr(core.HamerlyUpdate, update)
        )
        for chord in moves:
            assert upper >= np.cos(max(0.0, angle - turn(chord))) - SLACK

    check()


def test_the_tight_update_is_the_tightest():
    @given(similarities, chords, chords)
    def check(similarity, a, b):
        core = _core.native
        tight, eq8, eq9 = (
            core.hamerly_upper_after(similarity, max(a, b), min(a, b), update)
            for update in (
                core.HamerlyUpdate.tight,
                core.HamerlyUpdate.eq8,
                core.HamerlyUpdate.eq9,
            )
        )
        assert tight <= eq8 <= eq9

    check()


def test_bounds_stay_bounds_over_many_moves():
    @given(st.integers(0, 2**32 - 1), st.floats(1e-9, 1.0), st.integers(2, 6))
    def check(seed, size, dimensions):
        core = _core.native
        rng = np.random.default_rng(seed)
        row, center = (v / np.linalg.norm(v) for v in rng.standard_normal((2, dimensions)))
        lower = upper = float(row @ center)
        stored = np.array([np.nextafter(np.float32(upper), np.float32(2))])
        for _ in range(30):
            moved = center + size * rng.standard_normal(dimensions)
            moved /= np.linalg.norm(moved)
            chord = float(np.linalg.norm(moved - center))
            center = moved
            lower = core.lower_after(lower, chord)
            upper = core.upper_after(upper, chord)
            core.uppers_after(stored, np.array([chord]))
            assert lower - 1e-14 <= row @ center <= upper + 1e-14
            assert row @ center <= float(stored[0]) + 1e-14

    check()


def test_half_the_angle_separates():
    @given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.floats(0.0, 1.0))
    def check(seed, dimensions, spread):
        rng = np.random.default_rng(seed)
        own, other, row = rng.standard_normal((3, dimensions))
        row = own + spread * row
        own, other, row = (v / np.linalg.norm(v) for v in (own, other, row))
        if _core.native.half_angle(float(own @ other)) <= row @ own:
            assert row @ other <= row @ own + 1e-15

    check()


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "yinyang 1", "yinyang 4", "yinyang k"])
@pytest.mark.parametrize(("dtype", "dense"), [(np.float32, True), (np.float64, False)])
def test_bounds_hold_through_whole_runs(case, dtype, dense, algorithm, simd):
    """After every pass, for every row, relocated ones included."""
    X, k = case.X.astype(dtype), case.n_clusters
    name, _, groups = algorithm.partition(" ")
    n_groups = {"": None, "1": 1, "4": min(4, k), "k": k}[groups]
    rows = unit_rows(X.toarray() if dense else X)
    centers = given_centers(rows, case.init.astype(dtype), 1)
    engine = MemoryEngine(rows, k, EngineOptions(name, n_groups=n_groups))
    for _ in range(12):
        if engine.assign(centers).changed == 0:
            break
        assert_bounds_hold(engine, centers)
        engine.relocate(centers)
        centers.move(engine.sum_changes(), 1)


def test_a_center_that_kept_its_rows_costs_nothing():
    """Movement zero is known from membership; the stored bounds then keep every bit."""
    rng = np.random.default_rng(0)
    near, far = rng.random((2, 30, 4))
    X = np.hstack([np.vstack([near, 0 * far]), np.vstack([0 * near, far])])
    rows = unit_rows(X)
    engine = MemoryEngine(rows, 2, EngineOptions("simplified-elkan"))
    centers = given_centers(rows, X[[0, 40]], 1)
    for _ in range(2):
        engine.assign(centers)
        centers.move(engine.sum_changes(), 1)
    before = engine.state["uppers"].copy()
    engine.assign(centers)
    assert np.array_equal(before, engine.state["uppers"])
    assert np.all(centers.chords == 0)
