"""Fits on Dask clusters of this machine beside a local fit: time, and bytes sent.

``python -m benchmarks.cluster`` (Linux) fits generated text, with the same seeds, by
``arcmeans.SphericalKMeans`` on as many threads as there are workers, and by ``arcmeans.dask`` with
workers of one thread each. All must end with the same bits. The figures are those of the
iterations; reading and seeding come before.

On a machine that others use, wall time says little. *Path* is what cannot overlap, in CPU time: the
busiest worker and the client with its scheduler, one after the other, less what these processes
spend in as long a time when there is nothing to do. It is an upper bound of the time on a machine
of one's own, since they do overlap.
"""

import argparse
import itertools
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

import arcmeans
from arcmeans._run.identity import digest

from . import data, machine, table


@dataclass(frozen=True)
class Fit:
    engine: str
    k: int
    workers: int
    """Workers of one thread, or threads."""
    iterations: int
    wall_seconds: float
    path_seconds: float
    """The busiest worker's CPU time and the client's; of threads, an even share."""
    worker_cpu: float
    """Of the busiest worker."""
    client_cpu: float
    """Of the client and the scheduler, which are one process here."""
    labels: str


@dataclass(frozen=True)
class Sent:
    """Bytes of arrays in one iteration."""

    k: int
    workers: int
    iteration: int
    changed: int
    """Rows whose label changed, of which the change of the sums follows."""
    to_workers: int
    between_workers: int
    to_client: int


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--store", type=Path, default=Path("results/rows-cluster"))
    parser.add_argument("--rows", type=int, default=600_000)
    parser.add_argument("--features", type=int, default=5_000)
    parser.add_argument("--nnz", type=int, default=60)
    parser.add_argument("-k", type=int, nargs="+", default=[300])
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--dense", action="store_true", help="embeddings of FEATURES numbers, in place of text"
    )
    parser.add_argument("--repeats", type=int, default=2, help="of each, in turns (2)")
    arguments = parser.parse_args()
    if not arguments.store.exists():
        arguments.store.parent.mkdir(parents=True, exist_ok=True)
        sizes = arguments.rows, arguments.features
        blocks = (
            data.embeddings(*sizes)
            if arguments.dense
            else (data.generated_blocks(*sizes, arguments.nnz))
        )
        arcmeans.RowStore.write(arguments.store, blocks)
    store = arcmeans.RowStore.open(arguments.store)
    print(machine.describe(1))
    print(store, flush=True)
    fits: list[Fit] = []
    sent: list[Sent] = []
    for _ in range(arguments.repeats):
        for k, workers in itertools.product(arguments.k, arguments.workers):
            options = {
                "n_clusters": k,
                "init": np.linspace(0, store.shape[0] - 1, k).astype(int),
                "max_iter": arguments.iterations,
            }
            fits.append(_local(store, workers, options))
            fit, traffic = _cluster(store, workers, options)
            fits.append(fit)
            sent += traffic
    table.show(fits)
    print()
    table.show(sent[: len(arguments.k) * len(arguments.workers) * arguments.iterations])
    for k in arguments.k:
        mine = [fit for fit in fits if fit.k == k]
        assert len({fit.labels for fit in mine}) == 1, "the fits differ"
        _ratios(mine, arguments.workers)
    _model([fit for fit in fits if fit.engine == "dask"], sent, store.nnz)
    table.write(fits, Path("results") / "cluster.csv")
    table.write(sent, Path("results") / "cluster-bytes.csv")


