"""Fits that take long: callbacks, progress, warm starts, scikit-learn's tasks."""

import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp

from arcmeans import Iteration, SphericalKMeans
from arcmeans._support import progress

from .support.fits import BreakError, assert_same_fit, break_at

X = np.random.default_rng(0).standard_normal((400, 9))


class TestCallback:
    def test_is_called_once_an_iteration(self):
        seen = []
        model = SphericalKMeans(7, random_state=0, callback=seen.append).fit(X)
        assert all(isinstance(step, Iteration) for step in seen)
        assert [step.iteration for step in seen] == list(range(1, model.n_iter_ + 1))
        assert [step.objective for step in seen] == model.trace_["objective"].tolist()
        assert [step.changed for step in seen] == model.trace_["changed"].tolist()

    def test_true_ends_the_fit(self):
        model = SphericalKMeans(7, random_state=0, callback=lambda step: step.iteration == 3)
        model.fit(X)
        assert model.n_iter_ == 3
        assert np.array_equal(model.predict(X), model.labels_)
        assert_same_fit(model, SphericalKMeans(7, random_state=0, max_iter=3).fit(X))

    def test_only_true_ends_the_fit(self):
        """A callback that returns a number or an array of something does not mean to stop."""
        full = SphericalKMeans(7, random_state=0).fit(X)
        model = SphericalKMeans(7, random_state=0, callback=lambda step: step.changed).fit(X)
        assert model.n_iter_ == full.n_iter_ > 1

    def test_true_leaves_out_the_runs_to_come(self):
        seen = []

        def callback(step):
            seen.append(step)
            return step.iteration == 2

        SphericalKMeans(7, random_state=0, n_init=5, callback=callback).fit(X)
        assert len(seen) == 2

    def test_an_exception_leaves_the_model_fitted(self):
        model = SphericalKMeans(7, random_state=0, callback=break_at(4))
        with pytest.raises(BreakError):
            model.fit(X)
        assert_same_fit(model, SphericalKMeans(7, random_state=0, max_iter=4).fit(X))

    def test_an_exception_leaves_the_best_run(self):
        """The second run is broken off early: the first is better."""
        runs = []

        def callback(step):
            runs.append(step.iteration == 1)
            if sum(runs) == 2:
                raise BreakError

        model = SphericalKMeans(7, random_state=0, n_init=3, callback=callback)
        with pytest.raises(BreakError):
            model.fit(X)
        assert_same_fit(model, SphericalKMeans(7, random_state=0).fit(X))

    def test_an_exception_by_the_last_iteration_is_raised(self):
        full = SphericalKMeans(7, random_state=0).fit(X)
        model = SphericalKMeans(7, random_state=0, callback=break_at(full.n_iter_))
        with pytest.raises(BreakError):
            model.fit(X)
        assert_same_fit(model, full)


class TestProgress:
    @pytest.fixture
    def bars(self, monkeypatch):
        """A tqdm that notes what it is told, and a terminal to show it on."""
        made = []

        class Bar:
            def __init__(self, **options):
                self.count, self.text, self.closed = 0, "", False
                made.append(self)

            def set_postfix_str(self, text, refresh=True):
                self.text = text

            def update(self, n):
                self.count += n

            def close(self):
                self.closed = True

        monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
        monkeypatch.setattr(progress, "someone_watches", lambda: True)
        return made

    def test_tqdm_shows_a_line_a_run(self, bars, capsys):
        model = SphericalKMeans(5, random_state=0, n_init=2, verbose=1)
        model.fit(X)
        assert len(bars) == 2
        assert model.n_iter_ in [bar.count for bar in bars]
        assert all(bar.closed for bar in bars)
        assert bars[0].text.startswith("objective ")
        assert bars[0].text.endswith(", 0 rows changed")
        assert capsys.readouterr().err == ""

    def test_the_line_is_closed_after_an_exception(self, bars):
        with pytest.raises(BreakError):
            SphericalKMeans(5, random_state=0, verbose=1, callback=break_at(2)).fit(X)
        assert bars[0].closed

    def test_without_tqdm_a_line_an_iteration(self, bars, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "tqdm", None)
        model = SphericalKMeans(5, random_state=0, verbose=1).fit(X)
        assert len(capsys.readouterr().err.splitlines()) == model.n_iter_

    def test_a_log_gets_a_line_an_iteration(self, bars, capsys, monkeypatch):
        monkeypatch.setattr(progress, "someone_watches", lambda: False)
        model = SphericalKMeans(5, random_state=0, verbose=1).fit(X)
        assert len(capsys.readouterr().err.splitlines()) == model.n_iter_
        assert bars == []

    def test_who_watches(self, monkeypatch):
        assert not progress.someone_watches()
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        assert progress.someone_watches()
        monkeypatch.setattr(sys, "stderr", None)
        assert not progress.someone_watches()
        monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
        assert progress.someone_watches()


