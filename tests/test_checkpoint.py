"""A fit that was broken off goes on from its checkpoint, and ends with the same bits."""

import os
import shutil
import signal

import numpy as np
import pytest
import scipy.sparse as sp

from arcmeans import SphericalKMeans
from arcmeans._algorithms.registry import ALGORITHMS

from .support import processes
from .support.cases import CASES
from .support.fits import BreakError, assert_same_fit, break_at

X = np.random.default_rng(0).standard_normal((400, 9))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.npz"


class TestCheckpoint:
    def test_the_cases_have_what_is_difficult(self):
        """Rows that are relocated, and centers without rows in the middle of a run."""
        far = CASES["far_seeds"]()
        model = SphericalKMeans(far.n_clusters, init=far.init).fit(far.X)
        assert model.trace_["relocated"][:5].any()
        model = SphericalKMeans(far.n_clusters, init=far.init, empty_cluster="keep").fit(far.X)
        assert model.n_iter_ > 3
        assert len(set(model.labels_)) < far.n_clusters

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    @pytest.mark.parametrize("empty_cluster", ["relocate", "keep"])
    def test_rows_that_cancel_each_other(self, algorithm, empty_cluster, path):
        """The rows of the first center sum to zero: it stays, and follows from no labels."""
        angles = np.sort(np.random.default_rng(0).uniform(-2.6, -0.5, 60))
        arc = np.column_stack([np.zeros(60), np.cos(angles), np.sin(angles)])
        Y = np.vstack([[[1.0, 0, 0], [-1, 0, 0]], arc])
        init = np.vstack([[0, 0, 1], arc[40:43]])
        options = {"n_clusters": 4, "init": init, "algorithm": algorithm, "checkpoint": path}
        options |= {"empty_cluster": empty_cluster}
        full = SphericalKMeans(**options).fit(Y)
        assert full.labels_.tolist().count(0) == 2
        assert full.n_iter_ > 4
        for number in range(1, full.n_iter_ + 1):
            with pytest.raises(BreakError):
                SphericalKMeans(**options, callback=break_at(number)).fit(Y)
            assert_same_fit(SphericalKMeans(**options).fit(Y), full)

    @pytest.mark.filterwarnings("ignore:.*rows are all zero")
    @pytest.mark.parametrize("empty_cluster", ["relocate", "keep"])
    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_goes_on_with_the_same_bits(self, case, algorithm, empty_cluster, path):
        """Broken off in some of the first iterations: written where it broke, and before."""
        options = {"n_clusters": case.n_clusters, "init": case.init, "algorithm": algorithm}
        options |= {"empty_cluster": empty_cluster, "checkpoint": path, "checkpoint_seconds": 0}
        full = SphericalKMeans(**options).fit(case.X)
        assert not path.exists()
        copy = path.with_name("copy.npz")

        def keep_a_copy(step):
            if step.iteration == number:
                shutil.copy(path, copy)

        # What is stored does not depend on the algorithm: of most of them one break is enough.
        often = algorithm in ("lloyd", "sieve")
        last = min(4, full.n_iter_)
        for number in [n for n in (1, 2, last) if n < last] * often + [last]:
            model = SphericalKMeans(**options, callback=break_at(number))
            with pytest.raises(BreakError):
                model.fit(case.X)
            assert path.exists()
            passes = []
            model.set_params(callback=passes.append).fit(case.X)
            assert_same_fit(model, full)
            assert passes[0].iteration == number
            assert list(path.parent.iterdir()) == []
            if number > 1 and often:
                SphericalKMeans(**options, callback=keep_a_copy).fit(case.X)
                copy.rename(path)
                assert_same_fit(SphericalKMeans(**options).fit(case.X), full)

    @pytest.mark.parametrize("init", ["random", "k-means++", "afk-mc2"])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_several_runs_weights_and_tol(self, init, dtype, path):
        """Broken off at every iteration of all runs, again and again."""
        options = {"n_clusters": 6, "init": init, "n_init": 3, "tol": 1e-3, "random_state": 5}
        Y, weights = X.astype(dtype), np.random.default_rng(1).random(400)
        full = SphericalKMeans(**options).fit(Y, sample_weight=weights)
        breaks, passes = 0, []

        def callback(step):
            passes.append(step)
            if len(passes) == 2:
                raise BreakError

        while breaks < 1000:
            model = SphericalKMeans(**options, checkpoint=path, callback=callback)
            passes.clear()
            try:
                model.fit(Y, sample_weight=weights)
                break
            except BreakError:
                breaks += 1
        assert breaks > 3
        assert_same_fit(model, full)
        assert not path.exists()

    def test_without_a_random_state(self, path):
        """The streams are in the file: the runs to come are those that would have come."""
        state = np.random.RandomState(3)
        model = SphericalKMeans(5, n_init=6, random_state=state, checkpoint=path)
        with pytest.raises(BreakError):
            model.set_params(callback=break_at(2)).fit(X)
        model.set_params(callback=None, random_state=None).fit(X)
        full = SphericalKMeans(5, n_init=6, random_state=np.random.RandomState(3)).fit(X)
        first = SphericalKMeans(5, n_init=1, random_state=np.random.RandomState(3)).fit(X)
        assert full.inertia_ < first.inertia_
        assert_same_fit(model, full)

    @pytest.mark.threads
    def test_another_algorithm_and_container_may_go_on(self, path):
        options = {"n_clusters": 6, "random_state": 0, "checkpoint": path}
        full = SphericalKMeans(6, random_state=0).fit(X)
        with pytest.raises(BreakError):
            SphericalKMeans(**options, algorithm="elkan", callback=break_at(3)).fit(X)
        model = SphericalKMeans(**options, algorithm="hamerly", n_threads=2).fit(sp.csr_array(X))
        assert_same_fit(model, full)

    def test_a_warm_start_goes_on(self, path):
        options = {"n_clusters": 6, "random_state": 0, "warm_start": True}
        Y = X[::-1] + 0.3
        full = SphericalKMeans(**options).fit(X).fit(Y)
        model = SphericalKMeans(**options).fit(X)
        model.set_params(checkpoint=path, callback=break_at(3))
        with pytest.raises(BreakError):
            model.fit(Y)
        with pytest.raises(ValueError, match=r"init was 'fitted centers [0-9a-f]*', is 'random'"):
            SphericalKMeans(**options, checkpoint=path).fit(Y)
        path.rename(path.with_name("kept"))
        model = SphericalKMeans(**options).fit(X)
        path.with_name("kept").rename(path)
        assert_same_fit(model.set_params(checkpoint=path).fit(Y), full)

    def test_is_written_only_so_often(self, path):
        seen = []
        options = {"random_state": 0, "checkpoint": path, "checkpoint_seconds": 1e6}
        SphericalKMeans(6, callback=lambda step: seen.append(path.exists()), **options).fit(X)
        assert not any(seen)
        SphericalKMeans(
            6,
            callback=lambda step: seen.append(path.exists()),
            **{**options, "checkpoint_seconds": 0},
        ).fit(X)
        assert seen[-1]

    def test_a_fit_ended_by_the_callback_is_finished(self, path):
        SphericalKMeans(
            6, checkpoint=path, checkpoint_seconds=0, callback=lambda step: step.iteration == 3
        ).fit(X)
        assert not path.exists()


