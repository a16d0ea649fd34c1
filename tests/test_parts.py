"""What parts of the rows add up to is what all rows give."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcmeans import _core
from arcmeans._algorithms.options import EngineOptions
from arcmeans._centers.placing import place_rows
from arcmeans._centers.wire import centers_from, changes_from_arrays, changes_to_arrays, snapshot_of
from arcmeans._engines.equal_rows import EqualRowsEngine
from arcmeans._engines.places import MemoryPlace
from arcmeans._rows.blocks import summarize
from arcmeans._rows.census import census_of, exact_sum, weigh
from arcmeans._rows.rows import concatenated
from arcmeans._rows.unit_rows import rows_of_part, unit_rows

from .support.rows import text_like

FINITE = st.floats(-1e300, 1e300, allow_nan=False)


@given(st.lists(FINITE, max_size=40))
def test_a_sum_without_rounding(values):
    total = exact_sum(np.array(values, np.float64))
    assert total == sum(map(Fraction, values), Fraction(0))
    assert float(total) == math.fsum(values)


@given(st.lists(st.floats(0, 1e9), min_size=2, max_size=30), st.integers(1, 29))
def test_weights_in_parts(weights, at):
    weights = np.array(weights)
    whole, parts = weigh(weights), weigh(weights[:at]) + weigh(weights[at:])
    assert whole == parts
    assert weigh(7) == weigh(np.ones(7))


def collected(rows, previous, labels, k):
    changes = _core.native.SumChanges(k)
    changes.collect(rows.native(), previous, labels, 1)
    return changes


def entries(changes, k):
    found = changes_to_arrays(changes, k)
    return [a.tolist() for a in (found.rows, found.touched, found.starts, found.features)] + [
        found.values.tolist()
    ]


@pytest.mark.parametrize("dense", [False, True])
def test_changes_of_parts_add_up(dense):
    X, k, rng = text_like(), 5, np.random.default_rng(0)
    rows = unit_rows(X.toarray() if dense else X)
    previous, labels = rng.integers(-1, k, (2, 300)).astype(np.int32)
    labels[:290] = np.where(rng.random(290) < 0.8, previous[:290], labels[:290])
    whole = entries(collected(rows, previous, labels, k), k)
    total, streamed = _core.native.SumChanges(k), _core.native.SumChanges(k)
    for here in (slice(0, 120), slice(120, 120), slice(120, 300)):
        part = rows_of_part(rows_of(X, here, dense), census_like(rows), None, 1)
        changes = collected(part, previous[here], labels[here], k)
        entries_of = vars(changes_to_arrays(changes, k)).values()
        total.add(*entries_of, n_features=rows.n_features, n_threads=2)
        streamed.collect(part.native(), previous[here], labels[here], 2, add=here.start > 0)
    assert entries(total, k) == whole
    assert entries(streamed, k) == whole
    assert entries(changes_from_arrays(changes_to_arrays(total, k), rows.n_features), k) == whole


def rows_of(X, here, dense):
    return X[here].toarray() if dense else X[here]


def census_like(rows):
    from arcmeans._rows.census import Census

    return Census(
        n_rows=rows.n_rows,
        n_features=rows.n_features,
        dtype=rows.dtype,
        n_zero=rows.n_zero,
        n_usable=rows.n_usable,
        total_weight=rows.total_weight,
        weighted=rows.weights is not None,
        weight_scale=rows.weight_scale,
        one=rows.one,
        by_rank=rows.by_rank,
        frequent=rows.frequent,
    )


def test_centers_go_on_from_a_snapshot():
    """Sums, centers without rows, and rows that cancel each other: all move on alike."""
    X = np.vstack([np.eye(4), -np.eye(4)[:1], np.random.default_rng(0).random((20, 4))])
    rows = unit_rows(X)
    centers = place_rows(rows, rows, np.array([0, 1, 2, 3]))
    first = np.full(25, 1, np.int32)
    first[[0, 4]] = 0  # they cancel: the center stays, with rows
    first[2] = 2
    none = np.full(25, -1, np.int32)
    centers.move(collected(rows, none, first, 4), 1)
    copy = centers_from(snapshot_of(centers), rows)
    assert snapshot_of(centers).detached.tolist() == [1, 0, 0, 1]
    then = first.copy()
    then[[2, 7, 8, 9]] = [1, 0, 3, 3]
    for moved in (centers, copy):
        moved.move(collected(rows, first, then, 4), 1)
    a, b = snapshot_of(centers), snapshot_of(copy)
    for name in ("starts", "features", "values", "counts", "detached"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert np.array_equal(centers.scales, copy.scales)
    assert np.array_equal(centers.chords, copy.chords)
    assert centers.objective(None) == copy.objective(None)


def test_a_hash_of_labels_adds_up():
    labels = np.random.default_rng(0).integers(-1, 9, 100).astype(np.int32)
    parts = [_core.native.hash_labels(labels[a:b], a) for a, b in ((0, 30), (30, 30), (30, 100))]
    assert (sum(parts) - _core.native.hash_labels(labels, 0)) % 2**64 == 0
    assert _core.native.hash_labels(labels, 1) != _core.native.hash_labels(labels, 0)


def test_rows_one_after_another():
    X = text_like()
    rows = unit_rows(X)
    pieces = [
        rows_of_part(X[a:b], census_like(rows), None, 1) for a, b in ((0, 9), (9, 9), (9, 300))
    ]
    joined = concatenated(pieces)
    for name in ("values", "zero", "starts", "features"):
        assert np.array_equal(getattr(joined, name), getattr(rows, name))


def test_census_of_parts():
    X = text_like()
    whole = unit_rows(X)
    census = census_of([summarize(X[a:b], None) for a, b in ((0, 9), (9, 9), (9, 300))])
    assert np.array_equal(census.by_rank, whole.by_rank)
    assert np.array_equal(census.rank, whole.rank)
    assert (census.one, census.total_weight) == (whole.one, whole.total_weight)


@pytest.mark.parametrize("merged", [False, True])
def test_an_engine_takes_up_labels(merged):
    X = text_like()
    if merged:
        X = X[np.arange(300) % 100]
    rows = unit_rows(X)
    options = EngineOptions(merge_repeats=merged)
    engine = MemoryPlace(rows, 1).engine(4, options)
    assert isinstance(engine, EqualRowsEngine) == merged
    before = np.random.default_rng(0).integers(0, 4, 300).astype(np.int32)
    sums = engine.resume_after(before)
    none = np.full(300, -1, np.int32)
    assert entries(sums, 4) == entries(collected(rows, none, before, 4), 4)
    centers = place_rows(rows, rows, np.arange(4))
    work = engine.assign(centers)
    assert np.array_equal(engine.previous_labels, before)
    assert work.changed == np.count_nonzero(engine.labels != before)
    changes = collected(rows, before, engine.labels, 4)
    assert entries(engine.sum_changes(), 4) == entries(changes, 4)
    centers.move(engine.sum_changes(), 1)
    first = engine.labels.copy()
    engine.assign(centers)
    assert np.array_equal(engine.previous_labels, first)
    assert entries(engine.sum_changes(), 4) == entries(collected(rows, first, engine.labels, 4), 4)
