"""Rows that are equal, entry by entry, have the same label: a pass over one of each is enough.

Short rows repeat: of 500,000 package names as bags of tokens 36 % do, of 300,000 authors by
category two thirds. A row that counts as many adds to the sums, which are integers, what so many
rows would, so no bit of a result changes.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._rows.rows import Rows

WORTH = 0.9
"""The largest share of distinct rows for which it pays."""


@dataclass(frozen=True)
class Distinct:
    """The first of each set of equal rows, and for each row which of these it is."""

    rows: Rows
    """Without weights."""
    first: NDArray[np.int64]
    inverse: NDArray[np.int64]

    @property
    def copies(self) -> NDArray[np.float64]:
        """How many rows are equal to each."""
        return np.bincount(self.inverse, minlength=len(self.first)).astype(np.float64)


def distinct(rows: Rows, n_threads: int) -> Distinct | None:
    """None where too few rows repeat to make up for it."""
    hashes = rows.hashes(np.arange(rows.n_rows), n_threads)
    first, equal_to = _core.native.distinct_rows(rows.native(), hashes)
    if len(first) > WORTH * rows.n_rows:
        return None
    some = replace(rows.take(first, n_threads), weights=None, weight_scale=1.0)
    return Distinct(some, first, equal_to)
