"""Initial centers that the caller gives: an array of centers, numbers of rows, or a callable."""

from typing import Any

import numpy as np

from .. import _core
from .._centers.placing import place_rows
from .._rows.containers import checked_centers, checked_indices
from .._rows.placed import PlacedRows
from .._rows.rows import AnyCensus
from .._rows.unit_rows import unit_rows


def asked_centers(
    census: AnyCensus,
    place: PlacedRows,
    X: Any,
    n_clusters: int,
    init: Any,
    random_state: np.random.RandomState,
    n_threads: int,
    *,
    in_full: bool = False,
) -> _core.native.Centers:
    """Centers for rows of ``census``, from what a caller gives that is no word.

    An array of centers, numbers of rows, or a callable that returns either.
    """
    if callable(init):
        init = init(X, n_clusters=n_clusters, random_state=random_state)
    if np.ndim(init) == 1 and np.issubdtype(np.asarray(init).dtype, np.integer):
        which = checked_indices(np.asarray(init), n_clusters, place.census)
        seeds = place.take(which)
        if seeds.zero.any():
            raise ValueError(
                f"init names row {which[np.argmax(seeds.zero)]}, which is all zero: a center needs "
                "a direction."
            )
        return place_rows(census, seeds, in_full=in_full)
    checked = checked_centers(init, n_clusters, place.census)
    return given_centers(census, checked, n_threads, in_full=in_full)


def given_centers(
    census: AnyCensus, init: Any, n_threads: int, *, in_full: bool = False
) -> _core.native.Centers:
    """Centers from a validated array, dense or sparse."""
    seeds = unit_rows(init, n_threads=n_threads, name="init")
    if np.any(seeds.zero):
        raise ValueError(
            f"init has an all-zero row, {int(np.argmax(seeds.zero))}: a center needs a direction."
        )
    return place_rows(census, seeds, in_full=in_full)
