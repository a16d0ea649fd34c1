"""Rows on disk: written whole or not at all, and clustered to the same bits as in memory."""

import itertools
import json
import os
import pickle
import signal
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from arcmeans import RowStore, SphericalKMeans, seed
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._rows.store_header import HEADER
from arcmeans._seeding.methods import METHODS

from .support import processes
from .support.cases import CASES, sieve_bytes
from .support.fits import BreakError, assert_same_fit, break_at
from .support.marks import measures_memory
from .support.rows import text_like, with_zero_rows

pytestmark = pytest.mark.filterwarnings("ignore:.*rows are all zero")
TINY = 4000
"""A limit in bytes that makes many chunks, and has labels and bounds in mapped files."""


def batches(X, *ends):
    """X in pieces, an empty one among them."""
    return [X[a:b] for a, b in itertools.pairwise([0, *ends, *ends[-1:], X.shape[0]])]


def stored(path, X, *ends):
    return RowStore.write(path / "rows", batches(X, *(ends or (X.shape[0] // 3,))))


class TestStore:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("dense", [False, True])
    def test_gives_back_what_was_written(self, tmp_path, dtype, dense):
        X = CASES["text"]().X.astype(dtype)
        X.sort_indices()
        X = X.toarray() if dense else X
        store = stored(tmp_path, X, 1, 700, 701)
        assert store.shape == X.shape
        assert store.dtype == dtype
        assert len(store) == X.shape[0]
        assert store.sparse is not dense
        found = store[3:1200]
        assert found.dtype == dtype
        assert np.array_equal(
            found if dense else found.toarray(), X[3:1200] if dense else X[3:1200].toarray()
        )
        assert store[5:5].shape == (0, X.shape[1])
        again = pickle.loads(pickle.dumps(store))
        assert again.shape == store.shape
        assert np.array_equal(
            np.load(tmp_path / "rows" / ("values.npy" if dense else "data.npy")),
            X if dense else X.data,
        )

    def test_rows_are_stored_in_canonical_form(self, tmp_path):
        indptr, indices = np.array([0, 3, 4, 6]), np.array([2, 0, 2, 1, 3, 1])
        data = np.array([1.0, 2.0, 3.0, 0.0, 4.0, 5.0])
        X = sp.csr_array((data, indices, indptr), shape=(3, 4))
        store = RowStore.write(tmp_path / "rows", [X])
        assert np.array_equal(store[:].toarray(), X.toarray())
        assert store[:].indices.tolist() == [0, 2, 1, 3]
        assert store.nnz == 4
        assert np.load(store.path / "frequency.npy").tolist() == [1, 1, 1, 1]
        assert X.nnz == 6  # not the caller's

    def test_other_types_of_batches(self, tmp_path):
        rng = np.random.default_rng(0)
        X = sp.random_array((40, 7), density=0.4, random_state=rng, format="csr")
        kinds = [sp.csc_matrix(X), sp.coo_array(X), X.astype(int).astype(float)]
        store = RowStore.write(tmp_path / "sparse", iter(kinds))
        assert np.array_equal(store[40:80].toarray(), X.toarray())
        store = RowStore.write(tmp_path / "other order", [X.toarray().astype(">f8")])
        assert np.array_equal(store[:], X.toarray())
        store = RowStore.write(tmp_path / "half", [X.toarray().astype(np.float16)])
        assert store.dtype == np.float32
        store = RowStore.write(tmp_path / "whole", ([[1, 2], [3, 4]] for _ in range(2)))
        assert store.dtype == np.float64
        assert store[:].tolist() == [[1, 2], [3, 4], [1, 2], [3, 4]]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ([np.eye(3), np.eye(4)], "batch 1 has 4 features, but those before it have 3"),
            ([np.eye(3), sp.eye_array(3)], "batch 1 is sparse, but those before it are dense"),
            ([np.eye(3), np.eye(3, dtype=np.float32)], "batch 1 has dtype float32, but .* float64"),
            (
                [np.eye(3), [[1, np.nan, 2]]],
                r"batch 1 contains NaN .*its row 0, row 3 of the store",
            ),
            ([sp.csr_array(np.array([[1.0], [np.inf]]))], "batch 0 contains NaN .*its row 1"),
            ([], "batches has no rows"),
            ([np.empty((0, 3))], "batches has no rows"),
            (np.eye(3), "batches is a single ndarray; it should be an iterable"),
            ([np.ma.masked_equal(np.eye(3), 1)], "batch 0 is a masked array"),
            ([np.eye(3), "text"], "Expected 2D array|could not convert"),
        ],
    )
    def test_what_cannot_be_written_leaves_nothing(self, tmp_path, given, message):
        with pytest.raises((ValueError, TypeError), match=message):
            RowStore.write(tmp_path / "rows", given)
        assert list(tmp_path.iterdir()) == []

    def test_a_broken_write_leaves_nothing(self, tmp_path):
        def broken():
            yield np.eye(3)
            assert len(list(tmp_path.iterdir())) == 1
            raise BreakError

        with pytest.raises(BreakError):
            RowStore.write(tmp_path / "rows", broken())
        assert list(tmp_path.iterdir()) == []

    @processes.needs_fork
    def test_a_killed_write_leaves_no_store(self, tmp_path):
        def batches():
            yield np.eye(3)
            processes.kill_me()

        ended = processes.run(RowStore.write, tmp_path / "rows", batches())
        assert ended.code == -signal.SIGKILL, ended.err
        (left,) = tmp_path.iterdir()
        with pytest.raises(ValueError, match=f"is not a row store: it has no {HEADER}"):
            RowStore.open(left)
        assert RowStore.write(tmp_path / "rows", [np.eye(3)]).shape == (3, 3)

    def test_what_is_there_is_not_overwritten(self, tmp_path):
        RowStore.write(tmp_path / "rows", [np.eye(3)])
        with pytest.raises(FileExistsError, match="rows' exists already"):
            RowStore.write(tmp_path / "rows", [np.eye(4)])
        assert RowStore.open(tmp_path / "rows").shape == (3, 3)
        with pytest.raises(FileNotFoundError, match="should lie in a folder that exists"):
            RowStore.write(tmp_path / "no" / "rows", [np.eye(4)])

    def test_folders_that_are_no_store(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="does not exist; a row store is a folder"):
            RowStore.open(tmp_path / "rows")
        with pytest.raises(ValueError, match="is not a row store"):
            RowStore.open(tmp_path)
        (tmp_path / "file").write_text("x")
        with pytest.raises(FileNotFoundError, match="is no folder"):
            RowStore.open(tmp_path / "file")

    @pytest.mark.parametrize("name", ["indptr", "indices", "data", "frequency"])
    @pytest.mark.parametrize("by", [-1, -7, 8])
    def test_truncated_files(self, tmp_path, name, by):
        store = stored(tmp_path, text_like())
        file = store.path / f"{name}.npy"
        os.truncate(file, file.stat().st_size + by)
        with pytest.raises(ValueError, match=rf"damaged .*{name}.npy has \d+ bytes of data, not"):
            RowStore.open(store.path)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"format": 2}, "not of format 1"),
            ({"n_rows": 299}, r"indptr.npy holds int64 of shape \(301,\), not int64 of shape"),
            ({"n_rows": -1}, "n_rows=-1"),
            ({"n_entries": "many"}, "n_entries='many'"),
            ({"dtype": "float32"}, "data.npy holds float64"),
            ({"dtype": "object"}, "dtype 'object'"),
            ({"kind": "dense"}, "values.npy"),
            ({"extra": 1}, "extra"),
        ],
    )
    def test_other_headers(self, tmp_path, change, message):
        store = stored(tmp_path, text_like())
        header = json.loads((store.path / HEADER).read_text())
        (store.path / HEADER).write_text(json.dumps(header | change))
        with pytest.raises(ValueError, match=f"(?s)is damaged or no row store.*{message}"):
            RowStore.open(store.path)

    @pytest.mark.parametrize("name", ["indptr", "indices", "data"])
    def test_files_with_other_content(self, tmp_path, name):
        """Nothing is read outside the arrays, whatever the numbers in the files."""
        store = stored(tmp_path, text_like())
        array = np.load(store.path / f"{name}.npy", mmap_mode="r+")
        array[7] = np.nan if name == "data" else 10**9
        array.flush()
        store = RowStore.open(store.path)
        with pytest.raises(ValueError, match=rf"is damaged: .*{name}.npy"):
            SphericalKMeans(3, random_state=0, memory_limit=TINY).fit(store)

    def test_slices_only(self, tmp_path):
        store = stored(tmp_path, text_like())
        with pytest.raises(TypeError, match="rows=3 should be a slice"):
            store[3]
        with pytest.raises(ValueError, match="step=2"):
            store[::2]
        assert "300 x 150" in repr(store)


