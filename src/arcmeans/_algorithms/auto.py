"""Which algorithm ``algorithm="auto"`` is. The measurements behind it: docs/engineering/log.md.

All algorithms give the same bits, so this is a matter of time and memory only. Each record says
which rows its algorithm is for; here is what depends on the memory there is, and on the initial
centers.
"""

from dataclasses import replace

import numpy as np

from .. import _core
from .._centers.placing import sums_of
from .._rows.placed import PlacedRows
from .._rows.rows import AnyCensus
from .._support.memory import available
from .options import EngineOptions
from .problem import Problem, problem_of
from .registry import ALGORITHMS, row_bytes

SHORT_ROWS = 8
"""Sparse rows with fewer entries than these on average may be equal to others."""
ROOMY = "sieve"
"""The algorithm for centers that fill all dimensions, where its row state fits."""
LOOKED_AT = 256
"""The rows by which that is seen."""
NOT_ASKED = 16 << 20
"""Up to this many bytes the system is not asked for free memory, which takes up to 1 ms."""


def options_for(
    algorithm: str,
    census: AnyCensus,
    n_clusters: int,
    n_threads: int,
    *,
    n_groups: int | None = None,
    state_limit: int | None = None,
) -> EngineOptions:
    """The options of an engine for these rows, by the algorithm that was asked for."""
    if algorithm == "auto":
        return chosen(census, n_clusters, n_threads, state_limit)
    keep = keeps_bounds(algorithm, problem_of(census, n_clusters), state_limit)
    return EngineOptions(algorithm, n_threads, keep_bounds=keep, n_groups=n_groups)


def chosen(
    census: AnyCensus, n_clusters: int, n_threads: int, state_limit: int | None = None
) -> EngineOptions:
    """The options of an engine for these rows; ``state_limit`` as for ``keeps_bounds``."""
    problem = problem_of(census, n_clusters)
    algorithm = next(name for name in reversed(ALGORITHMS) if _takes(name, problem, state_limit))
    few_entries = problem.n_entries / max(1, problem.n_rows) < SHORT_ROWS
    return EngineOptions(
        algorithm,
        n_threads,
        merge_repeats=problem.sparse and few_entries,
        keep_bounds=keeps_bounds(algorithm, problem, state_limit),
    )


def _takes(name: str, problem: Problem, state_limit: int | None) -> bool:
    needs = ALGORITHMS[name].auto_takes(problem)
    if needs is None:
        return False
    of_rows, of_centers = needs
    return room_for(of_rows, state_limit) and room_for(of_centers)


def settled(
    options: EngineOptions,
    rows: PlacedRows,
    centers: _core.native.Centers,
    state_limit: int | None = None,
) -> EngineOptions:
    """The same, or others where the initial centers of a run say so."""
    largest = ALGORITHMS[options.algorithm].largest_ball
    if (
        largest > 0
        and keeps_bounds(ROOMY, problem_of(rows.census, len(centers.scales)), state_limit)
        and centers_in_a_ball(rows, centers) > largest
    ):
        return replace(options, algorithm=ROOMY)
    return options


def centers_in_a_ball(placed: PlacedRows, centers: _core.native.Centers) -> float:
    """How many centers are at most three times as far from a row's own as the row is, on average.

    Few for rows on a surface, whatever the number of features; many where they fill all dimensions.
    At twice as far, which is how far exponion and shallot look, rows in narrow clouds would not
    tell themselves from rows on a surface: the ball holds the few centers of a cloud. But the sieve
    dismisses all the others there.
    """
    sums = sums_of(placed.census, centers)
    unit = sums.vectors.toarray() * sums.scales[:, np.newaxis]
    n = placed.census.n_rows
    some = np.unique(np.linspace(0, n - 1, min(LOOKED_AT, 2**22 // len(unit) + 1)).astype(int))
    rows = placed.take(some)
    similarities = rows.values[rows.zero == 0] @ unit.T
    cosine = similarities.max(axis=1, initial=0.0)
    # The cosine of three times the angle, as far as that is less than a half turn.
    far = np.where(cosine > 0.5, (4.0 * cosine**2 - 3.0) * cosine, -1.0)
    between = unit[similarities.argmax(axis=1)] @ unit.T
    return np.count_nonzero(between >= far[:, np.newaxis]) / max(1, len(between))


def keeps_bounds(algorithm: str, problem: Problem, state_limit: int | None = None) -> bool:
    """Whether an algorithm keeps its row state: if it must, or if there is room.

    The row state then takes at most half of the memory there is, and at most ``state_limit`` bytes.
    """
    record = ALGORITHMS[algorithm]
    if record.needs_row_state:
        return True
    return room_for(row_bytes(record, problem), state_limit)


def room_for(size: int, limit: int | None = None) -> bool:
    """Whether this many bytes are within the limit, and half of the memory there is holds them."""
    if limit is not None and size > limit:
        return False
    if size <= NOT_ASKED:
        return True
    left = available()
    return left is None or size <= left // 2
