"""A fit of rows on disk beside the same fit of rows in memory: time, and peak memory.

``python -m benchmarks.outofcore`` writes generated text to a row store (once; ``--store`` names the
folder), then runs two processes. One fits the store with its private memory limited by the system
(RLIMIT_DATA: what it may have beyond the page cache; more is an error, not a slow-down). The other
reads the store into memory and fits that. Both take the same seeds, so both must end with the same
bits. Linux only.
"""

import argparse
import json
import resource
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import arcmeans
from arcmeans._run.identity import digest

from . import data, machine, table

MEGABYTE = 2**20


@dataclass(frozen=True)
class Fit:
    rows: str
    """On disk or in memory."""
    n_rows: int
    features: int
    entries: int
    k: int
    iterations: int
    cpu_seconds: float
    """Of the iterations, all threads."""
    wall_seconds: float
    private_mb: float
    """Peak of what is not mapped from files (RssAnon)."""
    resident_mb: float
    """Peak resident memory, the mapped part of the page cache included."""
    labels: str
    """A hash: the same labels have the same."""


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.outofcore", description=__doc__)
    parser.add_argument("--store", type=Path, default=Path("results/rows"), help="results/rows")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--features", type=int, default=100_000)
    parser.add_argument("--nnz", type=int, default=60)
    parser.add_argument("-k", type=int, default=100)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=2.0, help="GiB of private memory (2)")
    parser.add_argument("--repeats", type=int, default=2, help="of each, in turns (2)")
    parser.add_argument("--fit", choices=["disk", "memory"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fit:
        print(json.dumps(asdict(_fit(arguments))))
        return
    if not arguments.store.exists():
        print(f"writing {arguments.store}", flush=True)
        arguments.store.parent.mkdir(parents=True, exist_ok=True)
        sizes = arguments.rows, arguments.features, arguments.nnz
        arcmeans.RowStore.write(arguments.store, data.generated_blocks(*sizes))
    print(machine.describe(arguments.threads))
    print(arcmeans.RowStore.open(arguments.store), flush=True)
    fits = [_run(kind) for _ in range(arguments.repeats) for kind in ("disk", "memory")]
    table.show(fits)
    assert len({fit.labels for fit in fits}) == 1, "the fits differ"
    disk, memory = (min(f.cpu_seconds for f in fits if f.rows == r) for r in ("disk", "memory"))
    print(f"disk / memory: {disk / memory:.2f} in CPU time")
    disk, memory = (min(f.wall_seconds for f in fits if f.rows == r) for r in ("disk", "memory"))
    print(f"disk / memory: {disk / memory:.2f} in wall time")
    table.write(fits, Path("results") / "outofcore.csv")


def _run(kind: str) -> Fit:
    command = [sys.executable, "-m", "benchmarks.outofcore", *sys.argv[1:], "--fit", kind]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Fit(**json.loads(done.stdout))


def _fit(arguments: argparse.Namespace) -> Fit:
    store = arcmeans.RowStore.open(arguments.store)
    limit = int(arguments.limit * 2**30)
    X: object = store
    if arguments.fit == "disk":
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    else:
        X = store[:].copy()
    peak = Peak()
    began: list[tuple[float, float]] = []
    model = arcmeans.SphericalKMeans(
        arguments.k,
        init=np.linspace(0, store.shape[0] - 1, arguments.k).astype(int),
        max_iter=arguments.iterations,
        n_threads=arguments.threads,
        memory_limit=limit / 2,
    )
    started = time.perf_counter(), time.process_time()
    with peak:
        model.fit(X)
    began.append((time.perf_counter() - started[0], time.process_time() - started[1]))
    return Fit(
        rows="disk" if arguments.fit == "disk" else "memory",
        n_rows=store.shape[0],
        features=store.shape[1],
        entries=store.nnz,
        k=arguments.k,
        iterations=model.n_iter_,
        cpu_seconds=began[0][1],
        wall_seconds=began[0][0],
        private_mb=peak.private / MEGABYTE,
        resident_mb=peak.resident / MEGABYTE,
        labels=digest(model.labels_),
    )


class Peak:
    """Looks at the memory of this process a hundred times a second."""

    def __init__(self) -> None:
        self.private = self.resident = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Peak":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            lines = Path("/proc/self/status").read_text().splitlines()
            sizes = {w[0]: int(w[1]) * 1024 for w in map(str.split, lines) if w[0][:3] in RSS}
            self.private = max(self.private, sizes["RssAnon:"])
            self.resident = max(self.resident, sizes["VmRSS:"])


RSS = ("Rss", "VmR")

if __name__ == "__main__":
    main()