class TestFit:
    @pytest.mark.parametrize("empty_cluster", ["relocate", "keep"])
    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_the_same_bits(self, case, algorithm, empty_cluster, tmp_path):
        options = {"n_clusters": case.n_clusters, "init": case.init, "algorithm": algorithm}
        options |= {"empty_cluster": empty_cluster}
        for X in (case.X, case.X.toarray()):
            local = SphericalKMeans(**options).fit(X)
            store = RowStore.write(tmp_path / f"{type(X).__name__}", [X])
            for limit in (4 * X.size, None):  # some ten chunks, and one
                assert_same_fit(SphericalKMeans(**options, memory_limit=limit).fit(store), local)

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("weights", [None, "whole", "real"])
    def test_the_same_seeds(self, method, weights, tmp_path):
        algorithms = tuple(ALGORITHMS)[[None, "whole", "real"].index(weights) :: 3]  # each once
        X = with_zero_rows(text_like(), 4, 250)
        if weights is not None:
            rng = np.random.default_rng(0)
            weights = rng.integers(0, 4, 300) if weights == "whole" else rng.random(300)
        for rows in (X, X.toarray().astype(np.float32)):
            store = RowStore.write(tmp_path / f"{type(rows).__name__}", batches(rows, 100))
            options = {"method": method, "sample_weight": weights, "random_state": 5}
            local = seed(rows, 12, **options)
            found = seed(store, 12, **options)
            assert np.array_equal(found.indices, local.indices)
            assert np.array_equal(found.centers, local.centers)
            for name in ("labels", "max_similarity", "second_similarity"):
                assert np.array_equal(getattr(found, name), getattr(local, name))
            options = {"n_clusters": 12, "init": method, "random_state": 5}
            local = SphericalKMeans(**options).fit(rows, sample_weight=weights)
            for algorithm in algorithms:
                model = SphericalKMeans(**options, algorithm=algorithm, memory_limit=4 * rows.size)
                assert_same_fit(model.fit(store, sample_weight=weights), local)

    def test_repeated_directions_and_runs(self, tmp_path):
        rng = np.random.default_rng(0)
        X = rng.random((7, 4))[rng.integers(7, size=90)]
        store = stored(tmp_path, X)
        for init in METHODS:
            options = {"n_clusters": 6, "init": init, "n_init": 3, "random_state": 1}
            local = SphericalKMeans(**options).fit(X)
            assert_same_fit(SphericalKMeans(**options, memory_limit=900).fit(store), local)

    def test_init_as_given(self, tmp_path):
        X = text_like()
        store = stored(tmp_path, X)
        for init in (
            np.arange(7, 12),
            X[:5].toarray(),
            X[:5],
            lambda X, n_clusters, random_state: [3, 1, 4, 15, 9],
        ):
            local = SphericalKMeans(5, init=init).fit(X)
            assert_same_fit(SphericalKMeans(5, init=init, memory_limit=TINY).fit(store), local)
        store = RowStore.write(tmp_path / "zero", [with_zero_rows(X, 9)])
        with pytest.raises(ValueError, match="init names row 9, which is all zero"):
            SphericalKMeans(5, init=np.arange(7, 12)).fit(store)

    @pytest.mark.parametrize("dense", [False, True])
    def test_predict_transform_and_score(self, tmp_path, dense):
        X = CASES["clustered"]().X
        X = X.toarray() if dense else X
        store = stored(tmp_path, X)
        weights = np.random.default_rng(0).random(X.shape[0])
        local = SphericalKMeans(9, random_state=0).fit(X)
        model = SphericalKMeans(9, random_state=0, memory_limit=4 * X.size).fit(store)
        assert np.array_equal(model.predict(store), local.labels_)
        assert np.array_equal(model.predict(X), local.labels_)
        assert np.array_equal(model.transform(store), local.transform(X))
        assert model.score(store, sample_weight=weights) == local.score(X, sample_weight=weights)
        assert np.array_equal(model.fit_predict(store), local.labels_)
        assert np.array_equal(model.fit_transform(store), local.transform(X))
        model.set_params(warm_start=True, n_clusters=9).fit(store)
        assert_same_fit(model, local.set_params(warm_start=True).fit(X))

    def test_a_broken_fit_goes_on_here_and_there(self, tmp_path):
        """A checkpoint of rows in memory is one of rows on disk, and the other way round."""
        case = CASES["far_seeds"]()
        store = stored(tmp_path, case.X)
        options = {"n_clusters": case.n_clusters, "init": case.init, "memory_limit": TINY}
        options |= {"checkpoint": tmp_path / "fit.npz"}
        full = SphericalKMeans(**options).fit(case.X)
        for number, (X, Y) in itertools.product(
            range(1, full.n_iter_ + 1), [(case.X, store), (store, case.X), (store, store)]
        ):
            with pytest.raises(BreakError):
                SphericalKMeans(**options, callback=break_at(number)).fit(X)
            assert_same_fit(SphericalKMeans(**options).fit(Y), full)

    def test_errors_name_what_is_wrong(self, tmp_path):
        store = stored(tmp_path, text_like())
        model = SphericalKMeans(3, random_state=0).fit(store)
        other = RowStore.write(tmp_path / "other", [np.eye(3)])
        message = "X has 3 features, but SphericalKMeans is expecting 150 features as input"
        with pytest.raises(ValueError, match=message):
            model.predict(other)
        with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
            SphericalKMeans(4).fit(other)
        with pytest.raises(ValueError, match="memory_limit=0 should be a number >= 1"):
            SphericalKMeans(2, memory_limit=0).fit(other)
        with pytest.raises(ValueError, match=r"sample_weight has shape \(2,\), expected \(3,\)"):
            SphericalKMeans(2).fit(other, sample_weight=[1, 2])
        with pytest.raises(ValueError, match="n_clusters=2 needs as many rows"):
            SphericalKMeans(2).fit(RowStore.write(tmp_path / "zeros", [np.zeros((3, 2))]))

    def test_zero_rows_are_counted(self, tmp_path):
        X = with_zero_rows(text_like(), 0, 7)
        with pytest.warns(UserWarning, match="2 of 300 rows are all zero"):
            model = SphericalKMeans(3, random_state=0).fit(stored(tmp_path, X))
        assert model.labels_[[0, 7]].tolist() == [-1, -1]

    @processes.reads_proc
    @measures_memory
    def test_memory_does_not_grow_with_the_entries(self, tmp_path):
        """Four times the entries in as many rows: the same memory, and far less than the rows."""
        grown = {}
        rng = np.random.default_rng(0)
        for width in (100, 400):
            X = [rng.random((500, width), np.float32) for _ in range(40)]
            X = [sp.hstack([x, sp.csr_array((500, 400 - width), dtype=np.float32)]) for x in X]
            store = RowStore.write(tmp_path / f"{width}", X)
            ended = processes.run(print_peak_of_a_fit, store)
            assert ended.code == 0, ended.err
            grown[width] = float(ended.out)
        entries = 20_000 * 400 * 8 / 2**20
        assert grown[400] < entries / 8
        assert abs(grown[400] - grown[100]) < entries / 16