def fit_that_ends(path, algorithm, how):
    """A fit whose process is killed, or interrupted, after the sixth pass."""

    def callback(step):
        if step.iteration == 6 and how == "between":
            processes.kill_me()
        if step.iteration == 6 and how == "writing":
            os.replace = processes.kill_me
        if step.iteration == 6 and how == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)

    seconds = 1e6 if how == "interrupt" else 0
    options = {"random_state": 0, "checkpoint": path, "checkpoint_seconds": seconds}
    SphericalKMeans(7, algorithm=algorithm, callback=callback, **options).fit(X)


@processes.needs_fork
@pytest.mark.parametrize("how", ["between", "writing", "interrupt"])
@pytest.mark.parametrize("algorithm", ["lloyd", "elkan", "simplified-hamerly"])
def test_a_killed_process_is_taken_up(algorithm, how, path):
    ended = processes.run(fit_that_ends, path, algorithm, how)
    if how == "interrupt":
        assert "KeyboardInterrupt" in ended.err
    else:
        assert ended.code == -signal.SIGKILL, ended.err
    assert path.exists()
    passes = []
    options = {"n_clusters": 7, "random_state": 0, "algorithm": algorithm}
    model = SphericalKMeans(**options, checkpoint=path, callback=passes.append).fit(X)
    assert_same_fit(model, SphericalKMeans(**options).fit(X))
    assert passes[0].iteration == 6
    assert list(path.parent.iterdir()) == []


