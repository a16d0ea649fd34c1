"""Dask clusters that lose workers, connections or the scheduler: the same bits, or a clear error.

Workers are processes without a nanny: what is killed stays dead.
"""

import contextlib
import os
import signal
import time

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster, WorkerPlugin

import arcmeans
import arcmeans.dask
from arcmeans import SphericalKMeans

from .support.cases import CASES
from .support.dask_processes import blocks, schedule, start, work
from .support.fits import BreakError, assert_same_fit

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*rows are all zero"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Sending large graph"),  # rows in the graph, for a test
]


FAULTY = CASES["text"]()
OPTIONS = {"n_clusters": FAULTY.n_clusters, "init": FAULTY.init}


def wait_until(there):
    deadline = time.monotonic() + 150
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """A client with a process more than the tests that use it kill."""
    with (
        LocalCluster(
            n_workers=0,
            processes=False,
            protocol="tcp://",
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        folder = tmp_path_factory.mktemp("workers")
        started = [start(work, cluster.scheduler_address, str(folder)) for _ in range(5)]
        try:
            wait_until(lambda: len(client.nthreads()) == 5)
            yield client
        finally:
            for process in started:
                process.kill()
                process.join()


@pytest.fixture
def inside():
    """A cluster of two workers in this process, of its own."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def replace_workers(client):
    """Closes all workers, then starts two others."""
    cluster = client.cluster
    for worker in list(cluster.workers.values()):
        cluster.sync(worker.close, executor_wait=False)
    wait_until(lambda: not client.nthreads())
    cluster.scale(len(cluster.worker_spec) + 2)
    wait_until(client.nthreads)


class Killer(WorkerPlugin):
    """Kills the worker that begins a task of some name, once: whoever gets to remove the file.

    Not before it has begun ``after`` of them, so that it has something to lose.
    """

    def __init__(self, prefix, file, after):
        self.prefix, self.file, self.after = prefix, file, after
        self.name = f"killer-{file}"

    def transition(self, key, start, finish, **kwargs):
        if finish == "executing" and str(key).startswith(self.prefix):
            self.after -= 1
            with contextlib.suppress(FileNotFoundError):
                if self.after < 0:
                    os.remove(self.file)
                    os.kill(os.getpid(), signal.SIGKILL)


def pids(client):
    return client.run(os.getpid)


@pytest.mark.parametrize(
    ("task", "algorithm", "data"),
    [
        ("assign", "simplified-elkan", "far_seeds"),  # after rows were relocated
        ("reduce", "lloyd", "text"),
        ("seed-step", "hamerly", "text"),
    ],
)
def test_a_worker_is_killed_in_a_task(processes, task, algorithm, data, tmp_path):
    case, file = CASES[data](), tmp_path / "kill"
    plugin = Killer(f"arcmeans-{task}", str(file), 20 if task == "seed-step" else 0)
    processes.register_plugin(plugin)

    def arm(step):
        if step.iteration == 1:
            file.touch()

    options = {"n_clusters": case.n_clusters, "init": case.init, "algorithm": algorithm}
    if task == "seed-step":
        options["init"], options["random_state"] = "k-means++", 5
        file.touch()
    else:
        options["callback"] = arm
    before, n = len(processes.nthreads()), case.X.shape[0]
    model = arcmeans.dask.SphericalKMeans(**options)
    model.fit(blocks(case.X, *range(n // 8, n, n // 8)))
    assert not file.exists()
    assert len(processes.nthreads()) == before - 1
    local = SphericalKMeans(**options).fit(case.X)
    assert_same_fit(model, local)
    assert data == "text" or local.trace_["relocated"][0] > 0
    processes.unregister_worker_plugin(plugin.name)


def test_a_worker_is_killed_between_iterations(processes):
    """In a run that relocates rows."""
    case = CASES["far_seeds"]()
    before = len(processes.nthreads())

    def kill(step):
        if step.iteration == 2:
            os.kill(min(pids(processes).values()), signal.SIGKILL)

    options = {"n_clusters": case.n_clusters, "init": case.init, "algorithm": "hamerly"}
    model = arcmeans.dask.SphericalKMeans(**options, callback=kill)
    model.fit(blocks(case.X, *range(10, 150, 10)))
    assert len(processes.nthreads()) == before - 1
    assert_same_fit(model, SphericalKMeans(**options).fit(case.X))


def test_the_connection_is_cut_and_comes_back(processes):
    cut = []

    def cut_at_3(step):
        if step.iteration == 3:
            cut.append(processes.scheduler_comm)
            processes.loop.add_callback(cut[0].abort)
            wait_until(lambda: processes.scheduler_comm is not cut[0])
            wait_until(lambda: processes.status == "running")

    model = arcmeans.dask.SphericalKMeans(**OPTIONS, callback=cut_at_3)
    model.fit(blocks(FAULTY.X, 200, 500))
    assert cut
    assert_same_fit(model, SphericalKMeans(**OPTIONS).fit(FAULTY.X))


def test_a_worker_is_retired(inside):
    retired = []

    def retire(step):
        if step.iteration == 2:
            retired.extend(inside.retire_workers([min(inside.nthreads())]))

    model = arcmeans.dask.SphericalKMeans(**OPTIONS, algorithm="hamerly", callback=retire)
    model.fit(blocks(FAULTY.X, 200, 500))
    assert len(retired) == len(inside.nthreads()) == 1
    assert_same_fit(model, SphericalKMeans(**OPTIONS).fit(FAULTY.X))


@pytest.mark.parametrize("init", ["given", "k-means++"])
def test_all_workers_are_replaced(inside, init):
    def replace_at_3(step):
        if step.iteration == 3:
            replace_workers(inside)

    options = {**OPTIONS, "random_state": 0}
    if init != "given":
        options["init"] = init
    model = arcmeans.dask.SphericalKMeans(**options, callback=replace_at_3)
    model.fit(blocks(FAULTY.X, 200, 500))
    local = SphericalKMeans(**options).fit(FAULTY.X)
    assert_same_fit(model, local)
    replace_workers(inside)  # the labels are found again, after the fit
    assert np.array_equal(model.labels_.compute(), local.labels_)


def test_rows_are_spilled(tmp_path):
    """By what they take, of which Dask has to be told: nothing else makes it put them away here."""
    spilled = []

    def look(step):
        spilled.append(sum(client.run(lambda dask_worker: len(dask_worker.data.slow)).values()))

    settings = {
        "distributed.worker.memory.target": 1e-6,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": False,
        "temporary-directory": str(tmp_path),
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            memory_limit="8GB",
        ) as cluster,
        Client(cluster) as client,
    ):
        model = arcmeans.dask.SphericalKMeans(**OPTIONS, callback=look)
        model.fit(blocks(FAULTY.X, 200, 500, 700))
        assert_same_fit(model, SphericalKMeans(**OPTIONS).fit(FAULTY.X))
    assert max(spilled) >= 4  # all four blocks


def test_a_scheduler_that_stays_away(tmp_path):
    """A clear error, and the checkpoint goes on elsewhere."""
    file = tmp_path / "address"
    started = [start(schedule, str(file))]
    path = tmp_path / "fit.npz"

    def kill_at_3(step):
        if step.iteration == 3:
            started[0].kill()

    options = {**OPTIONS, "checkpoint": path, "checkpoint_seconds": 0}
    try:
        wait_until(file.exists)
        started.append(start(work, file.read_text(), str(tmp_path)))
        with Client(file.read_text(), timeout=3, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=120)
            with client.as_current():
                model = arcmeans.dask.SphericalKMeans(**options, callback=kill_at_3)
                message = r"The Dask scheduler at tcp://.* has been out of reach.*checkpoint"
                with pytest.raises(ConnectionError, match=message):
                    model.fit(blocks(FAULTY.X, 500))
    finally:
        for process in started:
            process.kill()
            process.join()
    assert path.exists()
    passes = []
    model = SphericalKMeans(**options, callback=passes.append).fit(FAULTY.X)
    assert passes[0].iteration in (3, 4)  # the pass that was under way is done again
    assert_same_fit(model, SphericalKMeans(**OPTIONS).fit(FAULTY.X))


def test_a_local_cluster_is_started_where_there_is_none(monkeypatch):
    from arcmeans.dask import _tasks as tasks

    started = []

    def start(**options):
        with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
            started.append(options)
            raise BreakError from None
            assert cluster

    monkeypatch.setattr(tasks, "Client", start)
    monkeypatch.setattr(tasks, "get_client", lambda: (_ for _ in ()).throw(ValueError))
    with pytest.raises(BreakError):
        arcmeans.dask.SphericalKMeans(2).fit(blocks(np.eye(3)))
    assert started == [{"threads_per_worker": 1}]
