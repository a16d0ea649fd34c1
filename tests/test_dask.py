"""Rows on a Dask cluster: the same bits as in memory, however the rows are split."""

import itertools
import pickle

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster

import arcmeans
import arcmeans.dask
from arcmeans import RowStore, SphericalKMeans
from arcmeans._algorithms.registry import ALGORITHMS, registered
from arcmeans._rows.rows import concatenated
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._seeding.methods import METHODS
from arcmeans.dask._blocks import blocks_of
from arcmeans.dask._place import DaskPlace

from .support.brute_force import BruteForceRecord
from .support.cases import CASES
from .support.dask_processes import blocks
from .support.fits import BreakError, assert_same_fit, break_at
from .support.rows import text_like, with_zero_rows

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*rows are all zero"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Sending large graph"),  # rows in the graph, for a test
]


@pytest.fixture(scope="module")
def client():
    """Three workers in this process: quick."""
    with (
        LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


PARTITIONINGS = {
    "one": (),
    "even": (75, 150, 225),
    "skewed": (1, 2, 290),
    "empty": (0, 100, 100, 100, 300),
}


class TestFit:
    @pytest.mark.parametrize(
        ("partitioning", "algorithm"),
        [
            ("one", "lloyd"),
            ("even", "simplified-hamerly"),
            ("skewed", "elkan"),
            ("empty", "lloyd"),
            ("empty", "simplified-hamerly"),
        ],
    )
    def test_the_same_bits_however_the_rows_are_split(self, client, partitioning, algorithm):
        X = with_zero_rows(text_like(), 4, 150)
        options = {"n_clusters": 7, "random_state": 2, "algorithm": algorithm, "init": "k-means++"}
        local = SphericalKMeans(**options).fit(X)
        model = arcmeans.dask.SphericalKMeans(**options)
        assert_same_fit(model.fit(blocks(X, *PARTITIONINGS[partitioning])), local)
        sizes = np.diff([0, *PARTITIONINGS[partitioning], 300])
        assert model.labels_.chunks == (tuple(sizes),)

    def test_an_algorithm_written_in_python(self, client):
        X = with_zero_rows(text_like(), 4, 150)
        options = {"n_clusters": 7, "random_state": 2, "init": "k-means++"}
        local = SphericalKMeans(**options, algorithm="lloyd").fit(X)
        with registered(BruteForceRecord()):
            model = arcmeans.dask.SphericalKMeans(**options, algorithm="brute-force")
            assert_same_fit(model.fit(blocks(X, *PARTITIONINGS["skewed"])), local)

    @pytest.mark.parametrize(
        ("kind", "algorithm", "empty_cluster"),
        [("sparse", "lloyd", "relocate"), ("dense", "hamerly", "keep")],
    )
    def test_the_same_bits_in_difficult_cases(self, client, case, kind, algorithm, empty_cluster):
        options = {"n_clusters": case.n_clusters, "init": case.init}
        options |= {"empty_cluster": empty_cluster}
        n = case.X.shape[0]
        X = case.X if kind == "sparse" else case.X.toarray().astype(np.float32)
        local = SphericalKMeans(**options).fit(X)
        model = arcmeans.dask.SphericalKMeans(**options, algorithm=algorithm)
        assert_same_fit(model.fit(blocks(X, n // 3, n // 2)), local)

    def test_more_partitions_than_rows(self, client):
        X = np.random.default_rng(0).standard_normal((5, 3))
        given = blocks(X, 0, 1, 1, 2, 3, 3, 4, 5)
        local = SphericalKMeans(2, random_state=0).fit(X)
        assert_same_fit(arcmeans.dask.SphericalKMeans(2, random_state=0).fit(given), local)

    @pytest.mark.parametrize("method", METHODS)
    def test_the_same_seeds(self, client, method):
        X = with_zero_rows(text_like(), 4, 150)
        rng = np.random.default_rng(0)
        options = {"n_clusters": 9, "init": method, "random_state": 3, "max_iter": 2}
        for weights in (None, rng.random(300)):
            local = SphericalKMeans(**options).fit(X, sample_weight=weights)
            model = arcmeans.dask.SphericalKMeans(**options)
            model.fit(blocks(X, 20, 170), sample_weight=weights)
            assert_same_fit(model, local)

    @pytest.mark.parametrize("method", METHODS)
    def test_when_directions_run_out(self, client, method):
        X = np.repeat(np.eye(3), 7, axis=0)
        options = {"n_clusters": 5, "init": method, "random_state": 0}
        options["n_init"] = 2
        with pytest.warns(match="only 3 distinct directions"):
            local = SphericalKMeans(**options).fit(X)
        with pytest.warns(match="only 3 distinct directions"):
            model = arcmeans.dask.SphericalKMeans(**options).fit(blocks(X, 6, 9))
        assert_same_fit(model, local)

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_every_algorithm(self, client, algorithm):
        case = CASES["clustered"]()
        options = {"n_clusters": case.n_clusters, "init": case.init, "algorithm": algorithm}
        local = SphericalKMeans(**options).fit(case.X)
        model = arcmeans.dask.SphericalKMeans(**options).fit(blocks(case.X, 60, 250))
        assert_same_fit(model, local)
        assert model.n_iter_ > 3

    def test_kinds_of_data(self, client, tmp_path):
        X = text_like()
        local = SphericalKMeans(5, random_state=0).fit(X)
        store = RowStore.write(tmp_path / "rows", [X[:70], X[70:]])
        sp.save_npz(tmp_path / "a.npz", sp.csr_matrix(X[:120]))
        np.save(tmp_path / "d.npy", X[120:].toarray())
        RowStore.write(tmp_path / "b", [X[120:]])
        dense = da.from_array(X.toarray(), chunks=(100, 40))
        kinds = {
            "dense": dense,
            "sparse": dense.rechunk((80, -1)).map_blocks(sp.csr_matrix),
            "persisted": dense.persist(),
            "store": store,
            "files": [tmp_path / "a.npz", str(tmp_path / "b")],
            "delayed": blocks(X, 9),
        }
        of_dense = SphericalKMeans(5, random_state=0).fit(X.toarray())
        for name, given in kinds.items():
            model = arcmeans.dask.SphericalKMeans(5, random_state=0).fit(given)
            assert_same_fit(model, of_dense if name in ("dense", "persisted") else local)
            assert isinstance(model.labels_, da.Array), name
            assert np.array_equal(model.predict(given).compute(), local.labels_), name
            assert np.array_equal(model.transform(given).compute(), local.transform(X)), name
            assert model.score(given) == local.score(X), name
        assert model.predict(dense).chunks == ((100, 100, 100),)
        assert model.transform(dense).dtype == np.float64
        weights = np.random.default_rng(0).random(300)
        expected = local.score(X, sample_weight=weights)
        assert model.score(kinds["files"], sample_weight=weights) == expected
        split = da.from_array(weights, chunks=100)
        assert model.score(dense, sample_weight=split) == expected

    def test_weights_on_the_cluster(self, client):
        X, weights = text_like(), np.random.default_rng(1).random(300)
        local = SphericalKMeans(6, random_state=1).fit(X, sample_weight=weights)
        split = da.from_array(weights, chunks=(100, 50, 150))
        model = arcmeans.dask.SphericalKMeans(6, random_state=1)
        assert_same_fit(model.fit(blocks(X, 100, 150), sample_weight=split), local)

    def test_a_broken_fit_goes_on_here_and_there(self, client, tmp_path):
        case = CASES["far_seeds"]()
        options = {"n_clusters": case.n_clusters, "init": case.init}
        options |= {"checkpoint": tmp_path / "fit.npz", "checkpoint_seconds": 0}
        here, there = SphericalKMeans, arcmeans.dask.SphericalKMeans
        given = {here: case.X, there: blocks(case.X, 40, 90)}
        full = here(**options).fit(case.X)
        assert full.trace_["relocated"].any()
        for number, (first, then) in itertools.product(
            (2, full.n_iter_), [(here, there), (there, here)]
        ):
            with pytest.raises(BreakError):
                first(**options, callback=break_at(number)).fit(given[first])
            assert (tmp_path / "fit.npz").exists()
            assert_same_fit(then(**options).fit(given[then]), full)
            assert not (tmp_path / "fit.npz").exists()

    def test_a_callback_sees_the_labels_so_far(self, client):
        seen = []
        case = CASES["far_seeds"]()
        model = arcmeans.dask.SphericalKMeans(case.n_clusters, init=case.init, callback=seen.append)
        model.fit(blocks(case.X, 50))
        assert len(seen) == model.n_iter_
        stopped = arcmeans.dask.SphericalKMeans(
            case.n_clusters, init=case.init, callback=lambda step: step.iteration == 2
        ).fit(blocks(case.X, 50))
        local = SphericalKMeans(case.n_clusters, init=case.init, max_iter=2).fit(case.X)
        assert_same_fit(stopped, local)

    def test_a_fitted_model_can_be_kept(self, client, tmp_path):
        X = text_like()
        model = arcmeans.dask.SphericalKMeans(5, random_state=0).fit(blocks(X, 50))
        again = pickle.loads(pickle.dumps(model))
        labels = model.labels_.compute()
        assert np.array_equal(again.labels_, labels)
        assert np.array_equal(again.predict(blocks(X, 50)).compute(), labels)
        model.set_params(warm_start=True).fit(blocks(X, 10))
        assert model.n_iter_ == 2

    def test_nothing_stays_behind(self, client):
        model = arcmeans.dask.SphericalKMeans(5, random_state=0, init="k-means++")
        model.fit(blocks(text_like(), 50))
        assert client.run(kept_fits) == dict.fromkeys(client.nthreads(), 0)
        with pytest.raises(ValueError, match="n_samples=300 should be >= n_clusters=400"):
            model.set_params(n_clusters=400).fit(blocks(text_like(), 50))
        assert client.run(kept_fits) == dict.fromkeys(client.nthreads(), 0)

    def test_tasks_have_names(self, client):
        from distributed.utils import key_split

        model = arcmeans.dask.SphericalKMeans(5, random_state=0, init="k-means++")
        model.fit(blocks(text_like(), 50))
        run = client.cluster.scheduler.task_prefixes
        expected = {"assign", "reduce", "prepare", "seed-step", "summarize", "labels"}
        assert {f"arcmeans-{name}" for name in expected} <= set(run)
        assert key_split("arcmeans-assign-0abcdefabcde-17") == "arcmeans-assign"

    def test_bytes_are_counted(self, client):
        case = CASES["clustered"]()
        model = arcmeans.dask.SphericalKMeans(case.n_clusters, init=case.init)
        model.fit(blocks(case.X, 150, 300))
        assert len(model.traffic_) == model.n_iter_
        first, last = model.traffic_[1], model.traffic_[-1]
        assert first.to_workers == 3 * model.traffic_[0].to_client
        assert 0 < last.to_workers < first.to_workers / 4
        assert last.to_client == 0

    def test_a_place_gives_its_rows_part_by_part(self, client):
        X, weights = with_zero_rows(text_like(), 4, 150), np.arange(300) % 7 + 0.5
        rows = unit_rows(X, sample_weight=weights)
        place = DaskPlace(client, blocks_of(blocks(X, 75, 75, 200), 1), weights)
        try:
            pieces = list(place.pieces())
            assert [here for here, _ in pieces] == [
                slice(0, 75), slice(75, 75), slice(75, 200), slice(200, 300)
            ]  # fmt: skip
            joined = concatenated([piece for _, piece in pieces])
            which = np.array([299, 4, 80, 74, 4])
            for mine, expected in ((joined, rows), (place.take(which), rows.take(which))):
                for name in ("values", "zero", "starts", "features", "weights"):
                    assert np.array_equal(getattr(mine, name), getattr(expected, name)), name
        finally:
            place.close()

    def test_partitions_are_shared_out(self):
        """To the workers that have them, evenly, by their threads."""
        from arcmeans.dask._tasks import share_out

        def shared(having, threads, owners=None):
            owners = [""] * len(having) if owners is None else owners
            share_out(owners, dict(enumerate(having)), threads)
            return "".join(owners)

        even = {"A": 1, "B": 1}
        assert shared(["A", "A", "B", "B"], even) == "AABB"
        assert shared(["B", "A", "A", "A"], even) == "BAAB"
        assert shared(["A"] * 6, {"A": 1, "B": 2}) == "AABBBB"
        assert shared([""] * 4, even, ["A", "gone", "gone", "B"]) == "AABB"
        assert shared(["B", "BA", "B"], {"B": 1}, ["A", "A", "B"]) == "BBB"


def kept_fits(dask_worker):
    from arcmeans.dask._kept import kept_fits

    return len(kept_fits(dask_worker))


class TestErrors:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (np.eye(3), "X is of type ndarray; it should be a dask array, a list of delayed"),
            ([], "X is a list of nothing"),
            ([np.eye(3)], "X is a list of ndarray"),
            ([da.ones(3), "x"], "X is a list of Array, str"),
            (da.ones(3), "dask array of 1 dimensions"),
            (["no.npz"], "X names 'no.npz', which does not exist"),
            ([__file__], "should end in .npz"),
            (blocks(np.empty((0, 3))), "X has no rows"),
            ([*blocks(np.eye(3)), *blocks(np.eye(4))], "block 1 of X has 4 features, but block 0"),
            (
                [*blocks(np.eye(3)), *blocks(sp.eye_array(3, format="csr"))],
                "block 1 of X is sparse",
            ),
            (blocks(np.array([[1.0, 2], [3, np.nan]]), 1), "block 1 of X contains NaN .*in row 0"),
            (blocks(np.array([["a", "b"]])), "dtype|could not convert"),
        ],
    )
    def test_x(self, client, given, message):
        with pytest.raises((ValueError, TypeError, FileNotFoundError), match=message):
            arcmeans.dask.SphericalKMeans(2).fit(given)
        assert client.run(kept_fits) == dict.fromkeys(client.nthreads(), 0)

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([1, 2], r"sample_weight has shape \(2,\), expected \(3,\)"),
            ([1, 2, -3], r"sample_weight\[2\]=-3.0 should be"),
            (da.ones(3, chunks=1), r"dask array of \(3,\) blocks; .* the 1 blocks of rows"),
            (da.zeros(3), "sample_weight is zero for every row"),
            (da.ones(4), r"sample_weight has shape \(4,\), expected \(3,\)"),
        ],
    )
    def test_sample_weight(self, client, weights, message):
        with pytest.raises(ValueError, match=message):
            arcmeans.dask.SphericalKMeans(2).fit(blocks(np.eye(3)), sample_weight=weights)

    def test_what_a_block_raises(self, client, tmp_path):
        """Even if it looks like a broken connection."""
        (tmp_path / "rows.npz").write_text("nothing")

        @dask.delayed
        def unreachable():
            raise ConnectionResetError("the disk is gone")

        with pytest.raises(ConnectionResetError, match="the disk is gone"):
            arcmeans.dask.SphericalKMeans(2).fit([unreachable()])
        with pytest.raises(ValueError, match=r"pickle|[Cc]annot|file"):
            arcmeans.dask.SphericalKMeans(2).fit([tmp_path / "rows.npz"])

    def test_features(self, client):
        model = arcmeans.dask.SphericalKMeans(2, random_state=0).fit(blocks(np.eye(3)))
        with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 3"):
            model.predict(blocks(np.eye(4))).compute()
