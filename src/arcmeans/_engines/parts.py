"""Rows to cluster, in one piece or in parts: in memory, on disk, or on other machines.

What a fit needs of them is little: a census, an engine for the passes, and steps of the seeding
done on every part. The results do not depend on the parts.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._rows.rows import AnyCensus, Rows
from .._seeding.part import SeedPart, run_step
from .memory import Engine, EngineOptions, PassEngine


class Parts(Protocol):
    """Rows, wherever they are."""

    @property
    def census(self) -> AnyCensus: ...
    @property
    def starts(self) -> NDArray[np.int64]:
        """The number of the first row of each part, and that of all rows."""

    @property
    def room(self) -> int | None:
        """Bytes for what is kept of the rows; None: as many as there are."""

    def take(self, which: NDArray[np.int64]) -> Rows:
        """Some rows, in this order."""

    def each(self, step: str, *arguments: Any) -> list[Any]:
        """A step of the seeding (``SeedPart``) on every part: what each returned, in order."""

    def at(self, part: int, step: str, *arguments: Any) -> Any:
        """The step on one part; not one that changes what is kept of it."""

    def engine(
        self, n_clusters: int, options: EngineOptions, *, seeded: bool = False
    ) -> PassEngine:
        """An engine for the passes. With ``seeded`` the seeding has done the first of them."""

    def close(self) -> None:
        """The fit is over."""


class LocalParts:
    """Rows held in memory, in one piece."""

    room = None

    def __init__(self, rows: Rows, n_threads: int) -> None:
        self.rows = rows
        self.starts = np.array([0, rows.n_rows], np.int64)
        self._part = SeedPart(0, n_threads)
        self._part.rows = rows

    @property
    def census(self) -> AnyCensus:
        return self.rows

    def take(self, which: NDArray[np.int64]) -> Rows:
        return self.rows.take(which)

    def each(self, step: str, *arguments: Any) -> list[Any]:
        return [run_step(self._part, step, arguments)]

    def at(self, part: int, step: str, *arguments: Any) -> Any:
        return run_step(self._part, step, arguments)

    def engine(self, n_clusters: int, options: EngineOptions, *, seeded: bool = False) -> Engine:
        engine = Engine(self.rows, n_clusters, options)
        if seeded:
            engine.adopt(self._part.first_pass())
            self._part.end()
        return engine

    def close(self) -> None:
        pass


def content_of(parts: Parts) -> tuple[int, int | None]:
    """Hashes of all rows and of their weights; None where all weigh the same."""
    rows, weights = zip(*parts.each("content"), strict=True)
    return sum(rows) % 2**64, None if weights[0] is None else sum(weights) % 2**64
