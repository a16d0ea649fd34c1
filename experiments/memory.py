"""The memory of the bounds, ``python -m experiments.memory``.

For the paper's six data sets, what bounds take by the formulas of ``docs/algorithms.md``; the paper
gives two numbers of its own, for DBLP Author-Conference at k = 100. For the data given,
the same beside what was measured: the peak of a fit less that of Lloyd's algorithm, which has no
bounds. Each is measured in a process of its own (Linux only).
"""

import ctypes
import multiprocessing
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from arcmeans import SphericalKMeans
from arcmeans._algorithms.memory import required

from . import charts, markdown, paper
from .command import SOURCE, Artefact, Experiment, Options, main
from .fits import resumable
from .log import Log
from .sources import DataSet
from .table3 import label

CLUSTERS = 100
LABELS = 8
"""Bytes a row that every algorithm has."""
MEGABYTE = 1e6


@dataclass(frozen=True)
class Peak:
    """The most memory of a fit beyond what was there before it."""

    data: str
    rows: int
    columns: int
    k: int
    algorithm: str
    bytes: float
    seconds: float


@dataclass(frozen=True)
class Bounds:
    """The bounds of an algorithm on a data set."""

    data: str
    rows: int
    k: int
    algorithm: str
    formula_bytes: int
    measured_bytes: float | None
    paper_bytes: float | None


def make(options: Options) -> Artefact:
    wanted = options.k or [CLUSTERS]
    k = CLUSTERS if CLUSTERS in wanted else max(wanted)
    bounds = [
        Bounds(
            name, size.rows, CLUSTERS, a, formula(a, size.rows, CLUSTERS), None, _printed(name, a)
        )
        for name, size in paper.table1().items()
        for a in options.algorithms
    ]
    data_sets = [data for data in options.load() if data.directed >= k]
    if sys.platform == "linux":
        peaks = _peaks(data_sets, k, options)
        bounds += [
            Bounds(
                peak.data,
                peak.rows,
                k,
                peak.algorithm,
                formula(peak.algorithm, peak.rows, k),
                peak.bytes - peaks[peak.data, "lloyd"].bytes,
                None,
            )
            for peak in peaks.values()
            if peak.algorithm in options.algorithms
        ]
    text = f"""Megabytes of the bounds, by the formulas of `docs/algorithms.md`: in parentheses the
paper's two numbers ({SOURCE}, Section 5, in double precision).

{_table([b for b in bounds if b.measured_bytes is None])}
"""
    measured = [b for b in bounds if b.measured_bytes is not None]
    if measured:
        text += f"""
By the formula, and measured: the peak of a fit less that of `lloyd`.

{_table(measured)}
"""
    return Artefact(bounds, text, _figure(bounds))


def formula(algorithm: str, n_rows: int, k: int) -> int:
    """The bytes of the bounds alone."""
    return required(algorithm, n_rows, k, 0) - LABELS * n_rows


def _printed(data: str, algorithm: str) -> float | None:
    if data != "DBLP Author-Conference":
        return None
    if algorithm.endswith("elkan"):
        return paper.BOUNDS_OF_ELKAN
    return paper.BOUNDS_OF_HAMERLY if algorithm.endswith("hamerly") else None


def _peaks(data_sets: Sequence[DataSet], k: int, options: Options) -> dict[tuple[str, str], Peak]:
    algorithms = dict.fromkeys(["lloyd", *options.algorithms])
    tasks = [(data, algorithm) for data in data_sets for algorithm in algorithms]
    keys = [(data.name, data.rows, data.columns, k, algorithm) for data, algorithm in tasks]
    with Log(options.out / "memory_runs.csv", Peak) as log:
        known = {(p.data, p.rows, p.columns, p.k, p.algorithm): p for p in log.records}

        def do(i: int) -> float:
            data, algorithm = tasks[i]
            started = time.perf_counter()
            found = measured(data.X, k, algorithm)
            peak = known[keys[i]] = Peak(*keys[i], found, time.perf_counter() - started)
            log.append(peak)
            return peak.seconds

        parts = [
            (key, float(data.entries), f"{data.name}, {algorithm}")
            for key, (data, algorithm) in zip(keys, tasks, strict=True)
        ]
        resumable(parts, {key: peak.seconds for key, peak in known.items()}, "memory", do)
    return {(key[0], key[-1]): known[key] for key in keys}


def measured(X: Any, k: int, algorithm: str) -> float:
    """The peak of a fit beyond what was there before, in bytes, in a process of its own."""
    context = multiprocessing.get_context("fork")  # which has X already
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_fit, args=(X, k, algorithm, sender))
    child.start()
    sender.close()
    try:
        found: float = receiver.recv()
    except EOFError:
        raise OSError(f"The fit by {algorithm} to be measured ended without a result.") from None
    finally:
        child.join()
    return found


def _fit(X: Any, k: int, algorithm: str, sender: Connection) -> None:
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a word
    ctypes.CDLL(None).malloc_trim(0)  # what was freed, is given back
    Path("/proc/self/clear_refs").write_text("5")  # sets the peak back to what is resident now
    before = _peak()
    model = SphericalKMeans(k, algorithm=algorithm, random_state=0, max_iter=3, n_threads=1)
    model.fit(X)
    sender.send(float(_peak() - before))


def _peak() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc/self/status has no VmHWM")


def _table(bounds: Sequence[Bounds]) -> str:
    algorithms = list(dict.fromkeys(b.algorithm for b in bounds))
    cells = {(b.data, b.algorithm): _cell(b) for b in bounds}
    names = dict.fromkeys(b.data for b in bounds)
    lines = [[name, *(cells[name, a] for a in algorithms)] for name in names]
    return markdown.table([f"k = {bounds[0].k}", *map(label, algorithms)], lines)


def _cell(b: Bounds) -> str:
    text = markdown.number(b.formula_bytes / MEGABYTE)
    if b.measured_bytes is not None:
        text += f", {markdown.number(max(0.0, b.measured_bytes) / MEGABYTE)} measured"
    if b.paper_bytes is not None:
        text += f" ({markdown.number(b.paper_bytes / MEGABYTE)})"
    return text


def _figure(bounds: Sequence[Bounds]) -> object:
    """Megabytes over k, by the formula, for the paper's largest author graph."""
    rows = paper.table1()["DBLP Author-Conference"].rows
    figure, (ax,) = charts.panels(1, height=3.4)
    clusters = (*paper.CLUSTERS, 500, 1000)
    for algorithm in dict.fromkeys(b.algorithm for b in bounds):
        sizes = [formula(algorithm, rows, k) / MEGABYTE for k in clusters]
        if any(sizes):
            charts.line(ax, clusters, sizes, label=label(algorithm), **charts.look(algorithm))
    for size in (paper.BOUNDS_OF_ELKAN, paper.BOUNDS_OF_HAMERLY):
        ax.plot(CLUSTERS, size / MEGABYTE, "x", color=charts.BLACK, markersize=8)
    ax.plot([], [], "x", color=charts.BLACK, label="as the paper says")
    charts.clusters_axis(ax, clusters)
    charts.logarithmic(ax)
    ax.set_ylabel("MB of bounds")
    ax.set_title(f"DBLP Author-Conference, {rows:,} rows")
    charts.legend(figure, ax)
    return figure


EXPERIMENT = Experiment("memory", "The memory of the bounds", make)

if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
