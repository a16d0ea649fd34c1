"""Rows wherever they lie: in memory, on disk, on other machines."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .rows import AnyCensus, Rows


class PlacedRows(Protocol):
    """What can be asked of rows without knowing where they lie."""

    @property
    def census(self) -> AnyCensus: ...

    def take(self, which: NDArray[np.int64]) -> Rows:
        """Some rows, in this order, in the memory of this process."""
