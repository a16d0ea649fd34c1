"""What a fit needs beyond X, what this process may use, and an error before the one is too much.

Elkan's n·k bounds are what breaks: for a million rows and a thousand clusters four gigabytes, which
the system hands out at once and cannot keep once they are written to. Yinyang's bounds a group and
the lists of neighbors of exponion and shallot grow with n_clusters too.
"""

from .._support.checks import check_option
from .._support.memory import available
from .options import EngineOptions
from .problem import Problem
from .registry import ALGORITHMS, row_bytes

FRUGAL = "simplified-hamerly"
"""The algorithm to name where another needs too much."""
LABELS = 8
"""The bytes of a row's label and of its label before."""
CENTERS = 36
"""The bytes of a center for each feature, at most: its sum and what is laid out for passes, the
change of the sum, and the model that is handed back."""


def required(
    algorithm: str,
    n_rows: int,
    n_clusters: int,
    n_features: int,
    n_groups: int | None = None,
    n_entries: int = 0,
) -> int:
    """The bytes a fit needs beyond X and its unit rows: labels, bounds, centers, copies of rows.

    The formulas are those of the table in ``docs/algorithms.md``; "auto" counts as the sieve, which
    does without its bounds where they do not fit, and keeps fewer of dense rows. n_groups is for
    yinyang. n_entries, the stored entries of X, is for the sieve, which packs a copy of them.
    """
    check_option("algorithm", algorithm, ("auto", *ALGORITHMS))
    record = ALGORITHMS["sieve" if algorithm == "auto" else algorithm]
    problem = Problem(
        n_rows=n_rows,
        n_features=n_features,
        n_clusters=n_clusters,
        sparse=True,
        n_entries=n_entries,
        options=EngineOptions(n_groups=n_groups),
    )
    of_rows = LABELS * n_rows + row_bytes(record, problem)
    return of_rows + record.other_bytes(problem) + CENTERS * n_features * n_clusters


def check_memory(
    algorithm: str, n_rows: int, n_clusters: int, n_features: int, n_groups: int | None = None
) -> None:
    """A MemoryError where an algorithm whose memory grows with the clusters will not fit."""
    if algorithm == "auto" or not ALGORITHMS[algorithm].checks_memory:
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
