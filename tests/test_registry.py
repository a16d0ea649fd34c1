"""What every algorithm owes an engine, whatever it keeps of the rows."""

import gc
import weakref

import numpy as np
import pytest

from arcmeans._algorithms.options import EngineOptions
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._engines.memory import MemoryEngine
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._seeding.given import given_centers

X = np.random.default_rng(0).random((60, 5))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_detached_engine_lets_go_of_its_rows(algorithm):
    """Dask spills a part only if nothing refers to its rows."""
    rows = unit_rows(X)
    alive = weakref.ref(rows.values)
    centers = given_centers(rows, X[:4], 1)
    engine = MemoryEngine(rows, 4, EngineOptions(algorithm))
    for _ in range(2):
        engine.assign(centers)
        engine.move(centers, engine.sum_changes())
    engine.detach()
    del rows
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_engine_goes_on_after_its_rows_were_away(algorithm):
    labels = {}
    for away in (False, True):
        rows = unit_rows(X)
        centers = given_centers(rows, X[:4], 1)
        engine = MemoryEngine(rows, 4, EngineOptions(algorithm))
        passes = [engine.labels.copy()]
        while engine.assign(centers).changed:
            passes.append(engine.labels.copy())
            engine.move(centers, engine.sum_changes())
            if away:
                engine.detach()
                engine.attach(unit_rows(X))
        labels[away] = np.array(passes)
    assert len(labels[True]) > 3
    assert np.array_equal(labels[True], labels[False])
