"""What a fit needs beyond X, what this process may use, and an error before the one is too much.

Elkan's n·k bounds are what breaks: for a million rows and a thousand clusters four gigabytes, which
the system hands out at once and cannot keep once they are written to. Yinyang's bounds a group and
the lists of neighbors of exponion and shallot grow with n_clusters too.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from .angles import ANGLE_ALGORITHMS, NEIGHBORS, NEIGHBORS_FEATURES, default_groups
from .engine import ALGORITHMS
from .sieve import bound_bytes
from .validation import check_option

FRUGAL = "simplified-hamerly"
"""The algorithm to name where another needs too much."""
_CHECKED = ("elkan", "simplified-elkan", *ANGLE_ALGORITHMS)


def required(
    algorithm: str, n_rows: int, n_clusters: int, n_features: int, n_groups: int | None = None
) -> int:
    """The bytes a fit needs beyond X and its unit rows: labels, bounds and centers.

    The formulas are those of the table in ``docs/algorithms.md``; "auto" counts as the sieve, which
    does without its bounds where they do not fit, and keeps fewer of dense rows. n_groups is for
    yinyang.
    """
    check_option("algorithm", algorithm, ("auto", *ALGORITHMS))
    groups = default_groups(n_clusters) if n_groups is None else n_groups
    neighbors = NEIGHBORS * (n_features <= NEIGHBORS_FEATURES)
    sieve = (8 + bound_bytes(1, n_clusters, dense=False), 0)
    a_row, a_center = {
        "auto": sieve,
        "lloyd": (8, 0),
        "sieve": sieve,
        "tally": (16, 0),
        "simplified-elkan": (16 + 4 * n_clusters, 0),
        "elkan": (16 + 4 * n_clusters, 4 * n_clusters),
        "yinyang": (24 + 4 * groups, 16 * (n_features + 1)),
        "exponion": (24, 600 + 4 * neighbors * (n_features + 1)),
        "shallot": (28, 600 + 4 * neighbors * (n_features + 1)),
    }.get(algorithm, (24, 0))
    changes = 4 * n_features if algorithm == "tally" else 0
    return a_row * n_rows + (a_center + 36 * n_features) * n_clusters + changes


def available(root: str | os.PathLike[str] = "/") -> int | None:
    """The bytes this process may still take, as far as the system tells; None if it does not.

    The least of the memory that is free, of what the control groups around the process allow, and
    of its limit on address space. ``root`` is where /proc and /sys are.
    """
    base = Path(root)
    found = [_free(base), *_left_in_groups(base), _left_of_address_space(base)]
    known = [number for number in found if number is not None]
    return max(0, min(known)) if known else None


def check_memory(
    algorithm: str, n_rows: int, n_clusters: int, n_features: int, n_groups: int | None = None
) -> None:
    """A MemoryError where an algorithm that keeps more than a few numbers a row will not fit."""
    if algorithm not in _CHECKED:
        return
    needed = required(algorithm, n_rows, n_clusters, n_features, n_groups)
    left = available()
    if left is None or needed <= left:
        return
    less = required(FRUGAL, n_rows, n_clusters, n_features)
    raise MemoryError(
        f"algorithm={algorithm!r} needs {_size(needed)} for n_samples={n_rows} and "
        f"n_clusters={n_clusters}, but this process may use {_size(left)} more. "
        f"algorithm={FRUGAL!r} needs {_size(less)} and gives the same result."
    )


def _size(number: int) -> str:
    for power, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if number >= power:
            return f"{number / power:.1f} {unit}"
    return f"{number} bytes"


def _free(base: Path) -> int | None:
    """Memory that can be had without swapping; where that is unknown, all there is."""
    kilobytes = _fields(base / "proc/meminfo").get("MemAvailable:")
    if kilobytes is not None:
        return kilobytes * 1024
    for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        try:
            pages, size = os.sysconf(name), os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):  # no sysconf at all, or not this name
            continue
        if pages > 0 and size > 0:
            return pages * size
    return None


def _left_in_groups(base: Path) -> Iterator[int]:
    """For each control group around the process, version 2 or 1: its limit less what is in use."""
    for line in _lines(base / "proc/self/cgroup"):
        parts = line.split(":", 2)
        if len(parts) != 3 or not (parts[1] == "" or "memory" in parts[1].split(",")):
            continue
        second = parts[1] == ""
        top = base / "sys/fs/cgroup" / ("" if second else "memory")
        names = ("max", "current") if second else ("limit_in_bytes", "usage_in_bytes")
        path = Path(parts[2].lstrip("/"))
        for group in (path, *path.parents):
            limit, used = (_number(top / group / f"memory.{name}") for name in names)
            if limit is None:
                continue
            cache = _fields(top / group / "memory.stat").get("inactive_file", 0)
            yield limit - max(0, (used or 0) - cache)


def _left_of_address_space(base: Path) -> int | None:
    try:
        import resource
    except ImportError:  # not a Unix
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    for line in _lines(base / "proc/self/statm"):
        return limit - int(line.split()[0]) * resource.getpagesize()
    return limit


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _fields(path: Path) -> dict[str, int]:
    """The first number after each name."""
    words = (line.split() for line in _lines(path))
    return {w[0]: int(w[1]) for w in words if len(w) > 1 and w[1].isdigit()}


def _number(path: Path) -> int | None:
    for line in _lines(path):
        return int(line) if line.isdigit() else None  # "max": no limit
    return None
