"""Which algorithm ``algorithm="auto"`` is. The measurements behind it: docs/engineering/log.md.

All algorithms give the same bits, so this is a matter of time and memory only.
"""

from dataclasses import replace

import numpy as np

from .. import _core
from .._centers.placing import sums_of
from .._rows.placed import PlacedRows
from .._rows.rows import AnyCensus
from .._support.memory import available
from .options import EngineOptions
from .sieve import bound_bytes

SHORT_ROWS = 8
"""Sparse rows with fewer entries than these on average may be equal to others."""
TALLY_ENTRIES = 22
TALLY_WORK = 2200
"""Up to how many entries a row, and entries times centers, tally is faster than the sieve."""
BALLS = ("exponion", "shallot")
MOST_IN_A_BALL = 110
"""They are slower than the sieve where a ball around a row's center holds more on average."""
LOOKED_AT = 256
"""The rows that this is seen by."""
PANEL_BYTES = 12
"""What tally keeps for each center and feature: the sum, and the same as float32."""
NOT_ASKED = 16 << 20
"""Up to so many bytes the system is not asked for what is free, which takes up to a millisecond."""


def options_for(
    algorithm: str,
    census: AnyCensus,
    n_clusters: int,
    n_threads: int,
    *,
    n_groups: int | None = None,
    room: int | None = None,
) -> EngineOptions:
    """The options of an engine for these rows, by the algorithm that was asked for."""
    if algorithm == "auto":
        return chosen(census, n_clusters, n_threads, room)
    keep = algorithm != "sieve" or room_for_bounds(census, n_clusters, room)
    return EngineOptions(algorithm, n_threads, keep_bounds=keep, n_groups=n_groups)


def chosen(
    census: AnyCensus, n_clusters: int, n_threads: int, room: int | None = None
) -> EngineOptions:
    """The options of an engine for these rows; ``room`` as for ``room_for_bounds``."""
    bounds = room_for_bounds(census, n_clusters, room)
    if census.frequent is None:
        return EngineOptions(_for_dense(census.n_features, n_clusters, bounds), n_threads)
    entries = census.frequent.n_entries / max(1, census.n_rows)
    few = entries <= TALLY_ENTRIES and entries * n_clusters <= TALLY_WORK
    tally = few and room_for(PANEL_BYTES * census.n_features * n_clusters)
    return EngineOptions(
        "tally" if tally else "sieve",
        n_threads,
        merge_repeats=entries < SHORT_ROWS,
        keep_bounds=bounds,
    )


def _for_dense(n_features: int, n_clusters: int, bounds: bool) -> str:
    if n_features <= 16 and n_clusters >= 500:
        return "exponion" if n_features <= 8 else "shallot"
    worth_it = n_features >= 32 or n_features * n_clusters >= 4000
    return "sieve" if worth_it and bounds else "lloyd"


def settled(
    options: EngineOptions,
    rows: PlacedRows,
    centers: _core.native.Centers,
    room: int | None = None,
) -> EngineOptions:
    """The same, or others where the initial centers of a run say so."""
    if (
        options.algorithm in BALLS
        and room_for_bounds(rows.census, len(centers.scales), room)
        and centers_in_a_ball(rows, centers) > MOST_IN_A_BALL
    ):
        return replace(options, algorithm="sieve")
    return options


def centers_in_a_ball(placed: PlacedRows, centers: _core.native.Centers) -> float:
    """How many centers are at most three times as far from a row's own as the row is, on average.

    Few for rows on a surface, whatever the number of features; many where they fill all dimensions.
    At twice as far, which is how far those algorithms look, rows in narrow clouds would not tell
    themselves from rows on a surface: the ball holds the few centers of a cloud. But the sieve
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


def room_for_bounds(census: AnyCensus, n_clusters: int, room: int | None = None) -> bool:
    """Whether the sieve can keep its bounds: within so many bytes, if that is said."""
    size = bound_bytes(census.n_rows, n_clusters, dense=census.frequent is None)
    return room_for(size) and (room is None or size <= room)


def room_for(size: int) -> bool:
    """Whether so many bytes fit into half of the memory there is."""
    if size <= NOT_ASKED:
        return True
    left = available()
    return left is None or size <= left // 2
