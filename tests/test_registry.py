"""What every algorithm owes an engine; and that an algorithm is one record, wherever rows lie."""

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from arcmeans import RowStore, SphericalKMeans
from arcmeans._algorithms import auto, memory
from arcmeans._algorithms.options import EngineOptions
from arcmeans._algorithms.problem import Problem
from arcmeans._algorithms.registry import ALGORITHMS, registered, row_bytes
from arcmeans._engines.memory import MemoryEngine
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._run.loop import run
from arcmeans._seeding.given import given_centers

from .support.brute_force import BruteForceRecord
from .support.fits import assert_same_fit

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
    engine.release_rows()
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
                engine.release_rows()
                engine.hold_rows(unit_rows(X))
        labels[away] = np.array(passes)
    assert len(labels[True]) > 3
    assert np.array_equal(labels[True], labels[False])


# --- The records ---


def problem(n_features=10, n_clusters=100, **more):
    numbers = {"n_rows": 1000, "n_features": n_features, "n_clusters": n_clusters}
    return Problem(**{**numbers, "sparse": False, **more})


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_record_has_all_its_parts(name):
    record = ALGORITHMS[name]
    assert record.name == name
    for words in (record.keeps, record.wins):
        assert words
        assert words[0].islower()
        assert not words.endswith(".")
    assert record.takes_sparse
    assert record.takes_dense
    names = [array.name for array in record.row_state(problem())]
    assert len(set(names)) == len(names)
    assert not set(names) & {"labels", "previous_labels"}, "names of the engine's own arrays"


def test_row_state_that_is_not_the_one_asked_for():
    record, few = ALGORITHMS["hamerly"], problem()
    with pytest.raises(ValueError, match="not the row state it keeps"):
        record.make(few, [np.zeros(1000)])
    with pytest.raises(ValueError, match="not the row state it keeps: upper"):
        record.make(few, [np.zeros(1000), np.zeros(1000, np.float32)])
    with pytest.raises(ValueError, match="not the row state it keeps: lower"):
        record.make(few, [np.zeros(999), np.zeros(1000)])


@pytest.mark.parametrize("sparse", [False, True])
def test_some_record_takes_whatever_comes(sparse):
    """The first is lloyd's, which needs no room."""
    assert next(iter(ALGORITHMS.values())).auto_takes(problem(sparse=sparse)) == (0, 0)


def table():
    """The table of docs/algorithms.md: what records say, and their row state with the labels."""
    lines = [
        "| `algorithm=` | keeps between passes | wins | bytes a row, k = 20, 100, 1000 |",
        "|---|---|---|---|",
    ]
    for name, record in ALGORITHMS.items():
        sizes = [
            memory.LABELS + row_bytes(record, problem(n_clusters=k, n_rows=1, sparse=True))
            for k in (20, 100, 1000)
        ]
        numbers = f"{sizes[0]}" if len(set(sizes)) == 1 else ", ".join(map(str, sizes))
        lines.append(f"| `{name}` | {record.keeps} | {record.wins} | {numbers} |")
    return "\n".join(lines)


def test_the_table_of_the_documentation():
    page = Path(__file__).parents[1] / "docs" / "algorithms.md"
    assert table() in page.read_text(encoding="utf-8"), f"it should have\n{table()}"


# --- One more record: the grid of exactness, and all that reads records ---


@pytest.fixture
def brute_force():
    with registered(BruteForceRecord()):
        yield "brute-force"
    assert "brute-force" not in ALGORITHMS


@pytest.mark.filterwarnings("ignore:.*rows are all zero")
@pytest.mark.parametrize("empty_cluster", ["relocate", "keep"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_algorithm_is_one_record(case, dtype, empty_cluster, brute_force, tmp_path):
    X, k = case.X.astype(dtype), case.n_clusters
    options = {"n_clusters": k, "init": case.init, "empty_cluster": empty_cluster}
    lloyd = SphericalKMeans(**options, algorithm="lloyd")
    model = SphericalKMeans(**options, algorithm=brute_force)
    for rows in (X.toarray(), X):
        assert_same_fit(model.fit(rows), lloyd.fit(rows))
    store = RowStore.write(tmp_path / "rows", [X])
    for limit in (1, 1e9):
        assert_same_fit(model.set_params(memory_limit=limit).fit(store), lloyd)


def test_equal_rows_once(brute_force):
    rng = np.random.default_rng(4)
    rows = unit_rows(sp.csr_array(rng.poisson(1.0, (20, 6))[rng.integers(20, size=300)] + 0.0))
    results = []
    for options in (EngineOptions(brute_force, merge_repeats=True), EngineOptions("lloyd")):
        engine = MemoryEngine(rows, 5, options)
        results.append(run(engine, given_centers(rows, np.eye(5, 6), 1)))
    assert np.array_equal(results[0].labels, results[1].labels)
    assert results[0].objective == results[1].objective


def test_choices_and_memory_know_it(brute_force, monkeypatch):
    with pytest.raises(ValueError, match=r"algorithm='brute' should be one of .*'brute-force'"):
        SphericalKMeans(3, algorithm="brute").fit(X)
    needed = 8 * 60 + 4 * 60 + 8 * 60 * 3 + memory.CENTERS * 5 * 3
    assert memory.required(brute_force, 60, 3, 5) == needed
    monkeypatch.setattr(memory, "available", lambda: needed - 1)
    with pytest.raises(MemoryError, match="algorithm='brute-force' needs"):
        SphericalKMeans(3, algorithm=brute_force).fit(X)


def test_auto_takes_what_a_record_says():
    class Eager(BruteForceRecord):
        def auto_takes(self, problem):
            return (0, 0) if problem.n_features == 5 else None

    with registered(Eager()):
        assert auto.chosen(unit_rows(X), 3, 1).algorithm == "brute-force"
        assert auto.chosen(unit_rows(X[:, :4]), 3, 1).algorithm == "lloyd"
    assert auto.chosen(unit_rows(X), 3, 1).algorithm == "lloyd"


def test_no_two_of_one_name():
    message = "There is an algorithm 'brute-force' already"
    with (
        registered(BruteForceRecord()),
        pytest.raises(ValueError, match=message),
        registered(BruteForceRecord()),
    ):
        pass