def _model(fits: list[Fit], sent: list[Sent], entries: int) -> None:
    """The cost of a similarity's product, of a byte and of an iteration, by least squares.

    The busiest worker: entries·k/workers products and the bytes it gets and gives. The client: the
    bytes it gets and gives, and the iterations. Over what ``_Clock`` measures: all but the first.
    """
    workers, client = [], []
    for fit in fits:
        mine = [s for s in sent if (s.k, s.workers) == (fit.k, fit.workers) and s.iteration > 1]
        mine = mine[: fit.iterations - 1]
        steps = len(mine)
        to_each = sum(s.to_workers for s in mine) / fit.workers
        passed = to_each + sum(s.between_workers + s.to_client for s in mine)
        workers.append([steps * entries * fit.k / fit.workers, passed])
        client.append([to_each + sum(s.to_client for s in mine), steps])
    product, byte = nnls(np.array(workers), np.array([fit.worker_cpu for fit in fits]))[0]
    client_byte, step = nnls(np.array(client), np.array([fit.client_cpu for fit in fits]))[0]
    print(f"a worker: {1e-9 / product:.2f} G products/s, {1e9 * byte:.2f} s a GB of changes")
    print(
        f"the client: {1e9 * client_byte:.2f} s a GB of changes, {1e3 * step:.0f} ms an iteration"
    )


def _ratios(fits: list[Fit], workers: list[int]) -> None:
    def least(engine: str, n: int) -> float:
        return min(f.path_seconds for f in fits if (f.engine, f.workers) == (engine, n))

    one = min(workers)
    for n in sorted(workers):
        speed = least("dask", one) / least("dask", n)
        overhead = 100 * (least("dask", n) / least("local", n) - 1)
        print(
            f"k={fits[0].k}, {n} workers: {speed:.2f} times the speed of {one}, "
            f"{overhead:+.1f} % against {n} local threads"
        )


def _local(store: arcmeans.RowStore, threads: int, options: dict[str, Any]) -> Fit:
    X = store[:].copy()
    clock = _Clock()
    model = arcmeans.SphericalKMeans(**options, n_threads=threads, callback=clock).fit(X)
    wall, cpu = clock.spent()
    return Fit(
        "local", model.n_clusters, threads, model.n_iter_, wall, cpu / threads, cpu / threads, 0.0,
        digest(model.labels_),
    )  # fmt: skip


def _cluster(
    store: arcmeans.RowStore, workers: int, options: dict[str, Any]
) -> tuple[Fit, list[Sent]]:
    import dask
    from distributed import Client, LocalCluster

    import arcmeans.dask

    quiet = {"distributed.worker.profile.enabled": False}
    with (
        dask.config.set(quiet),
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        clock = _Clock(lambda: client.run(_own_cpu))
        clock.idle(2.0)
        model = arcmeans.dask.SphericalKMeans(**options, callback=clock).fit(store)
        wall, cpu = clock.spent()
        busiest = max(clock.others())
        fit = Fit(
            "dask", model.n_clusters, workers, model.n_iter_, wall, busiest + cpu, busiest, cpu,
            digest(model.labels_.compute()),
        )  # fmt: skip
        changed = model.trace_["changed"]
        sent = [
            Sent(
                model.n_clusters,
                workers,
                i + 1,
                int(changed[i]),
                t.to_workers,
                t.between_workers,
                t.to_client,
            )
            for i, t in enumerate(model.traffic_)
        ]
    return fit, sent


def _own_cpu() -> float:
    return time.process_time()


class _Clock:
    """Looks at the clocks after the first iteration, which warms up, and after the last."""

    def __init__(self, others: Any = dict) -> None:
        self._others = others
        self._times: list[tuple[float, float, dict[str, float]]] = []
        self._idle, self._idle_others = 0.0, 0.0

    def __call__(self, step: arcmeans.Iteration) -> None:
        others = self._others()
        now = time.perf_counter(), time.process_time(), others
        self._times = [*self._times[:1], now]

    def idle(self, seconds: float) -> None:
        """Finds what is spent when there is nothing to do, to be taken off later."""
        others, wall, cpu = self._others(), time.perf_counter(), time.process_time()
        time.sleep(seconds)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        self._idle = cpu / wall
        self._idle_others = float(
            np.mean([c - others[w] for w, c in self._others().items()]) / wall
        )

    def spent(self) -> tuple[float, float]:
        (wall, cpu, _), (wall_end, cpu_end, _) = self._times
        wall = wall_end - wall
        return wall, max(0.0, cpu_end - cpu - self._idle * wall)

    def others(self) -> list[float]:
        (wall, _, before), (wall_end, _, after) = self._times
        idle = self._idle_others * (wall_end - wall)
        return [after[key] - before[key] - idle for key in after]


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