class TestCheckpointErrors:
    @pytest.fixture
    def written(self, path):
        options = {"n_clusters": 5, "random_state": 0, "checkpoint": path}
        with pytest.raises(BreakError):
            SphericalKMeans(**options, callback=break_at(3)).fit(X)
        return options

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"n_clusters": 6}, "belongs to another fit: n_clusters was 5, is 6. Delete it"),
            ({"tol": 1e-4, "max_iter": 9}, "max_iter was 300, is 9; tol was 0.0, is 0.0001."),
            ({"random_state": 1}, "random_state was 0, is 1."),
            ({"init": X[:5]}, "init was 'random', is 'array "),
            ({"init": lambda *_: 0}, "init was 'random', is 'callable <lambda>'."),
            ({"empty_cluster": "keep"}, "empty_cluster was 'relocate', is 'keep'."),
        ],
    )
    def test_other_parameters(self, written, path, changed, message):
        with pytest.raises(ValueError, match="belongs to another fit: ") as error:
            SphericalKMeans(**{**written, **changed}).fit(X)
        assert message in str(error.value)
        assert f"checkpoint={str(path)!r}" in str(error.value)
        assert path.exists()

    @pytest.mark.parametrize(
        ("data", "weights", "message"),
        [
            (X[:-1], None, "the shape of X was [400, 9], is [399, 9]; the hash of the rows"),
            (X[::-1], None, "the hash of the rows of X was "),
            (X.astype(np.float32), None, "the dtype of X was 'float64', is 'float32'"),
            (X, np.arange(400), "the hash of sample_weight was None, is "),
        ],
    )
    def test_other_data(self, written, data, weights, message):
        with pytest.raises(ValueError, match="belongs to another fit: ") as error:
            SphericalKMeans(**written).fit(data, sample_weight=weights)
        assert message in str(error.value)

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
    def test_a_truncated_file(self, written, path, share):
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
        with pytest.raises(
            ValueError, match=r"fit.npz' is damaged or no checkpoint of this version"
        ):
            SphericalKMeans(**written).fit(X)

    def test_a_flipped_bit_anywhere(self, written, path):
        """Either an error, or, in a byte that nobody reads, the right result."""
        content = path.read_bytes()
        full = SphericalKMeans(5, random_state=0).fit(X)
        refused = []
        for at in range(0, len(content), len(content) // 60):
            changed = bytearray(content)
            changed[at] ^= 0x10
            path.write_bytes(changed)
            try:
                model = SphericalKMeans(**written).fit(X)
            except ValueError as error:
                refused.append(str(error))
            else:
                assert_same_fit(model, full)
        assert len(refused) > 20
        assert all("Delete it to begin anew" in text for text in refused)

    def test_an_identity_that_is_a_list(self, written, path):
        with np.load(path) as file:
            arrays = dict(file)
        with open(path, "wb") as file:
            np.savez(file, **{**arrays, "identity": np.array("[1, 2]")})
        with pytest.raises(ValueError, match="is damaged or no checkpoint"):
            SphericalKMeans(**written).fit(X)

    @pytest.mark.parametrize(
        "content", [b"not a zip file", b"PK\x03\x04 nearly one", b"\x93NUMPY\x01\x00"]
    )
    def test_a_foreign_file(self, written, path, content):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is damaged or no checkpoint"):
            SphericalKMeans(**written).fit(X)
        assert path.read_bytes() == content

    def test_arrays_of_another_program(self, written, path):
        np.savez(path, weights=X)
        with pytest.raises(ValueError, match="no checkpoint of this version of arcmeans"):
            SphericalKMeans(**written).fit(X)

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("arcmeans_checkpoint", lambda a: a + 1),
            ("labels", lambda a: a + 1),
            ("labels", lambda a: a[:1]),
            ("indices", lambda a: a + 1),
            ("data", lambda a: a.astype(float)),
            ("indptr", lambda a: a[::-1]),
            ("trace", lambda a: a["objective"]),
            ("trace", lambda a: a.astype([(n, float) for n in a.dtype.names])),
            ("identity", lambda a: np.array("[")),
            ("labels", lambda a: None),
        ],
    )
    def test_arrays_that_do_not_fit(self, written, path, name, change):
        with np.load(path) as file:
            arrays = dict(file)
        arrays[name] = change(arrays[name])
        np.savez(path, **{n: a for n, a in arrays.items() if a is not None})
        with pytest.raises(ValueError, match="is damaged or no checkpoint"):
            SphericalKMeans(**written).fit(X)

    def test_labels_of_other_centers(self, written, path):
        with np.load(path) as file:
            arrays = dict(file)
        arrays["labels"][:] = np.roll(arrays["labels"], 1)
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match=r"fit.npz' is damaged: its centers are not those of"):
            SphericalKMeans(**written).fit(X)

    def test_pickles_are_not_loaded(self, written, path):
        np.savez(path, arcmeans_checkpoint=np.array([{}], dtype=object))
        with pytest.raises(ValueError, match="allow_pickle=False"):
            SphericalKMeans(**written).fit(X)

    def test_a_folder_that_is_not_there(self, path):
        with pytest.raises(ValueError, match=r"should lie in a folder that exists; '.*nowhere'"):
            SphericalKMeans(5, checkpoint=path.parent / "nowhere" / "fit.npz").fit(X)

    def test_a_full_disk_does_not_end_the_fit(self, path, monkeypatch):
        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        model = SphericalKMeans(5, random_state=0, checkpoint=path, checkpoint_seconds=0)
        with pytest.warns(UserWarning, match="could not be written .*No space left.* goes on"):
            model.fit(X)
        assert_same_fit(model, SphericalKMeans(5, random_state=0).fit(X))
        assert list(path.parent.iterdir()) == []
