"""What a fit needs and what there is: from made-up systems, without filling a real one."""

import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from arcmeans import SphericalKMeans
from arcmeans._algorithms import memory
from arcmeans._algorithms.options import EngineOptions
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._engines.memory import MemoryEngine
from arcmeans._rows.unit_rows import unit_rows
from arcmeans._support import memory as limits

from .support import processes
from .support.marks import measures_memory

X = np.random.default_rng(0).random((50, 4))
MIB = 2**20


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_required_covers_what_the_engine_allocates(algorithm):
    engine = MemoryEngine(unit_rows(X), 7, EngineOptions(algorithm))
    kept = [*vars(engine).values(), *engine.state.values()]
    arrays = [a for a in kept if isinstance(a, np.ndarray)]
    required = memory.required(algorithm, 50, 7, 4)
    assert sum(a.nbytes for a in arrays) <= required
    assert required >= 36 * 7 * 4


def print_peak_of_the_sieve(X, k):
    """Bytes of private memory, beyond what was there before."""
    processes.forget_peak()
    before = peak = processes.status_mb("RssAnon")

    def look(step):
        nonlocal peak
        peak = max(peak, processes.status_mb("RssAnon"))

    options = {"random_state": 0, "max_iter": 2, "n_threads": 1, "init": "random"}
    SphericalKMeans(k, **options, algorithm="sieve", callback=look).fit(X)
    print((peak - before) * MIB)