class TestWarmStart:
    def test_refit_of_the_same_rows_changes_nothing(self):
        model = SphericalKMeans(7, random_state=0, warm_start=True, n_init=3).fit(X)
        labels, centers = model.labels_, model.cluster_centers_
        inertia = model.inertia_
        passes = []
        model.set_params(callback=passes.append).fit(X)
        assert model.n_iter_ == len(passes) == 2  # one run, whatever n_init says
        assert np.array_equal(model.labels_, labels)
        assert np.array_equal(model.cluster_centers_, centers)
        assert model.inertia_ == inertia

    @pytest.mark.filterwarnings("ignore:.*rows are all zero")
    @pytest.mark.parametrize("empty_cluster", ["relocate", "keep"])
    def test_goes_on_where_max_iter_ended(self, case, empty_cluster):
        options = {"n_clusters": case.n_clusters, "init": case.init, "empty_cluster": empty_cluster}
        full = SphericalKMeans(**options).fit(case.X)
        model = SphericalKMeans(max_iter=2, warm_start=True, **options).fit(case.X)
        model.set_params(max_iter=300).fit(case.X)
        if empty_cluster == "relocate" and full.trace_["relocated"].any():
            return  # a second look at the same rows may move others
        assert np.array_equal(model.labels_, full.labels_)
        assert np.array_equal(model.cluster_centers_, full.cluster_centers_)
        assert model.inertia_ == full.inertia_

    def test_clusters_keep_their_numbers(self):
        rng = np.random.default_rng(1)
        Y = np.repeat(np.eye(6), 40, axis=0) + 0.1 * rng.standard_normal((240, 6))
        model = SphericalKMeans(6, random_state=4, init="k-means++", warm_start=True).fit(Y)
        labels = model.labels_
        order = rng.permutation(240)
        more = np.vstack([Y[order], Y + 0.01 * rng.standard_normal(Y.shape)])
        model.fit(sp.csr_array(more))
        assert np.array_equal(model.labels_[:240], labels[order])

    def test_weights_of_another_size(self):
        """The fixed point of the new rows is not that of the old."""
        model = SphericalKMeans(5, random_state=0, warm_start=True).fit(X)
        labels = model.labels_
        inertia = model.inertia_
        for weight in (1e7, 1.0):
            model.fit(X, sample_weight=np.full(400, weight))
            assert np.array_equal(model.labels_, labels)
            assert model.trace_["objective"][0] == pytest.approx(model.trace_["objective"][-1])
            assert model.inertia_ == pytest.approx(weight * inertia, rel=1e-8)

    def test_false_begins_anew(self):
        model = SphericalKMeans(5, random_state=0).fit(X)
        n_iter = model.n_iter_
        assert model.fit(X).n_iter_ == n_iter > 2

    def test_needs_centers_that_fit(self):
        model = SphericalKMeans(5, random_state=0, warm_start=True).fit(X)
        labels = model.labels_
        with pytest.raises(ValueError, match=r"n_clusters=4 should be the 5 that were fitted\."):
            model.set_params(n_clusters=4).fit(X)
        model.set_params(n_clusters=5)
        with pytest.raises(ValueError, match="X has 8 features, but should have the 9 that were"):
            model.fit(X[:, :8])
        with pytest.raises(
            ValueError, match="X has 8 features, but SphericalKMeans is expecting 9"
        ):
            model.fit(X[:, :8].tolist())
        assert np.array_equal(model.predict(X), labels)


class TestTasksOfScikitLearn:
    """scikit-learn's own callbacks, from 1.9 on."""

    @pytest.fixture
    def recorder(self):
        pytest.importorskip("sklearn.callback")

        class Recorder:
            def __init__(self, stop_at=None, fail_at=None):
                self.events, self.models = [], []
                self.stop_at, self.fail_at = stop_at, fail_at

            def setup(self, estimator, context):
                self.events.append("setup")

            def on_fit_task_begin(self, estimator, context):
                self.events.append(("begin", context.task_name, context.task_id))

            def on_fit_task_end(self, estimator, context, *, X, metadata, fitted_estimator):
                self.events.append(("end", context.task_name, context.task_id))
                self.models.append(fitted_estimator)
                assert fitted_estimator.labels_.shape == (len(X),)
                assert "sample_weight" in metadata
                if self.fail_at == (context.task_name, context.task_id):
                    raise BreakError
                return self.stop_at == (context.task_name, context.task_id)

            def teardown(self, estimator, context):
                self.events.append("teardown")

        return Recorder

    def test_tasks_of_a_fit(self, recorder):
        watcher = recorder()
        model = SphericalKMeans(5, random_state=0, n_init=2, max_iter=2)
        assert model.set_callbacks(watcher) is model
        model.fit(X)
        run = [(s, "iteration", i) for i in range(2) for s in ("begin", "end")]
        expected = ["setup", ("begin", "fit", 0)]
        for i in range(2):
            expected += [("begin", "run", i), *run, ("end", "run", i)]
        assert watcher.events == [*expected, ("end", "fit", 0), "teardown"]

    def test_models_fitted_so_far(self, recorder):
        watcher = recorder()
        model = SphericalKMeans(5, random_state=0).set_callbacks(watcher).fit(X)
        for i in range(model.n_iter_):
            so_far = watcher.models[i]
            assert so_far.n_iter_ == i + 1
            assert np.array_equal(so_far.labels_, so_far.predict(X))
        assert np.all(np.diff([m.score(X) for m in watcher.models]) >= -1e-9)

    def test_a_hook_can_stop(self, recorder):
        model = SphericalKMeans(5, random_state=0)
        model.set_callbacks(recorder(stop_at=("iteration", 2))).fit(X)
        assert_same_fit(model, SphericalKMeans(5, random_state=0, max_iter=3).fit(X))

    def test_a_hook_that_fails(self, recorder):
        watcher = recorder(fail_at=("iteration", 2))
        model = SphericalKMeans(5, random_state=0).set_callbacks(watcher)
        with pytest.raises(BreakError):
            model.fit(X)
        assert watcher.events[-2:] == [("end", "iteration", 2), "teardown"]
        assert_same_fit(model, SphericalKMeans(5, random_state=0, max_iter=3).fit(X))
