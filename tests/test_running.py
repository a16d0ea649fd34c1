"""Threads, forks, signals, instruction sets: how it behaves inside a process."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed

import arcmeans
from arcmeans import SphericalKMeans, _core
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._engines.memory import MemoryEngine
from arcmeans._support.checks import threads

from .support import processes

X = np.random.default_rng(0).random((600, 24))


def labels(seed, n_threads=2):
    return SphericalKMeans(5, random_state=seed, n_threads=n_threads).fit(X).labels_


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.threads
def test_fits_in_many_threads_at_once():
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(labels, [s % 4 for s in range(32)]))
    for seed, got in enumerate(found):
        assert np.array_equal(got, labels(seed % 4, n_threads=1))


@pytest.mark.threads
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_more_threads_than_rows(algorithm):
    one = SphericalKMeans(3, random_state=0, algorithm=algorithm, n_threads=1).fit(X[:7])
    many = SphericalKMeans(3, random_state=0, algorithm=algorithm, n_threads=64).fit(X[:7])
    assert np.array_equal(one.labels_, many.labels_)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_inside_joblib(backend):
    found = Parallel(n_jobs=2, backend=backend)(delayed(labels)(s) for s in range(4))
    for seed, got in enumerate(found):
        assert np.array_equal(got, labels(seed))


@processes.needs_fork
def test_survives_fork():
    expected = labels(1)  # threads have run in the parent
    ended = processes.run(lambda: sys.exit(not np.array_equal(labels(1), expected)))
    assert ended.code == 0, ended.err


@processes.needs_fork
def test_ctrl_c_leaves_the_estimator_fitted():
    """The interrupt comes in the middle of a pass: the result so far is kept and consistent."""
    ended = processes.run(interrupted_in_the_second_pass)
    assert ended.code == 0, ended.err


def interrupted_in_the_second_pass():
    rows = np.random.default_rng(0).standard_normal((60000, 60)).astype(np.float32)
    passes, assign = [], MemoryEngine.assign

    def assign_and_interrupt(self, centers):
        passes.append(1)
        if len(passes) == 2:
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
        return assign(self, centers)

    MemoryEngine.assign = assign_and_interrupt
    model = SphericalKMeans(200, random_state=0, max_iter=100000, n_threads=1)
    with pytest.warns(match="Interrupted after"), pytest.raises(KeyboardInterrupt):
        model.fit(rows)
    assert np.array_equal(model.predict(rows), model.labels_)
    assert 2 <= model.n_iter_ < 1000
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_by_the_last_iteration_is_not_swallowed(monkeypatch):
    assign = MemoryEngine.assign

    def assign_interrupted(self, centers):
        signal.raise_signal(signal.SIGINT)
        return assign(self, centers)

    monkeypatch.setattr(MemoryEngine, "assign", assign_interrupted)
    model = SphericalKMeans(1)
    with pytest.raises(KeyboardInterrupt), pytest.warns(match="Interrupted after 1 iterations"):
        model.fit(X)
    assert np.all(model.labels_ == 0)


def test_a_handler_of_the_users_stays_in_charge():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        handler = signal.getsignal(signal.SIGINT)
        labels(0)
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_fits_outside_the_main_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(labels(3)))
    thread.start()
    thread.join()
    assert np.array_equal(found[0], labels(3))


@pytest.mark.parametrize("name", _core.available())
def test_the_environment_forces_an_instruction_set(name):
    code = """
        import numpy as np, arcmeans
        X = np.random.default_rng(0).random((600, 24))
        model = arcmeans.SphericalKMeans(5, random_state=0).fit(X)
        print(arcmeans._core.simd, model.inertia_.hex(), model.cluster_centers_.sum().hex())
    """
    result = run_python(code, ARCMEANS_SIMD=name)
    model = SphericalKMeans(5, random_state=0).fit(X)
    assert result.stdout.split() == [
        name,
        model.inertia_.hex(),
        model.cluster_centers_.sum().hex(),
    ], result.stderr


def test_an_unknown_instruction_set_is_an_error():
    result = run_python("import arcmeans", ARCMEANS_SIMD="mmx")
    assert result.returncode != 0
    assert "ARCMEANS_SIMD='mmx' is not an instruction set of this build" in result.stderr


def test_the_best_instruction_set_is_the_default(monkeypatch):
    monkeypatch.delenv("ARCMEANS_SIMD", raising=False)
    assert _core.choose() == _core.available()[-1]


def test_default_threads_are_the_usable_processors(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 3)
    assert threads(None) == 3
    assert threads(2) == 2


def test_show_config(capsys):
    arcmeans.show_config()
    printed = capsys.readouterr().out
    for word in ("arcmeans", _core.simd, "threads", "numpy", "scipy", "scikit-learn"):
        assert word in printed


def test_verbose_prints_a_line_an_iteration(capsys):
    model = SphericalKMeans(3, random_state=0, verbose=1).fit(X)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == model.n_iter_
    assert lines[0].startswith("iteration 1: objective ")


def test_trace(capsys):
    model = SphericalKMeans(7, random_state=0, algorithm="elkan").fit(X)
    trace = pd.DataFrame(model.trace_)
    assert len(trace) == model.n_iter_
    assert trace.iteration.tolist() == list(range(1, model.n_iter_ + 1))
    assert trace.similarities[0] == 600 * 7
    assert (trace.center_similarities[:2] == 21).all()
    assert trace.changed[0] == 600
    assert trace.changed.iloc[-1] == 0
    assert trace.movement.iloc[-1] == 0
    assert (trace.movement[:-1] > 0).all()
    assert (trace[["assign_seconds", "update_seconds"]] >= 0).all(axis=None)
    assert model.inertia_ == pytest.approx(2 * (600 - trace.objective.iloc[-1]))
    skipped = trace.skipped_by_bounds + trace.skipped_by_centers
    assert skipped.iloc[-1] > 0


def test_tol_ends_the_run_early():
    full = SphericalKMeans(9, random_state=0).fit(X)
    early = SphericalKMeans(9, random_state=0, tol=1e-3).fit(X)
    assert early.n_iter_ < full.n_iter_
    objective = early.trace_["objective"]
    gains = np.diff(objective) / objective[1:]
    assert gains[-1] <= 1e-3
    assert np.all(gains[:-1] > 1e-3)
    assert np.array_equal(early.predict(X), early.labels_)
    assert np.array_equal(objective, full.trace_["objective"][: early.n_iter_])
