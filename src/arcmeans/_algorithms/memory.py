"""What a fit needs beyond X, what this process may use, and an error before the one is too much.

Elkan's n·k bounds are what breaks: for a million rows and a thousand clusters four gigabytes, which
the system hands out at once and cannot keep once they are written to. Yinyang's bounds a group and
the lists of neighbors of exponion and shallot grow with n_clusters too.
"""

from .._algorithms.registry import ALGORITHMS
from .._support.checks import check_option
from .._support.memory import available
from .angles import ANGLE_ALGORITHMS, NEIGHBORS, NEIGHBORS_FEATURES, default_groups
from .sieve import bound_bytes

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
        f"algorithm={algorithm!r} needs {size_in_words(needed)} for n_samples={n_rows} and "
        f"n_clusters={n_clusters}, but this process may use {size_in_words(left)} more. "
        f"algorithm={FRUGAL!r} needs {size_in_words(less)} and gives the same result."
    )


def size_in_words(number: int) -> str:
    for power, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if number >= power:
            return f"{number / power:.1f} {unit}"
    return f"{number} bytes"