def print_peak_of_a_fit(store):
    """Megabytes of private memory, beyond what was there before."""
    processes.forget_peak()
    before = peak = processes.status_mb("RssAnon")

    def look(step):
        nonlocal peak
        peak = max(peak, processes.status_mb("RssAnon"))

    options = {"random_state": 0, "max_iter": 4, "n_threads": 1, "memory_limit": 2**22}
    SphericalKMeans(4, **options, callback=look).fit(store)
    print(peak - before)


def test_the_folder_is_documented():
    assert HEADER in (Path(__file__).parent.parent / "docs" / "scaling.md").read_text("utf-8")


@pytest.fixture
def mapped(monkeypatch):
    """The type and shape of each array that is mapped from a file by NumPy, as they are made."""
    made = []

    class Recorded(np.memmap):
        def __new__(cls, file, dtype, mode, shape):
            made.append((np.dtype(dtype).name, shape))
            return super().__new__(cls, file, dtype, mode, shape=shape)

    monkeypatch.setattr(np, "memmap", Recorded)
    return made


def test_states_move_to_files(mapped, tmp_path):
    """Row states that are over the limit lie in mapped files: bounds, but not labels."""
    store = stored(tmp_path, text_like())
    n = len(store)
    for limit, expected in ((TINY, [("float64", (n,)), ("float32", (n, 3))]), (100_000, [])):
        mapped.clear()
        SphericalKMeans(3, random_state=0, algorithm="simplified-elkan", memory_limit=limit).fit(
            store
        )
        assert mapped == expected


