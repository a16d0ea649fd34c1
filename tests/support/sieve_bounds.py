"""What the sieve keeps of rows, held against the integers after every pass."""

import numpy as np

from arcmeans import _core
from arcmeans._algorithms.options import EngineOptions
from arcmeans._centers.placing import place_rows
from arcmeans._engines.memory import MemoryEngine

from .rows import full, products

UNIT = 8192
FINE = 256
ROW = 32767.0
LINE = 32


def errors_of(rows, centers):
    """For each row: the filter's error line by line, and the reference's."""
    if rows.starts is None:
        sizes, rare = np.full(rows.n_rows, rows.n_features), np.zeros(rows.n_rows, int)
    else:
        sizes = np.diff(rows.starts)
        which = np.repeat(np.arange(rows.n_rows), sizes)
        rare = np.bincount(which[rows.features >= centers.n_frequent], minlength=rows.n_rows)
    native, double = _core.native, rows.dtype == np.float64
    exact = full(rows)[:, : centers.n_frequent].astype(np.float64) * ROW
    rounded = np.rint(exact)
    missed = ((exact - rounded) ** 2).sum(axis=1) / ROW**2
    own = [native.row_filter_error(m, int(r)) for m, r in zip(missed, rare, strict=True)]
    lengths = centers.line_lengths
    shortest = [lengths[first : first + LINE].min() for first in range(0, len(lengths), LINE)]
    spread = np.abs(rounded).sum(axis=1) / ROW
    filters = np.add.outer(own, np.zeros(len(shortest)))
    filters += np.outer(spread, [native.center_filter_error(length) for length in shortest])
    return filters, np.array([native.reference_error(double, int(s)) for s in sizes])


def now(stored, risen):
    """Bounds as the core reads them: sums that wrap to 16 bits."""
    units = np.ceil(risen * UNIT * (1 + 2.0**-40)).astype(np.int64)
    return (stored.astype(np.int64) + units + 2**15) % 2**16 - 2**15


def lower_now(engine, rows, labels):
    """Lower bounds as the core reads them, but for the rounding to whole units."""
    falls = engine.algorithm.aging.falls * FINE * UNIT * (1 + 2.0**-40)
    lower = engine.state["lower"][rows] - np.ceil(falls).astype(np.int64)[labels]
    return lower.astype(np.int32).astype(np.longdouble) / (FINE * UNIT)


def assert_bounds_hold(engine, centers, values, tight=False):
    """With the margin that makes them bounds on sim64 too."""
    rows, k = engine.rows, engine.n_clusters
    here = np.flatnonzero(rows.zero == 0)
    true = products(values[here], centers, k)
    label = engine.labels[here]
    each = np.arange(len(here))
    filters, margin = (e[here] for e in errors_of(rows, centers))
    own = true[each, label]
    assert np.all(np.maximum(lower_now(engine, here, label), -2) <= own - 2 * margin)
    groups = _core.native.LineGroups(k, rows.starts is None)
    assert_groups_bounded(groups, engine, here, true, label, margin, filters if tight else None)


def assert_groups_bounded(groups, engine, here, true, label, margin, filters):
    """A bound for each group of centers, without the own."""
    each = np.arange(len(here))
    aging = engine.algorithm.aging
    of = np.array([groups.of(slot) for slot in aging.slots])
    stored = engine.state["uppers"][here, : groups.count]
    uppers = now(stored, np.asarray(aging.rises)) / UNIT
    true[each, label] = -2
    for group in np.unique(of):
        members = np.flatnonzero(of == group)
        highest = true[:, members].max(axis=1) + 2 * margin
        others = highest > -1.5
        slack = (uppers[:, group] - highest)[others]
        assert np.all(slack >= 0)
        if filters is not None:  # all of them have just been found
            error = filters[others][:, members[0] // LINE] + 2 * margin[others]
            assert np.all(slack <= 2 * error + 3.1 / UNIT)


def check_run(rows, which, passes=12, **options):
    """Bounds and labels after every pass of a run that begins at some of the rows."""
    k = len(which)
    centers = place_rows(rows, rows, which)
    reference = place_rows(rows, rows, which)
    engine = MemoryEngine(rows, k, EngineOptions("sieve", **options))
    lloyd = MemoryEngine(rows, k, EngineOptions("lloyd"))
    values = full(rows)
    for number in range(passes):
        work = engine.assign(centers)
        assert work.changed == lloyd.assign(reference).changed
        assert np.array_equal(engine.labels, lloyd.labels)
        if "uppers" in engine.state:
            assert_bounds_hold(engine, centers, values, tight=number == 0)
        if work.changed == 0:
            break
        assert engine.relocate(centers) == lloyd.relocate(reference)
        centers.move(engine.sum_changes(), options.get("n_threads", 1))
        reference.move(lloyd.sum_changes(), 1)
