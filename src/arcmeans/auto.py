"""Which algorithm ``algorithm="auto"`` is. The measurements behind it: docs/performance.md.

All algorithms give the same bits, so this is a matter of time and memory only.
"""

from .engine import EngineOptions
from .memory import available
from .rows import AnyLayout, Rows
from .sieve import bound_bytes

SHORT_ROWS = 8
"""Sparse rows with fewer entries than these on average are not worth a filter."""
PANEL_BYTES = 12
"""What lloyd keeps for each center and feature: the sum, and the same as float32."""


def chosen(
    layout: AnyLayout, n_clusters: int, n_threads: int, room: int | None = None
) -> EngineOptions:
    """The options of an engine for these rows; ``room`` as for ``room_for_bounds``."""
    bounds = room_for_bounds(layout, n_clusters, room)
    if layout.frequent is None:
        return EngineOptions(_for_dense(layout.n_features, n_clusters, bounds), n_threads)
    short = layout.frequent.n_entries < SHORT_ROWS * layout.n_rows
    if short and room_for(PANEL_BYTES * layout.n_features * n_clusters):
        return EngineOptions("lloyd", n_threads, merge_repeats=isinstance(layout, Rows))
    return EngineOptions("sieve", n_threads, keep_bounds=bounds)


def _for_dense(n_features: int, n_clusters: int, bounds: bool) -> str:
    if n_features <= 16 and n_clusters >= 500:
        return "exponion" if n_features <= 8 else "shallot"
    worth_it = n_features >= 32 or n_features * n_clusters >= 4000
    return "sieve" if worth_it and bounds else "lloyd"


def room_for_bounds(layout: AnyLayout, n_clusters: int, room: int | None = None) -> bool:
    """Whether the sieve can keep its bounds: within so many bytes, if that is said."""
    size = bound_bytes(layout.n_rows, n_clusters, dense=layout.frequent is None)
    return room_for(size) and (room is None or size <= room)


def room_for(size: int) -> bool:
    """Whether so many bytes fit into half of the memory there is."""
    left = available()
    return left is None or size <= left // 2