def test_the_sieve_keeps_bounds_that_fit(tmp_path):
    """Over several chunks, and visits as many lines as with rows in memory; else it visits all."""
    X, k = text_like(), 40
    n, lines = X.shape[0], 2
    store = stored(tmp_path, X)
    options = {"n_clusters": k, "random_state": 0, "algorithm": "sieve", "init": "random"}
    local = SphericalKMeans(**options).fit(X)
    room = sieve_bytes(n, k, dense=False) * 4 // 3 + 4
    assert X.nnz * 12 > 2 * (room // 4)  # at least three chunks
    for limit, visited in ((room, local.trace_["lines"]), (room - 8, n * lines)):
        model = SphericalKMeans(**options, memory_limit=limit).fit(store)
        assert_same_fit(model, local)
        assert np.all(model.trace_["lines"] == visited)
    assert np.any(local.trace_["lines"] < n * lines)


def test_auto_keeps_to_the_limit(tmp_path):
    """Dense rows without room for bounds are lloyd's, which counts no lines."""
    X = np.random.default_rng(0).random((200, 40))
    store = RowStore.write(tmp_path / "rows", [X])
    for limit, sieve in ((sieve_bytes(200, 96, dense=True) * 4 // 3 + 4, True), (10_000, False)):
        model = SphericalKMeans(96, init="random", random_state=0, memory_limit=limit).fit(store)
        assert np.any(model.trace_["lines"] > 0) == sieve


@pytest.mark.parametrize("algorithm", ["yinyang", "exponion", "shallot"])
def test_angles_move_to_files(algorithm, mapped, tmp_path):
    store = stored(tmp_path, text_like())
    SphericalKMeans(3, random_state=0, algorithm=algorithm, memory_limit=100_000).fit(store)
    assert mapped == []
    SphericalKMeans(3, random_state=0, algorithm=algorithm, memory_limit=TINY).fit(store)
    assert len(mapped) >= 2
    assert all(shape[0] == len(store) for _, shape in mapped)