@measures_memory
@processes.reads_proc
def test_required_counts_the_rows_that_the_sieve_packs():
    """The peak of a fit in memory, less its unit rows, lies between the two formulas."""
    rng = np.random.default_rng(0)
    n, d, k, per_row = 100_000, 500, 100, 40
    features = np.sort(rng.integers(0, d // per_row, (n, per_row)) + np.arange(0, d - 20, 12))
    starts = np.arange(0, n * per_row + 1, per_row)
    shape = (n, features.max() + 1)
    entries = (rng.random(n * per_row, np.float32) + 0.1, features.ravel().astype(np.int32), starts)
    X = sp.csr_array(entries, shape=shape)
    ended = processes.run(print_peak_of_the_sieve, X, k)
    assert ended.code == 0, ended.err
    peak = float(ended.out) - 8 * X.nnz - 9 * n
    less, required = (
        memory.required("sieve", n, k, shape[1], n_entries=entries) for entries in (0, X.nnz)
    )
    assert less < peak < required + 6 * MIB


def test_required_by_the_formulas():
    assert memory.required("lloyd", 1000, 10, 100) == 8 * 1000 + 36_000
    assert memory.required("sieve", 1000, 40, 100) == (8 + 4 + 2 * 64) * 1000 + 36 * 4000
    packed = 4 * 30_000 + 44 * 1000
    assert memory.required("sieve", 1000, 40, 100, n_entries=30_000) == (
        (8 + 4 + 2 * 64) * 1000 + 36 * 4000 + packed
    )
    assert memory.required("auto", 1000, 10, 100) == memory.required("sieve", 1000, 10, 100)
    assert memory.required("tally", 1000, 10, 100) == 16 * 1000 + 36_000 + 400
    assert memory.required("hamerly", 1000, 10, 100) == 24 * 1000 + 36_000
    assert memory.required("simplified-elkan", 1000, 10, 100) == 56 * 1000 + 36_000
    assert memory.required("elkan", 1000, 10, 100) == 56 * 1000 + 400 + 36_000
    assert memory.required("yinyang", 1000, 40, 9) == (24 + 4 * 2) * 1000 + 40 * 160 + 36 * 360
    assert memory.required("yinyang", 1000, 40, 9, 30) == 144 * 1000 + 40 * 160 + 36 * 360
    assert memory.required("exponion", 1000, 40, 9) == 24 * 1000 + 40 * 5720 + 36 * 360
    assert memory.required("shallot", 1000, 40, 100) == 28 * 1000 + 40 * 600 + 36 * 4000
    with pytest.raises(ValueError, match=r"algorithm='elkann' should be one of .* 'elkan'"):
        memory.required("elkann", 1, 1, 1)


@pytest.mark.parametrize("algorithm", ["elkan", "simplified-elkan", "yinyang", "exponion"])
def test_too_little_memory_is_an_error_before_the_fit(monkeypatch, algorithm):
    needed = memory.required(algorithm, 50, 8, 4)
    less = memory.required("simplified-hamerly", 50, 8, 4)
    monkeypatch.setattr(memory, "available", lambda: needed - 1)
    called = []
    model = SphericalKMeans(8, algorithm=algorithm, callback=called.append, random_state=0)
    text = (
        f"algorithm={algorithm!r} needs {needed / 1024:.1f} KiB for n_samples=50 and "
        f"n_clusters=8, but this process may use {(needed - 1) / 1024:.1f} KiB more. "
        f"algorithm='simplified-hamerly' needs {less / 1024:.1f} KiB and gives the same result."
    )
    with pytest.raises(MemoryError, match=re.escape(text)):
        model.fit(X)
    assert called == []
    monkeypatch.setattr(memory, "available", lambda: needed)
    model.fit(X)
    monkeypatch.setattr(memory, "available", lambda: None)
    model.fit(X)


@pytest.mark.parametrize("algorithm", ["auto", "lloyd", "simplified-hamerly", "hamerly"])
def test_others_are_not_refused(monkeypatch, algorithm):
    monkeypatch.setattr(memory, "available", lambda: 0)
    SphericalKMeans(3, algorithm=algorithm, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("size", "text"), [(5, "5 bytes"), (2048, "2.0 KiB"), (3 * MIB, "3.0 MiB"), (2**31, "2.0 GiB")]
)
def test_sizes_in_words(size, text):
    assert memory.size_in_words(size) == text


def system(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


FREE = {"proc/meminfo": "MemTotal: 9999999 kB\nMemFree: 1 kB\nMemAvailable:   102400 kB\n"}


@pytest.fixture
def no_address_limit(monkeypatch):
    resource = pytest.importorskip("resource")
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda which: unlimited)


@pytest.mark.usefixtures("no_address_limit")
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 100 * MIB),
        # Version 2: the group's own limit, less what is in use and cannot be dropped.
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/b/memory.max": f"{50 * MIB}\n",
                "sys/fs/cgroup/a/b/memory.current": f"{30 * MIB}\n",
                "sys/fs/cgroup/a/b/memory.stat": f"anon 5\ninactive_file {10 * MIB}\n",
            },
            30 * MIB,
        ),
        # A limit of a group further out, and none of the inner.
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/b/memory.max": "max\n",
                "sys/fs/cgroup/a/memory.max": f"{40 * MIB}\n",
                "sys/fs/cgroup/a/memory.current": f"{20 * MIB}\n",
            },
            20 * MIB,
        ),
        # A container sees its own group at the top.
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": f"{7 * MIB}\n"}, 7 * MIB),
        # Version 1.
        (
            {
                "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/box\n0::/x\n",
                "sys/fs/cgroup/memory/box/memory.limit_in_bytes": f"{60 * MIB}\n",
                "sys/fs/cgroup/memory/box/memory.usage_in_bytes": f"{15 * MIB}\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            },
            45 * MIB,
        ),
        # More in use than allowed.
        (
            {
                "proc/self/cgroup": "0::/\n",
                "sys/fs/cgroup/memory.max": "10\n",
                "sys/fs/cgroup/memory.current": "20\n",
            },
            0,
        ),
        ({"proc/self/cgroup": "nonsense\n"}, 100 * MIB),
    ],
)
def test_available(tmp_path, files, expected):
    assert limits.available(system(tmp_path, {**FREE, **files})) == expected


@pytest.mark.usefixtures("no_address_limit")
def test_without_proc_the_system_is_asked(tmp_path, monkeypatch):
    known = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}

    def sysconf(name):
        if name not in known:
            raise ValueError("unrecognized configuration name")
        return known[name]

    monkeypatch.setattr(limits.os, "sysconf", sysconf)
    assert limits.available(tmp_path) == 4096 * 1000
    known["SC_AVPHYS_PAGES"] = 10
    assert limits.available(tmp_path) == 4096 * 10
    known.clear()
    assert limits.available(tmp_path) is None


def test_the_limit_on_address_space(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    root = system(tmp_path, {**FREE, "proc/self/statm": "100 50 3\n"})
    limit = [50 * MIB]
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limit[0], limit[0]))
    assert limits.available(root) == 50 * MIB - 100 * resource.getpagesize()
    limit[0] = resource.RLIM_INFINITY
    assert limits.available(root) == 100 * MIB
    monkeypatch.setitem(sys.modules, "resource", None)
    assert limits.available(root) == 100 * MIB


def test_this_system_tells():
    assert limits.available() > 0
