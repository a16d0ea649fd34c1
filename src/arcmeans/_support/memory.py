"""The memory this process may still take: of the machine, its control groups and its limits."""

import os
from collections.abc import Iterator
from pathlib import Path


def available(root: str | os.PathLike[str] = "/") -> int | None:
    """The bytes this process may still take, as far as the system tells; None if it does not.

    The least of the memory that is free, of what the control groups around the process allow, and
    of its limit on address space. ``root`` is where /proc and /sys are.
    """
    base = Path(root)
    found = [_free(base), *_left_in_groups(base), _left_of_address_space(base)]
    known = [number for number in found if number is not None]
    return max(0, min(known)) if known else None


def _free(base: Path) -> int | None:
    """The memory that can be had without swapping; where the system does not tell, all of it."""
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
