"""Peak memory of a fit beyond X, for each algorithm, beside what docs/algorithms.md says it is.

Each fit runs in a process of its own, on generated text. What counts is the largest resident size
during the fit less that before it: one copy of X as unit rows, labels, bounds and centers, and what
is needed for a moment. Linux only: the peak is read from /proc and set back before the fit.
"""

import ctypes
import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from arcmeans import SphericalKMeans
from arcmeans._algorithms.memory import required
from arcmeans._algorithms.registry import ALGORITHMS

from . import data

MEGABYTE = 2**20


@dataclass(frozen=True)
class Peak:
    algorithm: str
    rows: int
    features: int
    entries: int
    k: int
    x_mb: float
    """X itself, held by the caller."""
    copy_mb: float
    """The unit rows: the one copy of X."""
    formula_mb: float
    """Labels, bounds and centers by the formula."""
    measured_mb: float
    """The peak beyond X."""


def measure(n_rows: int, k: int) -> Iterator[Peak]:
    for algorithm in ALGORITHMS:
        command = [sys.executable, "-m", "benchmarks.peakmem", algorithm, str(n_rows), str(k)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        yield Peak(**json.loads(done.stdout))


def _fit(algorithm: str, n_rows: int, k: int) -> Peak:
    X = data.generated(n_rows, 20_000, 40, 30, 0)
    small = X[:1000]
    SphericalKMeans(2, random_state=0, max_iter=2).fit(small)  # what is loaded once, is loaded
    model = SphericalKMeans(k, algorithm=algorithm, random_state=0, max_iter=3, n_threads=1)
    peak = peak_of(lambda: model.fit(X))
    assert peak is not None
    n, d = X.shape
    x_bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return Peak(
        algorithm=algorithm,
        rows=n,
        features=d,
        entries=X.nnz,
        k=k,
        x_mb=x_bytes / MEGABYTE,
        copy_mb=((X.data.itemsize + 4) * X.nnz + 9 * n) / MEGABYTE,
        formula_mb=required(algorithm, n, k, d, n_entries=X.nnz) / MEGABYTE,
        measured_mb=peak / MEGABYTE,
    )


def peak_of(work: Callable[[], object]) -> int | None:
    """How many bytes the largest resident size during the work is above that before it.

    None where the system does not tell.
    """
    if not Path("/proc/self/clear_refs").exists():
        return None
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed, is given back
    Path("/proc/self/clear_refs").write_text("5")  # sets the peak back to what is resident now
    before = _resident("VmHWM")
    work()
    return _resident("VmHWM") - before


def _resident(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


if __name__ == "__main__":
    print(json.dumps(asdict(_fit(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))))
