"""Which algorithm ``algorithm="auto"`` is. The measurements behind it: docs/performance.md.

All algorithms give the same bits, so this is a matter of time and memory only.
"""

from .engine import EngineOptions
from .memory import available
from .rows import AnyLayout, Rows
from .sieve import bound_bytes

SHORT_ROWS = 8
"""Sparse rows with fewer entries than these on average are not worth a filter."""


def chosen(layout: AnyLayout, n_clusters: int, n_threads: int) -> EngineOptions:
    """The options of an engine for these rows."""
    if layout.frequent is None:
        return EngineOptions(_for_dense(layout.n_features, n_clusters), n_threads)
    if layout.frequent.n_entries < SHORT_ROWS * layout.n_rows:
        repeats = isinstance(layout, Rows)
        return EngineOptions("lloyd", n_threads, merge_repeats=repeats)
    return EngineOptions("sieve", n_threads, keep_bounds=room_for_bounds(layout, n_clusters))


def _for_dense(n_features: int, n_clusters: int) -> str:
    if n_clusters < 500:
        return "lloyd"
    if n_features <= 8:
        return "exponion"
    return "shallot" if n_features <= 24 else "sieve"


def room_for_bounds(layout: AnyLayout, n_clusters: int) -> bool:
    """Whether the sieve's bounds fit into half of the memory there is."""
    left = available()
    return left is None or bound_bytes(layout.n_rows, n_clusters) <= left // 2
